"""preempted.py FOLDER [gloo]: a rank that writes a checkpoint when it is sent
SIGTERM, and ends with status 0. Its number and pid go to FOLDER/started.RANK
once it trains; the checkpoint is FOLDER/checkpoint.RANK. With gloo the first
steps are joined by all ranks, later ones by none: a rank that waits in a
collective for one that ends runs no handler, whoever looks at it.
"""
import os
import signal
import sys
import threading
import time

RANK = int(os.environ.get("RANK", "0"))


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path + ".part", "w") as file:
        file.write(text)
    os.rename(path + ".part", path)


def step(number, reduce):
    loss = reduce(number)
    return loss + 1


def save(number, folder):
    write(folder, "checkpoint.%d" % RANK, str(number))


def train(folder, reduce):
    number = 0

    def preempted(_signal, _frame):
        step(number, float)
        save(number, folder)
        sys.exit(0)

    signal.signal(signal.SIGTERM, preempted)
    while True:
        number = int(step(number, reduce))
        if number == 3:
            write(folder, "started.%d" % RANK, str(os.getpid()))
        time.sleep(0.001)


def gloo():
    """The reduction that all ranks join at first."""
    import torch
    import torch.distributed as dist
    dist.init_process_group("gloo")

    def reduce(number):
        if number >= 3:
            return number
        value = torch.tensor([float(number)])
        dist.all_reduce(value, op=dist.ReduceOp.MIN)
        return value.item()

    return reduce


def main():
    folder = sys.argv[1]
    reduce = gloo() if sys.argv[2:] == ["gloo"] else float
    event = threading.Event()
    threading.Thread(target=event.wait, daemon=True).start()
    train(folder, reduce)


if __name__ == "__main__":
    main()
