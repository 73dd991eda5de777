"""The debugger of this process: which threads stand, and why.

One of two ways to see what the program does (arming.py chooses): from Python
3.12 on sys.monitoring, below a trace function. While a thread steps it has a
trace function of its own (stepping.py). The thread that reaches what it is to
stop at, stands inside of that callback, so nothing it evaluates there stops.
"""
from __future__ import annotations

import _thread
import sys
import threading
from types import FrameType
from typing import Any, Callable, Dict, List, Optional

from .. import forks, inspection
from ..settings import describe, tell
from . import arming, codes
from .specs import Bound, EngineError, ExceptionFilter, Spec
from .stepping import Stepper, frames_of
from .stop import Frames, Order, Stop
from .table import Table

OWN_TRACE = "the program traces this thread itself (coverage, or a debugger " \
    "of its own): it cannot step here, only continue"
NO_STEPS = "it stands where no line follows: it can only continue"
NEVER_STOP = (StopIteration, StopAsyncIteration, GeneratorExit)
# Called at the events "line", "return" and "unwind" of a frame of a code
# object; gives None, or what its thread stops for.
Watcher = Callable[[FrameType, str], "Optional[Reached]"]


class Reached:
    """What a thread stops for."""

    def __init__(self, reason: str, ids: List[int], description: str) -> None:
        self.reason = reason
        self.ids = ids
        self.description = description


class ThreadState:
    """What the engine knows of a thread."""

    def __init__(self) -> None:
        self.ident = _thread.get_ident()
        self.thread_id = self.ident
        if hasattr(_thread, "get_native_id"):
            self.thread_id = _thread.get_native_id()
        self.stop: Optional[Stop] = None
        self.stepper: Optional[Stepper] = None  # while it steps
        self.spare: Optional[Stepper] = None
        self.is_paused = False      # it is to stop at its next line
        self.is_ours = False
        self.stepped_on: Any = None
        self.is_guessed = False     # the thread_id
        self.raised: Any = None     # the last exception that was looked at

    def is_of_this_thread(self) -> bool:
        """And not of one that has ended, which had the same ident."""
        if not hasattr(_thread, "get_native_id"):
            return True
        number = _thread.get_native_id()
        if self.is_guessed:
            self.thread_id, self.is_guessed = number, False
        return self.thread_id == number


