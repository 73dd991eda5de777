"""Of a process that calls functions in a tight loop, stacks that cannot have
been are marked torn: all but a few in a thousand, and none that is exact."""
import json
import os
import subprocess
import sys
import unittest

import pythons

HERE = os.path.dirname(os.path.abspath(__file__))
PROBE = os.path.join(os.environ["BUILDDIR"], "tests/backend/sample-probe")
# The code is the same, and slow, where its memory is watched.
SAMPLES = (1000 if os.environ.get("SANITIZED")
           else 10000 if os.environ.get("PROBETUI_SOAK") else 3000)
TORN_MAXIMUM = 0.005
EXACT_MINIMUM = 0.1  # the rest is what the load of the machine takes


def check(python, thread_count, mode):
    with open(os.path.join(HERE, "chain_target.py")) as file:
        code = file.read()
    target = subprocess.Popen(
        python.argv + ["-c", code, str(thread_count)],
        stdout=subprocess.PIPE)
    try:
        target.stdout.readline()
        run = subprocess.run(
            [PROBE, mode, str(target.pid), str(SAMPLES)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    finally:
        target.kill()
        target.wait()
        target.stdout.close()
    if run.returncode:
        raise AssertionError(run.stderr.decode())
    return json.loads(run.stdout.decode())


class TornCase(unittest.TestCase):
    def judge(self, thread_count, mode, exact_minimum=0):
        seen = check(self.python, thread_count, mode)
        exact = seen["exact"]["seen"]
        accepted = exact + seen["consistent"]["seen"]
        self.assertEqual(seen["exact"]["illegal"], 0)
        self.assertLessEqual(seen["consistent"]["illegal"],
                             accepted * TORN_MAXIMUM, seen)
        self.assertGreaterEqual(exact, exact_minimum)
        print("# %s, %d threads: %s" % (self.python, thread_count, seen))

    def test_one_thread(self):
        self.judge(1, "check")

    def test_three_threads(self):
        self.judge(3, "check")

    def test_exact(self):
        for count in (1, 3):
            self.judge(count, "check-exact", SAMPLES * count * EXACT_MINIMUM)


def load_tests(loader, _tests, _pattern):
    return pythons.load_cases(loader, __name__, TornCase)


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
