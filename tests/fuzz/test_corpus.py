"""The fuzz targets on the inputs that are checked in."""
import os
import subprocess
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "corpus")
PROGRAMS = os.path.join(os.environ.get("BUILDDIR", "."), "tests", "fuzz")


class TestCorpus(unittest.TestCase):
    """Each target takes all of its inputs, and there are some."""


def make_test(target):
    def test(self):
        folder = os.path.join(CORPUS, target)
        self.assertTrue(os.listdir(folder))
        run = subprocess.run([os.path.join(PROGRAMS, "fuzz-" + target),
                              folder], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             universal_newlines=True, timeout=120)
        self.assertEqual(run.returncode, 0, run.stdout[-4000:])
        self.assertIn("ok 1", run.stdout)
    return test


for name in sorted(os.listdir(CORPUS)):
    setattr(TestCorpus, "test_" + name, make_test(name))


if __name__ == "__main__":
    unittest.main()
