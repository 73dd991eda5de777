"""Tensors over ranks, headless: compare, tensor and diff-params on processes
that run, read from outside."""
import json
import os
import socket
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import jobs  # noqa: E402
from shapes import SHAPES
import terminals  # noqa: E402
sys.path.insert(0, os.path.join(jobs.SOURCE, "tests", "backend"))
import pythons  # noqa: E402

PYTHON = "/usr/bin/python3"
LIMIT = 120

# numpy as far as it is there; array.array always is.
CODE = r"""
import array, sys
number = int(sys.argv[1])
try:
    import numpy
except ImportError:
    numpy = None
class Holder:
    pass
def train(rank):
    loss = 0.5
    plain = array.array("d", range(600))
    near = array.array("f", [1.0] * 100)
    wide = array.array("i", [7] * (31 if rank == 2 else 32))
    bits = bytearray(range(256))
    large = bytearray(64 << 20)
    big = array.array("f", bytes(12 << 20))
    none = None if rank == 1 else 1
    holder = Holder()
    if rank == 1:
        plain[0x123] = float("nan")
        near[40] = 1.25
        big[3000000] = 2.0
        large[54321] = 1
    if numpy:
        holder.weight = numpy.arange(256, dtype="float32").reshape(8, 32)
        holder.weight[0, 0] = 0.5
        turned = holder.weight.T
        if rank == 2:
            holder.weight[3, 8] = numpy.nan
    print("ready", flush=True)
    sys.stdin.read()
train(number)
"""


def has_numpy():
    return subprocess.run([PYTHON, "-c", "import numpy"],
                          stderr=subprocess.DEVNULL).returncode == 0



def has_dtensor(python):
    return subprocess.run(
        [python, "-c", "from torch.distributed.tensor import DTensor"],
        stderr=subprocess.DEVNULL).returncode == 0


TORCH = os.environ.get("PROBETUI_TORCH_PYTHON")
NO_TORCH_2 = pythons.why_no_torch_2(TORCH)

# Values that have no elements of their own, but tensors in them.
MODULES = r"""
import sys, torch
from torch import nn
number = int(sys.argv[1])
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 3), nn.Linear(3, 2)
        self.register_buffer("c", torch.zeros(5))
class Plain:
    pass
class Wrapper(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(
            cls, inner.size(), dtype=inner.dtype)
    def __init__(self, inner):
        self.inner = inner
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise TypeError
def train(rank):
    torch.manual_seed(0)
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    wrapper = Wrapper(torch.ones(3))
    small = torch.zeros(4, dtype=torch.bits1x8)
    near = torch.tensor([1.0, 1.0 + 1e-12 * rank], dtype=torch.float64)
    one = near[1]
    try:
        import numpy
        masked = numpy.ma.array([1.0, float("nan") if rank else 2.0, 3.0],
                                mask=[0, 1, 0])
        moved = numpy.ma.array(numpy.zeros(3, "f4"), mask=[0, 1, 0])
        moved[rank] = numpy.ma.masked
        unmasked = numpy.ma.array([1.0, 2.0])
        records = numpy.zeros(3, dtype=[("f", "f4"), ("g", "i8")])
    except ImportError:
        pass
    model, same = Net(), Net()
    linear = nn.Linear(2, 2)
    add = (lambda x: x + 1) if rank else (lambda x: x + 2)
    plain = Plain()
    loss = torch.ones(2)
    step = {"loss": loss, "n": 3, "sizes": [1, 2]}
    other = {"loss": loss, "n": 3 + rank}
    several = [torch.arange(5), torch.ones(2) * (1 + rank)]
    with_function = {"f": train, "loss": loss}
    numbers = list(range(1000))
    numbers[700] += rank
    if rank == 1:
        with torch.no_grad():
            model.b.weight[1, 1] += 1e-3
    nothing = Net()
    with torch.no_grad():
        for each in nothing.parameters():
            each.fill_(float("nan"))
    mask = torch.tensor([1.0, float("inf")])
    number = float("nan")
    state = model.state_dict()
    adam = torch.optim.Adam(same.parameters())
    sgd = torch.optim.SGD(same.parameters(), lr=0.2 if rank else 0.1)
    print("ready", flush=True)
    sys.stdin.read()
train(number)
"""

