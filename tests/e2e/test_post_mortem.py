#!/usr/bin/env python3
"""`post-mortem`: the logs of jobs that have ended, and files that are none."""
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

import jobs
from shapes import SHAPES

LOST = "RuntimeError: [/w/gloo/pair.cc:553] Connection closed by peer [::1]:9"


def raised(last, rank=None, line=22):
    """As torch.distributed prints it, or CPython."""
    text = textwrap.dedent("""\
        Traceback (most recent call last):
          File "/job/train.py", line 40, in <module>
            main()
          File "/job/train.py", line %d, in load
            raise ValueError("bad batch")
        %s
        """) % (line, last)
    prefix = "" if rank is None else "[rank%d]: " % rank
    return "".join(prefix + each for each in text.splitlines(True))


class PostMortem(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="probetui-post-mortem-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text, at=None):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text.encode() if isinstance(text, str) else text)
        if at is not None:
            os.utime(path, (at, at))
        return path

    def ask(self, *paths, status=1):
        run = jobs.probetui("--json", "post-mortem", *(paths or [self.folder]))
        self.assertEqual(run.returncode, status, run.stderr + run.stdout)
        told = json.loads(run.stdout)
        SHAPES.check(self, "post-mortem", told)
        return told

    def say(self, *paths, status=1):
        run = jobs.probetui("post-mortem", *(paths or [self.folder]))
        self.assertEqual(run.returncode, status, run.stderr + run.stdout)
        return run.stdout + run.stderr


class TestLogs(PostMortem):
    def test_the_first_by_time_that_failed_by_itself(self):
        self.write("none_x/attempt_0/0/stderr.log", raised(LOST, 0), 100)
        self.write("none_x/attempt_0/1/stderr.log",
                   raised("ValueError: bad batch", 1), 102)
        self.write("none_x/attempt_0/2/stderr.log",
                   raised("ValueError: bad batch", 2), 101)
        told, = self.ask()["attempts"]
        self.assertEqual((told["attempt"], told["rank"]), (0, 2))
        self.assertEqual(told["headline"], "Attempt 0: rank 2 failed first, "
                         "with ValueError: bad batch (train.py:22).")
        self.assertEqual([end["rank"] for end in told["ends"]], [2, 1, 0])

    def test_an_error_file_says_it_with_its_time(self):
        self.write("attempt_0/0/stderr.log", raised(LOST), 100)
        self.write("attempt_0/1/stderr.log", raised("ValueError: bad"), 99)
        self.write("attempt_0/1/error.json", json.dumps({"message": {
            "message": "ValueError: bad", "extraInfo": {
                "timestamp": "200", "py_callstack": raised("ValueError: bad")}}}))
        told, = self.ask()["attempts"]
        self.assertEqual([(end["rank"], end["is_local"], end["time"],
                           end["exception"]["source"]) for end in told["ends"]],
                         [(1, True, 200, "error file"),
                          (0, True, 100, "standard error")])

    def test_no_failure_of_its_own(self):
        self.write("attempt_0/0/stderr.log", raised(LOST, 0), 100)
        self.write("attempt_0/1/stderr.log", "", 90)
        told, = self.ask()["attempts"]
        self.assertIsNone(told["rank"])
        self.assertTrue(told["headline"].startswith(
            "Attempt 0: all exceptions are about lost or late ranks, and local "
            "rank 1 has none; the first is of rank 0: RuntimeError: Connection "
            "closed by peer"),
            told["headline"])
        self.assertIsNone(told["ends"][1]["exception"])

    def test_attempts_in_their_order(self):
        for attempt in (1, 0, 10):
            self.write("attempt_%d/0/stderr.log" % attempt,
                       raised("ValueError: %d" % attempt))
        self.assertEqual([each["attempt"] for each in self.ask()["attempts"]],
                         [0, 1, 10])

    def test_one_file_of_many_ranks(self):
        path = self.write("slurm-7.out", "step 1\n" + raised(LOST, 3)
                          + raised("KeyError: 'x'", 5) + raised(
                              "torch.distributed.elastic.multiprocessing."
                              "errors.ChildFailedError: "))
        told, = self.ask(path)["attempts"]
        self.assertEqual((told["attempt"], told["rank"]), (None, 5))
        self.assertEqual([end["rank"] for end in told["ends"]], [5, 3])

    def test_a_rank_that_was_aborted(self):
        self.write("attempt_0/1/stderr.log",
                   "terminate called after throwing an instance of "
                   "'c10::Error'\n  what():  CUDA error: out of memory\n")
        self.assertIn("local rank 1 failed first, with c10::Error: CUDA error: "
                      "out of memory.", self.say())

    def test_each_run_is_one_of_its_own(self):
        self.write("logs/none_a/attempt_0/0/stderr.log", raised(LOST, 0), 100)
        self.write("logs/none_b/attempt_0/1/stderr.log",
                   raised("ValueError: bad", 1), 200)
        told = self.ask()["attempts"]
        self.assertEqual([(os.path.basename(each["run"]), each["rank"])
                          for each in told], [("none_a", None), ("none_b", 1)])
        self.assertEqual(len(self.ask(self.folder, self.folder)["attempts"]), 2)

    def test_what_the_program_survived(self):
        self.write("attempt_0/0/stderr.log", raised("KeyError: 'x'") + "on\n", 1)
        self.write("attempt_0/1/stderr.log", raised("ValueError: bad", 1), 2)
        told, = self.ask()["attempts"]
        self.assertEqual(told["rank"], 1)

    def test_what_torchrun_has_seen(self):
        summary = textwrap.dedent("""\
            torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
            =====
            train.py FAILED
            -----
            Failures:
            [1]:
              time      : 2026-11-27_15:35:22
              rank      : 0 (local_rank: 0)
              exitcode  : -15 (pid: 354)  (SIGTERM)
            -----
            Root Cause (first observed failure):
            [0]:
              time      : 2026-11-27_15:35:22
              host      : localhost
              rank      : 1 (local_rank: 1)
              exitcode  : %s
              error_file: <N/A>
            """)
        path = self.write("out.txt", summary % "-9 (pid: 355)  (SIGKILL)")
        told, = self.ask(path)["attempts"]
        self.assertEqual((told["rank"], told["headline"]), (
            1, "Torchrun has seen rank 1 end first: SIGKILL."))
        path = self.write("out.txt", raised(LOST, 0) + summary % "1 (pid: 355)")
        told, = self.ask(path)["attempts"]
        self.assertIsNone(told["rank"])
        self.assertEqual([end["exception"]["type"] for end in told["ends"]],
                         ["RuntimeError", "exit code 1"])

    def test_a_long_log(self):
        path = self.write("slurm-7.out", raised("ValueError: bad", 1)
                          + "x" * 99 * 2000 + "\n" + raised(LOST, 2))
        told, = self.ask(path)["attempts"]
        self.assertEqual(told["rank"], 1)
        self.assertEqual([end["time"] for end in told["ends"]], [None, None])

    def test_a_path_below(self):
        path = self.write("attempt_2/1/stderr.log", raised("ValueError: bad"))
        for each in (path, os.path.dirname(path),
                     os.path.dirname(os.path.dirname(path))):
            told, = self.ask(each)["attempts"]
            self.assertEqual((told["attempt"], told["rank"]), (2, 1))


class TestHostile(PostMortem):
    def test_nothing_is_found(self):
        self.assertIn("no log found", self.say(status=3))
        self.write("a.log", "all is well\n")
        self.assertIn("no exception found in 1 file", self.say(status=3))
        self.assertIn("cannot read /nowhere: No such file",
                      self.say("/nowhere", status=2))
        self.assertIn("/dev/null is neither a file nor a folder",
                      self.say("/dev/null", status=2))

    def test_what_is_no_log(self):
        os.mkfifo(os.path.join(self.folder, "pipe.log"))
        os.symlink("/etc/passwd", os.path.join(self.folder, "link.log"))
        os.symlink(self.folder, os.path.join(self.folder, "loop"))
        self.write("stdout.log", raised("ValueError: printed"))
        self.write("notes.txt", raised("ValueError: noted"))
        self.write("deep/" * 12 + "a.log", raised("ValueError: deep"))
        self.write("a.log", raised("ValueError: bad"))
        told = self.ask(status=4)
        self.assertEqual(told["files"], 1)
        self.assertEqual(told["attempts"][0]["ends"][0]["exception"]["message"],
                         "bad")

    def test_bytes(self):
        self.write("a.log", os.urandom(1 << 20))
        self.write("b.log", b"\0" * 70000 + raised("ValueError: bad").encode()
                   + b"\0")
        self.write("c.log", b"x" * (1 << 20))
        self.write("error.json", b"[[[[")
        said = self.say(status=4)
        self.assertIn("by the last traceback in its log: ValueError: bad "
                      "(train.py:22)", said)
        self.assertIn("error.json: the file is not an error file", said)

    def test_escapes_and_secrets(self):
        self.write("a.log", raised("ValueError: \x1b[2Jat https://me:hunter2@host"))
        said = self.say()
        self.assertIn("^[[2Jat https://<masked>@host", said)
        self.assertNotIn("\x1b", said)
        self.assertNotIn("hunter2", json.dumps(self.ask()))

    @unittest.skipIf(os.geteuid(), "only root can become another user")
    def test_what_cannot_be_read(self):
        self.write("a.log", raised("ValueError: bad"))
        os.chmod(self.write("b/b.log", ""), 0)
        os.chmod(self.folder, 0o755)
        run = subprocess.run(
            ["setpriv", "--reuid=65534", "--clear-groups", jobs.PROBETUI,
             "post-mortem", self.folder], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True)
        self.assertEqual(run.returncode, 4, run.stderr)
        self.assertIn("in its log: ValueError: bad", run.stdout)
        self.assertIn("cannot read %s/b/b.log: Permission denied" % self.folder,
                      run.stderr)


if __name__ == "__main__":
    unittest.main()
