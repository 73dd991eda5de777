"""Stops over DAP, on every CPython found."""
import os
import sys
import unittest

from agents import Place, Target, wait_for
from daps import Failed, Viewer, wait_until_over

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "backend"))
import pythons  # noqa: E402

WORK = """\
import threading
DEPTH = 1
own = threading.local()
def inner(n):
    total = 0
    for i in range(n):
        total += i
    return total
def outer(n):
    own.name = "of this thread"
    a = n
    b = inner(a)
    c = b + 1
    return c
def fails(n):
    try:
        raise KeyError(n)
    except KeyError:
        raise ValueError("no %d" % n)
def caught():
    try:
        fails(3)
    except ValueError:
        return "caught"
def threaded(n):
    found = []
    thread = threading.Thread(target=lambda: found.append(outer(n)))
    thread.start()
    thread.join()
    return found[0]
def closes(n):
    total = n
    def adds():
        nonlocal total
        total += 1
        return total
    adds()
    return adds() + total
def spins(event):
    while not event.is_set():
        event.wait(0.001)
    return "spun"
class Net:
    def forward(self, x):
        y = x + 1
        return y
def meets(n, barrier):
    begin = n
    barrier.wait()
    return begin
def both(n):
    barrier = threading.Barrier(2)
    found = []
    threads = [threading.Thread(target=lambda: found.append(
        meets(n, barrier))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(found)
"""


def line_of(text):
    """The first that is this but for its indentation."""
    return [line.strip() for line in WORK.split("\n")].index(text) + 1


