"""A two-rank gloo job is stopped and stepped from outside, again and again,
and comes to the result that it has without.

PROBETUI_SOAK=1: a thousand stops and steps of each rank. SEED chooses them.
"""
import os
import random
import socket
import subprocess
import sys
import time
import unittest

from nodes import LIMIT, Node, environment

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import jobs  # noqa: E402

SUMS = os.path.join(jobs.JOBS, "sums.py")
SOAK = bool(os.environ.get("PROBETUI_SOAK"))
STOPS = int(os.environ.get("STOPS", 1000 if SOAK else 20))  # of each rank
SEED = int(os.environ.get("SEED", "1"))
STEPS = ["next", "next", "next", "stepIn", "stepOut", "until"]
# What leaves these comes to the end of the job alone.
ENDLESS = ["<module>", "main", "train"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Job:
    def __init__(self, python):
        port = str(free_port())
        self.ranks = [subprocess.Popen(
            [python, SUMS], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment(RANK=str(rank), LOCAL_RANK=str(rank),
                            WORLD_SIZE="2", MASTER_ADDR="127.0.0.1",
                            MASTER_PORT=port, OMP_NUM_THREADS="1"))
            for rank in range(2)]
        for rank in self.ranks:
            assert rank.stdout.readline() == b"ready\n"

    def end(self):
        """What each rank says at its end."""
        for rank in self.ranks:
            rank.stdin.close()
        said = [rank.stdout.readline().decode().split()
                for rank in self.ranks]
        for rank in self.ranks:
            assert rank.wait(60) == 0, rank.returncode
        return said

    def close(self):
        for rank in self.ranks:
            rank.kill()
            rank.wait()
            rank.stdout.close()
            if not rank.stdin.closed:
                rank.stdin.close()


class TestJob(unittest.TestCase):
    def setUp(self):
        self.python = jobs.find_torch()
        if not self.python:
            self.skipTest("there is no torch here; PROBETUI_TORCH_PYTHON may "
                          "name a Python with it")

    def stopped(self, node, pid):
        """The function that it has stopped in; a thread that does not come
        to stand yet is reported before."""
        while node.event("stopped", pid).get("why"):
            pass
        while True:
            sample = node.wait_for(lambda m: m.get("event") == "sampled"
                                   and m["body"]["pid"] == pid)["body"]
            for stack in sample.get("stacks", []):
                self.codes.update((code[0], code[1])
                                  for code in stack["codes"])
                self.stacks[stack["id"]] = stack["frames"]
            if not any(m.get("event") == "sampled" for m in node.messages):
                break
        main, = [one for one in sample["threads"] if one["tid"] == pid]
        return self.codes[self.stacks[main["stack"]][0][0]]

    def pause(self, node, pid):
        """A process that is just being left says so on a busy machine."""
        deadline = time.monotonic() + LIMIT
        while True:
            answer = node.answer(node.request("pause", pid=pid))
            if answer["success"]:
                return
            self.assertIn("is still being detached", answer["message"])
            self.assertLess(time.monotonic(), deadline)

    def stop_and_step(self, node, pid, choice, count):
        """One stop and its steps; how many it was."""
        self.pause(node, pid)
        function = self.stopped(node, pid)
        steps = min(choice.randrange(8), count - 1)
        for _ in range(steps):
            command = choice.choice(STEPS)
            if function in ENDLESS and command in ("stepOut", "until"):
                command = "next"
            self.done.append((pid, function, command))
            node.ask(command, pid=pid)
            function = self.stopped(node, pid)
        node.ask("continue", pid=pid)
        node.wait_for(lambda m: m.get("event") == "debugger"
                      and m["body"]["pid"] == pid
                      and m["body"]["state"] == "none")
        return 1 + steps

    def test_it_comes_to_the_same_result(self):
        choice = random.Random(SEED)
        job = Job(self.python)
        self.addCleanup(job.close)
        node = Node()
        self.addCleanup(node.close)
        pids = [rank.pid for rank in job.ranks]
        node.ask("initialize", protocol=1)
        node.discover(pids=pids)
        self.codes, self.stacks, self.done = {}, {}, []
        left = {pid: STOPS for pid in pids}
        while left:
            pid = choice.choice(sorted(left))
            try:
                left[pid] -= self.stop_and_step(node, pid, choice, left[pid])
            except AssertionError as error:
                raise AssertionError("seed %d: %s: %s" % (
                    SEED, self.done[-8:], str(error)[-1000:]))
            if left[pid] == 0:
                del left[pid]
        said = job.end()
        for word, steps, result, alone in said:
            self.assertEqual((word, result), ("done", alone),
                             "seed %d, %s steps" % (SEED, steps))


if __name__ == "__main__":
    unittest.main()
