"""repr() with limits.

repr() of a container is one call in C: until it returns, no other thread runs
Python code, and no exception can interrupt it. So the text of numbers, strings
and standard library containers is built here, item by item, and only as much
of it as is sent. A __repr__ of the program's classes is called like evaluated
code, and its result is cut.
"""
from __future__ import annotations

import collections
import functools
import sys
import types
from itertools import chain
from typing import Any, Callable, Dict, Iterable, List, Tuple

from . import deadline, values
from .values import Kinds, Writer, ancestors, class_name, cut, short_name

PARTS_MAXIMUM = 1000
DEPTH_MAXIMUM = 20
# About 4,200 digits. Since 3.11, Python refuses to print more than 4,300
# digits; older versions take long.
BITS_MAXIMUM = 14000
# All classes made by namedtuple() share this code object.
_NAMEDTUPLE = collections.namedtuple(
    "_NAMEDTUPLE", "one").__dict__["__repr__"].__code__


def _find_slot(kind: type, name: str) -> Any:
    """Returns the method that repr() or str() calls, as CPython finds it: in
    the class and its bases, without the metaclass. None: not found."""
    for each in ancestors(kind):
        names = type.__dict__["__dict__"].__get__(each)
        if name in names:
            return names[name]
    return None


class _Representer(Writer):
    parts_maximum = PARTS_MAXIMUM
    depth_maximum = DEPTH_MAXIMUM
    bits_maximum = BITS_MAXIMUM
    text_maximum = sys.maxsize
    left_out = "... %d characters left out"

    def __init__(self, maximum: int) -> None:
        super().__init__(maximum)
        self._known: Dict[int, Tuple[type, Any]] = {}

    def find(self, kind: type) -> Any:
        known = self._known.get(id(kind))
        if known is None:
            known = self._known[id(kind)] = kind, _find_writer(kind)
        return known[1]

    def join(self, count: int, parts: Iterable[Any],
             write: Callable[[Any], str]) -> str:
        deadline.check()
        return super().join(count, parts, write)

    def other(self, value: Any) -> str:
        # repr() may return an instance of a subclass of str: str's own slicing
        # makes a plain str of it.
        text = str.__getitem__(repr(value), slice(None))
        return cut(text, max(self._left, 0))

    def field(self, pair: Tuple[str, Any]) -> str:
        return "%s=%s" % (pair[0], self.write(pair[1]))

    def deque(self, value: Any) -> str:
        base = collections.deque
        limit = base.__dict__["maxlen"].__get__(value)
        return "%s([%s]%s)" % (
            short_name(type(value)),
            self.join(base.__len__(value), base.__iter__(value), self.write),
            "" if limit is None else ", maxlen=%d" % limit)

    def ordered(self, value: Any) -> str:
        count = dict.__len__(value)
        items = collections.OrderedDict.items(value)
        text = ""
        if count and sys.version_info >= (3, 12):
            text = "{%s}" % self.join(count, items, self.pair)
        elif count:
            text = "[%s]" % self.join(count, items, self.write)
        return "%s(%s)" % (short_name(type(value)), text)

    def default(self, value: Any) -> str:
        factory = collections.defaultdict.__dict__[
            "default_factory"].__get__(value)
        return "%s(%s, %s)" % (short_name(type(value)), self.write(factory),
                               self.dict(value))

    def counter(self, value: Any) -> str:
        count = dict.__len__(value)
        # most_common() without a limit sorts all items, which is slow for
        # many.
        most = value.most_common(None if count <= PARTS_MAXIMUM
                                 else PARTS_MAXIMUM)
        return "%s(%s)" % (
            short_name(type(value)),
            "{%s}" % self.join(count, most, self.pair) if count else "")

    def view(self, value: Any) -> str:
        return "%s([%s])" % (short_name(type(value)),
                             self.join(len(value), value, self.write))

    def proxy(self, value: Any) -> str:
        return "mappingproxy({%s})" % self.join(len(value), value.items(),
                                                self.pair)

    def namespace(self, value: Any) -> str:
        names = value.__dict__
        return "%s(%s)" % (
            "namespace" if type(value) is types.SimpleNamespace
            else short_name(type(value)),
            self.join(len(names), names.items(), self.field))

    def exception(self, value: Any) -> str:
        args = BaseException.__dict__["args"].__get__(value)
        return "%s(%s)" % (short_name(type(value)),
                           self.join(len(args), args, self.write))

    def named(self, value: Any) -> str:
        return "%s(%s)" % (short_name(type(value)), self.join(
            tuple.__len__(value), zip(value._fields, tuple.__iter__(value)),
            self.field))

    def dataclass(self, value: Any) -> str:
        kind = type(value)
        names = [field.name for field in kind.__dataclass_fields__.values()
                 if field.repr
                 and getattr(field._field_type, "name", "") == "_FIELD"]
        return "%s(%s)" % (kind.__qualname__, self.join(
            len(names), ((name, getattr(value, name)) for name in names),
            self.field))

    def user(self, value: Any) -> str:
        return self.write(value.data)

    def chain_map(self, value: Any) -> str:
        return "%s(%s)" % (short_name(type(value)), self.join(
            len(value.maps), value.maps, self.write))

    def range(self, value: Any) -> str:
        ends = (value.start, value.stop, value.step)
        return "range(%s)" % ", ".join(map(self.write, ends[
            :2 if value.step == 1 else 3]))

    def slice(self, value: Any) -> str:
        return "slice(%s)" % ", ".join(map(self.write, (
            value.start, value.stop, value.step)))

    def method(self, value: Any) -> str:
        function = value.__func__
        name = getattr(function, "__qualname__", None) or getattr(
            function, "__name__", "?")
        return "<bound method %s of %s>" % (name, self.write(value.__self__))

    def partial(self, value: Any) -> str:
        parts = chain((self.write(part) for part in
                       (value.func,) + value.args),
                      map(self.field, value.keywords.items()))
        return "%s(%s)" % (class_name(type(value)), self.join(
            1 + len(value.args) + len(value.keywords), parts, str))

    def array(self, value: Any) -> str:
        if value.typecode not in "bBhHiIlLqQfd" or not len(value):
            # Arrays of characters, and empty arrays.
            return self.other(value[:PARTS_MAXIMUM])
        return "array(%r, [%s])" % (value.typecode, self.join(
            len(value), value, self.write))


