"""A probetui-node at the other end of two pipes, and processes for it to find.

Everything waits for an event, with a limit; what is still there at the end of
a test is ended by close().
"""
import json
import os
import select
import signal
import subprocess
import sys
import time

NODE = os.environ["PROBETUI_NODE"]
LIMIT = 120.0
# 127.0.0.1 in inet_aton(3)'s short form, which every machine resolves and the
# node, which knows only whole addresses and "localhost", takes for another one.
ELSEWHERE = "127.1"

# A program that tells when it is there and stays until its input ends.
WAIT = "import sys; print('ready', flush=True); sys.stdin.read()"
RANK_NAMES = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR",
              "MASTER_PORT", "NODE_RANK", "HOROVOD_RANK", "OMPI_COMM_WORLD_RANK",
              "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")


def environment(**variables):
    """This environment without a rank, but with variables."""
    result = {name: value for name, value in os.environ.items()
              if name not in RANK_NAMES}
    result.update(variables)
    return result


def is_stuck(pid, looks=20):
    """The process is in write(2), and was in the same call at each look."""
    before = None
    for _ in range(looks):
        try:
            with open("/proc/%d/syscall" % pid) as file:
                call = file.read()
            with open("/proc/%d/schedstat" % pid) as file:
                call += file.read()
        except (FileNotFoundError, ProcessLookupError):
            return False
        if call.split()[0] != "1" or before not in (None, call):
            return False
        before = call
        select.select([], [], [], 0.01)
    return True


def wait_for_read(pid):
    """Until its main thread is in read(0, ...), behind its last print."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        with open("/proc/%d/syscall" % pid) as file:
            if file.read().startswith("0 0x0 "):
                return
    raise AssertionError("the target does not read its input")


def rests(pid, tid):
    """The thread waits in a system call that does not write, and not for the
    GIL, which is waited for on a futex(2) with a limit."""
    try:
        with open("/proc/%d/task/%d/syscall" % (pid, tid)) as file:
            words = file.read().split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    # "running"; "-1": it waits for memory; 1: write(); 202: futex().
    return words[0] not in ("running", "-1", "1") and (
        words[0] != "202" or words[4] == "0x0")


def wait_for_rest(pid, *tids):
    """Until these threads, or all that it has, are where they wait."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        if all(rests(pid, int(tid)) for tid in
               tids or os.listdir("/proc/%d/task" % pid)):
            return
    raise AssertionError("the target's threads do not rest")


class Node:
    """Speaks the protocol; events are kept until somebody waits for them."""

    def __init__(self, argv=None, **options):
        self.process = subprocess.Popen(
            argv or [NODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **options)
        self.rest = b""
        self.messages = []
        self.seq = 0

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read_more(self, deadline):
        """Reads what is there; False at the end of the output."""
        left = deadline - time.monotonic()
        output = self.process.stdout.fileno()
        if left <= 0 or not select.select([output], [], [], left)[0]:
            raise AssertionError("nothing came; so far: %s" % self.messages)
        data = os.read(output, 1 << 20)
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        self.messages += [json.loads(line.decode()) for line in lines]
        return bool(data)

    def read_for(self, seconds):
        """Events come meanwhile."""
        waits = subprocess.Popen(["sleep", str(seconds)],
                                 stdout=subprocess.PIPE)
        with waits:
            while waits.poll() is None:
                ready = [self.process.stdout, waits.stdout]
                if self.process.stdout in select.select(ready, [], [])[0]:
                    self.read_more(time.monotonic() + LIMIT)

    def wait_for(self, is_it):
        """Takes the first message that is_it accepts out of those that came."""
        deadline = time.monotonic() + LIMIT
        seen = 0
        while True:
            for i in range(seen, len(self.messages)):
                if is_it(self.messages[i]):
                    return self.messages.pop(i)
            seen = len(self.messages)
            if not self.read_more(deadline):
                raise AssertionError("the node left: %s %s" % (
                    self.messages, self.process.stderr.read().decode()))

    def request(self, command, **arguments):
        """Sends a request; returns its number."""
        self.seq += 1
        line = json.dumps({"seq": self.seq, "type": "request",
                           "command": command, "arguments": arguments})
        self.write(line.encode() + b"\n")
        return self.seq

    def answer(self, seq):
        return self.wait_for(lambda m: m["type"] == "response"
                             and m["request_seq"] == seq)

    def ask(self, command, **arguments):
        """The body of the answer, which must be a success."""
        response = self.answer(self.request(command, **arguments))
        assert response["success"], response
        return response["body"]

    def refuse(self, command, **arguments):
        """The sentence of the answer, which must be a failure."""
        response = self.answer(self.request(command, **arguments))
        assert not response["success"], response
        return response["message"]

    def event(self, name, pid=None):
        """The body of the next event of that name (about pid)."""
        return self.wait_for(
            lambda m: m["type"] == "event" and m["event"] == name
            and pid in (None, m["body"].get("pid")))["body"]

    def discover(self, only=None, **arguments):
        """The processes found (of those in only), by pid; and the answer."""
        body = self.ask("discover", **arguments)
        found = {}
        for message in list(self.messages):
            if message.get("event") == "rankAdded":
                self.messages.remove(message)
                found[message["body"]["pid"]] = message["body"]
        if only is not None:
            found = {pid: found[pid] for pid in only if pid in found}
        return found, body

    def wait(self):
        """Its exit status; it must end by itself."""
        return self.process.wait(LIMIT)

    def close(self):
        """Ends its input; it must leave, and not because of an error."""
        try:
            if self.process.stdin.closed:
                self.process.stdin = None
            _, complaint = self.process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise AssertionError("the node did not leave at the end of its "
                                 "input")
        if self.process.returncode not in (0, 1):
            raise AssertionError("the node ended with %d: %s" % (
                self.process.returncode, (complaint or b"").decode()))


class Target:
    """A process of ours that waits. words: what it printed at the start."""

    def __init__(self, code=WAIT, argv=None, cwd=None, stderr=None,
                 **variables):
        self.process = subprocess.Popen(
            argv or [sys.executable, "-c", code], env=environment(**variables),
            cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=stderr)
        self.pid = self.process.pid
        line = self.process.stdout.readline().decode()
        if not line:
            self.close()
            raise AssertionError("a target ended at once")
        self.words = line.split()

    def line(self):
        return self.process.stdout.readline().decode().split()

    def say(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        return self.process.wait(LIMIT)

    def close(self):
        if self.process.poll() is None:
            try:
                os.kill(self.pid, signal.SIGCONT)
                self.end()
            except (BrokenPipeError, subprocess.TimeoutExpired):
                self.process.kill()
                self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
