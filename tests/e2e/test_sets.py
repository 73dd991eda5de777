#!/usr/bin/env python3
"""Sets of ranks in every place that takes one, and the list of jobs.

A recording answers for sets; two jobs of small ranks at once are listed, and
one of them is opened on a terminal.
"""
import fcntl
import json
import os
import pty
import pwd
import select
import struct
import subprocess
import sys
import termios
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jobs  # noqa: E402

HUNG = os.path.join(jobs.SOURCE, "tests", "recordings", "hung8.jsonl")
TWO = os.path.join(jobs.SOURCE, "tests", "recordings", "jobs.jsonl")
KEYS = {"verdict", "job", "launcher", "launcher_pid", "script", "ranks", "world_size",
        "user", "age_s"}


class TestSets(unittest.TestCase):
    """Rank 3 of 8 hangs on gpu01."""

    def ask(self, *arguments, status=1):
        result = jobs.probetui("--replay", HUNG, "--json", *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        return json.loads(result.stdout)

    def ranks(self, *arguments):
        return [rank["rank"] for rank in self.ask("ranks", *arguments)]

    def test_a_command_takes_any_set(self):
        cases = (
            ("outlier", [3]), ("!outlier&0-4", [0, 1, 2, 4]),
            ("class=1", [3]), ("class=\u25c6", [3]), ("state=sleeping", [3]),
            ("host=gpu[01-02],!2-7", [0, 1]), ("majority,!4-7", [0, 1, 2]),
            ("0-7/4,3", [0, 3, 4]))
        for text, ranks in cases:
            with self.subTest(text):
                self.assertEqual(self.ranks("ranks", text), ranks)

    def test_two_sets_are_compared(self):
        diff = self.ask("diff", "outlier", "majority")
        self.assertEqual((diff["a"], diff["b"]), ("3", "0-2,4-7"))

    def test_the_option_narrows_the_job_by_number_and_machine(self):
        self.assertEqual(self.ranks("--ranks", "0-4"), [0, 1, 2, 3, 4])
        self.assertEqual(self.ranks("--ranks", "host=gpu*", "--ranks", "!0"),
                         list(range(1, 8)))
        # All seven wait, and stand: without an outlier a finding as well.
        verdict = self.ask("--ranks", "!3", "verdict")
        self.assertEqual((verdict["ranks_found"], verdict["outliers"]),
                         (7, []))

    def test_the_option_chooses_by_what_ranks_do(self):
        self.assertEqual(self.ranks("--ranks", "outlier"), [3])
        verdict = self.ask("--ranks", "outlier", "verdict")
        self.assertEqual(verdict["ranks_found"], 8)

    def test_what_is_wrong_is_named_with_its_column(self):
        cases = (
            (["--ranks", "0-7,late", "ranks"],
             "--ranks: column 5: 'late' is not a set of ranks"),
            (["--ranks", "class=7", "ranks"],
             "--ranks: column 1: class 7 does not exist"),
            (["ranks", "ranks", "host=gpu[1"],
             "column 9: missing closing bracket"),
            (["stacks", "ranks", "@slow"],
             "column 1: unknown set 'slow'"),
            (["diff", "0-4294967295", "3"], "4294967295 is too large"),
            (["ranks", "ranks", "state=stopped"],
             "no rank matches 'state=stopped'"))
        for arguments, says in cases:
            with self.subTest(arguments):
                result = jobs.probetui("--replay", HUNG, *arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(says, result.stderr)

    def test_a_script_gives_sets_names(self):
        script = ("name odd outlier\nfocus !@odd,!0\nranks\n"
                  "name rest focus\nname\nstacks --merge ranks @odd\n")
        result = subprocess.run(
            [jobs.PROBETUI, "--json", "--replay", HUNG, "-x", "-"],
            input=script, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, timeout=jobs.LIMIT)
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(lines[0], {"names": {"odd": "3"}})
        self.assertEqual(lines[1], {"focus": "1-2,4-7"})
        self.assertEqual([r["rank"] for r in lines[2]], [1, 2, 4, 5, 6, 7])
        self.assertEqual(lines[4], {"names": {"odd": "3",
                                              "rest": "1-2,4-7"}})
        self.assertEqual(lines[5]["ranks"], "3")


class Screen:
    """The program on a terminal of 50 lines of 160 columns."""

    def __init__(self, *arguments):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            jobs.end_with_parent()
            os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
            os.execv(jobs.PROBETUI, [jobs.PROBETUI] + list(arguments))
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 50, 160, 0, 0))

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def drawn(self):
        """What a redraw writes, read until nothing more comes."""
        self.type("\x0c")
        seen = b""
        while select.select([self.terminal], [], [], 0.1)[0]:
            try:
                seen += os.read(self.terminal, 65536)
            except OSError:
                break
        return seen.decode(errors="replace")

    def expect(self, *texts):
        jobs.wait_for(lambda: all(map(self.drawn().count, texts)),
                      "%s on the screen" % (texts,), limit=30)

    def leave(self):
        """Presses q; its exit status."""
        self.type("q")
        end = time.monotonic() + 10
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                self.pid = 0
                return os.WEXITSTATUS(status)
            self.drawn()
        return None

    def close(self):
        if self.pid:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
        os.close(self.terminal)


