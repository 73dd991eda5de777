"""The interface to CPython's trace events: Armer, with one implementation for
sys.monitoring and one for trace functions."""
from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any, List

from .. import objects, snapshots
from . import tstates


class Armer:
    """Requests the events that one engine needs. The engine's lock is held
    during update(), seize() and end()."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    def update(self) -> None:
        """Called after the engine's breakpoint table, filters or watchers have
        changed."""
        raise NotImplementedError

    def seize(self, idents: List[int]) -> None:
        """Makes each of these threads call Engine.at_line() at its next line.
        """
        raise NotImplementedError

    def let_run(self, idents: List[int]) -> None:
        """Undoes seize()."""
        raise NotImplementedError

    def look_again(self) -> None:
        """Checks code again that has run before and was ignored."""

    def end(self) -> None:
        """Removes all tracing from the process."""
        raise NotImplementedError

    def remark(self, breakpoint: Any) -> None:
        """Adds a remark to the breakpoint's message, if not all threads can
        stop at it."""

    def local_trace(self, frame: FrameType) -> Any:
        """Returns the f_trace for a frame that is not stepped through."""
        return None

    def may_trace(self) -> bool:
        """True if the program does not trace this thread itself."""
        return sys.gettrace() is None or \
            self.engine.is_ours(sys.gettrace())

    def step(self, state: Any) -> None:
        """This thread begins to step, with state.stepper."""
        sys.settrace(state.stepper.trace)

    def stepped_on(self, state: Any, frame: FrameType) -> None:
        """The stepper has reached a line."""

    def is_replaced(self) -> bool:
        """True if a newer engine traces this thread: that engine began while
        the thread was leaving a stop of this one."""
        owner = getattr(sys.gettrace(), "__self__", None)
        engine = getattr(owner, "engine", None)
        return engine is not None and engine is not self.engine

    def unstep(self, state: Any) -> None:
        """This thread ends its step."""
        state.stepper = None
        if self.engine.is_ours(sys.gettrace()) and not self.is_replaced():
            sys.settrace(None)

    def end_steps(self) -> None:
        """Ends the steps of all threads. A thread whose trace function cannot
        be changed here ends its step itself, when it calls a function."""
        for state in list(self.engine._states.values()):
            stepper = state.stepper
            if stepper is None:
                continue
            if state.ident == threading.get_ident():
                stepper.finish(sys._getframe())
            elif state.stop is None:
                stepper.is_over = True
                # A stepper refers to frames.
                state.stepper = state.spare = None
                tstates.set_trace(state.ident, self.general_trace(),
                                  self.engine.is_ours)

    def general_trace(self) -> Any:
        """Returns the trace function of a thread that does not step."""
        return None


def make(engine: Any) -> Armer:
    if sys.version_info >= (3, 12):
        from .monitoring import Monitoring

        return Monitoring(engine)
    from .tracing import Tracing

    return Tracing(engine)


def clear_frames(engine: Any) -> None:
    """Removes the engine's trace functions from all frames that can be found.
    While the engine is open, steppers that are in use stay."""
    import types

    def steps(trace: Any) -> bool:
        own = trace.__self__
        return hasattr(own, "stopframe") and not own.is_over and \
            not engine.is_closed

    def clear(frame: Any) -> None:
        while frame is not None:
            if engine.is_ours(frame.f_trace) and not steps(frame.f_trace):
                frame.f_trace = None
            frame = frame.f_back

    for frame in list(sys._current_frames().values()):
        clear(frame)
    snapshots.let_all_go()
    kinds = {types.GeneratorType: "gi_frame",
             types.CoroutineType: "cr_frame",
             types.AsyncGeneratorType: "ag_frame"}
    for thing in objects.instances(kinds):
        clear(getattr(thing, kinds[type(thing)]))
