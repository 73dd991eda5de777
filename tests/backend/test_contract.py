"""Every request of the protocol against every backend, in each state of a
process: what it gives, or why it is refused, is what capabilities.txt says.

A state that the table does not name fails, and so does one that it names and
nobody tries.
"""
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import dap_recorder  # noqa: E402
import protocoldef  # noqa: E402
from nodes import LIMIT, Node, Target, wait_for_rest  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = protocoldef.SOURCE
PROGRAM = os.path.join(HERE, "contract_target.py")
with open(PROGRAM, encoding="utf-8") as program:
    LINES = program.read().splitlines()
# About the job that a node has started, and no process (test_launch.py).
OF_A_JOB = ["launch", "jobInput", "jobTaken", "jobResize", "jobBreakpoints",
            "jobEnd"]
# About all that the node has (test_signals.py, test_stop_limit.py).
OF_THE_NODE = ["set"]
# What besides its name decides whether a request can be served.
BESIDES = ["exact sample", "variables of another thread"]
STEPS = ["continue", "next", "stepIn", "stepOut", "until", "jump"]
SHAPES = {
    "initialize": ["protocol", "version", "host", "uid", "pid"],
    "discover": ["looked_at", "others", "uid", "bystanders"],
    "variables": ["pid", "tid", "depth", "address", "epoch", "start",
                  "exactness", "variables", "total"],
    "tensor": ["pid", "tid", "value", "tensor", "frame", "found"],
    "collectives": ["pid", "groups", "stacks", "entries", "syscalls"],
    "parameters": ["pid", "parameters", "total", "frame"],
    "source": ["pid", "path", "content", "changed"],
    "output": ["pid", "streams"],
    "diagnose": ["ranks"],
    "evidence": ["ranks", "cgroups"],
    "connect": ["pid"],
    "setBreakpoints": ["breakpoints"],
    "evaluate": ["result", "type"],
}


def requests():
    """Every request of the pipe about a process, and what is BESIDES."""
    return [name for name in protocoldef.requests()
            if name not in OF_A_JOB + OF_THE_NODE] + BESIDES


def capabilities():
    """{(backend, state, request): None, or how the refusal begins}."""
    with open(os.path.join(HERE, "capabilities.txt"),
              encoding="utf-8") as file:
        blocks = [[re.split(r"\s{2,}", line) for line in block.splitlines()]
                  for block in file.read().split("\n\n")[1:]]
    words = dict(blocks[0], yes=None)
    found = {}
    for (backend, *states), *rows in blocks[1:]:
        for state in states:
            found.update({(backend, state, name): None
                          for name in requests()})
        for request, *cells in rows:
            assert len(cells) == len(states), request
            for state, word in zip(states, cells):
                assert (backend, state, request) in found, request
                found[backend, state, request] = words[word]
    return found


