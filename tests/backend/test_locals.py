"""What pyobject reads of a process equals what Python itself says.

Every CPython found runs locals_target.py, which prints the truth and waits.
"""
import sys
import unittest

import pythons
from probed import Target

PAGE = 100
CUT = "\u2026"


def row(variable):
    return [variable["name"], variable["kind"], variable["type"],
            variable["value"], variable.get("address") or "0x0"]


class LocalsCase(unittest.TestCase):
    """Tests for one Python; pythons.load_cases() sets which."""

    python = None
    target = None
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.target = Target(cls.python.argv, "locals_target.py",
                            "locals-probe")

    @classmethod
    def tearDownClass(cls):
        cls.target.close()

    def ask(self, *words):
        return self.target.ask(*words)

    def compare_value(self, name, value, truth):
        """A value that is cut shows as much as there is room for."""
        at = value.find(CUT)
        if at < 0:
            self.assertEqual(value, truth, name)
            return
        self.assertGreater(len(truth), at, name)
        shown = value[:at]
        # The quote that closes a text that is cut.
        if truth[0] in "'\"b":
            shown = shown[:-1]
        self.assertTrue(truth.startswith(shown), (name, value, truth))
        self.assertLessEqual(len(value.encode("utf-8", "replace")), 4096)

    def compare(self, variables, truth):
        rows = [row(variable) for variable in variables]
        self.assertEqual([[r[0], r[1], r[2], r[4]] for r in rows],
                         [[r[0], r[1], r[2], r[4]] for r in truth])
        for got, wanted in zip(rows, truth):
            self.compare_value(got[0], got[3], wanted[3])

    def check_frame(self, function):
        answer = self.ask("locals", self.target.told["pid"], function, 0)
        self.assertNotIn("error", answer)
        truth = self.target.told["frames"][function]
        self.assertGreater(len(truth), 0)
        self.compare(answer["variables"], truth)
        self.assertEqual(answer["total"], len(truth))
        return answer["variables"]

    def test_numbers(self):
        self.check_frame("numbers")

    def test_texts(self):
        self.check_frame("texts")

    def test_containers(self):
        self.check_frame("containers")

    def test_collections(self):
        self.check_frame("collections_of")

    def test_functions(self):
        self.check_frame("functions")

    def test_times(self):
        self.check_frame("times")

    def test_classes(self):
        self.check_frame("classes")

    def test_exception_that_is_handled(self):
        for function, truth in self.target.told["handled"].items():
            variables = self.ask("locals", self.target.told["pid"],
                                 function, 0)["variables"]
            first = variables[0]
            self.assertEqual([first["name"], first["kind"], first["value"],
                              first["address"]],
                             ["<exception>", "local"] + truth)
        answer = self.ask("locals", self.target.told["pid"], "classes", 0)
        self.assertNotIn("<exception>", [variable["name"] for variable
                                         in answer["variables"]])

    def test_instances(self):
        for variable in self.check_frame("instances")[1:]:
            self.assertIn("children", variable)

    def test_arguments(self):
        self.check_frame("arguments")

    def test_cells_and_free_variables(self):
        for function in ("outer", "middle", "innermost"):
            self.check_frame(function)

    def test_unbound(self):
        self.check_frame("unbound")

    def test_generator(self):
        self.check_frame("generator")

    def test_class_body(self):
        self.check_frame("Body")

    def test_module(self):
        truth = self.target.told["globals"]
        variables = []
        while True:
            answer = self.ask("locals", self.target.told["pid"], "<module>",
                              len(variables))
            self.assertNotIn("error", answer)
            self.assertEqual(answer["total"], len(truth) + 1)
            variables += answer["variables"]
            if len(variables) >= answer["total"]:
                break
            self.assertEqual(len(answer["variables"]), PAGE)
        self.compare([variable for variable in variables
                      if variable["name"] != "TRUTH"], truth)

    def test_objects(self):
        for name, truth in self.target.told["objects"].items():
            with self.subTest(name):
                self.check_object(name, truth)

    def check_object(self, name, truth):
        wanted = truth["children"]
        variable = self.ask("value", truth["address"])
        self.assertEqual(variable["type"], truth["type"])
        self.compare_value(name, variable["value"], truth["value"])
        self.assertEqual(variable["children"], len(wanted))
        got = []
        while len(got) < len(wanted):
            answer = self.ask("children", truth["address"], len(got), PAGE)
            self.assertNotIn("error", answer)
            self.assertEqual(answer["total"], len(wanted))
            self.assertLessEqual(len(answer["variables"]), PAGE)
            self.assertGreater(len(answer["variables"]), 0)
            got += answer["variables"]
        self.compare(got, [[child[0], "item"] + child[1:]
                           for child in wanted])

    def test_page_behind_the_end(self):
        for name in ("list", "dict", "set", "many"):
            truth = self.target.told["objects"][name]
            answer = self.ask("children", truth["address"], 5000, PAGE)
            self.assertEqual(answer["variables"], [], name)
            self.assertEqual(answer["total"], len(truth["children"]), name)

    def test_limits(self):
        for name, address, wanted in self.target.told["limits"]:
            with self.subTest(name):
                value = self.ask("value", address)["value"]
                self.assertEqual(value, wanted)

    def test_environment(self):
        self.assertEqual(self.ask("environ", "PROBE_LATE"), "7 and caf\xe9")
        self.assertIsNone(self.ask("environ", "PROBE_NEVER"))

    def test_thread_names(self):
        self.assertEqual(self.ask("threads"), self.target.told["threads"])

    def test_what_cannot_be_opened_says_so(self):
        number = self.target.told["frames"]["numbers"][1][4]
        for address in (number, "0x0", "0x1", "0x123456789abcdef8"):
            answer = self.ask("children", address, 0, PAGE)
            self.assertRegex(answer["error"], r"^[a-z].*[^.]$")
        self.assertEqual(self.ask("value", "0x8")["value"], "?")

    def test_wild_addresses(self):
        near = int(self.target.told["objects"]["many"]["address"], 16)
        for seed, address in ((1, near - (1 << 17)), (2, near)):
            answer = self.ask("random", seed, 2000, address)
            self.assertEqual(answer["silent"], 0)
        self.test_numbers()

    def test_objects_that_are_none(self):
        if "no mutants" in self.target.told:
            self.skipTest("this Python lacks ctypes: "
                          + self.target.told["no mutants"])
        for addresses in self.target.told["mutants"]:
            for address in addresses:
                self.assertIn("value", self.ask("value", address))
                answer = self.ask("children", address, 0, PAGE)
                if "error" in answer:
                    self.assertRegex(answer["error"], r"^[a-z].*[^.]$")
                else:
                    self.assertLessEqual(len(answer["variables"]), PAGE)
        self.test_numbers()


def load_tests(loader, _tests, _pattern):
    return pythons.load_cases(loader, __name__, LocalsCase)


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
