#!/usr/bin/env python3
"""The rows of src/protocol/requests.def and messages.def, for tests; run as a
program, writes the table of requests and events in doc/protocol.md anew."""
import os
import re

SOURCE = os.environ.get("SRCDIR") or os.path.dirname(
    os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(SOURCE, "doc", "protocol.md")
BEGIN = "<!-- tests/protocoldef.py writes this table -->\n"
END = "<!-- the end of it -->\n"
BACKENDS = ["reader", "tracer", "agent", "pdb"]


def read(*names):
    with open(os.path.join(SOURCE, *names), encoding="utf-8") as file:
        return file.read()


def arguments(text):
    """Of a macro: what stands between its parentheses, split at commas."""
    found = [""]
    depth = 0
    for part in re.findall(r'"(?:\\.|[^"\\])*"|[^"]', text):
        depth += (part == "(") - (part == ")")
        if part == "," and depth == 0:
            found.append("")
        else:
            found[-1] += part
    return [" ".join(one.split()) for one in found]


def string(literals):
    """What adjacent C literals mean together."""
    return "".join(re.findall(r'"((?:\\.|[^"\\])*)"', literals)).replace(
        '\\"', '"')


def rows(name, *macros):
    """(macro, arguments) of each row of a .def file."""
    text = re.sub(r"/\*.*?\*/", "", read("src", "protocol", name), flags=re.S)
    found = re.findall(r"^(%s)\((.*?)\)$" % "|".join(macros), text,
                       re.M | re.S)
    return [(macro, arguments(body)) for macro, body in found]


def requests():
    """{name: (enumerator, effect, what each backend needs, documentation)} of
    those of the pipe; what each backend needs is empty where the node
    answers."""
    return {string(row[1]): (row[0], row[2], row[3:-1], string(row[-1]))
            for _, row in rows("requests.def", "REQUEST", "NODE_REQUEST")}


def events():
    """{name: (enumerator, documentation)} of what a node sends."""
    return {string(row[1]): (row[0], string(row[2]))
            for _, row in rows("messages.def", "EVENT")}


def table():
    """Markdown."""
    lines = ["| name | does | %s |" % " | ".join(BACKENDS),
             "|---" * (2 + len(BACKENDS)) + "|"]
    for name, (_, effect, needs, words) in requests().items():
        cells = ["no" if one.startswith("NO_") else one.lower()
                 for one in needs] or ["the node answers"] + [""] * 3
        lines.append("| `%s` | %s%s | %s |" % (
            name, words, " (changes)" if effect == "CHANGES" else "",
            " | ".join(cells)))
    lines += ["", "| name | reports |", "|---|---|"]
    lines += ["| `%s` | %s |" % (name, words)
              for name, (_, words) in events().items()]
    return "\n".join(lines) + "\n"


def main():
    before, rest = read("doc", "protocol.md").split(BEGIN)
    with open(DOCUMENT, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + table() + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
