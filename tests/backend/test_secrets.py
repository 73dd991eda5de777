"""Secrets of a program are in nothing that is written down of it, neither as
the values of its variables nor as literals of its source."""
import gzip
import os
import re
import subprocess
import sys
import tempfile
import unittest

from nodes import Target, wait_for_rest

PROBETUI = os.environ["PROBETUI"]
PROGRAM = '''\
import time

API_KEY = "hush-1"
CERTIFICATE_KEY = """
hush-2
  hush-3"""
SETTINGS = {"password": "hush-4", "port": 80}


def connect(host, password=("hush-5"
                            "hush-6")):
    headers = {"Authorization": f"Bearer {host}-hush-7"}  # token: hush-8
    url = "https://me:hush-9@host"
    print("ready", flush=True)
    time.sleep(10000)


SETTINGS["token"] = b'hush-10'
connect("localhost", password='hush-11')
'''


class TestSecrets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        program = os.path.join(folder.name, "program.py")
        with open(program, "w") as file:
            file.write(PROGRAM)
        self.target = Target(argv=[sys.executable, program])
        self.addCleanup(self.target.close)
        self.addCleanup(self.target.process.kill)
        self.assertEqual(self.target.words, ["ready"])
        wait_for_rest(self.target.pid)

    def ask(self, *words):
        run = subprocess.run(
            [PROBETUI, "--pid", str(self.target.pid)] + list(words),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
            universal_newlines=True)
        self.assertEqual(run.stderr, "")
        return run.stdout

    def check(self, text):
        self.assertIn("<masked>", text)
        self.assertEqual(re.findall("hush-[0-9]+", text), [])

    def test_recording(self):
        for more in [], ["--record-locals"]:
            path = os.path.join(self.folder, "recording%d" % len(more))
            self.ask("--record", path, *more, "stacks", "--locals")
            with gzip.open(path, "rt") as file:
                text = file.read()
            self.check(text)
            self.assertIn("password='<masked>'", text)
            self.assertIn("time.sleep(10000)", text)

    def test_locals(self):
        for words in ["stacks", "--locals"], ["locals", "--rank", "0"]:
            for more in [], ["--json"]:
                with self.subTest(words=words, more=more):
                    masked = self.ask(*more, *words)
                    self.check(masked)
                    self.assertIn("localhost", masked)
                    shown = self.ask(*more, *words, "--secrets")
                    self.assertIn("hush-11", shown)
                    self.assertNotIn("<masked>", shown)

    def test_report(self):
        for more in [], ["--json"]:
            self.assertNotIn("hush-", self.ask(*more, "report"))


if __name__ == "__main__":
    unittest.main()
