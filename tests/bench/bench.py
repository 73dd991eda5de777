#!/usr/bin/env python3
"""How long a verdict takes, beside its nearest peer in the same run.

    bench.py [-n RUNS] [-k KEYS] [--watch SECONDS] [--markdown]

Eight ranks hang (a torch job where a Python with torch is found, else one of
the standard library). In turns: `probetui verdict --for 0`, from start to
exit, and eight `py-spy dump --pid` at once. The same beside a thousand
processes that only wait, and native frames of two ranks, with names that no
run before has kept and with those that one has. Then the parts of a verdict, and
the verdict with two samples, and what watching costs: the screen, which looks
four times a second, and `wait`. Then how long from a key until something is
drawn. Last, for how long a process is held by a look at its native frames, as
it sees itself: its thread reads a clock all the time; debuggers on sockets
(debuggers.py); stepping from outside (stops.py); hits whose condition is false
(conditions.py); agents (agents.py); a verdict on many ranks (collectives.py);
and how fast tensors are read (tensors.py, least times). Times are medians;
nothing here passes or fails.
"""
import argparse
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import jobs  # noqa: E402
from terminals import Terminal  # noqa: E402
import agents  # noqa: E402
import collectives  # noqa: E402
import conditions  # noqa: E402
import debuggers  # noqa: E402
import stops  # noqa: E402
import tensors  # noqa: E402

BUILD = os.environ.get("BUILDDIR", os.getcwd())
# Without this name probetui finds its node as an installed one does.
NODE = os.environ.pop("PROBETUI_NODE", "probetui-node")
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
         "stderr": subprocess.DEVNULL}
PART = re.compile(r"^ *([0-9.]+) ms  (.*)$")


def find_py_spy():
    """py-spy, if need be by pip in a folder of the build; or None."""
    folder = os.path.join(BUILD, "py-spy")
    installed = os.path.join(folder, "bin", "py-spy")
    named = os.environ.get("PY_SPY") or shutil.which("py-spy")
    if named or os.access(installed, os.X_OK):
        return named or installed
    try:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True,
                       timeout=60, **QUIET)
        subprocess.run([os.path.join(folder, "bin", "python"), "-m", "pip",
                        "install", "-q", "py-spy"], check=True, timeout=120,
                       **QUIET)
    except (subprocess.SubprocessError, OSError):
        return None
    return installed


def run_all(commands):
    """Milliseconds from the first start to the last exit."""
    start = time.perf_counter()
    running = [subprocess.Popen(command, **QUIET) for command in commands]
    for process in running:
        process.wait()
    return (time.perf_counter() - start) * 1e3


def read_parts(command):
    """[(part, milliseconds)] as the program itself says."""
    run = subprocess.run(command, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         universal_newlines=True,
                         env=dict(os.environ, PROBETUI_TIMING="1"))
    rows = [PART.match(line) for line in run.stderr.splitlines()]
    return [(row.group(2), float(row.group(1))) for row in rows if row]


def median_parts(command, count):
    rows = {}
    for _ in range(count):
        for name, value in read_parts(command):
            rows.setdefault(name, []).append(value)
    return [(name, statistics.median(values))
            for name, values in rows.items()]


def processor_seconds(pid):
    with open("/proc/%d/schedstat" % pid) as file:
        return int(file.read().split()[0]) / 1e9


def resident_bytes(pid):
    return int(jobs.proc_status(pid)["VmRSS"].split()[0]) * 1024


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        return [int(word) for word in file.read().split()]


def start_on_terminal(command):
    """The program's pid on a terminal of 200x50 whose output is read."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        os.execv(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ,
                struct.pack("HHHH", 50, 200, 0, 0))
    return pid, terminal


def read_for(terminal, seconds):
    """Takes what is written to the terminal; the count of its bytes."""
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        left = max(0, end - time.monotonic())
        if select.select([terminal], [], [], left)[0]:
            count += len(os.read(terminal, 65536))
    return count


def watch(table, name, command, seconds):
    """Both programs' share of a processor, and memory, once it runs."""
    pid, terminal = start_on_terminal(command)
    try:
        read_for(terminal, 3)
        pids = [pid] + children(pid)
        before = sum(map(processor_seconds, pids))
        read_for(terminal, seconds)
        used = sum(map(processor_seconds, pids)) - before
        memory = sum(map(resident_bytes, pids))
        table.row(name, "%.2f %%" % (used / seconds * 100),
                  "%.1f MB" % (memory / 1e6))
    finally:
        os.kill(pid, signal.SIGTERM)
        os.close(terminal)
        os.waitpid(pid, 0)


class Table:
    def __init__(self, is_markdown, *heads):
        self.is_markdown = is_markdown
        if is_markdown:
            print("| " + " | ".join(heads) + " |")
            print("|" + "---|" * len(heads))
        else:
            self.row(*heads)

    def row(self, name, *values):
        if self.is_markdown:
            print("| " + " | ".join((name,) + values) + " |")
        else:
            print("%-52s" % name + "".join("%14s" % v for v in values))


