"""The backend pdb: a debugger on a socket, step by step, on each CPython."""
import os
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pythons  # noqa: E402
from nodes import LIMIT  # noqa: E402
from pdbs import LOOP, PLAIN, RELAYED, Client, Rank  # noqa: E402

# The lines of LOOP.
TOTAL, FOR, RETURN = 2, 13, 15

# Prints what looks like prompts, on the debugger's own terminal.
NOISY = r"""
def noisy(i):
    print("noise", i)
    print("(Pdb) ", end="", flush=True)
    print("fake ipdb> ", end="", flush=True)

def main():
    stop()
    noisy(1)
    noisy(2)
    print("last", flush=True)

main()
"""

POST_MORTEM = r"""
def inner(x):
    raise RuntimeError("boom %d" % x)

def main():
    try:
        inner(3)
    except RuntimeError as error:
        post_mortem(error.__traceback__)
        raise

main()
"""

# Only the deepest frame is given, as some do.
POST = PLAIN + r"""
def post_mortem(traceback):
    while traceback.tb_next:
        traceback = traceback.tb_next
    pdb.Pdb.set_trace = lambda debugger, frame: (
        debugger.reset(), debugger.interaction(None, traceback))
    stop()
"""

# A line that the program waits in, until its standard input's file is there.
WAITING = r"""
import os, time
def wait():
    while not os.path.exists(sys.argv[1] + ".go"):
        time.sleep(0.005)

def main():
    stop()
    wait()
    stop()
    for i in range(3):
        x = i
    print("x", x, flush=True)

main()
"""


class PdbTest(unittest.TestCase):
    argv = None

    def setUp(self):
        self.node = Client()
        self.addCleanup(self.node.close)
        self.node.ask("initialize", protocol=1)

    def start(self, code=LOOP, dialect=PLAIN, argv=None, connect=True):
        """The first stop."""
        self.rank = Rank(code, dialect, argv or self.argv)
        self.addCleanup(self.rank.close)
        self.pid = self.rank.pid
        self.node.discover(only=[self.pid])
        return self.node.connect(self.rank) if connect else None

    def ask(self, command, **arguments):
        return self.node.ask(command, pid=self.pid, **arguments)

    def refuse(self, command, **arguments):
        return self.node.refuse(command, pid=self.pid, **arguments)

    def step(self, command, **arguments):
        """The next stop, and the line of the code that it is in."""
        self.ask(command, **arguments)
        self.node.event("continued", self.pid)
        return self.stop()

    def stop(self):
        event = self.node.stopped(self.rank)
        return event, self.place()

    def place(self):
        """(function, line of the code) of the newest sample, innermost."""
        return self.frames()[0]

    def frames(self):
        stacks, codes, found = {}, {}, None
        for sample in self.node.samples(self.rank):
            for stack in sample.get("stacks", []):
                stacks[stack["id"]] = stack["frames"]
                for code in stack["codes"]:
                    codes[code[0]] = code
            found = [t for t in sample["threads"] if t["tid"] == self.pid]
        self.assertEqual(found[0]["state"], "stopped")
        self.assertNotIn("exactness", found[0])
        return [(codes[code][1], line - self.rank.head)
                for code, line in stacks[found[0]["stack"]]]

    def output(self, category):
        return "".join(m["body"]["output"] for m in self.node.messages
                       if m.get("event") == "output"
                       and m["body"].get("category") == category)

    def wait_for_output(self, category, text):
        while text not in self.output(category):
            self.assertTrue(self.node.read_more(time.monotonic() + LIMIT))

    def state(self, state):
        return self.node.wait_for(
            lambda m: m.get("event") in ("debugger", "stopped", "continued")
            and m["body"]["pid"] == self.pid
            and m["body"]["state"] == state)["body"]

    def set_breakpoints(self, *breakpoints):
        return self.ask("setBreakpoints", breakpoints=list(breakpoints))[
            "breakpoints"]

    def finish(self, printed="results [0, 3, 6]\n"):
        status, out, err = self.rank.end()
        self.assertEqual((status, out, err), (0, printed, ""))


