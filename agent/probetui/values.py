"""Describes values without running code of the program: no __repr__ of its
classes, no properties, no metaclasses; of a tensor only its shape, dtype and
device."""
from __future__ import annotations

import re
import sys
import types
from typing import Any, Callable, Dict, Iterable, List, Optional, Set, Tuple

TEXT_MAXIMUM = 200
PARTS_MAXIMUM = 8
DEPTH_MAXIMUM = 3
BITS_MAXIMUM = 1024
NAMES_MAXIMUM = 200
CHAIN_MAXIMUM = 999


class Kinds(tuple):
    """A tuple of classes whose `in` compares by identity: a metaclass may
    define __eq__."""

    def __contains__(self, kind: Any) -> bool:
        return any(each is kind for each in self)


_SIMPLE = Kinds((type(None), bool, float, complex, type(Ellipsis),
                 type(NotImplemented), range))
_FUNCTIONS = Kinds((types.FunctionType, types.BuiltinFunctionType))
_KEYS = Kinds((str, int, bytes, bool))
_TENSORS = (("torch", "Tensor"), ("torch.nn.parameter", "Parameter"))
# Names of numpy's scalar types.
_SCALAR = re.compile(r"(u?int|float|complex)\d+$|bool_?$|datetime64$")
# Attribute types of torch tensors, whose own repr() is used.
_FACTS = {("torch", name) for name in (
    "Size", "dtype", "device", "layout", "memory_format")}


def _class_text(kind: type, name: str) -> str:
    """Returns __module__ or __qualname__ of a class, bypassing its metaclass.
    """
    try:
        text = type.__dict__[name].__get__(kind)
    except AttributeError:
        text = "?"
    return text if type(text) is str else "?"


def type_name(value: Any) -> str:
    """Returns the class name of value: "int", "torch.Tensor",
    "__main__.Model"."""
    return class_name(type(value))


def class_name(kind: type) -> str:
    module = _class_text(kind, "__module__")
    name = _class_text(kind, "__qualname__")
    return name if module == "builtins" else module + "." + name


def short_name(kind: type) -> str:
    """Returns the class name without its module and outer classes."""
    return class_name(kind).rpartition(".")[2]


def ancestors(kind: type) -> Kinds:
    """Returns the method resolution order of a class, bypassing its metaclass.
    """
    return Kinds(type.__dict__["__mro__"].__get__(kind))


def cut(text: str, maximum: int) -> str:
    if len(text) <= maximum:
        return text
    return "%s... %d characters left out" % (text[:maximum],
                                             len(text) - maximum)


def _shape(value: Any) -> str:
    return "(%s)" % ", ".join("%d" % size for size in value.shape)


def is_array(value: Any) -> bool:
    """True for a torch tensor, a Parameter, or a numpy array; False for
    subclasses, which may override methods."""
    kind = type(value)
    return (_class_text(kind, "__module__"), _class_text(
        kind, "__qualname__")) in _TENSORS + (("numpy", "ndarray"),)


def _describe_array(value: Any) -> str:
    """Describes a tensor, array, dtype or numpy scalar; "" for any other
    value, and for subclasses, which may override methods."""
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


