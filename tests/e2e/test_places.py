"""The verdict names the user's line however the user's package was installed:
as `pip install` lays it out, run by -m or by a console script, or editable."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jobs  # noqa: E402

LOOP = """import os, queue
def fetch():
    print("ready", flush=True)
    queue.Queue().get()  # the place
def main():
    fetch()
    return 0
"""

# As pip writes it into the bin folder of an environment.
SCRIPT = """#!%s
import sys
from mine.loop import main
if __name__ == '__main__':
    sys.exit(main())
"""


class TestPlaces(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path

    def sentence(self, packages, *command):
        """Of a job of one rank that has the folder `packages` to import from,
        and its own to work in."""
        port = jobs.free_port()
        work = os.path.join(self.folder, "work")
        os.makedirs(work, exist_ok=True)
        rank = subprocess.Popen(
            [sys.executable] + list(command), cwd=work, stdout=subprocess.PIPE,
            preexec_fn=jobs.end_with_parent,
            env=dict(os.environ, RANK="0", LOCAL_RANK="0", WORLD_SIZE="1",
                     MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port),
                     PYTHONPATH=os.path.join(self.folder, packages)))
        self.addCleanup(rank.stdout.close)
        self.addCleanup(rank.wait)
        self.addCleanup(rank.kill)
        self.assertEqual(rank.stdout.readline(), b"ready\n")
        return jobs.probetui("--job", port, "verdict").stdout

    def check(self, packages, *command):
        self.assertIn("fetch (loop.py:4)", self.sentence(packages, *command))

    def test_a_module_of_an_installed_package(self):
        self.write("site-packages/mine/loop.py", LOOP + "main()\n")
        self.check("site-packages", "-m", "mine.loop")

    def test_a_console_script(self):
        self.write("site-packages/mine/loop.py", LOOP)
        self.check("site-packages",
                   self.write("bin/mine-train", SCRIPT % sys.executable))

    def test_an_editable_package(self):
        self.write("checkout/src/mine/loop.py", LOOP)
        self.check("checkout/src", self.write(
            "work/train.py", "import mine.loop\nmine.loop.main()\n"))

    def test_a_library(self):
        """The line that has called it."""
        self.write("site-packages/theirs/loop.py", LOOP)
        self.assertIn("<module> (train.py:2)", self.sentence(
            "site-packages", self.write(
                "work/train.py", "import theirs.loop\ntheirs.loop.main()\n")))
