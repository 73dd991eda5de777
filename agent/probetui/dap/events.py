"""The event queue of the debugger, from which clients read by GET /events."""
from __future__ import annotations

import collections
import threading
import time
from typing import Any, Callable, Deque, Dict, NamedTuple, Optional

EVENTS_MAXIMUM = 1000
# Maximum number of events in one response.
TELL_MAXIMUM = 200
TEXT_MAXIMUM = 1 << 20


class Event(NamedTuple):
    number: int
    name: str
    body: Dict[str, Any]
    # id of the only session that receives it; None: all sessions
    reader: Optional[str]
    own: Dict[str, Dict[str, Any]]  # further fields of the body, by session id

    def message(self, reader: str) -> Dict[str, Any]:
        return {"seq": self.number, "type": "event", "event": self.name,
                "body": dict(self.body, **self.own.get(reader, {}))}


class Ring:
    """The last EVENTS_MAXIMUM events of the process, numbered from 1."""

    def __init__(self) -> None:
        self._events: Deque[Event] = collections.deque(maxlen=EVENTS_MAXIMUM)
        # A condition with an RLock: a signal may arrive in the thread that
        # holds the lock, and a signal handler that hits a breakpoint calls
        # emit() again.
        self._changed = threading.Condition(threading.RLock())
        self.last = 0

    def emit(self, name: str, body: Dict[str, Any],
             reader: Optional[str] = None,
             own: Optional[Dict[str, Dict[str, Any]]] = None) -> None:
        """Adds an event. Called in any thread; does not wait for clients."""
        with self._changed:
            self.last += 1
            self._events.append(Event(self.last, name, body, reader,
                                      own or {}))
            self._changed.notify_all()

    def wait_until(self, condition: Callable[[], bool],
                   seconds: float) -> None:
        """Waits up to `seconds` until condition() is true; evaluated after
        each event."""
        with self._changed:
            self._changed.wait_for(condition, seconds)

    def wake(self) -> None:
        """Wakes up all waiting threads, so that they check their conditions
        again."""
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
        """Returns the events after number `after`; waits up to `seconds` for
        the first one."""
        until = time.monotonic() + seconds
        with self._changed:
            while True:
                found = self._found(min(after, self.last), reader)
                left = until - time.monotonic()
                if found["events"] or left <= 0 or not is_wanted():
                    return found
                self._changed.wait(left)
