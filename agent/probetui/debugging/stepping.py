"""Steps: the interpreter's own module bdb decides where a step stops."""
from __future__ import annotations

import bdb
import os
import sys
from types import FrameType
from typing import Any, List, Optional, Tuple

from ..settings import describe, tell
from ..snapshots import kept_fresh
from . import tstates
from .specs import NOTHING
from .stop import Order, is_of_handler

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def frames_of(frame: Optional[FrameType]) -> List[Tuple[FrameType, int]]:
    """Returns (frame, line) of each frame of the stack, innermost first."""
    found = []
    while frame is not None:
        found.append((frame, frame.f_lineno or 0))
        frame = frame.f_back
    return found


class Stepper(bdb.Bdb):
    """The bdb.Bdb of a thread while it steps. File names are used as they are
    in co_filename."""

    def __init__(self, engine: Any, state: Any) -> None:
        super().__init__()
        self.engine = engine
        self._state = state
        self._hits: Any = None
        self._raised: Any = None  # exception of a signal handler during a stop
        self.is_over = False
        # A single bound method object: is_ours() compares f_trace with it.
        self.trace = self.trace_dispatch = self._trace

    def _load_breaks(self) -> None:
        """Does not load breakpoints that the program has set in its own pdb.
        """

    def canonic(self, filename: str) -> str:
        return filename

    def begin(self, frame: FrameType, order: Order) -> None:
        """Begins a step from a stop of a thread that was not stepping."""
        self.is_over = False
        self._raised = None
        step: Optional[FrameType] = frame
        while step is not None:
            if step.f_trace is None or self.engine.is_ours(step.f_trace):
                step.f_trace = self.trace
            step.f_trace_lines = True
            self.botframe = step
            step = step.f_back
        self.enterframe = frame
        self._obey(order, frame)
        self.enterframe = None

    def _obey(self, order: Order, frame: FrameType) -> None:
        chosen = order.frame or frame
        self.breaks = self.engine.table.files
        if order.turn != self.engine.turn[0]:
            self.finish(frame)
        elif order.command == "next":
            self.set_next(chosen)
        elif order.command == "stepIn":
            self.set_step()
        elif order.command == "stepOut":
            self.set_return(chosen)
        elif order.command == "until":
            self.set_until(chosen, order.line)
        else:
            self.finish(frame)

    def finish(self, frame: Optional[FrameType]) -> None:
        """Ends the step; breakpoints stay."""
        self.is_over = True
        self._set_stopinfo(None, None, -1)
        self.botframe = None
        while frame is not None:
            if frame.f_trace is self.trace:
                frame.f_trace = self.engine.armer.local_trace(frame)
            frame = frame.f_back
        self.engine.armer.unstep(self._state)

    @kept_fresh
    def _trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        try:
            return self._take(frame, event, arg)
        except BaseException as error:
            raised, self._raised = self._raised, None
            if error is raised:
                raise
            if is_of_handler(error) or \
                    not isinstance(error, Exception) or \
                    isinstance(error, RecursionError) and \
                    not tstates.has_room():
                self.engine.break_off(self._state)
                raise
            tell("a step failed, and the program continues: %s"
                 % describe(error))
            self.finish(frame)
            return None

    def _take(self, frame: FrameType, event: str, arg: Any) -> Any:
        if not tstates.has_room():
            return self.trace
        if self._state.stop is not None:
            return None  # the stopped thread evaluates code
        if self.is_over:
            if event == "call" and sys.gettrace() is self.trace:
                sys.settrace(self.engine.armer.general_trace())
            return self._leave(frame)
        if event == "call":
            self.breaks = self.engine.table.files
            if self.stopframe is not None and frame is not self.stopframe \
                    and frame.f_code.co_filename not in self.breaks:
                return None  # same result as bdb's dispatch_call()
        if self.engine.is_delicate(frame):
            return None if event == "call" and self.stopframe else self.trace
        if event == "line" and self._state.is_held:
            self.engine.hold(self._state)
        if event == "line" and self._state.paused_by:
            self._stand(frame, "pause", "line")
            return self._leave(frame) if self.is_over else self.trace
        if event in ("line", "return") and self._changed(frame, event):
            return self._leave(frame) if self.is_over else self.trace
        result = bdb.Bdb.trace_dispatch(self, frame, event, arg)
        return self._leave(frame) if self.is_over else result

    def _changed(self, frame: FrameType, event: str) -> bool:
        """Returns True if the thread has stopped for a data breakpoint instead
        of its step."""
        reached = self.engine.watched(frame, event)
        if reached is None:
            return False
        self._stand(frame, reached.reason, event, hits=reached.ids,
                    description=reached.description)
        return True

    def _leave(self, frame: FrameType) -> Any:
        """Returns the frame's new f_trace; sets it, too, because CPython keeps
        the old f_trace if a local trace function returns None."""
        local = self.engine.armer.local_trace(frame)
        if frame.f_trace is self.trace:
            frame.f_trace = local
        return local

    def stop_here(self, frame: FrameType) -> bool:
        if frame.f_code.co_filename.startswith(PACKAGE):
            return False
        return bool(super().stop_here(frame))

    def break_here(self, frame: FrameType) -> bool:
        self._hits = self.engine.look(self._state, frame)
        return self._hits is not None

    def _stand(self, frame: FrameType, reason: str, at: str,
               **more: Any) -> None:
        error = None
        try:
            order = self.engine.stand(self._state, frame, reason, at, **more)
        except BaseException as interrupted:
            error = getattr(interrupted, "error", interrupted)
        if error is not None:
            self._raised = error
            raise error
        if at == "line":
            self.engine.armer.stepped_on(self._state, frame)
        self._obey(order, frame)

    def user_call(self, frame: FrameType, argument_list: Any) -> None:
        if self.stop_here(frame):
            self._stand(frame, "step", "call")

    def user_line(self, frame: FrameType) -> None:
        hits, self._hits = self._hits, None
        if hits is not None:
            self._stand(frame, hits.reason, "line", hits=hits.ids,
                        description=hits.description)
        else:
            self._stand(frame, "step", "line")

    def user_return(self, frame: FrameType, return_value: Any) -> None:
        self._stand(frame, "step", "return", value=return_value)

    def user_exception(self, frame: FrameType, exc_info: Any) -> None:
        error = exc_info[1]
        if not isinstance(error, BaseException):
            try:  # older Pythons: not instantiated yet
                error = exc_info[0]() if error is None else \
                    exc_info[0](error)
            except Exception:
                error = None
        self._stand(frame, "step", "exception", exception=error,
                    value=NOTHING if error is None else error)


if sys.version_info < (3, 13):
    Stepper.enterframe = None  # type: ignore[attr-defined]
