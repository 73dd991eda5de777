"""Suppresses warnings that only the agent causes.

warnings.catch_warnings() is not used: it replaces the filters of the whole
process, so two threads may restore each other's filters; and since 3.14 it
takes a lock that a forked child could wait for forever. Instead, one filter is
inserted whose message pattern is a _Filter: CPython calls its match() method
and so lets it decide about each warning.
"""
from __future__ import annotations

import _thread
import _warnings
import os
import sys
import time
from typing import Any, List

from . import inspection

FORK = "This process (pid="
JUMP = "assigning None to "
LOOK_SECONDS = 0.001


def _filters() -> List[Any]:
    return getattr(sys.modules.get("warnings"), "filters",  # type: ignore
                   _warnings.filters)  # type: ignore[attr-defined]


class _NoWarning(Warning):
    """A class of which no warning is."""


class _Filter:
    def __init__(self, category: type) -> None:
        self._entry = ("ignore", self, category, None, 0)
        # An entry that matches no warning, without a call of Python code.
        self._neutral = ("ignore", "", _NoWarning, None, 0)
        # One item for each thread that is in match().
        self._asking: List[None] = []

    def match(self, text: str) -> bool:
        self._asking.append(None)
        try:
            result = self.applies(text)
        finally:
            # From here until C code moves on to the next list entry, no
            # instruction releases the GIL.
            del self._asking[0]
        return result

    def applies(self, text: str) -> bool:
        raise NotImplementedError

    def add(self) -> None:
        """Inserts the filter, unless it is in the list."""
        filters = _filters()
        if not any(entry is self._entry for entry in list(filters)):
            filters.insert(0, self._entry)

    def remove(self) -> None:
        filters = _filters()
        while any(entry is self._entry or entry is self._neutral
                  for entry in list(filters)):
            for position in range(len(filters)):
                self._remove(filters, position)

    def _remove(self, filters: List[Any], position: int) -> None:
        """Removes the entry when no thread is in its match(): such a thread
        has its index in the list, and would skip the following entry, which
        moves to that index. The neutral entry takes the place of the entry
        first, so that no further thread enters match()."""
        try:
            # No instruction between a check and the change of the list
            # releases the GIL.
            if filters[position] is self._entry:
                filters[position] = self._neutral
            if filters[position] is not self._neutral:
                return
            while self._is_entered() or self._asking:
                time.sleep(LOOK_SECONDS)
            if filters[position] is self._neutral:
                del filters[position]
        except IndexError:
            # The program has changed the list meanwhile.
            pass

    def _is_entered(self) -> bool:
        """Whether a thread is in match() itself: perhaps at its start, where
        it has not noted itself yet."""
        code = type(self).match.__code__
        return any(frame.f_code is code
                   for frame in sys._current_frames().values())

    def forget(self) -> None:
        """Called in a forked child, which has none of the threads in match():
        removes the filter."""
        del self._asking[:]
        self.remove()


class Forks(_Filter):
    """Suppresses "This process is multi-threaded" of os.fork(), if the agent's
    threads are the only other threads."""

    def __init__(self) -> None:
        super().__init__(DeprecationWarning)

    def add(self) -> None:
        # CPython has this warning since 3.12.
        if sys.version_info >= (3, 12):
            super().add()

    def applies(self, text: str) -> bool:
        if not text.startswith(FORK) or "multi-threaded" not in text:
            return False
        try:
            count = len(os.listdir("/proc/self/task"))
        except OSError:
            # No file descriptor is free.
            count = len(sys._current_frames())
        return count - len(inspection.own_threads()) <= 1


class Jump(_Filter):
    """Suppresses "assigning None to ..." of CPython's f_lineno setter, for
    jumps that this thread makes within the `with` block."""

    def __init__(self) -> None:
        super().__init__(RuntimeWarning)
        self._ident = _thread.get_ident()

    def applies(self, text: str) -> bool:
        return text.startswith(JUMP) and _thread.get_ident() == self._ident

    def __enter__(self) -> Jump:
        self.add()
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()
