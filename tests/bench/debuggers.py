"""What it costs that probetui, and not a person with nc, talks to a pdb."""
import os
import socket
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "backend"))
from nodes import LIMIT  # noqa: E402
from pdbs import Client, Rank  # noqa: E402

RANKS = 8
STEPS = 100
PROMPT = b"(Pdb) "

# Steps without end in a frame with some variables, ten calls deep.
STEPPED = r"""
def deep(count):
    if count:
        return deep(count - 1)
    names = {"name %d" % i: list(range(i)) for i in range(20)}
    total, text = 0, "text"
    stop()
    while True:
        total += 1
        text = "text %d" % total

deep(10)
"""


def connect(probetui):
    """Milliseconds from the start of the program until all stacks are
    printed, and the program has left."""
    ranks = [Rank(STEPPED, rank=number) for number in range(RANKS)]
    try:
        script = "".join("connect %s\n" % rank.target for rank in ranks)
        script += "wait stopped\nstacks\n"
        start = time.perf_counter()
        run = subprocess.Popen(
            [probetui, "--pid", ",".join(str(rank.pid) for rank in ranks),
             "-x", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        run.stdin.write(script.encode())
        run.stdin.close()
        text = b""
        while text.count(b"deep") < RANKS * 11:
            more = os.read(run.stdout.fileno(), 1 << 20)
            if not more:
                raise RuntimeError("stacks are missing: %r" % text)
            text += more
        took = time.perf_counter() - start
        run.stdout.close()
        run.wait(LIMIT)
        return took * 1e3
    finally:
        for rank in ranks:
            rank.close()


def raw_steps():
    """Milliseconds of each step of a client that only waits for the prompt."""
    rank = Rank(STEPPED)
    client = socket.socket(socket.AF_UNIX)
    try:
        client.connect(rank.path)

        def read():
            data = b""
            while not data.endswith(PROMPT):
                data += client.recv(1 << 16)

        read()
        times = []
        for _ in range(STEPS):
            start = time.perf_counter()
            client.sendall(b"n\n")
            read()
            times.append((time.perf_counter() - start) * 1e3)
        return times
    finally:
        client.close()
        rank.close()


def our_steps():
    """The same of the node, until it has told the stop and the stack."""
    rank = Rank(STEPPED)
    client = Client()
    try:
        client.ask("initialize", protocol=1)
        client.ask("discover", pids=[rank.pid])
        client.connect(rank)
        times = []
        for _ in range(STEPS):
            client.messages.clear()
            start = time.perf_counter()
            client.request("next", pid=rank.pid)
            client.stopped(rank)
            times.append((time.perf_counter() - start) * 1e3)
        return times
    finally:
        client.close()
        rank.close()


def measure(table, probetui, runs):
    """Rows of a table: what, median, least, most in milliseconds."""
    raw, ours = raw_steps(), our_steps()
    rows = [("connect to %d waiting sockets, all stacks (limit 300 ms)"
             % RANKS, [connect(probetui) for _ in range(runs)]),
            ("next, by a client that waits for the prompt", raw),
            ("next, by the node: the stop and the stack told", ours)]
    for name, times in rows:
        table.row(name, *["%.2f ms" % value for value in (
            statistics.median(times), min(times), max(times))])
    print("\na step costs %.2f ms more than pdb's own (limit 10 ms)"
          % (statistics.median(ours) - statistics.median(raw)))
