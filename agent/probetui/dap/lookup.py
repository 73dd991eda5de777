"""The value of a simple expression, without running code of the program:
names, attributes that are stored somewhere, elements of lists, tuples and
dicts."""
from __future__ import annotations

import ast
import builtins
import collections
import types
from typing import Any, Dict, Iterator, List

from ..values import ancestors
from .children import (
    array_facts,
    class_names,
    instance_names,
    module_parts,
    slots,
)

# Descriptors that run C code only.
_QUIET = (types.MemberDescriptorType, types.GetSetDescriptorType)
_SEQUENCES = (list, tuple, collections.deque)


class Unknown(Exception):
    """It takes code of the program to find out, or there is none."""


def _own_names(value: Any) -> Dict[str, Any]:
    """What is stored in the value itself."""
    kinds = ancestors(type(value))
    if types.ModuleType in kinds:
        return dict(object.__getattribute__(value, "__dict__"))
    if type in kinds:
        found: Dict[str, Any] = {}
        for kind in reversed(ancestors(value)):
            found.update(class_names(kind))
        return found
    return {**module_parts(value), **instance_names(value),
            **dict(slots(value)), **array_facts(value)}


def _class_attribute(value: Any, name: str) -> Any:
    for kind in ancestors(type(value)):
        names = class_names(kind)
        if name in names:
            return names[name]
    raise Unknown()


def attribute(value: Any, name: str) -> Any:
    names = _own_names(value)
    if name in names:
        return names[name]
    found = _class_attribute(value, name)
    if type(found) in (types.FunctionType, types.BuiltinFunctionType):
        return found
    if type(found) in _QUIET:
        try:
            return found.__get__(value)
        except Exception:
            raise Unknown() from None
    if any("__get__" in class_names(kind)
           for kind in ancestors(type(found))):
        raise Unknown()
    return found


def item(value: Any, key: Any) -> Any:
    kinds = ancestors(type(value))
    try:
        if dict in kinds:
            found = dict.get(value, key, Unknown)
            if found is not Unknown:
                return found
        for base in _SEQUENCES:
            if base in kinds and type(key) is int:
                return base.__getitem__(value, key)  # type: ignore
    except (IndexError, TypeError):
        pass
    raise Unknown()


def _literal(tree: ast.AST) -> Any:
    try:
        return ast.literal_eval(tree)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise Unknown() from None


def _walk(tree: ast.AST, spaces: List[Dict[str, Any]]) -> Any:
    if isinstance(tree, ast.Name):
        for space in spaces:
            if tree.id in space:
                return space[tree.id]
        raise Unknown()
    if isinstance(tree, ast.Attribute):
        return attribute(_walk(tree.value, spaces), tree.attr)
    if isinstance(tree, ast.Subscript):
        index: Any = tree.slice
        if type(index).__name__ == "Index":
            # Before 3.9.
            index = index.value
        return item(_walk(tree.value, spaces), _literal(index))
    return _literal(tree)


def find(text: str, spaces: List[Dict[str, Any]]) -> Any:
    """Unknown: it cannot be told."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _walk(tree.body, spaces + [builtins.__dict__])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unknown() from None


def attributes(value: Any) -> Iterator[Any]:
    """(name, value or what the class has) of all that are known."""
    seen = set()
    for name, part in _own_names(value).items():
        if type(name) is str and name not in seen:
            seen.add(name)
            yield name, part
    for kind in ancestors(type(value)):
        for name, part in list(class_names(kind).items()):
            if type(name) is str and name not in seen:
                seen.add(name)
                yield name, part
