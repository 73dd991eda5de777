"""connect and detach: whose debugger it is, what becomes of its process, and
what a connection outlives."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from nodes import LIMIT, Node, Target, environment

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "contract_target.py")
AGENT = os.path.join(os.path.dirname(os.path.dirname(HERE)), "agent")
FIRST_STANDIN = 4194305


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pdb-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def node(self, **options):
        node = Node()
        self.addCleanup(node.close)
        node.ask("initialize", protocol=1, **options)
        return node

    def program(self, mode="stop", where=None, script=PROGRAM, **variables):
        """A program and the target that names its debugger."""
        path = os.path.join(self.folder, "pdb.sock.%d" % len(
            os.listdir(self.folder)))
        program = Target(argv=[sys.executable, script, mode, where or path],
                         stderr=subprocess.DEVNULL, **variables)
        self.addCleanup(program.close)
        self.addCleanup(program.process.kill)
        if where:
            return program, "pdb:tcp:127.0.0.1:" + program.words[1]
        return program, "pdb:unix:" + path

    @staticmethod
    def wait_for_stop(node, pid):
        """Its sample and what is known of it when it has stopped."""
        return node.event("sampled", pid), node.event("stopped", pid)


class TestConnect(Case):
    def test_the_rank_that_is_known(self):
        node = self.node()
        program, target = self.program(RANK="3")
        node.discover(pids=[program.pid])
        self.assertEqual(node.ask("connect", target=target),
                         {"pid": program.pid, "rank": 3})
        sample, stopped = self.wait_for_stop(node, program.pid)
        self.assertEqual(stopped["rank"], 3)
        self.assertEqual(stopped["target"], target)
        self.assertEqual(stopped["tid"], program.pid)
        self.assertEqual([thread["state"] for thread in sample["threads"]],
                         ["stopped", "blocked"])
        # What is exact is not said.
        self.assertNotIn("exactness", sample["threads"][0])
        added = [message for message in node.messages
                 if message.get("event") == "rankAdded"]
        self.assertEqual(added, [])

    def test_a_program_without_a_rank_becomes_one(self):
        node = self.node()
        taken, _ = self.program(RANK="0")
        node.discover(pids=[taken.pid])
        program, target = self.program()
        self.assertEqual(node.ask("connect", target=target),
                         {"pid": program.pid, "rank": 1})
        self.assertEqual(node.event("rankAdded")["rank"], 1)
        node.event("debugger", program.pid)
        # It is told of to who asks again, and its end is.
        found, _ = node.discover(pids=[taken.pid], follow=True)
        self.assertEqual(sorted(found), sorted([taken.pid, program.pid]))
        program.process.kill()
        self.assertEqual(node.event("rankRemoved", program.pid)["rank"], 1)

    def test_its_number_stays(self):
        node = self.node()
        program, target = self.program()
        node.ask("connect", target=target, rank=1)
        named, _ = self.program()
        other, _ = self.program()
        found, _ = node.discover(pids=[named.pid, other.pid, program.pid])
        self.assertEqual({pid: one["rank"] for pid, one in found.items()},
                         {program.pid: 1, named.pid: 0, other.pid: 2})

    def test_the_number_that_was_asked_for(self):
        node = self.node()
        program, target = self.program()
        self.assertEqual(node.ask("connect", target=target, rank=7)["rank"], 7)
        _, other = self.program()
        self.assertEqual(node.refuse("connect", target=other, rank=7),
                         "rank 7 exists already: omit the number, or use "
                         "another one")
        self.assertEqual(node.ask("connect", target=other)["rank"], 0)

    def test_each_address_of_a_host_is_tried(self):
        node = self.node()
        program, _ = self.program(where="tcp")
        # It may be ::1 first, where nobody listens.
        target = "pdb:tcp:localhost:" + program.words[1]
        self.assertEqual(node.ask("connect", target=target)["pid"],
                         program.pid)
        self.wait_for_stop(node, program.pid)

    def test_what_is_no_target(self):
        node = self.node()
        self.assertIn("is not a target", node.refuse("connect"))
        self.assertIn("process 4194304 does not exist",
                      node.refuse("connect", target="ptrace:4194304"))
        self.assertIn("/none not found", node.refuse(
            "connect", target="pdb:unix:" + self.folder + "/none"))

    def test_twice(self):
        node = self.node()
        _, target = self.program()
        node.ask("connect", target=target)
        self.assertEqual(node.refuse("connect", target=target),
                         "a debugger is already connected (%s): detach first"
                         % target)

    def test_read_only(self):
        node = self.node(readOnly=True)
        _, target = self.program()
        self.assertEqual(node.refuse("connect", target=target),
                         "the request stops or changes the process, which "
                         "--read-only does not allow")


class TestStandIn(Case):
    """Of a process that is not here only the debugger is known."""

    def test_it_is_a_rank_while_it_is_connected(self):
        node = self.node()
        program, _ = self.program("once", "tcp")
        target = "pdb:tcp:0.0.0.0:" + program.words[1]
        pid = node.ask("connect", target=target)["pid"]
        self.assertEqual(pid, FIRST_STANDIN)
        added = node.event("rankAdded")
        self.assertEqual((added["pid"], added["rank"], added["state"]),
                         (pid, 0, "live"))
        sample, stopped = self.wait_for_stop(node, pid)
        self.assertEqual(len(sample["threads"]), 1)
        self.assertEqual(sample["threads"][0]["state"], "stopped")
        self.assertEqual(stopped["rank"], 0)
        node.ask("sample", pids=[pid])
        self.assertEqual(len(node.event("sampled", pid)["threads"]), 1)
        body = node.ask("variables", pid=pid, depth=0,
                        tid=sample["threads"][0]["tid"])
        self.assertIn("number", [one["name"] for one in body["variables"]])
        node.event("debugger", pid)
        node.ask("continue", pid=pid)
        self.assertEqual(program.line(), ["went", "on", "2"])
        program.process.wait(LIMIT)
        removed = node.event("rankRemoved", pid)
        self.assertEqual(removed["error"],
                         node.event("debugger", pid)["why"])
        self.assertIn("is no longer connected",
                      node.refuse("evaluate", pid=pid, expression="1"))


    def test_twice(self):
        node = self.node()
        program, _ = self.program("stop", "tcp")
        target = "pdb:tcp:0.0.0.0:" + program.words[1]
        node.ask("connect", target=target)
        self.assertIn("a debugger is already connected",
                      node.refuse("connect", target=target))

    def test_nobody_is_there(self):
        node = self.node()
        port = self.free_port()
        for host, why in (("0.0.0.0", "cannot connect to"),
                          ("no..host", "host not found")):
            pid = node.ask("connect", target="pdb:tcp:%s:%d" % (
                host, port))["pid"]
            node.event("debugger", pid)
            lost = node.event("debugger", pid)
            self.assertEqual(lost["state"], "lost")
            self.assertIn(why, lost["why"])
            self.assertEqual(node.event("rankRemoved", pid)["error"],
                             lost["why"])

    @staticmethod
    def free_port():
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            return unused.getsockname()[1]


class TestToken(Case):
    """Our package at a port: whoever reaches it could run code there."""
    TOKEN = "a token of the test"
    CODE = ("import probetui\nprint('begun', flush=True)\n"
            "probetui.breakpoint()\nprint('went on', flush=True)\n")

    def start(self):
        """The program; whether it waits in pdb is told on stderr."""
        target = Target(self.CODE, stderr=subprocess.PIPE, IPDB_DEBUG="1",
                        IPDB_CONNECTION_TYPE="tcp", IPDB_PORT="0",
                        IPDB_TOKEN=self.TOKEN, RANK="5", PYTHONPATH=AGENT)
        self.addCleanup(target.process.stderr.close)
        self.addCleanup(target.close)
        self.addCleanup(target.process.kill)
        said = target.process.stderr.readline().decode()
        port = re.search(r"nc 127\.0\.0\.1 (\d+);", said).group(1)
        return target, "pdb:tcp:127.0.0.1:" + port

    def token_node(self, **variables):
        node = Node(env=environment(**variables))
        self.addCleanup(node.close)
        node.ask("initialize", protocol=1)
        return node

    def lost(self, node, target):
        pid = node.ask("connect", target=target)["pid"]
        told = node.event("debugger", pid)
        while told["state"] == "connecting":
            told = node.event("debugger", pid)
        self.assertEqual(told["state"], "lost", told)
        return told["why"]

    def test_it_is_found_and_given_the_token(self):
        program, target = self.start()
        path = os.path.join(self.folder, "token")
        with open(path, "w", opener=lambda name, flags: os.open(
                name, flags, 0o600)) as file:
            file.write(self.TOKEN + "\n")
        node = self.token_node(IPDB_TOKEN_FILE=path)
        node.ask("discover", pids=[program.pid])
        # It may print its address still, and wait at a later sample.
        node.ask("sample", period=0.1)
        told = node.event("debugger", program.pid)
        while told["state"] != "waiting":
            told = node.event("debugger", program.pid)
        self.assertEqual((told["target"], told["dialect"]),
                         (target, "probetui"))
        node.ask("connect", target=target)
        stopped = node.event("stopped", program.pid)
        self.assertEqual(stopped["rank"], 5)
        node.ask("continue", pid=program.pid)
        self.assertEqual(program.line(), ["went", "on"])
        self.assertNotIn(self.TOKEN, str(node.messages))

    def test_what_is_wrong_with_the_token_is_said(self):
        _, target = self.start()
        path = os.path.join(self.folder, "token")
        with open(path, "w") as file:
            file.write(self.TOKEN)
        os.chmod(path, 0o644)
        for variables, why in (
                ({"IPDB_TOKEN": "another token"}, "the token was refused"),
                ({}, "the program asks for a token: set IPDB_TOKEN to"),
                ({"IPDB_TOKEN_FILE": path}, "chmod 600"),
                ({"IPDB_TOKEN_FILE": path + "s"}, "cannot be read: No such")):
            self.assertIn(why, self.lost(self.token_node(**variables), target))


class TestOutlives(Case):
    """A debugger takes one client: what reads the process may come and go."""

    def connected(self, **options):
        node = self.node(**options)
        program, target = self.program(RANK="0")
        node.discover(pids=[program.pid])
        node.ask("connect", target=target)
        self.wait_for_stop(node, program.pid)
        return node, program

    def test_stacks_are_dropped(self):
        node, program = self.connected(stacks=1)
        for _ in range(8):
            node.ask("next", pid=program.pid)
            self.wait_for_stop(node, program.pid)
        node.event("stacksDropped")
        self.assertEqual(node.ask("evaluate", pid=program.pid,
                                  expression="6 * 7")["result"], "42")
        node.ask("sample", pids=[program.pid])
        sample = node.event("sampled", program.pid)
        self.assertEqual([thread["state"] for thread in sample["threads"]],
                         ["stopped", "blocked"])

    def test_a_look_at_all_processes(self):
        node, program = self.connected()
        node.discover()
        node.discover(pids=[program.pid])
        self.assertEqual(node.ask("evaluate", pid=program.pid,
                                  expression="6 * 7")["result"], "42")

    def test_the_process_ends(self):
        node, program = self.connected()
        program.process.kill()
        program.process.wait(LIMIT)
        node.ask("sample", pids=[program.pid])
        node.event("rankRemoved", program.pid)
        self.assertIn("is not one of the processes found", node.refuse(
            "evaluate", pid=program.pid, expression="1"))


class TestSource(Case):
    def test_a_file_that_is_gone_is_what_the_debugger_knows(self):
        node = self.node()
        script = os.path.join(self.folder, "gone.py")
        shutil.copy(PROGRAM, script)
        program, target = self.program(script=script)
        pid = node.ask("connect", target=target)["pid"]
        self.wait_for_stop(node, pid)
        os.unlink(script)
        body = node.ask("source", pid=pid, path=script)
        self.assertIn("class Sleeper", body["content"])
        self.assertIn("is not part of any stack", node.ask(
            "source", pid=pid, path="/etc/hostname")["error"])
        node.ask("detach", pid=pid)
        body = node.ask("source", pid=pid, path=script)
        self.assertIsNone(body["content"])
        self.assertIn("cannot open", body["error"])


class TestLeave(Case):
    """However the node leaves, the program goes on where it stood."""

    def connected(self, mode="once"):
        node = self.node()
        program, target = self.program(mode)
        pid = node.ask("connect", target=target)["pid"]
        self.wait_for_stop(node, pid)
        node.ask("setBreakpoints", pid=pid, breakpoints=[
            {"id": 1, "path": PROGRAM, "function": "work"}])
        return node, program

    def check(self, program):
        self.assertEqual(program.line(), ["went", "on", "2"])
        self.assertEqual(program.process.wait(LIMIT), 0)

    def test_end_of_input(self):
        node, program = self.connected()
        node.process.stdin.close()
        self.assertEqual(node.wait(), 0)
        self.check(program)

    def test_within_a_step(self):
        node, program = self.connected("slow")
        node.ask("next", pid=program.pid)
        self.assertNotIn("leaving", node.event("continued", program.pid))
        node.process.stdin.close()
        self.assertEqual(node.wait(), 0)
        self.check(program)

    def test_within_a_question(self):
        node, program = self.connected()
        node.request("evaluate", pid=program.pid, expression="6 * 7")
        node.process.stdin.close()
        self.assertEqual(node.wait(), 0)
        self.check(program)

    def test_terminated(self):
        node, program = self.connected()
        node.process.send_signal(signal.SIGTERM)
        self.assertEqual(node.wait(), 0)
        self.check(program)

    def test_disconnect(self):
        node, program = self.connected()
        node.ask("disconnect")
        self.assertEqual(node.wait(), 0)
        self.check(program)

    def test_detach(self):
        node, program = self.connected()
        node.ask("detach", pid=program.pid)
        self.check(program)
        self.assertIn("no debugger is connected to process", node.refuse(
            "detach", pid=program.pid))

    def test_a_post_mortem_is_not_left_by_chance(self):
        node = self.node()
        program, target = self.program("fail")
        pid = node.ask("connect", target=target)["pid"]
        _, stopped = self.wait_for_stop(node, pid)
        self.assertTrue(stopped["leaving"])
        refused = node.refuse("detach", pid=pid)
        self.assertTrue(refused.endswith(": " + stopped["leaving"]), refused)
        self.assertEqual(node.ask("evaluate", pid=pid,
                                  expression="6 * 7")["result"], "42")
        node.ask("detach", pid=pid, force=True)


if __name__ == "__main__":
    unittest.main()
