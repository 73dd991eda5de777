#!/usr/bin/env python3
"""A job on several machines (--on): they are namespaces of this one, each with
its own processes and host name, so that pids are the same on each."""
import json
import os
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jobs  # noqa: E402
from machines import Machines, tracer_of, wait_until, why_not  # noqa: E402

# Rank 3 is elsewhere; the others wait for each other.
HUNG = """\
import os, threading, time
def gather(me):
    threading.Barrier(2).wait()
def load(me):
    time.sleep(10000)
def main():
    me = int(os.environ["RANK"])
    os.write(1, b"ready\\n")
    load(me) if me == 3 else gather(me)
main()
"""

# All ranks run through the same lines.
RUNS = """\
import os, time
me = int(os.environ["RANK"])
def step(number):
    twice = number * 2
    time.sleep(0.01)
    return twice + me
os.write(1, b"ready\\n")
number = 0
while True:
    number += 1
    step(number)
"""


@unittest.skipIf(why_not(), why_not())
class MachinesCase(unittest.TestCase):
    program = HUNG

    def setUp(self):
        self.machines = Machines(self, 3, 2, self.program)

    def run_on(self, hosts, *words, script=None):
        return subprocess.run(
            [jobs.PROBETUI] + self.machines.on(hosts) + list(words),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, input=script or "",
            universal_newlines=True)

    def ask(self, hosts, *words):
        """(exit status, the JSON that it prints, standard error)"""
        told = self.run_on(hosts, "--json", *words)
        return told.returncode, json.loads(told.stdout), told.stderr


