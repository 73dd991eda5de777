#!/usr/bin/env python3
"""--on over the real sshd and Slurm, between machines of namespaces (cluster.py).

Two ranks on each of three machines; rank 3, on n2, is elsewhere.
"""
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import jobs  # noqa: E402
from cluster import Cluster, why_not  # noqa: E402
from machines import tracer_of, wait_until  # noqa: E402
from test_machines import HUNG, RUNS  # noqa: E402

COUNT = 3
FULL = "PROBETUI_SOAK" in os.environ


class ClusterCase(unittest.TestCase):
    program = HUNG
    slurm = False
    on = "ssh:n[1-3]"

    def setUp(self):
        self.cluster = Cluster(self, COUNT, self.slurm)
        self.path = self.cluster.write("train.py", self.program.replace(
            "{", "{{").replace("}", "}}"))
        self.config = self.cluster.write(
            "config", "set ssh-args \"-F {folder}/ssh_config\"\n")
        self.start_job()
        self.ranks = {self.rank_of(pid): pid for name in self.cluster.names
                      for pid in self.cluster.pids(name)
                      if self.rank_of(pid) is not None}
        self.assertEqual(sorted(self.ranks), list(range(2 * COUNT)))

    def start_job(self):
        """Two ranks on each machine, without a launcher that is common."""
        for number in range(COUNT):
            process = subprocess.Popen(
                self.cluster.command("n%d" % (number + 1), "sh", "-c", """
for local in 0 1; do
    RANK=$((2 * $1 + local)) LOCAL_RANK=$local WORLD_SIZE=6 GROUP_RANK=$1 \\
        MASTER_ADDR=10.77.0.2 MASTER_PORT=29500 "$2" "$3" &
done
wait""", "job", str(number), sys.executable, self.path),
                stdout=subprocess.PIPE)
            self.addCleanup(process.stdout.close)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            for _ in range(2):
                self.assertEqual(process.stdout.readline(), b"ready\n")

    def rank_of(self, pid):
        try:
            with open("/proc/%d/cmdline" % pid, "rb") as file:
                if self.path.encode() not in file.read().split(b"\0")[1:2]:
                    return None
            with open("/proc/%d/environ" % pid, "rb") as file:
                names = dict(one.split(b"=", 1)
                             for one in file.read().split(b"\0") if b"=" in one)
        except OSError:
            return None
        return int(names.get(b"RANK") or names[b"SLURM_PROCID"])

    def words(self, *words):
        """probetui on the head machine."""
        return self.cluster.command(
            "head", "PROBETUI_NODE=" + os.environ["PROBETUI_NODE"],
            jobs.PROBETUI, "--config", self.config, "--on", self.on, *words)

    def ask(self, *words):
        """(exit status, the JSON that it prints, standard error)"""
        told = subprocess.run(
            self.words("--json", *words), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True)
        return told.returncode, json.loads(told.stdout), told.stderr

    def check_hung(self):
        status, told, errors = self.ask("verdict")
        self.assertEqual((status, told["outliers"], told["ranks_found"],
                          errors), (1, [3], 6, ""), told)
        _, told, _ = self.ask("ranks")
        self.assertEqual([one["host"] for one in told],
                         ["n1", "n1", "n2", "n2", "n3", "n3"])

    def hold(self):
        """probetui, which holds all ranks."""
        process = subprocess.Popen(self.words("-x", "-"), stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdin.write(b"pause\nwait stopped timeout 60\n")
        process.stdin.flush()
        for pid in self.ranks.values():
            wait_until(self, lambda: tracer_of(pid) > 0)
        return process

    def check_all_run(self):
        for pid in self.ranks.values():
            wait_until(self, lambda: tracer_of(pid) == 0)

    def check_stepping(self):
        told = subprocess.run(
            self.words("--json", "-x", "-"), stdout=subprocess.PIPE,
            input="break train.py:4\nwait stopped timeout 60\n"
            "wait stopped timeout 60\nprint me * 100\nnext\n",
            universal_newlines=True).stdout
        lines = [json.loads(line) for line in told.splitlines()]
        self.assertEqual(sorted(one["result"] for one in lines
                                if isinstance(one, dict) and "result" in one),
                         ["0", "100", "200", "300", "400", "500"], told)
        self.check_all_run()


@unittest.skipIf(why_not(), why_not())
class TestSsh(ClusterCase):
    def test_hung(self):
        self.check_hung()

    def test_a_machine_that_is_cut_or_hangs_at_the_start(self):
        self.cluster.cut("n1")
        self.cluster.freeze("n3")
        self.addCleanup(self.cluster.thaw, "n3")
        status, told, errors = self.ask("verdict")
        self.assertTrue(told["verdict"].startswith("n1 "), told)
        self.assertIn(" n3 ", told["verdict"])
        self.assertIn("The other machine: ", told["verdict"])
        self.assertEqual(told["ranks_found"], 2, told)
        self.assertIn("n1: ", errors)
        self.assertIn("n3: ", errors)
        self.cluster.mend("n1")
        self.cluster.thaw("n3")
        self.check_hung()


@unittest.skipIf(why_not(), why_not())
class TestSshRuns(ClusterCase):
    program = RUNS

    def test_stepping(self):
        self.check_stepping()

    def test_the_screens_machine_is_cut_while_all_are_held(self):
        process = self.hold()
        self.cluster.cut("head")
        self.check_all_run()
        self.assertIsNone(process.poll())

    def test_ssh_is_killed_while_all_are_held(self):
        self.hold()
        for pid in self.cluster.pids("head"):
            with open("/proc/%d/comm" % pid) as file:
                if file.read() == "ssh\n":
                    os.kill(pid, 9)
        self.check_all_run()


@unittest.skipUnless(FULL, "PROBETUI_SOAK is not set")
@unittest.skipIf(why_not(True), why_not(True))
class TestSlurm(ClusterCase):
    slurm = True

    def start_job(self):
        process = subprocess.Popen(
            self.cluster.command(
                "head", "MASTER_ADDR=10.77.0.2", "MASTER_PORT=29500",
                "WORLD_SIZE=6", "srun", "-N%d" % COUNT, "--ntasks-per-node=2",
                "--distribution=block", "sh", "-c",
                "RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID exec %s %s" % (
                    sys.executable, self.path)), stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for _ in range(2 * COUNT):
            self.assertEqual(process.stdout.readline(), b"ready\n")
        self.on = "slurm:" + self.cluster.read(
            "head", "squeue", "-h", "-o", "%i").strip()

    def test_hung(self):
        self.check_hung()

    def test_srun_is_killed_while_all_are_held(self):
        self.hold()
        for pid in self.cluster.pids("head"):
            with open("/proc/%d/cmdline" % pid) as file:
                words = file.read().split("\0")
            if words[0].endswith("srun") and "--overlap" in words:
                os.kill(pid, 9)
        self.check_all_run()


if __name__ == "__main__":
    unittest.main()
