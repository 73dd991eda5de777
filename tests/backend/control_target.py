"""control_target.py [THREADS]: a program to be stopped and stepped from outside.

It says "ready", works in a loop, and answers each line of its input with how
far it has come, but "thread" (a new one runs), "exec" (it begins anew),
"spawn FILE" (a child has that as its input), "interpreter" (its thread has a
state in another interpreter, too), "trace" (it has a trace function
from then on), "block" (its thread blocks SIGTRAP), "block another" (a new
thread blocks it and calls once() again and again), "unblock" (that thread
blocks it no more) and "starve" (a thread begins, but cannot run any Python
before the next line). At the end of the input it says
"done", how far it came and whether its sums are right, and ends with status 7.
"""
import os
import signal
import sys
import threading
import time

state = {"number": 0, "done": False, "blocks": True, "traced": 0}


def double(value):
    twice = value + value
    return twice


def work(number):
    total = 0
    for i in range(3):
        total += double(number + i)
    if total % 2 == 0:
        total += 1
    return total


def loop():
    number = 0
    checksum = 0
    # From here on a pause finds this frame.
    print("ready", flush=True)
    while not state["done"]:
        checksum += work(number)
        number += 1
        state["number"] = number
        time.sleep(0.0005)
    return number, checksum


def once():
    value = 1
    return value


def call_once_blocking(begun):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTRAP])
    begun.set()
    while not state["done"]:
        if not state["blocks"]:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTRAP])
        once()
        time.sleep(0.001)


def block_another():
    begun = threading.Event()
    threading.Thread(target=call_once_blocking, args=(begun,)).start()
    begun.wait()


def starve():
    import _thread
    import ctypes
    byte = ctypes.create_string_buffer(1)
    read = ctypes.PyDLL(None).read  # with the GIL
    interval = sys.getswitchinterval()
    # On a busy machine the usual 5 ms may be over before read() is called.
    sys.setswitchinterval(1000)
    _thread.start_new_thread(once, ())
    read(0, byte, 1)
    sys.setswitchinterval(interval)


def interpret():
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    made = interpreters.create()
    time.sleep(0.3)
    interpreters.destroy(made)


def listen():
    for line in iter(sys.stdin.readline, ""):
        if line == "thread\n":
            threading.Thread(target=once).start()
        elif line == "exec\n":
            os.execv(sys.executable, [sys.executable] + sys.argv)
        elif line.startswith("spawn "):
            os.posix_spawn("/bin/true", ["true"], {}, file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, line[6:-1], os.O_RDONLY, 0)])
        elif line == "interpreter\n":
            interpret()
        elif line == "starve\n":
            starve()
        elif line == "block\n":
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTRAP])
        elif line == "block another\n":
            block_another()
        elif line == "unblock\n":
            state["blocks"] = False
        elif line == "trace\n":
            sys.settrace(lambda *_: None)
        print(state["number"], flush=True)
        if line == "trace\n":
            state["traced"] = 1
    state["done"] = True


def idle(event):
    event.wait()


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    event = threading.Event()
    for _ in range(count):
        threading.Thread(target=idle, args=(event,), daemon=True).start()
    threading.Thread(target=listen, daemon=True).start()
    number, checksum = loop()
    expected = sum(work(i) for i in range(number))
    print("done", number, checksum == expected, flush=True)
    sys.exit(7)


if __name__ == "__main__":
    main()
