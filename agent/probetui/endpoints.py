"""Where a rank's pdb, and its agent, listen."""
from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
import struct
from typing import Iterator, List, Optional, Tuple

from . import files
from .settings import Settings

BACKLOG = 64
# sun_path of struct sockaddr_un, with its NUL.
PATH_MAXIMUM = 107


class EndpointError(Exception):
    """A sentence that says why nothing listens."""


class Endpoint:
    """A listening socket. A path goes away with it, while it is the one that
    was made here."""

    def __init__(self, listener: socket.socket, path: Optional[str]) -> None:
        self.listener = listener
        self.path = path
        self._status = os.lstat(path) if path else None

    @property
    def is_unix(self) -> bool:
        return self.path is not None

    def name(self) -> str:
        """What a person connects to, as `nc -U` or `nc` take it."""
        if self.path is not None:
            return self.path
        host, port = self.listener.getsockname()[:2]
        return "%s %d" % (host, port)

    def close(self) -> None:
        self.listener.close()
        if self.path is None or self._status is None:
            return
        with contextlib.suppress(OSError):
            if os.path.samestat(os.lstat(self.path), self._status):
                os.unlink(self.path)


@contextlib.contextmanager
def _claiming(claims: Optional[files.Lock]) -> Iterator[None]:
    """One process of the user at a time looks at names and takes them."""
    if claims is not None:
        claims.wait()
    try:
        yield
    finally:
        if claims is not None:
            claims.release()


def _is_stale(path: str) -> bool:
    """The user's own socket, which no process has open.

    Asked with the wrong type of socket: the kernel then refuses in one way
    when a process has it open and in another when none has, and the
    listening process does not notice. Many a pdb would take a connection for
    its client.
    """
    status = os.lstat(path)
    if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.geteuid():
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        return probe.connect_ex(path) == errno.ECONNREFUSED


def _bind(path: str) -> Optional[Endpoint]:
    """None: the name is taken. OSError: it cannot be had at all."""
    with contextlib.suppress(FileNotFoundError):
        if not _is_stale(path):
            return None
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # What bind() makes has the socket's own mode, from the beginning.
        os.fchmod(listener.fileno(), 0o600)
        listener.bind(path)
        listener.listen(BACKLOG)
        listener.setblocking(False)
        return Endpoint(listener, path)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            return None
        raise


def _bind_first(paths: List[str]) -> Endpoint:
    for path in paths:
        if len(os.fsencode(path)) > PATH_MAXIMUM:
            raise EndpointError("the path %s is too long for a socket; set "
                                "IPDB_SOCK_PATH to a shorter one" % path)
        try:
            endpoint = _bind(path)
        except OSError as error:
            raise EndpointError("no socket can be made at %s: %s"
                                % (path, error.strerror)) from error
        if endpoint is not None:
            return endpoint
    raise EndpointError("every name is taken: %s" % ", ".join(paths))


def _sweep(folder: str, suffix: str) -> None:
    """Sockets of ranks that were killed, in our own folder."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if name.endswith(suffix) and _is_stale(path):
                os.unlink(path)


def _listen_unix(settings: Settings, rank: int, folder: str,
                 claims: Optional[files.Lock]) -> List[Endpoint]:
    with _claiming(claims):
        if settings.prefix is not None:
            base = settings.prefix + ".%d" % rank
            return [_bind_first([base, "%s.%d" % (base, os.getpid())])]
        _sweep(folder, ".sock")
        base = os.path.join(folder, str(rank))
        endpoints = [_bind_first([base + ".sock", "%s.%d.sock"
                                  % (base, os.getpid())])]
        with contextlib.suppress(OSError):
            known = _bind(os.path.join(os.path.dirname(folder),
                                       "pdb.sock.%d" % rank))
            if known is not None:
                endpoints.append(known)
        return endpoints


def listen_agent(folder: str, waits: bool = True) -> Endpoint:
    """PID.agent; where another container has this number in the same folder,
    with the number of our own. Not `waits`: for no other process that just
    takes a name there; OSError."""
    base = os.path.join(folder, str(os.getpid()))
    paths = [base + ".agent"]
    with contextlib.suppress(OSError):
        paths.append("%s.%d.agent" % (base,
                                      os.stat("/proc/self/ns/pid").st_ino))
    claims = files.Lock(os.path.join(folder, ".lock"))
    try:
        if not waits and not claims.take():
            raise BlockingIOError(errno.EAGAIN, "another process takes a name")
        with contextlib.suppress(OSError):
            claims.wait()
            _sweep(folder, ".agent")
        return _bind_first(paths)
    finally:
        claims.release()


def tcp_socket(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM,
        flags=socket.AI_PASSIVE)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


def _listen_tcp(settings: Settings, rank: int) -> List[Endpoint]:
    wanted = settings.port + rank if settings.port else 0
    try:
        try:
            listener = tcp_socket(settings.host, wanted)
        except OSError as error:
            # Another job of this machine has it: any other will do.
            if error.errno != errno.EADDRINUSE:
                raise
            listener = tcp_socket(settings.host, 0)
    except (OSError, OverflowError) as error:
        raise EndpointError("nothing can listen at %s port %d: %s"
                            % (settings.host, wanted, error)) from error
    return [Endpoint(listener, None)]


def listen(settings: Settings, rank: int, folder: str,
           claims: Optional[files.Lock]) -> List[Endpoint]:
    """The first is the one to name to a person. EndpointError: none."""
    if settings.is_tcp:
        return _listen_tcp(settings, rank)
    return _listen_unix(settings, rank, folder, claims)


def peer_user(connection: socket.socket) -> Tuple[int, int]:
    """The process and the user at the other end of a Unix socket."""
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    process, user, _ = struct.unpack("3i", data)
    return process, user & 0xffffffff
