"""Listening sockets of a rank's pdb and of its agent."""
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
# Size of sun_path in struct sockaddr_un without the terminating NUL; see
# unix(7).
PATH_MAXIMUM = 107


class EndpointError(Exception):
    """A sentence that says why no socket listens."""


class Endpoint:
    """A listening socket. close() also removes its path, unless another file
    has been put at that path since."""

    def __init__(self, listener: socket.socket, path: Optional[str]) -> None:
        self.listener = listener
        self.path = path
        self._status = os.lstat(path) if path else None

    @property
    def is_unix(self) -> bool:
        return self.path is not None

    def name(self) -> str:
        """The address for a person: what `nc -U` or `nc` take as arguments."""
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
    """Holds the lock `claims`, if given: only one process of the user at a
    time checks and takes socket names."""
    if claims is not None:
        claims.wait()
    try:
        yield
    finally:
        if claims is not None:
            claims.release()


def _is_stale(path: str) -> bool:
    """True if path is a socket of this user that no process has open.

    The test connects with the wrong socket type (SOCK_DGRAM): Linux returns
    EPROTOTYPE if a process has the socket open and ECONNREFUSED if none has,
    and the listening process sees no connection. A real connection would be
    taken for a client by many programs that serve pdb.
    """
    status = os.lstat(path)
    if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.geteuid():
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        return probe.connect_ex(path) == errno.ECONNREFUSED


def _bind(path: str) -> Optional[Endpoint]:
    """Returns None if a process listens at path. Raises OSError if the socket
    cannot be made for another reason."""
    with contextlib.suppress(FileNotFoundError):
        if not _is_stale(path):
            return None
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # bind() gives the path the mode of the socket's inode, so set 0600
        # first: the path is never accessible to others.
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
            raise EndpointError("the path %s is too long for a socket: set "
                                "IPDB_SOCK_PATH to a shorter path" % path)
        try:
            endpoint = _bind(path)
        except OSError as error:
            raise EndpointError("cannot create a socket at %s: %s"
                                % (path, error.strerror)) from error
        if endpoint is not None:
            return endpoint
    raise EndpointError("all socket paths are in use: %s" % ", ".join(paths))


def _sweep(folder: str, suffix: str) -> None:
    """Removes sockets of killed processes from the user's own folder."""
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
    """Listens at PID.agent; if another container uses this PID in the same
    folder, at PID.NAMESPACE.agent with the inode number of the pid namespace.
    Without `waits`, raises BlockingIOError if another process is just taking a
    name."""
    base = os.path.join(folder, str(os.getpid()))
    paths = [base + ".agent"]
    with contextlib.suppress(OSError):
        paths.append("%s.%d.agent" % (base,
                                      os.stat("/proc/self/ns/pid").st_ino))
    claims = files.Lock(os.path.join(folder, ".lock"))
    try:
        if not waits and not claims.take():
            raise BlockingIOError(errno.EAGAIN, "another process is creating "
                                  "its socket")
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
            # The port is in use, perhaps by another job of this machine: take
            # any free port.
            if error.errno != errno.EADDRINUSE:
                raise
            listener = tcp_socket(settings.host, 0)
    except (OSError, OverflowError) as error:
        raise EndpointError("cannot listen on %s port %d: %s"
                            % (settings.host, wanted, error)) from error
    return [Endpoint(listener, None)]


def listen(settings: Settings, rank: int, folder: str,
           claims: Optional[files.Lock]) -> List[Endpoint]:
    """Returns the listening endpoints; the first one is the one to show to a
    person. Raises EndpointError if none can be made."""
    if settings.is_tcp:
        return _listen_tcp(settings, rank)
    return _listen_unix(settings, rank, folder, claims)


def peer_user(connection: socket.socket) -> Tuple[int, int]:
    """Returns (pid, uid) of the peer of a Unix socket (SO_PEERCRED, unix(7)).
    """
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    process, user, _ = struct.unpack("3i", data)
    return process, user & 0xffffffff
