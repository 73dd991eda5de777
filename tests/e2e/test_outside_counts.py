#!/usr/bin/env python3
"""What stepping from outside costs the process: how often it is made to
stand, counted by the kernel (voluntary context switches of a program that
never waits), and the node: its system calls, counted by strace. On every
Python."""
import os
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "backend")]
import pythons  # noqa: E402
from nodes import NODE, Node, Target  # noqa: E402

PROGRAM = '''
import sys
import threading

LOCK = threading.Lock()


def spin(count):
    number = 0
    for i in range(count):
        number += 1
    return number


def lines():
    a = 1  # begin
    b = a + 1
    c = b + 1
    d = a + b + c
    a = d - 1
    b = a * 2
    c = b - a
    d = c + 1
    a = b
    b = c
    return d


def calls():
    a = spin(3)  # calls
    a += spin(4)
    a += spin(5)
    a += spin(6)
    a += spin(7)
    return a


def many():
    a = spin(10000000)  # many
    return a


def until():
    total = 0  # until
    for i in range(1000000):
        total += i
    return total  # behind


def until_try():
    total = 0  # until_try
    for i in range(1000000):
        try:
            total += i
        except ValueError:
            total = 0
        finally:
            total += 1
    return total  # behind_try


def until_with():
    total = 0  # until_with
    for i in range(1000000):
        with LOCK:
            total += i
    return total  # behind_with


def rare(count):
    for i in range(count):
        if i < 0:
            i = 5  # never
    return count


def branches(count):
    for i in range(count):
        if i < 0:
            i = 5  # one
            i = 6  # two
            i = 7  # three
    return count


def branched():
    a = branches(1000000)  # branched
    return a


def finals(count):
    total = 0
    try:
        for i in range(count):
            total += i
        if total < 0:
            return 0
    except ValueError:
        return -1
    finally:
        total = 1  # last
    return total


def final():
    a = finals(1000000)  # final
    return a


class Limits:
    def __init__(self):
        self.most = 1 << 40


def double(i, limits=Limits(), batch=(1, 2, 3), str_of="ab"):
    x = i * 2  # double
    return x


def doubles(count):
    for i in range(count):
        double(i)
    return count


print("ready", flush=True)
for line in sys.stdin:
    name, count = line.split()
    print(globals()[name](*([int(count)] if count != "-" else [])), flush=True)
'''
LINES = PROGRAM.splitlines()

# Stops a command by stepping.md, of versions up to this one; a third more.
STEP = {13: 4.0, 14: 5.7}
NEXT = {13: 8.0, 14: 15.0}
MARGIN = 1.3

# System calls of the node for a hit whose condition is false: it waits, takes
# the status and what the signal is about, reads, continues. The rest is what it
# does else, and on a loaded machine the loop has its turn after fewer hits.
FALSE_HIT = 8
FALSE_HITS = 1000
IN_A_ROW = 20
FALSE_ROUNDS = 20
# Of each kind that is read in its own way; no one is ever true. What is more
# than locals may take another reading.
CONDITIONS = {"i == -1": FALSE_HIT, "i * 2 + 1 < 0 and i": FALSE_HIT,
              "len(str_of) > i + 3": FALSE_HIT + 4,
              "limits.most < i": FALSE_HIT + 4,
              "batch[2] == i - 2000000": FALSE_HIT + 4}


def line_of(mark):
    return [i + 1 for i, line in enumerate(LINES) if line.endswith(mark)][0]


class NodeCase(unittest.TestCase):
    """A program that one Python runs, and a node, started by argv."""

    python = None
    argv = None

    def setUp(self):
        self.target = Target(argv=self.python.argv + ["-c", PROGRAM],
                             RANK="0")
        self.addCleanup(self.target.close)
        # It leaves first, and lets go of what it has stopped.
        self.node = Node(self.argv)
        self.addCleanup(self.node.close)
        self.node.ask("initialize", protocol=1)
        self.node.discover(pids=[self.target.pid])

    def ask(self, command, **arguments):
        return self.node.ask(command, pid=self.target.pid, **arguments)