class Subject:
    """One process in one state."""

    # Asked last, each list of a process of its own: of one that stands where
    # it stopped first, or is gone afterwards.
    last = [["jump"], ["detach"], ["terminate", "disconnect"], ["inject"]]
    mode = "stop"
    is_connected = True
    is_at_prompt = True
    has_stopped = False  # and a pause does nothing
    is_read_only = False
    variables = {}

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="pdb-")
        self.path = os.path.join(self.folder.name, "pdb.sock.0")
        self.target = Target(argv=[sys.executable, PROGRAM, self.mode,
                                   self.path],
                             stderr=subprocess.DEVNULL, RANK="0",
                             **self.make_variables())
        self.pid = self.target.pid
        self.node = Node()
        self.frames = {}  # of each stack that was told
        self.codes = {}  # the function of each code object of them
        self.threads = []  # of the newest sample
        self.node.ask("initialize", protocol=1, readOnly=self.is_read_only)
        self.node.discover(pids=[self.pid])
        if self.is_connected:
            self.node.ask("connect", target="pdb:unix:" + self.path)
            self.wait_for_stop()
        self.begin()

    def make_variables(self):
        return self.variables

    def begin(self):
        """Brings it from its first stop into the state."""

    def complaints(self):
        """At the end."""
        return []

    def close(self):
        # First: a debugger that has ended needs no detach.
        self.target.process.kill()
        try:
            self.node.close()
        finally:
            self.target.close()
            self.folder.cleanup()

    def take_sample(self, sample):
        for stack in sample.get("stacks", []):
            for code in stack.get("codes", []):
                self.codes[code[0]] = code[1]
            self.frames[stack["id"]] = stack["frames"]
        self.threads = sample["threads"]

    def sample(self):
        self.node.ask("sample", pids=[self.pid])
        for message in list(self.node.messages):
            if message.get("event") == "sampled":
                self.node.messages.remove(message)
                self.take_sample(message["body"])
        return self.threads

    def wait_for_stop(self):
        """Also what has to come before it."""
        self.take_sample(self.node.event("sampled", self.pid))
        return self.node.event("stopped", self.pid)

    # What to ask for, as any client would.

    def arguments(self, request):
        return getattr(self, "for_" + request.replace(" ", "_"),
                       lambda: {"pid": self.pid})()

    def for_initialize(self):
        return {"protocol": 1, "readOnly": self.is_read_only}

    def for_discover(self):
        return {"pids": [self.pid]}

    for_sample = for_discover
    for_diagnose = for_discover
    for_evidence = for_discover

    def for_exact_sample(self):
        return {"pids": [self.pid], "exact": True}

    def for_variables(self):
        return {"pid": self.pid, "tid": self.sample()[0]["tid"], "depth": 0}

    def for_tensor(self):
        return {"pid": self.pid, "expression": "6 * 7"}

    def for_parameters(self):
        return {"pid": self.pid, "expression": "sys.argv"}

    def for_variables_of_another_thread(self):
        # Not a thread of an agent that has no name yet; it may be on its way
        # to where it waits still.
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            for thread in self.sample()[1:]:
                names = [self.codes[frame[0]] for frame in
                         self.frames.get(thread.get("stack"), [])]
                if names[:3] == ["wait", "wait", "run"]:
                    return {"pid": self.pid, "tid": thread["tid"], "depth": 2}
        raise AssertionError("no Sleeper in %s" % self.threads)

    def for_source(self):
        self.sample()
        return {"pid": self.pid, "path": PROGRAM}

    def for_connect(self):
        return {"target": "pdb:unix:" + self.path}

    def for_inject(self):
        return {"pid": self.pid, "seconds": 18}

    def for_jump(self):
        # From where it stops first.
        line = LINES.index("        number += 1") + 1
        return {"pid": self.pid, "line": line}

    def for_setBreakpoints(self):
        return {"pid": self.pid, "breakpoints": [
            {"id": 1, "path": PROGRAM,
             "line": LINES.index("    total += 1") + 1}]}

    def for_evaluate(self):
        return {"pid": self.pid, "expression": "6 * 7", "depth": 0}

    def for_setExceptionBreakpoints(self):
        return {"pid": self.pid, "filters": ["uncaught"]}

    def for_catch(self):
        return {"pid": self.pid, "on": False}

    def for_terminal(self):
        return {"pid": self.pid, "on": True}

    def for_terminalInput(self):
        return {"pid": self.pid, "data": "p 6 * 7\n"}


class Reading(Subject):
    """Nothing is connected: it is read from outside."""
    is_connected = False
    last = [["detach", "terminate", "connect", "disconnect"], ["pause"],
            ["setBreakpoints"], ["inject"]]

    def begin(self):
        # It says that it is ready before it waits for its client.
        if self.mode == "stop":
            wait_for_rest(self.pid)


class ReadOnly(Reading):
    is_read_only = True


class Running(Subject):
    mode = "run"
    is_at_prompt = False

    def begin(self):
        self.node.ask("continue", pid=self.pid)
        self.node.event("continued", self.pid)
        # Until it stays where it is.
        line = LINES.index("    sys.stdin.readline()") + 1
        deadline = time.monotonic() + LIMIT
        while [frame[1] for frame in self.frames.get(
                self.sample()[0].get("stack"), [])][:1] != [line]:
            assert time.monotonic() < deadline, self.frames


