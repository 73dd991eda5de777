"""The agent of this process: starts it, and ends it.

Errors of the agent are printed to standard error and never reach the program.
A forked child has no agent.
"""
from __future__ import annotations

import _thread
import contextlib
import os
import sys
import threading
import time
from typing import Any, List, Optional, Set

from . import (
    access,
    audit,
    endpoints,
    files,
    forks,
    identity,
    inspection,
    leaving,
    quiet,
    routes,
    server,
)
from .http1 import Head
from .settings import SettingError, describe, seconds, tell


_fork_filter = quiet.Forks()
# How long fork() waits, in seconds, for agent threads that are importing a
# module.
IMPORT_SECONDS = 2.0
# How long the end of the process waits, in seconds, for running evaluations.
EVALUATION_SECONDS = 2.0


class Agent:
    def __init__(self, doors: List[access.Door], is_read_only: bool) -> None:
        self._is_read_only = is_read_only
        self._debugger: Any = None
        self._seat = threading.Lock()
        self._server = server.Server(doors)
        self._server.route = self._route
        if os.path.dirname(doors[0].endpoint.path or "") != \
                files.default_folder():
            self._server.claim = _claim_door
        self._server.start()

    def names(self) -> List[str]:
        return [door.name() for door in self._server.doors]

    def close(self) -> None:
        try:
            if self._debugger is not None:
                self._debugger.close()
        finally:
            self._server.close()

    def end_evaluations(self) -> None:
        """Called at the end of the process."""
        self._server.evaluator.end(EVALUATION_SECONDS)

    def catch(self, given: Any) -> None:
        """Applies the argument `catch` of listen()."""
        if given is None or given is False:
            return
        try:
            lease = None if given is True else seconds(given)
        except SettingError as error:
            tell("stopping at uncaught exceptions is off: %s" % error)
            return
        from .dap import holding

        holding.arm(self._begin_debugger(), lease)

    def tighten(self) -> None:
        """Makes the agent read-only. No client could then resume a stopped
        thread, so all stopped threads are resumed."""
        with self._seat:
            self._is_read_only = True
        if self._debugger is not None:
            self._debugger.tighten()

    def end(self) -> List[str]:
        """Removes the agent while the program keeps running. Returns one
        sentence for each part that could not be removed."""
        try:
            self.close()
            return leaving.end(self._server)
        except Exception as problem:
            return leaving.end(self._server) + [
                "the debugger, which could not be removed: "
                + describe(problem)]

    def forget(self) -> None:
        if self._debugger is not None:
            self._debugger.forget()
        self._server.forget()

    def _begin_debugger(self) -> Any:
        """Returns the debugger; the first call imports and makes it, so that
        programs that are never debugged do not load it."""
        with self._seat:
            if self._debugger is None:
                from .dap.debugger import Debugger

                self._debugger = Debugger(self._server, self._is_read_only)
        return self._debugger

    def _route(self, head: Head, body: Any,
               connection: server.Connection) -> Any:
        route = routes.find(head, body, self._is_read_only)
        return route.answer(routes.Context(
            head.query, body or {}, self._server.evaluator, connection,
            self._is_read_only, self._begin_debugger))


_agent: Optional[Agent] = None
# Idents of the agent threads at the last fork: the child does not have these
# threads.
_others: Set[int] = set()
_seat = threading.Lock()
_is_leaving = False


def _close() -> None:
    if _agent is not None:
        with contextlib.suppress(Exception), inspection.business():
            try:
                _agent.close()
            finally:
                _agent.end_evaluations()


def _begin_fork() -> None:
    # Until _end_fork, no client may stop this thread, although hooks of other
    # modules that fork() calls meanwhile may be traced.
    inspection.begin_business()
    server.forking.acquire()
    _fork_filter.add()
    # The child could never finish an import that an agent thread has begun, so
    # wait for these imports.
    until = time.monotonic() + IMPORT_SECONDS
    while inspection.own_imports() and time.monotonic() < until:
        time.sleep(0.001)
    _others.clear()
    _others.update(inspection.own_idents() - {threading.get_ident()})


def _forget_imports() -> None:
    """In a forked child: removes the import locks held by agent threads that
    the child does not have; the next import of such a module starts anew. An
    importing thread also takes `lock` of importlib's _ModuleLock for an
    instant before it is the owner: a _ModuleLock.lock that is locked is
    replaced."""
    locks = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    for name, reference in dict(locks).items() if _others else ():
        found = reference()
        if getattr(found, "owner", None) in _others:
            locks.pop(name, None)
            sys.modules.pop(name, None)
        elif hasattr(found, "lock") and not _is_free(found.lock):
            found.lock = _thread.RLock() if isinstance(
                found.lock, _thread.RLock) else _thread.allocate_lock()
    _others.clear()


def _is_free(lock: Any) -> bool:
    if not lock.acquire(False):
        return False
    lock.release()
    return True


def _end_fork() -> None:
    server.forking.release()
    inspection.end_business()