class CountsCase(NodeCase):
    def stands(self):
        with open("/proc/%d/status" % self.target.pid) as file:
            return [int(line.split()[1]) for line in file
                    if line.startswith("voluntary_ctxt_switches")][0]

    def stop_in(self, function, mark):
        binding, = self.ask("setBreakpoints", breakpoints=[
            {"id": 1, "path": "<string>", "line": line_of(mark),
             "temporary": True}])["breakpoints"]
        self.assertGreater(binding.get("number", 0), 0, binding)
        self.target.say(function)
        self.node.event("stopped")

    def cost(self, command, **arguments):
        before = self.stands()
        self.ask(command, **arguments)
        self.node.event("stopped")
        return self.stands() - before

    def limit(self, table):
        return table[min(minor for minor in table
                         if minor >= self.python.version[1])] * MARGIN

    def mean(self, command, count):
        costs = [self.cost(command) for _ in range(count)]
        mean = sum(costs) / len(costs)
        print("# %s: %s takes %.1f stands" % (self.python, command, mean))
        return mean

    def test_step(self):
        self.stop_in("lines -", "# begin")
        self.assertLessEqual(self.mean("stepIn", 9), self.limit(STEP))

    def test_next_over_calls(self):
        self.stop_in("calls -", "# calls")
        self.assertLessEqual(self.mean("next", 4), self.limit(NEXT))

    def test_next_over_ten_million(self):
        self.stop_in("many -", "# many")
        cost = self.cost("next")
        print("# %s: next over 10^7 iterations takes %d stands"
              % (self.python, cost))
        self.assertLessEqual(cost, 20)

    def until(self, name, mark, behind):
        self.stop_in(name + " -", mark)
        cost = self.cost("until", line=line_of(behind))
        print("# %s: %s over 10^6 iterations takes %d stands"
              % (self.python, name, cost))
        self.assertLessEqual(cost, 500)

    def test_until(self):
        self.until("until", "# until", "# behind")

    def test_until_over_try(self):
        self.until("until_try", "# until_try", "# behind_try")

    def test_until_over_with(self):
        self.until("until_with", "# until_with", "# behind_with")

    def test_next_over_many_breakpoints(self):
        self.stop_in("branched -", "# branched")
        self.set_breaks("# one", "# two", "# three")
        cost = self.cost("next")
        print("# %s: next over three breakpoints that are not hit takes %d "
              "stands" % (self.python, cost))
        self.assertLessEqual(cost, 30)

    def test_next_to_a_finally(self):
        self.stop_in("final -", "# final")
        self.set_breaks("# last")
        cost = self.cost("next")
        print("# %s: next to a breakpoint behind a loop, at several places, "
              "takes %d stands" % (self.python, cost))
        self.assertLessEqual(cost, 1000)

    def set_breaks(self, *marks):
        for binding in self.ask("setBreakpoints", breakpoints=[
                {"id": i + 1, "path": "<string>", "line": line_of(mark)
                } for i, mark in enumerate(marks)])["breakpoints"]:
            self.assertGreater(binding.get("number", 0), 0, binding)

    def test_armed_and_not_hit(self):
        self.set_breaks("# never")
        before = self.stands()
        self.target.say("rare 1000000")
        self.assertEqual(self.target.line(), ["1000000"])
        # It waited for the word, and does so again.
        self.assertLessEqual(self.stands() - before, 2)


@unittest.skipUnless(shutil.which("strace"), "strace is not here")
class CallsCase(NodeCase):
    def setUp(self):
        self.trace = tempfile.NamedTemporaryFile(prefix="probetui-calls-")
        self.addCleanup(self.trace.close)
        self.argv = ["strace", "-qq", "-s", "0", "-o", self.trace.name, NODE]
        super().setUp()

    def costs(self):
        """The node's calls for each hit since the last time; strace keeps no
        line back. A hit ends as the thread is continued."""
        costs, calls = [], 0
        for line in self.trace:
            calls += not line.startswith(b"---")
            if line.startswith(b"ptrace(PTRACE_CONT,"):
                costs.append(calls)
                calls = 0
        return costs

    def false_hit(self, condition, limit):
        """Calls for a hit. Where other programs have the processors, the node
        waits past its loop in vain: the least of so many hits in a row."""
        binding, = self.ask("setBreakpoints", breakpoints=[
            {"id": 1, "path": "<string>", "line": line_of("# double"),
             "condition": condition}])["breakpoints"]
        self.assertGreater(binding.get("number", 0), 0, binding)
        least = 99
        for _ in range(FALSE_ROUNDS):
            self.costs()
            self.target.say("doubles %d" % FALSE_HITS)
            self.assertEqual(self.target.line(), [str(FALSE_HITS)])
            costs = self.costs()
            self.assertGreaterEqual(len(costs), FALSE_HITS)
            least = min([least] + [
                sum(costs[i:i + IN_A_ROW]) / IN_A_ROW
                for i in range(len(costs) - IN_A_ROW + 1)])
            if least <= limit:
                break
        return least

    def test_false_conditions(self):
        for condition, limit in CONDITIONS.items():
            cost = self.false_hit(condition, limit)
            print("# %s: a hit where %s is false takes %.1f calls"
                  % (self.python, condition, cost))
            self.assertLessEqual(cost, limit, condition)


def load_tests(loader, tests, pattern):
    return pythons.load_cases(loader, __name__, CountsCase, CallsCase)


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
