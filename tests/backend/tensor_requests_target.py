"""A program with values to be asked for: numpy's and torch's where they are.

It says "ready" and stays in inner() until its input ends. With an argument it
does something else there: "spin": it runs, "pdb": it is at a pdb's prompt,
"churn": CHURN grows and shrinks all the while.
"""
import array
import os
import pdb
import sys
import time

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None

# Long enough that the program gets its turn while it is read, on a processor
# of its own or not.
CHURN = bytearray(1 << 26)
# Pages that nobody has written to cost no memory, but time to read.
HUGE = bytes(1 << 32)
NEXT = "import sys; y = 2; print('ready', flush=True); sys.stdin.read()"
NUMBERS = array.array("d", [1.5, -2.0, float("nan"), 0.0])
RAW = bytearray(range(16))
PLAIN = [[0] * 100000 for _ in range(12)]
WIDE = {}
if sys.argv[1:] == ["replace"]:
    WIDE = {i: numpy.zeros(1 << 20) for i in range(4)}
name = "of the module"


def arrays():
    if numpy is None:
        return {}
    return {"grid": numpy.arange(24.0).reshape(4, 6),
            "big": numpy.arange(1 << 20, dtype="float32")}


def deep(number):
    if number:
        deep(number - 1)
    else:
        inner(7)


def inner(number):
    name = "of inner"
    plain = [number, {"lr": 0.5}]
    print("ready", flush=True)
    while sys.argv[1:2] == ["spin"]:
        number += 1
    while sys.argv[1:] == ["churn"]:
        CHURN.extend(b"more")
        del CHURN[-4:]
    while sys.argv[1:] == ["replace"]:
        fresh = {**WIDE, "long": numpy.zeros(100), "short": numpy.zeros(7)}
        time.sleep(0.02)
        fresh = {**WIDE, "short": numpy.zeros(7), "long": numpy.zeros(100)}
        time.sleep(0.02)
    if sys.argv[1:] == ["pdb"]:
        pdb.Pdb(nosigint=True).set_trace()
        number += 1
    for line in sys.stdin:
        number += 1
        if line == "exec\n":
            os.execv(sys.executable, [sys.executable, "-c", NEXT])
        print(line, end="", flush=True)
    return name, plain


def outer():
    name = "of outer"
    batch = {"x": NUMBERS, "list": [RAW, memoryview(RAW)], **arrays()}
    only_outer = 42
    deep(300) if "deep" in sys.argv else inner(7)
    return name, batch, only_outer


outer()
