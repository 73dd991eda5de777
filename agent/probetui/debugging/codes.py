"""Finds loaded code objects by file, and by function name."""
from __future__ import annotations

import dis
import gc
import sys
import types
from typing import Any, Dict, Iterable, Iterator, List, Optional, Set, Tuple

from .. import inspection, objects

Code = types.CodeType
LIBRARIES = ("/site-packages/", "/dist-packages/", "/lib/python")
# Maximum number of decorators around a function.
DEPTH_MAXIMUM = 20


def _parts(path: str) -> List[str]:
    found: List[str] = []
    skipped = 0
    for part in reversed(path.split("/")):
        if part in ("", "."):
            continue
        if part == "..":
            skipped += 1
        elif skipped:
            skipped -= 1
        else:
            found.append(part)
    return found


def matches(path: str, filename: str) -> bool:
    """True if path and filename name the same file; a relative one may be the
    end of the other, in whole components."""
    if not filename.endswith(path.rpartition("/")[2]):
        return False
    mine, its = _parts(path), _parts(filename)
    common = min(len(mine), len(its))
    if not common or mine[:common] != its[:common]:
        return False
    if len(mine) == len(its):
        return True
    shorter = path if len(mine) < len(its) else filename
    return not shorter.startswith("/")


def is_library(filename: str) -> bool:
    return filename.startswith("<") or any(
        part in filename for part in LIBRARIES)


def nested(code: Code) -> Iterator[Code]:
    """Yields code and all code objects nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, Code):
            yield from nested(constant)


def event_lines(code: Code) -> List[int]:
    """Returns the lines that have a line event, in the order of the bytecode.
    """
    if sys.version_info < (3, 10):
        return [line for _, line in dis.findlinestarts(code)]
    start = -1
    if sys.version_info >= (3, 11):
        resume = dis.opmap["RESUME"]
        raw = code.co_code
        # Instructions up to RESUME belong to the call and have no line event.
        start = next((at for at in range(0, len(raw), 2)
                      if raw[at] == resume), -1)
    elif code.co_flags & 0x2a0:  # generators and coroutines
        start = 0 if code.co_code[0] == dis.opmap.get("GEN_START") else -1
    lines = [line for _, end, line in code.co_lines()
             if line is not None and end > start + 2 * (start >= 0)]
    return list(dict.fromkeys(lines))


def frames() -> List[types.FrameType]:
    """Returns the frames of all threads of the program."""
    found = []
    for frame in inspection.thread_frames().values():
        step: Optional[types.FrameType] = frame
        while step is not None:
            found.append(step)
            step = step.f_back
    return found


_CODE_OF = {types.FunctionType: "__code__", types.GeneratorType: "gi_code",
            types.CoroutineType: "cr_code",
            types.AsyncGeneratorType: "ag_code"}


def loaded() -> List[Code]:
    """Returns the code objects of all functions, generators and running
    frames, each once."""
    found: Dict[int, Code] = {}
    for thing in objects.instances(_CODE_OF):
        code = getattr(thing, _CODE_OF[type(thing)])
        found[id(code)] = code
    for code in _frozen():
        found[id(code)] = code
    for frame in frames():
        found[id(frame.f_code)] = frame.f_code
    return list(found.values())


def _frozen() -> Iterator[Code]:
    """Yields code of functions that gc.freeze() has hidden from
    gc.get_objects(): those in module and class namespaces."""
    if not gc.get_freeze_count():
        return
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        for thing in list(names.values()) if type(names) is dict else ():
            yield from _codes_of_thing(thing)
            if isinstance(thing, type):
                for inner in list(vars(thing).values()):
                    yield from _codes_of_thing(inner)


def _codes_of_thing(thing: Any) -> Iterator[Code]:
    for step in unwrapped(thing):
        if type(step) is types.FunctionType:
            yield step.__code__


def of_filenames(loaded: Iterable[Code], filenames: Set[str]) -> List[Code]:
    """Returns the code objects of these files, including nested ones, each
    once."""
    found: Dict[int, Code] = {}
    for code in loaded:
        if code.co_filename in filenames:
            for inner in nested(code):
                found[id(inner)] = inner
    return list(found.values())


def qualname(code: Code) -> str:
    return str(getattr(code, "co_qualname", code.co_name))


def unwrapped(thing: Any) -> Iterator[Any]:
    """Yields the object, then each object that it wraps (as a decorator,
    method or property), without running code."""
    for _ in range(DEPTH_MAXIMUM):
        yield thing
        kind = type(thing)
        if kind in (staticmethod, classmethod, types.MethodType):
            thing = thing.__func__
        elif kind is property:
            thing = thing.fget
        else:
            names = getattr(thing, "__dict__", None) \
                if kind is types.FunctionType else None
            if not names or "__wrapped__" not in names:
                names = _instance_names(thing)
            if not names or "__wrapped__" not in names:
                return
            thing = names["__wrapped__"]


def _instance_names(thing: Any) -> Any:
    try:
        names = object.__getattribute__(thing, "__dict__")
    except Exception:
        return None
    return names if type(names) is dict else None


def _attribute(thing: Any, name: str) -> Tuple[bool, Any]:
    """Returns (whether it exists, value) of an attribute, like getattr(),
    without running code."""
    if isinstance(thing, types.ModuleType):
        names = vars(thing)
        return name in names, names.get(name)
    if isinstance(thing, type):
        for base in type.__dict__["__mro__"].__get__(thing):
            names = type.__dict__["__dict__"].__get__(base)
            if name in names:
                return True, names[name]
        return False, None
    names = _instance_names(thing)
    if names is not None and name in names:
        return True, names[name]
    return _attribute(type(thing), name) if type(thing) is not object \
        else (False, None)


def _resolve(names: Dict[str, Any], path: str) -> List[Code]:
    first, _, rest = path.partition(".")
    if first not in names:
        return []
    thing = names[first]
    for part in rest.split(".") if rest else ():
        has, thing = _attribute(thing, part)
        if not has:
            return []
    return _codes_named(thing, path.rpartition(".")[2])


def _codes_named(thing: Any, name: str) -> List[Code]:
    """Returns the code objects with this name among the functions that thing
    is, wraps or closes over; if there is none, thing's own."""
    if isinstance(thing, type):
        name = "__init__"
        has, thing = _attribute(thing, name)
        if not has:
            return []
    found = []
    for step in unwrapped(thing):
        if type(step) is types.FunctionType:
            found.append(step.__code__)
            for cell in step.__closure__ or ():
                try:
                    inner = cell.cell_contents
                except ValueError:
                    continue
                if type(inner) is types.FunctionType:
                    found.append(inner.__code__)
    named = [code for code in found if code.co_name == name]
    return named or found[:1]


