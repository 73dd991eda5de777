#!/usr/bin/env python3
"""Command lines of Probe v1 and of Probing: the pid first or -t, their names,
and a sentence for what does not exist here."""
import json
import subprocess
import sys
import unittest

import jobs

PROGRAM = ("import sys, time\n"
           "def wait():\n"
           "    print('ready', flush=True)\n"
           "    while True:\n"
           "        time.sleep(0.05)\n"
           "wait()\n")


class TestNames(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE,
            preexec_fn=jobs.end_with_parent)
        cls.process.stdout.readline()
        cls.pid = str(cls.process.pid)

    @classmethod
    def tearDownClass(cls):
        cls.process.kill()
        cls.process.wait()
        cls.process.stdout.close()

    def run_line(self, line):
        return jobs.probetui(*line.replace("PID", self.pid).split())

    def test_the_pid_stands_first_or_behind(self):
        for line in ("PID dump", "dump PID", "-t PID backtrace",
                     "PID stacks"):
            with self.subTest(line):
                run = self.run_line(line)
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                self.assertIn("wait (<string>:", run.stdout)

    def test_pause(self):
        run = self.run_line("PID pause")
        self.assertEqual((run.returncode, run.stdout),
                         (4, "pause: rank 0\n"), run.stderr)

    def test_inject_catch_execute_eval_and_listen(self):
        for line, says in (("PID inject --timeout 60", ".agent"), ("PID listen", ".agent"),
                           ("PID catch", "uncaught exception"),
                           ("PID catch off", "uncaught exception"),
                           ("PID execute 6*7", "42"),
                           ("-t PID eval 6*7", "42"),
                           ("PID eject", "rank 0: ")):
            with self.subTest(line):
                run = self.run_line(line)
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                self.assertIn(says, run.stdout)

    def test_what_does_not_exist_is_a_sentence(self):
        for line, says in (
                ("PID inject -P -b -a 127.0.0.1:1234", "needs a profiler"),
                ("PID inject -b", "needs a profiler"),
                ("inject PID -a 127.0.0.1:1234", "PROBETUI_ADDRESS"),
                ("PID listen 127.0.0.1:1234", "PROBETUI_ADDRESS"),
                ("PID pause 127.0.0.1:1234", "unexpected word"),
                ("PID pprof", "probetui has no profiler"),
                ("-t PID query select", "no tables to query"),
                ("-t", "-t needs PID or HOST:PORT"),
                ("-t train.py eval 1", "is not a target")):
            with self.subTest(line):
                run = self.run_line(line)
                self.assertEqual((run.returncode, run.stdout), (2, ""))
                self.assertIn(says, run.stderr)

    def test_an_error_is_one_json_value(self):
        for line, status in (("--json PID inject -b", 2),
                             ("--json PID stacks --nothing", 2)):
            with self.subTest(line):
                run = self.run_line(line)
                told = json.loads(run.stdout)
                self.assertEqual((run.returncode, told["status"]),
                                 (status, status))
                self.assertIn(told["error"], run.stderr)

    def test_an_address_where_no_agent_listens(self):
        run = self.run_line("-t 127.0.0.1:%d eval 1" % jobs.free_port())
        self.assertEqual((run.returncode, run.stdout), (3, ""))
        self.assertIn("no process listens", run.stderr)


if __name__ == "__main__":
    unittest.main()
