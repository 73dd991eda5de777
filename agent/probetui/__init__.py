"""Stops a rank in pdb where an exception is raised, or where the program calls
set_trace().

    import probetui

    @probetui.attach_on_error()
    def train():
        ...

The functions only work if the environment variable IPDB_DEBUG is 1, true, yes
or on, or if Debugger.debug_flag is set to True: before attach_on_error
decorates a function, or before an exception leaves a function that
Debugger.attach_on_error decorated. Otherwise attach_on_error returns the
function unchanged, set_trace() returns at once, and no other module is
imported.

Environment variables:
  IPDB_DEBUG            1: enabled
  IPDB_MODE             socket (default): pdb listens on one socket per rank;
                        console: pdb on the terminal, or with commands from a
                        pipe at standard input, one rank after the other;
                        web: no web page exists yet, same as socket
  IPDB_SOCK_PATH        prefix of the socket paths; .RANK is appended
  IPDB_CONNECTION_TYPE  unix (default) or tcp
  IPDB_HOST IPDB_PORT   tcp: listening address; the rank is added to the port
  IPDB_TOKEN IPDB_TOKEN_FILE   tcp: the token that a client must send first
  IPDB_LEASE            how long a rank waits for a command: 90s, 30m, 2h
"""
from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import (
        Any,
        Callable,
        Iterable,
        List,
        Optional,
        TypeVar,
        Union,
    )

    Ranks = Optional[Union[int, Iterable[int]]]
    Function = TypeVar("Function", bound=Callable[..., Any])

__all__ = ["Debugger", "attach_on_error", "breakpoint", "listen",
           "set_trace", "unlisten"]
__version__ = "0.1.0"


def _is_enabled() -> bool:
    value = os.environ.get("IPDB_DEBUG", "")
    return value.strip().lower() in ("1", "true", "yes", "on")


class Debugger:
    """The API of the py_debug package, for programs that were written for it.
    """

    # False: all functions of this class do nothing.
    debug_flag: bool = _is_enabled()
    # "socket", "console" or "web"; may be changed at any time before a stop.
    debug_mode: str = os.environ.get("IPDB_MODE", "") or "socket"

    @staticmethod
    def attach_on_error(function: Any = None, *, lease: Any = None) -> Any:
        """Like probetui.attach_on_error, but reads debug_flag when the
        function raises, not when it is decorated."""
        if function is None:
            return lambda decorated: Debugger.attach_on_error(decorated,
                                                              lease=lease)
        from . import wrapping

        return wrapping.wrap(function, lease)

    @staticmethod
    def blocking_console_post_mortem(rank: int = 0, lease: Any = None) -> None:
        """Called in an `except` block: starts a post-mortem pdb on the console
        of rank `rank` for the exception being handled. The other ranks of the
        machine wait."""
        if Debugger.debug_flag:
            from . import process

            process.console_post_mortem(sys._getframe(1), sys.exc_info()[1],
                                        rank, lease)

    @staticmethod
    def set_trace(ranks: Ranks = None, hold: bool = True,
                  lease: Any = None) -> None:
        """Same as probetui.set_trace."""
        if Debugger.debug_flag:
            from . import process

            process.stop(sys._getframe(1), ranks, hold, lease)


def attach_on_error(function: Any = None, *, lease: Any = None) -> Any:
    """Decorator: if the function raises, its rank waits in a post-mortem pdb;
    when that pdb ends, the same exception propagates.

    Accepts functions, coroutine functions, generators and asynchronous
    generators, with parentheses or without. `lease` is how long the rank waits
    for a command, in seconds or as "30m"; default: IPDB_LEASE.
    """
    if function is None:
        return lambda decorated: attach_on_error(decorated, lease=lease)
    if not Debugger.debug_flag:
        return function
    from . import wrapping

    return wrapping.wrap(function, lease)


def set_trace(ranks: Ranks = None, hold: bool = True,
              lease: Any = None) -> None:
    """Stops in pdb at the line that calls it.

    `ranks`: the rank or ranks that stop; None: every rank. With hold=True the
    other ranks of this machine wait here until each stopped rank has continued
    (pdb's command continue), has exited, or its lease has expired, or until
    every rank that is still stopped has been in a step (next, step) for more
    than a second: that step may be waiting for the waiting ranks, in a
    collective. With hold=False the other ranks keep running.
    """
    if Debugger.debug_flag:
        from . import process

        process.stop(sys._getframe(1), ranks, hold, lease)


def breakpoint(ranks: Ranks = None, hold: bool = True,
               lease: Any = None) -> None:
    """Same as set_trace."""
    if Debugger.debug_flag:
        from . import process

        process.stop(sys._getframe(1), ranks, hold, lease)


def listen(address: Any = None, token: Any = None, tls: Any = None,
           allow: Any = None, read_only: bool = False,
           log: Any = None, catch: Any = None) -> List[str]:
    """Starts the agent, an HTTP server by which probetui and other programs
    read the state of this process and run code in it; docs/agent-protocol.md
    describes the protocol. Returns the addresses at which the agent listens.
    Raises nothing: errors are printed to standard error.

    The agent always listens on the Unix socket /tmp/pdb-UID/PID.agent of the
    user. With an `address` ("host:port"; the LOCAL_RANK is added to the port)
    and a `token`, which clients must send, it also listens on TCP; `tls` is
    (certificate, key), `allow` the addresses and networks that may connect.
    With `read_only` no client can run code. `log` is a file to which a line is
    appended for each piece of code that a client runs. With `catch` a thread
    stops at an uncaught exception: for 30 minutes, or as long as `catch` says,
    in seconds or as "2h".

    If the agent is already running, only `read_only`, `catch` and a first
    `log` take effect; everything else stays as it is. read_only ends all debug
    sessions.
    """
    try:
        from . import agent
    except (ImportError, OSError) as error:
        # The import may fail with OSError when the process has no file
        # descriptor left; so print() is used here, without an import.
        if sys.stderr is not None:
            print("probetui: the agent cannot listen: %s" % error,
                  file=sys.stderr)
        return []
    return agent.listen(address, token, tls, allow, read_only, log, catch)


def unlisten() -> List[str]:
    """Removes the agent from this process: its sockets, threads and hooks.
    Returns one sentence for each part that could not be removed; an empty
    list: everything was removed."""
    agent = sys.modules.get("probetui.agent")
    return agent.unlisten() if agent is not None else []


if Debugger.debug_flag:
    from . import process as _process

    _process.begin()
