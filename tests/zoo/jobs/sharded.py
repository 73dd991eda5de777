"""Ranks with FSDP2, DTensor, pipelining, RPC and DCP; one is stuck."""
import datetime
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from zoo_job import ready


def stuck():
    ready()
    while True:
        time.sleep(1)  # stuck


def fsdp2(rank):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    for step in range(4):
        if step == 2:
            ready()
            if rank == 1:
                stuck()
        model(torch.ones(2, 8)).sum().backward()


def dtensor(rank):
    """Rank 0 alone wants the whole tensor."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    tensor = distribute_tensor(torch.ones(9, 3), mesh, [Shard(0)])
    dist.barrier()
    ready()
    if rank == 0:
        print(tensor.full_tensor().sum())  # whole
    dist.barrier()  # dtensor barrier


def tensor_parallel(rank):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import (
        ColwiseParallel, RowwiseParallel, parallelize_module)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    model = parallelize_module(
        nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 6)), mesh,
        {"0": ColwiseParallel(), "2": RowwiseParallel()})
    for step in range(3):
        if step == 2:
            ready()
            if rank == 2:
                stuck()
        model(torch.ones(2, 6)).sum().backward()


def pipeline(rank):
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

    class Layer(nn.Linear):
        def forward(self, batch):
            self.calls = getattr(self, "calls", 0) + 1
            if rank == 1 and self.calls == 8:
                stuck()
            return super().forward(batch)
    stage = PipelineStage(Layer(8, 8), rank, dist.get_world_size(),
                          torch.device("cpu"))
    last = rank == dist.get_world_size() - 1
    schedule = ScheduleGPipe(stage, 2, loss_fn=nn.functional.mse_loss)
    for step in range(6):
        if step == 2 and rank != 1:
            ready()
        schedule.step(*[torch.ones(4, 8)] if rank == 0 else [],
                      **{"target": torch.ones(4, 8)} if last else {})


def dcp(rank):
    """Rank 1 is stuck in the state_dict() of what it saves."""
    import torch.distributed.checkpoint as dcp

    class Sampler:
        def state_dict(self):
            if rank == 1:
                stuck()
            return {"index": 3}

        def load_state_dict(self, state):
            pass
    ready()
    dcp.save({"model": nn.Linear(4, 4).state_dict(), "sampler": Sampler()},
             checkpoint_id=os.path.join(os.environ["ZOO_READY"], "..", "ckpt"))


def dcp_rank_zero(rank):
    """Rank 0 alone saves: a collective that the others do not call."""
    import torch.distributed.checkpoint as dcp
    ready()
    if rank == 0:
        dcp.save({"model": nn.Linear(4, 4).state_dict()},  # saves alone
                 checkpoint_id=os.environ["ZOO_READY"] + "/../ckpt")
    dist.all_reduce(torch.ones(8))


def dcp_async(rank):
    """The planner of an asynchronous save is stuck on rank 1, in a thread."""
    import torch.distributed.checkpoint as dcp

    class Writer(dcp.FileSystemWriter):
        def write_data(self, plan, planner):
            if rank == 1:
                stuck()
            return super().write_data(plan, planner)
    path = os.path.join(os.environ["ZOO_READY"], "..", "ckpt")
    ready()
    dcp.async_save({"model": nn.Linear(4, 4).state_dict()},
                   storage_writer=Writer(path)).result()


def local_work(number):
    if number == 1:
        stuck()
    return number


def rpc(rank):
    """Rank 0 waits for a call that rank 1 does not end."""
    import torch.distributed.rpc as rpc
    rpc.init_rpc("worker%d" % rank, rank=rank,
                 world_size=int(os.environ["WORLD_SIZE"]))
    if rank != 1:
        ready()
    if rank == 0:
        for number in (2, 1):
            rpc.rpc_sync("worker%d" % number, local_work, args=(number,),
                         timeout=0)  # calls
    rpc.shutdown(timeout=0)


def join_uneven(rank):
    """The Join context shadows collectives, and one rank is stuck in its
    last batch."""
    from torch.distributed.algorithms.join import Join
    from torch.nn.parallel import DistributedDataParallel
    model = DistributedDataParallel(nn.Linear(4, 4))
    with Join([model]):
        for step in range(3 + rank):
            if step == 4:
                stuck()
            model(torch.ones(2, 4)).sum().backward()
        ready()


def main():
    rank = int(os.environ["RANK"])
    if sys.argv[1] != "rpc":
        dist.init_process_group("gloo", timeout=datetime.timedelta(hours=1))
    globals()[sys.argv[1]](rank)


if __name__ == "__main__":
    main()
