#!/usr/bin/env python3
"""Counts what `make check` left in build folders and holds it against the
list of core tests.

    summary.py BUILD-FOLDER...

A line of tests/core-tests is `FILE [PREFIX]`: at least one test of FILE whose
name begins with PREFIX ran, and none of those was skipped.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RESULT = re.compile(r"^:test-result: (\w+) ?(?:\d+ )?(?:- )?(.*)$")
PASSED, FAILED, SKIPPED = {"PASS"}, {"FAIL", "ERROR", "XPASS"}, {"SKIP"}


def read_results(folder):
    """[(file, test, result)] of one build folder."""
    results = []
    for path, _, names in os.walk(os.path.join(folder, "tests")):
        for name in sorted(names):
            if not name.endswith(".trs"):
                continue
            file = os.path.relpath(os.path.join(path, name[:-4]), folder)
            with open(os.path.join(path, name)) as lines:
                for line in lines:
                    match = RESULT.match(line.rstrip("\n"))
                    if match:
                        results.append((file, match.group(2).strip(),
                                        match.group(1)))
    return results


def read_core_tests():
    """[(file, prefix)] of tests/core-tests."""
    with open(os.path.join(HERE, "core-tests")) as file:
        lines = [line.split("#")[0].split() for line in file]
    return [(words[0], " ".join(words[1:])) for words in lines if words]


def core_failures(results):
    """Sentences about core tests that did not run."""
    for file, prefix in read_core_tests():
        found = [(test, result) for name, test, result in results
                 if name == file and test.startswith(prefix)]
        name = (file + " " + prefix).strip()
        if not found:
            yield "core test %s did not run" % name
        for test, result in found:
            if result in SKIPPED:
                yield "core test %s was skipped" % (test or name)


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for folder in sys.argv[1:]:
        results = read_results(folder)
        print("%s: %d tests" % (folder, len(results)))
        for file, test, result in results:
            if result in PASSED:
                counts["passed"] += 1
            elif result in FAILED:
                counts["failed"] += 1
                print("  failed: %s %s (%s/%s.log)"
                      % (file, test, folder, file))
            elif result in SKIPPED:
                counts["skipped"] += 1
                print("  skipped: %s %s" % (file, test))
        for sentence in core_failures(results):
            counts["failed"] += 1
            print("  failed: " + sentence)
    line = "%(passed)d passed, %(failed)d failed" % counts
    if counts["skipped"]:
        line += ", %(skipped)d skipped" % counts
    print(line)
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
