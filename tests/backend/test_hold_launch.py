#!/usr/bin/env python3
"""A job of torchrun that the node starts, with a breakpoint right behind
init_process_group() in one rank: the other waits for it in a collective with a
short limit, and the job ends with right results."""
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("SRCDIR") or os.path.dirname(os.path.dirname(HERE))
import pythons  # noqa: E402
from gloo_jobs import PYTHON, SECONDS, WHY_NOT  # noqa: E402
from nodes import Node, environment  # noqa: E402
from test_launch import Launched  # noqa: E402

PROGRAM = """
import datetime, os, sys
import torch, torch.distributed as dist
limit = datetime.timedelta(seconds=float(os.environ["SECONDS"]))
dist.init_process_group("gloo", timeout=limit)
value = torch.ones(4) * (1 + dist.get_rank())
dist.all_reduce(value)
dist.barrier()
dist.destroy_process_group()
word = b"right" if value.tolist() == [3.0] * 4 else b"wrong"
os.write(1, b"result %s\\n" % word)
"""
LINE = PROGRAM.split("\n").index("value = torch.ones(4) * "
                                 "(1 + dist.get_rank())") + 1


@unittest.skipUnless(PYTHON, WHY_NOT)
class TestHeldBehindInit(Launched):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(self.sweep)
        self.path = self.file("job.py")
        with open(self.path, "w") as file:
            file.write(PROGRAM)
        self.seen = ""

    def start(self, **variables):
        """The rank that stands."""
        self.node = Node(env=environment(
            XDG_STATE_HOME=self.folder, OMP_NUM_THREADS="1",
            SECONDS=str(SECONDS), **variables))
        self.addCleanup(self.node.close)
        self.node.ask("initialize", protocol=1)
        self.launch(*pythons.torchrun(PYTHON, 2), self.path, breakpoints=[
            {"id": 1, "path": self.path, "line": LINE, "ranks": "1"}])
        return self.node.event("stopped")["pid"]

    def check_result(self):
        for _ in range(2):
            self.output_until("result right")
        self.assertEqual(self.job_event("ended")["exit_code"], 0)

    def test_without_agents(self):
        pid = self.start()
        body = self.node.event("continued", pid)
        self.assertEqual(body["reason"], "time limit", body)
        self.assertRegex(body["description"],
                         r"^rank 0 waits in a collective .* resumed ")
        self.check_result()

    def test_with_agents(self):
        """They may raise the limit before the other's collective begins, or
        not."""
        pid = self.start(PROBETUI="1", PYTHONPATH=os.path.join(SOURCE, "agent"))
        self.node.read_for(1.4 * SECONDS)
        # It runs already where the node has resumed it.
        self.node.answer(self.node.request("continue", pid=pid))
        self.check_result()


if __name__ == "__main__":
    unittest.main()
