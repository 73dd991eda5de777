"""The checked-in layouts are what each version's headers say."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import pythons

FOLDER = os.path.join(os.environ["SRCDIR"], "backends/cpython")
PROBE = os.path.join(os.environ["BUILDDIR"], "tests/backend/sample-probe")
COMPILER = os.environ.get("CC", "cc").split()


def rows(name):
    """{minor: {field: value}} of a file of rows."""
    with open(os.path.join(FOLDER, name)) as file:
        return parse(file.read())


def parse(text):
    found = {}
    for block in re.findall(r"\{[^}]*\}", text):
        fields = {name: int(value, 0) for name, value in
                  re.findall(r"\.(\w+) = (-?\w+)", block)}
        minor = fields.pop("version") >> 16 & 0xff
        found[minor] = fields
    return found


def include_of(python):
    code = "import sysconfig; print(sysconfig.get_path('include'))"
    path = subprocess.check_output(python.argv + ["-c", code])
    return path.decode().strip()


class Offsets(unittest.TestCase):
    maxDiff = None

    def test_equal_the_headers(self):
        if not shutil.which(COMPILER[0]):
            self.skipTest("no C compiler is here")
        seen = []
        for python in pythons.find():
            include = include_of(python)
            if not os.path.exists(include + "/internal/pycore_pystate.h"):
                continue
            with self.subTest(python=python.name):
                self.compare(python.version[1], include)
                seen.append(python)
        if not seen:
            self.skipTest("no CPython's internal headers are here")

    def compare(self, minor, include):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "offsets-gen")
            subprocess.check_call(
                COMPILER + ["-w", "-DPy_BUILD_CORE", "-I" + include,
                            "-I" + include + "/internal",
                            os.path.join(FOLDER, "offsets-gen.c"),
                            "-o", program])
            offsets = subprocess.check_output([program]).decode()
            positions = subprocess.check_output([program, "positions"])
        self.assertEqual(parse(offsets)[minor], rows("offsets.inc")[minor])
        if minor >= 13:
            self.assertEqual(parse(positions.decode())[minor],
                             rows("positions.inc")[minor])

    def test_all_versions_have_all_fields(self):
        offsets = rows("offsets.inc")
        self.assertEqual(sorted(offsets), list(range(8, 15)))
        for fields in offsets.values():
            self.assertEqual(list(fields), list(offsets[8]))


# A process may write what it likes where the interpreter describes itself.
LIAR = """
import ctypes, sys
runtime = ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime")
place, value = int(sys.argv[1]), int(sys.argv[2])
ctypes.c_uint64.from_address(ctypes.addressof(runtime) + place).value = value
print("ready", flush=True)
sys.stdin.read()
"""
LIES = (
    ("if_owner", 1 << 20), ("if_owner", 128), ("if_code", 4096),
    ("if_previous", 1 << 16), ("if_instr", 1 << 16), ("if_localsplus", 8),
    ("co_name", 1 << 20), ("co_qualname", 1 << 20), ("co_filename", 4096),
    ("co_linetable", 1 << 20), ("co_firstlineno", 1 << 20),
    ("co_size", 1 << 24), ("co_size", 0), ("tp_name", 512),
    ("tp_flags", 510), ("uni_state", 1 << 20), ("ascii_size", 1 << 20),
    ("bytes_sval", 1 << 20), ("bytes_sval", 0), ("rt_interp_head", 1 << 30),
)


class LiesCase(unittest.TestCase):
    def read(self, place, value):
        """What the probe complains of, and its exit status."""
        with subprocess.Popen(
                self.python.argv + ["-c", LIAR, str(place), str(value)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE) as target:
            try:
                self.assertEqual(target.stdout.readline(), b"ready\n")
                run = subprocess.run([PROBE, "sample", str(target.pid)],
                                     stdout=subprocess.DEVNULL,
                                     stderr=subprocess.PIPE, timeout=60)
            finally:
                target.kill()
        return run.stderr.decode(), run.returncode

    def test_lies_are_refused(self):
        minor = self.python.version[1]
        if minor < 13:
            self.skipTest("below 3.13 the interpreter says nothing of itself")
        positions = rows("positions.inc")[minor]
        for name, value in LIES:
            with self.subTest(name=name, value=value):
                complaint, status = self.read(positions[name], value)
                self.assertRegex(complaint, "^pid .* with invalid debug offsets, "
                                 "so its stacks cannot be read; the process "
                                 "may still be starting: try again$")
                self.assertEqual(status, 1)

    def test_the_truth_is_not(self):
        if self.python.version < (3, 13):
            self.skipTest("below 3.13 the interpreter says nothing of itself")
        minor = self.python.version[1]
        place = rows("positions.inc")[minor]["if_code"]
        truth = rows("offsets.inc")[minor]["if_code"]
        self.assertEqual(self.read(place, truth), ("", 0))


def load_tests(loader, _tests, _pattern):
    return unittest.TestSuite([
        loader.loadTestsFromTestCase(Offsets),
        pythons.load_cases(loader, __name__, LiesCase)])


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
