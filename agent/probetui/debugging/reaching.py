"""Handles the events of program threads: decides whether a thread stops, and
makes it wait."""
from __future__ import annotations

import _thread
import _weakrefset
import contextlib
import sys
import threading
import time
from types import FrameType
from typing import Any, Callable, Dict, List, Optional, Set

from .. import inspection
from ..settings import describe, tell
from . import arming, codes, tstates
from .specs import EngineError, ExceptionFilter
from .stepping import Stepper, frames_of
from .stop import Frames, Order, Stop, is_of_handler
from .table import Table

OWN_TRACE = "the program has its own trace function in the thread " \
    "(coverage, another debugger): the thread can continue, but not step"
LOCKING = (threading.__file__, _weakrefset.__file__)
NEVER_STOP = (StopIteration, StopAsyncIteration, GeneratorExit)
# Called at the events "line", "return" and "unwind" of a frame of a code
# object. Returns None, or why its thread stops.
Watcher = Callable[[FrameType, str], "Optional[Reached]"]


def is_delicate(frame: FrameType) -> bool:
    """True if the thread holds threading's _active_limbo_lock, without which
    no thread can start or end (agent threads included), or locks of the agent.
    """
    if inspection.is_busy():
        return True
    if frame.f_code.co_filename not in LOCKING:
        return False
    lock = threading._active_limbo_lock  # type: ignore[attr-defined]
    has_it = getattr(lock, "_is_owned", None) or lock.locked
    return bool(has_it())


class Reached:
    """Why a thread stops."""

    def __init__(self, reason: str, ids: List[int], description: str) -> None:
        self.reason = reason
        self.ids = ids
        self.description = description


class ThreadState:
    """The engine's state of one thread."""

    def __init__(self) -> None:
        self.ident = _thread.get_ident()
        self.thread_id = self.ident
        if hasattr(_thread, "get_native_id"):
            self.thread_id = _thread.get_native_id()
        self.stop: Optional[Stop] = None
        self.stepper: Optional[Stepper] = None  # None: it does not step
        self.spare: Optional[Stepper] = None
        # owners of pauses: it stops at its next line
        self.paused_by: Set[str] = set()
        self.is_ours = False
        self.is_known = False  # is_ours is final
        self.stepped_on: Any = None
        self.is_guessed = False  # thread_id may be wrong
        self.is_held = False  # it must wait while another thread is stopped
        self.gate: Any = None  # the lock at which it waits

    def is_of_this_thread(self) -> bool:
        """False if the state is of an ended thread that had the same ident."""
        if not hasattr(_thread, "get_native_id"):
            return True
        number = _thread.get_native_id()
        if self.is_guessed:
            self.thread_id, self.is_guessed = number, False
        return self.thread_id == number


