"""Requests of DAP with arguments of every kind, right ones and wrong ones:
each gets a sensible answer by the schema, and the program goes on.

PROBETUI_SEED repeats a run; with PROBETUI_SOAK it takes that many seconds.
"""
import os
import random
import re
import sys
import time
import unittest

import dap_schema
from agents import Place, Target, wire
from sessions import SOURCE

sys.path.insert(0, os.path.join(SOURCE, "tests", "backend"))
import pythons  # noqa: E402

SEED = int(os.environ.get("PROBETUI_SEED", "1"))
SECONDS = float(os.environ.get("PROBETUI_SOAK", "0"))
REQUESTS = 300
ANSWER_SECONDS = 8
BEGINS = """
import probetui
def inner(number):
    total = 0
    for step in range(number):
        total += step * number
    return total
def work():
    while True:
        try:
            inner(3)
            int("no")
        except Exception:
            pass
        time.sleep(0.001)
for count in range(2):
    threading.Thread(target=work, daemon=True).start()
say(probetui.listen())
"""
JUNK = [None, True, False, 0, 1, -1, 2 ** 31, 2 ** 53, 2 ** 53 + 1, 10 ** 60,
        1.5, -0.0, float("nan"), float("inf"), "", " ", "\0", "\ud800", "é",
        "1", "number", "x" * 5000, "(" * 3000, "[" * 3000 + "]" * 3000, [],
        [[]], [None] * 3, [1, "1"], {}, {"": {}}, {"path": 5}, "%s%n",
        "{0.__class__}", "../../../etc/passwd", "\udfff" * 100]
OWN = {
    "until": {"threadId": 0, "frameId": 0, "line": 0},
    "catch": {"on": True, "lease": 1, "types": [""]},
    "state": {},
    "evaluate": {"timeout": 1},
    "probetui/tensor": {
        "expression": "number", "timeout": 1, "depth": 0, "frames": 3,
        "threadId": 0, "function": "inner", "search": True, "bins": 3,
        "statistics": "whole", "hash": True, "blocks": 2, "find": "nan",
        "after": -1, "slice": {"index": [0], "columnDimension": 0},
        "data": {"start": 0, "count": 1}},
    "probetui/parameters": {
        "expression": "number", "timeout": 1, "depth": 0, "threadId": 0,
        "hash": True, "gradients": True, "start": 0},
    "setBreakpoints": {"temporary": True},
}
EXPRESSIONS = ["b'abc' * 99", "[bytearray(9)]", "number", "total + 1", "1 +", "[1, {'a': (2, 3)}]", "nobody",
               "number = 2", "str(number)", "1 / 0", "'\\ud800'", "2 ** 80",
               "float('nan')", "\0", "lambda: (yield)", "import os"]


def commands():
    """Those that docs/agent-protocol.md names."""
    with open(os.path.join(SOURCE, "docs", "agent-protocol.md"),
              encoding="utf-8") as file:
        table = file.read().split("## Debugging: DAP over HTTP")[1].split(
            "\n| request |")[1].split("\n\n")[0]
    return [name for row in table.splitlines()[2:]
            for name in re.findall(r"`([\w/]+)`", row.split("|")[1])]


