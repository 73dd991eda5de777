"""Jobs whose ranks other launchers than torchrun start: python frameworks.py KIND FILE.

Each rank appends "RANK PID" to FILE, once torch.distributed (or jax) has told it its number, other
processes "NAME PID"; then all wait to be killed. Two ranks, of which a name below is the launcher.
"""
import os
import signal
import subprocess
import sys
import threading

COUNT = 2


def tell(path, name):
    """A process that the test waits for."""
    with open(path, "a") as file:
        file.write("%s %d\n" % (name, os.getpid()))


def wait():
    while True:
        signal.pause()


def rank(number, path):
    """A rank that gets its number as an argument, and has no variables."""
    import torch.distributed as dist
    dist.init_process_group("gloo", init_method="file://" + path + ".store", rank=number,
                            world_size=COUNT)
    dist.barrier()
    tell(path, dist.get_rank())
    wait()


def stale(number, path):
    """As rank(), where a shell has exported RANK=0."""
    assert os.environ["RANK"] == "0"
    rank(number, path)


def run_spawn(path):
    import torch.multiprocessing as mp
    mp.spawn(rank, (path,), nprocs=COUNT)


def run_process(path):
    """multiprocessing.Process, forked."""
    import multiprocessing
    context = multiprocessing.get_context("fork")
    ranks = [context.Process(target=rank, args=(number, path)) for number in range(COUNT)]
    for each in ranks:
        each.start()
    for each in ranks:
        each.join()


def run_stale(path):
    os.environ["RANK"] = "0"
    import torch.multiprocessing as mp
    mp.spawn(stale, (path,), nprocs=COUNT)


def run_late(path):
    """One process that imports torch, and sets its number at the end of its input."""
    import torch  # noqa: F401
    tell(path, "early")
    sys.stdin.read()
    os.environ.update(RANK="3", WORLD_SIZE="8", MASTER_ADDR="127.0.0.1", MASTER_PORT="29765")
    tell(path, 3)
    wait()


def run_unready(path):
    """Ranks as Lightning starts them, before they have a process group."""
    import torch  # noqa: F401
    os.environ.update(NODE_RANK="0", LOCAL_RANK=os.environ.get("LOCAL_RANK", "0"),
                      WORLD_SIZE=str(COUNT), MASTER_ADDR="127.0.0.1", MASTER_PORT="29766")
    if os.environ["LOCAL_RANK"] == "0":
        subprocess.Popen([sys.executable] + sys.argv, env=dict(os.environ, LOCAL_RANK="1"))
    tell(path, os.environ["LOCAL_RANK"])
    wait()


def run_claims(path):
    """Two processes that both say RANK=0, and have no process group."""
    for _ in range(COUNT):
        subprocess.Popen([sys.executable, __file__, "claim", path],
                         env=dict(os.environ, RANK="0", WORLD_SIZE=str(COUNT)))
    wait()


def run_claim(path):
    tell(path, "claim")
    wait()


class Items:
    """A data set whose items say in which process they were made."""

    def __init__(self, path):
        self.path = path

    def __len__(self):
        return 1

    def __getitem__(self, index):
        tell(self.path, "worker")
        wait()


def load(number, path):
    """A rank with a DataLoader whose worker makes one item for ever."""
    import torch.distributed as dist
    from torch.utils.data import DataLoader
    dist.init_process_group("gloo", init_method="file://" + path + ".store", rank=number,
                            world_size=COUNT)
    dist.barrier()
    tell(path, dist.get_rank())
    if number == 1:
        next(iter(DataLoader(Items(path), num_workers=1)))
    wait()


def run_loader(path):
    import torch.multiprocessing as mp
    mp.spawn(load, (path,), nprocs=COUNT)


def run_environment(path):
    """A rank of torchrun."""
    import torch.distributed as dist
    dist.init_process_group("gloo")
    tell(path, dist.get_rank())
    wait()


def in_accelerate(path):
    """PartialState().process_index is 0 in each of these processes, and so is RANK."""
    import torch.distributed as dist
    from accelerate import PartialState
    PartialState()
    tell(path, dist.get_rank())
    wait()


def run_debug_launcher(path):
    from accelerate import debug_launcher
    debug_launcher(in_accelerate, (path,), num_processes=COUNT)


def run_lightning(path):
    """The launcher that starts this script again: rank 0 is the parent of rank 1."""
    from lightning.fabric import Fabric
    fabric = Fabric(accelerator="cpu", devices=COUNT, strategy="ddp")
    fabric.launch()
    tell(path, fabric.global_rank)
    wait()


def in_ray(config):
    import torch.distributed as dist
    tell(config["path"], dist.get_rank())
    threading.Event().wait()


def run_ray(path):
    import ray
    from ray.train import ScalingConfig
    from ray.train.torch import TorchTrainer
    ray.init(num_cpus=COUNT + 1, include_dashboard=False, log_to_driver=False)
    TorchTrainer(in_ray, train_loop_config={"path": path},
                 scaling_config=ScalingConfig(num_workers=COUNT)).fit()


def in_jax(number, path, port):
    import jax
    jax.distributed.initialize("127.0.0.1:%d" % port, COUNT, number)
    tell(path, jax.process_index())
    wait()


def run_jax(path):
    import multiprocessing
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    context = multiprocessing.get_context("spawn")
    ranks = [context.Process(target=in_jax, args=(number, path, port)) for number in range(COUNT)]
    for each in ranks:
        each.start()
    for each in ranks:
        each.join()


if __name__ == "__main__":
    globals()["run_" + sys.argv[1]](sys.argv[2])
