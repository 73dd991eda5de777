"""Watches of variables from outside stop where the value is changed, with the
old and the new value, and nowhere else."""
import os
import select
import subprocess
import sys
import time
import unittest

import pythons
from nodes import LIMIT, Node, Target

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "watch_target.py")
with open(PROGRAM, encoding="utf-8") as program:
    LINES = program.read().splitlines()
TORCH = os.environ.get("PROBETUI_TORCH_PYTHON") or sys.executable
TORCH = os.environ.get("PROBETUI_TORCH_PYTHON") or sys.executable


def line_of(mark):
    return [i + 1 for i, line in enumerate(LINES)
            if line.endswith("# " + mark)][0]


class Watching:
    """A target, and a node that watches what it does."""

    def __init__(self, argv):
        self.node = Node()
        self.node.ask("initialize", protocol=1)
        # As text, so that a Python in another root can run it, too.
        self.target = Target(argv=argv + ["-c", "\n".join(LINES)], RANK="0")
        self.pid = self.target.pid
        self.codes = {}
        self.stacks = {}
        self.node.discover(pids=[self.pid])

    def close(self):
        self.node.close()
        self.target.close()

    def enter(self, function, depth):
        """Paused in a function, depth frames above where it waits."""
        self.depth = depth
        self.target.say(function)
        assert self.target.line() == ["ready"]
        self.ask("pause")
        self.stopped()

    def ask(self, command, **arguments):
        return self.node.ask(command, pid=self.pid, **arguments)

    def watch(self, *wanted, **more):
        """Their bindings."""
        return self.ask("setBreakpoints", breakpoints=[
            dict({"id": i + 1, "watch": one, "depth": self.depth}, **more)
            if isinstance(one, str) else
            dict({"id": i + 1, "depth": self.depth}, **one)
            for i, one in enumerate(wanted)])["breakpoints"]

    def stopped(self):
        """The next stop, with line and function."""
        body = self.node.event("stopped")
        for message in list(self.node.messages):
            if message.get("event") == "sampled":
                self.node.messages.remove(message)
                self.take_sample(message["body"])
        frames = self.stacks[[thread["stack"] for thread in self.threads
                              if thread["tid"] == body["tid"]][0]]
        body["line"] = frames[0][1]
        body["func"] = self.codes[frames[0][0]][1]
        return body

    def take_sample(self, sample):
        for stack in sample.get("stacks", []):
            for code in stack["codes"]:
                self.codes[code[0]] = code
            self.stacks[stack["id"]] = stack["frames"]
        self.threads = sample["threads"]

    def go(self):
        """Its stops until the function has returned."""
        stops, self.functions = [], []
        self.target.say("go")
        self.ask("continue")
        while not self.is_done():
            body = self.stopped()
            assert body["reason"] == "data breakpoint", body
            stops.append((body["description"], body["line"]))
            self.functions.append(body["func"])
            self.ask("continue")
        # A frame's end may be seen only now.
        self.watch()
        while self.node.wait_for(
                lambda m: m.get("event") in ("debugger", "stopped")
                and m["body"]["state"] in ("none", "stopped")
                )["event"] == "stopped":
            self.ask("continue")
        return stops

    def is_done(self):
        """True once the function has returned, False when there is a stop."""
        output = self.target.process.stdout
        pipes = [output, self.node.process.stdout]
        deadline = time.monotonic() + LIMIT
        while not [m for m in self.node.messages
                   if m.get("event") == "stopped"]:
            ready = select.select(pipes, [], [], LIMIT)[0]
            if output in ready:
                assert self.target.line() == ["done"]
                return True
            self.node.read_more(deadline)
        return False


