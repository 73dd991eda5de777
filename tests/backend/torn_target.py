"""A thread that makes tensors and arrays into others without end.

Each has so many elements as each of its elements says. One line of JSON, how
they are called; then it waits for the end of the standard input.
"""
import json
import os
import sys
import threading

BOX = {}
SIZES = list(range(1, 60)) + [900, 4000, 70000]


def make_torch(size):
    return torch.full((size,), float(size))


def make_numpy(size):
    return numpy.full((size,), float(size), "float32")


def turn(step):
    """The next of each kind."""
    size = SIZES[step % len(SIZES)]
    made = make(size)
    BOX["new"] = made
    BOX["list"][0] = made
    BOX.pop("gone", None)
    BOX["gone"] = make(size)
    if library == "torch":
        BOX["set"].set_(make(size))
        BOX["data"].data = make(size)
        tall = make(2 * size).reshape(size, 2)
        BOX["set"].set_(tall)


def work():
    step = 0
    while True:
        turn(step)
        step += 1


library = sys.argv[1]
if library == "torch":
    import torch
    torch.set_num_threads(1)
    make = make_torch
else:
    import numpy
    make = make_numpy
BOX["list"] = [make(3)]
BOX["new"] = make(3)
BOX["gone"] = make(3)
NAMES = ["BOX['new']", "BOX['list'][0]", "BOX['gone']"]
if library == "torch":
    BOX["set"] = make(3)
    BOX["data"] = make(3)
    NAMES += ["BOX['set']", "BOX['data']"]
threading.Thread(target=work, daemon=True).start()
print(json.dumps(NAMES), flush=True)
sys.stdin.read()
os._exit(0)
