#!/usr/bin/env python3
"""Starts N ranks of a script, as torchrun does, and ends them with itself.

    launch.py [-n RANKS] [--port PORT] [--together] SCRIPT [ARGUMENTS...]

Sets RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, GROUP_RANK, MASTER_ADDR
and MASTER_PORT. A rank that ends leaves the others alone; with --together one
that fails ends them all. The port and the pids go to standard output in one
line of JSON.
"""
import argparse
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys

PR_SET_PDEATHSIG = 1
# peers.py is a library to the jobs, not a part of them.
LIBRARIES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                         "site-packages")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def start(rank, count, port, command):
    environment = dict(
        os.environ, RANK=str(rank), LOCAL_RANK=str(rank),
        WORLD_SIZE=str(count), LOCAL_WORLD_SIZE=str(count), GROUP_RANK="0",
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), OMP_NUM_THREADS="1",
        PYTHONPATH=os.pathsep.join(
            [LIBRARIES, os.environ.get("PYTHONPATH", "")]).rstrip(":"))
    return subprocess.Popen(command, env=environment,
                            stdin=subprocess.DEVNULL,
                            preexec_fn=die_with_parent)


def wait_all(ranks, is_together):
    """Waits for all in the order they end, so that none is left a zombie.
    The status of the first that failed."""
    failed = 0
    for _ in ranks:
        pid, status = os.wait()
        rank = [rank for rank in ranks if rank.pid == pid][0]
        rank.returncode = os.WEXITSTATUS(status) or os.WTERMSIG(status)
        failed = failed or rank.returncode
        for other in ranks if is_together and failed else ():
            if other.returncode is None:
                other.terminate()
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", dest="count", type=int, default=8)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--together", action="store_true")
    parser.add_argument("script", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.script:
        parser.error("which script?")
    port = options.port or free_port()
    command = [sys.executable, "-u"] + options.script
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    ranks = []
    try:
        for rank in range(options.count):
            ranks.append(start(rank, options.count, port, command))
        print(json.dumps({"port": port, "pids": [r.pid for r in ranks]}),
              flush=True)
        return wait_all(ranks, options.together)
    except KeyboardInterrupt:
        return 130
    finally:
        for rank in ranks:
            if rank.poll() is None:
                rank.kill()
        for rank in ranks:
            rank.wait()


if __name__ == "__main__":
    sys.exit(main())
