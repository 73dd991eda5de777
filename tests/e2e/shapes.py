"""The JSON shapes of the manual page, and whether a value has one of them.

A line of the page is `NAME, NAME = TYPE`; more indented lines continue it.

    str int number bool null set     a string, an integer … a set of ranks
    "word"                           this string
    TYPE?                            or null
    [TYPE]  [TYPE, TYPE]             an array; one of two values
    {key: TYPE, key?: TYPE, *: TYPE} an object: all keys, but those with ?; *: any
    A + B                            an object with the keys of both
    A | B                            either
    NAME                             another shape
"""
import os
import re

import jobs

PAGE = os.path.join(jobs.SOURCE, "docs", "probetui.1")
TOKEN = re.compile(r'\s*("[^"]*"|[\w*-]+|[{}\[\]:,?|+])')
SCALARS = {
    "str": lambda value: isinstance(value, str),
    "int": lambda value: type(value) is int,
    "number": lambda value: type(value) in (int, float),
    "bool": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "set": lambda value: isinstance(value, str) and re.fullmatch(
        r"(\d+(-\d+)?(/\d+)?(,|$))*", value) is not None,
}


NULL = ("name", "null")


class Parser:
    """A type as nested tuples, whose first item says which kind it is."""

    def __init__(self, text):
        self.tokens = TOKEN.findall(text)
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, *wanted):
        token = self.peek()
        if wanted and token not in wanted:
            raise ValueError("%r in place of %r" % (token, wanted))
        self.at += 1
        return token

    def accept(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def parse(self):
        parts = [self.sum()]
        while self.accept("|"):
            parts.append(self.sum())
        return ("either", parts) if len(parts) > 1 else parts[0]

    def sum(self):
        parts = [self.optional()]
        while self.accept("+"):
            parts.append(self.optional())
        return ("sum", parts) if len(parts) > 1 else parts[0]

    def optional(self):
        found = self.one()
        return ("either", [found, NULL]) if self.accept("?") else found

    def one(self):
        token = self.take()
        if token == "[":
            items = [self.parse()]
            while self.accept(","):
                items.append(self.parse())
            self.take("]")
            return ("array", items)
        if token == "{":
            return ("object", self.fields())
        if token.startswith('"'):
            return ("word", token[1:-1])
        return ("name", token)

    def fields(self):
        """{key: (type, may be absent)}"""
        found = {}
        while not self.accept("}"):
            key = self.take()
            is_optional = self.accept("?") or key == "*"
            self.take(":")
            found[key] = (self.parse(), is_optional)
            if self.peek() != "}":
                self.take(",")
        return found


def read_lines(title):
    """(names, text of the type) of each line below a heading of the page."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read().replace("\\-", "-").replace("\\(dq", '"')
    text = text.split(".SS %s\n" % title)[1].split(".nf\n")[1].split(".fi")[0]
    for line in re.sub(r"\n {3,}", " ", text).splitlines():
        names, shape = line.split(" = ", 1)
        yield [name.strip() for name in names.split(",")], shape


def read(title):
    """{name: type} of the lines below a heading of the page."""
    found = {}
    for names, shape in read_lines(title):
        parser = Parser(shape)
        parsed = parser.parse()
        assert parser.peek() is None, shape
        for name in names:
            assert name not in found, name
            found[name] = parsed
    return found


class Shapes:
    def __init__(self):
        self.answers = read("Answers")
        self.events = read("Events")
        self.types = read("Types")

    def fields(self, shape):
        """The keys of an object, of a name for one, or of a sum of them."""
        kind, parts = shape
        if kind == "name":
            return self.fields(self.types[parts])
        if kind == "sum":
            found = {}
            for part in parts:
                found.update(self.fields(part))
            return found
        assert kind == "object", shape
        return parts

    def faults(self, value, shape, path="it"):
        """Sentences; none where the value has the shape."""
        kind, parts = shape
        if kind == "either":
            found = [self.faults(value, part, path) for part in parts
                     if part != NULL or value is None]
            return min(found, key=len)
        if kind == "word":
            return [] if value == parts else ["%s is %r" % (path, value)]
        if kind == "array":
            return self.array_faults(value, parts, path)
        if kind == "name" and parts in SCALARS:
            return [] if SCALARS[parts](value) else [
                "%s is no %s: %.80r" % (path, parts, value)]
        if kind == "name":
            return self.faults(value, self.types[parts], path)
        return self.object_faults(value, self.fields(shape), path)

    def array_faults(self, value, items, path):
        if not isinstance(value, list) or (
                len(items) > 1 and len(items) != len(value)):
            return ["%s is no such array: %.80r" % (path, value)]
        shapes = items if len(items) > 1 else items * len(value)
        return [fault for i, one in enumerate(value) for fault in
                self.faults(one, shapes[i], "%s[%d]" % (path, i))]

    def object_faults(self, value, fields, path):
        if not isinstance(value, dict):
            return ["%s is no object: %.80r" % (path, value)]
        faults = ["%s has no %s" % (path, key)
                  for key, (_, is_optional) in fields.items()
                  if not is_optional and key not in value]
        for key, one in value.items():
            if key not in fields and "*" not in fields:
                faults.append("%s.%s is not documented" % (path, key))
                continue
            shape = fields.get(key, fields.get("*"))[0]
            faults += self.faults(one, shape, "%s.%s" % (path, key))
        return faults

    def answer_faults(self, command, value):
        """Of one value that a command printed: an answer, or an event."""
        if isinstance(value, dict) and set(value) == {"error", "status"}:
            return self.faults(value, self.types["failure"])
        if isinstance(value, dict) and value.get("event") in self.events:
            return self.faults(value, self.events[value["event"]])
        if command not in self.answers:
            return ["%s is not documented: %.80r" % (command, value)]
        return self.faults(value, self.answers[command])

    def check(self, test, command, value):
        test.assertEqual(self.answer_faults(command, value), [])

    def script_faults(self, value):
        """Of a line of a script, whichever of the commands printed it."""
        return min((self.answer_faults(command, value)
                    for command in self.answers), key=len)


SHAPES = Shapes()
