"""Numbers by which a session refers to frames and values.

Numbers of a stop are valid until its thread resumes. Other numbers are dropped
UNUSED_SECONDS after their last use: the value may be a tensor of many
gigabytes.
"""
from __future__ import annotations

import itertools
import threading
import time
from typing import Any, Dict, Generic, List, NamedTuple, Optional, TypeVar

from .messages import Failure
from .sessions import Kept

HANDLES_MAXIMUM = 10000
UNUSED_SECONDS = 60.0

Value = TypeVar("Value")


class _Entry(NamedTuple):
    value: Any
    stop: Any  # debugging.stop.Stop; None: of a running thread
    used: float


class Handles(Kept, Generic[Value]):
    """`what` is the kind of handle in error messages: "frame" or
    "variablesReference"."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._entries: Dict[int, _Entry] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def add(self, value: Value, stop: Any = None) -> int:
        with self._lock:
            number = next(self._numbers)
            self._entries[number] = _Entry(value, stop, time.monotonic())
            self.is_aging = self.is_aging or stop is None
            oldest = next(iter(self._entries)) \
                if len(self._entries) > HANDLES_MAXIMUM else 0
        self._drop([oldest])
        return number

    def find(self, number: int) -> Value:
        with self._lock:
            entry = self._entries.get(number)
            if entry is not None and not (entry.stop is not None
                                          and entry.stop.is_over):
                self._entries[number] = entry._replace(used=time.monotonic())
                value: Value = entry.value
                return value
        raise Failure("%s %d is no longer valid: request the stack again"
                      % (self._what, number))

    def drop(self, stop: Any) -> None:
        """Drops the handles of a thread that resumes."""
        self._drop([number for number, entry in dict(self._entries).items()
                    if entry.stop is stop])

    def end(self, debugger: Any) -> None:
        self._drop(list(self._entries))

    def look(self) -> Optional[float]:
        """Drops unused handles. Returns the time.monotonic() at which the next
        handle expires, or None."""
        self.is_aging = False
        before = time.monotonic() - UNUSED_SECONDS
        running = [(entry.used, number) for number, entry
                   in dict(self._entries).items() if entry.stop is None]
        # A request may add handles while its thread resumes.
        self._drop([number for number, entry in dict(self._entries).items()
                    if entry.stop is not None and entry.stop.is_over])
        self._drop([number for used, number in running if used <= before])
        left = [used for used, _ in running if used > before]
        if left:
            self.is_aging = True
        return min(left) + UNUSED_SECONDS if left else None

    def _drop(self, numbers: List[int]) -> None:
        # Free the values after the lock is released: that may run finalizers
        # of the program.
        dropped = []
        with self._lock:
            for number in numbers:
                dropped.append(self._entries.pop(number, None))
