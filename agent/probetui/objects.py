"""Queries about the objects of the program that the garbage collector tracks,
and about torch modules. No code of the program runs, and torch is not
imported."""
from __future__ import annotations

import gc
import sys
from itertools import chain, compress, islice, repeat, starmap
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Optional,
    Set,
)

from .values import ancestors, class_name, cut, describe, type_name

MODULES_MAXIMUM = 5000
DEPTH_MAXIMUM = 64
NAME_MAXIMUM = 200
# CPython requires that an unfinished tuple or frozenset has one reference
# only.
_UNFINISHED = (id(tuple), id(frozenset))


def classes(root: type) -> List[type]:
    """Returns root and all its subclasses, direct and indirect."""
    found = {id(root): root}
    ahead = [root]
    while ahead:
        for kind in type.__subclasses__(ahead.pop()):
            if id(kind) not in found:
                found[id(kind)] = kind
                ahead.append(kind)
    return list(found.values())


def instances(kinds: Iterable[type],
              facts: Optional[Callable[[List[Any]], Iterator[Any]]] = None
              ) -> List[Any]:
    """Returns the objects whose class is in `kinds` (subclasses do not count).
    With `facts`, no object is returned or kept alive: returned are the items
    of the iterator facts(list), which must consist of calls in C; the list is
    filled when the iterator runs, and cleared after that.

    gc.get_objects() also returns tuples and frozensets that another thread has
    not finished. If that thread ran while a list has references to them, its
    _PyTuple_Resize() would fail with a SystemError. So a single chain of calls
    in C gets the objects, checks each one, and drops the list: no bytecode
    runs in between, so no other thread gets the GIL. Garbage collection is
    disabled meanwhile: up to 3.11 it may begin within C code and run
    finalizers of the program. No other thread can observe or change that.
    """
    wanted = {id(kind) for kind in kinds if id(kind) not in _UNFINISHED}
    # One list, consumed by two iterators. The list is freed when the second
    # iterator ends; the trailing None makes compress() run to that end.
    twice = chain.from_iterable(map(repeat, starmap(gc.get_objects, [()]),
                                    [2]))
    was_on: List[bool] = []
    found: List[Any] = []
    told: List[Any] = []
    calls = chain(
        map(was_on.append, starmap(gc.isenabled, [()])),
        starmap(gc.disable, [()]),
        map(found.extend, [compress(
            chain(chain.from_iterable(islice(twice, 1)), [None]),
            map(wanted.__contains__, map(id, map(
                type, chain.from_iterable(twice)))))]),
        *(() if facts is None else (map(told.extend, [facts(found)]),
                                    starmap(found.clear, [()]))),
        starmap(gc.enable, compress([()], was_on)))
    try:
        any(calls)
    finally:
        # After a MemoryError: run the remaining calls, so that gc is enabled
        # again.
        any(calls)
    return found if facts is None else told


def _tell(value: Any) -> str:
    """Describes an object. C code may make a list with empty slots and run
    code of the program before it fills them: such a list is not read."""
    if type(value) is list and len(gc.get_referents(value)) < len(value):
        return "[...]"
    return describe(value)


def of_type(name: str, limit: int) -> Dict[str, Any]:
    """Returns the count of objects whose class has this name, with or without
    its module, and descriptions of the first `limit` of them."""
    kinds = [kind for kind in classes(object)
             if name in (class_name(kind),
                         class_name(kind).rpartition(".")[2])]
    found = instances(kinds)
    return {"count": len(found), "objects": [
        {"id": id(value), "type": type_name(value), "value": _tell(value)}
        for value in found[:limit]]}


def loaded(module: str, name: str) -> Any:
    """Returns the class `name` of `module`; None if the program has not
    imported the module, or the name is no class."""
    try:
        # Plain attribute access would make a lazy module load now.
        names = object.__getattribute__(sys.modules[module], "__dict__")
    except (KeyError, AttributeError):
        return None
    kind = names.get(name)
    return kind if isinstance(kind, type) else None


def _parts(module: Any, name: str) -> Dict[str, Any]:
    """Returns a copy of _modules or _parameters of a module, bypassing its
    class's __getattr__ and __getattribute__; {} on any failure."""
    try:
        found = object.__getattribute__(module, "__dict__").get(name)
        return dict(found) if isinstance(found, dict) else {}
    except (AttributeError, RuntimeError):
        return {}


class _Tree:
    """Describes a module that no other module contains, and the modules below
    it. `budget` is a list of one number: how many modules may still be
    described."""

    def __init__(self, module_type: type, tensor_type: Any,
                 budget: List[int]) -> None:
        self._module_type = module_type
        self._tensor_type = tensor_type
        self._budget = budget
        self._above: Set[int] = set()

    def _children(self, module: Any) -> Iterator[tuple]:
        for name, child in _parts(module, "_modules").items():
            if self._module_type in ancestors(type(child)):
                yield str(name), child

    def _tensors(self, module: Any) -> Dict[int, Any]:
        return {id(tensor): tensor
                for tensor in _parts(module, "_parameters").values()
                if self._tensor_type in ancestors(type(tensor))}

    def tell(self, module: Any, name: str,
             tensors: Dict[int, Any]) -> Dict[str, Any]:
        """Returns the description of module. Adds the parameters of module and
        of all modules below to `tensors`; keys are id(), so that each counts
        once."""
        own = self._tensors(module)
        children = []
        left_out = 0
        self._above.add(id(module))
        for child_name, child in self._children(module):
            if self._budget[0] <= 0 or id(child) in self._above or \
                    len(self._above) >= DEPTH_MAXIMUM:
                left_out += 1
                continue
            self._budget[0] -= 1
            children.append(self.tell(child, child_name, own))
        self._above.discard(id(module))
        tensors.update(own)
        told = {"name": cut(name, NAME_MAXIMUM), "type": type_name(module),
                **_sums(list(own.values())), "children": children}
        if left_out:
            told["left_out"] = left_out
        return told


def _sums(tensors: List[Any]) -> Dict[str, Any]:
    count = 0
    dtypes, devices = set(), set()
    for tensor in tensors:
        try:
            size = int(tensor.numel())
            dtypes.add(str(tensor.dtype))
            devices.add(str(tensor.device))
            count += size
        except Exception:
            # An uninitialized (lazy) parameter has no size yet.
            pass
    return {"parameters": count, "dtypes": sorted(dtypes),
            "devices": sorted(devices)}


def _names_of_main() -> Dict[int, str]:
    names = dict(getattr(sys.modules.get("__main__"), "__dict__", {}))
    return {id(value): name for name, value in reversed(list(names.items()))
            if isinstance(name, str)}


def modules() -> Dict[str, Any]:
    """Describes the torch modules that no other module contains, with the
    modules below them."""
    module_type = loaded("torch.nn.modules.module", "Module")
    if module_type is None:
        return {"torch": None, "modules": []}
    found = instances(classes(module_type))
    owned = {id(child) for module in found
             for child in _parts(module, "_modules").values()}
    names = _names_of_main()
    budget = [MODULES_MAXIMUM]
    tree = _Tree(module_type, loaded("torch", "Tensor"), budget)
    roots = [module for module in found if id(module) not in owned]
    told = []
    for module in roots:
        if budget[0] <= 0:
            break
        budget[0] -= 1
        told.append(tree.tell(module, names.get(id(module), ""), {}))
    version = getattr(sys.modules["torch"], "__dict__", {}).get(
        "__version__", "?") if "torch" in sys.modules else "?"
    return {"torch": str(version), "modules": told,
            "left_out": len(roots) - len(told)}
