"""Three ranks of DDP that read shards by webdataset; one shard does not come."""
import io
import os
import sys
import tarfile

import torch
import torch.distributed as dist
import webdataset
from torch.nn.parallel import DistributedDataParallel
from zoo_job import pipe, ready


def write(path):
    with tarfile.open(path, "w") as tar:
        for number in range(8):
            info = tarfile.TarInfo("%d.txt" % number)
            info.size = 1
            tar.addfile(info, io.BytesIO(b"1"))
    return path


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(torch.nn.Linear(8, 1))
    shards = [write(os.path.join(os.environ["ZOO_READY"], "..",
                                 "%d-%d.tar" % (rank, number)))
              for number in range(3)]
    if rank == 1:
        shards[1] = "pipe:cat " + pipe() if sys.argv[1] == "pipe" else pipe()
    samples = webdataset.WebDataset(
        shards, shardshuffle=False,
        nodesplitter=lambda shards: shards).decode().to_tuple("txt")
    ready()
    for sample in webdataset.WebLoader(samples, batch_size=4):  # shards
        model(torch.ones(4, 8)).sum().backward()


main()
