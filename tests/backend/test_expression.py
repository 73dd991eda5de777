"""Expressions compared from outside come to what Python itself says, or are
refused with a sentence.

Every CPython found runs expressions_target.py, which tells the truth of each
expression by its own eval() and waits.
"""
import os
import subprocess
import sys
import unittest

import probed
import pythons

TORCH = os.environ.get("PROBETUI_TORCH_PYTHON") or sys.executable


class Target(probed.Target):
    def __init__(self, argv, program, *words):
        super().__init__(argv, program, "expression-probe", *words)

    def enter(self, function):
        answer = self.ask("frame", self.told["pid"], function)
        if answer:
            raise AssertionError("%s: %s" % (function, answer))


class ExpressionCase(unittest.TestCase):
    """Tests for one Python; pythons.load_cases() sets which."""

    python = None
    target = None

    @classmethod
    def setUpClass(cls):
        cls.target = Target(cls.python.argv, "expressions_target.py")

    @classmethod
    def tearDownClass(cls):
        cls.target.close()

    def check(self, function, least):
        self.target.enter(function)
        rows = self.target.told["truths"][function]
        self.assertGreaterEqual(len(rows), least)
        wrong = []
        for expression, truth in rows:
            answer = self.target.ask("test", expression)
            if isinstance(truth, str):
                # What Python cannot tell is no truth from outside either.
                if not answer.get("error"):
                    wrong.append((expression, truth, answer))
            elif answer != {"truth": truth}:
                wrong.append((expression, truth, answer))
        self.assertFalse(wrong, "\n".join(str(row) for row in wrong))

    def test_numbers(self):
        self.check("numbers", 220)

    def test_texts(self):
        self.check("texts", 90)

    def test_a_long_text_in_a_longer_one(self):
        self.target.enter("texts")
        # Each place compared anew would take minutes, and no answer does.
        self.assertEqual(self.target.ask("test", "ys in xs"), {"truth": 0})

    def test_containers(self):
        self.check("containers", 170)

    def test_objects(self):
        self.check("inner", 90)

    def test_class_body(self):
        self.check("Body", 5)

    def test_values(self):
        """What is computed is what Python's own eval() comes to."""
        self.target.enter("values")
        rows = self.target.told["truths"]["values"]
        self.assertGreaterEqual(len(rows), 250)
        wrong = []
        for expression, truth in rows:
            answer = self.target.ask("show", expression)
            shown = answer.get("value", "")
            if isinstance(truth, str):
                is_right = bool(answer.get("error"))
            elif len(truth[0]) > 300 and "\u2026" in shown:
                is_right = truth[0].startswith(shown.split("\u2026")[0])
            else:
                is_right = shown == truth[0]
            if not is_right:
                wrong.append((expression, truth, answer))
        self.assertFalse(wrong, "\n".join(str(row) for row in wrong))

    def test_texts_to_log(self):
        """A logged text is what the f-string is in the frame."""
        self.target.enter("values")
        for text, truth in self.target.told["truths"]["said"]:
            with self.subTest(text[:40]):
                answer = self.target.ask("say", text)
                self.assertEqual(answer.get("said"), truth, answer)

    def test_texts_to_log_that_are_refused(self):
        self.target.enter("values")
        for text, sentence in (("{text:d}", "not a number: hello"),
                               ("{half:x}", "not a whole number: "),
                               ("{none:>5}", "not a number: None"),
                               ("{step:s}", "not a str: "),
                               ("{items:>5}", "not a number: ["),
                               ("{int_sub:d}", "may define its own __format__"),
                               ("{step!x}", "use !r or !s"),
                               ("{step:n}", "unsupported format"),
                               ("{step:{half}}", "unsupported format")):
            with self.subTest(text):
                answer = self.target.ask("say", text)
                self.assertIn(sentence, str(answer))

    def test_large_numbers(self):
        """What is computed is printed in full, as what is read is."""
        self.target.enter("numbers")
        for expression, value in (
                ("-big", "-123456789012345678901234567890"),
                ("(big, -big)[1]", "-123456789012345678901234567890"),
                ("9" * 4000, "9" * 4000),
                ("0x" + "f" * 4000, "<int of 16000 bits>")):
            with self.subTest(expression[:20]):
                answer = self.target.ask("show", expression)
                self.assertEqual(answer.get("value"), value, answer)

    def test_what_is_refused(self):
        self.target.enter("refused")
        for expression, sentence in self.target.told["truths"]["refused"]:
            with self.subTest(expression):
                answer = self.target.ask("test", expression)
                self.assertTrue(any(part in answer.get("error", "")
                                    for part in sentence.split("|")), answer)

    def test_a_len_of_the_program(self):
        self.target.enter("shadowing")
        self.assertIn("not the builtin",
                      self.target.ask("test", "len(down) == 1")["error"])

    def test_what_is_too_large(self):
        self.target.enter("numbers")
        for expression in ("(" * 1000, "-" * 3000, "not " * 900, "[" * 500,
                           "1" + "+1" * 2000, "x" + ".a" * 2000,
                           "a[" * 300 + "1", "'" + "x" * 5000 + "'",
                           "1 < " * 1000 + "2" * 100):
            self.assertTrue(self.target.ask("test", expression)["error"])
        self.assertEqual(
            self.target.ask("test", "step and " * 400 + "step"), {"truth": 1})


class LibraryCase(unittest.TestCase):
    """Elements of arrays and tensors, where there is such a library."""

    def check(self, library):
        run = subprocess.run([TORCH, "-c", "import " + library],
                             stderr=subprocess.DEVNULL)
        if run.returncode:
            self.skipTest("%s has no %s; PROBETUI_TORCH_PYTHON may name a "
                          "Python that has it" % (TORCH, library))
        target = Target([TORCH], "expression_tensors_target.py", library)
        self.addCleanup(target.close)
        target.enter(library + ("_arrays" if library == "numpy"
                                else "_tensors"))
        wrong = []
        for expression, truth in target.told["truths"]["arrays"]:
            answer = target.ask("test", expression)
            is_right = (answer == {"truth": truth} if truth in (0, 1)
                        else bool(answer.get("error")))
            if not is_right:
                wrong.append((expression, truth, answer))
        for expression, sentence in target.told["truths"]["refused"]:
            answer = target.ask("test", expression)
            if sentence not in answer.get("error", ""):
                wrong.append((expression, sentence, answer))
        self.assertFalse(wrong, "\n".join(str(row) for row in wrong))

    def test_numpy(self):
        self.check("numpy")

    def test_torch(self):
        self.check("torch")


def load_tests(loader, tests, pattern):
    suite = pythons.load_cases(loader, __name__, ExpressionCase)
    suite.addTests(loader.loadTestsFromTestCase(LibraryCase))
    return suite


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