class Engine:
    """on_event is called, in any thread, with the name and body of what
    happens; it must not block and must not raise:

    stopped: {"stop": Stop}; continued: {"stop": Stop};
    breakpoint: {"bound": Bound, "owner": str}, when what is known of it
    changed by itself; removed: the same, a temporary one that has stopped;
    output: {"text", "bound", "owner", "path", "line", "thread_id"}, of a log
    message.
    """

    def __init__(self) -> None:
        self.on_event: Callable[[str, Dict[str, Any]], None] = \
            lambda name, body: None
        self.table = Table()
        self.mode = "one"
        self.watchers: Dict[int, List[Any]] = {}    # by id of the code
        self.filters: Dict[str, ExceptionFilter] = {}
        self.is_closed = False
        self._lock = threading.RLock()
        self._states: Dict[int, ThreadState] = {}
        self._stops: List[Stop] = []
        self._number = 0
        self._never: set = set()
        self.armer = arming.make(self)

    # What others ask for.

    def stops(self) -> List[Stop]:
        """The threads that stand, the first first."""
        with self._lock:
            return list(self._stops)

    def stop_of(self, thread_id: int) -> Optional[Stop]:
        for stop in self.stops():
            if stop.thread_id == thread_id:
                return stop
        return None

    def set_breakpoints(self, owner: str,
                        breakpoints: List[Spec]) -> List[Bound]:
        """These are all of that owner (a session's id) from now on; those
        that are as before keep their counts."""
        with self._lock:
            own = self.table.set(owner, breakpoints)
            self._arm()
            if any(each.bound.pending for each in own):
                self.armer.look_again()
            for each in own:
                self.armer.remark(each)
            return [each.bound for each in own]

    def breakpoints(self) -> Dict[str, List[Bound]]:
        """Of each owner."""
        with self._lock:
            return self.table.bounds()

    def set_exceptions(self, owner: str,
                       filters: Optional[ExceptionFilter]) -> None:
        """Of that owner; None: none stop. `uncaught` is for park()'s
        callers: the engine stops at what is raised alone."""
        with self._lock:
            self.filters.pop(owner, None)
            if filters is not None:
                self.filters[owner] = filters
            self._arm()

    def stops_raised(self) -> bool:
        return any(each.raised for each in self.filters.values())

    def watch_code(self, code: codes.Code, watcher: Watcher) -> None:
        """It is called in the thread before each line of this code object,
        and at the end of each frame of it. It must not raise."""
        with self._lock:
            own = self.watchers.get(id(code), [code])
            self.watchers[id(code)] = own + [watcher]
            self._arm()

    def unwatch_code(self, code: codes.Code, watcher: Watcher) -> None:
        with self._lock:
            own = [each for each in self.watchers.pop(id(code), [code])
                   if each is not watcher]
            if len(own) > 1:
                self.watchers[id(code)] = own
            self._arm()

    def pause(self, thread_id: Optional[int] = None) -> None:
        """The thread stops at its next line; None: all. EngineError: there
        is none, or it cannot be stopped."""
        with self._lock:
            idents = self._idents(thread_id)
            for ident in idents:
                self.state_of(ident).is_paused = True
            self.armer.seize(idents)

    def set_threads(self, mode: str) -> None:
        """What the others do while one stands: "one", they run on, or
        "all", they are held."""
        if mode not in ("one", "all"):
            raise EngineError("%s is none of one, all" % ascii(mode))
        self.mode = mode

    def park(self, reason: str, frames: Frames,
             exception: Optional[BaseException] = None,
             lease: Optional[float] = None, description: str = "") -> None:
        """The calling thread stands here, with the GIL free, until it is let
        go or the lease (seconds) is over."""
        self._wait(self.state(), reason, frames, exception=exception,
                   lease=lease, description=description, no_steps=NO_STEPS,
                   at="exception" if exception is not None else None)

    def ignore_thread(self, ident: Optional[int] = None) -> None:
        """A thread of ours (None: this one) that never stops."""
        self._never.add(_thread.get_ident() if ident is None else ident)

    def leave(self, owner: str) -> None:
        """What it wanted is no more."""
        with self._lock:
            self.filters.pop(owner, None)
            self.table.set(owner, [])
            self._arm()

    def close(self) -> None:
        """All go on, and nothing of ours remains in the program."""
        with self._lock:
            self.is_closed = True
            self.table = Table()
            self.filters = {}
            self.watchers = {}
            for state in self._states.values():
                state.is_paused = False
            self.armer.end()
            stops = list(self._stops)
        for stop in stops:
            try:
                stop.go()
            except EngineError:
                pass

    def forget(self) -> None:
        """In the child of a fork, which has none of it."""
        self._lock = threading.RLock()
        self.is_closed = True
        self.on_event = lambda name, body: None
        own = _thread.get_ident()
        self._states = {ident: state for ident, state in self._states.items()
                        if ident == own}
        self._stops = [stop for stop in self._stops if stop.ident == own]
        for stop in self._stops:
            stop.forget()
        self.table = Table()
        self.filters, self.watchers = {}, {}
        self.armer.end()

    # What the program's threads come with.

    def state(self) -> ThreadState:
        """Of this thread."""
        ident = _thread.get_ident()
        state = self._states.get(ident)
        if state is None or not state.is_of_this_thread():
            state = self._states[ident] = ThreadState()
            state.is_ours = ident in inspection.own_idents() or \
                ident in self._never
        return state

    def state_of(self, ident: int) -> ThreadState:
        state = self._states.get(ident)
        thread = threading._active.get(ident)  # type: ignore
        found = getattr(thread, "native_id", None)
        if state is None or found not in (None, state.thread_id):
            state = self._states[ident] = ThreadState()
            state.ident = ident
            state.thread_id, state.is_guessed = found or ident, not found
        return state

    def appeared(self, code: codes.Code) -> None:
        """It begins to run, and may have been loaded only now."""
        with self._lock:
            changed = self.table.appeared(code)
            if changed:
                self._arm()
        for each in changed:
            self._tell("breakpoint", bound=each.bound, owner=each.owner)

    def look(self, state: ThreadState, frame: FrameType) -> Optional[Reached]:
        """Whether breakpoints stop this frame at its line; those that speak
        do so."""
        line = frame.f_lineno or 0
        ids, words, spent = [], [], False
        lines = self.table.files.get(frame.f_code.co_filename)
        for each in lines.get(line, ()) if lines else ():
            if not each.is_at(frame, line) or each.is_spent:
                continue
            with self._lock:
                stops, said, failure = each.reach(frame)
            for text in said:
                self._tell("output", text=text, bound=each.bound,
                           owner=each.owner, thread_id=state.thread_id,
                           path=frame.f_code.co_filename, line=line)
            if stops:
                ids.append(each.bound.id)
                words.append("breakpoint %d" % each.bound.id
                             + (": " + failure if failure else ""))
            spent = spent or each.is_spent
        if spent:
            self._drop_spent()
        return Reached("breakpoint", ids, ", ".join(words)) if ids else None

    def _drop_spent(self) -> None:
        with self._lock:
            spent = self.table.drop_spent()
            self._arm()
        for each in spent:
            self._tell("removed", bound=each.bound, owner=each.owner)

    def watched(self, frame: FrameType, event: str) -> Optional[Reached]:
        for watcher in self.watchers.get(id(frame.f_code), ())[1:]:
            reached = watcher(frame, event)
            if reached is not None:
                return reached
        return None

    def at_line(self, frame: FrameType) -> None:
        """A thread that does not step is at a line that may be of
        interest."""
        state = self.state()
        if state.is_ours or state.stop is not None or self.is_closed:
            return
        reached = self.watched(frame, "line") if self.watchers else None
        hits = self.look(state, frame)
        if state.is_paused:
            hits = hits or Reached("pause", [], "")
        reached = reached or hits
        if reached is not None:
            self._stop_at(state, frame, reached, "line")

    def at_end(self, frame: FrameType, event: str, value: Any = None) -> None:
        """The end of a frame that is watched."""
        state = self.state()
        if state.is_ours or state.stop is not None or self.is_closed:
            return
        reached = self.watched(frame, event)
        if reached is not None:
            self._stop_at(state, frame, reached, "return", value=value)

    def at_raise(self, frame: FrameType, error: Any) -> None:
        """An exception is raised, or comes into this frame."""
        state = self.state()
        if state.is_ours or state.stop is not None or self.is_closed or \
                not isinstance(error, BaseException) or \
                state.raised is not None and state.raised() is error:
            return
        trace = error.__traceback__
        if trace is not None and trace.tb_next is not None or \
                not self._wants(type(error)):
            return
        if state.stepper is not None and state.stepper.stop_here(frame):
            return      # it stops there as it steps
        self._stop_at(state, frame, Reached("exception", [], describe(error)),
                      "exception", exception=error, value=error)

    def _wants(self, kind: type) -> bool:
        names = set()
        for base in kind.__mro__:
            names.update((base.__name__, base.__qualname__, "%s.%s" % (
                base.__module__, base.__qualname__)))
        return any(
            not names.isdisjoint(each.types) if each.types
            else not issubclass(kind, NEVER_STOP)
            for each in self.filters.values() if each.raised)

    def _stop_at(self, state: ThreadState, frame: FrameType,
                 reached: Reached, at: str, **more: Any) -> None:
        order = self.stand(state, frame, reached.reason, at,
                           hits=reached.ids, description=reached.description,
                           **more)
        if state.stepper is not None:
            state.stepper._obey(order, frame)
        elif order.command != "continue" and not self.is_closed:
            stepper = state.spare or Stepper(self, state)
            state.spare = state.stepper = stepper
            stepper.begin(frame, order)
            self.armer.step(state)

    def stand(self, state: ThreadState, frame: FrameType, reason: str,
              at: Optional[str], **more: Any) -> Order:
        """Until it is told to go on."""
        no_steps = None
        if state.stepper is None and not self.armer.may_trace():
            no_steps = OWN_TRACE
        return self._wait(state, reason, frames_of(frame), at=at,
                          no_steps=no_steps, **more)

    def _wait(self, state: ThreadState, reason: str, frames: Frames,
              **more: Any) -> Order:
        state.is_paused = False
        with self._lock:
            if self.is_closed:
                return Order()
            self._number += 1
            stop = Stop(state.thread_id, state.ident, self._number, reason,
                        frames, **more)
            state.stop = stop
            self._stops.append(stop)
        del frames
        self._tell("stopped", stop=stop)
        try:
            return stop.wait()
        finally:
            with self._lock:
                state.stop = None
                if stop in self._stops:
                    self._stops.remove(stop)
            stop.has_left = True
            self._tell("continued", stop=stop)
            stop.frames, stop.exception, stop.value = [], None, None

    # Below.

    def _arm(self) -> None:
        if not self.is_closed:
            self.armer.update()

    def _tell(self, name: str, **body: Any) -> None:
        try:
            self.on_event(name, body)
        except Exception as error:
            tell("the event %s cannot be told: %s" % (name, describe(error)))

    def is_ours(self, trace: Any) -> bool:
        """This trace function is one of the engine's."""
        return isinstance(getattr(trace, "__self__", None),
                          (Stepper, arming.Armer))

    def _idents(self, thread_id: Optional[int]) -> List[int]:
        """Threads of the program that run; all, or the one."""
        found = [ident for ident in inspection.thread_frames()
                 if ident not in self._never
                 and not (ident in self._states
                          and self._states[ident].stop is not None)]
        if thread_id is None:
            return found
        for ident in found:
            if thread_id in (self.state_of(ident).thread_id, ident):
                return [ident]
        if self.stop_of(thread_id) is not None:
            raise EngineError("thread %d stands already" % thread_id)
        raise EngineError("there is no Python thread %d" % thread_id)


_engine: Optional[Engine] = None
_seat = threading.Lock()


def get() -> Engine:
    """The one of this process."""
    global _engine
    with _seat:
        if _engine is None or _engine.is_closed:
            _engine = Engine()
            # An agent that leaves takes it back.
            forks.add(in_child=_forget)
        return _engine


def peek() -> Optional[Engine]:
    """The same, None: nobody debugged yet."""
    return _engine


def _forget() -> None:
    global _engine, _seat
    _seat = threading.Lock()
    engine, _engine = _engine, None
    if engine is not None and not engine.is_closed:
        engine.forget()


assert sys.version_info >= (3, 8)
