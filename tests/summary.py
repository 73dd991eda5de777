#!/usr/bin/env python3
"""Counts what `make check` left in build folders and holds it against the
list of core tests.

    summary.py [--core FILE] BUILD-FOLDER... [--failed WHAT]...

A line of tests/core-tests is `FILE [PREFIX] [(NEED)]`: at least one test of
FILE whose name begins with PREFIX ran in one of the folders, and none of those
was skipped in all of them; where the reason of each skip names NEED (torch),
they may all have been skipped. A skipped test says what it lacks, else it fails; and
so does the run where a sanitizer wrote a report, whichever test it was in.
WHAT is something else that failed and is counted, too.
"""
import argparse
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# "PASS: tests/unit/test-map 3 - test-map: order", from automake's TAP driver
RESULT = re.compile(r"^(PASS|FAIL|SKIP|ERROR|XPASS|XFAIL): (\S+)"
                    r"(?: \d+)?(?: -)? ?(.*?)(?: # SKIP ?(.*))?$")
# "FILE", "FILE PREFIX", "FILE PREFIX (NEED)"
CORE_TEST = re.compile(r"(\S+) ?(.*?)(?: \((\w+)\))?$")
OUTPUT_LINES = 80
PASSED, FAILED, SKIPPED = {"PASS"}, {"FAIL", "ERROR", "XPASS"}, {"SKIP"}


def read_log(path):
    """[(file, test, result, why it was skipped)] of one test's log."""
    with open(path, errors="replace") as file:
        rows = [match.groups() for match in map(RESULT.match, file) if match]
    results = [(file, test, result, (why or "").strip())
               for result, file, test, why in rows]
    if any(row[2] == "FAIL" for row in results):
        # That the program's status was not 0 then is no second failure.
        results = [row for row in results if row[2] != "ERROR"]
    return results


def read_results(folder):
    """What read_log() gives, of one build folder."""
    results = []
    for path, _, names in os.walk(os.path.join(folder, "tests")):
        for name in sorted(names):
            if name.endswith(".trs"):
                results += read_log(os.path.join(path, name[:-4] + ".log"))
    return results


def print_reports(folder):
    """How many reports of sanitizers are there (Makefile.am: log_path)."""
    reports = sorted(glob.glob(os.path.join(folder, "tests", "report.*")))
    for path in reports:
        print("failed: a sanitizer reports (%s):" % path)
        with open(path, errors="replace") as file:
            print("".join("    " + line
                          for line in file.readlines()[:OUTPUT_LINES]))
    return len(reports)


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


def read_core_tests(path):
    """[(file, prefix, need)] of tests/core-tests; need "": none."""
    with open(path) as file:
        matches = [CORE_TEST.match(line.split("#")[0].strip())
                   for line in file]
    return [(match.group(1), match.group(2), match.group(3) or "")
            for match in matches if match]


def core_failures(results, core):
    """Sentences about core tests that ran in no folder."""
    for file, prefix, need in read_core_tests(core):
        found, lacks = {}, {}
        for name, test, result, why in results:
            if name == file and test.startswith(prefix):
                found.setdefault(test, set()).add(result)
                lacks.setdefault(test, []).append(why)
        name = (file + " " + prefix).strip()
        if not found:
            yield "core test %s did not run" % name
        for test in sorted(found):
            if need and all(need in why for why in lacks[test]):
                continue
            if found[test] == SKIPPED:
                yield "core test %s was skipped" % (test or name)


def count(folder, results, counts):
    """Adds to counts; what did not pass is printed."""
    print("%s: %d tests" % (folder, len(results)))
    for file, test, result, why in results:
        if result in PASSED:
            counts["passed"] += 1
        elif result in FAILED:
            counts["failed"] += 1
            print("  failed: %s %s" % (file, test))
        elif result in SKIPPED and not why:
            counts["failed"] += 1
            print("  failed: %s %s was skipped and does not say what it lacks"
                  % (file, test))
        elif result in SKIPPED:
            counts["skipped"] += 1
            print("  skipped: %s %s: %s" % (file, test, why))
    for file in sorted({row[0] for row in results if row[2] in FAILED}):
        print_output(folder, file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--core", default=os.path.join(HERE, "core-tests"))
    parser.add_argument("--failed", action="append", default=[])
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    everything = []
    for folder in arguments.folders:
        results = read_results(folder)
        count(folder, results, counts)
        counts["failed"] += print_reports(folder)
        everything += results
    sentences = list(core_failures(everything, arguments.core))
    for sentence in sentences + arguments.failed:
        counts["failed"] += 1
        print("failed: " + sentence)
    line = "%(passed)d passed, %(failed)d failed" % counts
    if counts["skipped"]:
        line += ", %(skipped)d skipped" % counts
    print(line)
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
