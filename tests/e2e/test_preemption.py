#!/usr/bin/env python3
"""A job is ended by its scheduler while its ranks stand at a breakpoint: each
writes its checkpoint, and ends as one that nobody has stopped."""
import glob
import os
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "backend")]
import jobs  # noqa: E402
import outside  # noqa: E402
import pythons  # noqa: E402

PROGRAM = os.path.join(jobs.JOBS, "preempted.py")
with open(PROGRAM) as program:
    LINE = program.read().splitlines().index("    loss = reduce(number)") + 1
RANKS = int(os.environ.get("PROBETUI_RANKS", "2"))


class Rank:
    def __init__(self, pid):
        self.pid = pid


class PreemptionCase(unittest.TestCase):
    def make_folder(self):
        folder = tempfile.TemporaryDirectory(prefix="probetui-preempted-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def launch(self, command, **environment):
        job = jobs.Launched(command, **environment)
        self.addCleanup(job.close)
        return job

    def pids(self, count):
        """Once all of them train."""
        jobs.wait_for(lambda: len(self.files("started")) == count,
                      "the ranks to begin")
        pids = []
        for path in self.files("started"):
            with open(path) as file:
                pids.append(int(file.read()))
        return pids

    def files(self, name):
        return sorted(glob.glob(os.path.join(self.folder, name + ".[0-9]")))

    def look(self, shell):
        """What was told meanwhile, but stops, which it keeps."""
        return shell.do("verdict")

    def stop(self, pids):
        """All at the breakpoint."""
        shell = outside.Shell(self, *[Rank(pid) for pid in pids])
        shell.do("break preempted.py:%d" % LINE, "wait stopped timeout 60")
        self.assertEqual(
            sorted((one["rank"], one["reason"]) for one in shell.stops),
            [(rank, "breakpoint") for rank in range(len(pids))],
            shell.said())
        return shell

    def check_told(self, shell, count):
        """Of each rank that it was resumed, and nothing stopped it again."""
        stops = len(shell.stops)
        resumed = {}

        def is_told():
            for one in self.look(shell):
                if one.get("event") == "continued":
                    self.assertNotIn(one["rank"], resumed)
                    resumed[one["rank"]] = one
            return len(resumed) == count

        jobs.wait_for(is_told, "the resumes to be told")
        for rank, one in resumed.items():
            self.assertEqual(one["reason"], "signal")
            self.assertIn("rank %d was sent SIGTERM: resumed so that the "
                          "process can handle the signal" % rank, one["description"])
        self.assertEqual(len(shell.stops), stops)


class TestTorchrun(PreemptionCase):
    @classmethod
    def setUpClass(cls):
        cls.python = jobs.find_torch()
        if not cls.python:
            raise unittest.SkipTest("there is no torch here; "
                                    "PROBETUI_TORCH_PYTHON may name one")
        if not pythons.has_torchrun(cls.python):
            raise unittest.SkipTest(pythons.NO_TORCHRUN)

    def end_ranks(self, pids):
        """Those of a torchrun that was killed live on."""
        for pid in pids:
            try:
                with open("/proc/%d/cmdline" % pid) as file:
                    is_rank = PROGRAM in file.read()
                if is_rank:
                    os.kill(pid, signal.SIGKILL)
            except OSError:
                pass

    def start(self):
        self.make_folder()
        job = self.launch([
            self.python, "-m", "torch.distributed.run",
            "--nproc_per_node=%d" % RANKS, "--master_addr", "127.0.0.1",
            "--master_port", str(jobs.free_port()), PROGRAM, self.folder,
            "gloo"])
        pids = self.pids(RANKS)
        self.addCleanup(self.end_ranks, pids)
        return job, pids

    def end(self, job):
        os.kill(job.process.pid, signal.SIGTERM)
        status = job.process.wait(jobs.LIMIT)
        return status, len(self.files("checkpoint"))

    def test_torchrun_is_told_to_end(self):
        untouched, pids = self.start()
        expected = self.end(untouched)
        self.assertEqual(expected[1], RANKS)
        job, pids = self.start()
        shell = self.stop(pids)
        ended = self.end(job)
        self.assertEqual(ended, expected, job.output())
        self.check_told(shell, RANKS)


class TestSchedulers(PreemptionCase):
    def start(self, wrapper, count):
        self.make_folder()
        for rank in range(count):
            self.launch(wrapper + [sys.executable, PROGRAM, self.folder],
                        RANK=str(rank), WORLD_SIZE=str(count))
        return self.pids(count)

    def run_scheduler(self, how, pids):
        run = subprocess.run(
            [sys.executable, os.path.join(jobs.JOBS, "scheduler.py"), how,
             self.folder, str(len(pids))] + [str(pid) for pid in pids],
            stdout=subprocess.PIPE, universal_newlines=True)
        self.assertEqual(run.stdout, "%d\n" % len(pids))

    def test_slurm(self):
        pids = self.start([], 2)
        shell = self.stop(pids)
        self.run_scheduler("slurm", pids)
        self.check_told(shell, 2)

    def test_kubernetes(self):
        """The rank is pid 1 of its container."""
        wrapper = ["unshare", "--pid", "--fork", "--kill-child"]
        if subprocess.run(wrapper + ["true"],
                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest("namespaces cannot be made here (unshare as root)")
        self.assertEqual(self.start(wrapper, 1), [1])
        with open("/proc/self/task/%d/children" % os.getpid()) as file:
            shells = file.read().split()
        pids = []
        for pid in shells:
            with open("/proc/%s/task/%s/children" % (pid, pid)) as file:
                pids += [int(word) for word in file.read().split()]
        shell = self.stop(pids)
        self.run_scheduler("kubernetes", pids)
        self.check_told(shell, 1)


if __name__ == "__main__":
    unittest.main()
