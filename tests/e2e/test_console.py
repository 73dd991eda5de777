"""The console and questions to several ranks, on real debuggers."""
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(1, os.path.join(os.path.dirname(HERE), "backend"))
import jobs  # noqa: E402
import pdbs  # noqa: E402
import terminals  # noqa: E402

LEAVE = b"\x1d"     # ^]

CODE = r"""
import os
rank = int(os.environ["RANK"])
class Net:
    pass
def train(step):
    loss = {2: float("nan"), 3: 0.1306}.get(rank, 0.1182)
    net = Net()
    stop()
    return step
train(4)
"""


class Job(unittest.TestCase):
    """Some ranks of which each is stopped in a pdb."""

    COUNT = 4
    DIALECT = pdbs.PLAIN

    def setUp(self):
        self.ranks = []
        for number in range(self.COUNT):
            rank = pdbs.Rank(CODE, self.DIALECT, rank=number)
            self.addCleanup(rank.close)
            self.ranks.append(rank)

    def arguments(self, *connected):
        """Names all ranks, and connects to these."""
        words = ["--pid", ",".join(str(rank.pid) for rank in self.ranks)]
        for number in connected:
            words += ["--connect", self.ranks[number].target]
        return words

    def screen(self, *connected):
        terminal = terminals.Terminal()
        self.addCleanup(terminal.close)
        terminal.start(self.arguments(*connected))
        return terminal


class TestQuestions(Job):
    def script(self, lines):
        """Its status, and the JSON of each line but those of events."""
        run = subprocess.run(
            [jobs.PROBETUI, "--json"] + self.arguments(0, 2, 3) + ["-x", "-"],
            input=lines, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, timeout=jobs.LIMIT)
        found = [json.loads(line) for line in run.stdout.splitlines()]
        return run.returncode, [one for one in found if "event" not in one]

    def test_equal_answers_are_together(self):
        status, found = self.script(
            "compare loss\ncompare net\nbroadcast p step\n"
            "compare nosuch ranks 3\ncompare (loss,\n")
        self.assertEqual(status, 1)
        loss, net, step, nosuch, broken = found
        self.assertEqual(loss, {
            "expr": "loss",
            "classes": [
                {"ranks": "2", "count": 1, "value": "nan", "tensor": None,
                 "compared": True},
                {"ranks": "3", "count": 1, "value": "0.1306", "tensor": None,
                 "compared": True},
                {"ranks": "0-1", "count": 2, "value": "0.1182",
                 "tensor": None, "compared": True}],
            "errors": [],
            "sentence": loss["sentence"]})
        self.assertEqual([one["ranks"] for one in net["classes"]], ["0-3"])
        self.assertEqual(step["line"], "p step")
        self.assertEqual(step["classes"],
                         [{"ranks": "0,2-3", "count": 3, "value": "4"}])
        self.assertEqual(nosuch["classes"], [])
        self.assertEqual(nosuch["errors"], [
            {"rank": 3, "error": "NameError: name 'nosuch' is not defined"}])
        self.assertEqual(len(broken["errors"]), 4)

    def test_the_function_looked_at_is_asked(self):
        """One rank is in a function that the others have called, too."""
        _status, found = self.script("rank 0\nstep ranks 2\n"
                                     "wait stopped ranks 2\ncompare step\n")
        self.assertEqual(found[-1]["classes"][0]["ranks"], "0-3")

    def test_what_ends_programs_is_asked_about(self):
        status, found = self.script("broadcast q\nbroadcast p rank\n"
                                    "broadcast --yes q\n")
        self.assertEqual(status, 1)
        self.assertEqual([one["line"] for one in found], ["p rank", "q"])
        self.assertIn("BdbQuit", self.ranks[0].end()[2])

    def test_so_is_what_ends_them_in_other_words(self):
        status, found = self.script(
            "broadcast quit()\nbroadcast q=1\nbroadcast p rank ;; q\n"
            "broadcast p rank\n")
        self.assertEqual(status, 1)
        self.assertEqual([one["line"] for one in found], ["p rank"])
        self.assertEqual(found[0]["errors"][0]["rank"], 1)
        self.assertEqual(len(found[0]["classes"]), 3)

    def test_nobody_is_stopped(self):
        run = jobs.probetui(*(self.arguments() + ["broadcast", "p loss"]))
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("none of the ranks 0-3 is stopped", run.stderr)

    def test_the_screen_shows_them_as_they_come(self):
        terminal = self.screen(0, 2, 3)
        terminal.see(b"Ranks 0,2-3 stopped")
        terminal.press(b"=loss\r")
        terminal.see(b"rank 2 is nan")
        terminal.press(b":broadcast p 'a%db' % step\r")
        terminal.see(b"a4b")

    def test_what_was_assigned_is_seen(self):
        """Where it is stopped still, too, by whatever way it was said."""
        terminal = self.screen(0, 2, 3)
        terminal.see(b"Ranks 0,2-3 stopped")
        terminal.press(b"0\r")
        terminal.see(b"0.1182")
        terminal.press(b"eloss = 700 + 71\r\x04")
        terminal.see(b"771")
        terminal.press(b":broadcast loss = 700 + 72\r\x1b")
        terminal.see(b"772")
        terminal.press(b"C")
        terminal.see(b"(Pdb)")
        terminal.press(b"loss = 700 + 73\r" + LEAVE)
        terminal.see(b"773")


class TestConsole(Job):
    COUNT = 2

    def test_what_is_typed_goes_to_the_rank_that_is_seen(self):
        terminal = self.screen(0, 1)
        terminal.see(b"Ranks 0 and 1 stopped")
        terminal.press(b"0\rC")
        terminal.see(b"(Pdb)")
        terminal.press(b"p rank, step * 1001x\x7f\r")
        terminal.see(b"(0, 4004)")
        terminal.press(LEAVE + b"]C")
        terminal.press(b"p rank, step * 1002\r")
        terminal.see(b"(1, 4008)")
        # The other one's screen is as it was.
        terminal.press(LEAVE + b"[C")
        terminal.see(b"(0, 4004)")
        # A line that was sent can be had again.
        terminal.press(b"\x1b[A\r")
        terminal.see(b"(0, 4004)")
        terminal.press(b"c\r")
        self.assertEqual(self.ranks[0].end()[0], 0)


class TestTerminal(Job):
    """A debugger behind a terminal: colours, and prompts that are no pdb's."""

    COUNT = 1
    DIALECT = pdbs.RELAYED

    def test_interact(self):
        terminal = self.screen(0)
        terminal.see(b"Rank 0 stopped")
        terminal.press(b"C")
        terminal.press(b"interact\r")
        terminal.see(b"nested")
        terminal.press(b"for i in range(2):\r\tprint(i + step * 1001)\r\r")
        terminal.see(b"4005")
        terminal.press(b"\x04")
        terminal.press(b"p 'back%d' % step\r")
        terminal.see(b"back4")


if __name__ == "__main__":
    unittest.main()
