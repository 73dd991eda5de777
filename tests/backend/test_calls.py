"""System calls of a program that is armed, paused, looked at and left: none of
them ends with EINTR, and what is left of a time-out is what it waits for."""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

import tracees
from tracees import BUILD, LIMIT, Probe, Target

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = [sys.executable, os.path.join(HERE, "calls_target.py")]
INJECT = os.path.join(BUILD, "tests", "backend", "inject-probe")
LONG = 1000
FUTEX = 202
# Each waits so long where its time-out is to come.
SHORT = 3
# For at least so long a call has waited, and its thread has stood, in a test
# of what is left of it.
SOME = 0.3
# The time-out of these in a register: argument, and how many to a second.
MILLISECONDS = {"epoll_wait": 3, "epoll_pwait": 3}
# Theirs begins anew, with all of it, when they are left while they stand.
TIMESPECS = {"epoll_pwait2": 3, "sigtimedwait": 2, "semtimedop": 3,
             "io_getevents": 4}


class Calls(Target):
    """calls_target.py: each call in a thread, and what comes of it."""

    def __init__(self, seconds, *names):
        super().__init__(seconds, *names, program=PROGRAM)
        self.tids = {}
        self.began = {}
        for line in iter(self.lines.next, "ready"):
            name, tid, began = line.split()
            self.tids[name] = int(tid)
            self.began[name] = float(began)

    def call(self, name):
        """The number and the arguments of the call that a thread is in."""
        path = "/proc/%d/task/%d/syscall" % (self.pid, self.tids[name])
        with open(path) as file:
            words = file.read().split()
        return [int(word, 0) for word in words[:7]]

    def is_waiting(self, name):
        """In its call: not stopped, and not in the interpreter's lock."""
        path = "/proc/%d/task/%d/stat" % (self.pid, self.tids[name])
        with open(path) as file:
            letter = file.read().rsplit(")", 1)[1].split()[0]
        return letter == "S" and (self.call(name)[0] != FUTEX or
                                  name == "futex")

    def await_calls(self, names=None):
        """Until each thread sleeps in its call; then the time."""
        deadline = time.monotonic() + LIMIT
        for name in names or self.tids:
            while not self.is_waiting(name):
                if time.monotonic() > deadline:
                    raise AssertionError(name + " does not wait")
                time.sleep(0.001)
        return time.monotonic()

    def results(self):
        found = {}
        for line in iter(self.lines.next, None):
            name, result, number = line.split()
            found[name] = (result, int(number))
        if self.process.wait(LIMIT) != 0:
            raise AssertionError(self.process.returncode)
        return found


def await_time(moment):
    while time.monotonic() < moment:
        time.sleep(0.01)


class Case(tracees.Case):
    untouched = {}
    names = ()  # all that wait for no child

    def start(self, seconds, *names):
        target = Calls(seconds, *names)
        self.addCleanup(target.close)
        target.await_calls()
        return target

    def attach(self, target):
        probe = Probe(target.pid)
        self.addCleanup(probe.close)
        probe.do("tell 0")
        probe.do("attach")
        return probe

    def end(self, target, seconds=LONG):
        """Only where they may time out nothing else happens to them."""
        target.go(b"wait\n" if seconds == SHORT else b"go\n")
        return target.results()

    def expected(self, seconds):
        """What an untouched program of the same kind prints."""
        key = seconds, self.names
        if key not in self.untouched:
            self.untouched[key] = self.end(self.start(seconds, *self.names),
                                           seconds)
        return self.untouched[key]

    def check(self, target, seconds):
        # What is sent to a call that has not begun again may get lost.
        if seconds == LONG:
            target.await_calls()
        found = self.end(target, seconds)
        for name, result in self.expected(seconds).items():
            with self.subTest(call=name):
                self.assertEqual(found[name], result)

    def hold(self, probe, tid):
        """On a busy machine a thread may need longer than it is given."""
        deadline = time.monotonic() + LIMIT
        while probe.order("hold %d" % tid)["event"] == "failed":
            self.assertLess(time.monotonic(), deadline)

    def pause(self, probe, target):
        probe.do("interrupt all")
        for _ in target.threads():
            probe.wait("stopped")

    def arm(self, probe, target):
        """A watch of what nobody writes, on each thread."""
        for tid in target.threads():
            probe.watch(0x10000, tid)


class TestEvents(Case):
    """What each call waits for happens after it was disturbed."""

    def test_attached_to_and_left(self):
        target = self.start(LONG, *self.names)
        probe = self.attach(target)
        probe.do("leave")
        self.check(target, LONG)

    def test_armed_and_left(self):
        target = self.start(LONG, *self.names)
        probe = self.attach(target)
        self.arm(probe, target)
        probe.do("leave")
        self.check(target, LONG)

    def test_armed(self):
        target = self.start(LONG, *self.names)
        self.arm(self.attach(target), target)
        self.check(target, LONG)

    def test_paused_and_resumed(self):
        target = self.start(LONG, *self.names)
        probe = self.attach(target)
        for _ in range(5):
            self.pause(probe, target)
            probe.do("resume all")
        self.check(target, LONG)

    def test_paused_and_left(self):
        target = self.start(LONG, *self.names)
        probe = self.attach(target)
        self.arm(probe, target)
        self.pause(probe, target)
        probe.do("leave")
        self.check(target, LONG)

    def test_paused_and_the_node_killed(self):
        target = self.start(LONG, *self.names)
        probe = self.attach(target)
        self.pause(probe, target)
        probe.process.kill()
        probe.process.wait(LIMIT)
        self.check(target, LONG)

    def test_interrupted_again_and_again(self):
        target = self.start(LONG, *self.names)
        probe = self.attach(target)
        for _ in range(30):
            probe.do("interrupt all")
            probe.do("resume all")
        self.check(target, LONG)

    def test_held_for_a_look(self):
        target = self.start(LONG, *self.names)
        probe = self.attach(target)
        for _ in range(5):
            for tid in target.tids.values():
                self.hold(probe, tid)
        self.check(target, LONG)