def milliseconds(value):
    return "%.2f ms" % value


def compare(table, count, sides):
    """Runs the sides in turns: a name, commands, and perhaps what is done
    before them. Name to the median."""
    times = {side[0]: [] for side in sides}
    for _ in range(count):
        for name, commands, *prepare in sides:
            for call in prepare:
                call()
            times[name].append(run_all(commands))
    for name, values in times.items():
        table.row(name, milliseconds(statistics.median(values)),
                  milliseconds(min(values)), milliseconds(max(values)))
    return {name: statistics.median(values)
            for name, values in times.items()}


OTHERS = 1000
BESIDE = """
i=0
while [ $i -lt %d ]; do sleep 1000000 & i=$((i+1)); done
echo ready
wait
""" % OTHERS


def compare_peers(options, title, ours, theirs):
    """Our sides and the peer's, as compare() has them, in turns; then the
    ratios to the peer."""
    sides = ours + [theirs]
    for side in sides:
        run_all(side[1])    # warm
    table = Table(options.markdown, title, "median", "least", "most")
    medians = compare(table, options.runs, sides)
    print()
    for side in ours:
        print("%s: %.1f times as fast as its peer"
              % (side[0], medians[theirs[0]] / medians[side[0]]))
    print()


def measure_beside(job, options, py_spy):
    """8 ranks beside processes that are none."""
    others = subprocess.Popen(["sh", "-c", BESIDE], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, start_new_session=True)
    try:
        others.stdout.readline()
        compare_peers(
            options, "8 ranks beside %d other processes" % OTHERS,
            [("probetui verdict --for 0",
              [[jobs.PROBETUI, "--job", str(job.port), "verdict", "--for",
                "0"]])],
            ("8 × py-spy dump, at once",
             [[py_spy, "dump", "--pid", str(pid)] for pid in job.pids]))
    finally:
        os.killpg(others.pid, signal.SIGKILL)
        others.wait()
        others.stdout.close()


def measure_native(job, options, py_spy):
    """Native frames of two ranks."""
    stacks = [[jobs.PROBETUI, "--job", str(job.port), "--ranks", "0-1",
               "stacks", "--native"]]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        compare_peers(
            options, "native frames of 2 ranks",
            [("probetui stacks --native, the first run", stacks,
              lambda: shutil.rmtree(os.path.join(folder, "probetui"),
                                    ignore_errors=True)),
             ("probetui stacks --native, the second run", stacks)],
            ("2 × py-spy dump --native, at once",
             [[py_spy, "dump", "--native", "--pid", str(pid)]
              for pid in job.pids[:2]]))
        del os.environ["XDG_CACHE_HOME"]


def measure(job, options, py_spy):
    verdict = [jobs.PROBETUI, "--job", str(job.port), "verdict"]
    one, two = verdict + ["--for", "0"], verdict + ["--for", "0.2"]
    first, peer = "probetui verdict --for 0", "8 × py-spy dump, at once"
    sides = [(first, [one]), ("probetui verdict --for 0.2", [two]),
             ("probetui --version", [[jobs.PROBETUI, "--version"]]),
             ("probetui-node, which leaves at once", [[NODE]])]
    if py_spy is not None:
        sides += [(peer, [[py_spy, "dump", "--pid", str(pid)]
                          for pid in job.pids]),
                  ("py-spy --version", [[py_spy, "--version"]])]
    for _, commands in sides:
        run_all(commands)    # warm
    table = Table(options.markdown, "from start to exit", "median", "least",
                  "most")
    medians = compare(table, options.runs, sides)
    if py_spy is None:
        print("\npy-spy is not here and pip could not get it: no comparison")
    else:
        print("\nprobetui is %.1f times as fast as its peer"
              % (medians[peer] / medians[first]))
    print()
    if py_spy is not None:
        measure_beside(job, options, py_spy)
        measure_native(job, options, py_spy)
    table = Table(options.markdown, "parts of a verdict with one sample",
                  "median")
    for name, value in median_parts(one, options.runs):
        table.row(name, milliseconds(value))
    print()
    table = Table(options.markdown, "watching 8 ranks, both programs",
                  "processor", "memory")
    screen = [jobs.PROBETUI, "--job", str(job.port)]
    watch(table, "the screen, 4 samples a second", screen, options.watch)
    watch(table, "probetui wait --stuck 1h",
          screen + ["wait", "--stuck", "1h"], options.watch)


# Each key changes much of the screen; the next one changes it again.
KEYS = [("another rank (])", b"]"), ("merged stacks and back (M)", b"M"),
        ("the diff and back (D)", b"D"), ("a frame up, a frame down", b"ud")]


def time_key(terminal, key):
    """Milliseconds from a key until the first byte is drawn for it."""
    # What a sample draws must not be taken for it: that comes to rest first.
    while select.select([terminal.controller], [], [], 0.02)[0]:
        terminal.take(0)
    start = time.perf_counter()
    os.write(terminal.controller, key)
    if not select.select([terminal.controller], [], [], 5)[0]:
        raise TimeoutError("nothing was drawn for %r" % key)
    return (time.perf_counter() - start) * 1e3


