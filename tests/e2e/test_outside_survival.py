"""A process that is stopped from outside survives whoever stops it: the screen
and the node are killed at any instant while a breakpoint is hit all the time
and while steps follow each other, and the process comes to the same result.

Each round says its seed and where it was: PROBETUI_SEED repeats it.
PROBETUI_SOAK=1: 450 rounds, and a hundred of attaching, stepping and leaving.
"""
import json
import os
import random
import signal
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "backend")]
import jobs  # noqa: E402
import pythons  # noqa: E402
import test_outside  # noqa: E402

PROGRAM = os.path.join(jobs.JOBS, "survivor.py")
with open(PROGRAM, encoding="utf-8") as program:
    LINES = [line.strip() for line in program]
LINE = LINES.index("self.total = total & MASK") + 1
FACTOR = 6364136223846793005
MASK = 2 ** 64 - 1
SOAK = bool(os.environ.get("PROBETUI_SOAK"))
SEED = int(os.environ.get("PROBETUI_SEED", "1"))
# Who is killed, by what, and in how many rounds.
DEATHS = [("screen", signal.SIGKILL, 200 if SOAK else 5),
          ("node", signal.SIGKILL, 200 if SOAK else 5),
          ("node", signal.SIGTERM, 50 if SOAK else 5)]
MINORS = (8, 11, 13)


def sum_after(count):
    """What the program has added up after so many steps: a power of the
    matrix that makes one of (total, number, 1)."""
    def times(a, b):
        return [[sum(a[i][k] * b[k][j] for k in range(3)) & MASK
                 for j in range(3)] for i in range(3)]
    result = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    base = [[FACTOR, 1, 0], [0, 1, 1], [0, 0, 1]]
    while count:
        if count & 1:
            result = times(result, base)
        base = times(base, base)
        count >>= 1
    return (result[0][0] + result[0][2]) & MASK