_ROWS = (
    (int, Writer.integer), (str, Writer.text), (bytes, Writer.text),
    (bytearray, Writer.text), (list, Writer.list), (tuple, Writer.tuple),
    (dict, Writer.dict), (set, Writer.set), (frozenset, Writer.set),
    (collections.deque, _Representer.deque),
    (collections.OrderedDict, _Representer.ordered),
    (collections.defaultdict, _Representer.default),
    (collections.Counter, _Representer.counter),
    (collections.UserDict, _Representer.user),
    (collections.UserList, _Representer.user),
    (collections.UserString, _Representer.user),
    (collections.ChainMap, _Representer.chain_map),
    (type({}.keys()), _Representer.view),
    (type({}.values()), _Representer.view),
    (type({}.items()), _Representer.view),
    (types.MappingProxyType, _Representer.proxy),
    (types.SimpleNamespace, _Representer.namespace),
    (BaseException, _Representer.exception), (range, _Representer.range),
    (slice, _Representer.slice), (types.MethodType, _Representer.method),
    (functools.partial, _Representer.partial),
)
_WRITERS = {id(_find_slot(kind, "__repr__")): writer for kind, writer in _ROWS}


def _find_writer(kind: type) -> Any:
    """Returns the writer method for instances of kind; None if kind has a
    __repr__ of its own."""
    slot = _find_slot(kind, "__repr__")
    if id(slot) in _WRITERS:
        return _WRITERS[id(slot)]
    if type(slot) is types.FunctionType:
        if slot.__code__ is _NAMEDTUPLE and tuple in ancestors(kind):
            return _Representer.named
        made = slot.__dict__.get("__wrapped__")
        if type(made) is types.FunctionType and \
                "__create_fn__" in made.__qualname__:
            return _Representer.dataclass
    module = sys.modules.get("array")
    if module is not None and kind is getattr(module, "array", None):
        return _Representer.array
    return None


def of(value: Any, maximum: int) -> str:
    """Like repr(value), cut to about `maximum` characters. Calls __repr__
    methods of the program's classes, and raises what they raise."""
    return cut(_Representer(maximum).write(value), maximum)


def text(value: Any, maximum: int) -> str:
    """Like format(value), cut to about `maximum` characters where the text is
    built here."""
    kind = type(value)
    is_plain = _find_slot(kind, "__str__") is object.__dict__["__str__"] and \
        _find_slot(kind, "__format__") is object.__dict__["__format__"]
    if kind is int or is_plain and _find_writer(kind) is not None:
        return of(value, maximum)
    return format(value)


_PLAIN = Kinds((type(None), bool, float, str))
_BASE_TEXT = BaseException.__dict__["__str__"]
_KEY_TEXT = KeyError.__dict__["__str__"]


def _has_containers(error: BaseException) -> bool:
    """True if BaseException.__str__ would call repr() on containers, large
    numbers or other objects."""
    return _find_slot(type(error), "__str__") in (_BASE_TEXT, _KEY_TEXT) and \
        any(type(part) not in _PLAIN for part in _arguments(error))


def _arguments(error: BaseException) -> Tuple[Any, ...]:
    found: Tuple[Any, ...] = BaseException.__dict__["args"].__get__(error)
    return found


def error_text(error: BaseException, maximum: int) -> str:
    """Like str(error), with the limits of of() and text()."""
    if not _has_containers(error):
        return str(error)
    args = _arguments(error)
    if len(args) != 1 or _find_slot(type(error), "__str__") is _KEY_TEXT:
        return of(args[0] if len(args) == 1 else args, maximum)
    return text(args[0], maximum)


def _copy_error(error: BaseException, maximum: int) -> BaseException:
    kind = type(error)
    copied: BaseException = type(kind.__name__, (BaseException,), {
        "__module__": kind.__module__, "__qualname__": kind.__qualname__,
        "__str__": lambda _: error_text(error, maximum)})()
    copied.__dict__.update(
        (name, part) for name, part in vars(error).items()
        if name == "__notes__")
    return copied.with_traceback(error.__traceback__)


def readable(error: BaseException, maximum: int) -> BaseException:
    """Returns the exception, or, if its text or that of its chain would need
    repr() without limits, a copy with the same class names and tracebacks."""
    errors = values.chain(error)
    if not any(map(_has_containers, errors)):
        return error
    made: List[BaseException] = []
    for each in errors:
        copied = _copy_error(each, maximum)
        if made and each.__cause__ is not None:
            copied.__cause__ = made[-1]
        elif made:
            copied.__context__ = made[-1]
        copied.__suppress_context__ = each.__suppress_context__
        made.append(copied)
    return made[-1]