class Writer:
    """Builds the text of a value item by item, within limits: one call of
    repr() would keep all other threads from running Python until it returns.
    """

    parts_maximum = PARTS_MAXIMUM
    depth_maximum = DEPTH_MAXIMUM
    bits_maximum = BITS_MAXIMUM
    text_maximum = TEXT_MAXIMUM
    left_out = "... %d more"

    def __init__(self, maximum: int = sys.maxsize) -> None:
        self._left = maximum
        self._depth = 0
        self._above: Set[int] = set()

    def find(self, kind: type) -> Any:
        """Returns the method that writes instances of kind; None: use other().
        """
        return _WRITERS.get(id(kind))

    def other(self, value: Any) -> str:
        return _describe_other(value)

    def write(self, value: Any) -> str:
        writer = self.find(type(value))
        if writer is None:
            text = self.other(value)
        elif writer in _LEAVES:
            text = writer(self, value)
        elif id(value) in self._above:
            text = _WITHIN_ITSELF.get(writer, "...")
        else:
            self._left -= len("[], ")
            return self._within(writer, value)
        self._left -= len(text) + len(", ")
        return text

    def _within(self, writer: Callable[..., str], value: Any) -> str:
        self._above.add(id(value))
        self._depth += 1
        try:
            return writer(self, value)
        finally:
            self._depth -= 1
            self._above.discard(id(value))

    def join(self, count: int, parts: Iterable[Any],
             write: Callable[[Any], str]) -> str:
        """Joins the texts of `parts`, of which there are `count`, within the
        limits."""
        if self._depth > self.depth_maximum:
            return "..." if count else ""
        texts: List[str] = []
        ahead = iter(parts)
        while len(texts) < self.parts_maximum and self._left > 0:
            try:
                part = next(ahead)
            except StopIteration:
                count = len(texts)
                break
            except RuntimeError:
                # Another thread changes the container.
                return ", ".join(texts + ["..."])
            texts.append(write(part))
        if len(texts) < count:
            texts.append("... %d more" % (count - len(texts)))
        return ", ".join(texts)

    def pair(self, pair: Tuple[Any, Any]) -> str:
        return "%s: %s" % (self.write(pair[0]), self.write(pair[1]))

    # These methods call the methods of the base class (list, dict ...), so
    # that overrides in subclasses do not run.

    def integer(self, value: Any) -> str:
        bits = int.bit_length(value)
        try:
            if bits <= self.bits_maximum:
                return int.__repr__(value)
        except ValueError:
            # More digits than sys.set_int_max_str_digits() allows.
            pass
        return "<int of %d bits>" % bits

    def text(self, value: Any) -> str:
        kinds = ancestors(type(value))
        base: Any = next(base for base in (str, bytes, bytearray)
                         if base in kinds)
        length = base.__len__(value)
        most = max(0, min(self._left, self.text_maximum))
        text = repr(base.__getitem__(value, slice(0, most)))
        if base is bytearray:
            text = "%s%s" % (short_name(type(value)), text[text.index("("):])
        return text if length <= most else text + self.left_out % (
            length - most)

    def list(self, value: Any) -> str:
        return "[%s]" % self.join(list.__len__(value), list.__iter__(value),
                                  self.write)

    def tuple(self, value: Any) -> str:
        count = tuple.__len__(value)
        text = self.join(count, tuple.__iter__(value), self.write)
        return "(%s,)" % text if count == 1 else "(%s)" % text

    def dict(self, value: Any) -> str:
        return "{%s}" % self.join(dict.__len__(value), dict.items(value),
                                  self.pair)

    def set(self, value: Any) -> str:
        base: Any = set if set in ancestors(type(value)) else frozenset
        count = base.__len__(value)
        text = self.join(count, base.__iter__(value), self.write)
        if type(value) is set and count:
            return "{%s}" % text
        return "%s(%s)" % (short_name(type(value)), "{%s}" % text if count
                           else "")


class _Describer(Writer):
    def pair(self, pair: Tuple[Any, Any]) -> str:
        return "%s: %s" % (self.write(pair[0]), self.write(pair[1])
                           if type(pair[0]) in _KEYS else "...")


_LEAVES = (Writer.integer, Writer.text)
_WITHIN_ITSELF = {Writer.list: "[...]", Writer.tuple: "(...)",
                  Writer.dict: "{...}"}
_WRITERS = {id(int): Writer.integer, id(str): Writer.text,
            id(bytes): Writer.text, id(list): Writer.list,
            id(tuple): Writer.tuple, id(dict): Writer.dict,
            id(set): Writer.set, id(frozenset): Writer.set}


def _describe_other(value: Any) -> str:
    kind = type(value)
    if kind in _SIMPLE:
        return repr(value)
    if kind is type:
        return "<class %s>" % class_name(value)
    if kind is types.ModuleType:
        return "<module %s>" % _Describer().write(
            value.__dict__.get("__name__"))
    if kind in _FUNCTIONS:
        return "<function %s>" % value.__qualname__
    return _describe_array(value) or "<%s at 0x%x>" % (type_name(value),
                                                       id(value))


def describe(value: Any) -> str:
    try:
        return cut(_Describer().write(value), 2 * TEXT_MAXIMUM)
    except Exception:
        return "<%s>" % type_name(value)


def describe_names(names: Dict[str, Any]) -> Dict[str, Dict[str, str]]:
    """Returns names (a frame's locals) as {name: {"type": ..., "value": ...}}.
    """
    told = {}
    for name in list(names)[:NAMES_MAXIMUM]:
        if type(name) is str and name in names:
            value = names[name]
            told[name] = {"type": type_name(value), "value": describe(value)}
    return told


def chain(error: BaseException) -> List[BaseException]:
    """Returns the exceptions that led to error, the first one first, and error
    itself last."""
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
    """Changes a TracebackException so that format() does not compile
    suggestions for a SyntaxError: since 3.14 that replaces the process's
    warning filters for a moment and takes a lock of warnings, which a forked
    child could wait for forever."""
    ahead = [told]
    for each in ahead:
        each._exc_metadata = None
        ahead += [part for part in (
            each.__cause__, each.__context__,
            *(getattr(each, "exceptions", None) or ())) if part]
    return told
