"""A job whose ranks stop in pdb: at a breakpoint, two that raise at once, at
a breakpoint before what needs all, one that raises and ends. Prints what it computed.

    stops.py torch|peers
"""
import os
import sys

import probetui

if sys.argv[1] == "torch":
    import torch
    import torch.distributed as dist

    def total_of(value):
        tensor = torch.tensor([value])
        dist.all_reduce(tensor)
        return tensor.item()
else:
    import peers as dist

    def total_of(value):
        values = [value]
        dist.all_reduce(values)
        return values[0]


def say(*words):
    # In one piece: all ranks have the same standard output.
    os.write(1, (" ".join(str(word) for word in words) + "\n").encode())


@probetui.attach_on_error()
def validate(rank):
    if rank in (1, 3):
        raise ValueError("no validation on %d" % rank)


def load_batch(rank, step):
    batch = [rank, step]
    if rank == 1 and step == 2:
        raise RuntimeError("boom")
    return sum(batch)


@probetui.attach_on_error()
def train(rank):
    for step in range(5):
        total_of(float(load_batch(rank, step)))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    say("pid", rank, os.getpid())
    probetui.breakpoint(ranks=[0, 2])
    total = total_of(float(rank))
    say("total", rank, total)
    try:
        validate(rank)
    except ValueError as error:
        say("caught", rank, error)
    probetui.breakpoint(ranks=[0, 2])
    total = total_of(1.0)
    say("again", rank, total)
    train(rank)


main()
