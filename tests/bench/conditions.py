"""What a hit costs whose condition is false: from outside, by an agent, bdb and
debugpy, in the same function."""
import os
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "backend"))
import pythons  # noqa: E402
from agents import Agent, Program, by_debugpy  # noqa: E402
from nodes import Node  # noqa: E402
from stops import find_debugpy  # noqa: E402

MINORS = (8, 11, 13)
CONDITION = "i == -1"
HITS = 100000
ROUNDS = 10 # that the hits are done in
BURST = 100 # hits of a round that may find the machine quiet

LOOP = '''
import bdb, sys, time


def double(i):
    x = i * 2  # line
    return x


def spin(count):
    start = time.perf_counter()
    for i in range(count):
        double(i)
    return (time.perf_counter() - start) / count


def by_bdb(count, line, condition):
    debugger = bdb.Bdb()
    assert not debugger.set_break(__file__, line, cond=condition)
    return debugger.runcall(spin, count)


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    import probetui
    for line in sys.stdin:
        print(eval(line), flush=True)
'''
LINE = [number + 1 for number, line in enumerate(LOOP.splitlines())
        if line.endswith("# line")][0]


def take(program, count):
    """Seconds a call, of each round."""
    return [float(program.ask("spin(%d)" % count)) for _ in range(ROUNDS)]


def processor_seconds(pid):
    with open("/proc/%d/schedstat" % pid) as file:
        return int(file.read().split()[0]) / 1e9


def from_outside(program):
    """Seconds a hit, of each round; the least in a short one; and processor
    time of the node."""
    node = Node()
    try:
        pid = program.process.pid
        node.ask("initialize", protocol=1)
        node.discover(pids=[pid])
        binding, = node.ask("setBreakpoints", pid=pid, breakpoints=[
            {"id": 1, "path": program.path, "line": LINE,
             "condition": CONDITION}])["breakpoints"]
        assert binding.get("number"), binding
        before = processor_seconds(node.process.pid)
        times = take(program, HITS // ROUNDS)
        spent = (processor_seconds(node.process.pid) - before) / HITS
        least = min(float(program.ask("spin(%d)" % BURST))
                    for _ in range(HITS // ROUNDS // BURST))
        return times, least, spent
    finally:
        node.close()


def by_agent(program):
    program.ask("probetui.listen()")
    agent = Agent(program.process.pid)
    try:
        agent.begin()
        agent.dap("setBreakpoints", source={"path": program.path},
                  breakpoints=[{"line": LINE, "condition": CONDITION}])
        return take(program, HITS // ROUNDS)
    finally:
        agent.close()


def by_bdb(program):
    return [float(program.ask("by_bdb(%d, %d, %r)" % (
        HITS // ROUNDS, LINE, CONDITION))) for _ in range(3)]


def with_debugpy(program):
    with by_debugpy(program, line=LINE, condition=CONDITION):
        return take(program, HITS // ROUNDS)


def run(python, path, measure, folder=None):
    program = Program(python, path, PYTHONPATH=folder or "")
    try:
        program.ask("'ready'")
        return measure(program)
    finally:
        program.close()


def microseconds(seconds):
    return "%.1f µs" % (seconds * 1e6)


def measure_python(table, python, path):
    debugpy = find_debugpy(python)
    times, least, spent = run(python, path, from_outside)
    table.row(str(python), *map(microseconds, (
        statistics.median(times), least, spent)), *(
            microseconds(statistics.median(run(python, path, side)))
            for side in (by_agent, by_bdb)),
              microseconds(statistics.median(run(
                  python, path, with_debugpy, debugpy))) if debugpy else "-")


def measure(make_table):
    table = make_table("a hit whose condition is false", "from outside",
                       "least of %d" % BURST, "node's processor time",
                       "agent", "bdb", "debugpy")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "loop.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(LOOP)
        for minor in MINORS:
            for python in pythons.find():
                if python.version[1] == minor:
                    measure_python(table, python, path)
                    break