# Four gloo ranks in a mesh of 2 by 2: replicas along the first dimension.
SHARDS = r"""
import sys, torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import (DTensor, Replicate, Shard,
                                      distribute_tensor)
dist.init_process_group("gloo")
def train(rank):
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("r", "s"))
    def put(*placements):
        whole = torch.arange(8.0).reshape(4, 2)
        return nn.Parameter(distribute_tensor(whole, mesh, placements))
    weight, drifted = [put(Replicate(), Shard(0)) for _ in range(2)]
    flat = put(Shard(0), Shard(0))
    if rank == 3:
        with torch.no_grad():
            drifted._local_tensor[0, 0] = 9
    placed = DTensor.from_local(
        torch.ones(2, 2), mesh, [Replicate(), Shard(int(rank == 3))],
        run_check=False)
    model, bad = nn.Module(), nn.Module()
    model.weight, model.flat = weight, flat
    bad.weight, bad.drifted = weight, drifted
    print("ready", flush=True)
    sys.stdin.read()
train(int(sys.argv[1]))
"""


NUMPY = has_numpy()
needs_numpy = unittest.skipUnless(NUMPY, "needs numpy of " + PYTHON)


class Ranks(unittest.TestCase):
    """Some that run; no test changes them, so those of a class share these."""
    python = PYTHON
    code = CODE
    count = 3

    @classmethod
    def setUpClass(cls):
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("RANK", "PROBETUI")}
        environment.update(cls.environment())
        cls.ranks = [
            subprocess.Popen([cls.python, "-c", cls.code, str(rank)],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             env=dict(environment, RANK=str(rank)))
            for rank in range(cls.count)]
        for rank in cls.ranks:
            assert rank.stdout.readline() == b"ready\n"
        cls.pids = ",".join(str(rank.pid) for rank in cls.ranks)

    @classmethod
    def environment(cls):
        return {}

    @classmethod
    def tearDownClass(cls):
        for rank in cls.ranks:
            rank.communicate(timeout=LIMIT)

    def run_text(self, *words):
        run = subprocess.run(
            [jobs.PROBETUI, "--pid", self.pids, *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, timeout=LIMIT)
        return run.returncode, run.stdout, run.stderr

    def run_json(self, *words):
        status, out, error = self.run_text("--json", *words)
        self.assertTrue(out, error)
        told = json.loads(out)
        self.assertEqual(SHAPES.script_faults(told), [])
        return status, told


class TestTensors(Ranks):
    def test_equal_tensors_are_one_class(self):
        status, found = self.run_json("compare", "bits")
        self.assertEqual(status, 0)
        self.assertEqual([one["ranks"] for one in found["classes"]], ["0-2"])
        tensor = found["classes"][0]["tensor"]
        self.assertEqual(tensor["shape"], [256])
        self.assertEqual(tensor["hash"], "29058c73")
        self.assertEqual(found["sentence"],
                         "bits is the same on ranks 0-2")

    def test_a_screen_reads_all_after_a_sample(self):
        terminal = terminals.Terminal()
        self.addCleanup(terminal.close)
        terminal.start(["--pid", self.pids])
        terminal.until("3 ranks")
        terminal.press(b"=")
        terminal.press(b"large\r")
        terminal.until("equal")
        terminal.press(b"\x0c")
        terminal.until("large on rank 1 differs")
        terminal.press(b"\x1bq")
        terminal.wait_end()

    def test_a_sample(self):
        """A hash of a part would say nothing: it is not the same by that."""
        status, found = self.run_json("compare", "--sample", "large")
        self.assertEqual((status, [one["compared"]
                                   for one in found["classes"]]), (4, [False]))
        self.assertEqual(found["sentence"], "large: sampled elements are the "
                         "same on ranks 0-2")
        tensor = found["classes"][0]["tensor"]
        self.assertLess(tensor["share"], 1)
        self.assertIsNone(tensor["hash"])
        for words in (["--sample", "large", "--rank", "0"],
                      ["large", "--rank", "0", "--sample"]):
            status, found = self.run_json("tensor", *words)
            self.assertEqual((status, found["expr"]), (0, "large"))
            self.assertLess(found["share"], 1)
            self.assertIsNone(found["hash"])
        status, found = self.run_json("tensor", "--sample", "bits", "--rank",
                                      "0")
        self.assertEqual((status, found["share"]), (0, 1.0))

    def test_an_option_behind_the_expression(self):
        status, _, error = self.run_text("compare", "bits", "--difference")
        self.assertEqual(status, 2)
        self.assertIn("must come before the expression", error)

    def test_a_nan_is_named_and_where_it_is(self):
        status, found = self.run_json("compare", "--difference", "plain")
        self.assertEqual(status, 1)
        self.assertEqual([one["ranks"] for one in found["classes"]],
                         ["1", "0,2"])
        self.assertEqual(
            found["sentence"],
            "rank 1 has 1 NaN in plain; ranks 0,2 have none")
        difference, = found["differences"]
        self.assertEqual(difference["differing"], 1)
        self.assertEqual(difference["first"],
                         {"index": [291], "values": ["nan", 291.0]})

    def test_a_large_one_is_compared_in_parts(self):
        status, found = self.run_json("compare", "--difference", "big")
        self.assertEqual(status, 1)
        difference, = found["differences"]
        self.assertEqual(difference["compared"], 3 << 20)
        self.assertEqual(difference["differing"], 1)
        self.assertEqual(difference["first"]["index"], [3000000])
        self.assertEqual(difference["max"], 2.0)
        self.assertFalse(difference["torn"])

    def test_what_is_within_the_tolerance_is_equal(self):
        status, found = self.run_json("compare", "--tolerance", "0.3", "near")
        self.assertEqual(status, 0)
        self.assertEqual([one["ranks"] for one in found["classes"]], ["0-2"])
        self.assertEqual(found["sentence"],
                         "near is equal within 0.3 on ranks 0-2")
        status, found = self.run_json("compare", "--tolerance", "0.2", "near")
        self.assertEqual(status, 1)
        self.assertEqual(
            found["sentence"],
            "near on rank 1 differs from ranks 0,2: 1 of 100 elements "
            "differ, first at [40]: 1.25 and 1; max |difference| 0.25 at "
            "[40]")

    def test_another_shape_is_named(self):
        status, out, _error = self.run_text("compare", "wide")
        self.assertEqual(status, 1)
        self.assertIn("wide has shape [31] on rank 2, but [32] on ranks 0-1",
                      out)

    def test_plain_values_are_compared_as_well(self):
        status, found = self.run_json("compare", "none")
        self.assertEqual(status, 1)
        self.assertEqual(found["sentence"],
                         "none is None on rank 1, but 1 on ranks 0,2")
        status, found = self.run_json("compare", "len(bits)")
        self.assertEqual((status, found["classes"][0]["value"]), (0, "256"))

    def test_no_rank_has_it(self):
        status, out, _error = self.run_text("compare", "nosuch")
        self.assertEqual(status, 3)
        self.assertIn("nosuch", out)

    def test_one_of_one_rank(self):
        status, found = self.run_json("tensor", "plain", "--rank", "1",
                                      "--slice", "[289:293]")
        self.assertEqual(status, 1)
        self.assertEqual((found["rank"], found["dtype"], found["shape"]),
                         (1, "float64", [600]))
        self.assertEqual(found["stats"]["nan"], 1)
        self.assertEqual(found["slice"]["numbers"],
                         [289.0, 290.0, "nan", 292.0])

    def test_what_is_asked_wrongly_is_said(self):
        for status, words, wanted in (
                (2, ["tensor", "plain"], "needs a rank"),
                (1, ["tensor", "loss", "--rank", "0"], "is not a tensor"),
                (2, ["tensor", "plain", "--rank", "0", "--slice", "[0,0]"],
                 "only 1 dimension"),
                (2, ["compare", "--tolerance", "x", "plain"], "'x'"),
                (2, ["compare", "--no", "plain"], "no option")):
            with self.subTest(words=words):
                got, _out, error = self.run_text(*words)
                self.assertEqual(got, status, error)
                self.assertIn(wanted, error)

    def test_a_recording_has_the_answers_if_it_was_told_to(self):
        with tempfile.TemporaryDirectory() as folder:
            for extra in ([], ["--record-locals"]):
                path = os.path.join(folder, "a%d" % len(extra))
                live = self.run_json("--record", path, *extra, "compare",
                                     "plain")
                status, again = self.replay(path)
                if extra:
                    self.assertEqual((status, again), live)
                else:
                    self.assertEqual(status, 3)
                    self.assertIn("--record-locals",
                                  again["errors"][0]["error"])

    def replay(self, path):
        run = subprocess.run(
            [jobs.PROBETUI, "--json", "--replay", path, "compare", "plain"],
            stdout=subprocess.PIPE, timeout=LIMIT)
        return run.returncode, json.loads(run.stdout.decode())

    @needs_numpy
    def test_a_file_is_what_numpy_reads(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "turned.npy")
            words = ["tensor", "turned", "--rank", "2", "--npy", path]
            status, found = self.run_json(*words)
            # It has a NaN.
            self.assertEqual((status, found["npy"]), (1, path))
            run = subprocess.run(
                [PYTHON, "-c",
                 "import numpy, sys; a = numpy.load(sys.argv[1]); "
                 "print(a.shape, a.dtype, a[0, 0], a[8, 3], a[31, 7])",
                 path], stdout=subprocess.PIPE, timeout=LIMIT)
            self.assertEqual(run.stdout, b"(32, 8) float32 0.5 nan 255.0\n")
            status, _out, error = self.run_text(*words)
            self.assertEqual(status, 3)
            self.assertIn("already exists", error)

    @needs_numpy
    def test_an_attribute_of_an_object(self):
        status, found = self.run_json("compare", "holder.weight")
        self.assertEqual(status, 1)
        self.assertEqual(
            found["sentence"],
            "rank 2 has 1 NaN in holder.weight; ranks 0-1 have none")
        self.assertEqual(found["classes"][1]["tensor"]["stats"]["min"], 0.5)


@unittest.skipIf(NO_TORCH_2, NO_TORCH_2)
class TestModules(Ranks):
    """A value is the same only when all of it was compared."""
    python = TORCH
    code = MODULES
    count = 2

    def check(self, expression, status, sentence):
        got, found = self.run_json("compare", expression)
        self.assertEqual((found["sentence"], got), (sentence, status))
        compared = [one["compared"] for one in found["classes"]]
        self.assertEqual(all(compared), status != 4)
        return found

    def test_a_module_is_compared_by_its_tensors(self):
        self.check("same", 0, "5 parameters and buffers of same are the same "
                   "on ranks 0-1")
        self.check("linear", 0, "2 parameters and buffers of linear are the "
                   "same on ranks 0-1")
        found = self.check(
            "model", 1, "b.weight has 2 values over ranks 0-1, each float32 "
            "[2, 3]; rank 1 against rank 0: 1 of 6 elements differ, first at "
            "[1, 1]: -0.250415 and -0.251415; max |difference| 0.001 at "
            "[1, 1]")
        self.assertEqual([one["ranks"] for one in found["classes"]],
                         ["0", "1"])
        self.assertEqual([row["name"] for row in found["parts"]["rows"]],
                         ["b.weight"])

    def test_containers_are_compared_by_what_is_in_them(self):
        self.check("step", 0, "1 tensor and 2 plain values of step are the "
                   "same on ranks 0-1")
        self.check("other", 1, "['n'] has 2 values: rank 0 3; rank 1 4")
        self.assertIn("[1] has 2 values", self.run_text(
            "compare", "several")[1])
        self.assertIn("['b.weight'] has 2 values", self.run_text(
            "compare", "state")[1])
        found = self.run_json("compare", "numbers")[1]
        self.assertEqual(len(found["classes"]), 2)

    def test_optimizers_are_compared_with_their_settings(self):
        found = self.run_json("compare", "adam")[1]
        self.assertRegex(found["sentence"],
                         "^4 tensors and [0-9]+ plain values of adam are the "
                         "same on ranks 0-1$")
        self.check("sgd", 1, "param_groups[0].lr has 2 values: rank 0 0.1; "
                   "rank 1 0.2")

    def test_what_has_a_name_only_is_not_compared(self):
        for text, kind in (("add", "function"), ("plain", "__main__.Plain")):
            self.check(text, 4, "not compared: %s: a %s has no elements to "
                       "compare; compare an attribute (%s.NAME)"
                       % (text, kind, text))
        self.check("with_function", 4, "['f'] was not compared: a function has "
                   "no elements to compare")

    def test_nan_is_a_finding_wherever_tensors_are_counted(self):
        said = ("ranks 0-1 have NaN in 4 tensors of nothing, first in "
                "a.weight (12 NaN of 12); 5 parameters and buffers of nothing "
                "are the same on ranks 0-1")
        self.check("nothing", 1, said)
        status, found = self.run_json("diff-params", "nothing")
        self.assertEqual((status, found["sentence"]), (1, said))
        self.assertEqual((found["nan"], found["first_nan"],
                          found["nan_ranks"]), (4, "a.weight", "0-1"))
        self.assertEqual(len(found["rows"]), 4)
        self.check("nothing.a.bias", 1, "ranks 0-1 have 3 NaN in "
                   "nothing.a.bias; the elements are the same "
                   "on these ranks")
        self.check("mask", 1, "ranks 0-1 have 1 Inf in mask; the elements "
                   "are the same on these ranks")
        self.check("number", 1, "number is nan on all 2 ranks")
        for name in ("nothing.a.bias", "mask"):
            self.assertEqual(self.run_text(
                "tensor", name, "--rank", "0")[0], 1)
        self.assertEqual(self.run_text(
            "tensor", "nothing.c", "--rank", "0")[0], 0)

    def test_what_cannot_be_read_says_why(self):
        for name, why in (
                ("nested", "the tensor is nested"),
                ("wrapper", "the tensor has no memory: its elements are in "
                 "tensors among its attributes")):
            with self.subTest(name):
                status, out, _ = self.run_text("tensor", name, "--rank", "0")
                self.assertEqual(status, 4)
                self.assertIn(why, out)
                status, found = self.run_json("compare", name)
                self.assertEqual(status, 4)
                self.assertIn("%s was not compared: %s" % (name, why),
                              found["sentence"])
        for name in ("small", "records"):
            if name == "small" or self.has("records"):
                status, out, _ = self.run_text("tensor", name, "--rank", "0")
                self.assertEqual(status, 4)
                self.assertIn(" cannot be decoded; the command compare can", out)
    def test_masked_elements_do_not_count(self):
        if not self.has("masked"):
            self.skipTest("%s has no numpy" % self.python)
        status, found = self.run_json("tensor", "unmasked", "--rank", "0")
        self.assertEqual((status, found["stats"]["max"], found.get(
            "has_mask")), (0, 2.0, None))
        status, found = self.run_json("tensor", "masked", "--rank", "0",
                                      "--slice", "[0:2]")
        self.assertEqual((status, found["stats"]["max"], found["stats"]["mean"],
                          found["stats"]["count"], found["stats"]["masked"]),
                         (0, 3.0, 2.0, 2, 1))
        self.assertEqual(found["slice"]["numbers"], [1.0, {"text": "--"}])
        self.assertIn("  1 of 3 masked\n", self.run_text(
            "tensor", "masked", "--rank", "0")[1])
        # What is hidden is another number on each rank, once a NaN.
        self.check("masked", 0, "masked is the same on ranks 0-1")
        found = self.check("moved", 1, "moved has 2 values: rank 0 a tensor, "
                           "float32 [3], 2 of 3 masked, norm 0; rank 1 a "
                           "tensor, float32 [3], 1 of 3 masked, norm 0")
        self.assertEqual([one["ranks"] for one in found["classes"]],
                         ["0", "1"])
        status, found = self.run_json("compare", "--difference", "moved")
        self.assertEqual(status, 1)
        self.assertIn("not element by element", json.dumps(found))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.npy")
            status, _, error = self.run_text("tensor", "masked", "--rank", "0",
                                             "--npy", path)
            self.assertEqual((status, os.listdir(folder)), (3, []))
            self.assertIn("it has a mask", error)

    def has(self, name):
        return self.run_text("tensor", name, "--rank", "0")[0] in (0, 4)

    def test_differences_have_the_digits_that_differ(self):
        self.assertIn("first at [1]: 1.000000000001 and 1;", self.run_text(
            "compare", "--difference", "near")[1])
        self.check("one", 1, "one has 2 values: rank 0 1; rank 1 "
                   "1.000000000001")

    def test_a_recording_has_what_was_compared(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a")
            live = self.run_json("--record", path, "--record-locals",
                                 "compare", "other")
            run = subprocess.run(
                [jobs.PROBETUI, "--json", "--replay", path, "compare",
                 "other"], stdout=subprocess.PIPE, timeout=LIMIT)
            self.assertEqual((run.returncode, json.loads(run.stdout.decode())),
                             live)


@unittest.skipUnless(TORCH and has_dtensor(TORCH),
                     "PROBETUI_TORCH_PYTHON names no Python with torch and "
                     "DTensor")
class TestShards(Ranks):
    """Shards differ by right: their placements are compared, and replicas of
    the same shard."""
    python = TORCH
    code = SHARDS
    count = 4

    @classmethod
    def environment(cls):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        return {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
                "WORLD_SIZE": "4", "GLOO_SOCKET_IFNAME": "lo"}

    def check(self, command, expression, status, sentence):
        got, found = self.run_json(command, expression)
        self.assertEqual((found["sentence"], got), (sentence, status))
        return found

    def test_shards_are_called_so(self):
        found = self.check(
            "compare", "weight", 0, "weight is sharded, Replicate, Shard(0) "
            "of [4, 2], on ranks 0-3; replicas of a shard are the same")
        self.assertEqual([(one["ranks"], one["tensor"]["shard"])
                          for one in found["classes"]],
                         [("0,2", "0"), ("1,3", "1")])
        self.assertIn("weight: 2 shards over 4 ranks",
                      self.run_text("compare", "weight")[1])
        self.check("compare", "flat", 0, "flat is sharded, Shard(0), Shard(0) "
                   "of [4, 2], on ranks 0-3")
        for command in ("diff-params", "compare"):
            self.check(command, "model", 0, "2 parameters and buffers of "
                       "model are shards with the same placement on ranks 0-3; "
                       "replicas of a shard are the same")

    def test_a_replica_that_drifted(self):
        self.check("compare", "drifted", 1, "replicas of one shard of drifted "
                   "differ: rank 1 and rank 3")
        status, found = self.run_json("diff-params", "bad")
        self.assertEqual((status, found["first"], found["sharded"]),
                         (1, "drifted", 1))
        self.assertIn("replicas of one shard of drifted differ: ",
                      found["sentence"])

    def test_a_placement_that_differs(self):
        status, found = self.run_json("diff-params", "placed")
        self.assertEqual(status, 1)
        self.assertIn("Shard(1) of [2, 4] on rank 3", found["sentence"])
        status, found = self.run_json("compare", "placed")
        self.assertEqual(status, 1)


if __name__ == "__main__":
    unittest.main()
