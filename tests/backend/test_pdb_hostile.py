"""Servers that say they are debuggers and are none, or bad ones: the backend
pdb stays bounded, says a sentence, and the node answers others meanwhile."""
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from pdbs import PLAIN, Client, Rank  # noqa: E402

# A client was taken; say() writes to it and lines() are what it sends.
SERVER = r"""
import os, pdb, socket, sys
_server = socket.socket(socket.AF_UNIX)
_server.bind(sys.argv[1])
_server.listen(1)
os.write(1, b"waits\n")
client = _server.accept()[0]
def say(data):
    try:
        client.sendall(data)
    except OSError:
        os._exit(0)
def lines():
    for line in client.makefile("rb"):
        yield line
def stay():
    client.settimeout(None)
    while client.recv(1 << 16):
        pass
"""

# One that may be asked everything and does what it is told.
TRUE = r"""
import time
value = "x" * (1 << 20)
prompt = "a\n(Pdb) \n(Pdb) "
class Long:
    def __repr__(self):
        return value
def many():
    file = _debugger().stdout
    file.write("line\n" * 10000)
    file.flush()
def _debugger():
    frame = sys._getframe()
    while not isinstance(frame.f_locals.get("self"), pdb.Pdb):
        frame = frame.f_back
    return frame.f_locals["self"]
def main():
    long = Long()
    stop()
    return 0
main()
"""


# It runs until it is killed.
ENDLESS = r"""
import threading
def main():
    stop()
    threading.Event().wait()
main()
"""


