"""What it costs a process that an agent is in it: idle, and with a breakpoint
that is not come to, beside bdb and debugpy in the same run; and how long an
expression takes there and back."""
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "backend"))
import pythons  # noqa: E402
from nodes import LIMIT, Node, environment  # noqa: E402
from stops import Dap, find_debugpy  # noqa: E402

AGENT = os.path.join(os.path.dirname(os.path.dirname(HERE)), "agent")
COUNT = 60000
TRACED = 20000     # of those who trace each line
PAIRS = 12
PROCESSES = 3
MINORS = (8, 11, 12, 13)
EVALUATIONS = 200
AGENTS = 64

LOOP = '''
import bdb, sys, time


def some(number):
    total = 0
    for i in range(5):
        total += number & i
    return total


def spin(count):
    number = 0
    for i in range(count):
        number += some(i)
        if number < 0:
            number = 0  # in the loop
    return number


def rare():
    return 1  # elsewhere


def timed(count):
    start = time.process_time()
    spin(count)
    return (time.process_time() - start) / count


def by_bdb(count, line):
    debugger = bdb.Bdb()
    assert not debugger.set_break(__file__, line)
    return debugger.runcall(timed, count)


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    import probetui
    for line in sys.stdin:
        print(eval(line), flush=True)
'''
LINES = {place: [number + 1 for number, line in enumerate(LOOP.splitlines())
                 if line.endswith("# " + place)][0]
         for place in ("in the loop", "elsewhere")}


