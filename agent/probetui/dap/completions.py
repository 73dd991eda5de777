"""The DAP request completions: names, attributes, keys of dicts."""
from __future__ import annotations

import builtins
import keyword
import re
import sys
import types
from typing import Any, Dict, Iterator, List, Tuple

from ..values import ancestors
from . import lookup, places
from .call import Call, Row
from .children import key_text
from .messages import Failure

TARGETS_MAXIMUM = 500
TEXT_MAXIMUM = 100000
LABEL_MAXIMUM = 400
_NAME = re.compile(r"[^\W\d]\w*\Z|\Z")
_IMPORT = re.compile(r"\s*(?:import|from)\s+(?:[\w.]+\s*,\s*)*([\w.]*)\Z")
_KEY = re.compile(r"""\[\s*((["'])(?:(?!\2)[^\\])*|-?\d*)\Z""")
_OPEN = {")": "(", "]": "[", "}": "{"}

# (label, DAP's completion item type)
Target = Tuple[str, str]


def split_expression(text: str) -> str:
    """Returns the expression at the end of the text whose attributes or
    elements are to be completed: `optimizer.param_groups[0]` for
    `print(optimizer.param_groups[0]`; "" if there is none."""
    depth: List[str] = []
    at = len(text)
    while at > 0:
        character = text[at - 1]
        if character in "\"'":
            begin = text.rfind(character, 0, at - 1)
            if begin < 0 or not depth and at < len(text) and \
                    text[at] not in ".[":
                break
            at = begin
            continue
        if character in _OPEN:
            depth.append(_OPEN[character])
        elif depth:
            if character in "([{" and character != depth.pop():
                return ""
        elif not (character.isalnum() or character in "_."):
            break
        at -= 1
    return "" if depth else text[at:]


def _kind(value: Any) -> str:
    kinds = ancestors(type(value))
    if type in kinds:
        return "class"
    if types.ModuleType in kinds:
        return "module"
    if type(value) in (types.FunctionType, types.BuiltinFunctionType,
                       types.MethodType):
        return "function"
    return "property" if type(value) is property else "variable"


def _attributes(text: str, prefix: str, spaces: Any) -> Iterator[Target]:
    value = lookup.find(text, spaces)
    for name, part in lookup.attributes(value):
        if name.startswith(prefix) and name.isidentifier() and (
                prefix.startswith("_") or not name.startswith("_")):
            yield name, _kind(part)


def _keys(text: str, begun: str, spaces: Any) -> Iterator[Target]:
    value = lookup.find(text, spaces)
    if dict not in ancestors(type(value)):
        return
    quote = begun[:1] if begun[:1] in ("'", '"') else ""
    for key in list(dict.keys(value)):
        label = key_text(key) if type(key) in (str, int) else None
        if label is None or quote and type(key) is int:
            continue
        if quote and label[0] != quote and quote not in key:
            label = quote + label[1:-1] + quote
        if label.startswith(begun):
            yield label + "]", "value"


def _names(prefix: str, spaces: Any) -> Iterator[Target]:
    for space in spaces + [builtins.__dict__]:
        for name, value in list(space.items()):
            if type(name) is str and name.startswith(prefix) and (
                    prefix or not name.startswith("_")):
                yield name, _kind(value)
    if prefix:
        for name in keyword.kwlist:
            if name.startswith(prefix):
                yield name, "keyword"


def _modules(prefix: str) -> Iterator[Target]:
    depth = prefix.count(".") + 1
    for name in list(sys.modules) + list(sys.builtin_module_names):
        label = ".".join(name.split(".")[:depth])
        if label.startswith(prefix) and (
                prefix or not label.startswith("_")):
            yield label, "module"


def find(text: str, spaces: List[Dict[str, Any]]
         ) -> Tuple[str, Iterator[Target]]:
    """Returns the prefix at the end of the text, and an iterator over its
    completions."""
    match = _IMPORT.match(text)
    if match:
        return match.group(1), _modules(match.group(1))
    match = _KEY.search(text)
    if match and not _is_in_text(text[:match.start()]):
        owner = split_expression(text[:match.start()])
        if owner:
            return match.group(1), _keys(owner, match.group(1), spaces)
    before = _without_word(text)
    prefix = text[len(before):]
    if not _NAME.match(prefix) or _is_in_text(before):
        return prefix, iter(())
    if before.endswith("."):
        owner = split_expression(before[:-1])
        return prefix, _attributes(owner, prefix, spaces) if owner \
            else iter(())
    return prefix, _names(prefix, spaces)


def _without_word(text: str) -> str:
    """Returns text without the word at its end. Scans backward: a regular
    expression that searches from the start would take quadratic time."""
    at = len(text)
    while at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_"):
        at -= 1
    return text[:at]


def _is_in_text(text: str) -> bool:
    """True if text ends within a string literal or a comment."""
    quote = ""
    escaped = False
    for character in text:
        if escaped:
            escaped = False
        elif quote:
            escaped = character == "\\"
            if character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        elif character == "#":
            return True
    return bool(quote)


def _units(text: str) -> int:
    """Returns the length in UTF-16 code units, in which DAP counts columns."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _cut(text: str, units: int) -> str:
    return text.encode("utf-16-le", "surrogatepass")[:2 * units].decode(
        "utf-16-le", "surrogatepass")


def _before(call: Call) -> str:
    """Returns the part of the line before the cursor's column."""
    arguments, session = call.arguments, call.session
    text = arguments.text("text", maximum=TEXT_MAXIMUM)
    line = arguments.integer("line", session.lines_start,
                             session.lines_start)
    column = arguments.integer("column", low=session.columns_start)
    lines = text.split("\n")
    if line - session.lines_start >= len(lines):
        raise Failure("arguments.line is after the last line of the text (%d "
                      "lines)" % len(lines))
    return _cut(lines[line - session.lines_start],
                column - session.columns_start)


def _completions(call: Call) -> Dict[str, Any]:
    before = _before(call)
    prefix, found = find(before, places.spaces(call))
    start = _units(before) - _units(prefix) + call.session.columns_start
    targets: Dict[str, Dict[str, Any]] = {}
    try:
        for label, kind in found:
            if len(label) > LABEL_MAXIMUM:
                continue
            targets.setdefault(label, {
                "label": label, "type": kind, "start": start,
                "length": _units(prefix)})
    except lookup.Unknown:
        pass
    # Names with a leading underscore are listed last.
    order = sorted(targets, key=lambda label: (label.startswith("_"), label))
    return {"targets": [targets[label]
                        for label in order[:TARGETS_MAXIMUM]]}


ROWS = (
    Row("completions", _completions, True, {
        "supportsCompletionsRequest": True,
        "completionTriggerCharacters": [".", "[", "'", '"']}),
)
