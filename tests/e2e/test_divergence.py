#!/usr/bin/env python3
"""Replicas of a data-parallel job by gloo that came to differ: one command
names the rank, the parameter and its first element.

Four torches: PROBETUI_SOAK=1.
"""
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jobs  # noqa: E402
from shapes import SHAPES

COUNT = 4
BEGIN = 120


class DivergedJob(jobs.Launched):
    """tests/jobs/diverged.py, until all of it waits for its checkpoint."""

    def __init__(self, python, kind):
        self.folder = tempfile.mkdtemp(prefix="probetui-diverged-")
        self.file = os.path.join(self.folder, "checkpoint")
        super().__init__(
            [python, os.path.join(jobs.JOBS, "launch.py"), "-n", str(COUNT),
             os.path.join(jobs.JOBS, "diverged.py"), kind, self.file])
        self.port = json.loads(self.process.stdout.readline())["port"]
        jobs.wait_for(self.stands, "the checkpoint", BEGIN)

    def stands(self):
        if self.process.poll() is not None:
            raise AssertionError("the job has ended: " + self.output())
        verdict = self.probetui("--json", "verdict", "--for", "0")
        if verdict.returncode not in (0, 1):
            return False
        said = json.loads(verdict.stdout)["verdict"]
        return "%d of %d ranks wait in barrier" % (COUNT - 1, COUNT) in said

    def probetui(self, *arguments):
        return jobs.probetui("--job", self.port, "--ranks",
                             "0-%d" % (COUNT - 1), *arguments)

    def end(self):
        with open(self.file, "w"):
            pass
        return self.process.wait(BEGIN)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)
        super().close()
        shutil.rmtree(self.folder, ignore_errors=True)


class TestDivergence(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if "PROBETUI_SOAK" not in os.environ:
            raise unittest.SkipTest("four torches, again and again: "
                                    "PROBETUI_SOAK=1")
        cls.python = jobs.find_torch()
        if cls.python is None:
            raise unittest.SkipTest("no Python with torch here; "
                                    "PROBETUI_TORCH_PYTHON may name one")

    def start(self, kind):
        self.job = DivergedJob(self.python, kind)
        self.addCleanup(self.job.close)

    def differs(self, sentence, **wanted):
        """What is said, and what a program is told; the job goes on."""
        said = self.job.probetui("diff-params", "model")
        self.assertEqual((said.returncode, said.stderr), (1, ""), said.stdout)
        self.assertRegex(said.stdout.splitlines()[0], sentence)
        told = json.loads(self.job.probetui("--json", "diff-params",
                                            "model").stdout)
        SHAPES.check(self, "diff-params", told)
        found = {"first": told["first"], "differing": told["differing"],
                 "classes": [each["ranks"] for each
                             in told["rows"][0]["classes"]]}
        if told["difference"]:
            found.update(rank=told["difference"]["rank"],
                         element=told["difference"]["first"]["index"],
                         elements=told["difference"]["differing"])
        self.assertEqual(found, wanted)
        self.assertEqual(self.job.end(), 0, self.job.output())

    def test_a_drifted_replica(self):
        self.start("drift")
        self.differs(
            r"^body\.weight on rank 3 differs from ranks 0-2: 1 of 512 "
            r"elements differ, first at \[4, 7\]: .* max \|difference\| "
            r"0\.001 at \[4, 7\]", first="body.weight", differing=1,
            classes=["0-2", "3"], rank=3, element=[4, 7], elements=1)

    def test_a_nan(self):
        self.start("nan")
        compared = self.job.probetui("compare", "model.center")
        self.assertEqual(compared.returncode, 1)
        self.assertRegex(compared.stdout, re.compile(
            r"^! 2 +\(1\) .* NaN 1 ", re.M))
        self.assertIn("rank 2 has 1 NaN in model.center", compared.stdout)
        found = self.job.probetui("--json", "watch-nan", "model.center")
        self.assertEqual(found.returncode, 1, found.stderr)
        self.assertEqual(
            [json.loads(found.stdout)[key] for key in ("rank", "value")],
            [2, "1 NaN of 32"])
        self.differs(
            r"^rank 2 has 1 NaN in center; ranks 0-1,3 have none; rank 2 "
            r"against rank 0: 1 of 32 elements differ, first at \[7\]: nan "
            r"and 0", first="center",
            differing=1, classes=["0-1,3", "2"], rank=2, element=[7],
            elements=1)

    def test_a_shape(self):
        self.start("shape")
        self.differs(r"^words\.weight has shape \[101, 8\] on rank 1, but "
                     r"\[100, 8\] on ranks 0,2-3", first="words.weight",
                     differing=1, classes=["0,2-3", "1"])

    def test_replicas_that_are_the_same(self):
        self.start("same")
        said = self.job.probetui("diff-params", "model")
        self.assertEqual((said.returncode, said.stderr, said.stdout), (
            0, "", "6 parameters and buffers of model are the same on "
            "ranks 0-3\n"))
        self.assertEqual(self.job.end(), 0, self.job.output())


if __name__ == "__main__":
    unittest.main()
