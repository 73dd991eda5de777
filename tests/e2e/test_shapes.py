"""What commands print with --json has the shapes of the manual page.

Here of recordings, of a script that stops a process, and of a job that is
started; test_statuses.py, test_tensors.py and others check what they print.
"""
import json
import os
import re
import subprocess
import sys
import unittest

import jobs
import outside
from shapes import SHAPES

RECORDINGS = os.path.join(jobs.SOURCE, "tests", "recordings")
WITHOUT_JSON = {"set", "completion", "help", "keys"}
TEXT = """
    import array
    good = array.array("d", [1.0, 2.0])

    def work(total):
        for step in range(total):
            total += step
            good[0] = step
        return total
"""


def run(recording, *words):
    path = os.path.join(RECORDINGS, recording + ".jsonl")
    return jobs.probetui("--json", "--replay", path, *words)


class TestPage(unittest.TestCase):
    def test_it_has_every_command_that_has_json(self):
        commands = set(re.findall(r"^  (\S+)", jobs.probetui("help").stdout,
                                  re.M))
        self.assertGreater(len(commands), 50)
        self.assertEqual(set(SHAPES.answers), commands - WITHOUT_JSON)

    def test_those_without_say_so(self):
        for command in WITHOUT_JSON:
            with self.subTest(command):
                failed = jobs.probetui("--json", command)
                self.assertEqual(failed.returncode, 2)
                self.assertIn("has no JSON", failed.stderr)

    def test_every_name_is_a_shape(self):
        def walk(shape):
            kind, parts = shape
            if kind == "name":
                SHAPES.faults(None, shape)
            elif kind == "object":
                for part, _ in parts.values():
                    walk(part)
            elif kind != "word":
                for part in parts:
                    walk(part)

        for shapes in (SHAPES.answers, SHAPES.events, SHAPES.types):
            for shape in shapes.values():
                walk(shape)

    def test_faults_are_found(self):
        told = json.loads(run("hung8", "verdict").stdout)
        for change, fault in (
                ({"extra": 1}, "it.extra is not documented"),
                ({"state": "odd"}, "it.state is 'odd'"),
                ({"world_size": "8"}, "it.world_size is no int: '8'"),
                ({"outliers": [True]}, "it.outliers[0] is no int: True"),
                ({"classes": [{}]}, "it.classes[0] has no ranks")):
            with self.subTest(fault):
                self.assertIn(fault, SHAPES.answer_faults(
                    "verdict", dict(told, **change)))
        del told["job"]
        self.assertEqual(SHAPES.answer_faults("verdict", told),
                         ["it has no job"])


class TestRecordings(unittest.TestCase):
    def check(self, recording, *words):
        found = run(recording, *words)
        told = json.loads(found.stdout)
        self.assertNotIn("error", told, found.stderr)
        SHAPES.check(self, words[0], told)
        return told

    def test_a_hung_job(self):
        for words in ("ranks", "verdict", "stacks", "stacks --merge",
                      "diff 3 majority", "report", "jobs", "focus outlier",
                      "name slow 3", "rank 3", "up", "where", "frame 0"):
            with self.subTest(words):
                self.check("hung8", *words.split())

    def test_native_frames(self):
        tree = self.check("native", "stacks", "--native", "--merge")
        self.assertIn('"Native"', json.dumps(tree))
        self.check("native", "stacks", "--native")

    def test_several_jobs(self):
        self.assertEqual(len(self.check("jobs", "jobs")), 2)

    def test_ranks_that_are_stopped(self):
        for recording in ("stopped4", "stopped8", "outside8"):
            with self.subTest(recording):
                self.check(recording, "ranks")
                self.check(recording, "report")


class TestScripts(unittest.TestCase):
    def test_a_process_that_is_stopped(self):
        program = outside.Program(self, [sys.executable], TEXT)
        shell = outside.Shell(self, program)
        for line in (
                "break train.py:%d log 'step {step}'" % program.line("good[0]"),
                "break train.py:%d if step > 0" % program.line("total +=")):
            self.check(shell, line)
        program.tell("work(5)")
        self.assertEqual(shell.stop()[0], [2])
        for line in ("where", "up", "down", "locals --rank 0", "focus 0",
                     "name some 0", "print step", "watch total",
                     "compare good", "tensor good --rank 0",
                     "tensor good --rank 0 --slice [0:2]", "jobs", "stacks",
                     "ranks", "verdict", "report", "doctor", "output",
                     "disable 1", "enable 1", "ignore 1 2", "condition 1 1",
                     "display step", "display"):
            with self.subTest(line):
                self.check(shell, line)
        # What is displayed is printed at each stop, too.
        told = shell.do("next", "wait stopped")
        self.assertTrue(shell.stops)
        for command, key in (("next", "command"), ("display", "displays")):
            found = [one for one in told if key in one]
            self.assertTrue(found, told)
            for one in found:
                SHAPES.check(self, command, one)
        for line in ("undisplay 1", "clear 3", "step", "detach"):
            with self.subTest(line):
                self.check(shell, line, may_be_silent=True)

    def check(self, shell, line, may_be_silent=False):
        told = shell.do(line)
        self.assertTrue(told or may_be_silent, line)
        for one in told:
            SHAPES.check(self, line.split()[0], one)

    def test_a_job_that_is_started(self):
        script = "wait exited\nquit\n"
        found = subprocess.run(
            [jobs.PROBETUI, "--json", "-x", "-", "--", sys.executable, "-c",
             "import sys, time; time.sleep(0.5); sys.exit(3)"],
            input=script, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, timeout=jobs.LIMIT)
        told = [json.loads(line) for line in found.stdout.splitlines()]
        self.assertIn("job", [one.get("event") for one in told], found.stderr)
        for one in told:
            SHAPES.check(self, "wait", one)


if __name__ == "__main__":
    unittest.main()