class Interrupted(BaseException):
    """A signal handler raised `error` in a stopped thread. The error
    propagates into the program."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


def guarded(function: Callable[..., Any], *arguments: Any) -> None:
    """Calls function in a callback of the interpreter. Errors of the agent are
    printed; an exception of a signal handler propagates."""
    if not tstates.has_room():
        return
    try:
        function(*arguments)
        return
    except Interrupted as interrupted:
        error = interrupted.error
    except Exception as problem:
        if is_of_handler(problem):
            raise
        tell("a breakpoint failed, and the program continues: %s"
             % describe(problem))
        return
    raise error


class Reaching:
    """Base class of Engine: the part that runs in the program's threads."""

    is_delicate = staticmethod(is_delicate)

    def __init__(self) -> None:
        self.on_event: Callable[[str, Dict[str, Any]], None] = \
            lambda name, body: None
        self.table = Table()
        self.mode = "one"
        # by id() of the code; [code, watcher, ...]
        self.watchers: Dict[int, List[Any]] = {}
        self.filters: Dict[str, ExceptionFilter] = {}
        self.is_closed = False
        self.turn = [0]  # the number changes when all steps are ended
        self.has_stepped = False  # frames may have a trace function
        self._lock = threading.RLock()
        self._states: Dict[int, ThreadState] = {}
        self._stops: List[Stop] = []
        self._number = 0
        self._never: set = set()
        self.armer = arming.make(self)

    def state(self) -> ThreadState:
        """Returns the ThreadState of the calling thread."""
        ident = _thread.get_ident()
        state = self._states.get(ident)
        if state is None or not state.is_of_this_thread():
            state = self._states[ident] = ThreadState()
        if not state.is_known:
            self._know(state)
        return state

    def _know(self, state: ThreadState) -> None:
        """Determines whether this thread is an agent thread. Until threading
        lists the thread, it may be one, and is treated as one: it does not
        stop."""
        state.is_known = state.ident in threading._active  # type: ignore
        state.is_ours = state.ident in self._never or \
            state.ident in inspection.own_idents() or \
            not state.is_known and inspection.begins(sys._getframe())

    def state_of(self, ident: int) -> ThreadState:
        state = self._states.get(ident)
        thread = threading._active.get(ident)  # type: ignore
        found = getattr(thread, "native_id", None)
        if state is None or found not in (None, state.thread_id):
            state = self._states[ident] = ThreadState()
            state.ident = ident
            state.thread_id, state.is_guessed = found or ident, not found
            state.is_ours = ident in inspection.own_idents() or \
                ident in self._never
        return state

    def appeared(self, code: codes.Code) -> None:
        """Called when code begins to run that may just have been loaded."""
        with self._lock:
            changed = self.table.appeared(code)
            if changed:
                self._arm()
        for each in changed:
            self._tell("breakpoint", bound=each.bound, owner=each.owner)

    def look(self, state: ThreadState, frame: FrameType) -> Optional[Reached]:
        """Returns why breakpoints stop this frame at its line, or None; sends
        the messages of log points."""
        line = frame.f_lineno or 0
        ids, words, spent = [], [], False
        lines = self.table.files.get(frame.f_code.co_filename)
        for each in lines.get(line, ()) if lines else ():
            if not each.is_at(frame, line) or each.is_spent:
                continue
            stops, said = each.reach(frame, self._lock)
            for text in said:
                self._tell("output", text=text, bound=each.bound,
                           owner=each.owner, thread_id=state.thread_id,
                           path=frame.f_code.co_filename, line=line)
            if stops:
                ids.append(each.bound.id)
                words.append("breakpoint %d" % each.bound.id)
            spent = spent or each.is_spent
        if spent:
            self._drop_spent()
        return Reached("breakpoint", ids, ", ".join(words)) if ids else None

    def tell_output(self, bound: Any, owner: str, frame: FrameType,
                    text: str) -> None:
        """Sends a log message of a breakpoint or data breakpoint, in its
        thread."""
        self._tell("output", text=text, bound=bound, owner=owner,
                   thread_id=self.state().thread_id,
                   path=frame.f_code.co_filename, line=frame.f_lineno)

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
        """Called when a thread that does not step is at a line of interest."""
        state = self.state()
        if state.is_ours or state.stop is not None or self.is_closed:
            return
        if is_delicate(frame):
            return
        if state.is_held:
            self.hold(state)
        reached = self.watched(frame, "line") if self.watchers else None
        hits = self.look(state, frame)
        if state.paused_by:
            hits = hits or Reached("pause", [], "")
        reached = reached or hits
        if reached is not None:
            self._stop_at(state, frame, reached, "line")

    def at_end(self, frame: FrameType, event: str, value: Any = None) -> None:
        """Called at the end of a frame with watchers."""
        state = self.state()
        if state.is_ours or state.stop is not None or self.is_closed:
            return
        reached = self.watched(frame, event)
        if reached is not None:
            self._stop_at(state, frame, reached, "return", value=value)

    def at_raise(self, frame: FrameType, error: Any, trace: Any) -> None:
        """Called when an exception is raised in, or propagates into, this
        frame."""
        state = self.state()
        if state.is_ours or state.stop is not None or self.is_closed or \
                not isinstance(error, BaseException):
            return
        if trace is not None and trace.tb_next is not None or \
                not self._wants(type(error)):
            return
        if state.stepper is not None and state.stepper.stop_here(frame):
            return  # the stepper stops there anyway
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
        if is_delicate(frame):
            return
        order = self.stand(state, frame, reached.reason, at,
                           hits=reached.ids, description=reached.description,
                           **more)
        if state.stepper is not None:
            state.stepper._obey(order, frame)
            return
        with self._lock:
            if order.command == "continue" or self.is_closed or \
                    order.turn != self.turn[0]:
                return
            stepper = state.spare or Stepper(self, state)
            state.spare = state.stepper = stepper
            self.has_stepped = True
            stepper.begin(frame, order)
            self.armer.step(state)

    def stand(self, state: ThreadState, frame: FrameType, reason: str,
              at: Optional[str], **more: Any) -> Order:
        """Stops the calling thread. Returns when it is resumed."""
        no_steps = None
        if state.stepper is None and not self.armer.may_trace():
            no_steps = OWN_TRACE
        return self._wait(state, reason, frames_of(frame), at=at,
                          no_steps=no_steps, **more)

    def _wait(self, state: ThreadState, reason: str, frames: Frames,
              **more: Any) -> Order:
        stop = Stop(state.thread_id, state.ident, 0, reason, frames, **more)
        del frames
        stop.turn = self.turn
        # From here on, a signal handler may raise at any line.
        try:
            with self._lock:
                if self.is_closed or \
                        reason == "pause" and not state.paused_by:
                    return Order()  # the pause was withdrawn meanwhile
                state.paused_by.clear()
                self._number += 1
                stop.number = self._number
                state.stop = stop
                self._stops.append(stop)
                if self.mode == "all":
                    self._hold_others()
            self._tell("stopped", stop=stop)
            return stop.wait()
        except BaseException as error:
            self.break_off(state)
            raise Interrupted(error) from None
        finally:
            self._leave(state, stop)

    def _leave(self, state: ThreadState, stop: Stop) -> None:
        with self._lock:
            state.stop = None
            was_there = stop in self._stops
            if was_there:
                self._stops.remove(stop)
            if not self._stops:
                self._release()
        stop.has_left = True
        if was_there:
            self._tell("continued", stop=stop)
        stop.frames, stop.exception, stop.value = [], None, None

    def break_off(self, state: ThreadState) -> None:
        """Ends this thread's step after an exception in its trace function,
        which CPython then removes. A helper thread arms the thread again."""
        stepper, state.stepper = state.stepper, None
        state.spare = None  # a stepper refers to frames
        if stepper is not None:
            stepper.is_over = True

        def arm() -> None:
            for seconds in (0.001, 0.01, 0.1):
                time.sleep(seconds)
                with self._lock:
                    self._arm()

        thread = threading.Thread(target=inspection.untraced(arm),
                                  daemon=True)
        inspection.hide(thread)
        thread.start()

    def _hold_others(self) -> None:
        idents = self._idents(None)
        for ident in idents:
            self.state_of(ident).is_held = True
        # A thread that cannot be seized keeps running.
        with contextlib.suppress(EngineError):
            self.armer.seize(idents)

    def _release(self) -> None:
        on_their_way = []
        # New threads add their states without the lock: iterate over a copy.
        for state in list(self._states.values()):
            if state.is_held and state.gate is None and \
                    not state.paused_by:
                on_their_way.append(state.ident)
            state.is_held = False
            gate, state.gate = state.gate, None
            if gate is not None:
                gate.release()
        if on_their_way and not self.is_closed:
            self.armer.let_run(on_their_way)

    def hold(self, state: ThreadState) -> None:
        """Makes this thread wait while another thread is stopped."""
        with self._lock:
            if not state.is_held or not self._stops:
                state.is_held = False
                return
            gate = state.gate = _thread.allocate_lock()
            gate.acquire()
        self._tell("held", thread_id=state.thread_id)
        gate.acquire()

    def _arm(self) -> None:
        if not self.is_closed:
            self.armer.update()

    def _tell(self, name: str, **body: Any) -> None:
        try:
            self.on_event(name, body)
        except Exception as error:
            tell("the event %s cannot be sent: %s" % (name, describe(error)))

    def is_ours(self, trace: Any) -> bool:
        """True if this trace function belongs to an engine."""
        return isinstance(getattr(trace, "__self__", None),
                          (Stepper, arming.Armer))

    def _idents(self, thread_id: Optional[int]) -> List[int]:
        """Returns the idents of running program threads: all, or the one with
        that thread_id. Raises EngineError if it is stopped or does not exist.
        """
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
            raise EngineError("thread %d is already stopped" % thread_id)
        raise EngineError("Python thread %d not found" % thread_id)
