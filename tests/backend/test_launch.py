"""A job that the node starts: its terminal, its end, and that it needs nobody.

The job is the child of a supervisor, which outlives the node; each test waits for
what the job itself says or leaves.
"""
import hashlib
import os
import select
import shutil
import signal
import stat
import sys
import tempfile
import time
import unittest

from nodes import LIMIT, Node, environment, is_stuck


# AddressSanitizer keeps what was freed for a while.
PEAK_KILOBYTES = 256000 if os.environ.get("SANITIZED") else 40000
# A hundred with PROBETUI_SOAK.
FLOOD_BYTES = 100000000 if "PROBETUI_SOAK" in os.environ else 5000000


def parent_of(pid):
    with open("/proc/%d/stat" % pid) as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


def ancestors(pid):
    found = []
    while pid > 1:
        pid = parent_of(pid)
        found.append(pid)
    return found


def wait_until(is_so, what):
    deadline = time.monotonic() + LIMIT
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError("not within %d s: %s" % (LIMIT, what))
        select.select([], [], [], 0.01)


def await_end(pid):
    """Of a process that is not our child."""
    try:
        fd = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
    except ProcessLookupError:
        return
    if fd is None:
        wait_until(lambda: not os.path.exists("/proc/%d" % pid), "the end")
        return
    ready = select.select([fd], [], [], LIMIT)[0]
    os.close(fd)
    assert ready, "process %d did not end" % pid


