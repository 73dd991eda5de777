"""Stepping from outside stops where bdb of the same Python stops.

The same commands go to bdb within one process and, through one `probetui -x`,
to another that is left as it is, on every CPython found: the lists of (event,
file, line, function) are equal, on new code and on code that has run a
hundred times. What differs is named here, with a reason of docs/stepping.md.

Each day's run does some of the scenarios (stepping_scenarios.py); with
PROBETUI_SOAK it does all.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jobs  # noqa: E402
import stepping_scenarios  # noqa: E402
from stepping_process import Process  # noqa: E402
sys.path.insert(0, os.path.join(jobs.SOURCE, "tests", "backend"))
import pythons  # noqa: E402

LIMIT = 120         # seconds
STOP_LIMIT = 120    # for one stop
ALL = "PROBETUI_SOAK" in os.environ
EVERY = 40          # each Python does one of so many each day
WARM = 100
COMMANDS = {"n": "next", "s": "step", "r": "finish", "c": "continue",
            "unt": "until", "up": "up", "down": "down"}
STOPPING = ("n", "s", "r", "c", "unt")
# Scenarios that differ: from and to which minor version, and the reason's
# number in docs/stepping.md.
DIFFERENT = {
    "callee_add": (8, 12, 5),
    "up_next": (14, 14, 5),
    "up_until": (14, 14, 5),
    "up_return": (14, 14, 5),
    "spread_step": (14, 14, 4),
    "deleg_step": (14, 14, 4),
    "multiplex_three": (8, 14, 6),
    "multiplex_gen": (8, 14, 6),
    "multiplex_caller": (8, 14, 6),
    "drops_step": (14, 14, 4),
    "dropped_next": (14, 14, 4),
    "some_next": (14, 14, 4),
}


def start(python, mode, folder):
    """stepping_target.py at work."""
    return Process(python, "-u", os.path.join(folder, "stepping_target.py"),
                   mode, folder)


class Rank:
    """A process to step through, and bdb in another of the same Python."""

    def __init__(self, number, python, folder):
        self.number, self.python = number, python
        self.plain = start(python, "plain", folder)
        self.bdb = start(python, "bdb", folder)
        self.wanted = self.got = []
        self.is_cut = False     # bdb went on, out of the program

    def begin(self, order):
        """Both processes take the order; the plain one waits for a line."""
        self.bdb.tell(order)
        self.plain.tell(order)
        self.got = []

    def is_ready(self):
        self.wanted = self.bdb.hear()
        self.is_cut = "outside" in self.wanted
        if self.is_cut:
            del self.wanted[self.wanted.index("outside"):]
        return self.plain.hear() == "ready"

    def close(self):
        self.plain.close()
        self.bdb.close()


class Program:
    """The files, at the same place for every Python."""

    def __init__(self, found):
        self.folder = tempfile.mkdtemp(prefix="stepping-")
        self.folders = [self.folder] + [
            python.argv[1] + self.folder for python in found
            if python.argv[0] == "chroot"]
        for folder in self.folders:
            os.makedirs(folder, exist_ok=True)
            self.marks = stepping_scenarios.write_files(folder)

    def close(self):
        for folder in self.folders:
            shutil.rmtree(folder)


class Session:
    """One probetui that reads a script as it is written."""

    def __init__(self, ranks):
        self.process = subprocess.Popen(
            [jobs.PROBETUI, "--json", "--pid",
             ",".join(str(rank.plain.process.pid) for rank in ranks),
             "-x", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ranks = {rank.number: rank for rank in ranks}

    def send(self, *lines):
        self.process.stdin.write("".join(
            line + "\n" for line in lines).encode())
        self.process.stdin.flush()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError("probetui ended")
        return json.loads(line.decode())

    def set_break(self, place):
        """Its number, once the ranks have it."""
        self.send("break " + place)
        while True:
            said = self.read()
            if "id" in said:
                return said["id"]

    def take(self, stop):
        frame = stop["frame"]
        rank = self.ranks[stop["rank"]]
        told = "%s %s:%s %s" % (
            stop["at"], os.path.basename(frame["file"]),
            frame["lineno"] or 0, frame["func"])
        # Of what a yield gives nothing is told, and not all that is is simple.
        wanted = rank.wanted[len(rank.got):len(rank.got) + 1]
        if stop["value"] is not None and wanted and \
                wanted[0].startswith(told + " "):
            told += " " + stop["value"]
        elif stop["value"] is None and stop["at"] == "return" and wanted:
            rank.wanted[len(rank.got)] = wanted[0][:len(told)]
        rank.got.append(told)

    def stops(self, line, ranks):
        """A command, and the stop of each that follows; what went wrong."""
        names = ",".join(str(rank.number) for rank in ranks)
        lines = ["%s ranks %s" % (line, names)] if line else []
        self.send(*lines, "wait stopped ranks %s timeout %d" % (
            names, STOP_LIMIT))
        counts = {rank: len(rank.got) + 1 for rank in ranks}
        while any(len(rank.got) < count for rank, count in counts.items()):
            said = self.read()
            if said.get("event") == "stopped":
                self.take(said)
            elif said.get("event") == "exited" or (
                    said.get("command") or "").startswith("wait"):
                return json.dumps(said)
        return None

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(LIMIT)


class Scenario:
    """The commands of one scenario, for some ranks at once."""

    def __init__(self, session, ranks, order):
        self.session = session
        self.ranks = ranks
        self.breaks = {}
        self.script = list(order["script"])
        self.moves = []     # up and down, before the next command
        self.error = None

    def run(self):
        """Until the last stop that bdb has on any of them."""
        count = 0
        self.ranks = [rank for rank in self.ranks if rank.wanted]
        while self.script and self.ranks and not self.error:
            command, _, argument = self.script.pop(0).partition(":")
            if command == "b":
                self.breaks[argument] = self.session.set_break(argument)
            elif command == "cl":
                self.session.send("clear %d" % self.breaks.pop(argument))
            elif command not in STOPPING:
                self.moves.append(COMMANDS[command])
            else:
                count += 1
                self.act(command, argument, count)

    def begin(self):
        """The first command, which is `continue`."""
        for rank in self.ranks:
            rank.plain.tell("go")
        return ""

    def act(self, command, argument, count):
        ended = [rank for rank in self.ranks if len(rank.wanted) < count]
        self.ranks = [rank for rank in self.ranks if rank not in ended]
        line = (COMMANDS[command] + " " + argument).strip()
        # Where bdb ran to the end, there is no further stop.
        for rank in ended:
            if command == "c" and not rank.is_cut:
                self.session.send("continue ranks %d" % rank.number)
        if not self.ranks:
            return
        if count == 1:
            line = self.begin()
        for rank in self.ranks if self.moves else ():
            self.session.send("rank %d" % rank.number, *self.moves)
            self.session.send("%s ranks %d" % (line, rank.number))
        self.error = self.session.stops("" if self.moves else line,
                                        self.ranks)
        self.moves = []

    def end(self, ranks):
        """Lets all of them run to their ends; those that did not."""
        stuck = []
        for rank in ranks:
            if not rank.wanted:
                rank.plain.tell("go")
        for number in self.breaks.values():
            self.session.send("clear %d" % number)
        self.session.send("continue")
        for rank in ranks:
            if rank.plain.hear(STOP_LIMIT) != "done":
                stuck.append(rank)
        return stuck


class SteppingTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        found = pythons.find()
        if not found:
            self.skipTest("no CPython is here")
        program = Program(found)
        self.addCleanup(program.close)
        self.orders = stepping_scenarios.scenarios(program.marks)
        self.ranks = []
        for python in found:
            self.ranks.append(Rank(len(self.ranks), python, program.folder))
            self.addCleanup(self.ranks[-1].close)
        self.session = Session(self.ranks)
        self.addCleanup(self.session.close)
        self.counts = {rank: [0, []] for rank in self.ranks}

    def compare(self, rank, name):
        minor = rank.python.version[1]
        first, last, _reason = DIFFERENT.get(name, (0, 0, 0))
        is_different = first <= minor <= last
        got = rank.got[:len(rank.wanted)]
        if is_different:
            self.assertNotEqual(got, rank.wanted, "is equal by now")
            self.counts[rank][1].append(name)
            return
        for number, wanted in enumerate(rank.wanted):
            self.assertEqual(got[number:number + 1], [wanted],
                             "stop %d of %d, %s" % (number, len(rank.wanted),
                                                    got[:number][-2:]))
        self.counts[rank][0] += 1

    def run_scenario(self, name, order, ranks):
        for rank in ranks:
            rank.begin(order)
        for rank in ranks:
            self.assertTrue(rank.is_ready())
        scenario = Scenario(self.session, ranks, order)
        scenario.run()
        stuck = scenario.end(ranks)
        for rank in ranks:
            with self.subTest(name=name, python=rank.python.name,
                              warm=order["warm"]):
                self.compare(rank, name)
                self.assertNotIn(rank, stuck, scenario.error)
        self.assertFalse(stuck, "the rest cannot be compared")

    def run_scenarios(self, warm, every):
        for number, (name, order) in enumerate(self.orders.items()):
            ranks = [rank for rank in self.ranks
                     if ALL or (number + rank.number) % every == 0]
            if ranks:
                self.run_scenario(name, dict(order, warm=warm), ranks)
        for rank, (equal, different) in self.counts.items():
            print("# %s, %s code: %d equal, %d known to differ (%s)" % (
                rank.python.name, "specialised" if warm else "new", equal,
                len(different), ", ".join(different)))

    def test_new_code_stops_as_under_bdb(self):
        self.run_scenarios(0, EVERY)

    def test_specialised_code_stops_as_under_bdb(self):
        self.run_scenarios(WARM, 2 * EVERY)


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
