"""The engine: breakpoints, steps, pauses and exceptions within the process.

engine_cases.py runs within each Python found; with PROBETUI_SOAK on all, each
day on the oldest, the newest and one between, as they see a program in three
ways.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ.get("SRCDIR", os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(SOURCE, "tests", "backend"))
import pythons  # noqa: E402

LIMIT = 300
ALL = "PROBETUI_SOAK" in os.environ
MINORS = (8, 11, 12, max(each.version[1] for each in pythons.find()))


class EngineCase(unittest.TestCase):
    def setUp(self):
        if not ALL and self.python.version[1] not in MINORS:
            self.skipTest("with PROBETUI_SOAK=1")
        argv = self.python.argv
        root = argv[1] if argv[0] == "chroot" else ""
        self.folder = tempfile.mkdtemp(prefix="engine-", dir=root + "/tmp")
        self.addCleanup(shutil.rmtree, self.folder)
        self.inside = self.folder[len(root):]
        shutil.copy(os.path.join(SOURCE, "tests", "agent",
                                 "engine_cases.py"), self.folder)
        shutil.copytree(os.path.join(SOURCE, "agent", "probetui"),
                        os.path.join(self.folder, "probetui"))

    def test_cases(self):
        run = subprocess.run(
            self.python.argv + ["-W", "error", "-X", "faulthandler",
                                self.inside + "/engine_cases.py"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=LIMIT, env=dict(
                os.environ, PYTHONPATH=self.inside, TMPDIR="/tmp",
                PYTHONDONTWRITEBYTECODE="1"))
        self.assertEqual((run.returncode, run.stderr.decode()), (0, ""))
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        for name, problem in lines:
            with self.subTest(name):
                self.assertIsNone(problem, problem)
        self.assertGreater(len(lines), 30)


def load_tests(loader, _tests, _pattern):
    return pythons.load_cases(loader, __name__, EngineCase)