class Attached(Subject):
    """It is stopped from outside; nothing is connected to in it."""
    mode = "work"
    is_connected = False
    has_stopped = True
    last = [["terminate", "detach", "disconnect"]]

    def for_connect(self):
        return {"target": "ptrace:%d" % self.pid}

    def begin(self):
        self.node.ask("setBreakpoints", **self.for_setBreakpoints())
        self.wait_for_stop()


class AttachedRunning(Attached):
    has_stopped = False
    last = [["pause"], ["setBreakpoints"], ["detach", "disconnect"]]

    def begin(self):
        self.node.ask("connect", **self.for_connect())


class Nested(Subject):
    is_at_prompt = False

    def begin(self):
        self.node.ask("terminalInput", pid=self.pid, data="debug number\n")
        self.node.wait_for(lambda m: m.get("event") == "debugger"
                           and m["body"]["state"] == "nested")
        # Its prompt is there before it waits for a line.
        deadline = time.monotonic() + LIMIT
        while not self.is_asleep():
            assert time.monotonic() < deadline, "it does not wait"

    def is_asleep(self):
        with open("/proc/%d/stat" % self.pid) as file:
            return file.read().rpartition(")")[2].split()[0] == "S"


class PostMortem(Subject):
    mode = "fail"


class Agent(Reading):
    """An agent is in it, and nobody has connected to that."""
    mode = "work"
    variables = {"PROBETUI": "1", "PYTHONPATH": os.path.join(SOURCE, "agent")}
    last = [["detach", "terminate", "connect", "disconnect"], ["pause"],
            ["setBreakpoints"], ["inject", "setExceptionBreakpoints", "catch",
                                 "eject"]]

    def make_variables(self):
        self.recorder = dap_recorder.Recorder()
        return dict(self.variables, **self.recorder.variables)

    def complaints(self):
        """What both have said is DAP."""
        return self.recorder.complaints()

    def for_connect(self):
        return {"target": "agent:%d" % self.pid}

    def for_evaluate(self):
        return {"pid": self.pid, "expression": "6 * 7", "context": "repl"}

    def for_completions(self):
        return {"pid": self.pid, "text": "sys.", "column": 5}

    def for_setVariable(self):
        return {"pid": self.pid, "name": "LIMIT", "value": "1"}

    def for_execute(self):
        return {"pid": self.pid, "code": "6 * 7"}

    def for_jump(self):
        line = LINES.index("    return total") + 1
        return {"pid": self.pid, "line": line}


class AgentRunning(Agent):
    last = [["pause"], ["setBreakpoints"], ["inject", "eject"],
            ["detach", "disconnect"]]

    def begin(self):
        self.node.ask("connect", **self.for_connect())
        self.node.event("continued", self.pid)


class AgentStopped(AgentRunning):
    has_stopped = True
    last = [["jump"], ["inject", "eject"], ["detach", "disconnect"]]

    def begin(self):
        super().begin()
        self.node.ask("setBreakpoints", **self.for_setBreakpoints())
        self.wait_for_stop()

    def for_evaluate(self):
        return Subject.for_evaluate(self)


class AgentHeld(AgentStopped):
    """At an exception that nobody catches."""
    mode = "raise"
    variables = dict(Agent.variables, PROBETUI_CATCH="1")
    last = [["continue"], ["inject", "eject"], ["detach", "disconnect"]]

    def begin(self):
        AgentRunning.begin(self)
        self.wait_for_stop()


class AgentReadOnly(AgentRunning):
    """The agent only reads."""
    variables = dict(Agent.variables, PROBETUI_READ_ONLY="1")
    last = [["detach", "disconnect"]]


