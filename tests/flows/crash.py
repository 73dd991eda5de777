"""A job of gloo ranks that ends as the variable FLOW says, in step STEP; its
argument is FOLDER. Each rank makes FOLDER/ready.RANK at its second step, and waits for FOLDER/go at its
third, so that a test can watch from there on."""
import asyncio
import os
import signal
import sys
import threading
import time
from datetime import timedelta

import torch
import torch.distributed as dist

NAME, FOLDER = os.environ["FLOW"], sys.argv[1]
STEP = 4
TIMEOUT = 8
GUILTY = int(os.environ.get("GUILTY", "1"))


def load(step):
    raise ValueError("bad batch %d" % step)  # LOAD


def chain(step):
    try:
        load(step)
    except ValueError as error:
        raise RuntimeError("step %d failed" % step) from error  # CHAIN


def during(step):
    try:
        load(step)
    except ValueError:
        {}["loss"]  # DURING


def group(step):
    async def one():
        load(step)

    async def both():
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(one())
    asyncio.run(both())  # GROUP


def saver(step):
    raise OSError(28, "No space left on device")  # SAVER


def in_thread(step):
    thread = threading.Thread(target=saver, args=[step], name="saver")
    thread.start()
    thread.join()
    sys.exit("the saver has died")


def lost_thread(step):
    threading.Thread(target=saver, args=[step], name="saver").start()
    threading.Event().wait()  # LOST


def eat(step):
    kept = []
    while True:
        kept.append(bytearray(os.urandom(1 << 20)))  # EAT


class Broken(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        if NAME == "worker-killed":
            os.kill(os.getpid(), signal.SIGKILL)
        raise LookupError("no sample %d" % index)  # SAMPLE


def workers(step):
    for _ in torch.utils.data.DataLoader(Broken(), num_workers=1):
        pass


def leave(step):
    dist.destroy_process_group()
    os._exit(0)


ENDS = {
    "raise": load, "record": load, "chain": chain, "during": during,
    "group": group, "thread": in_thread, "lost-thread": lost_thread,
    "oom": eat,
    "killed": lambda step: os.kill(os.getpid(), signal.SIGKILL),
    "terminated": lambda step: os.kill(os.getpid(), signal.SIGTERM),
    "segv": lambda step: os.kill(os.getpid(), signal.SIGSEGV),
    "abort": lambda step: os.abort(),
    "exit0": leave,
    "exit3": lambda step: sys.exit(3),
    "asleep": lambda step: time.sleep(10 * TIMEOUT),  # ASLEEP
    "worker-killed": workers, "worker-raises": workers,
    "restart": lambda step: attempt() < 2 and load(step),
    "restart-lost": lambda step: load(step),
    "orphans": lambda step: time.sleep(1000),  # ORPHAN
    "resolves": lambda step: time.sleep(4),
}


def attempt():
    return int(os.environ["TORCHELASTIC_RESTART_COUNT"])


def wait_for(name):
    while not os.path.exists(os.path.join(FOLDER, name)):
        time.sleep(0.05)


def train(rank):
    for step in range(10 if NAME == "slow" else 40):
        values = torch.ones(8 if NAME != "size" or rank != GUILTY
                            or step != STEP else 9)
        if step == 1:
            with open(os.path.join(FOLDER, "ready.%d" % rank), "w") as file:
                file.write(str(os.getpid()))
        if step == 2:
            wait_for("go")
        if step == STEP and (rank == GUILTY or NAME == "all"):
            ENDS.get(NAME if NAME != "all" else "raise", lambda step: None)(step)
        if step == STEP and rank == GUILTY and NAME == "other-op":
            dist.broadcast(values, 0)  # OTHER
        if NAME == "slow" and rank == GUILTY:
            time.sleep(1.2)
        dist.all_reduce(values)  # REDUCE
        time.sleep(0.05)


def join_group():
    """Enters the control group, whose limit of memory is small."""
    with open(os.path.join(os.environ["FLOW_CGROUP"], "cgroup.procs"), "w") as file:
        file.write(str(os.getpid()))


def rendezvous():
    """A new store for each attempt: in that of torchrun, ranks of one attempt
    may find the addresses of the attempt before."""
    if not NAME.startswith("restart"):
        return {}
    return {"init_method": "file://%s/store.%d" % (FOLDER, attempt()),
            "rank": int(os.environ["RANK"]),
            "world_size": int(os.environ["WORLD_SIZE"])}


def main():
    if NAME == "oom" and int(os.environ["RANK"]) == GUILTY:
        join_group()
    if NAME == "never-came" and int(os.environ["RANK"]) == GUILTY:
        time.sleep(1000)  # NEVER
    dist.init_process_group("gloo", timeout=timedelta(seconds=TIMEOUT if NAME in (
        "asleep", "size", "other-op") else 60), **rendezvous())
    train(dist.get_rank())
    dist.destroy_process_group()


if __name__ == "__main__":
    if NAME == "record":
        from torch.distributed.elastic.multiprocessing.errors import record
        main = record(main)
    main()
