"""The uncaught exception of a process whose other threads keep it from ending."""
import json
import os
import subprocess
import time
import unittest

import pythons

PROBE = os.path.join(os.environ["BUILDDIR"], "tests/backend/sample-probe")
LIMIT = 120
# With the main thread in threading._shutdown() until standard input ends.
KEPT = """
import sys, threading
threading.Thread(target=sys.stdin.read).start()
class Odd(Exception):
    def __str__(self):
        sys.exit("this must not run")
print("ready", flush=True)
"""


class RaisedCase(unittest.TestCase):
    python = None

    def main_thread(self, process):
        run = subprocess.run([PROBE, "sample", str(process.pid), "1"],
                             stdout=subprocess.PIPE, timeout=LIMIT,
                             input=b"\n")
        self.assertEqual(run.returncode, 0)
        sample = json.loads(run.stdout)
        stacks = {stack["id"]: stack for stack in sample["stacks"]}
        codes = {code[0]: code[1] for stack in stacks.values()
                 for code in stack["codes"]}
        thread = sample["threads"][0]

        def frames(key):
            return [(codes[frame[0]], frame[1])
                    for frame in stacks[thread[key]]["frames"]] \
                if thread.get(key) else []
        return thread, [func for func, _ in frames("stack")], \
            frames("raised_stack")

    def raised(self, code):
        return self.end(code)[0].get("raised")

    def end(self, code):
        """The main thread in teardown, and the frames of the traceback."""
        process = subprocess.Popen(
            self.python.argv + ["-c", KEPT + code], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(process.communicate)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            thread, functions, raised = self.main_thread(process)
            if functions and functions[-1] == "_shutdown":
                return thread, raised
        self.fail("the main thread did not come to an end")

    def test_a_text(self):
        self.assertEqual(self.raised("raise ValueError('bad batch')"),
                         "ValueError: bad batch")

    def test_other_arguments(self):
        self.assertEqual(self.raised("raise KeyError('a', 2)"),
                         "KeyError('a', 2)")

    def test_a_method_of_its_own_is_not_run(self):
        self.assertEqual(self.raised("raise Odd('no')"), "Odd: no")

    def test_a_long_text(self):
        self.assertLess(len(self.raised("raise ValueError('x' * 10000000)")),
                        2000)

    def test_where(self):
        line = KEPT.count("\n") + 1
        _, frames = self.end("def f(n):\n"
                             "    if n:\n"
                             "        return f(n - 1)\n"
                             "    raise ValueError(\n"
                             "        'bad')\n"
                             "f(2)\n")
        self.assertEqual(frames, [("f", line + 3), ("f", line + 2),
                                  ("f", line + 2), ("<module>", line + 5)])

    def test_where_it_was_raised_again(self):
        line = KEPT.count("\n") + 1
        _, frames = self.end("def f():\n    1 / 0\n"
                             "try:\n    f()\n"
                             "except ZeroDivisionError:\n    raise\n")
        self.assertEqual(frames, [("f", line + 1), ("<module>", line + 3)])

    def test_a_deep_recursion(self):
        line = KEPT.count("\n") + 1
        _, frames = self.end("def g():\n    raise KeyError\n"
                             "def f(n):\n    f(n - 1) if n else g()\n"
                             "sys.setrecursionlimit(9000)\nf(3000)\n")
        self.assertEqual(frames[0], ("g", line + 1))
        self.assertEqual({frame[0] for frame in frames[1:]}, {"f"})

    def test_none(self):
        self.assertIsNone(self.raised(""))

    def test_what_is_no_exception(self):
        self.assertIsNone(self.raised("sys.last_value = [1, 2, 3, 4]"))

    def test_one_that_ended_nothing(self):
        """As a test runner, or a callback called by C, leaves it there."""
        self.assertIsNone(self.raised("sys.last_value = ValueError('old')"))
        self.assertIsNone(self.raised(
            "def run():\n"
            "    try:\n        1 / 0\n"
            "    except ZeroDivisionError as error:\n"
            "        sys.last_value = error\n"
            "run()"))

    def test_one_that_was_handled(self):
        self.assertIsNone(self.raised(
            "try:\n    1 / 0\nexcept ZeroDivisionError:\n    pass"))


def load_tests(loader, _tests, _pattern):
    return pythons.load_cases(loader, __name__, RaisedCase)
