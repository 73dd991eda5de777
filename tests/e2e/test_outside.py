#!/usr/bin/env python3
"""Ranks without a debugger are stopped, stepped and watched from outside: by
keys on a terminal and by scripts, in programs that nobody prepared."""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "backend")]
import jobs  # noqa: E402
import terminals  # noqa: E402

PROGRAM = textwrap.dedent("""\
    import sys
    import threading
    import time


    def add(a, b):
        c = a + b
        return c


    def work(step):
        total = 0
        for i in range(3):
            total = add(total, i)
        return total


    def main():
        over = threading.Event()
        threading.Thread(target=lambda: sys.stdin.read() or over.set()).start()
        print("ready", flush=True)
        step = good = 0
        while not over.is_set():
            good += work(step) == 3
            step += 1
            time.sleep(0.001)
        print("done", good == step)


    main()
    """)
# A step takes all ranks; it ends for all of them when each was told so.
GROUP = textwrap.dedent("""\
    import sys
    import threading
    import peers as dist

    over = threading.Event()
    threading.Thread(target=lambda: sys.stdin.read() or over.set()).start()


    def train():
        step = good = 0
        values = [0, 0]
        while values[1] < dist.get_world_size():
            values = [dist.get_rank(), int(over.is_set())]
            dist.all_reduce(values)
            good += values[0] == 3
            step += 1
        return good == step


    dist.new_group()
    print("ready", flush=True)
    print("done", train())
    """)
# What they all send to; no rank has it, as one that stands keeps its GIL.
HUB = """\
import peers, socket, sys
peers.Hub(socket.create_server(("127.0.0.1", int(sys.argv[1]))), 3).run()
"""


def line_of(text, program=PROGRAM):
    return [line.strip() for line in program.splitlines()].index(text) + 1


def why_not():
    """Watches of the processor are refused here; None: they are not."""
    found = jobs.probetui("--pid", os.getpid(), "--json", "doctor")
    ways = json.loads(found.stdout)["ranks"][0]["ways"]
    return next((way["why"] for way in ways
                 if way["way"] == "perf watches" and not way["ok"]), None)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class OutsideCase(unittest.TestCase):
    COUNT = 2
    PROGRAM = PROGRAM
    port = "0"

    @classmethod
    def setUpClass(cls):
        why = why_not()
        if why is not None:
            raise unittest.SkipTest("no watches of the processor: " + why)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="probetui-outside-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "train.py")
        with open(self.path, "w") as file:
            file.write(self.PROGRAM)
        self.ranks = [self.start(rank) for rank in range(self.COUNT)]
        for rank in self.ranks:
            self.assertEqual(rank.stdout.readline(), "ready\n")
        self.pids = ",".join(str(rank.pid) for rank in self.ranks)

    def environment(self, **more):
        return dict(os.environ, MASTER_ADDR="127.0.0.1",
                    MASTER_PORT=self.port, WORLD_SIZE=str(self.COUNT),
                    PYTHONPATH=os.path.join(jobs.JOBS, "site-packages"),
                    **more)

    def start(self, number):
        rank = subprocess.Popen(
            [sys.executable, self.path], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, universal_newlines=True,
            env=self.environment(RANK=str(number)))
        self.addCleanup(rank.stdout.close)
        self.addCleanup(rank.kill)
        return rank

    def check_ends(self):
        """They are as if nobody had been there."""
        for rank in self.ranks:
            jobs.wait_for(lambda: jobs.proc_status(
                rank.pid)["TracerPid"] == "0", "the tracer to leave")
            ignored = int(jobs.proc_status(rank.pid)["SigIgn"], 16)
            self.assertFalse(ignored >> (signal.SIGTRAP - 1) & 1)
            rank.stdin.close()
        for rank in self.ranks:
            rank.wait(jobs.LIMIT)
            told = rank.stdout.read()
            self.assertEqual((told, rank.returncode), ("done True\n", 0))


