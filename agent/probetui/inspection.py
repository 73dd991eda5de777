"""The threads of this process and their stacks, read by Python's own
functions."""
from __future__ import annotations

import contextlib
import itertools
import sys
import threading
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Optional,
    Set,
)
from weakref import ref

from . import snapshots
from .values import describe_names

if TYPE_CHECKING:
    from types import FrameType

FRAMES_MAXIMUM = 256
STACK_MAXIMUM = 1000
THREADS_MAXIMUM = 200
# Flag of code.co_flags: CO_NEWLOCALS.
_NEW_LOCALS = 0x2

# Threads of the agent, which no answer lists. Keys are serial numbers, because
# id() of an ended thread may be used again.
#
# Dicts that threads share are read as list(shared.values()), or by a copy,
# dict(shared).items(): both run no other code. list(shared.items()) may: for
# the tuples that it makes, CPython up to 3.11 may collect garbage, whose
# finalizers let other threads run; so may iterating a WeakSet.
_own: Dict[int, ref[threading.Thread]] = {}
_numbers = itertools.count()


def hide(thread: threading.Thread) -> None:
    """Registers a thread of the agent; called before the thread starts."""
    for key, known in dict(_own).items():
        if known() is None:
            _own.pop(key, None)
    _own[next(_numbers)] = ref(thread)


def own_threads() -> List[threading.Thread]:
    """Returns the agent threads that are running."""
    found = [known() for known in list(_own.values())]
    return [thread for thread in found
            if thread is not None and thread.is_alive()]


def untraced(run: Callable[[], None]) -> Callable[[], None]:
    """Returns the function for an agent thread: removes the trace and profile
    functions that the program installed for all threads, then calls run()."""
    def begin() -> None:
        _untrace()
        sys.setprofile(None)
        run()

    return begin


def _untrace() -> None:
    """Removes this thread's trace function. pydevd (debugpy) replaces
    sys.settrace() by a Python function that prints a warning; then
    PyEval_SetTrace() is called."""
    if sys.gettrace() is None:
        return
    if type(sys.settrace) is type(sys.gettrace):
        sys.settrace(None)
        return
    with contextlib.suppress(ImportError, AttributeError):
        import ctypes

        ctypes.pythonapi.PyEval_SetTrace(None, None)


def forget() -> None:
    """Called in a forked child, which has none of the agent's threads: forgets
    them."""
    _own.clear()
    _busy.clear()


# Program threads that currently execute agent code and may hold locks of the
# agent; values are nesting depths.
_busy: Dict[int, int] = {}


def begin_business() -> None:
    ident = threading.get_ident()
    _busy[ident] = _busy.get(ident, 0) + 1


def end_business() -> None:
    ident = threading.get_ident()
    depth = _busy.pop(ident, 0) - 1
    if depth > 0:
        _busy[ident] = depth


def is_busy() -> bool:
    """True if no client may stop the calling thread now, because it may hold
    locks of the agent."""
    return threading.get_ident() in _busy


@contextlib.contextmanager
def business() -> Iterator[None]:
    begin_business()
    try:
        yield
    finally:
        end_business()


def own_imports() -> bool:
    """True if an agent thread other than this one is importing a module."""
    frames = sys._current_frames()
    found = False
    for ident in own_idents() - {threading.get_ident()}:
        frame = frames.get(ident)
        while frame is not None and not found:
            found = frame.f_code.co_filename.startswith("<frozen importlib")
            frame = frame.f_back
    frames.clear()
    return found


def begins(frame: Optional[FrameType]) -> bool:
    """True if the frame's thread was made by `threading`. If `threading` does
    not list that thread, the thread is just starting or ending."""
    while frame is not None and frame.f_back is not None:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_name == "_bootstrap"


def known_threads() -> List[threading.Thread]:
    """Like threading.enumerate(), but without its lock, which a stopped thread
    may hold."""
    return list(threading._active.values())  # type: ignore[attr-defined]


def own_idents() -> Set[int]:
    """Returns the idents of the agent threads."""
    # own_threads() omits ended threads: their ident may belong to another
    # thread.
    return {thread.ident or 0 for thread in own_threads()}


