"""Dicts that threads share, while the program's garbage is collected."""
import os
import subprocess
import sys
import unittest

from sessions import SOURCE

sys.path.insert(0, os.path.join(SOURCE, "tests", "backend"))
import pythons  # noqa: E402

AGENT = os.path.join(SOURCE, "agent")
# Each collection runs a finalizer that adds a handle, as a request of another
# thread does when the finalizer lets it run.
HANDLES = """
import gc
from probetui.dap.handles import Handles
handles = Handles("frame")
class Knot:
    def __init__(self):
        self.me = self
    def __del__(self):
        if not handles._lock.locked():
            handles.add(None)
            Knot()
for _ in range(100):
    handles.add(None)
for _ in range(10):
    Knot()
gc.set_threshold(1)
for _ in range(20):
    handles.drop("a stop")
    handles.look()
gc.set_threshold(0)
print("done")
"""


class SharedCase(unittest.TestCase):
    python = None

    def test_garbage_is_collected(self):
        done = subprocess.run(
            self.python.argv + ["-c", HANDLES], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True, timeout=30,
            env=dict(os.environ, PYTHONPATH=AGENT))
        self.assertEqual((done.stdout, done.stderr[-500:]), ("done\n", ""))


def load_tests(loader, _tests, _pattern):
    return pythons.load_cases(loader, __name__, SharedCase)
