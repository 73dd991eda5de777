"""Data breakpoints: what stops when a variable changes, and what is told. On
every CPython found with PROBETUI_SOAK, else on the one that runs this."""
import os
import sys
import unittest

from agents import Place, Target
from daps import Viewer
from torch_jobs import WHY_NOT

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "backend"))
import pythons  # noqa: E402

BEGINS = """
import probetui
class Thing:
    __slots__ = ("slot", "__dict__")
    kind = "a"
    @property
    def computed(self):
        raise SystemExit
def change(thing):
    thing.x += 1
def work():
    thing, names, total = Thing(), {"k": 1, 5: [1, 2]}, 0
    thing.x, thing.slot = 1, 2
    begin = 1
    for i in range(3):
        total += 10
        total += 0
    change(thing)
    names["k"] = 2
    names[5][1] = 7
    thing.slot = 3
    del names["k"]
    thing = None
    total = 5; return total
def produce():
    for i in range(3):
        kept = i
        yield i
def consume():
    for item in produce():
        pass
    last = 1
    return 8
say(probetui.listen())
"""
LINES = [""] + BEGINS.split("\n")
# It warns where there is no numpy.
TORCH = """
import warnings
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torch
def work():
    x = torch.zeros(4)
    model = torch.nn.Linear(2, 2)
    begin = 1
    y = x + 1
    x += 1
    x = torch.zeros(2)
    with torch.no_grad(): model.weight.add_(1)
    model.weight.data = torch.zeros(2, 2)
    end = 1
"""


class ChangeCase(unittest.TestCase):
    def setUp(self):
        python = getattr(self, "python", None)
        self.place = Place(python.argv if python else [sys.executable])
        self.addCleanup(self.place.close)

    def begin(self, function, line, begins=BEGINS, place=None):
        """A viewer of a thread that stands at the line with that text."""
        self.target = Target(place or self.place, begins)
        self.addCleanup(self.target.kill)
        self.viewer = Viewer(self.target)
        self.addCleanup(self.viewer.close)
        path = self.place.inside + "/program.py"
        with open(self.place.path + "/program.py") as file:
            self.lines = [""] + [text.strip() for text in file]
        self.viewer.ask("setBreakpoints", source={"path": path}, breakpoints=[
            {"line": self.lines.index(line)}])
        self.target.run("say(%s)" % function)
        self.stopped()
        self.viewer.ask("setBreakpoints", source={"path": path},
                        breakpoints=[])

    def stopped(self):
        body = self.viewer.event("stopped")
        self.thread = body["threadId"]
        frame = self.viewer.stack(self.thread)[0]
        self.frame = frame["id"]
        return body, self.lines[frame["line"]]

    def info(self, name, **more):
        return self.viewer.ask("dataBreakpointInfo", name=name,
                               **(more or {"frameId": self.frame}))

    def set(self, *names, **more):
        return self.viewer.ask("setDataBreakpoints", breakpoints=[
            dict(dataId=self.info(name)["dataId"], **more)
            for name in names])["breakpoints"]

    def go(self, command="continue"):
        self.viewer.ask(command, threadId=self.thread)

    def changes(self):
        """What it says about its next stop, and the line that follows."""
        self.go()
        body, line = self.stopped()
        self.assertEqual(body["reason"], "data breakpoint")
        return body["description"], line


