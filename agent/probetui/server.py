"""Connections of clients: one thread that waits for them and sees that no
evaluation takes too long, and one for each that is there."""
from __future__ import annotations

import collections
import contextlib
import select
import signal
import socket
import threading
import time
from typing import (
    Any,
    Callable,
    Deque,
    Dict,
    Iterator,
    List,
    Optional,
    Set,
    Tuple,
)

from . import audit, inspection, wire
from .access import Door, check_peer, check_request, peer_name
from .admission import Admission
from .evaluation import LOOK_SECONDS, Evaluator
from .http1 import (
    IDLE_SECONDS,
    REQUEST_SECONDS,
    Closed,
    Head,
    Reader,
    Refusal,
    send,
    write_answer,
    write_refusal,
)
from .settings import describe, tell

CONNECTIONS_MAXIMUM = 32
# So many of them over TCP, each with the token, that there is a way in left for
# the user's own sockets.
TCP_MAXIMUM = 24
DRAIN_SECONDS = 1.0
DRAIN_MAXIMUM = 4 << 20
# Who is not let in has so long to read why.
LINGER_SECONDS = 1.0
# Who waits for events is told of the end so long.
END_SECONDS = 0.2
LINGER_MAXIMUM = 32
# How often a place that another user had is looked at.
CLAIM_SECONDS = 5.0
# What failed is not tried again at once.
AGAIN_SECONDS = 0.05
# What a fault of a thread's own raises is never held back from it.
_OWN_SIGNALS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL,
                signal.SIGTRAP, signal.SIGABRT, signal.SIGSYS}

# Sockets are made and closed with this: a fork has none that it does not know.
forking = threading.RLock()

# Closed by its other end, though no thread reads from it.
_HUNG_UP = getattr(select, "POLLRDHUP", 0x2000) | select.POLLHUP | \
    select.POLLERR


