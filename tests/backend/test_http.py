"""The agent in a process, as a node speaks to it."""
import os
import signal
import socket
import sys
import time
import unittest

from nodes import Node, Target

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("SRCDIR") or os.path.dirname(os.path.dirname(HERE))
# Lines of its standard input are run.
PROGRAM = """
import sys, time
x = 41
print("ready", flush=True)
for line in sys.stdin:
    exec(line)
"""


class HttpCase(unittest.TestCase):
    count = 1

    def setUp(self):
        self.targets = [self.start(rank) for rank in range(self.count)]
        self.target = self.targets[0]
        self.pid = self.target.pid
        self.node = Node()
        self.addCleanup(self.node.close)
        self.node.ask("initialize", protocol=1)
        self.node.discover(pids=[target.pid for target in self.targets])

    def start(self, rank, **variables):
        variables.setdefault("PROBETUI", "1")
        target = Target(argv=[sys.executable, "-c", PROGRAM], RANK=str(rank),
                        PYTHONPATH=os.path.join(SOURCE, "agent"),
                        **variables)
        self.addCleanup(target.close)
        return target

    def socket(self, target=None):
        return "/tmp/pdb-%d/%d.agent" % (os.geteuid(),
                                         (target or self.target).pid)

    def evaluate(self, expression, target=None, **more):
        return self.node.ask("evaluate", pid=(target or self.target).pid,
                             expression=expression, context="repl", **more)

    def refuse(self, expression, **more):
        return self.node.refuse("evaluate", pid=self.pid, context="repl",
                                expression=expression, **more)


class TestRunning(HttpCase):
    def loads_curl(self):
        with open("/proc/%d/maps" % self.node.process.pid) as file:
            return "libcurl" in file.read()

    def test_libcurl_is_loaded_for_the_first_agent(self):
        self.node.ask("sample", pids=[self.pid])
        self.node.ask("diagnose", pids=[self.pid])
        self.assertFalse(self.loads_curl())
        self.evaluate("x")
        self.assertTrue(self.loads_curl())

    def test_code_runs_in_the_names_of_main(self):
        self.assertEqual(self.evaluate("x + 1")["result"], "42")
        self.evaluate("y = x\nx = 5; print('said')")
        told = self.evaluate("(x, y)")
        self.assertEqual((told["result"], told["type"]), ("(5, 41)", "tuple"))
        self.assertGreater(int(told["address"], 16), 0)
        self.assertEqual(told["children"], 2)

    def test_what_it_prints_is_told(self):
        self.assertEqual(self.evaluate("print('said')")["output"], "said\n")

    def test_what_is_raised(self):
        response = self.node.answer(self.node.request(
            "evaluate", pid=self.pid, expression="print(1); nothing",
            context="repl"))
        self.assertEqual(response["message"],
                         "NameError: name 'nothing' is not defined")
        self.assertEqual(response["body"]["output"], "1\n")
        self.assertIn("Traceback", response["body"]["traceback"])

    def test_completions(self):
        body = self.node.ask("completions", pid=self.pid, text="sys.exec_",
                             column=10)
        self.assertEqual([target["label"] for target in body["targets"]],
                         ["exec_prefix"])

    def test_execute(self):
        body = self.node.ask("execute", pid=self.pid,
                             code="print(__name__)\n6 * 7")
        self.assertEqual((body["result"], body["output"]),
                         ("42", "__probetui__\n"))
        self.assertIn("either", self.node.refuse("execute", pid=self.pid))

    def test_a_frame_that_runs_is_refused(self):
        message = self.node.refuse("evaluate", pid=self.pid, tid=self.pid,
                                   depth=0, expression="x")
        self.assertTrue(message.startswith("It runs: nothing has stopped it"),
                        message)

    def test_nobody_is_told_of_a_debugger(self):
        self.evaluate("x")
        self.assertFalse([message for message in self.node.messages
                          if message.get("event") in ("debugger", "stopped",
                                                      "continued")])

    def threads(self):
        self.node.ask("sample", pids=[self.pid])
        told = self.node.event("sampled", self.pid)
        return [thread["name"] for thread in told["threads"]]

    def test_its_threads_are_not_the_programs(self):
        self.evaluate("import threading\ngo = threading.Event()\n"
                      "threading.Thread(target=go.wait, name='waiter', "
                      "daemon=True).start()")
        # It listens, and serves this node.
        with open("/proc/%d/status" % self.pid) as file:
            self.assertRegex(file.read(), r"Threads:\s+[4-9]")
        self.assertEqual(self.threads(), ["MainThread", "waiter"])
        # Who has the program wait for the GIL is shown.
        seq = self.node.request("evaluate", pid=self.pid, context="repl",
                                expression="while go: pass", timeout=20)
        while "probetui-client" not in self.threads():
            pass
        self.evaluate("go = False")
        self.assertTrue(self.node.answer(seq)["success"])

    def test_its_time(self):
        message = self.refuse("time.sleep(60)", timeout=0.2)
        self.assertIn("0.2", message)
        self.assertEqual(self.evaluate("x")["result"], "41")

    def test_without_an_agent(self):
        other = self.start(1, PROBETUI="")
        self.node.discover(pids=[self.pid, other.pid])
        message = self.node.refuse("evaluate", pid=other.pid, expression="x",
                                   context="repl")
        self.assertIn("probetui inject", message)


