"""Bytecode read from outside means what Python itself makes of it.

Every CPython found runs bytecode_target.py, which prints what dis says of its
code objects and what sys.settrace saw of its functions, and waits.
PROBETUI_SOAK takes more of the standard library.
"""
import ast
import collections
import json
import os
import re
import subprocess
import sys
import unittest

import probed
import pythons

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(os.environ["SRCDIR"], "backends/cpython")
PROBE = os.path.join(os.environ["BUILDDIR"], "tests/backend/bytecode-probe")
# Of bytecode.h.
RETURN, RERAISE = 3, 13
MODULES = ["json.decoder", "queue"]
if "PROBETUI_SOAK" in os.environ:
    MODULES += [
        "argparse", "ast", "asyncio.base_events", "asyncio.streams",
        "asyncio.tasks", "calendar", "cmd", "codecs", "collections",
        "configparser", "contextlib", "csv", "dataclasses", "datetime",
        "decimal", "difflib", "doctest", "enum", "fractions", "functools",
        "heapq", "html.parser", "http.client", "inspect", "ipaddress",
        "logging", "mailbox", "multiprocessing.pool", "optparse", "pathlib",
        "pdb", "pickle", "pickletools", "platform", "plistlib", "pprint",
        "random", "shutil", "socket", "statistics", "subprocess", "tarfile",
        "tempfile", "textwrap", "threading", "tokenize", "traceback",
        "typing", "unittest.mock", "urllib.request", "uuid",
        "warnings", "xml.etree.ElementTree", "zipfile"]
Step = collections.namedtuple("Step", "start end is_raised ran lines")
Unit = collections.namedtuple(
    "Unit", "at opcode line target handler is_handler length kind")
# Hot enough for the JIT, with a loop that it takes.
HOT = """
def hot(n):
    total = 0
    for i in range(n):
        total += i
    return total
import sys
for i in range(100):
    hot(10000)
print(id(hot.__code__), flush=True)
sys.stdin.read()
"""
# Some functions in the place of others that were freed, for each line that
# comes: [address, first line, name, [lines]] of each code object.
REUSED = """
import dis, sys
TEXTS = ["def first(a):\\n a = 1\\n b = a\\n return b",
         "\\n\\ndef first(a):\\n a = 1\\n b = a\\n return b",
         "def other(a):\\n a = 1\\n b = a\\n return b",
         "def other(a):\\n a = 1\\n\\n b = a\\n return b",
         "def third(a):\\n a = a[1]\\n b = a\\n return b"]
for text in TEXTS:
    functions = scope = None
    functions = []
    for _ in range(200):
        scope = {}
        exec(text, scope)
        functions.append(scope.popitem()[1].__code__)
    print([[id(code), code.co_firstlineno, code.co_name,
            sorted({line for _, line in dis.findlinestarts(code)
                    if line and line > code.co_firstlineno})]
           for code in functions], flush=True)
    sys.stdin.readline()
"""


def command_of(python, *arguments):
    """The target as text: a chroot has no file of ours."""
    with open(os.path.join(HERE, "bytecode_target.py")) as file:
        code = ("__file__ = '/target.py'; "
                "exec(compile(%r, __file__, 'exec'))" % file.read())
    return python.argv + ["-c", code] + list(arguments)


def start(command, **variables):
    return subprocess.Popen(command, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE,
                            env=dict(os.environ, **variables))


def ask(probe, *request):
    probe.stdin.write(json.dumps(request).encode() + b"\n")
    probe.stdin.flush()
    answer = probe.stdout.readline()
    if not answer:
        raise AssertionError("the probe died of: %r" % (request,))
    return json.loads(answer.decode())


class Target:
    """A Python at work, and a probe that looks at it."""

    def __init__(self, python):
        self.process = start(command_of(python, *MODULES))
        line = self.process.stdout.readline()
        self.probe = start([PROBE, str(self.process.pid)])
        if not line:
            self.close()
            raise RuntimeError("%s ended at once" % python)
        truth = json.loads(line.decode())
        self.codes = {code["address"]: code for code in truth["codes"]}
        self.first = dict(map(tuple, truth["first"]))
        self.pdb = dict(map(tuple, truth["pdb"]))
        self.instrumented = truth["instrumented"]
        self.steps = collections.defaultdict(list)
        for address, *step in truth["steps"]:
            self.steps[address].append(Step(*step))

    def ask(self, *request):
        return ask(self.probe, *request)

    def units(self, address):
        return {row[0]: Unit(*row)
                for row in self.ask("code", address)["units"]}

    def run(self):
        """Once more; how many code objects are instrumented then."""
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline().decode())

    def close(self):
        probed.end(self.probe)
        probed.end(self.process)


