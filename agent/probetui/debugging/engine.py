"""The debugger of this process: which threads stand, and why.

One of two ways to see what the program does (arming.py chooses): from Python
3.12 on sys.monitoring, below a trace function. While a thread steps it has a
trace function of its own (stepping.py). The thread that reaches what it is to
stop at, stands inside of that callback, so nothing it evaluates there stops.
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
HAS_ENDED = "the debugger of this process has ended"
NO_STEPS = "it stands where no line follows: it can only continue"


class Engine(Reaching):
    """on_event is called, in any thread, with the name and body of what
    happens; it must not block and must not raise:

    stopped: {"stop": Stop}; continued: {"stop": Stop};
    breakpoint: {"bound": Bound, "owner": str}, when what is known of it
    changed by itself; removed: the same, a temporary one that has stopped;
    held: {"thread_id"}, with threads "all";
    output: {"text", "bound", "owner", "path", "line", "thread_id"}, of a log
    message.
    """

    def __init__(self) -> None:
        super().__init__()
        _register(self)

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
        """Nothing is armed after close(), by a request that began before:
        armer.end() is not called again, and the child of a fork does not
        forget a closed engine. Called with the lock."""
        if self.is_closed:
            raise EngineError(HAS_ENDED)

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
                self._check_open()
                self.filters[owner] = filters
            self._arm()

    def stops_raised(self) -> bool:
        return any(each.raised for each in self.filters.values())

    def watch_code(self, code: codes.Code, watcher: Watcher) -> None:
        """It is called in the thread before each line of this code object,
        and at the end of each frame of it. It must not raise."""
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
        """The thread stops at its next line; None: all. EngineError: there
        is none, or it cannot be stopped."""
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
        """Cancels requested pauses of a thread (None: of all threads) that
        has not stopped yet, whichever client requested them. False: there
        were none."""
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
        """What the others do while one stands: "one", they run on, or
        "all", they are held."""
        if mode not in ("one", "all"):
            raise EngineError("%s is none of one, all" % ascii(mode))
        with self._lock:
            self.mode = mode
            if mode == "one":
                self._release()

    def park(self, reason: str, frames: Frames,
             exception: Optional[BaseException] = None,
             lease: Optional[float] = None, description: str = "") -> None:
        """The calling thread stands here, with the GIL free, until it is let
        go or the lease (seconds) is over."""
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
        """A thread of ours (None: this one) that never stops."""
        self._never.add(_thread.get_ident() if ident is None else ident)

    def leave(self, owner: str) -> None:
        """What it wanted is no more."""
        with self._lock:
            self.filters.pop(owner, None)
            self.table.set(owner, [])
            self._take_back(owner)
            self._arm()

    def _take_back(self, owner: str) -> None:
        """Pauses that have not come yet."""
        idents = []
        for state in list(self._states.values()):
            if owner in state.paused_by:
                state.paused_by.discard(owner)
                if not state.paused_by and not state.is_held:
                    idents.append(state.ident)
        if idents and not self.is_closed:
            self.armer.let_run(idents)

    def end_steps(self) -> None:
        """No session waits for a thread that still steps."""
        with self._lock:
            # Also of one that was told to step, and does not yet.
            self.turn[0] += 1
            self.armer.end_steps()

    def end_others(self, going: Stop) -> None:
        """The process is to continue, not this thread alone: steps of other
        threads are over, also where they have ended, and who stands at
        breakpoints that were all cleared continues, too."""
        self.end_steps()
        for stop in self.stops():
            is_cleared = stop.hits and stop.cleared.issuperset(stop.hits)
            if stop is not going and (is_cleared or stop.reason == "step"):
                with contextlib.suppress(EngineError):
                    stop.go()

    def close(self) -> None:
        """All threads resume, and nothing of it remains in the program."""
        # The last one first, and each whatever becomes of those before it.
        with contextlib.ExitStack() as parts:
            parts.callback(self._forget_threads)
            parts.callback(self._all_go)
            parts.enter_context(self._lock)
            self.is_closed = True
            # Also of steps that were told, and have not begun.
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
        """But for those that have not gone on yet: what they stepped through
        is the program's."""
        self._states = {ident: state for ident, state in
                        list(self._states.items()) if state.stop is not None}

    def _all_go(self) -> None:
        for stop in self.stops():
            with contextlib.suppress(EngineError):
                stop.go()

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
        for state in self._states.values():
            state.is_held, state.gate = False, None
        self.table = Table()
        self.filters, self.watchers = {}, {}
        self.armer.end_steps()
        self.armer.end()


_engine: Optional[Engine] = None
_seat = threading.Lock()
# Those that are held while a thread forks.
_forking: Dict[int, Engine] = {}


def get() -> Engine:
    """The one of this process, made when there is none."""
    engine = _engine
    if engine is None or engine.is_closed:
        return Engine()
    # An agent that left has taken its hooks of forks away.
    _register(engine)
    return engine


def peek() -> Optional[Engine]:
    """The same; None: no session has debugged yet."""
    return _engine


def _register(engine: Engine) -> None:
    global _engine
    with _seat:
        _engine = engine
        # An agent that leaves takes it back.
        forks.add(_begin_fork, _end_fork, _forget)


def _begin_fork() -> None:
    """Before a fork: waits until no other thread is inside the engine, as in
    the child that thread would hold the engine's locks for ever. After
    FORK_SECONDS the thread forks all the same; what it calls until the child
    has dropped the engine, other hooks of the fork, is traced but ignored."""
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
    # One that is closed has left all threads once its lock is free.
    if engine is not None and not (engine.is_closed and engine is had_lock):
        engine.forget()
    inspection.end_business()
