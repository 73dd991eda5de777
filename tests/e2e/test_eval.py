"""Code that ranks run: equal answers together, what raised, who did not."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import unittest

import jobs
from shapes import SHAPES
import terminals
import test_control


def node(refusals=None):
    return test_control.Node(refusals)


class TestShell(unittest.TestCase):
    """Against a node that plays three ranks: 0 and 1 stand, 2 waits."""

    def test_who_did_not_answer_is_named(self):
        with node({"evaluate 102": "Process 102 has no agent."}) as fake:
            run = fake.run("eval", "x = 1")
            self.assertEqual(
                run.stdout, "  0 (1)  0 + x = 1\n  1 (1)  1 + x = 1\n"
                "? 2 (1)  Process 102 has no agent.\n", run.stderr)
            self.assertEqual(run.returncode, 4)

    def test_who_runs_is_asked_without_a_frame(self):
        with node() as fake:
            run = fake.run("eval", "x")
            asked = {each[1]["pid"]: each[1] for each in
                     fake.asked("evaluate")}
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(asked[100]["tid"], 100)
            self.assertEqual(asked[100]["context"], "watch")
            self.assertNotIn("tid", asked[102])
            self.assertNotIn("depth", asked[102])
            self.assertEqual(asked[102]["context"], "repl")
            self.assertGreater(asked[102]["timeout"], 1)

    def test_json(self):
        refusals = {"evaluate 101": "NameError: name 'x' is not defined",
                    "evaluate 102": "Process 102 has no agent."}
        with node(refusals) as fake:
            run = fake.run("--json", "eval", "x")
            self.assertEqual(json.loads(run.stdout), {
                "expr": "x",
                "classes": [{"ranks": "0", "count": 1, "value": "0 + x",
                             "type": "int", "output": None}],
                "errors": [
                    {"rank": 1, "error": refusals["evaluate 101"],
                     "traceback": None, "output": None},
                    {"rank": 2, "error": refusals["evaluate 102"],
                     "traceback": None, "output": None}]})
            # What raised is a finding, and goes before what is partial.
            self.assertEqual(run.returncode, 1)

    def test_none_is_reached(self):
        why = "It has no agent; probetui inject puts one in."
        with node({"evaluate %d" % pid: why for pid in (100, 101, 102)}) as \
                fake:
            run = fake.run("eval", "x")
            self.assertEqual(run.returncode, 3)
            self.assertEqual(run.stdout, "")
            self.assertEqual(run.stderr,
                             "probetui: eval: ranks 0-2: it has no agent; "
                             "probetui inject puts one in.\n")

    def test_nothing_to_run(self):
        with node() as fake:
            run = fake.run("eval")
            self.assertEqual(run.returncode, 2)
            self.assertIn("eval needs Python code", run.stderr)

    def test_a_script(self):
        with node() as fake:
            run = fake.run(script="eval a  + b ranks 0,1\n")
            self.assertEqual(run.stdout.splitlines()[:2],
                             ["  0 (1)  0 + a  + b", "  1 (1)  1 + a  + b"],
                             run.stderr)
            self.assertEqual(run.returncode, 0)


class TestRepl(unittest.TestCase):
    """`probetui repl` reads lines of a pipe, or edits them on a terminal."""

    def codes(self, fake):
        return [each[1]["expression"] for each in fake.asked("evaluate")
                if each[1]["pid"] == 100]

    def feed(self, fake, text, *arguments):
        return subprocess.run(
            [jobs.PROBETUI, *arguments, "repl"], input=text,
            env=dict(os.environ, PROBETUI_NODE=fake.path),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, timeout=jobs.LIMIT)

    def test_blocks_of_a_pipe(self):
        with node() as fake:
            run = self.feed(fake, "x = 1\n\nfor i in x:\n  f(\n  i)\n"
                            "y # it's\nif y:\n  z")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(self.codes(fake), [
                "x = 1", "for i in x:\n  f(\n  i)", "y # it's",
                "if y:\n  z"])
            self.assertIn("  2 (1)  2 + y # it's\n", run.stdout)

    def test_ranks(self):
        with node() as fake:
            run = self.feed(fake, "x\n", "--ranks", "1", "--json")
            self.assertEqual(
                [each["ranks"] for each in json.loads(run.stdout)["classes"]],
                ["1"])

    def test_what_fails_is_said_and_the_next_line_runs(self):
        refusals = {"evaluate %d" % pid: "NameError: name 'x' is not defined"
                    for pid in (100, 101, 102)}
        with node(refusals) as fake:
            run = self.feed(fake, "x\ny\n")
            self.assertEqual(run.returncode, 1)
            self.assertEqual(
                run.stdout, "! 0-2 (3)  NameError: name 'x' is not defined\n"
                * 2)

    def terminal_of(self, fake):
        terminal = terminals.Terminal(24, 80)
        self.addCleanup(terminal.close)
        terminal.start(["--ranks", "0", "repl"], PROBETUI_NODE=fake.path)
        terminal.wait_for(b">>> ")
        return terminal

    def test_a_key_that_comes_in_parts(self):
        with node() as fake:
            terminal = self.terminal_of(fake)
            terminal.press(b"1\x1b")
            terminal.wait_for(b">>> 1")
            terminal.press(b"[D2\r")
            terminal.wait_for(b"0 + 21")
            terminal.wait_for(b">>> ")
            terminal.press(b"\x04")
            self.assertEqual(terminal.wait_end(), 0)

    def test_who_is_told_to_end_leaves_the_terminal_as_it_was(self):
        with node() as fake:
            terminal = self.terminal_of(fake)
            self.assertNotEqual(termios.tcgetattr(terminal.line),
                                terminal.before)
            os.kill(terminal.pid, signal.SIGTERM)
            self.assertEqual(terminal.wait_end(), 0)
            self.assertEqual(termios.tcgetattr(terminal.line),
                             terminal.before)

    def test_what_runs_is_interrupted(self):
        with node() as fake:
            terminal = self.terminal_of(fake)
            terminal.press(b"forever\r")
            while not fake.asked("evaluate"):
                terminal.take(0.05)
            terminal.press(b"\x03")
            terminal.wait_for(b"cancelled")
            terminal.wait_for(b">>> ")
            terminal.press(b"1 + 1\r")
            terminal.wait_for(b"0 + 1 + 1")
            terminal.wait_for(b">>> ")
            terminal.press(b"\x04")
            self.assertEqual(terminal.wait_end(), 0)
            self.assertEqual(fake.asked("cancel"), [["cancel", {"pid": 100}]])
            self.assertNotIn(b"nobody knows", bytes(terminal.output))

    def test_a_terminal(self):
        with node() as fake:
            terminal = self.terminal_of(fake)
            terminal.press(b"if x:\r")
            terminal.wait_for(b"... ")
            terminal.press("\ty\u00e4\r\r".encode())
            terminal.wait_for(b"0 + if x:")
            terminal.wait_for(b">>> ")
            terminal.press(b"a.f\t")
            terminal.wait_for(b"fence  ffirst  ")
            terminal.press(b"\t\t\r")
            terminal.wait_for(b"0 + a.ffirst")
            terminal.wait_for(b">>> ")
            terminal.press(b"ab\x1b[D\x7f\x1b[3~\x1b[A\x1b[B1 + 1\r")
            terminal.wait_for(b"0 + 1 + 1")
            terminal.wait_for(b">>> ")
            terminal.press(b"half\x03\x04")
            self.assertEqual(terminal.wait_end(), 0)
            self.assertEqual(self.codes(fake),
                             ["if x:\n    y\u00e4\n", "a.ffirst", "1 + 1"])
            self.assertEqual(fake.asked("completions")[0][1],
                             {"pid": 100, "tid": 100, "depth": 0,
                              "text": "a.f", "column": 4})


class TestAgents(unittest.TestCase):
    """What agents are told to do."""

    def test_catch(self):
        with node() as fake:
            run = fake.run("catch", "lease", "5m", "types", "ValueError",
                           "KeyError", "ranks", "0-1")
            self.assertEqual(
                run.stdout, "ranks 0-1: an uncaught exception "
                "stops the process for at most 5 min\n", run.stderr)
            self.assertEqual(
                fake.asked("catch")[0][1],
                {"pid": 100, "on": True, "lease": 300.0,
                 "types": ["ValueError", "KeyError"]})

    def test_nothing_of_a_lease_is_left_out(self):
        with node() as fake:
            for given, told in (("90s", "90 s"), ("2h", "2 h"),
                                ("90m", "90 min"), ("1.5s", "1.5 s")):
                run = fake.run("catch", "lease", given, "ranks", "0")
                self.assertIn("for at most %s" % told, run.stdout)

    def test_catch_no_more(self):
        with node({"catch 102": "It has no agent."}) as fake:
            run = fake.run("--json", "catch", "off")
            told = [json.loads(line) for line in run.stdout.splitlines()]
            self.assertEqual(told[0], {"rank": 0, "pid": 100, "catch": False,
                                       "lease": None})
            self.assertEqual(told[2]["error"], "rank 2: it has no agent.")
            self.assertEqual(run.returncode, 4)

    def test_where_it_is_raised(self):
        with node() as fake:
            run = fake.run(script="catch raised a.B C ranks 1\n"
                           "catch raised off ranks 1\ncatch raised\n"
                           "catch sometimes\n")
            self.assertEqual(
                [line for line in run.stdout.splitlines()
                 if not line.startswith("rank 1 stopped") and "1:" in line],
                ["rank 1: the process stops when it raises a.B, C",
                 "rank 1: a raised exception does not stop the process"])
            self.assertEqual(
                [each[1] for each in fake.asked("setExceptionBreakpoints")],
                [{"pid": 101, "filters": ["raised"], "types": ["a.B", "C"]},
                 {"pid": 101, "filters": [], "types": []}])
            self.assertIn("catch raised needs exception names", run.stderr)
            self.assertIn("catch needs on, off", run.stderr)

    def test_execute(self):
        with node() as fake, tempfile.NamedTemporaryFile() as file:
            run = fake.run("execute", "print( 1 )", "ranks", "0")
            self.assertEqual(run.stdout, "  0 (1)  done\n", run.stderr)
            run = fake.run("execute", file.name, "ranks", "0")
            self.assertEqual(run.returncode, 0, run.stderr)
            code, path = [each[1] for each in fake.asked("execute")]
            self.assertEqual((code["pid"], code["code"]), (100, "print( 1 )"))
            self.assertEqual(path["path"], os.path.realpath(file.name))

    def test_a_file_that_is_not_there(self):
        with node() as fake:
            for name in ("nosuch.py", "no/such"):
                run = fake.run("execute", name, "ranks", "0")
                self.assertIn("file %s does not exist" % name, run.stderr)
                self.assertEqual(fake.asked("execute"), [])

    def test_a_variable_is_set(self):
        with node() as fake:
            run = fake.run(script="rank 1\nassign x['='] = y == 1\n"
                           "assign x ranks 0\nassign == 1\n")
            self.assertEqual(
                [each[1] for each in fake.asked("evaluate")],
                [{"pid": 101, "tid": 101, "depth": 0, "context": "watch",
                  "expression": "x['='] = y == 1"}], run.stderr)
            self.assertEqual(run.stderr.count("assign needs a variable"), 2)

    def test_a_pid_is_a_rank(self):
        with node() as fake:
            run = fake.run(script="execute 101 a  + b\ncatch 102\n"
                           "execute 99 x\n")
            self.assertEqual(
                [(each[1]["pid"], each[1].get("code"))
                 for each in fake.asked("execute", "catch")],
                [(101, "a  + b"), (102, None)], run.stderr)
            self.assertIn("pid 99 is not a rank (inspect it with --pid 99", run.stderr)

    def test_a_pid_alone_is_looked_at(self):
        with subprocess.Popen(
                [sys.executable, "-c", "print(flush=True); input()"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            run = subprocess.run(
                [jobs.PROBETUI, "dump", str(process.pid)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                universal_newlines=True, timeout=jobs.LIMIT)
            process.communicate(b"\n")
            self.assertIn("<module>", run.stdout, run.stderr)


PROGRAM = """
import sys

