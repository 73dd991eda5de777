"""The stacks read from outside equal what each CPython says of itself."""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import nodes
import otheruser
import pythons

HERE = os.path.dirname(os.path.abspath(__file__))
PROBE = os.path.join(os.environ["BUILDDIR"], "tests/backend/sample-probe")
GATE = 60  # system calls of a warm sample

SUBINTERPRETER = """
import sys, threading
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
CODE = '''
import time
def inside():
    time.sleep(1000)

inside()
'''
def run():
    interpreters.run_string(interpreters.create(), CODE)
threading.Thread(target=run, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
"""

BUSY = """
import sys, threading, time
ready = threading.Semaphore(0)
def down(n):
    if n:
        down(n - 1)
    else:
        ready.release()
        time.sleep(1000)
for i in range(7):
    threading.Thread(target=down, args=(20,), daemon=True).start()
    ready.acquire()
print("ready", flush=True)
def leaf(x):
    return x + 1
x = 0
while True:
    x = leaf(x)
"""

# A recursion in which each call has a table of lines of its own, 6 MB long.
LONG = """
import sys
TABLE = "co_linetable" if sys.version_info >= (3, 10) else "co_lnotab"
def down(n):
    if n:
        calls[n - 1](n - 1)
    print("ready", flush=True)
    sys.stdin.read()
old = getattr(down.__code__, TABLE)
calls = []
for n in range(16):
    longer = old + old[-2:] * ((6 << 20) // 2 - n)
    calls.append(type(down)(down.__code__.replace(**{TABLE: longer}),
                            globals()))
calls[15](15)
"""


