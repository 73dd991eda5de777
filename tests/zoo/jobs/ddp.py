"""Three ranks of DistributedDataParallel; one does something else."""
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from zoo_job import pipe, ready


class Samples(Dataset):
    def __init__(self, what, rank):
        self.what, self.rank = what, rank

    def __len__(self):
        return 1000

    def __getitem__(self, index):
        if index == 12 and self.rank == 1:
            if self.what == "loader_sleeps":
                ready()
                while True:
                    time.sleep(1)  # asleep
            if self.what == "worker_stuck":
                ready()
                open(pipe()).read()  # shard
            if self.what == "reads_shard":
                ready()
                open(pipe()).read()  # read here
        return torch.ones(8) * index


def main():
    what = sys.argv[1]
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(torch.nn.Linear(8, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Samples(what, rank), batch_size=4,
                        num_workers=1 if what == "worker_stuck" else 0)
    for step, batch in enumerate(loader):
        if step == 3 and what in ("skips_backward", "uneven", "rank_zero_eval"):
            ready()
        loss = model(batch).sum()
        if step == 3 and rank == 1 and what == "skips_backward":
            dist.barrier()  # skipped
        if step == 3 and rank == 1 and what == "uneven":
            break
        if step == 3 and rank == 0 and what == "rank_zero_eval":
            with torch.no_grad():
                dist.all_gather_object([None] * 3, loss.item())  # eval
        if what == "bad_hook" and step == 3:
            ready()
            if rank == 2:
                while not torch.isnan(loss):
                    time.sleep(0.5)  # polls
        optimizer.zero_grad()
        loss.backward()  # backward
        optimizer.step()
    dist.all_gather_object([None] * 3, step)  # metrics


if __name__ == "__main__":
    main()
