"""Tensors and arrays as the agent tells them: by the requests probetui/tensor
and probetui/parameters.

PROBETUI_TORCH_PYTHON names a Python with torch; numpy is tried where it, or
this Python, or that which PROBETUI_ARRAYS_PYTHON names, has it.
"""
import base64
import math
import os
import struct
import subprocess
import sys
import threading
import unittest
import zlib

from agents import Place, Target, few_unless_soak, wait_for
from daps import Failed, Viewer
from sessions import HERE, SOURCE

sys.path.insert(0, os.path.join(SOURCE, "tests", "backend"))
import pythons  # noqa: E402
import tensor_tests  # noqa: E402

ARRAYS = os.environ.get("PROBETUI_ARRAYS_PYTHON") or None
TORCH = os.environ.get("PROBETUI_TORCH_PYTHON") or None
# Memory that a request may take, whatever it is about.
MEMORY = 64 << 20
# Rows of 4 MB.
ROWS = 50 if os.environ.get("PROBETUI_SOAK") else 24


def has(python, library):
    return python is not None and subprocess.run(
        [python, "-c", "import importlib.util, sys; sys.exit("
         "not importlib.util.find_spec(%r))" % library],
        stderr=subprocess.DEVNULL).returncode == 0


def find_numpy():
    return next((python for python in (ARRAYS, sys.executable, TORCH)
                 if has(python, "numpy")), None)


class Case(unittest.TestCase):
    """All tests of a class share one target, and it one viewer."""

    @classmethod
    def start(cls, argv, begins, **listen):
        place = Place(argv)
        cls.addClassCleanup(place.close)
        with open(os.path.join(HERE, "arrays_target.py")) as file:
            place.write("arrays_target.py", file.read())
        words = ", ".join("%s=%r" % item for item in listen.items())
        cls.target = Target(place, "%s\nimport probetui\nprobetui.listen(%s)"
                            "\nsay('ready')" % (begins, words), ())
        cls.addClassCleanup(cls.target.kill)
        cls.viewer = Viewer(cls.target)
        cls.addClassCleanup(cls.viewer.close)

    def do(self, line):
        """In the target, to its end."""
        self.target.run(line + "; say(0)")
        self.assertEqual(self.target.said(), 0)

    def ask(self, expression, **wanted):
        return self.viewer.ask("probetui/tensor", expression=expression,
                               **wanted)

    def tensor(self, expression, **wanted):
        if "hash" in wanted:
            wanted.setdefault("statistics", "auto")
        return self.ask(expression, **wanted)["tensor"]

    def refusal(self, expression, request="probetui/tensor", **wanted):
        with self.assertRaises(Failed) as raised:
            self.viewer.ask(request, expression=expression, **wanted)
        return str(raised.exception)

    def assert_told(self, told, truth, what):
        for name, value in truth.items():
            if name == "stats":
                for key, one in value.items():
                    self.assert_near(told["stats"][key], one, (what, key))
            else:
                self.assertEqual(told[name], value, (what, name))

    def assert_near(self, one, other, what):
        if isinstance(one, dict):
            # An integer that not all readers of JSON would keep.
            one = int(one["$"][4:])
        if isinstance(one, float) and isinstance(other, float):
            self.assertTrue(math.isclose(one, other, rel_tol=1e-9,
                                         abs_tol=1e-12), (what, one, other))
        else:
            self.assertEqual(one, other, what)

    def check_all(self, source, count):
        self.target.run("from arrays_target import *")
        self.target.run("pairs = %s; values = [pair[0] for pair in pairs]"
                        % source)
        truths = self.target.ask("[pair[1] for pair in pairs]")
        self.assertGreaterEqual(len(truths), count)
        for number, truth in enumerate(truths):
            told = self.tensor("values[%d]" % number, statistics="whole",
                               hash=True, timeout=20)
            names = {"str": "str", "byt": "bytes", "voi": "void",
                     "dat": "datetime64"}
            truth["dtype"] = names.get(truth["dtype"][:3], truth["dtype"])
            told["dtype"] = told["dtype"].lstrip(">")
            self.assert_told(told, truth, (number, truth))
            self.assertNotIn("unread", told)


