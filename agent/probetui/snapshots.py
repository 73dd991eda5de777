"""Copies of local variables. Below Python 3.13, frame.f_locals is a dict that
copies the frame's variables (PEP 667 describes the problems).

The frame keeps the copy: after a read of f_locals, the values of that moment,
tensors too, stay alive until the function returns, which may take hours. And
when a Python trace function returns, CPython writes the copy back to the
frame, and so overwrites what other threads have assigned meanwhile to
variables that a closure shares with them.
"""
from __future__ import annotations

import sys
from _thread import allocate_lock, get_ident
from functools import partial
from itertools import compress
from operator import attrgetter, eq, is_, not_
from struct import error
from types import CodeType, FrameType
from typing import Any, Callable, Dict, List, Optional
from weakref import ref

ARE_COPIES = sys.version_info < (3, 13)
# Flags of code.co_flags: CO_OPTIMIZED, CO_VARARGS, and CO_GENERATOR |
# CO_COROUTINE | CO_ASYNC_GENERATOR.
_OPTIMIZED = 0x1
_VARIOUS = 0x4
_GENERATOR = 0x20 | 0x80 | 0x200
# Number of arguments of a trace function.
_ARGUMENTS = 3
COUNT_MAXIMUM = 16
_call: Any = partial.__call__


class Watch(ref):  # type: ignore[type-arg]
    """A weak reference to a token. Its callback reads `frame.f_locals`, which
    refreshes the frame's copy, when the token is freed."""

    __slots__ = ("frame",)


# Weak reference and callback are implemented in C: no bytecode runs between
# the end of the token and the refresh.
take_anew: Any = attrgetter("frame.f_locals")
# Keys are thread idents; a value is a token from its creation until it is on
# the trace function's value stack. The token has no local name: another thread
# may read f_locals of the trace function, and that copy would keep it alive.
tokens: Dict[int, Any] = {}


