"""The agents of the other ranks are told when one of a job may be held, by
whatever debugger, and when none may be any more."""
import os
import socket
import subprocess
import sys
import unittest

import pythons
from nodes import ELSEWHERE, Node, Target

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("SRCDIR") or os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(SOURCE, "tests", "agent"))
from agents import connect, wait_for  # noqa: E402

PROGRAM = """
import os, sys, threading, time
print("begins", flush=True)
print("ready", flush=True)
threading.Thread(target=lambda: os._exit(len(sys.stdin.read())),
                 daemon=True).start()
while True:
    time.sleep(0.01)
"""
# Groups as torch has them are where torch is.
GROUPS = """
import datetime, os, sys, threading, time
print("begins", flush=True)
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=1000))
print("ready", flush=True)
threading.Thread(target=lambda: os._exit(len(sys.stdin.read())),
                 daemon=True).start()
while True:
    time.sleep(0.01)
"""
FAILS_ONCE = """
from probetui.dap import holding
def fail(debugger, watch=holding.watch):
    holding.watch = watch
    raise RuntimeError("not now")
holding.watch = fail
"""
TORCH = os.environ.get("PROBETUI_TORCH_PYTHON")
WHY_NO_TORCH_2 = pythons.why_no_torch_2(TORCH)


class ExtensionCase(unittest.TestCase):
    program, python = PROGRAM, sys.executable

    def setUp(self):
        self.ports = {}
        self.targets = [self.start(rank) for rank in range(3)]
        self.clients = []
        for target in self.targets:
            self.assertEqual(target.line(), ["ready"])
            self.clients.append(connect("/tmp/pdb-%d/%d.agent" % (
                os.geteuid(), target.pid)))
            self.addCleanup(self.clients[-1].close)
        self.begin()

    def environment(self, rank):
        return {}

    def begin(self):
        self.node = Node()
        self.addCleanup(self.node.close)
        self.node.ask("initialize", protocol=1)
        self.node.discover(pids=[target.pid for target in self.targets])

    def start(self, rank):
        target = Target(argv=[self.python, "-c", self.program],
                        RANK=str(rank), WORLD_SIZE="3", PROBETUI="1",
                        MASTER_ADDR="127.0.0.1",
                        MASTER_PORT=str(20000 + os.getpid() % 10000),
                        PYTHONPATH=os.path.join(SOURCE, "agent"),
                        stderr=subprocess.DEVNULL, **self.environment(rank))
        self.addCleanup(target.close)
        return target

    def raised(self):
        """Those whose agent answers."""
        return [client.get("/watchdogs")["raised"] for client in self.clients]

    def wait_until(self, *raised):
        wait_for(lambda: self.raised() == list(raised),
                 "the limits: %s" % (raised,))