BUFFERS = """
import array
class Lying(bytes):
    def __getitem__(self, key): raise RuntimeError("its code ran")
    __len__ = __iter__ = __repr__ = __getitem__
plain = bytes(range(256)) * 3
lying = Lying(plain)
growing = bytearray(b"abc")
doubles = array.array("d", [1.5, -2.0, 0.0, float("nan"), float("inf"), 7.25])
view = memoryview(array.array("i", range(20)))[2::3]
backward = memoryview(bytes(range(10)))[::-1]
square = memoryview(bytes(range(12))).cast("B", (3, 4))
large = bytes(48 << 20)
class Thing:
    __slots__ = ("name",)
    @property
    def computed(self): return plain
thing = Thing()
thing.name = {"key": [doubles]}
ran = []
class Meta(type):
    def __eq__(self, other): ran.append("eq of a class")
    def __hash__(self): ran.append("hash of a class"); return 1
class Strange(metaclass=Meta): pass
class Key(str):
    def __hash__(self): ran.append("hash of a key"); return hash("a")
    def __eq__(self, other): ran.append("eq of a key")
strange = {Key("b"): Strange(), "a": [doubles]}
ran.clear()
def inner(doubles):
    say("inner")
    going.wait()
def outer():
    local = bytearray(5)
    inner(local)
going = threading.Event()
"""


class BuffersCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.start(cls.python.argv, BUFFERS)

    def test_bytes(self):
        for name in ("plain", "lying"):
            told = self.tensor(name, hash=True, blocks=2, bins=4)
            self.assertEqual(
                (told["dtype"], told["shape"], told["strides"],
                 told["hash"], told["stats"]["max"], told["stats"]["mean"],
                 told["histogram"]["bins"], told["block_numel"]),
                ("uint8", [768], [1],
                 "%08x" % zlib.crc32(bytes(range(256)) * 3), 255, 127.5,
                 [192] * 4, 384))
            self.assertEqual(len(told["blocks"]), 2)
        self.assertEqual(self.tensor("growing")["type"], "bytearray")
        self.assertIsNone(self.target.ask("growing.append(1)"))

    def test_array(self):
        stats = self.tensor("doubles", statistics="auto")["stats"]
        self.assertEqual(stats, {
            "min": -2.0, "max": 7.25, "mean": 1.6875, "std": stats["std"],
            "norm": "nan", "nan": 1, "inf": 1, "zeros": 1, "count": 6})
        answer = self.ask("doubles", find="nan", after=3, data={
            "start": 4, "count": 2}, slice={
            "index": [0], "columnDimension": 0, "column": 2, "columns": 4})
        self.assertEqual(answer["found"], 4)
        self.assertEqual(answer["slice"]["numbers"], [0.0, "nan", "inf",
                                                      7.25])
        self.assertEqual(len(base64.b64decode(answer["data"])), 16)
        for find, after, found in (("min", -1, 1), ("min", 1, None),
                                   ("max", -1, 5), ("nan", 4, 3)):
            self.assertEqual(self.ask("doubles", find=find, after=after)
                             ["found"], found)

    def test_views_of_memory(self):
        answer = self.ask("view", hash=True, data={"start": 0, "count": 6})
        self.assertEqual((answer["tensor"]["dtype"],
                          answer["tensor"]["strides"]), ("int32", [12]))
        self.assertEqual(base64.b64decode(answer["data"])[4:8],
                         bytes([5, 0, 0, 0]))
        numbers = self.ask("backward", slice={
            "index": [0], "columnDimension": 0, "columns": 10})["slice"]
        self.assertEqual(numbers["numbers"], list(range(9, -1, -1)))
        numbers = self.ask("square", slice={
            "index": [0, 0], "rowDimension": 1, "columnDimension": 0,
            "row": 1, "rows": 2, "columns": 3})["slice"]["numbers"]
        self.assertEqual(numbers, [1, 5, 9, 2, 6, 10])
        self.assertIsNone(self.target.ask("view.release()"))
        self.assertIn("released", self.refusal("view"))

    def test_expressions(self):
        answer = self.ask("thing.name['key'][0]")
        self.assertEqual(answer["tensor"]["shape"], [6])
        self.assertEqual(self.ask("thing.computed[:5]")["tensor"]["shape"],
                         [5])
        answer = self.ask("6 * 7")
        self.assertEqual((answer["value"]["value"], answer["tensor"]),
                         ("42", None))
        self.assertEqual(self.ask("[text for _ in range(2)]")["frame"]
                         ["func"], "level_two")
        self.assertIn("NameError", self.refusal("nobody"))
        self.assertIn("SyntaxError", self.refusal("1 +"))

    def test_nothing_of_keys_and_classes_runs(self):
        self.assertEqual(self.tensor("strange['a'][0]")["shape"], [6])
        self.viewer.ask("probetui/parameters", expression="strange")
        self.viewer.ask("probetui/tensor", expression="strange")
        self.assertEqual(self.target.ask("ran"), [])

    def test_nothing_is_kept(self):
        """Nor by what was refused, where nobody collects."""
        self.do("import gc; gc.disable(); import sys")
        before = self.target.ask("sys.getrefcount(doubles)")
        self.tensor("doubles", hash=True, bins=3)
        self.refusal("doubles", find="min", data={"start": 7, "count": 2})
        self.refusal("doubles[::2].nothing")
        self.tensor("[doubles][0]")
        self.assertEqual(self.target.ask("sys.getrefcount(doubles)"),
                         before)
        self.do("gc.enable()")

    def test_frames(self):
        self.target.run("threading.Thread(target=outer).start()")
        self.assertEqual(self.target.said(), "inner")
        tid = next(thread["id"] for thread in self.viewer.ask("threads")
                   ["threads"] if "outer" in [
                       frame["name"] for frame in
                       self.viewer.stack(thread["id"])])
        # It says so before it waits, in wait() of two objects.
        wait_for(lambda: [frame["name"].rpartition(".")[2] for frame in
                          self.viewer.stack(tid)][:3] ==
                 ["wait", "wait", "inner"], "the thread to wait")
        depth = next(i for i, frame in enumerate(self.viewer.stack(tid))
                     if frame["name"] == "inner")
        count = len(self.viewer.stack(tid))
        for wanted, shape, func in (
                ({}, [5], "inner"),
                ({"depth": depth + 1}, [6], "outer"),
                ({"depth": 1, "frames": count - depth}, [6], "outer"),
                ({"depth": depth, "search": True}, [5], "inner")):
            answer = self.ask("doubles", threadId=tid, **wanted)
            self.assertEqual((answer["tensor"]["shape"],
                              answer["frame"]["func"].rpartition(".")[2]),
                             (shape, func))
        self.assertEqual(self.ask("local", threadId=tid)["frame"]["func"]
                         .rpartition(".")[2], "outer")
        for wanted in ({"depth": depth, "function": "other"},
                       {"depth": 0, "frames": count + 1},
                       {"depth": count}):
            self.assertIn("the stack has changed", self.refusal(
                "doubles", threadId=tid, **wanted))
        self.target.run("going.set()")

    def test_a_thread_that_stands(self):
        """There code runs in its thread, with its names."""
        self.do("exec('def loop():\\n mine = bytearray(3)\\n"
                " while not halt: mine[0] += mine[0] < 9; time.sleep(0.01)')")
        self.do("halt = False; looping = threading.Thread(target=loop); "
                "looping.start()")
        tid = self.target.ask("looping.native_id")
        self.viewer.ask("pause", threadId=tid)
        self.assertEqual(self.viewer.event("stopped")["threadId"], tid)
        frame = self.viewer.stack(tid)[0]
        for wanted in ({"threadId": tid}, {"frameId": frame["id"]},
                       {"threadId": tid, "depth": 0, "function": "loop"}):
            answer = self.ask("mine[:2] if threading.get_native_id() == %d "
                              "else 0" % tid, hash=True, **wanted)
            self.assertEqual((answer["tensor"]["shape"], answer["tid"],
                              answer["frame"]["func"]), ([2], tid, "loop"))
            self.assertEqual(self.tensor("mine", **wanted)["shape"], [3])
        self.do("halt = True")
        self.viewer.ask("continue", threadId=tid)
        self.do("looping.join()")

    def test_refusals(self):
        for wanted, sentence in (
                ({"statistics": "some"}, "statistics must be one of"),
                ({"bins": 257}, "bins must be a number from 0 to 256"),
                ({"slice": {"index": [0, 0], "columnDimension": 1}},
                 "2 dimensions, but the tensor has 1"),
                ({"slice": {"index": [0], "columnDimension": 0,
                            "columns": 7}}, "which has 6"),
                ({"slice": {"index": [0], "columns": 2}}, "no dimension"),
                ({"data": {"start": 5, "count": 2}}, "which has 6"),
                ({"timeout": -1}, "timeout must be a number")):
            self.assertIn(sentence, self.refusal("doubles", **wanted))
        self.assertIn("data can have at most 1048576 bytes", self.refusal(
            "large", data={"start": 0, "count": 2 << 20}))

    def test_time_and_cancel(self):
        self.assertIn("the request took longer than 0.05 s", self.refusal(
            "large", statistics="whole", timeout=0.05))
        number = self.viewer.count + 1
        with Viewer(self.target) as other:
            other.session = self.viewer.session
            other.count = 1000
            thread = threading.Timer(0.05, lambda: other.response(
                "cancel", requestId=number))
            thread.start()
            self.assertEqual(self.refusal("large", statistics="whole"),
                             "cancelled")
            thread.join()
        self.assertEqual(self.tensor("plain")["shape"], [768])


