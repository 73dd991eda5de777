"""Jobs that the end-to-end tests start, and the program they look with."""
import ctypes
import glob
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zlib

SOURCE = os.environ.get("SRCDIR") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JOBS = os.path.join(SOURCE, "tests", "jobs")
PROBETUI = os.environ.get("PROBETUI", "probetui")
LIMIT = 120


def pythons():
    """Interpreters to look for torch in, the likeliest first."""
    if "PROBETUI_TORCH_PYTHON" in os.environ:
        return
    yield shutil.which("python3") or sys.executable
    build = os.environ.get("BUILDDIR", "")
    for folder in (build, os.path.dirname(build)):
        yield os.path.join(folder, "torch", "bin", "python")
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    yield from sorted(glob.glob(root + "/versions/*/bin/python3"))


def find_torch():
    """An interpreter that imports torch, or None. What is named is not tried:
    that is a second and a half for each class of tests."""
    if os.environ.get("PROBETUI_TORCH_PYTHON"):
        return os.environ["PROBETUI_TORCH_PYTHON"]
    for python in pythons():
        if not os.access(python, os.X_OK):
            continue
        found = subprocess.run([python, "-c", "import torch.distributed"],
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        if found.returncode == 0:
            return python
    return None


def probetui(*arguments, limit=LIMIT):
    """Runs it without a terminal."""
    return subprocess.run([PROBETUI] + [str(a) for a in arguments],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True,
                          timeout=limit)


def proc_status(pid):
    """/proc/PID/status as a dictionary."""
    with open("/proc/%d/status" % pid) as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file
                    if ":\t" in line)


def command_line(pid):
    """Its words, each with a NUL behind it; empty: it has ended."""
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def unpacked(path):
    """The text of a recording, as far as it goes (gzip, RFC 1952)."""
    with open(path, "rb") as file:
        packed = file.read()
    text = b""
    while packed:
        member = zlib.decompressobj(31)
        text += member.decompress(packed)
        packed = member.unused_data
    return text


def tracer(pid):
    return int(proc_status(pid)["TracerPid"])


def who_traces(pid):
    """The command of it: on a machine with others it may be somebody else's."""
    try:
        with open("/proc/%d/cmdline" % tracer(pid)) as file:
            return "traced by: " + file.read().replace("\0", " ")
    except OSError:
        return "traced by one that has ended"


def switches(pid):
    """How often the process gave the processor away: grows while it lives."""
    status = proc_status(pid)
    return int(status["voluntary_ctxt_switches"])


def wait_for(condition, what, limit=LIMIT):
    """Waits until condition() is true; it is asked a hundred times a second."""
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("waited %d s for %s" % (limit, what))
        select.select([], [], [], 0.01)


class Line:
    """A connection that carries one JSON object a line."""

    def __init__(self, connection):
        connection.settimeout(LIMIT)
        self.connection = connection
        self.reader = connection.makefile("r")

    def send(self, **message):
        self.connection.sendall(json.dumps(message).encode() + b"\n")

    def receive(self):
        line = self.reader.readline()
        if not line:
            raise ConnectionError("the rank closed its connection")
        return json.loads(line)

    def close(self):
        self.reader.close()
        self.connection.close()


PR_SET_PDEATHSIG = 1