class TestTimeouts(Case):
    """Nothing happens: each call comes back when its time is over."""

    def disturb(self, act):
        target = self.start(SHORT, *self.names)
        act(target, self.attach(target))
        self.check(target, SHORT)

    def test_armed_and_left(self):
        def act(target, probe):
            self.arm(probe, target)
            probe.do("leave")
        self.disturb(act)

    def test_paused_and_resumed(self):
        def act(target, probe):
            for _ in range(5):
                self.pause(probe, target)
                probe.do("resume all")
        self.disturb(act)

    def test_stopped_until_it_is_over(self):
        def act(target, probe):
            self.pause(probe, target)
            await_time(max(target.began.values()) + SHORT)
            probe.do("resume all")
        self.disturb(act)


class TestEventsOfChildren(TestEvents):
    names = ("wait4", "waitid")


class TestRest(Case):
    """What is left of a time-out, as it stands in the thread's registers."""

    def left(self, target, probe, name):
        """Seconds that the call is told to wait for, or None."""
        if name in MILLISECONDS:
            return target.call(name)[1 + MILLISECONDS[name]] / 1000
        address = target.call(name)[1 + TIMESPECS[name]]
        with open("/proc/%d/mem" % target.pid, "rb") as memory:
            memory.seek(address)
            words = memory.read(16)
        return int.from_bytes(words[:8], "little") + \
            int.from_bytes(words[8:], "little") / 1e9

    def check_rest(self, names, act):
        target = self.start(LONG, *names)
        probe = self.attach(target)
        slept = time.monotonic()
        await_time(slept + SOME)
        resumed = act(target, probe)
        target.await_calls()
        now = time.monotonic()
        for name in names:
            with self.subTest(call=name):
                left = self.left(target, probe, name)
                # A time-out is late by what a hypervisor took from the
                # scheduler's clock, but is never all of the time again.
                self.assertLess(left, LONG - (resumed - slept) / 4)
                self.assertGreaterEqual(left, LONG - (now -
                                                      target.began[name]))
        return target, probe

    def pause_and_resume(self, target, probe):
        self.pause(probe, target)
        await_time(time.monotonic() + SOME)
        resumed = time.monotonic()
        probe.do("resume all")
        return resumed

    def test_paused_and_resumed(self):
        self.check_rest([*MILLISECONDS, *TIMESPECS], self.pause_and_resume)

    def test_paused_twice(self):
        def act(target, probe):
            self.pause_and_resume(target, probe)
            target.await_calls()
            return self.pause_and_resume(target, probe)
        self.check_rest([*MILLISECONDS, *TIMESPECS], act)

    def test_armed_and_left(self):
        """As a breakpoint does that is not hit."""
        def act(target, probe):
            self.arm(probe, target)
            resumed = time.monotonic()
            probe.do("leave")
            return resumed
        self.check_rest(MILLISECONDS, act)

    def test_left_while_it_stands(self):
        def act(target, probe):
            self.pause(probe, target)
            resumed = time.monotonic()
            probe.do("leave")
            return resumed
        self.check_rest(MILLISECONDS, act)


class TestInject(Case):
    """A script is injected while the main thread is in a call."""

    def inject(self, name):
        target = self.start(LONG, "main", name)
        began = time.monotonic()
        await_time(began + SOME)
        # The script is unlinked when it was read.
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script.py")
            with open(script, "w"):
                pass
            done = subprocess.run([INJECT, str(target.pid), script, "1"],
                                  stdout=subprocess.PIPE, timeout=LIMIT)
        self.assertGreater(json.loads(done.stdout)["stops"], 0)
        target.await_calls()
        return target, began

    def test_events(self):
        for name, result in (("epoll_wait", "1"), ("recv", "4"),
                             ("semtimedop", "0"), ("accept", "1")):
            with self.subTest(call=name):
                target, _ = self.inject(name)
                self.assertEqual(self.end(target), {name: (result, 0)})

    def test_rest(self):
        for name in MILLISECONDS:
            with self.subTest(call=name):
                target, began = self.inject(name)
                left = target.call(name)[1 + MILLISECONDS[name]] / 1000
                self.assertLess(left, LONG)
                self.assertGreaterEqual(
                    left, LONG - (time.monotonic() - target.began[name]))


class TestUntouched(Case):
    """A thread in a call that would begin anew is not stopped at all."""
    NAMES = [*TIMESPECS, "recv", "accept", "send"]

    def test_left(self):
        target = self.start(LONG, *self.NAMES)
        probe = self.attach(target)
        self.arm(probe, target)
        before = {name: self.switches(target, name) for name in self.NAMES}
        probe.do("leave")
        for name in self.NAMES:
            with self.subTest(call=name):
                self.assertEqual(self.switches(target, name), before[name])
        probe.close()
        self.assertEqual({line for tids in [target.footprint()[2]]
                          for lines in tids for line in lines
                          if line.startswith("TracerPid")}, {"TracerPid:\t0\n"})

    def test_left_as_soon_as_it_is_out_of_it(self):
        target = self.start(SHORT, "recv")
        probe = self.attach(target)
        self.arm(probe, target)
        probe.do("leave")
        target.go()
        target.results()

    def switches(self, target, name):
        path = "/proc/%d/task/%d/status" % (target.pid, target.tids[name])
        with open(path) as file:
            return [line for line in file if "ctxt_switches" in line]


if __name__ == "__main__":
    unittest.main()
