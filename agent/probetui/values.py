"""Values in words, without running code of the program: no __repr__ of its
classes, no properties, no metaclasses; of a tensor only what it is."""
from __future__ import annotations

import re
import sys
import types
from typing import Any, Dict, List, Optional

TEXT_MAXIMUM = 200
PARTS_MAXIMUM = 8
DEPTH_MAXIMUM = 3
BITS_MAXIMUM = 1024
NAMES_MAXIMUM = 200
CHAIN_MAXIMUM = 999



class Kinds(tuple):
    """Classes, of which `in` asks nothing: a metaclass may have an __eq__."""

    def __contains__(self, kind: Any) -> bool:
        return any(each is kind for each in self)


_SIMPLE = Kinds((type(None), bool, float, complex, type(Ellipsis),
                 type(NotImplemented), range))
_BRACKETS = {id(list): "[]", id(tuple): "()", id(set): "{}",
             id(frozenset): "{}", id(dict): "{}"}
_FUNCTIONS = Kinds((types.FunctionType, types.BuiltinFunctionType))
_KEYS = Kinds((str, int, bytes, bool))
_TENSORS = (("torch", "Tensor"), ("torch.nn.parameter", "Parameter"))
# numpy's own numbers.
_SCALAR = re.compile(r"(u?int|float|complex)\d+$|bool_?$|datetime64$")
# What tensors have, whose own texts say it best.
_FACTS = {("torch", name) for name in (
    "Size", "dtype", "device", "layout", "memory_format")}


def _class_text(kind: type, name: str) -> str:
    """__module__ or __qualname__, whatever the metaclass makes of them."""
    try:
        text = type.__dict__[name].__get__(kind)
    except AttributeError:
        text = "?"
    return text if type(text) is str else "?"


def type_name(value: Any) -> str:
    """"int", "torch.Tensor", "__main__.Model"."""
    return class_name(type(value))


def class_name(kind: type) -> str:
    module = _class_text(kind, "__module__")
    name = _class_text(kind, "__qualname__")
    return name if module == "builtins" else module + "." + name


def ancestors(kind: type) -> Kinds:
    """Whatever its metaclass makes of __mro__."""
    return Kinds(type.__dict__["__mro__"].__get__(kind))


def cut(text: str, maximum: int) -> str:
    if len(text) <= maximum:
        return text
    return "%s... %d characters left out" % (text[:maximum],
                                             len(text) - maximum)


def _shape(value: Any) -> str:
    return "(%s)" % ", ".join("%d" % size for size in value.shape)


def is_array(value: Any) -> bool:
    """A tensor, or an array of numpy's; not of a class that may have its own
    ideas."""
    kind = type(value)
    return (_class_text(kind, "__module__"), _class_text(
        kind, "__qualname__")) in _TENSORS + (("numpy", "ndarray"),)


def _describe_array(value: Any) -> str:
    """"": it is none, or of a class that may have its own ideas."""
    kind = type(value)
    name = _class_text(kind, "__module__"), _class_text(kind, "__qualname__")
    try:
        if name[0] == "numpy" and _SCALAR.match(name[1]) and \
                kind is sys.modules["numpy"].__dict__.get(name[1]):
            return str(value)
        if name in _FACTS or name[0] in ("numpy", "numpy.dtypes") and \
                name[1].lower().endswith("dtype") and \
                value.names is None:
            return repr(value)
        if name in _TENSORS:
            return "%s(shape=%s, dtype=%s, device=%s)" % (
                name[1], _shape(value), value.dtype, value.device)
        if name == ("numpy", "ndarray"):
            return "ndarray(shape=%s, dtype=%s)" % (_shape(value),
                                                    value.dtype)
    except Exception:
        pass
    return ""


def _describe_parts(value: Any, depth: int) -> str:
    kind = type(value)
    begin, end = _BRACKETS[id(kind)]
    if depth >= DEPTH_MAXIMUM:
        return "%s...%s" % (begin, end) if value else begin + end
    parts: List[str] = []
    try:
        for part in value.items() if kind is dict else value:
            if len(parts) == PARTS_MAXIMUM:
                parts.append("... %d more" % (len(value) - PARTS_MAXIMUM))
                break
            if kind is dict:
                key, inner = part
                text = _describe(key, depth + 1) + ": " + (
                    _describe(inner, depth + 1) if type(key) in _KEYS
                    else "...")
            else:
                text = _describe(part, depth + 1)
            parts.append(text)
    except RuntimeError:
        # Another thread changes it.
        parts.append("...")
    text = ", ".join(parts)
    if kind is tuple and len(parts) == 1:
        text += ","
    if kind is frozenset or kind is set and not parts:
        return "%s(%s)" % (kind.__name__, begin + text + end if parts else "")
    return begin + text + end


def _describe(value: Any, depth: int) -> str:
    kind = type(value)
    if kind in _SIMPLE:
        return repr(value)
    if kind is int:
        if value.bit_length() > BITS_MAXIMUM:
            return "<int of %d bits>" % value.bit_length()
        return repr(value)
    if kind is str or kind is bytes:
        text = repr(value[:TEXT_MAXIMUM])
        if len(value) > TEXT_MAXIMUM:
            text += "... %d more" % (len(value) - TEXT_MAXIMUM)
        return text
    if id(kind) in _BRACKETS:
        return _describe_parts(value, depth)
    if kind is type:
        return "<class %s>" % class_name(value)
    if kind is types.ModuleType:
        return "<module %s>" % _describe(value.__dict__.get("__name__"), 9)
    if kind in _FUNCTIONS:
        return "<function %s>" % value.__qualname__
    return _describe_array(value) or "<%s at 0x%x>" % (type_name(value),
                                                       id(value))


def describe(value: Any) -> str:
    try:
        return cut(_describe(value, 0), 2 * TEXT_MAXIMUM)
    except Exception:
        return "<%s>" % type_name(value)


def describe_names(names: Dict[str, Any]) -> Dict[str, Dict[str, str]]:
    """As the locals of a frame are told."""
    told = {}
    for name in list(names)[:NAMES_MAXIMUM]:
        if type(name) is str and name in names:
            value = names[name]
            told[name] = {"type": type_name(value), "value": describe(value)}
    return told


def chain(error: BaseException) -> List[BaseException]:
    """What led to the exception, the first one first."""
    found: List[BaseException] = []
    current: Optional[BaseException] = error
    while current is not None and len(found) < CHAIN_MAXIMUM and \
            not any(current is other for other in found):
        found.append(current)
        if current.__cause__ is not None:
            current = current.__cause__
        elif current.__suppress_context__:
            current = None
        else:
            current = current.__context__
    return found[::-1]


def without_guesses(told: Any) -> Any:
    """A TracebackException that does not compile what the user might have
    meant: from 3.14 on that changes the process' filters of warnings for its
    time, and has the lock of warnings, which a fork's child could never get.
    """
    ahead = [told]
    for each in ahead:
        each._exc_metadata = None
        ahead += [part for part in (
            each.__cause__, each.__context__,
            *(getattr(each, "exceptions", None) or ())) if part]
    return told
