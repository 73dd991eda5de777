"""Pausing, stepping and breaking unmodified processes from outside, through
probetui-node. Each Python found takes part at least once."""
import ctypes
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import pythons
from nodes import LIMIT, Node, Target

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "control_target.py")
NAME = os.path.basename(PROGRAM)
with open(PROGRAM, encoding="utf-8") as program:
    LINES = program.read().splitlines()


def line_of(text):
    return LINES.index(text) + 1


def status_of(pid, field):
    with open("/proc/%d/status" % pid, encoding="ascii") as file:
        for line in file:
            if line.startswith(field + ":"):
                return line.split()[1]
    raise AssertionError(field)


SIGTRAP_BIT = 1 << (signal.SIGTRAP - 1)

VFORKS = """\
import os, sys, time
def once():
    time.sleep(0.001)
    return 1
print("ready", flush=True)
sys.stdin.readline()
os.posix_spawn("/bin/true", ["true"], {}, file_actions=[
    (os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0)])
while True:
    once()
"""

CHILDREN = """\
import os, subprocess, sys
def once():
    return 1
print("ready", flush=True)
while True:
    once()
    subprocess.run(["true"], check=True)
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
"""


class Rank:
    """A target and what a node has said of it."""

    def __init__(self, node, argv, rank=0, threads=0):
        self.node = node
        self.folder, program = self.place_program(argv)
        self.target = Target(argv=argv + [program, str(threads)],
                             RANK=str(rank))
        self.pid = self.target.pid
        self.frames = {}
        self.sample = None

    @staticmethod
    def place_program(argv):
        """A chroot has no file of ours: the folder to be removed, and the
        program's path."""
        if argv[0] != "chroot":
            return None, PROGRAM
        folder = tempfile.TemporaryDirectory(dir=argv[1] + "/tmp")
        os.chmod(folder.name, 0o755)
        path = shutil.copy(PROGRAM, folder.name)
        return folder, path[len(argv[1]):]

    def close(self):
        self.target.close()
        if self.folder:
            self.folder.cleanup()

    def ask(self, command, **arguments):
        return self.node.ask(command, pid=self.pid, **arguments)

    def refuse(self, command, **arguments):
        return self.node.refuse(command, pid=self.pid, **arguments)

    def take_sample(self, sample):
        for stack in sample.get("stacks", []):
            for code in stack["codes"]:
                self.node.codes[code[0]] = code
            self.node.stacks[stack["id"]] = stack["frames"]
        self.node.samples[sample["pid"]] = sample

    def stopped(self):
        """The next stop; `place` is (line, function) of the thread's stack,
        innermost first."""
        body = self.node.event("stopped", self.pid)
        for message in list(self.node.messages):
            if message.get("event") == "sampled":
                self.node.messages.remove(message)
                self.take_sample(message["body"])
        self.sample = self.node.samples[self.pid]
        self.thread = [one for one in self.sample["threads"]
                       if one["tid"] == body["tid"]][0]
        self.places = [(line, self.node.codes[code][1])
                       for code, line in
                       self.node.stacks.get(self.thread["stack"], [])]
        return body

    def step(self, command, **arguments):
        """(event, line, function) of the stop that follows."""
        self.ask(command, **arguments)
        body = self.stopped()
        return (body["at"],) + self.places[0]

    def set_breakpoints(self, *breakpoints):
        return self.ask("setBreakpoints", breakpoints=[
            dict({"id": i + 1, "path": NAME}, **one)
            for i, one in enumerate(breakpoints)])["breakpoints"]

    def locals(self):
        body = self.ask("variables", tid=self.thread["tid"], depth=0)
        return body["exactness"], {one["name"]: one["value"]
                                   for one in body["variables"]}

    def progress(self):
        self.target.say("?")
        return int(self.target.line()[0])

    def check_clean(self, test, wait=True):
        """Nothing of ours is left, and it goes on."""
        deadline = time.monotonic() + LIMIT
        while status_of(self.pid, "TracerPid") != "0" and wait:
            test.assertLess(time.monotonic(), deadline, "still traced")
        ignored = int(status_of(self.pid, "SigIgn"), 16)
        test.assertFalse(ignored & SIGTRAP_BIT, "SIGTRAP is ignored")
        before = self.progress()
        while self.progress() == before:
            pass

    def check_end(self, test):
        """It comes to its own end, with the right result."""
        self.target.process.stdin.close()
        words = self.target.line()
        test.assertEqual((words[0], words[2]), ("done", "True"))
        test.assertEqual(self.target.process.wait(LIMIT), 7)


