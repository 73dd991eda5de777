"""Three ranks of gloo, and one mistake of torch.distributed each."""
import datetime
import os
import sys
import threading
import time

import torch
import torch.distributed as dist
from zoo_job import forever, ready


def reduce(group=None):
    dist.all_reduce(torch.ones(8), group=group)  # reduce


def other_op(rank):
    reduce()
    ready()
    if rank == 1:
        dist.broadcast(torch.ones(8), 0)  # other
    reduce()


def barrier_and_reduce(rank):
    reduce()
    ready()
    if rank == 0:
        dist.barrier()  # alone
    reduce()


def exits_early(rank):
    """Rank 2 has left before a group is made."""
    reduce()
    ready()
    if rank == 2:
        sys.exit(0)
    dist.new_group([0, 1, 2])  # made


def raises(rank):
    """Rank 1 has raised, and a thread keeps it from ending."""
    reduce()
    if rank == 1:
        threading.Thread(target=forever, name="writer").start()
    ready()
    if rank == 1:
        raise ValueError("bad batch")  # raised
    reduce()


def ring(rank):
    reduce()
    ready()
    dist.recv(torch.ones(3), (rank + 1) % 3)  # receives
    dist.send(torch.ones(3), (rank - 1) % 3)


def cycle(rank):
    pairs = [dist.new_group(ranks, group_desc=name) for name, ranks in
             (("a", [0, 1]), ("b", [1, 2]), ("c", [0, 2]))]
    reduce()
    ready()
    reduce(pairs[rank])


def swapped(rank):
    """Two groups of all, in another order on one rank."""
    first, second = dist.new_group(), dist.new_group()
    reduce()
    ready()
    if rank == 1:
        first, second = second, first
    reduce(first)
    reduce(second)


def monitored(rank):
    reduce()
    ready()
    while rank == 2:
        time.sleep(1)  # asleep
    dist.monitored_barrier(timeout=datetime.timedelta(hours=1))


def objects(rank):
    """Rank 0 reads a configuration that all wait for."""
    reduce()
    ready()
    config = [None]
    if rank == 0:
        read, _ = os.pipe()
        config = [os.read(read, 100)]  # reads
    dist.broadcast_object_list(config, 0)


def subgroup_absent(rank):
    """Rank 2 took the branch of the others' group."""
    group = dist.new_group([1, 2])
    reduce()
    ready()
    if rank == 1:
        reduce(group)
    dist.barrier()  # all


def gathers_object(rank):
    """Rank 1 has nothing to gather, and leaves the call out."""
    reduce()
    ready()
    if rank != 1:
        dist.all_gather_object([None] * 3, {"rank": rank})
    dist.barrier()  # left out


def irecv(rank):
    """Rank 0 waits for a message of rank 2, which waits for its queue."""
    import queue
    reduce()
    ready()
    if rank == 0:
        dist.irecv(torch.ones(3), 2).wait()
    if rank == 2:
        queue.Queue().get()  # empty
        dist.send(torch.ones(3), 0)
    dist.barrier()


def batched(rank):
    """Each sends to the next and receives from the last; rank 1 only sends."""
    reduce()
    ready()
    ops = [dist.P2POp(dist.isend, torch.ones(3), (rank + 1) % 3),
           dist.P2POp(dist.irecv, torch.ones(3), (rank - 1) % 3)]
    if rank == 1:
        while True:
            time.sleep(1)  # skips
    for work in dist.batch_isend_irecv(ops):
        work.wait()


def async_reduce(rank):
    """A wait that no Python frame shows."""
    reduce()
    ready()
    while rank == 1:
        time.sleep(1)  # late
    dist.all_reduce(torch.ones(8), async_op=True).wait()


def endless(rank):
    """Rank 1 searches for what it does not find."""
    reduce()
    ready()
    step = 0
    while rank == 1:  # loops
        step = (step * 5 + 1) % 1000  # searches
    reduce()


def stopped(rank):
    """Rank 1 is stopped by SIGSTOP."""
    import signal
    reduce()
    ready()
    if rank == 1:
        os.kill(os.getpid(), signal.SIGSTOP)  # stopped
    reduce()


def store_key(rank):
    """All wait for a key that rank 1 is to set."""
    store = dist.distributed_c10d._get_default_store()
    reduce()
    ready()
    if rank == 1:
        while True:
            time.sleep(1)  # before
    store.wait(["tokenizer"], datetime.timedelta(hours=1))


def no_rendezvous(rank):
    """Rank 2 never came to init_process_group."""


def main():
    rank = int(os.environ["RANK"])
    if sys.argv[1] == "no_rendezvous":
        ready()
        if rank == 2:
            sys.exit(1)
    dist.init_process_group("gloo")  # init
    globals()[sys.argv[1]](rank)


main()
