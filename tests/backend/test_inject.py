"""A script is run once inside a Python at work, which goes on as if nothing
had been, and what cannot be is refused in words."""
import contextlib
import json
import os
import random
import platform
import re
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

import nodes
import otheruser
import pythons
import tracees

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BUILDDIR", ".")
PROBE = os.path.join(BUILD, "tests", "backend", "inject-probe")
PROBETUI = os.environ.get("PROBETUI", "probetui")
SOAK = os.environ.get("PROBETUI_SOAK")
LIMIT = 120
MAIN_PYTHON = 11
PAUSES, AWAY = [], []


def await_that(condition, text):
    deadline = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("never: " + text)
        time.sleep(0.002)


class Target:
    """inject_target.py in one of its modes, with a folder that it sees."""

    def __init__(self, argv, mode):
        self.root = argv[1] if argv[0] == "chroot" else ""
        self.folder = tempfile.mkdtemp(prefix="inject-",
                                       dir=self.root + "/tmp")
        self.count = 0
        with open(os.path.join(HERE, "inject_target.py")) as file:
            code = file.read()
        self.process = subprocess.Popen(
            argv + ["-c", code, mode], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.pid = self.process.pid
        if self.process.stdout.readline() != b"ready\n":
            self.close()
            raise RuntimeError("%s %s ended at once" % (argv, mode))

    def script(self):
        """Two names of a new one that says when it runs: ours, and that of
        the target."""
        self.count += 1
        path = os.path.join(self.folder, "script-%d.py" % self.count)
        seen = path[len(self.root):]
        with open(path, "w") as file:
            file.write("with open(__file__ + '.ran', 'a') as out:\n"
                       "    out.write('x')\n" if not self.root else
                       "with open(%r, 'a') as out:\n"
                       "    out.write('x')\n" % (seen + ".ran"))
        return path, seen

    def inject(self, limit=LIMIT - 10, kill_after=None, kill_at=None):
        path, seen = self.script()
        probe = subprocess.Popen(
            [PROBE, str(self.pid), seen, str(limit)] +
            ([kill_at] if kill_at else []), stdout=subprocess.PIPE)
        if kill_after is not None:
            time.sleep(kill_after)
            probe.kill()
        out = probe.communicate(timeout=LIMIT)[0]
        return path + ".ran", json.loads(out.decode() or "null")

    def runs(self, ran):
        """What the script that says so there has written."""
        try:
            with open(ran) as file:
                return file.read()
        except OSError:
            return ""

    def lines(self, name, keys):
        with open("/proc/%d/%s" % (self.pid, name)) as file:
            return [line.rstrip("\n") for line in file if keys(line)]

    def state(self):
        """What a visitor could leave behind, memory for objects apart."""
        def is_code(line):
            words = line.split()
            return "x" in words[1] and len(words) < 6

        return (self.lines("maps", is_code),
                self.lines("status", lambda line: line.startswith(
                    ("Sig", "Shd", "TracerPid")) and line[:4] != "SigQ"))

    def finish(self):
        """What was wrong with its work; it has ended by itself."""
        out = self.process.communicate(b"end\n", LIMIT)[0]
        if self.process.returncode != 0:
            raise AssertionError("it ended with %d" % self.process.returncode)
        return json.loads(out.decode())

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LIMIT)
        self.process.stdin.close()
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def find_numpy(case):
    python = os.environ.get("PROBETUI_TORCH_PYTHON") or sys.executable
    run = subprocess.run([python, "-c", "import numpy"],
                         stderr=subprocess.DEVNULL)
    if run.returncode:
        case.skipTest("%s has no numpy; PROBETUI_TORCH_PYTHON may name a "
                      "Python that has it" % python)
    return [python]


class Case(unittest.TestCase):
    def is_among_few(self):
        if not SOAK and self.python.version[1] != MAIN_PYTHON:
            self.skipTest("with PROBETUI_SOAK=1")

    def start(self, mode, argv=None):
        target = Target(argv or self.python.argv, mode)
        self.addCleanup(target.close)
        return target

    def inject_once(self, target):
        ran, answer = target.inject()
        self.assertTrue(answer["ok"], answer)
        await_that(lambda: target.runs(ran) != "", "the script runs")
        if answer["stops"]:
            PAUSES.append(answer["pause_us"])
            AWAY.append(answer["away_us"])
        return ran, answer

    def try_mode(self, mode, count, argv=None):
        target = self.start(mode, argv)
        before = target.state()
        all_ran = [self.inject_once(target)[0] for _ in range(count)]
        await_that(lambda: target.state() == before, "all is as before")
        self.assertEqual(target.finish(), [])
        self.assertEqual([target.runs(ran) for ran in all_ran],
                         ["x"] * count)


