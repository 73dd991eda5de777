"""What clients had run is noted, for those who look after the job."""
import json
import os
import stat
import time
import unittest

from agents import OneCase
from daps import Viewer

TOKEN = "a token of the test"
MINE = "pid %d of user %d" % (os.getpid(), os.geteuid())


class TestKept(OneCase):
    def test_evals(self):
        target = self.start()
        with target.client() as client:
            self.assertEqual(client.get("/evals"), {
                "count": 0, "file": None, "evals": []})
            client.eval("x = 3")
            client.eval("nonsense +")
            client.post("/execute", code="y = 4")
            path = self.place.write("given.py", "z = 5\n")
            client.ask("POST", "/execute", {"path": path})
            client.eval("#" * 300)
            # What is refused is not run.
            client.ask("POST", "/eval", {"code": "1", "timeout": "x"})
            client.ask("POST", "/eval", {"code": 1})
            told = client.get("/evals")
        self.assertEqual(
            [(one["what"], one["code"]) for one in told["evals"]],
            [("eval", "x = 3"), ("eval", "nonsense +"), ("execute", "y = 4"),
             ("execute", path),
             ("eval", "#" * 200 + "... 100 characters left out")])
        self.assertEqual({one["peer"] for one in told["evals"]}, {MINE})
        for one in told["evals"]:
            self.assertLess(abs(one["time"] - time.time()), 60)

    def test_dap(self):
        """What a viewer has run, and what its breakpoints do; once."""
        target = self.start()
        with Viewer(target) as viewer:
            viewer.run("x = 1")
            for line in (1, 2):
                viewer.ask("setBreakpoints", source={"path": "/x.py"},
                           breakpoints=[{"line": line, "condition": "x > 1"},
                                        {"line": 9, "logMessage": "at {x}"}])
            viewer.ask("setExpression", expression="x", value="x + 2")
            told = viewer.client.get("/evals")["evals"]
        self.assertEqual([(one["what"], one["code"]) for one in told],
                         [("dap", "x = 1"), ("breakpoint", "x > 1"),
                          ("breakpoint", "at {x}"), ("dap", "x = x + 2")])
        self.assertEqual({one["peer"] for one in told}, {MINE})

    def test_log_later(self):
        target = self.start()
        first = self.place.inside + "/first"
        target.run("for name in %r: probetui.listen(log=name)" % (
            ["/nowhere/log", first, first, self.place.inside + "/second", 3],))
        self.assertEqual(target.ask("1"), 1)
        with target.client() as client:
            client.eval("1")
            self.assertEqual(client.get("/evals")["file"], first)
        _, errors = target.close()
        lines = errors.splitlines()
        self.assertEqual(len(lines), 3, errors)
        self.assertIn("the log file /nowhere/log cannot be opened", lines[0])
        self.assertIn("is already logged to %s, not to" % first,
                      lines[1])
        self.assertIn("the log file cannot be opened: TypeError", lines[2])

    def test_bounded(self):
        target = self.start()
        with target.client() as client:
            for number in range(600):
                client.eval(str(number))
            told = client.get("/evals")
        self.assertEqual(told["count"], 600)
        self.assertEqual([one["code"] for one in told["evals"]],
                         [str(number) for number in range(100, 600)])
        # Nothing of it on the job's standard error.
        self.assertEqual(target.close(), (0, ""))

    def test_tcp(self):
        target = self.start("import probetui\nsay(probetui.listen("
                            "'127.0.0.1:0', %r))" % TOKEN)
        with target.tcp(token=TOKEN) as client:
            port = client.connection.getsockname()[1]
            client.eval("1")
            self.assertEqual(client.get("/evals")["evals"][0]["peer"],
                             "127.0.0.1 port %d" % port)

    def test_read_only(self):
        target = self.start("import probetui\n"
                            "say(probetui.listen(read_only=True))")
        with target.client() as client:
            client.ask("POST", "/eval", {"code": "1"})
            self.assertEqual(client.get("/evals")["count"], 0)


class TestFile(OneCase):
    def logging(self, path, more=""):
        return self.start("import probetui\nfrom probetui import audit\n%s\n"
                          "say(probetui.listen(log=%r))" % (more, path))

    def test_file(self):
        path = os.path.join(self.place.path, "log")
        targets = [self.logging(path) for _ in range(2)]
        for target in targets:
            with target.client() as client:
                client.eval("print('\u20ac')\n" + "x" * 300)
                self.assertEqual(client.get("/evals")["file"], path)
        with open(path) as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([line["pid"] for line in lines],
                         [target.process.pid for target in targets])
        for line in lines:
            self.assertEqual((line["peer"], line["rank"], line["what"]),
                             (MINE, 0, "eval"))
            self.assertTrue(line["code"].startswith("print('\u20ac')\nxxx"))
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)

    def test_full(self):
        path = os.path.join(self.place.path, "log")
        target = self.logging(path, "audit.FILE_MAXIMUM = 300")
        with target.client() as client:
            for _ in range(9):
                self.assertEqual(client.value("1"), "1")
            self.assertEqual(client.get("/evals")["count"], 9)
        status, errors = target.close()
        self.assertEqual(status, 0)
        self.assertEqual(errors, "probetui: logging of code run by clients has "
                         "stopped: %s has reached 0 MB\n" % path)
        self.assertLess(os.path.getsize(path), 301)

    def test_none(self):
        """Who wants a log has no agent without it."""
        link = os.path.join(self.place.path, "link")
        os.symlink("/nowhere/log", link)
        pipe = os.path.join(self.place.path, "pipe")
        os.mkfifo(pipe)
        for path in (link, pipe, "/nowhere/log", self.place.path):
            target = self.logging(path)
            self.assertEqual(target.first, [])
            status, errors = target.close()
            self.assertEqual(status, 0)
            self.assertIn("the agent cannot listen: the log file %s cannot be "
                          "opened: " % path, errors)


if __name__ == "__main__":
    unittest.main()
