"""The requests `tensor` and `parameters`, of processes that are read from
outside: running ones and stopped ones, by names, attributes and indices."""
import base64
import importlib.util
import json
import os
import signal
import statistics
import struct
import sys
import tempfile
import time
import unittest
import zlib

from nodes import LIMIT, Node, Target

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "tensor_requests_target.py")
# System calls that read its memory while a thread is held for a look.
HELD_CALLS = 6


class Subject(unittest.TestCase):
    """One target a class; nothing here changes it."""
    words = []
    is_read_only = False
    python = sys.executable
    program = PROGRAM

    @classmethod
    def setUpClass(cls):
        cls.target = Target(argv=[cls.python, cls.program] + cls.words)
        cls.addClassCleanup(cls.target.close)
        # Before that: it may not read its input.
        cls.addClassCleanup(cls.target.process.kill)
        cls.pid = cls.target.pid
        cls.node = Node()
        cls.addClassCleanup(cls.node.close)
        cls.node.ask("initialize", protocol=1, readOnly=cls.is_read_only)
        cls.node.discover(pids=[cls.pid])

    def tensor(self, expression, **arguments):
        return self.node.ask("tensor", pid=self.pid, expression=expression,
                             **arguments)

    def value(self, expression, **arguments):
        return self.tensor(expression, **arguments)["value"]["value"]

    def refuse(self, **arguments):
        return self.node.refuse("tensor", pid=self.pid, **arguments)