class Optimizer:
    param_groups = [{"lr": 0.001}]

def train(batch):
    print("runs", flush=True)
    sys.stdin.readline()

optimizer = Optimizer()
step = 41
train(batch=[1, 2])
print(optimizer.param_groups[0]["lr"])
"""


class TestRunning(unittest.TestCase):
    """Two ranks with an agent, and one without, none of them stopped."""

    @classmethod
    def setUpClass(cls):
        cls.processes = [cls.start(rank, "01"[rank < 2]) for rank in range(3)]
        for process in cls.processes:
            assert process.stdout.readline() == "runs\n"
        cls.pids = ",".join(str(each.pid) for each in cls.processes)

    @classmethod
    def start(cls, rank, wants_agent):
        agent = os.path.join(jobs.SOURCE, "agent")
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM], universal_newlines=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=dict(os.environ, RANK=str(rank), WORLD_SIZE="3",
                     PYTHONPATH=agent, PROBETUI=wants_agent))

    @classmethod
    def tearDownClass(cls):
        for process in cls.processes:
            process.communicate("\n")

    def run_json(self, *arguments):
        run = subprocess.run(
            [jobs.PROBETUI, "--pid", self.pids, "--json", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, timeout=jobs.LIMIT)
        self.assertEqual(run.stderr, "")
        told = json.loads(run.stdout)
        self.assertEqual(SHAPES.script_faults(told), [])
        return run.returncode, told

    def test_equal_values(self):
        status, told = self.run_json("eval", "step + 1")
        self.assertEqual(status, 4)
        self.assertEqual(told["classes"], [
            {"ranks": "0-1", "count": 2, "value": "42", "type": "int",
             "output": None}])
        self.assertEqual([each["rank"] for each in told["errors"]], [2])
        self.assertIn("probetui inject", told["errors"][0]["error"])

    def test_a_rate_is_set(self):
        rate = "optimizer.param_groups[0]['lr']"
        self.assertEqual(self.run_json("eval", rate + " = 1e-4",
                                       "ranks", "1")[0], 0)
        told = self.run_json("eval", rate, "ranks", "0-1")[1]
        self.assertEqual({each["ranks"]: each["value"]
                          for each in told["classes"]},
                         {"0": "0.001", "1": "0.0001"})
        self.run_json("eval", rate + " = 1e-3", "ranks", "1")

    def test_what_raises(self):
        status, told = self.run_json("eval", "print('x'); missing", "ranks",
                                     "0")
        error = told["errors"][0]
        self.assertEqual(status, 1)
        self.assertEqual(error["error"],
                         "NameError: name 'missing' is not defined")
        self.assertIn("Traceback (most recent call last)",
                      error["traceback"])
        self.assertEqual(error["output"], "x\n")

    def test_the_screen(self):
        terminal = terminals.Terminal(24, 80)
        self.addCleanup(terminal.close)
        terminal.start(["--pid", self.pids, "--ranks", "0-1"])
        terminal.wait_for(b" rank 0")
        terminal.press(b"e")
        terminal.wait_for(b">>> ")
        terminal.press(b"optimizer.par\t")
        terminal.see(b"optimizer.param_groups")
        terminal.press(b"[0]['lr']\r")
        terminal.see(b"0-1 (2)")
        terminal.see(b" 0.001")
        terminal.press(b"\x04")
        terminal.see(b" rank 0")
        terminal.press(b"q")
        self.assertEqual(terminal.wait_end(), 0)


RAISES = """
import sys

