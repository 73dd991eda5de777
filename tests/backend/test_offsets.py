"""The checked-in layouts are what each version's headers say."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import pythons

PTRACE = os.path.join(os.environ["SRCDIR"], "backends/ptrace")
COMPILER = os.environ.get("CC", "cc").split()


def rows(name):
    """{minor: {field: value}} of a file of rows."""
    with open(os.path.join(PTRACE, name)) as file:
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
                            os.path.join(PTRACE, "offsets-gen.c"),
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


if __name__ == "__main__":
    unittest.main()
