"""The requests `tensor` and `parameters` where it takes code to find the
value: asked of the process's agent, with the same answers as from outside."""
import os
import sys
import unittest

from https import HERE, HttpCase
from nodes import Node

WISH = {"statistics": "whole", "bins": 4, "hash": True, "blocks": 2,
        "find": "nan", "data": {"start": 1, "count": 2},
        "slice": {"index": [0], "rowDimension": -1, "columnDimension": 0,
                  "column": 0, "columns": 4}}


class TestTensors(HttpCase):
    argv = [os.path.join(HERE, "tensor_requests_target.py")]

    @classmethod
    def setUpClass(cls):
        cls.share()

    def setUp(self):
        if "first" in vars(type(self)):
            self.take()
        else:
            super().setUp()

    def ask(self, expression, request="tensor", **arguments):
        return self.node.ask(request, pid=self.pid, expression=expression,
                             **arguments)

    def refuse(self, expression, **arguments):
        return self.node.refuse("tensor", pid=self.pid,
                                expression=expression, **arguments)

    def test_the_same_as_from_outside(self):
        outside = self.ask("NUMBERS", **WISH)
        inside = self.ask("NUMBERS[:]", **WISH)
        for name in ("frame", "tid", "pid", "found", "slice", "data"):
            self.assertEqual(inside[name], outside[name], name)
        for name, told in outside["tensor"].items():
            self.assertEqual(inside["tensor"].get(name), told, name)
        self.assertEqual(inside["value"]["type"], "array.array")

    def test_names_of_a_frame(self):
        body = self.ask("str(only_outer) + name")
        self.assertEqual((body["value"]["value"], body["frame"]["func"],
                          body["tensor"]), ("'42of outer'", "outer", None))
        self.assertEqual(self.ask("str(name)", depth=1)["value"]["value"],
                         "'of outer'")
        self.assertEqual(
            self.ask("[name for _ in range(1)]")["value"]["value"],
            "['of inner']")
        self.assertIn("NameError", self.refuse("str(nothing)"))

    def test_numbers_of_64_bits(self):
        least, most = -2 ** 62 - 1, 2 ** 63 - 1
        body = self.ask("memoryview(array.array('q', [%d, %d]))"
                        % (least, most), statistics="whole", slice=dict(
                            WISH["slice"], columns=2))
        stats = body["tensor"]["stats"]
        self.assertEqual((stats["min"], stats["max"]), (least, most))
        self.assertEqual(body["slice"]["numbers"], [least, most])
        body = self.ask("array.array('Q', [2 ** 64 - 1])", find="max",
                        statistics="whole")
        self.assertEqual((body["found"], body["tensor"]["stats"]["max"]),
                         (0, "u:%d" % (2 ** 64 - 1)))

    def test_it_is_cancelled(self):
        seq = self.node.request(
            "tensor", pid=self.pid, expression="__import__('os').write(1, "
            "b'begun\\n') and sum(1 for _ in iter(int, 1))")
        while self.line() != ["begun"]:
            pass
        self.node.ask("cancel", pid=self.pid)
        told = self.node.answer(seq)
        self.assertFalse(told["success"])
        self.assertIn("cancelled", told["message"])

    def test_its_time_is_up(self):
        for request in ("tensor", "parameters"):
            self.assertIn("it took longer than 0.3 s", self.node.refuse(
                request, pid=self.pid, timeout=0.3,
                expression="sum(1 for _ in iter(int, 1))"))

    def test_parameters(self):
        body = self.ask("list(batch.values())", "parameters", hash=True)
        names = [one["name"] for one in body["parameters"]]
        self.assertIn(names, ([], ["[2]", "[3]"]))
        self.assertEqual((body["total"], body["frame"]["func"]),
                         (len(names), "outer"))
        self.assertIn("is no module", self.node.refuse(
            "parameters", pid=self.pid, expression="str(batch)"))

    def test_a_node_that_only_reads(self):
        node = Node()
        self.addCleanup(node.close)
        node.ask("initialize", protocol=1, readOnly=True)
        node.discover(pids=[self.pid])
        self.assertTrue(node.refuse("tensor", pid=self.pid,
                                    expression="NUMBERS[:]"))
        self.assertTrue(node.ask("tensor", pid=self.pid,
                                 expression="NUMBERS")["tensor"])


if __name__ == "__main__":
    sys.exit(unittest.main())
