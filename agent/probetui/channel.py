"""The text stream between pdb and its clients.

A rank has one channel with any number of clients. All clients receive what pdb
prints; each client may send lines, and a line is used when its newline has
arrived. The channel has no thread: while pdb waits for a line, the channel
polls the sockets; while the program runs, data of clients waits in the kernel.
A client that connects during a stop first receives the reason of the stop,
then the prompt.

pdb sets sys.stdout to the channel while it executes a command, so other
threads may call write() meanwhile: their output goes to sys.__stdout__.
"""
from __future__ import annotations

import collections
import io
import os
import select
import socket
import sys
import threading
import time
from typing import Any, Callable, Deque, Dict, List, Optional

from . import endpoints
from .settings import Settings, is_token

CLIENTS_MAXIMUM = 64
LINE_MAXIMUM = 65536
SCREEN_MAXIMUM = 8192
# A client with more than this many unsent bytes is dropped if it accepts no
# byte for STALL_SECONDS.
BEHIND_MAXIMUM = 1 << 20
STALL_SECONDS = 2.0
LOOK_SECONDS = 0.1
# Seconds for which pdb's output is collected before it is sent, while a
# command keeps printing.
COLLECT_SECONDS = 0.05
TOKEN_SECONDS = 10.0
# The same texts are in backends/pdb/pdb-socket.c.
TOKEN_QUESTION = b"probetui: send the token first (IPDB_TOKEN_FILE)\n"
TOKEN_REFUSAL = b"probetui: the token was refused\n"
END_OF_INPUT = "\x04"


class LeaseEnded(Exception):
    """No client sent a line during the whole lease."""


class _Client:
    def __init__(self, connection: socket.socket, needs_token: bool) -> None:
        self.connection = connection
        self.incoming = bytearray()
        self.outgoing = bytearray()
        self.moved = 0.0  # time.monotonic() of the last successful send
        self.reads = True
        self.is_admitted = not needs_token
        self.token_until = time.monotonic() + TOKEN_SECONDS