class WatchCase(unittest.TestCase):
    """Tests for one Python; pythons.load_cases() sets which."""

    python = None
    watching = None
    is_passed = False
    ENDS = (r" is out of scope: (the frame has returned"
            r"|the containing object was deleted)$")

    @classmethod
    def tearDownClass(cls):
        if cls.watching:
            cls.watching.close()

    def setUp(self):
        """One target serves all tests, until one fails."""
        cls = type(self)
        self.watching = cls.watching or Watching(self.python.argv)
        cls.watching = None
        self.addCleanup(self.put_back)

    def put_back(self):
        if self.is_passed:
            type(self).watching = self.watching
        else:
            self.watching.close()

    def check(self, function, watch, wanted, depth=1, **more):
        self.watching.enter(function, depth)
        for binding in self.watching.watch(*watch, **more):
            self.assertGreater(binding["number"], 0, binding)
        stops = self.watching.go()
        wanted = [(description, line_of(mark)) for description, mark in wanted]
        self.assertEqual(stops[:len(wanted)], wanted)
        # What goes in the end does so anywhere, or is not seen.
        for description, _ in stops[len(wanted):]:
            self.assertRegex(description, self.ENDS)
        self.is_passed = True

    def test_local(self):
        self.check("local", ["total"], [
            ("total: 3 -> 4", "local 1"), ("total: 4 -> 4.5", "local 2"),
            ("total: 4.5 -> 5.5", "local 3"),
            ("total: 5.5 -> 1180591620717411303424", "local 4"),
            ("total: 1180591620717411303424 -> [1]", "local 5"),
            ("total: [1, 2] -> None", "local 6"),
            ("total: None -> 0", "local 7"), ("total: 0 -> 1", "local 7")])

    def test_text_that_grows(self):
        self.check("text", ["name"], [
            ("name: '1' -> '1x'", "text 1"), ("name: '1x' -> '1xx'", "text 1"),
            ("name: '1xx' -> '1xxx'", "text 1")])

    def test_comprehension(self):
        self.check("comprehension", ["x"],
                   [("x: 5 -> 6", "comprehension 1")])

    def test_attribute(self):
        self.check("attribute", ["box.value", "other.value"], [
            ("box.value: 1 -> 2", "attribute 1"),
            ("box.value: 2 -> 4", "attribute 2"),
            ("other.value: 1 -> 7", "slot 1"),
            ("box.value: 4 -> gone", "attribute 3")])

    def test_dict(self):
        self.check("mapping", ["config['rate']"], [
            ("config['rate']: 1 -> 2", "mapping 1"),
            ("config['rate']: 2 -> 3", "mapping 2"),
            ("config['rate']: 3 -> gone", "mapping 3")])

    def test_list(self):
        self.check("items", ["row[1]"], [
            ("row[1]: 2 -> 6", "items 1"), ("row[1]: 6 -> 7", "items 2")])

    def test_global(self):
        self.check("module_global", ["RATE"], [
            ("RATE: 1 -> 2", "global 1"), ("RATE: 2 -> 3", "global 2")])

    def test_closure(self):
        self.check("outer", ["count"], [
            ("count: 0 -> 1", "closure 1"), ("count: 1 -> 2", "closure 1")])

    def test_items_that_are_numbers(self):
        self.check("numbers", ["octets[1]", "reals[1]"], [
            ("octets[1]: 98 -> 120", "numbers 1"),
            ("reals[1]: 2.5 -> 3.5", "numbers 2")])

    def test_recursion(self):
        self.check("recursive", ["mine"], [
            ("mine: 3 -> -1", "recursive 1")])

    def test_generator(self):
        self.check("generated", ["at"], [
            ("at: %d -> %d" % (i, i + 1), "generated 1") for i in range(3)])

    def test_scope(self):
        self.watching.enter("scope", 2)
        self.watching.watch("seen")
        stops = self.watching.go()
        self.assertEqual(stops[0], ("seen: 5 -> 6", line_of("scope 1")))
        self.assertEqual([description for description, _ in stops[1:]],
                         ["seen is out of scope: the frame has returned"])
        self.is_passed = True

    def test_condition_and_counts(self):
        self.check("counted", [
            {"watch": "n", "condition": "n % 7 == 0"},
            {"watch": "n", "ignore": 18},
            {"watch": "n", "temporary": True},
            # It is said, and stops nobody.
            {"watch": "n", "condition": "n.missing == 1"}], [
                ("n: 0 -> 1", "counted 1"), ("n: 6 -> 7", "counted 1"),
                ("n: 13 -> 14", "counted 1"), ("n: 18 -> 19", "counted 1")])

    def test_another_thread(self):
        self.check("threads", ["box.value"],
                   [("box.value: 0 -> 7", "threads 1")])
        self.assertEqual(self.watching.functions[0], "work")