class InjectCase(Case):
    def count(self):
        if not SOAK:
            return 2
        return 100 if self.python.version[1] == MAIN_PYTHON else 20

    def test_asleep(self):
        self.is_among_few()
        self.try_mode("sleep", self.count())

    def test_waiting_for_ever(self):
        self.try_mode("wait", self.count())

    def test_busy(self):
        self.try_mode("busy", self.count())

    def test_frames_without_import(self):
        self.try_mode("restricted", self.count())

    def test_asleep_before_it_looks(self):
        """Its page stays until it looks."""
        self.is_among_few()
        target = self.start("wait_unasked")
        ran, answer = self.inject_once(target)
        self.assertEqual(answer["way"], "thread")
        self.assertEqual(target.finish(), [])
        self.assertEqual(target.runs(ran), "x")

    def test_malloc_storm(self):
        self.is_among_few()
        self.try_mode("malloc", self.count())

    def test_dlopen_loop(self):
        self.is_among_few()
        self.try_mode("dlopen", self.count())


class CommandCase(Case):
    """`probetui inject`: the agent gets in, and answers."""

    def folders(self, target):
        """Those of its user: other tests have theirs there, too."""
        owner = os.stat("/proc/%d" % target.pid).st_uid
        found = set()
        for name in os.listdir(target.root + "/tmp"):
            with contextlib.suppress(FileNotFoundError):
                if re.fullmatch("probetui-[0-9a-f]{16}", name) and \
                        os.lstat(target.root + "/tmp/" + name
                                 ).st_uid == owner:
                    found.add(name)
        return found

    def run_inject(self, target, *options, program=PROBETUI, **settings):
        return subprocess.run(
            [program, "--pid", str(target.pid), "--timeout", "30", *options,
             "inject"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT,
            universal_newlines=True, **settings)

    def ask(self, path, method="GET /", body=b""):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(LIMIT)
            client.connect(path)
            client.sendall(b"%s HTTP/1.1\r\nHost: localhost\r\n"
                           b"Content-Length: %d\r\nConnection: close\r\n"
                           b"\r\n%s" % (method.encode(), len(body), body))
            with client.makefile("rb") as file:
                return json.loads(file.read().split(b"\r\n\r\n", 1)[1])

    def has_all(self, path):
        """Its modules come from a folder that goes."""
        code = "'probetui.debugging.stop' in __import__('sys').modules"
        return self.ask(path, "POST /eval", json.dumps(
            {"code": code}).encode())["value"]

    def inject_twice(self, mode):
        target = self.start(mode, self.python.argv + ["-W", "error"])
        before = self.folders(target)
        run = self.run_inject(target)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        path = run.stdout.strip().split(" ")[-1]
        self.assertEqual(run.stdout, "rank 0: %s\n" % path)
        self.assertEqual(self.ask(target.root + path)["pid"], target.pid)
        self.assertEqual(self.has_all(target.root + path), "True")
        again = self.run_inject(target)
        self.assertEqual(again.stdout, run.stdout)
        await_that(lambda: self.folders(target) <= before, "all is removed")
        self.assertEqual(target.finish(), [])
        self.assertFalse(os.path.exists(target.root + path))

    def test_busy(self):
        self.is_among_few()
        self.inject_twice("busy")

    def test_waiting(self):
        self.is_among_few()
        self.inject_twice("wait")

    def test_asleep(self):
        """It has not imported threading: its main thread does, awake."""
        self.is_among_few()
        self.inject_twice("naps")


class TestCommand(CommandCase):
    test_busy = test_waiting = test_asleep = None

    def setUp(self):
        self.python = next(python for python in pythons.find()
                           if python.version[1] < 14)

    def test_read_only(self):
        run = self.run_inject(self.start("wait"), "--read-only")
        self.assertIn("--read-only does not allow", run.stderr)

    def test_no_threading(self):
        """It would take our thread for the main one."""
        target = self.start("alone")
        run = self.run_inject(target, "--timeout", "3")
        self.assertEqual(run.returncode, 3, run.stdout)
        self.assertIn("has to import threading", run.stderr)
        self.assertIn("inject again", run.stderr)
        self.assertEqual(target.finish(), [])

    def test_long_switch_interval(self):
        """It would wait for the GIL a hundred times, half a second each."""
        target = self.start("interval")
        run = self.run_inject(target, "--timeout", "50")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(target.finish(), [])

    def test_greenlets(self):
        target = self.start("greenlets")
        run = self.run_inject(target)
        self.assertEqual(run.returncode, 3, run.stdout)
        self.assertIn("gevent has replaced threading, socket, so threads",
                      " ".join(run.stderr.split()))
        self.assertEqual(target.finish(), [])

    def start_with(self, package, mode):
        """A target with that package, which PROBETUI_GREENLETS has for some
        CPython, in a folder of its version's name (3.11)."""
        folder = os.environ.get("PROBETUI_GREENLETS", "")
        for python in pythons.find():
            place = os.path.join(folder, "%d.%d" % python.version[:2])
            if os.path.exists(os.path.join(place, package)) and \
                    python.argv[0] != "chroot":
                return self.start(mode, ["env", "PYTHONPATH=" + place]
                                  + python.argv)
        self.skipTest("PROBETUI_GREENLETS has no %s for a Python here"
                      % package)

    def refused_beside(self, package):
        target = self.start_with(package, package + "_patched")
        run = self.run_inject(target)
        self.assertEqual(run.returncode, 3, run.stdout)
        self.assertRegex(" ".join(run.stderr.split()), package + " has "
                         "replaced .*(socket|thread).*, so threads of the agent")
        self.assertEqual(target.finish(), [])

    def test_gevent_patched(self):
        self.refused_beside("gevent")

    def test_eventlet_patched(self):
        self.refused_beside("eventlet")

    def test_gevent(self):
        """Which has replaced nothing: the agent gets in, and tells of it."""
        target = self.start_with("gevent", "gevent")
        run = self.run_inject(target)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        path = run.stdout.strip().split(" ")[-1]

        def functions():
            """Of all their frames."""
            thread, = self.ask(path, "GET /threads")
            stacks = [self.ask(path, "GET /backtrace?greenlet=%d" % each["id"])
                      for each in thread["greenlets"]]
            return {frame["func"].rpartition(".")[2]
                    for stack in stacks if type(stack) is list
                    for frame in stack}

        # The one that ticks, the main one, and gevent's hub, which runs.
        await_that(lambda: functions() >= {"tick", "in_greenlets", "run"},
                   "its greenlets are told")
        self.assertEqual(target.finish(), [])

    @unittest.skipIf(os.getuid(), "not root: there is no other user")
    def test_who_is_another_user_is_told_so(self):
        target = self.start("wait")
        program, node, _ = otheruser.copies(
            self, PROBETUI, nodes.NODE,
            os.path.join(os.environ["BUILDDIR"], "agent"))
        run = self.run_inject(target, program=program,
                              env=dict(os.environ, PROBETUI_NODE=node),
                              preexec_fn=otheruser.become_nobody)
        self.assertEqual(run.returncode, 3, run.stdout)
        self.assertIn("belongs to user 0, but probetui runs as user 65534",
                      run.stderr)

    @unittest.skipIf(os.getuid(), "not root: there is no other user")
    def test_another_user(self):
        python = "/usr/bin/python3"
        if not os.path.exists(python):
            self.skipTest("there is no " + python)
        target = self.start("wait", [
            python, "-c", "import os, sys; os.chdir('/'); os.setgid(65534);"
            "os.setuid(65534); os.execv(%r, [%r, *sys.argv[1:]])" % (
                python, python)])
        run = self.run_inject(target)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        path = run.stdout.strip().split(" ")[-1]
        self.assertEqual(os.stat(path).st_uid, 65534)
        self.assertEqual(self.ask(path)["pid"], target.pid)
        self.assertEqual(target.finish(), [])


class TestTurns(Case):
    """How often it goes on and is stopped again, in one stop: two times for
    the page, once for the function, whatever that does."""

    def setUp(self):
        self.python = next(python for python in pythons.find()
                           if python.version[1] < 14)

    def turns(self, mode, state):
        target = self.start(mode)
        await_that(lambda: target.lines("status", lambda line:
                   line.startswith("State:\t" + state)), "it is " + state)
        _, answer = self.inject_once(target)
        return answer["way"], answer["turns"]

    def test_by_thread(self):
        self.assertEqual(self.turns("wait", "S"), ("thread", 3))

    def test_by_pending_call(self):
        self.assertEqual(self.turns("busy", "R"), ("pending call", 3))


class TestAsleep(Case):
    """Where nobody wakes it, for a while."""

    def setUp(self):
        self.python = next(python for python in pythons.find()
                           if python.version[1] < 14)

    def test_later(self):
        target = self.start("spawn")
        await_that(lambda: target.lines("status", lambda line:
                   line.startswith("State:\tD")), "it sleeps")
        path, seen = target.script()
        probe = subprocess.Popen([PROBE, str(target.pid), seen, str(LIMIT)],
                                 stdout=subprocess.PIPE)
        name = "/proc/%d/status" % probe.pid

        def has_tried():
            with open(name) as file:
                count = re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)",
                                  file.read())
            return probe.poll() is not None or int(count.group(1)) > 10

        await_that(has_tried, "it tries again and again")
        target.process.stdin.write(b"on\n")
        target.process.stdin.flush()
        answer = json.loads(probe.communicate(timeout=LIMIT)[0].decode())
        self.assertTrue(answer["ok"], answer)
        await_that(lambda: target.runs(path + ".ran") == "x", "it runs")
        self.assertEqual(target.finish(), [])


