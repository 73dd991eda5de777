"""What a test watches: each function makes its variables, waits for a word
from outside, and then writes; the test has its stops.

Each line of the standard input names a function. It says "ready", waits for
another line, and says "done".
"""
import array
import sys
import threading

RATE = 1


class Box:
    def __init__(self, value):
        self.value = value


class Slotted:
    __slots__ = ("value",)


def wait():
    print("ready", flush=True)
    sys.stdin.readline()


def local():
    total = 3
    wait()
    total = 3
    total = 4  # local 1
    total = float("4.5")  # local 2
    total = float("4.5")
    total += 1  # local 3
    del total
    total = 2 ** 70  # local 4
    total = 2 ** 70
    total = [1]  # local 5
    total.append(2)
    total = None  # local 6
    for total in range(2):  # local 7
        pass
    return total


def text():
    name = str(len("x"))
    wait()
    for i in range(3):
        name += "x"  # text 1
    name = name
    name = "".join(["1", "xxx"])
    return name


def comprehension():
    x = 5
    wait()
    [x for x in range(10)]
    x = 6  # comprehension 1
    return x


def attribute():
    box, other = Box(1), Slotted()
    other.value = 1
    wait()
    box.value = 1
    box.value = 2  # attribute 1
    box.other = 3
    for i in range(40):
        setattr(box, "a%d" % i, i)
    box.__dict__["value"] = 4  # attribute 2
    other.value = 7  # slot 1
    del box.value  # attribute 3
    return box, other


def mapping():
    config = {"a": 1, "rate": 1}
    wait()
    config["a"] = 2
    config["rate"] = 2  # mapping 1
    for i in range(100):
        config[i] = i
    config["rate"] = 3  # mapping 2
    del config["rate"]  # mapping 3
    return config


def items():
    row = [1, 2, 3]
    wait()
    row[0] = 5
    row[1] = 6  # items 1
    row.extend(range(100))
    row[1] = 7  # items 2
    return row


def module_global():
    global RATE
    RATE = 1
    wait()
    RATE = 2  # global 1
    globals()["RATE"] = 3  # global 2
    RATE = 3
    return RATE


def outer():
    count = 0

    def inner():
        nonlocal count
        count += 1  # closure 1
        return count

    wait()
    inner()
    inner()
    return count


def numbers():
    octets, reals = bytearray(b"abc"), array.array("d", [1.5, 2.5])
    wait()
    octets[1] = 120  # numbers 1
    octets[0] = 120
    reals[0] = 2.5
    reals[1] = 3.5  # numbers 2
    return octets, reals


def scope():
    held(5)
    for i in range(10):
        held(i)
    return 1


def held(value):
    seen = value
    if value == 5:
        wait_once()
    seen = value + 1  # scope 1
    return seen


def wait_once(done=[]):
    if not done:
        done.append(1)
        wait()


def recursive(depth=3):
    mine = depth
    if depth == 3:
        wait()
    if depth:
        recursive(depth - 1)
    mine = -1  # recursive 1
    return mine


def generated():
    def values():
        at = 0
        wait()
        while at < 3:
            at += 1  # generated 1
            yield at
    return list(values())


def threads():
    box, may_go = Box(0), threading.Event()

    def work():
        may_go.wait()
        box.value = 7  # threads 1

    thread = threading.Thread(target=work)
    thread.start()
    wait()
    may_go.set()
    thread.join()
    return box


def counted():
    n = 0
    wait()
    for i in range(20):
        n = i  # counted 1
    return n


def elements():
    import numpy
    grid = numpy.zeros((2, 3))
    single = numpy.zeros(4, "f4")
    wait()
    grid[0, 0] = 1
    grid[1, 2] = 2.5  # elements 1
    grid += 1  # elements 2
    single[2] = 0.1  # elements 3
    return grid, single


def tensors():
    import torch
    weight = torch.zeros(2, 3)
    wait()
    weight[0, 0] = 1
    weight[1, 2] = 2.5  # tensors 1
    weight.mul_(2)  # tensors 2
    return weight


def write(row):
    row[0] = 2


def odd():
    row = [1]
    code = write.__code__.replace(co_name="write" * 5000)
    writer = type(write)(code, globals())
    wait()
    writer(row)
    return row


print("begun", flush=True)
for name in iter(sys.stdin.readline, ""):
    globals()[name.strip()]()
    print("done", flush=True)
