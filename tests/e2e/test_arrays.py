"""Arrays of other libraries than torch and numpy alone: Series and DataFrames
of pandas, arrays of jax, the numbers of ml_dtypes; read from outside, and
refused with the reason where that cannot be."""
import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import test_tensors  # noqa: E402
import jobs  # noqa: E402
sys.path.insert(0, os.path.join(jobs.SOURCE, "tests", "backend"))
import pythons  # noqa: E402

PANDAS = r"""
import sys
import numpy, pandas
class Own(pandas.DataFrame):
    def __getitem__(self, name): raise RuntimeError("its code ran")
def train(rank):
    df = pandas.DataFrame({
        "loss": [0.5, 1.5, float("nan") if rank else 2.5], "n": [1, 2, 3],
        "text": ["a", "b", "c"], "acc": [0.25, 0.5, 1.0], "size": [7, 8, 9]})
    df["missing"] = pandas.array([1, None, 3], dtype="Int64")
    df["part"] = pandas.array([0.5, None, 99 if rank else 2.0],
                              dtype="Float64")
    df["flag"] = pandas.array([True, None, False], dtype="boolean")
    df["time"] = pandas.to_datetime(["2020-01-01", None, "2020-01-03"])
    df["zone"] = pandas.to_datetime(["2020-01-01"] * 3, utc=True)
    df["kind"] = pandas.Categorical(["a", "b", "a"])
    df["late"] = numpy.arange(3, dtype="f4")
    df["sparse"] = pandas.arrays.SparseArray([0, 0, 1])
    df["many words"] = [4.0, 5.0, 6.0]
    wide = pandas.DataFrame(numpy.arange(12.0).reshape(3, 4))
    mixed = pandas.DataFrame({"a": [1.0, 2.0], "b": [3, 4], "c": [5.0, 6.0],
                              "d": [7, 8], 3: [9.0, 9.5]})
    back = wide.iloc[:, ::-1]
    picked = mixed[["c", "a"]]
    twice = pandas.concat([mixed["a"], mixed["a"]], axis=1)
    levels = pandas.DataFrame([[1.0, 2.0]], columns=pandas.MultiIndex
                              .from_tuples([("x", "a"), ("x", "b")]))
    plain = pandas.DataFrame({"a": [1.0, 2.0], "b": [3, 4]})
    drifted = pandas.DataFrame({"a": [1.0, 2.0 + rank], "b": [3, 4]})
    words = pandas.DataFrame({"a": [1.0], "w": ["x"]})
    series = pandas.Series(numpy.arange(6, dtype="i2"), index=range(10, 16))
    rows = series[1::2]
    nothing = pandas.Series([], dtype="f8")
    empty = pandas.DataFrame()
    own = Own({"a": [1.0]})
    months = pandas.DataFrame([[1.0, 2.0]], columns=pandas.period_range(
        "2024-01", periods=2, freq="M"))
    # Consolidated or not, and after it lost a column.
    del mixed["b"]
    holder = {"frame": plain, "series": series}
    print("ready", flush=True)
    sys.stdin.read()
train(int(sys.argv[1]))
"""


class Arrays(test_tensors.Ranks):
    """Ranks of a Python that has the library."""
    library = None
    count = 2

    @classmethod
    def setUpClass(cls):
        why = pythons.why_no_library(cls.library)
        if why:
            raise unittest.SkipTest(why)
        cls.python, cls.more = pythons.find_library(cls.library)
        super().setUpClass()

    @classmethod
    def environment(cls):
        return cls.more

    def tensor(self, expression, status=0, rank=0):
        got, found = self.run_json("tensor", expression, "--rank", str(rank),
                                   "--slice", "[0:3]")
        self.assertEqual(got, status, (expression, found))
        return found

    def numbers(self, expression, status=0, rank=0):
        return self.tensor(expression, status, rank)["slice"]["numbers"]

    def unread(self, expression, why):
        with self.subTest(expression):
            status, found = self.run_json("tensor", expression, "--rank", "0")
            self.assertEqual(status, 4, found)
            self.assertIn(why, found["unread"])
            self.assertIsNone(found["stats"])
            status, found = self.run_json("compare", expression)
            self.assertEqual(status, 4)
            self.assertIn(why, found["sentence"])

    def refused(self, expression, why, status=3):
        with self.subTest(expression):
            got, _, error = self.run_text("tensor", expression, "--rank", "0")
            self.assertIn(why, error)
            self.assertEqual(got, status, error)


