"""Three ranks of torch.multiprocessing.spawn()."""
import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing
from zoo_job import ready


def run(rank):
    dist.init_process_group(
        "gloo", "tcp://127.0.0.1:" + os.environ["ZOO_PORT"], rank=rank,
        world_size=3)
    dist.barrier()
    ready()
    while rank == 2:
        time.sleep(1)  # asleep
    dist.all_reduce(torch.ones(8))


if __name__ == "__main__":
    torch.multiprocessing.spawn(run, nprocs=3)
