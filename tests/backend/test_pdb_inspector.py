"""What the inspector says of a program at pdb's prompt, on each CPython."""
import sys
import unittest

import prompts
import pythons

CLASS = """
import pdb
class A:
    def f(self, x):
        __import__ = len = object = 'shadowed'
        y = [1, 'two', {3: None}]
        pdb.set_trace()
        x += 1
        return x
A().f(2)
"""


class InspectorCase(unittest.TestCase):
    """Tests for one Python; pythons.load_cases() sets which."""

    python = None

    def start(self, code, *arguments, **options):
        prompt = prompts.Prompt(self.python, code, arguments, **options)
        self.addCleanup(prompt.close)
        prompt.read()
        return prompt

    def test_state(self):
        prompt = self.start(CLASS)
        state = prompt.state()
        self.assertEqual([frame["func"] for frame in state["frames"]],
                         ["f", "<module>"])
        self.assertEqual(state["dialect"], "pdb")
        self.assertEqual(state["event"], "line")
        self.assertFalse(state["post_mortem"])
        self.assertEqual(state["pid"], prompt.process.pid)
        self.assertEqual(state["tid"], prompt.process.pid)
        self.assertEqual(prompt.values()["y"], "[1, 'two', {3: None}]")


def load_tests(loader, _tests, _pattern):
    return pythons.load_cases(loader, __name__, InspectorCase)


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
