#!/usr/bin/env python3
"""A walk through a program stops where a plain pdb of the same Python stops.

One rank for each CPython and each kind of debugger, all of them in one
session; then the same by keys on the screen.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jobs  # noqa: E402
import terminals  # noqa: E402
sys.path.insert(0, os.path.join(jobs.SOURCE, "tests", "backend"))
import pythons  # noqa: E402

LIMIT = 120
# What pdb is told, what our command is called, and its key (None: what has no
# key is typed).
WALK = [
    ("until", "until", b"t"), ("until", "until", b"t"),
    ("until", "until", b"t"), ("until", "until", b"t"),
    ("step", "step", b"s"), ("break add", "break add", None),
    ("continue", "continue", b"c"), ("return", "finish", b"f"),
    ("up", "up", b"u"), ("down", "down", b"d"),
    ("next", "next", b"n"), ("next", "next", b"n"),
    ("next", "next", b"n"), ("next", "next", b"n"),
    ("clear 1", "clear", None), ("continue", "continue", b"c")]
GO = "eval IS_TO_GO = True"  # to a walker that has an agent
QUIET = ("break", "clear", "up", "down")  # they stop nowhere
STOP = re.compile(r"^> (.*)\((\d+)\)([\w<>]+)\(\)(?:->(.*))?$", re.M)
RESULT = "results [0, 3, 6]"


def stops_of_pdb(text):
    """What pdb printed at the prompts of WALK, as [line, function, event,
    value]."""
    answers = re.split(r"^\(Pdb\) |(?<=\))\(Pdb\) |\(Pdb\) ", text)
    stops = [parse_stop(answers[0])]
    for (_pdb, command, _key), answer in zip(WALK, answers[1:]):
        if command.split()[0] not in QUIET and STOP.search(answer):
            stops.append(parse_stop(answer))
    return stops


def parse_stop(answer):
    found = STOP.search(answer)
    event = "return" if "--Return--" in answer else \
        "call" if "--Call--" in answer else "line"
    return [os.path.basename(found.group(1)), int(found.group(2)),
            found.group(3), event, found.group(4)]


def stop_of_event(event):
    frame = event["frame"]
    return [os.path.basename(frame["file"]), frame["lineno"], frame["func"],
            event["at"], event["value"]]


class Walker:
    """A rank that waits for a client of its debugger."""

    def __init__(self, number, python, dialect, known):
        self.number, self.python, self.dialect = number, python, dialect
        chroot = python.argv[1] if python.argv[0] == "chroot" else ""
        self.folder = tempfile.mkdtemp(prefix="walk-", dir=chroot + "/tmp")
        shutil.copy(os.path.join(jobs.SOURCE, "tests", "jobs", "walk.py"),
                    self.folder)
        inside = self.folder[len(chroot):]
        self.script = os.path.join(inside, "walk.py")
        self.socket = os.path.join(inside, "pdb.sock.%d" % number)
        self.root = chroot
        if dialect == "agent":
            shutil.copytree(os.path.join(jobs.SOURCE, "agent", "probetui"),
                            os.path.join(self.folder, "probetui"))
        # No debugger of its own stops it.
        self.is_bare = dialect in ("outside", "agent")
        name = (python.name, self.is_bare)
        if name not in known:
            known[name] = self.plain(*name)
        self.expected = known[name]
        self.target = None
        self.process = self.start([dialect, self.socket],
                                  stdin=subprocess.DEVNULL)

    def __repr__(self):
        return "%s under Python %s" % (self.dialect, self.python)

    def start(self, arguments, **streams):
        # Beside the script lies the agent, where it is to have that.
        environment = dict(os.environ, RANK=str(self.number),
                           PYTHON_COLORS="0", PYTHONPATH=packages(),
                           PYTHONDONTWRITEBYTECODE="1")
        return subprocess.Popen(
            self.python.argv + ["-u", self.script] + arguments,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=environment, **streams)

    def plain(self, name, is_bare):
        """From 3.13 on it stops on the line that calls it; at a breakpoint it
        is stopped behind that."""
        is_early = is_bare and int(name.split(".")[1]) >= 13
        commands = ["until"] * is_early + [pdb for pdb, _ours, _key in WALK]
        process = self.start(["console"], stdin=subprocess.PIPE)
        text = process.communicate("".join(
            each + "\n" for each in commands).encode(), LIMIT)[0].decode()
        assert RESULT in text, text
        if is_early:
            text = text[text.index("(Pdb) ") + len("(Pdb) "):]
        return stops_of_pdb(text)

    def begin(self):
        """The command that stops it first, where pdb does by itself."""
        if not self.is_bare:
            return "connect %s" % self.target
        with open(os.path.join(self.folder, "walk.py")) as file:
            line = file.read().split("\n").index("    first = 1") + 1
        return "break %s:%d ranks %d" % (self.script, line, self.number)

    def wait(self):
        """Until it waits to be stopped; the target of its debugger, or None."""
        heard = b""
        if self.dialect == "outside":
            # A program that only starts would have no code of the file yet.
            line = self.process.stdout.readline()
            assert line == b"waits outside\n", line
            return None
        while not self.target:
            line = self.process.stdout.readline()
            heard += line
            assert line, heard
            found = re.search(rb"waits unix:(.*)\n|at ([\d.]+:\d+), waiting"
                              rb"|waits (agent)", line)
            if found and found.group(3):
                self.target = "agent:%d" % self.process.pid
            elif found and found.group(1):
                self.target = "pdb:unix:" + self.root + \
                    found.group(1).decode()
            elif found:
                self.target = "pdb:tcp:" + found.group(2).decode()
        return self.target

    def finish(self):
        text = self.process.communicate(timeout=LIMIT)[0].decode()
        return self.process.returncode, RESULT in text

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.stdout.close()
        self.process.wait()
        shutil.rmtree(self.folder)


class Stops:
    """What a node says, beside the screen that it says it to."""

    def __init__(self, walkers):
        self.pids = [walker.process.pid for walker in walkers]
        self.ranks = {walker.process.pid: walker.number
                      for walker in walkers}
        self.folder = tempfile.mkdtemp(prefix="walk-")
        self.log = os.path.join(self.folder, "log")
        self.node = os.path.join(self.folder, "node")
        with open(self.node, "w") as file:
            file.write("#!/bin/sh\n%s \"$@\" | tee %s\n"
                       % (os.environ["PROBETUI_NODE"], self.log))
        os.chmod(self.node, 0o700)
        self.count = 0
        self.requests = 0

    def close(self):
        shutil.rmtree(self.folder)

    def messages(self):
        try:
            with open(self.log, "rb") as file:
                lines = file.read().split(b"\n")[:-1]
        except FileNotFoundError:
            return []
        return [json.loads(line.decode()) for line in lines]

    def wait(self, terminal, what):
        """Until each rank has stopped once more, or answered once more."""
        if what == "stopped":
            self.count += 1
            wanted = self.count
        else:
            self.requests += len(self.pids)
            wanted = self.requests

        def came():
            terminal.take(0.01)
            found = self.messages()
            if what != "stopped":
                return wanted <= sum(each.get("command") == what
                                     for each in found)
            stops = {(each["body"]["pid"], each["body"]["stops"])
                     for each in found if each.get("event") == what}
            return all((pid, wanted) in stops for pid in self.pids)
        jobs.wait_for(came, "%s %d" % (what, wanted), LIMIT)

    def wait_set(self, terminal, path):
        """Until a breakpoint is set in that file."""
        def is_set():
            terminal.take(0.01)
            return any(each.get("path") == path and each.get("number")
                       for answer in self.answers("setBreakpoints")
                       for each in answer["body"]["breakpoints"])
        jobs.wait_for(is_set, "a breakpoint in " + path, LIMIT)

    def answers(self, command):
        return [each for each in self.messages()
                if each.get("command") == command]

    def events(self):
        """The stops, as a script tells them."""
        found, where, codes, stacks = [], {}, {}, {}
        seen = set()  # a stop is told anew when breakpoints change
        for each in self.messages():
            body = each.get("body") or {}
            if each.get("event") == "sampled":
                read_sample(body, where, codes, stacks)
            elif each.get("event") == "stopped" and \
                    (body["pid"], body["stops"]) not in seen:
                seen.add((body["pid"], body["stops"]))
                found.append({"rank": self.ranks[body["pid"]],
                              "at": body["at"], "value": body.get("value"),
                              "frame": where[body["pid"], body["tid"]]})
        return found


def read_sample(body, where, codes, stacks):
    """Where each thread is."""
    for stack in body.get("stacks", []):
        for code in stack.get("codes", []):
            codes[code[0]] = code
        stacks[stack["id"]] = stack["frames"][0] if stack["frames"] else None
    for thread in body.get("threads", []):
        frame = stacks.get(thread["stack"])
        if frame:
            where[body["pid"], thread["tid"]] = {
                "func": codes[frame[0]][1], "file": codes[frame[0]][3],
                "lineno": frame[1]}


def packages():
    """Where scripts/check puts remote-pdb."""
    return os.environ.get("PROBETUI_REMOTE_PDB", "")


def has(python, module):
    run = subprocess.run(
        python.argv + ["-c", "import " + module], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=dict(os.environ, PYTHONPATH=packages()))
    return run.returncode == 0


class WalkthroughTest(unittest.TestCase):
    maxDiff = None
    known = {}  # the stops of plain pdb by Python

    def walkers(self, kinds):
        found = []
        for python, dialect in kinds:
            walker = Walker(len(found), python, dialect, self.known)
            self.addCleanup(walker.close)
            found.append(walker)
        for walker in found:
            walker.wait()
        return found

    def of_dialect(self, dialect, module=None):
        return [(python, dialect) for python in pythons.find()
                if module is None or has(python, module)]

    def with_agents(self):
        """Each minor version once; each day some of them."""
        found = {python.version[1]: (python, "agent")
                 for python in pythons.find()}
        return [kind for minor, kind in sorted(found.items())
                if "PROBETUI_SOAK" in os.environ or minor in (8, 11, 13)]

    def check(self, walkers, events):
        for walker in walkers:
            stops = [stop_of_event(event) for event in events
                     if event["rank"] == walker.number]
            with self.subTest(repr(walker)):
                self.assertEqual(stops, walker.expected)
                self.assertEqual(walker.finish(), (0, True))

    def by_script(self, kinds):
        walkers = self.walkers(kinds)
        script = "".join(walker.begin() + "\n" for walker in walkers)
        if walkers[0].dialect == "agent":
            script += GO + "\n"
        script += "wait stopped\n"
        for number, (_pdb, command, _key) in enumerate(WALK):
            script += command + "\n"
            if number == len(WALK) - 1:
                script += "wait exited\n"
            elif command.split()[0] not in QUIET:
                script += "wait stopped\n"
        run = subprocess.run(
            [jobs.PROBETUI, "--json", "--pid",
             ",".join(str(walker.process.pid) for walker in walkers),
             "-x", "-"], input=script.encode(), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=LIMIT)
        lines = [json.loads(line) for line
                 in run.stdout.decode().splitlines() if line[:1] == "{"]
        self.assertEqual(
            (run.returncode, run.stderr.decode(),
             [each for each in lines if each.get("event") == "error"]),
            (0, "", []))
        self.check(walkers, [each for each in lines
                             if each.get("event") == "stopped"])

    def settle(self, terminal, number):
        """Until the screen has read what the node said before: it reads all
        that is there before it draws what was typed."""
        # Other signs than those that are there, so that all are drawn.
        text = (b"#%", b"&@", b"$~")[number % 3] * 4
        terminal.press(b":" + text)
        terminal.until(text.decode())
        terminal.press(b"\x15\r")

    def by_keys(self, kinds):
        walkers = self.walkers(kinds)
        stops = Stops(walkers)
        self.addCleanup(stops.close)
        terminal = terminals.Terminal(40, 120)
        self.addCleanup(terminal.close)
        arguments = ["--pid", ",".join(str(walker.process.pid)
                                       for walker in walkers)]
        for walker in walkers:
            if walker.target:
                arguments += ["--connect", walker.target]
        terminal.start(arguments, PROBETUI_NODE=stops.node)
        jobs.wait_for(lambda: terminal.take(0.01) or any(
            each.get("command") == "discover" for each in stops.messages()),
            "the ranks")
        for number, walker in enumerate(walkers):
            if walker.is_bare:
                self.settle(terminal, number)
                terminal.press(b":" + walker.begin().encode() + b"\r")
                stops.wait_set(terminal, walker.script)
        if walkers[0].dialect == "agent":
            self.settle(terminal, 0)
            terminal.press(b":" + GO.encode() + b"\r")
        stops.wait(terminal, "stopped")
        if walkers[0].dialect == "agent":
            terminal.wait_for(b">>>")
            terminal.press(b"\x1b")  # leaves the pane of eval
        stops.requests = len(stops.answers("setBreakpoints"))
        for number, (_pdb, command, key) in enumerate(WALK):
            self.settle(terminal, number)
            terminal.press(key or b":" + command.encode() + b"\r")
            name = command.split()[0]
            if name == "continue" and stops.count == len(
                    walkers[0].expected):
                break
            if name not in QUIET:
                stops.wait(terminal, "stopped")
            elif name in ("break", "clear"):
                stops.wait(terminal, "setBreakpoints")
        jobs.wait_for(lambda: terminal.take(0.01) or all(
            walker.process.poll() is not None for walker in walkers),
            "the end of the ranks")
        # A rank that the screen takes for stopped is worth a question.
        jobs.wait_for(lambda: terminal.take(0.01) or len(walkers) <= len(
            [each for each in stops.messages()
             if each.get("event") == "rankRemoved"]), "the news of it")
        self.settle(terminal, 0)
        terminal.press(b"q")
        self.assertEqual(terminal.wait_end(), 0)
        self.check(walkers, stops.events())

    def test_keys_on_plain_pdb(self):
        self.by_keys(self.of_dialect("pdb"))

    def test_keys_on_others(self):
        kinds = self.of_dialect("remote-pdb", "remote_pdb")[-1:] + \
            self.of_dialect("ipdb", "ipdb")
        if not kinds:
            self.skipTest("no Python here has remote-pdb or ipdb")
        self.by_keys(kinds)

    def test_keys_from_outside(self):
        self.by_keys(self.of_dialect("outside"))

    def test_keys_with_an_agent(self):
        self.by_keys(self.with_agents())

    def test_script_with_an_agent(self):
        self.by_script(self.with_agents())

    def test_script_from_outside(self):
        self.by_script(self.of_dialect("outside"))

    def test_script_on_plain_pdb(self):
        self.by_script(self.of_dialect("pdb"))

    def test_script_on_remote_pdb(self):
        kinds = self.of_dialect("remote-pdb", "remote_pdb")
        if not kinds:
            self.skipTest("no Python here has remote-pdb; PROBETUI_REMOTE_PDB"
                          " may name a folder that has it")
        self.by_script(kinds)

    def test_script_on_ipdb(self):
        kinds = self.of_dialect("ipdb", "ipdb")
        if not kinds:
            self.skipTest("no Python here has ipdb (python3-ipdb)")
        self.by_script(kinds)


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
