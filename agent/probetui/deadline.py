"""Interrupts evaluated code that runs longer than its timeout: a trace
function raises TimeIsUp in it.

PyThreadState_SetAsyncExc() is not used: it raises at any instruction, also in
a finalizer (where CPython prints the exception and drops it), in code of the
agent, or after the evaluated code has ended. A Deadline raises only at a line
event or a backward jump, in a frame of the evaluated text or of a function
that the text has demonstrably called; never in a finalizer, a weak reference's
callback, an import, or code of the agent. Code that runs in C, or never
reaches such a line, cannot be interrupted: the answer to the client says so.
"""
from __future__ import annotations

import dis
import os
import sys
from _thread import allocate_lock, get_ident
from types import CodeType, FrameType
from typing import Any, Callable, Dict, List, Optional
from weakref import ReferenceType

from .snapshots import kept_fresh

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
HAS_MONITORING = sys.version_info >= (3, 12)
# Tool ids of sys.monitoring to try, in this order: 4 and 3 are reserved for no
# kind of tool, 5 is for optimizers, 2 for profilers (PEP 669).
TOOLS = (4, 3, 5, 2)
DEPTH_MAXIMUM = 10000
# Names of code that agent frames call legitimately: the evaluated text, and
# what makes the text of its value.
_CALLED_BY_US = ("<module>", "<lambda>", "__repr__", "__str__")


class TimeIsUp(BaseException):
    """Raised in evaluated code whose timeout has expired."""


def _is_ours(trace: Any) -> bool:
    return type(getattr(trace, "__self__", None)).__module__.startswith(
        __package__ + ".")


def _calls(caller: FrameType) -> bool:
    """True if the caller's current instruction is a call. An instruction that
    drops a reference (and so may run a finalizer) is not one."""
    code, at = caller.f_code.co_code, caller.f_lasti
    while at > 0 and dis.opname[code[at]] == "CACHE":
        at -= 2
    return at >= 0 and dis.opname[code[at]].startswith(("CALL", "PRECALL"))


def _names(code: CodeType) -> tuple:
    return code.co_names + code.co_varnames + code.co_cellvars + \
        code.co_freevars


def _is_callback(frame: FrameType) -> bool:
    """True if frame looks like the callback of a weak reference: its only
    argument is a weakref."""
    code = frame.f_code
    return code.co_argcount == 1 and isinstance(
        frame.f_locals.get(code.co_varnames[0]), ReferenceType)


def _is_called(frame: FrameType, caller: FrameType) -> bool:
    """True if the caller's code object shows that it calls frame's function by
    name or as a constant; False if that is uncertain."""
    code = frame.f_code
    by_us = caller.f_code.co_filename.startswith(PACKAGE)
    if code.co_filename.startswith(PACKAGE):
        return by_us
    if by_us:
        return code.co_name in _CALLED_BY_US and not _is_callback(frame)
    return code.co_name != "__del__" and _calls(caller) and (
        code.co_name in _names(caller.f_code) or
        code in caller.f_code.co_consts) and not _is_callback(frame)