def thread_frames() -> Dict[int, FrameType]:
    """Returns the newest frame of each thread of the program; keys are idents.
    """
    # An agent thread may start or end between these calls.
    hidden = own_idents()
    frames = sys._current_frames()
    known = {thread.ident for thread in known_threads()}
    # Read after known_threads(): an agent thread that is in `known` is then
    # hidden.
    hidden |= own_idents()
    found = {ident: frame for ident, frame in frames.items()
             if ident not in hidden
             and (ident in known or not begins(frame))}
    # The dict contains this function's frame: that reference cycle would keep
    # the locals of all callers alive if the program has disabled garbage
    # collection.
    frames.clear()
    return found


def place(frame: FrameType) -> Dict[str, Any]:
    code = frame.f_code
    return {"func": getattr(code, "co_qualname", code.co_name),
            "file": code.co_filename, "lineno": frame.f_lineno}


def threads() -> List[Dict[str, Any]]:
    """Lists all threads, the main thread first. tid is None if Python did not
    make the thread."""
    main = threading.main_thread().ident
    known = {thread.ident: thread for thread in known_threads()}
    told = []
    for ident, frame in thread_frames().items():
        thread = known.get(ident)
        told.append({
            "tid": getattr(thread, "native_id", None), "ident": ident,
            "name": thread.name if thread else None,
            "daemon": thread.daemon if thread else None,
            "is_main": ident == main, **place(frame)})
    told.sort(key=lambda thread: not thread["is_main"])
    return told


def find(tid: Optional[int]) -> Optional[FrameType]:
    """Returns the innermost frame of the thread whose tid or ident is `tid`;
    None for the main thread. Returns None if no such thread exists."""
    frames = thread_frames()
    if tid is None:
        return frames.get(threading.main_thread().ident or 0)
    for thread in known_threads():
        if getattr(thread, "native_id", None) == tid:
            return frames.get(thread.ident or 0)
    return frames.get(tid)


def _row(frame: FrameType) -> List[Any]:
    code = frame.f_code
    return [code.co_name, getattr(code, "co_qualname", None),
            code.co_filename, code.co_firstlineno, frame.f_lineno or 0]


def stacks() -> List[Dict[str, Any]]:
    """Returns the stacks of all threads at one time, the main thread first. A
    frame is [name, qualname or None, file, first line, line]; innermost first.
    """
    main = threading.main_thread().ident
    known = {thread.ident: thread for thread in known_threads()}
    told = []
    for ident, innermost in thread_frames().items():
        thread = known.get(ident)
        rows: List[List[Any]] = []
        frame: Optional[FrameType] = innermost
        while frame is not None and len(rows) < STACK_MAXIMUM:
            rows.append(_row(frame))
            frame = frame.f_back
        told.append({
            "tid": getattr(thread, "native_id", None), "ident": ident,
            "name": thread.name if thread else None,
            "is_main": ident == main, "frames": rows})
    told.sort(key=lambda thread: not thread["is_main"])
    return told[:THREADS_MAXIMUM]


def copy_names(names: Any) -> Dict[str, Any]:
    """Copies a dict that other threads may change meanwhile; {} if that fails
    three times."""
    for _ in range(3):
        try:
            return {name: value for name, value in names.items()
                    if type(name) is str}
        except RuntimeError:
            pass
    return {}


def names_of(frame: FrameType) -> Dict[str, Any]:
    """Returns the current local variables of a frame."""
    for _ in range(3):
        try:
            found = dict(frame.f_locals)
            snapshots.let_go(frame)
            return found
        except RuntimeError:
            # The frame is running and got another local variable.
            pass
    return {}


def is_module(frame: FrameType) -> bool:
    """True if the frame runs a module: its locals are its globals."""
    return not frame.f_code.co_flags & _NEW_LOCALS and \
        frame.f_locals is frame.f_globals


def backtrace(innermost: FrameType) -> List[Dict[str, Any]]:
    """Returns the frames of one stack with their locals, innermost first."""
    told = []
    frame: Optional[FrameType] = innermost
    while frame is not None and len(told) < FRAMES_MAXIMUM:
        told.append(dict(place(frame), depth=len(told), frame_type="python",
                         locals=describe_names(names_of(frame))))
        frame = frame.f_back
    left_out = 0
    while frame is not None:
        left_out += 1
        frame = frame.f_back
    if left_out:
        told.append({"depth": FRAMES_MAXIMUM, "frame_type": "left_out",
                     "count": left_out})
    return told
