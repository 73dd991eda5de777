"""Three ranks; the one that the others wait for waits itself, for a thread or
a child of its own, or for what another program owns."""
import asyncio
import concurrent.futures
import fcntl
import multiprocessing
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import torch
import torch.distributed as dist
from zoo_job import pipe, ready


def upload(lock, started):
    with lock:
        started.set()
        while True:
            time.sleep(1)  # holds the lock


def lock(rank):
    """The lock of the statistics is with a thread that uploads them."""
    if rank == 0:
        held, started = threading.Lock(), threading.Event()
        threading.Thread(target=upload, args=(held, started), name="uploader",
                         daemon=True).start()
        started.wait()
    ready()
    if rank == 0:
        with held:  # waits for the lock
            pass
    dist.all_reduce(torch.ones(8))


def write_checkpoint(path):
    with open(path, "wb") as file:  # checkpoint
        torch.save({"step": 3}, file)


def checkpoint(rank):
    """A thread of rank 2 writes, its main thread waits for the thread."""
    ready()
    if rank == 2:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            pool.submit(write_checkpoint, pipe()).result()  # joins
    dist.barrier()


def tokenize():
    ready()
    while True:
        time.sleep(1)  # child


def child(rank):
    """Rank 1 waits for a process of multiprocessing."""
    if rank == 1:
        process = multiprocessing.get_context("fork").Process(
            target=tokenize, daemon=True)
        process.start()
        process.join()  # joins the child
    ready()
    dist.barrier()


def pool(rank):
    """Rank 1 waits for its multiprocessing.Pool."""
    if rank == 1:
        with multiprocessing.get_context("fork").Pool(2) as workers:
            workers.map(tokenize_one, range(4))  # maps
    ready()
    dist.barrier()


def tokenize_one(number):
    if number == 2:
        ready()
        open(pipe()).read()  # pool child
    return number


def program(rank):
    """Rank 0 waits for a program."""
    ready()
    if rank == 0:
        subprocess.run(["sleep", "1000000"])  # program
    dist.broadcast_object_list([None], 0)


async def fetch(queue):
    return await queue.get()  # awaits


def coroutine(rank):
    """Rank 1 waits in asyncio for an item that never comes."""
    async def run():
        queue = asyncio.Queue()
        ready()
        await asyncio.gather(fetch(queue), asyncio.sleep(1000000))
    if rank == 1:
        asyncio.run(run())
    ready()
    dist.barrier()


def server():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    return listener


def data_server(rank):
    """Rank 1 waits for the answer of a server."""
    ready()
    if rank == 1:
        listener = server()
        with socket.create_connection(listener.getsockname()) as client:
            client.sendall(b"GET batch\n")
            client.recv(100)  # answer
    dist.barrier()


def download(rank):
    """Rank 0 downloads, the others wait at the barrier."""
    ready()
    if rank == 0:
        listener = server()
        url = "http://127.0.0.1:%d/weights" % listener.getsockname()[1]
        urllib.request.urlopen(url)  # downloads
    dist.barrier()


def file_lock(rank):
    """Rank 0 calls a collective with the lock of the cache that all take."""
    path = os.path.join(os.environ["ZOO_READY"], "..", "cache.lock")
    with open(path, "w") as file:
        if rank != 0:
            dist.barrier()
        else:
            fcntl.flock(file, fcntl.LOCK_EX)
            dist.barrier()
        ready()
        if rank != 0:
            fcntl.flock(file, fcntl.LOCK_EX)  # takes the lock
        dist.all_reduce(torch.ones(8))  # with the lock


def log_pipe(rank):
    """The pipe that rank 1 prints to is full."""
    ready()
    if rank == 1:
        _, write = os.pipe()
        while True:
            os.write(write, b"x" * 4096)  # prints
    dist.barrier()


def own_lock(rank):
    """Rank 2 takes a lock twice."""
    ready()
    if rank == 2:
        own = threading.Lock()
        own.acquire()
        own.acquire()  # twice
    dist.barrier()


def feed(queue):
    for batch in range(2):
        queue.put(batch)
    time.sleep(1000000)  # feeds


def prefetch(rank):
    """Rank 0's own prefetching thread has no more batches."""
    import queue
    batches = queue.Queue(2)
    if rank == 0:
        threading.Thread(target=feed, args=(batches,), name="prefetch",
                         daemon=True).start()
    for step in range(3):
        if step == 2:
            ready()
        if rank == 0:
            batches.get()  # next batch
        dist.all_reduce(torch.ones(8))


def main():
    dist.init_process_group("gloo")
    dist.all_reduce(torch.ones(8))
    globals()[sys.argv[1]](dist.get_rank())


if __name__ == "__main__":
    main()
