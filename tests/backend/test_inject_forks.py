"""The agent is put into programs that fork all the time, at any moment, and
is taken out again: they, and all their children, end, with the right results.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import pythons

HERE = os.path.dirname(os.path.abspath(__file__))
PROBETUI = os.environ.get("PROBETUI", "probetui")
SOAK = os.environ.get("PROBETUI_SOAK")
LIMIT = 120
FEW_PYTHONS = (8, 11, 12, 14)
TORCH = os.environ.get("PROBETUI_TORCH_PYTHON")


class Program:
    def __init__(self, argv, way):
        self.root = argv[1] if argv[0] == "chroot" else ""
        self.folder = tempfile.mkdtemp(prefix="forks-", dir=self.root + "/tmp")
        seen = self.folder[len(self.root):]
        shutil.copy(os.path.join(HERE, "fork_target.py"), self.folder)
        # What a fork beside threads warns of since 3.12 is another matter.
        self.process = subprocess.Popen(
            argv + ["-B", "-W", "ignore::DeprecationWarning",
                    seen + "/fork_target.py", way, seen],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True)
        if self.process.stdout.readline() != b"ready\n":
            raise AssertionError(self.process.communicate()[1].decode())

    def command(self, name):
        """False: refused in words, as may be while Python is starting."""
        run = subprocess.run(
            [PROBETUI, "--pid", str(self.process.pid), "--timeout", "60",
             name], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=LIMIT, universal_newlines=True)
        return run.returncode, run.stdout + run.stderr

    def end(self):
        """(exit status, what was wrong, standard error)"""
        try:
            out, errors = self.process.communicate(b"end\n", LIMIT)
        except subprocess.TimeoutExpired:
            raise AssertionError("it never ends: " + self.where()) from None
        return self.process.returncode, json.loads(out.decode()), \
            errors.decode()

    def where(self):
        run = subprocess.run([PROBETUI, "--pid", str(self.process.pid),
                              "stacks"], stdout=subprocess.PIPE)
        return run.stdout.decode()

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)


class ForksCase(unittest.TestCase):
    def setUp(self):
        if not SOAK and self.python.version[1] not in FEW_PYTHONS:
            self.skipTest("with PROBETUI_SOAK=1")

    def once(self, argv, way, chance):
        program = Program(argv, way)
        try:
            time.sleep(chance.uniform(0, 0.05))
            for name in "inject", "eject", "inject":
                status, said = program.command(name)
                self.assertEqual(status, 0, said)
            self.assertEqual(program.end(), (0, [], ""))
        finally:
            program.close()

    def try_way(self, way, argv=None):
        seed = random.randrange(1 << 32)
        print("# seed %d" % seed)
        chance = random.Random(seed)
        for _ in range(15 if SOAK else 1):
            self.once(argv or self.python.argv, way, chance)

    def test_forks(self):
        self.try_way("forks")

    def test_forks_and_sleeps(self):
        self.try_way("lazily")

    def test_a_child_is_first(self):
        self.try_way("slowly")

    def test_a_thread_forks(self):
        self.try_way("thread")

    def test_below_an_import(self):
        self.try_way("importing")

    def test_subprocess(self):
        self.try_way("subprocesses")

    def test_pool(self):
        self.try_way("pool")

    def test_forkserver(self):
        self.try_way("forkserver")


class TestLoader(ForksCase):
    """DataLoader's workers."""

    def setUp(self):
        if not TORCH or subprocess.run([TORCH, "-c", "import torch"],
                                       stderr=subprocess.DEVNULL).returncode:
            self.skipTest("PROBETUI_TORCH_PYTHON names no Python with torch")

    def test_workers(self):
        self.try_way("loader", [TORCH])


for name in [name for name in dir(ForksCase) if name.startswith("test_")]:
    setattr(TestLoader, name, None)


def load_tests(loader, standard, pattern):
    suite = pythons.load_cases(loader, __name__, ForksCase)
    suite.addTests(loader.loadTestsFromTestCase(TestLoader))
    return suite


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
