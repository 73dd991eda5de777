"""Events of the debugger, for the clients that wait for them."""
from __future__ import annotations

import collections
import threading
import time
from typing import Any, Callable, Deque, Dict, NamedTuple, Optional

EVENTS_MAXIMUM = 1000
# Told at once.
TELL_MAXIMUM = 200
TEXT_MAXIMUM = 1 << 20


class Event(NamedTuple):
    number: int
    name: str
    body: Dict[str, Any]
    reader: Optional[str]  # the only session that is told; None: each
    own: Dict[str, Dict[str, Any]]  # more of its body, by sessions

    def message(self, reader: str) -> Dict[str, Any]:
        return {"seq": self.number, "type": "event", "event": self.name,
                "body": dict(self.body, **self.own.get(reader, {}))}


class Ring:
    """The last events of the process, by their numbers, from 1 on."""

    def __init__(self) -> None:
        self._events: Deque[Event] = collections.deque(maxlen=EVENTS_MAXIMUM)
        # One that can be had again: a signal may come to who has it, and its
        # handler stop.
        self._changed = threading.Condition(threading.RLock())
        self.last = 0

    def emit(self, name: str, body: Dict[str, Any],
             reader: Optional[str] = None,
             own: Optional[Dict[str, Dict[str, Any]]] = None) -> None:
        """In any thread; it does not wait."""
        with self._changed:
            self.last += 1
            self._events.append(Event(self.last, name, body, reader,
                                      own or {}))
            self._changed.notify_all()

    def wait_until(self, condition: Callable[[], bool],
                   seconds: float) -> None:
        """Or so long; it is asked anew after each event."""
        with self._changed:
            self._changed.wait_for(condition, seconds)

    def wake(self) -> None:
        """Who waits looks whether it still wants to."""
        with self._changed:
            self._changed.notify_all()

    def _found(self, after: int, reader: str) -> Dict[str, Any]:
        told = []
        length = 0
        following = self.last
        if self._events and after + 1 < self._events[0].number:
            told.append({"seq": self._events[0].number - 1, "type": "event",
                         "event": "probetui/lost", "body": {}})
        for event in list(self._events)[max(0, len(self._events) - (
                self.last - after)):]:
            if len(told) >= TELL_MAXIMUM or length > TEXT_MAXIMUM:
                following = event.number - 1
                break
            if event.reader in (None, reader):
                told.append(event.message(reader))
                length += len(event.body.get("output", ""))
        return {"events": told, "next": max(after, following)}

    def wait(self, after: int, reader: str, seconds: float,
             is_wanted: Callable[[], bool]) -> Dict[str, Any]:
        """The events after that number; waits for the first one."""
        until = time.monotonic() + seconds
        with self._changed:
            while True:
                found = self._found(min(after, self.last), reader)
                left = until - time.monotonic()
                if found["events"] or left <= 0 or not is_wanted():
                    return found
                self._changed.wait(left)
