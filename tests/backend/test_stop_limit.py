"""Ranks of torchrun with gloo that take steps: whoever is stopped, for however
long, no collective of another rank runs into its time-out. Agents raise the
limits before a rank stops; where there is none, the node resumes in time."""
import os
import time
import unittest

from gloo_jobs import (EXCHANGE_LINE, PYTHON, SECONDS, STEP_LINE, WHY_NOT,
                       Job)
from nodes import LIMIT, Node


class HoldCase(unittest.TestCase):
    def start(self, count, agents=(), **options):
        self.job = Job(count, agents, **options)
        self.addCleanup(self.job.close)
        self.pids = self.job.pids()
        self.node = Node()
        self.addCleanup(self.node.close)
        self.node.ask("initialize", protocol=1)
        self.node.discover(pids=self.pids)

    def stop(self, rank):
        self.node.ask("pause", pid=self.pids[rank])
        return self.node.event("stopped", self.pids[rank])

    def resumed(self, rank):
        """The event of a resume that nobody asked for."""
        body = self.node.event("continued", self.pids[rank])
        self.assertEqual(body["reason"], "time limit", body)
        return body

    def let_go(self, rank):
        self.node.ask("continue", pid=self.pids[rank])

    def check_result(self):
        self.job.wait_for_steps()
        self.assertEqual(self.job.end(), list(range(self.job.count)))

    def breakpoint(self, *ranks, line=STEP_LINE):
        for rank in ranks:
            self.node.ask("setBreakpoints", pid=self.pids[rank], breakpoints=[
                {"id": 1, "path": self.job.path, "line": line}])

    def clear(self, *ranks):
        for rank in ranks:
            self.node.ask("setBreakpoints", pid=self.pids[rank],
                          breakpoints=[])


@unittest.skipUnless(PYTHON, WHY_NOT)
class TestAgents(HoldCase):
    """Each rank has one."""

    def test_a_pause_outlasts_the_limit(self):
        self.start(2, agents=(0, 1))
        self.stop(0)
        self.assertEqual([message for message in self.node.messages
                          if "no agent raises" in str(message)], [])
        self.job.outlast()
        self.let_go(0)
        self.check_result()

    def test_the_limit_that_is_told_is_the_raised_one(self):
        """Also where an operation was under way as it was raised."""
        self.start(2, agents=(0, 1))
        for rank in (0, 1):
            self.stop(rank)
            self.node.wait_for(
                lambda message, pid=self.pids[rank]:
                message.get("event") in ("debugger", "stopped")
                and message["body"]["pid"] == pid
                and message["body"].get("watchdog") == 86400)
            self.let_go(rank)
            self.node.event("continued", self.pids[rank])
        self.check_result()

    def test_a_pause_that_continue_withdraws(self):
        """While the limits are being raised."""
        self.start(2, agents=(0, 1))
        requests = [self.node.request(command, pid=self.pids[0])
                    for command in ("pause", "continue")]
        for seq in requests:
            answer = self.node.answer(seq)
            self.assertTrue(answer["success"], answer)
        self.job.wait_for_steps(20)
        self.assertEqual([m for m in self.node.messages
                          if m.get("event") == "stopped"], [])
        self.check_result()

    def test_a_breakpoint_and_steps(self):
        self.start(2, agents=(0, 1))
        self.breakpoint(1)
        self.node.event("stopped", self.pids[1])
        self.job.outlast()
        for _ in range(3):
            self.node.ask("next", pid=self.pids[1])
            self.node.event("stopped", self.pids[1])
        self.clear(1)
        self.let_go(1)
        self.check_result()


    def test_send_and_recv(self):
        """No agent can raise their limit: they are resumed in time. Before the
        exchange, as other operations of the step may last."""
        self.start(2, agents=(0, 1), kind="send")
        self.breakpoint(1, line=EXCHANGE_LINE)
        self.node.event("stopped", self.pids[1])
        self.resumed(1)
        self.clear(1)
        self.node.request("continue", pid=self.pids[1])
        self.check_result()

    def test_what_nobody_catches(self):
        """The other rank waits longer than its limit; let go, each ends by its
        own exception: that of the other is the lost connection."""
        self.start(2, agents=(0, 1))
        for pid in self.pids:
            self.node.ask("catch", pid=pid, on=True, lease=600)
        self.job.wait_for_steps()
        open(self.job.file("raise.1"), "w").close()
        body = self.node.event("stopped", self.pids[1])
        self.assertIn("rank 1 raises", body["exception"])
        self.job.outlast()
        self.let_go(1)
        body = self.node.event("stopped", self.pids[0])
        self.assertIn("onnection", body["exception"])
        os.unlink(self.job.file("raise.1"))
        self.let_go(0)
        self.assertEqual(self.job.process.wait(LIMIT), 1)
        self.assertNotIn("Timed out", self.job.text())


