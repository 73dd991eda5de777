"""Jobs that are as they should be; they end when the zoo ends them."""
import itertools
import os
import queue
import sys
import threading
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from zoo_job import ready


def ddp(rank):
    model = DistributedDataParallel(torch.nn.Linear(64, 64))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    ready()
    while True:
        optimizer.zero_grad()
        model(torch.ones(32, 64)).sum().backward()
        optimizer.step()


def slow(rank):
    """Rank 1 computes for some seconds, the others wait in a barrier."""
    ready()
    while True:
        if rank == 1:
            end = time.monotonic() + 3
            while time.monotonic() < end:
                torch.ones(64, 64) @ torch.ones(64, 64)
        dist.barrier()


def reduces(rank):
    """Nothing but all_reduce: equal stacks in each sample."""
    values = torch.zeros(4_000_000)
    ready()
    while True:
        dist.all_reduce(values)


class Slow(Dataset):
    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        time.sleep(0.2)
        return torch.ones(64)


def loader(rank):
    """The loader is slower than the step."""
    model = DistributedDataParallel(torch.nn.Linear(64, 64))
    ready()
    for batch in DataLoader(Slow(), batch_size=2, num_workers=1):
        model(batch).sum().backward()


def work(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        torch.ones(64, 64) @ torch.ones(64, 64)


def checkpoint(rank):
    """Rank 0 writes a file at times, the others wait for it."""
    ready()
    for step in itertools.count():
        work(0.05)
        dist.all_reduce(torch.ones(8))
        if step % 20 == 0 and rank == 0:
            path = os.path.join(os.environ["HOME"], "checkpoint")
            for _ in range(40):
                torch.save(torch.zeros(4_000_000), path)
        if step % 20 == 0:
            dist.barrier()


def evaluates(rank):
    """Rank 0 evaluates for ten seconds after each twenty steps."""
    ready()
    while True:
        for _ in range(20):
            work(0.05)
            dist.all_reduce(torch.ones(8))
        if rank == 0:
            work(10)
        dist.barrier()


def pipeline(rank):
    """Each rank works on what the rank before has sent."""
    count = dist.get_world_size()
    values = torch.ones(8)
    ready()
    while True:
        if rank > 0:
            dist.recv(values, rank - 1)
        work(0.3)
        if rank < count - 1:
            dist.send(values, rank + 1)


def pauses(rank):
    """All sleep most of the time, and little between two steps."""
    ready()
    while True:
        dist.all_reduce(torch.ones(8))
        time.sleep(1)


def feeder(rank):
    """A thread makes the batches, one in two seconds."""
    batches = queue.Queue(1)

    def feed():
        while True:
            time.sleep(2)
            batches.put(torch.ones(8))
    threading.Thread(target=feed, daemon=True).start()
    ready()
    while True:
        dist.all_reduce(batches.get())


def overlaps(rank):
    """The collective runs beside the work."""
    ready()
    while True:
        handle = dist.all_reduce(torch.ones(8), async_op=True)
        work(0.2)
        handle.wait()


def main():
    dist.init_process_group("gloo")
    dist.barrier()
    globals()[sys.argv[1]](dist.get_rank())


if __name__ == "__main__":
    main()
