"""What it costs a process that it is stopped and stepped from outside, beside
pdb and debugpy on the same loop in the same run."""
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), name)
                for name in ("backend", "e2e")]
import pythons  # noqa: E402
from nodes import Node, Target, environment  # noqa: E402
from terminals import Terminal  # noqa: E402

BUILD = os.environ.get("BUILDDIR", os.getcwd())
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
         "stderr": subprocess.DEVNULL}
COUNT = 1000000
ROUNDS = 20 # some of them find the machine quiet
TURNS = 5
TRACED = 300000 # of those who trace each line
RANKS = 8
STEPS = 40
MINORS = (8, 11, 13)

# The line of the breakpoint, which is never come to, is in the loop.
LOOP = """
import sys, time


def spin(count):
    number = 0
    for i in range(count):
        number += i & 3
        if number < 0:
            number = 0  # never
    return number


def timed(count):
    start = time.process_time()
    spin(count)
    return time.process_time() - start


if __name__ == "__main__":
    print("ready", flush=True)
    for line in sys.stdin:
        print(timed(int(line)), flush=True)
"""
NEVER = [i + 1 for i, line in enumerate(LOOP.splitlines())
         if line.endswith("# never")][0]

BDB = """
import bdb, sys
import loop
debugger = bdb.Bdb()
assert not debugger.set_break(loop.__file__, %d)
print(debugger.runcall(loop.timed, int(sys.argv[1])))
""" % NEVER

# The words of neighbours have no letter in common: they are drawn whole.
WORDS = [chr(97 + i % 26) * 8 for i in range(STEPS + 1)]
STEPPED = "\n".join(["import time", "", "", "def train():", "    x = 0",
                     "    while True:"]
                    + ["        x += %d  # %s" % (i, WORDS[i])
                       for i in range(STEPS + 1)]
                    + ["", "", "train()", ""])


class Stopper:
    """A node that has one breakpoint set in a process."""

    def __init__(self, pid, path):
        self.pid = pid
        self.node = Node()
        self.node.ask("initialize", protocol=1)
        self.node.discover(pids=[pid])
        self.node.ask("setBreakpoints", pid=pid, breakpoints=[
            {"id": 1, "path": path, "line": NEVER}])

    def close(self):
        self.node.close()


def take(target):
    """Seconds of one turn of the loop."""
    target.say(str(COUNT))
    return float(target.line()[0]) / COUNT


def time_bdb(python, folder):
    run = subprocess.run(python.argv + ["-c", BDB, str(TRACED)], cwd=folder,
                         stdout=subprocess.PIPE, check=True)
    return float(run.stdout) / TRACED


def find_debugpy(python):
    """A folder with debugpy for that Python, if need be by pip; or None."""
    folder = os.path.join(BUILD, "debugpy-%d.%d" % python.version[:2])
    if os.path.isdir(os.path.join(folder, "debugpy")):
        return folder
    try:
        subprocess.run(python.argv + ["-m", "pip", "install", "-q",
                                      "--target", folder, "debugpy"],
                       check=True, timeout=120, **QUIET)
    except (subprocess.SubprocessError, OSError):
        return None
    return folder


class Dap:
    """As much of a client of debugpy as it takes to set a breakpoint."""

    def __init__(self, port):
        deadline = time.monotonic() + 20
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", port))
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        self.file = self.socket.makefile("rb")
        self.seq = 0

    def send(self, command, **arguments):
        self.seq += 1
        data = json.dumps({"seq": self.seq, "type": "request",
                           "command": command,
                           "arguments": arguments}).encode()
        self.socket.sendall(b"Content-Length: %d\r\n\r\n" % len(data) + data)

    def wait(self, kind, name):
        while True:
            length = 0
            for line in iter(self.file.readline, b"\r\n"):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            message = json.loads(self.file.read(length).decode())
            if message["type"] == kind and message.get(
                    "event" if kind == "event" else "command") == name:
                return message

    def close(self):
        self.file.close()
        self.socket.close()


def time_debugpy(python, path, folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    target = subprocess.Popen(
        python.argv + ["-m", "debugpy", "--listen", "127.0.0.1:%d" % port,
                       "--wait-for-client", path],
        env=environment(PYTHONPATH=folder), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    client = None
    try:
        client = Dap(port)
        client.send("initialize", adapterID="bench")
        client.wait("response", "initialize")
        client.send("attach", justMyCode=False)
        client.wait("event", "initialized")
        client.send("setBreakpoints", source={"path": path},
                    breakpoints=[{"line": NEVER}])
        client.wait("response", "setBreakpoints")
        client.send("configurationDone")
        target.stdout.readline()
        target.stdin.write(b"%d\n" % TRACED)
        target.stdin.flush()
        return float(target.stdout.readline()) / TRACED
    finally:
        if client:
            client.close()
        target.kill()
        target.communicate()


def measure_loop(table, python, runs):
    """The least processor time of a turn beside that of the same process
    when nobody touches it: what else the machine does only adds. That it is
    never made to stand, test_outside_counts.py counts."""
    debugpy = find_debugpy(python)
    times = {"plain": [], "armed": [], "let go again": [], "bdb": [],
             "debugpy": []}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "loop.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(LOOP)
        target = Target(argv=python.argv + [path], RANK="0")
        try:
            times["plain"] = [take(target) for _ in range(TURNS * ROUNDS)]
            for _ in range(TURNS):
                stopper = Stopper(target.pid, path)
                times["armed"] += [take(target) for _ in range(ROUNDS)]
                stopper.close()
                times["let go again"] += [take(target)
                                          for _ in range(ROUNDS)]
        finally:
            target.close()
        for _ in range(max(1, runs // 3)):
            times["bdb"].append(time_bdb(python, folder))
            if debugpy:
                times["debugpy"].append(time_debugpy(python, path, debugpy))
    plain = min(times.pop("plain"))
    table.row("%s" % python, *["%.2f" % (min(each) / plain) if each else "-"
                               for each in times.values()])


def time_steps(count):
    """Milliseconds from the key n until the new line of all is drawn."""
    terminal = Terminal(50, 160)
    targets = []
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(STEPPED)
        file.flush()
        try:
            for rank in range(count):
                targets.append(subprocess.Popen(
                    [sys.executable, file.name],
                    env=environment(RANK=str(rank), WORLD_SIZE=str(count))))
            pids = ",".join(str(target.pid) for target in targets)
            terminal.start(["--pid", pids])
            terminal.see(b"train")
            terminal.press(b":break %s:7\r" % os.path.basename(
                file.name).encode())
            terminal.see(WORDS[0].encode())
            time.sleep(1)
            times = []
            for i in range(STEPS):
                terminal.take(0.02)
                terminal.output = b""
                start = time.perf_counter()
                terminal.press(b"n")
                terminal.wait_for(WORDS[i + 1].encode())
                times.append((time.perf_counter() - start) * 1e3)
            return times
        finally:
            terminal.close()
            for target in targets:
                target.kill()
                target.wait()


def measure(make_table, runs):
    table = make_table("breakpoint in a loop, armed and not hit, by plain time",
                       "armed", "let go again", "bdb", "debugpy")
    for minor in MINORS:
        for python in pythons.find():
            if python.version[1] == minor:
                measure_loop(table, python, runs)
                break
    print()
    table = make_table("from the key n to the new line", "median", "least",
                       "most")
    for count in (1, RANKS):
        times = time_steps(count)
        table.row("%d rank%s" % (count, "s" if count > 1 else ""),
                  *["%.2f ms" % value for value in (
                      statistics.median(times), min(times), max(times))])
