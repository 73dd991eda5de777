"""A debugger whose stream the program's threads print to all the time: lines
and halves of lines."""
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


class NoiseTest(unittest.TestCase):
    def test_steps_amid_output(self):
        rank = Rank(NOISY, dialect=SHARED)
        self.addCleanup(rank.close)
        client = Client()
        self.addCleanup(client.close)
        client.ask("initialize", protocol=1)
        client.ask("discover", pids=[rank.pid])
        client.connect(rank)
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
