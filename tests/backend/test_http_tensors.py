"""The requests `tensor` and `parameters` where it takes code to find the
value: asked of the process's agent, with the same answers as from outside."""
import math
import os
import subprocess
import sys
import unittest

from https import HERE, SOURCE, HttpCase
from nodes import Node, Target

TORCH = os.environ.get("PROBETUI_TORCH_PYTHON")

QUERY = {"statistics": "whole", "bins": 4, "hash": True, "blocks": 2,
        "find": "nan", "data": {"start": 1, "count": 2},
        "slice": {"index": [0], "rowDimension": -1, "columnDimension": 0,
                  "column": 0, "columns": 4}}


def has(python, library):
    return subprocess.run(
        [python, "-c", "import importlib.util, sys; sys.exit("
         "not importlib.util.find_spec(%r))" % library],
        stderr=subprocess.DEVNULL).returncode == 0


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
        outside = self.ask("NUMBERS", **QUERY)
        inside = self.ask("NUMBERS[:]", **QUERY)
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
                            QUERY["slice"], columns=2))
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
            self.assertIn("took longer than 0.1 s", self.node.refuse(
                request, pid=self.pid, timeout=0.1,
                expression="sum(1 for _ in iter(int, 1))"))

    def test_parameters(self):
        body = self.ask("list(batch.values())", "parameters", hash=True)
        names = [one["name"] for one in body["parameters"]]
        self.assertIn(names, ([], ["[2]", "[3]"]))
        self.assertEqual((body["total"], body["frame"]["func"]),
                         (len(names), "outer"))
        self.assertIn("is not a module", self.node.refuse(
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


ARRAYS = """
import array
import sys
sys.path.insert(0, %r)
from arrays_target import *
values = [pair[0] for pair in KIND()]
large = bytes(range(251)) * 6000
longer = array.array("d", range((1 << 20) + 12345))
print("ready", flush=True)
sys.stdin.read()
""" % os.path.join(SOURCE, "tests", "agent")


class Many:
    """Of each value both ways tell the same."""

    @classmethod
    def setUpClass(cls):
        cls.python = cls.find()
        if cls.python is None:
            raise unittest.SkipTest(cls.why)
        cls.argv = ["-c", ARRAYS.replace("KIND", cls.values)]

    def start(self, rank, **variables):
        target = Target(argv=[self.python] + self.argv, PROBETUI="1",
                        RANK=str(rank), PYTHONPATH=os.path.join(
                            SOURCE, "agent"))
        self.addCleanup(target.close)
        return target

    def near(self, one, other, what):
        if isinstance(one, dict):
            for name in one:
                self.near(one[name], other[name], what + (name,))
        elif isinstance(one, float) and isinstance(other, float):
            self.assertTrue(math.isclose(one, other, rel_tol=1e-9,
                                         abs_tol=1e-12), (what, one, other))
        else:
            self.assertEqual(one, other, what)

    def ask(self, expression, **options):
        told = self.node.ask("tensor", pid=self.pid, expression=expression,
                             **dict({"bins": 5}, **options))
        tensor = told["tensor"]
        # Only one of them knows how many of its own look on.
        tensor.pop("storage_users", None)
        return tensor

    def test_all(self):
        count = int(self.node.ask("tensor", pid=self.pid,
                                  expression="len(values)")["value"]["value"])
        self.assertGreater(count, 60)
        for number in range(count):
            outside, inside = [
                self.ask(text % number, hash=True, blocks=3)
                for text in ("values[%d]", "[values[%d]][0]")]
            self.near(outside, inside, (number, outside["dtype"],
                                        outside["shape"]))

    def both(self, name, **options):
        outside = self.ask(name, **options)
        self.near(outside, self.ask("[%s][0]" % name, **options), (name, options))
        return outside

    def test_parts(self):
        """Blocks and samples are of the same elements."""
        for blocks in (1, 7, 4096):
            for name in ("values[0]", "values[5]", "large"):
                self.both(name, blocks=blocks, statistics="whole")
        for name in ("large", "longer"):
            for more in ({}, {"hash": True, "blocks": 3}):
                sample = self.both(name, statistics="sample", **more)
                self.assertLess(sample["share"], 1)
                self.assertIsNone(sample.get("hash"))
        for options in ({"hash": True}, {"blocks": 5}):
            told = self.both("large", bins=0, **options)
            self.assertIsNone(told.get("stats"))


class TestArrays(Many, HttpCase):
    values = "arrays"
    why = "neither this Python nor PROBETUI_TORCH_PYTHON has numpy"

    @staticmethod
    def find():
        return next((python for python in (sys.executable, TORCH)
                     if python and has(python, "numpy")), None)


class TestTorch(Many, HttpCase):
    values = "tensors"
    why = "it takes PROBETUI_SOAK and a PROBETUI_TORCH_PYTHON with torch"

    @staticmethod
    def find():
        return TORCH if os.environ.get("PROBETUI_SOAK") and TORCH and \
            has(TORCH, "torch") else None


if __name__ == "__main__":
    sys.exit(unittest.main())