class TestEject(HttpCase):
    def ejects(self):
        return self.node.ask("eject", pid=self.pid)["result"]

    def is_out(self):
        self.assertFalse(os.path.exists(self.socket()))
        # The system's thread ends behind Python's.
        end = time.monotonic() + 10
        while len(os.listdir("/proc/%d/task" % self.pid)) > 1:
            self.assertLess(time.monotonic(), end)

    def test_nobody_has_spoken_to_it(self):
        self.assertEqual(self.ejects(), "nothing of it is left")
        self.is_out()
        self.assertIn("Its agent was taken out of it",
                      self.node.refuse("eject", pid=self.pid))

    def test_one_that_has_evaluated(self):
        for _ in range(3):
            self.assertEqual(self.evaluate("x")["result"], "41")
            self.assertEqual(self.ejects(), "nothing of it is left")
            self.is_out()
            self.assertIn("probetui inject", self.refuse("x"))
            self.node.ask("inject", pid=self.pid)
        self.assertEqual(self.evaluate("x")["result"], "41")

    def test_one_that_evaluates(self):
        seq = self.node.request("evaluate", pid=self.pid, context="repl",
                                expression="begun = 1\nwhile True: x = x")
        while "begun" not in self.evaluate("dir()")["result"]:
            pass
        self.assertEqual(self.ejects(), "nothing of it is left")
        self.assertFalse(self.node.answer(seq)["success"])
        self.is_out()

    def test_the_debugger_is_told(self):
        self.node.ask("connect", target="agent:%d" % self.pid)
        self.node.event("continued")
        self.assertEqual(self.ejects(), "nothing of it is left")
        told = self.node.event("debugger")
        while told["state"] == "connecting":
            told = self.node.event("debugger")
        self.assertEqual(told["state"], "lost")
        self.assertIn("Its agent was taken out of it", told["why"])

    def test_refused(self):
        target = self.start(1, PROBETUI_READ_ONLY="1")
        self.node.discover(pids=[self.pid, target.pid])
        self.assertIn("read_only", self.node.refuse("eject", pid=target.pid))
        self.assertTrue(os.path.exists(self.socket(target)))


class TestMany(HttpCase):
    count = 4

    def test_none_waits_for_another(self):
        seqs = {rank: self.node.request(
            "evaluate", pid=target.pid, context="repl",
            expression="time.sleep(%s)" % (rank == 0 and 30 or 0))
            for rank, target in enumerate(self.targets)}
        for rank in range(1, self.count):
            self.assertTrue(self.node.answer(seqs[rank])["success"])
        self.targets[0].process.kill()
        self.assertFalse(self.node.answer(seqs[0])["success"])

    def test_one_that_is_stopped_is_late(self):
        for target in self.targets:
            self.evaluate("x", target)
        os.kill(self.pid, signal.SIGSTOP)
        seq = self.node.request("evaluate", pid=self.pid, context="repl",
                                expression="x", timeout=0.1)
        for target in self.targets[1:]:
            self.assertEqual(self.evaluate("x", target)["result"], "41")
        self.assertIn("did not answer in time",
                      self.node.answer(seq)["message"])


class TestConnected(HttpCase):
    def setUp(self):
        super().setUp()
        self.node.ask("connect", target="agent:%d" % self.pid)
        self.assertEqual(self.node.event("debugger")["state"], "connecting")
        told = self.node.event("continued")
        self.assertEqual((told["state"], told["backend"], told["target"]),
                         ("running", "http", "agent:%d" % self.pid))

    def test_it_evaluates(self):
        self.assertEqual(self.evaluate("x")["result"], "41")

    def test_it_is_left(self):
        self.node.ask("detach", pid=self.pid)
        self.assertEqual(self.node.event("debugger")["state"], "none")
        self.assertEqual(self.evaluate("x")["result"], "41")

    def test_one_that_ends_is_lost(self):
        self.target.process.kill()
        told = self.node.event("debugger")
        self.assertEqual(told["state"], "lost")
        self.assertTrue(told["why"])


class TestTrust(HttpCase):
    """Whose socket it is, is seen before anything is sent."""

    def start(self, rank, **variables):
        return super().start(rank, PROBETUI="", **variables)

    def test_another_process_at_its_socket(self):
        path = self.socket()
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with socket.socket(socket.AF_UNIX) as squatter:
            squatter.bind(path)
            self.addCleanup(os.unlink, path)
            squatter.listen(5)
            message = self.refuse("x")
            squatter.settimeout(10)
            with squatter.accept()[0] as connection:
                self.assertEqual(connection.recv(100), b"")
        self.assertIn("is left alone, and nothing was sent", message)


if __name__ == "__main__":
    unittest.main()