class TestRefused(Case):
    """With the Python that runs the tests."""

    def refused(self, target, words, **options):
        ran, answer = target.inject(**options)
        self.assertFalse(answer["ok"], answer)
        self.assertIn(words, answer["why"])
        self.assertEqual(target.runs(ran), "")
        return answer

    def setUp(self):
        self.python = next(python for python in pythons.find()
                           if python.version[1] < 14)

    def test_gil_held_in_a_sleep(self):
        target = self.start("hangs")
        await_that(lambda: target.lines("wchan", lambda line:
                   "nanosleep" in line), "it sleeps")
        self.refused(target, "holds the GIL", limit=0.2)

    def test_gil_kept_is_given_up_and_withdrawn(self):
        target = self.start("keeps")
        self.refused(target, "Python ran no injected code", limit=2)
        with open("/proc/%d/maps" % target.pid) as file:
            page = next(line for line in file if "r-xp 00000000 00:00 0" in
                        line and "[" not in line)
        with open("/proc/%d/mem" % target.pid, "rb", 0) as file:
            file.seek(int(page.split("-")[0], 16) + 256)
            self.assertEqual(file.read(1), b"\0")

    def test_stopped(self):
        target = self.start("wait")
        os.kill(target.pid, signal.SIGSTOP)
        await_that(lambda: target.lines("status", lambda line:
                   line.startswith("State:\tT")), "it stops")
        answer = self.refused(target, "the process is stopped")
        self.assertIn("kill -CONT", answer["fix"])

    def test_another_debugger(self):
        target = self.start("wait")
        debugger = tracees.Probe(target.pid)
        self.addCleanup(debugger.close)
        if debugger.order("attach")["event"] == "failed":
            self.skipTest("no watches here")
        self.refused(target, "is attached to the process")

    @unittest.skipIf(os.getuid(), "not root: there is no other user")
    def test_no_permission(self):
        target = self.start("wait")
        _, seen = target.script()
        program, = otheruser.copies(self, PROBE)
        out = subprocess.run([program, str(target.pid), seen, "1"],
                             stdout=subprocess.PIPE, timeout=LIMIT,
                             preexec_fn=otheruser.become_nobody).stdout
        self.assertFalse(json.loads(out.decode())["ok"])


