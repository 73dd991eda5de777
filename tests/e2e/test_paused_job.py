#!/usr/bin/env python3
"""Some ranks of a gloo job are paused by keys and by a script for longer than
its collectives may last: agents have them last, else the node resumes the ranks,
also when the screen does nothing."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "backend")]
import jobs  # noqa: E402
import terminals  # noqa: E402
from gloo_jobs import PYTHON, STEP_LINE, WHY_NOT, Job  # noqa: E402
from nodes import LIMIT  # noqa: E402

# How many rounds; one of a thorough look takes a minute.
ROUNDS = int(os.environ.get("PROBETUI_ROUNDS", "1"))
COUNT = int(os.environ.get("PROBETUI_RANKS", "3"))
# So many times the limit.
FACTOR = float(os.environ.get("PROBETUI_FACTOR", "1.4"))
takes_long = unittest.skipUnless(
    "PROBETUI_SOAK" in os.environ, "it takes half a minute: PROBETUI_SOAK=1")


class PausedCase(unittest.TestCase):
    def start(self, agents=()):
        self.job = Job(COUNT, agents)
        self.addCleanup(self.job.close)
        self.pids = ",".join(map(str, self.job.pids()))

    def let_go(self):
        """Also the one that stops when its collective is over."""
        self.job.wait(self.has_moved, "the steps to go on")

    def has_moved(self):
        before = self.job.steps()
        self.terminal.press(b"c")
        self.terminal.take(1)
        return self.job.steps() > before + 5

    def check_result(self):
        self.job.wait_for_steps()
        self.assertEqual(self.job.end(), list(range(COUNT)))


@unittest.skipUnless(PYTHON, WHY_NOT)
class TestKeys(PausedCase):
    def open(self):
        self.terminal = terminals.Terminal(30, 120)
        self.addCleanup(self.terminal.close)
        self.terminal.start(["--pid", self.pids])
        self.terminal.see(b"Locals \xc2\xb7 ")

    def leave(self):
        # A rank that the screen takes for stopped is worth a question.
        self.terminal.see(b"All ranks have ended")
        self.terminal.press(b"q")
        self.assertEqual(self.terminal.wait_end(), 0)

    def pause_two(self):
        self.terminal.press(b"@0,1\r")
        self.terminal.press(b"p")
        # An agent's pause takes effect behind a collective: the other may wait
        # in one for the first that stopped.
        self.terminal.see(b" stopped for ")

    def test_two_ranks_with_agents(self):
        for _ in range(ROUNDS):
            self.start(agents=range(COUNT))
            self.open()
            self.pause_two()
            self.job.outlast(FACTOR)
            self.let_go()
            self.check_result()
            self.leave()

    def test_two_ranks_without(self):
        for _ in range(ROUNDS):
            self.start()
            self.open()
            self.pause_two()
            self.terminal.until("resumed so that the job continues")
            self.check_result()
            self.leave()

    @takes_long
    def test_a_breakpoint(self):
        for _ in range(ROUNDS):
            self.start(agents=range(COUNT))
            self.open()
            self.terminal.press(b":break %s:%d\r" % (
                self.job.path.encode(), STEP_LINE))
            self.terminal.see(b" stopped for ")
            self.job.outlast(FACTOR)
            self.terminal.press(b":clear all\r")
            self.let_go()
            self.check_result()
            self.leave()

    @takes_long
    def test_catch(self):
        """The job ends by the exception, as it does without probetui."""
        for _ in range(ROUNDS):
            self.start(agents=range(COUNT))
            self.open()
            self.terminal.press(b":catch\r")
            self.terminal.until("exception stops")
            open(self.job.file("raise.1"), "w").close()
            self.terminal.see(b" stopped for ")
            self.job.outlast(FACTOR)
            while self.job.process.poll() is None:
                self.terminal.press(b"c")
                self.terminal.take(1)
            text = self.job.text()
            self.assertIn("ValueError: rank 1 raises", text)
            self.assertNotIn("Timed out", text)
            self.leave()

    @takes_long
    def test_a_frozen_screen(self):
        self.start()
        self.open()
        self.pause_two()
        os.kill(self.terminal.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, self.terminal.pid, signal.SIGCONT)
        self.job.wait_for_steps()
        self.job.outlast(FACTOR)
        self.check_result()

    @takes_long
    def test_a_question_answered_with_yes(self):
        self.start()
        self.open()
        self.pause_two()
        self.terminal.see(b"Stay stopped? (Y; Esc: no)")
        self.terminal.press(b"Y")
        self.terminal.until("stopped: a collective that waits for ")
        self.assertEqual(self.job.process.wait(LIMIT), 1)
        self.assertIn("Timed out", self.job.text())

    def test_a_question_that_is_not_answered(self):
        """What is typed meanwhile is no answer."""
        self.start()
        self.open()
        self.pause_two()
        self.terminal.see(b"Stay stopped? (Y; Esc: no)")
        self.terminal.press(b"]")
        self.terminal.until("resumed so that the job continues")
        # What was said goes with the next key, and hints are there again.
        self.terminal.see(b"outlier")
        self.check_result()
        self.leave()

    @takes_long
    def test_who_stays(self):
        self.start(agents=range(COUNT))
        self.open()
        self.terminal.press(b":set hold stay\r")
        self.terminal.until("may time out and end the job")
        self.pause_two()
        self.let_go()
        self.check_result()


@unittest.skipUnless(PYTHON, WHY_NOT)
class TestScript(PausedCase):
    def test_it_is_told(self):
        """What is to be expected, before; and that it has happened."""
        self.start()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "script")
            with open(path, "w") as file:
                file.write("pause ranks 0\nwait stopped ranks 0\n"
                           "wait exited timeout 100\n")
            script = subprocess.Popen(
                [jobs.PROBETUI, "--json", "--pid", self.pids, "-x", path],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                universal_newlines=True)
            told = []
            for line in script.stdout:
                told.append(json.loads(line))
                if told[-1].get("event") == "continued":
                    break
            self.assertEqual(told[-1]["reason"], "time limit", told)
            self.check_result()
            script.communicate()


if __name__ == "__main__":
    unittest.main()