class TestPandas(Arrays):
    library = "pandas"
    code = PANDAS

    def test_columns_are_found_by_their_names(self):
        for expression, numbers in (
                ("df['n']", [1, 2, 3]), ("df.n", [1, 2, 3]),
                ("df['acc']", [0.25, 0.5, 1.0]), ("df.acc", [0.25, 0.5, 1.0]),
                ("df['many words']", [4.0, 5.0, 6.0]),
                ("df['size']", [7, 8, 9]),
                ("df.late", [0.0, 1.0, 2.0]),
                ("df['n'].values", [1, 2, 3]), ("df.acc.values",
                                                [0.25, 0.5, 1.0]),
                ("wide[2]", [2.0, 6.0, 10.0]),
                ("back[3]", [3.0, 7.0, 11.0]), ("back[0]", [0.0, 4.0, 8.0]),
                ("series", [0, 1, 2]), ("series.values", [0, 1, 2]),
                ("rows", [1, 3, 5]), ("rows.values[1:]", [3, 5]),
                ("holder['series']", [0, 1, 2])):
            with self.subTest(expression):
                found = self.run_json(
                    "tensor", expression, "--rank", "0", "--slice",
                    "[0:%d]" % len(numbers))
                self.assertEqual((found[0], found[1]["slice"]["numbers"]),
                                 (0, numbers))
        for expression, numbers in (
                ("mixed['a']", [1.0, 2.0]), ("mixed['d']", [7, 8]),
                ("mixed['c']", [5.0, 6.0]), ("mixed[3]", [9.0, 9.5]),
                ("picked['a']", [1.0, 2.0]), ("picked.c", [5.0, 6.0]),
                ("holder['frame']['b']", [3, 4])):
            with self.subTest(expression):
                status, found = self.run_json("tensor", expression, "--rank",
                                              "0", "--slice", "[0:2]")
                self.assertEqual((status, found["slice"]["numbers"]),
                                 (0, numbers))
        self.assertEqual(self.tensor("df['n']")["type"], "pandas.Series")
        self.assertEqual(self.tensor("df.acc.values")["type"],
                         "numpy.ndarray")
        status, found = self.run_json("tensor", "nothing", "--rank", "0")
        self.assertEqual((status, found["shape"]), (0, [0]))

    def test_what_is_missing_is_masked(self):
        found = self.tensor("df['missing']")
        self.assertEqual(found["slice"]["numbers"], [1, {"text": "--"}, 3])
        self.assertEqual((found["dtype"], found["stats"]["masked"],
                          found["stats"]["mean"]), ("int64", 1, 2.0))
        self.assertEqual(self.numbers("df.part"), [0.5, {"text": "--"}, 2.0])
        self.assertEqual(self.numbers("df.flag"),
                         [True, {"text": "--"}, False])
        found = self.tensor("df.time", 1)
        self.assertTrue(found["dtype"].startswith("datetime64"))
        self.assertEqual(found["stats"]["nan"], 1)

    def test_what_is_no_plain_array_says_why(self):
        for expression, why in (
                ("df['text']", "the elements are"),
                ("df['zone']", "the times have a time zone"),
                ("df['kind']", "the values are categories"),
                ("df['sparse']", "the array is sparse")):
            self.unread(expression, why)

    def test_what_cannot_be_told_is_refused(self):
        for expression, why in (
                ("df['nope']", "no such column in the DataFrame"),
                ("twice['a']", "several columns of the DataFrame"),
                ("levels['x']", "column names cannot be read"),
                ("df[['n']]", "would run code"),
                ("df['n'][0]", "cannot read an item of"),
                ("df['missing'].values", "an array of pandas"),
                ("own['a']", "cannot read an item of"),
                ("df.size", "code would run in the process")):
            self.refused(expression, why)
        self.refused("df", "to read one column", 1)

    def test_what_is_no_name_of_a_column_finds_none(self):
        # 2024-01 is the month 648 of those that a period counts.
        self.refused("months[648]", "column names cannot be read")
        self.refused("df['n\\0']", "with the character")

    def test_columns_are_compared(self):
        status, found = self.run_json("compare", "df['n']")
        self.assertEqual((status, found["sentence"]),
                         (0, "df['n'] is the same on ranks 0-1"))
        status, found = self.run_json("compare", "df.loss")
        self.assertEqual((status, found["sentence"]),
                         (1, "rank 1 has 1 NaN in df.loss; rank 0 has none"))
        status, found = self.run_json("compare", "df['part']")
        self.assertEqual((status, len(found["classes"])), (1, 2))

    def test_a_frame_is_compared_by_its_columns(self):
        for command in ("diff-params", "compare"):
            status, found = self.run_json(command, "plain")
            self.assertEqual(status, 0)
            self.assertIn("the same on ranks 0-1", found["sentence"])
            status, found = self.run_json(command, "drifted")
            self.assertEqual(status, 1)
            self.assertIn("['a'] has 2 values", found["sentence"])
            status, found = self.run_json(command, "words")
            self.assertEqual(status, 4)
            self.assertRegex(found["sentence"],
                             r"1 could not be read|\['w'\] was not compared")
        status, found = self.run_json("compare", "holder")
        self.assertEqual((status, found["sentence"]), (
            0, "3 parameters and buffers of holder are the same "
            "on ranks 0-1"))