def _of_module(name: str) -> List[Code]:
    """Finds "package.module.f" or "module.C.f"; `module` may be the end of a
    module's name."""
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        prefix, rest = ".".join(parts[:count]), ".".join(parts[count:])
        for key, module in dict(sys.modules).items():
            if key == prefix or key.endswith("." + prefix):
                found = _resolve(getattr(module, "__dict__", {}), rest)
                if found:
                    return found
    return []


def of_function(name: str, loaded: Iterable[Code]) -> List[Code]:
    """Returns the code of functions with this name. Searches the namespaces in
    which Python would find it, then modules, then all loaded code."""
    main = sys.modules.get("__main__")
    spaces = [vars(main)] if main else []
    spaces += [frame.f_globals for frame in frames()]
    for space in spaces:
        found = _resolve(space, name)
        if found:
            return found
    found = _of_module(name)
    if found:
        return found
    modules = [module for module in list(sys.modules.values())
               if type(getattr(module, "__dict__", None)) is dict]
    modules.sort(key=lambda module: is_library(
        str(vars(module).get("__file__") or "<")))
    for module in modules:
        found = [code for code in _resolve(vars(module), name)
                 if not is_library(code.co_filename)] or \
            _resolve(vars(module), name)
        if found:
            return found
    return [inner for code in loaded for inner in nested(code)
            if is_called(inner, name)]


def is_called(code: Code, name: str) -> bool:
    """True if the code object's own name matches."""
    if code.co_name != name.rpartition(".")[2]:
        return False
    own = qualname(code).replace(".<locals>", "")
    return sys.version_info < (3, 11) or own == name \
        or own.endswith("." + name)
