"""Below Python 3.13 what a frame has for f_locals is a copy, which has two
traps.

It stays with the frame: who looks at a function that runs for hours keeps
what its names stood for then, tensors too, until it returns. And when a trace
function of Python's returns, the interpreter writes the copy back, over what
other threads have given meanwhile to names that a closure shares with them.
"""
from __future__ import annotations

import sys
from _thread import get_ident
from functools import partial
from itertools import compress
from operator import eq, is_
from types import FrameType
from typing import Any, Callable, List, Optional
from weakref import ref

ARE_COPIES = sys.version_info < (3, 13)
# Of a code object's co_flags.
_OPTIMIZED = 0x1
_VARIOUS = 0x4
# So many arguments a trace function gets.
_ARGUMENTS = 3
COUNT_MAXIMUM = 16
_call: Any = partial.__call__


class Token:
    __slots__ = ("__weakref__",)


def kept_fresh(trace: Callable[..., Any]) -> Callable[..., Any]:
    """A trace function, a method, that takes its frame's copy anew as the
    last it does. What it sets in the frame is set there, not in the copy."""
    if not ARE_COPIES:
        return trace

    def fresh(self: Any, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if not (code.co_freevars or code.co_cellvars):
            return trace(self, frame, event, arg)
        token: Any = Token()
        # The end of the token is where the copy is taken. Nothing behind it
        # could let go of the GIL, as what is called could, up to 3.9.
        _watch = ref(token, partial(getattr, frame, "f_locals"))
        try:
            result = trace(self, frame, event, arg)
        except BaseException:
            token = None
            raise
        token = None
        return result

    return fresh


def _newest(frame: FrameType) -> Any:
    """(thread, its newest frame, the one that this one called) where it is
    on a stack; None: it waits, or is over."""
    for ident, newest in sys._current_frames().items():
        above, step = None, newest
        while step is not None:
            if step is frame:
                return ident, newest, above
            above, step = step, step.f_back  # type: ignore[assignment]
    return None


def _may_trace(above: Optional[FrameType], frame: FrameType) -> bool:
    """It may be a function that traces the frame, or profiles it: its copy
    is just being used."""
    if above is None:
        return False
    code = above.f_code
    if code.co_argcount < _ARGUMENTS and not code.co_flags & _VARIOUS:
        return False
    names = above.f_locals
    return any(value is frame or type(value) is tuple and any(
        part is frame for part in value) for value in list(names.values()))


def _clear(frame: FrameType, count: int, ident: Optional[int],
           newest: Optional[FrameType]) -> bool:
    """Unless somebody else has it, or the thread has gone on: these are
    calls in C, with nothing between that could let go of the GIL."""
    names: Any = frame.f_locals
    code = frame.f_code
    size = len(names)
    if not names.keys() <= {*code.co_varnames, *code.co_cellvars,
                            *code.co_freevars}:
        # exec() has put some there, a client or the program itself.
        return False
    newest_now = map(dict.get, map(_call, [partial(sys._current_frames)]),
                     [ident])
    counts = map(_call, [partial(sys.getrefcount, names)])
    sizes = map(len, [names])
    any(map(_call, compress(compress(compress(
        [partial(names.clear)], map(is_, newest_now, [newest])),
        map(eq, counts, [count])), map(eq, sizes, [size]))))
    return not names


def _count() -> int:
    """How many _clear() finds where nobody else has it; -1: not known."""
    def waiting(name: str = "") -> Any:
        yield sys._getframe()

    made = waiting()
    frame = next(made)
    for count in range(COUNT_MAXIMUM):
        if _clear(frame, count, None, None):
            return count
    return -1


_known: List[int] = []


def let_go(frame: FrameType) -> None:
    """Of its copy, if it is safe to: the program may have it by locals(), or
    a function may trace the frame."""
    if _may_have_one(frame):
        _let_go(frame, _newest(frame))


def let_all_go() -> None:
    """Those of all frames on stacks."""
    if not ARE_COPIES:
        return
    for ident, newest in list(sys._current_frames().items()):
        above, step = None, newest
        while step is not None:
            if _may_have_one(step):
                _let_go(step, (ident, newest, above))
            above, step = step, step.f_back  # type: ignore[assignment]


def _may_have_one(frame: FrameType) -> bool:
    return ARE_COPIES and bool(frame.f_code.co_flags & _OPTIMIZED) and \
        frame.f_trace is None


def _let_go(frame: FrameType, found: Any) -> None:
    if not _known:
        _known.append(_count())
    ident: Optional[int] = None
    newest: Optional[FrameType] = None
    if found is not None:
        if _may_trace(found[2], frame):
            return
        if found[0] != get_ident():
            ident, newest = found[:2]
    _clear(frame, _known[0], ident, newest)
