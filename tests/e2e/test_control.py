#!/usr/bin/env python3
"""Stopping and stepping from a shell.

A node of a few lines of Python answers for debuggers, so that what is asked
of them, and in which order, can be told; the rest talks to real pdbs.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "backend")]
import jobs  # noqa: E402
import pdbs  # noqa: E402
import terminals  # noqa: E402

# Three ranks: 0 and 1 are stopped, 2 waits for a client, or is free: it has no
# debugger, and is attached to from outside. REFUSALS are sentences by request
# and pid.
NODE = r'''#!%(python)s
import json, sys

REFUSALS = %(refusals)r
PIDS = {100: 0, 101: 1, 102: 2}
log = open(%(log)r, "a")
stops = {}


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def event(name, **body):
    send({"seq": 1, "type": "event", "event": name, "body": body})


def debugger(pid, state, **more):
    name = {"stopped": "stopped", "running": "continued"}.get(state, "debugger")
    kind = ("ptrace", "ptrace:%%d" %% pid)
    if not (IS_FREE and pid == 102):
        kind = ("pdb", "pdb:unix:/tmp/%%d.sock" %% PIDS[pid])
    event(name, pid=pid, rank=PIDS[pid], state=state, backend=kind[0],
          target=kind[1], **more)


LIBRARY = "/usr/lib/python3.11/socket.py"


def sample(pid, line):
    code, file = (3, LIBRARY) if line == 50 else (1, "/job/train.py")
    event("sampled", pid=pid, rank=PIDS[pid], epoch=1, time=1.0,
          stacks=[{"id": pid * 1000 + line, "dropped": 0,
                   "codes": [[code, "train", "train", file, 1, 0],
                             [2, "<module>", "<module>", "/job/train.py", 1, 0]],
                   "frames": [[code, line], [2, 40]]}],
          threads=[{"tid": pid, "is_main": True, "state": "stopped",
                    "exact": "exact", "stack": pid * 1000 + line}])


def stop(pid, line, reason="step", **more):
    stops[pid] = stops.get(pid, 0) + 1
    sample(pid, line)
    debugger(pid, "stopped", **dict(
        dict(stops=stops[pid], tid=pid, reason=reason, at="line", held=0.5,
             description=reason), **more))


IS_FREE = %(third)r == "free"
THIRD = {"waiting": {}, "stale": {"why": "Nobody listens."}}


def found():
    for pid, rank in PIDS.items():
        event("rankAdded", pid=pid, rank=rank, world_size=3, uid=0,
              start_time=pid, job="127.0.0.1:29500", launcher_pid=90,
              script="train.py", script_path="/job/train.py", cwd="/job",
              state="live")
    stop(100, 14, "breakpoint", hit=[1])
    debugger(101, "connecting")
    stop(101, 15, leaving=%(leaving)r)
    sample(102, 30)
    if not IS_FREE:
        debugger(102, %(third)r, **THIRD[%(third)r])


waiting = {}  # by pid, until they are cancelled


def act(request, arguments):
    """The answer's body."""
    pid = arguments.get("pid")
    if request == "initialize":
        return {"protocol": 1, "version": "0", "host": "here", "uid": 0,
                "pid": 1}
    if request == "discover":
        found()
        return {"looked_at": 3, "uid": 0, "bystanders": []}
    if request in ("next", "stepIn", "stepOut", "until", "continue"):
        debugger(pid, "running")
        if request == "stepOut":
            stop(pid, 20, at="return", description="watch 1", value="1")
        elif request != "continue":
            stop(pid, arguments.get("line", 20))
    if request == "source":
        return {"pid": pid, "path": arguments["path"], "changed": False,
                "content": "".join(
                    "    dist.all_reduce(x)\n" if line == %(reduces)r
                    else "def train():\n" if line == 1
                    else "    x = %%d\n" %% line for line in range(1, 60))}
    if request == "pause":
        debugger(pid, "running")
        stop(pid, 30, "pause")
    if request == "connect":
        debugger(102, "connecting")
        stop(102, 30, "entry")
        return {"pid": 102}
    if request == "detach":
        debugger(pid, "none" if IS_FREE and pid == 102 else "waiting")
    if request == "cancel":
        for one in waiting.pop(pid):
            send({"seq": 1, "type": "response", "request_seq": one,
                  "command": "evaluate", "success": False,
                  "message": "cancelled", "body": None})
    if request == "evaluate":
        if arguments["expression"] == "die":
            event("rankRemoved", pid=pid, rank=PIDS[pid], uid=0,
                  start_time=pid, state="exited", exit_code=3)
        return {"result": "%%d + %%s" %% (PIDS[pid], arguments["expression"]),
                "type": "int"}
    if request == "completions":
        return {"targets": [
            {"label": "f" + name, "start": 2, "length": 1}
            for name in ("ence", "first")]}
    if request == "setBreakpoints":
        if IS_FREE and pid == 102 and not stops.get(102):
            debugger(pid, "running")
            for one in arguments["breakpoints"]:
                if one.get("log"):
                    event("output", pid=pid, category="console",
                          breakpoint=one["id"], output="x is 5")
                    stop(102, 31, "data breakpoint", hit=[7])
        return {"breakpoints": [
            {"id": one["id"], "number": 0 if one.get("line") == 99 else 1,
             "line": one.get("line", 1), "path": one.get("path", "/f.py"),
             "message": "End of file" if one.get("line") == 99 else None}
            for one in arguments["breakpoints"]]}
    return {}


