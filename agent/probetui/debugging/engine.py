"""The debugger of this process: which threads are stopped, and why.

Armer has two implementations (arming.py chooses): sys.monitoring since Python
3.12, a trace function before. A thread that steps has its own trace function
in addition (stepping.py). A stopped thread waits inside of the callback in
which it was stopped; so code that it evaluates there does not stop again.
"""
from __future__ import annotations

import _thread
import contextlib
import threading
from typing import Dict, List, Optional

from .. import forks, inspection
from . import codes
from .reaching import Interrupted, Reaching, Watcher
from .specs import Bound, EngineError, ExceptionFilter, Spec
from .stop import Frames, Stop
from .table import Table

FORK_SECONDS = 5.0
HAS_ENDED = "the debugger of the process has ended"
NO_STEPS = "the thread is stopped where no line follows: it can only " \
    "continue"


class Engine(Reaching):
    """on_event(name, body) is called for each event, in any thread; it must
    not block and must not raise. The events and their bodies:

    stopped: {"stop": Stop};
    continued: {"stop": Stop};
    breakpoint: {"bound": Bound, "owner": str}, its state has changed;
    removed: the same, a temporary breakpoint was hit;
    held: {"thread_id"}, the thread waits for a stopped one (threads "all");
    output: {"text", "bound", "owner", "path", "line", "thread_id"}, a log
    message.
    """

    def __init__(self) -> None:
        super().__init__()
        _register(self)

    def stops(self) -> List[Stop]:
        """Returns the stopped threads, in the order in which they stopped."""
        with self._lock:
            return list(self._stops)

    def stop_of(self, thread_id: int) -> Optional[Stop]:
        for stop in self.stops():
            if stop.thread_id == thread_id:
                return stop
        return None

    def set_breakpoints(self, owner: str,
                        breakpoints: List[Spec]) -> List[Bound]:
        """Replaces all breakpoints of that owner (a session's id); unchanged
        ones keep their counts."""
        with self._lock:
            self._check_open()
            before = {each.bound.id for each in self.table.all()}
            own = self.table.set(owner, breakpoints)
            cleared = before - {each.bound.id for each in self.table.all()}
            for stop in self._stops:
                stop.cleared.update(cleared.intersection(stop.hits))
            self._arm()
            if any(each.bound.pending for each in own):
                self.armer.look_again()
            for each in own:
                self.armer.remark(each)
            return [each.bound for each in own]

    def _check_open(self) -> None:
        """Raises EngineError after close(): a request that began before must
        not arm anything, because armer.end() is not called again, and a forked
        child does not clean up a closed engine. Called with the lock held."""
        if self.is_closed:
            raise EngineError(HAS_ENDED)

    def breakpoints(self) -> Dict[str, List[Bound]]:
        """Returns all breakpoints; keys are owners."""
        with self._lock:
            return self.table.bounds()

    def set_exceptions(self, owner: str,
                       filters: Optional[ExceptionFilter]) -> None:
        """Sets the exception filters of that owner; None: no exception stops.
        The engine only handles `raised`; for `uncaught`, see park()."""
        with self._lock:
            self.filters.pop(owner, None)
            if filters is not None:
                self._check_open()
                self.filters[owner] = filters
            self._arm()

    def stops_raised(self) -> bool:
        return any(each.raised for each in self.filters.values())

    def watch_code(self, code: codes.Code, watcher: Watcher) -> None:
        """Calls watcher(frame, event) before each line of the code object and
        at the end of each of its frames, in the thread. watcher must not
        raise."""
        with self._lock:
            if self.is_closed:
                return
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

    def pause(self, thread_id: Optional[int] = None, owner: str = "") -> None:
        """Stops the thread at its next line; None: all threads. Raises
        EngineError if there is no such thread, or it cannot be stopped."""
        with self._lock:
            self._check_open()
            idents = self._idents(thread_id)
            for ident in idents:
                self.state_of(ident).paused_by.add(owner)
            try:
                self.armer.seize(idents)
            except EngineError:
                self.state_of(idents[0]).paused_by.discard(owner)
                raise

    def withdraw_pause(self, thread_id: Optional[int] = None) -> bool:
        """Cancels requested pauses of a thread (None: of all threads) that has
        not stopped yet, whichever client requested them. Returns False if
        there were none."""
        with self._lock:
            states = [state for state in list(self._states.values())
                      if state.paused_by and state.stop is None and
                      (thread_id is None or state.thread_id == thread_id or
                       state.ident == thread_id)]
            for state in states:
                state.paused_by.clear()
            idents = [state.ident for state in states if not state.is_held]
            if idents and not self.is_closed:
                self.armer.let_run(idents)
            return bool(states)

    def set_threads(self, mode: str) -> None:
        """Sets what the other threads do while a thread is stopped: "one",
        they keep running; "all", they stop, too."""
        if mode not in ("one", "all"):
            raise EngineError("%s is not a mode: use one or all" % ascii(mode))
        with self._lock:
            self.mode = mode
            if mode == "one":
                self._release()

    def park(self, reason: str, frames: Frames,
             exception: Optional[BaseException] = None,
             lease: Optional[float] = None, description: str = "") -> None:
        """Stops the calling thread, with the GIL released, until it is resumed
        or the lease (in seconds) ends."""
        at = "exception" if exception is not None else None
        try:
            self._wait(self.state(), reason, frames, exception=exception,
                       lease=lease, description=description,
                       no_steps=NO_STEPS, at=at)
            return
        except Interrupted as interrupted:
            error = interrupted.error
        raise error

    def ignore_thread(self, ident: Optional[int] = None) -> None:
        """Registers an agent thread (None: the calling one), which never
        stops."""
        self._never.add(_thread.get_ident() if ident is None else ident)

    def leave(self, owner: str) -> None:
        """Removes the owner's breakpoints, filters and pauses."""
        with self._lock:
            self.filters.pop(owner, None)
            self.table.set(owner, [])
            self._take_back(owner)
            self._arm()

    def _take_back(self, owner: str) -> None:
        """Cancels the owner's pauses of threads that have not stopped yet."""
        idents = []
        for state in list(self._states.values()):
            if owner in state.paused_by:
                state.paused_by.discard(owner)
                if not state.paused_by and not state.is_held:
                    idents.append(state.ident)
        if idents and not self.is_closed:
            self.armer.let_run(idents)

    def end_steps(self) -> None:
        """Ends the steps of all threads, because no session waits for them."""
        with self._lock:
            # Changes the turn: a step that was requested and has not begun is
            # dropped.
            self.turn[0] += 1
            self.armer.end_steps()

    def end_others(self, going: Stop) -> None:
        """Called when the whole process continues, not only the thread of
        `going`. Ends the steps of all threads, and resumes threads that
        stopped after a step, or whose breakpoints have all been deleted."""
        self.end_steps()
        for stop in self.stops():
            is_cleared = stop.hits and stop.cleared.issuperset(stop.hits)
            if stop is not going and (is_cleared or stop.reason == "step"):
                with contextlib.suppress(EngineError):
                    stop.go()

    def close(self) -> None:
        """Resumes all threads and removes all tracing from the program."""
        # ExitStack runs the callbacks in reverse order, each one even if an
        # earlier one raised.
        with contextlib.ExitStack() as parts:
            parts.callback(self._forget_threads)
            parts.callback(self._all_go)
            parts.enter_context(self._lock)
            self.is_closed = True
            # Changes the turn: a step that was requested and has not begun is
            # dropped.
            self.turn[0] += 1
            self.table = Table()
            self.filters = {}
            self.watchers = {}
            for state in list(self._states.values()):
                state.paused_by.clear()
            parts.callback(self._release)
            parts.callback(self.armer.end)
            parts.callback(self.armer.end_steps)

    def _forget_threads(self) -> None:
        """Drops the thread states, which refer to frames of the program; keeps
        those of threads that are still leaving a stop."""
        self._states = {ident: state for ident, state in
                        dict(self._states).items() if state.stop is not None}

    def _all_go(self) -> None:
        for stop in self.stops():
            with contextlib.suppress(EngineError):
                stop.go()

    def forget(self) -> None:
        """In a forked child: resets the engine, which has only the calling
        thread."""
        self._lock = threading.RLock()
        self.is_closed = True
        self.on_event = lambda name, body: None
        own = _thread.get_ident()
        self._states = {ident: state for ident, state in self._states.items()
                        if ident == own}
        self._stops = [stop for stop in self._stops if stop.ident == own]
        for stop in self._stops:
            stop.forget()
        for state in self._states.values():
            state.is_held, state.gate = False, None
        self.table = Table()
        self.filters, self.watchers = {}, {}
        self.armer.end_steps()
        self.armer.end()