class Launched(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(self.sweep)
        self.node = Node(env=environment(XDG_STATE_HOME=self.folder))
        self.addCleanup(self.node.close)
        self.node.ask("initialize", protocol=1)
        self.seen = ""

    def sweep(self):
        """What keeps a job may still write where it is told to."""
        wait_until(lambda: not self.mentioned(), "the end of all")
        shutil.rmtree(self.folder)

    def mentioned(self):
        """Processes that name our folder: supervisors and jobs."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as file:
                    if self.folder.encode() in file.read():
                        found.append(pid)
            except (FileNotFoundError, ProcessLookupError):
                pass
        return found

    def launch(self, *argv, **arguments):
        job = self.node.ask("launch", argv=list(argv), **arguments)
        self.addCleanup(self.end, job["pid"])
        return job

    def python(self, code, **arguments):
        return self.launch(sys.executable, "-u", "-c", code, **arguments)

    @staticmethod
    def end(pid):
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def output_until(self, text):
        """All that the job's terminal got since the last call, with text."""
        while text not in self.seen:
            event = self.node.wait_for(
                lambda m: m.get("event") == "output"
                and m["body"].get("category") == "job")
            self.seen += event["body"]["output"]
        before, after = self.seen.split(text, 1)
        self.seen = after
        return before + text

    def job_event(self, state):
        return self.node.wait_for(
            lambda m: m.get("event") == "job"
            and m["body"]["state"] == state)["body"]

    def file(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.file(name)) as file:
            return file.read()


class Terminal(Launched):
    def test_a_job_runs_on_a_terminal_of_its_own(self):
        self.python(
            "import os, signal, sys\n"
            "size = os.get_terminal_size()\n"
            "print(sys.stdin.isatty(), sys.stdout.isatty(),"
            " sys.stderr.isatty(), os.environ['TERM'],"
            " size.lines, size.columns, os.tcgetpgrp(0) == os.getpid(),"
            " signal.getsignal(signal.SIGINT) is signal.default_int_handler,"
            " signal.pthread_sigmask(signal.SIG_BLOCK, []), 'there')",
            rows=33, columns=111)
        self.assertEqual(
            self.output_until("there"),
            "True True True xterm-256color 33 111 True True set() there")

    def test_a_condition_that_is_none_starts_nothing(self):
        for condition, why in (("i >", "invalid condition 'i >': column 4: "),
                               ("foo(i)", "a call would run code")):
            sentence = self.node.refuse("launch", argv=["true"], breakpoints=[
                {"id": 1, "path": "a.py", "line": 1, "condition": condition}])
            self.assertIn("breakpoint 1: ", sentence)
            self.assertIn(why, sentence)
        self.launch("true", breakpoints=[])
        self.job_event("ended")

    def test_what_is_typed_goes_to_the_job(self):
        self.python("print('>', input('name? '))")
        self.output_until("name? ")
        self.node.ask("jobInput", data="Zo\u00eb\n")
        self.output_until("> Zo\u00eb")
        self.assertEqual(self.job_event("ended")["exit_code"], 0)

    def test_ctrl_c_interrupts_the_job(self):
        self.python("import time\n"
                    "try: print('ready'); time.sleep(100)\n"
                    "except KeyboardInterrupt: print('interrupted')\n")
        self.output_until("ready")
        self.node.ask("jobInput", data="\x03")
        self.output_until("interrupted")

    def test_ctrl_z_stops_nobody(self):
        self.python("print('ready'); input(); print('on')")
        self.output_until("ready")
        self.node.ask("jobInput", data="\x1a")
        self.node.ask("jobInput", data="\n")
        self.output_until("on")

    def test_a_new_size_is_told(self):
        # A signal just before pause() would not end it.
        self.python("import os, signal, sys, time\n"
                    "def told(number, frame):\n"
                    "    print(os.get_terminal_size().columns); sys.exit()\n"
                    "signal.signal(signal.SIGWINCH, told)\n"
                    "print('ready')\n"
                    "while True: time.sleep(0.01)\n")
        self.output_until("ready")
        self.node.ask("jobResize", rows=10, columns=57)
        self.output_until("57")

    def test_directory_files_and_environment_are_the_users(self):
        import resource
        before = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self.python("import os, resource\n"
                    "print(os.getcwd(), "
                    "resource.getrlimit(resource.RLIMIT_NOFILE)[0],"
                    "sorted(os.listdir('/proc/self/fd'))[:-1], 'there')",
                    directory=self.folder)
        self.assertEqual(self.output_until("there"), "%s %d %s there" % (
            os.path.realpath(self.folder), before, ["0", "1", "2"]))

    def test_a_flood_stops_neither_the_job_nor_the_node(self):
        job = self.launch("sh", "-c", "yes | head -c %d; echo; "
                          "echo the end; exit 3" % FLOOD_BYTES)
        self.output_until("the end")
        self.assertEqual(self.job_event("ended")["exit_code"], 3)
        for pid in (self.node.process.pid, parent_of(job["pid"]) if
                    os.path.exists("/proc/%d" % job["pid"]) else None):
            if pid is None:
                continue
            with open("/proc/%d/status" % pid) as file:
                peak = [line for line in file if line.startswith("VmHWM")]
            self.assertLess(int(peak[0].split()[1]), PEAK_KILOBYTES)

    def test_a_node_that_reads_nothing_does_not_hold_the_job_up(self):
        job = self.launch("sh", "-c", "read go; yes | head -c 5000000; "
                          "echo done > %s" % self.file("done"))
        self.node.ask("jobInput", data="\n")
        os.kill(self.node.process.pid, signal.SIGSTOP)
        try:
            wait_until(lambda: os.path.exists(self.file("done")), "the job")
        finally:
            os.kill(self.node.process.pid, signal.SIGCONT)
        self.assertEqual(self.job_event("ended")["pid"], job["pid"])


class End(Launched):
    def test_its_end_is_told_once_all_it_printed_was(self):
        self.launch("sh", "-c", "echo last words; exit 7")
        self.output_until("last words")
        ended = self.job_event("ended")
        self.assertEqual((ended["exit_code"], ended.get("exit_signal")),
                         (7, None))

    def test_a_signal_is_told(self):
        self.launch("sh", "-c", "kill -SEGV $$")
        ended = self.job_event("ended")
        self.assertEqual((ended.get("exit_code"), ended["exit_signal"]),
                         (None, signal.SIGSEGV))

    def test_what_cannot_be_run_is_said(self):
        open(self.file("plain"), "w").close()
        for program, why in (("/nonexistent/x", "No such file"),
                             (self.folder, "Permission denied"),
                             (self.file("plain"), "Permission denied")):
            node = Node()
            self.addCleanup(node.close)
            node.ask("initialize", protocol=1)
            sentence = node.refuse("launch", argv=[program])
            self.assertIn("cannot run %s: %s" % (program, why), sentence)

    def test_a_second_job_is_refused(self):
        self.launch("cat")
        self.assertIn("already", self.node.refuse("launch", argv=["cat"]))

    def test_without_a_job_there_is_nothing_to_type_to(self):
        for command in ("jobInput", "jobResize", "jobEnd"):
            self.assertEqual(self.node.refuse(command, data="x"),
                             "probetui has started no job")
        for argv in ([], "cat", [1], None):
            self.assertIn("argv", self.node.refuse("launch", argv=argv))

    def test_end_asks_with_sigterm(self):
        self.launch("sh", "-c", "trap 'echo asked; exit 5' TERM; echo ready; "
                    "while :; do sleep 0.01; done")
        self.output_until("ready")
        self.node.ask("jobEnd")
        self.output_until("asked")
        self.assertEqual(self.job_event("ended")["exit_code"], 5)

    def test_end_now_leaves_nobody(self):
        """Not even who left the group, and ignores SIGTERM."""
        self.launch("sh", "-c", "trap '' TERM; "
                    "setsid sh -c 'trap \"\" TERM; echo pid $$; "
                    "while :; do sleep 1; done' & "
                    "while :; do sleep 1; done")
        self.output_until("pid ")
        pid = int(self.output_until("\n"))
        self.node.ask("jobEnd", now=True)
        self.assertEqual(self.job_event("ended")["exit_signal"],
                         signal.SIGKILL)
        await_end(pid)

    def test_what_goes_on_in_the_background_is_told(self):
        """As at a shell: who is left behind is not told to hang up."""
        self.launch("sh", "-c", "(read go < %s; echo alive) & echo $!"
                    % self.fifo())
        self.output_until("\n")
        ended = self.job_event("ended")
        self.assertTrue(ended["has_others"])
        with open(self.file("fifo"), "w") as file:
            file.write("\n")
        self.output_until("alive")
        self.assertFalse(self.job_event("ended").get("has_others", False))

    def fifo(self):
        os.mkfifo(self.file("fifo"))
        return self.file("fifo")

    def test_it_stays_below_the_node(self):
        """Yama lets an ancestor trace; and a daemon stays below, too."""
        job = self.launch(
            "sh", "-c", "(setsid sh -c 'echo pid $$; sleep 100' &) ; "
            "sleep 100")
        self.output_until("pid ")
        daemon = int(self.output_until("\n"))
        supervisor = parent_of(job["pid"])
        wait_until(lambda: parent_of(daemon) == supervisor, "the daemon's parent")
        self.assertEqual(parent_of(supervisor), self.node.process.pid)
        self.node.ask("jobEnd", now=True)
        self.job_event("ended")
        await_end(daemon)


# Reads so many lines once a file is there, and tells what they were.
READS = """
import hashlib, os, sys, time
print("ready")
while not os.path.exists(sys.argv[1]): time.sleep(0.005)
text = "".join(sys.stdin.readline() for _ in range(int(sys.argv[2])))
print("read", len(text), hashlib.md5(text.encode()).hexdigest())
"""


class Typed(Launched):
    """Nothing of what is typed is lost, whoever does not read for a while."""

    def read_by_the_job(self, text, pieces):
        lines = text.count("\n")
        self.launch("sh", "-c", "stty -echo; exec \"$@\"", "-",
                    sys.executable, "-u", "-c", READS, self.file("go"),
                    str(lines))
        self.output_until("ready")
        numbers = [self.node.request("jobInput", data=piece)
                   for piece in pieces]
        for number in numbers:
            answer = self.node.answer(number)
            self.assertTrue(answer["success"], answer)
        open(self.file("go"), "w").close()
        self.output_until("read %d %s" % (
            len(text), hashlib.md5(text.encode()).hexdigest()))

    def test_key_by_key(self):
        text = "".join("line %d\n" % i for i in range(400))
        self.read_by_the_job(text, text)

    def test_many_lines_at_once(self):
        """More than the terminal and the supervisor hold."""
        text = "".join("this is line number %06d\n" % i
                       for i in range(12000))
        self.read_by_the_job(text, [text[at:at + 16000] for at in
                                    range(0, len(text), 16000)])

    def test_what_nobody_reads_is_refused_in_the_end(self):
        self.launch("sh", "-c", "stty -echo; echo ready; sleep 1000")
        self.output_until("ready")
        piece = ("x" * 99 + "\n") * 160
        for _ in range(200):
            answer = self.node.answer(self.node.request("jobInput",
                                                        data=piece))
            if not answer["success"]:
                break
        self.assertIn("does not read", answer["message"])


# Prints so many lines, and leaves a file at its end.
PRINTS = """
import sys
for i in range(int(sys.argv[1])): print("line", i)
open(sys.argv[2], "w").close()
"""
LINES = 100000


class Waiting(Launched):
    """With `waits` the job waits for who reads what it prints."""

    ALL = "".join("line %d\n" % i for i in range(LINES))

    def start(self, waits):
        job = self.launch(sys.executable, "-c", PRINTS, str(LINES),
                          self.file("done"), waits=waits)
        return job

    def is_done(self):
        return os.path.exists(self.file("done"))

    def log(self, job):
        try:
            with open(job["log"], newline="") as file:
                return file.read().replace("\r", "")
        except FileNotFoundError:
            return ""

    def take(self, taken, until):
        """Reads, and says so, until that is so."""
        while not until(taken):
            event = self.node.wait_for(
                lambda m: m.get("event") == "output"
                and m["body"].get("category") == "job")["body"]
            taken += event["output"].replace("\r", "")
            self.node.request("jobTaken", bytes=event["bytes"])
        return taken

    def test_nothing_is_lost_on_a_slow_reader(self):
        job = self.start(1000)
        wait_until(lambda: is_stuck(job["pid"]) or self.is_done(),
                   "the job to wait")
        self.assertFalse(self.is_done())
        taken = self.take("", lambda taken: len(taken) >= len(self.ALL))
        self.assertEqual(taken, self.ALL)
        wait_until(self.is_done, "the end of the job")
        self.assertEqual(self.job_event("ended")["exit_code"], 0)
        self.assertEqual(self.log(job), "")

    def test_one_that_reads_no_more_does_not_hold_it_up_for_ever(self):
        job = self.start(0.2)
        wait_until(self.is_done, "the end of the job")
        wait_until(lambda: self.log(job) == self.ALL, "all in the file")
        taken = self.take("", lambda taken: "]" in taken)
        before, notice = taken.split("[probetui: ")
        self.assertTrue(self.ALL.startswith(before[:before.rindex("line")]))
        self.assertIn(job["log"], notice)

    def test_a_node_that_is_killed_leaves_the_rest_in_the_file(self):
        job = self.start(1000)
        taken = self.take("", lambda taken: len(taken) > 300000)
        wait_until(lambda: is_stuck(job["pid"]), "the job to wait")
        self.node.process.kill()
        self.node.process.wait()
        self.node.process.returncode = 0
        wait_until(self.is_done, "the end of the job")
        wait_until(lambda: self.log(job).endswith("line %d\n" % (LINES - 1)),
                   "the rest in the file")
        log = self.log(job)
        self.assertTrue(self.ALL.endswith(log))
        self.assertGreaterEqual(len(taken) + len(log), len(self.ALL))


# What prints a number when it is told so, and says how it was ended.
COUNTS = ("import signal, sys, time\n"
          "print('ready')\n"
          "open(sys.argv[2], 'w').write('1')\n"
          "while open(sys.argv[1]).read() == '':\n"
          "    time.sleep(0.005)\n"
          "for i in range(2000): print('number', i)\n"
          "print('end of it')\n"
          "open(sys.argv[2], 'w').write('done')\n")


class Alone(Launched):
    """The node is gone; the job goes on."""

    def start(self):
        open(self.file("go"), "w").close()
        job = self.launch(sys.executable, "-u", "-c", COUNTS, self.file("go"),
                          self.file("state"))
        self.output_until("ready")
        return job

    def go_on(self, job):
        supervisor = parent_of(job["pid"])
        with open(self.file("go"), "w") as file:
            file.write("1")
        await_end(supervisor)
        self.assertEqual(self.read("state"), "done")

    def check_log(self, job):
        """All that it printed, in a file that the user alone may read."""
        self.assertEqual(stat.S_IMODE(os.stat(job["log"]).st_mode), 0o600)
        folder = os.path.dirname(job["log"])
        self.assertEqual(stat.S_IMODE(os.stat(folder).st_mode), 0o700)
        with open(job["log"], newline="") as file:
            self.assertEqual(
                file.read(), "ready\r\n" + "".join(
                    "number %d\r\n" % i for i in range(2000))
                + "end of it\r\n")

    def test_the_end_of_the_input_leaves_it_running(self):
        job = self.start()
        self.node.process.stdin.close()
        self.node.wait()
        self.go_on(job)
        self.check_log(job)

    def test_killing_the_node_leaves_it_running(self):
        job = self.start()
        self.node.process.kill()
        self.node.process.wait()
        self.node.process.returncode = 0
        self.go_on(job)
        self.check_log(job)

    def test_no_signal_to_the_supervisor_ends_it(self):
        job = self.start()
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM,
                       signal.SIGQUIT, signal.SIGPIPE, signal.SIGTSTP):
            os.kill(parent_of(job["pid"]), number)
        self.node.process.stdin.close()
        self.node.wait()
        self.go_on(job)
        self.check_log(job)

    def test_a_job_that_has_ended_leaves_no_file(self):
        job = self.launch("true")
        self.job_event("ended")
        self.node.process.stdin.close()
        self.node.wait()
        self.assertFalse(os.path.exists(job["log"]))

    def test_it_is_killed_at_any_time(self):
        """From the request on: either there is no job, or it comes to its
        end."""
        marks = [self.file("mark%d" % i) for i in range(40)]
        for i, mark in enumerate(marks):
            node = Node(env=environment(XDG_STATE_HOME=self.folder))
            node.request("initialize", protocol=1)
            node.request("launch", argv=[
                sys.executable, "-S", "-c",
                "import sys\n"
                "open(sys.argv[1], 'w').close()\n"
                "for i in range(100): print(i)\n"
                "open(sys.argv[1], 'w').write('done')", mark])
            select.select([], [], [], i * 0.001)
            node.process.kill()
            node.process.communicate()
        wait_until(lambda: not self.mentioned(), "the end of all")
        for mark in filter(os.path.exists, marks):
            self.assertEqual(self.read(mark), "done", mark)


if __name__ == "__main__":
    unittest.main()
