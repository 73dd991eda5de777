"""survivor.py [numpy|torch]: a program whose result says whether it ran
undisturbed.

It says "ready", adds up as fast as it can, and answers each line of its input
with how far it has come. At the end of the input it says "done", how far it
came, its sum, and whether it comes to the same sum once more.
"""
import sys
import threading

FACTOR = 6364136223846793005
MASK = 2 ** 64 - 1

state = {"number": 0, "done": False}


class Plain:
    """Numbers of Python alone."""

    def __init__(self):
        self.total = 1

    def add(self, number):
        total = self.total * FACTOR + number
        self.total = total & MASK

    def sum(self):
        return self.total


class Arrays(Plain):
    """The same, and an array that each step changes."""

    def __init__(self, library):
        super().__init__()
        self.library = library
        self.array = library.arange(64).reshape(8, 8)

    def add(self, number):
        super().add(number)
        self.array = (self.array @ self.array + number) % 1009

    def sum(self):
        return self.total ^ int(self.array.sum())


def make(kind):
    if kind == "numpy":
        import numpy
        return Arrays(numpy)
    if kind == "torch":
        import torch
        torch.set_num_threads(1)
        return Arrays(torch)
    return Plain()


def listen():
    for _ in iter(sys.stdin.readline, ""):
        print(state["number"], flush=True)
    state["done"] = True


def main():
    kind = sys.argv[1] if len(sys.argv) > 1 else "plain"
    work = make(kind)
    threading.Thread(target=listen, daemon=True).start()
    print("ready", flush=True)
    number = 0
    while not state["done"]:
        work.add(number)
        number += 1
        state["number"] = number
    again = make(kind)
    for i in range(number):
        again.add(i)
    print("done", number, work.sum(), again.sum() == work.sum(), flush=True)


if __name__ == "__main__":
    main()