def load(step):
    raise ValueError("no such sample: %d" % step)

print("runs", flush=True)
sys.stdin.readline()
load(step=7)
"""


# Of no other job on this machine.
RANK = 91723


class TestHeld(unittest.TestCase):
    """A rank raises what nobody catches, and is held by its agent."""

    def setUp(self):
        self.process = self.start()

    def start(self, **more):
        agent = os.path.join(jobs.SOURCE, "agent")
        script = tempfile.NamedTemporaryFile("w", suffix=".py")
        self.addCleanup(script.close)
        script.write(RAISES)
        script.flush()
        process = subprocess.Popen(
            [sys.executable, script.name], universal_newlines=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(os.environ, PYTHONPATH=agent, PROBETUI="1", **more))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "runs\n")
        return process

    def command(self, *words):
        return subprocess.run(
            [jobs.PROBETUI, *words], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True,
            timeout=jobs.LIMIT)

    def test_a_script_is_told(self):
        pid = str(self.process.pid)
        run = subprocess.Popen(
            [jobs.PROBETUI, "--json", "--pid", pid, "-x", "-"],
            universal_newlines=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        run.stdin.write("catch\nwait stopped\nlocals --rank 0 --frame 0\n"
                        "continue\nwait exited\n")
        run.stdin.flush()
        self.assertIn('"catch"', run.stdout.readline())
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        told = [json.loads(line) for line in
                run.communicate(timeout=jobs.LIMIT)[0].splitlines()]
        self.assertEqual(
            [told[0][key] for key in ("event", "rank", "reason", "value")],
            ["stopped", 0, "exception", "ValueError: no such sample: 7"])
        self.assertEqual(told[0]["frame"]["func"], "load")
        self.assertEqual([(each["name"], each["value"])
                          for each in told[1]["variables"]], [("step", "7")])
        self.assertEqual(told[-1]["event"], "exited")
        self.assertEqual(told[-1]["code"], 1)

    def test_it_is_seen_beside_a_socket_that_was_left_behind(self):
        """By a job of before whose ranks had their pdbs at /tmp/pdb.sock.N."""
        path = "/tmp/pdb.sock.%d" % RANK
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(path)
        self.addCleanup(os.unlink, path)
        process = self.start(RANK=str(RANK), WORLD_SIZE=str(RANK + 1))
        self.process = process
        pid = str(process.pid)
        self.command("--timeout", str(jobs.LIMIT), "catch", pid, "lease", "20m")
        process.stdin.write("\n")
        process.stdin.flush()
        self.assertIn("and is stopped", process.stderr.readline())
        jobs.wait_for(lambda: "Rank %d raised ValueError: no such sample: 7"
                      % RANK in self.command("--timeout", str(jobs.LIMIT),
                                             "--pid", pid, "verdict").stdout,
                      "the verdict that names the error")

    def test_it_is_seen_by_who_comes_later(self):
        pid = str(self.process.pid)
        told = self.command("--timeout", str(jobs.LIMIT), "catch", pid, "lease", "20m")
        self.assertIn("stops the process for at most 20 min", told.stdout,
                      told.stderr)
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.assertIn("and is stopped", self.process.stderr.readline())
        # The thread says so just before it stops.
        jobs.wait_for(lambda: "Rank 0 raised ValueError: no such sample: 7"
                      in self.command("--timeout", str(jobs.LIMIT), "--pid",
                                      pid, "verdict").stdout,
                      "the verdict that names the error")
        told = self.command("--pid", pid, "locals", "--rank", "0")
        self.assertEqual(told.stdout.split()[2], "load", told.stdout)
        self.assertIsNone(self.process.poll())
        script = ("verdict\nconnect agent:%s\nwait stopped\n"
                  "assign step = step + 1\nprint step\n" % pid)
        run = subprocess.run(
            [jobs.PROBETUI, "--pid", pid, "-x", "-"], input=script,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, timeout=jobs.LIMIT)
        self.assertIn("is stopped by its agent", run.stdout)
        self.assertEqual(run.stdout.splitlines()[-2:],
                         ["rank 0: 8"] * 2, run.stderr)
        terminal = terminals.Terminal(24, 120)
        self.addCleanup(terminal.close)
        terminal.start(["--pid", pid])
        terminal.see(b"Rank 0 raised ValueError: no such sample: 7")
        terminal.see(b"stopped by its agent")
        # It counts from the stop, not from when somebody came.
        terminal.see(b"max 20:00")
        terminal.press(b"estep\r")
        terminal.see(b" 8")
        terminal.press(b"\x04c")
        self.assertEqual(self.process.wait(20), 1)
        self.assertIn("ValueError: no such sample: 7",
                      self.process.stderr.read())
        # A rank that the screen takes for stopped is worth a question.
        terminal.see(b"The only rank has ended")
        terminal.press(b"q")
        terminal.wait_end()
