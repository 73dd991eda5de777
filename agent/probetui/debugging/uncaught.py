"""Threads that an exception would end are held before it does.

Python calls sys.excepthook, or threading.excepthook, when no code has caught an
exception: the frames that it came through are still there. Ours holds the
thread, and then calls the program's own, which ends it as it would have.
"""
from __future__ import annotations

import bdb
import os
import sys
import threading
from types import FrameType, TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    List,
    NamedTuple,
    Optional,
    Set,
    Tuple,
)

from .. import identity
from ..settings import describe, duration, tell

if TYPE_CHECKING:
    from .engine import Engine

LEASE_SECONDS = 1800.0
LOOK_SECONDS = 1.0
REASON = "exception"
# Somebody wants these ends: held only where their own names are given.
_WANTED_ENDS = (SystemExit, KeyboardInterrupt, GeneratorExit, bdb.BdbQuit)


class Catch(NamedTuple):
    """What was asked for; it stays when who asked has gone."""

    lease: float = LEASE_SECONDS
    types: Tuple[str, ...] = ()  # empty: all


def names_of(kind: type) -> List[str]:
    """By which its class is known: "ValueError", "torch.OutOfMemoryError"."""
    name = kind.__qualname__
    return [name, "%s.%s" % (kind.__module__, name)]


def is_wanted(kind: type, types: Tuple[str, ...]) -> bool:
    if issubclass(kind, _WANTED_ENDS):
        return any(name in types for name in names_of(kind))
    return not types or any(
        name in types for base in kind.__mro__ for name in names_of(base))


def frames_of(trace: Optional[TracebackType]
              ) -> List[Tuple[FrameType, int]]:
    """Innermost first: those that it came through, and their callers."""
    found: List[Tuple[FrameType, int]] = []
    caller = trace.tb_frame.f_back if trace is not None else None
    while trace is not None:
        found.insert(0, (trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    while caller is not None:
        found.append((caller, caller.f_lineno))
        caller = caller.f_back
    return found


class Catcher:
    """One a process. In its place there are hooks as long as somebody wants
    it: catch() or a viewer."""

    def __init__(self, engine: Callable[[], Engine]) -> None:
        self._engine = engine
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self.catch: Optional[Catch] = None
        self._viewers: Dict[str, Tuple[str, ...]] = {}
        self._hook: Any = None
        self._threads_hook: Any = None
        self._before: Any = None
        self._threads_before: Any = None
        self._inside: Set[int] = set()
        self._is_closed = False

    def set_catch(self, catch: Optional[Catch]) -> None:
        with self._lock:
            self.catch = catch
            self._settle()

    def set_viewer(self, owner: str, types: Optional[List[str]]) -> None:
        """None: it does not want any."""
        with self._lock:
            self._viewers.pop(owner, None)
            if types is not None:
                self._viewers[owner] = tuple(types)
            self._settle()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self.catch = None
            self._viewers.clear()
            self._settle()

    def look(self) -> Optional[float]:
        """Programs set hooks of their own, as torch does; ours calls them, and
        what they do is done after a hold, not before it."""
        with self._lock:
            self._settle()
            return LOOK_SECONDS if self._is_armed() else None

    def _is_armed(self) -> bool:
        return not self._is_closed and (
            self.catch is not None or bool(self._viewers))

    def _settle(self) -> None:
        """What the program has put over ours stays, and calls ours, which
        then do nothing."""
        armed = self._is_armed()
        self._recognise()
        if armed and sys.excepthook is not self._hook:
            self._before = sys.excepthook
            self._hook = self._make_hook(self._before)
            sys.excepthook = self._hook
        elif not armed and sys.excepthook is self._hook is not None:
            sys.excepthook = self._before
            self._hook = self._before = None
        if armed and threading.excepthook is not self._threads_hook:
            self._threads_before = threading.excepthook
            self._threads_hook = self._make_threads_hook(self._threads_before)
            threading.excepthook = self._threads_hook
        elif not armed and threading.excepthook is self._threads_hook \
                is not None:
            threading.excepthook = self._threads_before
            self._threads_hook = self._threads_before = None

    def _recognise(self) -> None:
        """One of ours that the program has put back, where it had its own for
        a while: else there would be one more each time."""
        hook, thread_hook = sys.excepthook, threading.excepthook
        if getattr(hook, "catcher", None) is self:
            self._hook = hook
            self._before = getattr(hook, "before")
        if getattr(thread_hook, "catcher", None) is self:
            self._threads_hook = thread_hook
            self._threads_before = getattr(thread_hook, "before")

    def _make_hook(self, previous: Any) -> Any:
        def excepthook(kind: Any, value: Any, trace: Any) -> None:
            entered = self._enter()
            try:
                if entered:
                    self._offer(value, trace)
            finally:
                try:
                    previous(kind, value, trace)
                finally:
                    self._leave(entered)

        return self._sign(excepthook, previous)

    def _make_threads_hook(self, previous: Any) -> Any:
        def excepthook(args: Any) -> None:
            entered = self._enter()
            try:
                if entered:
                    self._offer(args.exc_value, args.exc_traceback)
            finally:
                try:
                    previous(args)
                finally:
                    self._leave(entered)

        return self._sign(excepthook, previous)

    def _sign(self, hook: Any, previous: Any) -> Any:
        hook.catcher, hook.before = self, previous
        return hook

    def _enter(self) -> bool:
        """False: the exception has been offered, by a hook of ours that calls
        the program's, which calls this one."""
        ident = threading.get_ident()
        if ident in self._inside or self._is_closed or \
                os.getpid() != self._pid:
            return False
        self._inside.add(ident)
        return True

    def _leave(self, entered: bool) -> None:
        if entered:
            self._inside.discard(threading.get_ident())

    def _lease(self, kind: type) -> Tuple[bool, Optional[float]]:
        """Whether it is held, and for how long; None: while viewers are
        there."""
        catch = self.catch
        if catch is not None and is_wanted(kind, catch.types):
            return True, catch.lease
        return any(is_wanted(kind, types)
                   for types in list(self._viewers.values())), None

    def _offer(self, error: Any, trace: Any) -> None:
        """Returns when the thread is to end."""
        if not isinstance(error, BaseException):
            return
        held, lease = self._lease(type(error))
        if not held:
            return
        text = describe(error)
        try:
            if lease is not None:
                tell("rank %d, %s, raised %s and is held; it ends by itself "
                     "in %s" % (identity.find().rank,
                                threading.current_thread().name, text,
                                duration(lease)))
            self._engine().park(REASON, frames_of(trace), error, lease, text)
        except KeyboardInterrupt:
            # Somebody wants the job to end.
            pass
        except Exception as problem:
            tell("the exception could not be held: %s" % describe(problem))
