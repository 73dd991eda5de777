"""A job whose ranks torch.multiprocessing.spawn starts: RANK is set after the
start, so /proc/PID/environ does not have it. Rank 1 comes late.

    spawn.py PORT
"""
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing


def work(rank, world_size, port):
    os.environ["RANK"] = str(rank)
    os.environ["LOCAL_RANK"] = str(rank)
    os.environ["WORLD_SIZE"] = str(world_size)
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = port
    dist.init_process_group("gloo")
    os.write(1, b"rank %d %d\n" % (rank, os.getpid()))
    while rank == 1:
        time.sleep(1)
    dist.all_reduce(torch.ones(4))


if __name__ == "__main__":
    torch.multiprocessing.spawn(work, args=(2, sys.argv[1]), nprocs=2)
