#!/usr/bin/env python3
"""A day with probetui, start to end: a job of torchrun with eight ranks hangs,
the odd rank is found and looked at, all of them are stopped and stepped, a
tensor is compared over them, and the job comes to the result that it comes to
without us. Once for each kind of debugger.

It takes eight torches: PROBETUI_SOAK=1. With PROBETUI_DAY_SCREENS=FOLDER the
screens are kept there, as scripts/day-screens wants them.
"""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jobs  # noqa: E402
import terminals  # noqa: E402
sys.path.insert(1, os.path.join(jobs.SOURCE, "tests", "backend"))
import pythons  # noqa: E402

COUNT = int(os.environ.get("PROBETUI_DAY_RANKS", "8"))
ODD = 5  # as in the script
AGENT = os.path.join(jobs.SOURCE, "agent")
SCRIPT = os.path.join(jobs.JOBS, "day.py")
KEPT = os.environ.get("PROBETUI_DAY_SCREENS")
BEGIN = 300  # many torches at once, on a machine that has other things to do
LIMIT = 120
# The same in one process.
ALONE = """
import torch
from torch import nn, optim
torch.set_num_threads(1)
torch.manual_seed(0)
model = nn.Linear(32, 8)
opt = optim.SGD(model.parameters(), lr=0.1)
for step in range(12):
    for rank in range(%d):
        torch.manual_seed(1000 * step + rank)
        (model(torch.randn(64, 32)).pow(2).mean() / %d).backward()
    opt.step(); opt.zero_grad()
print(float(model.weight.detach().double().norm()))
"""


def line_of(text):
    with open(SCRIPT) as file:
        lines = [line.strip() for line in file]
    return lines.index(text) + 1


BACKWARD = line_of("loss.backward()")
REDUCE = line_of("reduce_gradients(model)")
CALL = line_of("def reduce_gradients(model):")
FIRST = line_of("for p in model.parameters():")
ALL_REDUCE = line_of("dist.all_reduce(p.grad)")


class DayJob(jobs.Launched):
    """tests/jobs/day.py by torchrun; its storage is away until it is back."""

    def __init__(self, python, **environment):
        self.folder = tempfile.mkdtemp(prefix="probetui-day-")
        self.storage = os.path.join(self.folder, "storage")
        self.port = jobs.free_port()
        self.pids = {}
        self.environment = environment
        super().__init__(
            pythons.torchrun(
                python, COUNT, "--master_addr", "127.0.0.1",
                "--master_port", str(self.port)) + [SCRIPT, self.storage],
            **environment)

    def children(self):
        path = "/proc/%d/task/%d/children" % ((self.process.pid,) * 2)
        with open(path) as file:
            return [int(word) for word in file.read().split()]

    def bring_storage_back(self):
        with open(self.storage, "w"):
            pass

    def end(self):
        """Its status, and what each rank came to."""
        said, _ = self.process.communicate(timeout=BEGIN)
        return self.process.returncode, dict(
            (int(rank), float(value)) for rank, value
            in re.findall(r"result (\d+) (\S+)", said))

    def close(self):
        """torchrun gives each rank a session of its own."""
        if self.process.poll() is None:
            pids = self.children()
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                for pid in pids:
                    os.kill(pid, signal.SIGKILL)
        super().close()
        shutil.rmtree(self.folder, ignore_errors=True)
        # The ranks end by os._exit(), which removes nothing.
        for rank in range(COUNT if "IPDB_DEBUG" in self.environment else 0):
            with contextlib.suppress(FileNotFoundError):
                os.unlink("/tmp/pdb.sock.%d" % rank)


