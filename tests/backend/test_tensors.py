"""What the readers say of torch's tensors and numpy's arrays and scalars,
against what the process says itself.

PROBETUI_TORCH_PYTHON names a Python with torch, and perhaps numpy;
PROBETUI_TORCH_PYTHONS any number of others ("chroot:FOLDER:PROGRAM" is run by
chroot). Debian's own is taken besides where it has them.
"""
import json
import os
import struct
import subprocess
import sys
import unittest
import zlib

from nodes import Node
from tensor_tests import Target, ask, compare, compare_values

HERE = os.path.dirname(os.path.abspath(__file__))
PROBE = os.path.join(os.environ["BUILDDIR"], "tests/backend/locals-probe")
PYTHON = os.environ.get("PROBETUI_TORCH_PYTHON") or sys.executable
DEBIAN = "/usr/bin/python3"
# What is said of each part where a version of torch is not known.
UNSURE = {"requires_grad": None, "grad_fn": "?", "unread": None}


def commands():
    """argv of each Python."""
    found = [PYTHON]
    if os.path.realpath(PYTHON) != os.path.realpath(DEBIAN) and \
            os.path.exists(DEBIAN):
        found.append(DEBIAN)
    found += os.environ.get("PROBETUI_TORCH_PYTHONS", "").split()
    for text in found:
        parts = text.split(":")
        yield ["chroot"] + parts[1:] if parts[0] == "chroot" else [text]