class TestBlocked(Subject):
    """It waits for its input."""

    def test_plain_values_have_no_tensor(self):
        body = self.tensor("plain[1]['lr']")
        self.assertEqual(body["value"]["value"], "0.5")
        self.assertEqual(body["value"]["type"], "float")
        self.assertIsNone(body["tensor"])
        self.assertEqual(body["frame"]["func"], "inner")

    def test_names_are_those_of_the_innermost_frame_that_has_them(self):
        self.assertEqual(self.value("name"), "'of inner'")
        body = self.tensor("only_outer")
        self.assertEqual((body["value"]["value"], body["frame"]["func"]),
                         ("42", "outer"))
        self.assertEqual(body["frame"]["depth"], 1)
        self.assertEqual(self.tensor("RAW")["frame"]["func"], "<module>")

    def test_a_depth_is_that_frame_alone(self):
        self.assertEqual(self.value("name", depth=1), "'of outer'")
        self.assertEqual(self.value("name", depth=2), "'of the module'")
        self.assertIn("name 'only_outer' is not defined",
                      self.refuse(expression="only_outer", depth=0))
        self.assertEqual(self.value("only_outer", depth=0, search=True), "42")

    def test_depths_count_from_the_outermost_frame(self):
        """Two frames on top that the asker does not know of."""
        self.assertEqual(self.value("name", depth=0, frames=2), "'of outer'")
        self.assertEqual(self.value("name", frames=1), "'of the module'")
        self.assertIn("the stack has changed",
                      self.refuse(expression="name", depth=0, frames=5))
        self.assertIn("the stack has changed", self.refuse(
            expression="name", depth=0, function="outer"))
        self.assertEqual(self.value("name", depth=1, function="outer"),
                         "'of outer'")

    def test_arrays(self):
        body = self.tensor('batch["x"]')
        self.assertEqual(body["value"]["type"], "array.array")
        self.assertEqual(body["tensor"]["dtype"], "float64")
        self.assertEqual(body["tensor"]["shape"], [4])
        self.assertIs(body["tensor"]["live"], True)
        self.assertIsNone(body["tensor"]["stats"])
        self.assertEqual(self.tensor("RAW")["tensor"]["shape"], [16])

    def test_elements(self):
        body = self.tensor("NUMBERS", statistics="auto", hash=True, bins=4,
                           find="nan", data={"start": 1, "count": 2},
                           slice={"rowDimension": -1, "columnDimension": 0,
                                  "index": [0], "column": 0, "columns": 4})
        told = body["tensor"]
        self.assertEqual((told["stats"]["min"], told["stats"]["max"],
                          told["stats"]["nan"], told["stats"]["zeros"]),
                         (-2.0, 1.5, 1, 1))
        self.assertEqual(told["hash"], "%08x" % zlib.crc32(
            struct.pack("<4d", 1.5, -2.0, float("nan"), 0.0)))
        self.assertEqual(sum(told["histogram"]["bins"]), 3)
        self.assertEqual(body["found"], 2)
        self.assertEqual(base64.b64decode(body["data"]),
                         struct.pack("<2d", -2.0, float("nan")))
        self.assertEqual(body["slice"]["numbers"], [1.5, -2.0, "nan", 0.0])
        self.assertNotIn("torn", told)

    def test_what_is_wanted_makes_no_sense(self):
        for options in ({"statistics": "most"}, {"bins": -1}, {"bins": 1 << 40},
                     {"hash": "x", "blocks": -1}, {"slice": {"index": [0, 0]}}, {"slice": 7},
                     {"data": {"start": -1, "count": 1}},
                     {"data": {"start": 0, "count": 1 << 60}}):
            with self.subTest(options=options):
                self.assertTrue(self.refuse(expression="NUMBERS", **options))

    def test_by_address(self):
        value = self.tensor("RAW")["value"]
        body = self.node.ask("tensor", pid=self.pid, type="bytearray",
                             address=value["address"])
        self.assertIsNone(body["frame"])
        self.assertIn("a bytearray is at its address", self.refuse(
            address=value["address"], type="list"))
        self.assertIn("no longer exists", self.refuse(address="0x10"))

    def test_lists_without_end_are_not_walked(self):
        self.assertIn("too many items, or is nested too deeply", self.node.refuse(
            "parameters", pid=self.pid, expression="PLAIN"))

    def test_what_runs_code_is_refused(self):
        sentence = self.refuse(expression="outer()")
        self.assertIn("probetui inject", sentence)

    def test_hostile_arguments(self):
        for arguments in ({}, {"expression": 7}, {"expression": ""},
                          {"expression": "name", "address": "0x10"},
                          {"expression": "name", "depth": "x"},
                          {"expression": "name", "depth": -1},
                          {"expression": "name", "frames": 1 << 62},
                          {"expression": "name", "depth": 1 << 60},
                          {"expression": "name", "tid": 1 << 40},
                          {"expression": "name", "tid": 1},
                          {"expression": "name" * 5000}):
            self.assertTrue(self.refuse(**arguments), arguments)


class TestRunning(Subject):
    """It never waits: the thread is held while it is read."""
    words = ["spin"]

    def test_values(self):
        for _ in range(20):
            self.assertEqual(self.value("name"), "'of inner'")
            self.assertEqual(self.value("only_outer"), "42")
        one = int(self.value("number"))
        self.assertGreater(int(self.value("number")), one - 1)


    def test_it_is_not_held_for_long(self):
        calls = {name: [] for name in ("RAW", "number", "only_outer",
                                       "plain[1]['lr']")}
        for _ in range(9):
            for name, each in calls.items():
                each.append(self.tensor(name)["held_calls"])
        for name, each in calls.items():
            self.assertLessEqual(statistics.median(each), HELD_CALLS, calls)
            # While it waits for the GIL it need not be stopped to be read.
            self.assertGreater(max(each), 0)

    def test_what_was_searched_is_said(self):
        self.assertRegex(self.refuse(expression="nothing"),
                         r"not defined in any frame of the thread \(searched: \d+\)")
        self.assertIn("defines all names in number + nothing; in the first "
                      "frame: ", self.refuse(expression="number + nothing"))


class TestDeep(TestRunning):
    """Below 300 frames of a recursion."""
    words = ["spin", "deep"]