_engine: Optional[Engine] = None
_seat = threading.Lock()
# Engines whose lock is held during a fork; keys are idents of the threads that
# fork.
_forking: Dict[int, Engine] = {}


def get() -> Engine:
    """Returns the engine of this process; makes one if there is none."""
    engine = _engine
    if engine is None or engine.is_closed:
        return Engine()
    # Removing an agent removes the fork hooks, so register them again.
    _register(engine)
    return engine


def peek() -> Optional[Engine]:
    """Returns the engine of this process, or None if no session has debugged
    yet."""
    return _engine


def _register(engine: Engine) -> None:
    global _engine
    with _seat:
        _engine = engine
        # forks.clear() removes these hooks when the agent ends.
        forks.add(_begin_fork, _end_fork, _forget)


def _begin_fork() -> None:
    """Before a fork: waits until no other thread uses the engine, whose locks
    would be held forever in the child. After FORK_SECONDS the thread forks
    anyway; until the child has reset the engine, events of other fork hooks
    are ignored."""
    inspection.begin_business()
    engine = _engine
    if engine is not None and engine._lock.acquire(timeout=FORK_SECONDS):
        _forking[_thread.get_ident()] = engine


def _end_fork() -> None:
    engine = _forking.pop(_thread.get_ident(), None)
    if engine is not None:
        engine._lock.release()
    inspection.end_business()


def _forget() -> None:
    global _engine, _seat
    _seat = threading.Lock()
    had_lock = _forking.pop(_thread.get_ident(), None)
    _forking.clear()
    engine, _engine = _engine, None
    # If this thread held the lock of a closed engine, close() has finished,
    # and no thread uses the engine.
    if engine is not None and not (engine.is_closed and engine is had_lock):
        engine.forget()
    inspection.end_business()
