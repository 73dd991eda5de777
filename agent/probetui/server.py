"""The HTTP server: one listening thread, which also interrupts late
evaluations, and one thread per connection."""
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
# Limit of TCP connections, lower than the limit of all connections, so that
# the user's own Unix socket stays reachable.
TCP_MAXIMUM = 24
DRAIN_SECONDS = 1.0
DRAIN_MAXIMUM = 4 << 20
# Seconds that a refused client has to read the answer before its connection is
# closed.
LINGER_SECONDS = 1.0
# Seconds that close() waits for connections that report the end of the
# process.
END_SECONDS = 0.2
LINGER_MAXIMUM = 32
# Seconds between two attempts to take the socket name in the default folder,
# which another user had.
CLAIM_SECONDS = 5.0
# Pause in seconds after a failure.
AGAIN_SECONDS = 0.05
# Signals that a fault of the thread itself raises: never blocked.
_OWN_SIGNALS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL,
                signal.SIGTRAP, signal.SIGABRT, signal.SIGSYS}

# Held while sockets are opened or closed, and by the hook before os.fork(): so
# the child knows all socket descriptors that it inherits.
forking = threading.RLock()

# Events of a watched connection: closed or half-closed by the client.
_HUNG_UP = getattr(select, "POLLRDHUP", 0x2000) | select.POLLHUP | \
    select.POLLERR


class Connection:
    """One client connection, and the thread that serves it."""

    def __init__(self, server: Server, door: Door,
                 connection: socket.socket, reader: Optional[Reader] = None,
                 head: Optional[Head] = None) -> None:
        self._server = server
        self._socket: Any = connection
        self._reader = reader or Reader(connection)
        # The first request head, if Admission has already read it.
        self._head = head
        self.door = door
        self._turn = threading.Lock()
        self._is_given_up = False
        self._is_answering = False
        self.is_gone = False
        self._ident: Optional[int] = None
        # True: the client waits for events, including the end of the process.
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
        """Called by another thread: the next read or write of this
        connection's thread fails, which ends it."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _refuse(self, refusal: Refusal) -> None:
        """Sends the refusal as the last answer. Reads what the client is still
        sending: closing a socket with unread data would reset the connection,
        and the client could lose the answer."""
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
        """Serves one request. Returns False if it was the last one."""
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
        """Called by another thread: sends the refusal and closes the
        connection, whose thread is stuck in the program's code."""
        with self._turn:
            if self._is_answering:
                return
            self._is_given_up = True
        self._server.leave(self)
        with contextlib.suppress(OSError):
            self._socket.settimeout(0)
            self._socket.send(write_refusal(refusal))
        self.shut()


# Returns the value of the answer, or raises Refusal.
Route = Callable[[Head, Any, Connection], Any]


class Server:
    """Listens at all doors until close()."""

    def __init__(self, doors: List[Door]) -> None:
        self.doors = doors
        self.route: Route = _no_route
        # Called by the listening thread; returns the seconds until the next
        # call.
        self.look: Callable[[], float] = lambda: LOOK_SECONDS
        # Called at least once for each connection that has ended, by any
        # thread.
        self.on_gone: Callable[[Connection], None] = lambda connection: None
        # Tries to open one more listening socket; returns None if that is not
        # possible yet.
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
        """Closes the server, at the end of the process or when the agent is
        removed. Does not end the thread that calls it, nor evaluations."""
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
        """Closes the remaining sockets; called after close(), when the
        listening thread has ended."""
        for waiting in (self.waker, self._woken):
            self.drop(waiting)
        self._admission.clear()
        while self._turned_away:
            self.drop(self._turned_away.popleft()[1])

    def forget(self) -> None:
        """In a forked child: closes the descriptors; sockets, threads and
        paths belong to the parent."""
        self.evaluator.forget()
        for door in self.doors:
            door.endpoint.listener.close()
        for connection in self.sockets:
            connection.close()
        self.waker.close()
        self._woken.close()

    def report(self, problem: BaseException) -> None:
        """Prints an internal error; only the first one."""
        if not self._has_reported and not self.is_closed:
            self._has_reported = True
            tell("a client could not be served: %s" % describe(problem))

    def leave(self, connection: Connection) -> None:
        self._connections.discard(connection)
        self._watched.discard(connection)
        self.on_gone(connection)

    def watch(self, connection: Connection) -> None:
        """Makes the listening thread notice the end of the connection while
        its own thread is busy."""
        if connection not in self._watched and not connection.is_gone:
            self._watched.add(connection)
            self.wake()

    def drop(self, connection: socket.socket) -> None:
        with forking, contextlib.suppress(OSError):
            self.sockets.discard(connection)
            connection.close()

    def wrap(self, door: Door, connection: socket.socket) -> socket.socket:
        """Wraps a socket for TLS, without starting the handshake."""
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
        # Register candidates before the listening sockets: clients that were
        # accepted are then served before new ones are accepted.
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
            # A connection that was closed meanwhile has no descriptor.
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
            # accept() fails while no file descriptor is free, and poll() would
            # report the listener again at once: wait.
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
        """Sends the refusal without blocking; the connection is closed after
        LINGER_SECONDS."""
        with contextlib.suppress(OSError):
            connection.setblocking(False)
            if can_be_told:
                # SIGPIPE is blocked in this thread.
                connection.send(write_refusal(refusal))
                connection.shutdown(socket.SHUT_WR)
        self._turned_away.append((time.monotonic() + LINGER_SECONDS,
                                  connection))

    def _close_turned_away(self) -> float:
        """Closes refused connections whose time is up. Returns the seconds
        until the next one is due."""
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
        """Starts a thread for the connection. Raises Refusal if there are too
        many connections, RuntimeError if no thread can start."""
        there = list(self._connections)
        if len(there) >= CONNECTIONS_MAXIMUM or not door.is_unix and sum(
                not other.door.is_unix for other in there) >= TCP_MAXIMUM:
            raise Refusal(503, "too many clients are connected")
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
    raise Refusal(404, "unknown path")


@contextlib.contextmanager
def _signals_blocked() -> Iterator[None]:
    """Blocks signals in the threads that start within the `with` block, and in
    threads that they start: signals to the process must reach program threads.
    """
    previous = signal.pthread_sigmask(
        signal.SIG_BLOCK, set(signal.valid_signals()) - _OWN_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)