def await_instant(seconds):
    """Not a sleep: that would come back when it likes."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


class Program:
    def __init__(self, argv, kind="plain"):
        self.kind = kind
        self.process = subprocess.Popen(
            argv + [PROGRAM, kind], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, universal_newlines=True,
            env=dict(os.environ, RANK="0", WORLD_SIZE="1"))
        self.pid = self.process.pid
        assert self.process.stdout.readline() == "ready\n"

    def progress(self):
        self.process.stdin.write("?\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def status(self, key):
        return jobs.proc_status(self.pid)[key]

    def ignores_traps(self):
        return int(self.status("SigIgn"), 16) >> (signal.SIGTRAP - 1) & 1

    def footprint(self):
        """What a visitor could leave behind. (Its heap is its own.)"""
        with open("/proc/%d/maps" % self.pid) as file:
            maps = [line.split()[0] for line in file if "/" in line]
        files = sorted(os.listdir("/proc/%d/fd" % self.pid))
        keys = ("SigBlk", "SigIgn", "SigCgt", "TracerPid", "Threads")
        return maps, files, [self.status(key) for key in keys]

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Screen:
    """probetui, obeying lines as they come."""

    def __init__(self, pid):
        self.process = subprocess.Popen(
            [jobs.PROBETUI, "--pid", str(pid), "--json", "-x", "-"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, universal_newlines=True)

    def say(self, *lines):
        self.process.stdin.write("\n".join(lines) + "\n")
        self.process.stdin.flush()

    def hear(self, accept):
        """The next thing told that is accepted."""
        for line in self.process.stdout:
            told = json.loads(line)
            if accept(told):
                return told
            assert "error" not in told, told
        raise AssertionError("the screen has left")

    def stopped(self):
        return self.hear(lambda told: told.get("event") == "stopped")

    def node(self):
        """The pid of its node, once there is one."""
        path = "/proc/%d/task/%d/children" % ((self.process.pid,) * 2)

        def find():
            with open(path) as file:
                return file.read().split()
        jobs.wait_for(find, "the node to start")
        return int(find()[0])

    def close(self):
        self.process.kill()
        self.process.wait()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.stdout.close()


def is_there(pid):
    try:
        return jobs.proc_status(pid)["State"][0] not in "ZX"
    except (OSError, KeyError):
        return False


BREAK = "break survivor.py:%d if total == -1" % LINE
STEPS = ["next", "wait stopped"]


# The instants: each leaves the screen and the node in the middle of something.
def attaching(screen, program, chance):
    screen.say(BREAK)
    while program.status("TracerPid") == "0":
        pass
    await_instant(chance.uniform(0, 0.003))


def armed(screen, program, chance):
    screen.say(BREAK)
    screen.hear(lambda told: "condition" in told)
    await_instant(chance.uniform(0, 0.05))


def stepping(screen, program, chance):
    screen.say("pause", "wait stopped", *STEPS * 60)
    for _ in range(chance.randint(1, 40)):
        screen.stopped()
    await_instant(chance.uniform(0, 0.002))


def standing(screen, program, chance):
    screen.say("break survivor.py:%d" % LINE, "wait stopped")
    screen.stopped()
    await_instant(chance.uniform(0, 0.01))


def leaving(screen, program, chance):
    armed(screen, program, chance)
    screen.say("detach")
    await_instant(chance.uniform(0, 0.006))


INSTANTS = [attaching, armed, stepping, standing, leaving]


def find_pythons():
    """Those of MINORS, or all there are."""
    found = pythons.find()
    return [python for python in found
            if python.version[1] in MINORS] or found


class SurvivalCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        why = test_outside.why_not()
        if why is not None:
            raise unittest.SkipTest("no watches of the processor: " + why)

    def check_goes_on(self, program, is_orderly):
        """It is alive, nobody traces it, and it makes progress."""
        jobs.wait_for(lambda: program.status("TracerPid") == "0",
                      "the tracer to be gone")
        before = program.progress()
        while program.progress() == before:
            pass
        if is_orderly:
            self.assertFalse(program.ignores_traps())

    def check_result(self, program):
        told, _ = program.process.communicate(timeout=60)
        self.assertEqual(program.process.returncode, 0)
        words = told.split()
        self.assertEqual((words[0], words[3]), ("done", "True"))
        if program.kind == "plain":
            self.assertEqual(int(words[2]), sum_after(int(words[1])))

    def one_round(self, argv, death, instant, chance, kind="plain"):
        victim, number, _ = death
        program = Program(argv, kind)
        screen = Screen(program.pid)
        try:
            node = screen.node()
            instant(screen, program, chance)
            os.kill(node if victim == "node" else screen.process.pid, number)
            jobs.wait_for(lambda: not is_there(node), "the node to leave")
            self.check_goes_on(program, number == signal.SIGTERM
                               or victim == "screen")
            self.check_result(program)
        finally:
            screen.close()
            program.close()

    def rounds(self, deaths, argvs, kind="plain"):
        every = [death for death in deaths for _ in range(death[2])]
        for i, death in enumerate(every):
            seed = SEED * 100000 + i
            instant = INSTANTS[i % len(INSTANTS)]
            argv = argvs[i // len(INSTANTS) % len(argvs)]
            with self.subTest(victim=death[0], signal=death[1], seed=seed,
                              instant=instant.__name__, python=argv):
                self.one_round(argv, death, instant, random.Random(seed),
                               kind)


class TestSurvival(SurvivalCase):
    def test_deaths(self):
        self.rounds(DEATHS, [python.argv for python in find_pythons()])

    def test_how_often_the_breakpoint_is_hit(self):
        """A thousand times a second or more; here it is only counted."""
        program = Program([sys.executable])
        self.addCleanup(program.close)
        screen = Screen(program.pid)
        self.addCleanup(screen.close)
        armed(screen, program, random.Random(SEED))
        before = program.progress()
        began = time.monotonic()
        jobs.wait_for(lambda: program.progress() >= before + 500, "500 hits")
        spent = time.monotonic() - began
        print("# %d hits a second" % ((program.progress() - before) / spent),
              flush=True)


class TestArrays(SurvivalCase):
    """The same in a program that is busy in libraries of C."""

    def busy_in(self, library):
        if not SOAK:
            self.skipTest("it takes minutes: PROBETUI_SOAK=1")
        found = pythons.find_library(library)
        if not found:
            self.skipTest(pythons.why_no_library(library))
        python, environment = found
        argv = ["env"] + ["%s=%s" % each for each in environment.items()]
        self.rounds([(victim, number, 10) for victim, number, _ in DEATHS],
                    [argv + [python]], library)

    def test_in_numpy(self):
        self.busy_in("numpy")

    def test_in_torch(self):
        self.busy_in("torch")


class TestCycles(SurvivalCase):
    def test_nothing_is_left_of_visits(self):
        """Attached, stepped, and left, again and again."""
        program = Program([sys.executable])
        self.addCleanup(program.close)
        program.progress()
        before = program.footprint()
        for _ in range(4 if SOAK else 1):
            screen = Screen(program.pid)
            screen.say(*["pause", "wait stopped", "next", "wait stopped",
                         "step", "wait stopped", "detach"] * 25)
            screen.process.stdin.close()
            told = [json.loads(line) for line in screen.process.stdout]
            self.assertEqual(screen.process.wait(jobs.LIMIT), 0, told[-1:])
            self.assertEqual(sum(one.get("event") == "stopped"
                                 for one in told), 75)
            jobs.wait_for(lambda: program.status("TracerPid") == "0",
                          "the tracer to be gone")
            self.assertEqual(program.footprint(), before)
            screen.close()
        self.check_result(program)


if __name__ == "__main__":
    unittest.main()