class InterpreterCase(Case):
    minors = [14]

    def test_switched_off(self):
        os.environ["PYTHON_DISABLE_REMOTE_DEBUG"] = "1"
        self.addCleanup(os.environ.pop, "PYTHON_DISABLE_REMOTE_DEBUG")
        if self.python.version[1] < 14:
            self.skipTest("no CPython 3.14")
        _, answer = self.start("busy").inject()
        self.assertIn("does not allow remote debugging", answer["why"])



# Where it is told to be (remote-call.h), in their order; whether the script runs
# though the one who brought it is dead, and whether a page is left behind.
POINTS = [("seized", False, False), ("saved", False, False),
          ("asking", False, True), ("answered", False, True),
          ("written", False, True), ("calling", True, False),
          ("called", True, False), ("restored", True, False),
          ("detached", True, False)]


@unittest.skipIf(platform.machine() != "x86_64", "numbers of x86-64")
class TestNap(Case):
    """Of a wait that the kernel counts down the rest is waited for, and not
    all of it anew."""
    ANEW, REST = "7 ", "219 "    # poll(2), restart_syscall(2)

    def setUp(self):
        self.python = next(python for python in pythons.find()
                           if python.version[1] < 14)
        self.target = self.start("nap")
        self.await_wait(self.ANEW)

    def await_wait(self, number):
        await_that(lambda: self.target.lines("syscall", lambda line:
                   line.startswith(number)), "it waits in " + number)

    def test_rest(self):
        _, answer = self.inject_once(self.target)
        self.assertEqual(answer["way"], "thread")
        self.await_wait(self.REST)

    def test_no_page(self):
        resource.prlimit(self.target.pid, resource.RLIMIT_AS, (0, 0))
        _, answer = self.target.inject()
        self.assertIn("no memory page for the script", answer["why"])
        self.await_wait(self.REST)

    def test_killed_before(self):
        self.target.inject(kill_at="saved")
        self.await_wait(self.REST)

    def test_killed_after(self):
        self.target.inject(kill_at="restored")
        self.await_wait(self.REST)

    def test_killed_in_between(self):
        """The one thing that is lost, for these 0.1 ms."""
        self.target.inject(kill_at="calling")
        self.await_wait(self.ANEW)


