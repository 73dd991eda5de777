"""The job survives whatever happens to probetui: it is killed at random
instants while it samples and takes exact snapshots."""
import fcntl
import json
import os
import pty
import random
import select
import signal
import struct
import subprocess
import termios
import time
import unittest
import uuid

import jobs

NODE = os.environ.get("PROBETUI_NODE", "probetui-node")
INSTANTS = int(os.environ.get("PROBETUI_INSTANTS", "100"))
MARK = "PROBETUI_SURVIVAL_TEST"


def processes_with(mark):
    """Pids of the processes that have the mark in their environment."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/environ" % name, "rb") as file:
                if mark.encode() in file.read():
                    found.append(int(name))
        except OSError:
            pass
    return found


class Screen:
    """probetui on a terminal of its own."""

    def __init__(self, mark, *arguments):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ.update({MARK: mark, "TERM": "xterm-256color"})
            try:
                os.execv(jobs.PROBETUI, [jobs.PROBETUI] + list(arguments))
            finally:
                os._exit(127)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 24, 80, 0, 0))

    def read_for(self, seconds):
        """Reads what is drawn for so long, pressing keys in between."""
        drawn = b""
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            if left <= 0:
                return drawn
            if select.select([self.terminal], [], [], left)[0]:
                try:
                    drawn += os.read(self.terminal, 65536)
                except OSError:
                    return drawn

    def read_until(self, text, limit=60):
        drawn = b""
        end = time.monotonic() + limit
        while text not in drawn:
            if time.monotonic() > end:
                raise TimeoutError("%r was not drawn; last: %r"
                                   % (text, drawn[-500:]))
            drawn += self.read_for(0.05)

    def press(self, keys):
        os.write(self.terminal, keys)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)

    def hang_up(self):
        os.close(self.terminal)
        end = time.monotonic() + 2
        while os.waitpid(self.pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                raise AssertionError("the screen outlived its terminal by 2 s")
            select.select([], [], [], 0.005)


class TestSurvival(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.seed = int(os.environ.get("PROBETUI_SEED",
                                      random.randrange(1 << 32)))
        print("# seed %d (PROBETUI_SEED repeats it)" % cls.seed, flush=True)
        cls.random = random.Random(cls.seed)
        cls.job = jobs.OrderJob("peers", 3)
        cls.job.order("move", [] if os.environ.get("PROBETUI_SOAK") else [0])
        cls.job.until({rank: "move" for rank in cls.job.pids}, looks=1)

    @classmethod
    def tearDownClass(cls):
        cls.job.close()

    def assert_survived(self, mark):
        jobs.wait_for(lambda: not processes_with(mark),
                      "probetui-node to leave", 1)
        for rank, pid in self.job.pids.items():
            self.assertEqual(jobs.tracer(pid), 0, jobs.who_traces(pid))
            self.assertNotIn(jobs.proc_status(pid)["State"][0], "tTZX")
        for rank in self.job.pids:
            before = self.job.steps(rank)
            jobs.wait_for(lambda: self.job.steps(rank) > before,
                          "rank %d to go on" % rank, 10)

    def end_screens(self, end):
        for number in range(INSTANTS // 2):
            mark = uuid.uuid4().hex
            screen = Screen(mark, "--job", str(self.job.port))
            if number % 2:
                screen.read_until(b"move")
                screen.press(self.random.choice([b"]", b"[", b"M", b"D"]))
            screen.read_for(self.random.uniform(0, 0.3))
            end(screen)
            self.assert_survived(mark)

    def test_screen_is_killed(self):
        self.end_screens(Screen.kill)

    def test_terminal_is_closed(self):
        self.end_screens(Screen.hang_up)

    def start_node(self, mark):
        """A node that takes exact snapshots as fast as it can."""
        node = subprocess.Popen(
            [NODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=dict(os.environ, **{MARK: mark}))
        pids = list(self.job.pids.values())
        for number, (command, arguments) in enumerate((
                ("initialize", {"protocol": 1}),
                ("discover", {"pids": pids}),
                ("sample", {"pids": pids, "exact": True, "period": 0.01})), 1):
            node.stdin.write(json.dumps({
                "seq": number, "type": "request", "command": command,
                "arguments": arguments}).encode() + b"\n")
        node.stdin.flush()
        line = b""
        while b'"frames"' not in line:
            line = node.stdout.readline()
            self.assertTrue(line, "the node left")
        return node

    def end_nodes(self, end):
        for _ in range(INSTANTS):
            mark = uuid.uuid4().hex
            node = self.start_node(mark)
            limit = time.monotonic() + self.random.uniform(0, 0.1)
            while time.monotonic() < limit:
                node.stdout.read1(65536)
            end(node)
            node.wait(2)
            node.stdout.close()
            self.assert_survived(mark)

    def test_pipe_of_a_node_is_closed(self):
        def close(node):
            node.stdin.close()
            node.stdout.close()
        self.end_nodes(close)

    def test_node_is_terminated(self):
        def terminate(node):
            node.terminate()
            node.stdin.close()
        self.end_nodes(terminate)


if __name__ == "__main__":
    unittest.main()
