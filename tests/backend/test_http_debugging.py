"""A process that its agent stops: what a node tells of it, and does."""
import json
import os
import socket
import subprocess
import sys
import unittest

from https import SOURCE, HttpCase
from nodes import ELSEWHERE, Node, Target

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.path.join(HERE, "http_target.py")
with open(TARGET, encoding="utf-8") as target:
    LINES = target.read().splitlines()


def line_of(text, within=""):
    """The number of the first such line (of that function)."""
    start = next(i for i, line in enumerate(LINES) if within in line)
    return next(i for i in range(start, len(LINES))
                if text in LINES[i]) + 1


INNER = line_of("total = number")
LATE_ONCE = """
import threading
from probetui.dap import stacks
def wait(call, thread_id, frames=stacks._frames):
    stacks._frames = frames
    threading.Event().wait(7)
    return frames(call, thread_id)
stacks._frames = wait
"""
REFUSED_ONCE = """
from probetui import http1
from probetui.dap import stacks
def refuse(call, thread_id, frames=stacks._frames):
    stacks._frames = frames
    raise http1.Refusal(503, "not now")
stacks._frames = refuse
"""
# What stands is told as it was before a stop that the viewer has heard of.
STATE_LATE = """
import threading
from probetui.dap import stacks, stopped
heard, asked = threading.Event(), threading.Event()
def frames(call, thread_id, own=stacks._frames):
    heard.set()
    return own(call, thread_id)
def told(call, own=stopped.stops_told):
    stopped.stops_told = own
    found = own(call)
    asked.set()
    heard.wait(10)
    return found
stacks._frames, stopped.stops_told = frames, told
"""

# What says that the thread goes on is never answered.
GOES_LATE = """
import threading
from probetui.dap import stopped
def go(*arguments):
    own(*arguments)
    threading.Event().wait()
own, stopped._go = stopped._go, go
"""

# All its clients' connections end, as one that it has answered before.
CLOSES = """
import os, socket
times.append(1)
for name in os.listdir("/proc/self/fd"):
    try:
        one = socket.socket(fileno=os.dup(int(name)))
    except OSError:
        continue
    try:
        if not one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            one.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    one.close()
"""

# The next request's connection ends as it comes, before anybody took it.
DROPS = """
from probetui import http1, server
def drop(self, head, body, kept=server.Connection._answer):
    if head.method != "POST":
        return kept(self, head, body)
    server.Connection._answer = kept
    raise http1.Closed()
server.Connection._answer = drop
"""


class DebuggingCase(HttpCase):
    argv = [TARGET]

    def setUp(self):
        super().setUp()
        self.frames = {}
        self.codes = {}

    def ask(self, command, **arguments):
        return self.node.ask(command, pid=self.pid, **arguments)

    def set(self, *breakpoints):
        return self.ask("setBreakpoints", breakpoints=[
            dict(breakpoint, id=i + 1)
            for i, breakpoint in enumerate(breakpoints)])["breakpoints"]

    def take_sample(self):
        sample = self.node.event("sampled", self.pid)
        for stack in sample.get("stacks", []):
            for code in stack["codes"]:
                self.codes[code[0]] = code
            self.frames[stack["id"]] = [
                (self.codes[code][1], line) for code, line in stack["frames"]]
        return sample

    def state(self, *states):
        """Of the next `debugger` that tells one of them."""
        return self.node.wait_for(
            lambda m: m.get("event") == "debugger"
            and m["body"]["state"] in states)["body"]

    def stopped(self):
        """What is told, and the frames that come before it."""
        sample = self.take_sample()
        told = self.node.event("stopped", self.pid)
        thread = [thread for thread in sample["threads"]
                  if thread["tid"] == told["tid"]][0]
        self.assertEqual(thread["state"], "stopped")
        return told, self.frames[thread["stack"]]

    def stop_in_inner(self):
        self.set({"path": TARGET, "line": INNER})
        self.target.say("work(1)")
        return self.stopped()


