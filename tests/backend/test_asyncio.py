"""Tasks of asyncio as threads of their process: names, chains, variables."""
import json
import os
import subprocess
import sys
import unittest

import pythons
from nodes import Target, wait_for_rest

HERE = os.path.dirname(os.path.abspath(__file__))
PROBETUI = os.environ["PROBETUI"]
NEW = (3, 14)


class AsyncioCase(unittest.TestCase):
    python = None

    def start(self, more):
        with open(os.path.join(HERE, "asyncio_target.py")) as file:
            code = file.read()
        target = Target(argv=self.python.argv + ["-c", code, str(more)])
        self.addCleanup(target.close)
        self.addCleanup(target.process.kill)
        self.assertEqual(target.words, ["ready"])
        # Both threads are on their way to where they wait.
        wait_for_rest(target.pid)
        return target.pid

    def ask(self, pid, *words):
        run = subprocess.run(
            [PROBETUI, "--pid", str(pid), "--json"] + list(words),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(run.stderr, b"")
        return json.loads(run.stdout.decode())

    def tasks(self, pid):
        threads = self.ask(pid, "stacks")[0]["threads"]
        self.assertEqual(len({thread["tid"] for thread in threads}),
                         len(threads))
        self.assertTrue(threads[0]["is_main"])
        return {thread["name"]: thread for thread in threads
                if thread["tid"] < 0}

    def chain(self, thread):
        return [frame["func"] for frame in thread["frames"]
                if frame["file"] == "<string>"]

    def test_chains_of_what_tasks_await(self):
        tasks = self.tasks(self.start(1))
        wanted = {
            "task Task-1": ["main"],
            "task deep": ["sleeps"] + ["middle"] * 4,
            "task Task-2": ["waits_for"],
            "task h\xe9 \x1b[31m": ["handles"],
            "task blocks": ["reads", "blocks"],
            "task Task-3": [],
            "task Task-4": ["in_other"],
        }
        self.assertEqual({name: self.chain(thread)
                          for name, thread in tasks.items()}, wanted)
        lines = [frame["lineno"] for frame in tasks["task deep"]["frames"]
                 if frame["func"] == "middle"]
        self.assertEqual(len(set(lines[1:])), 1)
        self.assertEqual(lines[0], lines[1] + 1)
        for name, thread in tasks.items():
            self.assertEqual(thread["state"], "blocked", name)
            self.assertEqual(thread["exact"], "exact", name)
            self.assertFalse(thread["is_main"], name)

    def test_variables_of_a_task(self):
        pid = self.start(0)
        tasks = self.tasks(pid)

        def variables(name, function):
            thread = tasks["task " + name]
            depth = [frame["depth"] for frame in thread["frames"]
                     if frame["func"] == function][0]
            answer = self.ask(pid, "locals", "--rank", "0", "--thread",
                              str(thread["tid"]), "--frame", str(depth))
            self.assertEqual(answer["tid"], thread["tid"])
            return [(row["name"], row["value"])
                    for row in answer["variables"]]

        self.assertEqual(variables("deep", "sleeps"),
                         [("label", "'sleeps'")])
        self.assertEqual(variables("deep", "middle"), [("depth", "0")])
        self.assertEqual(variables("h\xe9 \x1b[31m", "handles"),
                         [("<exception>", "KeyError('handled')")])

    def test_no_more_than_a_thousand(self):
        self.assertEqual(len(self.tasks(self.start(1500))), 1000)


def load_tests(loader, _tests, _pattern):
    suite = unittest.TestSuite()
    for python in pythons.find():
        if python.version >= NEW:
            name = "Asyncio_" + python.name.replace(".", "_")
            case = type(name, (AsyncioCase,), {"python": python})
            suite.addTests(loader.loadTestsFromTestCase(case))
    if not suite.countTestCases():
        case = type("Missing", (pythons.MissingCase,), {"minor": NEW[1]})
        suite.addTests(loader.loadTestsFromTestCase(case))
    return suite


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
