"""The requests `tensor` and `parameters`, of processes that are read from
outside: running ones and stopped ones, by names, attributes and indices."""
import os
import sys
import unittest

from nodes import Node, Target

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "tensor_requests_target.py")


class Subject(unittest.TestCase):
    """One target a class; nothing here changes it."""
    words = []
    python = sys.executable
    program = PROGRAM

    @classmethod
    def setUpClass(cls):
        cls.target = Target(argv=[cls.python, cls.program] + cls.words)
        cls.addClassCleanup(cls.target.close)
        cls.pid = cls.target.pid
        cls.node = Node()
        cls.addClassCleanup(cls.node.close)
        cls.node.ask("initialize", protocol=1)
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
        self.assertIn("only_outer is not known",
                      self.refuse(expression="only_outer", depth=0))
        self.assertEqual(self.value("only_outer", depth=0, search=True), "42")

    def test_depths_count_from_the_outermost_frame(self):
        """Two frames on top that the asker does not know of."""
        self.assertEqual(self.value("name", depth=0, frames=2), "'of outer'")
        self.assertEqual(self.value("name", frames=1), "'of the module'")
        self.assertIn("The stack has changed",
                      self.refuse(expression="name", depth=0, frames=5))
        self.assertIn("The stack has changed", self.refuse(
            expression="name", depth=0, function="outer"))
        self.assertEqual(self.value("name", depth=1, function="outer"),
                         "'of outer'")

    def test_by_address(self):
        value = self.tensor("RAW")["value"]
        body = self.node.ask("tensor", pid=self.pid, type="bytearray",
                             address=value["address"])
        self.assertIsNone(body["frame"])
        self.assertIn("a bytearray is in its place", self.refuse(
            address=value["address"], type="list"))
        self.assertIn("no longer there", self.refuse(address="0x10"))

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


if __name__ == "__main__":
    unittest.main()
