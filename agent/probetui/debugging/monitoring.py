"""Events on Python 3.12 and newer: sys.monitoring (PEP 669), enabled only for
the code objects that need it.

A callback returns DISABLE for a location that is of no interest, which then
costs nothing. A thread that steps has a trace function in addition
(stepping.py), which handles its events.
"""
from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Dict, List, Optional, Set

from .. import inspection, snapshots
from . import codes
from .arming import Armer, clear_frames
from .reaching import guarded
from .specs import EngineError

# Tool ids of sys.monitoring to try, in this order: 3 and 4 are reserved for no
# kind of tool, 5 is for optimizers, 2 for profilers (PEP 669).
TOOLS = (3, 4, 5, 2)


class Monitoring(Armer):
    def __init__(self, engine: Any) -> None:
        super().__init__(engine)
        self._monitoring: Any = sys.monitoring  # type: ignore
        self._tool: Optional[int] = None
        # Code objects with local events: (code, lines of interest, event
        # mask).
        self._armed: Dict[int, Any] = {}
        self._global = 0
        # Threads that must stop at their next line, and the code on their
        # stacks. The number makes update() enable disabled events again at
        # each seize().
        self._seized: Dict[int, List[codes.Code]] = {}
        self._seizing: Set[int] = set()
        self._count = 0

    # Enabling and disabling events.

    def _begin(self) -> int:
        if self._tool is not None:
            return self._tool
        monitoring = self._monitoring
        for tool in TOOLS:
            if monitoring.get_tool(tool) is None:
                break
        else:
            raise EngineError("the program uses all tool IDs of "
                              "sys.monitoring: breakpoints and steps are not "
                              "possible")
        monitoring.use_tool_id(tool, "probetui")
        self._tool = tool
        events = monitoring.events
        for event, callback in (
                (events.PY_START, self._started), (events.LINE, self._line),
                (events.JUMP, self._jump), (events.RAISE, self._raised),
                (events.PY_RETURN, self._returned),
                (events.PY_YIELD, self._returned),
                (events.PY_UNWIND, self._unwound)):
            monitoring.register_callback(tool, event, callback)
        return tool

    def update(self) -> None:
        engine, events = self.engine, self._monitoring.events
        wanted: Dict[int, Any] = {}
        files = engine.table.files
        for key, code in engine.table.codes.items():
            lines = frozenset(files.get(code.co_filename, ()))
            wanted[key] = (code, lines, events.LINE | events.JUMP)
        for key, (code, *_) in engine.watchers.items():
            lines = wanted.get(key, (code, frozenset(), 0))[1]
            wanted[key] = (code, lines, events.LINE | events.JUMP
                           | events.PY_RETURN | events.PY_YIELD)
        self._seizing = set()
        for code in (code for own in self._seized.values() for code in own):
            self._seizing.add(id(code))
            mask = wanted.get(id(code), (code, None, 0))[2]
            wanted[id(code)] = (code, self._count,
                                mask | events.LINE | events.JUMP)
        general = 0
        if not engine.table.is_empty():
            general |= events.PY_START
        if engine.watchers:
            general |= events.PY_UNWIND
        if engine.stops_raised():
            general |= events.RAISE
        if not wanted and not general or engine.is_closed:
            self.end()
            return
        tool = self._begin()
        is_at_start = False
        for key in [key for key in self._armed if key not in wanted]:
            self._set_local(tool, self._armed.pop(key)[0], 0)
        for key, (code, lines, mask) in wanted.items():
            if self._armed.get(key) != (code, lines, mask):
                # Setting the events to 0 first also enables disabled locations
                # again.
                self._set_local(tool, code, 0)
                self._set_local(tool, code, mask)
                self._armed[key] = (code, lines, mask)
                is_at_start |= self._is_at_start(code)
        self._set_global(tool, general)
        if is_at_start:
            self.look_again()

    def _set_local(self, tool: int, code: codes.Code, mask: int) -> None:
        self._monitoring.set_local_events(tool, code, mask)

    def _set_global(self, tool: int, mask: int) -> None:
        if mask != self._global:
            self._global = mask
            self._monitoring.set_events(tool, mask)

    def seize(self, idents: List[int]) -> None:
        """Enables line events for all code on the threads' stacks: the next
        line of a thread is in its newest frame, or in a frame to which that
        returns."""
        frames = inspection.thread_frames()
        self._count += 1
        for ident in idents:
            self._seized[ident] = own = []
            frame = frames.get(ident)
            while frame is not None:
                own.append(frame.f_code)
                frame = frame.f_back
        self.update()

    def let_run(self, idents: List[int]) -> None:
        for ident in idents:
            self._seized.pop(ident, None)
        self.update()

    def look_again(self) -> None:
        """Enables all locations again for which a callback returned DISABLE.
        """
        if self._tool is not None:
            self._monitoring.restart_events()

    def end(self) -> None:
        tool, self._tool = self._tool, None
        self._seized.clear()
        if tool is None:
            return
        monitoring = self._monitoring
        monitoring.set_events(tool, 0)
        self._global = 0
        for code, *_ in self._armed.values():
            monitoring.set_local_events(tool, code, 0)
        self._armed.clear()
        for state in list(self.engine._states.values()):
            state.stepped_on = None  # no further event follows
        for event in (1 << at for at in range(20)):
            try:
                monitoring.register_callback(tool, event, None)
            except ValueError:
                break
        monitoring.free_tool_id(tool)
        if self.engine.has_stepped or snapshots.ARE_COPIES:
            clear_frames(self.engine)

    # Callbacks.

    def _started(self, code: codes.Code, offset: int) -> Any:
        # A thread in os.fork() may have failed to get the engine's lock.
        if inspection.is_busy():
            return None
        table = self.engine.table
        if code.co_name in table.names or table.of_file(code.co_filename):
            guarded(self.engine.appeared, code)
        # Since 3.13, a function whose body is on the line of its `def` has no
        # LINE event on that line after PY_START was disabled there.
        return None if self._is_at_start(code) else self._monitoring.DISABLE

    def _is_at_start(self, code: codes.Code) -> bool:
        """True if a breakpoint is on the line of the code's `def` or `lambda`.
        """
        lines = self.engine.table.files.get(code.co_filename, ())
        return code.co_firstlineno in lines

    def _line(self, code: codes.Code, line: int) -> Any:
        return self._look(code, line, sys._getframe(1))

    def _look(self, code: codes.Code, line: int, frame: FrameType) -> Any:
        engine = self.engine
        if id(code) not in self._seizing and id(code) not in engine.watchers:
            lines = engine.table.files.get(code.co_filename)
            if lines is None or line not in lines:
                return self._monitoring.DISABLE
        return self._reach(frame)

    def _jump(self, code: codes.Code, offset: int, target: int) -> Any:
        """A backward jump within one line: a new iteration of a loop, for
        which there is no LINE event."""
        if target > offset:
            return self._monitoring.DISABLE
        line = _line_at(code, offset)
        if line is None or line != _line_at(code, target):
            return self._monitoring.DISABLE
        return self._look(code, line, sys._getframe(1))

    def _reach(self, frame: FrameType) -> None:
        state = self.engine.state()
        if state.stop is not None:
            return  # the stopped thread evaluates code
        stepped_on, state.stepped_on = state.stepped_on, None
        if state.ident in self._seized:
            guarded(self._come, state)
        if state.stepper is None and stepped_on != (frame, frame.f_lasti):
            guarded(self.engine.at_line, frame)

    def _come(self, state: Any) -> None:
        """A seized thread has arrived."""
        with self.engine._lock:
            self._seized.pop(state.ident, None)
            self.update()

    def stepped_on(self, state: Any, frame: FrameType) -> None:
        """If the line has a LINE event of its own, that event follows; it must
        not stop the thread a second time. The event follows, too, if the
        breakpoint was set during the stop."""
        lines = self.engine.table.files.get(frame.f_code.co_filename)
        state.stepped_on = None
        if id(frame.f_code) in self.engine.watchers or \
                lines is not None and frame.f_lineno in lines:
            state.stepped_on = (frame, frame.f_lasti)

    def _returned(self, code: codes.Code, offset: int, value: Any) -> None:
        if id(code) in self.engine.watchers:
            guarded(self.engine.at_end, sys._getframe(1), "return", value)

    def _unwound(self, code: codes.Code, offset: int, error: Any) -> None:
        if id(code) in self.engine.watchers:
            guarded(self.engine.at_end, sys._getframe(1), "unwind")

    def _raised(self, code: codes.Code, offset: int, error: Any) -> None:
        guarded(self.engine.at_raise, sys._getframe(1), error,
                error.__traceback__)


def _line_at(code: codes.Code, offset: int) -> Optional[int]:
    for start, end, line in code.co_lines():
        if start <= offset < end:
            return line
    return None
