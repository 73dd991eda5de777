"""What the reader says of torch's tensors and numpy's arrays and scalars.

PROBETUI_TORCH_PYTHON names a Python with torch, and perhaps numpy.
"""
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PROBE = os.path.join(os.environ["BUILDDIR"], "tests/backend/locals-probe")
PYTHON = os.environ.get("PROBETUI_TORCH_PYTHON") or sys.executable


class TensorsTest(unittest.TestCase):
    def check(self, library):
        run = subprocess.run([PYTHON, "-c", "import " + library],
                             stderr=subprocess.DEVNULL)
        if run.returncode:
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


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
