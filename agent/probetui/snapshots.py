"""Below Python 3.13 what a frame has for f_locals is a copy, which has two
traps.

It stays with the frame: who looks at a function that runs for hours keeps
what its names stood for then, tensors too, until it returns. And when a trace
function of Python's returns, the interpreter writes the copy back, over what
other threads have given meanwhile to names that a closure shares with them.
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
# Of a code object's co_flags.
_OPTIMIZED = 0x1
_VARIOUS = 0x4
_GENERATOR = 0x20 | 0x80 | 0x200
# So many arguments a trace function gets.
_ARGUMENTS = 3
COUNT_MAXIMUM = 16
_call: Any = partial.__call__


class Watch(ref):  # type: ignore[type-arg]
    """Takes the copy of its frame's names anew when its token ends."""

    __slots__ = ("frame",)


# Both are C: no bytecode runs between the end of the token and the copy.
take_anew: Any = attrgetter("frame.f_locals")
# By thread: a token from its making until a trace function has it on its
# stack of values. No name stands for it there: a copy of the trace function's
# own names, which another thread can make and keep, would keep the token.
tokens: Dict[int, Any] = {}


def kept_fresh(trace: Callable[..., Any]) -> Callable[..., Any]:
    """A trace function, a method, that takes its frame's copy anew as the
    last it does. What it sets in the frame is set there, not in the copy."""
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
        # Behind trace() no instruction up to the return lets go of the GIL:
        # CPython looks for who wants it where calls end (3.8, 3.9: not after
        # those of FAST_DISPATCH()) and where jumps go back.
        token = None  # noqa: F841
        return result

    return fresh


def shares_names(code: CodeType) -> bool:
    """Other threads may have functions with names of a frame of this code
    that is just called, or resumed."""
    return bool(code.co_freevars or code.co_cellvars
                and code.co_flags & _GENERATOR)


def _stacks() -> Any:
    """(thread, its newest frame) of each. Of this one, first, that of who
    calls: a frame that has itself would stay until garbage is collected."""
    frames = sys._current_frames()
    frames.pop(get_ident(), None)
    return [(get_ident(), sys._getframe(2)), *frames.items()]


def _newest(frame: FrameType) -> Any:
    """(thread, its newest frame, the one that this one called) where it is
    on a stack; None: it waits, or is over."""
    for ident, newest in _stacks():
        above, step = None, newest
        while step is not None:
            if step is frame:
                return ident, newest, above
            above, step = step, step.f_back
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


_f_back: Any = attrgetter("f_back")
_value: Any = attrgetter("value")


def _clear(frame: FrameType, count: int, conditions: List[Any]) -> bool:
    """Unless somebody else has it, or one of the conditions, iterators, gives
    something false: these are calls in C, with nothing between that could let
    go of the GIL."""
    names: Any = frame.f_locals
    code = frame.f_code
    size = len(names)
    if not names.keys() <= {*code.co_varnames, *code.co_cellvars,
                            *code.co_freevars}:
        # exec() has put some there, a client or the program itself.
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
    """Conditions: no thread runs this frame, of a generator. One that does is
    told by what called it; without that, it would be the first of a thread,
    which nothing profiles yet."""
    return [map(is_, map(_f_back, [frame]), [None])]


def _stays(ident: int, newest: FrameType, tracing: Any) -> List[Any]:
    """Conditions: the thread has not gone on, and is in no function that
    traces or profiles it. After such a one CPython writes the copy back, and
    what is not there is unset: the function may have lost its name for the
    frame, may have given way to what is run when its own names end, or may be
    no function of Python's."""
    found = map(dict.get, map(_call, [partial(sys._current_frames)]), [ident])
    return [map(is_, found, [newest]), map(not_, map(_value, [tracing]))]


def _count() -> int:
    """How many _clear() finds where nobody else has it; -1: not known."""
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
    """Of its copy, if it is safe to: the program may have it by locals(), or
    a function may trace the frame."""
    if _may_have_one(frame):
        _let_go(frame, _newest(frame))


def let_all_go() -> None:
    """Those of all frames on stacks."""
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


# Some copies stay until their threads have gone on.
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
    # The calling thread runs meanwhile: of it nothing can be compared.
    _clear(frame, _known[0], _stays(ident, newest, tracing)
           if ident != get_ident() else [])


def _tracing(ident: int) -> Any:
    """None: it cannot be known, and the copy stays."""
    try:
        from .debugging import tstates

        return tstates.tracing(ident)
    except (ImportError, AttributeError, OSError, OverflowError, ValueError,
            error):
        return None
