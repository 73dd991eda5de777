"""Ranks that hang in a collective, and the one that they wait for, take the
agent, answer it, are left by it, and go on afterwards."""
import http.client
import json
import os
import socket
import sys
import unittest

import jobs
sys.path.insert(0, os.path.join(jobs.SOURCE, "tests", "backend"))
import pythons  # noqa: E402


class Client(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=jobs.LIMIT)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(jobs.LIMIT)
        self.sock.connect(self.path)

    def evaluate(self, code):
        self.request("POST", "/eval", json.dumps({"code": code}))
        return json.loads(self.getresponse().read().decode())["value"]


class TestHang(unittest.TestCase):
    def test_all_ranks_take_it(self):
        python = jobs.find_torch()
        if python is None:
            self.skipTest("no Python with torch")
        job = jobs.OrderJob("torch", 4, python, pythons.has_torchrun(python))
        self.addCleanup(job.close)
        job.order("late", [3])
        job.until({rank: "all_reduce" if rank != 3 else "late"
                   for rank in range(4)})
        run = jobs.probetui("--job", job.port, "--timeout", 60, "inject")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        lines = [line.split(": ") for line in run.stdout.splitlines()]
        self.assertEqual([name for name, _ in lines],
                         ["rank %d" % rank for rank in range(4)])
        for rank, (_, path) in enumerate(lines):
            client = Client(path)
            self.addCleanup(client.close)
            self.assertEqual(client.evaluate(
                "__import__('os').environ['RANK']"), repr(str(rank)))
            self.assertEqual(client.evaluate("__import__('os').getpid()"),
                             str(job.pids[rank]))
        run = jobs.probetui("--job", job.port, "eject")
        self.assertEqual((run.returncode, run.stderr, run.stdout), (
            0, "", "ranks 0-3: agent removed\n"))
        for rank in range(4):
            self.assertFalse(os.path.exists("/tmp/pdb-%d/%d.agent" % (
                os.geteuid(), job.pids[rank])))
        job.release()
        job.close_lines()
        self.assertEqual(job.process.wait(jobs.LIMIT), 0, job.output())


if __name__ == "__main__":
    unittest.main()