class TestReadOnly(Case):
    @classmethod
    def setUpClass(cls):
        cls.start([sys.executable], BUFFERS, read_only=True)

    def test_it_runs_nothing(self):
        self.assertEqual(self.tensor("thing.name['key'][0]")["shape"], [6])
        for expression in ("thing.computed", "6 * 7", "nobody",
                           "doubles.tolist()"):
            self.assertIn("read_only", self.refusal(expression))
        self.assertEqual(self.viewer.ask(
            "probetui/parameters", expression="thing.name")["total"], 0)


class TestNumpy(Case):
    @classmethod
    def setUpClass(cls):
        python = find_numpy()
        if python is None:
            raise unittest.SkipTest("neither this Python nor "
                                    "PROBETUI_TORCH_PYTHON has numpy")
        cls.start([python], "import numpy\nclass Job: pass")

    def test_values(self):
        self.check_all("arrays()", 60)
        told = self.tensor("numpy.array([object()])", hash=True)
        self.assertIn("references to Python objects", told["unread"])

    def test_what_is_read_from_outside_as_well(self):
        """Masks, and the types of ml_dtypes where they are there."""
        parts = []
        for name in ("truths.py", "numpy_target.py"):
            with open(os.path.join(SOURCE, "tests", "backend", name)) as file:
                parts.append(file.read().replace("truths.serve()", ""))
        self.target.run(
            "import types; __file__ = '/nowhere/target.py'; truths = "
            "sys.modules['truths'] = types.ModuleType('truths'); "
            "exec(%r, truths.__dict__); exec(%r)" % tuple(parts))
        rows = self.target.ask("truths.ROWS")
        self.assertGreater(sum("masked" in (row.get("stats") or ())
                               for row in rows), 15)
        for row in rows:
            if row["name"] == "released":
                continue
            told = self.tensor("truths.KEPT[%d]" % row["at"], hash=True,
                               statistics="whole", timeout=30)
            if row["data"] is not None:
                self.assertEqual(tensor_tests.compare_values(row, told), [],
                                 row["name"])
                self.assertEqual(told["dtype"], row["dtype"])
            elif "unread" in row:
                self.assertIn(row["unread"], told["unread"], row["name"])

    def test_masks(self):
        self.do("masked = numpy.ma.array(numpy.arange(1000.0) % 50, "
                "mask=numpy.arange(1000) % 50 > 47)")
        told = self.ask("masked", statistics="whole", hash=True, blocks=10,
                        bins=4, find="max", slice={
                            "index": [0], "columnDimension": 0, "column": 47,
                            "columns": 2})
        self.assertEqual(told["slice"]["numbers"], [47.0, {"text": "--"}])
        self.assertEqual(told["found"], 47)
        tensor = told["tensor"]
        self.assertEqual((tensor["stats"]["max"], tensor["stats"]["masked"],
                          tensor["stats"]["count"], tensor["share"]),
                         (47, 40, 960, 1))
        self.assertEqual(sum(tensor["histogram"]["bins"]), 960)
        values = [0 if at % 50 > 47 else at % 50 for at in range(100)]
        self.assertEqual(tensor["blocks"], ["%08x" % zlib.crc32(
            struct.pack("<100d", *values) + bytes(
                at % 50 > 47 for at in range(100)))] * 10)
        self.assertIn("the tensor has a mask", self.refusal(
            "masked", data={"start": 0, "count": 4}))

    def test_long_elements(self):
        self.do("wide = numpy.zeros(100, 'S1000000')")
        self.assertIn("request fewer", self.refusal("wide", slice={
            "index": [0], "columnDimension": 0, "columns": 100}))

    def test_numbers(self):
        self.do("texts = numpy.array(['ab\\0\\u1234', '']); "
                        "raw = numpy.array([b'a\\\\', b'']); times = "
                        "numpy.array(['2020-01-01', 'NaT'], 'M8[s]')")
        for name, numbers in (
                ("texts", [{"text": "ab\ufffd\u1234"}, {"text": ""}]),
                ("raw", [{"text": "b'a\\x5c'"}, {"text": "b''"}]),
                ("times", [1577836800, "nan"])):
            self.assertEqual(self.ask(name, slice={
                "index": [0], "columnDimension": 0, "columns": 2})["slice"]
                ["numbers"], numbers)
        for value, text in (("numpy.float32(0.1)", "0.1"),
                            ("numpy.int8(-3)", "-3"),
                            ("numpy.bool_(True)", "True")):
            self.assertEqual(self.ask(value)["value"]["value"], text)
        self.assertEqual(self.tensor("times", statistics="whole")["stats"]
                         ["nan"], 1)

    def memory(self):
        with open("/proc/%d/status" % self.target.process.pid) as file:
            return next(int(line.split()[1]) << 10 for line in file
                        if line.startswith("VmHWM"))

    def test_large(self):
        """In little memory, while another thread runs Python."""
        self.do("big = numpy.ones((%d, 1 << 20), 'f4').T; turns = 0" % ROWS)
        self.do("exec('def spin():\\n global turns\\n"
                " while not over: turns += 1; time.sleep(0.001)')")
        self.do("over = False; thread = threading.Thread(target=spin); "
                "thread.start()")
        before = self.memory()
        first = self.target.ask("turns")
        told = self.tensor("big.T", hash=True, statistics="whole",
                           timeout=60)
        self.assertEqual(told["stats"]["norm"], math.sqrt(ROWS << 20))
        self.assertGreater(self.target.ask("turns"), first + 30)
        self.assertLess(self.memory() - before, MEMORY)
        self.do("over = True; thread.join()")
        # By rows that lie far from each other.
        told = self.tensor("big[:16384]", hash=True, timeout=60)
        self.assertEqual(told["stats"]["zeros"], 0)

    def test_changes_meanwhile(self):
        self.do("whole = Job.value = numpy.zeros(1 << 21); over = False")
        self.do("exec('def change():\\n turn = 0\\n while not over:\\n"
                "  turn += 1\\n  Job.value = whole[turn % 999:]\\n"
                "  time.sleep(0.001)')")
        self.do("thread = threading.Thread(target=change); thread.start()")
        told = wait_for(lambda: [each for each in [self.tensor(
            "Job.value", statistics="whole", timeout=30)]
            if each["torn"]], "one that changes")[0]
        self.assertTrue(told["live"])
        self.do("over = True; thread.join()")
        self.assertFalse(self.tensor("Job.value",
                                     statistics="whole")["torn"])


