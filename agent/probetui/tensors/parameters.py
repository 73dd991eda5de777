"""Finds the parameters and buffers of a module, with the names and the order
of named_parameters() and named_buffers(), or the tensors in other objects; on
request, also plain values (numbers, texts). No code of the program runs."""
from __future__ import annotations

import zlib
from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

from .. import deadline
from ..dap.children import instance_names
from ..objects import loaded
from ..values import Kinds, ancestors, cut, describe, type_name
from . import facts, of_jax, of_pandas, of_torch

DEPTH_MAXIMUM = 100
FOUND_MAXIMUM = 1000000
PAGE_MAXIMUM = 1000
NAME_MAXIMUM = 1000
KEY_MAXIMUM = 200
# Maximum bytes of a plain value's repr(); up to which size it is sent whole;
# how many characters are sent of a longer one.
VALUE_MAXIMUM = 1 << 20
VALUE_WHOLE = 200
VALUE_COLUMNS = 60
_NUMBERS = Kinds((int, float, complex, bool, type(None)))
_TEXTS = Kinds((str, bytes))
_MODULE = ("torch.nn.modules.module", "Module")
_OPTIMIZER = ("torch.optim.optimizer", "Optimizer")


class Found(NamedTuple):
    name: str
    kind: str  # "parameter", "buffer", "value", or "other" (none of them)
    value: Any  # for a "value": its text


def _is_a(value: Any, module: str, name: str) -> bool:
    kind = loaded(module, name)
    return kind is not None and kind in ancestors(type(value))


def _is_tensor(value: Any) -> bool:
    kinds = ancestors(type(value))
    ndarray = loaded("numpy", "ndarray")
    return of_torch.is_tensor(kinds) or \
        ndarray is not None and ndarray in kinds or \
        of_pandas.is_series(value) or of_jax.is_array(value)


def _pairs(names: Any) -> List[Tuple[Any, Any]]:
    """Returns the items of a dict that other threads may change; [] for other
    values. No hash of a key is computed."""
    if dict not in ancestors(type(names)):
        return []
    for _ in range(3):
        try:
            return list(dict.items(names))
        except RuntimeError:
            pass
    return []


def _named(names: Any, wanted: str) -> Any:
    return next((value for name, value in _pairs(names)
                 if type(name) is str and name == wanted), None)


def _items(values: Any) -> List[Any]:
    """Returns the items of a list or tuple (also of a subclass); [] for any
    other value."""
    for base in (list, tuple):
        if base in ancestors(type(values)):
            return list(base.__getitem__(values, slice(None)))
    return []


def _entries(module: Any, folder: str) -> List[Tuple[Any, Any]]:
    return _pairs(instance_names(module).get(folder))


def _plain(value: Any) -> str:
    """Returns repr(value) of a number or text; "" for other types, or if it is
    too long."""
    kind = type(value)
    if kind in _TEXTS:
        return repr(value) if len(value) <= VALUE_MAXIMUM else ""
    if kind not in _NUMBERS:
        return ""
    try:
        return repr(value)
    except ValueError:
        # More digits than sys.set_int_max_str_digits() allows.
        return ""


def _shorten(text: str) -> str:
    """Cuts a long text and appends its CRC, so that equal texts mean equal
    values."""
    whole = text.encode("utf-8", "backslashreplace")
    if len(whole) <= VALUE_WHOLE:
        return text
    return "%s\u2026 (%d bytes, crc32 %08x)" % (
        text[:VALUE_COLUMNS - 1], len(whole), zlib.crc32(whole))


