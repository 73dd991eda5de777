"""The request `output`: what processes print, read behind their backs."""
import os
import pty
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from nodes import Node, environment  # noqa: E402
from nodes import Target as Launched  # noqa: E402

# Does what it is told: "1 text" prints to a descriptor, "open PATH" makes a
# file the standard output, and says "done" on the order pipe's other end.
TARGET = r"""
import os, sys
orders, answers = os.fdopen(int(sys.argv[1])), int(sys.argv[2])
os.write(answers, b"ready\n")
for line in orders:
    word, text = line.rstrip("\n").split(" ", 1)
    if word == "open":
        fd = os.open(text, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(fd, 1)
    elif word == "cut":
        os.ftruncate(1, 0)
    elif word == "hole":
        os.lseek(1, int(text), os.SEEK_CUR)
    elif word == "many":
        os.write(1, b"0123456789abcdef\n" * int(text))
    else:
        os.write(int(word), text.encode("utf-8", "surrogateescape")
                 .decode("unicode_escape").encode("latin-1"))
    os.write(answers, b"done\n")
"""


class Target:
    """A rank that prints where we say."""

    def __init__(self, stdout, stderr=None):
        order_end, self.orders = os.pipe()
        self.answers, answer_end = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-c", TARGET, str(order_end), str(answer_end)],
            stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr or stdout,
            pass_fds=(order_end, answer_end), env=environment(RANK="3"))
        os.close(order_end)
        os.close(answer_end)
        self.pid = self.process.pid
        self.expect(b"ready\n")

    def expect(self, word):
        got = os.read(self.answers, 100)
        assert got == word, got

    def order(self, text):
        os.write(self.orders, text.encode() + b"\n")
        self.expect(b"done\n")

    def end(self):
        if self.process.stdout:
            self.process.stdout.close()
        os.close(self.orders)
        os.close(self.answers)
        self.process.wait(20)