class LibraryCase(Case):
    """Of a Python that has it."""
    library = ""
    begins = ""

    @classmethod
    def setUpClass(cls):
        why = pythons.why_no_library(cls.library)
        if why:
            raise unittest.SkipTest(why)
        python, environment = pythons.find_library(cls.library)
        cls.start(["env", *map("=".join, environment.items()), python],
                  cls.begins)

    def numbers(self, expression, count=3):
        return self.ask(expression, slice={
            "index": [0], "columnDimension": 0, "columns": count})["slice"][
                "numbers"]

    def nan_of(self, expression):
        return self.target.ask(
            "probetui.debugging.nans.describe(%s)" % expression)


class TestPandas(LibraryCase):
    library = "pandas"
    begins = """
import numpy, pandas
frame = pandas.DataFrame({"loss": [0.5, float("nan"), 1.5], "n": [1, 2, 3],
                          "text": ["a", "b", "c"], "more": [1.0, 2.0, 3.0]})
frame["part"] = pandas.array([0.5, None, 2.0], dtype="Float64")
frame["zone"] = pandas.to_datetime(["2020-01-01"] * 3, utc=True)
series = pandas.Series(numpy.arange(6))[1::2]
"""

    def test_series(self):
        self.assertEqual(self.numbers("series"), [1, 3, 5])
        self.assertEqual(self.numbers("frame['n']"), [1, 2, 3])
        self.assertEqual(self.numbers("frame['part']"),
                         [0.5, {"text": "--"}, 2.0])
        told = self.tensor("frame['part']", statistics="whole", hash=True)
        self.assertEqual((told["stats"]["masked"],
                          told["type"].split(".")[-1]), (1, "Series"))
        for name, why in (("text", "the elements are"), ("zone", "time zone")):
            told = self.tensor("frame[%r]" % name, hash=True)
            self.assertIn(why, told["unread"])

    def test_frame(self):
        answer = self.viewer.ask("probetui/parameters", expression="frame",
                                 hash=True)
        rows = {row["name"]: row["tensor"] for row in answer["parameters"]}
        self.assertEqual(list(rows), ["['%s']" % name for name in (
            "loss", "n", "text", "more", "part", "zone")])
        self.assertEqual(rows["['more']"]["hash"], "%08x" % zlib.crc32(
            struct.pack("<3d", 1, 2, 3)))
        self.assertIn("unread", rows["['text']"])
        # No view of it was made that would have the next write copy.
        self.assertFalse(self.target.ask(
            "any(block.refs.has_reference() for block in frame._mgr.blocks "
            "if hasattr(block, 'refs'))"))

    def test_nan(self):
        self.do("import probetui.debugging.nans")
        self.assertEqual(self.nan_of("frame['loss']"), "1 NaN of 3")
        self.assertIsNone(self.nan_of("frame['n']"))
        self.assertIsNone(self.nan_of("frame['part']"))


