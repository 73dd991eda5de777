#!/usr/bin/env python3
"""Counts what `make check` left in build folders and holds it against the
list of core tests.

    summary.py BUILD-FOLDER...

A line of tests/core-tests is `FILE [PREFIX]`: at least one test of FILE whose
name begins with PREFIX ran in one of the folders, and none of those was
skipped in all of them.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# "PASS: tests/unit/test-map 3 - test-map: order", from automake's TAP driver
RESULT = re.compile(r"^(PASS|FAIL|SKIP|ERROR|XPASS|XFAIL): (\S+)"
                    r"(?: \d+)?(?: -)? ?(.*)$")
OUTPUT_LINES = 80
PASSED, FAILED, SKIPPED = {"PASS"}, {"FAIL", "ERROR", "XPASS"}, {"SKIP"}


def read_log(path):
    """[(file, test, result)] of one test's log."""
    with open(path, errors="replace") as file:
        rows = [match.groups() for match in map(RESULT.match, file) if match]
    results = [(file, test, result) for result, file, test in rows]
    if any(result == "FAIL" for _, _, result in results):
        # That the program's status was not 0 then is no second failure.
        results = [row for row in results if row[2] != "ERROR"]
    return results


def read_results(folder):
    """[(file, test, result)] of one build folder."""
    results = []
    for path, _, names in os.walk(os.path.join(folder, "tests")):
        for name in sorted(names):
            if name.endswith(".trs"):
                results += read_log(os.path.join(path, name[:-4] + ".log"))
    return results


def print_output(folder, file):
    """What a test program with a failure said, apart from what went well."""
    path = os.path.join(folder, os.path.splitext(file)[0] + ".log")
    try:
        with open(path, errors="replace") as log:
            lines = [line for line in log
                     if not line.startswith(("PASS: ", "SKIP: ", "ok "))]
    except OSError:
        return
    print("  what %s said:" % file)
    print("".join("    " + line for line in lines[-OUTPUT_LINES:]), end="")


def read_core_tests():
    """[(file, prefix)] of tests/core-tests."""
    with open(os.path.join(HERE, "core-tests")) as file:
        lines = [line.split("#")[0].split() for line in file]
    return [(words[0], " ".join(words[1:])) for words in lines if words]


def core_failures(results):
    """Sentences about core tests that ran in no folder."""
    for file, prefix in read_core_tests():
        found = {}
        for name, test, result in results:
            if name == file and test.startswith(prefix):
                found.setdefault(test, set()).add(result)
        name = (file + " " + prefix).strip()
        if not found:
            yield "core test %s did not run" % name
        for test in sorted(found):
            if found[test] == SKIPPED:
                yield "core test %s was skipped" % (test or name)


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    everything = []
    for folder in sys.argv[1:]:
        results = read_results(folder)
        print("%s: %d tests" % (folder, len(results)))
        for file, test, result in results:
            if result in PASSED:
                counts["passed"] += 1
            elif result in FAILED:
                counts["failed"] += 1
                print("  failed: %s %s" % (file, test))
            elif result in SKIPPED:
                counts["skipped"] += 1
                print("  skipped: %s %s" % (file, test))
        for file in sorted({file for file, _, result in results
                            if result in FAILED}):
            print_output(folder, file)
        everything += results
    for sentence in core_failures(everything):
        counts["failed"] += 1
        print("failed: " + sentence)
    line = "%(passed)d passed, %(failed)d failed" % counts
    if counts["skipped"]:
        line += ", %(skipped)d skipped" % counts
    print(line)
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