class TestKeys(OutsideCase):
    def setUp(self):
        super().setUp()
        self.terminal = terminals.Terminal(30, 120)
        self.addCleanup(self.terminal.close)
        self.terminal.start(["--pid", self.pids])

    def press(self, keys, *seen):
        self.terminal.press(keys)
        for text in seen:
            self.terminal.see(text)

    def says(self, keys, sentence):
        """On the last line, until the next key."""
        self.terminal.press(keys)
        self.terminal.until(sentence.decode())

    def stops(self, keys, how, line):
        """Both ranks do so, there."""
        self.press(keys, b"Ranks 0 and 1 stopped %s, train.py:%d"
                   % (how, line_of(line)))

    def test_a_walk(self):
        self.press(b"", b"Locals \xc2\xb7 ")
        self.says(b"p", b"within")
        self.press(b"", b"Ranks 0 and 1 are paused")
        self.says(b":break train.py:%d\r" % line_of("c = a + b"),
                  b"breakpoint 1: train.py")
        self.press(b"c", b"Ranks 0 and 1 stopped at breakpoint 1",
                   b"Locals \xc2\xb7 add", b"2 stopped")
        self.press(b"u", b"Locals \xc2\xb7 work")
        self.press(b"d", b"Locals \xc2\xb7 add")
        self.stops(b"n", b"after a step", "return c")
        self.says(b":clear 1\r", b" breakpoint 1: train.py:%d"
                  % line_of("c = a + b"))
        self.says(b":clear all\r", b"breakpoints")
        self.says(b":display a\r", b"shown with the locals at each stop")
        self.stops(b"f", b"at a return", "return c")
        self.stops(b"n", b"after a step", "for i in range(3):")
        self.stops(b"n", b"after a step", "total = add(total, i)")
        self.stops(b"s", b"at a call", "def add(a, b):")
        # Typed ahead, each waits until both ranks have stopped.
        self.stops(b"nnnnns", b"at a call", "def add(a, b):")
        self.stops(b"s", b"after a step", "c = a + b")
        # Behind the loop of the caller, which goes round first.
        self.stops(b"u\rjt", b"after a step", "return total")
        # Before it: the next time round, by a breakpoint that is none of the
        # person's.
        self.stops(b"kt", b"after a step", "total = add(total, i)")
        self.leave()

    def test_a_node_that_is_killed(self):
        """What to do then is not hidden by what was said before."""
        self.press(b"", b"Locals \xc2\xb7 ")
        self.says(b":break train.py:%d\r" % line_of("c = a + b"),
                  b"breakpoint 1: train.py")
        children = "/proc/%d/task/%d/children" % (2 * (self.terminal.pid,))
        with open(children) as file:
            os.kill(int(file.read().split()[0]), signal.SIGKILL)
        self.terminal.until("start probetui again")

    def test_a_watch(self):
        self.press(b"", b"Locals \xc2\xb7 ")
        self.press(b"@0\r:tbreak add\r", b"Locals \xc2\xb7 add")
        self.says(b"uwtotal\r", b"watch 2: total")
        self.press(b"c", b"stopped at watch 2 (total: 0 -> ")
        self.press(b"B", b"watch total")
        self.press(b"q:clear\r", b"1 stopped")
        self.leave(b"1 rank is stopped, and will resume. Quit?")

    def test_what_can_never_be_set_is_not_kept(self):
        self.press(b"", b"Locals \xc2\xb7 ")
        self.says(b":break train.py:4\r", b"ranks 0-1: line 4 of train.py has "
                                          b"no code")
        self.press(b"B", b"no breakpoints: set one")
        self.terminal.press(b"qq")
        self.assertEqual(self.terminal.wait_end(), 0)
        self.check_ends()

    def test_what_runs_is_wanted_back(self):
        self.press(b"", b"Locals \xc2\xb7 ")
        self.says(b"\x03", b"Pause ranks 0-1 (running)? [y/N]")
        self.terminal.press(b"n")
        # The answer, which would take the place of what the next key says.
        self.says(b":break add if b == 7\r", b"by hardware breakpoints")
        self.says(b"\x03", b"within")
        self.says(b"c", b" of 2 stopped; ")
        self.says(b"\x03", b"within")
        self.leave()

    def leave(self, question=b"2 ranks are stopped, and will resume"):
        self.says(b"q", question)
        self.terminal.press(b"y")
        self.assertEqual(self.terminal.wait_end(), 0)
        self.check_ends()


class ScriptCase(OutsideCase):
    def script(self, lines, *arguments):
        run = subprocess.run(
            [jobs.PROBETUI, "--pid", self.pids, "--json", *arguments, "-x",
             "-"], input=textwrap.dedent(lines), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True,
            timeout=jobs.LIMIT)
        return run, [json.loads(line) for line in run.stdout.splitlines()]


