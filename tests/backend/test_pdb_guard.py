"""A debugger whose client is gone, on each CPython: the program goes on."""
import os
import socket
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pythons  # noqa: E402
from pdbs import LOOP, PLAIN, Client, Rank  # noqa: E402
from test_pdb import POST, POST_MORTEM  # noqa: E402

# Waits for a file; stops once more, by the same debugger, when nobody is
# there.
PROGRAM = r"""
import os, sys, time
def add(a, b):
    total = a + b
    return total

def wait():
    while not os.path.exists(sys.argv[0] + ".go"):
        time.sleep(0.005)

def main():
    results = []
    stop()
    wait()
    for i in range(3):
        results.append(add(i, i))
    stop()
    return results

print("results", main(), flush=True)
"""

# The client is there long before the prompt.
SLOW = PLAIN.replace("        server.close()\n", r"""
        os.write(1, b"has a client\n")
        server.close()
        import time
        time.sleep(0.1)
""")

# Each stop has an instance of its own.
EACH = PLAIN.replace("_made[0].set_trace",
                     "pdb.Pdb(stdin=_made[0].stdin, stdout=_made[0].stdin,"
                     " nosigint=True).set_trace")

# remote-pdb, which takes the program's streams as well.
REMOTE_AT = r"""
import os, socket, sys
sys.path.append(%r)
from remote_pdb import RemotePdb
class Told(socket.socket):
    def listen(self, *backlog):
        super().listen(*backlog)
        os.write(1, b"waits\n")
socket.socket = Told
def stop(_made=[]):
    if not _made:
        _made.append(RemotePdb("127.0.0.1", %d, patch_stdstreams=True,
                               quiet=True))
    _made[0].set_trace(sys._getframe(1))
"""


class GuardTest(unittest.TestCase):
    def setUp(self):
        self.node = Client()
        self.addCleanup(self.close)
        self.node.ask("initialize", protocol=1)
        self.ranks = []

    def close(self):
        if self.node.process.poll() is None:
            self.node.close()
        for file in (self.node.process.stdin, self.node.process.stdout):
            file.close()

    def start(self, code=PROGRAM, dialect=PLAIN, found=None):
        """On all Pythons at once."""
        for number, argv in enumerate(found or [
                python.argv for python in pythons.find()]):
            rank = Rank(code, dialect, argv, rank=number)
            self.addCleanup(rank.close)
            self.ranks.append(rank)
        self.node.discover(only=[rank.pid for rank in self.ranks])

    def connect(self):
        return [self.node.connect(rank) for rank in self.ranks]

    def ask(self, command, **arguments):
        return [self.node.ask(command, pid=rank.pid, **arguments)
                for rank in self.ranks]

    def run_on(self, command):
        """Until each runs; what leaving it costs."""
        self.ask(command)
        return [self.node.event("continued", rank.pid).get("leaving")
                for rank in self.ranks]

    def set_breakpoints(self):
        """Ours, and one of the person's."""
        self.ask("setBreakpoints",
                 breakpoints=[{"id": 1, "function": "add"}])
        for rank in self.ranks:
            self.node.ask("evaluate", pid=rank.pid, context="repl",
                          expression="b %d" % rank.line(4))

    def kill(self):
        self.node.process.kill()
        self.assertEqual(self.node.wait(), -9)

    def check(self, printed="results [0, 2, 4]\n"):
        for rank in self.ranks:
            with open(rank.script + ".go", "w"):
                pass
        for rank in self.ranks:
            self.assertEqual(rank.end(), (0, printed, ""))


class TestKilled(GuardTest):
    def test_at_a_prompt(self):
        self.start()
        self.connect()
        self.set_breakpoints()
        self.kill()
        self.check()

    def test_while_it_runs(self):
        self.start()
        self.connect()
        self.set_breakpoints()
        self.assertEqual(set(self.run_on("continue")), {None})
        self.kill()
        self.check()

    def test_in_a_step(self):
        self.start()
        self.connect()
        self.assertEqual(set(self.run_on("stepOut")), {None})
        self.kill()
        self.check()

    def test_in_a_debugger_within(self):
        self.start(found=[[sys.executable]])
        self.connect()
        for rank in self.ranks:
            self.node.ask("terminalInput", pid=rank.pid,
                          data="debug add(1, 2)\n")
            while self.node.event("debugger", rank.pid)["state"] != "nested":
                pass
        self.kill()
        self.check()

    def test_at_another_instance_on_the_same_stream(self):
        self.start(dialect=EACH, found=[[sys.executable]])
        self.connect()
        self.kill()
        self.check()

    def test_while_commands_are_typed(self):
        self.start(found=[[sys.executable]])
        self.connect()
        self.set_breakpoints()
        self.ask("terminalInput", data="commands\n")
        self.kill()
        self.check()

    def test_in_a_post_mortem(self):
        self.start(POST_MORTEM, POST)
        for event in self.connect():
            self.assertIn("post-mortem", event["leaving"])
        self.kill()
        for rank in self.ranks:
            status, _, err = rank.end()
            self.assertEqual(status, 1)
            self.assertEqual(err.splitlines()[-1], "RuntimeError: boom 3")
            self.assertEqual(err.count("Traceback"), 1)


class TestRemotePdb(GuardTest):
    """Whose lines go out with \\r\\n, by a stream of its own."""

    def start_remote(self):
        argv = [sys.executable]
        packages = os.environ.get("PROBETUI_REMOTE_PDB", "")
        code = "import sys; sys.path.append(%r); import remote_pdb" % packages
        if subprocess.call(argv + ["-c", code], stderr=subprocess.DEVNULL):
            self.skipTest("this Python has no remote-pdb; PROBETUI_REMOTE_PDB"
                          " may name a folder that has it")
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            port = server.getsockname()[1]
        self.start(PROGRAM, REMOTE_AT % (packages, port), [argv])
        self.ranks[0].target = "pdb:tcp:127.0.0.1:%d" % port
        self.connect()

    def test_killed_at_a_prompt(self):
        self.start_remote()
        self.set_breakpoints()
        self.kill()
        self.check()

    def test_killed_while_it_runs(self):
        self.start_remote()
        self.set_breakpoints()
        self.run_on("continue")
        self.kill()
        self.check()

    def test_left(self):
        self.start_remote()
        self.run_on("continue")
        self.ask("detach")
        self.check()


class TestLeft(GuardTest):
    """Without force."""

    def test_while_it_runs(self):
        self.start()
        self.connect()
        self.set_breakpoints()
        self.run_on("continue")
        self.ask("detach")
        self.check()

    def test_before_the_first_prompt(self):
        self.start(LOOP, SLOW, [[sys.executable]])
        self.node.request("connect", target=self.ranks[0].target)
        self.assertEqual(self.ranks[0].process.stdout.readline(),
                         b"has a client\n")
        self.node.process.stdin.close()
        self.assertEqual(self.node.wait(), 0)
        self.check("results [0, 3, 6]\n")

    def test_as_soon_as_it_is_connected(self):
        self.start(LOOP, found=[[sys.executable]])
        self.node.request("connect", target=self.ranks[0].target)
        self.node.process.stdin.close()
        self.assertEqual(self.node.wait(), 0)
        self.check("results [0, 3, 6]\n")


if __name__ == "__main__":
    unittest.main()
