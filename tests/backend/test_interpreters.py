"""A thread that runs Python in several interpreters is one in each: neither
their frames nor their numbers are mixed up."""
import sys
import unittest

import pythons
from nodes import Node, Target, wait_for_rest

CODE = """
import os, sys, threading
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
end, begin = os.pipe()
INSIDE = '''
import os, time
def inside(secret):
    os.write(%d, b'x')
    time.sleep(1000)

inside(42)
''' % begin
# The first one is gone again: a number is no place in a list.
interpreters.destroy(interpreters.create())
made = []
def outside(public):
    # Up to 3.12 the state there has the number of the thread that made it.
    made.append(interpreters.create())
    interpreters.run_string(made[0], INSIDE)
threading.Thread(target=outside, args=(7,), daemon=True).start()
os.read(end, 1)
print("ready", int(made[0]), flush=True)
sys.stdin.read()
"""


class InterpretersCase(unittest.TestCase):
    def setUp(self):
        self.node = Node()
        self.addCleanup(self.node.close)
        self.target = Target(argv=self.python.argv + ["-c", CODE], RANK="0")
        self.addCleanup(self.target.process.stdout.close)
        self.addCleanup(self.target.process.stdin.close)
        self.addCleanup(self.target.process.wait)
        self.addCleanup(self.target.process.kill)
        self.number = int(self.target.words[1])
        wait_for_rest(self.target.pid)
        self.node.discover(only=[self.target.pid])
        self.node.ask("sample", pids=[self.target.pid])
        sample = self.node.event("sampled", self.target.pid)
        self.inside = [t for t in sample["threads"] if t.get("interpreter")]

    def names(self, **arguments):
        body = self.node.ask("variables", pid=self.target.pid, **arguments)
        return [v["name"] for v in body["variables"]]

    def frame(self, function, **arguments):
        """The variables of the first depth that has one of that name."""
        for depth in range(20):
            names = self.names(depth=depth, **arguments)
            if function in names:
                return names
        raise AssertionError("no frame has %s" % function)

    def test_it_has_its_number(self):
        self.assertEqual([t["interpreter"] for t in self.inside],
                         [self.number])

    def test_each_has_its_own_variables(self):
        tid = self.inside[0]["tid"]
        self.assertEqual(
            self.frame("secret", tid=tid, interpreter=self.number),
            ["secret"])
        self.assertEqual(self.frame("public", tid=tid, interpreter=0),
                         ["public"])

    def test_who_does_not_say_which_is_refused(self):
        self.assertRegex(
            self.node.refuse("variables", pid=self.target.pid, depth=0,
                             tid=self.inside[0]["tid"]),
            r"^thread \d+ runs Python in several interpreters, and this "
            r"frame may be of any of them$")


def load_tests(loader, _tests, _pattern):
    return pythons.load_cases(loader, __name__, InterpretersCase)


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
