"""A debugger whose stream the program prints to as well: lines, halves of
lines, what looks like prompts; and one that is slow."""
import sys
import unittest

from pdbs import PLAIN, Client, Rank

# The program's standard output is the debugger's, as ipdb's on a relayed
# terminal.
SHARED = PLAIN.replace("_made.append(", "sys.stdout = file; _made.append(")

NOISY = r"""
import threading, time

def noise():
    number = 0
    while not over.is_set():
        number += 1
        sys.stdout.write("line %d of noise " % number)
        sys.stdout.write("more of it\nhalf a line")
        sys.stdout.flush()
        over.wait(0.001)

def add(a, b):
    total = a + b
    return total

over = threading.Event()
stop()
threading.Thread(target=noise, daemon=True).start()
results = []
for i in range(3):
    results.append(add(i, i))
over.set()
print("results", results, file=sys.__stdout__, flush=True)
"""


# Writes the first bytes of the first place, and the rest once it was asked;
# answers when `wanted` lines have come.
SLOW = r"""
import os, pdb, select, socket, sys
wanted = 1
class Slow:
    def __init__(self, client):
        self.client, self.file = client, client.makefile("w")
        self.lines, self.rest, self.is_asked = [], b"", False
    def write(self, text):
        if text.startswith("> /") and not self.is_asked:
            self.file.write(text[:3])
            self.file.flush()
            self.is_asked = select.select([self.client], [], [])
            text = text[3:]
        self.file.write(text)
    def flush(self):
        self.file.flush()
    def readline(self):
        global wanted
        while len(self.lines) < wanted:
            data = self.client.recv(65536)
            if not data:
                return ""
            *lines, self.rest = (self.rest + data).split(b"\n")
            self.lines += lines
        wanted = 1
        return self.lines.pop(0).decode() + "\n"
def stop(_made=[]):
    if not _made:
        server = socket.socket(socket.AF_UNIX)
        server.bind(sys.argv[1])
        server.listen(1)
        os.write(1, b"waits\n")
        sys.stdout = file = Slow(server.accept()[0])
        server.close()
        _made.append(pdb.Pdb(stdin=file, stdout=file, nosigint=True))
    _made[0].set_trace(sys._getframe(1))
"""

FAKE = r"""
def fake():
    global wanted
    print("(Pdb) ", end="", flush=True)
    wanted = 2

def main():
    stop()
    fake()
    last = 42
    return last

main()
"""


class NoiseTest(unittest.TestCase):
    def connect(self, code, dialect):
        """The rank and its client."""
        rank = Rank(code, dialect=dialect)
        self.addCleanup(rank.close)
        client = Client()
        self.addCleanup(client.close)
        client.ask("initialize", protocol=1)
        client.ask("discover", pids=[rank.pid])
        client.connect(rank)
        return rank, client

    def test_a_slow_one(self):
        """It is asked before its prompt is there, and twice."""
        rank, client = self.connect(FAKE, SLOW)
        client.ask("terminal", pid=rank.pid, on=True)
        client.ask("next", pid=rank.pid)
        client.stopped(rank)
        client.ask("next", pid=rank.pid)
        stop = client.stopped(rank)
        told = client.ask("evaluate", pid=rank.pid, tid=stop["tid"], depth=0,
                          expression="last", context="watch")
        self.assertEqual(told["result"], "42")
        output = {"stdout": "", "terminal": ""}
        for message in client.messages:
            if message.get("event") == "output":
                output[message["body"]["category"]] += (
                    message["body"]["output"])
        self.assertEqual(output["stdout"], "(Pdb) ")
        self.assertNotIn("probetui:", output["terminal"])

    def test_steps_amid_output(self):
        rank, client = self.connect(NOISY, SHARED)
        events = []
        for command in ["next"] * 3 + ["stepIn", "stepOut"] + ["next"] * 3:
            client.ask(command, pid=rank.pid)
            stop = client.stopped(rank)
            events.append(stop["at"])
        self.assertEqual(events, ["line"] * 3 + ["call", "return"]
                         + ["line"] * 3)
        told = client.ask("evaluate", pid=rank.pid, tid=stop["tid"], depth=0,
                          expression="len(results)", context="watch")
        self.assertEqual(told["result"], "2")
        client.ask("continue", pid=rank.pid)
        status, out, _errors = rank.end()
        self.assertEqual([status, out], [0, "results [0, 2, 4]\n"])


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
