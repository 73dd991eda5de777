"""Trace functions of threads that run already, below Python 3.12, and whether
a thread is just calling one.

What sys.settrace() does is done for another thread: by the interpreter's own
function for it (3.9 to 3.11), or as that does it (3.8). Where things are in a
thread's state is found out in the state of the thread that asks, and what is
read through a pointer is read so that a bad one gives an error. That a thread
is still the one that is meant, and that nothing of it has changed since it was
read, and the change, are calls in C with nothing between them that could let
go of the GIL.
"""
from __future__ import annotations

import _thread
import collections
import ctypes
import functools
import os
import struct
import sys
import threading
from typing import Any, Callable, Deque, Dict, Optional

FOREIGN = "foreign"
UNREACHED = "unreached"
TRIES = 3
WORD = 8
WORDS = 64
THREADS_MAXIMUM = 100000
NEXT, INTERPRETER = 8, 16

_api = ctypes.PyDLL(None)
_layout: Optional[Dict[str, int]] = None
_seat = threading.RLock()


def _marker(*_: Any) -> None:
    return None


def _words(address: int) -> Any:
    with open("/proc/self/mem", "rb", buffering=0) as file:
        return _read(file, address)


def _read(file: Any, address: int) -> Any:
    data = os.pread(file.fileno(), WORD * WORDS, address)
    if len(data) != WORD * WORDS:
        raise OSError("a thread's state is cut")
    return struct.unpack("%dQ" % WORDS, data)


def _own() -> int:
    function = _api.PyThreadState_Get
    function.restype = ctypes.c_void_p
    return int(function())


# struct _ts of 3.8 and 3.9: its depth stands behind four pointers.
_DEPTH = 4 * WORD
# Above the mark below which CPython forgets that the limit was reached
# (_Py_RecursionLimitLowerWaterMark()), and what a callback takes.
_MARGIN = 60
_current = _api.PyThreadState_Get if sys.version_info < (3, 10) else None
if _current is not None:
    _current.restype = ctypes.c_void_p


def has_room() -> bool:
    """This thread is not so near the limit of recursion that an error of ours
    would end the process: up to 3.9, where RecursionError is caught near the
    limit, no other one is raised before the depth is 50 beyond it, and there
    CPython aborts."""
    if _current is None:
        return True
    depth = ctypes.c_int.from_address(_current() + _DEPTH).value
    limit = sys.getrecursionlimit()
    return bool(depth < limit - _MARGIN)