class TestScript(ScriptCase):
    def test_a_walk(self):
        run, told = self.script("""
            break train.py:%d if b == 2 ranks 0
            wait stopped ranks 0
            print c
            finish
            wait stopped ranks 0
            next ranks 0
            wait stopped ranks 0
            pause
            wait stopped
            where
            """ % line_of("return c"))
        self.assertEqual(run.stderr, "")
        self.assertEqual(run.returncode, 0, run.stdout)
        stops = [(one["rank"], one["reason"], one["at"], one["value"],
                  one["frame"]["func"], one["frame"]["lineno"])
                 for one in told if one.get("event") == "stopped"]
        self.assertEqual(stops[:3], [
            (0, "breakpoint", "line", None, "add", line_of("return c")),
            (0, "step", "return", "3", "add", line_of("return c")),
            (0, "step", "line", None, "work",
             line_of("for i in range(3):"))])
        self.assertEqual(stops[3][:2], (1, "pause"))
        self.assertEqual([one["result"] for one in told if "result" in one],
                         ["3"])
        self.check_ends()

    def test_a_caller_is_the_same_function_in_each_rank(self):
        _, told = self.script("""
            tbreak train.py:%d if b == 0 ranks 0
            tbreak train.py:%d if i == 1 ranks 1
            wait stopped timeout 60
            print step
            rank 0
            up
            print step
            up
            print good == step
            """ % (line_of("c = a + b"), line_of("for i in range(3):")))
        self.assertEqual(
            [(one["rank"], one["expression"]) for one in told
             if "result" in one],
            [(1, "step"), (0, "step"), (1, "step"), (0, "good == step"),
             (1, "good == step")], told)
        self.check_ends()

    def test_words_of_scripts(self):
        run, told = self.script("""
            break nosuch.py
            break train.py
            break 0
            tbreak add ranks 0
            wait stopped ranks 0
            watch c ranks 0
            watch
            clear all
            watch
            pause
            wait stopped
            print a ranks 0-1
            """)
        self.assertEqual(run.returncode, 1)
        errors = [one for one in told if one.get("event") == "error"]
        self.assertEqual([one["error"] for one in errors[:3]], [
            "line 2: 'nosuch.py' has no line number: use `break FILE:LINE`",
            "line 3: 'train.py' has no line number: use `break FILE:LINE`",
            "line 4: '0' is not a line (1 or more)"])
        lists = [one["breakpoints"] for one in told if "breakpoints" in one]
        self.assertEqual([one["id"] for one in told if "id" in one], [1, 2], told)
        self.assertEqual([[one["watch"] for one in each] for each in lists],
                         [["c"], []])
        for one in told:
            if one.get("event") == "stopped":
                self.assertEqual(one["held_s"], round(one["held_s"], 3))
        # What some ranks cannot tell is of this command.
        self.assertEqual([one["command"] for one in errors[3:]][-1:],
                         ["print"], told)
        self.check_ends()

    def test_a_log_point_stops_nothing(self):
        run, told = self.script("""
            break add if b == 1 log "{a} and {b}" ranks 1
            tbreak work ranks 1
            wait stopped ranks 1
            tbreak work ranks 1
            continue
            wait stopped ranks 1
            """)
        self.assertEqual(run.stderr, "")
        said = [one["output"] for one in told if one.get("event") == "log"]
        self.assertIn("0 and 1", said)
        self.check_ends()

    def test_a_command_of_a_shell_undoes_what_it_did(self):
        for words, said in ((("pause",), "ranks resume when"),
                            (("break", "add"), "the breakpoint is removed"),
                            (("tbreak", "add"), "the breakpoint is removed")):
            run = jobs.probetui("--pid", self.pids, *words)
            self.assertEqual(run.returncode, 4, run.stderr)
            self.assertIn(said, run.stderr)
        self.check_ends()

    def test_nothing_is_stopped_read_only(self):
        run, told = self.script("pause\n", "--read-only")
        self.assertEqual(run.returncode, 1)
        self.assertIn("--read-only does not allow", told[-1]["error"])
        self.check_ends()


class TestGroup(ScriptCase):
    COUNT = 3
    PROGRAM = GROUP

    def setUp(self):
        self.port = str(free_port())
        hub = subprocess.Popen([sys.executable, "-c", HUB, self.port],
                               env=self.environment())
        self.addCleanup(hub.wait)
        self.addCleanup(hub.kill)
        super().setUp()

    def test_a_step_into_a_collective(self):
        """Alone it waits there; its peers are released, and it comes out."""
        line = line_of("dist.all_reduce(values)", GROUP)
        run, told = self.script("""
            pause
            wait stopped
            break train.py:%d if step %% 500 == 0
            continue
            wait stopped
            next ranks 0
            next --yes ranks 0
            wait verdict 1 rank waits for ranks 1-2 in all_reduce
            verdict
            release
            wait stopped ranks 0
            """ % line)
        self.assertEqual(run.returncode, 1, run.stdout)
        failures = [one["error"] for one in told
                    if one.get("event") == "error"]
        self.assertEqual(len(failures), 1, failures)
        self.assertIn("Rank 0 reaches all_reduce (line %d) and will wait "
                      "there for ranks 1-2, which are stopped." % line, failures[0])
        self.assertIn({"command": "release", "ranks": "1-2", "others": "0"},
                      told)
        stops = [(one["rank"], one["reason"], one["frame"]["lineno"])
                 for one in told if one.get("event") == "stopped"
                 and one["reason"] != "pause"]
        self.assertEqual((sorted(stops[:3]), stops[3]), (
            [(rank, "breakpoint", line) for rank in range(3)],
            (0, "step", line + 1)))
        self.check_ends()


if __name__ == "__main__":
    unittest.main()