class TestReadOnly(TestRunning):
    """Nothing is held then."""
    is_read_only = True

    def test_it_is_not_held_for_long(self):
        self.assertEqual(self.tensor("number")["held_calls"], 0)
        self.assertEqual(self.tensor("number")["held_ns"], 0)


class TestPrompt(Subject):
    """It is at a pdb's prompt, and nobody has told the node."""
    words = ["pdb"]

    def test_frames_of_the_debugger_are_counted_away(self):
        body = self.tensor("name", depth=0, frames=3, function="inner")
        self.assertEqual(body["value"]["value"], "'of inner'")
        self.assertEqual(body["frame"]["depth"], 0)
        body = self.tensor("only_outer", frames=3)
        self.assertEqual((body["frame"]["func"], body["frame"]["depth"]),
                         ("outer", 1))
        self.assertEqual(self.value("plain[0]"), "7")


class TestStopped(Subject):
    """It is stopped from outside."""
    words = ["spin"]

    def test_values(self):
        self.node.ask("pause", pid=self.pid)
        self.node.event("stopped", self.pid)
        for _ in range(3):
            body = self.tensor("RAW", hash=True)
            self.assertIs(body["tensor"].get("live", False), False)
            self.assertEqual(body["tensor"]["hash"],
                             "%08x" % zlib.crc32(bytes(range(16))))
        number = self.value("number", depth=0)
        self.assertEqual(self.value("number", depth=0), number)
        self.node.ask("detach", pid=self.pid)
        self.assertIs(self.tensor("RAW")["tensor"]["live"], True)
        # It goes on when it gets a processor.
        deadline = time.monotonic() + LIMIT
        while self.value("number") == number:
            self.assertLess(time.monotonic(), deadline, "it does not go on")


class TestWork(unittest.TestCase):
    """Elements take their time, and what happens meanwhile."""

    def setUp(self):
        self.target = Target(argv=[sys.executable, PROGRAM])
        self.addCleanup(self.target.close)
        self.pid = self.target.pid
        self.node = Node()
        self.addCleanup(self.node.close)
        self.node.ask("initialize", protocol=1)
        self.node.discover(pids=[self.pid])

    def begin(self, **arguments):
        return self.node.request("tensor", pid=self.pid, expression="HUGE",
                                 hash=True, **arguments)

    def test_cancel(self):
        seqs = [self.begin(), self.node.request(
            "parameters", pid=self.pid, expression="[HUGE]")]
        self.node.ask("cancel", pid=self.pid)
        answer = self.node.answer(seqs[0])
        self.assertIs(answer["success"], False)
        self.assertIn("cancel", answer["message"])
        self.node.ask("tensor", pid=self.pid, expression="RAW", hash=True)

    def test_timeout(self):
        answer = self.node.answer(self.begin(timeout=0.05))
        self.assertIs(answer["success"], False)
        self.assertIn("HUGE: the elements were not read in time",
                      answer["message"])

    def test_others_are_served_meanwhile(self):
        seq = self.begin()
        self.node.ask("tensor", pid=self.pid, expression="RAW", hash=True)
        self.node.event("progress")
        self.node.ask("cancel", pid=self.pid)
        self.node.answer(seq)

    def test_the_process_ends(self):
        seq = self.begin()
        self.target.process.kill()
        self.target.process.wait()
        answer = self.node.answer(seq)
        self.assertIs(answer["success"], False)
        self.assertRegex(answer["message"], "has exited|does not exist|[Nn]o (such )?process")

    def test_the_program_is_replaced(self):
        self.node.ask("tensor", pid=self.pid, expression="RAW", hash=True)
        self.target.say("exec")
        self.assertEqual(self.target.line(), ["ready"])
        body = self.node.ask("tensor", pid=self.pid, expression="y")
        self.assertEqual(body["value"]["value"], "2")

    def test_the_node_leaves(self):
        seq = self.begin()
        self.node.request("disconnect")
        answer = self.node.answer(seq)
        self.assertIs(answer["success"], False)
        self.assertEqual(self.node.wait(), 0)


