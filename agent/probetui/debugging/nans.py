"""Data breakpoints that stop when a variable becomes NaN or infinite.

The variable is checked before each line of its function, in every frame, and
at the end of the frame. It stops once, at the line after the one that made the
NaN. For a module, an optimizer, a list or a dict, all tensors in it are
checked.
"""
from __future__ import annotations

import _thread
import array
import cmath
import functools
import sys
import threading
import time
import weakref
from types import CodeType, FrameType
from typing import Any, Dict, Iterator, List, Optional, Tuple

from .. import inspection
from ..objects import loaded
from ..tensors import dtypes, facts, of_jax, of_pandas, of_torch, \
    parameters
from ..values import ancestors, class_name
from .changes import REASON, stamp
from .engine import Engine
from .paths import MISSING, Path, read
from .reaching import Reached
from .specs import EngineError
from .stop import is_for_program

# A tensor whose stamp has not changed is not checked again. Checks of other
# values use at most this share of the time.
_SHARE = 0.05
_SHORT = 1e-3  # in seconds; a check that takes no longer is made each time
_FLOATS = "fd"  # typecodes of array.array


def _threads() -> List[FrameType]:
    """Returns the newest frames of the program's threads, the main thread's
    first."""
    main = threading.main_thread().ident
    return [frame for _ident, frame in sorted(
        inspection.thread_frames().items(),
        key=lambda item: item[0] != main)]


def _stack(frame: Optional[FrameType]) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _has(frame: FrameType, name: str) -> bool:
    code = frame.f_code
    return name in code.co_varnames + code.co_cellvars + code.co_freevars


def find_code(path: Path) -> CodeType:
    """Returns the code of the innermost running function that has the
    variable; else of the innermost one that uses the global, or could use it.
    Raises EngineError if there is none."""
    frames = [frame for each in _threads() for frame in _stack(each)]
    for frame in frames:
        if _has(frame, path.name):
            return frame.f_code
    able = [frame for frame in frames if path.name in frame.f_globals]
    for frame in able:
        if path.name in frame.f_code.co_names:
            return frame.f_code
    if able:
        return able[0].f_code
    raise EngineError("no running function has a variable %s" % path.name)


def _of_torch(value: Any) -> Optional[str]:
    torch = sys.modules["torch"]
    known = of_torch.find(value)
    # A tensor without memory (FSDP frees it) would crash the process.
    if known.layout is None or "unread" in known.told or \
            known.layout.dtype.kind not in (dtypes.FLOAT, dtypes.COMPLEX):
        return None
    # If the tensor is distributed over ranks, check the local part only: other
    # ranks must not be involved.
    local = of_torch.local_of(value)
    with of_torch.alone(), torch.no_grad():
        if known.told["device"].startswith("cuda") and \
                torch.cuda.is_current_stream_capturing():
            # Synchronization during a CUDA graph capture is an error.
            return None
        is_finite = torch.isfinite(local)
        if bool(is_finite.all()):
            return None
        nans = int(torch.isnan(local).sum())
        return _counted(nans, int((~is_finite).sum()) - nans,
                        known.told["numel"])


def _of_numpy(value: Any) -> Optional[str]:
    numpy = sys.modules["numpy"]
    dtype = value.dtype
    if dtype.kind not in "fc" and not (
            dtype.type.__module__ == "ml_dtypes" and
            "int" not in dtype.type.__name__):
        return None
    is_finite = numpy.isfinite(value)
    if is_finite.all():
        return None
    nans = int(numpy.isnan(value).sum())
    return _counted(nans, int((~is_finite).sum()) - nans, value.size)


def _of_jax(value: Any) -> Optional[str]:
    import ctypes

    numpy = sys.modules["numpy"]
    known: Any = facts.find(value)
    if known.layout is None:
        raise ValueError(known.told["unread"])
    if not value.size:
        return None
    return _of_numpy(numpy.frombuffer(
        (ctypes.c_char * value.nbytes).from_address(known.layout.address),
        value.dtype))


def _of_array(value: Any) -> Optional[str]:
    if array.array.__dict__["typecode"].__get__(value) not in _FLOATS:
        return None
    items = array.array.__getitem__(value, slice(None)).tolist()
    nans = sum(item != item for item in items)
    infinities = sum(item - item != 0 for item in items) - nans
    return _counted(nans, infinities, len(items)) if nans or infinities \
        else None


def _counted(nans: int, infinities: int, count: int) -> str:
    if count == 1:
        return "nan" if nans else "infinite"
    words = ["%d %s" % each for each in ((nans, "NaN"), (infinities, "Inf"))
             if each[0]]
    return "%s of %d" % (", ".join(words), count)