class Connection:
    """One client, and the thread that serves it."""

    def __init__(self, server: Server, door: Door,
                 connection: socket.socket, reader: Optional[Reader] = None,
                 head: Optional[Head] = None) -> None:
        self._server = server
        self._socket: Any = connection
        self._reader = reader or Reader(connection)
        # Of the first request, where it was read already.
        self._head = head
        self.door = door
        self._turn = threading.Lock()
        self._is_given_up = False
        self._is_answering = False
        self.is_gone = False
        self._ident: Optional[int] = None
        # It waits for events, the end of the process among them.
        self.awaits_end = False

    def run(self) -> None:
        try:
            self._ident = threading.get_ident()
            audit.peer.name = peer_name(self.door, self._socket)
            self._reader.begin()
            if self._head is None:
                self._reader.expect(REQUEST_SECONDS)
            while self._serve():
                self._reader.expect(IDLE_SECONDS)
        except (Closed, OSError):
            pass
        except BaseException as problem:
            self._server.report(problem)
        finally:
            self.is_gone = True
            self._server.leave(self)
            self._server.drop(self._socket)

    def fileno(self) -> int:
        return int(self._socket.fileno())

    @property
    def is_of_this_thread(self) -> bool:
        return self._ident == threading.get_ident()

    def shut(self) -> None:
        """From another thread: this one's next step ends it."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _refuse(self, refusal: Refusal) -> None:
        """For good. What is still on its way is read first: else the answer
        could be lost with it."""
        send(self._socket, write_refusal(refusal))
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
            until = time.monotonic() + DRAIN_SECONDS
            left = DRAIN_MAXIMUM
            while left > 0 and time.monotonic() < until:
                self._socket.settimeout(DRAIN_SECONDS)
                data = self._socket.recv(65536)
                if not data:
                    break
                left -= len(data)

    def _serve(self) -> bool:
        """One request. False: it was the last one."""
        try:
            head = self._head or self._reader.read_head()
            self._head = None
            check_request(self.door, self._socket, head.headers)
            body = self._reader.read_body(head)
        except Refusal as refusal:
            self._refuse(refusal)
            return False
        data = self._answer(head, body)
        with self._turn:
            self._is_answering = True
            if self._is_given_up:
                return False
        send(self._socket, data)
        self._is_answering = False
        self.awaits_end = False
        return self._keeps(head)

    def _keeps(self, head: Head) -> bool:
        return head.keeps and not self._server.is_closed

    def _answer(self, head: Head, body: bytes) -> bytes:
        try:
            try:
                given = wire.decode(body) if body else None
            except wire.WireError as error:
                raise Refusal(400, str(error)) from None
            answer = self._server.route(head, given, self)
            return write_answer(answer, self._keeps(head))
        except Refusal as refusal:
            return write_refusal(refusal, self._keeps(head))
        except Exception as problem:
            return write_refusal(Refusal(500, describe(problem)),
                                 self._keeps(head))

    def give_up(self, refusal: Refusal) -> None:
        """From another thread, as this one does not come back."""
        with self._turn:
            if self._is_answering:
                return
            self._is_given_up = True
        self._server.leave(self)
        with contextlib.suppress(OSError):
            self._socket.settimeout(0)
            self._socket.send(write_refusal(refusal))
        self.shut()


# Gives what is to be told. Refusal: why not.
Route = Callable[[Head, Any, Connection], Any]


class Server:
    """Listens at the doors until it is closed."""

    def __init__(self, doors: List[Door]) -> None:
        self.doors = doors
        self.route: Route = _no_route
        # Called now and then; in how many seconds it is to be the next time.
        self.look: Callable[[], float] = lambda: LOOK_SECONDS
        # A connection has ended. Once each at least, in any thread.
        self.on_gone: Callable[[Connection], None] = lambda connection: None
        # Gives one more door, once it can be had; None: not yet.
        self.claim: Optional[Callable[[], Optional[Door]]] = None
        self._claim_at = time.monotonic() + CLAIM_SECONDS
        self.evaluator = Evaluator(self.wake)
        self.waker, self._woken = socket.socketpair()
        self.waker.setblocking(False)
        self._woken.setblocking(False)
        self.sockets: Set[socket.socket] = set()
        self._connections: Set[Connection] = set()
        self._watched: Set[Connection] = set()
        self._turned_away: Deque[Tuple[float, socket.socket]] = \
            collections.deque()
        self._admission = Admission(self)
        self.is_closed = False
        self._has_reported = False
        self._thread = _make_thread("probetui-listen", self._run)

    def start(self) -> None:
        with _signals_blocked():
            self._thread.start()

    def close(self) -> None:
        """At the end of the process, or of the agent. The thread that serves
        who asks for it is left alone, and what is evaluated."""
        self.is_closed = True
        self.wake()
        if self._thread.ident is not None:
            self._thread.join(1.0)
        for door in self.doors:
            door.endpoint.close()
        until = time.monotonic() + END_SECONDS
        while time.monotonic() < until and any(
                connection.awaits_end for connection in
                list(self._connections)):
            time.sleep(0.001)
        for connection in list(self._connections):
            if not connection.is_of_this_thread:
                connection.shut()

    def clear(self) -> None:
        """Once it is closed, and its thread has ended."""
        for waiting in (self.waker, self._woken):
            self.drop(waiting)
        self._admission.clear()
        while self._turned_away:
            self.drop(self._turned_away.popleft()[1])

    def forget(self) -> None:
        """In a fork: sockets, threads and paths are its parent's."""
        self.evaluator.forget()
        for door in self.doors:
            door.endpoint.listener.close()
        for connection in self.sockets:
            connection.close()
        self.waker.close()
        self._woken.close()

    def report(self, problem: BaseException) -> None:
        """A mistake of ours: told once."""
        if not self._has_reported and not self.is_closed:
            self._has_reported = True
            tell("a client could not be served: %s" % describe(problem))

    def leave(self, connection: Connection) -> None:
        self._connections.discard(connection)
        self._watched.discard(connection)
        self.on_gone(connection)

    def watch(self, connection: Connection) -> None:
        """Its end is noticed while it is served, too."""
        if connection not in self._watched and not connection.is_gone:
            self._watched.add(connection)
            self.wake()

    def drop(self, connection: socket.socket) -> None:
        with forking, contextlib.suppress(OSError):
            self.sockets.discard(connection)
            connection.close()

    def wrap(self, door: Door, connection: socket.socket) -> socket.socket:
        """For TLS, without a handshake."""
        with forking:
            self.sockets.discard(connection)
            wrapped: socket.socket = door.context.wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False)
            self.sockets.add(wrapped)
        return wrapped

    def wake(self) -> None:
        with contextlib.suppress(OSError):
            self.waker.send(b".")

    def _run(self) -> None:
        while not self.is_closed:
            try:
                self._turn()
            except Exception as problem:
                self.report(problem)
                time.sleep(AGAIN_SECONDS)

    def _turn(self) -> None:
        seconds = min(self.evaluator.look(), self.look(),
                      self._close_turned_away(), self._admission.look(),
                      self._look_for_door())
        poll = select.poll()
        # Before the listening sockets: accepted clients are served before new
        # ones are accepted.
        self._admission.register(poll)
        watched = self._register_watched(poll)
        poll.register(self._woken, select.POLLIN)
        doors: Dict[int, Door] = {}
        for door in self.doors:
            doors[door.endpoint.listener.fileno()] = door
            poll.register(door.endpoint.listener, select.POLLIN)
        for fd, _ in poll.poll(seconds * 1000 + 1):
            if fd in self._admission:
                self._admission.advance(fd)
            elif fd in doors:
                self._accept(doors[fd])
            elif fd in watched:
                watched[fd].is_gone = True
                self._watched.discard(watched[fd])
                self.on_gone(watched[fd])
            else:
                with contextlib.suppress(OSError):
                    self._woken.recv(4096)

    def _look_for_door(self) -> float:
        if self.claim is None:
            return LOOK_SECONDS
        left = self._claim_at - time.monotonic()
        if left > 0:
            return left
        self._claim_at = time.monotonic() + CLAIM_SECONDS
        with forking:
            door = self.claim()
            if door is not None:
                self.doors.append(door)
                self.claim = None
        return CLAIM_SECONDS

    def _register_watched(self, poll: Any) -> Dict[int, Connection]:
        watched: Dict[int, Connection] = {}
        for connection in list(self._watched):
            # One that is closed meanwhile has no number any more.
            with contextlib.suppress(OSError, ValueError):
                poll.register(connection.fileno(), _HUNG_UP)
                watched[connection.fileno()] = connection
        return watched

    def _accept(self, door: Door) -> None:
        try:
            with forking:
                connection, _ = door.endpoint.listener.accept()
                self.sockets.add(connection)
        except BlockingIOError:
            return
        except OSError:
            # No descriptor is left: do not ask again at once.
            time.sleep(AGAIN_SECONDS)
            return
        try:
            check_peer(door, connection)
            if door.is_unix:
                self.begin(door, connection)
            else:
                self._admission.add(door, connection)
        except Refusal as refusal:
            self.turn_away(connection, refusal, door.context is None)
        except (OSError, RuntimeError):
            self.drop(connection)

    def turn_away(self, connection: socket.socket, refusal: Refusal,
                  can_be_told: bool) -> None:
        """Without waiting for anybody."""
        with contextlib.suppress(OSError):
            connection.setblocking(False)
            if can_be_told:
                # SIGPIPE is blocked in this thread.
                connection.send(write_refusal(refusal))
                connection.shutdown(socket.SHUT_WR)
        self._turned_away.append((time.monotonic() + LINGER_SECONDS,
                                  connection))

    def _close_turned_away(self) -> float:
        """In how many seconds there is another one to close."""
        while self._turned_away:
            until, connection = self._turned_away[0]
            left = until - time.monotonic()
            if left > 0 and len(self._turned_away) <= LINGER_MAXIMUM:
                return left
            self._turned_away.popleft()
            self.drop(connection)
        return LOOK_SECONDS

    def begin(self, door: Door, connection: socket.socket,
              reader: Optional[Reader] = None,
              head: Optional[Head] = None) -> None:
        """A thread for it. Refusal, RuntimeError: there is none."""
        there = list(self._connections)
        if len(there) >= CONNECTIONS_MAXIMUM or not door.is_unix and sum(
                not other.door.is_unix for other in there) >= TCP_MAXIMUM:
            raise Refusal(503, "so many clients are connected already")
        client = Connection(self, door, connection, reader, head)
        self._connections.add(client)
        try:
            _make_thread("probetui-client", client.run).start()
        except RuntimeError:
            self.leave(client)
            raise


def _make_thread(name: str, run: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=inspection.untraced(run),
                              name=name, daemon=True)
    inspection.hide(thread)
    return thread


def _no_route(head: Head, body: Any, connection: Connection) -> Any:
    raise Refusal(404, "there is nothing")


@contextlib.contextmanager
def _signals_blocked() -> Iterator[None]:
    """For threads that start here, and those that they start: a signal for
    the process is for the program's own threads."""
    previous = signal.pthread_sigmask(
        signal.SIG_BLOCK, set(signal.valid_signals()) - _OWN_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)