class StopCase(unittest.TestCase):
    """One long-lived process, and a viewer of it."""

    @classmethod
    def setUpClass(cls):
        cls.place = Place(cls.python.argv)
        cls.path = cls.place.write("work.py", WORK)
        cls.target = Target(cls.place, "import probetui, work\n"
                            "from probetui.dap import sessions\n"
                            "sessions.UNIX_GRACE = 0.05\n"
                            "say(probetui.listen())")

    @classmethod
    def tearDownClass(cls):
        status, errors = cls.target.close()
        cls.place.close()
        assert (status, errors) == (0, ""), errors

    def setUp(self):
        self.viewer = Viewer(self.target)
        self.addCleanup(self.end)

    def end(self):
        self.viewer.close()
        with self.target.client() as client:
            wait_until_over(self.viewer, client)

    def set(self, *breakpoints, viewer=None, **more):
        """Breakpoints are lines' texts, or whole."""
        return (viewer or self.viewer).ask("setBreakpoints", source={
            "path": self.path}, breakpoints=[
                dict(more, line=line_of(each)) if isinstance(each, str)
                else each for each in breakpoints])["breakpoints"]

    def begin(self, expression):
        """The first stop of it; its answer comes with finish()."""
        self.target.run("say(%s)" % expression)
        return self.stop()

    def stop(self, viewer=None):
        return (viewer or self.viewer).event("stopped")

    def go(self, command, thread_id, **arguments):
        self.viewer.ask(command, threadId=thread_id, **arguments)
        return self.stop()

    def finish(self, thread_id):
        self.set()
        self.viewer.ask("continue", threadId=thread_id)
        return self.target.said()

    def where(self, thread_id, count=1):
        found = [(frame["name"].rpartition(".")[2], WORK.split("\n")[
            frame["line"] - 1].strip()) for frame in
            self.viewer.stack(thread_id)[:count]]
        return found[0] if count == 1 else found

    def test_breakpoint(self):
        told = self.set({"line": 7, "condition": "i == 1", "id": 77})
        self.assertEqual(told, [{
            "id": 77, "verified": True, "hits": 0, "pending": False,
            "refused": False, "line": 7,
            "source": {"name": "work.py", "path": self.path}}])
        stop = self.begin("work.outer(3)")
        tid = stop["threadId"]
        self.assertEqual(tid, self.target.process.pid)
        self.assertEqual(
            [stop[name] for name in ("reason", "at", "value", "lease",
                                     "hitBreakpointIds",
                                     "allThreadsStopped")],
            ["breakpoint", "line", None, None, [77], False])
        self.assertEqual(self.where(tid, 2), [("inner", "total += i"),
                                              ("outer", "b = inner(a)")])
        frame = self.viewer.stack(tid)[0]["id"]
        state = self.viewer.ask("state")
        self.assertEqual([found["threadId"] for found in state["stops"]],
                         [tid])
        self.assertEqual([(found["id"], found["hits"], found["mine"])
                          for found in state["breakpoints"]], [(77, 1, True)])
        wait_for(lambda: self.viewer.ask("state")["stops"][0]["held"] >
                 stop["held"], "it to have stood for longer")
        later = self.go("next", tid)
        self.assertEqual((later["reason"], later["stops"]),
                         ("step", stop["stops"] + 1))
        self.assertIn("no longer valid",
                      self.viewer.message("scopes", frameId=frame))
        later = self.go("stepOut", tid)
        self.assertEqual((later["at"], later["value"]), ("return", "3"))
        self.assertEqual(self.finish(tid), 4)
        self.assertEqual(self.viewer.event("continued")["threadId"], tid)

    def test_values(self):
        self.set("total += i")
        tid = self.begin("work.threaded(3)")["threadId"]
        self.assertNotEqual(tid, self.target.process.pid)
        frames = self.viewer.stack(tid)
        inner, outer = frames[0]["id"], frames[1]["id"]

        def value(expression, frame=inner):
            return self.viewer.value(expression, frameId=frame)

        # In that thread.
        self.assertEqual(value("own.name"), "'of this thread'")
        self.assertEqual(value("threading.get_native_id()"), str(tid))
        self.assertEqual(value("[n * i for _ in range(2)], DEPTH"),
                         "([0, 0], 1)")
        self.assertEqual(value("a", outer), "3")
        told = self.viewer.run("print('x'); total = 100; mine = [5]\nmine",
                               frameId=inner)
        self.assertEqual((told["result"], told["output"]), ("[5]", "x\n"))
        self.assertEqual(value("total, mine"), "(100, [5])")
        locals_ = self.viewer.scopes(inner)["Locals"]
        names = self.viewer.variables(locals_)
        self.assertEqual(names["total"]["value"], "100")
        told = self.viewer.ask("setVariable", variablesReference=locals_,
                               name="total", value="total + n")
        self.assertEqual(told["value"], "103")
        self.viewer.ask("setVariable", variablesReference=names["mine"][
            "variablesReference"], name="[0]", value="i")
        self.assertEqual(value("mine"), "[0]")
        self.viewer.ask("setExpression", expression="DEPTH", value="2",
                        frameId=inner)
        self.viewer.ask("setExpression", expression="a", value="9",
                        frameId=outer)
        self.assertEqual(self.viewer.value("work.DEPTH"), "2")
        self.assertEqual(value("a", outer), "9")
        self.assertEqual(self.viewer.labels("tota", frameId=inner), ["total"])
        with self.assertRaises(Failed) as caught:
            value("nothing")
        self.assertEqual(str(caught.exception),
                         "NameError: name 'nothing' is not defined")
        self.assertNotIn("probetui", caught.exception.body["traceback"])
        self.assertEqual(self.viewer.message(
            "evaluate", expression="while True: pass", context="repl",
            timeout=0.05, frameId=inner),
            "TimeIsUp: the evaluation took longer than 0.05 s")
        self.assertEqual(self.viewer.message(
            "evaluate", expression="raise SystemExit", context="repl",
            frameId=inner), "SystemExit")
        # 103 + 0 + 1 + 2, and one more.
        self.assertEqual(self.finish(tid), 107)

    def test_closure(self):
        """Names that two frames share."""
        for line, depth in (("total += 1", 0), ("total += 1", 1),
                            ("adds()", 0)):
            with self.subTest(line, depth=depth):
                self.set(line)
                tid = self.begin("work.closes(1)")["threadId"]
                frame = self.viewer.stack(tid)[depth]["id"]
                self.viewer.run("total = 99", frameId=frame)
                self.assertEqual(self.viewer.value(
                    "total", frameId=self.viewer.stack(tid)[1 - depth]["id"])
                    if line == "total += 1" else "99", "99")
                self.assertEqual(self.finish(tid), 202)

    def begin_both(self):
        """Two threads stand at one breakpoint."""
        self.set("begin = n")
        self.target.run("say(work.both(4))")
        return [self.stop()["threadId"] for _ in range(2)]

    def test_nothing_steps_after_continue(self):
        """The step of the one waits for the other, which is told to go on
        when nothing is set any more."""
        first, second = self.begin_both()
        self.go("next", first)
        self.assertEqual(self.where(first), ("meets", "barrier.wait()"))
        self.viewer.ask("next", threadId=first)
        self.assertEqual(self.finish(second), 8)

    def test_a_single_thread_goes_on(self):
        first, second = self.begin_both()
        self.go("next", first)
        self.viewer.ask("next", threadId=first)
        self.set()
        self.viewer.ask("continue", threadId=second, singleThread=True)
        self.assertEqual(self.stop()["threadId"], first)
        self.viewer.ask("continue", threadId=first)
        self.assertEqual(self.target.said(), 8)

    def test_nothing_stands_at_what_was_cleared(self):
        """Those that stand at a breakpoint that is set go on one by one."""
        first, second = self.begin_both()
        self.viewer.ask("continue", threadId=first)
        self.assertEqual([stop["threadId"] for stop in
                          self.viewer.ask("state")["stops"]], [second])
        self.viewer.ask("continue", threadId=second)
        self.assertEqual(self.target.said(), 8)
        first, second = self.begin_both()
        self.assertEqual(self.finish(first), 8)

    def test_two_viewers(self):
        with Viewer(self.target) as other:
            self.set({"line": line_of("a = n"), "id": 5})
            self.set({"line": line_of("a = n"), "id": 5},
                     {"line": line_of("c = b + 1"), "id": 6}, viewer=other)
            tid = self.begin("work.outer(1)")["threadId"]
            stop = self.stop(other)
            self.assertEqual((stop["threadId"], stop["hitBreakpointIds"]),
                             (tid, [5]))
            frame = other.stack(tid)[0]["id"]
            self.assertEqual(other.value("n", frameId=frame), "1")
            other.ask("continue", threadId=tid)
            self.assertEqual(self.viewer.event("continued")["threadId"], tid)
            self.assertNotIn("hitBreakpointIds", self.stop())
            self.assertEqual(self.stop(other)["hitBreakpointIds"], [6])
        # The one that is left is enough for it to stand.
        with self.target.client() as client:
            wait_until_over(other, client)
        self.assertEqual(len(self.viewer.ask("state")["stops"]), 1)
        self.assertEqual(self.finish(tid), 1)

    def test_who_only_looks(self):
        """Nothing stands for it, until it debugs itself."""
        with Viewer(self.target) as other:
            self.set("a = n")
            tid = self.begin("work.outer(1)")["threadId"]
            self.stop(other)
            other.ask("state")
            frame = other.stack(tid)[0]["id"]
            other.variables(other.scopes(frame)["Locals"])
            self.assertEqual(other.value("1"), "1")
            self.end()
            self.assertEqual(other.event("continued")["threadId"], tid)
            self.assertEqual(self.target.said(), 1)
            self.viewer = Viewer(self.target)

    def test_after_time_was_up(self):
        """A thread that is traced goes on, though one was interrupted."""
        self.assertIn("TimeIsUp", self.viewer.message(
            "evaluate", expression="while True: pass", context="repl",
            timeout=0.05))
        self.set("a = n")
        tid = self.begin("work.outer(1)")["threadId"]
        self.assertEqual(self.finish(tid), 1)

    def test_after_one_was_given_up(self):
        """It is interrupted, and has not noticed it yet."""
        self.viewer.run("import threading; given_up = threading.Lock()\n"
                        "given_up.acquire()")
        with Viewer(self.target) as other:
            self.assertEqual(other.send(
                "evaluate", context="repl", timeout=0.05,
                expression="given_up.acquire()\n"
                "while True: pass").status, 504)
            self.set("a = n")
            tid = self.begin("work.outer(1)")["threadId"]
            self.assertEqual(self.finish(tid), 1)
            self.viewer.run("given_up.release()")

    def test_who_looked_and_debugs_then(self):
        """It stands for that one as well."""
        for name in ("evaluate", "attach"):
            with self.subTest(name), Viewer(self.target) as other:
                self.set("a = n")
                tid = self.begin("work.outer(1)")["threadId"]
                other.ask(name, expression="n", frameId=other.stack(tid)[0][
                    "id"])
                self.end()
                self.assertEqual(len(other.ask("state")["stops"]), 1)
                other.ask("disconnect")
                self.assertEqual(self.target.said(), 1)
            self.viewer = Viewer(self.target)

    def test_last_viewer(self):
        viewer = self.viewer
        self.set("a = n")
        self.begin("work.outer(1)")
        viewer.close()
        self.assertEqual(self.target.said(), 1)
        # Its breakpoints went with it.
        self.assertEqual(self.target.ask("work.outer(1)"), 1)
        self.viewer = Viewer(self.target)
        self.set("a = n")
        self.begin("work.outer(2)")
        self.viewer.ask("disconnect")
        self.assertEqual(self.target.said(), 2)

    def test_kinds(self):
        set_functions = {"breakpoints": [
            {"name": "Net.forward", "temporary": True},
            {"name": "nowhere"}]}
        told = self.viewer.ask("setFunctionBreakpoints",
                               **set_functions)["breakpoints"]
        self.assertEqual([found["verified"] for found in told],
                         [True, False])
        self.assertTrue(told[1]["pending"])
        tid = self.begin("work.Net().forward(1)")["threadId"]
        removed = self.viewer.ask("state")["breakpoints"]
        self.assertEqual([found["id"] for found in removed], [told[1]["id"]])
        self.viewer.ask("setFunctionBreakpoints", breakpoints=[])
        self.assertEqual(self.finish(tid), 2)
        told = self.set({"line": line_of("total += i"),
                         "logMessage": "i is {i}", "id": 3},
                        {"line": line_of("return total"), "ignore": 1},
                        {"line": line_of("a = n"), "hitCondition": "> 1"})
        self.target.run("say(work.outer(1) + work.outer(1))")
        said = self.viewer.event("output")
        self.assertEqual((said["output"], said["category"], said["line"],
                          said["breakpoint"], said["source"]["path"]),
                         ("i is 0\n", "console", 7, 3, self.path))
        for place in ("a = n", "return total"):
            self.assertEqual(self.stop()["threadId"], tid)
            self.assertEqual(self.where(tid)[1], place)
            self.viewer.ask("continue", threadId=tid)
        self.assertEqual(self.target.said(), 2)
        # The same again keeps its number, and its count.
        again = self.set({"line": line_of("return total"), "ignore": 1})
        self.assertEqual((again[0]["id"], again[0]["hits"]),
                         (told[1]["id"], 1))

    def test_long_values(self):
        """What C would print for ever, in the thread that stands or logs."""
        self.target.ask("setattr(work, 'long', [])")
        self.target.ask("[setattr(work, 'long', [work.long, work.long]) "
                        "for _ in range(60)] and 1")
        self.set({"line": line_of("a = n"),
                  "logMessage": "{long}|{long!r}|{[1]}|{[1]!r}|{[n]!s}|{n:03}"
                  })
        self.target.run("say(work.outer(7))")
        said = self.viewer.event("output")["output"]
        self.assertTrue(said.startswith("[[[["))
        self.assertLess(len(said), 5000)
        self.assertEqual(self.target.said(), 22)
        self.set({"line": line_of("a = n"), "logMessage":
                  "{[1]}|{[1]!r}|{[n]!s}|{n:03}|{'x'}|{'x'!r}|{1.5}"})
        self.target.run("say(work.outer(7))")
        self.assertEqual(self.viewer.event("output")["output"],
                         "[1]|[1]|[7]|007|x|'x'|1.5\n")
        self.assertEqual(self.target.said(), 22)
        self.set("b = inner(a)")
        tid = self.begin("work.outer(1)")["threadId"]
        frame = self.viewer.stack(tid)[0]["id"]
        told = self.viewer.ask("evaluate", expression="long", frameId=frame)
        self.assertTrue(told["result"].endswith("left out"))
        self.assertEqual(self.finish(tid), 1)

    def test_removed(self):
        """A temporary breakpoint, once it has stopped; those of a viewer
        that is gone."""
        told = self.set("a = n", temporary=True, id=8)
        self.assertTrue(told[0]["verified"])
        self.target.run("say(work.outer(1))")
        gone = self.viewer.event("breakpoint")
        self.assertEqual((gone["reason"], gone["breakpoint"]["id"]),
                         ("removed", 8))
        tid = self.stop()["threadId"]
        self.set("c = b + 1")
        first, self.viewer = self.viewer, Viewer(self.target)
        self.viewer.ask("attach")
        first.close()
        with self.target.client() as client:
            wait_until_over(first, client)
        state = self.viewer.ask("state")
        self.assertEqual(state["breakpoints"], [])
        self.assertEqual([stop["threadId"] for stop in state["stops"]], [tid])
        self.assertEqual(self.finish(tid), 1)

    def test_exception(self):
        told = self.viewer.ask("setExceptionBreakpoints", filters=[],
                               filterOptions=[{"filterId": "raised",
                                               "condition": "ValueError"}])
        self.assertEqual(told["breakpoints"], [{"verified": True}])
        stop = self.begin("work.caught()")
        tid = stop["threadId"]
        self.assertEqual([stop[name] for name in ("reason", "at", "value",
                                                  "text")],
                         ["exception", "exception"] + ["ValueError: no 3"] *
                         2)
        told = self.viewer.ask("exceptionInfo", threadId=tid)
        self.assertEqual([told[name] for name in (
            "exceptionId", "description", "breakMode")],
            ["ValueError", "no 3", "always"])
        inner = told["details"]["innerException"][0]
        self.assertEqual((inner["typeName"], inner["message"]),
                         ("KeyError", "3"))
        self.assertIn("raise KeyError(n)", inner["stackTrace"])
        self.assertIn("raise ValueError", told["details"]["stackTrace"])
        self.viewer.ask("setExceptionBreakpoints", filters=[])
        self.assertEqual(self.finish(tid), "caught")

    def test_moves(self):
        self.set("total = 0")
        tid = self.begin("work.outer(2)")["threadId"]
        self.go("until", tid, line=line_of("return total"))
        self.assertEqual(self.where(tid), ("inner", "return total"))
        target = self.viewer.ask("gotoTargets", source={"path": self.path},
                                 line=line_of("total += i"))["targets"][0]
        self.assertRegex(self.viewer.message(
            "goto", threadId=tid, targetId=target["id"]),
            "^the jump is not possible: ")
        target = self.viewer.ask("gotoTargets", source={"path": self.path},
                                 line=line_of("total = 0"))["targets"][0]
        self.assertEqual(self.go("goto", tid, targetId=target["id"])
                         ["reason"], "goto")
        self.assertEqual(self.where(tid), ("inner", "total = 0"))
        outer = self.viewer.stack(tid)[1]["id"]
        self.set()
        self.go("next", tid, frameId=outer)
        self.assertEqual(self.where(tid), ("outer", "c = b + 1"))
        self.assertEqual(self.finish(tid), 2)

    def test_pause(self):
        self.target.run("event = threading.Event(); "
                        "say(work.spins(event))")
        wait_for(lambda: "spins" in [frame["name"] for frame in
                                     self.viewer.stack()], "the loop")
        for number in (0, self.target.process.pid):
            self.assertIsNone(self.viewer.ask("pause", threadId=number))
            stop = self.stop()
            self.assertEqual(stop["reason"], "pause")
            self.viewer.ask("continue", threadId=number)
        self.viewer.value("event.set()")
        self.assertEqual(self.target.said(), "spun")

    def test_pause_that_is_withdrawn(self):
        """It waits in C code, continues, and runs on through its lines."""
        number = self.target.process.pid
        for command, answer in (("continue", {"allThreadsContinued": False}),
                                ("withdrawPause", {"withdrawn": True})):
            self.target.run("event = threading.Event(); "
                            "say(['waits']); event.wait(); say(work.outer(1))")
            self.assertEqual(self.target.said(), ["waits"])
            self.viewer.ask("pause", threadId=number)
            self.assertEqual(self.viewer.ask(command, threadId=number), answer)
            self.assertEqual(
                self.viewer.ask("withdrawPause", threadId=number),
                {"withdrawn": False})
            self.viewer.value("event.set()")
            self.assertEqual(self.target.said(), 1)

    def test_threads(self):
        """Others run on, or are held."""
        self.target.run(
            "counted = []; event = threading.Event(); "
            "counter = threading.Thread(target=lambda: [counted.append(1) "
            "for _ in iter(lambda: event.wait(0.001), True)]); "
            "counter.start()")

        def count():
            return int(self.viewer.value("len(counted)"))

        self.set("a = n")
        for mode, is_all in (("one", False), ("all", True)):
            self.viewer.ask("setThreads", mode=mode)
            stop = self.begin("work.outer(1)")
            self.assertEqual(stop["allThreadsStopped"], is_all)
            if is_all:
                wait_for(lambda: len({count() for _ in range(20)}) == 1,
                         "it to be held")
            else:
                before = count()
                wait_for(lambda n=before: count() > n, "it to run on")
            told = self.viewer.ask("continue", threadId=stop["threadId"])
            self.assertEqual(told["allThreadsContinued"], is_all)
            self.assertEqual(self.target.said(), 1)
        before = count()
        wait_for(lambda: count() > before, "it to go on")
        self.viewer.value("event.set() or counter.join()")

    def test_last_step(self):
        """A thread that still steps when the last viewer goes, does so no
        more."""
        self.target.run("event = threading.Event(); "
                        "say([work.spins(event), sys.gettrace() is None])")
        wait_for(lambda: "spins" in [frame["name"] for frame in
                                     self.viewer.stack()], "the loop")
        self.viewer.ask("pause", threadId=0)
        tid = self.stop()["threadId"]
        self.viewer.ask("stepOut", threadId=tid)
        self.end()
        with Viewer(self.target) as self.viewer:
            self.viewer.value("event.set()")
            self.assertEqual(self.target.said(), ["spun", True])

    def test_jump_at_a_return(self):
        self.set("a = n")
        tid = self.begin("work.outer(1)")["threadId"]
        stop = self.go("stepOut", tid)
        self.assertEqual(stop["at"], "return")
        target = self.viewer.ask("gotoTargets", source={"path": self.path},
                                 line=10)["targets"][0]
        self.assertEqual(self.viewer.message(
            "goto", threadId=tid, targetId=target["id"]),
            "the jump is not possible: the thread is stopped at a return, but "
            "can jump only from the start of a line; step first (n)")
        self.finish(tid)

    def test_refusals(self):
        self.set("a = n")
        tid = self.begin("work.outer(1)")["threadId"]
        path = {"path": self.path}
        for command, arguments, sentence in (
                ("continue", {"threadId": 1}, "thread 1 is not stopped"),
                ("next", {},
                 "arguments.threadId is missing (expected an integer)"),
                ("exceptionInfo", {"threadId": tid},
                 "the thread is not stopped at an exception"),
                ("goto", {"threadId": tid, "targetId": 9},
                 "targetId 9 is no longer valid: request the stack again"),
                ("pause", {"threadId": tid},
                 "thread %d is already stopped" % tid),
                ("pause", {"threadId": 1}, "Python thread 1 not found"),
                ("setBreakpoints", {"source": {}, "breakpoints": []},
                 "arguments.source.path is missing (expected a string): "
                 "breakpoints are set in files"),
                ("setBreakpoints", {"source": path, "breakpoints": [{}]},
                 "arguments.breakpoints[0].line is missing (expected an "
                 "integer)"),
                ("setBreakpoints", {"source": path, "breakpoints": [
                    {"line": 1, "id": 5}, {"line": 2, "id": 5}]},
                 "two breakpoints have the same id"),
                ("setBreakpoints", {"source": path, "breakpoints": [
                    {"line": 1}] * 501},
                 "arguments.breakpoints can have at most 500 entries"),
                ("setBreakpoints", {"source": path, "breakpoints": [
                    {"line": 1, "hitCondition": "% 2"}]},
                 "arguments.breakpoints[0].hitCondition must be a number of "
                 "hits, such as 5, >= 5 or > 4"),
                ("setFunctionBreakpoints", {"breakpoints": [{"name": " "}]},
                 "arguments.breakpoints[0].name is empty"),
                ("setExceptionBreakpoints", {"filters": ["odd"]},
                 "unknown exception filter 'odd' (known: raised, uncaught)"),
                ("setExceptionBreakpoints", {"filters": ["raised"],
                                             "types": ["a b"]},
                 "'a b' is not a class name"),
                ("setThreads", {"mode": "odd"},
                 "arguments.mode must be one of one, all")):
            with self.subTest(command):
                self.assertEqual(self.viewer.message(command, **arguments),
                                 sentence)
        self.assertEqual(self.finish(tid), 1)


def load_tests(loader, _tests, _pattern):
    return pythons.load_cases(loader, __name__, StopCase)
