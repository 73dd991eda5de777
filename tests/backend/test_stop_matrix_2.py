"""Jobs of two ranks, one of which is stopped for longer than a collective may
last, in each way to stop it, with agents in all ranks, in some, in none."""
import itertools
import os
import sys
import unittest

from test_stop_limit import LIMIT, PYTHON, WHY_NOT, HoldCase

# Seconds, how a rank is stopped, which ranks have an agent.
LIMITS = [int(word) for word in
          os.environ.get("PROBETUI_LIMITS", "10 60").split()]
STOPS = ("pause", "break", "catch", "step")
AGENTS = ("all", "some", "none")


class MatrixCase(HoldCase):
    """One rank is stopped for longer than a collective may last, or until the
    node resumes it; the job ends as it would have, with right results."""

    def begin(self, count, seconds, agents):
        some = {"all": range(count), "some": range(1, count, 2), "none": ()}
        self.resumes = 0
        self.start(count, agents=some[agents], seconds=seconds)

    def read_for(self, seconds):
        self.node.read_for(seconds)
        self.resumes += sum(
            1 for message in self.node.messages
            if message.get("event") == "continued"
            and message["body"]["reason"] == "time limit")

    def hold(self):
        self.read_for(1.4 * self.job.seconds)
        self.job.check()

    def release(self):
        """A stop that is due, or that the node has ended, is none any more."""
        self.clear(*range(self.job.count))
        before = self.job.steps()

        def has_moved():
            self.node.answer(self.node.request("continue", pid=self.pids[0]))
            return self.job.steps() > before + 5
        self.job.wait(has_moved, "the steps to go on")
        self.check_result()

    def do_pause(self):
        self.stop(0)
        self.hold()
        self.release()

    def do_break(self):
        self.breakpoint(0)
        self.node.event("stopped", self.pids[0])
        self.hold()
        self.release()

    def do_step(self):
        """Until it is over a collective, or was resumed."""
        self.stop(0)
        for _ in range(12):
            answer = self.node.answer(self.node.request(
                "next", pid=self.pids[0]))
            if not answer["success"]:
                break
            message = self.node.wait_for(
                lambda message: message.get("event") in ("stopped",
                                                         "continued")
                and message["body"]["pid"] == self.pids[0]
                and message["body"]["reason"] != "request")
            if message["event"] == "continued":
                self.resumes += 1
                break
        self.hold()
        self.release()

    def do_catch(self):
        """What the exception of rank 1 does to the others comes from it."""
        answer = self.node.answer(self.node.request(
            "catch", pid=self.pids[1], on=True, lease=600))
        if not answer["success"]:
            self.check_result()
            return
        self.job.wait_for_steps()
        open(self.job.file("raise.1"), "w").close()
        self.node.event("stopped", self.pids[1])
        # Where the node resumes it, the job ends as it would have.
        self.read_for(1.4 * self.job.seconds)
        self.node.answer(self.node.request("continue", pid=self.pids[1]))
        self.assertEqual(self.job.process.wait(LIMIT), 1)
        self.assertIn("rank 1 raises", self.job.text())
        # One that is resumed in time takes some of that to end.
        if self.resumes == 0:
            self.assertNotIn("Timed out", self.job.text())


def add_cell(case, count, seconds, stop, agents):
    def test(self):
        self.begin(count, seconds, agents)
        getattr(self, "do_" + stop)()
        print("%d ranks  %2d s  %-6s agents: %-5s resumed %d times"
              % (count, seconds, stop, agents, self.resumes),
              file=sys.stderr, flush=True)
    name = "test_%d_ranks_%d_s_%s_%s" % (count, seconds, stop, agents)
    setattr(case, name, test)


@unittest.skipUnless(PYTHON, WHY_NOT)
@unittest.skipUnless(os.environ.get("PROBETUI_SOAK"),
                     "it takes half an hour; PROBETUI_SOAK does it")
class TestTwoRanks(MatrixCase):
    pass


def add_cells(case, count):
    for cell in itertools.product(LIMITS, STOPS, AGENTS):
        add_cell(case, count, *cell)


add_cells(TestTwoRanks, 2)


if __name__ == "__main__":
    unittest.main()
