"""Code that ranks run: equal answers together, what raised, who did not."""

import json
import unittest

import test_control


def node(refusals=None):
    return test_control.Node(refusals)


class TestShell(unittest.TestCase):
    """Against a node that plays three ranks: 0 and 1 stand, 2 waits."""

    def test_who_did_not_answer_is_named(self):
        with node({"evaluate 102": "Process 102 has no agent."}) as fake:
            run = fake.run("eval", "x = 1")
            self.assertEqual(
                run.stdout, "  0 (1)  0 + x = 1\n  1 (1)  1 + x = 1\n"
                "? 2 (1)  Process 102 has no agent.\n", run.stderr)
            self.assertEqual(run.returncode, 4)

    def test_who_runs_is_asked_without_a_frame(self):
        with node() as fake:
            run = fake.run("eval", "x")
            asked = {each[1]["pid"]: each[1] for each in
                     fake.asked("evaluate")}
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(asked[100]["tid"], 100)
            self.assertEqual(asked[100]["context"], "watch")
            self.assertNotIn("tid", asked[102])
            self.assertNotIn("depth", asked[102])
            self.assertEqual(asked[102]["context"], "repl")
            self.assertGreater(asked[102]["timeout"], 1)

    def test_json(self):
        refusals = {"evaluate 101": "NameError: name 'x' is not defined",
                    "evaluate 102": "Process 102 has no agent."}
        with node(refusals) as fake:
            run = fake.run("--json", "eval", "x")
            self.assertEqual(json.loads(run.stdout), {
                "expr": "x",
                "classes": [{"ranks": "0", "count": 1, "value": "0 + x",
                             "type": "int", "output": None}],
                "errors": [
                    {"rank": 1, "error": refusals["evaluate 101"],
                     "traceback": None},
                    {"rank": 2, "error": refusals["evaluate 102"],
                     "traceback": None}]})
            # What raised is a finding, and goes before what is partial.
            self.assertEqual(run.returncode, 1)

    def test_none_is_reached(self):
        why = "It has no agent; probetui inject puts one in."
        with node({"evaluate %d" % pid: why for pid in (100, 101, 102)}) as \
                fake:
            run = fake.run("eval", "x")
            self.assertEqual(run.returncode, 3)
            self.assertEqual(run.stdout, "")
            self.assertEqual(run.stderr,
                             "probetui: eval: ranks 0-2: it has no agent; "
                             "probetui inject puts one in.\n")

    def test_nothing_to_run(self):
        with node() as fake:
            run = fake.run("eval")
            self.assertEqual(run.returncode, 2)
            self.assertIn("eval needs code of the program", run.stderr)

    def test_a_script(self):
        with node() as fake:
            run = fake.run(script="eval a  + b ranks 0,1\n")
            self.assertEqual(run.stdout.splitlines()[:2],
                             ["  0 (1)  0 + a  + b", "  1 (1)  1 + a  + b"],
                             run.stderr)
            self.assertEqual(run.returncode, 0)
