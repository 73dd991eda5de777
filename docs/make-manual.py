#!/usr/bin/env python3
"""Makes the manual page: the words of a template, and the program's own
tables of options, commands and keys.

    make-manual.py PROBETUI TEMPLATE >probetui.1
"""
import re
import subprocess
import sys

ROW = re.compile(r"^ {2,6}(\S.*?)(?: {2,}(.*))?$")


def ask(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, check=True,
                          stdout=subprocess.PIPE,
                          universal_newlines=True).stdout


def parse_rows(lines):
    """[(item, help)] of a table; a long item has its help below it."""
    rows = []
    for line in lines:
        match = ROW.match(line)
        if line.startswith(" " * 8) and line[8] != " " and rows:
            rows[-1] = (rows[-1][0] + " " + line.strip(), rows[-1][1])
        elif line.startswith(" " * 20) and rows:
            rows[-1] = (rows[-1][0], (rows[-1][1] + " " + line.strip()).strip())
        elif match:
            rows.append((match.group(1), match.group(2) or ""))
    return rows


def section(text, title):
    """The lines below `title:` up to an empty one."""
    return text.split(title + ":\n")[1].split("\n\n")[0].splitlines()


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def entries(rows):
    return "".join(".TP\n.B \"%s\"\n%s\n" % (
        escape(item).replace('"', '""'), escape(help_text))
        for item, help_text in rows)


def parse_keys(text):
    """The keys are in the first fourteen columns."""
    return [(line[:14].strip(), line[15:])
            for line in text.splitlines() if line]


def main():
    program, template = sys.argv[1:]
    usage = ask(program, "--help")
    with open(template) as file:
        page = file.read()
    version = ask(program, "--version").split()[1]
    page = page.replace("@VERSION@", version)
    page = page.replace("@OPTIONS@\n",
                        entries(parse_rows(section(usage, "Options"))))
    page = page.replace("@COMMANDS@\n",
                        entries(parse_rows(section(usage, "Commands"))))
    page = page.replace("@KEYS@\n", entries(parse_keys(ask(program, "keys"))))
    sys.stdout.write(page)


if __name__ == "__main__":
    main()
