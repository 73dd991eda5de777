"""How fast the elements of tensors are read, beside what memory gives in the
same run (tensor-bench.c)."""
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "backend"))
import nodes  # noqa: E402

BUILD = os.environ.get("BUILDDIR", os.getcwd())
PROGRAM = os.path.join(BUILD, "tests", "bench", "tensor-bench")
ROWS = (("read", "one thread reads its own memory"),
        ("copy", "one thread copies it, process_vm_readv alone"),
        ("float32", "statistics, float32"),
        ("bfloat16", "statistics, bfloat16"),
        ("float16", "statistics, float16"),
        ("float64", "statistics, float64"),
        ("int64", "statistics, int64"),
        ("int32", "statistics, int32"),
        ("uint8", "statistics, uint8"),
        ("bool", "statistics, bool"),
        ("hash", "hash"))

# Tensors of a list, of which one request tells all.
COUNT = 1000
ROUNDS = 20
SCRIPT = """
import sys, torch
many = [torch.zeros((i & 7) + 1, 4) for i in range(%d)]
print("ready", flush=True)
sys.stdin.read()
""" % COUNT


def measure(table, megabytes=1024, processes=8):
    """table: makes one with those heads."""
    run = subprocess.run([PROGRAM, str(megabytes), str(processes)],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         universal_newlines=True, check=True)
    told = json.loads(run.stdout)
    small = told["small"]["rates"]
    large = told["large"]["rates"]
    rows = table("%d MB of one tensor in another process" % megabytes,
                 "4 KB: GB/s", "of reading", "huge: GB/s", "of reading")
    for name, what in ROWS:
        cells = []
        for rates in (small, large):
            cells += ["%.1f" % (rates[name] / 1e9),
                      "%.0f %%" % (100 * rates[name] / rates["read"])]
        rows.row(what, *cells)
    huge = told["large"]["huge"] / told["bytes"]
    if huge < 0.9:
        print("The kernel gave huge pages for %.0f %% of it only." %
              (100 * max(huge, 0)))
    rows = table("%d processes, 200 parameters of 100 MB together in each"
                 % processes, "seconds")
    rows.row("all are hashed", "%.2f" % told["seconds"])


HELD_SCRIPT = """
def leaf():
    number = 0
    print("ready", flush=True)
    while True:
        number += 1
def deep(left):
    deep(left - 1) if left else leaf()
around = [1, 2]
deep(%d)
"""


def measure_hold(table, rounds=200):
    """For how long a thread that runs stands for a look at a name."""
    rows = table("a thread that runs is held for a look", "median", "most",
                 "system calls")
    for depth in (3, 300):
        target = nodes.Target(argv=[sys.executable, "-c",
                                    HELD_SCRIPT % depth])
        node = nodes.Node()
        node.ask("initialize", protocol=1)
        node.discover(pids=[target.pid])
        for expression, what in (("number", "a name of the innermost frame"),
                                 ("around", "one of the module")):
            told = [node.ask("tensor", pid=target.pid, expression=expression)
                    for _ in range(rounds)]
            held = [one["held_ns"] / 1e3 for one in told]
            rows.row("%s, %d frames" % (what, depth + 3),
                     "%.0f µs" % statistics.median(held),
                     "%.0f µs" % max(held), "%d" % statistics.median(
                         one["held_calls"] for one in told))
        node.close()
        target.process.kill()
        target.close()


def measure_metadata(table, python):
    """What one tensor is, without its elements: of many in one request, from
    outside; and one alone."""
    target = nodes.Target(argv=[python, "-c", SCRIPT])
    node = nodes.Node()
    times = {"many": [], "one": []}
    try:
        node.ask("initialize", protocol=1, readOnly=True)
        node.discover(pids=[target.pid])
        for _ in range(ROUNDS):
            for name, request, expression in (
                    ("many", "parameters", "many"),
                    ("one", "tensor", "many[7]")):
                start = time.perf_counter()
                body = node.ask(request, pid=target.pid,
                                expression=expression)
                times[name].append(time.perf_counter() - start)
                assert body.get("total", COUNT) == COUNT, body
    finally:
        node.close()
        target.process.kill()
        target.close()
    rows = table("what a tensor is, from outside", "median", "least")
    for name, what, count in (
            ("many", "each of %d in one request, with its JSON" % COUNT,
             COUNT),
            ("one", "one request, there and back", 1)):
        micro = [1e6 * value / count for value in times[name]]
        rows.row(what, "%.1f µs" % statistics.median(micro),
                 "%.1f µs" % min(micro))
