"""The DAP requests setVariable and setExpression."""
from __future__ import annotations

import ast
import re
from typing import Any, Dict, List

from .. import inspection
from ..values import describe, type_name
from . import frames, places
from .call import Call, Row
from .children import NAMES_MAXIMUM
from .evaluating import check, parse, run, run_tree
from .messages import Failure
from .telling import Opened, handles, refer

_INDEX = re.compile(r"\[(\d{1,15})\]\Z")
# Temporary name of the new value in a namespace that no other code uses.
_VALUE = "__probetui_value__"
_TARGETS = (ast.Name, ast.Attribute, ast.Subscript)


def find_child(opened: Opened, name: str) -> Any:
    contents = opened.contents()
    match = _INDEX.match(name)
    if match and contents.indexed:
        found = contents.part("indexed", int(match.group(1)), 1)
    else:
        found = contents.part("named", 0, NAMES_MAXIMUM)
    for child in found:
        if child.name == name:
            return child
    raise Failure("no variable or item is named %s" % ascii(name)[:200])


def _assign(opened: Opened, key: Any, value: Any) -> None:
    kind, name = key
    if kind == "item":
        opened.value[name] = value
    elif kind == "attribute":
        setattr(opened.value, name, value)
    elif opened.value is not None:
        # The scope of globals.
        opened.value[name] = value
    else:
        frames.assign(opened.place.frame, name, value)


def _check_place(opened: Opened, child: Any) -> None:
    if child.key is None:
        raise Failure("%s cannot be set: its container cannot be changed"
                      % child.name)
    if child.key[0] == "name" and opened.value is None and \
            opened.place.stop is None:
        raise Failure("the thread is running: pause the thread to set its "
                      "variables")


def _answer(call: Call, found: List[Any], expression: Any, place: Any,
            told: Dict[str, Any]) -> Dict[str, Any]:
    check(told)
    return {"value": describe(found[0]), "type": type_name(found[0]),
            "output": told["output"],
            **refer(call.session, found[0], expression, place)}


def _set_variable(call: Call) -> Dict[str, Any]:
    arguments = call.arguments
    opened = handles(call.session).find(
        arguments.integer("variablesReference", low=1))
    text = arguments.text("value")
    child = find_child(opened, arguments.text("name"))
    _check_place(opened, child)
    place = opened.place
    if place is not None and place.stop is None:
        place = None
    space = opened.value if opened.expression == "" else None
    found: List[Any] = []

    def work() -> None:
        found.append(run_tree(parse(text, False), place, space))
        _assign(opened, child.key, found[0])

    told = run(call, place, "%s = %s" % (child.name, text), work)
    expression = None
    if opened.expression is not None and child.suffix is not None:
        expression = opened.expression + child.suffix
    return _answer(call, found, expression, opened.place, told)


def _set_expression(call: Call) -> Dict[str, Any]:
    arguments = call.arguments
    target, text = arguments.text("expression"), arguments.text("value")
    place = None
    if arguments.has("frameId"):
        place = places.find_stopped(call, arguments.integer("frameId"))
    found: List[Any] = []

    def work() -> None:
        to = parse(target, False).body[0].value  # type: ignore[attr-defined]
        if not isinstance(to, _TARGETS):
            raise SyntaxError("cannot assign to %s" % target)
        value = run_tree(parse(text, False), place)
        _store(to, value, place)
        found.append(value)

    told = run(call, place, "%s = %s" % (target, text), work)
    return _answer(call, found, target.strip(), place, told)


def _store(to: Any, value: Any, place: Any) -> None:
    if isinstance(to, ast.Name) and place is not None:
        frames.assign_name(place.frame, to.id, value)
    elif isinstance(to, ast.Name):
        places.main_names()[to.id] = value
    else:
        to.ctx = ast.Store()
        tree = ast.Module([ast.Assign(
            [to], ast.Name(_VALUE, ast.Load()), lineno=1)], [])
        code = compile(ast.fix_missing_locations(tree), frames.NAME, "exec",
                       dont_inherit=True)
        space = places.main_names()
        names: Dict[str, Any] = {}
        if place is not None:
            space = place.frame.f_globals
            names = inspection.names_of(place.frame)
        exec(code, space, dict(names, **{_VALUE: value}))


ROWS = (
    Row("setVariable", _set_variable, False, {"supportsSetVariable": True}),
    Row("setExpression", _set_expression, False,
        {"supportsSetExpression": True}),
)