class ControlCase(unittest.TestCase):
    python = None  # the one to be stopped

    def setUp(self):
        self.node = self.make_node()
        self.ranks = []

    def make_node(self):
        node = Node()
        node.codes = {}
        node.stacks = {}
        node.samples = {}
        node.ask("initialize", protocol=1)
        self.addCleanup(node.close)
        return node

    def start(self, count=1, threads=0, follow=False):
        for i in range(count):
            rank = Rank(self.node, self.python.argv, i, threads)
            self.addCleanup(rank.close)
            self.ranks.append(rank)
        self.node.discover(pids=[rank.pid for rank in self.ranks],
                           follow=follow)
        return self.ranks[0]


class EachCase(ControlCase):
    """One scenario each, for every Python."""

    def test_pause_and_continue(self):
        rank = self.start()
        rank.ask("pause")
        attached = self.node.event("debugger", rank.pid)
        self.assertEqual(attached["state"], "running")
        body = rank.stopped()
        self.assertEqual((body["state"], body["reason"], body["at"]),
                         ("stopped", "pause", "unknown"))
        self.assertEqual(body["tid"], rank.pid)
        self.assertEqual((rank.thread["state"], rank.thread.get("exact", "exact")),
                         ("stopped", "exact"))
        self.assertIn("main", [name for _, name in rank.places])
        self.assertEqual(rank.locals()[0], "exact")
        self.assertEqual(status_of(rank.pid, "TracerPid"),
                         str(self.node.process.pid))
        rank.ask("continue")
        self.node.event("continued", rank.pid)
        self.assertEqual(self.node.event("debugger", rank.pid)["state"],
                         "none")
        rank.check_clean(self)
        rank.check_end(self)


    def test_steps(self):
        """pdb's stops: next, stepIn, stepOut, until."""
        rank = self.start()
        first, second = (line_of("    twice = value + value"),
                         line_of("    return twice"))
        loop = line_of("    for i in range(3):")
        binding, = rank.set_breakpoints({"line": first, "temporary": True})
        self.assertEqual((binding["id"], binding["line"]), (1, first))
        body = rank.stopped()
        self.assertEqual((body["reason"], body["hit"], body["at"]),
                         ("breakpoint", [1], "line"))
        self.assertEqual(rank.places[:3],
                         [(first, "double"), (loop + 1, "work"),
                          (line_of("        checksum += work(number)"),
                           "loop")])
        exactness, values = rank.locals()
        self.assertEqual((exactness, list(values)), ("exact", ["value", "twice"]))
        self.assertEqual(values["twice"], "unbound")
        double, work = "double", "work"
        for command, arguments, expected in [
                ("next", {}, ("line", second, double)),
                ("next", {}, ("return", second, double)),
                ("next", {}, ("line", loop, work)),
                ("next", {}, ("line", loop + 1, work)),
                ("stepIn", {}, ("call", first - 1, double)),
                ("stepIn", {}, ("line", first, double)),
                ("stepOut", {}, ("return", second, double)),
                ("until", {}, ("line", loop, work)),
                ("until", {}, ("line", loop + 1, work)),
                ("until", {}, ("line", loop + 2, work)),
                ("stepOut", {}, ("return", line_of("    return total"),
                                 work)),
                ("stepIn", {}, ("line", line_of("        number += 1"),
                                "loop"))]:
            self.assertEqual(rank.step(command, **arguments), expected,
                             command)
        rank.ask("continue")
        self.node.wait_for(lambda m: m.get("event") == "debugger"
                           and m["body"]["state"] == "none")
        rank.check_clean(self)
        rank.check_end(self)


    def test_watch(self):
        rank = self.start()
        line = line_of("    for i in range(3):")
        rank.set_breakpoints({"line": line, "temporary": True,
                              "condition": "number > 3 and total == 0"})
        rank.stopped()
        binding, = rank.ask("setBreakpoints", breakpoints=[
            {"id": 5, "watch": "total", "depth": 0}])["breakpoints"]
        self.assertEqual(binding["id"], 5)
        self.assertGreater(binding["number"], 0, binding)
        number = int(rank.locals()[1]["number"])
        total = 0
        for i in range(3):
            rank.ask("continue")
            body = rank.stopped()
            self.assertEqual((body["reason"], body["hit"]),
                             ("data breakpoint", [5]))
            before, total = total, total + 2 * (number + i)
            self.assertEqual(body["description"],
                             "total: %d -> %d" % (before, total))
            self.assertEqual(rank.places[0][1], "work")
            self.assertEqual(int(rank.locals()[1]["total"]), total)
        binding, = rank.ask("setBreakpoints", breakpoints=[
            {"id": 5, "watch": "total", "depth": 0,
             "condition": "total >"}])["breakpoints"]
        self.assertIn("invalid condition 'total >': column ", binding["message"])
        rank.ask("continue")
        rank.check_clean(self)
        rank.check_end(self)

    def test_a_thread_of_two_interpreters(self):
        """Its step outlives several looks at the thread states."""
        rank = self.start()
        line = line_of("    time.sleep(0.3)")
        rank.set_breakpoints({"line": line})
        rank.target.say("interpreter")
        rank.stopped()
        self.assertEqual(rank.places[0], (line, "interpret"))
        self.assertEqual(rank.step("next"), ("line", line + 1, "interpret"))
        rank.ask("setBreakpoints", breakpoints=[])
        rank.ask("continue")
        rank.target.line()
        rank.check_clean(self)