class TestJax(LibraryCase):
    library = "jax"
    begins = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax, numpy
import jax.numpy as jnp
x = (jnp.arange(12, dtype="float32").reshape(3, 4) + 1).block_until_ready()
turned = jax.jit(lambda a: a.T)(x).block_until_ready()
half = jnp.array([1.5, 2.5, float("nan")], dtype="bfloat16")
small = jnp.array([1, -2, 3], dtype="int4")
gone = jnp.ones(3)
gone.delete()
mesh = jax.sharding.Mesh(jax.devices(), ("d",))
sharded = jax.device_put(jnp.arange(4.0), jax.sharding.NamedSharding(
    mesh, jax.sharding.PartitionSpec("d")))
traced = []
jax.jit(lambda a: traced.append(a) or a)(x)
tree = {"w": x, "b": [half]}
"""

    def test_values(self):
        for expression, code in (("x", "numpy.asarray(x)"),
                                 ("turned", "numpy.asarray(turned)")):
            told = self.tensor(expression, statistics="whole", hash=True)
            truth = self.target.ask(
                "[__import__('zlib').crc32(%s.tobytes()), list(%s.shape)]"
                % (code, code))
            self.assertEqual((told["hash"], told["shape"]),
                             ("%08x" % truth[0], truth[1]))
        self.assertEqual(self.numbers("half"), [1.5, 2.5, "nan"])
        answer = self.viewer.ask("probetui/parameters", expression="tree",
                                 hash=True)
        self.assertEqual([row["name"] for row in answer["parameters"]],
                         ["['w']", "['b'][0]"])

    def test_what_cannot_be_read(self):
        for expression, why in (
                ("gone", "the jax array was deleted"), ("small", "packed"), ("sharded", "over 2 devices"),
                ("traced[0]", "a tracer of jax")):
            told = self.tensor(expression, hash=True)
            self.assertIn(why, told["unread"])
            self.assertNotIn("hash", told)

    def test_nan(self):
        self.do("import probetui.debugging.nans")
        self.assertEqual(self.nan_of("half"), "1 NaN of 3")
        self.assertIsNone(self.nan_of("x"))


MODEL = """
import sys
if not WITH_NUMPY: sys.modules["numpy"] = None
import torch
torch.set_num_threads(2)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(3))
        self.first = torch.nn.Linear(4, 3)
        self.norm = torch.nn.BatchNorm1d(3)
        self.twice = torch.nn.ModuleList([self.first, torch.nn.Linear(3, 3)])
        self.twice[1].bias = self.first.bias
        self.gone = torch.nn.Linear(2, 2)
        self.gone.bias = None
    @property
    def total(self): return self.scale * 2
