"""DAP of a program that runs, on every CPython found."""
import os
import sys
import unittest

from agents import Place, Target, wait_for
from daps import Failed, Viewer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "backend"))
import pythons  # noqa: E402

# Whatever asks its objects for anything is told on `ran`.
LOUD = """
import collections, types
ran = []
class Meta(type):
    __module__ = property(lambda self: ran.append('module'))
    __mro__ = property(lambda self: ran.append('mro'))
class Loud(metaclass=Meta):
    stored = 1
    def __init__(self): object.__setattr__(self, 'inside', [1])
    def __repr__(self): ran.append('repr')
    def __getattr__(self, name): ran.append('getattr ' + name)
    def __getattribute__(self, name): ran.append('get ' + name)
    __class__ = property(lambda self: ran.append('class'))
    shown = property(lambda self: ran.append('shown'))
class Many(dict):
    def __iter__(self): ran.append('iter'); return iter(())
    __len__ = lambda self: ran.append('len') or 0
    __getitem__ = items = keys = lambda self, *key: ran.append('item')
class Slots:
    __slots__ = ('one', 'two')
slots = Slots(); slots.one = 1
loud, many = Loud(), Many(a=Loud(), b=2)
"""


class DapCase(unittest.TestCase):
    """One long-lived process, and a viewer of it."""

    @classmethod
    def setUpClass(cls):
        cls.place = Place(cls.python.argv)
        cls.target = Target(cls.place)

    @classmethod
    def tearDownClass(cls):
        status, errors = cls.target.close()
        cls.place.close()
        assert (status, errors) == (0, ""), errors

    def setUp(self):
        self.viewer = Viewer(self.target)
        self.addCleanup(self.viewer.close)

    def test_initialize(self):
        told = self.viewer.capabilities
        self.assertRegex(told["probetui"]["session"], "^[0-9a-f]{32}$")
        self.assertEqual(told["probetui"]["grace"], 1)
        self.assertTrue(told["supportsCompletionsRequest"])
        self.assertEqual(self.viewer.event("initialized"), {})
        self.assertIsNone(self.viewer.ask("attach"))
        self.assertIsNone(self.viewer.ask("configurationDone"))
        self.assertIsNone(self.viewer.ask("disconnect"))
        self.assertEqual(self.viewer.send("threads").status, 404)

    def test_stack(self):
        main = self.viewer.main_thread()
        self.assertEqual(main, self.target.process.pid)
        wait_for(lambda: self.viewer.stack()[0]["name"] == "level_two",
                 "the main thread to wait for a line")
        frames = self.viewer.stack()
        self.assertEqual([frame["name"] for frame in frames],
                         ["level_two", "level_one", "<module>"])
        self.assertEqual(frames[0]["source"]["path"],
                         self.place.inside + "/program.py")
        self.assertEqual([frame["name"] for frame in self.viewer.stack(
            startFrame=1, levels=1)], ["level_one"])
        text = self.viewer.ask("source", source=frames[0]["source"])
        self.assertIn("def level_two", text["content"].split("\n")[
            frames[0]["line"] - 3])
        scopes = self.viewer.scopes(frames[0]["id"])
        names = self.viewer.variables(scopes["Locals"])
        self.assertEqual((names["count"]["value"], names["count"]["type"],
                          names["count"]["evaluateName"]),
                         ("2", "int", "count"))
        self.assertEqual(names["text"]["value"], "'\\udc80'")
        self.assertIn("level_one", self.viewer.variables(scopes["Globals"]))
        self.assertEqual(list(self.viewer.scopes(frames[2]["id"])),
                         ["Globals"])
        self.assertIn("names", self.viewer.labels(
            "na", frameId=frames[0]["id"]))
        for command, arguments in (
                ("evaluate", {"expression": "1", "frameId": frames[0]["id"]}),
                ("setVariable", {"variablesReference": scopes["Locals"],
                                 "name": "count", "value": "3"})):
            self.assertIn("the thread is running",
                          self.viewer.message(command, **arguments))

    def test_left_frame(self):
        self.viewer.run("def waits(event): event.wait()\n"
                        "one = threading.Event()\n"
                        "t = threading.Thread(target=waits, args=(one,))\n"
                        "t.start(); t.native_id")
        tid = int(self.viewer.value("t.native_id"))
        # It may have begun and not come there yet.
        frame, = wait_for(lambda: [frame for frame in self.viewer.stack(tid)
                                   if frame["name"] == "waits"], "the thread")
        self.viewer.value("one.set() or t.join()")
        self.assertEqual(self.viewer.message("scopes", frameId=frame["id"]),
                         "the thread has left the frame: request its stack "
                         "again")
        self.assertEqual(self.viewer.message("stackTrace", threadId=tid),
                         "thread %d not found" % tid)

    def test_evaluate(self):
        ask = self.viewer.ask
        self.assertEqual(ask("evaluate", expression=" 6 * 7 "), {
            "result": "42", "type": "int", "output": "",
            "variablesReference": 0})
        told = self.viewer.run("print('x')\nmade = {'lr': [1, 2]}\nmade")
        self.assertEqual((told["result"], told["output"],
                          told["namedVariables"]),
                         ("{'lr': [1, 2]}", "x\n", 1))
        inner = self.viewer.variables(told["variablesReference"])["'lr'"]
        self.assertEqual((inner["value"], inner["indexedVariables"]),
                         ("[1, 2]", 2))
        # In the program's own names.
        self.assertEqual(self.target.ask("made"), {"lr": [1, 2]})
        self.assertEqual(self.viewer.run("made = 1"), {
            "result": "", "output": "", "variablesReference": 0})
        with self.assertRaises(Failed) as caught:
            self.viewer.run("print('before')\nint('x')")
        self.assertRegex(str(caught.exception), "^ValueError: invalid lit")
        self.assertEqual(caught.exception.body["output"], "before\n")
        self.assertIn('File "<eval>", line 2',
                      caught.exception.body["traceback"])
        self.assertRegex(self.viewer.message("evaluate", expression="x = 1"),
                         "^SyntaxError: [a-zA-Z]")
        self.assertEqual(self.viewer.message(
            "evaluate", expression="while True: pass", context="repl",
            timeout=0.05), "TimeIsUp: the evaluation took longer than 0.05 s")

    def test_cancel(self):
        viewer = self.viewer
        viewer.value("print")
        viewer.client.send(viewer.client.request(
            "POST", "/dap?session=" + viewer.session, {
                "seq": 77, "type": "request", "command": "evaluate",
                "arguments": {"context": "repl", "expression":
                              "begun = 1\nwhile True: pass"}}))
        wait_for(lambda: self.target.ask("'begun' in globals()"), "it")
        for number in (77, 78):
            told = viewer.send("cancel", viewer.waiter, requestId=number)
            self.assertTrue(told.value["success"])
        told = viewer.client.read().value
        self.assertEqual((told["success"], told["message"]),
                         (False, "cancelled"))
        self.assertIsNone(viewer.ask("cancel", requestId=77))

    def test_set(self):
        self.viewer.run("class Some: x = 1\n"
                        "some, row, fixed = Some(), [1, 2, 3], (1,)\n"
                        "options = {'lr': 0.1, 5: 1}")

        def ask(expression, value):
            return self.viewer.ask("setExpression", expression=expression,
                                   value=value)

        self.assertEqual(ask("some.x", "[7]")["value"], "[7]")
        self.assertEqual(ask("row[1:]", "'ab'")["type"], "str")
        self.assertEqual(ask("options['lr']", "row")["indexedVariables"], 3)
        self.assertEqual(ask("another", "1")["value"], "1")
        self.assertEqual(self.viewer.value(
            "some.x, row, options['lr'] is row, another, len([n for n in "
            "globals() if 'probetui' in n])"),
            "([7], [1, 'a', 'b'], True, 1, 1)")
        names = self.viewer.scopes(self.viewer.stack()[-1]["id"])["Globals"]

        def set_one(reference, name, value):
            return self.viewer.ask("setVariable", name=name, value=value,
                                   variablesReference=reference)

        self.assertEqual(set_one(names, "another", "another + 1")["value"],
                         "2")
        there = self.viewer.variables(names)
        set_one(there["options"]["variablesReference"], "5", "'five'")
        set_one(there["row"]["variablesReference"], "[0]", "0")
        self.assertEqual(self.viewer.value("another, options[5], row"),
                         "(2, 'five', [0, 'a', 'b'])")
        self.assertEqual(self.viewer.message(
            "setVariable", name="[0]", value="1", variablesReference=there[
                "fixed"]["variablesReference"]),
            "[0] cannot be set: its container cannot be changed")
        self.assertEqual(self.viewer.message(
            "setVariable", name="nowhere", value="1",
            variablesReference=names),
            "no variable or item is named 'nowhere'")
        self.assertRegex(self.viewer.message(
            "setExpression", expression="1 + 1", value="1"),
            "cannot assign to 1")

    def test_quiet(self):
        """No code of the program runs for what is told."""
        self.viewer.run(LOUD)
        names = self.viewer.scopes(self.viewer.stack()[-1]["id"])["Globals"]
        there = self.viewer.variables(names)
        found = {name: self.viewer.variables(
            there[name]["variablesReference"])
            for name in ("loud", "many", "slots", "Loud", "Meta")}
        self.assertEqual(list(found["loud"]), ["inside"])
        self.assertEqual(list(found["many"]), ["'a'", "'b'"])
        self.assertEqual(list(found["slots"]), ["one"])
        self.assertIn("stored", found["Loud"])
        for text in ("loud.", "many['a'].", "loud.shown.", "loud.inside[0].",
                     "many['", "Loud.", "slots.on", "lou"):
            self.viewer.labels(text)
        self.assertEqual(self.viewer.value("ran"), "[]")

    def test_pages(self):
        self.viewer.run("long = list(range(5000)); "
                        "wide = {i: i for i in range(2000)}")
        told = self.viewer.ask("evaluate", expression="long")
        self.assertEqual(told["indexedVariables"], 5000)
        ask = self.viewer.variables
        part = ask(told["variablesReference"], start=4998, count=10)
        self.assertEqual([(name, variable["value"]) for name, variable in
                          part.items()], [("[4998]", "4998"),
                                          ("[4999]", "4999")])
        whole = ask(told["variablesReference"])
        self.assertEqual((len(whole), whole["..."]["value"]),
                         (1001,
                          "4000 more: request them with start and count"))
        self.assertEqual(ask(told["variablesReference"], filter="named"), {})
        told = self.viewer.ask("evaluate", expression="wide")
        self.assertEqual(list(ask(told["variablesReference"], start=1999)),
                         ["1999"])

    def test_long(self):
        """What is long is told in short, so that an answer is."""
        self.viewer.run(
            "key = 'k' * 10 ** 6\n"
            "huge = {key: [[1]], 10 ** 4000: [2], 'x': [3]}\n"
            "globals()[key] = 1")
        told = self.viewer.ask("evaluate", expression="(" + " " * 100000
                               + "huge)")
        inner = self.viewer.variables(told["variablesReference"])
        self.assertEqual([len(name) < 300 for name in inner], [True] * 3)
        self.assertNotIn("evaluateName", inner["'x'"])
        told = self.viewer.ask("evaluate", expression="huge")
        inner = self.viewer.variables(told["variablesReference"])
        self.assertEqual([found.get("evaluateName") for found in
                          inner.values()], [None, None, "huge['x']"])
        self.assertEqual(self.viewer.labels("huge["), ["'x']"])
        self.assertEqual(self.viewer.labels("kkk"), [])
        self.viewer.run("del globals()[key], huge, key")

    def test_completions(self):
        self.viewer.run(
            "class Net:\n    def forward(self): pass\n    size = 3\n"
            "    _own = 1\n"
            "net = Net(); net.inside = {'lr': 1, \"it's\": [net], 5: 6}\n"
            "nets = [net]")
        for text, labels in (
                ("net", ["net", "nets"]), ("net.", ["forward", "inside",
                                                    "size"]),
                ("net._o", ["_own"]), ("print(nets[0].ins", ["inside"]),
                ("net.inside['l", ["'lr']"]),
                ('x = net.inside["l', ['"lr"]']),
                ("net.inside[", ["\"it's\"]", "'lr']", "5]"]),
                ("net.inside[\"it's\"][0].si", ["size"]),
                ("net.missing.", []), ("net.forward().", []),
                ("'net.", []), ("# ne", []), ("import thread", [
                    "threading"]), ("f(x).", []), ("Net.si", ["size"]),
                ("nonl", ["nonlocal"]), ("a = 'b'.joi", ["join"])):
            with self.subTest(text):
                self.assertEqual(self.viewer.labels(text), labels)
        target = self.viewer.ask("completions", text="a\n'\U0001f600', net.s",
                                 line=2, column=12)["targets"][0]
        self.assertEqual((target["label"], target["start"],
                          target["length"]), ("size", 11, 1))
        with Viewer(self.target, columnsStartAt1=False) as other:
            self.assertEqual(other.ask("completions", text="net.si",
                                       column=6)["targets"][0]["start"], 4)

    def test_refusals(self):
        for command, arguments, sentence in (
                ("nothing", {}, "unknown request 'nothing'"),
                ("evaluate", {},
                 "arguments.expression is missing (expected a string)"),
                ("evaluate", {"expression": 1},
                 "arguments.expression must be a string, not a number"),
                ("evaluate", {"expression": "1", "timeout": -1},
                 "timeout must be a number of seconds, more than 0 and at most "
                 "86400"),
                ("stackTrace", {"threadId": True},
                 "arguments.threadId must be an integer, not true or false"),
                ("stackTrace", {"threadId": 1}, "thread 1 not found"),
                ("scopes", {"frameId": 99999}, "frameId 99999 is no longer "
                 "valid: request the stack again"),
                ("variables", {"variablesReference": 0},
                 "arguments.variablesReference must be a number from 1 to "
                 "9007199254740991"),
                ("variables", {"variablesReference": 1, "filter": "odd"},
                 None),
                ("source", {}, "source and sourceReference are both missing"),
                ("source", {"source": {"path": "/etc/passwd"}},
                 "/etc/passwd is not a source file of the program"),
                ("source", {"sourceReference": 7},
                 "unknown sourceReference 7"),
                ("disconnect", {"terminateDebuggee": True},
                 "terminateDebuggee is not supported: the agent cannot end the "
                 "program")):
            with self.subTest(command):
                message = self.viewer.message(command, **arguments)
                self.assertEqual(message, sentence or message)


