"""`wait --stuck` and `report`: what a launcher destroys is written before."""
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import jobs
import terminals
from shapes import SHAPES
sys.path.insert(0, os.path.join(os.path.dirname(jobs.JOBS), "backend"))
import pythons  # noqa: E402

STUCK = 1.5
# A step of a healthy job is shorter on a machine with twenty times the work.
SHORT = 1.5
# A user without other processes; the Python can be run by each user.
OTHER = 64321
OTHERS_PYTHON = "/usr/bin/python3"


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        return [int(word) for word in file.read().split()]


class Watcher:
    """`probetui wait` in the background, from when it watches on."""

    def __init__(self, port, *arguments, until="watching"):
        self.process = subprocess.Popen(
            [jobs.PROBETUI, "--job", str(port), "--json", "wait"]
            + [str(a) for a in arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True)
        self.line = self.process.stderr.readline()
        self.since = time.monotonic()
        if until not in self.line:
            self.process.kill()
            raise AssertionError(self.line + self.process.communicate()[1])

    def finish(self):
        """Its exit status, its document, and how long it has watched."""
        output, self.said = self.process.communicate(timeout=jobs.LIMIT)
        document = json.loads(output) if output else None
        if document:
            assert not SHAPES.answer_faults("wait", document), document
        return (self.process.returncode, document,
                time.monotonic() - self.since)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class Evidence(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="probetui-evidence-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.reports = os.path.join(self.folder, "reports")

    def start(self, count, **options):
        job = jobs.OrderJob("peers", count, **options)
        self.addCleanup(job.close)
        return job

    def watch(self, port, *arguments, **options):
        watcher = Watcher(port, *arguments, **options)
        self.addCleanup(watcher.close)
        return watcher

    def read(self, path):
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        with open(path) as file:
            return file.read()

    def replay(self, path, *command):
        return jobs.probetui("--replay", path, *command)


class TestWatch(Evidence):
    def test_a_rank_that_dies_and_takes_the_others_along(self):
        job = self.start(4, options=["--together"])
        job.order("late", [2])
        job.until({0: "all_reduce", 1: "all_reduce", 2: "late",
                   3: "all_reduce"})
        watcher = self.watch(job.port, "--stuck", "60s", "--report",
                             self.reports)
        os.kill(job.pids[2], signal.SIGSEGV)
        status, document, _ = watcher.finish()
        self.assertEqual(status, 1, watcher.said)
        self.assertEqual([document[key] for key in (
            "event", "rank", "ranks", "failed", "code", "signal")],
            ["failed", 2, "2", 2, None, signal.SIGSEGV])
        self.assertLess(abs(document["time"] - time.time()), jobs.LIMIT)
        text = self.read(document["report"])
        self.assertIn("Rank 2 failed first: it was killed by SIGSEGV.", text)
        self.assertRegex(text, r"1 +2 .*late \(orders.py:\d+\)")
        self.assertIn("Before the failure: 3 of 4 ranks wait in all_reduce", text)
        self.assertEqual(stat.S_IMODE(os.stat(self.reports).st_mode), 0o700)
        self.check_recording(document["recording"])

    def check_recording(self, path):
        found = self.replay(path, "--json", "verdict")
        verdict = json.loads(found.stdout)
        self.assertEqual((found.returncode, verdict["state"],
                          verdict["outliers"]), (1, "crashed", [2]))
        report = json.loads(self.replay(path, "--json", "report").stdout)
        SHAPES.check(self, "report", report)
        self.assertEqual(report["first_failed"], 2)
        self.assertEqual(report["merged"]["ranks"], "0-3")

    def test_stuck_and_not(self):
        """Both at once, since both take their time."""
        hung, healthy = self.start(3), self.start(3)
        hung.order("spin", [1])
        healthy.order("move")
        hung.until({0: "all_reduce", 2: "all_reduce"})
        hung.until({1: "spin"}, looks=1)
        calm = self.watch(healthy.port, "--stuck", SHORT, "--report",
                          self.reports)
        alarmed = self.watch(hung.port, "--stuck", "%gs" % STUCK)
        status, document, seconds = alarmed.finish()
        self.assertEqual((status, document["event"]), (1, "stuck"))
        # The newest two samples may be of one line of its loop.
        self.assertRegex(document["verdict"], r"Rank 1 (computes: |holds the "
                         r"GIL in C code called from )spin \(")
        self.assertRegex(document["headline"],
                         r"^Ranks have waited for rank 1 for [0-9.]+ s\. ")
        self.assertIsNone(document["report"])
        self.assertGreaterEqual(seconds, STUCK - 0.5)
        jobs.wait_for(lambda: time.monotonic() > calm.since + 4 * SHORT
                      or calm.process.poll() is not None, "four times as long")
        if calm.process.poll() is not None:
            self.fail("a healthy job was stuck: %s" % (calm.finish(),))
        healthy.release()
        healthy.close_lines()
        status, document, _ = calm.finish()
        self.assertEqual((status, document["event"]), (0, "ended"), calm.said)
        self.assertEqual(os.listdir(self.reports), [])

    def test_the_locals_at_the_event_and_a_copy_of_the_recording(self):
        hung = self.start(3)
        hung.order("spin", [1])
        hung.until({0: "all_reduce", 2: "all_reduce"})
        hung.until({1: "spin"}, looks=1)
        path = os.path.join(self.folder, "own")
        for options, source in (([], None), (["--record", path], path)):
            watcher = self.watch(hung.port, "--stuck", "%gs" % STUCK,
                                 "--report", self.reports, "--record-locals",
                                 *options)
            status, document, _ = watcher.finish()
            self.assertEqual((status, document["event"]), (1, "stuck"))
            self.assertEqual(os.path.dirname(document["recording"]),
                             self.reports)
            for recording in (document["recording"], source):
                if recording is None:
                    continue
                found = self.replay(recording, "--json", "locals", "--rank",
                                    "1")
                self.assertEqual((found.returncode, found.stderr), (0, ""))
                names = [variable["name"] for variable
                         in json.loads(found.stdout)["variables"]]
                self.assertIn("turns", names)

    def test_the_output_of_the_rank_that_failed(self):
        port = str(jobs.free_port())
        ranks = []
        for number in range(2):
            name = os.path.join(self.folder, "out.%d" % number)
            with open(name, "w") as out, open(name + ".err", "w") as error:
                rank = subprocess.Popen(
                    [sys.executable, "-c", "import sys; print('said', flush=True); "
                     "sys.stdin.read(); raise ValueError"], stdout=out,
                    stderr=error, stdin=subprocess.PIPE, env=dict(
                        os.environ, RANK=str(number), WORLD_SIZE="2",
                        MASTER_ADDR="127.0.0.1", MASTER_PORT=port))
            self.addCleanup(rank.communicate)
            self.addCleanup(rank.kill)
            ranks.append((rank, name))
        jobs.wait_for(lambda: all(os.path.getsize(name) for _, name in ranks),
                      "the ranks")
        watcher = self.watch(port, "--stuck", "60s", "--report", self.reports,
                             "--record-output")
        ranks[1][0].stdin.close()
        ranks[1][0].stdin = None
        status, document, _ = watcher.finish()
        self.assertEqual((status, document["rank"]), (1, 1))
        found = self.replay(document["recording"], "--json", "output", "ranks",
                            "1")
        lines = json.loads(found.stdout)[0]["lines"]
        self.assertIn({"stream": "stdout", "text": "said"}, lines)
        self.assertIn({"stream": "stderr", "text": "ValueError"}, lines)

    def programs_for_others(self):
        """Copies that another user can run, as the build folder may be in a
        home folder, and the variables with which they find each other."""
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("setpriv as root is needed to be another user")
        folder = tempfile.mkdtemp(prefix="probetui-others-")
        self.addCleanup(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        program, node = [shutil.copy(path, folder) for path in (
            jobs.PROBETUI, os.environ["PROBETUI_NODE"])]
        return program, dict(os.environ, PROBETUI_NODE=node)

    def watch_others(self):
        """Two jobs of a user of their own, as other tests have jobs, too; and
        who watches them."""
        program, environment = self.programs_for_others()
        user = ["setpriv", "--reuid=%d" % OTHER, "--regid=%d" % OTHER,
                "--clear-groups"]
        ports = [str(jobs.free_port()) for _ in range(2)]
        ranks = [subprocess.Popen(
            user + [OTHERS_PYTHON, "-c", "import sys; sys.stdin.read()"],
            stdin=subprocess.PIPE, cwd="/", env=dict(
                os.environ, RANK="0", WORLD_SIZE="1", MASTER_PORT=port,
                MASTER_ADDR="127.0.0.1")) for port in ports]
        for rank in ranks:
            self.addCleanup(rank.communicate)
            self.addCleanup(rank.kill)
        jobs.wait_for(lambda: all(
            b"sys.stdin" in jobs.command_line(rank.pid)
            and b"setpriv" not in jobs.command_line(rank.pid)
            for rank in ranks), "the ranks")
        watcher = subprocess.Popen(
            user + [program, "--json", "wait", "--stuck", "600s"],
            env=environment, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(watcher.communicate)
        self.addCleanup(watcher.kill)
        said = sorted(watcher.stderr.readline() for _ in ports)
        for port, line in zip(sorted(ports), said):
            self.assertIn("job 127.0.0.1:%s: watching 1 rank" % port, line)
        self.ports = ports
        return ranks, watcher

    def test_all_jobs_are_watched(self):
        ranks, watcher = self.watch_others()
        ports = self.ports
        ranks[1].kill()
        output, errors = watcher.communicate(timeout=jobs.LIMIT)
        document = json.loads(output)
        self.assertEqual((watcher.returncode, document["event"],
                          document["job"], document["rank"]),
                         (1, "failed", "127.0.0.1:" + ports[1], 0), errors)
        self.assertIn("job 127.0.0.1:%s: Rank 0 failed first" % ports[1],
                      errors)
        self.assertEqual(
            [pid for pid in jobs.descendants(os.getpid())
             if b"--stuck" in jobs.command_line(pid)], [])

    def test_the_watch_of_a_job_that_is_lost_is_a_status(self):
        """All nodes are killed: nothing is known of the jobs any more."""
        ranks, watcher = self.watch_others()
        nodes = [pid for pid in jobs.descendants(watcher.pid)
                 if b"probetui" in jobs.command_line(pid)
                 and not jobs.descendants(pid)]
        self.assertGreaterEqual(len(nodes), 2)
        for pid in nodes:
            os.kill(pid, signal.SIGKILL)
        output, errors = watcher.communicate(timeout=jobs.LIMIT)
        self.assertEqual(watcher.returncode, 3, output + errors)

    def test_a_signal_ends_it_and_its_node(self):
        watcher = self.watch("1", "--stuck", "60s", until="no rank found yet")
        nodes = children(watcher.process.pid)
        watcher.process.send_signal(signal.SIGTERM)
        status, document, _ = watcher.finish()
        self.assertEqual((status, document), (
            128 + signal.SIGTERM,
            {"event": "interrupted", "signal": signal.SIGTERM,
             "earlier_attempts": []}))
        jobs.wait_for(lambda: not any(os.path.exists("/proc/%d" % pid)
                                      for pid in nodes), "the node's end")

    def test_ranks_of_another_user_are_told(self):
        program, environment = self.programs_for_others()
        job = self.start(1)
        found = subprocess.run(
            ["setpriv", "--reuid=%d" % OTHER, "--clear-groups", program,
             "--job", str(job.port), "--timeout", "0.5", "wait", "--stuck",
             "60s"], env=environment, cwd="/", stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, timeout=jobs.LIMIT)
        self.assertEqual((found.returncode, found.stdout), (3, ""))
        self.assertRegex(found.stderr, r"no rank found yet among the processes of "
                         r"this user; \d+ Python process.* run probetui as the "
                         r"user of the job or as root")

    def test_no_job_within_the_time(self):
        found = jobs.probetui("--job", "1", "--timeout", "0.2", "wait",
                              "--stuck", "60s")
        self.assertEqual((found.returncode, found.stdout), (3, ""))

    def refuse(self, folder, *words):
        found = jobs.probetui("--job", "1", "wait", "--stuck", "60s",
                              "--report", folder)
        self.assertEqual(found.returncode, 2)
        for word in words:
            self.assertIn(word, found.stderr)

    def test_folders_that_will_not_do(self):
        file = os.path.join(self.folder, "file")
        link = os.path.join(self.folder, "link")
        with open(file, "w"):
            os.symlink(self.folder, link)
        self.refuse(file, "is not a folder")
        self.refuse(link, "is a symbolic link")
        self.refuse(link + "/", "is a symbolic link")
        self.refuse(os.path.join(self.folder, "a", "b"), "cannot create")
        os.mkdir(self.reports)
        os.chmod(self.reports, 0o777)
        self.refuse(self.reports, "is writable by all users")

    def test_words_that_do_not_fit(self):
        for words in (["--stuck"], ["--stuck", "soon"], ["--stuck", "0"],
                      ["--report", "x"], ["--stuk", "1"]):
            found = jobs.probetui("wait", *words)
            self.assertEqual((found.returncode, found.stdout), (2, ""), words)


class TestReport(Evidence):
    def test_a_page_and_a_document(self):
        job = self.start(3)
        job.order("late", [1])
        job.until({0: "all_reduce", 1: "late", 2: "all_reduce"})
        path = os.path.join(self.folder, "page")
        found = jobs.probetui("--job", job.port, "report", "--out", path)
        self.assertEqual((found.returncode, found.stdout), (1, path + "\n"))
        text = self.read(path)
        for part in ("3 ranks of orders.py", "Rank 1 is elsewhere: late",
                     "MERGED STACKS", "Python 3.", "rank 2: ",
                     "command: ", "open files ", "DISK (of the ranks' folders"):
            self.assertIn(part, text)
        again = jobs.probetui("--job", job.port, "report", "--out", path)
        self.assertEqual(again.returncode, 2)
        found = jobs.probetui("--job", job.port, "--json", "report", "ranks",
                              "1")
        report = json.loads(found.stdout)
        self.assertEqual([rank["rank"] for rank in report["ranks"]], [1])
        self.assertEqual(report["verdict"]["outliers"], [1])
        self.assertEqual(report["merged"]["ranks"], "1")
        self.assertGreater(report["ranks"][0]["memory"], 1 << 20)
        self.assertIsNone(report["ranks"][0]["error_file"])
        self.assertTrue(report["disks"])
        for disk in report["disks"]:
            self.assertLessEqual(disk.get("free", 0), disk.get("size", 0))


    def test_the_last_lines(self):
        """Of files of their own, and of one that two ranks print to."""
        port = str(jobs.free_port())
        for rank in range(3):
            name = os.path.join(self.folder, "out.%d" % min(rank, 1))
            with open(name, "a") as out, open(name + ".err", "a") as error:
                process = subprocess.Popen(
                    [sys.executable, "-c", STEPS], stdin=subprocess.PIPE,
                    stdout=out, stderr=error, env=dict(
                        os.environ, RANK=str(rank), WORLD_SIZE="3",
                        MASTER_ADDR="127.0.0.1", MASTER_PORT=port))
            self.addCleanup(process.communicate)
            self.addCleanup(process.kill)
        jobs.wait_for(lambda: all(
            os.path.getsize(os.path.join(self.folder, "out.%d.err" % number))
            == (number + 1) * BAR_BYTES for number in (0, 1)), "the bars")
        text = jobs.probetui("--job", port, "report").stdout
        self.assertIn("""
LAST LINE THAT EACH RANK HAS PRINTED
  rank 0: step 7
  ranks 1-2: in one file: step 7
  rank 0: progress bar: 70%|#######   |
  ranks 1-2: in one file: progress bar: 70%|#######   |
""", text)


STEPS = """
import sys
print("step 6", "step 7", "", sep="\\n", flush=True)
sys.stderr.write("\\r 60%|######    |\\r 70%|#######   |")
sys.stderr.flush()
sys.stdin.readline()
"""
BAR_BYTES = 2 * len("\r 60%|######    |")
# As torch.distributed prints what has left the program.
PRINTS = """
import sys
print("ready", flush=True)
sys.stdin.readline()
sys.stderr.write('[rank0]: Traceback (most recent call last):\\n'
                 '[rank0]:   File "/job/train.py", line 17, in load\\n'
                 '[rank0]: ValueError: bad label\\n')
sys.exit(1)
"""


class TestScreen(Evidence):
    def test_why_a_rank_ended(self):
        """Also what it has printed last, in its last moment."""
        with open(os.path.join(self.folder, "stderr"), "w") as file:
            rank = subprocess.Popen(
                [sys.executable, "-c", PRINTS], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=file,
                env=dict(os.environ, RANK="0", WORLD_SIZE="1"))
        self.addCleanup(rank.communicate)
        self.addCleanup(rank.kill)
        self.assertEqual(rank.stdout.readline(), b"ready\n")
        terminal = terminals.Terminal(24, 120)
        self.addCleanup(terminal.close)
        terminal.start(["--pid", str(rank.pid)])
        terminal.see(b"<module>")
        # What was asked of the node before this is answered.
        terminal.press(b":report\r")
        terminal.see(b"LAST MINUTE")
        terminal.press(b"q")
        terminal.see(b"<module>")
        rank.stdin.write(b"\n")
        rank.stdin.flush()
        terminal.see(b"raised ValueError: bad label (train.py:17)")


class TestTorchrun(Evidence):
    @classmethod
    def setUpClass(cls):
        cls.python = jobs.find_torch()
        if cls.python is None:
            raise unittest.SkipTest("no Python with torch found")
        if not pythons.has_torchrun(cls.python):
            raise unittest.SkipTest(pythons.NO_TORCHRUN)

    def test_a_rank_that_raises(self):
        port = jobs.free_port()
        go = os.path.join(self.folder, "go")
        job = jobs.Launched(
            [self.python, "-m", "torch.distributed.run", "--nproc_per_node=3",
             "--master_addr", "127.0.0.1", "--master_port", str(port),
             os.path.join(jobs.JOBS, "raises.py"), go])
        self.addCleanup(job.close)
        look = ["--job", port, "verdict", "--for", "0"]
        jobs.wait_for(lambda: "Rank 2 is elsewhere: load_batch"
                      in jobs.probetui(*look).stdout, "the ranks to wait")
        watcher = self.watch(port, "--stuck", "60s", "--report", self.reports)
        with open(go, "w"):
            pass
        status, document, _ = watcher.finish()
        self.assertEqual((status, document["rank"]), (1, 2), watcher.said)
        text = self.read(document["report"])
        self.assertIn("Rank 2 failed first: it raised ValueError: ", text)
        self.assertIn("rank 2: ValueError: shard 7 with api_key=<masked>",
                      text)
        self.assertIn("in load_batch", text)
        self.assertNotIn("s3cret", text)
        # The newest look may have been when they were on their way out.
        self.assertRegex(text, r"2 +0-1 .*all_reduce|"
                         r"2 of 3 ranks .*wait in all_reduce")
        self.assertRegex(text, r"ranks 0-2: Python \S+, torch \d+\.\d+")
        self.check_recording(document["recording"])

    def check_recording(self, path):
        verdict = json.loads(
            self.replay(path, "--json", "verdict").stdout)
        self.assertIn(2, verdict["outliers"])
        report = json.loads(self.replay(path, "--json", "report").stdout)
        SHAPES.check(self, "report", report)
        self.assertEqual(report["first_failed"], 2)
        self.assertEqual(report["merged"]["ranks"], "0-2")
        self.assertIn("<masked>", json.dumps(report))
        self.assertNotIn("s3cret", json.dumps(report))


if __name__ == "__main__":
    unittest.main()