STATES = {
    ("http", "unconnected"): Agent,
    ("http", "running"): AgentRunning,
    ("http", "stopped"): AgentStopped,
    ("http", "held"): AgentHeld,
    ("http", "read-only"): AgentReadOnly,
    ("ptrace", "unconnected"): Reading,
    ("ptrace", "read-only"): ReadOnly,
    ("ptrace", "stopped"): Attached,
    ("ptrace", "running"): AttachedRunning,
    ("pdb", "stopped"): Subject,
    ("pdb", "running"): Running,
    ("pdb", "nested"): Nested,
    ("pdb", "post-mortem"): PostMortem,
}


class TestContract(unittest.TestCase):
    table = capabilities()
    maxDiff = None

    def check_answer(self, subject, request, response):
        """A success has the shape that the protocol gives it."""
        body = response["body"]
        for key in SHAPES.get(request.split()[0], []):
            self.assertIn(key, body, request)
        if request == "continue" and subject.mode == "raise":
            subject.node.event("continued", subject.pid)
        elif request in STEPS:
            if request != "jump":
                subject.node.event("continued", subject.pid)
            stopped = subject.wait_for_stop()
            self.assertEqual(stopped["state"], "stopped", request)
        elif request == "pause" and not subject.has_stopped:
            self.assertEqual(subject.wait_for_stop()["reason"], "pause")
        elif request == "evaluate":
            self.assertEqual((body["result"], body["type"]), ("42", "int"))
        elif request == "tensor":
            self.assertEqual((body["value"]["value"], body["tensor"]),
                             ("42", None))
        elif request == "variables":
            self.assertTrue(body["variables"])
        elif request == "variables of another thread":
            self.assertIn("elsewhere", [one["name"]
                                        for one in body["variables"]])
        elif request == "setBreakpoints":
            self.assertEqual([one["id"] for one in body["breakpoints"]], [1])
        elif request == "inject":
            self.assertTrue(body["result"].endswith(".agent"), body)
            if not subject.variables:
                os.unlink(body["result"])
        elif request == "source":
            self.assertIn("class Sleeper", body["content"])
        elif request == "terminalInput" and subject.is_at_prompt:
            subject.node.wait_for(
                lambda m: m.get("event") == "output"
                and m["body"]["category"] == "terminal"
                and "42" in m["body"]["output"])

    def ask(self, subject, state, request):
        """What is wrong with the answer; None: it is what the table says."""
        wanted = self.table[state + (request,)]
        command = request.replace("exact ", "").split()[0]
        response = subject.node.answer(
            subject.node.request(command, **subject.arguments(request)))
        if response["success"]:
            if wanted is not None:
                return "%s: yes, not %r" % (request, wanted)
            self.check_answer(subject, request, response)
        elif wanted is None or not response["message"].startswith(wanted):
            return "%s: no: %s" % (request, response["message"])
        return None

    def check(self, *state):
        wrong = []
        kind = STATES[state]
        first = [name for name in requests() if name not in sum(kind.last, [])]
        for names in [first] + kind.last:
            subject = kind()
            try:
                wrong += [self.ask(subject, state, name) for name in names]
                wrong += subject.complaints()
            finally:
                subject.close()
        self.assertEqual([one for one in wrong if one], [])

    def test_ptrace_unconnected(self):
        self.check("ptrace", "unconnected")

    def test_ptrace_read_only(self):
        self.check("ptrace", "read-only")

    def test_ptrace_stopped(self):
        self.check("ptrace", "stopped")

    def test_ptrace_running(self):
        self.check("ptrace", "running")

    def test_http_unconnected(self):
        self.check("http", "unconnected")

    def test_http_running(self):
        self.check("http", "running")

    def test_http_stopped(self):
        self.check("http", "stopped")

    def test_http_held(self):
        self.check("http", "held")

    def test_http_read_only(self):
        self.check("http", "read-only")

    def test_pdb_stopped(self):
        self.check("pdb", "stopped")

    def test_pdb_running(self):
        self.check("pdb", "running")

    def test_pdb_nested(self):
        self.check("pdb", "nested")

    def test_pdb_post_mortem(self):
        self.check("pdb", "post-mortem")

    def test_the_table_names_the_states_that_are_tried(self):
        self.assertEqual(set(STATES), {key[:2] for key in self.table})


if __name__ == "__main__":
    unittest.main()
