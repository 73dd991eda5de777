#!/usr/bin/env python3
"""Writes the keys, as `probetui keys` prints them, into docs/manual.md.

    make-keys.py MANUAL PROBETUI [--check]

With --check nothing is written, and the status is 1 where lines differ.
"""
import subprocess
import sys

BEGIN, END = "<!-- keys -->\n```\n", "```\n<!-- end -->\n"


def print_keys(program):
    return subprocess.run([program, "keys"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, check=True,
                          universal_newlines=True).stdout


def main():
    path, program = sys.argv[1:3]
    with open(path) as file:
        text = file.read()
    head, rest = text.split(BEGIN)
    keys, tail = rest.split(END, 1)
    new = print_keys(program)
    if "--check" in sys.argv:
        different = sorted(set(keys.splitlines()) ^ set(new.splitlines()))
        for line in different:
            print(path + ": " + line)
        return 1 if different or keys != new else 0
    with open(path, "w") as file:
        file.write(head + BEGIN + new + END + tail)
    return 0


if __name__ == "__main__":
    sys.exit(main())
