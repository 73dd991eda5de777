"""contract_target.py MODE SOCKET: a program with a pdb behind a socket.

It says "ready" and where when the socket is there (a path, or "tcp"), and
takes one client. MODE `stop` stops once a turn, `run` stops once and then
waits for a line on standard input, `once` stops once and says "went on",
`slow` does so before a line that takes a moment, `fail` opens a post-mortem a
turn. A second thread sleeps meanwhile. MODE `work` has no pdb: it runs;
`raise` has none, and raises what nobody catches.
"""
import pdb
import socket
import sys
import threading
import time


class Sleeper(threading.Thread):
    """What is not stopped is read from outside."""

    def __init__(self):
        super().__init__(daemon=True)
        self.never = threading.Event()

    def run(self):
        elsewhere = "another thread"
        self.never.wait()
        return elsewhere


def work(number):
    total = number + 1
    total += 1
    return total


def stop(debugger):
    number = 0
    while True:
        debugger.set_trace()
        number = work(number)
        number += 1


def run(debugger):
    number = 0
    debugger.set_trace()
    sys.stdin.readline()
    return number


def once(debugger):
    number = 0
    debugger.set_trace()
    number = work(number)
    print("went on", number, flush=True)


def slow(debugger):
    number = 0
    debugger.set_trace()
    time.sleep(0.03)
    number = work(number)
    print("went on", number, flush=True)


def work_on():
    number = 0
    while True:
        number = work(number)
        time.sleep(0.001)


def fail(debugger):
    while True:
        try:
            raise RuntimeError("boom")
        except RuntimeError as error:
            debugger.reset()
            debugger.interaction(None, error.__traceback__)


def boom():
    number = 0
    raise RuntimeError("boom %d" % number)


def main():
    mode, where = sys.argv[1:]
    if mode == "raise":
        Sleeper().start()
        print("ready", where, flush=True)
        boom()
    if mode == "work":
        Sleeper().start()
        print("ready", where, flush=True)
        work_on()
    is_path = where != "tcp"
    server = socket.socket(socket.AF_UNIX if is_path else socket.AF_INET)
    server.bind(where if is_path else ("127.0.0.1", 0))
    server.listen(1)
    Sleeper().start()
    print("ready", where if is_path else server.getsockname()[1], flush=True)
    connection = server.accept()[0]
    stream = connection.makefile("rw")
    {"stop": stop, "run": run, "once": once, "slow": slow,
     "fail": fail}[mode](pdb.Pdb(stdin=stream, stdout=stream))


if __name__ == "__main__":
    main()
