"""TCP clients from accept() until their token has been checked.

A candidate has no thread and does not count against the limit of connections:
the listening thread reads the TLS handshake and the first request head without
blocking. If there are too many candidates, of one network or in all, the
oldest candidate of the network with the most is closed. So a client that sends
its token at once is served, however many other clients send nothing, or send
slowly.
"""
from __future__ import annotations

import collections
import ipaddress
import select
import socket
import time
from typing import TYPE_CHECKING, Any, Counter, Dict, Optional

from .access import Door, check_request
from .http1 import TLS_RECORD, Closed, Head, Reader, Refusal

if TYPE_CHECKING:
    from .server import Server

CANDIDATES_MAXIMUM = 64
OF_ADDRESS_MAXIMUM = 16
# Limit in seconds from accept() to the first byte.
FIRST_SECONDS = 3.0
# Limit in seconds from accept() to the end of the request head; includes the
# TLS handshake.
HEAD_SECONDS = 5.0
NEVER = 3600.0
# Limits per address count a whole /64 of IPv6 as one address: a provider gives
# each customer at least a /64.
IPV6_PREFIX = 64

# Errors that mean "no data yet", by class name, so that ssl need not be
# imported.
_WAITS = {"BlockingIOError": select.POLLIN, "SSLWantReadError": select.POLLIN,
          "SSLWantWriteError": select.POLLOUT}


def _network(text: str) -> Any:
    """Returns the key by which candidates of one client are counted: the IPv4
    address, or the /64 of an IPv6 address."""
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None)
    if mapped is not None or address.version == 4:
        return mapped or address
    return ipaddress.ip_network((int(address), IPV6_PREFIX), strict=False)


class Candidate:
    """A TCP connection whose token has not been checked yet."""

    def __init__(self, server: Server, door: Door,
                 connection: socket.socket) -> None:
        self._server = server
        self.door = door
        self.socket: Any = connection
        self.network = _network(connection.getpeername()[0])
        self.reader = Reader(connection)
        self.events = select.POLLIN
        self.begun = time.monotonic()
        self.has_begun_tls = False
        # False during a TLS handshake: the client could not read an HTTP
        # answer.
        self.can_be_told = door.context is None

    def until(self) -> float:
        has_data = self.has_begun_tls or self.reader.has_data
        return self.begun + (HEAD_SECONDS if has_data else FIRST_SECONDS)

    def advance(self) -> Optional[Head]:
        """Reads the bytes that have arrived. Returns None while the request
        head is incomplete. Raises Refusal, Closed or OSError if the client is
        not admitted."""
        try:
            if self.door.context is not None and not self.can_be_told:
                self._begin_tls()
            head = self.reader.poll_head()
        except OSError as error:
            if type(error).__name__ not in _WAITS:
                raise
            self.events = _WAITS[type(error).__name__]
            return None
        check_request(self.door, self.socket, head.headers)
        return head

    def _begin_tls(self) -> None:
        if not self.has_begun_tls:
            first = self.socket.recv(1, socket.MSG_PEEK)
            if not first:
                raise Closed()
            if first != TLS_RECORD:
                self.can_be_told = True
                raise Refusal(400, "TLS is required: use https")
            self.has_begun_tls = True
            self.socket = self._server.wrap(self.door, self.socket)
            self.socket.setblocking(False)
            self.reader = Reader(self.socket)
        self.socket.do_handshake()
        self.can_be_told = True


class Admission:
    """All candidates. Only the listening thread calls its methods."""

    def __init__(self, server: Server) -> None:
        self._server = server
        # Keys are file descriptors; insertion order is age, the oldest first.
        self._candidates: Dict[int, Candidate] = {}

    def __contains__(self, fd: int) -> bool:
        return fd in self._candidates

    def register(self, poll: Any) -> None:
        for fd, candidate in self._candidates.items():
            poll.register(fd, candidate.events)

    def add(self, door: Door, connection: socket.socket) -> None:
        connection.setblocking(False)
        candidate = Candidate(self._server, door, connection)
        self._make_room(candidate.network)
        self._candidates[connection.fileno()] = candidate
        self.advance(connection.fileno())

    def _make_room(self, network: Any) -> None:
        counts: Counter[Any] = collections.Counter(
            each.network for each in self._candidates.values())
        if counts[network] < OF_ADDRESS_MAXIMUM:
            if len(self._candidates) < CANDIDATES_MAXIMUM:
                return
            network = counts.most_common(1)[0][0]
        for fd, candidate in self._candidates.items():
            if candidate.network == network:
                self._refuse(fd, Refusal(
                    503, "too many clients have connected without sending a "
                    "token: the oldest was disconnected"))
                return

    def _refuse(self, fd: int, refusal: Refusal) -> None:
        candidate = self._candidates.pop(fd)
        self._server.turn_away(candidate.socket, refusal,
                               candidate.can_be_told)

    def advance(self, fd: int) -> None:
        candidate = self._candidates[fd]
        try:
            head = candidate.advance()
            if head is None:
                return
            self._server.begin(candidate.door, candidate.socket,
                               candidate.reader, head)
            del self._candidates[fd]
        except Refusal as refusal:
            self._refuse(fd, refusal)
        except (Closed, OSError, RuntimeError):
            del self._candidates[fd]
            self._server.drop(candidate.socket)

    def look(self) -> float:
        """Closes candidates whose time is up. Returns the seconds until the
        next candidate times out."""
        now = time.monotonic()
        for fd, candidate in dict(self._candidates).items():
            if candidate.until() > now:
                continue
            if candidate.reader.has_data:
                self._refuse(fd, Refusal(408, "the request line and headers "
                                         "were not complete within %g s"
                                         % HEAD_SECONDS))
            else:
                del self._candidates[fd]
                self._server.drop(candidate.socket)
        return max(0.0, min([NEVER] + [
            each.until() - now for each in self._candidates.values()]))

    def clear(self) -> None:
        while self._candidates:
            self._server.drop(self._candidates.popitem()[1].socket)
