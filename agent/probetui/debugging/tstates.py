"""Sets trace functions of other running threads, below Python 3.12, and tells
whether a thread is in a trace function.

Does for another thread what sys.settrace() does: with the C function
_PyEval_SetTrace (3.9 to 3.11), or with the same memory writes (3.8). Offsets
in PyThreadState are found by a comparison of the calling thread's own state
before and after a change. Pointers are read through /proc/self/mem, so that an
invalid one gives an error. The checks that a thread state still belongs to the
thread and is unchanged, and the change itself, are calls in C, between which
the GIL is not released.
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
        raise OSError("the thread state cannot be read completely")
    return struct.unpack("%dQ" % WORDS, data)


def _own() -> int:
    function = _api.PyThreadState_Get
    function.restype = ctypes.c_void_p
    return int(function())


# Offset of recursion_depth in PyThreadState of 3.8 and 3.9: after four
# pointers.
_DEPTH = 4 * WORD
# Minimum distance to the recursion limit: 50 for CPython's low-water mark
# (_Py_RecursionLimitLowerWaterMark()), below which `overflowed` is reset, and
# the frames of a callback.
_MARGIN = 60
_current = _api.PyThreadState_Get if sys.version_info < (3, 10) else None
if _current is not None:
    _current.restype = ctypes.c_void_p


def has_room() -> bool:
    """False if this thread is so near the recursion limit that an error in
    agent code would abort the process: up to 3.9, once a RecursionError was
    caught near the limit, no further one is raised; 50 frames beyond the
    limit, CPython aborts."""
    if _current is None:
        return True
    depth = ctypes.c_int.from_address(_current() + _DEPTH).value
    limit = sys.getrecursionlimit()
    return bool(depth < limit - _MARGIN)


def _calibrate() -> Dict[str, int]:
    """Returns offsets in PyThreadState, and the address of the C function that
    calls Python trace functions. Raises OSError if they cannot be found."""
    if sys.gettrace() is not None:
        raise OSError("the current thread has a trace function")
    own = _own()
    with open("/proc/self/mem", "rb", buffering=0) as file:
        # While this thread is traced, call no Python function.
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
        raise OSError("the layout of the thread state is unknown")
    return {"object": at * WORD, "function": (at - 2) * WORD,
            "ident": plain.index(_thread.get_ident()) * WORD,
            "trampoline": traced[at - 2], "interpreter": interpreter}


# The field `tracing` is within this many ints of PyThreadState, in all
# versions.
_INTS = 48
_tracing_layout: Optional[Dict[str, int]] = None


def tracing(ident: int) -> Any:
    """Returns tstate->tracing of a thread as a ctypes.c_int: not 0 while the
    thread is in a trace or profile function. Valid as long as the thread has a
    frame. Raises OSError if it cannot be found."""
    global _tracing_layout
    if _tracing_layout is None:
        _tracing_layout = _find_tracing()
    layout = _tracing_layout
    state = _own() if ident == _thread.get_ident() else _find(ident, layout)
    return ctypes.c_int.from_address(state + layout["tracing"])


def _find_tracing() -> Dict[str, int]:
    """Finds the offset of `tracing`: the only int of this thread's state that
    is 1 in a trace function, and 0 before and after it."""
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
        raise OSError("the layout of the thread state is unknown")
    return {"tracing": found.pop() * 4, "ident": words.index(ident) * WORD,
            "interpreter": words[INTERPRETER // WORD]}


def _within(own: int, ints: Any) -> list:
    """Returns the ints of this thread's state as they are during a trace
    function."""
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
    # pydevd replaces sys.settrace() by a Python function that prints a
    # warning.
    if sys.gettrace() is not None or sys.getprofile() is not None or \
            type(sys.settrace) is not type(sys.gettrace):
        raise OSError("the current thread has a trace function")
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
    """Returns the address of the thread's PyThreadState: the last one in the
    list with its ident. States that the thread has prepared for threads that
    do not run yet have the same ident, and come earlier. Raises OSError."""
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
                raise OSError("a thread has exited meanwhile")
            if words[layout["ident"] // WORD] == ident:
                found = state
            state = words[NEXT // WORD]
    if not found:
        raise OSError("the thread state was not found")
    return found


def set_trace(ident: int, trace: Any, is_ours: Callable[[Any], bool]) -> Any:
    """Sets the trace function of a thread; trace None: removes it. Returns
    None if the thread now has it, FOREIGN if it has one of the program's,
    UNREACHED if it cannot be set."""
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
                # If a thread ended meanwhile, the memory that was read may
                # contain anything.
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
    # A reference keeps the address from being reused until the end.
    former = _take(before, checks) if before else None
    if before and not is_ours(former):
        return FOREIGN
    _run(checks + _steps(layout, state, before, trace))
    if before and sys.version_info < (3, 9):
        # Drop the thread's reference; `former` keeps the object alive until
        # the end.
        ctypes.pythonapi.Py_DecRef(ctypes.c_void_p(before))
    return None


def _run(steps: list) -> None:
    """Calls the steps in order, without bytecode in between. Stops at the
    first one that returns neither None nor 0, and raises OSError."""
    if any(map(functools.partial.__call__, steps)):
        raise OSError("the thread state has changed meanwhile")


def _take(address: int, checks: list) -> Any:
    """Returns the object at address with a new reference. The thread may drop
    its own reference at any time, but not during the steps."""
    at = ctypes.c_void_p(address)
    _run(checks + [functools.partial(_own_reference(), at)])
    try:
        return ctypes.cast(at, ctypes.py_object).value
    finally:
        ctypes.pythonapi.Py_DecRef(at)


def _own_reference() -> Any:
    """Returns Py_IncRef as a step: a function that returns None."""
    take = _api.Py_IncRef
    take.restype = None
    return take


def _check(at: int, data: bytes) -> Any:
    """Returns a step that returns 0 if the memory at `at` contains data."""
    compare = _api.memcmp
    compare.restype = ctypes.c_int
    return functools.partial(
        compare, ctypes.c_void_p(at),
        ctypes.create_string_buffer(data, len(data)),
        ctypes.c_size_t(len(data)))


# The last trace functions that were set. A thread may still be in a call of
# one that another thread has replaced, and then has no reference to it.
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
    """Returns the steps for 3.8, which has no _PyEval_SetTrace: writes the
    thread's fields and the interpreter's count of traced threads."""
    set_memory = _api.memmove
    set_memory.restype = None  # returns None
    steps = []

    def write(at: int, data: bytes) -> None:
        buffer = ctypes.create_string_buffer(data, len(data))
        steps.append(functools.partial(
            set_memory, ctypes.c_void_p(at), buffer,
            ctypes.c_size_t(len(data))))

    count = _find_count()
    profiled = _words(state)[layout["function"] // WORD - 1]
    if bool(before) != bool(address):
        # New threads change this count, too, so it is checked first.
        now = ctypes.c_int.from_address(count).value
        steps.append(_check(count, struct.pack("i", now)))
        write(count, struct.pack("i", now + (1 if address else -1)))
    if address:
        # The thread's own reference, which the next change drops.
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
    """Returns the address of the count of traced threads in 3.8's _PyRuntime.
    """
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
        raise OSError("the count of traced threads was not found")
    _count = start + 4 * found.pop()
    return _count
