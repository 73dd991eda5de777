"""Exceptions that nobody catches are held, looked at, and then end what they
would have ended. On every CPython found with PROBETUI_SOAK, else on the one
that runs this."""
import os
import re
import signal
import sys
import unittest

from agents import Place, Target, wait_for
from daps import Viewer, wait_until_over

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "backend"))
import pythons  # noqa: E402

BEGINS = """
import probetui
def inner(number):
    text = "abc"
    names = {"a": [1, 2]}
    raise ValueError("boom %d" % number)
def fail(number):
    try:
        {}["missing"]
    except KeyError as error:
        raise RuntimeError("outer") from error
def outer(number):
    depth = 2
    inner(number)
def other():
    global count
    while counts:
        count += 1
        time.sleep(0.005)
def run(function, *arguments):
    thread = threading.Thread(target=function, args=arguments, name="extra")
    thread.start()
    return thread
count, counts = 0, True
counter = threading.Thread(target=other, daemon=True)
counter.start()
say(probetui.listen(catch=CATCH))
"""


def quiet(errors):
    """What is said without us, too."""
    return re.sub("(?m)^probetui: .*\n", "", errors)


class HoldCase(unittest.TestCase):
    def setUp(self):
        python = getattr(self, "python", None)
        self.place = Place(python.argv if python else [sys.executable])
        self.addCleanup(self.place.close)

    def start(self, catch="True", **more):
        target = Target(self.place, BEGINS.replace("CATCH", catch), **more)
        self.addCleanup(target.kill)
        return target

    def viewer(self, target):
        viewer = Viewer(target)
        self.addCleanup(viewer.close)
        return viewer

    def ended(self, target):
        """(status, standard error)"""
        _, errors = target.process.communicate(timeout=60)
        return target.process.returncode, quiet(errors)

    def as_without(self, line, target, **more):
        """It ends as it would have without us."""
        found = self.ended(target)
        plain = self.start("None", **more)
        plain.run(line)
        self.assertEqual(found, self.ended(plain))

    def held(self, viewer):
        body = viewer.event("stopped")
        self.assertEqual(body["reason"], "exception")
        return body

    def names(self, viewer, frame):
        return viewer.variables(viewer.scopes(frame["id"])["Locals"])