class TestTimeoutExtension(ExtensionCase):
    def pause(self, rank):
        """From outside: its agent is deaf until it goes on."""
        pid = self.targets[rank].pid
        self.node.ask("connect", target="ptrace:%d" % pid)
        self.node.ask("pause", pid=pid)
        self.node.event("stopped", pid)
        return pid

    def others(self, rank):
        return [self.clients[other].get("/watchdogs")["raised"]
                for other in range(3) if other != rank]

    def test_while_one_stands(self):
        self.wait_until(False, False, False)
        first = self.pause(1)
        wait_for(lambda: self.others(1) == [True, True], "two limits")
        # Of two that stand each waits for the other, once it can be asked.
        second = self.pause(0)
        self.node.ask("continue", pid=first)
        self.wait_for_rank(1, True)
        self.wait_for_rank(2, True)
        self.node.ask("continue", pid=second)
        self.wait_until(False, False, False)

    def wait_for_rank(self, rank, raised):
        wait_for(lambda: self.clients[rank].get("/watchdogs")["raised"]
                 is raised, "the limit of rank %d" % rank)

    def test_one_that_fails_is_asked_again(self):
        for pid in (self.targets[0].pid, self.targets[2].pid):
            self.node.ask("evaluate", pid=pid, context="repl",
                          expression=FAILS_ONCE)
        self.node.ask("catch", pid=self.targets[1].pid, on=True)
        self.wait_until(True, True, True)
        self.node.ask("evaluate", pid=self.targets[0].pid, context="repl",
                      expression=FAILS_ONCE)
        self.node.ask("catch", pid=self.targets[1].pid, on=False)
        self.wait_until(False, False, False)

    def test_while_exceptions_may_stop(self):
        """Filters alone raise the limits, of whoever waits for the rank."""
        for filters in ["raised"], []:
            self.node.ask("setExceptionBreakpoints", filters=filters,
                          pid=self.targets[1].pid)
            wait_for(lambda f=filters: self.others(1) == [bool(f)] * 2,
                     "the limits: %s" % filters)

    def test_the_doctor_looks_at_an_agent(self):
        (told,) = self.node.ask("diagnose", pids=[
            self.targets[0].pid])["ranks"]
        self.assertEqual((told["ways"][-1]["way"], told["ways"][-1]["why"]),
                         ("watchdog",
                          "the process has no torch.distributed process group"))

    def test_while_one_may_stand(self):
        self.node.ask("catch", pid=self.targets[2].pid, on=True)
        # It raises its own.
        self.wait_until(True, True, True)
        self.node.ask("catch", pid=self.targets[2].pid, on=False)
        self.wait_until(False, False, False)

    def test_a_node_that_is_killed_raises_nothing(self):
        self.pause(1)
        wait_for(lambda: self.others(1) == [True, True], "two limits")
        self.node.process.kill()
        self.node.process.wait()
        self.node.process.returncode = 0
        self.wait_until(False, False, False)


class TestElsewhere(ExtensionCase):
    """Ranks that are known by their agents' addresses alone."""

    def environment(self, rank):
        with socket.socket() as listener:
            listener.bind(("0.0.0.0", 0))
            self.ports[rank] = listener.getsockname()[1]
        return {"PROBETUI_ADDRESS": "0.0.0.0:%d" % self.ports[rank],
                "PROBETUI_TOKEN": "right-token"}

    def begin(self):
        self.node = Node(env=dict(os.environ, PROBETUI_TOKEN="right-token"))
        self.addCleanup(lambda: self.node.close())
        self.node.ask("initialize", protocol=1)
        self.pids = []
        for rank, port in sorted(self.ports.items()):
            self.pids.append(self.node.ask(
                "connect", rank=rank, target="http://%s:%d"
                % (ELSEWHERE, port))["pid"])
            self.node.event("continued", self.pids[-1])

    def test_they_are_asked_too(self):
        self.node.ask("pause", pid=self.pids[1])
        self.node.event("stopped", self.pids[1])
        # It raises its own.
        self.wait_until(True, True, True)
        self.node.ask("continue", pid=self.pids[1])
        self.wait_until(False, False, False)


@unittest.skipIf(WHY_NO_TORCH_2, WHY_NO_TORCH_2)
class TestGroups(ExtensionCase):
    program, python = GROUPS, TORCH

    def test_what_the_others_wait_is_told(self):
        pid = self.targets[1].pid
        self.node.ask("connect", target="ptrace:%d" % pid)
        self.node.ask("pause", pid=pid)
        self.node.wait_for(lambda message: message.get("event") in (
                           "debugger", "stopped")
                           and message["body"]["pid"] == pid
                           and message["body"].get("watchdog") == 86400)
        self.assertRegex(self.doctor(0), r"process groups time out after "
                         r"(24 h|1 d), raised from 1[67] min")
        # It is deaf, and that is said soon.
        self.assertIn("does not answer", self.doctor(1))

    def doctor(self, rank):
        (told,) = self.node.ask("diagnose", pids=[
            self.targets[rank].pid])["ranks"]
        (way,) = [way for way in told["ways"] if way["way"] == "watchdog"]
        return way["why"]


if __name__ == "__main__":
    unittest.main()