class TestOutput(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="probetui-output-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.node = Node()
        self.addCleanup(self.node.close)
        self.path = os.path.join(self.folder, "stdout.log")

    def start(self, stdout=None, stderr=None):
        if stdout is None:
            with open(self.path, "ab") as file:
                target = Target(file, stderr)
        else:
            target = Target(stdout, stderr)
        self.addCleanup(target.end)
        found, _ = self.node.discover(only=[target.pid])
        self.assertIn(target.pid, found)
        return target

    def event(self, target):
        body = self.node.event("output", target.pid)
        return body["category"], body["output"]

    def why(self, target):
        """The sentence about what is no file."""
        body = self.node.ask("output", pid=target.pid)
        self.assertEqual([m for m in self.node.messages
                          if m.get("event") == "output"], [])
        self.assertIsNone(body["streams"][0]["path"])
        return body["streams"][0]["why"]

    def test_the_last_lines_and_what_comes(self):
        target = self.start()
        target.order(r"1 one\ntwo")
        body = self.node.ask("output", pid=target.pid, on=True)
        self.assertEqual([s["path"] for s in body["streams"]],
                         [self.path, self.path])
        self.assertIn("same file as stdout",
                      body["streams"][1]["why"])
        first = self.node.event("output", target.pid)
        self.assertEqual(first, {"pid": target.pid, "category": "stdout",
                                 "output": "one\ntwo", "rank": 3,
                                 "isFirst": True})
        target.order(r"1 .\n")
        self.assertEqual(self.event(target), ("stdout", ".\n"))
        os.rename(self.path, self.path + ".1")
        target.order(r"2 renamed\n")
        self.assertEqual(self.event(target), ("stdout", "renamed\n"))

    def test_two_files(self):
        with open(os.path.join(self.folder, "stderr.log"), "ab") as file:
            target = self.start(stderr=file)
        target.order(r"2 oops\n")
        target.order(r"1 fine\n")
        self.node.ask("output", pid=target.pid)
        self.assertEqual(self.event(target), ("stdout", "fine\n"))
        self.assertEqual(self.event(target), ("stderr", "oops\n"))

    def test_another_file_and_a_shorter_one(self):
        target = self.start()
        target.order(r"1 one\n")
        self.node.ask("output", pid=target.pid, on=True)
        self.assertEqual(self.event(target), ("stdout", "one\n"))
        target.order("open " + self.path + ".2")
        self.assertEqual(self.event(target)[0], "important")
        target.order(r"1 a longer line\n")
        self.assertEqual(self.event(target), ("stdout", "a longer line\n"))
        target.order("cut it")
        self.assertEqual(self.event(target)[0], "important")
        target.order(r"1 two\n")
        self.assertEqual(self.event(target), ("stdout", "two\n"))

    def test_much_is_bounded(self):
        target = self.start()
        target.order("many 20000")
        self.node.ask("output", pid=target.pid, on=True)
        text = self.event(target)[1]
        self.assertLessEqual(len(text), 64 << 10)
        self.assertGreater(len(text), 60 << 10)
        self.assertEqual(set(text.splitlines()), {"0123456789abcdef"})
        target.order("many 20000")
        self.assertIn("skipped", self.event(target)[1])
        self.assertLessEqual(len(self.event(target)[1]), 16 << 10)

    def test_what_follows_a_hole(self):
        """A file that was cut while a process continues to write at its end."""
        with open(self.path, "wb") as file:
            target = self.start(file)
        target.order(r"1 before\n")
        target.order("hole 300000")
        target.order(r"1 behind\nlast\n")
        self.node.ask("output", pid=target.pid)
        self.assertEqual(self.event(target), ("stdout", "behind\nlast\n"))

    def test_bytes_that_are_no_text(self):
        target = self.start()
        self.node.ask("output", pid=target.pid, on=True)
        # Half of a character waits for the other one.
        target.order(r"1 a\xc3")
        self.assertEqual(self.event(target), ("stdout", "a"))
        target.order(r"1 \xa4\x00b\xff\n")
        self.assertEqual(self.event(target),
                         ("stdout", "\u00e4b\N{REPLACEMENT CHARACTER}\n"))

    def test_half_a_character_waits_some_turns(self):
        with open(os.path.join(self.folder, "stderr.log"), "ab") as file:
            target = self.start(stderr=file)
        self.node.ask("output", pid=target.pid, on=True)
        target.order(r"1 \xc3")
        # Each of these is a turn.
        for text in ("one\\n", "two\\n", "three\\n"):
            target.order("2 " + text)
            self.assertEqual(self.event(target)[0], "stderr")
        target.order(r"1 \xa4")
        self.assertEqual(self.event(target), ("stdout", "\u00e4"))
        target.order(r"1 \xc3")
        self.assertEqual(self.event(target),
                         ("stdout", "\N{REPLACEMENT CHARACTER}"))

    def test_half_a_character_at_the_end(self):
        target = self.start()
        self.node.ask("discover", follow=True)
        self.node.ask("output", pid=target.pid, on=True)
        target.order(r"1 a\xc3")
        self.assertEqual(self.event(target), ("stdout", "a"))
        target.process.kill()
        self.assertEqual(self.event(target),
                         ("stdout", "\N{REPLACEMENT CHARACTER}"))

    def test_more_than_can_be_followed(self):
        with open(self.path, "ab") as file:
            sleepers = [subprocess.Popen(["sleep", "600"], stdout=file)
                        for i in range(65)]
        for sleeper in sleepers:
            self.addCleanup(sleeper.wait)
            self.addCleanup(sleeper.kill)
        pids = [sleeper.pid for sleeper in sleepers]
        self.node.discover(pids=pids)
        for pid in pids[:64]:
            self.node.ask("output", pid=pid, on=True)
        self.assertIn("(the maximum) is followed already",
                      self.node.refuse("output", pid=pids[64], on=True))
        self.node.ask("output", pid=pids[64])
        self.node.ask("output", pid=pids[0], on=False)
        self.node.ask("output", pid=pids[64], on=True)

    def test_the_last_words(self):
        target = self.start()
        self.node.ask("discover", follow=True)
        self.node.ask("output", pid=target.pid, on=True)
        target.order(r"1 last words\n")
        target.process.kill()
        self.assertEqual(self.event(target), ("stdout", "last words\n"))

    def test_after_its_end(self):
        target = self.start()
        self.node.ask("discover", follow=True)
        self.node.ask("evidence", pids=[target.pid])
        target.order(r"1 goodbye\n")
        target.process.kill()
        target.process.wait(20)
        self.node.event("rankRemoved", target.pid)
        body = self.node.ask("output", pid=target.pid)
        self.assertEqual(body["streams"][0]["path"], self.path)
        self.assertEqual(self.event(target), ("stdout", "goodbye\n"))
        os.unlink(self.path)
        body = self.node.ask("output", pid=target.pid)
        self.assertIn("cannot be read any more", body["streams"][0]["why"])

    def test_who_shares_a_file(self):
        one, two = self.start(), self.start()
        self.node.discover(only=[one.pid, two.pid])
        body = self.node.ask("output", pid=one.pid)
        # Both have RANK 3: the second gets the lowest free number.
        self.assertEqual(body["streams"][0]["shared"], "0")
        two.order("open " + self.path + ".other")
        two.order("2 x")
        body = self.node.ask("output", pid=two.pid)
        self.assertIsNone(body["streams"][0]["shared"])

    def test_no_more(self):
        target = self.start()
        self.node.ask("output", pid=target.pid, on=True)
        self.assertEqual(self.node.ask("output", pid=target.pid, on=False), {})
        target.order(r"1 secret\n")
        self.node.ask("output", pid=target.pid, on=False)
        self.assertNotIn("secret", str(self.node.messages))

    def test_a_pipe_is_named(self):
        target = self.start(subprocess.PIPE)
        self.assertRegex(self.why(target), r"rank 3's standard output is a "
                         r"pipe to python\S* \(pid %d\);" % os.getpid())
        target.process.stdout.close()
        self.assertIn("rank 3's standard output is a pipe;",
                      self.why(target))

    def test_who_only_inherited_a_pipe_does_not_read_it(self):
        """As in `torchrun … | tee log`: the launcher holds the other end."""
        code = ("import subprocess, sys\nrank = subprocess.Popen("
                "[sys.executable, '-c', 'import sys; sys.stdin.read()'])\n"
                "print('ready', rank.pid, flush=True)\nrank.wait()\n")
        launcher = Launched(code, RANK="3")
        self.addCleanup(launcher.close)
        rank = int(launcher.words[1])
        self.node.discover(pids=[rank])
        why = self.node.ask("output", pid=rank)["streams"][0]["why"]
        self.assertRegex(why, r" is a pipe to python\S* \(pid %d\);"
                         % os.getpid())

    def test_what_is_no_file_is_not_opened(self):
        controller, line = pty.openpty()
        self.addCleanup(os.close, controller)
        pair = socket.socketpair()
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        fifo_end = os.open(fifo, os.O_RDWR)
        for stdout, says in (
                (line, "is the terminal or device " + os.ttyname(line)),
                (subprocess.DEVNULL, "is discarded (/dev/null)"),
                (pair[0], "is a socket"),
                (fifo_end, "is a pipe")):
            self.assertIn(says, self.why(self.start(stdout)))
        os.close(fifo_end)
        for end in pair:
            end.close()
        os.close(line)

    def test_a_process_of_nobody(self):
        self.assertIn("is not one of the processes found", self.node.refuse("output", pid=1))
        self.assertIn("is not a process id", self.node.refuse("output"))


if __name__ == "__main__":
    unittest.main()
