"""The engine inside of the process stops where pdb of the same Python does.

The same commands go to bdb in one process and to the engine in another, on
every CPython found: the lists of (event, file, line, function) are equal, on
new code and on code that has run a hundred times. What differs is named here.

Each day's run does some of the scenarios (stepping_scenarios.py) on two
Pythons; with PROBETUI_SOAK it does all on all.
"""
import os
import shutil
import sys
import tempfile
import unittest

SOURCE = os.environ.get("SRCDIR", os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(SOURCE, "tests", "backend"))
import pythons  # noqa: E402

sys.path.insert(0, os.path.join(SOURCE, "tests", "e2e"))
import stepping_scenarios  # noqa: E402
from stepping_process import Process  # noqa: E402

ALL = "PROBETUI_SOAK" in os.environ
EVERY = 10
WARM = 100
# Scenarios that differ: from and to which minor version. After a stop all
# frames that the thread is in are traced, as after pdb.set_trace(); of those
# that were entered while it did not step, pdb traces only what has
# breakpoints in its file (from 3.14 on, in its function).
DIFFERENT = {
    "callee_add": (8, 12),
    "up_next": (14, 14),
    "up_until": (14, 14),
    "up_return": (14, 14),
    "stars_in": (8, 12),
}


class Program:
    """The files, where this Python finds them."""

    def __init__(self, python):
        root = python.argv[1] if python.argv[0] == "chroot" else ""
        self.folder = tempfile.mkdtemp(prefix="stepping-", dir=root + "/tmp")
        self.inside = self.folder[len(root):]
        self.marks = stepping_scenarios.write_files(self.folder)
        shutil.copy(os.path.join(SOURCE, "tests", "agent",
                                 "engine_stepping_target.py"), self.folder)
        shutil.copytree(os.path.join(SOURCE, "agent", "probetui"),
                        os.path.join(self.folder, "probetui"))

    def close(self):
        shutil.rmtree(self.folder)


class Case(unittest.TestCase):
    """A process with bdb, and one with the engine."""
    maxDiff = None

    def start(self, mode):
        folder = self.program.inside
        process = Process(
            self.python, "-W", "error", "-u", os.path.join(
                folder, "engine_stepping_target.py"), mode, folder,
            PYTHONPATH=folder)
        self.addCleanup(process.close)
        return process

    def setUp(self):
        self.program = Program(self.python)
        self.addCleanup(self.program.close)
        self.pdb = self.start("pdb")
        self.engine = self.start("engine")

    def stops(self, order):
        """Those of bdb, and those of the engine."""
        if self.engine.process.poll() is not None:
            self.engine = self.start("engine")
        for process in (self.pdb, self.engine):
            process.tell(order)
        wanted, got = self.pdb.hear(), self.engine.hear()
        self.assertIsNotNone(got, "it says nothing")
        return wanted, got


# Not only when their turn comes.
EACH_DAY = {"set_at_stop"}


class SteppingCase(Case):
    def setUp(self):
        super().setUp()
        self.orders = stepping_scenarios.scenarios(self.program.marks)

    def compare(self, name, order):
        wanted, got = self.stops(order)
        first, last = DIFFERENT.get(name, (0, 0))
        if first <= self.python.version[1] <= last:
            self.assertNotEqual(got, wanted, "is equal by now")
            return
        for number, each in enumerate(wanted):
            self.assertEqual(got[number:number + 1], [each],
                             "stop %d of %d, after %s" % (
                                 number, len(wanted), got[:number][-2:]))
        self.assertEqual(got, wanted)

    def run_scenarios(self, warm, every):
        if not ALL and self.python.version[:2] not in FEW:
            self.skipTest("with PROBETUI_SOAK=1")
        for number, (name, order) in enumerate(self.orders.items()):
            if ALL or name in EACH_DAY or \
                    number % every == self.python.version[1] % every:
                with self.subTest(name=name, warm=warm):
                    self.compare(name, dict(order, warm=warm))

    def test_new_code_stops_as_under_pdb(self):
        self.run_scenarios(0, EVERY)

    def test_specialised_code_stops_as_under_pdb(self):
        self.run_scenarios(WARM, 2 * EVERY)


# One of each of the two ways to see a program.
FEW = [(3, 11)] + sorted({python.version[:2] for python in pythons.find()
                         if python.version >= (3, 12)})[-1:]


def load_tests(loader, _tests, _pattern):
    return pythons.load_cases(loader, __name__, SteppingCase)
