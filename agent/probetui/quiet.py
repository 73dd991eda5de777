"""Warnings that the agent is the reason for, and the program is not: they are
kept from its standard error.

warnings.catch_warnings() exchanges the filters of the whole process: of two
threads that do so one puts the other's back, and from 3.14 on it takes a lock
that the child of a fork would wait for. Here one filter, beside all others,
says itself whether it applies: CPython asks whatever stands in the place of a
message's pattern to match().
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


class _Filter:
    def __init__(self, category: type) -> None:
        self._entry = ("ignore", self, category, None, 0)
        # One for each thread that is in match().
        self._asking: List[None] = []

    def match(self, text: str) -> bool:
        self._asking.append(None)
        try:
            result = self.applies(text)
        finally:
            # No instruction from here to the next entry of the list, which C
            # goes to, lets go of the GIL.
            del self._asking[0]
        return result

    def applies(self, text: str) -> bool:
        raise NotImplementedError

    def add(self) -> None:
        """Where it is not there, or not any more."""
        filters = _filters()
        if not any(entry is self._entry for entry in list(filters)):
            filters.insert(0, self._entry)

    def remove(self) -> None:
        filters = _filters()
        while any(entry is self._entry for entry in list(filters)):
            for position in range(len(filters)):
                self._remove(filters, position)

    def _remove(self, filters: List[Any], position: int) -> None:
        """A thread that asks this entry has its place in the list, and would
        leave out the one behind it, which comes to be there."""
        try:
            while filters[position] is self._entry:
                # No instruction between lets go of the GIL.
                if not self._asking:
                    del filters[position]
                    return
                time.sleep(LOOK_SECONDS)
        except IndexError:
            # The program has changed the list.
            pass

    def forget(self) -> None:
        """In a fork: the threads are its parent's."""
        del self._asking[:]
        self.remove()


class Forks(_Filter):
    """"This process is multi-threaded": by the agent's threads alone."""

    def __init__(self) -> None:
        super().__init__(DeprecationWarning)

    def add(self) -> None:
        # CPython warns of it from 3.12 on.
        if sys.version_info >= (3, 12):
            super().add()

    def applies(self, text: str) -> bool:
        if not text.startswith(FORK) or "multi-threaded" not in text:
            return False
        try:
            count = len(os.listdir("/proc/self/task"))
        except OSError:
            # No descriptor is left.
            count = len(sys._current_frames())
        return count - len(inspection.own_threads()) <= 1


class Jump(_Filter):
    """Names that a jump skips have None: this thread's jump, as long as it
    takes."""

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