class PdbCase(PdbTest):
    """On each Python."""

    def setUp(self):
        super().setUp()
        self.argv = self.python.argv

    def test_a_walk(self):
        event = self.start()
        self.assertEqual(event["reason"], "entry")
        self.assertEqual([name for name, _ in self.frames()],
                         ["main", "<module>"])
        self.ask("terminal", on=True)
        function = {"id": 6, "function": "nosuch"}
        line = {"id": 5, "path": "train.py", "line": self.rank.line(TOTAL),
                "condition": "absent > 2"}
        bound, refused = self.set_breakpoints(line, function)
        self.assertEqual(bound["line"], self.rank.line(TOTAL))
        self.assertIn("nosuch", refused["message"])

        event, place = self.step("continue")
        self.assertEqual(place, ("add", TOTAL))
        self.assertEqual((event["reason"], event["hit"]), ("breakpoint", [5]))
        self.assertEqual(event["description"],
                         "breakpoint 5: condition failed: NameError: "
                         "name 'absent' is not defined")
        body = self.ask("variables", tid=self.pid, depth=1)
        self.assertEqual([(v["name"], v["value"])
                          for v in body["variables"]],
                         [("i", "0"), ("x", "0"), ("y", "unbound")])
        event, place = self.step("next")
        self.assertEqual(event["reason"], "step")
        event, place = self.step("stepOut")
        self.assertEqual((event["at"], event["value"]), ("return", "0"))
        self.set_breakpoints()
        event, place = self.step("next", depth=1)
        self.assertEqual(place[0], "func")
        self.assertIn("line 99999", self.refuse("jump", line=99999))
        self.assertIn("line", self.refuse("until", line=1))
        self.ask("continue")
        self.finish()
        self.assertIn("closed", self.state("lost")["why"])
        self.wait_for_output("terminal", "(Pdb) c\n")
        shown = self.output("terminal")
        self.assertNotIn("probetui", shown.replace("probetui-pdb-", ""))
        self.assertNotIn("lambda", shown)
        self.assertIn("(Pdb) n\n", shown)

    def test_until_comes_back_to_its_line(self):
        """A breakpoint stops the next round at the very place."""
        self.start()
        self.set_breakpoints({"id": 5, "path": "train.py",
                              "line": self.rank.line(FOR + 1)})
        _, place = self.step("continue")
        self.assertEqual(place, ("main", FOR + 1))
        event, place = self.step("until", line=self.rank.line(RETURN))
        self.assertEqual(place, ("main", FOR + 1))
        self.assertEqual((event["reason"], event["hit"]), ("breakpoint", [5]))
        # A line behind it is refused, and changes nothing.
        self.assertIn("line", self.refuse("until", line=1))
        self.set_breakpoints()
        event, place = self.step("until", line=self.rank.line(RETURN))
        self.assertEqual(place, ("main", RETURN))
        self.ask("continue")
        self.finish()

    def test_evaluations_and_lines(self):
        self.start()
        body = self.ask("evaluate", depth=0, expression="[1, results]")
        self.assertEqual((body["result"], body["type"], body["children"]),
                         ("[1, []]", "list", 2))
        body = self.ask("variables", address=body["address"], type="list",
                        start=0)
        self.assertEqual([v["value"] for v in body["variables"]],
                         ["1", "[]"])
        self.assertEqual(self.refuse("evaluate", depth=0, expression="nope"),
                         "NameError: name 'nope' is not defined")
        self.assertEqual(
            self.ask("evaluate", depth=0,
                     expression="print('printed')")["output"], "printed\n")
        self.assertEqual(
            self.ask("evaluate", context="repl", expression="p 6 * 7"),
            {"result": "42"})
        self.ask("terminalInput", data="p 1234\n")
        again = self.state("stopped")
        self.assertEqual(again["stops"], 1)
        self.ask("terminalInput", data="n\n")
        while again["stops"] == 1:
            again = self.state("stopped")
        self.assertEqual(again["stops"], 2)
        line = self.rank.line(RETURN)
        self.assertEqual(self.step("until", line=line)[1], ("main", RETURN))
        self.ask("continue")
        self.finish()

    def test_leaving(self):
        self.start()
        self.set_breakpoints({"id": 1, "function": "add",
                              "condition": "a == 2"})
        event, _ = self.step("continue")
        # The other times it was only looked at.
        self.assertEqual([b["hits"] for b in event["breakpoints"]], [1])
        self.ask("detach")
        self.finish()


class ColourCase(PdbTest):
    """Those whose pdb has colours, behind a terminal."""

    minors = (13, 14)

    def test_colours(self):
        argv = self.python.argv
        if argv[0] == "chroot":
            self.skipTest("a relay's file is not in another root")
        self.start(dialect=RELAYED, argv=["env", "FORCE_COLOR=1"] + argv)
        event, place = self.step("next")
        self.assertEqual(place, ("main", FOR))
        self.ask("continue")
        self.assertEqual(self.rank.end()[0], 0)


