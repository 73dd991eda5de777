"""Stops a thread at an uncaught exception, before the exception ends the
thread.

Python calls sys.excepthook or threading.excepthook for an uncaught exception,
while its traceback still has all frames. The hooks of this module stop the
thread, and then call the previous hook, which ends the thread as usual.
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
# Exceptions that end a thread or program intentionally: they stop only if
# their own name is given.
_WANTED_ENDS = (SystemExit, KeyboardInterrupt, GeneratorExit, bdb.BdbQuit)


class Catch(NamedTuple):
    """The request to stop at uncaught exceptions; stays after its client has
    disconnected."""

    lease: float = LEASE_SECONDS
    types: Tuple[str, ...] = ()  # class names; empty: all


def names_of(kind: type) -> List[str]:
    """Returns the names of a class: "ValueError", "torch.OutOfMemoryError"."""
    name = kind.__qualname__
    return [name, "%s.%s" % (kind.__module__, name)]


def is_wanted(kind: type, types: Tuple[str, ...]) -> bool:
    if issubclass(kind, _WANTED_ENDS):
        return any(name in types for name in names_of(kind))
    return not types or any(
        name in types for base in kind.__mro__ for name in names_of(base))


def frames_of(trace: Optional[TracebackType]
              ) -> List[Tuple[FrameType, int]]:
    """Returns (frame, line), innermost first: the traceback's frames and their
    callers."""
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
    """Installs the hooks while catch() or a viewer requests them; one object
    per process."""

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
        """Sets the exception types of a viewer; None: it wants none."""
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
        """Installs the hooks again if the program has set its own hooks since,
        as torch does: a thread must stop before the program's hook runs, not
        after it."""
        with self._lock:
            self._settle()
            return LOOK_SECONDS if self._is_armed() else None

    def _is_armed(self) -> bool:
        return not self._is_closed and (
            self.catch is not None or bool(self._viewers))

    def _settle(self) -> None:
        """Installs or removes the hooks. A hook of the program that calls ours
        stays; ours then does nothing."""
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
        """Finds one of our hooks that the program has restored after it had
        its own: otherwise one more hook would be added each time."""
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
        """Returns False if this thread is in a hook already: our hook called
        the program's, and that called ours again."""
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
        """Returns whether the exception stops, and the lease in seconds; None:
        as long as viewers are connected."""
        catch = self.catch
        if catch is not None and is_wanted(kind, catch.types):
            return True, catch.lease
        return any(is_wanted(kind, types)
                   for types in list(self._viewers.values())), None

    def _offer(self, error: Any, trace: Any) -> None:
        """Stops the thread if requested. Returns when the thread may end."""
        if not isinstance(error, BaseException):
            return
        held, lease = self._lease(type(error))
        if not held:
            return
        text = describe(error)
        try:
            if lease is not None:
                tell("rank %d, %s, raised %s and is stopped; the exception "
                     "propagates in %s" % (identity.find().rank,
                                           threading.current_thread().name,
                                           text, duration(lease)))
            self._engine().park(REASON, frames_of(trace), error, lease, text)
        except KeyboardInterrupt:
            # Ctrl-C: the user wants the job to end.
            pass
        except Exception as problem:
            tell("the thread could not be stopped at its exception: %s"
                 % describe(problem))
