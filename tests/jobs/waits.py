"""A rank of gloo that stops for ever in a wait that its argument names; it
says "ready" before its last call. The ranks are three, or four."""
import os
import sys
import threading

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as c10d


def reduce(group=None, count=128):
    dist.all_reduce(torch.ones(count, 3), group=group)


def skipped(rank):
    """Rank 2 has left out a broadcast: its reduce is taken for it."""
    for step in range(6):
        if step == 3:
            os.write(1, b"ready\n")
        if step == 3 and rank != 2:
            dist.broadcast(torch.ones(4), 0)
        reduce()


def dump():
    """Writes what the Flight Recorder has, once it is told where to."""
    folder = sys.stdin.readline().strip()
    path = os.path.join(folder, "fr_rank_%d" % dist.get_rank())
    with open(path, "wb") as file:
        file.write(c10d._dump_fr_trace(True, True, False))
    with open(path + ".json", "wb") as file:
        file.write(c10d._dump_fr_trace_json(True, False))
    os.write(1, b"dumped\n")


def dumped(rank):
    """Like skipped(), with a thread that writes a dump."""
    threading.Thread(target=dump).start()
    skipped(rank)


def other(rank):
    reduce()
    os.write(1, b"ready\n")
    if rank == 1:
        dist.broadcast(torch.ones(4), 0)
    reduce()


def absent(rank):
    """Rank 1 receives what anybody may send, the others wait for it."""
    reduce()
    os.write(1, b"ready\n")
    if rank == 1:
        dist.recv(torch.ones(3))
    reduce()


def older(rank):
    """Rank 2 has not called what the others wait for, 40 calls later."""
    pair = dist.new_group([0, 1], group_desc="pair")
    reduce()
    os.write(1, b"ready\n")
    if rank == 2:
        sys.stdin.read()
    work = dist.all_reduce(torch.ones(4), async_op=True)
    for _ in range(40):
        reduce(pair)
    work.wait()


def mixed(rank):
    """Rank 1 waits for rank 0, which waits for rank 1."""
    reduce()
    os.write(1, b"ready\n")
    if rank == 1:
        dist.recv(torch.ones(3), 0)
    reduce()


def ring(rank):
    """Each receives before it sends."""
    count = dist.get_world_size()
    reduce()
    os.write(1, b"ready\n")
    dist.recv(torch.ones(3), (rank + 1) % count)
    dist.send(torch.ones(3), (rank - 1) % count)


def cycle(rank):
    """Each waits in a group of two for the one that waits in the next."""
    pairs = [dist.new_group(ranks, group_desc=name) for name, ranks in
             (("a", [0, 1]), ("b", [1, 2]), ("c", [0, 2]))]
    reduce()
    os.write(1, b"ready\n")
    reduce(pairs[rank])


def async_ops(rank):
    """What rank 0 waits for at another line than it was called at."""
    reduce()
    works = [dist.all_reduce(torch.ones(7), async_op=True)
             for _ in range(3 if rank != 2 else 2)]
    os.write(1, b"ready\n")
    for work in works:
        work.wait()
    if rank == 2:
        dist.recv(torch.ones(3), 0)


def main():
    dist.init_process_group("gloo")
    globals()[sys.argv[1]](dist.get_rank())


main()