class TestStops(DebuggingCase):
    def test_a_breakpoint(self):
        bindings = self.set({"path": TARGET, "line": INNER})
        self.assertEqual([(one["id"], one["number"], one["line"])
                          for one in bindings], [(1, 1, INNER)])
        self.target.say("work(1)")
        told, frames = self.stopped()
        self.assertEqual(
            (told["state"], told["backend"], told["reason"], told["at"],
             told["tid"], told["hit"], told["stops"]),
            ("stopped", "http", "breakpoint", "line", self.pid, [1], 1))
        self.assertEqual(frames[0], ("inner", INNER))
        self.assertEqual([name for name, _ in frames][:2], ["inner", "work"])

    @unittest.skipIf(sys.version_info >= (3, 12), "it needs no trace function")
    def test_the_doctor_knows_who_traces(self):
        self.set({"path": TARGET, "line": INNER})
        rank, = self.node.ask("diagnose", pids=[self.pid])["ranks"]
        way, = [way for way in rank["ways"] if way["way"] == "stop and step"]
        self.assertIn("agent", way["why"])
        self.assertNotIn("pdb", way["why"] + way["fix"])

    def test_it_goes_on(self):
        told, _ = self.stop_in_inner()
        self.assertEqual(told["breakpoints"][0]["hits"], 1)
        self.ask("continue")
        self.node.event("continued", self.pid)
        self.assertEqual(self.line(), ["4"])

    def test_a_condition_a_function_and_a_log(self):
        self.set({"function": "inner", "condition": "number > 1"},
                 {"path": TARGET, "line": line_of("return total", "inner"),
                  "log": "it is {total}"})
        self.target.say("work(1)")
        said = self.node.wait_for(
            lambda m: m.get("event") == "output"
            and "it is" in m["body"]["output"])["body"]
        self.assertEqual((said["output"], said["breakpoint"]),
                         ("it is 3", 2))
        self.target.say("work(2)")
        told, _ = self.stopped()
        self.assertEqual(told["hit"], [1])

    def test_a_condition_that_fails(self):
        """It stops nobody; where the name can mean nothing it is refused."""
        answer = self.ask("setBreakpoints", breakpoints=[
            {"id": 6, "path": TARGET, "line": INNER, "condition": "no > 1"},
            {"id": 7, "path": TARGET, "line": INNER, "condition": "self.no"},
            {"id": 8, "path": TARGET, "line": INNER}])["breakpoints"]
        self.assertEqual(
            (answer[0]["refused"], answer[0]["message"]),
            (True, "condition failed: name 'no' is not defined"))
        self.target.say("work(1)")
        told, _ = self.stopped()
        self.assertEqual(told["hit"], [8])

    def test_what_changes(self):
        self.set({"path": TARGET, "line": INNER, "temporary": True})
        self.target.say("work(1)")
        self.stopped()
        bound = self.set({"watch": "total", "depth": 0},
                         {"watch": "self.nothing", "depth": 0})
        self.assertEqual(
            [(one.get("number", 0), one.get("refused", False),
              one.get("message"))
             for one in bound],
            [(1, False, None), (0, True, "self is not defined in the frame")])
        self.ask("continue")
        told, _ = self.stopped()
        self.assertEqual((told["reason"], told["hit"], told["description"]),
                         ("data breakpoint", [1], "total: not set -> 2"))

    def test_what_cannot_be_set(self):
        bound, = self.set({"path": TARGET, "line": 100000})
        self.assertEqual(bound.get("number", 0), 0)
        self.assertTrue(bound["message"])

    def test_breakpoints_are_taken_out(self):
        self.set({"path": TARGET, "line": INNER}, {"function": "handle"})
        self.assertEqual(self.set(), [])
        self.target.say("(work(1), handle())")
        self.assertEqual(self.line(), ["(4,", "'handled')"])

    def test_the_last_list_is_what_is_set(self):
        lists = [[{"id": i * 10 + j, "path": TARGET, "line": INNER + j % 2}
                  for j in range(1, 2 + i % 4)] for i in range(8)]
        seqs = [self.node.request("setBreakpoints", pid=self.pid,
                                  breakpoints=one) for one in lists]
        for one, seq in zip(lists, seqs):
            told = self.node.answer(seq)["body"]["breakpoints"]
            self.assertEqual([each["id"] for each in told],
                             [each["id"] for each in one])
        self.assertEqual(self.set(), [])
        self.target.say("work(1)")
        self.assertEqual(self.line(), ["4"])

    def test_the_last_filters_are_what_is_set(self):
        seqs = [self.node.request(
            "setExceptionBreakpoints", pid=self.pid,
            filters=["raised"] if i % 3 else [],
            types=["RuntimeError"] if i % 2 else [])
            for i in range(25)]
        for seq in seqs:
            self.assertTrue(self.node.answer(seq)["success"])
        self.target.say("handle()")
        self.assertEqual(self.line(), ["handled"])

    def test_steps(self):
        self.stop_in_inner()
        for request, where in (
                ("next", ("inner", INNER + 1)),
                ("stepOut", ("inner", INNER + 2)),
                ("next", ("work", line_of("total = inner"))),
                ("next", ("work", line_of("total += 1", "def work")))):
            with self.subTest(request=request, where=where):
                self.ask(request)
                self.node.event("continued", self.pid)
                told, frames = self.stopped()
                self.assertEqual(told["reason"], "step")
                self.assertEqual(frames[0][0], where[0])

    def test_until_and_the_frame_that_is_looked_at(self):
        self.stop_in_inner()
        self.ask("until", line=INNER + 2)
        self.assertEqual(self.stopped()[1][0], ("inner", INNER + 2))
        self.ask("next", depth=1)
        self.assertEqual(self.stopped()[1][0][0], "work")

    def test_jump(self):
        self.stop_in_inner()
        self.ask("until", line=INNER + 2)
        self.stopped()
        self.ask("jump", line=INNER)
        told, frames = self.stopped()
        self.assertEqual(frames[0], ("inner", INNER))
        self.assertIn("not possible",
                      self.node.refuse("jump", pid=self.pid, line=1))

    def test_pause(self):
        self.target.say("[0 for i in iter(int, 1)]")
        self.ask("pause")
        told, frames = self.stopped()
        self.assertEqual(told["reason"], "pause")
        self.target.process.kill()

    def test_one_whose_stack_is_late(self):
        self.ask("evaluate", context="repl", expression=LATE_ONCE)
        told, frames = self.stop_in_inner()
        self.assertEqual((told["reason"], frames[0]),
                         ("breakpoint", ("inner", INNER)))

    def test_one_whose_stack_is_refused(self):
        self.ask("evaluate", context="repl", expression=REFUSED_ONCE)
        self.set({"path": TARGET, "line": INNER})
        self.target.say("work(1)")
        self.assertEqual(self.node.event("stopped", self.pid)["reason"],
                         "breakpoint")
        self.ask("continue")
        self.node.event("continued", self.pid)
        self.assertEqual(self.line(), ["4"])

    def test_one_that_runs_no_python_says_so(self):
        self.ask("pause")
        told = self.node.wait_for(
            lambda m: m.get("event") == "debugger"
            and m["body"].get("why"))["body"]
        self.assertIn("next line", told["why"])
        self.target.say("1")
        self.stopped()

    def test_a_pause_that_continue_withdraws(self):
        """It waits in C code: right after the pause, and once that was
        answered."""
        for waits in (False, True):
            pause = self.node.request("pause", pid=self.pid)
            if waits:
                self.assertTrue(self.node.answer(pause)["success"])
            answer = self.node.answer(
                self.node.request("continue", pid=self.pid))
            self.assertTrue(answer["success"], answer)
            self.target.say("work(1)")
            self.assertEqual(self.line(), ["4"])
        self.assertEqual([m for m in self.node.messages
                          if m.get("event") == "stopped"], [])
        self.assertIn("is running",
                      self.node.refuse("continue", pid=self.pid))
        self.ask("continue", withdraw=True)

    def test_exceptions(self):
        self.ask("setExceptionBreakpoints", filters=["raised"],
                 types=["RuntimeError"])
        self.target.say("handle()")
        told, frames = self.stopped()
        self.assertEqual((told["reason"], told["at"]),
                         ("exception", "exception"))
        self.assertEqual(told["value"], "RuntimeError: boom")
        self.assertEqual(told["exception"], "RuntimeError: boom")
        self.assertEqual(frames[0][0], "fail")
        self.ask("setExceptionBreakpoints", filters=[])
        self.ask("continue")
        self.assertEqual(self.line(), ["handled"])


