"""A real job whose ranks stop in pdb by themselves: who stops, who holds, who
is told; and probetui on it."""
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import jobs

sys.path.insert(0, os.path.join(jobs.SOURCE, "tests", "agent"))
import sessions  # noqa: E402
sys.path.insert(0, os.path.join(jobs.SOURCE, "tests", "backend"))
import pythons  # noqa: E402

SCRIPT = os.path.join(jobs.JOBS, "stops.py")
COUNT = 4
VIEWER = """
import socket, sys
viewer = socket.socket(socket.AF_UNIX)
viewer.connect(sys.argv[1])
while not viewer.recv(65536).endswith(b"pdb) "):
    pass
viewer.sendall(b"!seen = 1")
print(flush=True)
viewer.recv(1)
"""


class StopsJob(jobs.Launched):
    """tests/jobs/stops.py, by a launcher; sockets in a folder of its own."""

    def __init__(self, launcher, flavour):
        self.folder = tempfile.mkdtemp(prefix="probetui-stops-")
        super().__init__(
            launcher + [SCRIPT, flavour], IPDB_DEBUG="1",
            IPDB_SOCK_PATH=os.path.join(self.folder, "s"),
            PYTHONPATH=os.path.join(jobs.SOURCE, "agent"))
        self.said = []
        self.text = b""

    def path(self, rank):
        return os.path.join(self.folder, "s.%d" % rank)

    def client(self, rank):
        return sessions.Client(self.path(rank), "(rank-%d-pdb) " % rank)

    def lines(self, word, count):
        """What the ranks print behind that word, once so many have."""
        def found():
            return sorted(line[len(word) + 1:] for line in self.said
                          if line.startswith(word + " "))
        output = self.process.stdout.fileno()
        while len(found()) < count:
            if not select.select([output], [], [], jobs.LIMIT)[0]:
                raise TimeoutError(self.output())
            data = os.read(output, 65536)
            if not data:
                raise EOFError(self.output())
            self.text += data
            *lines, self.text = self.text.split(b"\n")
            self.said += [line.decode() for line in lines]
        return found()

    def is_quiet(self):
        return not select.select([self.process.stdout], [], [], 0)[0]

    def close(self):
        super().close()
        # torchrun gives each rank a session of its own.
        for line in self.said:
            if line.startswith("pid "):
                try:
                    os.kill(int(line.split()[2]), signal.SIGKILL)
                except ProcessLookupError:
                    pass
        shutil.rmtree(self.folder, ignore_errors=True)


