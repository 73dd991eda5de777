"""Random commands, sent to a pdb on a socket, stop where they stop in bdb, and
each stop is told.

As test_stepping_random.py does, with the programs and commands of
stepping_random.py. A sequence is its seed: PROBETUI_STEPPING_SEED=SEED does
that one alone, PROBETUI_STEPPING_COUNT so many from it on.

Each day's run does a few sequences, each on one Python; with PROBETUI_SOAK it
does many on all, from a seed that it prints.
"""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stepping_random  # noqa: E402
import test_stepping  # noqa: E402
from test_stepping import Scenario, start  # noqa: E402
from test_stepping_random import Watched  # noqa: E402
sys.path.insert(0, os.path.join(test_stepping.jobs.SOURCE, "tests", "backend"))
import pythons  # noqa: E402

FIRST, FEW = 60, 6      # sequences of a day


class Rank:
    """As Rank of test_stepping, with pdb for the plain one."""
    number = 0

    def __init__(self, python, folder):
        self.plain = start(python, "pdb", folder)
        self.bdb = start(python, "shown", folder)
        self.wanted, self.got, self.is_cut = [], [], False

    def take_wanted(self):
        self.wanted = self.bdb.hear()
        self.is_cut = "outside" in self.wanted
        if self.is_cut:
            del self.wanted[self.wanted.index("outside"):]

    def close(self):
        self.plain.close()
        self.bdb.close()


class Walk(Scenario):
    def begin(self):
        return "continue"


def without_lines(script):
    """pdb refuses `until` of a line above, bdb does not: no lines."""
    return ["unt" if word.startswith("unt:") else word for word in script]


def run(python, folder, order):
    """The stops wanted and got, what went wrong, and whether the program came
    to its end."""
    rank = Rank(python, folder)
    socket = os.path.join(folder, "pdb.sock")
    session = Watched([rank])
    try:
        rank.bdb.tell(order)
        rank.plain.tell(order)
        rank.take_wanted()
        assert rank.plain.hear() == "ready"
        rank.plain.tell("go")
        assert rank.plain.hear() == "listens"
        session.send("connect pdb:unix:" + socket, "wait stopped")
        said = {}
        while said.get("event") != "stopped":
            said = session.read()
            assert said.get("event") != "exited", order
        walk = Walk(session, [rank], order)
        walk.run()
        ended = not walk.end([]) and rank.plain.hear() == "done"
        return rank.wanted, rank.got[:len(rank.wanted)], walk.error, ended
    finally:
        session.process.kill()
        session.close()
        rank.close()
        if os.path.exists(socket):
            os.remove(socket)


def differs(python, folder, order):
    """None, or the first stop that differs."""
    wanted, got, error, ended = run(python, folder, order)
    for number, each in enumerate(wanted):
        if got[number:number + 1] != [each]:
            return "stop %d of %d: bdb %s, here %s (%s), after %s" % (
                number, len(wanted), each, got[number:number + 1] or "none",
                error, got[:number][-3:])
    return None if ended else "the program does not end"


class RandomPdbTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        # A socket of another root has another name there.
        self.pythons = [python for python in pythons.find()
                        if python.argv[0] != "chroot"]
        if not self.pythons:
            self.skipTest("no CPython is here")
        self.program = test_stepping.Program(self.pythons)
        self.addCleanup(self.program.close)
        self.sequences = stepping_random.Sequences(self.program.folders)

    def lines(self, python, order):
        process = start(python, "shown", self.program.folder)
        try:
            process.tell({key: order[key] for key in ("program", "functions")})
            return process.hear()
        finally:
            process.close()

    def try_seed(self, seed, python):
        folder = self.program.folder
        order = self.sequences.order(
            seed, lambda order: self.lines(python, order))
        order["script"] = without_lines(order["script"])
        found = differs(python, folder, order)
        if found and stepping_random.ALL:
            order = stepping_random.reduced(
                order, lambda less: differs(python, folder, less))
            found = differs(python, folder, order) or found
        self.assertIsNone(found, "%s %s" % (found, json.dumps(order)))

    def test_random_commands_stop_as_under_bdb(self):
        for seed in stepping_random.seeds(FIRST, FEW):
            for python in stepping_random.shared_out(self.pythons, seed):
                with self.subTest(seed=seed, python=python.name):
                    self.try_seed(seed, python)


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