class OneCase(unittest.TestCase):
    """What does not depend on the version."""

    def start(self, argv=None):
        watching = Watching(argv or [sys.executable])
        self.addCleanup(watching.close)
        return watching

    def check(self, library, function, watch, wanted):
        run = subprocess.run([TORCH, "-c", "import " + library],
                             stderr=subprocess.DEVNULL)
        if run.returncode:
            self.skipTest("%s has no %s; PROBETUI_TORCH_PYTHON may name a "
                          "Python that has it" % (TORCH, library))
        watching = self.start([TORCH])
        watching.enter(function, 1)
        watching.watch(*watch)
        stops = watching.go()
        self.assertEqual(stops[:len(wanted)], [
            (description, line_of(mark)) for description, mark in wanted])

    def test_elements_of_arrays(self):
        self.check("numpy", "elements", ["grid[1, 2]", "single[2]"], [
            ("grid[1, 2]: 0.0 -> 2.5", "elements 1"),
            ("grid[1, 2]: 2.5 -> 3.5", "elements 2"),
            ("single[2]: 0.0 -> 0.1", "elements 3")])

    def test_elements_of_tensors(self):
        self.check("torch", "tensors", ["weight[1, 2]"], [
            ("weight[1, 2]: 0.0 -> 2.5", "tensors 1"),
            ("weight[1, 2]: 2.5 -> 5.0", "tensors 2")])

    def test_a_place_in_memory(self):
        watching = self.start()
        watching.enter("numbers", 1)
        variables = watching.ask("variables", depth=1, tid=watching.pid)
        address = [int(one["address"], 16) for one in variables["variables"]
                   if one["name"] == "octets"][0]
        with open("/proc/%d/mem" % watching.pid, "rb") as memory:
            memory.seek(address + 40)
            data = int.from_bytes(memory.read(8), "little")
        watching.watch("*0x%x:1" % (data + 1))
        self.assertEqual(watching.go()[0], (
            "*0x%x:1: 98 (0x62) -> 120 (0x78)" % (data + 1),
            line_of("numbers 1")))

    def test_what_cannot_be_watched(self):
        watching = self.start()
        watching.enter("numbers", 1)
        for expression, sentence in [
                ("octets[5]", "out of range"), ("len(octets)", "cannot be watched: not a"),
                ("nothing", "not defined in this frame"), ("1 +", "unexpected end"),
                ("True", "cannot be watched: not a"), ("print", "a builtin of Python"),
                ("*0x1001:4", "not a multiple of 4"),
                ("*0x1000:16", "can watch 1, 2, 4 or 8"),
                ("octets == 1", "cannot be watched: not a"), ("reals.typecode", "attribute 'typecode' of")]:
            binding, = watching.watch(expression)
            self.assertNotIn("number", binding)
            self.assertIn(sentence, binding["message"])
        watching.watch()
        watching.ask("continue")
        watching.target.say("go")
        self.assertEqual(watching.target.line(), ["done"])

    def test_no_room_and_no_frame(self):
        watching = self.start()
        watching.enter("text", 1)
        names = ["name", "*0x10000:8", "*0x10008:8", "*0x10010:8",
                 "*0x10018:8"]
        bindings = watching.watch(*names)
        watching.ask("continue")
        bindings = watching.watch(*names)
        self.assertEqual(["number" in one for one in bindings],
                         [True] * 4 + [False])
        self.assertIn("no free debug register", bindings[4]["message"])
        binding, = watching.watch("other")
        self.assertIn("stop the rank first", binding["message"])
        bindings = watching.watch("name")
        self.assertNotIn("number", bindings[0])

    def test_code_that_makes_no_sense(self):
        """Its name is too long to be one; what it writes stops all the
        same."""
        watching = self.start()
        watching.enter("odd", 1)
        watching.watch("row[0]", temporary=True)
        watching.target.say("go")
        watching.ask("continue")
        body = watching.node.event("stopped")
        self.assertEqual((body["reason"], body["description"]),
                         ("data breakpoint", "row[0]: 1 -> 2"))
        self.assertIn("its code cannot be decoded", watching.node.refuse(
            "next", pid=watching.pid))
        watching.ask("continue")
        self.assertEqual(watching.target.line(), ["done"])

    def test_off_and_on_again(self):
        watching = self.start()
        watching.enter("counted", 1)
        one = {"id": 1, "watch": "n", "depth": 1}
        watching.ask("setBreakpoints",
                     breakpoints=[dict(one, disabled=True)])
        watching.ask("setBreakpoints", breakpoints=[dict(one, ignore=17)])
        self.assertEqual([description for description, _ in watching.go()][:2],
                         ["n: 17 -> 18", "n: 18 -> 19"])


def load_tests(loader, tests, pattern):
    suite = pythons.load_cases(loader, __name__, WatchCase)
    suite.addTests(loader.loadTestsFromTestCase(OneCase))
    return suite


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
