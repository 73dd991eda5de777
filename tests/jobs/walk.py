"""A program to walk through with a debugger: walk.py DIALECT [SOCKET].

console: pdb on standard input and output, as it is. pdb: the same on a Unix
socket. ipdb: on a pseudo terminal, relayed to a Unix socket. remote-pdb: on
TCP. Where a client is waited for, a line says where (remote-pdb's own).
outside: no debugger; a line says that it waits, until it is to be stopped from
outside. agent: the same with an agent, until IS_TO_GO is true.
"""
import os
import sys


def console(frame):
    import pdb
    pdb.Pdb(nosigint=True).set_trace(frame)


def accept(path):
    import socket
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(1)
    print("waits unix:" + path, flush=True)
    client = server.accept()[0]
    server.close()
    return client


def plain(frame):
    import pdb
    file = accept(sys.argv[2]).makefile("rw")
    pdb.Pdb(stdin=file, stdout=file, nosigint=True).set_trace(frame)


def relay(read, write):
    import threading

    def run():
        try:
            while True:
                data = read()
                if not data:
                    break
                write(data)
        except OSError:
            pass

    threading.Thread(target=run, daemon=True).start()


def relayed(frame):
    import ipdb
    import pty
    import termios
    controller, line = pty.openpty()
    mode = termios.tcgetattr(line)
    mode[3] &= ~termios.ECHO
    termios.tcsetattr(line, termios.TCSANOW, mode)
    client = accept(sys.argv[2])
    sys.stdin = os.fdopen(line, "r")
    sys.stdout = sys.stderr = os.fdopen(os.dup(line), "w", 1)
    relay(lambda: os.read(controller, 1024), client.sendall)
    relay(lambda: client.recv(1024), lambda data: os.write(controller, data))
    ipdb.set_trace(frame)


def remote(frame):
    from remote_pdb import RemotePdb
    RemotePdb("127.0.0.1", 0).set_trace(frame)


def outside(frame):
    """A process ignores SIGTRAP from just before a watch is set in it on."""
    import signal
    import time
    print("waits outside", flush=True)
    ignored = 0
    while not ignored >> (signal.SIGTRAP - 1) & 1:
        time.sleep(0.01)
        with open("/proc/self/status") as file:
            ignored = [int(line.split()[1], 16) for line in file
                       if line.startswith("SigIgn:")][0]
    time.sleep(0.1)


IS_TO_GO = False


def agent(frame):
    import probetui
    import time
    probetui.listen()
    print("waits agent", flush=True)
    while not IS_TO_GO:
        time.sleep(0.01)


def stop():
    dialects = {"console": console, "pdb": plain, "ipdb": relayed,
                "remote-pdb": remote, "outside": outside,
                "agent": agent}
    dialects[sys.argv[1]](sys._getframe(1))


def add(a, b):
    total = a + b
    return total


def func(i):
    doubled = i * 2
    result = add(doubled, i)
    return result


def main():
    results = []
    stop()
    first = 1
    second = first + 1
    third = second + 1
    for i in range(3):
        results.append(func(i))
    return results


if __name__ == "__main__":
    found = main()
    print("results", found, file=sys.__stdout__, flush=True)
