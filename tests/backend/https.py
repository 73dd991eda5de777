"""Processes with an agent, and a node that speaks to them."""
import os
import select
import socket
import sys
import unittest

import dap_recorder
from nodes import LIMIT, Node, Target

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

    @classmethod
    def share(cls):
        """For setUpClass: all tests of the class have what its setUp makes;
        given to them by take()."""
        first = cls("share")
        first.setUp()
        cls.addClassCleanup(first.doCleanups)
        cls.first = first
        return first

    def take(self):
        for name in ("targets", "target", "pid", "node", "frames", "codes"):
            if hasattr(self.first, name):
                setattr(self, name, getattr(self.first, name))
        del self.node.messages[:]

    def start(self, rank, **variables):
        variables.setdefault("PROBETUI", "1")
        recorder = dap_recorder.Recorder()
        target = Target(argv=[sys.executable] + self.argv, RANK=str(rank),
                        **dict(recorder.variables, **variables))
        self.addCleanup(recorder.check)
        self.addCleanup(target.close)
        return target

    def path(self, target=None):
        return "/tmp/pdb-%d/%d.agent" % (os.geteuid(),
                                         (target or self.target).pid)

    def line(self):
        """What the program prints next."""
        output = self.target.process.stdout
        if not select.select([output], [], [], LIMIT)[0]:
            raise AssertionError("it prints nothing: %s" % self.stacks())
        return self.target.line()

    def stacks(self):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(LIMIT)
            connection.connect(self.path())
            connection.sendall(b"GET /stacks HTTP/1.1\r\nHost: localhost\r\n"
                               b"Connection: close\r\n\r\n")
            return b"".join(iter(lambda: connection.recv(65536), b""))

    def evaluate(self, expression, target=None, **more):
        return self.node.ask("evaluate", pid=(target or self.target).pid,
                             expression=expression, context="repl", **more)

    def refuse(self, expression, **more):
        return self.node.refuse("evaluate", pid=self.pid, context="repl",
                                expression=expression, **more)
