"""Python 3.8 to 3.11: a trace function that does as little as it can.

For each call it looks up the file of what is called. Frames of files and
functions without breakpoints are not traced. Threads that run already get it
through their thread states (tstates.py), new ones from threading.
"""
from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any, Dict, List

from .. import inspection
from ..settings import describe, tell
from . import codes, tstates
from .arming import Armer, clear_frames

FOREIGN = "The program traces %s itself (coverage, or a debugger of its own):" \
    " it does not stop there."
UNREACHED = "It stops in threads that begin from now on, and not in %s, which" \
    " cannot be reached."


class _Files(Dict[str, Any]):
    """By co_filename: None, or what decides about its code objects."""

    def __init__(self, armer: Tracing) -> None:
        super().__init__()
        self._armer = armer

    def __missing__(self, filename: str) -> Any:
        decision = None
        if self._armer.engine.table.of_file(filename) or \
                filename in self._armer.watched_files:
            decision = {}
        self[filename] = decision
        return decision


class Tracing(Armer):
    def __init__(self, engine: Any) -> None:
        super().__init__(engine)
        self.watched_files: Any = frozenset()
        self.foreign: List[str] = []
        self.unreached: List[str] = []
        self._all = False       # every frame: exceptions, or a name
        self._files = _Files(self)
        self._seized: Dict[int, Any] = {}
        self._is_on = False
        self._has_hook = False
        # One object each, so that they can be told from others.
        self._trace = self._traced_call
        self._line = self._traced_line
        self._come = self._traced_come

    # Arming.

    def update(self) -> None:
        engine = self.engine
        is_wanted = bool(not engine.table.is_empty() or engine.watchers
                         or engine.stops_raised() or self._seized)
        self.watched_files = frozenset(
            own[0].co_filename for own in engine.watchers.values())
        self._all = engine.stops_raised() or bool(engine.table.names)
        self._files = _Files(self)
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
        self.foreign, self.unreached = [], []
        for ident, frame in inspection.thread_frames().items():
            if ident not in self.engine._never:
                self._arm_thread(ident, frame)

    def _arm_thread(self, ident: int, frame: FrameType) -> None:
        state = self.engine._states.get(ident)
        if state is not None and state.stepper is not None:
            return
        result = tstates.set_trace(ident, self._trace, self.engine.is_ours)
        if result:
            name = "the thread %s" % getattr(
                threading._active.get(ident),  # type: ignore[attr-defined]
                "name", ident)
            (self.foreign if result == tstates.FOREIGN
             else self.unreached).append(name)
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
        words = [text % " and ".join(names[:3]) for text, names in (
            (FOREIGN, self.foreign), (UNREACHED, self.unreached)) if names]
        if bound.verified and words:
            bound.message = " ".join([bound.message or ""] + words).strip()

    def seize(self, idents: List[int]) -> None:
        frames = inspection.thread_frames()
        for ident in idents:
            self._seized[ident] = True
        self.update()
        for ident in idents:
            frame = frames.get(ident)
            while frame is not None:
                if frame.f_trace is None or \
                        self.engine.is_ours(frame.f_trace) and not \
                        hasattr(frame.f_trace.__self__, "stopframe"):
                    frame.f_trace = self._come
                frame = frame.f_back

    def end(self) -> None:
        self._is_on = False
        self._seized = {}
        if self._has_hook:
            self._has_hook = False
            hook = threading._trace_hook  # type: ignore[attr-defined]
            if hook is self._trace:
                threading.settrace(None)  # type: ignore[arg-type]
        for ident in list(inspection.thread_frames()):
            state = self.engine._states.get(ident)
            if state is None or state.stepper is None:
                tstates.set_trace(ident, None, self.engine.is_ours)
        if self.engine.is_ours(sys.gettrace()):
            sys.settrace(None)
        clear_frames(self.engine)

    def local_trace(self, frame: FrameType) -> Any:
        if not self._is_on:
            return None
        if _thread_ident() in self._seized:
            return self._come
        return self._local(frame.f_code)

    def _local(self, code: codes.Code) -> Any:
        """Decided once a code object."""
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
        sys.settrace(self._trace if self._is_on else None)

    # What comes.

    def _traced_call(self, frame: FrameType, event: str, arg: Any) -> Any:
        known = self._files[frame.f_code.co_filename]
        if known is None and not self._all:
            return None
        return self._decide(frame, known)

    def _decide(self, frame: FrameType, known: Any) -> Any:
        code = frame.f_code
        if not self._is_on:
            sys.settrace(None)
            return None
        if known is None:
            if self.engine.stops_raised():
                return self._line
            if code.co_name not in self.engine.table.names:
                return None
            known = self._files[code.co_filename] = {}
        key = (code.co_firstlineno, code.co_name)
        decision = known.get(key)
        if decision is None or decision[0] is not code:
            try:
                self.engine.appeared(code)
            except Exception as error:
                self._fail(error)
            decision = (code, self._local(code))
            # That may have changed what is known.
            again = self._files[code.co_filename]
            (known if again is None else again)[key] = decision
        return decision[1]

    def _fail(self, error: Exception) -> None:
        tell("a breakpoint failed, and the program goes on: %s"
             % describe(error))

    def _traced_line(self, frame: FrameType, event: str, arg: Any) -> Any:
        engine = self.engine
        try:
            if event == "line":
                lines = engine.table.files.get(frame.f_code.co_filename)
                if lines is not None and frame.f_lineno in lines or \
                        id(frame.f_code) in engine.watchers:
                    engine.at_line(frame)
            elif event == "exception":
                if engine.stops_raised():
                    engine.at_raise(frame, arg[1])
            elif event == "return" and id(frame.f_code) in engine.watchers:
                engine.at_end(frame, "return", arg)
        except Exception as error:
            self._fail(error)
        # A stop may have ended otherwise.
        state = engine._states.get(_thread_ident())
        if state is not None and state.stepper is not None:
            return state.stepper.trace
        return self._line

    def _traced_come(self, frame: FrameType, event: str, arg: Any) -> Any:
        """A thread that was to come is there."""
        if event != "line":
            return self._come
        ident = _thread_ident()
        if self._seized.pop(ident, None) is None:
            return self._leave(frame, self._traced_line(frame, event, arg))
        try:
            self.engine.at_line(frame)
            with self.engine._lock:
                self.update()
        except Exception as error:
            self._fail(error)
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


_thread_ident = threading.get_ident