class JitCase(ControlCase):
    minors = [13, 14]

    def test_refusal(self):
        os.environ["PYTHON_JIT"] = "1"
        self.addCleanup(os.environ.pop, "PYTHON_JIT")
        rank = self.start()
        self.assertIn("PYTHON_JIT", rank.refuse(
            "setBreakpoints", breakpoints=[{"id": 1, "path": NAME,
                                            "line": 1}]))
        rank.check_clean(self)


class OneCase(ControlCase):
    """What does not depend on the version."""

    python = pythons.Python([sys.executable], sys.version_info[:3])
    WORK = {"line": line_of("    total = 0")}

    def test_two_at_once(self):
        """Nobody waits for the other: each is asked before any stands."""
        self.start(2)
        asked = [self.node.request("pause", pid=rank.pid)
                 for rank in self.ranks]
        for seq in asked:
            self.assertTrue(self.node.answer(seq)["success"])
        for rank in self.ranks:
            rank.stopped()
        for rank in self.ranks:
            rank.ask("continue")
            self.node.event("continued", rank.pid)
        for rank in self.ranks:
            rank.check_clean(self)

    def await_progress(self, rank):
        wanted = rank.progress() + 20
        deadline = time.monotonic() + LIMIT
        while rank.progress() < wanted:
            self.assertLess(time.monotonic(), deadline)

    def test_while_conditions_are_false_all_the_time(self):
        """Threads that are trapped and resumed in a loop keep neither each
        other nor what is asked waiting."""
        self.start(3, threads=2, follow=True)
        false = {"line": line_of("    twice = value + value"),
                 "condition": "value == -1"}
        first, second, third = self.ranks
        for rank in self.ranks:
            rank.set_breakpoints(false)
        for rank in self.ranks * 3:
            self.await_progress(rank)
        second.ask("pause")
        second.stopped()
        second.step("next")
        second.step("stepIn")
        third.set_breakpoints(false, dict(false, condition="value > 0"))
        third.stopped()
        self.assertIn("value", third.locals()[1])
        os.kill(first.pid, signal.SIGSTOP)
        os.kill(first.pid, signal.SIGCONT)
        self.await_progress(first)
        third.set_breakpoints(false)
        for rank in (second, third):
            rank.ask("continue")
            self.node.event("continued", rank.pid)
            self.await_progress(rank)
        first.target.process.kill()
        self.node.event("rankRemoved", first.pid)
        for rank in (second, third):
            rank.set_breakpoints()
            rank.check_clean(self)
            rank.check_end(self)

    def test_a_second_client(self):
        rank = self.start()
        rank.ask("pause")
        rank.stopped()
        other = self.make_node()
        other.discover(pids=[rank.pid])
        self.assertIn("%d" % self.node.process.pid,
                      other.refuse("pause", pid=rank.pid))
        rank.ask("detach")
        rank.check_clean(self)
        other.ask("pause", pid=rank.pid)
        other.event("stopped", rank.pid)

    def leave(self, rank, how):
        if how is None:
            self.node.process.stdin.close()
        else:
            self.node.process.send_signal(how)
        self.assertEqual(self.node.wait(), 0)
        rank.check_clean(self)
        rank.check_end(self)

    def test_leaving_while_stopped(self):
        for how in None, signal.SIGTERM:
            with self.subTest(how):
                self.node = self.make_node()
                self.ranks = []
                rank = self.start()
                rank.ask("pause")
                rank.stopped()
                self.leave(rank, how)

    def test_leaving_while_armed(self):
        for how in None, signal.SIGTERM:
            with self.subTest(how):
                self.node = self.make_node()
                self.ranks = []
                rank = self.start()
                rank.set_breakpoints({"line": line_of("    return total"),
                                      "condition": "number < 0"})
                before = rank.progress()
                while rank.progress() < before + 20:
                    pass
                self.leave(rank, how)

    def test_killed_while_stopped(self):
        rank = self.start(follow=True)
        rank.set_breakpoints(self.WORK)
        rank.stopped()
        rank.target.process.kill()
        ended = self.node.event("rankRemoved", rank.pid)
        self.assertEqual(ended["exit_signal"], signal.SIGKILL)

    def test_its_end_while_armed(self):
        rank = self.start(follow=True)
        rank.set_breakpoints({"line": line_of("    return total"),
                              "condition": "number < 0"})
        rank.check_end(self)
        ended = self.node.event("rankRemoved", rank.pid)
        self.assertEqual((ended["state"], ended["exit_code"]), ("exited", 7))

    def test_many_threads(self):
        rank = self.start(threads=60)
        rank.ask("pause")
        rank.stopped()
        states = [(one["state"], one.get("exact", "exact"))
                  for one in rank.sample["threads"]]
        self.assertEqual(set(states), {("stopped", "exact")})
        self.assertEqual(len(states), 62)
        rank.ask("continue")
        self.node.event("continued", rank.pid)
        rank.check_clean(self)

    def pause_in_reads(self, rank):
        """How many reads of files a second look at the threads takes."""
        for _ in range(2):
            before = self.reads()
            rank.ask("pause")
            rank.stopped()
            reads = self.reads() - before
            rank.ask("continue")
            self.node.event("continued", rank.pid)
        return reads

    def reads(self):
        with open("/proc/%d/io" % self.node.process.pid,
                  encoding="ascii") as file:
            return int(dict(line.split() for line in file)["syscr:"])

    def test_threads_of_another_namespace(self):
        """They are found once, then known."""
        command = ["unshare", "--pid", "--fork", "--kill-child"]
        if subprocess.run(command + ["true"],
                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest("namespaces cannot be made here (unshare as root)")
        rank = Rank(self.node, command + self.python.argv, threads=60)
        self.addCleanup(rank.close)
        with open("/proc/%d/task/%d/children" % (rank.pid, rank.pid),
                  encoding="ascii") as file:
            rank.pid = int(file.read())
        self.node.discover(pids=[rank.pid])
        rank.ask("connect", target="ptrace:%d" % rank.pid)
        self.assertLess(self.pause_in_reads(rank), 60 * 60 / 2)
        rank.ask("detach")
        rank.check_clean(self)

    def test_a_thread_that_is_born_later(self):
        rank = self.start()
        line = line_of("    value = 1")
        rank.set_breakpoints({"line": line})
        rank.target.say("thread")
        body = rank.stopped()
        self.assertEqual(rank.places[0], (line, "once"))
        self.assertNotEqual(body["tid"], rank.pid)
        self.assertEqual(rank.step("next"), ("line", line + 1, "once"))
        rank.ask("setBreakpoints", breakpoints=[])
        rank.ask("continue")
        rank.target.line()
        rank.check_clean(self)

    def test_exec(self):
        rank = self.start()
        rank.set_breakpoints(dict(self.WORK, ignore=1000000))
        self.node.event("debugger", rank.pid)
        rank.target.say("exec")
        told = self.node.event("debugger", rank.pid)
        self.assertEqual((told["state"], told.get("breakpoints", [])),
                         ("running", []))
        told = self.node.event("debugger", rank.pid)
        self.assertEqual(len(told["breakpoints"]), 1)
        self.assertEqual(rank.target.line(), ["ready"])
        rank.set_breakpoints(self.WORK)
        rank.stopped()
        self.assertEqual(rank.places[0], (self.WORK["line"], "work"))
        rank.ask("detach")
        rank.check_clean(self)
        rank.check_end(self)

    def test_one_thread_alone(self):
        rank = self.start(threads=5)
        rank.ask("pause", threads="one")
        rank.stopped()
        states = [one["state"] for one in rank.sample["threads"]]
        self.assertEqual(states[0], "stopped")
        self.assertNotIn("stopped", states[1:])
        self.assertIn("\"threads\" must be", rank.refuse("next", threads="two"))
        rank.ask("continue")
        rank.check_clean(self)

    def test_breakpoints_set_while_one_thread_stands(self):
        """Another that is about a step stands for them, and goes on."""
        line = line_of("    value = 1")
        rank = self.start()
        rank.set_breakpoints({"line": line})
        rank.ask("pause")
        rank.stopped()
        depth = [name for _, name in rank.places].index("loop")
        rank.ask("stepOut", depth=depth, threads="one")
        rank.target.say("thread")
        rank.stopped()
        self.assertEqual(rank.places[0], (line, "once"))
        rank.set_breakpoints({"line": line}, {"line": line + 1})
        deadline = time.monotonic() + LIMIT
        while status_of(rank.pid, "State") == "t":
            self.assertLess(time.monotonic(), deadline, "it stands")
        rank.ask("continue")
        rank.stopped()
        self.assertEqual(rank.places[0], (line + 1, "once"))
        rank.ask("detach")
        rank.target.line()
        rank.check_clean(self)

    def test_what_passes_by_is_not_stopped(self):
        """The main thread traps all the time while another is shown."""
        rank = self.start(threads=1)
        rank.set_breakpoints({"line": line_of("    twice = value + value"),
                              "condition": "value < 0"})
        other = max(map(int, os.listdir("/proc/%d/task" % rank.pid)))
        rank.ask("pause", tid=other, threads="one")
        rank.stopped()
        for _ in range(100):
            rank.ask("sample", pids=[rank.pid])
            body = self.node.event("sampled", rank.pid)
            states = {one["tid"]: one["state"] for one in body["threads"]}
            self.assertEqual(states[other], "stopped")
            self.assertNotEqual(states[rank.pid], "stopped")
        rank.ask("detach")
        rank.check_clean(self)

    def test_another_that_stops_while_one_stands(self):
        rank = self.start(threads=1)
        other = max(map(int, os.listdir("/proc/%d/task" % rank.pid)))
        rank.ask("pause", tid=other, threads="one")
        rank.stopped()
        rank.set_breakpoints(self.WORK)
        said = self.node.event("output", rank.pid)["output"]
        self.assertEqual(said, "thread %d has also stopped (breakpoint 1): the "
                         "next continue shows the stop of that thread first"
                         % rank.pid)
        rank.ask("sample", pids=[rank.pid])
        body = self.node.event("sampled", rank.pid)
        rank.take_sample(body)
        states = {one["tid"]: one["state"] for one in body["threads"]}
        self.assertEqual((states[other], states[rank.pid]),
                         ("stopped", "stopped"))
        rank.ask("continue", threads="one")
        self.assertEqual(rank.stopped()["tid"], rank.pid)
        self.assertEqual(rank.places[0], (self.WORK["line"], "work"))
        states = {one["tid"]: one["state"] for one in rank.sample["threads"]}
        self.assertNotEqual(states[other], "stopped")
        deadline = time.monotonic() + LIMIT
        while status_of(other, "State") == "t":
            self.assertLess(time.monotonic(), deadline, "it stands")
        rank.ask("detach")
        rank.check_clean(self)

    def test_a_log_point_that_speaks_all_the_time(self):
        rank = self.start()
        rank.set_breakpoints({"line": line_of("    twice = value + value"),
                              "log": "{value}"})
        said = []
        while not said or " more " not in said[-1]:
            said.append(self.node.event("output", rank.pid)["output"])
        self.assertEqual(len(said), 101)
        rank.ask("detach")
        rank.check_clean(self)

    def take_slots(self, tid, count):
        """Another debugger's watches, where the thread never is."""
        attributes = struct.pack("=II5QIIQQ5Q", 5, 112, 0, 1, 0, 0,
                                 1 << 5 | 1 << 6, 0, 3, 4096, 1, *[0] * 5)
        for _ in range(count):
            fd = ctypes.CDLL(None, use_errno=True).syscall(
                298, attributes, tid, -1, -1, 0)
            self.assertGreaterEqual(fd, 0, ctypes.get_errno())
            self.addCleanup(os.close, fd)

    IN_USE = "all four debug registers are in use"

    def test_watches_that_another_has(self):
        """Its binding says so; that is said once, though all passes by."""
        rank = self.start()
        self.take_slots(rank.pid, 3)
        bindings = rank.set_breakpoints(
            {"line": line_of("    twice = value + value"),
             "log": "{value}"},
            {"line": line_of("    total = 0"), "condition": "number < 0"})
        self.assertEqual(bindings[0]["number"], 1)
        self.assertEqual(bindings[1].get("number", 0), 0)
        self.assertIn(self.IN_USE, bindings[1]["message"])
        said = []
        while len(said) < 101:
            said.append(self.node.event("output", rank.pid)["output"])
        self.assertEqual(len([text for text in said if self.IN_USE in text]),
                         1)
        rank.ask("detach")
        rank.check_clean(self)

    def test_a_step_of_a_thread_that_blocks_the_signal(self):
        rank = self.start()
        tid = max(map(int, os.listdir("/proc/%d/task" % rank.pid)))
        rank.target.say("block")
        rank.target.line()
        rank.ask("pause", tid=tid)
        rank.stopped()
        rank.ask("next")
        said = self.node.event("output", rank.pid)["output"]
        self.assertEqual(said, "the step failed: thread %d blocks SIGTRAP, so "
                         "hardware breakpoints cannot stop it" % tid)
        self.node.wait_for(lambda m: m.get("event") == "debugger"
                           and m["body"]["state"] == "none")
        rank.check_clean(self)

    def block(self):
        """A rank with a thread that blocks SIGTRAP, and a breakpoint there."""
        rank = self.start()
        rank.target.say("block another")
        rank.target.line()
        binding, = rank.set_breakpoints({"line": line_of("    value = 1")})
        return rank, binding

    def check_hit(self, rank):
        rank.target.say("unblock")
        rank.target.line()
        self.assertEqual(rank.stopped()["hit"], [1])
        rank.ask("detach")
        rank.check_clean(self)
        rank.check_end(self)

    def test_a_step_of_a_thread_that_makes_a_child(self):
        """The C library blocks its signals then; and a program's own block
        is found when it has made the child."""
        for order, is_lost in ("", False), ("block", True):
            with self.subTest(order=order), \
                    tempfile.TemporaryDirectory() as folder:
                rank = self.start()
                self.spawn_and_pause(rank, order, folder + "/fifo")
                rank.ask("next")
                if is_lost:
                    said = self.node.event("output", rank.pid)["output"]
                    self.assertIn("the step failed: thread", said)
                else:
                    self.assertEqual(rank.stopped()["reason"], "step")
                    rank.ask("continue")
                rank.target.line()
                self.node.wait_for(
                    lambda m: m.get("event") == "debugger"
                    and m["body"]["pid"] == rank.pid
                    and m["body"]["state"] == "none")
                rank.check_clean(self)

    def let_open(self, path):
        """The child whose input this FIFO is gets it, also if it opens it
        later."""
        self.addCleanup(os.close, os.open(path, os.O_RDWR))

    def spawn_and_pause(self, rank, order, path):
        tid = max(map(int, os.listdir("/proc/%d/task" % rank.pid)))
        if order:
            rank.target.say(order)
            rank.target.line()
        os.mkfifo(path)
        rank.target.say("spawn " + path)
        deadline = time.monotonic() + LIMIT
        while status_of(tid, "State") != "D":
            self.assertLess(time.monotonic(), deadline, "it runs")
        rank.ask("pause", tid=tid)
        self.let_open(path)
        while rank.stopped().get("why"):
            pass

    def test_a_breakpoint_while_a_thread_blocks_the_signal(self):
        rank, binding = self.block()
        self.assertEqual((binding.get("number"), binding.get("message")),
                         (1, None))
        self.check_hit(rank)

    def test_a_breakpoint_of_a_thread_that_goes_on_blocking_the_signal(self):
        rank, _ = self.block()
        said = self.node.event("output", rank.pid)["output"]
        self.assertRegex(said, "^thread [0-9]+ blocks SIGTRAP")
        self.node.wait_for(lambda m: m.get("event") == "debugger" and
                           "blocks SIGTRAP" in
                           str(m["body"].get("breakpoints")))
        self.check_hit(rank)

    def test_a_breakpoint_while_nobody_can_be_stopped(self):
        """Its only thread waits in vfork(), with the signals blocked."""
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/fifo"
            os.mkfifo(path)
            program = folder + "/vforks.py"
            with open(program, "w") as file:
                file.write(VFORKS)
            target = Target(argv=self.python.argv + [program, path])
            self.addCleanup(target.close)
            self.addCleanup(target.process.kill)
            self.node.discover(pids=[target.pid])
            target.say("go")
            deadline = time.monotonic() + LIMIT
            while status_of(target.pid, "State") != "D":
                self.assertLess(time.monotonic(), deadline, "it runs")
            binding, = self.set_in(target, program, 3)
            self.let_open(path)
            self.assertEqual((binding.get("number"), binding.get("message")),
                             (1, None))
            self.assertEqual(
                self.node.event("stopped", target.pid)["hit"], [1])
            self.node.ask("detach", pid=target.pid)

    def set_in(self, target, program, *lines):
        return self.node.ask("setBreakpoints", pid=target.pid, breakpoints=[
            {"id": 1, "path": program, "line": line}
            for line in lines])["breakpoints"]

    def test_breakpoints_while_children_are_made(self):
        """At any moment of what makes them: each is set, and stops it."""
        with tempfile.TemporaryDirectory() as folder:
            program = folder + "/children.py"
            with open(program, "w") as file:
                file.write(CHILDREN)
            target = Target(argv=self.python.argv + [program])
            self.addCleanup(target.close)
            self.addCleanup(target.process.kill)
            self.node.discover(pids=[target.pid])
            for _ in range(40):
                time.sleep(random.random() / 100)
                binding, = self.set_in(target, program, 3)
                self.assertEqual(
                    (binding.get("number"), binding.get("message")),
                    (1, None))
                stop = self.node.event("stopped", target.pid)
                self.assertEqual(stop["hit"], [1])
                self.set_in(target, program)
                self.node.ask("continue", pid=target.pid)
                self.node.wait_for(lambda m: m.get("event") == "debugger"
                                   and m["body"]["state"] == "none")
            self.assertEqual(
                [m["body"] for m in self.node.messages
                 if m.get("event") == "output"], [])

    def state(self, rank):
        return self.node.discover(pids=[rank.pid])[0][rank.pid]["state"]

    def test_a_process_that_we_hold_lives(self):
        rank = self.start()
        rank.ask("pause")
        rank.stopped()
        self.assertEqual(self.state(rank), "live")
        rank.set_breakpoints({"line": 1, "condition": "0"})
        rank.ask("continue")
        os.kill(rank.pid, signal.SIGSTOP)
        deadline = time.monotonic() + LIMIT
        while self.state(rank) != "stopped":
            self.assertLess(time.monotonic(), deadline)
        os.kill(rank.pid, signal.SIGCONT)
        rank.ask("detach")
        rank.check_clean(self)

    def test_a_thread_that_has_no_frame_yet(self):
        rank = self.start()
        before = set(os.listdir("/proc/%d/task" % rank.pid))
        rank.target.say("starve")
        deadline = time.monotonic() + LIMIT
        body = new = None
        while not body or body["tid"] != new:
            self.assertLess(time.monotonic(), deadline, body)
            for name in set(os.listdir("/proc/%d/task" % rank.pid)) - before:
                new = int(name)
                rank.ask("pause", tid=new)
                body = rank.stopped()
                rank.ask("continue")
        self.assertEqual(rank.places, [])
        self.assertEqual(body["description"],
                         "the thread runs no Python code now")
        rank.target.say("")
        rank.target.line()
        rank.check_clean(self)
        rank.check_end(self)

    def go_on_beside(self, rank, tid):
        deadline = time.monotonic() + LIMIT
        while status_of(tid, "State") != "D":
            self.assertLess(time.monotonic(), deadline, "it runs")
        rank.ask("pause", tid=tid)
        body = self.node.event("stopped", rank.pid)
        self.assertIn("not stopped yet: thread %d (in uninterruptible sleep, "
                      "state D: thread %d)" % (tid, tid),
                      body["why"])
        self.assertEqual((body.get("stopped_at"), body.get("held")),
                         (None, None))

    def test_a_thread_that_cannot_be_stopped(self):
        """It waits in vfork() for a child that waits for its input."""
        rank = self.start()
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/fifo"
            os.mkfifo(path)
            tid = max(map(int, os.listdir("/proc/%d/task" % rank.pid)))
            rank.target.say("spawn " + path)
            try:
                self.go_on_beside(rank, tid)
                rank.ask("continue")
                self.node.wait_for(lambda m: m.get("event") == "debugger"
                                   and m["body"]["state"] == "none")
                self.go_on_beside(rank, tid)
            finally:
                self.let_open(path)
        body = rank.stopped()
        self.assertNotIn("why", body)
        self.assertLess(body["held"], LIMIT)
        self.assertEqual(rank.thread["state"], "stopped")
        self.assertEqual(rank.places[0][1], "listen")
        rank.ask("continue")
        rank.target.line()
        rank.check_clean(self)
        rank.check_end(self)

    def way(self, rank):
        answer, = self.node.ask("diagnose", pids=[rank.pid])["ranks"]
        return [way for way in answer["ways"]
                if way["way"] == "stop and step"][0]

    def test_doctor(self):
        rank = self.start()
        self.assertTrue(self.way(rank)["ok"])
        self.assertIn("SIGTRAP", self.way(rank)["why"])
        rank.ask("pause")
        rank.stopped()
        self.assertTrue(self.way(rank)["ok"])
        rank.ask("detach")
        rank.target.say("trace")
        rank.target.line()
        self.assertFalse(self.way(rank)["ok"])
        self.assertIn("sys.settrace", self.way(rank)["why"])

    def test_traced_within(self):
        rank = self.start()
        rank.target.say("trace")
        rank.target.line()
        self.assertIn("sys.settrace", rank.refuse("setBreakpoints",
                                                  breakpoints=[dict(
                                                      self.WORK, id=1,
                                                      path=NAME)]))
        rank.ask("pause")
        rank.stopped()
        self.assertIn("sys.settrace", rank.refuse("next"))
        rank.ask("continue")
        rank.check_clean(self)

    def test_cleared_while_traced_within(self):
        """What is only taken away is never refused: the program traces
        itself by now (coverage), and stands at a breakpoint."""
        rank = self.start()
        # True once the program has answered that it traces itself.
        late = "state['traced'] == 1"
        rank.set_breakpoints(
            dict(self.WORK, condition=late),
            {"line": line_of("    return total"), "condition": "number < 0"})
        rank.target.say("trace")
        rank.target.line()
        rank.stopped()
        kept = dict(self.WORK, condition=late, id=1, path=NAME)
        other = {"line": 1, "id": 3, "path": NAME}
        self.assertIn("sys.settrace",
                      rank.refuse("setBreakpoints", breakpoints=[kept, other]))
        rank.ask("setBreakpoints", breakpoints=[kept])
        rank.ask("setBreakpoints", breakpoints=[dict(kept, disabled=True)])
        rank.ask("continue")
        rank.progress()
        rank.ask("setBreakpoints", breakpoints=[])
        rank.check_clean(self)
        self.assertEqual([m for m in self.node.messages
                          if m.get("event") == "stopped"], [])
        rank.check_end(self)

    def test_another_thread_stands_at_what_was_cleared(self):
        """Its stop was kept to be told next: only that of a breakpoint that
        is still set is."""
        for cleared in True, False:
            with self.subTest(cleared=cleared):
                self.ranks = []
                rank = self.start(threads=1)
                idle = [tid for tid in
                        map(int, os.listdir("/proc/%d/task" % rank.pid))
                        if tid != rank.pid]
                rank.ask("pause", tid=idle[-1], threads="one")
                self.assertNotEqual(rank.stopped()["tid"], rank.pid)
                rank.set_breakpoints(self.WORK)
                self.assertIn("has also stopped",
                              self.node.event("output", rank.pid)["output"])
                if cleared:
                    rank.set_breakpoints()
                rank.ask("continue", threads="one")
                if not cleared:
                    self.assertEqual(rank.stopped()["hit"], [1])
                    rank.set_breakpoints()
                    rank.ask("continue")
                rank.check_clean(self)
                self.assertEqual([m for m in self.node.messages
                                  if m.get("event") == "stopped"], [])
                rank.check_end(self)

    def test_detach_while_stopped(self):
        rank = self.start()
        rank.set_breakpoints(self.WORK)
        rank.stopped()
        rank.ask("detach")
        self.assertEqual(self.node.event("debugger", rank.pid)["state"],
                         "running")
        self.assertEqual(self.node.event("debugger", rank.pid)["state"],
                         "none")
        rank.check_clean(self)
        rank.check_end(self)


def load_tests(loader, tests, _pattern):
    del tests
    suite = pythons.load_cases(loader, __name__, EachCase, JitCase)
    suite.addTests(loader.loadTestsFromTestCase(OneCase))
    return suite


if __name__ == "__main__":
    unittest.main()
