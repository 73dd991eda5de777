"""No thread is held for longer than it has to be, and none of another
process: whatever becomes of it, it runs again."""
import glob
import os
import subprocess
import sys
import time
import unittest

import pythons
from nodes import LIMIT, Node, Target

BUSY = "print('ready', flush=True)\nwhile True: pass"
HOG = "import os\nos.sched_setaffinity(0, {%d})\nwhile True: pass"

# Its state names somebody else's thread as its own.
FOREIGN = """
import ctypes, sys, threading
lib = ctypes.pythonapi
lib.PyThreadState_Get.restype = ctypes.c_void_p
words = (ctypes.c_uint64 * 64).from_address(lib.PyThreadState_Get())
own = threading.get_native_id()
found = [i for i in range(64) if words[i] == own]
for i in found:
    words[i] = int(sys.argv[1])
print("ready", len(found), flush=True)
while True: pass
"""

# Three interpreters at work, each with a GIL of its own.
GILS = """
import os, sys, threading
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
end, begin = os.pipe()
CODE = "import os; os.write(%d, b'x')\\nwhile True: pass" % begin
for _ in range(3):
    threading.Thread(target=interpreters.run_string,
                     args=(interpreters.create(), CODE), daemon=True).start()
    os.read(end, 1)
box = [1, 2]
print("ready", hex(id(box)), flush=True)
while True: pass
"""


def status(path):
    with open(path + "/status") as file:
        return dict(line.split(":", 1) for line in file)


def tracers(pid):
    """The tracers of all threads of a process, 0 for none."""
    return {int(status(path)["TracerPid"])
            for path in glob.glob("/proc/%d/task/*" % pid)}


def ticks(pid):
    """Processor time that it has used."""
    with open("/proc/%d/stat" % pid) as file:
        words = file.read().rsplit(")", 1)[1].split()
    return int(words[11]) + int(words[12])


class HoldCase(unittest.TestCase):
    def setUp(self):
        self.node = Node()
        self.addCleanup(self.node.close)

    def target(self, *args, **options):
        target = Target(*args, RANK="0", **options)
        self.addCleanup(target.process.stdout.close)
        self.addCleanup(target.process.stdin.close)
        self.addCleanup(target.process.wait, LIMIT)
        self.addCleanup(target.process.kill)
        return target

    def spawn(self, argv):
        process = subprocess.Popen(argv)
        self.addCleanup(process.wait, LIMIT)
        self.addCleanup(process.kill)
        return process

    def wait_until(self, condition):
        deadline = time.monotonic() + LIMIT
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            # The event is in /proc, which tells nobody.
            self.node.ask("sample", pids=[])

    def sample(self, target, **arguments):
        self.node.ask("sample", pids=[target.pid], **arguments)
        return self.node.event("sampled", target.pid)

    def check_runs_on(self, target):
        """Nobody traces it, and it gets on."""
        self.wait_until(lambda: tracers(target.pid) == {0})
        before = ticks(target.pid)
        self.wait_until(lambda: ticks(target.pid) > before + 1)


class TestHold(HoldCase):
    def test_one_that_does_not_stand_in_time_goes_on_later(self):
        """A processor that others keep busy has no time for it to stop."""
        target = self.target(BUSY)
        self.node.discover(only=[target.pid])
        self.sample(target)
        processor = max(os.sched_getaffinity(0))
        os.sched_setaffinity(target.pid, {processor})
        os.sched_setscheduler(target.pid, os.SCHED_IDLE, os.sched_param(0))
        hogs = [self.spawn([sys.executable, "-c", HOG % processor])
                for _ in range(3)]
        self.wait_until(lambda: all(ticks(hog.pid) > 5 for hog in hogs))
        was_late = False
        end = time.monotonic() + LIMIT
        while not was_late and time.monotonic() < end:
            self.sample(target, exact=True)
            was_late = tracers(target.pid) == {self.node.process.pid}
        for hog in hogs:
            hog.kill()
        self.assertTrue(was_late)
        self.check_runs_on(target)
        self.assertTrue(self.sample(target)["threads"])


class ForeignCase(HoldCase):
    def test_a_thread_of_another_process_is_left_alone(self):
        if self.python.version < (3, 11):
            self.skipTest("below 3.11 no state holds the thread's number")
        victim = self.spawn(["sh", "-c", "while :; do :; done"])
        target = self.target(
            argv=self.python.argv + ["-c", FOREIGN, str(victim.pid)])
        self.assertNotEqual(target.words[1], "0")
        self.node.discover(only=[target.pid])
        for _ in range(50):
            sample = self.sample(target, exact=True)
            self.assertEqual(sample.get("held_ns", 0), 0)
        self.assertEqual(tracers(victim.pid), {0})

    def test_one_of_several_gils_at_a_time(self):
        if self.python.version < (3, 12):
            self.skipTest("below 3.12 all interpreters share a GIL")
        target = self.target(argv=self.python.argv + ["-c", GILS])
        self.node.discover(only=[target.pid])
        # One that has just written, or only waits for it, has no GIL yet.
        self.wait_until(lambda: len(
            [t for t in self.sample(target)["threads"]
             if t.get("has_gil")]) > 1)
        for _ in range(20):
            body = self.node.ask("variables", pid=target.pid,
                                 address=target.words[1], type="list")
            self.assertEqual(body["total"], 2)
            # One that did not stand in time is let go when it does.
            self.wait_until(lambda: tracers(target.pid) == {0})
        self.check_runs_on(target)


def load_tests(loader, tests, _pattern):
    tests = unittest.TestSuite([
        loader.loadTestsFromTestCase(TestHold),
        pythons.load_cases(loader, __name__, ForeignCase)])
    return tests


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
