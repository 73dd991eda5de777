"""The agent, once it is put into a program: its threads import nothing, so
that no fork is beside an import of theirs. On every CPython found."""
import os
import sys
import unittest

from agents import Target, few_unless_soak
from daps import Viewer
from injecting import PUT_IN, InjectedPlace
from sessions import AGENT

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "backend"))
import pythons  # noqa: E402

sys.path.insert(0, AGENT)
from probetui.dap import table  # noqa: E402
from probetui.routes import ROUTES  # noqa: E402

PROGRAM = PUT_IN + """
imported = []
def audit(event, given):
    if event == "import" and threading.get_ident() != main:
        imported.append(given[0])
def work(number):
    total = 0
    for step in range(number):
        total += step
    return total
def fail():
    raise ValueError("it was raised")
class Thing:
    pass
thing = Thing()
main = threading.get_ident()
found = put_in()
sys.addaudithook(audit)
say(found)
"""
QUERIES = {"/objects": "?type=Thing", "/events": None}
# What ends the session, or the agent, comes last, by itself.
LAST = ("disconnect", "terminate", "terminateThreads")
ARGUMENTS = {
    "evaluate": {"expression": "thing"},
    "completions": {"text": "thi", "column": 4},
    "dataBreakpointInfo": {"name": "total"},
    "catch": {"on": True},
    "setVariable": {"name": "total", "value": "1"},
    "setExpression": {"expression": "total", "value": "1"},
    "setExceptionBreakpoints": {"filters": []},
    "setFunctionBreakpoints": {"breakpoints": [{"name": "fail"}]},
    "setDataBreakpoints": {"breakpoints": []},
    "gotoTargets": {"source": {"path": "/nowhere"}, "line": 1},
}


class ImportsCase(unittest.TestCase):
    def start(self, program):
        place = InjectedPlace(self.python.argv)
        self.addCleanup(place.close)
        target = Target(place, program, IPDB_DEBUG=None)
        self.addCleanup(target.kill)
        self.assertEqual(type(target.first), list, target.first)
        return target

    def test_nothing_is_imported(self):
        target = self.start(PROGRAM)
        with target.client() as client:
            for route in ROUTES:
                query = QUERIES.get(route.path, "")
                if route.method == "GET" and query is not None:
                    client.get(route.path + query)
            client.eval("print(thing); thing")
            client.eval("1 / 0")
            client.eval("thing.nothing")
            client.eval("import nothing.of_that_name")
            client.eval("a =")
            client.post("/execute", code="print(1)")
        with Viewer(target) as viewer:
            self.debug(target, viewer)
        self.assertEqual(target.ask("imported"),
                         ["nothing.of_that_name", "nothing"])
        self.assertEqual(target.close()[0], 0)

    def debug(self, target, viewer):
        path = target.place.inside + "/program.py"
        with open(target.place.path + "/program.py") as file:
            line = file.read().split("        total += step")[0].count(
                "\n") + 1
        viewer.ask("setBreakpoints", source={"path": path}, breakpoints=[
            {"line": line, "condition": "step == 3"},
            {"line": line, "logMessage": "{step}", "hitCondition": "5"}])
        target.run("runner = threading.Thread(target=work, args=(9,)); "
                   "runner.start()")
        stopped = viewer.event("stopped")
        frame = viewer.stack(stopped["threadId"])[0]
        for command in sorted(table._ROWS):
            if command not in LAST and command != "initialize":
                viewer.send(command, **dict(
                    ARGUMENTS.get(command, {}), frameId=frame["id"],
                    threadId=stopped["threadId"]))
        viewer.send("setBreakpoints", source={"path": path}, breakpoints=[])
        viewer.send("continue", threadId=stopped["threadId"])
        viewer.ask("disconnect")


class TracedCase(unittest.TestCase):
    def test_beside_pydevd(self):
        """Which traces new threads, and warns of sys.settrace()."""
        place = InjectedPlace(self.python.argv)
        self.addCleanup(place.close)
        target = Target(place, PUT_IN + """
traced = []
def trace(frame, event, given):
    if "probetui" in frame.f_code.co_filename and \\
            frame.f_code.co_name not in ("begin", "_untrace"):
        traced.append(frame.f_code.co_name)
    return trace
original = sys.settrace
def settrace(function):
    sys.stderr.write("PYDEV DEBUGGER WARNING\\n")
    original(function)
found = put_in()
inner = threading.Thread._bootstrap_inner
def bootstrap(thread):
    original(trace)
    inner(thread)
threading.Thread._bootstrap_inner = bootstrap
sys.settrace = settrace
say(found)
""", IPDB_DEBUG=None)
        self.addCleanup(target.kill)
        with target.client() as client:
            self.assertEqual(client.value("len('three')"), "5")
        target.run("sys.settrace = original")
        self.assertEqual(target.ask("traced"), [])
        self.assertEqual(target.close(), (0, ""))


def load_tests(loader, tests, _):
    few_unless_soak()
    return pythons.load_cases(loader, __name__, ImportsCase, TracedCase)
