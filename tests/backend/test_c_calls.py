"""The C functions that threads are in, by the value stacks of their frames."""
import json
import os
import subprocess
import unittest

import pythons
from nodes import wait_for_rest

HERE = os.path.dirname(os.path.abspath(__file__))
PROBE = os.path.join(os.environ["BUILDDIR"], "tests/backend/sample-probe")
# Threads that wake up all the time, each of them at another place.
POLLS = """
import queue, sys, threading, time
lock = threading.Lock()
lock.acquire()
items = queue.SimpleQueue()
def sleeps():
    while True:
        time.sleep(0.003)
def gets():
    while True:
        try:
            items.get(timeout=0.004)
        except queue.Empty:
            pass
def locks():
    while True:
        lock.acquire(timeout=0.005)
for function in (sleeps, gets, locks) * 3:
    threading.Thread(target=function, name=function.__name__,
                     daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
"""
POLLED = {"sleeps": "time.sleep", "gets": "_queue.SimpleQueue.get",
          "locks": "_thread.lock.acquire"}
GATE = 45  # system calls of a usual sample of ten threads that wake up


class CallsCase(unittest.TestCase):
    python = None
    maxDiff = None

    def start(self, *arguments):
        process = subprocess.Popen(
            self.python.argv + list(arguments), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process, process.stdout.readline().decode()

    def sample(self, pid, count):
        run = subprocess.run([PROBE, "sample", str(pid), str(count)],
                             stdout=subprocess.PIPE, timeout=120,
                             input=b"\n" * count)
        self.assertEqual(run.returncode, 0)
        return [json.loads(line) for line in run.stdout.splitlines()]

    def test_each_call_is_named(self):
        process, line = self.start(os.path.join(HERE, "c_calls_target.py"))
        wanted = {int(tid): name for tid, name in json.loads(line).items()}
        for tid, (name, _) in wanted.items():
            if name != "computes":
                wait_for_rest(process.pid, tid)
        for sample in self.sample(process.pid, 20):
            found = {thread["tid"]: thread.get("call")
                     for thread in sample["threads"]}
            self.assertEqual({tid: [wanted[tid][0], found[tid]]
                              for tid in wanted}, wanted)

    def test_threads_that_wake_up(self):
        process, _ = self.start("-c", POLLS)
        samples = self.sample(process.pid, 100)
        for thread in [t for sample in samples for t in sample["threads"]]:
            wanted = POLLED.get(thread["name"])
            if wanted and "call" in thread:
                self.assertEqual(thread["call"], wanted)
            elif wanted and thread["state"] == "blocked":
                # Awake by the time its frame was read.
                self.assertIn("exact", thread)
        named = [t for t in samples[-1]["threads"] if "call" in t]
        self.assertGreaterEqual(len(named), 5)
        calls = sorted(sample["syscalls"] for sample in samples)
        self.assertLess(calls[len(calls) // 2], GATE)


def load_tests(loader, _tests, _pattern):
    return pythons.load_cases(loader, __name__, CallsCase)


if __name__ == "__main__":
    unittest.main()
