#!/usr/bin/env python3
"""Machines of namespaces, each with its own processes, host name and ranks, and
a way in for `--on exec:`.

Run as a program it is that way: `machines.py FOLDER HOST WORDS...` starts the
words on the machine and passes bytes both ways. It is what ssh is: a process
that, stopped by SIGSTOP, is a network that is cut.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

LIMIT = 120.0
SILENT = "silent"

# The shell of a machine, its process 1: it has told its host name by its prompt
# and starts each line that it reads in the background.
INIT = """
hostname "$1"
echo ready
while read -r line; do eval "exec $line" & done
wait
"""


def why_not():
    """Why there can be no machines here; None: there can."""
    tried = subprocess.run(["unshare", "-p", "-u", "-m", "-f", "--mount-proc",
                            "hostname", "machine"], stderr=subprocess.PIPE,
                           universal_newlines=True)
    if tried.returncode == 0:
        return None
    return "namespaces: " + tried.stderr.strip()


class Machine:
    """A host of its own with ranks; torn down with the test."""

    def __init__(self, test, folder, name):
        self.name = name
        self.process = subprocess.Popen(
            ["unshare", "-p", "-u", "-m", "-f", "--kill-child", "--mount-proc",
             "sh", "-c", INIT, "init", name], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, universal_newlines=True)
        test.addCleanup(self.close)
        test.assertEqual(self.process.stdout.readline(), "ready\n")
        with open("/proc/%d/task/%d/children" % (self.process.pid,
                                                 self.process.pid)) as file:
            self.pid = int(file.read().split()[0])
        with open(os.path.join(folder, name), "w") as file:
            file.write("%d" % self.pid)

    def start(self, argv, **variables):
        """Starts a program there."""
        words = ["env"] + ["%s='%s'" % one for one in variables.items()]
        words += ["'%s'" % word for word in argv]
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()

    def line(self):
        """A line that one of its programs has printed."""
        return self.process.stdout.readline().strip()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Machines:
    """Hosts n1, n2 ... with `each` ranks of one job, which run the program.

    pids[rank] is a rank's pid here, outside of its machine.
    """

    def __init__(self, test, count, each, program):
        self.folder = tempfile.mkdtemp(prefix="probetui-machines-")
        test.addCleanup(shutil.rmtree, self.folder)
        path = os.path.join(self.folder, "train.py")
        with open(path, "w") as file:
            file.write(program)
        self.all = [Machine(test, self.folder, "n%d" % (i + 1))
                    for i in range(count)]
        self.pids = {}
        for number, machine in enumerate(self.all):
            for local in range(each):
                machine.start([sys.executable, path],
                              RANK=number * each + local, LOCAL_RANK=local,
                              WORLD_SIZE=count * each, GROUP_RANK=number,
                              MASTER_ADDR="n1.example", MASTER_PORT="29500",
                              SLURM_JOB_ID="81234",
                              SLURM_JOB_NODELIST="n[1-%d]" % count)
            for local in range(each):
                test.assertEqual(machine.line(), "ready")
        for pid in filter(str.isdigit, os.listdir("/proc")):
            rank = self.rank_of(pid, path)
            if rank is not None:
                self.pids[rank] = int(pid)

    @staticmethod
    def rank_of(pid, path):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                if path.encode() not in file.read().split(b"\0"):
                    return None
            with open("/proc/%s/environ" % pid, "rb") as file:
                names = dict(one.split(b"=", 1)
                             for one in file.read().split(b"\0") if b"=" in one)
            return int(names[b"RANK"])
        except (OSError, KeyError):
            return None

    def on(self, hosts):
        """The option that looks at these hosts."""
        return ["--on", "exec:%s:%s %s %s %%h" % (
            hosts, sys.executable, os.path.abspath(__file__), self.folder)]

    def add_silent(self, host):
        """A host that takes a connection and never answers."""
        with open(os.path.join(self.folder, host), "w") as file:
            file.write(SILENT)

    def relays(self, host=None):
        """Pids of the ways in; to one host."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if (os.path.abspath(__file__).encode() in words[1:2]
                    and self.folder.encode() in words
                    and (host is None or words[3] == host.encode())):
                found.append(int(pid))
        return found


def tracer_of(pid):
    """The pid of the process that traces it; 0: none does."""
    with open("/proc/%d/status" % pid) as file:
        for line in file:
            if line.startswith("TracerPid:"):
                return int(line.split()[1])
    raise AssertionError("no TracerPid")


def wait_until(test, is_so):
    deadline = time.monotonic() + LIMIT
    while not is_so():
        test.assertLess(time.monotonic(), deadline, "it did not come about")
        time.sleep(0.02)


def copy(source, target):
    while True:
        data = os.read(source, 1 << 16)
        if not data:
            break
        while data:
            data = data[os.write(target, data):]
    os.close(target)


def relay(folder, host, words):
    """The exit status of the words on the machine."""
    try:
        with open(os.path.join(folder, host)) as file:
            pid = file.read()
    except FileNotFoundError:
        print("no route to host %s" % host, file=sys.stderr)
        return 255
    if pid == SILENT:
        signal.pause()
    with subprocess.Popen(
            ["nsenter", "-t", pid, "-p", "-u", "-m"] + words,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE) as node:
        down = threading.Thread(target=copy, daemon=True,
                                args=(0, os.dup(node.stdin.fileno())))
        node.stdin.close()
        down.start()
        copy(node.stdout.fileno(), os.dup(1))
        return node.wait()


if __name__ == "__main__":
    sys.exit(relay(sys.argv[1], sys.argv[2], sys.argv[3:]))