def kept_fresh(trace: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a trace method: refreshes the copy in frame.f_locals as
    the last action before the method returns, so that CPython writes back
    current values. The method must change variables in the frame itself, not
    in the copy."""
    if not ARE_COPIES:
        return trace

    def fresh(self: Any, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if not (code.co_freevars or code.co_cellvars):
            return trace(self, frame, event, arg)
        ident = get_ident()
        watch = Watch(tokens.setdefault(ident, allocate_lock()), take_anew)
        watch.frame = frame
        token, result = tokens.pop(ident), trace(self, frame, event, arg)
        # After trace(), no instruction up to the return releases the GIL:
        # CPython releases it only after calls (3.8, 3.9: not after
        # instructions that end with FAST_DISPATCH()) and at backward jumps.
        token = None  # noqa: F841
        return result

    return fresh


def shares_names(code: CodeType) -> bool:
    """True if, when a frame of this code is called or resumed, other threads
    may already have closures that share its variables."""
    return bool(code.co_freevars or code.co_cellvars
                and code.co_flags & _GENERATOR)


def _stacks() -> Any:
    """Returns (thread ident, newest frame) of each thread; first the calling
    thread with the caller's frame. A frame that refers to itself would stay
    alive until garbage is collected."""
    frames = sys._current_frames()
    frames.pop(get_ident(), None)
    return [(get_ident(), sys._getframe(2)), *frames.items()]


def _newest(frame: FrameType) -> Any:
    """Returns (ident, newest frame of the thread, the frame that `frame`
    called) if the frame is on a stack; None if it is suspended or has ended.
    """
    for ident, newest in _stacks():
        above, step = None, newest
        while step is not None:
            if step is frame:
                return ident, newest, above
            above, step = step, step.f_back
    return None


def _may_trace(above: Optional[FrameType], frame: FrameType) -> bool:
    """True if `above`, called by `frame`, may be a trace or profile function
    for that frame: the copy is then in use."""
    if above is None:
        return False
    code = above.f_code
    if code.co_argcount < _ARGUMENTS and not code.co_flags & _VARIOUS:
        return False
    names = above.f_locals
    return any(value is frame or type(value) is tuple and any(
        part is frame for part in value) for value in list(names.values()))


_f_back: Any = attrgetter("f_back")
_value: Any = attrgetter("value")


def _clear(frame: FrameType, count: int, conditions: List[Any]) -> bool:
    """Clears the copy in frame.f_locals, unless its reference count differs
    from `count` (somebody else has it) or one of the iterators in `conditions`
    yields something false. The checks and clear() are calls in C, between
    which the GIL is not released. Returns whether the copy is empty."""
    names: Any = frame.f_locals
    code = frame.f_code
    size = len(names)
    if not names.keys() <= {*code.co_varnames, *code.co_cellvars,
                            *code.co_freevars}:
        # exec() has added names, for a client or for the program itself.
        return False
    steps: Any = [partial(names.clear)]
    for condition in conditions:
        steps = compress(steps, condition)
    counts = map(_call, [partial(sys.getrefcount, names)])
    sizes = map(len, [names])
    any(map(_call, compress(compress(steps, map(eq, counts, [count])),
                            map(eq, sizes, [size]))))
    return not names


def _waits(frame: FrameType) -> List[Any]:
    """Returns the conditions under which no thread runs this suspended frame.
    A running generator has a caller in f_back; without one, it would be the
    outermost frame of a thread, and could not be traced or profiled yet."""
    return [map(is_, map(_f_back, [frame]), [None])]


def _stays(ident: int, newest: FrameType, tracing: Any) -> List[Any]:
    """Returns conditions for _clear(), all true if the thread has not run since
    `newest` was read, and is in no trace or profile function. When such a
    function returns, CPython writes the copy back to the frame: a cleared copy
    would delete the variables. _may_trace() does not recognise each such
    function: it may have deleted its reference to the frame, be running
    finalizers of its own variables, or be written in C."""
    found = map(dict.get, map(_call, [partial(sys._current_frames)]), [ident])
    return [map(is_, found, [newest]), map(not_, map(_value, [tracing]))]


def _count() -> int:
    """Returns the reference count that _clear() finds if nobody else has the
    copy; -1: unknown."""
    def waiting(name: str = "") -> Any:
        yield sys._getframe()

    made = waiting()
    frame = next(made)
    for count in range(COUNT_MAXIMUM):
        if _clear(frame, count, _waits(frame)):
            return count
    return -1


_known: List[int] = []


def let_go(frame: FrameType) -> None:
    """Clears the frame's copy if that is safe: the program may have the dict
    from locals(), or a function may be tracing the frame."""
    if _may_have_one(frame):
        _let_go(frame, _newest(frame))


def let_all_go() -> None:
    """Clears the copies of all frames on all stacks, where that is safe."""
    global has_left
    if not ARE_COPIES:
        return
    has_left = False
    for ident, newest in _stacks():
        above, step = None, newest
        while step is not None:
            if _may_have_one(step):
                _let_go(step, (ident, newest, above))
            above, step = step, step.f_back


def _may_have_one(frame: FrameType) -> bool:
    return ARE_COPIES and bool(frame.f_code.co_flags & _OPTIMIZED) and \
        frame.f_trace is None


# True: some copies could not be cleared and stay until their threads continue.
has_left = False


def _let_go(frame: FrameType, found: Any) -> None:
    if not _known:
        _known.append(_count())
    if found is None:
        _clear(frame, _known[0], _waits(frame))
        return
    ident, newest, above = found
    tracing = _tracing(ident)
    if tracing is None:
        return
    if tracing.value or _may_trace(above, frame):
        global has_left
        has_left = True
        return
    # The calling thread is running, so its newest frame cannot be compared.
    _clear(frame, _known[0], _stays(ident, newest, tracing)
           if ident != get_ident() else [])


def _tracing(ident: int) -> Any:
    """Returns the thread's counter `tracing` as a ctypes object; None if it
    cannot be read: the copy then stays."""
    try:
        from .debugging import tstates

        return tstates.tracing(ident)
    except (ImportError, AttributeError, OSError, OverflowError, ValueError,
            error):
        return None