class Maker:
    """Makes requests up."""

    def __init__(self, seed, target):
        self.random = random.Random(seed)
        self.commands = [name for name in commands()
                         if name not in ("initialize", "disconnect")]
        program = target.place.inside + "/program.py"
        # By the names of fields: what has been seen, and what may be there.
        self.seen = {
            "threadId": [0, target.process.pid], "frameId": [1],
            "variablesReference": [1], "sourceReference": [0, 1],
            "path": [program] * 4 + ["/dev/zero", "/nowhere.py"],
            "line": list(range(1, 40)), "column": [1, 2],
            "expression": EXPRESSIONS, "text": EXPRESSIONS,
            "value": EXPRESSIONS, "condition": EXPRESSIONS,
            "hitCondition": ["2", ">= 3", "% 2", "x"], "timeout": [0.2, 1, 0],
            "logMessage": ["{number}", "at {", "{}"],
            "name": ["number", "total", "inner", "work", "nobody"],
            "dataId": ["1", "number"], "targetId": [1, 2], "lease": [1, 60],
            "filters": [["raised"], ["uncaught"], ["odd"]],
            "filterId": ["raised", "uncaught"], "id": [1, 2, 3],
            "context": ["repl", "watch", "hover"], "levels": [0, 1, 20],
            "start": [0, 1], "count": [0, 1, 3], "types": [["ValueError"]]}

    def learn(self, value, name=""):
        """What an answer has told."""
        if isinstance(value, dict):
            for key, one in value.items():
                self.learn(one, key)
            if "instructionPointerReference" in value or "line" in value and \
                    "name" in value:
                self.add("frameId", value.get("id"))
            elif set(value) == {"id", "name"}:
                self.add("threadId", value["id"])
        elif isinstance(value, list):
            for one in value:
                self.learn(one, name)
        elif name in ("variablesReference", "dataId", "sourceReference"):
            self.add(name, value)

    def add(self, name, value):
        if value and value not in self.seen[name]:
            self.seen[name] = (self.seen[name] + [value])[-12:]

    def make(self, schema, name="", depth=0):
        """A value that the schema allows."""
        pick = self.random
        if name in self.seen:
            return pick.choice(self.seen[name])
        parts = dap_schema.parts(schema)
        for part in parts:
            if "enum" in part:
                return pick.choice(part["enum"])
        kind = next((part["type"] for part in parts if "type" in part), "null")
        if kind == "object":
            made = {}
            for part in parts:
                for key, one in part.get("properties", {}).items():
                    if key in part.get("required", []) or depth < 4 and \
                            pick.random() < 0.4:
                        made[key] = self.make(one, key, depth + 1)
            return made
        if kind == "array":
            items = next(part["items"] for part in parts if "items" in part)
            return [self.make(items, name + "[]", depth + 1)
                    for _ in range(pick.randrange(3))]
        return {"integer": 1, "string": "x", "boolean": pick.random() < 0.5,
                "number": 1.5}.get(str(kind))

    def spoil(self, value):
        """The same with something else somewhere in it."""
        pick = self.random
        if isinstance(value, (dict, list)) and value and pick.random() < 0.8:
            made = value.copy()
            key = pick.choice(list(made)) if isinstance(made, dict) \
                else pick.randrange(len(made))
            if pick.random() < 0.15:
                del made[key]
            else:
                made[key] = self.spoil(made[key])
            return made
        return pick.choice(JUNK)

    def request(self):
        pick = self.random
        command = pick.choice(self.commands)
        schema = dap_schema.DEFINITIONS.get(
            command[0].upper() + command[1:] + "Arguments")
        arguments = self.make(schema) if schema else {}
        for name, one in OWN.get(command, {}).items():
            if pick.random() < 0.7:
                arguments[name] = pick.choice(self.seen.get(name, [one]))
        arguments.pop("terminateDebuggee", None)
        made = {"seq": pick.randrange(1, 10 ** 6), "type": "request",
                "command": command, "arguments": arguments}
        if pick.random() < 0.5:
            made["arguments"] = self.spoil(arguments)
        if pick.random() < 0.05:
            made = self.spoil(made)
        return made


def is_request(message):
    """Whatever its arguments are."""
    return isinstance(message, dict) and not dap_schema.check(
        message, dap_schema.DEFINITIONS["Request"], "") and \
        len(message["command"]) <= 100 and \
        isinstance(message.get("arguments", {}), (dict, type(None)))


class FuzzCase(unittest.TestCase):
    def begin(self, client):
        answer = client.post("/dap", seq=1, type="request",
                             command="initialize", arguments={
                                 "adapterID": "probetui"})
        return answer["body"]["probetui"]["session"]

    def check(self, request, answer, seconds):
        problems = [] if seconds < ANSWER_SECONDS else ["it took long"]
        if answer.status != 200:
            if answer.status != 400 or is_request(request):
                problems.append("HTTP %d" % answer.status)
        elif re.match(r"[\w/]+ failed: ", str(answer.value.get("message"))):
            problems.append("a mistake of ours")
        self.assertEqual(problems, [], "%s\n%s" % (
            ascii(request)[:2000], ascii(answer.value)[:2000]))

    def one(self, maker, client, session):
        request = maker.request()
        before = time.monotonic()
        answer = client.ask("POST", "/dap?session=" + session,
                            wire.encode(request))
        self.check(request, answer, time.monotonic() - before)
        if answer.status == 200:
            maker.learn(answer.value.get("body"))

    def test_any_arguments(self):
        place = Place(self.python.argv)
        self.addCleanup(place.close)
        target = Target(place, BEGINS)
        self.addCleanup(target.kill)
        maker = Maker(SEED, target)
        count = 0
        end = time.monotonic() + SECONDS
        with target.client() as client:
            session = self.begin(client)
            while count < REQUESTS or time.monotonic() < end:
                self.one(maker, client, session)
                count += 1
            client.get("/events?session=%s&timeout=0" % session)
            client.post("/dap?session=" + session, seq=1, type="request",
                        command="disconnect")
        self.assertEqual(target.ask("6 * 7"), 42)
        status, errors = target.close()
        # CPython 3.8's words of what has many parentheses.
        errors = errors.replace("s_push: parser stack overflow\n", "")
        self.assertEqual((status, errors), (0, ""))


def load_tests(loader, tests, _):
    if not SECONDS:
        os.environ["PROBETUI_FEW_PYTHONS"] = "yes"
    return pythons.load_cases(loader, __name__, FuzzCase)


if __name__ == "__main__":
    unittest.main()