class TestHolds(HoldCase):
    def test_the_main_thread_is_held_and_then_ends_as_it_would_have(self):
        target = self.start()
        viewer = self.viewer(target)
        target.run("outer(7)")
        body = self.held(viewer)
        self.assertEqual(body["at"], "exception")
        self.assertIn("ValueError: boom 7", str(body))
        self.assertTrue(1790 < body["lease"] <= 1800, body)
        frames = viewer.stack(body["threadId"])
        self.assertEqual([frame["name"] for frame in frames], [
            "inner", "outer", "<module>", "level_two", "level_one",
            "<module>"])
        names = self.names(viewer, frames[0])
        self.assertEqual(names["text"]["value"], "'abc'")
        self.assertEqual(viewer.value("number + len(names['a'])",
                                      frameId=frames[0]["id"]), "9")
        self.assertEqual(viewer.value("depth", frameId=frames[1]["id"]), "2")
        # The others run on.
        before = int(viewer.value("count"))
        wait_for(lambda: int(viewer.value("count")) > before, "the thread")
        viewer.ask("continue", threadId=body["threadId"])
        self.as_without("outer(7)", target)

    def test_viewers_come_and_go(self):
        target = self.start()
        first = self.viewer(target)
        target.run("thread = run(fail, 1)")
        thread = self.held(first)["threadId"]
        client = target.client()
        self.addCleanup(client.close)
        first.close()
        wait_until_over(first, client)
        second, third = self.viewer(target), self.viewer(target)
        self.assertEqual(second.stack(thread)[0]["name"], "fail")
        (hold,) = second.ask("state")["holds"]
        self.assertEqual((hold["threadId"], hold["exception"]),
                         (thread, "RuntimeError: outer"))
        self.assertTrue(0 < hold["lease"] <= 1800, hold)
        info = third.ask("exceptionInfo", threadId=thread)
        self.assertIn("missing", str(info))
        third.ask("continue", threadId=thread)
        self.assertEqual(second.event("continued")["threadId"], thread)
        target.run("thread.join(); say(1)")
        self.assertEqual(target.said(), 1)

    def test_another_thread_is_held_and_the_main_one_runs_on(self):
        target = self.start()
        viewer = self.viewer(target)
        target.run("thread = run(outer, 3)")
        body = self.held(viewer)
        self.assertEqual(viewer.stack(body["threadId"])[0]["name"], "inner")
        self.assertTrue(target.ask("thread.is_alive()"))
        viewer.ask("continue", threadId=body["threadId"])
        target.run("thread.join(); say(1)")
        self.assertEqual(target.said(), 1)
        plain = self.start("None")
        plain.run("thread = run(outer, 3); thread.join()")
        (status, errors), expected = self.ended(target), self.ended(plain)
        self.assertEqual((status, errors.splitlines()[1:]),
                         (expected[0], expected[1].splitlines()[1:]))

    def test_it_ends_by_itself_when_the_lease_is_over(self):
        target = self.start("'1h'")
        viewer = self.viewer(target)
        target.run("outer(7)")
        body = self.held(viewer)
        self.assertTrue(3590 < body["lease"] <= 3600, body)
        told = viewer.ask("catch", on=True, lease=0.3)
        self.assertTrue(told["holds"][0]["lease"] <= 0.3, told)
        self.as_without("outer(7)", target)

    def test_a_viewers_own_filter_holds_while_it_is_there(self):
        target = self.start("None")
        viewer = self.viewer(target)
        viewer.ask("setExceptionBreakpoints", filters=["uncaught"])
        target.run("outer(7)")
        self.assertIsNone(self.held(viewer)["lease"])
        viewer.close()
        self.as_without("outer(7)", target)

    def test_what_is_wanted_is_not_held(self):
        for line in "run(sys.exit, 3).join(); sys.exit(3)", \
                "raise KeyboardInterrupt":
            target = self.start("'2s'")
            target.run(line)
            _, errors = target.process.communicate(timeout=60)
            self.assertNotIn("is held", errors)
            self.assertEqual(target.process.returncode == 3, "exit" in line)

    def test_by_type_and_off_again(self):
        target = self.start("None")
        viewer = self.viewer(target)
        hooks = "(sys.excepthook is sys.__excepthook__, " \
            "threading.excepthook is threading.__excepthook__)" \
            if target.ask("hasattr(threading, '__excepthook__')") else \
            "(sys.excepthook is sys.__excepthook__, True)"
        viewer.ask("catch", on=True, types=["LookupError"])
        self.assertFalse(target.ask(hooks)[0])
        target.run("thread = run(outer, 3); thread.join(); say(1)")
        self.assertEqual(target.said(), 1)
        target.run("thread = run(lambda: {}[1]); say(1)")
        target.said()
        thread = self.held(viewer)["threadId"]
        viewer.ask("catch", on=False)
        self.assertIsNone(viewer.ask("state")["catch"])
        # It stays held, but no other will be.
        self.assertEqual(viewer.ask("state")["holds"][0]["threadId"], thread)
        self.assertEqual(target.ask(hooks), [True, True])
        viewer.ask("continue", threadId=thread)
        self.assertIn("on is missing", viewer.message("catch"))
        self.assertIn("lease", viewer.message("catch", on=True, lease=0))
        target.run("say(1)")

    def test_hooks_of_the_program_are_called_once_and_afterwards(self):
        target = self.start()
        viewer = self.viewer(target)
        target.run("before = sys.excepthook")
        target.run("def hook(*args): print('own', file=sys.stderr); "
                   "before(*args); sys.exit(5)")
        target.run("sys.excepthook = hook")
        # Ours is put over it.
        wait_for(lambda: not target.ask("sys.excepthook is hook"), "the hook")
        target.run("outer(7)")
        viewer.ask("continue", threadId=self.held(viewer)["threadId"])
        status, errors = self.ended(target)
        self.assertEqual(status, 5)
        self.assertEqual(errors.count("own"), 1)
        self.assertEqual(errors.count("boom 7"), 1)

    def test_ctrl_c_ends_it(self):
        target = self.start()
        viewer = self.viewer(target)
        target.run("outer(7)")
        self.held(viewer)
        target.process.send_signal(signal.SIGINT)
        self.as_without("outer(7)", target)

    def test_nothing_is_left_when_the_agent_leaves(self):
        target = self.start()
        viewer = self.viewer(target)
        target.run("thread = run(outer, 3)")
        self.held(viewer)
        target.run("from probetui import leaving; leaving.SECONDS = 120")
        target.run("say(probetui.unlisten())")
        self.assertEqual(target.said(), [])
        target.run("thread.join(); say(sys.excepthook is sys.__excepthook__)")
        self.assertTrue(target.said())
        target.run("outer(7)")
        self.assertEqual(self.ended(target)[0], 1)

    def test_a_fork_is_not_held(self):
        target = self.start(options=("-W", "ignore"))
        target.run("counts = False; counter.join()")
        # In one line: both read the next one.
        target.run("import os; sys.stdout.flush(); child = os.fork(); "
                   "child or outer(7)")
        target.run("say(os.waitpid(child, 0)[1])")
        self.assertEqual(target.said(), 256)


def load_tests(loader, tests, _pattern):
    if os.environ.get("PROBETUI_SOAK"):
        return pythons.load_cases(loader, __name__, TestHolds)
    return tests


if __name__ == "__main__":
    unittest.main()