def _calibrate() -> Dict[str, int]:
    """Offsets, and the C function that calls trace functions."""
    if sys.gettrace() is not None:
        raise OSError("this thread is traced")
    own = _own()
    with open("/proc/self/mem", "rb", buffering=0) as file:
        # No function of Python's is called while it is traced.
        number = file.fileno()
        sys.settrace(_marker)
        try:
            data = os.pread(number, WORD * WORDS, own)
        finally:
            sys.settrace(None)
        traced = struct.unpack("%dQ" % WORDS, data)
    plain = _words(own)
    at = traced.index(id(_marker))
    main = _api.PyInterpreterState_Main
    main.restype = ctypes.c_void_p
    interpreter = main()
    if plain[at] or not traced[at - 2] or plain[at - 2] or \
            plain[INTERPRETER // WORD] != interpreter:
        raise OSError("a thread's state is laid out otherwise")
    return {"object": at * WORD, "function": (at - 2) * WORD,
            "ident": plain.index(_thread.get_ident()) * WORD,
            "trampoline": traced[at - 2], "interpreter": interpreter}


# Of a thread's state: all have `tracing` within so many ints.
_INTS = 48
_tracing_layout: Optional[Dict[str, int]] = None


def tracing(ident: int) -> Any:
    """The count, a ctypes.c_int, of the functions that trace or profile this
    thread and that it is just calling: tstate->tracing. It is there as long
    as the thread has a frame. OSError: it cannot be found."""
    global _tracing_layout
    if _tracing_layout is None:
        _tracing_layout = _find_tracing()
    layout = _tracing_layout
    state = _own() if ident == _thread.get_ident() else _find(ident, layout)
    return ctypes.c_int.from_address(state + layout["tracing"])


def _find_tracing() -> Dict[str, int]:
    """In the state of this thread, as what changes by that alone."""
    own = _own()
    words = _words(own)
    main = _api.PyInterpreterState_Main
    main.restype = ctypes.c_void_p
    ints = (ctypes.c_int * _INTS).from_address(own)
    found = set(range(_INTS))
    for _ in range(TRIES):
        before = list(ints)
        within = _within(own, ints)
        found = {at for at in found if (before[at], within[at], ints[at]) ==
                 (0, 1, 0)}
    ident = _thread.get_ident()
    if len(found) != 1 or words[INTERPRETER // WORD] != main() or \
            ident not in words:
        raise OSError("a thread's state is laid out otherwise")
    return {"tracing": found.pop() * 4, "ident": words.index(ident) * WORD,
            "interpreter": words[INTERPRETER // WORD]}


def _within(own: int, ints: Any) -> list:
    """What this thread's state is while it calls such a function."""
    if sys.version_info >= (3, 11):
        change = _api.PyThreadState_EnterTracing, \
            _api.PyThreadState_LeaveTracing
        for each in change:
            each.restype = None
        change[0](ctypes.c_void_p(own))
        try:
            return list(ints)
        finally:
            change[1](ctypes.c_void_p(own))
    # pydevd puts a function that warns in the place of sys.settrace().
    if sys.gettrace() is not None or sys.getprofile() is not None or \
            type(sys.settrace) is not type(sys.gettrace):
        raise OSError("this thread is traced")
    seen: list = []

    def trace(*_: Any) -> None:
        seen[:] = ints

    sys.settrace(trace)
    try:
        _marker()
    finally:
        sys.settrace(None)
    return seen or [0] * _INTS


def _find(ident: int, layout: Dict[str, int]) -> int:
    """The state of that thread: the last that has its number. Those that it
    makes for threads that do not run yet have it, too, and stand before."""
    head = _api.PyInterpreterState_ThreadHead
    head.restype = ctypes.c_void_p
    state = head(ctypes.c_void_p(layout["interpreter"]))
    found = 0
    with open("/proc/self/mem", "rb", buffering=0) as file:
        for _ in range(THREADS_MAXIMUM):
            if not state:
                break
            words = _read(file, state)
            if words[INTERPRETER // WORD] != layout["interpreter"]:
                raise OSError("a thread has ended meanwhile")
            if words[layout["ident"] // WORD] == ident:
                found = state
            state = words[NEXT // WORD]
    if not found:
        raise OSError("the thread has no state")
    return found


def set_trace(ident: int, trace: Any, is_ours: Callable[[Any], bool]) -> Any:
    """None: it has this trace function (None: none) now. FOREIGN: it has one
    of the program's. UNREACHED: it could not be done."""
    global _layout
    if ident == _thread.get_ident():
        if sys.gettrace() is not None and not is_ours(sys.gettrace()):
            return FOREIGN
        sys.settrace(trace)
        return None
    with _seat:
        for _ in range(TRIES):
            try:
                if _layout is None:
                    _layout = _calibrate()
                return _set(_layout, ident, trace, is_ours)
            except (OSError, OverflowError, ValueError, AttributeError,
                    struct.error):
                # When a thread ended meanwhile, what was read of it can be
                # anything.
                pass
    return UNREACHED


def _set(layout: Dict[str, int], ident: int, trace: Any,
         is_ours: Callable[[Any], bool]) -> Any:
    state = _find(ident, layout)
    before = _words(state)[layout["object"] // WORD]
    if before == (id(trace) if trace is not None else 0):
        return None
    checks = [_check(state + layout["ident"], struct.pack("Q", ident)),
              _check(state + layout["object"], struct.pack("Q", before))]
    # Kept until the end: nothing else comes to its address.
    former = _take(before, checks) if before else None
    if before and not is_ours(former):
        return FOREIGN
    _run(checks + _steps(layout, state, before, trace))
    if before and sys.version_info < (3, 9):
        # The thread's reference, which `former` outlives.
        ctypes.pythonapi.Py_DecRef(ctypes.c_void_p(before))
    return None


def _run(steps: list) -> None:
    """Nothing of this is bytecode; what gives not zero is the last."""
    if any(map(functools.partial.__call__, steps)):
        raise OSError("the thread has changed meanwhile")


def _take(address: int, checks: list) -> Any:
    """The object there, which the thread may let go of at any time but
    within the steps."""
    at = ctypes.c_void_p(address)
    _run(checks + [functools.partial(_own_reference(), at)])
    try:
        return ctypes.cast(at, ctypes.py_object).value
    finally:
        ctypes.pythonapi.Py_DecRef(at)


def _own_reference() -> Any:
    """A function that takes one, as a step: it gives None."""
    take = _api.Py_IncRef
    take.restype = None
    return take


def _check(at: int, data: bytes) -> Any:
    """A step that gives zero when this is there."""
    compare = _api.memcmp
    compare.restype = ctypes.c_int
    return functools.partial(
        compare, ctypes.c_void_p(at),
        ctypes.create_string_buffer(data, len(data)),
        ctypes.c_size_t(len(data)))


# What was set lately: a thread may be within a call of one that another thread
# has replaced, and has no reference to it then.
KNOWN_MAXIMUM = 16
_known: Deque[Any] = collections.deque(maxlen=KNOWN_MAXIMUM)


def _steps(layout: Dict[str, int], state: int, before: int,
           trace: Any) -> list:
    address = id(trace) if trace is not None else 0
    function = layout["trampoline"] if address else 0
    if address and not any(each is trace for each in list(_known)):
        _known.append(trace)
    if sys.version_info >= (3, 9):
        change = _api._PyEval_SetTrace
        change.restype = ctypes.c_int
        return [functools.partial(change, ctypes.c_void_p(state),
                                  ctypes.c_void_p(function or None),
                                  ctypes.c_void_p(address or None))]
    return _steps_by_hand(layout, state, before, address, function)


def _steps_by_hand(layout: Dict[str, int], state: int, before: int,
                   address: int, function: int) -> list:
    """3.8 has no such function. The thread's fields, and how many threads
    may be traced."""
    set_memory = _api.memmove
    set_memory.restype = None       # it gives None
    steps = []

    def write(at: int, data: bytes) -> None:
        buffer = ctypes.create_string_buffer(data, len(data))
        steps.append(functools.partial(
            set_memory, ctypes.c_void_p(at), buffer,
            ctypes.c_size_t(len(data))))

    count = _find_count()
    profiled = _words(state)[layout["function"] // WORD - 1]
    if bool(before) != bool(address):
        # Threads that begin meanwhile are counted there, too.
        now = ctypes.c_int.from_address(count).value
        steps.append(_check(count, struct.pack("i", now)))
        write(count, struct.pack("i", now + (1 if address else -1)))
    if address:
        # The thread's reference, which the next change gives back.
        steps.append(functools.partial(_own_reference(),
                                       ctypes.c_void_p(address)))
    write(state + layout["function"], struct.pack("Q", 0))
    write(state + layout["object"], struct.pack("Q", address))
    write(state + layout["function"], struct.pack("Q", function))
    write(state + layout["function"] - WORD - 4,
          struct.pack("i", 1 if address or profiled else 0))
    return steps


_count: Optional[int] = None
RUNTIME_INTS = 1024


def _find_count() -> int:
    """Where 3.8 counts the threads that are traced."""
    global _count
    if _count is not None:
        return _count
    start = ctypes.addressof(ctypes.c_int.in_dll(_api, "_PyRuntime"))
    form = ctypes.c_int * RUNTIME_INTS
    found = set(range(RUNTIME_INTS))
    for _ in range(4):
        plain = list(form.from_address(start))
        sys.settrace(_marker)
        traced = list(form.from_address(start))
        sys.settrace(None)
        again = list(form.from_address(start))
        found = {at for at in found
                 if traced[at] == plain[at] + 1 == again[at] + 1}
    if len(found) != 1:
        raise OSError("no count of traced threads")
    _count = start + 4 * found.pop()
    return _count