class TestChanges(ChangeCase):
    def test_a_local_variable(self):
        self.begin("work()", "begin = 1")
        self.assertIn("work", self.info("total")["description"])
        (told,) = self.set("total")
        self.assertEqual((told["verified"], told["hits"]), (True, 0))
        for old in (0, 10, 20):
            # What it was already, is no change.
            self.assertEqual(self.changes(), (
                "total: %d -> %d" % (old, old + 10), "total += 0"))
        self.assertEqual(self.viewer.ask("state")["dataBreakpoints"][0][
            "hits"], 3)
        # On its last line.
        self.go()
        body = self.viewer.event("breakpoint")
        self.assertEqual(body["reason"], "removed")
        self.assertIn("work has ended", body["breakpoint"]["message"])
        body, line = self.stopped()
        self.assertEqual((body["description"], line), (
            "total: 30 -> 5", "total = 5; return total"))
        self.go()
        self.assertEqual(self.target.said(), 5)
        self.target.run("say(work())")
        self.assertEqual(self.target.said(), 5)

    def test_what_is_in_something(self):
        self.begin("work()", "begin = 1")
        self.set("thing.x", "names['k']", "names[5][1]", "thing.slot")
        self.assertEqual(self.changes(), ("thing.x: 1 -> 2",
                                          'names["k"] = 2'))
        self.assertEqual(self.changes()[0], "names['k']: 1 -> 2")
        self.assertEqual(self.changes()[0], "names[5][1]: 2 -> 7")
        self.assertEqual(self.changes()[0], "thing.slot: 2 -> 3")
        self.assertEqual(self.changes()[0], "names['k']: 2 -> not set")
        self.viewer.ask("setDataBreakpoints", breakpoints=[])
        self.go()
        self.assertEqual(self.target.said(), 5)

    def test_of_what_was_opened_with_conditions(self):
        self.begin("work()", "begin = 1")
        locals_ = self.viewer.scopes(self.frame)["Locals"]
        thing = self.viewer.variables(locals_)["names"]["variablesReference"]
        name = self.info("'k'", variablesReference=thing)["dataId"]
        total = self.info("total", variablesReference=locals_)["dataId"]
        told = self.viewer.ask("setDataBreakpoints", breakpoints=[
            {"dataId": total, "condition": "total > 10", "hitCondition": "2",
             "id": 77}, {"dataId": name}])["breakpoints"]
        self.assertEqual(told[0]["id"], 77)
        self.go()
        body, _ = self.stopped()
        self.assertEqual((body["description"], body["hitBreakpointIds"]),
                         ("total: 20 -> 30", [77]))
        self.assertEqual(self.changes()[0], "names['k']: 1 -> 2")

    def test_a_condition_that_fails(self):
        """It is said once, and stops nobody."""
        self.begin("work()", "begin = 1")
        self.set("total", condition="no > 1")
        self.go()
        self.assertEqual(
            self.viewer.event("output")["output"],
            "the condition no > 1 cannot be evaluated, so the breakpoint "
            "does not stop the process: "
            "NameError: name 'no' is not defined\n")
        self.assertEqual(self.target.said(), 5)
        self.assertEqual(self.viewer.ask("state")["stops"], [])

    def test_also_while_it_steps(self):
        self.begin("work()", "begin = 1")
        self.set("total")
        self.go("next")
        self.assertEqual(self.stopped()[0]["reason"], "step")
        self.go("stepOut")
        body, line = self.stopped()
        self.assertEqual((body["reason"], line), ("data breakpoint",
                                                  "total += 0"))

    def test_a_generator_ends_at_its_end(self):
        self.begin("consume()", "kept = i")
        self.set("kept")
        self.assertEqual(self.changes()[0], "kept: not set -> 0")
        self.assertEqual(self.changes()[0], "kept: 0 -> 1")
        self.viewer.ask("setDataBreakpoints", breakpoints=[])
        self.go()
        self.assertEqual(self.target.said(), 8)

    def test_what_cannot_be_watched_says_why(self):
        self.begin("work()", "begin = 1")
        for name, word in (("thing.computed", "computed by its class"),
                           ("nothing", "nothing is not defined"),
                           ("self.it", "self is not defined"),
                           ("total + 1", "computed, not stored"),
                           ("names[i]", "index"), ("1 +", "not a variable"),
                           ("total.real", "computed by its class")):
            told = self.info(name)
            self.assertIsNone(told["dataId"], name)
            self.assertIn(word, told["description"], name)
        self.assertIn("stopped thread", self.viewer.ask(
            "dataBreakpointInfo", name="count")["description"])
        (told,) = self.set("total", accessType="read")
        self.assertFalse(told["verified"])
        self.assertIn("accessType", told["message"])
        (told,) = self.viewer.ask("setDataBreakpoints", breakpoints=[
            {"dataId": "99"}])["breakpoints"]
        self.assertIn("99", told["message"])
        # Nothing of it is left when the viewer has gone.
        self.set("total")
        self.viewer.close()
        self.assertEqual(self.target.said(), 5)
        self.assertEqual(self.target.ask(
            "probetui.debugging.engine.get().watchers"), {})


@unittest.skipUnless(os.environ.get("PROBETUI_TORCH_PYTHON"), WHY_NOT)
class TestTensors(ChangeCase):
    def setUp(self):
        super().setUp()
        self.place.argv = [os.environ["PROBETUI_TORCH_PYTHON"]]

    def test_a_tensor_that_is_written_in_place(self):
        self.begin("work()", "begin = 1", TORCH + "import probetui\n"
                   "say(probetui.listen())\n")
        self.set("x", "model.weight")
        said, line = self.changes()
        self.assertRegex(said, r"x: Tensor\(shape=\(4\).* was modified in "
                         r"place \(version 1, before: 0\)")
        self.assertEqual(line, "x = torch.zeros(2)")
        self.assertIn("-> Tensor(shape=(2)", self.changes()[0])
        self.assertIn("model.weight: Parameter(shape=(2, 2)",
                      self.changes()[0])
        said, line = self.changes()
        self.assertIn("has new memory", said)
        self.assertEqual(line, "end = 1")


def load_tests(loader, tests, _pattern):
    if os.environ.get("PROBETUI_SOAK"):
        tests = pythons.load_cases(loader, __name__, TestChanges)
        tests.addTests(loader.loadTestsFromTestCase(TestTensors))
    return tests


if __name__ == "__main__":
    unittest.main()
