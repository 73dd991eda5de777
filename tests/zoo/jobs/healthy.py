"""Jobs that are as they should be; they end when the zoo ends them."""
import sys
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


def main():
    dist.init_process_group("gloo")
    dist.barrier()
    globals()[sys.argv[1]](dist.get_rank())


if __name__ == "__main__":
    main()
