#!/usr/bin/env python3
"""Brings two parts of README.md up to date: the keys, as the program says
them, and the code map, a line for each .c and .h file, taken from its head
comment. Lines of the map that are there stay as they are; lines of files that
are gone go.

    make-readme.py SOURCE-FOLDER PROBETUI [--check]
"""
import glob
import os
import re
import subprocess
import sys

END = "```\n<!-- end -->\n"
KEYS, MAP = "<!-- keys -->\n```\n", "<!-- code map -->\n```\n"
LONGEST = 80
FOLDERS = ("src", "ui", "backends", "tests")


def modules(source):
    """Path without suffix to its suffixes, as they are called in the map."""
    found = {}
    for folder in FOLDERS:
        for suffix in "ch":
            pattern = os.path.join(source, folder, "**", "*." + suffix)
            for path in glob.glob(pattern, recursive=True):
                stem = os.path.relpath(path, source)[:-2]
                found[stem] = found.get(stem, "") + suffix
    return {stem: stem + (".[ch]" if len(suffixes) == 2 else "." + suffixes)
            for stem, suffixes in found.items()}


def describe(source, stem):
    """The first sentence of the head comment, without the module's name."""
    for suffix in (".h", ".c"):
        path = os.path.join(source, stem + suffix)
        if not os.path.exists(path):
            continue
        with open(path) as file:
            match = re.match(r"/\*\s+(.*?)\s*\*/", file.read(), re.S)
        if match:
            text = re.sub(r"\s*\n \* ?", " ", match.group(1)).strip()
            text = re.sub(r" \([^)]*\)", "", text.split(": ", 1)[-1])
            text = re.split(r"(?<=[.;:])\s+", text)[0].rstrip(".;:")
            while len(text) > LONGEST and "," in text:
                text = text.rsplit(",", 1)[0]
            return text
    return "?"


def part(text, begin):
    """The lines between begin and the next end."""
    return text.split(begin)[1].split(END)[0].splitlines()


def replace(text, begin, lines):
    head, rest = text.split(begin)
    return (head + begin + "".join(line + "\n" for line in lines) + END
            + rest.split(END, 1)[1])


def code_map(source, text):
    old = {line.split()[0]: line for line in part(text, MAP)}
    lines = []
    for stem, name in sorted(modules(source).items()):
        line = old.get(name)
        if line is None or line.endswith(" ?"):
            line = "%-34s %s" % (name, describe(source, stem))
        lines.append(line)
    return lines


def keys(program):
    run = subprocess.run([program, "keys"], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, check=True,
                         universal_newlines=True)
    return run.stdout.splitlines()


def main():
    source, program = sys.argv[1:3]
    path = os.path.join(source, "README.md")
    with open(path) as file:
        text = file.read()
    new = replace(text, MAP, code_map(source, text))
    new = replace(new, KEYS, keys(program))
    wrong = [line for line in part(new, MAP) if line.endswith(" ?")]
    if "--check" in sys.argv:
        wrong += sorted(set(text.splitlines()) ^ set(new.splitlines()))
    elif new != text:
        with open(path, "w") as file:
            file.write(new)
    for line in wrong:
        print("README.md: " + line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