@unittest.skipUnless(PYTHON, WHY_NOT)
class TestOutside(HoldCase):
    def test_a_pause_ends_in_time(self):
        self.start(2)
        self.stop(0)
        self.node.wait_for(lambda message: message.get("event") == "output"
                           and "no agent extends the collective timeouts of rank 1"
                           in message["body"]["output"])
        body = self.resumed(0)
        self.assertRegex(body["description"], r"^rank 1 .* resumed ")
        self.check_result()

    def test_the_time_that_is_left_is_told(self):
        self.start(2)
        self.stop(0)
        body = self.node.wait_for(
            lambda message: message.get("event") == "debugger"
            and message["body"]["pid"] == self.pids[0]
            and message["body"].get("lease", -1) >= 0)["body"]
        self.assertLess(body["lease"], SECONDS)
        self.resumed(0)
        self.check_result()

    def limited(self, rank, is_so):
        """The event that says whether the node is to resume it."""
        return self.node.wait_for(
            lambda message: message.get("event") == "debugger"
            and message["body"]["pid"] == self.pids[rank]
            and message["body"]["state"] == "stopped"
            and message["body"].get("limited", False) == is_so)["body"]

    def test_the_end_is_told_when_a_rank_begins_to_wait(self):
        """After the user has said that ranks are to stay stopped."""
        self.start(2, seconds=4 * SECONDS)
        told = [self.stop(0)]
        self.stop(1)
        self.node.ask("set", stay="once")
        self.let_go(1)
        while told[-1]["watchdog"] > 4 * SECONDS:
            told.append(self.limited(0, False))
        # Each says for how long the rank has been stopped by then.
        held = [body["held"] for body in told]
        self.assertEqual(held, sorted(set(held)))
        self.let_go(0)
        self.check_result()

    def test_one_hold_stays(self):
        """The next does not."""
        self.start(2, seconds=4 * SECONDS)
        self.stop(0)
        self.limited(0, True)
        self.node.ask("set", stay="once")
        # What ends the job is what rank 1 waits in, once it waits, not torch's
        # default.
        while self.limited(0, False)["watchdog"] > 4 * SECONDS:
            pass
        self.node.ask("next", pid=self.pids[0])
        self.node.event("continued", self.pids[0])
        self.node.event("stopped", self.pids[0])
        self.let_go(0)
        self.node.event("continued", self.pids[0])
        self.job.wait_for_steps()
        self.stop(0)
        self.limited(0, True)
        self.resumed(0)
        self.check_result()

    def test_a_breakpoint_ends_in_time(self):
        self.start(2)
        self.breakpoint(0)
        self.node.event("stopped", self.pids[0])
        self.resumed(0)
        self.clear(0)
        body = self.node.ask("diagnose", pids=[self.pids[0]])
        self.assertTrue(body["ranks"])
        self.node.request("continue", pid=self.pids[0])
        self.check_result()

    def test_a_breakpoint_of_one_that_waits_already(self):
        """It lets the job stop no more until what waits is over."""
        self.start(2)
        self.stop(0)
        self.resumed(0)
        self.breakpoint(0)
        self.node.event("stopped", self.pids[0])
        self.resumed(0)
        self.node.event("stopped", self.pids[0])
        self.clear(0)
        self.node.request("continue", pid=self.pids[0])
        self.check_result()

    def test_steps_over_a_collective(self):
        self.start(2)
        self.stop(0)
        for _ in range(30):
            answer = self.node.answer(self.node.request(
                "next", pid=self.pids[0]))
            if not answer["success"]:
                break
            message = self.node.wait_for(
                lambda message: message.get("event") in (
                    "stopped", "continued")
                and message["body"]["pid"] == self.pids[0]
                and message["body"]["reason"] != "request")
            if message["event"] == "continued":
                break
        self.node.request("continue", pid=self.pids[0])
        self.job.outlast()
        self.check_result()

    def test_send_and_recv(self):
        """Their limit is that of the group when it was made."""
        self.start(2, kind="send")
        self.stop(1)
        self.resumed(1)
        self.check_result()

    def test_two_of_four(self):
        """One of the four has an agent; both that stand are resumed."""
        self.start(4, agents=(1,))
        self.stop(0)
        self.stop(2)
        self.resumed(0)
        self.resumed(2)
        self.check_result()

    def test_who_says_stay_has_it_stay(self):
        self.start(2)
        self.node.ask("set", stay=True)
        self.stop(0)
        self.assertEqual(self.job.process.wait(LIMIT), 1)
        self.assertIn("Timed out", self.job.text())


if __name__ == "__main__":
    unittest.main()
