"""The threads of this process and their stacks, as Python itself has them."""
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
# Of a code object's co_flags.
_NEW_LOCALS = 0x2

# Threads of the agent, which no answer lists, by numbers: another thread comes
# to the id() of one that has ended. A list of what a dictionary has is made
# without letting go of the GIL; of a WeakSet it is not.
_own: Dict[int, ref[threading.Thread]] = {}
_numbers = itertools.count()


def hide(thread: threading.Thread) -> None:
    """One of ours, before it starts."""
    for key, known in list(_own.items()):
        if known() is None:
            _own.pop(key, None)
    _own[next(_numbers)] = ref(thread)


def own_threads() -> List[threading.Thread]:
    """Those that run."""
    found = [known() for known in list(_own.values())]
    return [thread for thread in found
            if thread is not None and thread.is_alive()]


def untraced(run: Callable[[], None]) -> Callable[[], None]:
    """For a thread of ours: what traces the program, or profiles it, is not
    for it."""
    def begin() -> None:
        _untrace()
        sys.setprofile(None)
        run()

    return begin


def _untrace() -> None:
    """pydevd, which is debugpy's, puts a function that warns on standard error
    in the place of sys.settrace()."""
    if sys.gettrace() is None:
        return
    if type(sys.settrace) is type(sys.gettrace):
        sys.settrace(None)
        return
    with contextlib.suppress(ImportError, AttributeError):
        import ctypes

        ctypes.pythonapi.PyEval_SetTrace(None, None)


def forget() -> None:
    """In a fork: the threads are its parent's."""
    _own.clear()
    _busy.clear()


# The program's threads that do what is the agent's, and may have its locks:
# how deep within it they are.
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
    """Whether the calling thread must not be stopped now, by any client."""
    return threading.get_ident() in _busy


@contextlib.contextmanager
def business() -> Iterator[None]:
    begin_business()
    try:
        yield
    finally:
        end_business()


def own_imports() -> bool:
    """A thread of ours, but for this one, imports something."""
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
    """`threading` starts this thread, and where it does not know it, is just
    beginning or just ending it."""
    while frame is not None and frame.f_back is not None:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_name == "_bootstrap"


def known_threads() -> List[threading.Thread]:
    """As threading.enumerate(), without the lock, which a thread that stands
    may have."""
    return list(threading._active.values())  # type: ignore[attr-defined]


def own_idents() -> Set[int]:
    """Of our threads."""
    # A thread that has ended may have left its number to another one.
    return {thread.ident or 0 for thread in own_threads()}


def thread_frames() -> Dict[int, FrameType]:
    """The newest of each of the program's threads, by ident."""
    # One of ours may begin, or end, meanwhile.
    hidden = own_idents()
    frames = sys._current_frames()
    known = {thread.ident for thread in known_threads()}
    # After those that are known: one of ours that is among them is hidden.
    hidden |= own_idents()
    found = {ident: frame for ident, frame in frames.items()
             if ident not in hidden
             and (ident in known or not begins(frame))}
    # This frame is in there, too: it, and all that those that called it have,
    # would stay for ever where the program collects no garbage.
    frames.clear()
    return found


def place(frame: FrameType) -> Dict[str, Any]:
    code = frame.f_code
    return {"func": getattr(code, "co_qualname", code.co_name),
            "file": code.co_filename, "lineno": frame.f_lineno}


def threads() -> List[Dict[str, Any]]:
    """The main thread first. Without tid: not one of Python's making."""
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
    """The innermost of a thread by the system's number or Python's own;
    None: of the main thread. Gives None where there is no such thread."""
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
    """Of all threads at one time, the main one first: frames as [name,
    qualname or null, file, first line, line], innermost first."""
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
    """Of a dict that others change meanwhile."""
    for _ in range(3):
        try:
            return {name: value for name, value in names.items()
                    if type(name) is str}
        except RuntimeError:
            pass
    return {}


def names_of(frame: FrameType) -> Dict[str, Any]:
    """Its locals, as they are now."""
    for _ in range(3):
        try:
            found = dict(frame.f_locals)
            snapshots.let_go(frame)
            return found
        except RuntimeError:
            # It runs meanwhile, and gets another name.
            pass
    return {}


def is_module(frame: FrameType) -> bool:
    """Its locals are its globals."""
    return not frame.f_code.co_flags & _NEW_LOCALS and \
        frame.f_locals is frame.f_globals


def backtrace(innermost: FrameType) -> List[Dict[str, Any]]:
    """Innermost first."""
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
