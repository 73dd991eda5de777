"""The children of a value, one level at a time, without running code of the
program."""
from __future__ import annotations

import collections
import contextlib
import itertools
import types
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ..objects import loaded
from ..values import Kinds, ancestors, cut, describe, is_array

NAME_MAXIMUM = 200
# Maximum number of children in one response.
PART_MAXIMUM = 1000
NAMES_MAXIMUM = 100000
_KEYS = Kinds((str, int, bool, bytes))
_PLAIN = Kinds((type(None), bool, int, float, complex, str, bytes,
                type(Ellipsis), type(NotImplemented), range))


class Child(NamedTuple):
    name: str
    value: Any
    # what to append to the parent's expression; None: no expression exists
    suffix: Optional[str]
    key: Any  # ("item", key) or ("attribute", name); None: read-only


def _attribute(name: str, value: Any) -> Child:
    return Child(cut(name, NAME_MAXIMUM), value,
                 "." + name if name.isidentifier()
                 and len(name) <= NAME_MAXIMUM else None,
                 ("attribute", name))


def instance_names(value: Any) -> Dict[str, Any]:
    """Returns a copy of the instance's __dict__, bypassing its class's
    attribute methods; {} if there is none."""
    for kind in ancestors(type(value)):
        found = class_names(kind).get("__dict__")
        if found is not None:
            if type(found) is not types.GetSetDescriptorType:
                return {}
            return _copy(found.__get__(value))
    return {}


def class_names(kind: type) -> Any:
    """Returns the __dict__ of a class, bypassing its metaclass."""
    return type.__dict__["__dict__"].__get__(kind)


def _copy(names: Any) -> Dict[str, Any]:
    for _ in range(3):
        try:
            return {name: value for name, value in dict.items(names)
                    if type(name) is str}
        except (RuntimeError, TypeError):
            # Another thread changes the dict, or names is no dict.
            pass
    return {}


def slots(value: Any) -> Iterator[Tuple[str, Any]]:
    for kind in ancestors(type(value)):
        names = class_names(kind)
        if "__slots__" not in names:
            continue
        for name, member in list(names.items()):
            if type(member) is types.MemberDescriptorType:
                with contextlib.suppress(AttributeError):
                    yield name, member.__get__(value)


def module_parts(value: Any) -> Dict[str, Any]:
    """Returns submodules, parameters and buffers of a torch module, which it
    provides as attributes by __getattr__; {} for other values."""
    kind = loaded("torch.nn.modules.module", "Module")
    if kind is None or kind not in ancestors(type(value)):
        return {}
    names = instance_names(value)
    found: Dict[str, Any] = {}
    for folder in ("_modules", "_parameters", "_buffers"):
        parts = names.get(folder)
        if dict in ancestors(type(parts)):
            found.update(_copy(parts))
    return found


def array_facts(value: Any) -> Dict[str, Any]:
    """Returns shape, dtype etc. of a tensor or array; {} for other values. Not
    the elements: a read from a GPU would block."""
    if not is_array(value):
        return {}
    found = {}
    for name in ("shape", "dtype", "device", "requires_grad", "is_leaf",
                 "grad_fn", "layout", "strides", "nbytes"):
        try:
            found[name] = getattr(value, name)
        except Exception:
            continue
    if found.get("is_leaf"):
        # torch warns if .grad of a non-leaf tensor is read.
        found["grad"] = value.grad
    return found


def _of_exception(value: Any) -> Iterator[Child]:
    for name in ("args", "__cause__", "__context__", "__traceback__"):
        yield _attribute(name, class_names(BaseException)[name].__get__(
            value))


def _of_method(value: Any) -> Iterator[Child]:
    yield _attribute("__self__", value.__self__)
    yield _attribute("__func__", value.__func__)


def _of_module(value: Any) -> Iterator[Child]:
    for name, part in module_parts(value).items():
        child = _attribute(name, part)
        if child.suffix is None and name.isdigit():
            # A child of torch.nn.Sequential or ModuleList.
            child = child._replace(suffix="._modules[%r]" % name)
        yield child


def _of_names(names: Dict[str, Any]) -> Iterator[Child]:
    for name, value in names.items():
        yield _attribute(name, value)


