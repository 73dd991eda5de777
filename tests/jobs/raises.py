"""A rank of torchrun; the last one raises once the file argv[1] is there."""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record


def load_batch(rank):
    while rank == dist.get_world_size() - 1:
        if os.path.exists(sys.argv[1]):
            raise ValueError("shard 7 with api_key='s3cret' is empty")
        time.sleep(0.05)


@record
def main():
    dist.init_process_group("gloo")
    while True:
        load_batch(dist.get_rank())
        dist.all_reduce(torch.ones(1))


main()