class TestKilled(Case):
    """Whoever injects is killed at any moment; the program is not harmed, and
    the next one gets in."""

    def setUp(self):
        self.python = next(python for python in pythons.find()
                           if python.version[1] < 14)

    def pages(self, target):
        """Of code that is of no file."""
        return sum(int(end, 16) - int(start, 16) for start, end in (
            line.split()[0].split("-") for line in target.state()[0])) // 4096

    def kill_at_points(self, mode, argv=None):
        target = self.start(mode, argv)
        before, left = self.pages(target), 0
        count = 50 if SOAK else 2
        for point, is_run, is_left in POINTS * count:
            ran, answer = target.inject(kill_at=point)
            self.assertIsNone(answer, point)
            if is_run:
                await_that(lambda: target.runs(ran) == "x", "it runs")
            else:
                self.assertEqual(target.runs(ran), "", point)
            left += is_left
        self.inject_once(target)
        await_that(lambda: self.pages(target) <= before + left, "pages go")
        self.assertEqual(self.pages(target), before + left)
        self.assertEqual(target.finish(), [])

    def test_signals(self):
        """Those of the program are not taken for the thread's return."""
        target = self.start("urgent")
        self.inject_once(target)
        self.assertIsNone(target.inject(kill_at="calling")[1])
        self.inject_once(target)
        self.assertEqual(target.finish(), [])

    def test_busy_at_points(self):
        self.kill_at_points("busy")

    def test_asleep_at_points(self):
        self.kill_at_points("poll")

    def test_numpy_at_points(self):
        if not SOAK:
            self.skipTest("with PROBETUI_SOAK=1")
        self.kill_at_points("numpy", find_numpy(self))

    def kill_many(self, mode):
        target = self.start(mode)
        seed = random.randrange(1 << 32)
        print("# seed %d" % seed)
        chance = random.Random(seed)
        all_ran = [target.inject(kill_after=chance.uniform(0, 0.02))[0]
                   for _ in range(200 if SOAK else 10)]
        self.inject_once(target)
        self.assertEqual(target.finish(), [])
        for ran in all_ran:
            self.assertIn(target.runs(ran), ["", "x"])

    def test_busy(self):
        self.kill_many("busy")

    def test_asleep(self):
        self.kill_many("poll")


class TestNumpy(Case):
    def test_checksum(self):
        self.try_mode("numpy", 100 if SOAK else 5, find_numpy(self))


def tearDownModule():
    for name, values in (("pause", PAUSES), ("of it away", AWAY)):
        if values:
            print("# %s: median %.0f us of %d stops, longest %.0f us" % (
                name, statistics.median(values), len(values), max(values)))


def load_tests(loader, standard, pattern):
    suite = pythons.load_cases(loader, __name__, InjectCase,
                               CommandCase, InterpreterCase)
    for case in (TestCommand, TestTurns, TestAsleep, TestRefused, TestNap,
                 TestKilled, TestNumpy):
        suite.addTests(loader.loadTestsFromTestCase(case))
    return suite


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