def _attributes(value: Any) -> Iterator[Child]:
    kind = type(value)
    kinds = ancestors(kind)
    if type in kinds:
        return _of_names(_copy(dict(class_names(value))))
    if kind is types.ModuleType or types.ModuleType in kinds:
        return _of_names(_copy(object.__getattribute__(value, "__dict__")))
    if kind is types.MethodType:
        return _of_method(value)
    facts = array_facts(value)
    if facts:
        return _of_names(facts)
    found = [_of_module(value), _of_names(instance_names(value)),
             _of_names(dict(slots(value)))]
    if BaseException in kinds:
        found.insert(0, _of_exception(value))
    return itertools.chain(*found)


def key_text(key: Any) -> Optional[str]:
    """Returns the key as a Python literal; None if it has none, or too long a
    one."""
    kind = type(key)
    if kind is int and key.bit_length() > NAME_MAXIMUM or \
            kind in (str, bytes) and len(key) > NAME_MAXIMUM or \
            kind not in _KEYS:
        return None
    return repr(key)


def _key_child(key: Any, value: Any) -> Child:
    text = key_text(key)
    return Child(cut(describe(key), NAME_MAXIMUM), value,
                 None if text is None else "[%s]" % text, ("item", key))


class Contents:
    """The children of a value: first the indexed ones, then the named ones."""

    def __init__(self, value: Any) -> None:
        self._value = value
        kinds = ancestors(type(value))
        self._base = next((base for base in (
            list, tuple, dict, set, frozenset, collections.deque)
            if base in kinds), None)
        self.indexed = 0
        self._items = 0
        if self._base is dict:
            self._items = dict.__len__(value)
        elif self._base is not None:
            self.indexed = self._base.__len__(value)
        self._named: Optional[List[Child]] = None

    def _attributes(self) -> List[Child]:
        if self._named is None:
            self._named = [] if type(self._value) in _PLAIN else list(
                itertools.islice(_attributes(self._value), NAMES_MAXIMUM))
        return self._named

    @property
    def named(self) -> int:
        return self._items + len(self._attributes())

    def is_empty(self) -> bool:
        if self._items or self.indexed or type(self._value) in _PLAIN:
            return not (self._items or self.indexed)
        return next(_attributes(self._value), None) is None

    def counts(self) -> Dict[str, int]:
        """Returns the counts of children for DAP if value is a container; {}
        for other objects, where counting takes as long as listing."""
        if self._base is None:
            return {}
        return {"namedVariables": self.named, "indexedVariables":
                self.indexed}

    def _numbered(self, start: int, count: int) -> List[Child]:
        base, value = self._base, self._value
        if base in (list, tuple):
            found = base.__getitem__(value, slice(start, start + count))
        else:
            found = itertools.islice(base.__iter__(value), start,  # type: ignore
                                     start + count)
        is_set = base in (set, frozenset)
        return [Child("[%d]" % i, part, None if is_set else "[%d]" % i,
                      None if is_set or base is tuple else ("item", i))
                for i, part in enumerate(found, start)]

    def _by_name(self, start: int, count: int) -> List[Child]:
        found: List[Child] = []
        if start < self._items:
            items = itertools.islice(dict.items(self._value), start,
                                     start + count)
            found = [_key_child(key, part) for key, part in items]
        first = max(0, start - self._items)
        return found + self._attributes()[first:first + count - len(found)]

    def part(self, which: str, start: int, count: int) -> List[Child]:
        """Returns up to count children from `start`. `which`: "indexed",
        "named", or "" for both, indexed ones first."""
        for _ in range(3):
            try:
                found: List[Child] = []
                if which != "named" and start < self.indexed:
                    found = self._numbered(start, count)
                if which != "indexed" and len(found) < count:
                    first = start if which else max(0, start - self.indexed)
                    found += self._by_name(first, count - len(found))
                return found
            except RuntimeError:
                # Another thread changes the container.
                pass
        return []


class Names:
    """The variables of a scope."""

    def __init__(self, names: Dict[str, Any]) -> None:
        plain = [name for name in names if not _is_special(name)]
        special = [name for name in names if _is_special(name)]
        self._names = [Child(cut(name, NAME_MAXIMUM), names[name], name,
                             ("name", name)) for name in plain + special]
        self.indexed = 0
        self.named = len(self._names)

    def part(self, which: str, start: int, count: int) -> List[Child]:
        return [] if which == "indexed" else self._names[start:start + count]


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