class ReuseCase(unittest.TestCase):
    """Code in the place of code that was freed, while the process runs."""

    python = None

    def test_code_where_another_was(self):
        process = start(self.python.argv + ["-c", REUSED.replace("'", '"')])
        self.addCleanup(probed.end, process)
        before = {}
        line = process.stdout.readline()
        probe = start([PROBE, str(process.pid)])
        self.addCleanup(probed.end, probe)
        moved = []
        while line:
            for address, *truth in ast.literal_eval(line.decode()):
                if before.get(address, truth) != truth:
                    moved.append(address)
                before[address] = truth
                answer = ask(probe, "meet", address)
                self.assertEqual(
                    [answer["first_line"], answer["name"],
                     sorted({row[2] for row in answer["units"]
                             if row[2] > answer["first_line"]})], truth)
            process.stdin.write(b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        self.assertGreater(len(moved), 50, "none where another was")
        first = next(iter(before))
        self.assertEqual(ask(probe, "sweep"), len(moved) - (first in moved))
        self.assertEqual(ask(probe, "sweep"), 0)


class BytecodeCase(unittest.TestCase):
    """Tests for one Python; pythons.load_cases() sets which."""

    python = None
    target = None
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        cls.target = Target(cls.python)

    @classmethod
    def tearDownClass(cls):
        cls.target.close()

    def name(self, address):
        code = self.target.codes.get(address, {"name": "?"})
        return "%s of %s" % (code["name"], self.python)

    def compare(self, truth):
        code = self.target.ask("code", truth["address"])
        name = self.name(truth["address"])
        self.assertIsNotNone(code, name)
        for key in ("file", "name", "first_line", "flags", "count",
                    "locals_count"):
            self.assertEqual(code[key], truth[key], name)
        if self.python.version >= (3, 11):
            self.assertEqual(code["qualname"], truth["qualname"])
        units = [Unit(*row) for row in code["units"]]
        self.assertEqual([list(unit[:4]) for unit in units], truth["rows"],
                         name)
        self.assertEqual([unit.at for unit in units if unit.is_handler],
                         truth["handlers"], name)
        if self.python.version >= (3, 11):
            self.assertEqual([unit.handler for unit in units],
                             truth["handler"], name)
        self.assertFalse(code["has_executors"])
        self.compare_calls(code["calls"], truth, name)

    def compare_calls(self, calls, truth, name):
        """An effect on the value stack that was wrong would add up."""
        found = {unit for unit, _, _ in calls}
        self.assertEqual([unit for unit in truth["calls"]
                          if unit not in found], [], name)
        for unit, slot, is_pair in calls:
            self.assertLessEqual(slot + 1 + is_pair, truth["stacksize"],
                                 "%s, unit %d" % (name, unit))

    def test_units_are_those_of_dis(self):
        """Of code that is instrumented, then specialised: two readings."""
        before = self.target.instrumented
        if self.python.version >= (3, 12):
            self.assertGreater(before, 10)
        for truth in self.target.codes.values():
            self.compare(truth)
        after = self.target.run()
        if self.python.version >= (3, 12):
            # Those of the library that ran by chance stay so.
            self.assertGreater(before - after, 10)
        self.target.ask("age")
        for truth in self.target.codes.values():
            self.compare(truth)

    def test_steps_are_lines_as_traced(self):
        total = 0
        for address, steps in self.target.steps.items():
            units = self.target.units(address)
            said = self.target.ask("steps", address, [
                [step.start, step.end, step.is_raised] for step in steps])
            for step, (is_line, follows, reaches) in zip(steps, said):
                name = "%s: %s" % (self.name(address), step)
                lines = {line for seen in step.lines for line in seen}
                self.assertEqual([bool(seen) for seen in step.lines],
                                 [bool(is_line)], name)
                self.assertLessEqual(lines, {units[step.end].line}, name)
                if step.start >= 0 and not step.is_raised:
                    self.assertTrue(follows, name)
                if step.start >= 0:
                    self.assertTrue(reaches, name)
                total += 1
        self.assertGreater(total, 1500)

    def test_handlers_are_where_exceptions_led(self):
        total = 0
        for address, steps in self.target.steps.items():
            units = self.target.units(address)
            for step in steps:
                if not step.is_raised or step.start < 0:
                    continue
                self.assertTrue(units[step.end].is_handler)
                self.assertEqual(units[step.ran].handler, step.end,
                                 self.name(address))
                total += 1
        self.assertGreater(total, 12)

    def test_units_of_a_line_are_where_its_events_begin(self):
        for address, steps in self.target.steps.items():
            said = {int(line): set(units) for line, units in
                    self.target.ask("lines", address).items()}
            seen = collections.defaultdict(set)
            for step in steps:
                for lines in step.lines:
                    for line in lines:
                        seen[line].add(step.end)
            ways = collections.defaultdict(list)
            for step in steps:
                ways[step.end].append(step)
            for line, units in seen.items():
                self.assertLessEqual(units, said.get(line, set()), "%s: %d" % (
                    self.name(address), line))
            for line, units in said.items():
                for unit in units - seen[line]:
                    self.check_unseen(address, line, unit, ways)

    def check_unseen(self, address, line, unit, ways):
        """A unit whose event was not seen: some way there was not taken."""
        units = self.target.units(address)
        starts = [-1] + sorted(units)
        said = self.target.ask("steps", address, [
            [start, unit, is_raised] for start in starts
            for is_raised in (False, True)])
        taken = {step.start for step in ways[unit]}
        restored = any(one.kind == RERAISE and one.handler == unit
                       for one in units.values())
        for start, plain, raised in zip(starts, said[::2], said[1::2]):
            may_raise = start >= 0 and units[start].handler == unit
            if start not in taken and (
                    plain[0] and plain[1] or may_raise and raised[0]):
                return
        self.assertTrue(restored, "%s: line %d at %d" % (
            self.name(address), line, unit))

    def test_first_line_is_where_a_debugger_breaks(self):
        for address, line in self.target.first.items():
            code = self.target.ask("code", address)
            self.assertEqual(code["first_executable"], line,
                             self.name(address))
        for address, line in self.target.pdb.items():
            if line is None:
                continue
            code = self.target.ask("code", address)
            self.assertEqual(code["first_executable"] or code["first_line"],
                             line, self.name(address))

    def test_nothing_gets_past_the_frontier(self):
        total = 0
        for address, steps in self.target.steps.items():
            units = self.target.units(address)
            behind = collections.defaultdict(list)
            for step in steps:
                behind[step.ran].append(step)
            for start in {step.end for step in steps if step.lines[0]}:
                for line in (0, units[start].line + 1):
                    said = self.target.ask("frontier", address, start, line,
                                           64)
                    self.assertIsNotNone(said)
                    self.pass_frontier(start, line, units, behind, set(said))
                    total += 1
        self.assertGreater(total, 300)

    def pass_frontier(self, start, line, units, behind, frontier):
        """Goes all ways that were taken, and ends on the frontier."""
        waiting, seen = [start], {start}
        while waiting:
            for step in behind[waiting.pop()]:
                is_line = step.lines[0] and units[step.end].line >= line
                if (step.is_raised or is_line
                        or units[step.end].kind == RETURN):
                    self.assertIn(step.end, frontier)
                elif step.end not in seen:
                    seen.add(step.end)
                    waiting.append(step.end)

    def test_code_made_native_is_seen(self):
        if self.python.version < (3, 13):
            self.skipTest("CPython has no JIT below 3.13")
        process = start(self.python.argv + ["-c", HOT], PYTHON_JIT="1")
        self.addCleanup(probed.end, process)
        address = int(process.stdout.readline())
        probe = start([PROBE, str(process.pid)])
        self.addCleanup(probed.end, probe)
        probe.stdin.write(b'["code", %d]' % address)
        probe.stdin.close()
        code = json.loads(probe.stdout.readline().decode())
        is_enabled = subprocess.check_output(
            self.python.argv + ["-c", "import sys; print(getattr(sys, '_jit',"
                                " None) and sys._jit.is_enabled())"],
            env=dict(os.environ, PYTHON_JIT="1")) == b"True\n"
        self.assertEqual(code["has_executors"], is_enabled)


class OpcodesCase(unittest.TestCase):
    """opcodes.inc is what each Python's own tables say."""

    python = None
    maxDiff = None

    def test_equal_those_of_the_interpreter(self):
        with open(os.path.join(FOLDER, "opcodes.inc")) as file:
            rows = file.read()
        with open(os.path.join(FOLDER, "opcodes-gen.py")) as file:
            program = file.read()
        made = subprocess.check_output(self.python.argv + ["-c", program])
        head = "{ /* CPython 3.%d */\n" % self.python.version[1]
        found = re.search(re.escape(head) + r".*?^},\n", rows,
                          re.DOTALL | re.MULTILINE)
        self.assertEqual(made.decode(), found.group(0))


def load_tests(loader, _tests, _pattern):
    return pythons.load_cases(loader, __name__, BytecodeCase, ReuseCase,
                               OpcodesCase)


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