class Channel:
    """A text file object for pdb: stdin by readline(), stdout by write()."""

    encoding = "utf-8"
    errors = "backslashreplace"
    newlines = None
    closed = False
    line_buffering = False

    def __init__(self, settings: Settings,
                 listening: List[endpoints.Endpoint]) -> None:
        self._settings = settings
        self._endpoints = listening
        self._clients: Dict[int, _Client] = {}
        self._lines: Deque[str] = collections.deque()
        self._pending: List[str] = []
        self._collecting_since = 0.0
        self._owner: Optional[int] = None
        self._screen: Optional[List[str]] = None
        self._is_shown = False
        self._stop_text = ""
        self._prompt = ""
        self._greeting: Callable[[], str] = str
        self.lease = settings.lease
        self.lease_until = 0.0

    @property
    def is_shut(self) -> bool:
        """True after shut() or forget(): no client can connect."""
        return not self._endpoints

    # Called by probetui when a stop begins or ends.

    def begin(self, greeting: Callable[[], str], lease: float,
              is_told: bool) -> None:
        """Begins a stop of this thread. `greeting` returns the reason of the
        stop; clients that are already connected receive it if `is_told`."""
        self._owner = threading.get_ident()
        self.lease = lease
        self.renew()
        self._greeting = greeting
        self._serve(0)
        if is_told:
            self.write(greeting())
            self.flush()
        self._screen = []

    def end(self) -> None:
        self.flush()
        self._screen = None
        self._is_shown = False
        self._prompt = ""
        self._owner = None

    def renew(self) -> None:
        self.lease_until = time.monotonic() + self.lease

    def has_client(self) -> bool:
        return any(client.is_admitted for client in self._clients.values())

    def shut(self) -> None:
        """Closes all sockets and removes their paths; the channel cannot be
        used again."""
        for endpoint in self._endpoints:
            endpoint.close()
        self.forget()

    def forget(self) -> None:
        """In a forked child: closes its copies of the sockets without sending
        a byte or removing a path; they belong to the parent."""
        for endpoint in self._endpoints:
            endpoint.listener.close()
        for client in self._clients.values():
            client.connection.close()
        self._endpoints = []
        self._clients = {}

    # The file object's methods, called by pdb.

    def close(self) -> None:
        """Does nothing: exit() closes sys.stdin, and the channel must stay
        open."""

    def isatty(self) -> bool:
        return False

    @property
    def buffer(self) -> Any:
        """The binary stdout of the program: bytes are never sent to clients.
        """
        return sys.__stdout__.buffer if sys.__stdout__ else None

    def fileno(self) -> int:
        if threading.get_ident() == self._owner or not sys.__stdout__:
            raise io.UnsupportedOperation("fileno")
        return sys.__stdout__.fileno()

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def write(self, text: str) -> int:
        if threading.get_ident() != self._owner:
            return sys.__stdout__.write(text) if sys.__stdout__ else len(text)
        now = time.monotonic()
        if not self._pending:
            self._collecting_since = now
        self._pending.append(text)
        if now - self._collecting_since > COLLECT_SECONDS:
            self.flush()
        return len(text)

    def writelines(self, lines: List[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        if threading.get_ident() != self._owner:
            if sys.__stdout__:
                sys.__stdout__.flush()
            return
        text = "".join(self._pending)
        self._pending = []
        if not text:
            return
        if self._screen is not None:
            self._screen.append(text)
        self._prompt = (self._prompt + text)[-SCREEN_MAXIMUM:]
        self._prompt = self._prompt[self._prompt.rfind("\n") + 1:]
        data = text.encode(self.encoding, self.errors)
        for client in list(self._clients.values()):
            if client.is_admitted:
                if not client.outgoing:
                    client.moved = time.monotonic()
                client.outgoing += data
                self._send(client)
        self._wait_for_slow()

    def readline(self, size: int = -1) -> str:
        """Returns the next line that a client sends; "" if a client sent the
        end-of-input character. Raises LeaseEnded if no client sends a line
        during the lease."""
        if threading.get_ident() != self._owner:
            return sys.__stdin__.readline() if sys.__stdin__ else ""
        self.flush()
        self._end_screen()
        while not self._lines:
            left = self.lease_until - time.monotonic()
            if left <= 0:
                raise LeaseEnded()
            self._serve(min(left, 3600.0))
        self.renew()
        line = self._lines.popleft()
        self._prompt = ""
        return "" if line == END_OF_INPUT else line + "\n"

    read = readline

    def __iter__(self) -> Channel:
        return self

    def __next__(self) -> str:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    # Serving the sockets.

    def _end_screen(self) -> None:
        """At the first prompt: saves what was printed since the stop began.
        Clients that connect later receive this text."""
        if self._screen is None:
            return
        text = "".join(self._screen)
        self._screen = None
        self._is_shown = True
        self._stop_text = text[:text.rfind("\n") + 1][-SCREEN_MAXIMUM:]

    def _serve(self, timeout: float) -> None:
        """Waits up to timeout seconds for events on the sockets, and handles
        them."""
        poll = select.poll()
        for endpoint in self._endpoints:
            poll.register(endpoint.listener, select.POLLIN)
        now = time.monotonic()
        for fd, client in dict(self._clients).items():
            if not client.is_admitted:
                if client.token_until <= now:
                    self._drop(client)
                    continue
                timeout = min(timeout, client.token_until - now)
            poll.register(fd, (select.POLLIN if client.reads else 0)
                          | (select.POLLOUT if client.outgoing else 0))
        for fd, events in poll.poll(timeout * 1000):
            known = self._clients.get(fd)
            if known is None:
                self._accept(fd)
            else:
                self._serve_client(known, events)

    def _serve_client(self, client: _Client, events: int) -> None:
        if events & select.POLLOUT:
            self._send(client)
        if events & select.POLLIN and client.reads:
            self._receive(client)
        elif events & (select.POLLHUP | select.POLLERR | select.POLLNVAL):
            self._drop(client)

    def _accept(self, fd: int) -> None:
        for endpoint in self._endpoints:
            if endpoint.listener.fileno() != fd:
                continue
            try:
                connection, _ = endpoint.listener.accept()
            except BlockingIOError:
                return
            except OSError:
                # accept() fails while no file descriptor is free, and poll()
                # would report the listener again at once: wait.
                time.sleep(0.05)
                return
            connection.setblocking(False)
            self._admit(endpoint, connection)

    def _admit(self, endpoint: endpoints.Endpoint,
               connection: socket.socket) -> None:
        refusal = ""
        if len(self._clients) >= CLIENTS_MAXIMUM:
            refusal = "probetui: too many clients: %d are already " \
                "connected\n" % CLIENTS_MAXIMUM
        elif endpoint.is_unix:
            user = endpoints.peer_user(connection)[1]
            if user not in (os.geteuid(), 0):
                refusal = "probetui: the process belongs to user %d; you " \
                    "are user %d\n" % (os.geteuid(), user)
        if refusal:
            try:
                connection.send(refusal.encode(), socket.MSG_NOSIGNAL)
            except OSError:
                pass
            connection.close()
            return
        client = _Client(connection, needs_token=not endpoint.is_unix)
        self._clients[connection.fileno()] = client
        if client.is_admitted:
            self._greet(client)
        else:
            client.outgoing += TOKEN_QUESTION
            self._send(client)

    def _greet(self, client: _Client) -> None:
        text = ""
        if self._is_shown:
            text = self._greeting() + self._stop_text + self._prompt
        client.outgoing += text.encode(self.encoding, self.errors)
        self._send(client)

    def _receive(self, client: _Client) -> None:
        try:
            data = client.connection.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            self._drop(client)
            return
        if not data:
            # End of file: the client may only have shut down its sending side,
            # as `nc -N` does, and still reads. An incomplete last line is
            # dropped.
            client.reads = False
            client.incoming.clear()
            if not client.is_admitted:
                self._drop(client)
            return
        client.incoming += data
        self._take_lines(client)

    def _take_lines(self, client: _Client) -> None:
        while True:
            end = client.incoming.find(b"\n")
            if end < 0 and client.incoming[:1] == END_OF_INPUT.encode():
                end = 0
                client.incoming[1:1] = b"\n"
                continue
            if end < 0:
                break
            line = bytes(client.incoming[:end])
            del client.incoming[:end + 1]
            if client.is_admitted:
                self._lines.append(
                    line.decode("utf-8", "replace").rstrip("\r"))
            elif not self._check(client, line):
                return
        if len(client.incoming) > LINE_MAXIMUM:
            self._drop(client)

    def _check(self, client: _Client, line: bytes) -> bool:
        if not is_token(line.rstrip(b"\r"), self._settings.token):
            client.outgoing += TOKEN_REFUSAL
            self._send(client)
            self._drop(client)
            return False
        client.is_admitted = True
        self._greet(client)
        return True

    def _send(self, client: _Client) -> None:
        try:
            while client.outgoing:
                sent = client.connection.send(
                    memoryview(client.outgoing)[:BEHIND_MAXIMUM].tobytes(),
                    socket.MSG_NOSIGNAL)
                del client.outgoing[:sent]
                client.moved = time.monotonic()
        except BlockingIOError:
            pass
        except OSError:
            self._drop(client)

    def _wait_for_slow(self) -> None:
        """Waits for clients that are more than BEHIND_MAXIMUM bytes behind;
        drops a client that accepts no byte for STALL_SECONDS."""
        while any(len(client.outgoing) > BEHIND_MAXIMUM
                  for client in self._clients.values()):
            poll = select.poll()
            for fd, client in self._clients.items():
                if client.outgoing:
                    poll.register(fd, select.POLLOUT)
            for fd, _ in poll.poll(LOOK_SECONDS * 1000):
                self._send(self._clients[fd])
            limit = time.monotonic() - STALL_SECONDS
            for client in list(self._clients.values()):
                if len(client.outgoing) > BEHIND_MAXIMUM \
                        and client.moved < limit:
                    self._drop(client)

    def _drop(self, client: _Client) -> None:
        """Closes the connection. Complete lines that the client sent are still
        used."""
        self._clients.pop(client.connection.fileno(), None)
        client.connection.close()
        client.outgoing.clear()
