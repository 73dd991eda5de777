"""One rank of a job that takes orders, so that a test can bring a long-lived
job into any state and out of it again.

    ORDERS=SOCKET orders.py torch|peers

Orders come over the Unix socket SOCKET, one JSON object a line. The main
thread carries them out, as a training script would. A second thread reads
them, tells where the main thread is, and ends a state: it makes the calls
that the peers' main threads wait for. So nothing is pretended: a state is a
real hang until it is released.
"""
import collections
import functools
import itertools
import json
import mmap
import operator
import os
import queue
import socket
import sys
import threading
import time

if sys.argv[1] == "torch":
    import torch
    import torch.distributed as dist
    from torch.utils.data import DataLoader

    vector = torch.tensor
else:
    import peers as dist

    vector = list


def open_page(rank):
    """A page that the giver of orders writes to when a state shall end: a rank
    that keeps the GIL, or its DataLoader worker, could not be told."""
    with open("%s.%d" % (os.environ["ORDERS"], rank), "r+b") as file:
        return mmap.mmap(file.fileno(), 0)


class Job:
    """What the orders act on."""

    def __init__(self):
        dist.init_process_group("gloo")
        self.rank = dist.get_rank()
        self.size = dist.get_world_size()
        self.groups = [dist.new_group(), dist.new_group()]
        self.page = open_page(self.rank)
        self.chosen = []
        self.owed = None
        self.steps = 0

    def begin(self, chosen):
        self.chosen = chosen
        self.owed = None

    @property
    def is_released(self):
        return self.page[0] != 0

    def is_chosen(self):
        return self.rank in self.chosen

    def release(self):
        if self.owed == "barrier":
            dist.barrier(group=self.groups[1])
        elif self.owed is not None:
            dist.all_reduce(vector([1.0]), group=self.groups[self.owed])


class StuckFiles:
    """A data set on a storage that does not answer."""

    def __init__(self, page):
        self.page = page

    def __len__(self):
        return 4

    def __getitem__(self, index):
        while self.page[0] == 0:
            time.sleep(0.05)
        return index


def reduce_gradients(job):
    dist.all_reduce(vector([1.0]), group=job.groups[0])


def late(job):
    """The chosen ranks come late to a collective."""
    if job.is_chosen():
        while not job.is_released:
            time.sleep(0.1)
    reduce_gradients(job)


def other(job):
    """The chosen ranks are in another collective than the rest."""
    if job.is_chosen():
        job.owed = 0
        dist.barrier(group=job.groups[1])    # another
    else:
        job.owed = "barrier"
        reduce_gradients(job)


def together(job):
    """All are in the same collective, on groups that do not fit."""
    number = job.rank % 2
    job.owed = 1 - number
    dist.all_reduce(vector([1.0]), group=job.groups[number])


def move(job):
    """All step on, until they agree to stop. A chosen rank has the others
    wait a millisecond for each step: else they take all processors."""
    votes = vector([0.0])
    while float(votes[0]) == 0:
        if job.is_chosen():
            time.sleep(0.001)
        job.steps += 1
        votes = vector([float(job.is_released)])
        dist.all_reduce(votes, group=job.groups[0])


def spin(job):
    """The chosen ranks never leave a loop."""
    if job.is_chosen():
        turns = 0
        while job.page[0] == 0:    # endless
            turns += 1
    reduce_gradients(job)


def hold(job):
    """The chosen ranks never leave a call into C and keep the GIL. That they
    are in it can only be told by the call itself: it marks the page."""
    if job.is_chosen():
        mark = map(functools.partial(operator.setitem, job.page, 1), [1])
        flags = iter(functools.partial(operator.getitem, job.page, 0), 1)
        collections.deque(itertools.chain(mark, flags), maxlen=0)
    reduce_gradients(job)


def loader(job):
    """The chosen ranks wait for a DataLoader worker."""
    if job.is_chosen():
        for _ in DataLoader(StuckFiles(job.page), num_workers=1):
            job.steps += 1
    reduce_gradients(job)


def die(job):
    """The chosen ranks are gone; the rest waits for what they owe."""
    if job.is_chosen():
        os._exit(7)
    wait_for_checkpoint(job)


def wait_for_checkpoint(job):
    if dist.__name__ == "torch.distributed":
        dist.distributed_c10d._get_default_store().get("checkpoint")
    else:
        dist.barrier()


def fail(job):
    """The chosen ranks raise and never get out of the interpreter."""
    if job.is_chosen():
        raise RuntimeError("loss is not a number")
    reduce_gradients(job)


ORDERS = {order.__name__: order for order in (
    late, other, together, move, spin, hold, loader, die, fail)}


class Officer(threading.Thread):
    """Reads orders and hands them to the main thread."""

    def __init__(self, job):
        super().__init__(name="orders")
        self.job = job
        self.main = threading.main_thread().ident
        self.orders = queue.Queue()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.environ["ORDERS"])
        self.say(rank=job.rank, pid=os.getpid())

    def say(self, **message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def where(self):
        """The main thread's stack, innermost first."""
        frame = sys._current_frames().get(self.main)
        stack = []
        while frame is not None:
            stack.append([frame.f_code.co_name, frame.f_code.co_filename,
                          frame.f_lineno])
            frame = frame.f_back
        return stack

    def until(self, function, looks):
        """The stack, as soon as the function is in it for that many looks:
        a thread that only waits for a processor stays where it is too."""
        before, same = None, 0
        while same < looks:
            stack = self.where()
            if function not in [row[0] for row in stack]:
                same = 0
            else:
                same = same + 1 if stack == before else 1
            before = stack
            time.sleep(0.01)
        return before

    def run(self):
        for line in self.socket.makefile():
            message = json.loads(line)
            if "order" in message:
                self.orders.put((message["order"], message["chosen"]))
            elif "until" in message:
                self.say(stack=self.until(message["until"],
                                          message["looks"]))
            elif "steps" in message:
                self.say(steps=self.job.steps)
            else:
                self.job.release()
        os._exit(0)


def main():
    job = Job()
    officer = Officer(job)
    officer.start()
    while True:
        name, chosen = officer.orders.get()
        job.begin(chosen)
        ORDERS[name](job)
        officer.say(done=name)


if __name__ == "__main__":
    main()
