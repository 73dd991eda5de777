"""The ranks of jobs whose launchers set no RANK, or a wrong one: torch.distributed's default process
group has the number. PROBETUI_FRAMEWORKS_PYTHON names a Python with torch, accelerate, lightning,
ray[train] and jax, or some of them; PROBETUI_TORCH_PYTHON one with torch."""
import os
import subprocess
import sys
import tempfile
import unittest

import pythons
from nodes import Node, environment

SOURCE = os.environ.get("SRCDIR") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "tests", "e2e"))
import jobs  # noqa: E402

SCRIPT = os.path.join(jobs.JOBS, "frameworks.py")
PYTHON = os.environ.get("PROBETUI_TORCH_PYTHON")
NO_TORCH = pythons.why_no_torch_2(PYTHON)


def read_lines(path):
    """(name, pid) of each whole line."""
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [(name, int(pid)) for name, pid in
                (line.split() for line in file if line.endswith("\n"))]


class FrameworkJob:
    """frameworks.py KIND, and the lines that its processes write."""

    def __init__(self, python, kind, words=(), **variables):
        self.folder = tempfile.TemporaryDirectory(prefix="probetui-frameworks-")
        self.path = os.path.join(self.folder.name, "lines")
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [python, *words, SCRIPT, kind, self.path], stdin=subprocess.PIPE, stdout=self.log,
            stderr=self.log, start_new_session=True, preexec_fn=jobs.end_with_parent,
            env=environment(OMP_NUM_THREADS="1", **variables))

    def wait_for(self, count):
        """The lines, once there are so many; the ranks by their numbers."""
        def is_there():
            if self.process.poll() is not None:
                self.log.seek(0)
                raise AssertionError("the job has ended: " + self.log.read())
            return len(read_lines(self.path)) >= count
        jobs.wait_for(is_there, "%d lines of the job" % count)
        return read_lines(self.path)

    def close(self):
        pids = jobs.descendants(self.process.pid) + [self.process.pid]
        for pid in pids:
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass
        self.process.communicate()
        self.log.close()
        self.folder.cleanup()


@unittest.skipIf(NO_TORCH, NO_TORCH)
class LauncherTest(unittest.TestCase):
    def node(self):
        node = Node()
        self.addCleanup(node.close)
        return node

    def start(self, kind, *words, python=PYTHON, **variables):
        job = FrameworkJob(python, kind, words, **variables)
        self.addCleanup(job.close)
        return job

    def found(self, job, **arguments):
        """The processes below the job's first, and that, as the node reports them."""
        pids = jobs.descendants(job.process.pid) + [job.process.pid]
        found, _ = self.node().discover(pids, **arguments)
        return found

    def check(self, job, count=2):
        """The processes that know their numbers are the ranks, of one job, and no others are."""
        expected = {pid: int(number) for number, pid in job.wait_for(count)}
        found = self.found(job)
        self.assertEqual({pid: process["rank"] for pid, process in found.items()
                          if "parent_pid" not in process}, expected)
        ranks = [found[pid] for pid in expected]
        self.assertEqual({process["world_size"] for process in ranks}, {len(expected)})
        self.assertEqual(len({(process.get("job"), process["launcher_pid"])
                              for process in ranks}), 1)
        return found


