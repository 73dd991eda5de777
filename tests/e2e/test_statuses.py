#!/usr/bin/env python3
"""The manual page's table of exit statuses, for each command of `help`.

Five processes of Python that run, two of them with an agent, and one of `sleep`.
With --json each command prints one JSON value in each case, of the shape that
the page has for it; those that stream print one a line.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jobs  # noqa: E402
from shapes import SHAPES  # noqa: E402

PAGE = os.path.join(jobs.SOURCE, "docs", "probetui.1")
HUNG = os.path.join(jobs.SOURCE, "tests", "recordings", "hung8.jsonl")
COLLECTIVES = os.path.join(jobs.SOURCE, "tests", "recordings", "collectives8.jsonl")
LOG = os.path.join(jobs.SOURCE, "tests", "recordings", "stderr.txt")
CASES = ("no rank", "refused", "partial", "wrong", "error", "finding")

PROGRAM = """
import array, os, threading, time
agent = __import__("probetui") if os.environ.get("WITH_AGENT") else None
if agent:
    agent.listen()
bad = array.array("d", [float("nan")])
good = array.array("d", [1.0])
named = {"good": good}
own = os.getpid()
def work(step=0):
    print("ready", flush=True)
    while step >= 0:
        time.sleep(0.05)
def wait():
    print("ready", flush=True)
    threading.Event().wait()
