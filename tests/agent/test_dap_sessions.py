"""Sessions of viewers and their ends, and the wait for events."""
import unittest

from agents import OneCase, wait_for
from daps import Viewer, wait_until_over

SHORT = ("import probetui\n"
         "from probetui.dap import handles, sessions\n"
         "sessions.UNIX_GRACE, sessions.TCP_GRACE = 0.05, 0.1\n")
# The first list is set only when the second one has come.
SLOW = """\
from probetui.dap import breakpoints
from probetui.debugging import engine
own, until, count = engine.Engine.set_breakpoints, threading.Event(), 0
def sets(self, owner, specs):
    global count
    count += 1
    if count == 1:
        say("sets")
        until.wait()
    return own(self, owner, specs)
engine.Engine.set_breakpoints = sets
def are_there():
    return count == 2 or 2 == len([frame for frame in
        sys._current_frames().values() if is_within(frame)])
def is_within(frame):
    while frame and frame.f_code is not breakpoints.apply.__code__:
        frame = frame.f_back
    return frame is not None
"""
# Where the end of a session and of the agent fail.
FAILS = """\
from probetui import agent, leaving, server
leaving.SECONDS = 120
from probetui.debugging import engine
def fails(*_):
    raise RuntimeError("no")
def works():
    return 1
"""


class SessionCase(OneCase):
    def listening(self, more="", call="probetui.listen()", **environment):
        return self.start(SHORT + more + "say(%s)" % call, **environment)