class TestChurn(Subject):
    """Its header is another all the while."""
    words = ["churn"]

    def test_what_changes_is_torn_or_right(self):
        told = []
        for _ in range(1000):
            told.append(self.tensor("CHURN", hash=True)["tensor"])
            if told[-1].get("torn"):
                break
        self.assertIs(told[-1].get("torn"), True)
        for one in told:
            self.assertIn(one["shape"], ([1 << 26], [(1 << 26) + 4]))


class TestReplace(Subject):
    """What lies in a dict is freed all the while, and others lie there."""
    words = ["replace"]

    @classmethod
    def setUpClass(cls):
        if not importlib.util.find_spec("numpy"):
            raise unittest.SkipTest("there is no numpy")
        super().setUpClass()

    def test_nothing_is_told_by_the_name_of_another(self):
        sizes = {"['long']": [100], "['short']": [7]}
        for _ in range(25):
            seq = self.node.request("parameters", pid=self.pid, hash=True,
                                    expression="fresh")
            answer = self.node.answer(seq)
            for one in (answer.get("body") or {}).get("parameters") or []:
                if one["tensor"] and one["name"] in sizes:
                    self.assertEqual(one["tensor"]["shape"],
                                     sizes[one["name"]])


class TestTorch(unittest.TestCase):
    """Modules, optimizers and parts of tensors, against what the program says
    itself."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        python = os.environ.get("PROBETUI_TORCH_PYTHON", "/usr/bin/python3")
        if not os.path.exists(python):
            raise unittest.SkipTest("there is no %s" % python)
        cls.target = Target(argv=[python, os.path.join(
            HERE, "tensor_modules_target.py")], PROBETUI="1",
            PYTHONPATH=os.path.join(HERE, "..", "..", "agent"))
        cls.addClassCleanup(cls.target.close)
        cls.truth = json.loads(" ".join(cls.target.words))
        if not cls.truth:
            raise unittest.SkipTest("%s has no torch" % python)
        cls.pid = cls.target.pid
        cls.node = Node()
        cls.addClassCleanup(cls.node.close)
        cls.node.ask("initialize", protocol=1)
        cls.node.discover(pids=[cls.pid])

    def tell(self, text):
        told = self.node.ask("tensor", pid=self.pid, expression=text,
                             hash=True)["tensor"]
        return [told["dtype"], told["shape"], told["strides"], told["offset"],
                told["hash"]]

    def test_expressions(self):
        for text, truth in self.truth["tensors"].items():
            with self.subTest(text):
                self.assertEqual(self.tell(text), truth)

    def test_gradients(self):
        """Python has looked at none of them yet."""
        found = self.node.ask("parameters", pid=self.pid, hash=True,
                              expression="model", gradients=True)
        there = [one for one in found["parameters"] if one["tensor"]]
        self.assertEqual([one["name"] for one in there], self.truth["gradients"])
        self.assertEqual({one["error"] for one in found["parameters"]},
                         {None, "the tensor has no gradient"})
        texts = ["model.fc.weight.grad", "model.fc.weight.grad[0, 1:]"]
        before = [self.tell(text) for text in texts]
        self.assertEqual(there[0]["tensor"]["hash"], before[0][-1])
        self.target.say("and now?")
        truth = json.loads(" ".join(self.target.line()))
        for text, told in zip(texts, before):
            self.assertEqual(told, truth[text], text)
            self.assertEqual(self.tell(text), truth[text], text)

    def test_lists(self):
        for text, truth in self.truth["lists"].items():
            with self.subTest(text):
                found = self.node.ask("parameters", pid=self.pid,
                                      expression=text, hash=True)
                self.assertEqual(
                    [[one["name"], one["kind"], one["tensor"]["hash"]]
                     for one in found["parameters"]], truth)
                self.assertEqual(found["total"], len(truth))

    def test_plain_values(self):
        """Each place in it has its own, and what is neither says so."""
        for text in ("settings", "(lambda: settings)()"):
            with self.subTest(text):
                found = self.node.ask("parameters", pid=self.pid, hash=True,
                                      expression=text, values=True)
                self.assertIs(found["values"], True)
                told = found["parameters"]
                self.assertEqual([[one["name"], one.get("value")]
                                  for one in told], self.truth["values"])
                self.assertEqual(
                    [one["name"] for one in told if one["error"]], ["['f']"])
                self.assertEqual(
                    {one["name"]: one["kind"] == "value" for one in told},
                    {name: bool(value)
                     for name, value in self.truth["values"]})
        outside, agent = [self.node.ask(
            "parameters", pid=self.pid, expression=each, values=True)
            for each in ("optimizer", "(lambda: optimizer)()")]
        told, agents = [
            [(one["name"], one.get("value"), one["error"])
             for one in found["parameters"]] for found in (outside, agent)]
        self.assertEqual(told, agents)
        self.assertIn(("param_groups[1].lr", "0.5", None), told)
        self.assertIn(("param_groups[1].betas", "(0.9, 0.999)", None), told)

    def test_a_value_alone(self):
        for text, value in (("truth['values'][0]", "[\"['lr']\", '0.5']"),
                            ("settings['lr']", "0.5")):
            found = self.node.ask("parameters", pid=self.pid,
                                  expression=text, values=True)
            self.assertEqual([(one["name"], one["value"])
                              for one in found["parameters"]],
                             [(text, value)])
        self.assertIn("has no elements to compare", self.node.refuse(
            "parameters", pid=self.pid, expression="settings['f']",
            values=True))

    def test_the_agent_tells_the_same(self):
        """It is asked where code has to run."""
        for text in ("model", "optimizer", "both"):
            for options in ({"hash": True}, {"gradients": True}):
                outside, agent = [self.node.ask(
                    "parameters", pid=self.pid, expression=each, **options)
                    for each in (text, "(lambda: %s)()" % text)]
                self.assertEqual(
                    *[[(one["name"], one["kind"], one["error"],
                        one["tensor"] and (one["tensor"]["shape"],
                                           one["tensor"]["hash"]))
                       for one in found["parameters"]]
                      for found in (outside, agent)])
        outside, agent = [self.node.ask(
            "tensor", pid=self.pid, expression=text, hash=True,
            statistics="whole", bins=5, find="max", slice={
                "rowDimension": 0, "columnDimension": 1, "index": [0, 0],
                "row": 1, "rows": 2, "column": 0, "columns": 6})
            for text in ("x", "(lambda: x)()")]
        for key in ("stats", "hash", "histogram", "shape", "strides", "dtype",
                    "share", "type"):
            self.assertEqual(outside["tensor"][key], agent["tensor"][key], key)
        for key in ("slice", "found", "frame"):
            self.assertEqual(outside[key], agent[key], key)

    def test_pages(self):
        whole = self.node.ask("parameters", pid=self.pid, expression="model")
        for start in (1, 5, whole["total"], 1000000):
            found = self.node.ask("parameters", pid=self.pid, start=start,
                                  expression="model")
            self.assertEqual(found["parameters"], whole["parameters"][start:])
            self.assertEqual(found["total"], whole["total"])
        self.assertIn("\"start\" must be a number", self.node.refuse(
            "parameters", pid=self.pid, expression="model", start=-1))
        self.assertIn("is not a module", self.node.refuse(
            "parameters", pid=self.pid, expression="turn"))

    def test_what_is_refused(self):
        # By a node that may not ask the agent.
        node = Node()
        self.addCleanup(node.close)
        node.ask("initialize", protocol=1, readOnly=True)
        node.discover(pids=[self.pid])
        for text, part in self.truth["refused"]:
            with self.subTest(text):
                self.assertIn(part, node.refuse(
                    "tensor", pid=self.pid, expression=text))


if __name__ == "__main__":
    unittest.main()