class TestValues(DebuggingCase):
    @classmethod
    def setUpClass(cls):
        cls.share().stop_in_inner()

    def setUp(self):
        if "first" in vars(type(self)):
            self.take()
        else:
            super().setUp()

    def variables(self, depth):
        return {one["name"]: one for one in self.ask(
            "variables", tid=self.pid, depth=depth)["variables"]}

    def test_variables_of_a_frame(self):
        names = self.variables(0)
        self.assertEqual(sorted(names), ["net", "number"])
        self.assertEqual((names["number"]["type"], names["number"]["value"]),
                         ("int", "1"))
        self.assertIn("net", self.variables(1))

    def test_they_are_opened(self):
        net = self.variables(0)["net"]
        inside = self.ask("variables", address=net["address"],
                          type=net["type"])["variables"]
        self.assertEqual([one["name"] for one in inside], ["weights"])
        self.assertEqual(inside[0]["children"], 3)
        body = self.ask("variables", address=inside[0]["address"],
                        type=inside[0]["type"], start=1)
        self.assertEqual([one["value"] for one in body["variables"]],
                         ["2", "3"])
        self.assertEqual(body["total"], 3)

    def test_evaluate_in_a_frame(self):
        body = self.ask("evaluate", tid=self.pid, depth=0,
                        expression="number + len(net.weights)")
        self.assertEqual((body["result"], body["type"]), ("4", "int"))
        response = self.node.answer(self.node.request(
            "evaluate", pid=self.pid, tid=self.pid, depth=0,
            expression="nothing"))
        self.assertEqual(response["message"],
                         "NameError: name 'nothing' is not defined")

    def test_a_local_is_set(self):
        self.assertEqual(self.ask("setVariable", tid=self.pid, depth=0,
                                  name="number", value="40 + 1")["result"],
                         "41")
        self.assertEqual(self.variables(0)["number"]["value"], "41")
        self.ask("setVariable", tid=self.pid, depth=0, name="number",
                 value="1")

    def test_completions_in_a_frame(self):
        body = self.ask("completions", tid=self.pid, depth=0, text="net.we",
                        column=7)
        self.assertEqual([one["label"] for one in body["targets"]],
                         ["weights"])

    def test_beside_the_program(self):
        self.assertEqual(self.evaluate("len(LINES) if 0 else 7")["result"],
                         "7")

    def test_another_thread_is_read_from_outside(self):
        found = []
        # Nobody has waited for it to come to where it sleeps: wait() of two
        # objects.
        while not found:
            self.node.ask("sample", pids=[self.pid])
            for thread in self.take_sample()["threads"]:
                names = [name for name, _ in
                         self.frames.get(thread.get("stack"), [])]
                if names[:3] == ["wait", "wait", "sleep"]:
                    found.append(thread)
        names = self.ask("variables", tid=found[0]["tid"], depth=2)
        self.assertIn("never", [one["name"] for one in names["variables"]])


