"""A screen that falls silent, as when its network is cut: what a node holds
runs on, and the node ends. The pipe stays open all the while."""
import os
import signal
import sys
import unittest

import pythons
from nodes import Node
from test_control import ControlCase, status_of

SECONDS = 1.0


class LeaseCase(ControlCase):
    """The node of each test has a lease of a second."""

    python = pythons.Python([sys.executable], sys.version_info[:3])

    def make_node(self):
        node = Node()
        node.codes = {}
        node.stacks = {}
        node.samples = {}
        node.ask("initialize", protocol=1, lease=SECONDS)
        self.addCleanup(node.close)
        return node

    def wait_for_the_end(self, rank):
        """The node says that its debugger has left the process."""
        self.node.wait_for(
            lambda m: m.get("event") == "debugger"
            and m["body"]["pid"] == rank.pid and m["body"]["state"] == "none")

    def test_all_run_on_and_the_node_leaves(self):
        self.start(2)
        for rank in self.ranks:
            rank.ask("pause")
            rank.stopped()
        for rank in self.ranks:
            self.wait_for_the_end(rank)
        self.assertEqual(self.node.wait(), 0)
        for rank in self.ranks:
            rank.check_clean(self)
            rank.check_end(self)

    def test_breakpoints_are_removed(self):
        rank = self.start()
        rank.set_breakpoints({"line": 1})
        self.assertEqual(self.node.wait(), 0)
        rank.check_clean(self, wait=False)
        rank.check_end(self)

    def test_it_serves_a_screen_that_comes_back(self):
        rank = self.start()
        rank.ask("pause")
        rank.stopped()
        self.wait_for_the_end(rank)
        self.node.ask("renew")
        rank.ask("pause")
        rank.stopped()
        self.assertEqual(status_of(rank.pid, "TracerPid"),
                         str(self.node.process.pid))

    def test_lines_that_wait_in_the_pipe_are_read_first(self):
        """The node was not run for longer than the lease."""
        rank = self.start()
        rank.ask("pause")
        rank.stopped()
        os.kill(self.node.process.pid, signal.SIGSTOP)
        asked = self.node.request("renew")
        self.node.read_for(2 * SECONDS)
        os.kill(self.node.process.pid, signal.SIGCONT)
        self.assertTrue(self.node.answer(asked)["success"])
        self.assertFalse([one for one in self.node.messages
                          if one.get("event") == "debugger"
                          and one["body"]["state"] == "none"])


class NoLeaseCase(ControlCase):
    """Without a lease a silent screen is one that waits for its person."""

    python = LeaseCase.python

    def test_the_process_stays_stopped(self):
        rank = self.start()
        rank.ask("pause")
        rank.stopped()
        self.node.read_for(SECONDS)
        self.assertEqual(status_of(rank.pid, "TracerPid"),
                         str(self.node.process.pid))
        rank.ask("continue")


if __name__ == "__main__":
    unittest.main()
