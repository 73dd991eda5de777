"""The objects of the program that the garbage collector knows, and torch's
modules among them. No code of the program runs, and torch is not imported."""
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
# While one is built its builder must have the only reference.
_UNFINISHED = (id(tuple), id(frozenset))


def classes(root: type) -> List[type]:
    """It, and all that are derived from it."""
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
    """Those of just these classes; or, so that none of them is kept alive,
    what the iterator gives that `facts` makes, of calls in C, over a list that
    is empty until the iterator runs.

    A tuple, or a frozenset, that another thread is about to make is among the
    collector's objects, too; were that thread to run while we have all of
    them, it could not go on with it, and the program would fail with a
    SystemError. So calls in C ask for them, look at each, and let them go: no
    bytecode runs between, at which another thread could get the interpreter.
    For as long no garbage is collected: up to 3.11 that may begin within C,
    and run the program's finalizers. Nobody sees it, nor can say otherwise.
    """
    wanted = {id(kind) for kind in kinds if id(kind) not in _UNFINISHED}
    # The one list, to be gone through by two iterators: what has it is gone
    # at the second one's end, which None is there to reach.
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
        # Where there was no memory: what is left of them.
        any(calls)
    return found if facts is None else told


def _tell(value: Any) -> str:
    """C makes a list before what is to be in it, and may run the program's
    code between; until then there is nothing that could be looked at."""
    if type(value) is list and len(gc.get_referents(value)) < len(value):
        return "[...]"
    return describe(value)


def of_type(name: str, limit: int) -> Dict[str, Any]:
    """By the name of their class, with its module or without."""
    kinds = [kind for kind in classes(object)
             if name in (class_name(kind),
                         class_name(kind).rpartition(".")[2])]
    found = instances(kinds)
    return {"count": len(found), "objects": [
        {"id": id(value), "type": type_name(value), "value": _tell(value)}
        for value in found[:limit]]}


def loaded(module: str, name: str) -> Any:
    """A class of torch's where the program has loaded it, else None."""
    try:
        # Asked otherwise, a lazy module would be loaded now.
        names = object.__getattribute__(sys.modules[module], "__dict__")
    except (KeyError, AttributeError):
        return None
    kind = names.get(name)
    return kind if isinstance(kind, type) else None


def _parts(module: Any, name: str) -> Dict[str, Any]:
    """Its _modules or _parameters, past whatever its class does."""
    try:
        found = object.__getattribute__(module, "__dict__").get(name)
        return dict(found) if isinstance(found, dict) else {}
    except (AttributeError, RuntimeError):
        return {}


class _Tree:
    """What is told of one module that no other one has."""

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
        """Its parameters and all below are put into `tensors`, each once."""
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
            # It has none yet.
            pass
    return {"parameters": count, "dtypes": sorted(dtypes),
            "devices": sorted(devices)}


def _names_of_main() -> Dict[int, str]:
    names = dict(getattr(sys.modules.get("__main__"), "__dict__", {}))
    return {id(value): name for name, value in reversed(list(names.items()))
            if isinstance(name, str)}


def modules() -> Dict[str, Any]:
    """Those of torch that no other one has, each with what is in it."""
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
