"""Threads that block in C functions for ever, and threads that compute. The
main thread prints {tid: wanted call} and reads its standard input."""
import contextlib
import ctypes
import functools
import json
import os
import queue
import select
import socket
import sys
import threading
import time

LOCK = threading.Lock()
LOCK.acquire()
RLOCK = threading.RLock()
RLOCK.acquire()
LEFT, RIGHT = socket.socketpair()
PIPE = os.pipe()
LIFE = os.pipe()
CHILD = os.fork()
if CHILD == 0:
    # Until the parent has ended.
    os.close(LIFE[1])
    os.read(LIFE[0], 1)
    os._exit(0)
LIBC = ctypes.CDLL(None)
VERSION = sys.version_info[:2]


def method_of_a_global():
    LOCK.acquire()


def method_of_a_local():
    lock = LOCK
    lock.acquire()


def method_of_an_attribute(holder=threading):
    holder.LOCK = LOCK
    holder.LOCK.acquire(True, -1)


def entered():
    with LOCK:
        pass


def entered_twice():
    with open(os.devnull) as first:
        with RLOCK:
            print(first)


def bound_before():
    wait = LOCK.acquire
    wait()


def bound_by_another_name(nap=time.sleep):
    nap(1000)


def with_keywords():
    LOCK.acquire(blocking=True, timeout=-1)


def with_a_tuple():
    arguments = (True,)
    LOCK.acquire(*arguments)


def with_a_dict():
    LOCK.acquire(*(), **{"timeout": -1})


def of_a_class():
    type(LOCK).acquire(LOCK)


def inner_call():
    print("a", max(1, LOCK.acquire()))


def got():
    queue.SimpleQueue().get()


def received():
    LEFT.recv(10)


def selected():
    select.select([PIPE[0]], [], [])


def polled():
    poll = select.poll()
    poll.register(PIPE[0], select.POLLIN)
    poll.poll()


def slept():
    time.sleep(1000)


def waited():
    os.waitpid(CHILD, 0)


def iterated():
    for line in open(PIPE[0], closefd=False):
        print(line)


def in_finally():
    try:
        os.getpid()
    finally:
        LOCK.acquire()


def in_except():
    try:
        raise ValueError(LOCK)
    except ValueError:
        LOCK.acquire()


def in_finally_after_a_raise():
    try:
        raise ValueError
    finally:
        LOCK.acquire()


def behind_a_caught_raise():
    with contextlib.suppress(KeyError):
        raise KeyError
    LOCK.acquire()


def behind_loops_that_return(stop=False):
    for i in range(2):
        for name in "ab":
            with contextlib.suppress(KeyError):
                if stop:
                    return name
                try:
                    continue
                finally:
                    if i:
                        break
    with contextlib.suppress(IndexError):
        str(LOCK.acquire())


def in_a_loop():
    for i in range(3):
        for name in {"a": LOCK}:
            while i >= 0:
                try:
                    LOCK.acquire()
                except ValueError as error:
                    print(error, name)


def in_a_generator():
    def each():
        yield 1
        yield LOCK.acquire()
    for _ in each():
        pass


def in_a_coroutine():
    async def run():
        with LOCK:
            pass
    try:
        run().send(None)
    except StopIteration:
        pass


def in_a_comprehension():
    return [lock.acquire() for lock in [LOCK]]


def with_conditions(flag=True):
    print("x" if flag else "y", *[1], end=str(LOCK.acquire() if flag else 0))


def partly():
    functools.partial(LOCK.acquire, True)()


class Opener(socket.socket):
    def wait(self):
        super().recv(1)


def of_a_base():
    Opener(fileno=os.dup(LEFT.fileno())).wait()


def foreign():
    LIBC.pause()


class Computes:
    def leaf(self, x):
        return x + 1


def computes():
    x = 0
    leaf = Computes().leaf
    while True:
        x = leaf(x) % 1000


CALLS = [
    (method_of_a_global, "_thread.lock.acquire"),
    (method_of_a_local, "_thread.lock.acquire"),
    (method_of_an_attribute, "_thread.lock.acquire"),
    (entered, "_thread.lock.__enter__"),
    (entered_twice, "_thread.RLock.__enter__"),
    (bound_before, "_thread.lock.acquire"),
    (bound_by_another_name, "time.sleep"),
    (with_keywords, "_thread.lock.acquire"),
    (with_a_tuple, "_thread.lock.acquire"),
    (with_a_dict, "_thread.lock.acquire"),
    (of_a_class, "_thread.lock.acquire"),
    (inner_call, "_thread.lock.acquire"),
    (got, "_queue.SimpleQueue.get"),
    (received, "socket.socket.recv"),
    (selected, "select.select"),
    (polled, "select.poll.poll"),
    (slept, "time.sleep"),
    (waited, "posix.waitpid"),
    (iterated, "_io.TextIOWrapper.__next__"),
    (in_finally, "_thread.lock.acquire"),
    (in_except, "_thread.lock.acquire"),
    (in_finally_after_a_raise, "_thread.lock.acquire"),
    (behind_a_caught_raise, "_thread.lock.acquire"),
    (behind_loops_that_return, "_thread.lock.acquire"),
    (in_a_loop, "_thread.lock.acquire"),
    (in_a_generator, "_thread.lock.acquire"),
    (in_a_coroutine, "_thread.lock.__enter__"),
    (in_a_comprehension, "_thread.lock.acquire"),
    (with_conditions, "_thread.lock.acquire"),
    # The callable is of a type that is not known, and has no name.
    (partly, None),
    (of_a_base, "__main__.Opener.recv"),
    # What ctypes calls has the name in the instructions.
    (foreign, "pause"),
]


def run(function, ready):
    tids[function.__name__] = threading.get_native_id()
    ready.set()
    function()


tids = {}
for each in [call[0] for call in CALLS] + [computes, computes]:
    is_ready = threading.Event()
    threading.Thread(target=run, args=(each, is_ready), daemon=True).start()
    is_ready.wait()
wanted = {tids[function.__name__]: [function.__name__, call]
          for function, call in CALLS}
wanted[tids["computes"]] = ["computes", None]
wanted[os.getpid()] = ["main", "_io.BufferedReader.read"]
print(json.dumps(wanted), flush=True)
sys.stdin.buffer.read()