class TestJobs(unittest.TestCase):
    """Two jobs of four ranks each."""

    @classmethod
    def setUpClass(cls):
        cls.jobs = [jobs.RanksJob(4), jobs.RanksJob(4)]
        for job in cls.jobs:
            cls.addClassCleanup(job.close)

    def listed(self, *arguments):
        result = jobs.probetui("--json", *arguments, "jobs")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    @staticmethod
    def hangs(job):
        return job is not None and all(
            words in job["verdict"] for words in
            ("3 of 4 ranks wait in all_reduce", "Rank 3 is elsewhere"))

    def test_both_are_listed(self):
        deadline = time.monotonic() + jobs.LIMIT
        found = {job["job"]: job for job in self.listed()}
        # It takes them a moment to come to the step where one hangs.
        while not all(self.hangs(found.get("127.0.0.1:%d" % job.port))
                      for job in self.jobs) and time.monotonic() < deadline:
            found = {job["job"]: job for job in self.listed()}
        for job in self.jobs:
            listed = found["127.0.0.1:%d" % job.port]
            self.assertEqual(set(listed), KEYS)
            self.assertEqual((listed["ranks"], listed["world_size"]),
                             ("0-3", 4))
            self.assertEqual(listed["launcher_pid"], job.process.pid)
            self.assertEqual(listed["script"], "ranks.py")
            self.assertEqual(listed["user"],
                             pwd.getpwuid(os.getuid()).pw_name)
            self.assertLessEqual(0, listed["age_s"])
            self.assertIn("wait in all_reduce", listed["verdict"])

    def test_job_names_one(self):
        port = str(self.jobs[1].port)
        listed = self.listed("--job", port)
        self.assertEqual([job["job"] for job in listed], ["127.0.0.1:" + port])
        result = jobs.probetui("--job", "1", "jobs")
        self.assertEqual((result.returncode, result.stdout), (3, ""))
        self.assertIn("no job has port or launcher pid '1'", result.stderr)

    def test_named_processes_are_one_job(self):
        pids = self.jobs[0].pids[:2] + self.jobs[1].pids[:1]
        listed = self.listed("--pid", ",".join(map(str, pids)))
        self.assertEqual(len(listed), 1)
        self.assertIn(listed[0]["ranks"], ("0-1", "0-2"))

    def test_a_recording_lists_its_own(self):
        listed = self.listed("--replay", TWO)
        self.assertEqual([(job["ranks"], job["user"]) for job in listed],
                         [("0-3", "1000"), ("0-15", "1001")])

    def test_the_screen_lists_opens_and_comes_back(self):
        screen = Screen()
        self.addCleanup(screen.close)
        launchers = ["(pid %d)" % job.process.pid for job in self.jobs]
        screen.expect("jobs found", "3 of 4 ranks wait in", *launchers)
        screen.type("/%d\r\r" % self.jobs[1].process.pid)
        screen.expect("ranks.py \u00b7 4 ranks", "focus 0-3 (4)")
        screen.type("q")
        screen.expect("jobs found", "3 of 4 ranks wait in", *launchers)
        self.assertEqual(screen.leave(), 0)
        for job in self.jobs:
            for pid in job.pids:
                self.assertEqual(jobs.tracer(pid), 0)


if __name__ == "__main__":
    unittest.main()