class Program:
    """LOOP, which evaluates what it is told to."""

    def __init__(self, python, path, **variables):
        self.path = path
        self.process = subprocess.Popen(
            python.argv + [path, AGENT], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env=environment(
                PYTHONDONTWRITEBYTECODE="1", **variables))

    def ask(self, expression):
        self.process.stdin.write(expression.encode() + b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().decode().strip()

    def time(self, count=COUNT):
        """Seconds of a turn, of all threads."""
        return float(self.ask("timed(%d)" % count))

    def close(self):
        self.process.kill()
        self.process.communicate()


class Agent:
    """A connection to an agent's socket; HTTP as short as it can be."""

    def __init__(self, pid):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect("/tmp/pdb-%d/%d.agent" % (os.geteuid(), pid))
        self.file = self.socket.makefile("rb")
        self.session = ""

    def post(self, path, **body):
        data = json.dumps(body).encode()
        self.socket.sendall(
            b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n"
            b"\r\n%s" % (path.encode(), len(data), data))
        length = 0
        for line in iter(self.file.readline, b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.file.read(length).decode())

    def dap(self, command, **arguments):
        answer = self.post("/dap" + self.session, type="request", seq=1,
                           command=command, arguments=arguments)
        assert answer.get("success"), answer
        return answer.get("body") or {}

    def begin(self):
        told = self.dap("initialize", adapterID="bench")
        self.session = "?session=" + told["probetui"]["session"]
        self.dap("attach")
        self.dap("configurationDone")

    def close(self):
        self.file.close()
        self.socket.close()


def ratio(pairs):
    return statistics.median(one / other for one, other in pairs)


def idle_pairs(program):
    """The same process with and without an agent, in turns."""
    program.time()
    for _ in range(PAIRS):
        program.ask("probetui.listen()")
        listening = program.time()
        program.ask("probetui.unlisten()")
        yield listening, program.time()


def armed_pairs(program, line):
    program.ask("probetui.listen()")
    agent = Agent(program.process.pid)
    try:
        agent.begin()
        for _ in range(PAIRS):
            agent.dap("setBreakpoints", source={"path": program.path},
                      breakpoints=[{"line": line}])
            armed = program.time()
            agent.dap("setBreakpoints", source={"path": program.path},
                      breakpoints=[])
            yield armed, program.time()
    finally:
        agent.close()


def bdb_pairs(program, line):
    for _ in range(2):
        traced = float(program.ask("by_bdb(%d, %d)" % (TRACED, line)))
        yield traced, program.time(TRACED)


@contextlib.contextmanager
def by_debugpy(program, **breakpoint):
    """The program has this breakpoint of debugpy."""
    port = int(program.ask(
        "__import__('debugpy').listen(('127.0.0.1', 0))[1]"))
    client = Dap(port)
    try:
        client.send("initialize", adapterID="bench")
        client.wait("response", "initialize")
        client.send("attach", justMyCode=False)
        client.wait("event", "initialized")
        client.send("setBreakpoints", source={"path": program.path},
                    breakpoints=[breakpoint])
        client.wait("response", "setBreakpoints")
        client.send("configurationDone")
        client.wait("response", "attach")
        yield
    finally:
        client.close()


def debugpy_pairs(program, line):
    plain = min(program.time(TRACED) for _ in range(4))
    with by_debugpy(program, line=line):
        yield min(program.time(TRACED) for _ in range(4)), plain


def measure_python(table, python, path):
    debugpy = find_debugpy(python)
    sides = [("idle", idle_pairs, None)] + [
        (name + " " + place, pairs, LINES[place])
        for place in ("elsewhere", "in the loop")
        for name, pairs in (("agent", armed_pairs), ("bdb", bdb_pairs),
                            ("debugpy", debugpy_pairs))]
    cells = []
    for name, pairs, line in sides:
        found = []
        if debugpy is None and pairs is debugpy_pairs:
            cells.append("-")
            continue
        for _ in range(PROCESSES if pairs in (idle_pairs, armed_pairs)
                       else 1):
            program = Program(python, path, PYTHONPATH=debugpy or "")
            try:
                found += pairs(program, line) if line else pairs(program)
            finally:
                program.close()
        cells.append("%.3f" % ratio(found) if pairs is idle_pairs
                     else "%.2f" % ratio(found))
    table.row(str(python), *cells)


def milliseconds(values):
    return ["%.2f ms" % (value * 1e3) for value in (
        statistics.median(values), min(values), max(values))]


def timed(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def measure_one(table):
    """One agent: by itself, and through the node."""
    with Listening(1) as pids:
        agent = Agent(pids[0])
        times = [timed(lambda: agent.post("/eval", code="1 + 1"))
                 for _ in range(EVALUATIONS)]
        agent.close()
        table.row("an agent evaluates, asked by itself",
                  *milliseconds(times))
        with Asked(pids) as asked:
            table.row("the same through probetui-node (limit 3 ms)",
                      *milliseconds([timed(asked.evaluate)
                                     for _ in range(EVALUATIONS)]))


def measure_many(table):
    with Listening(AGENTS) as pids, Asked(pids) as asked:
        table.row("%d agents at once, through probetui-node (limit 30 ms)"
                  % AGENTS, *milliseconds([timed(asked.evaluate)
                                           for _ in range(EVALUATIONS // 4)]))


class Listening:
    """So many processes that wait, each with an agent."""

    PROGRAM = ("import sys; sys.path.insert(0, sys.argv[1]); import probetui;"
               "probetui.listen(); print('ready', flush=True);"
               "sys.stdin.read()")

    def __init__(self, count):
        self.processes = [subprocess.Popen(
            [sys.executable, "-c", self.PROGRAM, AGENT],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment(RANK=str(rank), WORLD_SIZE=str(count)))
            for rank in range(count)]

    def __enter__(self):
        for process in self.processes:
            process.stdout.readline()
        return [process.pid for process in self.processes]

    def __exit__(self, *_):
        for process in self.processes:
            process.stdin.close()
        for process in self.processes:
            process.wait(LIMIT)
            process.stdout.close()


class Asked:
    """A node that has these processes evaluate, all at once."""

    def __init__(self, pids):
        self.pids = pids
        self.node = Node()
        self.node.ask("initialize", protocol=1)
        self.node.discover(pids=pids)

    def evaluate(self, pids=None):
        numbers = [self.node.request("evaluate", pid=pid, context="repl",
                                     expression="1 + 1")
                   for pid in pids or self.pids]
        for number in numbers:
            answer = self.node.answer(number)
            assert answer["body"].get("result") == "2", answer

    def __enter__(self):
        # At its first request each loads what it takes to answer it.
        for pid in self.pids:
            self.evaluate([pid])
        return self

    def __exit__(self, *_):
        self.node.close()


def measure(make_table):
    table = make_table(
        "an agent in a loop, by its plain time", "idle", "elsewhere", "bdb",
        "debugpy", "in the loop", "bdb", "debugpy")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "loop.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(LOOP)
        for minor in MINORS:
            for python in pythons.find():
                if python.version[1] == minor:
                    measure_python(table, python, path)
                    break
    print()
    table = make_table("an expression there and back", "median", "least",
                       "most")
    measure_one(table)
    measure_many(table)
