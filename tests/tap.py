#!/usr/bin/env python3
"""Runs one file of unittest tests and prints the results as TAP.

    tap.py FILE [NAME...]

automake's TAP driver reads it; a person can read it too. NAME picks tests as
unittest does ("TestJobs.test_late").
"""
import importlib.util
import os
import signal
import sys
import unittest


class TapResult(unittest.TestResult):
    """Prints one line a test, and what went wrong as comments."""

    def __init__(self):
        super().__init__()
        self.number = 0

    def _line(self, word, test, note=""):
        self.number += 1
        name = test.id().replace("#", "")
        print("%s %d - %s%s" % (word, self.number, name, note), flush=True)

    def _comment(self, text):
        for line in text.splitlines():
            print("# " + line, flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._line("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._line("ok", test, " # SKIP " + reason.replace("\n", " "))

    def addError(self, test, err):
        super().addError(test, err)
        self._line("not ok", test)
        self._comment(self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._line("not ok", test)
        self._comment(self.failures[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._line("not ok", subtest)
            self._comment("".join(self._exc_info_to_string(err, test)))

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self._line("not ok", test, " # TODO expected")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._line("not ok", test)


def load(path):
    """The module in the file path, with its folder on sys.path."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: tap.py FILE [NAME...]")
    # A shell starts what is in its background with this ignored, and the
    # programs under test would ignore it too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    module = load(sys.argv[1])
    loader = unittest.defaultTestLoader
    if sys.argv[2:]:
        suite = loader.loadTestsFromNames(sys.argv[2:], module)
    else:
        suite = loader.loadTestsFromModule(module)
    result = TapResult()
    suite.run(result)
    print("1..%d" % result.number, flush=True)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
