"""Ranks that are stopped in a pdb on a socket, and a node that is its client.

The program of a rank has `stop()` besides what it is given: the first call
makes the debugger, which waits for a client at `path`.
"""
import os
import shutil
import subprocess
import sys
import tempfile

from nodes import LIMIT, Node, environment

# A plain pdb over a Unix socket, as many write it.
PLAIN = r"""
import os, pdb, socket, sys
def stop(_made=[]):
    if not _made:
        server = socket.socket(socket.AF_UNIX)
        server.bind(sys.argv[1].replace("@", "\0", 1))
        server.listen(1)
        os.write(1, b"waits\n")
        file = server.accept()[0].makefile("rw")
        server.close()
        _made.append(pdb.Pdb(stdin=file, stdout=file, nosigint=True))
    _made[0].set_trace(sys._getframe(1))
"""

JOBS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jobs")

# ipdb, or pdb, behind a terminal.
RELAYED = r"""
import sys
sys.path.insert(0, %r)
import pty_relay
def stop(_made=[]):
    if not _made:
        _made.append(pty_relay.serve(sys.argv[1]))
    pty_relay.stop(2)
""" % JOBS

# Whoever has remote-pdb.
REMOTE = r"""
import sys
from remote_pdb import RemotePdb
def stop():
    import socket
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    port = server.getsockname()[1]
    server.close()
    RemotePdb("127.0.0.1", port).set_trace(sys._getframe(1))
"""

LOOP = r"""
def add(a, b):
    total = a + b
    return total

def func(i):
    x = i * 2
    y = add(x, i)
    return y

def main():
    results = []
    stop()
    for i in range(3):
        results.append(func(i))
    return results

if __name__ == "__main__":
    print("results", main(), flush=True)
"""


class Rank:
    """A rank whose program stops. It has said "waits" where a socket waits."""

    def __init__(self, code=LOOP, dialect=PLAIN, argv=None, rank=0):
        argv = argv or [sys.executable]
        root = argv[1] if argv[0] == "chroot" else ""
        self.folder = tempfile.mkdtemp(prefix="probetui-pdb-",
                                       dir=root + "/tmp" if root else None)
        # A name without a file is the same in another root.
        self.path = ("@" + os.path.basename(self.folder) if root else
                     os.path.join(self.folder, "pdb.sock.%d" % rank))
        self.script = os.path.join(self.folder, "train.py")
        head = dialect.strip("\n")
        self.head = head.count("\n") + 1
        with open(self.script, "w") as file:
            file.write(head + "\n" + code.strip("\n") + "\n")
        self.process = subprocess.Popen(
            argv + [self.script[len(root):], self.path],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=environment(RANK=str(rank)))
        self.pid = self.process.pid
        self.target = "pdb:unix:" + self.path
        line = self.process.stdout.readline()
        assert line == b"waits\n", (line, self.end())

    def line(self, number):
        """The line of the file that is this one of the code, from 1 on."""
        return self.head + number

    def end(self):
        """Its exit status and what it printed since."""
        out, err = self.process.communicate(timeout=LIMIT)
        return self.process.returncode, out.decode(), err.decode()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        shutil.rmtree(self.folder)


class Client(Node):
    """A node that knows the ranks."""

    def connect(self, rank):
        """Until it has stopped; the event."""
        self.ask("connect", target=rank.target)
        return self.stopped(rank)

    def stopped(self, rank):
        return self.event("stopped", rank.pid)

    def samples(self, rank):
        """All that came of it."""
        return [m["body"] for m in self.messages
                if m.get("event") == "sampled"
                and m["body"]["pid"] == rank.pid]
