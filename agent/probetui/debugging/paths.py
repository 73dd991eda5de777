"""Reads a variable, attribute or element as it is stored: runs no property,
__getattr__ or __getitem__ of the program."""
from __future__ import annotations

import ast
import types
from typing import Any, List, NamedTuple, Tuple

from .specs import EngineError

STEPS_MAXIMUM = 16
# Dicts in which a torch module stores what it shows as attributes.
_STORES = ("_parameters", "_buffers", "_modules")


# The variable, attribute or element does not exist now.
MISSING: Any = object()


class Path(NamedTuple):
    text: str
    name: str
    # each is ("attribute", name) or ("item", key)
    steps: Tuple[Tuple[str, Any], ...]


def parse(text: str) -> Path:
    """Parses a variable such as self.x["key"]. Raises EngineError for other
    expressions."""
    try:
        node: Any = ast.parse(text.strip(), "<variable>", "eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise EngineError("%s is not a variable: %s" % (
            ascii(text)[:200],
            str(error) or "the expression is nested too deeply")) from None
    steps: List[Tuple[str, Any]] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            steps.insert(0, ("attribute", node.attr))
        elif isinstance(node, ast.Subscript):
            steps.insert(0, ("item", _key(node.slice, text)))
        else:
            raise EngineError('%s is computed, not stored: only names, '
                              'attributes and items can be watched, such as '
                              'self.name or d["key"]' % ascii(text)[:200])
        node = node.value
    if len(steps) > STEPS_MAXIMUM:
        raise EngineError("%s has too many attributes and items"
                          % ascii(text)[:200])
    return Path(text.strip(), node.id, tuple(steps))


def _key(node: Any, text: str) -> Any:
    # Python 3.8: the index is wrapped in ast.Index.
    node = getattr(node, "value", node) \
        if type(node).__name__ == "Index" else node
    try:
        key = ast.literal_eval(node)
        hash(key)
    except (ValueError, TypeError, SyntaxError, RecursionError,
            MemoryError):
        raise EngineError("the index in %s is computed: write it as a literal"
                          % ascii(text)[:200]) from None
    return key


def read(path: Path, frame: types.FrameType) -> Any:
    """Returns the value, or MISSING. Raises EngineError if an attribute is
    computed."""
    names = frame.f_locals
    if path.name in names:
        value = names[path.name]
    elif path.name in frame.f_code.co_varnames:
        return MISSING
    else:
        value = frame.f_globals.get(path.name, MISSING)
    for kind, key in path.steps:
        if value is MISSING:
            return MISSING
        value = _attribute(value, key, path) if kind == "attribute" \
            else _item(value, key, path)
    return value


def _own_names(value: Any) -> Any:
    try:
        names = object.__getattribute__(value, "__dict__")
    except Exception:
        return {}
    return names if isinstance(names, (dict, types.MappingProxyType)) else {}


def _attribute(value: Any, name: str, path: Path) -> Any:
    names = _own_names(value)
    if name in names:
        return names[name]
    for store in _STORES:
        inner = names.get(store)
        if isinstance(inner, dict) and name in inner:
            return inner[name]
    for base in type.__dict__["__mro__"].__get__(type(value)):
        found = type.__dict__["__dict__"].__get__(base).get(name, MISSING)
        if isinstance(found, types.MemberDescriptorType):
            try:
                return found.__get__(value)
            except AttributeError:
                return MISSING
        if found is not MISSING:
            if hasattr(type(found), "__set__") or \
                    hasattr(type(found), "__get__") and not isinstance(
                        found, types.FunctionType):
                raise EngineError(
                    "%s: attribute %s is computed by its class, not stored: "
                    "watch the values that it is computed from"
                    % (path.text, name))
            return found
    return MISSING


def _item(value: Any, key: Any, path: Path) -> Any:
    if isinstance(value, dict):
        return dict.get(value, key, MISSING)
    if isinstance(value, (list, tuple)) and type(key) is int:
        kind: Any = list if isinstance(value, list) else tuple
        try:
            return kind.__getitem__(value, key)
        except IndexError:
            return MISSING
    raise EngineError("%s: only items of dicts, lists and tuples can be "
                      "watched; watch a tensor or array as a whole"
                      % path.text)
