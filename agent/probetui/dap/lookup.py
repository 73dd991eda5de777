"""Evaluates simple expressions without running code of the program: names,
stored attributes, elements of lists, tuples and dicts."""
from __future__ import annotations

import ast
import builtins
import collections
import types
from typing import Any, Dict, Iterator, List

from ..objects import loaded
from ..tensors import of_torch
from ..values import Kinds, ancestors
from .children import (
    array_facts,
    class_names,
    instance_names,
    module_parts,
    slots,
)

# Types of descriptors that run only C code.
_QUIET = Kinds((types.MemberDescriptorType, types.GetSetDescriptorType))
_FUNCTIONS = Kinds((types.FunctionType, types.BuiltinFunctionType))
_KEYS = Kinds((str, int, bool, bytes, float, complex, type(None)))
# Attributes that numpy returns without making an array of a subclass.
_ARRAY_FACTS = ("shape", "dtype", "strides", "ndim", "size", "nbytes",
                "itemsize", "base", "flags")
_SEQUENCES = (list, tuple, collections.deque)


class Unknown(Exception):
    """The expression has no value, or needs code of the program to run."""


def _own_names(value: Any) -> Dict[str, Any]:
    """Returns the names that are stored in the value itself (for a class: in
    the class and its bases)."""
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
    if type(found) in _FUNCTIONS:
        return found
    if type(found) in _QUIET:
        try:
            return _from_c(value, name, found)
        except Exception:
            raise Unknown() from None
    if any("__get__" in class_names(kind)
           for kind in ancestors(type(found))):
        raise Unknown()
    return found


def _from_c(value: Any, name: str, found: Any) -> Any:
    """Returns the value of a C descriptor. Raises Unknown if its C code may
    call methods of the value's class."""
    kinds = ancestors(type(value))
    if of_torch.is_tensor(kinds):
        return of_torch.attribute(value, name, found)
    ndarray = loaded("numpy", "ndarray")
    if ndarray is not None and ndarray in kinds and \
            type(value) is not ndarray and name not in _ARRAY_FACTS:
        raise Unknown()
    return found.__get__(value)


def _is_plain(key: Any) -> bool:
    return type(key) in _KEYS or type(key) is tuple and \
        all(map(_is_plain, key))


def _of_key(names: Any, key: Any) -> Any:
    """Looks a key up by comparing keys of builtin types only: keys of the
    program's classes may have an __eq__."""
    for _ in range(3):
        try:
            for own, value in dict.items(names):
                if _is_plain(own) and own == key:
                    return value
            break
        except RuntimeError:
            # Another thread changes the dict.
            pass
    raise Unknown()


def item(value: Any, key: Any) -> Any:
    kinds = ancestors(type(value))
    try:
        if dict in kinds:
            return _of_key(value, key)
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
            # Python 3.8: the index is wrapped in ast.Index.
            index = index.value
        return item(_walk(tree.value, spaces), _literal(index))
    return _literal(tree)


def find(text: str, spaces: List[Dict[str, Any]]) -> Any:
    """Returns the value of the expression; `spaces` are the namespaces,
    innermost first. Raises Unknown."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _walk(tree.body, spaces + [builtins.__dict__])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unknown() from None


def attributes(value: Any) -> Iterator[Any]:
    """Yields (name, value) of all attributes that are stored in the value or
    its classes; for class attributes, the descriptor itself."""
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