class TestSessions(SessionCase):
    def test_last_connection(self):
        target = self.listening()
        with target.client() as client:
            viewer = Viewer(target)
            self.assertEqual(viewer.poll(), [{
                "seq": 1, "type": "event", "event": "initialized",
                "body": {}}])
            # The other one is there.
            viewer.client.close()
            viewer.waiter.send(viewer.waiter.request(
                "GET", "/events?session=%s&after=1&timeout=30"
                % viewer.session))
            self.assertEqual(viewer.send("threads", client).status, 200)
            client.close()
        with target.client() as client:
            # It waits for events when it is closed.
            self.assertEqual(viewer.send("evaluate", client, expression="1")
                             .status, 200)
            viewer.waiter.close()
        with target.client() as client:
            wait_until_over(viewer, client)

    def test_grace(self):
        """It goes on with another connection, if that comes soon."""
        target = self.listening("sessions.UNIX_GRACE = 20\n")
        viewer = Viewer(target)
        viewer.close()
        with target.client() as client:
            wait_for(lambda: client.value("len([t for t in threading."
                                          "enumerate() if t.name == "
                                          "'probetui-client'])") == "1",
                     "the other connections to end")
            self.assertEqual(viewer.send("threads", client).status, 200)

    def test_silence(self):
        target = self.listening("sessions.SILENCE_SECONDS = 0.7\n")
        with Viewer(target) as viewer, target.client() as client:
            wait_until_over(viewer, client)
            # A wait for events is enough to be there.
            viewer = Viewer(target)
            viewer.poll()
            self.assertEqual(viewer.waiter.get(
                "/events?session=%s&after=%d&timeout=1"
                % (viewer.session, viewer.after))["events"], [])
            viewer.close()

    def test_many(self):
        target = self.listening()
        with target.client() as client:
            names = [client.post("/dap", seq=1, type="request",
                                 command="initialize")["body"]["probetui"][
                                     "session"] for _ in range(16)]
            self.assertEqual(len(set(names)), 16)
            answer = client.ask("POST", "/dap", {
                "seq": 1, "type": "request", "command": "initialize"})
            self.assertEqual((answer.status, answer.message),
                             (503, "too many sessions: 16 exist already"))
            client.post("/dap?session=" + names[0], seq=1, type="request",
                        command="disconnect")
            # One that fails leaves none.
            for _ in range(3):
                told = client.post("/dap", seq=1, type="request",
                                   command="initialize",
                                   arguments={"pathFormat": "uri"})
                self.assertFalse(told["success"])
            Viewer(target).close()

    def test_a_number_is_taken_once(self):
        target = self.listening()
        with Viewer(target) as viewer, Viewer(target) as other:
            self.assertIs(viewer.capabilities["probetui"]["once"], True)
            for client, once, status in (
                    (viewer, "7", 200), (viewer, "7", 409), (other, "7", 200),
                    (viewer, "6", 200), (viewer, "x", 400), (viewer, "", 400)):
                path = "/dap?session=%s&once=%s" % (client.session, once)
                self.assertEqual(client.client.ask("POST", path, {
                    "seq": 1, "type": "request", "command": "threads"})
                    .status, status, once)

    def test_no_request(self):
        target = self.listening()
        with Viewer(target) as viewer:
            for body, sentence in (
                    ({}, 'the body is not a DAP request: "type" must be '
                     '"request"'),
                    ({"type": "request", "command": "threads"},
                     "seq is missing (expected an integer)"),
                    ({"type": "request", "seq": 1, "command": 5},
                     "command must be a string, not a number"),
                    ({"type": "request", "seq": 1, "command": "threads",
                      "arguments": []},
                     "arguments must be an object, not a list")):
                answer = viewer.client.ask("POST", "/dap", body)
                self.assertEqual((answer.status, answer.message),
                                 (400, sentence))
            for path, status in (("/events", 404), ("/events?session=1", 404),
                                 ("/events?session=%s&after=x", 400),
                                 ("/events?session=%s&since=1", 400)):
                self.assertEqual(viewer.client.ask(
                    "GET", path.replace("%s", viewer.session)).status,
                    status)
            self.assertEqual(viewer.client.ask(
                "POST", "/dap?session=%s&x=1" % viewer.session, {}).status,
                400)

    def test_read_only(self):
        target = self.listening(call="probetui.listen(read_only=True)")
        with Viewer(target) as viewer:
            for command in ("evaluate", "setVariable", "setExpression",
                            "setBreakpoints", "setFunctionBreakpoints",
                            "setExceptionBreakpoints", "setDataBreakpoints",
                            "continue", "next", "stepIn", "stepOut", "until",
                            "pause", "withdrawPause", "goto", "setThreads",
                            "catch", "watchdog"):
                self.assertIn("the agent is read-only",
                              viewer.message(command, expression="1"))
            self.assertTrue(viewer.stack())
            self.assertIn("threading", viewer.labels("thr"))
            self.assertNotIn("supportsSetVariable", viewer.capabilities)

    def test_read_only_later(self):
        """What sessions have set ends with them."""
        target = self.listening(FAILS)
        viewer = Viewer(target)
        viewer.ask("setFunctionBreakpoints", breakpoints=[{"name": "works"}])
        target.run("threading.Thread(target=lambda: say(works())).start()")
        viewer.event("stopped")
        target.run("probetui.listen(read_only=True), "
                   "probetui.listen(read_only=False)")
        self.assertEqual(target.said(), 1)
        self.assertEqual(viewer.send("threads").status, 404)
        self.assertEqual(viewer.client.ask("POST", "/eval", {
            "code": "1"}).status, 403)
        viewer.close()
        with Viewer(target) as viewer:
            self.assertIn("read_only", viewer.message(
                "setFunctionBreakpoints", breakpoints=[]))

    def test_checks(self):
        """The same as for everything else."""
        target = self.listening(call="probetui.listen('127.0.0.1:0', "
                                "token='secret-token')")
        body = {"seq": 1, "type": "request", "command": "initialize"}
        with target.tcp() as client:
            self.assertEqual(client.ask("POST", "/dap", body).status, 401)
        with target.tcp(token="secret-token") as client:
            self.assertEqual(client.ask("POST", "/dap", body,
                                        "Origin: http://x").status, 403)
        with target.tcp(token="secret-token") as client:
            told = client.post("/dap", **body)["body"]["probetui"]
            self.assertEqual(told["grace"], 0.1)
            path = "/events?session=" + told["session"]
        with target.tcp() as client:
            self.assertEqual(client.ask("GET", path).status, 401)

    def test_other_session(self):
        """Numbers are a session's own."""
        target = self.listening()
        with Viewer(target) as one, Viewer(target) as other:
            one.stack()
            told = one.ask("evaluate", expression="[1]")
            self.assertRegex(other.message(
                "scopes", frameId=1), r"\AframeId 1 is no longer valid")
            self.assertRegex(other.message(
                "variables", variablesReference=told["variablesReference"]),
                r"\AvariablesReference \d+ is no longer valid")

    def test_lists_at_once(self):
        """By two connections; neither loses what the other has set."""
        target = self.listening(SLOW)
        with Viewer(target) as viewer, target.client() as other:
            path = "/dap?session=" + viewer.session
            viewer.client.send(viewer.client.request("POST", path, {
                "seq": 1, "type": "request", "command": "setBreakpoints",
                "arguments": {"source": {"path": "program.py"},
                              "breakpoints": [{"line": 1}]}}))
            self.assertEqual(target.said(), "sets")
            viewer.waiter.send(viewer.waiter.request("POST", path, {
                "seq": 2, "type": "request",
                "command": "setFunctionBreakpoints",
                "arguments": {"breakpoints": [{"name": "say"}]}}))
            # It waits, or has overtaken it.
            wait_for(lambda: other.value("are_there()") == "True", "both")
            target.run("until.set()")
            viewer.client.read()
            viewer.waiter.read()
            self.assertEqual(len(viewer.ask("state")["breakpoints"]), 2)

    def test_unused(self):
        """What a viewer looked at is not kept for long."""
        target = self.listening("handles.UNUSED_SECONDS = 0.05\n"
                                "import weakref\n"
                                "class Thing: pass\n")
        with Viewer(target) as viewer:
            told = viewer.run("t = Thing(); t.x = 1; r = weakref.ref(t); t")
            self.assertTrue(told["variablesReference"])
            viewer.run("del t")
            wait_for(lambda: viewer.value("r() is None") == "True",
                     "the value to be let go")
            self.assertIn("no longer valid", viewer.message(
                "variables", variablesReference=told["variablesReference"]))

    def test_handles_bounded(self):
        target = self.listening("handles.HANDLES_MAXIMUM = 3\n")
        with Viewer(target) as viewer:
            numbers = [viewer.ask("evaluate", expression="[1]")[
                "variablesReference"] for _ in range(5)]
            self.assertIn("no longer valid", viewer.message(
                "variables", variablesReference=numbers[1]))
            self.assertTrue(viewer.variables(numbers[2]))