class Deadline:
    """The timeout of one evaluation in one thread. expire() is called by any
    thread, all other methods by the thread that evaluates."""

    def __init__(self) -> None:
        self._ident = get_ident()
        self._seat = allocate_lock()
        self._base: Optional[FrameType] = None
        self._is_over = False
        self._is_due = False  # expire() was called, possibly before run()
        self._has_raised = False
        self._tool: Optional[int] = None
        self._codes: List[CodeType] = []
        self._is_traced = False
        self.trace = self._trace

    def run(self, function: Callable[[], Any], is_standing: bool) -> None:
        """Calls function with the deadline armed. `is_standing`: the thread is
        stopped in a trace or monitoring callback, where CPython disables
        tracing; sys.call_tracing() enables tracing for function. If expire()
        was called first, function is not called."""
        previous = sys.gettrace()
        is_foreign = previous is not None and not _is_ours(previous)
        try:
            with self._seat:
                self._base = sys._getframe()
                is_due = self._is_due
            if is_foreign:
                sys.settrace(None)
            if is_due:
                pass
            elif is_standing:
                sys.call_tracing(function, ())
            else:
                function()
        finally:
            self._end()
            if is_foreign or self._is_traced:
                sys.settrace(previous)

    def _end(self) -> None:
        with self._seat:
            self._is_over = True
            self._base = None
            self._disarm()

    def expire(self) -> bool:
        """Called by any thread: TimeIsUp is raised once, at the next suitable
        line. Returns False if no code of the text is running yet, all tool ids
        of sys.monitoring are taken, or the thread's trace function cannot be
        set."""
        with self._seat:
            self._is_due = True
            if self._is_over or self._base is None:
                return True
            frames = self._sure(sys._current_frames().get(self._ident))
            if HAS_MONITORING:
                return self._arm(frames)
            return self._arm_by_trace(frames)

    def _sure(self, newest: Optional[FrameType]) -> List[FrameType]:
        """Returns the frames from run() to `newest`, outermost first, up to
        the first frame that is not demonstrably called by the frame before;
        without frames of the agent."""
        stack: List[FrameType] = []
        while newest is not None and newest is not self._base and \
                len(stack) < DEPTH_MAXIMUM:
            stack.append(newest)
            newest = newest.f_back
        sure: List[FrameType] = []
        caller = self._base
        for frame in reversed(stack) if newest is self._base else ():
            if caller is None or not _is_called(frame, caller):
                break
            sure.append(frame)
            caller = frame
        return [frame for frame in sure
                if not frame.f_code.co_filename.startswith(PACKAGE)]

    def _reach(self, frame: FrameType) -> None:
        """Raises TimeIsUp in the evaluating thread, if frame may be
        interrupted."""
        if self._is_over or self._has_raised or \
                not any(each is frame for each in self._sure(frame)):
            return
        self._has_raised = True
        raise TimeIsUp()

    # Python 3.12 and newer: sys.monitoring.

    def _arm(self, frames: List[FrameType]) -> bool:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        free = [tool for tool in TOOLS if monitoring.get_tool(tool) is None]
        if self._tool is not None or not free or not frames:
            return self._tool is not None
        self._tool = tool = free[0]
        monitoring.use_tool_id(tool, "probetui")
        events = monitoring.events
        for event in (events.LINE, events.JUMP):
            monitoring.register_callback(tool, event, self._seen)
        self._codes = list({id(frame.f_code): frame.f_code
                            for frame in frames}.values())
        for code in self._codes:
            monitoring.set_local_events(tool, code,
                                        events.LINE | events.JUMP)
        return True

    def _disarm(self) -> None:
        tool, self._tool = self._tool, None
        if tool is None:
            return
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        for code in self._codes:
            monitoring.set_local_events(tool, code, 0)
        for event in (monitoring.events.LINE, monitoring.events.JUMP):
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)
        self._codes = []

    def _seen(self, code: CodeType, *_: int) -> None:
        if get_ident() == self._ident:
            self._reach(sys._getframe(1))

    # Python 3.11 and older: trace functions.

    def _arm_by_trace(self, frames: List[FrameType]) -> bool:
        try:
            from .debugging import tstates
        except (ImportError, OSError):
            # ctypes could not be imported: no file descriptor is free, or the
            # library is missing.
            return False
        for frame in frames:
            if frame.f_trace is None or _is_ours(frame.f_trace):
                frame.f_trace = self.trace
        for frame in frames[:1]:
            # Opcode events for the outermost frame: in 3.10 a loop on one line
            # ("while True: pass") makes no line event. Line events are
            # disabled because up to 3.9 an exception raised at a line event is
            # lost if an opcode event follows.
            frame.f_trace_lines, frame.f_trace_opcodes = False, True
        self._is_traced = True
        return tstates.set_trace(self._ident, self.trace, _is_ours) != \
            tstates.UNREACHED and bool(frames)

    @kept_fresh
    def _trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event in ("line", "opcode"):
            self._reach(frame)
        return None if self._is_over or self._has_raised else self.trace


# Functions that say whether the current work of an agent thread is late; keys
# are thread idents.
_looking: Dict[int, Callable[[], bool]] = {}


def begin_look(is_late: Callable[[], bool]) -> None:
    _looking[get_ident()] = is_late


def end_look() -> None:
    _looking.pop(get_ident(), None)


def check() -> None:
    """Called regularly by agent code that takes long. Raises TimeIsUp if the
    work of this thread is late."""
    is_late = _looking.get(get_ident())
    if is_late is not None and is_late():
        raise TimeIsUp()
