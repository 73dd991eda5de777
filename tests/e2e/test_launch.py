"""Jobs that probetui starts: on the screen, by scripts, and left behind."""
import hashlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(1, os.path.join(os.path.dirname(HERE), "backend"))
import jobs  # noqa: E402
import nodes  # noqa: E402
import pythons  # noqa: E402
import terminals  # noqa: E402

SOAK = "PROBETUI_SOAK" in os.environ

MAIN = """\
first = 1
import helper
def work(i):
    return helper.double(i)
total = 0
for i in range(100): total += work(i)
print("total %d" % total)
"""
HELPER = """\
FACTOR = 2
def double(i):
    return i * FACTOR
"""
TOTAL = "total %d" % sum(2 * i for i in range(100))

# Ranks 0 and 1, started by a program that has no number.
STARTER = """\
import os, subprocess, sys
ranks = [subprocess.Popen([sys.executable, "main.py"], env=dict(
    os.environ, RANK=str(i), WORLD_SIZE="2", LOCAL_RANK=str(i),
    MASTER_ADDR="127.0.0.1", MASTER_PORT="29999")) for i in range(2)]
sys.exit(sum(rank.wait() for rank in ranks))
"""

# Stops at its line 4 once for each time that the FIFO "gate" is written to.
GATED = """\
total = 0
while total < 3:
    with open("gate") as gate: total += len(gate.read())
    total = total
"""

# Goes on when a file has something in it.
WAITS = """\
import sys, time
print("ready", flush=True)
while not open(sys.argv[1]).read(): time.sleep(0.005)
for i in range(300): print("line", i)
open(sys.argv[2], "w").write("done")
sys.exit(4)
"""

