"""tracee-probe and tracee-target, as tests talk to them."""
import json
import os
import select
import signal
import subprocess
import time
import unittest

BUILD = os.environ.get("BUILDDIR", ".")
PROBE = os.path.join(BUILD, "tests", "backend", "tracee-probe")
TARGET = os.path.join(BUILD, "tests", "backend", "tracee-target")
LIMIT = 120


class Lines:
    """Whole lines of a pipe, each awaited for LIMIT seconds at most."""

    def __init__(self, pipe):
        self.pipe = pipe
        self.rest = b""

    def next(self, limit=LIMIT):
        """A line, or None at the end."""
        deadline = time.monotonic() + limit
        while b"\n" not in self.rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.pipe], [], [], left)[0]:
                raise AssertionError("nothing was said for %d s" % limit)
            more = os.read(self.pipe.fileno(), 65536)
            if not more:
                return None
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode()


class Target:
    """A process to be stopped; argv[0] is tracee-target or a program that
    prints the same first line."""

    def __init__(self, *argv, program=TARGET):
        command = [program] if isinstance(program, str) else list(program)
        self.process = subprocess.Popen(
            command + [str(word) for word in argv], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.lines = Lines(self.process.stdout)
        pid, address = self.lines.next().split()
        self.pid = int(pid)
        self.address = int(address, 16)

    def go(self, line=b"go\n"):
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def result(self):
        """What it printed at its end; it has ended by itself, well."""
        line = self.lines.next(60)
        code = self.process.wait(LIMIT)
        if code != 0:
            raise AssertionError("the target ended with %d" % code)
        return line

    def threads(self):
        return [int(name) for name in os.listdir("/proc/%d/task" % self.pid)]

    def status(self, *keys):
        with open("/proc/%d/status" % self.pid) as file:
            lines = dict(line.rstrip("\n").split(":\t", 1) for line in file
                         if ":\t" in line)
        return [lines[key].strip() for key in keys]

    def footprint(self):
        """All that a visitor could leave behind."""
        with open("/proc/%d/maps" % self.pid) as file:
            maps = file.read()
        if os.environ.get("SANITIZED"):
            # Its allocator takes memory when it likes: files are compared.
            maps = [line for line in maps.splitlines() if "/" in line]
        files = sorted(os.listdir("/proc/%d/fd" % self.pid))
        signals = []
        for tid in sorted(self.threads()):
            with open("/proc/%d/task/%d/status" % (self.pid, tid)) as file:
                signals.append([line for line in file if line.startswith(
                    ("Sig", "Shd", "TracerPid", "Threads"))
                    and not line.startswith("SigQ")])
        return maps, files, signals

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LIMIT)
        self.process.stdin.close()
        self.process.stdout.close()


class Probe:
    def __init__(self, pid, kill_point=None, user=None, program=PROBE):
        environment = dict(os.environ)
        environment.pop("PROBETUI_KILL_POINT", None)
        if kill_point:
            environment["PROBETUI_KILL_POINT"] = kill_point
        self.process = subprocess.Popen(
            [program, str(pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment,
            preexec_fn=None if user is None else lambda: os.setuid(user))
        self.lines = Lines(self.process.stdout)
        self.pid = pid
        self.events = []

    def send(self, order):
        """Whether it is still there to hear it."""
        try:
            self.process.stdin.write(order.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return False
        return True

    def read(self):
        line = self.lines.next()
        return json.loads(line) if line else None

    def order(self, order):
        """Sends it and gives its answer; events go to self.events."""
        return self.answer() if self.send(order) else None

    def answer(self):
        """The next one, or None if the probe is no more."""
        while True:
            event = self.read()
            if event is None or event["event"] in ("done", "failed"):
                return event
            self.events.append(event)

    def do(self, order):
        """An order that must not fail."""
        answer = self.order(order)
        if answer is None or answer["event"] != "done":
            raise AssertionError("%s: %r" % (order, answer))

    def wait(self, name):
        """The next event of that name."""
        for i, event in enumerate(self.events):
            if event["event"] == name:
                return self.events.pop(i)
        while True:
            event = self.read()
            if event is None:
                raise AssertionError("the probe has ended before " + name)
            if event["event"] == name:
                return event
            self.events.append(event)

    def counts(self):
        self.do("counts")
        return self.wait("counts")

    def watch(self, address, tid=None, slot=0, access="w", length=8):
        self.do("watch %d %d %#x %d %s" % (tid or self.pid, slot, address,
                                           length, access))

    def await_death(self):
        """It has killed itself, as its kill point says."""
        code = self.process.wait(LIMIT)
        if code != -signal.SIGKILL:
            raise AssertionError("the probe ended with %d" % code)

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(LIMIT)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.process.stdout.close()


class Case(unittest.TestCase):
    """Skipped where no process can be attached to."""

    @classmethod
    def setUpClass(cls):
        target = Target("loop", 1)
        probe = Probe(target.pid)
        answer = probe.order("attach")
        probe.close()
        target.close()
        if answer["event"] == "failed":
            raise unittest.SkipTest(answer["error"])
