"""A program with values to be asked for: numpy's and torch's where they are.

It says "ready" and stays in inner() until its input ends; "spin" as argument:
it runs there all the while. At "line" on its input it says so.
"""
import array
import sys

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None

NUMBERS = array.array("d", [1.5, -2.0, float("nan"), 0.0])
RAW = bytearray(range(16))
name = "of the module"


def arrays():
    if numpy is None:
        return {}
    return {"grid": numpy.arange(24.0).reshape(4, 6),
            "big": numpy.arange(1 << 20, dtype="float32")}


def inner(number):
    name = "of inner"
    plain = [number, {"lr": 0.5}]
    if sys.argv[1:] == ["spin"]:
        print("ready", flush=True)
        while True:
            number += 1
    print("ready", flush=True)
    for line in sys.stdin:
        number += 1
        print(line, end="", flush=True)
    return name, plain


def outer():
    name = "of outer"
    batch = {"x": NUMBERS, "list": [RAW, memoryview(RAW)], **arrays()}
    only_outer = 42
    inner(7)
    return name, batch, only_outer


outer()