class TestDay(unittest.TestCase):
    python = None
    alone = None

    @classmethod
    def setUpClass(cls):
        if "PROBETUI_SOAK" not in os.environ:
            raise unittest.SkipTest("it takes minutes: PROBETUI_SOAK=1")
        cls.python = jobs.find_torch()
        if cls.python is None:
            raise unittest.SkipTest("no Python with torch here; "
                                    "PROBETUI_TORCH_PYTHON may name one")
        cls.alone = float(subprocess.check_output(
            [cls.python, "-c", ALONE % (COUNT, COUNT)]))

    def start(self, kind, rows=24, columns=80, **environment):
        self.kind = kind
        self.job = DayJob(self.python, **environment)
        self.addCleanup(self.job.close)
        self.screen = terminals.Terminal(rows, columns)
        self.addCleanup(self.screen.close)
        self.screen.start(["--ranks", "0-%d" % (COUNT - 1), "--job",
                           str(self.job.port)])

    def keep(self, name):
        """The screen goes to a file, for who asked for it."""
        if not KEPT:
            return
        self.screen.settle(0.6)  # what follows the cursor is drawn
        path = os.path.join(KEPT, "%s-%s.txt" % (self.kind, name))
        with open(path, "w") as file:
            file.write(self.screen.text() + "\n")

    def say(self, line):
        self.screen.press(b":" + line.encode() + b"\r")

    def find_the_odd_one(self):
        """The verdict names it, and where the others are."""
        others = "0-%d" % (COUNT - 1)
        self.screen.until(
            "%d of %d ranks wait in all_reduce (day.py:%d)" % (
                COUNT - 1, COUNT, ALL_REDUCE),
            "Rank %d is elsewhere" % ODD, "focus " + others, limit=BEGIN)
        self.screen.until("%d ◆ sleep" % ODD)
        self.screen.press(b"}")
        self.screen.until("Source · day.py · rank %d" % ODD,
                          "▸ load_batch", "Locals · load_batch",
                          "step  3", "rank  %d" % ODD)
        self.keep("home")

    def see_the_difference(self):
        self.screen.press(b"D")
        self.screen.until("Diff · rank %d" % ODD, "majority: ",
                          "- load_batch", "+ reduce_gradients")
        self.keep("diff")
        self.screen.press(b"\x1b")
        self.screen.until("Locals · load_batch")

    def all_at(self, why, *lines):
        """All ranks stand at one of these lines, and the verdict says so;
        which one it is."""
        said = "■ Ranks 0-%d %s" % (COUNT - 1, why)

        def line():
            self.screen.take(0.1)
            flat = " ".join(self.screen.text().split())
            return [each for each in lines if re.search(
                re.escape(said) + r"[^.]*, day\.py:%d\." % each, flat)]
        try:
            jobs.wait_for(line, said, LIMIT)
        except TimeoutError:
            raise AssertionError("%s at %r is not on the screen:\n%s" % (
                said, lines, self.screen.text()))
        return line()[0]

    def set_breakpoint(self, condition=""):
        """And wait until all have it: the job waits for nobody then."""
        place = "day.py:%d" % BACKWARD
        self.say("break %s%s" % (place, condition))
        self.screen.press(b"B")
        self.screen.until("┌Breakpoints", "1 ● " + place, limit=LIMIT,
                          lacks=("no debugger connected", "not set", "told"))
        self.keep("breakpoints")
        self.screen.press(b"\x1b")
        self.screen.until("Source · day.py")

    def walk(self):
        """From the breakpoint over all ranks: next, step, continue."""
        self.screen.press(b"n")
        self.all_at("stopped", REDUCE)
        # Into the function: at its call, if that is a stop of its own.
        self.screen.press(b"s")
        if self.all_at("stopped", CALL, FIRST) == CALL:
            self.screen.press(b"n")
            self.all_at("stopped", FIRST)
        self.keep("stepped")
        self.screen.press(b"c")
        self.all_at("stopped at breakpoint 1", BACKWARD)

    def compare(self):
        """The replicas are the same; what each was given is not."""
        everybody = "0-%d" % (COUNT - 1)
        for expression, ranks in (("x", "0 "), ("model.weight", everybody)):
            self.screen.press(b"=" + expression.encode() + b"\r")
            self.screen.until("Compare · " + expression, ranks, "float32",
                              lacks=("evaluated",))
        self.keep("compare")
        self.screen.press(b"\x1b")

    def leave(self):
        self.say("clear all")
        self.screen.press(b"c")
        try:
            self.screen.until("have ended", limit=LIMIT)
        except TimeoutError as error:
            raise AssertionError("%s\n%s" % (error, self.job.output()))
        self.screen.press(b"q")
        self.assertEqual(self.screen.wait_end(), 0)
        self.assertIsNone(self.screen.problem())

    def check_result(self):
        status, results = self.job.end()
        self.assertEqual(status, 0, self.job.output())
        self.assertEqual(sorted(results), list(range(COUNT)))
        self.assertEqual(len(set(results.values())), 1, results)
        self.assertAlmostEqual(results[0], self.alone, places=4)

    def day(self):
        """From the breakpoint on it is the same for all."""
        self.all_at("stopped at breakpoint 1", BACKWARD)
        self.keep("stopped")
        self.walk()
        self.compare()
        self.leave()
        self.check_result()

    def test_from_outside(self):
        self.start("outside")
        self.find_the_odd_one()
        self.see_the_difference()
        self.set_breakpoint(" if step > 3")
        self.job.bring_storage_back()
        self.day()

    def test_with_agents(self):
        self.start("agent", PROBETUI="1", PYTHONPATH=AGENT)
        self.find_the_odd_one()
        self.set_breakpoint(" if step > 3")
        self.job.bring_storage_back()
        self.day()

    def test_with_pdb_on_sockets(self):
        self.start("pdb", IPDB_DEBUG="1", PYTHONPATH=AGENT)
        self.find_the_odd_one()
        self.job.bring_storage_back()
        # `a` connects to the ranks that wait now: all of them are to.
        self.screen.until("Ranks 0-%d wait in debuggers" % (COUNT - 1),
                          limit=LIMIT)
        self.keep("waiting")
        self.screen.press(b"a")
        self.screen.until("%d stopped" % COUNT, limit=LIMIT)
        self.set_breakpoint()
        self.screen.press(b"c")
        self.day()


if __name__ == "__main__":
    unittest.main()