class TestElsewhere(DebuggingCase):
    """What its agent tells is all that is known of the process."""

    def setUp(self):
        with socket.socket() as listener:
            listener.bind(("0.0.0.0", 0))
            port = listener.getsockname()[1]
        self.frames, self.codes = {}, {}
        self.target = self.start(
            0, PROBETUI_ADDRESS="0.0.0.0:%d" % port,
            PROBETUI_TOKEN="right-token", stderr=subprocess.DEVNULL)
        self.node = Node(env=dict(os.environ, PROBETUI_TOKEN="right-token"))
        self.addCleanup(lambda: self.node.close())
        self.node.ask("initialize", protocol=1)
        self.pid = self.node.ask(
            "connect",
            target="http://%s:%d" % (ELSEWHERE, port))["pid"]
        self.node.event("continued", self.pid)

    def test_it_stops_and_is_looked_at(self):
        told, frames = self.stop_in_inner()
        self.assertEqual((told["tid"], frames[0]), (self.pid,
                                                    ("inner", INNER)))
        names = self.ask("variables", tid=self.pid, depth=0)["variables"]
        self.assertEqual(sorted(one["name"] for one in names),
                         ["net", "number"])
        source = self.ask("source", path=TARGET)
        self.assertEqual(source["content"].splitlines(), LINES)
        self.node.ask("sample", pids=[self.pid])
        sample = self.take_sample()
        self.assertEqual((sample["source"], sample["threads"][0]["state"]),
                         ("http", "stopped"))
        self.ask("next")
        self.assertEqual(self.stopped()[1][0], ("inner", INNER + 1))

    def ways(self):
        rank, = self.node.ask("diagnose", pids=[self.pid])["ranks"]
        self.assertNotRegex(json.dumps(rank["ways"]), r"\b%d\b" % self.pid)
        return {way["way"]: way for way in rank["ways"]}

    def test_no_number_of_ours_is_told(self):
        if self.pid == self.target.pid:
            self.skipTest("its port is seen to be of this machine")
        ways = self.ways()
        self.assertEqual([name for name in ways if ways[name]["ok"]],
                         ["agent"])
        self.assertIn("on another machine", ways["read"]["why"])
        self.assertIn("on another machine",
                      self.node.refuse("inject", pid=self.pid))
        self.target.process.kill()
        while self.ways()["agent"]["ok"]:
            pass
        self.node.ask("detach", pid=self.pid, force=True)
        self.assertFalse(self.ways()["agent"]["ok"])
        for name in ("inject", "locals", "sample"):
            self.assertNotIn(str(self.pid), json.dumps(
                self.node.answer(self.node.request(name, pid=self.pid))))