def has(argv, library):
    run = subprocess.run(argv + ["-c", "import importlib.util, sys; sys.exit("
                                 "not importlib.util.find_spec(%r))" % library],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return run.returncode == 0


def program(name):
    """As text: a chroot has no file of ours."""
    parts = []
    for file in ("truths.py", name):
        with open(os.path.join(HERE, file)) as source:
            parts.append(source.read())
    return ("import sys, types\n__file__ = '/nowhere/target.py'\n"
            "truths = sys.modules['truths'] = types.ModuleType('truths')\n"
            "exec(%r, truths.__dict__)\nexec(%r)\n" % tuple(parts))


class TensorsTest(unittest.TestCase):
    """As text, where values are listed."""

    def check(self, library):
        if not has([PYTHON], library):
            self.skipTest("%s has no %s; PROBETUI_TORCH_PYTHON may name a "
                          "Python that has it" % (PYTHON, library))
        with subprocess.Popen(
                [PYTHON, os.path.join(HERE, "tensors_target.py"), library],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE) as target:
            try:
                rows = json.loads(target.stdout.readline().decode() or "[]")
                lines = "".join("value %s\n" % address
                                for address, _ in rows)
                answer = subprocess.run(
                    [PROBE, str(target.pid)], input=lines.encode(),
                    stdout=subprocess.PIPE, check=True)
            finally:
                target.stdin.close()
                complaint = target.stderr.read().decode()
        self.assertGreater(len(rows), 30, complaint)
        got = [json.loads(line.decode())["value"]
               for line in answer.stdout.splitlines()]
        self.assertEqual(got, [text for _, text in rows])

    def test_arrays_and_scalars(self):
        self.check("numpy")

    def test_tensors(self):
        self.check("torch")


class TornTest(unittest.TestCase):
    """A thread makes them into others meanwhile; all elements of one are the
    number that it has of them."""

    def check(self, library, rounds):
        found = [argv for argv in commands() if has(argv, library)]
        if not found:
            self.skipTest("no Python here has %s; PROBETUI_TORCH_PYTHON may "
                          "name one that has it" % library)
        with Target(found[0] + ["-c", program("torn_target.py"),
                                library]) as target:
            names = target.rows
            node = Node()
            self.addCleanup(node.close)
            node.ask("initialize", protocol=1)
            node.discover(pids=[target.pid])
            seen = set()
            for i in range(rounds):
                answer = node.answer(node.request(
                    "tensor", pid=target.pid, statistics="whole", hash=True,
                    expression=names[i % len(names)]))
                seen.add(self.judge(answer))
        self.assertIn("right", seen)

    def judge(self, answer):
        if not answer["success"]:
            return "refused"
        tensor = answer["body"]["tensor"]
        if tensor is None or tensor.get("unread"):
            return "none"
        if tensor.get("torn"):
            return "torn"
        if tensor.get("storage_nbytes", tensor["nbytes"]) != tensor["nbytes"]:
            # It was met inside of set_(), between storage and sizes.
            self.assertTrue(tensor["live"])
            return "between"
        count = tensor["numel"]
        if tensor["dtype"] == "float64" and tensor["shape"] == []:
            # The object was freed, and is one that numpy.full() makes by now.
            self.assertTrue(tensor["live"], tensor)
            return "another"
        self.assertEqual((tensor["dtype"], tensor["shape"]), (
            "float32", [count] if len(tensor["shape"]) == 1
            else [count // 2, 2]), tensor)
        values = struct.pack("<f", float(count)) * count
        if tensor["hash"] != "%08x" % zlib.crc32(values):
            # Its memory is another's by now; it is told that it may be so.
            self.assertTrue(tensor["live"], tensor)
            return "overwritten"
        return "right"

    def test_torch(self):
        self.check("torch", 150)

    def test_numpy(self):
        self.check("numpy", 150)


class TruthTest(unittest.TestCase):
    """One process for each Python, and all that it has at once."""

    def check_metadata(self, target):
        lines = [hex(row["id"]) for row in target.rows]
        answers = ask(target.pid, lines + ["blind"] + lines)
        for row, answer in zip(target.rows, answers):
            self.assertEqual(compare(target, row, answer), [], row["name"])
        for row, answer in zip(target.rows, answers[len(lines) + 1:]):
            told = answer.get("tensor", {})
            kept = {key: value for key, value in row.items()
                    if key not in UNSURE or key not in told
                    or told[key] != UNSURE[key]}
            if "unread" in told and "unread" in kept:
                kept["unread"] = ""
            if "tensor" in answer and not ("unread" in told
                                           and "unread" not in row):
                self.assertEqual(compare(target, kept, answer), [],
                                 "blind: " + row["name"])
        return answers[:len(lines)]

    def check_values(self, target):
        node = Node()
        self.addCleanup(node.close)
        node.ask("initialize", protocol=1)
        node.discover(pids=[target.pid])
        for row in target.rows:
            body = node.ask("tensor", pid=target.pid, statistics="whole",
                            hash=True, expression="KEPT[%d]" % row["at"])
            if row["data"] is not None:
                self.assertEqual(compare_values(row, body["tensor"]), [],
                                 row["name"])

    def check(self, argv, name, *words):
        with Target(argv + ["-c", program(name)] + list(words)) as target:
            self.assertTrue(target.rows, "%s: %s ended" % (argv, name))
            self.check_metadata(target)
            self.check_values(target)
            return len(target.rows)

    def check_all(self, library, name, count):
        found = [argv for argv in commands() if has(argv, library)]
        if not found:
            self.skipTest("no Python here has %s; PROBETUI_TORCH_PYTHON may "
                          "name one that has it" % library)
        for argv in found:
            with self.subTest(argv):
                self.assertGreaterEqual(self.check(argv, name), count)

    def test_torch(self):
        self.check_all("torch", "torch_target.py", 200)

    def test_numpy(self):
        self.check_all("numpy", "numpy_target.py", 100)

    def test_python(self):
        self.assertGreaterEqual(self.check([sys.executable],
                                           "numpy_target.py"), 30)

    def test_shards(self):
        if "PROBETUI_SOAK" not in os.environ:
            self.skipTest("PROBETUI_SOAK is not set: torch.distributed takes "
                          "seconds to load")
        for argv in commands():
            if has(argv, "torch.distributed.tensor"):
                with self.subTest(argv):
                    self.check(argv, "torch_target.py", "shards")


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
