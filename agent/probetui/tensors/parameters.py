"""The parameters and buffers of a module, by the names and in the order of
named_parameters() and named_buffers(), or the tensors in anything else. No
code of the program runs for it."""
from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

from .. import deadline
from ..dap.children import instance_names
from ..objects import loaded
from ..values import ancestors, cut, describe
from . import facts, of_torch

DEPTH_MAXIMUM = 100
FOUND_MAXIMUM = 1000000
PAGE_MAXIMUM = 1000
NAME_MAXIMUM = 1000
KEY_MAXIMUM = 200
_MODULE = ("torch.nn.modules.module", "Module")
_OPTIMIZER = ("torch.optim.optimizer", "Optimizer")


class Found(NamedTuple):
    name: str
    kind: str  # "parameter", "buffer"
    value: Any


def _is_a(value: Any, module: str, name: str) -> bool:
    kind = loaded(module, name)
    return kind is not None and kind in ancestors(type(value))


def _is_tensor(kinds: Any) -> bool:
    ndarray = loaded("numpy", "ndarray")
    return of_torch.is_tensor(kinds) or \
        ndarray is not None and ndarray in kinds


def _pairs(names: Any) -> List[Tuple[Any, Any]]:
    """Of a dict that others change meanwhile; of anything else none. No key
    is asked for its hash."""
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
    """Of a list or a tuple; of anything else []."""
    for base in (list, tuple):
        if base in ancestors(type(values)):
            return list(base.__getitem__(values, slice(None)))
    return []


def _entries(module: Any, folder: str) -> List[Tuple[Any, Any]]:
    return _pairs(instance_names(module).get(folder))


class _Walk:
    """As backends/tensor/walk.c."""

    def __init__(self) -> None:
        self.found: List[Found] = []
        self._seen: Set[int] = set()
        self._depth = 0

    def _see(self, value: Any) -> bool:
        """True the first time."""
        if id(value) in self._seen:
            return False
        self._seen.add(id(value))
        return True

    def _add(self, name: str, kind: str, value: Any) -> None:
        deadline.check()
        if len(self.found) < FOUND_MAXIMUM and self._see(value):
            self.found.append(Found(cut(name, NAME_MAXIMUM), kind, value))

    def _tensors(self, names: List[Tuple[Any, Any]], before: str,
                 kind: str) -> None:
        for name, value in names:
            if type(name) is str and _is_tensor(ancestors(type(value))):
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
        for key, parts in _pairs(names.get("state")):
            if id(key) in numbers:
                self._tensors(_pairs(parts), "%sstate[%d]." % (
                    before, numbers[id(key)]), "buffer")

    def walk(self, value: Any, name: str) -> None:
        kinds = ancestors(type(value))
        if _is_tensor(kinds):
            self._add(name, "parameter", value)
            return
        if self._depth >= DEPTH_MAXIMUM or not self._see(value):
            return
        self._depth += 1
        before = name + "." if name else ""
        if _is_a(value, *_MODULE):
            self._module(value, before)
        elif _is_a(value, *_OPTIMIZER):
            self._optimizer(value, before)
        elif dict in kinds:
            for key, part in _pairs(value):
                self.walk(part, "%s[%s]" % (name, cut(describe(key),
                                                      KEY_MAXIMUM)))
        elif list in kinds or tuple in kinds:
            for i, part in enumerate(_items(value)):
                self.walk(part, "%s[%d]" % (name, i))
        self._depth -= 1


def find(value: Any, text: str) -> Optional[List[Found]]:
    """`text`: what it is called. None: there can be none in it."""
    kinds = ancestors(type(value))
    is_tensor = _is_tensor(kinds)
    if not is_tensor and not _is_a(value, *_MODULE) and \
            not _is_a(value, *_OPTIMIZER) and \
            not any(base in kinds for base in (list, tuple, dict)):
        return None
    walk = _Walk()
    walk.walk(value, text if is_tensor else "")
    return walk.found


def gradient(value: Any) -> Any:
    """Its .grad, or None; without a warning."""
    if not of_torch.is_tensor(ancestors(type(value))):
        return None
    return of_torch.gradient(value)


def tell(found: Found, of_gradient: bool, do: Any) -> Dict[str, Any]:
    """`do` has it told, with what is wanted of its elements."""
    told: Dict[str, Any] = {"name": found.name, "kind": found.kind,
                            "tensor": None}
    value = gradient(found.value) if of_gradient else found.value
    if value is None:
        told["error"] = "it has no gradient"
        return told
    try:
        known = facts.find(value)
    except Exception as error:
        told["error"] = "it cannot be told: %s" % type(error).__name__
        return told
    if known is None:
        told["error"] = "it is no tensor"
        return told
    told["tensor"], why = do(value, known)
    if why is not None:
        told["error"] = why
    return told
