"""Random commands in real and made programs stop where bdb would stop.

As test_stepping.py does, with stepping_real.py and programs that
stepping_random.py makes, on new code and on code that has run a hundred
times. A sequence is its seed: PROBETUI_STEPPING_SEED=SEED does that one alone,
PROBETUI_STEPPING_COUNT so many from it on. What is found is made a scenario of
stepping_scenarios.py.

Each day's run does the same few sequences, each on one Python; with
PROBETUI_SOAK it does many on all, from a seed that it prints.
"""
import json
import os
import re
import select
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stepping_random  # noqa: E402
import test_stepping  # noqa: E402
from test_stepping import Program, Rank, Scenario, Session  # noqa: E402
sys.path.insert(0, os.path.join(test_stepping.jobs.SOURCE, "tests", "backend"))
import pythons  # noqa: E402

FIRST, FEW = 20, 4  # sequences of a day


class Watched(Session):
    """Ends a wait for a stop when the program has ended instead."""

    def __init__(self, ranks):
        super().__init__(ranks)
        self.buffer = b""

    def read(self):
        """What it says; that the rank has exited, once that has no more to
        say."""
        (rank,) = self.ranks.values()
        output, plain = self.process.stdout.fileno(), rank.plain.process.stdout
        while b"\n" not in self.buffer:
            ready = select.select([output, plain], [], [],
                                  test_stepping.STOP_LIMIT)[0]
            if output in ready:
                more = os.read(output, 1 << 16)
                if not more:
                    raise AssertionError("probetui ended")
                self.buffer += more
            else:
                return {"event": "exited"}
        line, _, self.buffer = self.buffer.partition(b"\n")
        return json.loads(line.decode())


class Runner:
    """One Python's two processes and their probetui, started anew when the
    last sequence went wrong."""

    def __init__(self, python, folder):
        self.python, self.folder = python, folder
        self.rank = self.session = None

    def start(self):
        self.rank = Rank(0, self.python, self.folder)
        self.session = Watched([self.rank])

    def close(self):
        if self.session:
            # It may wait for a stop that does not come.
            self.session.process.kill()
            self.session.close()
            self.rank.close()
        self.rank = self.session = None

    def lines(self, order):
        """What runs: see stepping_target.py."""
        if not self.rank:
            self.start()
        order = {key: order[key] for key in ("program", "functions", "warm")}
        self.rank.bdb.tell(dict(order, warm=0))
        return self.rank.bdb.hear()

    def run(self, order):
        """The stops wanted and got, and what went wrong."""
        if not self.rank:
            self.start()
        rank, session = self.rank, self.session
        rank.begin(order)
        if not rank.is_ready():
            raise AssertionError("the program is not ready")
        scenario = Scenario(session, [rank], order)
        scenario.run()
        wanted, got = rank.wanted, rank.got[:len(rank.wanted)]
        error = scenario.error
        if wanted != got or error or scenario.end([rank]):
            self.close()
        return wanted, got, error


def is_known(python, wanted, got):
    """Up to 3.9 the line of a return may be another (docs/stepping.md, 8);
    take() then leaves the value out."""
    place = re.compile(r"return (\S+):(\d+) (\S+)")
    both = [place.match(stop) for stop in (wanted, got)]
    return python.version < (3, 10) and all(both) and \
        both[0].group(1, 3) == both[1].group(1, 3) and \
        both[0].group(2) != both[1].group(2)


def is_late(wanted, got):
    """Under bdb, which keeps the frame of its command, and up to 3.10 a copy
    of each frame's variables, a __del__ or a WeakSet's callback may run later
    (docs/stepping.md); what follows cannot be compared."""
    return wanted != got and bool(re.match(
        r"call (\S+ __del__|_weakrefset\.py:\d+ _remove)$", got))


def differs(runner, order):
    """None, or the first stop that differs."""
    wanted, got, error = runner.run(order)
    for number, each in enumerate(wanted):
        if number < len(got) and is_late(each, got[number]):
            return None
        if number >= len(got) or each != got[number] and \
                not is_known(runner.python, each, got[number]):
            return "stop %d of %d: bdb %s, here %s (%s), after %s" % (
                number, len(wanted), each, got[number:number + 1] or "none",
                error, got[:number][-3:])
    return None


class RandomSteppingTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        found = pythons.find()
        if not found:
            self.skipTest("no CPython is here")
        names = os.environ.get("PROBETUI_STEPPING_PYTHONS")
        if names:
            found = [python for python in found
                     if str(python.version[1]) in names.split(",")]
        self.program = Program(found)
        self.addCleanup(self.program.close)
        self.sequences = stepping_random.Sequences(self.program.folders)
        self.runners = [Runner(python, self.program.folder)
                        for python in found]
        for runner in self.runners:
            self.addCleanup(runner.close)

    def try_seed(self, seed, runner):
        with self.subTest(seed=seed, python=runner.python.name):
            order = self.sequences.order(seed, runner.lines)
            try:
                found = differs(runner, order)
                if found and stepping_random.ALL:
                    order = stepping_random.reduced(
                        order, lambda less: differs(runner, less))
                    found = differs(runner, order) or found
            except AssertionError:
                runner.close()
                raise
            self.assertIsNone(found, "%s %s" % (found, json.dumps(order)))

    def test_random_commands_stop_as_under_bdb(self):
        for seed in stepping_random.seeds(FIRST, FEW):
            for runner in stepping_random.shared_out(self.runners, seed):
                self.try_seed(seed, runner)


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
