"""A program that is stopped by its agent; a line of its standard input says
what it does next."""
import sys
import threading


class Net:
    def __init__(self):
        self.weights = [1, 2, 3]


def inner(number, net):
    total = number + 1
    total += 1
    return total


def work(number):
    net = Net()
    total = inner(number, net)
    total += 1
    return total


def fail():
    value = "seen"
    raise RuntimeError("boom")


def handle():
    try:
        fail()
    except RuntimeError:
        return "handled"


def sleep():
    never = threading.Event()
    never.wait()


threading.Thread(target=sleep, daemon=True).start()
print("ready", flush=True)
for line in sys.stdin:
    print(eval(line), flush=True)