net = Net()
net.first(torch.randn(2, 4)).sum().backward()
if REAL_OPTIMIZER:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    optimizer.step()
else:
    # It would have torch._dynamo loaded, which takes seconds.
    optimizer = torch.optim.SGD.__new__(torch.optim.SGD)
    optimizer.param_groups = [{"params": list(net.parameters())}]
    optimizer.state = {net.first.weight: {"momentum_buffer": torch.ones(3)}}
leaf = torch.ones(3, requires_grad=True)
result = leaf * 2
"""


class TorchCase(Case):
    """`numpy`: whether torch has numpy."""

    python = TORCH
    numpy = False

    @classmethod
    def setUpClass(cls):
        reason = pythons.why_no_torch_2(cls.python)
        if reason:
            raise unittest.SkipTest(reason)
        cls.start([cls.python], MODEL.replace(
            "WITH_NUMPY", repr(cls.numpy)).replace(
            "REAL_OPTIMIZER", repr("PROBETUI_SOAK" in os.environ)))

    def names(self, expression, **more):
        answer = self.viewer.ask("probetui/parameters", timeout=60,
                                 expression=expression, **more)
        self.assertEqual(answer["total"], len(answer["parameters"]))
        return answer["parameters"]

    def test_values(self):
        self.check_all("tensors()", 100)

    def test_copies_of_a_device(self):
        """A stand-in for one: the CPU."""
        self.target.run("from arrays_target import *")
        different, sentence = self.target.ask("by_device()")
        self.assertEqual(different, [])
        self.assertIn("did not answer within 0.1 s", sentence)

    def test_parameters(self):
        told = self.names("net", hash=True)
        by_kind = {kind: [one["name"] for one in told if one["kind"] == kind]
                   for kind in ("parameter", "buffer")}
        self.assertEqual(by_kind["parameter"], self.target.ask(
            "[name for name, _ in net.named_parameters()]"))
        self.assertEqual(by_kind["buffer"], self.target.ask(
            "[name for name, _ in net.named_buffers()]"))
        self.target.run("from arrays_target import *")
        self.assertEqual(
            {one["name"]: one["tensor"]["hash"] for one in told},
            self.target.ask("{name: '%08x' % zlib.crc32(bytes_of_torch("
                            "value)) for name, value in [*net."
                            "named_parameters(), *net.named_buffers()]}"))
        told = self.names("net", gradients=True)
        errors = [one["name"] for one in told if one["tensor"] is None]
        self.assertIn("scale", errors)
        self.assertNotIn("first.weight", errors)
        self.assertIn("state[1].momentum_buffer", [
            one["name"] for one in self.names("optimizer")])
        self.assertEqual([one["name"] for one in self.names(
            "[net.scale, {'a': net.first.weight}]")], ["[0]", "[1]['a']"])

    def test_autograd_is_left_alone(self):
        before = self.target.ask("[leaf._version, result._version, "
                                 "leaf.grad is None, torch.get_num_threads()"
                                 ", torch.is_grad_enabled()]")
        told = self.tensor("result", hash=True, bins=3)
        self.assertEqual((told["requires_grad"], told["grad_fn"],
                          told["is_parameter"]), (True, "MulBackward0",
                                                  False))
        told = self.tensor("net.scale", hash=True)
        self.assertEqual((told["is_parameter"], told["type"]),
                         (True, "torch.nn.parameter.Parameter"))
        self.assertEqual(self.tensor("net.total.sum()")["shape"], [])
        self.assertEqual(before, self.target.ask(
            "[leaf._version, result._version, leaf.grad is None, "
            "torch.get_num_threads(), torch.is_grad_enabled()]"))

    def test_a_gradient_that_is_none(self):
        """Asking torch for it warns in the program."""
        self.do("import warnings; caught = []; warnings.showwarning = "
                "lambda *what: caught.append(str(what[0]))")
        self.assertEqual(self.ask("result.grad")["value"]["value"], "None")
        self.assertEqual(self.target.ask("caught"), [])

    def test_hostile_class(self):
        self.target.run("from arrays_target import *")
        self.do("bad = torch.ones(2, 3).as_subclass(class_of()); "
                        "held = [bad]; ran = len(Hostile.ran)")
        told = self.tensor("held[0]", hash=True, bins=2)
        self.assertEqual((told["shape"], told["stats"]["norm"]),
                         ([2, 3], math.sqrt(6)))
        self.assertEqual(self.ask("held[0].is_leaf")["value"]["value"],
                         "True")
        self.assertEqual(self.names("held", hash=True)[0]["tensor"]["hash"],
                         told["hash"])
        self.do("asked = of_itself()")
        if not self.target.ask("asked is None"):
            self.assertIn("would run", self.refusal("asked"))
        self.assertEqual(self.target.ask("[ran, Hostile.ran]"), [0, []])

    def test_watched_for_nan(self):
        self.target.run("from arrays_target import *")
        self.assertEqual(self.target.ask("watched_for_nan()"), [
            "made is 2 NaN of 2", None, "2 Inf of 2", 0, "nan", "infinite"])

    def test_unread(self):
        for expression, sentence in (
                ("torch.zeros(3, device='meta')", "meta"),
                ("torch.eye(3).to_sparse()", "sparse"),
                ("torch.quantize_per_tensor(torch.ones(2), 0.1, 0, "
                 "torch.qint8)", "quantized")):
            told = self.tensor(expression, statistics="whole")
            self.assertIn(sentence, told["unread"])
            self.assertNotIn("stats", told)
        self.do("freed = torch.ones(99); storage = freed."
                        "untyped_storage() if hasattr(freed, "
                        "'untyped_storage') else freed.storage(); "
                        "storage.resize_(0)")
        self.assertIn("storage", self.tensor("freed", hash=True)["unread"])


SHARDS = """
import torch.distributed as dist
from torch.distributed.tensor import (
    DTensor, Partial, Replicate, Shard, distribute_tensor, init_device_mesh)
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
mesh = init_device_mesh("cpu", (1,))
whole = torch.arange(24.0).reshape(6, 4).requires_grad_()
shards = [distribute_tensor(whole, mesh, [part])
          for part in (Shard(0), Replicate(), Shard(1))]
