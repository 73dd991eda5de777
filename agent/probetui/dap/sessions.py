"""Sessions of viewers (DAP clients). A session ends when its client
disconnects, or when its client is silent for too long."""
from __future__ import annotations

import collections
import contextlib
import os
import threading
import time
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Deque,
    Dict,
    Iterator,
    List,
    Optional,
    Set,
    TypeVar,
)

from ..http1 import Refusal

if TYPE_CHECKING:
    from ..server import Connection

SESSIONS_MAXIMUM = 16
# Seconds after its last connection at which a session ends, for clients on the
# Unix socket; TCP_GRACE for TCP.
UNIX_GRACE = 1.0
# Number of request ids kept per session, to refuse requests that are sent
# twice.
TAKEN_MAXIMUM = 1000
TCP_GRACE = 10.0
# Seconds without a request or a wait for events after which a session ends.
SILENCE_SECONDS = 60.0
NEVER = 3600.0


class Kept:
    """Data that a module keeps for a session, under a name of the module's."""

    is_aging = False  # look() must be called within a minute

    def look(self) -> Optional[float]:
        """Called regularly. Returns the time.monotonic() of the next call, or
        None."""
        return None

    def drop(self, stop: Any) -> None:
        """Called when a thread resumes."""

    def end(self, debugger: Any) -> None:
        """Called when the session ends."""


Some = TypeVar("Some", bound=Kept)


class Session:
    """The session of one viewer."""

    def __init__(self, grace: float, first: int) -> None:
        self.id = os.urandom(16).hex()
        self.grace = grace
        self.first = first  # number of the last event that it does not receive
        self.lines_start = 1
        self.columns_start = 1
        self.kept: Dict[str, Kept] = {}
        self.is_over = False
        # False: the session only reads; no thread stops for it.
        self.is_debugging = False
        self._connections: Set[Connection] = set()
        self._requests = 0
        self._heard = time.monotonic()
        self._count = 0
        self._taken: Set[str] = set()
        self._order: Deque[str] = collections.deque()

    def take(self, number: str) -> bool:
        """Returns False if a request with that id was taken already."""
        if number in self._taken:
            return False
        self._taken.add(number)
        self._order.append(number)
        if len(self._order) > TAKEN_MAXIMUM:
            self._taken.discard(self._order.popleft())
        return True

    def number(self) -> int:
        """Returns the seq of the next response."""
        self._count += 1
        return self._count

    def keep(self, name: str, make: Callable[[], Some]) -> Some:
        found: Any = self.kept.get(name)
        # setdefault() is atomic: two concurrent requests get the same object.
        return found or self.kept.setdefault(name, make())  # type: ignore

    def end_at(self) -> float:
        if self._connections and self._requests:
            return time.monotonic() + NEVER
        return self._heard + (SILENCE_SECONDS if self._connections
                              else self.grace)

    def hear(self, connection: Connection, requests: int) -> None:
        """Notes activity of the client on `connection`; `requests` (+1, 0, -1)
        is the change in the number of requests being answered."""
        self._heard = time.monotonic()
        self._requests += requests
        if not connection.is_gone:
            self._connections.add(connection)

    def leave(self, connection: Connection) -> None:
        if connection in self._connections:
            self._connections.discard(connection)
            self._heard = time.monotonic()


class Sessions:
    """All sessions. `end` is called for each session that ends, without a lock
    held."""

    def __init__(self, end: Callable[[Session], None]) -> None:
        self._end = end
        self._sessions: Dict[str, Session] = {}
        self._lock = threading.Lock()

    def debugging(self) -> int:
        """Returns the number of sessions that may stop threads."""
        return sum(session.is_debugging for session in self.all())

    def __len__(self) -> int:
        return len(self._sessions)

    def all(self) -> List[Session]:
        with self._lock:
            return list(self._sessions.values())

    def make(self, connection: Connection, first: int) -> Session:
        session = Session(UNIX_GRACE if connection.door.is_unix
                          else TCP_GRACE, first)
        with self._lock:
            if len(self._sessions) >= SESSIONS_MAXIMUM:
                raise Refusal(503, "too many sessions: %d exist already"
                              % SESSIONS_MAXIMUM)
            session.hear(connection, 0)
            self._sessions[session.id] = session
        return session

    def find(self, name: str) -> Session:
        with self._lock:
            session = self._sessions.get(name)
        if session is None:
            raise Refusal(404, "no such session: a session ends with its "
                          "connections, and the request initialize creates a "
                          "new one")
        return session

    def take(self, session: Session, once: Optional[str]) -> None:
        """Accepts a request, once per id `once`. A client that does not know
        whether its request arrived sends it again; Refusal 409 means that it
        had arrived."""
        with self._lock:
            is_new = once is None or session.take(once)
        if not is_new:
            raise Refusal(409, "the request was already received")

    @contextlib.contextmanager
    def serving(self, session: Session,
                connection: Connection) -> Iterator[None]:
        with self._lock:
            session.hear(connection, 1)
        try:
            yield
        finally:
            with self._lock:
                session.hear(connection, -1)

    def leave(self, connection: Connection) -> None:
        with self._lock:
            for session in self._sessions.values():
                session.leave(connection)

    def remove(self, session: Session) -> None:
        with self._lock:
            if self._sessions.pop(session.id, None) is None:
                return
            session.is_over = True
        self._end(session)

    def look(self) -> float:
        """Removes sessions that are over. Returns the seconds until the next
        call."""
        now = time.monotonic()
        with self._lock:
            ends = {session: session.end_at() for session in
                    self._sessions.values()}
        for session, end in ends.items():
            if end <= now:
                self.remove(session)
        return max(0.0, min([NEVER] + [
            end - now for end in ends.values() if end > now]))
