"""Viewers, and their end. A session is over when it says so, and when nothing
of it is heard any more."""
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
# Between a session's last connection and its end.
UNIX_GRACE = 1.0
# Requests of a session that are not taken a second time are so many, the last.
TAKEN_MAXIMUM = 1000
TCP_GRACE = 10.0
# Without a request, and without a wait for events.
SILENCE_SECONDS = 60.0
NEVER = 3600.0


class Kept:
    """What a module keeps of a session, by its own name for it."""

    is_aging = False  # look() is to be called within a minute

    def look(self) -> Optional[float]:
        """Now and then. When it is to be the next time, at the latest."""
        return None

    def drop(self, stop: Any) -> None:
        """A thread has resumed."""

    def end(self, debugger: Any) -> None:
        """The session is over."""


Some = TypeVar("Some", bound=Kept)


class Session:
    """One viewer."""

    def __init__(self, grace: float, first: int) -> None:
        self.id = os.urandom(16).hex()
        self.grace = grace
        self.first = first  # events up to here are not for it
        self.lines_start = 1
        self.columns_start = 1
        self.kept: Dict[str, Kept] = {}
        self.is_over = False
        # Else it only looks on: nothing stands for it.
        self.is_debugging = False
        self._connections: Set[Connection] = set()
        self._requests = 0
        self._heard = time.monotonic()
        self._count = 0
        self._taken: Set[str] = set()
        self._order: Deque[str] = collections.deque()

    def take(self, number: str) -> bool:
        """False: a request with that number was taken already."""
        if number in self._taken:
            return False
        self._taken.add(number)
        self._order.append(number)
        if len(self._order) > TAKEN_MAXIMUM:
            self._taken.discard(self._order.popleft())
        return True

    def number(self) -> int:
        """Of its next response."""
        self._count += 1
        return self._count

    def keep(self, name: str, make: Callable[[], Some]) -> Some:
        found: Any = self.kept.get(name)
        # Two requests at a time get the same.
        return found or self.kept.setdefault(name, make())  # type: ignore

    def end_at(self) -> float:
        if self._connections and self._requests:
            return time.monotonic() + NEVER
        return self._heard + (SILENCE_SECONDS if self._connections
                              else self.grace)

    def hear(self, connection: Connection, requests: int) -> None:
        """That many more of its requests are answered there."""
        self._heard = time.monotonic()
        self._requests += requests
        if not connection.is_gone:
            self._connections.add(connection)

    def leave(self, connection: Connection) -> None:
        if connection in self._connections:
            self._connections.discard(connection)
            self._heard = time.monotonic()


class Sessions:
    """`end` is called for each that is over, without a lock."""

    def __init__(self, end: Callable[[Session], None]) -> None:
        self._end = end
        self._sessions: Dict[str, Session] = {}
        self._lock = threading.Lock()

    def debugging(self) -> int:
        """Those for which threads stand."""
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
                raise Refusal(503, "%d sessions are there already"
                              % SESSIONS_MAXIMUM)
            session.hear(connection, 0)
            self._sessions[session.id] = session
        return session

    def find(self, name: str) -> Session:
        with self._lock:
            session = self._sessions.get(name)
        if session is None:
            raise Refusal(404, "there is no such session; initialize makes "
                          "one, which ends when its connections do")
        return session

    def take(self, session: Session, once: Optional[str]) -> None:
        """A request, of that number unless None. Who does not know whether
        it came sends it again; 409: it did."""
        with self._lock:
            is_new = once is None or session.take(once)
        if not is_new:
            raise Refusal(409, "this request was taken already")

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
        """Ends what is over. In how many seconds to look again."""
        now = time.monotonic()
        with self._lock:
            ends = {session: session.end_at() for session in
                    self._sessions.values()}
        for session, end in ends.items():
            if end <= now:
                self.remove(session)
        return max(0.0, min([NEVER] + [
            end - now for end in ends.values() if end > now]))
