"""Events on Python 3.8 to 3.11: a trace function with minimal work per call.

At each call, it looks up an earlier decision about the code object: trace its
frames because breakpoints are in them, or do not. Running threads get the
trace function through their thread states (tstates.py), new threads from
threading.settrace().
"""
from __future__ import annotations

import sys
import threading
from _thread import allocate_lock
from types import FrameType, MethodType
from typing import Any, Dict, List

from .. import inspection, interruption, snapshots
from . import codes, tstates
from .arming import Armer, clear_frames
from .reaching import guarded
from .specs import EngineError

FOREIGN = "breakpoints do not stop in %s, where the program has its own " \
    "trace function (coverage, another debugger)"
CANNOT_PAUSE = "the thread cannot be paused: the program has its own trace " \
    "function in it (coverage, another debugger), or the thread cannot be " \
    "traced"
UNREACHED = "breakpoints stop in threads that start from now on, but not in " \
    "%s, which cannot be traced"

_thread_ident = threading.get_ident
# Decisions keep code objects alive, and some programs make new ones forever:
# after this many decisions, all are dropped.
DECIDED_MAXIMUM = 20000


def _make_call(decided: Dict[int, Any]) -> Any:
    """Returns the function that is called for every call in the program: it
    uses closure variables only, which are faster than globals."""
    get, number = decided.get, id
    tokens, pop, own = snapshots.tokens, snapshots.tokens.pop, _thread_ident

    def traced_call(self: Any, frame: FrameType, event: str, arg: Any) -> Any:
        found = get(number(frame.f_code), self)
        if found is not self:
            return found
        # Same as in snapshots.kept_fresh(). `decided` never contains code
        # whose frames share variables, so the return above needs no refresh.
        ident = own()
        watch = snapshots.Watch(tokens.setdefault(ident, allocate_lock()),
                                snapshots.take_anew)
        watch.frame = frame
        token, found = pop(ident), self._decide(frame)
        token = None  # noqa: F841
        return found

    return traced_call


class _Files(Dict[str, Any]):
    """Whether code of a file is of interest; keys are co_filename."""

    def __init__(self, armer: Tracing) -> None:
        super().__init__()
        self._armer = armer

    def __missing__(self, filename: str) -> Any:
        self[filename] = bool(
            self._armer.engine.table.of_file(filename) or
            filename in self._armer.watched_files)
        return self[filename]


