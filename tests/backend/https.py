"""Processes with an agent, and a node that speaks to them."""
import os
import sys
import unittest

from nodes import Node, Target

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("SRCDIR") or os.path.dirname(os.path.dirname(HERE))
# Lines of its standard input are run.
PROGRAM = """
import sys, time
x = 41
print("ready", flush=True)
for line in sys.stdin:
    exec(line)
"""


class HttpCase(unittest.TestCase):
    count = 1
    argv = ["-c", PROGRAM]

    def setUp(self):
        self.targets = [self.start(rank) for rank in range(self.count)]
        self.target = self.targets[0]
        self.pid = self.target.pid
        self.node = Node()
        self.addCleanup(lambda: self.node.close())
        self.node.ask("initialize", protocol=1)
        self.node.discover(pids=[target.pid for target in self.targets])

    def start(self, rank, **variables):
        variables.setdefault("PROBETUI", "1")
        target = Target(argv=[sys.executable] + self.argv, RANK=str(rank),
                        PYTHONPATH=os.path.join(SOURCE, "agent"),
                        **variables)
        self.addCleanup(target.close)
        return target

    def socket(self, target=None):
        return "/tmp/pdb-%d/%d.agent" % (os.geteuid(),
                                         (target or self.target).pid)

    def evaluate(self, expression, target=None, **more):
        return self.node.ask("evaluate", pid=(target or self.target).pid,
                             expression=expression, context="repl", **more)

    def refuse(self, expression, **more):
        return self.node.refuse("evaluate", pid=self.pid, context="repl",
                                expression=expression, **more)
