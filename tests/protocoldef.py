#!/usr/bin/env python3
"""The rows of src/protocol/requests.def and messages.def, for tests; run as a
program, writes the table of requests and events in docs/protocol.md anew."""
import json
import os
import re

SOURCE = os.path.abspath(os.environ.get("SRCDIR") or os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
DOCUMENT = os.path.join(SOURCE, "docs", "protocol.md")
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
    found = re.findall(r"^(%s)\((.*?)\)\n(?!\t)" % "|".join(macros), text,
                       re.M | re.S)
    return [(macro, arguments(body)) for macro, body in found]


def requests():
    """{name: (enumerator, effect, what each backend needs, documentation,
    fields)} of those of the pipe; what each backend needs is empty where the
    node answers."""
    return {string(row[1]): (row[0], row[2], row[3:-2], string(row[-2]),
                             fields(row[-1]))
            for _, row in rows("requests.def", "REQUEST", "NODE_REQUEST")}


def span(least, most):
    """Bounds, as the table has them."""
    defined = dict(re.findall(r"#define (\w+) (\d+)", "".join(
        read("src", "protocol", name)
        for name in ("stack.h", "tensor.h", "tensoranswer.h"))))
    if least == "-INT32_MAX":
        return ""
    if most == "INT32_MAX":
        return "from " + least
    return "%s to %s" % (least, defined.get(most, most))


def fields(text):
    """[(key, how it is written in the table)] of a row."""
    sets = dict(re.findall(r"^#define (\w+) ((?:.*\\\n)*.*)$",
                           read("src", "protocol", "requests.def"), re.M))
    for _ in range(3):
        text = re.sub(r"\bWITH_[A-Z]+", lambda found: sets[found[0]], text)
    made = []
    for kind, body in re.findall(
            r"(?:FIELD|MUST)\((\w+)\(((?:\"[^\"]*\"|[^()])*)\)\)", text):
        key, *bounds = arguments(body)
        said = span(*bounds) if len(bounds) == 2 else ""
        if kind == "WORD":
            said = ", ".join("`%s`" % one for one in string(said).split())
        made.append((string(key), "`%s`%s" % (
            string(key), " (%s)" % said if said else "")))
    return made


def events():
    """{name: (enumerator, documentation)} of what a node sends."""
    return {string(row[1]): (row[0], string(row[2]))
            for _, row in rows("messages.def", "EVENT")}


def dap(kind, key):
    """Names of the Debug Adapter Protocol."""
    schema = json.loads(read("tests", "agent", "dap-schema.json"))
    return {name for title, one in schema["definitions"].items()
            if title.endswith(kind) for part in one.get("allOf", [one])
            for name in part.get("properties", {}).get(key, {}).get(
                "enum", [])}


def table():
    """Markdown."""
    # Of DAP's launch ours has no more than the name.
    known = dap("Request", "command") - {"launch"}
    lines = ["| name | does | %s | arguments |" % " | ".join(BACKENDS),
             "|---" * (3 + len(BACKENDS)) + "|"]
    for name, (_, effect, needs, words, keys) in requests().items():
        cells = ["no" if one.startswith("NO_") else one.lower()
                 for one in needs] or ["the node answers"] + [""] * 3
        lines.append("| `%s`%s | %s%s | %s | %s |" % (
            name, "" if name in known else " *", words,
            " (changes)" if effect == "CHANGES" else "",
            " | ".join(cells), ", ".join(said for _, said in keys)))
    known = dap("Event", "event")
    lines += ["", "| name | reports |", "|---|---|"]
    lines += ["| `%s`%s | %s |" % (name, "" if name in known else " *", words)
              for name, (_, words) in events().items()]
    return "\n".join(lines) + "\n"


def main():
    before, rest = read("docs", "protocol.md").split(BEGIN)
    with open(DOCUMENT, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + table() + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
