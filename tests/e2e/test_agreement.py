#!/usr/bin/env python3
"""Commands that use `outlier` and `majority` agree with the verdict.

A job hangs in backward: one sample does not show that the other ranks wait
there. PROBETUI_SOAK=1 starts jobs of 8 ranks, 20 rounds; else 4 ranks, one
round of each way to hang.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import jobs
sys.path.insert(0, os.path.join(jobs.SOURCE, "tests", "backend"))
import pythons  # noqa: E402

JOB = os.path.join(jobs.JOBS, "backward.py")
IS_SOAK = bool(os.environ.get("PROBETUI_SOAK"))
RANKS = 8 if IS_SOAK else 4
ROUNDS = 20 if IS_SOAK else 1
STILL_LOOKS = 50


def usage_of(pid):
    """State and processor time of the main thread."""
    with open("/proc/%d/task/%d/stat" % (pid, pid)) as file:
        fields = file.read().rpartition(")")[2].split()
    return fields[0], fields[11], fields[12]


class Job(jobs.Launched):
    """Ranks that hang; the last one is the cause."""

    def __init__(self, command, flavour, how):
        super().__init__(command + [JOB, flavour], HOW=how)
        self.pids = {}
        self.still = 0
        self.before = None

    def await_hang(self, count):
        """All ranks have begun the backward that hangs, and sleep."""
        for line in self.process.stdout:
            told = json.loads(line)
            if "rank" in told:
                self.pids[told["rank"]] = told["pid"]
            if len(self.pids) == count:
                break
        else:
            raise RuntimeError("the job ended: " + self.output())
        jobs.wait_for(self.is_still, "the ranks to sleep")

    def is_still(self):
        now = [usage_of(pid) for pid in self.pids.values()]
        is_same = now == self.before and all(
            state == "S" for state, _, _ in now)
        self.before = now
        self.still = self.still + 1 if is_same else 0
        return self.still >= STILL_LOOKS


class Agreement:
    """start(how) starts the job."""

    def ask(self, *arguments, status=1):
        """The answer; self.seen() returns what it was judged by."""
        if os.path.exists(self.recording):
            os.remove(self.recording)
        run = jobs.probetui("--json", "--timeout", str(jobs.LIMIT), "--record",
                            self.recording, *arguments)
        self.assertEqual(run.returncode, status, run.stderr + run.stdout)
        return json.loads(run.stdout)

    def seen(self):
        return "".join(jobs.probetui("--replay", self.recording, *words).stdout
                       for words in (["verdict", "--why"], ["--json", "ranks"]))

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="probetui-agreement-")
        self.addCleanup(folder.cleanup)
        self.recording = os.path.join(folder.name, "asked")

    def agree(self, how):
        job = self.start(how)
        self.addCleanup(job.close)
        job.await_hang(RANKS)
        odd, rest = [RANKS - 1], list(range(RANKS - 1))
        pid = ",".join(str(job.pids[rank]) for rank in sorted(job.pids))
        chosen = ("--pid", pid)
        # A message may be under way for as long as this.
        verdict = self.ask(*chosen, "verdict", "--for", "2")
        self.assertEqual((verdict["state"], verdict["outliers"]),
                         ("hung", odd), verdict["verdict"])
        self.follow(chosen, odd, rest)
        job.close()

    def follow(self, chosen, odd, rest):
        """Each in a process of its own, which has to judge for itself."""
        run = jobs.probetui(*chosen, "ranks")
        starred = [int(line.split()[0]) for line in run.stdout.splitlines()
                   if line.split()[1] == "*"]
        self.assertEqual((run.returncode, starred), (1, odd), run.stdout)
        ranks = self.ask(*chosen, "ranks")
        self.assertEqual(len({ranks[rank]["class"] for rank in rest}), 1)
        self.assertNotEqual(ranks[odd[0]]["class"], ranks[0]["class"])
        diff = self.ask(*chosen, "diff", "outlier", "majority")
        self.assertEqual((diff["a"], diff["b"]),
                         ("%d" % odd[0], "0-%d" % rest[-1]), self.seen())
        for arguments in (("--ranks", "outlier", "stacks"),
                          ("stacks", "ranks", "outlier"),
                          ("--ranks", "!majority", "ranks"),
                          ("ranks", "ranks", "outlier")):
            with self.subTest(arguments):
                shown = self.ask(*chosen, *arguments)
                self.assertEqual([rank["rank"] for rank in shown], odd,
                                 self.seen())
        merged = self.ask(*chosen, "stacks", "--merge")
        self.assertEqual(self.marked(merged), {"%d" % odd[0]}, self.seen())
        self.assertEqual(self.ask(*chosen, "focus", "outlier", status=0),
                         {"focus": "%d" % odd[0]}, self.seen())
        named = self.ask(*chosen, "name", "odd", "outlier", status=0)
        self.assertEqual(named["names"], {"odd": "%d" % odd[0]}, self.seen())
        # Of requests that take no sample of their own.
        shown = self.ask(*chosen, "output", "ranks", "outlier", status=0)
        self.assertEqual([rank["rank"] for rank in shown], odd)
        script = subprocess.run(
            [jobs.PROBETUI, "--json", *chosen, "-x", "-"],
            input="wait exited ranks outlier timeout 0.1\n",
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, timeout=jobs.LIMIT)
        self.assertIn("some ranks have not exited", script.stdout)

    def marked(self, tree):
        found = {tree["ranks"]} if tree["is_outlier"] else set()
        for child in tree["children"]:
            found |= self.marked(child)
        return found

    def test_the_last_rank_receives_in_a_hook(self):
        for _ in range(ROUNDS):
            self.agree("receive")

    def test_the_last_rank_sleeps_in_a_hook(self):
        self.agree("sleep")

    def test_the_last_rank_waits_for_a_lock_in_a_hook(self):
        self.agree("lock")


class TestPeers(Agreement, unittest.TestCase):
    """The file's name is torch's, and nothing else."""

    def start(self, how):
        launcher = os.path.join(jobs.JOBS, "launch.py")
        return Job([sys.executable, launcher, "-n", str(RANKS)], "peers", how)


class TestTorch(Agreement, unittest.TestCase):
    """DistributedDataParallel by torchrun, over gloo."""

    @classmethod
    def setUpClass(cls):
        cls.python = jobs.find_torch()
        if cls.python is None:
            raise unittest.SkipTest("no Python with torch")
        if not pythons.has_torchrun(cls.python):
            raise unittest.SkipTest(pythons.NO_TORCHRUN)

    def start(self, how):
        return Job([self.python, "-m", "torch.distributed.run",
                    "--nproc_per_node=%d" % RANKS, "--master_addr",
                    "127.0.0.1", "--master_port", str(jobs.free_port())],
                   "torch", how)


if __name__ == "__main__":
    unittest.main()
