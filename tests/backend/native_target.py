"""Threads whose native stacks are known: argv names a library to call through,
or "-".

The main thread sleeps below a generator below sorted(); one waits for a lock;
with a library, one sleeps in a callback of its function call_through.
"""
import ctypes
import sys
import threading
import time

READY = []


def deep(depth):
    if depth:
        return deep(depth - 1)
    READY.pop()
    if not READY:
        print("ready", flush=True)
    time.sleep(1000)


def generate():
    yield deep(3)


class Caller:
    def __call__(self):
        return sorted([3, 1], key=lambda _: list(generate()))


def wait_for_lock():
    lock = threading.Lock()
    lock.acquire()
    READY.pop()
    lock.acquire()


def call_back():
    READY.pop()
    time.sleep(1000)
    return 0


def call_library(path):
    kind = ctypes.CFUNCTYPE(ctypes.c_int)
    ctypes.CDLL(path).call_through(kind(call_back))


def main():
    READY.extend(range(1))
    if sys.argv[1] != "-":
        READY.append(1)
        threading.Thread(target=call_library, args=sys.argv[1:2],
                         daemon=True, name="library").start()
    READY.append(1)
    threading.Thread(target=wait_for_lock, daemon=True, name="lock").start()
    while len(READY) > 1:
        time.sleep(0.001)
    Caller()()


main()