class TestContained(DebuggingCase):
    """Its threads have other numbers where it is."""

    def setUp(self):
        command = ["unshare", "--pid", "--fork", "--kill-child"]
        if subprocess.run(command + ["true"],
                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest("namespaces cannot be made here (unshare as root)")
        self.frames, self.codes = {}, {}
        self.target = Target(argv=command + [sys.executable, TARGET],
                             RANK="0", PROBETUI="1",
                             PYTHONPATH=os.path.join(SOURCE, "agent"))
        self.addCleanup(self.target.close)
        pid = self.target.process.pid
        with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
            self.pid = int(file.read())
        self.node = Node()
        self.addCleanup(self.node.close)
        self.node.ask("initialize", protocol=1)
        self.node.discover(pids=[self.pid])

    def thread(self, number):
        for tid in os.listdir("/proc/%d/task" % self.pid):
            with open("/proc/%d/task/%s/status" % (self.pid, tid)) as file:
                if "NSpid:\t%s\t%d\n" % (tid, number) in file.read():
                    return int(tid)

    def test_pause_of_a_thread(self):
        told = self.ask("evaluate", context="repl", expression="""
thread = threading.Thread(target=lambda: [0 for i in iter(int, 1)],
                          daemon=True)
thread.start()
thread.native_id""")
        tid = self.thread(int(told["result"]))
        self.ask("pause", tid=tid)
        self.assertEqual(self.stopped()[0]["tid"], tid)


class TestHeld(HttpCase):
    """What nobody catches, as a node sees it that comes later."""

    argv = ["-c", "import sys\nprint('ready', flush=True)\n"
            "sys.stdin.readline()\ndef fail():\n    raise KeyError('k')\n"
            "fail()"]

    def start(self, rank, **variables):
        return super().start(rank, PROBETUI_CATCH="1", **variables)

    def setUp(self):
        super().setUp()
        self.target.say("")

    def wait_until_held(self):
        self.node.discover(pids=[self.pid], follow=True, period=0.1)
        self.node.event("stopped", self.pid)
        self.node.close()
        self.node = Node()
        self.node.ask("initialize", protocol=1)
        self.node.discover(pids=[self.pid])

    def test_who_follows_is_told(self):
        self.node.discover(pids=[self.pid], follow=True, period=0.1)
        sample = self.node.event("sampled", self.pid)
        told = self.node.event("stopped", self.pid)
        self.assertEqual(
            (told["backend"], told["target"], told["reason"],
             told["exception"], told["post_mortem"]),
            ("http", "agent:%d" % self.pid, "exception", "KeyError: 'k'",
             True))
        self.assertGreater(told["lease"], 1000)
        self.assertEqual(sample["threads"][0]["state"], "stopped")
        self.assertIn("not stepped",
                      self.node.refuse("next", pid=self.pid))
        self.node.ask("continue", pid=self.pid)
        self.assertEqual(self.target.process.wait(20), 1)

    def test_its_agent_stays(self):
        self.wait_until_held()
        self.assertIn("would end without its agent",
                      self.node.refuse("eject", pid=self.pid))
        self.assertTrue(os.path.exists(self.path()))
        # Refused where the connection that eject made follows the agent already.
        self.node.answer(self.node.request("connect",
                                           target="agent:%d" % self.pid))
        self.assertTrue(self.node.event("stopped", self.pid)["post_mortem"])
        self.node.ask("continue", pid=self.pid)


class TestLeaving(DebuggingCase):
    def check_runs(self):
        """Nothing of ours is in it."""
        self.assertEqual(self.line(), ["4"])
        self.target.say("work(2)")
        self.assertEqual(self.line(), ["5"])

    def test_detach(self):
        self.stop_in_inner()
        self.ask("detach")
        self.state("none")
        self.check_runs()

    def test_the_node_leaves(self):
        self.stop_in_inner()
        self.node.close()
        self.check_runs()

    def test_the_node_is_killed(self):
        self.stop_in_inner()
        self.node.process.kill()
        self.node.wait()
        self.node.close = lambda: None
        self.check_runs()

    def test_who_only_follows_does_not_keep_it(self):
        follower = Node()
        self.addCleanup(follower.close)
        follower.ask("initialize", protocol=1)
        follower.discover(pids=[self.pid], follow=True, period=0.1)
        self.stop_in_inner()
        follower.event("stopped", self.pid)
        self.node.process.kill()
        self.node.wait()
        self.node.close = lambda: None
        follower.event("continued", self.pid)
        self.check_runs()

    def test_a_late_viewer_sees_where_it_stands(self):
        self.stop_in_inner()
        first, self.node = self.node, Node()
        self.addCleanup(self.node.close)
        self.node.ask("initialize", protocol=1)
        self.node.discover(pids=[self.pid])
        self.node.ask("connect", target="agent:%d" % self.pid)
        told, frames = self.stopped()
        self.assertEqual(frames[0], ("inner", INNER))
        self.ask("continue")
        self.node.event("continued", self.pid)
        first.event("continued", self.pid)
        self.assertEqual(self.line(), ["4"])

    def test_a_stop_that_comes_before_an_older_state(self):
        self.set({"path": TARGET, "line": INNER})
        self.ask("evaluate", context="repl", expression=STATE_LATE)
        first, self.node = self.node, Node()
        self.addCleanup(self.node.close)
        self.node.ask("initialize", protocol=1)
        self.node.discover(pids=[self.pid])
        self.node.ask("connect", target="agent:%d" % self.pid)
        first.ask("evaluate", pid=self.pid, context="repl",
                  expression="asked.wait(10)")
        self.target.say("work(1)")
        self.stopped()
        self.assertEqual(self.ask("evaluate", expression="number", depth=0,
                                  tid=self.pid)["result"], "1")
        # A stop that is over when it is looked at is not reported.
        first.event("stopped", self.pid)
        self.ask("continue")
        first.event("continued", self.pid)

    def test_what_was_taken_is_not_sent_again(self):
        """By libcurl, where a kept connection ends."""
        self.ask("evaluate", context="repl", expression="times = []")
        seq = self.node.request("evaluate", pid=self.pid, context="repl",
                                expression=CLOSES)
        self.assertIn("ended before", self.node.answer(seq)["message"])
        self.target.say("len(times)")
        self.assertEqual(self.line(), ["1"])
        self.assertEqual(self.ask("evaluate", expression="len(times)")
                         ["result"], "1")

    def test_what_was_not_taken_is_sent_again(self):
        """Where a kept connection ends as a request is on its way."""
        self.set({"path": TARGET, "line": INNER})
        self.ask("evaluate", context="repl", expression="times = []")
        self.ask("evaluate", context="repl", expression=DROPS)
        self.assertEqual(self.ask(
            "evaluate", expression="times.append(1) or len(times)")["result"],
            "1")
        # And the session is what it was.
        self.target.say("work(1)")
        self.assertEqual(self.stopped()[1][0], ("inner", INNER))
        self.ask("continue")

    def test_one_that_ends_before_it_answers(self):
        self.set({"path": TARGET, "line": INNER})
        self.ask("evaluate", context="repl", expression=GOES_LATE)
        self.target.say("(work(1), __import__('sys').exit())")
        self.stopped()
        response = self.node.answer(self.node.request("continue",
                                                      pid=self.pid))
        # The agent may close the connection before its process exits.
        self.assertTrue(response["success"] or "Connection reset" in
                        response["message"], response)
        self.state("lost", "connecting")

    def test_one_that_dies_at_its_stop(self):
        self.stop_in_inner()
        self.target.process.kill()
        self.assertTrue(self.state("lost")["why"])


if __name__ == "__main__":
    unittest.main()