for line in sys.stdin:
    request = json.loads(line)
    name, arguments = request["command"], request.get("arguments") or {}
    log.write(json.dumps([name, arguments]) + "\n")
    log.flush()
    if name == "disconnect":
        break
    if arguments.get("expression") == "forever":
        waiting.setdefault(arguments["pid"], []).append(request["seq"])
        continue
    refusal = REFUSALS.get("%%s %%s" %% (name, arguments.get("pid")))
    try:
        body = None if refusal else act(name, arguments)
        send({"seq": 1, "type": "response", "request_seq": request["seq"],
              "command": name, "success": not refusal, "body": body,
              **({"message": refusal} if refusal else {})})
    except BrokenPipeError:
        # The script has ended.
        sys.stdout = None
        break
'''


class Node:
    """A folder with the node and a script for it."""

    def __init__(self, refusals=None, leaving=None, third="waiting",
                 reduces=0):
        self.folder = tempfile.TemporaryDirectory(prefix="probetui-control-")
        self.log = os.path.join(self.folder.name, "log")
        self.path = os.path.join(self.folder.name, "node")
        with open(self.path, "w") as file:
            file.write(NODE % {"python": sys.executable, "log": self.log,
                               "refusals": refusals or {}, "leaving": leaving,
                               "third": third, "reduces": reduces})
        os.chmod(self.path, 0o700)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def run(self, *arguments, script=None):
        """Runs probetui with the node; a script comes from its input."""
        environment = dict(os.environ, PROBETUI_NODE=self.path)
        if script is not None:
            arguments += ("-x", "-")
        return subprocess.run(
            [jobs.PROBETUI, *arguments], env=environment,
            input=textwrap.dedent(script or ""), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True,
            timeout=jobs.LIMIT)

    def asked(self, *names):
        """The requests of these names, with their arguments, in order."""
        with open(self.log) as file:
            requests = [json.loads(line) for line in file]
        return [request for request in requests if request[0] in names]


def objects(process):
    return [json.loads(line) for line in process.stdout.splitlines()]


class TestActs(unittest.TestCase):
    def test_a_step_of_those_that_can(self):
        with Node() as node:
            run = node.run(script="next")
            self.assertEqual(run.stderr, "")
            self.assertEqual(run.stdout.splitlines()[0],
                             "next: ranks 0-1; 1 other rank is not stopped")
            self.assertEqual(run.returncode, 0)
            self.assertEqual(node.asked("next"),
                             [["next", {"pid": 100, "depth": 0}],
                              ["next", {"pid": 101, "depth": 0}]])

    def test_stops_are_told_once_and_in_order(self):
        with Node() as node:
            run = node.run("--json", script="""
                next ranks 1
                wait stopped ranks 0,1
                next ranks 0
                wait stopped ranks 0,1
                """)
            told = [one for one in objects(run) if one.get("event")]
            self.assertEqual([one["rank"] for one in told], [0, 1, 1, 0])
            self.assertEqual(told[0], {
                "event": "stopped", "rank": 0, "tid": 100,
                "reason": "breakpoint", "at": "line", "value": None,
                "description": "breakpoint", "hit": [1], "held_s": 0.5,
                "frame": {"func": "train", "qualname": "train",
                          "file": "/job/train.py", "lineno": 14, "depth": 0,
                          "frame_type": "Python", "is_user": True}})
            self.assertEqual(run.returncode, 0)

    def test_stops_as_text(self):
        with Node() as node:
            run = node.run(script="wait stopped")
            self.assertEqual(run.stdout.splitlines(), [
                "rank 0 stopped: breakpoint  train (train.py:14)",
                "rank 1 stopped: step  train (train.py:15)"])

    def test_what_is_returned_is_told_of_a_watch(self):
        with Node() as node:
            run = node.run(script="finish ranks 0")
            self.assertIn("rank 0 stopped: watch 1: 1  train (train.py:20)",
                          run.stdout.splitlines())

    def test_waiting_for_one_that_does_not_stop(self):
        with Node() as node:
            run = node.run("--json", script="""
                continue ranks 1
                wait stopped ranks 1 timeout 0.05
                """)
            failure = objects(run)[-1]
            self.assertEqual(failure["event"], "error")
            self.assertEqual(failure["rank"], 1)
            self.assertIn("rank 1 has not stopped", failure["error"])
            self.assertEqual(run.returncode, 1)

    def test_one_that_ends_is_waited_for_no_more(self):
        with Node() as node:
            run = node.run("--json", script="""
                print die ranks 1
                wait stopped ranks 0,1
                """)
            self.assertEqual([one["event"] for one in objects(run)
                              if "event" in one],
                             ["stopped", "stopped", "exited"])
            self.assertEqual(run.returncode, 0)

    def test_a_refusal_is_its_rank_s(self):
        with Node({"jump 101": "The debugger says no."}) as node:
            run = node.run("--json", script="jump 3 ranks 0,1")
            self.assertEqual(
                [one for one in objects(run) if one.get("event") != "stopped"],
                [{"command": "jump", "ranks": "0", "others": ""},
                 {"event": "error", "rank": 1, "command": "jump",
                  "error": "The debugger says no."}])
            self.assertEqual(run.returncode, 1)
            run = node.run(script="jump 3 ranks 1")
            self.assertEqual(run.stderr, "probetui: line 1: jump: rank 1: the "
                                         "debugger says no.\n")

    def test_nobody_who_can(self):
        with Node() as node:
            run = node.run(script="next ranks 2\nfinish ranks 2,2")
            self.assertIn("next: rank 2 waits in a debugger: use the "
                          "command connect", run.stderr)
            run = node.run(script="continue\nnext")
            self.assertIn("next: none of the ranks 0-2 is stopped; rank 2 "
                          "waits in a debugger: use `connect ranks 2`",
                          run.stderr)
            self.assertEqual(run.returncode, 1)

    def test_a_file_of_its_number_is_no_reason(self):
        with Node(third="stale") as node:
            run = node.run(script="next ranks 2")
            self.assertIn("next: rank 2 is running: pause it first\n",
                          run.stderr)
            run = node.run(script="connect ranks 2")
            self.assertIn("no process listens: Nobody listens.", run.stderr)

    def test_connecting_to_who_waits(self):
        with Node() as node:
            run = node.run(script="connect ranks 2\nuntil 50 ranks 2")
            self.assertEqual(run.stderr, "")
            self.assertEqual(node.asked("connect", "until"), [
                ["connect", {"target": "pdb:unix:/tmp/2.sock"}],
                ["until", {"pid": 102, "depth": 0, "line": 50}]])

    def test_the_frame_looked_at_goes_along(self):
        with Node() as node:
            run = node.run(script="rank 1\nup\nnext ranks 0,1\nnext ranks 1")
            self.assertEqual(run.stderr, "")
            self.assertEqual(node.asked("next"),
                             [["next", {"pid": 100, "depth": 1}],
                              ["next", {"pid": 101, "depth": 1}],
                              ["next", {"pid": 101, "depth": 0}]])

    def test_abbreviations(self):
        with Node() as node:
            run = node.run(script="rank 1\nfocus 1\ns\nr\nunt\nc")
            self.assertEqual(run.stderr, "")
            self.assertEqual([name for name, _ in node.asked(
                "stepIn", "stepOut", "until", "continue")],
                ["stepIn", "stepOut", "until", "continue"])


class TestCosts(unittest.TestCase):
    def test_quitting_is_asked_about(self):
        with Node() as node:
            run = node.run(script="terminate ranks 1")
            self.assertIn("Rank 1 will raise BdbQuit. Quit the debugger? "
                          "(--yes answers yes)", run.stderr)
            self.assertEqual(run.returncode, 1)
            self.assertEqual(node.asked("terminate"), [])
            run = node.run(script="terminate --yes ranks 1")
            self.assertEqual(run.returncode, 0)
            self.assertEqual(node.asked("terminate"),
                             [["terminate", {"pid": 101}]])

    def test_leaving_what_ends_is_asked_about(self):
        with Node(leaving="Its server takes one client.") as node:
            run = node.run(script="detach")
            self.assertIn("Rank 1: its server takes one client. Detach "
                          "anyway? (--yes answers yes)", run.stderr)
            self.assertEqual(node.asked("detach"), [])
            run = node.run("--yes", script="detach ranks 1")
            self.assertEqual(run.stderr, "")
            run = node.run(script="detach ranks 0")
            self.assertEqual(node.asked("detach"),
                             [["detach", {"pid": 101, "force": True}],
                              ["detach", {"pid": 100}]])


class TestCollectives(unittest.TestCase):
    """A rank that steps into one waits there for those that stand."""

    def test_a_step_without_its_peers_is_asked_about(self):
        with Node(reduces=15) as node:
            run = node.run(script="next ranks 1")
            self.assertIn("Rank 1 reaches all_reduce (line 15) and will wait "
                          "there for ranks 0,2, which are stopped. Continue "
                          "anyway? (--yes answers yes)", run.stderr)
            self.assertEqual(node.asked("next"), [])
            run = node.run(script="next --yes ranks 1")
            self.assertEqual(run.stderr, "")
            self.assertEqual(node.asked("next"),
                             [["next", {"pid": 101, "depth": 0}]])

    def test_who_may_come_to_one_later(self):
        with Node(reduces=20) as node:
            run = node.run(script="next ranks 0\nstep ranks 1")
            self.assertEqual(run.stderr, "")
            run = node.run(script="continue ranks 0,1")
            self.assertIn("Ranks 0-1 reach all_reduce (line 20) and will "
                          "wait there for rank 2, which is stopped.", run.stderr)
            self.assertEqual(node.asked("continue"), [])

    def test_all_of_them_together_are_not(self):
        with Node(reduces=15, third="free") as node:
            run = node.run(script="next")
            self.assertEqual(run.stderr, "")

    def test_those_that_stand_are_let_go(self):
        with Node(reduces=20) as node:
            run = node.run(script="release\ncontinue --yes ranks 1\nfocus 1\n"
                           "release")
            self.assertIn("line 1: release: no step waits for stopped ranks",
                          run.stderr)
            self.assertIn("release: rank 0; 2 other ranks are not stopped\n",
                          run.stdout)
            self.assertEqual(node.asked("continue"),
                             [["continue", {"pid": 101, "depth": 0}],
                              ["continue", {"pid": 100, "depth": 0}]])


class TestBreakpoints(unittest.TestCase):
    def test_where_it_is(self):
        with Node() as node:
            run = node.run(script="""
                break train.py:14 if "a b" in  text ranks 0,1
                break 17
                tbreak Net.forward ranks 1
                break
                """)
            self.assertEqual(run.stderr, "")
            sent = [(arguments["pid"], arguments["breakpoints"])
                    for _, arguments in node.asked("setBreakpoints")]
            first = {"id": 1, "path": "/job/train.py", "line": 14,
                     "condition": '"a b" in  text'}
            self.assertEqual([(pid, [{k: v for k, v in one.items() if v}
                                     for one in all_of_them])
                              for pid, all_of_them in sent[:2]],
                             [(100, [first]), (101, [first])])
            self.assertEqual([len(all_of_them) for _, all_of_them in sent],
                             [1, 1, 2, 2, 2, 3])
            self.assertEqual(sent[-1][1][2]["function"], "Net.forward")
            self.assertTrue(sent[-1][1][2]["temporary"])
            listed = run.stdout.splitlines()
            self.assertTrue(any(line.startswith(
                'breakpoint 1: train.py:14 if "a b" in  text, ranks 0-1 (2)')
                for line in listed), listed)

    def test_a_line_while_a_library_is_looked_at(self):
        with Node() as node:
            run = node.run(script="""
                until 50 ranks 1
                wait stopped ranks 1
                rank 1
                frame 0
                break 22 ranks 1
                """)
            self.assertEqual(run.stderr, "")
            self.assertIn("breakpoint 1: train.py:22", run.stdout)

    def test_changes_are_told(self):
        with Node() as node:
            run = node.run(script="""
                break f ranks 0
                disable 1
                enable 1
                ignore 1 3
                condition 1 x == 'y'
                condition 1
                clear 1
                clear 1
                """)
            self.assertEqual(run.stderr, "probetui: line 9: breakpoint 1 does "
                                         "not exist: use `break` to list "
                                         "the breakpoints\n")
            sent = [arguments["breakpoints"] for _, arguments in
                    node.asked("setBreakpoints") if arguments["pid"] == 100]
            self.assertEqual(len(sent), 7)
            self.assertTrue(sent[1][0]["disabled"])
            self.assertFalse(sent[2][0].get("disabled"))
            self.assertEqual(sent[3][0]["ignore"], 3)
            self.assertEqual(sent[4][0]["condition"], "x == 'y'")
            self.assertIsNone(sent[5][0].get("condition"))
            self.assertEqual(sent[6], [])

    def test_one_that_cannot_be_set(self):
        with Node() as node:
            run = node.run(script="break train.py:99 ranks 0,1")
            self.assertIn("break: ranks 0-1: End of file", run.stderr)
            self.assertEqual(run.returncode, 1)

    def test_who_connects_later_is_told(self):
        with Node() as node:
            run = node.run(script="break g\nconnect ranks 2")
            self.assertEqual(run.stderr, "")
            self.assertEqual([arguments["pid"] for _, arguments in
                              node.asked("setBreakpoints")], [100, 101, 102])


class TestOutside(unittest.TestCase):
    """A rank without a debugger is stopped by its node."""

    def test_a_rank_that_runs_is_paused(self):
        with Node(third="free") as node:
            run = node.run("--json", script="""
                pause
                wait stopped ranks 2
                next ranks 2
                """)
            self.assertEqual(run.stderr, "")
            told = objects(run)
            self.assertEqual(
                [one for one in told if one.get("command") == "pause"],
                [{"command": "pause", "ranks": "2", "others": "0-1"}])
            self.assertEqual([one["reason"] for one in told
                              if one.get("rank") == 2 and "reason" in one],
                             ["pause", "step"])
            self.assertEqual(node.asked("pause", "connect"),
                             [["pause", {"pid": 102}]])

    def test_who_is_not_paused(self):
        with Node() as node:
            run = node.run(script="pause\npause ranks 1\npause ranks 2\n"
                           "continue ranks 1\npause")
            self.assertEqual(run.stderr.splitlines(), [
                "probetui: line 1: pause: none of the ranks 0-2 is running; "
                "rank 2 waits in a debugger: use `connect ranks 2`",
                "probetui: line 2: pause: rank 1 is already stopped",
                "probetui: line 3: pause: rank 2 waits in a debugger: use "
                "the command connect"])
            self.assertIn("pause: rank 1; 2 other ranks are not running "
                          "(rank 2 waits in a debugger: use the command "
                          "connect)\n", run.stdout)
            self.assertEqual(node.asked("pause"), [["pause", {"pid": 101}]])

    def test_breakpoints_attach_to_it(self):
        with Node(third="free") as node:
            run = node.run(script="""
                break train.py:9 ranks 0
                break train.py:14 if step > 3 ranks 2
                detach ranks 2
                disable 1
                enable 2
                """)
            self.assertEqual(run.stderr, "")
            self.assertEqual(
                [[one["id"] for one in arguments["breakpoints"]]
                 for _, arguments in node.asked("setBreakpoints")
                 if arguments["pid"] == 102], [[2], [2], [2]])

    def test_why_it_takes_none(self):
        with Node({"setBreakpoints 102": "Process 102 is traced by gdb."},
                  third="free") as node:
            run = node.run(script="break train.py:14\nbreak\n"
                           "break train.py:15 ranks 0")
            self.assertEqual(run.stderr, "probetui: line 1: break: rank 2: "
                                         "Process 102 is traced by gdb.\n")
            self.assertIn("not set in rank 2: Process 102 is traced by gdb.",
                          run.stdout)
            self.assertEqual(run.returncode, 1)

    def test_a_log_point_is_told_in_its_place(self):
        with Node(third="free") as node:
            script = 'break train.py:14 if a > 3 log "x is {x}" ranks 2'
            run = node.run("--json", script=script)
            sent = next(arguments["breakpoints"][0] for _, arguments
                        in node.asked("setBreakpoints")
                        if arguments["pid"] == 102)
            self.assertEqual((sent["condition"], sent["log"]),
                             ("a > 3", "x is {x}"))
            self.assertEqual(
                [one["event"] for one in objects(run)
                 if one.get("rank") == 2 and "event" in one],
                ["log", "stopped"])
            self.assertIn({"event": "log", "rank": 2, "breakpoint": 1,
                           "output": "x is 5"}, objects(run))
            run = node.run(script=script)
            self.assertIn("rank 2, breakpoint 1: x is 5\n", run.stdout)

    def test_a_variable_is_watched(self):
        with Node() as node:
            run = node.run(script="""
                watch total
                rank 1
                up
                watch a [0] ranks 1
                watch
                """)
            self.assertEqual(run.stderr, "")
            sent = [arguments["breakpoints"] for _, arguments in
                    node.asked("setBreakpoints")]
            self.assertEqual([(one["watch"], one.get("depth", 0)) for one in sent[-1]],
                             [("total", 0), ("a [0]", 1)])
            self.assertIn("watch 2: a [0], ranks 1 (1)", run.stdout)
            run = node.run(script="watch total ranks 2")
            self.assertIn("watch: rank 2 waits in a debugger", run.stderr)


class TestValues(unittest.TestCase):
    def test_a_line_a_rank(self):
        with Node() as node:
            run = node.run(script="print {'a':  1}[\"a\"]  ranks 0,1")
            self.assertEqual(run.stdout.splitlines()[:2],
                             ["rank 0: 0 + {'a':  1}[\"a\"]",
                              "rank 1: 1 + {'a':  1}[\"a\"]"])

    def test_json(self):
        with Node({"evaluate 101": "NameError: name 'x' is not defined"}) as \
                node:
            run = node.run("--json", script="print x ranks 0,1")
            self.assertEqual(objects(run)[0],
                             {"rank": 0, "expression": "x", "result": "0 + x",
                              "type": "int", "output": None})
            self.assertEqual(objects(run)[1]["event"], "error")
            self.assertEqual(run.returncode, 1)

    def test_what_is_displayed(self):
        with Node() as node:
            run = node.run(script="""
                rank 1
                display a  + b
                next ranks 1
                display
                undisplay 1
                undisplay 1
                """)
            self.assertIn("display 1: a  + b = 1 + a  + b", run.stdout)
            self.assertIn("display 1 does not exist", run.stderr)
            self.assertGreaterEqual(len(node.asked("evaluate")), 2)


    def test_what_cannot_be_displayed_is_no_value(self):
        with Node({"evaluate 101": "The name x is not known."}) as node:
            run = node.run(script="rank 1\ndisplay x")
            self.assertIn("display 1: x: The name x is not known.\n",
                          run.stdout)


class TestScreen(unittest.TestCase):
    """A screen waits for no answer: what becomes of it is said later."""

    def terminal(self, node):
        terminal = terminals.Terminal(24, 120)
        self.addCleanup(terminal.close)
        terminal.start([], PROBETUI_NODE=node.path)
        terminal.until("stopped at breakpoint 1")
        return terminal

    def test_a_refusal_comes_as_a_sentence(self):
        with Node({"jump 101": "The debugger says no."}) as node:
            terminal = self.terminal(node)
            terminal.press(b":jump 3\r")
            terminal.wait_for(b"jump: rank 1: the debugger says no.")
            self.assertEqual(len(node.asked("jump")), 2)
            terminal.press(b":print x ranks 0\r")
            terminal.wait_for(b"0 + x")

    def test_what_costs_something_is_asked(self):
        with Node() as node:
            terminal = self.terminal(node)
            for answer, asked in ((b"n", 0), (b"y", 1)):
                terminal.press(b":terminate ranks 1\r")
                terminal.wait_for(b"BdbQuit. Quit the debugger?")
                terminal.press(answer)
                terminal.see(b"stopped at breakpoint 1")
                jobs.wait_for(
                    lambda: len(node.asked("terminate")) == asked,
                    "an answer")


def run(*arguments, script=None):
    """probetui with the real node."""
    if script is not None:
        arguments += ("-x", "-")
    return subprocess.run(
        [jobs.PROBETUI, *arguments], input=textwrap.dedent(script or ""),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        universal_newlines=True, timeout=jobs.LIMIT)


class TestPdb(unittest.TestCase):
    """Programs that wait in a plain pdb on a socket."""

    def rank(self, *arguments, **named):
        rank = pdbs.Rank(*arguments, **named)
        self.addCleanup(rank.close)
        return rank

    def test_a_walk(self):
        rank = self.rank()
        walk = run("--json", "--connect", rank.target, script="""
            wait stopped
            break add if a > 0
            tbreak train.py:%d
            continue
            wait stopped
            continue
            wait stopped
            where
            print (a, b)
            up
            print y if 'y' in locals() else x
            next
            wait stopped
            verdict
            """ % rank.line(14))
        told = places_of(rank, objects(walk))
        self.assertEqual(told, [
            ("entry", "main", 13, []), ("breakpoint", "main", 14, [2]),
            ("breakpoint", "add", 2, [1]), ("step", "func", 8, [])],
            walk.stdout + walk.stderr)
        printed = [one["result"] for one in objects(walk) if "result" in one]
        self.assertEqual(printed, ["(2, 1)", "2"])
        self.assertEqual(walk.returncode, 0, walk.stderr)
        # It was let go, and is as it would have been.
        self.assertEqual(rank.end(), (0, "results [0, 3, 6]\n", ""))

    def test_one_command_leaves_politely(self):
        rank = self.rank()
        shown = run("--connect", rank.target, "stacks")
        self.assertIn("main (train.py:%d)" % rank.line(13), shown.stdout)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(rank.end(), (0, "results [0, 3, 6]\n", ""))

    def test_who_waits_is_named_and_not_touched(self):
        rank = self.rank()
        for _ in range(2):
            verdict = run("--pid", str(rank.pid), "verdict")
            self.assertIn("Rank 0 waits in a debugger (%s) for a client to "
                          "connect" % rank.target, verdict.stdout)
            self.assertEqual(verdict.returncode, 1)
        shown = run("--pid", str(rank.pid), "--connect", rank.target,
                    script="print 6 * 7")
        self.assertIn("rank 0: 42\n", shown.stdout)

    def test_several_in_the_order_they_stop(self):
        ranks = [self.rank(rank=number) for number in (0, 1)]
        shown = run("--json", "--connect", ranks[0].target,
                    "--connect", ranks[1].target, script="""
            wait stopped ranks 0,1
            next ranks 1
            wait stopped ranks 0,1 timeout 5
            next ranks 0
            wait stopped ranks 0,1 timeout 5
            """)
        stops = [one["rank"] for one in objects(shown)
                 if one.get("event") == "stopped"]
        self.assertEqual((sorted(stops[:2]), stops[2:]), ([0, 1], [1, 0]),
                         shown.stdout + shown.stderr)

    def test_a_number_in_the_target(self):
        rank = self.rank(rank=3)
        target = rank.target[:-1] + "%r"
        shown = run("--ranks", "3", "--connect", target, "--json",
                    script="print 6 * 7")
        self.assertEqual([one["result"] for one in objects(shown)
                          if "result" in one], ["42"],
                         shown.stdout + shown.stderr)
        refused = run("--connect", target, "verdict")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("needs rank numbers, as in --ranks 0-7", refused.stderr)

    def test_a_signal_lets_everything_go(self):
        rank = self.rank()
        script = subprocess.Popen(
            [jobs.PROBETUI, "--connect", rank.target, "-x", "-"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        self.addCleanup(script.stdout.close)
        script.stdin.write(b"wait stopped\nbreak add\nprint 1\n")
        script.stdin.flush()
        while b"rank 0: 1" not in script.stdout.readline():
            pass
        script.send_signal(signal.SIGTERM)
        script.stdin.close()
        script.wait(jobs.LIMIT)
        self.assertEqual(rank.end(), (0, "results [0, 3, 6]\n", ""))

    def test_no_such_target(self):
        shown = run("--connect", "pdb:unix:/nowhere/pdb.sock.0", "verdict")
        self.assertEqual(shown.returncode, 3)
        self.assertIn("cannot connect to any debugger given with --connect", shown.stderr)
        self.assertIn("/nowhere/pdb.sock.0", shown.stderr)

    def test_a_host_that_is_not_there(self):
        for command in ("ranks", "stacks"):
            shown = run("--connect", "pdb:tcp:no..host:4444", command)
            self.assertEqual(shown.returncode, 3)
            self.assertIn("pdb:tcp:no..host:4444: host not found",
                          shown.stderr)
            self.assertNotIn("pid", shown.stdout + shown.stderr)


def places_of(rank, told):
    """Each stop: why, where by the line of pdbs.LOOP, at which breakpoints."""
    return [(one["reason"], one["frame"]["func"],
             one["frame"]["lineno"] - rank.head, one["hit"])
            for one in told if one.get("event") == "stopped"]


RAISES = """
import os, probetui, time

@probetui.attach_on_error()
def loss():
    raise RuntimeError("boom")

loss()
"""


STOPS = """
import probetui

def add(a, b):
    return a + b

probetui.set_trace()
for i in range(5):
    total = add(i, i)
print("total", total)
"""


class TestAgent(unittest.TestCase):
    """Programs that stop by our own package."""

    def start(self, code):
        folder = tempfile.mkdtemp(prefix="probetui-raises-")
        self.addCleanup(shutil.rmtree, folder)
        script = os.path.join(folder, "train.py")
        with open(script, "w") as file:
            file.write(code)
        rank = subprocess.Popen(
            [sys.executable, script], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=dict(os.environ, IPDB_DEBUG="1", IPDB_MODE="socket",
                     PYTHONPATH=os.path.join(jobs.SOURCE, "agent"),
                     TMPDIR=folder, RANK="0", WORLD_SIZE="1",
                     MASTER_ADDR="127.0.0.1", MASTER_PORT="31879"))
        self.addCleanup(rank.communicate)
        self.addCleanup(rank.kill)
        said = rank.stderr.readline().decode()
        self.assertIn("waits in pdb at", said)
        self.wait_until_it_waits(rank)
        return rank

    def wait_until_it_waits(self, rank):
        """It says so before, and its last client has gone before."""
        jobs.wait_for(lambda: "waits in a debugger" in run(
            "--pid", str(rank.pid), "verdict").stdout, "it to wait")

    def test_what_was_raised_is_known_before_anybody_connects(self):
        rank = self.start(RAISES)
        verdict = run("--pid", str(rank.pid), "verdict")
        self.assertIn("Rank 0 raised RuntimeError: boom and waits in a "
                      "debugger", verdict.stdout)
        held = run("--pid", str(rank.pid), script="""
            connect ranks 0
            next
            verdict
            """)
        self.assertIn("Rank 0 raised RuntimeError: boom (train.py:6) and "
                      "is stopped in pdb", held.stdout)
        self.assertIn("post-mortem", held.stderr)
        self.wait_until_it_waits(rank)
        again = run("--pid", str(rank.pid), script="""
            connect ranks 0
            continue
            wait exited
            """)
        self.assertIn("rank 0 exited with code 1", again.stdout, again.stderr)
        self.assertIn("RuntimeError: boom", rank.stderr.read().decode())

    def test_who_leaves_takes_breakpoints_along(self):
        rank = self.start(STOPS)
        first = run("--pid", str(rank.pid), script="""
            connect ranks 0
            wait stopped
            break add if a == 2
            continue
            wait stopped
            """)
        self.assertIn("breakpoint 1  add (train.py:5)", first.stdout)
        self.wait_until_it_waits(rank)
        second = run("--pid", str(rank.pid), script="""
            connect ranks 0
            wait stopped
            break
            continue
            wait exited
            """)
        self.assertIn("add (train.py:5)", second.stdout, second.stderr)
        self.assertIn("no breakpoints: set one with", second.stdout)
        self.assertIn("rank 0 exited with code 0", second.stdout, second.stderr)
        self.assertEqual(rank.stdout.read(), b"total 8\n")


if __name__ == "__main__":
    unittest.main()