class TestHung(MachinesCase):
    def test_the_rank_on_another_machine_is_named(self):
        status, told, errors = self.ask("n[1-3]", "verdict")
        self.assertEqual((status, told["outliers"], told["world_size"],
                          told["ranks_found"], errors), (1, [3], 6, 6, ""))
        self.assertTrue(told["verdict"].startswith(
            "5 of 6 ranks are in gather (train.py:3)"), told)
        self.assertIn("Rank 3 is elsewhere: load (train.py:5) in time.sleep",
                      told["verdict"])

    def test_processes_are_of_hosts(self):
        """One pid is a process on each machine."""
        _, told, _ = self.ask("n[1-3]", "ranks")
        self.assertEqual([one["host"] for one in told],
                         ["n1", "n1", "n2", "n2", "n3", "n3"])
        self.assertEqual(len({one["pid"] for one in told}), 2)
        lines = self.run_on("n[1-3]", "ranks").stdout.splitlines()
        self.assertIn("  n2:%d " % told[3]["pid"], lines[3])
        self.assertIn("load (train.py:5)", lines[3])

    def test_locals_and_stacks(self):
        _, told, _ = self.ask("n[1-3]", "locals", "--rank", "3")
        self.assertEqual({one["name"]: one["value"]
                          for one in told["variables"]}, {"me": "3"})
        _, told, _ = self.ask("n[1-3]", "stacks", "ranks", "2,4")
        self.assertEqual([one["threads"][0]["frames"][-2]["func"]
                          for one in told], ["main", "main"])
        told = self.run_on("n[1-3]", "diff", "2", "3").stdout
        self.assertIn("+  load (train.py:5)", told)

    def test_a_machine_that_cannot_be_reached_comes_first(self):
        status, told, errors = self.ask("n[1-4]", "verdict")
        self.assertEqual((status, told["outliers"]), (1, [3]))
        self.assertTrue(told["verdict"].startswith(
            "n4 cannot be reached: "), told)
        self.assertIn("exited with status 255: no route to host n4. "
                      "The other machines: 5 of 6 ranks are", told["verdict"])
        self.assertIn("n4: ", errors)

    def test_a_machine_that_does_not_answer_comes_first(self):
        self.machines.add_silent("n4")
        status, told, errors = self.ask("n[1-4]", "verdict")
        self.assertEqual((status, told["outliers"]), (1, [3]))
        self.assertTrue(told["verdict"].startswith(
            "n4 has not answered. The other machines: "), told)
        self.assertIn("n4: has not answered", errors)

    def test_a_machine_that_falls_silent_and_comes_back(self):
        process = subprocess.Popen(
            [jobs.PROBETUI] + self.machines.on("n[1-3]") +
            ["--json", "-x", "-"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, universal_newlines=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

        def verdict():
            process.stdin.write("verdict\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())["verdict"]

        self.assertTrue(verdict().startswith("5 of 6 ranks are in gather"))
        relay, = self.machines.relays("n3")
        os.kill(relay, signal.SIGSTOP)
        wait_until(self, lambda: verdict().startswith(
            "n3 (ranks 4-5) has not answered for "))
        told = verdict()
        self.assertIn(" The other machines: 3 of 6 ranks are in gather", told)
        self.assertIn("Ranks 4 and 5 cannot be read: the machine does not answer.",
                      told)
        os.kill(relay, signal.SIGCONT)
        wait_until(self, lambda: verdict().startswith(
            "5 of 6 ranks are in gather"))

    def test_a_pid_that_several_machines_have(self):
        _, told, _ = self.ask("n[1-3]", "ranks")
        pid = str(told[0]["pid"])
        told = self.run_on("n[1-3]", "-x", "-", script="pause %s\n"
                           "connect ptrace:%s\n" % (pid, pid))
        self.assertIn("3 machines have a rank with pid %s: use ranks SET" % pid,
                      told.stderr)
        self.assertIn("with --on an address may be on any machine", told.stderr)
        _, told, _ = self.ask("n[1-3]", "doctor")
        self.assertEqual([one["rank"] for one in told["ranks"]],
                         list(range(6)))

    def test_a_job_that_may_be_on_the_machine_that_is_not_reached(self):
        told = self.run_on("n4", "verdict")
        self.assertEqual(told.returncode, 3)
        self.assertIn("no route to host n4", told.stderr)

    def test_none_can_be_reached(self):
        told = self.run_on("m[1-2]", "verdict")
        self.assertEqual(told.returncode, 3)
        self.assertIn("no route to host m", told.stderr)

    def test_one_machine_says_how_to_see_the_others(self):
        _, told, _ = self.ask("n1", "verdict")
        self.assertTrue(told["verdict"].endswith(
            " 2 of 6 ranks are here: --on slurm:81234 looks at all of n[1-3]."),
            told)

    def test_a_report(self):
        told = self.run_on("n[1-3]", "report").stdout
        self.assertIn("6 ranks of train.py, job n1.example:29500, "
                      "hosts n1, n2, n3\n", told)


class TestRuns(MachinesCase):
    program = RUNS

    def test_all_stop_at_a_breakpoint_and_step(self):
        told = self.run_on("n[1-3]", "--json", "-x", "-", script="""\
break train.py:4
wait stopped timeout 60
print me * 100
next
wait stopped timeout 60
stacks
break
""")
        lines = [json.loads(line) for line in told.stdout.splitlines()]
        stops = [one for one in lines if isinstance(one, dict)
                 and one.get("event") == "stopped"]
        self.assertEqual(sorted({one["rank"] for one in stops}),
                         list(range(6)), told)
        self.assertEqual({one["frame"]["lineno"] for one in stops}, {4, 5})
        self.assertEqual(sorted(one["result"] for one in lines
                                if isinstance(one, dict) and "result" in one),
                         ["0", "100", "200", "300", "400", "500"])
        for pid in self.machines.pids.values():
            wait_until(self, lambda: tracer_of(pid) == 0)

    def hold(self):
        """probetui, which holds all ranks."""
        process = subprocess.Popen(
            [jobs.PROBETUI] + self.machines.on("n[1-3]") + ["-x", "-"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdin.write(b"pause\nwait stopped timeout 60\n")
        process.stdin.flush()
        for pid in self.machines.pids.values():
            wait_until(self, lambda: tracer_of(pid) > 0)
        return process

    def test_killed_while_all_are_held(self):
        process = self.hold()
        process.kill()
        for pid in self.machines.pids.values():
            wait_until(self, lambda: tracer_of(pid) == 0)

    def test_a_network_that_is_cut_while_all_are_held(self):
        """The pipes stay open, and nothing comes through: the lease ends."""
        process = self.hold()
        relays = self.machines.relays()
        self.assertEqual(len(relays), 3)
        for relay in relays:
            os.kill(relay, signal.SIGSTOP)
            self.addCleanup(os.kill, relay, signal.SIGCONT)
        for pid in self.machines.pids.values():
            wait_until(self, lambda: tracer_of(pid) == 0)
        self.assertIsNone(process.poll())


if __name__ == "__main__":
    unittest.main()