@unittest.skipUnless(os.environ.get("PROBETUI_TORCH_PYTHON"),
                     "PROBETUI_TORCH_PYTHON names no Python with torch")
class TestTorch(unittest.TestCase):
    def test_module(self):
        place = Place((os.environ["PROBETUI_TORCH_PYTHON"],))
        self.addCleanup(place.close)
        target = Target(place, options=())
        self.addCleanup(target.kill)
        viewer = Viewer(target)
        self.addCleanup(viewer.close)
        viewer.run("import torch; model = torch.nn.Sequential(torch.nn."
                   "Linear(2, 3), torch.nn.ReLU())", timeout=120)

        def inside(expression):
            told = viewer.ask("evaluate", expression=expression)
            return viewer.variables(told["variablesReference"])

        layers = inside("model")
        self.assertEqual(list(layers)[:2], ["0", "1"])
        self.assertEqual(layers["0"]["evaluateName"], "model._modules['0']")
        weight = inside(layers["0"]["evaluateName"])["weight"]
        self.assertEqual(weight["value"], "Parameter(shape=(3, 2), "
                         "dtype=torch.float32, device=cpu)")
        facts = inside(weight["evaluateName"])
        self.assertEqual([facts[name]["value"] for name in (
            "shape", "dtype", "requires_grad", "grad")],
            ["torch.Size([3, 2])", "torch.float32", "True", "None"])
        self.assertEqual(viewer.labels("model[0].weight.requires_grad"), [])
        self.assertIn("weight", viewer.labels("model._modules['0'].we"))
        self.assertIn("shape", viewer.labels(
            "model._modules['0'].weight.sha"))


def load_tests(loader, _tests, _pattern):
    suite = loader.loadTestsFromTestCase(TestTorch)
    suite.addTests(pythons.load_cases(loader, __name__, DapCase))
    return suite