partial = DTensor.from_local(torch.ones(2), mesh, [Partial()])
"""


@unittest.skipUnless(os.environ.get("PROBETUI_SOAK") and TORCH,
                     "it takes PROBETUI_SOAK and PROBETUI_TORCH_PYTHON")
class TestShards(Case):
    @classmethod
    def setUpClass(cls):
        cls.start([TORCH], "import torch" + SHARDS)

    def test_the_local_one_is_told(self):
        for number, text in enumerate(("Shard(0)", "Replicate", "Shard(1)")):
            told = self.tensor("shards[%d]" % number, hash=True)
            self.assertEqual(
                (told["placement"], told["stats"]["max"],
                 told["requires_grad"]), (text + " of [6, 4]", 23.0, True))
        self.assertEqual(self.tensor("partial")["placement"],
                         "Partial(sum) of [2]")


def load_tests(loader, _tests, _pattern):
    few_unless_soak()
    suite = loader.loadTestsFromTestCase(TestReadOnly)
    suite.addTests(loader.loadTestsFromTestCase(TestNumpy))
    suite.addTests(loader.loadTestsFromTestCase(TestShards))
    more = []
    if os.environ.get("PROBETUI_SOAK"):
        more = [("TestTorchWithNumpy", TORCH)]
        if has(sys.executable, "torch"):
            more.append(("TestTorchOfThisPython", sys.executable))
    for name, python in [("TestTorch", TORCH)] + more:
        suite.addTests(loader.loadTestsFromTestCase(type(
            name, (TorchCase,), {"numpy": name != "TestTorch",
                                 "python": python, "__module__": __name__})))
    suite.addTests(pythons.load_cases(loader, __name__, BuffersCase))
    return suite


if __name__ == "__main__":
    unittest.main()
