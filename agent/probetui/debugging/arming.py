"""How the engine sees what the program does."""
from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any, List

from .. import objects, snapshots
from . import tstates


class Armer:
    """For one engine, which holds its lock for update(), seize(), end()."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    def update(self) -> None:
        """The engine's table, filters or watchers are others now."""
        raise NotImplementedError

    def seize(self, idents: List[int]) -> None:
        """These threads come to Engine.at_line() at their next lines."""
        raise NotImplementedError

    def let_run(self, idents: List[int]) -> None:
        """These need not come any more."""
        raise NotImplementedError

    def look_again(self) -> None:
        """Code that has run already may be of interest."""

    def end(self) -> None:
        """Nothing of ours remains."""
        raise NotImplementedError

    def remark(self, breakpoint: Any) -> None:
        """Adds to what is said of it, where it does not see all."""

    def local_trace(self, frame: FrameType) -> Any:
        """What a frame that is not stepped through has for f_trace."""
        return None

    def may_trace(self) -> bool:
        """The program does not trace this thread itself."""
        return sys.gettrace() is None or \
            self.engine.is_ours(sys.gettrace())

    def step(self, state: Any) -> None:
        """This thread begins to step, with state.stepper."""
        sys.settrace(state.stepper.trace)

    def stepped_on(self, state: Any, frame: FrameType) -> None:
        """The stepper came to a line."""

    def is_replaced(self) -> bool:
        """A newer engine traces this thread: it came to do so while the thread
        was still on the way out of a stop of this one."""
        owner = getattr(sys.gettrace(), "__self__", None)
        engine = getattr(owner, "engine", None)
        return engine is not None and engine is not self.engine

    def unstep(self, state: Any) -> None:
        """This thread does not step any more."""
        state.stepper = None
        if self.engine.is_ours(sys.gettrace()) and not self.is_replaced():
            sys.settrace(None)

    def end_steps(self) -> None:
        """No thread steps any more. One that cannot be reached notices it
        itself, when it calls a function."""
        for state in list(self.engine._states.values()):
            stepper = state.stepper
            if stepper is None:
                continue
            if state.ident == threading.get_ident():
                stepper.finish(sys._getframe())
            elif state.stop is None:
                stepper.is_over = True
                # It keeps frames.
                state.stepper = state.spare = None
                tstates.set_trace(state.ident, self.general_trace(),
                                  self.engine.is_ours)

    def general_trace(self) -> Any:
        """The trace function of a thread that does not step."""
        return None


def make(engine: Any) -> Armer:
    if sys.version_info >= (3, 12):
        from .monitoring import Monitoring

        return Monitoring(engine)
    from .tracing import Tracing

    return Tracing(engine)


def clear_frames(engine: Any) -> None:
    """Takes our trace functions from all frames that can be found; while the
    engine is there, not those of steps that are on their way."""
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