class TestFailures(SessionCase):
    """Of one part: all others are done."""

    def stopped(self, target):
        viewer = Viewer(target)
        viewer.ask("setFunctionBreakpoints", breakpoints=[{"name": "works"}])
        viewer.stack()
        target.run("threading.Thread(target=lambda: say(works())).start()")
        viewer.event("stopped")
        return viewer

    def test_end_of_a_session(self):
        for part in ("handles.Handles.end", "engine.Engine.leave",
                     "engine.Engine.end_steps"):
            with self.subTest(part):
                target = self.listening(FAILS + part + " = fails\n")
                self.stopped(target).close()
                self.assertEqual(target.said(), 1)

    def test_end_of_the_agent(self):
        target = self.listening(FAILS)
        with self.stopped(target):
            target.run("agent._agent._debugger.endings.insert(0, fails)")
            target.run("engine.peek().armer.end_steps = fails")
            target.run("say(probetui.unlisten())")
            self.assertEqual(sorted([target.said(), target.said()], key=str), [
                1, ["the debugger, which could not be removed: "
                    "RuntimeError: no"]])

    def test_turn_of_the_server(self):
        target = self.listening(FAILS + """\
own = server.Server._turn
def turns(self):
    server.Server._turn = own
    fails()
server.Server._turn = turns
""")
        with target.client() as client:
            self.assertEqual(client.value("1 + 1"), "2")


class TestEvents(SessionCase):
    EMIT = ("from probetui import agent\n"
            "def emit(count):\n"
            "    for i in range(count):\n"
            "        agent._agent._debugger.ring.emit('output', "
            "{'output': str(i)})\n")

    def test_wait(self):
        target = self.listening(self.EMIT)
        with Viewer(target) as viewer, Viewer(target) as other:
            viewer.event("initialized")
            viewer.waiter.send(viewer.waiter.request(
                "GET", "/events?session=%s&after=%d"
                % (viewer.session, viewer.after)))
            target.run("emit(1)")
            told = viewer.waiter.read().value
            # The other's `initialized` is not for it.
            self.assertEqual([event["event"] for event in told["events"]],
                             ["output"])
            self.assertEqual(told["next"], told["events"][0]["seq"])
            self.assertEqual(other.event("output"), {"output": "0"})
            # From before it was there.
            with Viewer(target) as late:
                self.assertEqual([event["event"] for event in late.poll()],
                                 ["initialized"])

    def test_lost(self):
        target = self.listening(self.EMIT)
        with Viewer(target) as viewer:
            viewer.event("initialized")
            target.ask("emit(1500)")
            found = viewer.poll()
            self.assertEqual(found[0]["event"], "probetui/lost")
            self.assertEqual(found[1]["body"], {"output": "500"})
            self.assertEqual(found[0]["seq"] + 1, found[1]["seq"])
            while len(found) < 1001:
                found += viewer.poll()
            self.assertEqual([event["body"]["output"] for event in found[1:]],
                             [str(i) for i in range(500, 1500)])

    def test_end(self):
        """A wait ends with the process."""
        target = self.listening()
        with Viewer(target) as viewer:
            viewer.event("initialized")
            viewer.waiter.send(viewer.waiter.request(
                "GET", "/events?session=%s&after=%d"
                % (viewer.session, viewer.after)))
            wait_for(lambda: viewer.value(
                "any('/dap/events.py' in frame.f_back.f_code.co_filename "
                "for frame in sys._current_frames().values() "
                "if frame.f_back)") == "True", "the wait")
            self.assertEqual(target.close(), (0, ""))
            told = viewer.waiter.read().value["events"]
            self.assertEqual([event["event"] for event in told],
                             ["terminated"])

    def test_fork(self):
        target = self.listening()
        with Viewer(target) as viewer:
            viewer.event("initialized")
            self.assertEqual(viewer.value(
                "(lambda os: [os.waitpid(pid, 0)[1] for pid in [os.fork() or "
                "os._exit(0)]])(__import__('os'))"), "[0]")
            self.assertEqual(viewer.value("1"), "1")


if __name__ == "__main__":
    unittest.main()