class HostileCase(unittest.TestCase):
    def setUp(self):
        self.node = Client()
        self.addCleanup(self.node.close)
        self.node.ask("initialize", protocol=1)

    def start(self, code, dialect=SERVER):
        self.rank = Rank(code, dialect)
        self.addCleanup(self.rank.close)
        self.node.discover(only=[self.rank.pid])
        self.node.ask("connect", target=self.rank.target)

    def state(self, *states):
        """The next event that has one of the states."""
        return self.node.wait_for(
            lambda m: m["type"] == "event" and
            m["event"] in ("debugger", "stopped", "continued") and
            m["body"]["pid"] == self.rank.pid and
            m["body"]["state"] in states)["body"]

    def responds(self):
        """Others are answered at once, also while it goes on."""
        for _ in range(5):
            self.node.ask("diagnose", pids=[])

    def bytes_told(self):
        return sum(len(m["body"]["output"]) for m in self.node.messages
                   if m.get("event") == "output")

    def test_long_values(self):
        self.start(TRUE, PLAIN)
        self.assertEqual(self.state("stopped")["dialect"], "pdb")
        pid = self.rank.pid
        body = self.node.ask("evaluate", pid=pid, depth=0, expression="value")
        self.assertLessEqual(len(body["result"]), 4096)
        body = self.node.ask("variables", pid=pid, depth=0)
        self.assertEqual([v["name"] for v in body["variables"]], ["long"])
        self.assertLessEqual(len(body["variables"][0]["value"]), 4096)
        body = self.node.ask("evaluate", pid=pid, context="repl",
                             expression="p long")
        self.assertLessEqual(len(body["result"]), 64 << 10)
        self.responds()

    def test_nothing_waits_for_a_program_that_runs(self):
        self.start(ENDLESS, PLAIN)
        self.state("stopped")
        sent, write = [], self.node.write
        self.node.write = sent.append
        pid = self.rank.pid
        numbers = [self.node.request(command, pid=pid, depth=0) for command in
                   ("variables", "continue", "variables", "next")]
        write(b"".join(sent))
        answers = [self.node.answer(number) for number in numbers]
        self.assertEqual([answer["success"] for answer in answers],
                         [True, True, False, False])
        self.assertIn("the program is running", answers[2]["message"])

    def test_prompts_in_values(self):
        self.start(TRUE, PLAIN)
        self.state("stopped")
        pid = self.rank.pid
        for expression in ("prompt", "'(Pdb) '"):
            body = self.node.ask("evaluate", pid=pid, depth=0,
                                 expression=expression)
            self.assertIn("(Pdb) ", body["result"])
        body = self.node.ask("evaluate", pid=pid, context="repl",
                             expression="print(prompt)")
        self.assertEqual(body["result"], "a\n(Pdb) \n(Pdb)")
        self.node.ask("continue", pid=pid)
        self.assertEqual(self.rank.end()[0], 0)

    def test_many_lines(self):
        self.start(TRUE, PLAIN)
        self.state("stopped")
        self.node.ask("terminal", pid=self.rank.pid, on=True)
        self.node.ask("evaluate", pid=self.rank.pid, context="repl",
                      expression="many()")
        self.responds()
        events = [m for m in self.node.messages
                  if m.get("event") == "output"]
        self.assertLess(len(events), 100)
        self.assertLess(self.bytes_told(), 256 << 10)

    def test_garbage(self):
        self.start("say(bytes(range(256)) * 200 + b'\\n'); stay()")
        self.responds()
        body = self.state("connecting", "foreign")
        self.assertRegex(self.node.refuse("next", pid=self.rank.pid),
                         "^the (debugger|program) .*[a-z]$")
        self.assertIn(body["state"], ("connecting", "foreign"))

    def test_answers_of_garbage(self):
        self.start("say(b'(Pdb) ')\n"
                   "for line in lines():\n"
                   "    say(b'\\xff\\x1b]0;{probetui:1:5:00000000:!!}\\n"
                   "(Pdb) ')\n")
        body = self.state("foreign")
        self.assertEqual(body["why"], "probetui cannot query the debugger: "
                         "its prompt evaluates no expressions")
        self.responds()
        self.assertIn("console", self.node.refuse("next", pid=self.rank.pid))

    def test_half_a_prompt_silence_and_one_that_never_reads(self):
        self.start("stay()")
        silent = self.rank
        self.start("say(b'(Pdb) ')\n"
                   "import time\n"
                   "time.sleep(60)\n")
        deaf = self.rank
        self.start("say(b'(Pd'); stay()")
        body = self.state("foreign")
        self.assertEqual(body["why"], "the program shows a prompt, but does "
                         "not answer like pdb")
        body = self.node.wait_for(
            lambda m: m.get("event") == "debugger" and
            m["body"]["pid"] == silent.pid and
            m["body"]["state"] == "connecting" and
            m["body"].get("why"))["body"]
        self.assertIn("does not answer", body["why"])
        last = {"success": True}
        self.rank = deaf
        self.state("foreign")
        while last["success"]:
            last = self.node.answer(self.node.request(
                "terminalInput", pid=deaf.pid, data="x" * 16000 + "\n"))
        self.assertIn("does not read", last["message"])
        self.responds()

    def test_closes_in_an_answer(self):
        self.start("say(b'(Pdb) ')\n"
                   "client.recv(9999)\n"
                   "say(b'{probetui:abc:99999:00000000:QUJD')\n"
                   "client.close()\n")
        body = self.state("lost")
        self.assertIn("closed the connection", body["why"])
        self.assertIn("closed", self.node.refuse("next", pid=self.rank.pid))
        self.responds()

    def test_closes_at_once(self):
        self.start("client.close()\n")
        self.assertIn("closed", self.state("lost")["why"])

    def test_endless_output(self):
        self.start("while True: say(b'y' * 65536)")
        self.responds()
        self.node.ask("terminal", pid=self.rank.pid, on=True)
        before = self.bytes_told()
        begin = time.monotonic()
        self.responds()
        self.assertLess(self.bytes_told() - before,
                        (80 << 10) * (2 + 4 * (time.monotonic() - begin)))

    def test_endless_answer(self):
        self.start("say(b'(Pdb) ')\n"
                   "client.recv(9999)\n"
                   "while True: say(b'{probetui:' + b'A' * 65536)")
        self.responds()
        self.assertIn("endless", self.state("lost")["why"])
        self.responds()


if __name__ == "__main__":
    unittest.main()
