"""Jobs of torchrun with gloo whose ranks take steps until they are told to end,
and know whether their result is right. PROBETUI_TORCH_PYTHON names the
Python."""
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile

import pythons
from nodes import LIMIT, environment

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("SRCDIR") or os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(SOURCE, "tests", "agent"))
from agents import wait_for  # noqa: E402

PYTHON = os.environ.get("PROBETUI_TORCH_PYTHON")
WHY_NOT = pythons.why_no_torch_2(PYTHON)
if WHY_NOT:
    PYTHON = None
# Of a collective, in seconds.
SECONDS = float(os.environ.get("PROBETUI_LIMIT", "5"))
BEGIN = 120
PROGRAM = """
import atexit, datetime, os, sys, time
rank = int(os.environ["RANK"])
agents = os.environ["AGENTS"].split(",")
if str(rank) in agents:
    sys.path.insert(0, os.environ["AGENT_PATH"])
    import probetui
    probetui.listen()
import torch, torch.distributed as dist
dist.init_process_group("gloo")
count, ones = dist.get_world_size(), torch.ones(4)
dist.barrier()
# Before that, ranks wait for each other's start.
limit = datetime.timedelta(seconds=float(os.environ["SECONDS"]))
dist.group.WORLD._get_backend(ones.device)._set_default_timeout(limit)
with open("pid.%d.new" % rank, "w") as file:
    file.write(str(os.getpid()))
os.rename("pid.%d.new" % rank, "pid.%d" % rank)
total = number = 0
if os.environ["KIND"] == "send":
    group = dist.new_group(timeout=limit)
def exchange(value):
    # The same sum, of two ranks.
    other = value.clone()
    if rank == 0:
        dist.send(value, 1, group)
        dist.recv(other, 1, group)
    else:
        dist.recv(other, 0, group)
        dist.send(value, 0, group)
    value += other
def step(number):
    value = ones * (rank + number)
    if os.environ["KIND"] == "send":
        exchange(value)
    else:
        dist.all_reduce(value)
    return int(value[0])
def leave():
    # The others lose the connection, and torchrun ends none of them yet.
    dist.destroy_process_group()
    while os.path.exists("raise.%d" % rank):
        time.sleep(0.01)
while True:
    end = torch.tensor([float(os.path.exists("end"))])
    dist.broadcast(end, 0)
    if end.item() == 1:
        break
    if os.path.exists("raise.%d" % rank):
        atexit.register(leave)
        raise ValueError("rank %d raises" % rank)
    number += 1
    total += step(number)
    with open("steps.%d" % rank, "w") as file:
        file.write(str(number))
    time.sleep(0.01)
dist.barrier()
dist.destroy_process_group()
right = sum(count * n + count * (count - 1) // 2 for n in range(1, number + 1))
# The line in one write: ranks share the output.
os.write(1, b"result %d %s\\n" % (rank, b"right" if total == right else b"wrong"))
"""
LINES = PROGRAM.split("\n")
EXCHANGE_LINE = LINES.index("        exchange(value)") + 1
STEP_LINE = LINES.index("    value = ones * (rank + number)") + 1


class Job:
    def __init__(self, count, agents=(), seconds=SECONDS, kind="sum"):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "job.py")
        with open(self.path, "w") as file:
            file.write(PROGRAM)
        self.output = open(os.path.join(self.folder.name, "output"), "w+")
        self.process = subprocess.Popen(
            pythons.torchrun(PYTHON, count) + [self.path],
            cwd=self.folder.name,
            env=environment(OMP_NUM_THREADS="1", SECONDS=str(seconds),
                            KIND=kind,
                            AGENTS=",".join(map(str, agents)),
                            AGENT_PATH=os.path.join(SOURCE, "agent")),
            stdin=subprocess.DEVNULL, stdout=self.output,
            stderr=subprocess.STDOUT, start_new_session=True)
        self.count, self.seconds = count, seconds

    def file(self, name):
        return os.path.join(self.folder.name, name)

    def text(self):
        with open(self.output.name) as file:
            return file.read()

    def check(self):
        if self.process.poll() is not None:
            raise AssertionError("the job has ended: " + self.text())

    def wait(self, is_so, what, limit=BEGIN):
        def look():
            found = is_so()
            if not found:
                self.check()
            return found
        return wait_for(look, what, limit)

    def pids(self):
        """By rank."""
        self.wait(lambda: len(glob.glob(self.file("pid.?"))) == self.count
                  and self.steps() > 0, "the steps")
        pids = []
        for rank in range(self.count):
            with open(self.file("pid.%d" % rank)) as file:
                pids.append(int(file.read()))
        return pids

    def steps(self):
        """Of the last rank; it may be just writing."""
        try:
            with open(self.file("steps.%d" % (self.count - 1))) as file:
                return int(file.read() or "0")
        except FileNotFoundError:
            return 0

    def wait_for_steps(self, count=5):
        self.pids()
        target = max(self.steps(), 1) + count
        self.wait(lambda: self.steps() >= target, "more steps")

    def outlast(self, factor=1.4):
        """Until a process has waited longer than a collective may."""
        waits = subprocess.Popen(["sleep", str(self.seconds * factor)])
        waits.wait()
        self.check()

    def end(self):
        """The ranks whose result is right, once it has ended well."""
        open(self.file("end"), "w").close()
        status = self.process.wait(LIMIT)
        text = self.text()
        if status != 0:
            raise AssertionError("status %d: %s" % (status, text))
        return sorted(map(int, re.findall(r"^result (\d+) right$", text,
                                          re.M)))

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            for name in glob.glob(self.file("pid.?")):
                with open(name) as file:
                    pid = int(file.read())
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        self.output.close()
        self.folder.cleanup()
