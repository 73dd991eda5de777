"""Targets that do their worst while they are read: the node answers each
request once, in bounded time, and stays."""
import os
import subprocess
import sys
import unittest

import nodes

PROBETUI = os.environ["PROBETUI"]

# Becomes itself again and again, as often as it is told to.
EXEC = """
import os, sys
left = int(sys.argv[1])
if left == 20:
    print("ready", flush=True)
    sys.stdin.readline()
if left == 0:
    print("done", flush=True)
    sys.stdin.read()
    sys.exit(0)
os.execv(sys.executable, [sys.executable, "-c", os.environ["CODE"],
                          str(left - 1)])
"""

# A thread in a deep stack that is always moving, and the process ends.
ENDS = """
import sys, threading
def deep(left):
    while left == 0:
        pass
    deep(left - 1)
sys.setrecursionlimit(2000)
threading.Thread(target=deep, args=(500,), daemon=True).start()
print("ready", flush=True)
sys.stdin.readline()
import os
os._exit(3)
"""

THREADS = """
import sys, threading
def sleep(number):
    barrier.wait()
    stop.wait()
barrier, stop = threading.Barrier(501), threading.Event()
for number in range(500):
    threading.Thread(target=sleep, args=(number,), daemon=True).start()
barrier.wait()
print("ready", flush=True)
sys.stdin.read()
"""

# Puts other pointers into the code object that it runs, and takes them back.
CORRUPT = """
import ctypes, sys
def victim():
    print("ready", flush=True)
    for line in sys.stdin:
        name, value = line.split()
        for i in range(16, sys.getsizeof(victim.__code__), 8):
            word = ctypes.c_uint64.from_address(id(victim.__code__) + i)
            if word.value == addresses[name]:
                place, before = word, word.value
        place.value = eval(value, {"me": id(victim.__code__)})
        print("done", flush=True)
        sys.stdin.readline()
        place.value = before
        print("back", flush=True)
code = victim.__code__
addresses = {"co_name": id(code.co_name), "co_filename": id(code.co_filename),
             "co_consts": id(code.co_consts)}
table = getattr(code, "co_linetable", None)
addresses["table"] = id(table if table is not None else code.co_lnotab)
victim()
"""

# Names with an escape sequence, a bell, a bidi override, a line separator.
NAMES = """
import sys
def function():
    print("ready", flush=True)
    sys.stdin.read()
hostile = "f\\x1b[31m\\x07\\u202eevil\\u2028"
code = function.__code__
words = {"co_name": hostile, "co_filename": "/x/" + hostile + ".py"}
if sys.version_info >= (3, 11):
    words["co_qualname"] = hostile
function.__code__ = code.replace(**words)
hostile_value = hostile
function()
"""


class HostileTest(unittest.TestCase):
    def setUp(self):
        self.node = nodes.Node()
        self.addCleanup(self.node.close)

    def target(self, *arguments, **options):
        target = nodes.Target(*arguments, **options)
        self.addCleanup(target.close)
        return target

    def sample(self, pid):
        """The sample, or the sentence that came in its place."""
        number = self.node.request("sample", pids=[pid], exact=False)
        sampled = self.node.event("sampled", pid)
        self.node.answer(number)
        return sampled


class TestTargets(HostileTest):
    def test_exec_again_and_again(self):
        target = self.target(argv=[sys.executable, "-c", EXEC, "20"],
                             CODE=EXEC)
        self.node.discover(pids=[target.pid])
        target.say("go")
        for _ in range(200):
            sampled = self.sample(target.pid)
            self.assertTrue(sampled["threads"] or sampled["error"], sampled)
        self.assertEqual(target.line(), ["done"])
        nodes.wait_for_read(target.pid)
        # What was known of its memory is wrong once; then it is read anew.
        self.sample(target.pid)
        self.assertTrue(self.sample(target.pid)["threads"][0]["stack"])

    def test_ends_while_it_is_read(self):
        for _ in range(20):
            target = self.target(ENDS)
            self.node.discover(pids=[target.pid])
            requests = [self.node.request("sample", pids=[target.pid])
                        for _ in range(20)]
            target.say("end")
            for request in requests:
                self.node.event("sampled", target.pid)
                self.node.answer(request)
            target.end()
            self.assertTrue(self.sample(target.pid)["error"])

    def test_500_threads(self):
        target = self.target(THREADS)
        nodes.wait_for_rest(target.pid)
        self.node.discover(pids=[target.pid])
        self.sample(target.pid)
        sampled = self.sample(target.pid)
        self.assertEqual(len(sampled["threads"]), 501)
        self.assertEqual([t for t in sampled["threads"] if "error" in t], [])
        # What a quiet thread costs is a look at its task, and its memory
        # is read together with the others'. Some may still be on their way
        # to where they wait, and cost more.
        self.assertLess(min(self.sample(target.pid)["syscalls"]
                            for _ in range(5)), 501 * 3)

    def test_pointers_that_lead_nowhere(self):
        target = self.target(CORRUPT)
        self.node.discover(pids=[target.pid])
        for name in ("co_name", "co_filename", "table"):
            for value in ("0", "1", "me", "me+1", "0xdead0000",
                          "2**63", "2**64-8"):
                with self.subTest(name=name, value=value):
                    target.say(name + " " + value)
                    self.assertEqual(target.line(), ["done"])
                    # A node of its own: nothing is remembered of the code.
                    node = nodes.Node()
                    node.discover(pids=[target.pid])
                    node.ask("sample", pids=[target.pid])
                    sampled = node.event("sampled", target.pid)
                    self.assertEqual(len(sampled["threads"]), 1)
                    node.close()
                    target.say("back")
                    self.assertEqual(target.line(), ["back"])


class TestNames(HostileTest):
    """What a target is called reaches no terminal as it is."""

    def test_every_text(self):
        target = self.target(NAMES)
        for command in (["verdict", "--for", "0"], ["stacks", "--locals"],
                        ["stacks", "--merge"], ["ranks"], ["doctor"],
                        ["locals", "--rank", "0", "--frame", "1"]):
            run = subprocess.run(
                [PROBETUI, "--pid", str(target.pid)] + command,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, timeout=nodes.LIMIT)
            text = (run.stdout + run.stderr).decode("utf-8")
            with self.subTest(command=command):
                self.assertIn(run.returncode, (0, 1, 4), text)
                for character in "\x1b\x07\u202e\u2028":
                    self.assertNotIn(character, text)
                if command[0] == "stacks":
                    self.assertIn("f^[[31m^G<202e>evil<2028>", text)


if __name__ == "__main__":
    unittest.main()