work() if os.environ["DOES"] == "work" else wait()
"""

# Words that the command can do something with, where it needs some.
WORDS = {
    "diff": ("0", "0"), "locals": ("--rank", "0"), "execute": ("pass",),
    "rank": ("0",), "frame": ("0",), "thread": ("AGENT",), "focus": ("0",),
    "name": ("some", "0"), "wait": ("--stuck", "0.2"),
    "connect": ("pdb:unix:/nowhere",), "jump": ("1",), "break": ("work",),
    "tbreak": ("work",), "watch": ("step",), "watch-nan": ("good",),
    "enable": ("1",), "disable": ("1",), "ignore": ("1", "2"),
    "condition": ("1",), "display": ("own",), "undisplay": ("1",),
    "print": ("own",), "assign": ("own", "=", "3"), "eval": ("1",),
    "compare": ("good",), "tensor": ("good", "--rank", "0"),
    "diff-params": ("named",), "broadcast": ("p 1",), "completion": ("bash",),
    "post-mortem": (LOG,),
}
# An argument that is wrong, where an option that is not there is none: the
# words are an expression.
WRONG = {
    "catch": ("sometimes",), "execute": ("/nowhere/file.py",), "eval": (),
    "compare": ("--tolerance", "x", "good"), "print": (), "assign": ("own",),
    "watch": ("x", "ranks", "x"), "watch-nan": ("x", "ranks", "x"),
    "broadcast": (), "condition": ("x",), "display": ("x", "ranks", "x"),
    "diff-params": ("x", "ranks", "x"), "set": ("nonsense",),
    "focus": ("x",), "name": ("some", "x"), "repl": ("nonsense",),
}
FINDING = {
    "ranks": ("--replay", HUNG, "ranks"),
    "verdict": ("--replay", HUNG, "verdict"),
    "stacks": ("--replay", HUNG, "stacks"),
    "collectives": ("--replay", COLLECTIVES, "collectives"),
    "diff": ("--replay", HUNG, "diff", "3", "majority"),
    "report": ("--replay", HUNG, "report"),
    "doctor": ("--pid", "SLEEP", "doctor"),
    "post-mortem": ("post-mortem", LOG),
    "wait": ("--pid", "WAITS", "wait", "--stuck", "0.2"),
    "watch-nan": ("--pid", "RUNS", "watch-nan", "bad"),
    "compare": ("--pid", "AGENT,RUNS", "compare", "own"),
    "tensor": ("--pid", "RUNS", "tensor", "bad", "--rank", "0"),
    "eval": ("--pid", "AGENT", "eval", "1/0"),
    "execute": ("--pid", "AGENT", "execute", "raise ValueError"),
}
# Without torch it finds nothing; tests/e2e/test_divergence.py has it.
NEEDS_TORCH = {"diff-params"}
# Those that change a process have one of their own.
PARTIAL = {"eject": "EJECTED", "inject": "RUNS", "pause": "PAUSED",
           "break": "STOPS", "tbreak": "STOPSONCE"}


def read_table():
    """{command: {case: status or None}} of the manual page."""
    with open(PAGE) as file:
        text = file.read()
    text = text.split(".SH EXIT STATUS\n")[1].split("\n.SH ")[0]
    table = {}
    for row in re.findall(r"^ +((?:(?:\d|\\-) +){6})(\S.*)$", text, re.M):
        statuses = [None if word == r"\-" else int(word)
                    for word in row[0].split()]
        for command in row[1].replace("\\", "").split():
            assert command not in table, command
            table[command] = dict(zip(CASES, statuses))
    return table


def read_streams():
    """The commands of which the page says that they print a value a line."""
    with open(PAGE) as file:
        said = re.search(r"Of\n\.BR (.*)\nthere is one a line", file.read())
    return re.findall(r"[a-z-]+", said.group(1).replace("\\", "")
                      .replace(" and ", " "))


class Target:
    """A process that is looked at."""

    def __init__(self, *command, **environment):
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            preexec_fn=jobs.end_with_parent,
            env=dict(os.environ, **environment))

    def wait(self):
        assert self.process.stdout.readline() == b"ready\n"

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class TestStatuses(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        agent = os.path.join(jobs.SOURCE, "agent")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        script = os.path.join(folder.name, "target.py")
        with open(script, "w") as file:
            file.write(PROGRAM)
        python = (sys.executable, script)
        cls.targets = {
            "AGENT": Target(*python, DOES="work", PYTHONPATH=agent,
                            WITH_AGENT="1"),
            "EJECTED": Target(*python, DOES="work", PYTHONPATH=agent,
                              WITH_AGENT="1"),
            "PAUSED": Target(*python, DOES="work"),
            "STOPS": Target(*python, DOES="work"),
            "STOPSONCE": Target(*python, DOES="work"),
            "RUNS": Target(*python, DOES="work"),
            "WAITS": Target(*python, DOES="wait"),
            "SLEEP": Target("sleep", "1000"),
        }
        for name, target in cls.targets.items():
            cls.addClassCleanup(target.close)
            if name != "SLEEP":
                target.wait()
        cls.table = read_table()
        cls.streams = read_streams()

    def named(self, words):
        """With the pids in place of the names of targets."""
        return [re.sub("[A-Z]{4,}",
                       lambda found: str(self.targets[found.group()]
                                         .process.pid), word)
                if not word.startswith("/") else word for word in words]

    def line(self, case, command):
        """The command line of a case."""
        words = (command,) + WORDS.get(command, ())
        if case == "finding":
            return self.named(FINDING[command])
        if case == "no rank" and command == "wait":
            # One that cannot be read may become one that can; no other test has
            # a rank of that number.
            return ["--ranks", "9999", "--timeout", "0.1", *words]
        if case == "no rank":
            return self.named(("--pid", "SLEEP", *words))
        if case == "refused":
            return self.named(("--read-only", "--pid", "AGENT", *words))
        if case == "partial":
            first = PARTIAL.get(command, "AGENT")
            return self.named(("--pid", first + ",SLEEP", *words))
        if case == "wrong":
            return self.named(("--pid", "RUNS", command, *WRONG.get(
                command, ("--nonsense",))))
        return self.named(("--pid", "RUNS", *words))

    def run_one(self, case, command, *options):
        environment = dict(os.environ, LC_ALL="C.UTF-8")
        if case == "error":
            environment["PROBETUI_NODE"] = "/bin/false"
        return subprocess.run(
            [jobs.PROBETUI, *options, *self.line(case, command)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True,
            timeout=jobs.LIMIT, env=environment)

    def test_the_table_has_every_command(self):
        text = jobs.probetui("help").stdout
        commands = re.findall(r"^  (\S+)", text, re.M)
        self.assertGreater(len(commands), 50)
        self.assertEqual(sorted(set(commands)), sorted(self.table))

    def test_what_can_be_found_is_in_the_table(self):
        self.assertEqual({command for command, row in self.table.items()
                          if row["finding"] is not None},
                         set(FINDING) | NEEDS_TORCH)

    def check_json(self, command, result):
        values = [json.loads(line) for line in result.stdout.splitlines()]
        for value in values:
            SHAPES.check(self, command, value)
        if command not in self.streams:
            self.assertEqual(len(values), 1, result.stdout)
        if result.returncode in (2, 3) and isinstance(values[0], dict) \
                and set(values[0]) == {"error", "status"}:
            self.assertEqual(values[0]["status"], result.returncode)
            self.assertIn(values[0]["error"], result.stderr)

    def walk(self, case):
        rows = [(command, row[case]) for command, row in self.table.items()
                if row[case] is not None
                and not (case == "finding" and command in NEEDS_TORCH)]
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(
                lambda row: self.run_one(case, row[0], "--json"), rows))
        for (command, status), result in zip(rows, results):
            with self.subTest(command):
                said = result.stdout + result.stderr
                if "has no JSON" in result.stderr:
                    self.assertEqual(result.returncode, 2, said)
                    self.check_json(command, result)
                    result = self.run_one(case, command)
                else:
                    self.check_json(command, result)
                self.assertEqual(result.returncode, status, said)


for one in CASES:
    setattr(TestStatuses, "test_" + one.replace(" ", "_"),
            lambda self, case=one: self.walk(case))


if __name__ == "__main__":
    unittest.main()