class TestTorch(LauncherTest):
    def test_spawn_with_the_rank_as_an_argument(self):
        job = self.start("spawn")
        found = self.check(job)
        self.assertEqual({process["launcher_pid"] for process in found.values()},
                         {job.process.pid})
        self.assertEqual({process["script"] for process in found.values()}, {"frameworks.py"})

    def test_forked_processes(self):
        self.check(self.start("process"))

    def test_a_rank_that_a_shell_has_exported(self):
        self.check(self.start("stale"))
        self.check(self.start("spawn", RANK="0", WORLD_SIZE="1"))

    def test_torchrun(self):
        job = self.start("environment", "-m", "torch.distributed.run", "--standalone",
                         "--local-addr=127.0.0.1", "--nproc_per_node=2")
        found = self.check(job)
        self.assertEqual({process["launcher"] for process in found.values()}, {"torchrun"})
        self.assertEqual({process["local_rank"] for process in found.values()}, {0, 1})

    def test_ranks_of_lightning_that_have_no_group_yet(self):
        found = self.check(self.start("unready"))
        self.assertEqual({process["job"] for process in found.values()}, {"127.0.0.1:29766"})

    def test_a_number_that_is_set_later(self):
        job = self.start("late")
        (_, pid), = job.wait_for(1)
        node = self.node()
        found, _ = node.discover([pid], follow=True, period=0.1)
        self.assertEqual(found, {})
        job.process.stdin.close()
        job.process.stdin = None
        body = node.event("rankAdded", pid)
        self.assertEqual((body["rank"], body["world_size"], body["job"]),
                         (3, 8, "127.0.0.1:29765"))

    def test_a_group_that_is_made_later(self):
        """mp.spawn's ranks come while the node follows."""
        node = self.node()
        node.discover(follow=True, period=0.1)
        job = self.start("spawn")
        for number, pid in job.wait_for(2):
            body = node.event("rankAdded", pid)
            self.assertEqual((body["rank"], body["world_size"]), (int(number), 2))

    def test_a_job_that_the_node_starts(self):
        """Its first process is taken for rank 0 until there are ranks with numbers."""
        folder = tempfile.TemporaryDirectory(prefix="probetui-frameworks-")
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "lines")
        node = self.node()
        node.discover(follow=True)
        job = node.ask("launch", argv=[PYTHON, SCRIPT, "spawn", path])
        self.addCleanup(os.killpg, job["pid"], 9)
        removed = node.event("rankRemoved", job["pid"])
        self.assertEqual((removed["rank"], removed["state"]), (0, "live"))
        jobs.wait_for(lambda: len(read_lines(path)) == 2, "both ranks")
        for number, pid in read_lines(path):
            body = node.wait_for(lambda m: m.get("event") in ("rankAdded", "rankChanged")
                                 and m["body"]["pid"] == pid
                                 and "parent_pid" not in m["body"])["body"]
            self.assertEqual((body["rank"], body["world_size"]), (int(number), 2))

    def test_a_number_that_two_claim(self):
        job = self.start("claims")
        pids = [pid for _, pid in job.wait_for(2)]
        found = self.found(job)
        self.assertEqual(sorted(found), sorted(pids))
        self.assertEqual(sorted(process["rank"] for process in found.values()), [0, 2])
        first = min(pids, key=lambda pid: (found[pid]["start_time"], pid))
        self.assertEqual(found[first]["rank"], 0)


class TestNamed(LauncherTest):
    def named(self, pid):
        found, _ = self.node().discover(pids=[pid])
        return found[pid]

    def check_role(self, pid, role):
        process = self.named(pid)
        self.assertEqual(process["role"], role)
        for name in ("parent_pid", "local_rank", "world_size", "job"):
            self.assertNotIn(name, process)

    def test_the_worker_of_a_dataloader(self):
        job = self.start("loader")
        lines = dict(job.wait_for(3))
        worker = lines["worker"]
        found = self.found(job)
        self.assertEqual((found[worker]["rank"], found[worker]["parent_pid"]), (1, lines["1"]))
        self.check_role(worker, "child")
        self.assertEqual(self.named(lines["1"])["rank"], 1)

    def test_torchrun(self):
        job = self.start("environment", "-m", "torch.distributed.run", "--standalone",
                         "--local-addr=127.0.0.1", "--nproc_per_node=1", RANK="3", WORLD_SIZE="8", MASTER_ADDR="h",
                         MASTER_PORT="1")
        (_, rank), = job.wait_for(1)
        self.check_role(job.process.pid, "launcher")
        self.assertNotIn("role", self.named(rank))


class FrameworkTest(LauncherTest):
    def check_framework(self, library, kind, **variables):
        python = pythons.find_framework(library)
        if python is None:
            self.skipTest("no Python here has torch and %s: PROBETUI_FRAMEWORKS_PYTHON may name "
                          "one" % library)
        return self.check(self.start(kind, python=python, **variables))


class TestFrameworks(FrameworkTest):
    def test_debug_launcher_of_accelerate(self):
        self.check_framework("accelerate", "debug_launcher")

    def test_lightning(self):
        found = self.check_framework("lightning", "lightning")
        self.assertEqual({process["launcher_pid"] for process in found.values()}, {os.getpid()})

    def test_ray_train(self):
        found = self.check_framework("ray.train", "ray")
        self.assertEqual({process["launcher"] for process in found.values()}, {"ray"})

    def test_ray_train_under_slurm(self):
        """Slurm's number is that of the machine, in the environment of each process of Ray."""
        self.check_framework("ray.train", "ray", SLURM_PROCID="0", SLURM_NTASKS="1")

    def test_jax(self):
        self.check_framework("jax", "jax")


if __name__ == "__main__":
    unittest.main()