def describe(value: Any) -> Optional[str]:
    """Returns a description such as "3 NaN of 256"; None: all elements are
    finite, or value is not numeric. No code of value's class runs."""
    kind = type(value)
    if kind is float or kind is complex:
        return None if cmath.isfinite(value) else repr(value)
    kinds = ancestors(kind)
    if of_torch.is_tensor(kinds):
        return _of_torch(value)
    if loaded("numpy", "ndarray") in kinds:
        # A view as plain ndarray: no method of a subclass is called.
        numpy = sys.modules["numpy"]
        plain = numpy.ndarray.view(value, numpy.ndarray)
        mask = facts.mask_of(value)
        if mask is None:
            return _of_numpy(plain)
        if mask.dtype != numpy.bool_ or mask.shape != plain.shape:
            raise ValueError("the mask does not have one bool for each "
                             "element")
        # Masked elements do not count.
        return _of_numpy(plain[~mask])
    if of_pandas.is_series(value):
        found = of_pandas.opened(value)
        if found.array is None:
            return None
        return _of_numpy(found.array if found.mask is None
                         else found.array[~found.mask])
    if of_jax.is_array(value):
        return _of_jax(value)
    if loaded("numpy", "generic") in kinds and \
            class_name(kind).startswith("numpy."):
        return _of_numpy(sys.modules["numpy"].asarray(value))
    return _of_array(value) if array.array in kinds else None


# By id() of a tensor: a weak reference to it, and its stamp.
_Stamps = Dict[int, Tuple["weakref.ref[Any]", Tuple[Any, ...]]]


def _is_known(known: _Stamps, value: Any, now: Tuple[Any, ...]) -> bool:
    """True if `value` itself, not another tensor with the same id(), was
    checked with the stamp `now`."""
    of, before = known.get(id(value), (None, None))
    return of is not None and of() is value and before == now


def find(value: Any, text: str, finite: _Stamps) -> Optional[str]:
    """Returns "loss is nan" or "fc.weight of model is 3 NaN of 256"; None: all
    elements are finite. `text` is the expression. `finite` has the stamps of
    tensors in value that were finite at the last check, which are skipped if
    unchanged; it is updated."""
    known = dict(finite)
    finite.clear()
    for each in parameters.find(value, text, False) or [
            parameters.Found(text, "parameter", value)]:
        now = stamp(each.value)
        found = None
        if now is None or not _is_known(known, each.value, now):
            found = describe(each.value)
        if found is not None:
            return "%s%s is %s" % (
                each.name, "" if each.value is value else " of " + text,
                found)
        if now is not None:
            finite[id(each.value)] = weakref.ref(each.value), now
    return None


class Nan:
    """A NaN watch; same interface as changes.Change."""

    def __init__(self, id: int, path: Path, code: CodeType) -> None:
        self.id = id
        self.path = path
        self.frame: Any = code
        self.hits = 0
        self.message: Optional[str] = None
        # If several threads find the NaN at once, only the one that acquires
        # this lock stops.
        self._first = _thread.allocate_lock()
        self._lines: Dict[int, int] = {}  # last line, by id() of the frame
        # stamp of the value itself, if it is a tensor
        self._whole: _Stamps = {}
        self._finite: _Stamps = {}
        self._next = 0.0

    def look(self, frame: FrameType, event: str) -> Optional[str]:
        before = self._lines.pop(id(frame), None)
        if event == "line":
            self._lines[id(frame)] = frame.f_lineno or 0
        if self.hits:
            return None
        try:
            found = self._find(frame)
        except Exception as error:
            if is_for_program(error):
                raise
            self.message = "the variable cannot be checked: %s" % error
            return None
        if found is None or not self._first.acquire(False):
            return None
        self.hits = 1
        made = "" if before is None else ", since line %d" % before
        return found + made

    def _find(self, frame: FrameType) -> Optional[str]:
        value = read(self.path, frame)
        now = None if value is MISSING else stamp(value)
        if value is MISSING:
            return None
        if now is not None:
            if _is_known(self._whole, value, now):
                return None
            self._whole = {id(value): (weakref.ref(value), now)}
            return find(value, self.path.text, {})
        if time.monotonic() < self._next:
            return None
        # CPU time, not elapsed time: what other threads and processes take
        # must not postpone the next check.
        begun = time.thread_time()
        found = find(value, self.path.text, self._finite)
        took = time.thread_time() - begun
        if took > _SHORT:
            self._next = time.monotonic() + took / _SHARE
        return found

    def end(self) -> None:
        self.frame = None


class Nans:
    """The NaN watches of all owners."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.RLock()
        self._owners: Dict[str, List[Tuple[Nan, Any]]] = {}

    def set(self, owner: str, nans: List[Nan]) -> None:
        """Replaces all NaN watches of that owner."""
        with self._lock:
            before = self._owners.pop(owner, [])
            for nan, watcher in before:
                if nan not in nans:
                    self._engine.unwatch_code(nan.frame, watcher)
                    nan.end()
            kept = [each for each in before if each[0] in nans]
            known = [nan for nan, _watcher in kept]
            for nan in nans:
                if nan not in known:
                    watcher = functools.partial(_look, nan)
                    kept.append((nan, watcher))
                    self._engine.watch_code(nan.frame, watcher)
            if kept:
                self._owners[owner] = kept

    def close(self) -> None:
        with self._lock:
            for owner in list(self._owners):
                self.set(owner, [])


def _look(nan: Nan, frame: FrameType, event: str) -> Optional[Reached]:
    """The engine calls this in the thread that executes the frame."""
    said = nan.look(frame, event)
    return None if said is None else Reached(REASON, [nan.id], said)