class StopsCase:
    """The same walk for every launcher."""

    maxDiff = None

    def probetui(self, *arguments):
        run = jobs.probetui("--job", self.port, "--connect",
                            "pdb:unix:" + self.job.path(1), *arguments)
        self.assertIn(run.returncode, (0, 1), run.stderr + run.stdout)
        return run.stdout

    def check_breakpoint(self):
        """All are at breakpoint(ranks=[0, 2])."""
        job = self.job
        pids = dict(line.split() for line in job.lines("pid", COUNT))
        zero = job.client(0)
        self.addCleanup(zero.close)
        self.assertIn("stopped at stops.py", zero.read())
        with job.client(2) as two:
            self.assertIn("Also stopped: rank 0 stopped", two.read())
            jobs.wait_for(lambda: all(
                "rank %d waits for ranks 0 and 2 to continue" % rank
                in job.output() for rank in (1, 3)), "ranks 1 and 3 to hold")
            for rank in ("1", "3"):
                self.assertFalse(os.path.exists(job.path(int(rank))))
            self.assertEqual(zero.say("p rank").strip(), "0")
            zero.send("c")
            self.assertEqual(two.say("p rank").strip(), "2")
            # Half of those that were waited for went on: they look again.
            looks = jobs.switches(int(pids["1"])) + 5
            jobs.wait_for(lambda: jobs.switches(int(pids["1"])) > looks,
                          "rank 1 to look again")
            self.assertTrue(job.is_quiet())
            two.send("c")
            totals = job.lines("total", COUNT)
        self.assertEqual(totals, ["%d 6.0" % rank for rank in range(COUNT)])

    def check_two_at_once(self):
        job = self.job
        with job.client(1) as one, job.client(3) as three:
            for rank, client in ((1, one), (3, three)):
                self.assertIn("raised ValueError: no validation on %d" % rank,
                              client.read())
            jobs.wait_for(lambda: "rank 3 raised" in job.output() and
                          "rank 1 raised" in job.output(), "both to be told")
            self.assertEqual(three.say("p rank").strip(), "3")
            three.send("q")
            self.assertEqual(job.lines("caught", 1),
                             ["3 no validation on 3"])
            self.assertEqual(one.say("p rank").strip(), "1")
            one.send("c")

    def check_step_over_a_collective(self):
        """The ranks that hold come to what ranks 0 and 2 step over."""
        job = self.job
        with job.client(0) as zero, job.client(2) as two:
            for client in (zero, two):
                said = client.read()
                while "The other ranks wait until this rank continues" not in said:
                    said = client.read()
                self.assertIn("total = total_of", said)
                client.send("n")
            for client in (zero, two):
                said = client.read()
                self.assertIn("say(", said)
                self.assertIn("the other ranks no longer wait for this rank", said)
                self.assertEqual(client.say("p total").strip(), "4.0")
                client.send("c")
            self.assertEqual(job.lines("again", COUNT), [
                "%d 4.0" % rank for rank in range(COUNT)])

    def check_last(self):
        """Rank 1 raises, is looked at, and ends as it would."""
        job = self.job
        viewer = subprocess.Popen(
            [sys.executable, "-c", VIEWER, job.path(1)],
            stdout=subprocess.PIPE)
        viewer.stdout.readline()
        viewer.send_signal(signal.SIGKILL)
        viewer.communicate()
        verdict = {"verdict": ""}

        def others_wait():
            verdict.update(json.loads(self.probetui("--json", "verdict")))
            return "3 of 4 ranks wait in" in verdict["verdict"]
        # Each has printed its total before it goes there.
        jobs.wait_for(others_wait, "the other ranks to wait")
        self.assertEqual(verdict["outliers"], [1])
        self.assertRegex(verdict["verdict"],
                         r"Rank 1 raised RuntimeError: boom \(stops\.py:\d+\)")
        self.assertIn("3 of 4 ranks wait in all_reduce", verdict["verdict"])
        stack = self.probetui("stacks", "--locals", "ranks", "1")
        self.assertRegex(stack, r"(?s)load_batch \(stops\.py.*batch +\[1, 2\]"
                         r".*train \(stops\.py.*main \(stops\.py")
        self.assertNotIn("wrapping.py)", stack)
        with job.client(1) as client:
            self.assertIn("raised RuntimeError: boom", client.read())
            # What was typed and not ended was not taken.
            self.assertIn("NameError", client.say("p seen"))
            client.send("c")
            client.rest()


class TestPeers(StopsCase, unittest.TestCase):
    """Ranks of the standard library, which end on their own."""

    def test_walk(self):
        self.job = StopsJob([sys.executable, os.path.join(
            jobs.JOBS, "launch.py"), "-n", str(COUNT)], "peers")
        self.addCleanup(self.job.close)
        started = json.loads(self.job.process.stdout.readline())
        self.port = started["port"]
        self.check_breakpoint()
        self.check_two_at_once()
        self.check_step_over_a_collective()
        self.check_last()
        pid = started["pids"][1]
        jobs.wait_for(lambda: not os.path.exists("/proc/%d" % pid),
                      "rank 1 to end")
        own = self.job.output().split("Traceback (most recent call last):")
        self.assertEqual(len(own), 2, own)
        self.assertTrue(own[1].endswith("RuntimeError: boom\n"), own[1])
        self.assertFalse(os.path.exists(self.job.path(1)))
        self.assertTrue(os.path.exists(self.job.path(3)))


class TestTorch(StopsCase, unittest.TestCase):
    """Ranks with gloo, by torchrun."""

    def test_walk(self):
        python = jobs.find_torch()
        if python is None:
            self.skipTest("no Python with torch here; "
                          "PROBETUI_TORCH_PYTHON may name one")
        self.port = jobs.free_port()
        self.job = StopsJob(pythons.torchrun(
            python, COUNT, "--master_addr", "127.0.0.1", "--master_port",
            str(self.port)), "torch")
        self.addCleanup(self.job.close)
        self.check_breakpoint()
        self.check_two_at_once()
        self.check_step_over_a_collective()
        self.check_last()
        self.assertEqual(self.job.process.wait(jobs.LIMIT), 1)
        told = self.job.output()
        if pythons.has_torchrun(python):
            self.assertRegex(told, r"exitcode *: 1 ")
        self.assertRegex(told, r"(?s)Traceback.*in load_batch.*\n"
                         r"(\[\w+\]: )?RuntimeError: boom")
        self.assertIsNone(re.search("(?i)During handling", told))


if __name__ == "__main__":
    unittest.main()
