"""Messages against the public JSON schema of the Debug Adapter Protocol.

It is a schema of draft 4 that needs little of it, which is all that there is
here. What a client may ignore stands in it as well: fields that it does not
have. So own() says which of a message's are ours.

`python3 dap_schema.py debugAdapterProtocol.json` makes a new dap-schema.json.
"""
import json
import os
import re
import sys

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "dap-schema.json")
TYPES = {"array": list, "boolean": bool, "integer": int, "null": type(None),
         "number": (int, float), "object": dict, "string": str}
BITS = {"int32": (-2 ** 31, 2 ** 31), "uint32": (0, 2 ** 32),
        "int64": (-2 ** 63, 2 ** 63), "uint64": (0, 2 ** 64)}
# They explain, and "_enum" is a list that others may add to.
WORDS = ("title", "description", "enumDescriptions", "_enum", "$schema")
with open(PATH, encoding="utf-8") as file:
    DEFINITIONS = json.load(file)["definitions"]


def parts(schema):
    """The schema and all that it is made of, references followed."""
    found = [schema]
    if "$ref" in schema:
        found += parts(DEFINITIONS[schema["$ref"].rpartition("/")[2]])
    for one in schema.get("allOf", []):
        found += parts(one)
    return found


def is_a(value, name):
    if isinstance(value, bool) and name in ("integer", "number"):
        return False
    return isinstance(value, TYPES[name])


def check_range(value, part, where):
    low, high = BITS.get(part.get("format"), (value, value + 1))
    low = max(low, part.get("minimum", low))
    high = min(high, part.get("maximum", high) + 1)
    return [] if low <= value < high else ["%s: %r is out of range"
                                           % (where, value)]


def check_part(value, part, where):
    kinds = part.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_a(value, kind) for kind in kinds):
        return ["%s: %r is no %s" % (where, value, " or ".join(kinds))]
    if "enum" in part and value not in part["enum"]:
        return ["%s: %r is none of %s" % (where, value, part["enum"])]
    if "oneOf" in part and sum(not check(value, one, where)
                               for one in part["oneOf"]) != 1:
        return ["%s: %r is none or several of the choices" % (where, value)]
    if is_a(value, "integer"):
        return check_range(value, part, where)
    if isinstance(value, list):
        return [problem for index, one in enumerate(value)
                for problem in check(one, part.get("items", {}),
                                     "%s[%d]" % (where, index))]
    if isinstance(value, dict):
        return ["%s: there is no %s" % (where, name)
                for name in part.get("required", []) if name not in value] + [
            problem for name, one in part.get("properties", {}).items()
            if name in value
            for problem in check(value[name], one, where + "." + name)]
    return []


def check(value, schema, where):
    """A list of sentences."""
    return [problem for part in parts(schema)
            for problem in check_part(value, part, where)]


def definition(message):
    """(its name, its schema) of a message; what DAP does not know has the
    schema of all requests, responses and events."""
    kind = {"request": "Request", "response": "Response",
            "event": "Event"}[message["type"]]
    if kind == "Response" and not message.get("success"):
        return "ErrorResponse", DEFINITIONS["ErrorResponse"]
    told = message["event" if kind == "Event" else "command"]
    name = told[:1].upper() + told[1:] + kind
    name = name if name in DEFINITIONS else kind
    return name, DEFINITIONS[name]


def problems(message):
    """What the schema says against it: a list of sentences."""
    name, schema = definition(message)
    return check(message, schema, name)


def _own(value, schema, where, found):
    known = {}
    for part in parts(schema):
        for name, one in part.get("properties", {}).items():
            known.setdefault(name, []).append(one)
    if isinstance(value, list):
        items = [one["items"] for one in parts(schema) if "items" in one]
        for one in value:
            _own(one, {"allOf": items}, where, found)
    if not isinstance(value, dict) or not known:
        return
    for name, one in value.items():
        if name not in known:
            found.add(where + "." + name)
        else:
            _own(one, {"allOf": known[name]}, where + "." + name, found)


def own(message):
    """Names of the fields that DAP does not have: "StoppedEvent.body.at"."""
    found = set()
    _own(message, definition(message)[1], definition(message)[0], found)
    return found


def is_known(message):
    """DAP has such a request or event."""
    return re.sub("Response$", "Request", definition(message)[0]) not in (
        "Request", "Event")


def strip(value, is_names=False):
    if isinstance(value, dict):
        return {name: strip(one, not is_names and name in
                            ("properties", "definitions"))
                for name, one in value.items()
                if is_names or name not in WORDS}
    return [strip(one) for one in value] if isinstance(value, list) else value


def main(path):
    with open(PATH, encoding="utf-8") as file:
        head = file.readline()
    with open(path, encoding="utf-8") as file:
        found = strip(json.load(file)["definitions"], True)
    rows = ["%s:%s" % (json.dumps(name), json.dumps(
        found[name], separators=(",", ":"))) for name in sorted(found)]
    with open(PATH, "w", encoding="utf-8") as file:
        file.write('%s"definitions": {\n%s\n}}\n' % (head, ",\n".join(rows)))


if __name__ == "__main__":
    main(sys.argv[1])
