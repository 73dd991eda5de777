"""scripts/measure counts lines, modules and functions of C."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
MEASURE = os.path.join(TOP, "scripts", "measure")
A = '''/* A comment of
 * two lines. */
#include "a.h"

static int twice(int x)
{
	return 2 * x; // one more
}

int a(void)
{
	return twice(1) + (int)sizeof("/* no comment */");
}
'''
B = '''static int twice(int x)
{
	return x + x;
}
'''


class TestMeasure(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="probetui-measure-")
        self.addCleanup(shutil.rmtree, self.folder)
        for name, text in (("a.c", A), ("a.h", "int a(void);\n"), ("b.c", B),
                           ("tests/c.c", B), ("notes.txt", B)):
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)

    def run_measure(self, *folders, path=None):
        return subprocess.run(
            [sys.executable, MEASURE, *folders], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True,
            env=dict(os.environ, **({"PATH": path} if path else {})))

    def test_a_tree(self):
        if shutil.which("ctags") is None:
            self.skipTest("no ctags on the PATH")
        done = self.run_measure(self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = dict(line.rsplit(None, 1) for line in
                    done.stdout.replace(" %", "%").splitlines()[1:])
        self.assertEqual(rows, {
            "lines of C": "18", "files": "3", "modules": "2",
            "functions": "3", "median function": "4", "90th percentile": "4",
            "99th percentile": "4", "longest function": "4",
            "functions whose name another has": "66.7%",
            "comment lines": "16.7%"})

    def test_without_ctags_it_says_so(self):
        done = self.run_measure(self.folder, path=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("apt-get install universal-ctags", done.stderr)


if __name__ == "__main__":
    unittest.main()