JAX = r"""
import sys
import jax, numpy
import jax.numpy as jnp
def train(rank):
    x = jnp.arange(12.0).reshape(3, 4) + rank
    small = jnp.ones(3, dtype="int4")
    held = numpy.asarray(x)
    tree = {"w": x}
    traced = []
    jax.jit(lambda a: traced.append(a) or a)(x)
    tracer = traced[0]
    print("ready", flush=True)
    sys.stdin.read()
train(int(sys.argv[1]))
"""


class TestJax(Arrays):
    library = "jax"
    code = JAX

    def test_what_only_the_library_knows_says_so(self):
        self.unread("x", "numpy.asarray() of the array")
        self.unread("tree['w']", "numpy.asarray() of the array")
        self.unread("tracer", "a tracer of jax")
        found = self.run_json("tensor", "x", "--rank", "0")[1]
        self.assertEqual((found["dtype"], found["shape"]),
                         ("float32", [3, 4]))
        self.assertEqual(self.run_json("tensor", "small", "--rank", "0")[1][
            "dtype"], "ml_dtypes.int4")
        status, found = self.run_json("compare", "tree")
        self.assertEqual(status, 4)
        self.assertIn("['w'] was not compared", found["sentence"])

    def test_what_is_held_by_numpy_is_read(self):
        status, found = self.run_json("tensor", "held", "--rank", "1")
        self.assertEqual((status, found["stats"]["max"]), (0, 12.0))


BITS = r"""
import sys
import ml_dtypes, numpy
def train(rank):
    half = numpy.arange(6).astype(ml_dtypes.bfloat16)
    eighth = numpy.array([0.5, 448, -1], ml_dtypes.float8_e4m3fn)
    if rank:
        eighth[1] = float("nan")
    nibbles = numpy.array([7, -8, 3], ml_dtypes.int4)
    # The same numbers, whatever stands above them.
    noisy = (nibbles.view("u1") | (0xf0 if rank else 0)).view(ml_dtypes.int4)
    print("ready", flush=True)
    sys.stdin.read()
train(int(sys.argv[1]))
"""


class TestMlDtypes(Arrays):
    library = "ml_dtypes"
    code = BITS

    def test_numbers(self):
        for expression, dtype, numbers in (
                ("half", "bfloat16", [0.0, 1.0, 2.0]),
                ("eighth", "float8_e4m3fn", [0.5, 448.0, -1.0]),
                ("nibbles", "ml_dtypes.int4", [7, -8, 3])):
            with self.subTest(expression):
                found = self.tensor(expression)
                self.assertEqual((found["dtype"], found["slice"]["numbers"]),
                                 (dtype, numbers))
        status, found = self.run_json("compare", "eighth")
        self.assertEqual((status, found["sentence"]), (
            1, "rank 1 has 1 NaN in eighth; rank 0 has none"))

    def test_what_is_above_the_bits_is_no_difference(self):
        status, found = self.run_json("compare", "noisy")
        self.assertEqual((status, found["sentence"]),
                         (0, "noisy is the same on ranks 0-1"))

    def test_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.npy")
            status, out, _ = self.run_text("tensor", "eighth", "--rank", "0",
                                           "--npy", path)
            self.assertEqual(status, 0)
            self.assertIn("as float32", out)


if __name__ == "__main__":
    unittest.main()