class Target:
    """A Python at work on some code; its first line of output is kept."""

    def __init__(self, python, code):
        self.process = subprocess.Popen(
            python.argv + ["-c", code], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.pid = self.process.pid
        self.line = self.process.stdout.readline().decode()
        if not self.line:
            self.__exit__()
            raise AssertionError("%s ended at once" % python)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def wait_for_read(self):
        nodes.wait_for_read(self.pid)

    def tracer(self):
        with open("/proc/%d/status" % self.pid) as file:
            for line in file:
                if line.startswith("TracerPid:"):
                    return int(line.split()[1])
        raise AssertionError("no TracerPid")


def probe(mode, pid, count=1):
    """The JSON lines of sample-probe; its error sentence is raised."""
    run = subprocess.run([PROBE, mode, str(pid), str(count)],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         input=b"\n" * count, timeout=120)
    if run.returncode:
        raise AssertionError(run.stderr.decode().strip())
    return [json.loads(line) for line in run.stdout.decode().splitlines()]


def read_stacks(sample):
    """{tid: (thread, [[func, qualname, file, line]…])}."""
    codes = {}
    stacks = {}
    for stack in sample.get("stacks", []):
        for code in stack["codes"]:
            codes[code[0]] = code
        stacks[stack["id"]] = [
            [codes[c][1], codes[c][2], codes[c][3], line]
            for c, line in stack["frames"]]
    return {t["tid"]: (t, stacks[t["stack"]]) for t in sample["threads"]}


def code_of(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


class StacksCase(unittest.TestCase):
    maxDiff = None

    def check_truth(self, mode):
        with Target(self.python, code_of("stacks_target.py")) as target:
            truth = json.loads(target.line)
            target.wait_for_read()
            sample = probe(mode, target.pid)[0]
            self.assertEqual(sample["python"], self.python.name)
            seen = read_stacks(sample)
            for tid, wanted in truth.items():
                with self.subTest(thread=wanted["name"]):
                    thread, frames = seen[int(tid)]
                    self.assertEqual(frames, wanted["frames"])
                    self.assertEqual(thread["name"], wanted["name"])
                    self.assertEqual(thread.get("exact"), None)
                    self.assertEqual(thread["state"], "blocked")
            # Tasks of asyncio are told as well.
            self.assertEqual(len([tid for tid in seen if tid > 0]),
                             len(truth))

    def test_equal_the_truth(self):
        self.check_truth("sample")

    def test_equal_the_truth_when_exact(self):
        self.check_truth("exact")

    def test_hash_of_a_str(self):
        """Else every name is looked up the slow way, and nobody notices."""
        code = ("import sys; print(hash('threading'), flush=True); "
                "sys.stdin.read()")
        with Target(self.python, code) as target:
            self.assertEqual(probe("hash", target.pid),
                             [{"hash": int(target.line)}])

    def test_main_thread_comes_first(self):
        with Target(self.python, code_of("stacks_target.py")) as target:
            threads = probe("sample", target.pid)[0]["threads"]
            self.assertEqual(threads[0]["tid"], target.pid)
            self.assertEqual([t.get("is_main") for t in threads].count(True),
                             1)

    def test_subinterpreter(self):
        with Target(self.python, SUBINTERPRETER) as target:
            inner = []
            for _ in range(500):
                try:
                    seen = read_stacks(probe("sample", target.pid)[0])
                except AssertionError:
                    # The list of threads changed while it was read.
                    continue
                inner = [
                    [frame[0] for frame in frames]
                    for thread, frames in seen.values()
                    if thread.get("interpreter") and frames]
                if inner and inner[0][0] == "inside":
                    break
            self.assertEqual(inner, [["inside", "<module>"]])

    def test_one_busy_thread_holds_the_gil(self):
        with Target(self.python, BUSY) as target:
            holders = [t["tid"]
                       for sample in probe("sample", target.pid, 50)
                       for t in sample["threads"] if t.get("has_gil")]
            self.assertGreater(len(holders), 0)
            self.assertLessEqual(len(holders), 50)
            self.assertEqual(set(holders), {target.pid})

    def test_calls_of_a_warm_sample(self):
        with Target(self.python, BUSY) as target:
            times = probe("time", target.pid, 500)[0]
            self.assertLessEqual(times["warm_calls"], GATE)
            self.assertEqual(times["held_ns"], 0)

    def test_tables_of_lines_are_bounded(self):
        """64 MB of them are kept; what does not fit has no name."""
        with Target(self.python, LONG) as target:
            target.wait_for_read()
            samples = probe("sample", target.pid, 3)
        (_, frames), = read_stacks(samples[0]).values()
        names = [frame[0] for frame in frames]
        self.assertEqual(len(names), 17)
        self.assertEqual(names.count("down"), 10)
        self.assertEqual([s["threads"][0]["stack"] for s in samples],
                         [samples[0]["threads"][0]["stack"]] * 3)

    def test_is_never_traced(self):
        with Target(self.python, BUSY) as target:
            run = subprocess.Popen(
                [PROBE, "time", str(target.pid), "3000"],
                stdout=subprocess.DEVNULL)
            seen = set()
            while run.poll() is None:
                seen.add(target.tracer())
            self.assertEqual(run.returncode, 0)
            self.assertEqual(seen, {0})

    def test_exact_lets_go(self):
        with Target(self.python, BUSY) as target:
            samples = probe("exact", target.pid, 50)
            self.assertTrue(any(s.get("held_ns") for s in samples))
            self.assertEqual(target.tracer(), 0)
            # A busy machine may not let a thread stand in time.
            self.assertTrue(any(all("exact" not in t for t in s["threads"])
                                for s in samples))

    def test_stopped_by_a_signal(self):
        with Target(self.python, BUSY) as target:
            os.kill(target.pid, signal.SIGSTOP)
            self.wait_for_letter(target, "T")
            for mode in ("sample", "exact"):
                sample = probe(mode, target.pid)[0]
                states = {t["state"] for t in sample["threads"]}
                self.assertEqual(states, {"stopped"})
            self.wait_for_letter(target, "T")
            self.assertEqual(target.tracer(), 0)
            os.kill(target.pid, signal.SIGCONT)
            self.wait_for_letter(target, "RS")

    def wait_for_letter(self, target, letters):
        """Until all threads of the process are in one of these states."""
        for _ in range(20000):
            seen = set()
            for path in glob.glob("/proc/%d/task/*/stat" % target.pid):
                with open(path) as file:
                    seen.add(file.read().rsplit(")", 1)[1].split()[0])
            if seen <= set(letters):
                return
        self.fail("states %s, not all of %s" % (seen, letters))


class Refusals(unittest.TestCase):
    def refusal(self, pid):
        with self.assertRaises(AssertionError) as caught:
            probe("sample", pid)
        return str(caught.exception)

    def test_not_python(self):
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            # Its libraries are loaded once it has answered.
            process.stdin.write(b"started\n")
            process.stdin.flush()
            process.stdout.readline()
            self.assertEqual(self.refusal(process.pid),
                             "pid %d (cat) is not Python" % process.pid)
            process.kill()

    def test_pypy(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pypy3.10")
            shutil.copy(shutil.which("cat"), path)
            with subprocess.Popen([path], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE) as process:
                # Its execve(2) is over when it answers.
                process.stdin.write(b"ready\n")
                process.stdin.flush()
                self.assertEqual(process.stdout.readline(), b"ready\n")
                self.assertEqual(
                    self.refusal(process.pid),
                    "pid %d (pypy3.10) runs PyPy, which probetui cannot "
                    "read; CPython 3.8 to 3.14 works" % process.pid)
                process.kill()

    def test_old_version(self):
        old = pythons.find_old()
        if not old:
            self.skipTest("no CPython below 3.8 is here")
        for argv in old:
            with subprocess.Popen(
                    argv + ["-c", "import sys; sys.stdout.write('1\\n'); "
                            "sys.stdout.flush(); sys.stdin.read()"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE) as process:
                process.stdout.readline()
                self.assertRegex(
                    self.refusal(process.pid),
                    r"runs (CPython 3\.7|a CPython older than 3\.7), which "
                    r"probetui cannot read; CPython 3\.8 to 3\.14 works$")
                process.kill()

    def test_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to be somebody else")
        with subprocess.Popen([sys.executable, "-c", "input()"],
                              stdin=subprocess.PIPE) as process:
            program, = otheruser.copies(self, PROBE)
            try:
                run = subprocess.run(
                    [program, "sample", str(process.pid)],
                    stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                    preexec_fn=otheruser.become_nobody)
            finally:
                process.kill()
        self.assertEqual(run.returncode, 1)
        self.assertEqual(
            run.stderr.decode().strip(),
            "process %d belongs to user 0, but probetui runs as user 65534: "
            "run probetui as that user (sudo -u '#0') or as root" % process.pid)

    def test_gone(self):
        process = subprocess.Popen(["true"])
        process.wait()
        self.assertEqual(self.refusal(process.pid),
                         "process %d does not exist: list the processes with "
                         "`probetui ranks`" % process.pid)


def load_tests(loader, _tests, _pattern):
    return unittest.TestSuite([
        pythons.load_cases(loader, __name__, StacksCase),
        loader.loadTestsFromTestCase(Refusals)])


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
