"""The parameters and buffers of a module, by the names and in the order of
named_parameters() and named_buffers(), or the tensors in anything else. No
code of the program runs for it."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, NamedTuple, Set

from ..dap.children import instance_names
from ..objects import loaded
from ..values import ancestors
from . import facts, of_torch

DEPTH_MAXIMUM = 64
FOUND_MAXIMUM = 1000000
PAGE_MAXIMUM = 1000


class Found(NamedTuple):
    name: str
    kind: str  # "parameter", "buffer"
    value: Any


def _is_module(value: Any) -> bool:
    kind = loaded("torch.nn.modules.module", "Module")
    return kind is not None and kind in ancestors(type(value))


def _folder(module: Any, name: str) -> Dict[str, Any]:
    found = instance_names(module).get(name)
    if dict not in ancestors(type(found)):
        return {}
    for _ in range(3):
        try:
            return dict(dict.items(found))  # type: ignore[arg-type]
        except RuntimeError:
            pass
    return {}


def _modules(module: Any, prefix: str, seen: Set[int], depth: int
             ) -> Iterator[Any]:
    """(prefix, module), each once, as torch walks them."""
    if id(module) in seen or depth > DEPTH_MAXIMUM * 4:
        return
    seen.add(id(module))
    yield prefix, module
    for name, child in _folder(module, "_modules").items():
        if child is not None and _is_module(child):
            yield from _modules(child, prefix + str(name) + ".", seen,
                                depth + 1)


class _Walk:
    def __init__(self) -> None:
        self.found: List[Found] = []
        self._tensors: Set[int] = set()
        self._above: Set[int] = set()

    def add(self, name: str, kind: str, value: Any) -> None:
        if id(value) not in self._tensors and \
                len(self.found) < FOUND_MAXIMUM:
            self._tensors.add(id(value))
            self.found.append(Found(name or "value", kind, value))

    def module(self, module: Any, prefix: str) -> None:
        for before, one in _modules(module, prefix, set(), 0):
            for folder, kind in (("_parameters", "parameter"),
                                 ("_buffers", "buffer")):
                for name, value in _folder(one, folder).items():
                    if value is not None and of_torch.is_tensor(
                            ancestors(type(value))):
                        self.add(before + str(name), kind, value)

    def walk(self, value: Any, name: str, depth: int) -> None:
        if _is_module(value):
            self.module(value, name + "." if name else "")
            return
        kinds = ancestors(type(value))
        if of_torch.is_tensor(kinds) or \
                (loaded("numpy", "ndarray") or of_torch) in kinds:
            self.add(name, "parameter", value)
            return
        if id(value) in self._above or depth > DEPTH_MAXIMUM:
            return
        self._above.add(id(value))
        for key, part in self._parts(value, kinds):
            self.walk(part, name + key if name else key.lstrip("."),
                      depth + 1)
        self._above.discard(id(value))

    def _parts(self, value: Any, kinds: Any) -> Iterator[Any]:
        optimizer = loaded("torch.optim.optimizer", "Optimizer")
        if optimizer is not None and optimizer in kinds:
            names = instance_names(value)
            yield ".param_groups", names.get("param_groups")
            yield ".state", names.get("state")
        elif dict in kinds:
            for number, (key, part) in enumerate(list(dict.items(value))):
                text = repr(key) if type(key) in (str, int, bool, bytes) \
                    else "#%d" % number
                yield "[%s]" % text, part
        elif list in kinds or tuple in kinds:
            base: Any = list if list in kinds else tuple
            for number, part in enumerate(base.__getitem__(value,
                                                           slice(None))):
                yield "[%d]" % number, part


def find(value: Any) -> List[Found]:
    walk = _Walk()
    walk.walk(value, "", 0)
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
