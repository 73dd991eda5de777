"""The manual page and the README say what the program says."""
import difflib
import os
import re
import shutil
import subprocess
import sys
import unittest

import jobs

DOC = os.path.join(jobs.SOURCE, "docs")


def run(*command, **environment):
    return subprocess.run(command, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True,
                          env=dict(os.environ, **environment))


class TestDocuments(unittest.TestCase):
    maxDiff = None

    def test_manual_is_up_to_date(self):
        made = run(sys.executable, os.path.join(DOC, "make-manual.py"),
                   jobs.PROBETUI, os.path.join(DOC, "probetui.1.in"))
        self.assertEqual(made.returncode, 0, made.stderr)
        with open(os.path.join(DOC, "probetui.1")) as file:
            difference = list(difflib.unified_diff(
                file.read().splitlines(), made.stdout.splitlines(),
                "docs/probetui.1", "the program", lineterm="", n=1))
        self.assertEqual(difference, [], "`make manual` helps")

    def test_manual_is_readable(self):
        if shutil.which("man") is None:
            self.skipTest("no man on the PATH")
        page = run("man", "--warnings", "-l",
                   os.path.join(DOC, "probetui.1"), MANWIDTH="80")
        self.assertEqual(page.returncode, 0, page.stderr)
        self.assertEqual(page.stderr, "")
        text = re.sub(r"\s+", " ", page.stdout)
        for word in ("verdict [--for SECONDS]", "--replay FILE",
                     "EXIT STATUS", "previous, next rank"):
            self.assertIn(word, text)

    def test_readme_is_up_to_date(self):
        checked = run(sys.executable, os.path.join(DOC, "make-readme.py"),
                      jobs.SOURCE, jobs.PROBETUI, "--check")
        self.assertEqual(checked.returncode, 0, checked.stdout
                         + checked.stderr + "`make manual` helps")

    def test_links_of_the_readme_lead_somewhere(self):
        with open(os.path.join(jobs.SOURCE, "README.md")) as file:
            links = re.findall(r"\]\(([^)#]+)\)", file.read())
        self.assertTrue(links)
        for link in links:
            self.assertTrue(os.path.exists(os.path.join(jobs.SOURCE, link)),
                            link)


if __name__ == "__main__":
    unittest.main()