class Tracing(Armer):
    def __init__(self, engine: Any) -> None:
        super().__init__(engine)
        self.watched_files: Any = frozenset()
        # Names of threads that do not stop, by ident: traced by the program,
        # or without a reachable thread state.
        self.foreign: Dict[int, str] = {}
        self.unreached: Dict[int, str] = {}
        self._files = _Files(self)
        self._seized: Dict[int, Any] = {}
        self._is_on = False
        self._has_hook = False
        # Decided f_trace by id() of code objects; _kept keeps these alive.
        self._decided: Dict[int, Any] = {}
        self._sharing: Dict[int, Any] = {}
        self._kept: List[codes.Code] = []
        self._turn = 0
        # One bound method object each: is_ours() and `is` comparisons need it.
        self._trace = MethodType(_make_call(self._decided), self)
        self._line = self._traced_line
        self._come = self._traced_come

    # Installing and removing the trace function.

    def update(self) -> None:
        engine = self.engine
        is_wanted = not engine.is_closed and bool(
            not engine.table.is_empty() or engine.watchers
            or engine.stops_raised() or self._seized)
        self.watched_files = frozenset(
            own[0].co_filename for own in engine.watchers.values())
        self._files = _Files(self)
        self._forget()
        if is_wanted:
            self._begin()
        elif self._is_on:
            self.end()

    def _begin(self) -> None:
        if not self._is_on:
            self._is_on = True
            hook = threading._trace_hook  # type: ignore[attr-defined]
            if hook is None:
                threading.settrace(self._trace)
                self._has_hook = True
        if _thread_ident() in inspection.own_idents():
            # A pending asynchronous exception of the program may have set the
            # flag already; see interruption.py.
            interruption.unmark()
        self.foreign, self.unreached = {}, {}
        # Arm the current thread last: once traced, it can no longer read the
        # state of other threads.
        for ident, frame in sorted(inspection.thread_frames().items(),
                                   key=lambda found: found[0] ==
                                   _thread_ident()):
            if ident not in self.engine._never:
                self._arm_thread(ident, frame)

    def _arm_thread(self, ident: int, frame: FrameType) -> None:
        state = self.engine._states.get(ident)
        if state is not None and state.stepper is not None:
            return
        result = tstates.set_trace(ident, self._trace, self.engine.is_ours)
        if result:
            name = "thread %s" % getattr(
                threading._active.get(ident),  # type: ignore[attr-defined]
                "name", ident)
            (self.foreign if result == tstates.FOREIGN
             else self.unreached)[ident] = name
            return
        self._arm_frames(frame)

    def _arm_frames(self, frame: Any) -> None:
        while frame is not None:
            own = frame.f_trace
            if own is None or self.engine.is_ours(own):
                local = self.local_trace(frame)
                if own is not local and own is not self._come:
                    frame.f_trace = local
            frame = frame.f_back

    def remark(self, breakpoint: Any) -> None:
        bound = breakpoint.bound
        names = dict(self.foreign)
        if self._is_on and not self._has_hook:
            names[0] = "threads that start later"
        words = [text % " and ".join(list(names.values())[:3])
                 for text, names in ((FOREIGN, names),
                                     (UNREACHED, self.unreached)) if names]
        for text in words if bound.verified else ():
            if text not in (bound.message or ""):
                bound.message = "; ".join(filter(None, (bound.message, text)))

    def seize(self, idents: List[int]) -> None:
        frames = inspection.thread_frames()
        for ident in idents:
            self._seized[ident] = True
        self.update()
        if len(idents) == 1 and (idents[0] in self.foreign
                                 or idents[0] in self.unreached):
            self.let_run(idents)
            raise EngineError(CANNOT_PAUSE)
        for ident in idents:
            frame = frames.get(ident)
            while frame is not None:
                if frame.f_trace is None or \
                        self.engine.is_ours(frame.f_trace) and not \
                        hasattr(frame.f_trace.__self__, "stopframe"):
                    frame.f_trace = self._come
                frame = frame.f_back

    def let_run(self, idents: List[int]) -> None:
        """Undoes seize(); the local trace function of each frame then replaces
        itself."""
        for ident in idents:
            self._seized.pop(ident, None)
        self.update()

    def end(self) -> None:
        self._is_on = False
        self._seized = {}
        self._forget()
        if self._has_hook:
            self._has_hook = False
            hook = threading._trace_hook  # type: ignore[attr-defined]
            if hook is self._trace:
                threading.settrace(None)  # type: ignore[arg-type]
        for ident in list(sys._current_frames()):
            state = self.engine._states.get(ident)
            if state is None or state.stepper is None:
                tstates.set_trace(ident, None, self.engine.is_ours)
        clear_frames(self.engine)

    def local_trace(self, frame: FrameType) -> Any:
        if not self._is_on:
            return None
        if _thread_ident() in self._seized:
            return self._come
        return self._local(frame.f_code)

    def _local(self, code: codes.Code) -> Any:
        """Returns the local trace function for code, or None; called once per
        code object."""
        engine = self.engine
        if engine.stops_raised() or id(code) in engine.table.codes or \
                id(code) in engine.watchers:
            return self._line
        lines = engine.table.files.get(code.co_filename)
        if lines and not lines.keys().isdisjoint(codes.event_lines(code)):
            return self._line
        return None

    def unstep(self, state: Any) -> None:
        state.stepper = None
        if not self.is_replaced():
            sys.settrace(self.general_trace())

    def general_trace(self) -> Any:
        return self._trace if self._is_on else None

    # Events.

    def _forget(self) -> None:
        """Drops all decisions; _turn invalidates those being made in other
        threads."""
        self._turn += 1
        self._decided.clear()
        self._sharing.clear()
        self._kept = []

    def _decide(self, frame: FrameType) -> Any:
        """Decides about code at its first call since the last change."""
        if not self._is_on:
            if not self.is_replaced():
                sys.settrace(None)
            return None
        # A thread in os.fork() may have failed to get the engine's lock.
        if inspection.is_busy() or not tstates.has_room():
            return None
        code, turn = frame.f_code, self._turn
        decided = self._decided
        if snapshots.shares_names(code):
            decided = self._sharing
            found = decided.get(id(code), self)
            if found is not self:
                return found
        decision = self._decide_anew(code)
        with self.engine._lock:
            if turn == self._turn:
                if len(self._kept) >= DECIDED_MAXIMUM:
                    self._forget()
                self._kept.append(code)
                decided[id(code)] = decision
        return decision

    def _decide_anew(self, code: codes.Code) -> Any:
        if not self._files[code.co_filename] and \
                code.co_name not in self.engine.table.names:
            return self._line if self.engine.stops_raised() else None
        guarded(self.engine.appeared, code)
        return self._local(code)

    def _update(self) -> None:
        with self.engine._lock:
            self.update()

    def _stands(self) -> bool:
        """True if this thread is stopped and evaluates code: nothing is traced
        there, and f_trace of its frames may change during this call."""
        state = self.engine._states.get(_thread_ident())
        return state is not None and state.stop is not None

    @snapshots.kept_fresh
    def _traced_line(self, frame: FrameType, event: str, arg: Any) -> Any:
        engine = self.engine
        if self._stands():
            return None
        try:
            if event == "line":
                lines = engine.table.files.get(frame.f_code.co_filename)
                if lines is not None and frame.f_lineno in lines or \
                        id(frame.f_code) in engine.watchers:
                    guarded(engine.at_line, frame)
            elif event == "exception":
                if engine.stops_raised():
                    guarded(engine.at_raise, frame, arg[1], arg[2])
            elif event == "return" and id(frame.f_code) in engine.watchers:
                guarded(engine.at_end, frame, "return", arg)
        except BaseException:
            engine.break_off(engine.state())
            raise
        # A stop may have begun or ended a step.
        state = engine._states.get(_thread_ident())
        if state is not None and state.stepper is not None:
            return state.stepper.trace
        return self._line

    @snapshots.kept_fresh
    def _traced_come(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Local trace function of a seized thread: stops it at the next line.
        """
        if self._stands():
            return None
        if event != "line":
            return self._come
        ident = _thread_ident()
        if self._seized.pop(ident, None) is None:
            return self._leave(frame, self._traced_line(frame, event, arg))
        try:
            guarded(self.engine.at_line, frame)
            guarded(self._update)
        except BaseException:
            self.engine.break_off(self.engine.state())
            raise
        state = self.engine._states.get(ident)
        if state is not None and state.stepper is not None:
            return state.stepper.trace
        self._arm_frames(frame)
        step = frame
        while step is not None:
            if step.f_trace is self._come:
                step.f_trace = self.local_trace(step)
            step = step.f_back
        return self.local_trace(frame)

    def _leave(self, frame: FrameType, result: Any) -> Any:
        local = self.local_trace(frame)
        return local if result is self._line else result