def _forget() -> None:
    global _agent, _seat, _is_leaving
    _seat = threading.Lock()
    _is_leaving = False
    server.forking = threading.RLock()
    _forget_imports()
    inspection.forget()
    _fork_filter.forget()
    audit.log.forget()
    if _agent is not None:
        with contextlib.suppress(Exception):
            _agent.forget()
    _agent = None


def _register() -> None:
    forks.at_end(_close)
    forks.add(_begin_fork, _end_fork, _forget)


def _unregister() -> None:
    with server.forking:
        forks.clear()
        _fork_filter.remove()


def _unix_door(folder: str, waits: bool = True) -> access.Door:
    files.secure(folder)
    return access.Door(endpoints.listen_agent(folder, waits))


def _find_unix_door() -> access.Door:
    try:
        return _unix_door(files.default_folder())
    except (files.FolderError, endpoints.EndpointError, OSError) as error:
        for folder in files.fallback_folders():
            with contextlib.suppress(files.FolderError, OSError,
                                     endpoints.EndpointError):
                return _unix_door(folder)
        raise error


def _claim_door() -> Optional[access.Door]:
    """Opens the socket in the default folder, where clients look first:
    another user may have owned that folder when the agent started, and may
    have removed it since. None: the folder still cannot be used."""
    with contextlib.suppress(files.FolderError, OSError,
                             endpoints.EndpointError):
        return _unix_door(files.default_folder(), False)
    return None


def _tcp_door(address: Any, token: Any, tls: Any, allow: Any) -> access.Door:
    host, port = access.host_and_port(address)
    if port:
        port += identity.find().local_rank or 0
    # Validate all settings before the socket listens and a client can connect.
    known = access.token_bytes(token)
    networks = access.networks(allow)
    context = access.tls_context(tls)
    try:
        listener = endpoints.tcp_socket(host, port)
    except (OSError, OverflowError) as error:
        raise SettingError("cannot listen on %s port %d: %s"
                           % (host, port, error)) from error
    return access.Door(endpoints.Endpoint(listener, None), host, known,
                       context, networks)


def _open(address: Any, token: Any, tls: Any, allow: Any) -> List[access.Door]:
    """Opens the Unix socket and, if an address is given, the TCP socket. If
    TCP fails, the reason is printed and only the Unix socket is returned."""
    doors = [_find_unix_door()]
    if address is None:
        return doors
    try:
        door = _tcp_door(address, token, tls, allow)
    except SettingError as error:
        tell("%s; the agent listens only on %s" % (error, doors[0].name()))
        return doors
    tell("rank %d: the agent listens on %s%s" % (
        identity.find().rank, door.name(), "" if door.context or
        door.is_loopback() else
        "; without TLS, the token is sent unencrypted"))
    return doors + [door]


def _open_log(path: Any) -> None:
    """Opens the log of the code that clients ran. Raises SettingError;
    listen() then opens no socket, because the caller relies on the log."""
    if path is not None:
        audit.log.open(os.fspath(path))


def _open_another_log(path: Any) -> None:
    """Opens a first log for an agent that is already running; errors are
    printed."""
    if path is None:
        return
    there = audit.log.path
    try:
        if there is None:
            _open_log(path)
        elif there != os.path.abspath(os.fspath(path)):
            tell("code run by clients is already logged to %s, not to %s"
                 % (there, os.fspath(path)))
    except SettingError as error:
        tell("the agent already listens; %s" % error)
    except Exception as problem:
        tell("the agent already listens; the log file cannot be opened: %s"
             % describe(problem))


def listen(address: Any, token: Any, tls: Any, allow: Any,
           read_only: bool, log: Any = None,
           catch: Any = None) -> List[str]:
    """Implements probetui.listen."""
    with inspection.business():
        return _listen(address, token, tls, allow, read_only, log, catch)


def _listen(address: Any, token: Any, tls: Any, allow: Any,
            read_only: bool, log: Any, catch: Any) -> List[str]:
    global _agent
    with _seat:
        if _agent is not None:
            _agent.catch(catch)
            if read_only:
                _agent.tighten()
            _open_another_log(log)
            if address is not None:
                tell("the agent already listens on %s"
                     % ", ".join(_agent.names()))
            return _agent.names()
        doors: List[access.Door] = []
        try:
            _open_log(log)
            doors = _open(address, token, tls, allow)
            _agent = Agent(doors, bool(read_only))
            _register()
            _agent.catch(catch)
            return _agent.names()
        except (SettingError, endpoints.EndpointError, files.FolderError,
                OSError) as error:
            tell("the agent cannot listen: %s" % error)
        except Exception as problem:
            tell("the agent cannot listen: %s" % describe(problem))
        for door in doors:
            door.endpoint.close()
        return []


def unlisten() -> List[str]:
    """Implements probetui.unlisten."""
    with inspection.business():
        return _unlisten()


def _unlisten() -> List[str]:
    global _agent, _is_leaving
    if _is_leaving:
        return []
    with _seat:
        agent = _agent
        if agent is None:
            return []
        _is_leaving = True
        try:
            left = agent.end()
            _agent = None
            _unregister()
            if not left:
                leaving.forget_modules()
            return left
        finally:
            _is_leaving = False