class _Walk:
    """Walks through an object; same rules as backends/tensor/parameter-walk.c.
    """

    def __init__(self, text: str, wants_values: bool) -> None:
        self.found: List[Found] = []
        self._text = text
        self._wants_values = wants_values
        self._owners = 0  # number of modules and optimizers on the path
        self._seen: Set[int] = set()
        self._depth = 0

    def _see(self, value: Any) -> bool:
        """Returns True the first time."""
        if id(value) in self._seen:
            return False
        self._seen.add(id(value))
        return True

    def _put(self, name: str, kind: str, value: Any) -> None:
        deadline.check()
        if len(self.found) < FOUND_MAXIMUM:
            self.found.append(Found(cut(name or self._text, NAME_MAXIMUM),
                                    kind, value))

    def _add(self, name: str, kind: str, value: Any) -> None:
        is_first = self._see(value)
        # In plain containers, list a tensor under each of its names.
        if is_first or self._wants_values and self._owners == 0:
            self._put(name, kind, value)

    def _value(self, name: str, value: Any) -> None:
        text = _plain(value)
        if text:
            self._put(name, "value", _shorten(text))
        else:
            self._put(name, "other", value)

    def _plain_items(self, name: str, values: List[Any], ends: str) -> None:
        """Adds the plain items of a list as one value; the other items are
        walked separately."""
        texts = [_plain(value) for value in values]
        if not values or any(texts):
            self._put(name, "value", _shorten("%s%s%s" % (
                ends[0], ", ".join(text or "_" for text in texts), ends[1])))

    def _options(self, names: List[Tuple[Any, Any]], before: str,
                 but: Optional[str]) -> None:
        """Adds plain values, such as learning rates, of an optimizer's dict.
        Skips the key `but`, or, if that is None, tensors: these are walked
        separately."""
        for name, value in names if self._wants_values else ():
            if type(name) is str and name != but and not (
                    but is None and _is_tensor(value)):
                self.walk(value, before + name)

    def _tensors(self, names: List[Tuple[Any, Any]], before: str,
                 kind: str) -> None:
        for name, value in names:
            if type(name) is str and _is_tensor(value):
                self._add(before + name, kind, value)

    def _module(self, module: Any, before: str) -> None:
        self._tensors(_entries(module, "_parameters"), before, "parameter")
        self._tensors(_entries(module, "_buffers"), before, "buffer")
        for name, child in _entries(module, "_modules"):
            if type(name) is str and _is_a(child, *_MODULE):
                self.walk(child, before + name)

    def _optimizer(self, optimizer: Any, before: str) -> None:
        names = instance_names(optimizer)
        numbers: Dict[int, int] = {}
        groups = names.get("param_groups")
        for group, fields in enumerate(_items(groups)):
            for i, value in enumerate(_items(_named(fields, "params"))):
                numbers[id(value)] = len(numbers)
                self._add("%sparam_groups[%d].params[%d]" % (
                    before, group, i), "parameter", value)
            self._options(_pairs(fields), "%sparam_groups[%d]." % (
                before, group), "params")
        for key, parts in _pairs(names.get("state")):
            if id(key) in numbers:
                within = "%sstate[%d]." % (before, numbers[id(key)])
                self._tensors(_pairs(parts), within, "buffer")
                self._options(_pairs(parts), within, None)

    def _owner(self, walk: Any, value: Any, before: str) -> None:
        self._owners += 1
        walk(value, before)
        self._owners -= 1

    def _dict(self, pairs: List[Tuple[Any, Any]], name: str) -> None:
        if not pairs and self._wants_values:
            self._put(name, "value", "{}")
        for key, part in pairs:
            self.walk(part, "%s[%s]" % (name, cut(describe(key),
                                                  KEY_MAXIMUM)))

    def _list(self, items: List[Any], name: str, ends: str) -> None:
        if self._wants_values:
            self._plain_items(name, items, ends)
        for i, part in enumerate(items):
            if not (self._wants_values and _plain(part)):
                self.walk(part, "%s[%d]" % (name, i))

    def _container(self, value: Any, kinds: Any, name: str) -> None:
        if dict in kinds:
            self._dict(_pairs(value), name)
        else:
            self._list(_items(value), name, "[]" if list in kinds else "()")

    def walk(self, value: Any, name: str) -> None:
        kinds = ancestors(type(value))
        if _is_tensor(value):
            self._add(name, "parameter", value)
            return
        if not _has_parts(value, kinds):
            if self._wants_values:
                self._value(name, value)
            return
        if self._depth >= DEPTH_MAXIMUM or not self._see(value):
            return
        self._depth += 1
        before = name + "." if name else ""
        is_owner = True
        if of_pandas.is_frame(value):
            for text, column in of_pandas.columns(value):
                self._put(name + text, "parameter", column)
        elif _is_a(value, *_MODULE):
            self._owner(self._module, value, before)
        elif _is_a(value, *_OPTIMIZER):
            self._owner(self._optimizer, value, before)
        else:
            is_owner = False
            self._container(value, kinds, name)
        self._depth -= 1
        # A container may be walked again under another name, but not inside
        # itself.
        if self._wants_values and not (is_owner and self._owners):
            self._seen.discard(id(value))


def _has_parts(value: Any, kinds: Any) -> bool:
    return any(base in kinds for base in (list, tuple, dict)) or \
        _is_a(value, *_MODULE) or _is_a(value, *_OPTIMIZER) or \
        of_pandas.is_frame(value)


def find(value: Any, text: str, wants_values: bool
         ) -> Optional[List[Found]]:
    """Returns the tensors in value; `text` is its expression. None: value is
    of a kind that contains none."""
    kinds = ancestors(type(value))
    is_leaf = _is_tensor(value) or not _has_parts(value, kinds)
    if not _is_tensor(value) and is_leaf and not (
            wants_values and _plain(value)):
        return None
    walk = _Walk(text, wants_values)
    walk.walk(value, text if is_leaf else "")
    return walk.found


def gradient(value: Any) -> Any:
    """Returns .grad of a tensor, or None, without a warning."""
    if not of_torch.is_tensor(ancestors(type(value))):
        return None
    return of_torch.gradient(value)


def tell(found: Found, of_gradient: bool, do: Any) -> Dict[str, Any]:
    """Describes one of the found values. `do` is called with the value and its
    Known, and returns (description, error or None)."""
    told: Dict[str, Any] = {"name": found.name, "kind": found.kind,
                            "tensor": None}
    if found.kind == "value":
        return dict(told, value=found.value)
    if found.kind == "other":
        return dict(told, kind="parameter", error="a %s has no elements to "
                    "compare" % type_name(found.value))
    value = gradient(found.value) if of_gradient else found.value
    if value is None:
        told["error"] = "the tensor has no gradient"
        return told
    try:
        known = facts.find(value)
    except Exception as error:
        told["error"] = "the value cannot be inspected: %s" \
            % type(error).__name__
        return told
    if known is None:
        told["error"] = "the value is not a tensor"
        return told
    told["tensor"], why = do(value, known)
    if why is not None:
        told["error"] = why
    return told
