"""The manual page, the README and docs/ say what the program says."""
import difflib
import glob
import os
import re
import shutil
import subprocess
import sys
import unittest

import jobs

DOCS = os.path.join(jobs.SOURCE, "docs")
README = os.path.join(jobs.SOURCE, "README.md")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def anchors(text):
    """The names that links give the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
            for heading in headings}



def run(*command, **environment):
    return subprocess.run(command, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True,
                          env=dict(os.environ, **environment))


class TestDocuments(unittest.TestCase):
    maxDiff = None

    def test_manual_is_up_to_date(self):
        made = run(sys.executable, os.path.join(DOCS, "make-manual.py"),
                   jobs.PROBETUI, os.path.join(DOCS, "probetui.1.in"))
        self.assertEqual(made.returncode, 0, made.stderr)
        difference = list(difflib.unified_diff(
            read(os.path.join(DOCS, "probetui.1")).splitlines(),
            made.stdout.splitlines(), "docs/probetui.1", "the program",
            lineterm="", n=1))
        self.assertEqual(difference, [], "`make manual` helps")

    def test_manual_is_readable(self):
        if shutil.which("man") is None:
            self.skipTest("no man on the PATH")
        page = run("man", "--warnings", "-l",
                   os.path.join(DOCS, "probetui.1"), MANWIDTH="80")
        self.assertEqual(page.returncode, 0, page.stderr)
        self.assertEqual(page.stderr, "")
        text = re.sub(r"\s+", " ", page.stdout)
        for word in ("verdict [--for SECONDS]", "--replay FILE",
                     "EXIT STATUS", "Select the previous, next rank"):
            self.assertIn(word, text)

    def test_manual_has_an_example_of_every_command(self):
        page = read(os.path.join(DOCS, "probetui.1")).replace("\\-", "-")
        page = page.split(".SH EXAMPLES\n")[1].split(".SH SEE ALSO")[0]
        shell, script = page.split(".SS Lines of a script")
        commands = set(re.findall(
            r"^  (\S+)", run(jobs.PROBETUI, "help").stdout, re.M))
        self.assertGreater(len(commands), 50)
        # The first word of a line that is a command; before it are options.
        lines = (re.findall(r"^  probetui (.*)$", shell, re.M)
                 + re.findall(r"^  (\w.*)$", script, re.M))
        shown = {next((word for word in line.split() if word in commands), "")
                 for line in lines}
        self.assertEqual(sorted(commands - shown), [])

    def test_keys_of_the_manual_are_up_to_date(self):
        checked = run(sys.executable, os.path.join(DOCS, "make-keys.py"),
                      os.path.join(DOCS, "manual.md"), jobs.PROBETUI, "--check")
        self.assertEqual(checked.returncode, 0, checked.stdout
                         + checked.stderr + "`make manual` helps")

    def test_the_readme_is_short(self):
        self.assertLessEqual(len(read(README).splitlines()), 150)

    def test_links_lead_somewhere(self):
        """To files that are there, and in them to headings that are there."""
        for page in [README] + glob.glob(os.path.join(DOCS, "*.md")):
            for link in re.findall(r"\]\(([^)]+)\)", read(page)):
                if link.startswith("https://"):
                    continue
                path, _, anchor = link.partition("#")
                path = os.path.join(os.path.dirname(page), path) if path else page
                with self.subTest(os.path.basename(page), link=link):
                    self.assertTrue(os.path.exists(path))
                    if anchor:
                        self.assertIn(anchor, anchors(read(path)))

    def test_files_and_functions_that_are_named_are_there(self):
        code = "".join(read(path) for folder in ("src", "ui", "backends")
                       for path in glob.glob(os.path.join(
                           jobs.SOURCE, folder, "**", "*.[ch]"), recursive=True))
        for name in ("architecture.md", "glossary.md", "hacking.md"):
            page = read(os.path.join(DOCS, name))
            paths = re.findall(r"`([\w.-]+/[\w/.-]+\.\w+)`", page)
            functions = re.findall(r"`(\w+)\(\)`", page)
            self.assertTrue(paths)
            for path in paths:
                with self.subTest(name, path=path):
                    self.assertTrue(os.path.exists(os.path.join(jobs.SOURCE, path)))
            for function in functions:
                with self.subTest(name, function=function):
                    self.assertTrue(function + "(" in code)

    def test_every_document_is_linked_and_distributed(self):
        listed = read(os.path.join(DOCS, "files.am"))
        for page in glob.glob(os.path.join(DOCS, "*.md")):
            name = "docs/" + os.path.basename(page)
            self.assertIn("(%s)" % name, read(README))
            self.assertIn(name, listed)


if __name__ == "__main__":
    unittest.main()