def end_with_parent():
    """In a new process: leave when the test is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def descendants(pid):
    """Pids of the children of a process, and of theirs (proc(5), children)."""
    found = []
    for path in glob.glob("/proc/%d/task/*/children" % pid):
        try:
            with open(path) as file:
                found += [int(child) for child in file.read().split()]
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found + [each for child in found for each in descendants(child)]


class Launched:
    """A job in a session of its own, ended with everything in it."""

    def __init__(self, command, **environment):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=self.log, universal_newlines=True, start_new_session=True,
            preexec_fn=end_with_parent, env=dict(os.environ, OMP_NUM_THREADS="1", **environment))

    def output(self):
        self.log.seek(0)
        return self.log.read()

    def close(self):
        """Kills the processes of the job: torchrun starts a session for each
        rank, which killpg() of the launcher does not reach."""
        pids = ([] if self.process.poll() is not None
                else descendants(self.process.pid))
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.process.stdout.close()
        self.log.close()


class RanksJob(Launched):
    """tests/jobs/ranks.py: rank 3 hangs at step 3."""

    def __init__(self, count=8, script="ranks.py", python=sys.executable):
        super().__init__([python, os.path.join(JOBS, "launch.py"),
                          "-n", str(count), os.path.join(JOBS, script)])
        started = json.loads(self.process.stdout.readline())
        self.port, self.pids = started["port"], started["pids"]


class OrderJob(Launched):
    """tests/jobs/orders.py: a job that takes orders."""

    def __init__(self, flavour, count, python=sys.executable, torchrun=False,
                 options=()):
        self.count = count
        self.folder = tempfile.mkdtemp(prefix="probetui-orders-")
        self.path = os.path.join(self.folder, "orders")
        self.script = os.path.join(JOBS, "orders.py")
        for rank in range(count):
            with open("%s.%d" % (self.path, rank), "wb") as page:
                page.write(bytes(4096))
        server = socket.socket(socket.AF_UNIX)
        server.bind(self.path)
        server.listen(count)
        server.settimeout(3 * LIMIT)  # ranks that all import torch
        if torchrun:
            launcher = [python, "-m", "torch.distributed.run",
                        "--nproc_per_node=%d" % count, "--master_addr",
                        "127.0.0.1", "--master_port", str(free_port())]
        else:
            launcher = [python, os.path.join(JOBS, "launch.py"),
                        "-n", str(count)] + list(options)
        super().__init__(launcher + [self.script, flavour], ORDERS=self.path)
        self.lines, self.pids = {}, {}
        self.is_busy = False
        try:
            for _ in range(count):
                line = Line(server.accept()[0])
                hello = line.receive()
                self.lines[hello["rank"]] = line
                self.pids[hello["rank"]] = hello["pid"]
        except OSError as error:
            output = self.output()
            self.close()
            raise RuntimeError("the job did not start: %s\n%s"
                               % (error, output))
        finally:
            server.close()
        with open("/proc/%d/environ" % self.pids[0], "rb") as file:
            words = dict(word.split(b"=", 1)
                         for word in file.read().split(b"\0") if b"=" in word)
        self.port = int(words[b"MASTER_PORT"])

    def write_pages(self, value):
        for rank in range(self.count):
            with open("%s.%d" % (self.path, rank), "r+b") as page:
                page.write(bytes([value, 0]))

    def is_marked(self, rank):
        """The rank is in the call that keeps the GIL."""
        with open("%s.%d" % (self.path, rank), "rb") as page:
            return page.read(2)[1] != 0

    def order(self, name, chosen=()):
        self.is_busy = True
        self.write_pages(0)
        for line in self.lines.values():
            line.send(order=name, chosen=list(chosen))

    def until(self, functions, looks=10):
        """Each rank's stack, once its function is in it and the stack stays
        the same for that many looks: the truth."""
        for rank, function in functions.items():
            self.lines[rank].send(until=function, looks=looks)
        return {rank: self.lines[rank].receive()["stack"]
                for rank in functions}

    def steps(self, rank):
        self.lines[rank].send(steps=True)
        return self.lines[rank].receive()["steps"]

    def release(self):
        """Ends the state; every rank must get out of it."""
        self.write_pages(1)
        for line in self.lines.values():
            line.send(release=True)
        for line in self.lines.values():
            line.receive()
        self.is_busy = False

    def close_lines(self):
        """The ranks then end, each with status 0."""
        for line in getattr(self, "lines", {}).values():
            line.close()
        self.lines = {}

    def close(self):
        self.close_lines()
        super().close()
        shutil.rmtree(self.folder, ignore_errors=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    found = find_torch()
    if found is None:
        sys.exit("no Python with torch found")
    print(found)