def add_times(table, name, times):
    times = sorted(times)
    table.row(name, milliseconds(statistics.median(times)),
              milliseconds(times[int(len(times) * 0.99)]),
              milliseconds(times[-1]))


def measure_keys(job, options):
    terminal = Terminal(50, 160)
    table = Table(options.markdown, "from key to screen, 160x50", "p50", "p99",
                  "most")
    every = []
    try:
        terminal.start(["--job", str(job.port)])
        terminal.wait_for(b"elsewhere")
        for _ in range(10):     # sources and variables are read
            time_key(terminal, b"]")
        for name, keys in KEYS:
            times = [time_key(terminal, keys[i % len(keys):][:1])
                     for i in range(options.keys)]
            add_times(table, name, times)
            every += times
        add_times(table, "all of them", every)
        terminal.press(b"q")
        terminal.wait_end()
    finally:
        terminal.close()


# Writes the longest time between two looks at the clock into a file, which
# somebody sets to 0 before each round.
SPIN = """
import mmap, struct, sys, threading, time
with open(sys.argv[1], "r+b") as file:
    page = mmap.mmap(file.fileno(), 8)
lock = threading.Lock()
lock.acquire()
for _ in range(8):
    threading.Thread(target=lock.acquire, daemon=True).start()
sys.setswitchinterval(10)
print("ready", flush=True)
last = time.perf_counter_ns()
while True:
    now = time.perf_counter_ns()
    if now - last > struct.unpack("Q", page)[0]:
        page[:] = struct.pack("Q", now - last)
    last = now
"""


def longest_gaps(command, path, count):
    """Milliseconds that the process stood still at the most, in each round."""
    gaps = []
    for _ in range(count):
        with open(path, "r+b") as file:
            file.write(bytes(8))
        if command is None:
            time.sleep(0.2)
        else:
            subprocess.run(command, check=False, **QUIET)
        with open(path, "rb") as file:
            gaps.append(struct.unpack("Q", file.read(8))[0] / 1e6)
    return gaps


def measure_gaps(options, py_spy):
    """A process with a thread that runs and eight that sleep."""
    table = Table(options.markdown, "native frames: the process stands still",
                  "median", "least", "most")
    with tempfile.NamedTemporaryFile() as page:
        page.write(bytes(8))
        page.flush()
        target = subprocess.Popen([sys.executable, "-c", SPIN, page.name],
                                  stdout=subprocess.PIPE)
        try:
            target.stdout.readline()
            pid = str(target.pid)
            sides = [("without probetui", None),
                     ("probetui stacks, which stops no thread",
                      [jobs.PROBETUI, "--pid", pid, "stacks"]),
                     ("probetui stacks --native",
                      [jobs.PROBETUI, "--pid", pid, "stacks", "--native"])]
            if py_spy is not None:
                sides.append(("py-spy dump --native",
                              [py_spy, "dump", "--native", "--pid", pid]))
            for name, command in sides:
                gaps = longest_gaps(command, page.name, options.runs)
                table.row(name, milliseconds(statistics.median(gaps)),
                          milliseconds(min(gaps)), milliseconds(max(gaps)))
        finally:
            target.kill()
            target.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", dest="runs", type=int, default=30)
    parser.add_argument("--watch", type=float, default=60,
                        help="seconds of watching")
    parser.add_argument("-k", dest="keys", type=int, default=200,
                        help="how often each key is pressed")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    python = jobs.find_torch()
    script = "train.py" if python else "ranks.py"
    job = jobs.RanksJob(8, script, python or sys.executable)
    try:
        look = [jobs.PROBETUI, "--job", str(job.port), "verdict", "--for", "0"]
        jobs.wait_for(lambda: "Rank 3 is elsewhere: load_batch" in
                      subprocess.run(look, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL,
                                     universal_newlines=True).stdout,
                      "rank 3 to hang")
        print("8 ranks of %s, %d runs, %d processors\n"
              % (script, options.runs, os.cpu_count()))
        py_spy = find_py_spy()
        measure(job, options, py_spy)
        print()
        measure_keys(job, options)
    finally:
        job.close()
    print()
    measure_gaps(options, py_spy)
    print()
    debuggers.measure(Table(options.markdown, "a pdb on a socket", "median",
                            "least", "most"), jobs.PROBETUI,
                      max(1, options.runs // 3))
    print()
    stops.measure(lambda *heads: Table(options.markdown, *heads),
                    max(1, options.runs // 3))
    print()
    conditions.measure(lambda *heads: Table(options.markdown, *heads))
    print()
    agents.measure(lambda *heads: Table(options.markdown, *heads))
    print()
    collectives.measure(lambda *heads: Table(options.markdown, *heads))
    print()
    tensors.measure(lambda *heads: Table(options.markdown, *heads))
    print()
    tensors.measure_hold(lambda *heads: Table(options.markdown, *heads))
    if python:
        print()
        tensors.measure_metadata(
            lambda *heads: Table(options.markdown, *heads), python)


if __name__ == "__main__":
    main()