TORCH = """\
import os
rank = int(os.environ["RANK"])
import torch
import torch.distributed as dist
def train(step):
    values = torch.full((2,), float(rank + step))
    dist.all_reduce(values)
    return values.sum().item()
dist.init_process_group("gloo")
print("rank %d sum %s" % (rank, sum(train(step) for step in range(5))))
dist.destroy_process_group()
"""


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(self.sweep)
        self.state = os.path.join(self.folder, "state")
        for name, text in (("main.py", MAIN), ("helper.py", HELPER),
                           ("starter.py", STARTER), ("waits.py", WAITS),
                           ("train.py", TORCH), ("gated.py", GATED),
                           ("go", "")):
            with open(self.file(name), "w") as file:
                file.write(text)

    def file(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.file(name), newline="") as file:
            return file.read()

    def sweep(self):
        """No job may be left; what it wrote goes."""
        if os.path.exists(self.file("go")):
            with open(self.file("go"), "w") as file:
                file.write("go")
        jobs.wait_for(lambda: not self.mentioned(), "the end of all jobs", 30)
        shutil.rmtree(self.folder)

    def mentioned(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as file:
                    line = file.read()
                if self.folder.encode() in line and b"--keep" in line:
                    found.append(pid)
            except (FileNotFoundError, ProcessLookupError):
                pass
        return found

    def environment(self):
        return dict(os.environ, XDG_STATE_HOME=self.state)

    def run_script(self, lines, *arguments, python=sys.executable, program=(),
                   limit=60):
        """Its status, the events and answers, and what was printed besides."""
        run = subprocess.run(
            [jobs.PROBETUI, "--json", "-x", "-", *arguments, "--",
             *(program or (python, "main.py"))],
            input="\n".join(lines) + "\n", stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True, timeout=limit,
            cwd=self.folder, env=self.environment())
        return (run.returncode,
                [json.loads(line) for line in run.stdout.splitlines()],
                run.stderr)

    def places(self, events):
        return [(event["rank"], os.path.basename(event["frame"]["file"]),
                 event["frame"]["lineno"]) for event in events
                if event.get("event") == "stopped"]


class TestScripts(Folder):
    def test_the_end_of_a_job_is_told(self):
        status, events, printed = self.run_script(
            ["wait exited"], program=[sys.executable, "-c",
                                      "print('said'); raise SystemExit(3)"])
        self.assertEqual(status, 0, (events, printed))
        ended = [event for event in events if event.get("event") == "job"]
        self.assertEqual([(event["code"], event["signal"])
                          for event in ended], [(3, None)])
        self.assertIn("said\n", printed)

    def test_a_python_without_a_number_is_rank_0(self):
        _status, events, _printed = self.run_script(
            ["ranks", "quit end"], program=[
                sys.executable, "-c", "import time; time.sleep(100)"])
        self.assertEqual([rank["rank"] for rank in events[0]], [0])
        ended = [event for event in events if isinstance(event, dict)
                 and event.get("event") == "job"]
        self.assertEqual(ended[0]["signal"], "SIGTERM")

    def test_what_is_left_goes_on(self):
        """And says where it prints."""
        status, _events, printed = self.run_script(
            [], program=[sys.executable, "waits.py", "go", "done"])
        self.assertEqual(status, 0)
        log = re.search(r"keeps running; its output goes to (\S+)", printed).group(1)
        self.assertTrue(log.startswith(self.state))
        with open(self.file("go"), "w") as file:
            file.write("go")
        jobs.wait_for(lambda: not self.mentioned(), "the job's end")
        self.assertEqual(self.read("done"), "done")
        with open(log) as file:
            self.assertIn("line 299", file.read())


# What it reads, and what it is.
INPUT = """
import os, sys
print("tty", *(int(os.isatty(fd)) for fd in range(3)))
print("read", repr(sys.stdin.read()), flush=True)
"""


class TestInput(Folder):
    """The standard input of a job that a script starts is what it was given."""

    def start(self, *arguments, **options):
        with open(self.file("script"), "w") as file:
            file.write("wait exited\n")
        run = subprocess.run(
            [jobs.PROBETUI, "-x", self.file("script"), *arguments, "--",
             sys.executable, "-c", INPUT], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True, timeout=120,
            cwd=self.folder, env=self.environment(), **options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stderr

    def test_a_file_from_where_it_stands(self):
        with open(self.file("data"), "w") as file:
            file.write("first\nsecond\n")
        with open(self.file("data")) as file:
            os.lseek(file.fileno(), 6, os.SEEK_SET)
            printed = self.start(stdin=file)
        self.assertIn("tty 0 1 1\nread 'second\\n'\n", printed)

    def test_a_pipe(self):
        text = "".join("line %d\n" % i for i in range(20000))
        printed = self.start(input=text)
        self.assertIn("tty 0 1 1\nread %r\n" % text, printed)

    def test_nothing(self):
        self.assertIn("read ''\n", self.start(stdin=subprocess.DEVNULL))

    def test_whoever_writes_sees_that_the_job_has_closed_it(self):
        with open(self.file("script"), "w") as file:
            file.write("wait exited timeout 60\n")
        run = subprocess.Popen(
            [jobs.PROBETUI, "-x", self.file("script"), "--", sys.executable,
             "-u", "-c", "import os, time; os.close(0); print('closed');"
             "[time.sleep(0.01) for _ in iter(lambda:"
             " os.path.exists('end'), True)]"],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=self.folder, env=self.environment())
        try:
            self.assertIn(b"closed", run.stderr.readline())
            poll = select.poll()
            poll.register(run.stdin, 0)
            self.assertTrue(poll.poll(60000))
        finally:
            with open(self.file("end"), "w"):
                pass
            run.communicate(timeout=120)

    def test_a_terminal_that_is_asked_for(self):
        with open(self.file("script"), "w") as file:
            file.write("wait exited\n")
        run = subprocess.run(
            [jobs.PROBETUI, "--tty", "-x", self.file("script"), "--",
             sys.executable, "-c", "import os; print(os.isatty(0))"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True, timeout=120,
            cwd=self.folder, env=self.environment())
        self.assertIn("True\n", run.stderr)


LINES = 1000000 if SOAK else 100000
PRINTS = """
import sys
for i in range(int(sys.argv[1])): print("line", i)
open(sys.argv[2], "w").close()
"""


class TestReaders(Folder):
    """Who reads what a job of a script prints has all of it, in order."""

    def start(self, script="wait exited timeout 1000\n"):
        with open(self.file("script"), "w") as file:
            file.write(script)
        run = subprocess.Popen(
            [jobs.PROBETUI, "-x", self.file("script"), "--", sys.executable,
             "-c", PRINTS, str(LINES), "done"], stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE, cwd=self.folder, env=self.environment())
        self.addCleanup(run.stderr.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        return run

    def is_done(self):
        return os.path.exists(self.file("done"))

    def is_in_folder(self, pid):
        try:
            return os.readlink("/proc/%d/cwd" % pid) == self.folder
        except OSError:
            return False    # it has ended

    def await_stuck(self):
        """The job waits in write(2), or has ended."""
        def job():
            found = subprocess.run(["pgrep", "-xf", "--", "%s -c.*" % (
                re.escape(sys.executable))], stdout=subprocess.PIPE)
            return [int(pid) for pid in found.stdout.split()
                    if self.is_in_folder(int(pid))]
        jobs.wait_for(lambda: self.is_done() or any(
            nodes.is_stuck(pid) for pid in job()), "the job to wait")

    def test_a_slow_one(self):
        run = self.start()
        self.await_stuck()
        self.assertFalse(self.is_done())
        text = run.stderr.read()
        self.assertEqual(run.wait(60), 0)
        lines = [line for line in text.decode().splitlines()
                 if line.startswith("line ")]
        self.assertEqual(len(lines), LINES)
        self.assertEqual(lines, ["line %d" % i for i in range(LINES)])

    def test_one_that_goes(self):
        run = self.start()
        self.await_stuck()
        run.stderr.close()
        jobs.wait_for(self.is_done, "the end of the job")

    def test_probetui_is_killed(self):
        run = self.start()
        self.await_stuck()
        before = os.read(run.stderr.fileno(), 100000).decode()
        run.kill()
        run.wait()
        before += run.stderr.read().decode()
        jobs.wait_for(self.is_done, "the end of the job")
        jobs.wait_for(lambda: not self.mentioned(), "the end of all")
        folder = os.path.join(self.state, "probetui", "jobs")
        (name,) = os.listdir(folder)
        with open(os.path.join(folder, name), newline="") as file:
            after = file.read().replace("\r", "")
        whole = "".join("line %d\n" % i for i in range(LINES))
        self.assertTrue(whole.startswith(before))
        self.assertTrue(whole.endswith(after))
        self.assertGreaterEqual(len(before) + len(after), len(whole))


class TestBreakpoints(Folder):
    """On every Python there is: those that are set before it starts stop."""

    PLACES = ("main.py:1", "helper.py:3", "helper.py:1", "main.py:7")

    def at_home(self, python):
        """Its argv, in the folder; a chroot has a copy of that."""
        if python.argv[0] != "chroot":
            return python.argv
        root, program = python.argv[1:]
        above = tempfile.mkdtemp(prefix="launch-", dir=root + "/tmp")
        self.addCleanup(shutil.rmtree, above)
        folder = shutil.copytree(self.folder, above + "/job")
        return ["chroot", root, "env", "-C", folder[len(root):], program]

    def test_first_lines(self):
        """A day one place of each Python, with PROBETUI_SOAK all."""
        for i, python in enumerate(map(self.at_home, pythons.find())):
            places = self.PLACES if SOAK else (self.PLACES[i % 4],)
            for place in places:
                with self.subTest(python=python, place=place):
                    name, line = place.split(":")
                    status, events, printed = self.run_script(
                        ["wait stopped timeout 20", "clear", "continue",
                         "wait exited"], "--break", place,
                        program=python + ["main.py"])
                    self.assertEqual(self.places(events),
                                     [(0, name, int(line))], printed)
                    self.assertEqual(status, 0, printed)
                    self.assertIn(TOTAL, printed)

    def test_a_condition(self):
        _status, events, printed = self.run_script(
            ["wait stopped timeout 20", "print i", "continue", "wait exited"],
            "--break", "main.py:4 if i == 42")
        self.assertEqual(self.places(events), [(0, "main.py", 4)], printed)
        self.assertIn("42", json.dumps(events))
        self.assertIn(TOTAL, printed)

    def test_a_line_that_is_not_there(self):
        """It is said once, and why stands in the list while it runs on."""
        sentence = "is after the last line with code (7)"
        for more in ((), ("--break", "main.py:7")):
            _status, events, printed = self.run_script(
                ["wait stopped timeout 100", "break", "clear", "continue",
                 "wait exited timeout 100"] if more else
                ["wait exited timeout 100", "break"],
                "--break", "main.py:99", *more)
            listed = [answer["breakpoints"] for answer in events
                      if "breakpoints" in answer][0]
            if not more and "is loaded yet" in listed[0]["message"]:
                continue    # it has ended before anybody looked
            self.assertIn(sentence, listed[0]["message"])
            notes = [event["error"] for event in events
                     if "error" in event and sentence in str(event)]
            self.assertEqual(len(notes), 1, events)
            self.assertIn(TOTAL, printed)

    def test_a_condition_that_cannot_be_told(self):
        """Before anything has run; later, once in all."""
        run = subprocess.run(
            [jobs.PROBETUI, "--break", "main.py:4 if work(i)", "-x", "-",
             "--", sys.executable, "main.py"], input=b"", cwd=self.folder,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
            env=self.environment())
        self.assertEqual(run.returncode, 2, run.stdout)
        self.assertIn(b"a call would run code", run.stdout)
        self.assertNotIn(b"total", run.stdout)
        _status, events, printed = self.run_script(
            ["wait stopped ranks 0-1 timeout 20",
             "break main.py:4 if work(i)", "clear", "continue ranks 0-1",
             "wait exited"], "--break", "main.py:1",
            program=[sys.executable, "starter.py"])
        said = [event for event in events
                if "a call would run code" in str(event)]
        self.assertEqual(len(said), 1, events)

    def test_a_watch_of_what_is_not_there(self):
        """It is said as watch's, and is not kept."""
        _status, events, _printed = self.run_script(
            ["wait stopped timeout 20", "watch nothing", "watch", "clear",
             "continue", "wait exited"], "--break", "main.py:4")
        errors = [event for event in events if event.get("event") == "error"]
        self.assertEqual(len(errors), 1, events)
        self.assertRegex(errors[0]["error"], "^line 2: watch: rank 0: .*nothing")
        self.assertIn({"breakpoints": []}, events)

    def test_what_is_displayed_at_each_stop(self):
        _status, events, printed = self.run_script(
            ["wait stopped timeout 20", "display total",
             *["next", "wait stopped timeout 20"] * 2, "clear", "continue",
             "wait exited"],
            "--break", "main.py:6")
        shown = [event["displays"][0]["value"] for event in events
                 if "displays" in event]
        self.assertEqual(shown, ["0", "0", "2"], (events, printed))

    def test_a_stop_while_the_next_line_is_waited_for_is_displayed(self):
        gate = os.path.join(self.folder, "gate")
        os.mkfifo(gate)
        script = subprocess.Popen(
            [jobs.PROBETUI, "--json", "-x", "-", "--break", "gated.py:4",
             "--", sys.executable, "gated.py"], cwd=self.folder,
            env=self.environment(), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for end in (script.wait, script.kill, script.stdout.close):
            self.addCleanup(end)

        def say(line):
            script.stdin.write(line.encode() + b"\n")
            script.stdin.flush()

        def read_until(key):
            event = {}
            while key not in event:
                event = json.loads(script.stdout.readline())
            return event

        def open_gate():
            with open(gate, "w") as file:
                file.write("x")

        def has_stopped():
            """The rank has, and probetui and its node have read so."""
            with open("/proc/%d/stat" % rank) as file:
                state = file.read().rpartition(")")[2].split()[0]
            with open("/proc/%d/task/%d/children" % (script.pid, script.pid)
                      ) as file:
                readers = [script.pid, *map(int, file.read().split())]
            return state == "t" and all(
                nodes.rests(pid, int(tid)) for pid in readers
                for tid in os.listdir("/proc/%d/task" % pid))
        open_gate()
        say("wait stopped timeout 60")
        rank = read_until("tid")["tid"]
        say("display total")
        shown = [read_until("displays")["displays"][0]["value"]]
        for _ in range(2):
            say("continue")
            read_until("command")
            open_gate()
            jobs.wait_for(has_stopped, "the rank to stop")
            say("wait stopped timeout 60")
            shown.append(read_until("displays")["displays"][0]["value"])
        self.assertEqual(shown, ["1", "2", "3"])

    def test_of_one_of_two_ranks(self):
        """Who starts them has no number, and is no rank in the end."""
        _status, events, printed = self.run_script(
            ["wait stopped ranks 1 timeout 20", "clear", "continue ranks 1",
             "wait exited"], "--break", "main.py:1 ranks 1",
            program=[sys.executable, "starter.py"])
        self.assertEqual(self.places(events), [(1, "main.py", 1)], printed)
        self.assertEqual(printed.count(TOTAL), 2)
        ended = [event for event in events if event.get("event") == "job"]
        self.assertEqual(ended[0]["code"], 0)

    def test_a_script_sets_more(self):
        _status, events, printed = self.run_script(
            ["wait stopped timeout 20", "break helper.py:3", "continue",
             "wait stopped", "clear", "continue", "wait exited"],
            "--break", "main.py:1")
        self.assertEqual(self.places(events),
                         [(0, "main.py", 1), (0, "helper.py", 3)], printed)

    def test_a_job_of_torchrun(self):
        python = jobs.find_torch()
        if python is None:
            self.skipTest("no Python has torch")
        if not pythons.has_torchrun(python):
            self.skipTest(pythons.NO_TORCHRUN)
        with jobs.socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        _status, events, printed = self.run_script(
            ["wait stopped ranks 0-1 timeout 60", "clear",
             "continue ranks 0-1", "wait exited timeout 60"],
            "--break", "train.py:2",
            program=[python, "-m", "torch.distributed.run",
                     "--nproc_per_node=2", "--master_port", str(port),
                     "train.py"], limit=150)
        self.assertEqual(sorted(self.places(events)),
                         [(0, "train.py", 2), (1, "train.py", 2)],
                         (events, printed))
        for rank in (0, 1):
            self.assertIn("rank %d sum 50.0" % rank, printed)


class TestSurvival(Folder):
    """Whoever is killed: the job comes to its right end."""

    def start(self, *arguments, program=("waits.py", "go", "done")):
        process = subprocess.Popen(
            [jobs.PROBETUI, "-x", "-", *arguments, "--", sys.executable,
             *program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, cwd=self.folder, env=self.environment())
        self.addCleanup(self.finish, process)
        process.stdin.write(b"wait exited timeout 100\n")
        process.stdin.close()
        return process

    @staticmethod
    def finish(process):
        process.stdin = None
        process.communicate()

    @staticmethod
    def node_of(process):
        with open("/proc/%d/task/%d/children" % (process.pid,
                                                 process.pid)) as file:
            return int((file.read().split() or [0])[0])

    def check_end(self):
        with open(self.file("go"), "w") as file:
            file.write("go")
        jobs.wait_for(lambda: not self.mentioned(), "the job's end")
        self.assertEqual(self.read("done"), "done")
        logs = os.listdir(os.path.join(self.state, "probetui", "jobs"))
        text = self.read(os.path.join("state", "probetui", "jobs", logs[0]))
        self.assertEqual(text, "ready\r\n" + "".join(
            "line %d\r\n" % i for i in range(300)))

    def await_ready(self, process):
        ready = select.select([process.stderr], [], [], 30)[0]
        self.assertTrue(ready)
        self.assertIn(b"ready", os.read(process.stderr.fileno(), 4096))

    def test_the_screen_is_killed(self):
        process = self.start()
        self.await_ready(process)
        node = self.node_of(process)
        process.kill()
        jobs.wait_for(lambda: not os.path.exists("/proc/%d" % node),
                      "the node's end")
        self.check_end()

    def test_the_node_is_killed(self):
        process = self.start()
        self.await_ready(process)
        os.kill(self.node_of(process), signal.SIGKILL)
        self.check_end()

    def test_the_node_is_killed_while_it_holds(self):
        """At any time of the start of a job that is followed and stopped."""
        rounds = 100 if SOAK else 10
        for i in range(rounds):
            mark = self.file("mark%d" % i)
            code = ("import helper\n"
                    "open(%r, 'w').close()\n"
                    "total = sum(helper.double(i) for i in range(100))\n"
                    "open(%r, 'w').write('total %%d' %% total)\n"
                    % (mark, mark))
            with open(self.file("program%d.py" % i), "w") as file:
                file.write(code)
            process = self.start("--break", "helper.py:3",
                                 program=["program%d.py" % i])
            jobs.wait_for(lambda: self.node_of(process), "the node")
            node = self.node_of(process)
            select.select([], [], [], 0.2 * i / rounds)
            os.kill(node, signal.SIGKILL)
            process.wait(30)
        jobs.wait_for(lambda: not self.mentioned(), "the end of all")
        for name in os.listdir(self.folder):
            if name.startswith("mark"):
                self.assertEqual(self.read(name), TOTAL, name)


class TestScreen(Folder):
    def start(self, *words, options=()):
        terminal = terminals.Terminal()
        self.addCleanup(terminal.close)
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            terminal.start([*options, "--", sys.executable, *words],
                           XDG_STATE_HOME=self.state)
        finally:
            os.chdir(before)
        return terminal

    def test_the_terminal_of_the_job(self):
        """It shows what comes, takes what is typed, and is left by ^]."""
        with open(self.file("asks.py"), "w") as file:
            file.write("name = input('name? ')\n"
                       "print('hello', name)\n"
                       "import time; time.sleep(100)\n")
        terminal = self.start("asks.py")
        terminal.wait_for(b"asks.py")
        # Every key is the job's, also that which draws the screen anew.
        terminal.press(b"!")
        terminal.wait_for(b"name? ")
        terminal.press(b"Zoe\r")
        terminal.wait_for(b"hello Zoe")
        terminal.press(b"\x1d")
        terminal.see(b"Stack")
        terminal.press(b"q")
        terminal.see(b"[d]etach (job keeps running")
        terminal.press(b"e")
        self.assertEqual(terminal.wait_end(), 0)
        self.assertIn(b"was killed by signal 15", terminal.output)
        self.assertIsNone(terminal.problem())

    def test_what_is_pasted_is_typed(self):
        """More than a socket of packets takes key by key, while the job does
        not read."""
        text = "".join("pasted line %04d\n" % i for i in range(1200))
        with open(self.file("reads.py"), "w") as file:
            file.write("import hashlib, os, subprocess, sys, time\n"
                       "subprocess.check_call(['stty', '-echo'])\n"
                       "print('ready')\n"
                       "while not os.path.exists('read'): time.sleep(0.005)\n"
                       "text = ''.join(sys.stdin.readline()"
                       " for _ in range(1200))\n"
                       "print(hashlib.md5(text.encode()).hexdigest())\n"
                       "time.sleep(100)\n")
        terminal = self.start("reads.py")
        terminal.wait_for(b"reads.py")
        terminal.press(b"!")
        terminal.wait_for(b"ready")
        terminal.press(text.replace("\n", "\r").encode())
        with open(self.file("read"), "w"):
            pass
        terminal.wait_for(hashlib.md5(text.encode()).hexdigest().encode())
        terminal.press(b"\x1d")
        terminal.see(b"Stack")
        terminal.press(b"q")
        terminal.see(b"[d]etach (job keeps running")
        terminal.press(b"e")
        self.assertEqual(terminal.wait_end(), 0)

    def test_a_breakpoint_that_is_nowhere_is_pending(self):
        with open(self.file("loops.py"), "w") as file:
            file.write("import time\nwhile True:\n    time.sleep(0.01)\n")
        terminal = self.start("loops.py", options=["--break", "nosuch"])
        terminal.wait_for(b"breakpoint 1 is pending: no function nosuch is "
                          b"loaded yet")
        terminal.press(b"q")
        terminal.see(b"[d]etach (job keeps running")
        terminal.press(b"e")
        self.assertEqual(terminal.wait_end(), 0)

    def test_a_terminal_that_will_not_do(self):
        """Nothing is started that nobody would see."""
        terminal = terminals.Terminal()
        self.addCleanup(terminal.close)
        terminal.start(["--", sys.executable, "-u", self.file("waits.py"),
                        self.file("go"), self.file("done")], TERM="dumb",
                       XDG_STATE_HOME=self.state)
        terminal.wait_for(b"cannot move the cursor")
        self.assertEqual(terminal.wait_end(), 2)
        self.assertEqual(self.mentioned(), [])
        self.assertFalse(os.path.exists(self.state))

    def test_it_is_left_behind(self):
        terminal = self.start("waits.py", "go", "done")
        terminal.wait_for(b"waits.py")
        terminal.press(b"q")
        terminal.see(b"[d]etach (job keeps running")
        terminal.press(b"\x1b")
        terminal.see(b"Stack")
        terminal.press(b"q")
        terminal.see(b"[d]etach (job keeps running")
        terminal.press(b"d")
        self.assertEqual(terminal.wait_end(), 0)
        self.assertIn(b"keeps running; its output goes to", terminal.output)
        with open(self.file("go"), "w") as file:
            file.write("go")
        jobs.wait_for(lambda: not self.mentioned(), "the job's end")
        self.assertEqual(self.read("done"), "done")

    def test_one_that_ends_at_once(self):
        terminal = self.start("-c", "raise SystemExit(7)")
        terminal.wait_for(b"code 7")
        terminal.press(b"!")
        terminal.see(b"exited with code 7")
        terminal.press(b"qq")
        self.assertEqual(terminal.wait_end(), 0)
        self.assertIn(b"exited with code 7", terminal.output)

    def test_its_size_follows_the_screen(self):
        with open(self.file("size.py"), "w") as file:
            file.write("import os, signal, time\n"
                       "def told(*_):\n"
                       "    size = os.get_terminal_size()\n"
                       "    print('size', size.lines, size.columns)\n"
                       "signal.signal(signal.SIGWINCH, told)\n"
                       "told()\n"
                       "while True: time.sleep(100)\n")
        terminal = self.start("size.py")
        terminal.wait_for(b"size.py")
        terminal.press(b"!")
        terminal.wait_for(b"size 18 78")
        terminal.resize(30, 100)
        os.kill(terminal.pid, signal.SIGWINCH)
        terminal.wait_for(b"size 24 98")
        terminal.press(b"\x1d:quit end\r")
        self.assertEqual(terminal.wait_end(), 0)


if __name__ == "__main__":
    unittest.main()
