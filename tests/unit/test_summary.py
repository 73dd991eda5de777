"""How the results of tests are told: tests/tap.sh makes lines of what a
program in C says, tests/summary.py counts what lies in a build folder."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="probetui-summary-")
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path


class TestTap(Case):
    """What cmocka prints of a skipped test; its program says why before."""

    def tap(self, *lines):
        program = self.write("test-x", "cat <<'END'\n%s\nEND\n"
                             % "\n".join(lines))
        done = run("sh", os.path.join(TESTS, "tap.sh"), "sh", program)
        return done.stdout.splitlines()

    def test_a_skip_has_its_reason(self):
        self.assertEqual(
            self.tap("1..2", "skip: no bytes here", "not ok 1 # SKIP small",
                     "ok 2 - large"),
            ["ok 1 - sh: small # SKIP no bytes here", "ok 2 - sh: large",
             "1..2"])

    def test_a_reason_is_for_one(self):
        self.assertEqual(
            self.tap("skip: no bytes here", "ok 1 - large", "some words",
                     "not ok 2 # SKIP small"),
            ["ok 1 - sh: large", "# some words", "ok 2 - sh: small # SKIP",
             "1..2"])


class TestSummary(Case):
    CORE = "tests/screen/test-x"

    def results(self, folder, *lines):
        """What automake's driver leaves of one program."""
        self.write(folder + "/tests/screen/test-x.log",
                   "".join(line + "\n" for line in lines))
        self.write(folder + "/tests/screen/test-x.trs", "")

    def summary(self, *folders, more=()):
        core = self.write("core-tests", self.CORE + "\n")
        return run(sys.executable, os.path.join(TESTS, "summary.py"),
                   "--core", core,
                   *[os.path.join(self.folder, name) for name in folders],
                   *more)

    def test_what_a_skip_lacks_is_told(self):
        self.results("a", "PASS: tests/screen/test-x 1 - test-x: large",
                     "SKIP: tests/screen/test-x 2 - test-x: small # SKIP no"
                     " bytes here")
        self.results("b", "PASS: tests/screen/test-x 1 - test-x: large",
                     "PASS: tests/screen/test-x 2 - test-x: small")
        done = self.summary("a", "b")
        self.assertIn("  skipped: tests/screen/test-x test-x: small: no bytes"
                      " here\n", done.stdout)
        self.assertTrue(done.stdout.endswith("3 passed, 0 failed, 1 skipped\n"),
                        done.stdout)
        self.assertEqual(done.returncode, 0)

    def test_one_that_says_nothing_fails(self):
        self.results("a", "PASS: tests/screen/test-x 1 - test-x: small")
        self.results("b", "SKIP: tests/screen/test-x 1 - test-x: small # SKIP")
        done = self.summary("a", "b")
        self.assertIn("failed: tests/screen/test-x test-x: small was skipped"
                      " and does not say what it lacks\n", done.stdout)
        self.assertEqual(done.returncode, 1)

    def test_a_core_test_skipped_everywhere_fails(self):
        self.results("a", "SKIP: tests/screen/test-x 1 - test-x: small # SKIP"
                     " one")
        self.results("b", "SKIP: tests/screen/test-x 1 - test-x: small # SKIP"
                     " another", "PASS: tests/screen/test-x 2 - test-x: large")
        done = self.summary("a", "b")
        self.assertIn("failed: core test test-x: small was skipped\n",
                      done.stdout)
        self.assertEqual(done.returncode, 1)

    def test_one_that_lacks_what_it_needs_may_be_skipped(self):
        self.CORE += " test-x: torch (torch)"
        skip = "SKIP: tests/screen/test-x 2 - test-x: torch # SKIP %s"
        self.results("a", "PASS: tests/screen/test-x 1 - test-x: large",
                     skip % "no Python has torch here")
        done = self.summary("a")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.results("b", "PASS: tests/screen/test-x 1 - test-x: large",
                     skip % "with PROBETUI_SOAK=1")
        done = self.summary("a", "b")
        self.assertIn("failed: core test test-x: torch was skipped\n",
                      done.stdout)
        self.results("c", "PASS: tests/screen/test-x 1 - test-x: large")
        done = self.summary("c")
        self.assertIn("core test tests/screen/test-x test-x: torch did not run",
                      done.stdout)

    def test_what_a_sanitizer_wrote_fails(self):
        """Though the test passed: it may not look at what a program says."""
        self.results("a", "PASS: tests/screen/test-x 1 - test-x: large")
        self.write("a/tests/report.17", "==17==ERROR: AddressSanitizer: x\n")
        done = self.summary("a")
        self.assertIn("failed: a sanitizer reports", done.stdout)
        self.assertIn("    ==17==ERROR: AddressSanitizer: x\n", done.stdout)
        self.assertEqual(done.returncode, 1)

    def test_something_else_failed(self):
        self.results("a", "PASS: tests/screen/test-x 1 - test-x: large")
        done = self.summary("a", more=["--failed", "make x (x.log)"])
        self.assertTrue(done.stdout.endswith(
            "failed: make x (x.log)\n1 passed, 1 failed\n"), done.stdout)
        self.assertEqual(done.returncode, 1)

    def test_all_is_well(self):
        self.results("a", "PASS: tests/screen/test-x 1 - test-x: large")
        done = self.summary("a")
        self.assertTrue(done.stdout.endswith("1 passed, 0 failed\n"))
        self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