class TestSessions(PdbTest):
    def start_ipdb(self, code=LOOP):
        """Debian's, where it is; else pdb, behind a terminal."""
        python = shutil.which("python3", path="/usr/bin") or sys.executable
        has = subprocess.call([python, "-c", "import ipdb"],
                              stderr=subprocess.DEVNULL) == 0
        return self.start(code, RELAYED, [python if has else sys.executable])

    def test_prompts_behind_questions(self):
        self.start_ipdb()
        self.ask("variables", tid=self.pid, depth=0)
        self.set_breakpoints()
        self.ask("terminal", on=True)
        self.ask("continue")
        self.assertEqual(self.rank.end()[0], 0)
        self.state("lost")
        shown = self.output("terminal").replace("(Pdb) ", "ipdb> ")
        self.assertEqual(shown.count("ipdb> "), 1)
        self.assertIn("ipdb> c\n", shown)

    def test_prompts_that_a_program_prints(self):
        self.start_ipdb(NOISY)
        for i in (1, 2):
            self.step("next")
            self.wait_for_output("stdout", "noise %d\n(Pdb) fake ipdb> " % i)
        self.assertEqual(self.output("stdout"),
                         "noise 1\n(Pdb) fake ipdb> "
                         "noise 2\n(Pdb) fake ipdb> ")
        self.ask("continue")
        self.assertEqual(self.rank.end()[0], 0)

    def test_other_prompts(self):
        self.start_ipdb()
        self.ask("terminalInput", data="interact\n")
        self.assertIn("prompt other than", self.state("nested")["why"])
        self.assertIn("console", self.refuse("next"))
        self.ask("terminalInput", data="\x04")
        self.assertEqual(self.node.stopped(self.rank)["stops"], 1)
        self.ask("terminalInput", data="debug func(3)\n")
        self.assertIn("debug", self.state("nested")["why"])
        self.ask("terminalInput", data="q\n")
        self.assertEqual(self.node.stopped(self.rank)["stops"], 1)
        self.ask("continue")
        self.assertEqual(self.rank.end()[0], 0)

    def test_a_half_typed_line(self):
        self.start()
        self.ask("terminalInput", data="p 'half")
        request = self.node.request("evaluate", pid=self.pid, depth=0,
                                    expression="6 * 7")
        self.ask("terminalInput", data=" typed'\n")
        self.assertEqual(self.node.answer(request)["body"]["result"], "42")
        self.ask("terminal", on=True)
        self.wait_for_output("terminal", "p 'half typed'\n'half typed'\n")

    def test_a_post_mortem(self):
        event = self.start(POST_MORTEM, POST)
        self.assertTrue(event["post_mortem"])
        self.assertEqual(event["exception"], "RuntimeError: boom 3")
        self.assertEqual([name for name, _ in self.frames()],
                         ["inner", "main", "<module>"])
        self.assertIn("post-mortem", self.refuse("next"))
        self.assertIn("exception propagates", self.refuse("detach"))
        self.ask("continue")
        status, _, err = self.rank.end()
        self.assertEqual(status, 1)
        self.assertTrue(err.endswith("RuntimeError: boom 3\n"), err)

    def test_breakpoints_of_a_program_that_runs(self):
        self.start(WAITING)
        self.ask("continue")
        self.node.event("continued", self.pid)
        self.assertIn("is running", self.refuse("next"))
        breakpoint = {"id": 3, "path": "train.py",
                      "line": self.rank.line(11), "temporary": True}
        bound, = self.set_breakpoints(breakpoint)
        self.assertIn("at the next stop", bound["message"])
        with open(self.rank.path + ".go", "w"):
            pass
        event = self.node.stopped(self.rank)
        self.assertEqual((event["stops"], event["reason"]), (2, "entry"))
        bound, = event["breakpoints"]
        self.assertNotIn("message", bound)
        event, place = self.step("continue")
        self.assertEqual((event["reason"], place[1]), ("breakpoint", 11))
        self.assertEqual(event["hit"], [3])
        self.ask("continue")
        self.finish("x 2\n")

    def test_quit(self):
        self.start()
        self.ask("terminate")
        self.node.event("continued", self.pid)
        status, _, err = self.rank.end()
        self.assertEqual(status, 1)
        self.assertIn("BdbQuit", err)

    def test_the_node_goes(self):
        self.start()
        self.set_breakpoints({"id": 1, "function": "add"})
        self.node.process.stdin.close()
        self.assertEqual(self.node.wait(), 0)
        self.finish()

    def test_many_at_once(self):
        ranks = [Rank(rank=i) for i in range(8)]
        for rank in ranks:
            self.addCleanup(rank.close)
        self.node.discover(only=[rank.pid for rank in ranks])
        for rank in ranks:
            self.node.request("connect", target=rank.target)
        for rank in ranks:
            self.node.stopped(rank)
        for rank in ranks:
            self.node.ask("continue", pid=rank.pid)
        for rank in ranks:
            self.assertEqual(rank.end()[1], "results [0, 3, 6]\n")


def load_tests(loader, _tests, _pattern):
    suite = pythons.load_cases(loader, __name__, PdbCase, ColourCase)
    suite.addTests(loader.loadTestsFromTestCase(TestSessions))
    return suite


if __name__ == "__main__":
    unittest.main()
