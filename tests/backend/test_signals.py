"""A rank that is stopped from outside and is sent a signal: it is resumed, its
handler runs to its end, once, and breakpoints stop nothing meanwhile."""
import os
import shutil
import signal
import tempfile
import unittest

import pythons
from nodes import LIMIT, Node, Target

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "signals_target.py")
NAME = os.path.basename(PROGRAM)
with open(PROGRAM, encoding="utf-8") as program:
    LINES = program.read().splitlines()
SAVED = LINES.index("    saved = number + 1") + 1
FIRST = LINES.index("    first = number + 1") + 1
HANDLED = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1,
           signal.SIGUSR2, signal.SIGXCPU, signal.SIGALRM]


def status_of(pid, field):
    with open("/proc/%d/status" % pid, encoding="ascii") as file:
        for line in file:
            if line.startswith(field + ":"):
                return line.split()[1]
    raise AssertionError(field)


class SignalCase(unittest.TestCase):
    python = None  # the one to be stopped

    def start(self, threads=0):
        self.node = Node()
        self.addCleanup(self.node.close)
        self.node.ask("initialize", protocol=1)
        self.target = Target(argv=self.python.argv + [
            self.place_program(), str(threads)], RANK="2")
        self.addCleanup(self.target.close)
        self.pid = self.target.pid
        self.node.discover(pids=[self.pid])

    def place_program(self):
        """A chroot has no file of ours."""
        argv = self.python.argv
        if argv[0] != "chroot":
            return PROGRAM
        folder = tempfile.mkdtemp(dir=argv[1] + "/tmp")
        self.addCleanup(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        return shutil.copy(PROGRAM, folder)[len(argv[1]):]

    def ask(self, command, **arguments):
        return self.node.ask(command, pid=self.pid, **arguments)

    def set_breakpoints(self, *lines):
        self.ask("setBreakpoints", breakpoints=[
            {"id": i + 1, "path": NAME, "line": line}
            for i, line in enumerate(lines)])

    def stopped(self):
        return self.node.event("stopped", self.pid)

    def resumed(self):
        """The next `continued` that no request made."""
        return self.node.wait_for(
            lambda m: m.get("event") == "continued"
            and m["body"]["pid"] == self.pid
            and m["body"]["reason"] != "request")["body"]

    def handled(self, number, times=1):
        """Its handler has run, once more, and through the breakpoint."""
        self.assertEqual(self.target.line(),
                         ["handled", signal.Signals(number).name, str(times),
                          "3"])

    def check_resumed(self, number):
        body = self.resumed()
        self.assertEqual((body["state"], body["reason"]),
                         ("running", "signal"))
        self.assertIn("rank 2 was sent %s: resumed so that the process can "
                      "handle the signal" % signal.Signals(number).name,
                      body["description"])

    def send(self, number):
        os.kill(self.pid, number)

    def check_end(self):
        """Nothing stops it; it ends as if untouched."""
        self.target.process.stdin.close()
        self.assertEqual(self.target.process.wait(LIMIT), 7)

    def check_no_stop(self):
        self.assertEqual([m for m in self.node.messages
                          if m.get("event") == "stopped"], [])


class EachCase(SignalCase):
    """One scenario each, for every Python."""

    def test_at_a_breakpoint(self):
        for threads in 0, 3:
            with self.subTest(threads=threads):
                self.start(threads)
                self.set_breakpoints(SAVED)
                self.stopped()
                self.send(signal.SIGTERM)
                self.handled(signal.SIGTERM)
                self.check_resumed(signal.SIGTERM)
                self.check_end()
                self.check_no_stop()

    def test_in_a_step(self):
        """Before it, and while the thread steps."""
        self.start(2)
        self.ask("pause")
        self.stopped()
        seq = self.node.request("stepIn", pid=self.pid)
        self.send(signal.SIGTERM)
        self.handled(signal.SIGTERM)
        self.check_resumed(signal.SIGTERM)
        self.node.answer(seq)
        self.check_end()


class OneCase(SignalCase):
    python = pythons.find()[-1]

    def test_each_signal(self):
        """Stopped by a breakpoint, by a pause, in a step that ended."""
        for number in HANDLED:
            with self.subTest(number=number):
                self.start(1)
                self.set_breakpoints(SAVED)
                self.stopped()
                self.send(number)
                self.handled(number)
                self.check_resumed(number)
                self.ask("pause")
                self.stopped()
                self.send(number)
                self.handled(number, 2)
                self.check_resumed(number)
                self.ask("pause")
                self.stopped()
                self.ask("stepIn")
                self.stopped()
                self.send(number)
                self.handled(number, 3)
                self.check_resumed(number)
                self.check_end()

    def test_one_thread_is_stopped(self):
        """Another thread takes the signal; the main one has to run for it."""
        for tid in "main", "other":
            with self.subTest(tid):
                self.start(2)
                arguments = {"threads": "one"}
                if tid == "other":
                    arguments["tid"] = max(
                        map(int, os.listdir("/proc/%d/task" % self.pid)))
                self.ask("pause", **arguments)
                self.stopped()
                self.send(signal.SIGTERM)
                self.handled(signal.SIGTERM)
                self.check_resumed(signal.SIGTERM)
                self.check_end()

    def test_sent_to_a_thread(self):
        """To one that is stopped, by another that is not."""
        self.start()
        self.ask("pause", threads="one")
        self.stopped()
        self.target.say("send")
        words = [self.target.line(), self.target.line()]
        self.assertIn(["handled", "SIGUSR1", "1", "3"], words)
        self.check_resumed(signal.SIGUSR1)
        self.check_end()

    def test_what_ends_it(self):
        self.start(1)
        self.set_breakpoints(SAVED)
        self.stopped()
        self.send(signal.SIGQUIT)
        self.assertEqual(self.target.process.wait(LIMIT), -signal.SIGQUIT)
        self.assertEqual(self.resumed()["description"],
                         "rank 2 was sent SIGQUIT, which kills the process: "
                         "resumed")

    def stay(self, number):
        """It is sent that; a signal with a greater number then resumes the
        rank, and is named alone."""
        self.send(number)
        while not self.is_pending(number):
            pass
        self.send(signal.SIGXCPU)
        self.check_resumed(signal.SIGXCPU)

    def is_pending(self, number):
        return int(status_of(self.pid, "ShdPnd"), 16) >> (number - 1) & 1

    def test_what_resumes_nothing(self):
        """A signal that all threads block, one that is ignored, one whose
        default is to do nothing."""
        self.start(1)
        for word in "block", "ignore":
            self.target.say(word)
            self.assertIn(self.target.line(), (["blocked"], ["ignored"]))
        self.ask("pause")
        self.stopped()
        self.stay(signal.SIGUSR2)
        self.handled(signal.SIGXCPU)
        self.ask("pause")
        self.stopped()
        self.stay(signal.SIGCHLD)
        words = [self.target.line()[1] for _ in range(2)]
        self.assertEqual(sorted(words), ["SIGCHLD", "SIGXCPU"])
        self.ask("pause")
        self.stopped()
        self.stay(signal.SIGALRM)
        self.handled(signal.SIGXCPU, 4)
        self.check_end()

    def test_breakpoints_come_back(self):
        """With a request that resumes the rank, and with another list of
        breakpoints, not with the same one."""
        self.start()
        self.set_breakpoints(SAVED)
        self.stopped()
        self.send(signal.SIGTERM)
        self.handled(signal.SIGTERM)
        self.check_resumed(signal.SIGTERM)
        self.set_breakpoints(SAVED)
        self.target.say("?")
        self.assertEqual(self.target.line(), ["said"])
        self.check_no_stop()
        self.ask("pause")
        self.assertEqual(self.stopped()["reason"], "pause")
        self.ask("continue")
        self.assertEqual(self.stopped()["reason"], "breakpoint")
        self.send(signal.SIGTERM)
        self.handled(signal.SIGTERM, 2)
        self.check_resumed(signal.SIGTERM)
        self.set_breakpoints(FIRST)
        self.assertEqual(self.stopped()["reason"], "breakpoint")
        self.ask("detach")
        self.check_end()

    def test_it_may_stay_stopped(self):
        self.start(1)
        self.node.ask("set", stopOnSignal=True)
        self.set_breakpoints(SAVED)
        self.stopped()
        self.send(signal.SIGTERM)
        said = self.node.event("output", self.pid)
        self.assertEqual(said["category"], "console")
        self.assertEqual(said["output"],
                         "rank 2 was sent SIGTERM and stays stopped "
                         "(stop-on-signal): continue delivers the signal")
        self.assertTrue(self.is_pending(signal.SIGTERM))
        # It is said once, and what is asked now finds it where it was.
        self.ask("next")
        body = self.stopped()
        self.assertEqual(body["reason"], "step")
        # Another mind: what waits still, or was sent again, resumes it.
        self.send(signal.SIGTERM)
        self.node.ask("set", stopOnSignal=False)
        self.check_resumed(signal.SIGTERM)
        self.assertEqual(self.target.line()[:2], ["handled", "SIGTERM"])

    def test_a_rank_that_runs_is_left_alone(self):
        """Its breakpoints stay set."""
        self.start()
        self.set_breakpoints(LINES.index("    sys.exit(7)") + 1)
        self.send(signal.SIGTERM)
        self.handled(signal.SIGTERM)
        self.assertEqual([m for m in self.node.messages
                          if m.get("event") == "continued"], [])
        self.target.process.stdin.close()
        self.stopped()
        self.ask("continue")
        self.assertEqual(self.target.process.wait(LIMIT), 7)


def load_tests(loader, tests, _pattern):
    del tests
    suite = pythons.load_cases(loader, __name__, EachCase)
    suite.addTests(loader.loadTestsFromTestCase(OneCase))
    return suite


if __name__ == "__main__":
    unittest.main()
