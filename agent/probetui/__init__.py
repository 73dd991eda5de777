"""Stop where a rank raises, or where you say, and look with pdb.

    import probetui

    @probetui.attach_on_error()
    def train():
        ...

Unless IPDB_DEBUG is 1, true, yes or on (or Debugger.debug_flag is set: before
a function is decorated by attach_on_error, or before an exception leaves one
that is decorated by Debugger.attach_on_error), nothing happens and nothing
else is imported: the decorator gives the function back as it is, and
set_trace() returns.

Environment:
  IPDB_DEBUG            1: enabled
  IPDB_MODE             socket (default): pdb listens on a socket a rank;
                        console: pdb on the terminal, or reading commands from
                        a pipe at standard input, one rank after the other;
                        web: there is no page yet, the socket serves
  IPDB_SOCK_PATH        prefix of the sockets' paths, .RANK is put behind it
  IPDB_CONNECTION_TYPE  unix (default) or tcp
  IPDB_HOST IPDB_PORT   tcp: where to listen, the rank is added to the port
  IPDB_TOKEN IPDB_TOKEN_FILE   tcp: what a client has to say first
  IPDB_LEASE            how long a rank waits for a command, as 90s, 30m, 2h
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
    """The names by which programs that used py_debug know this."""

    # Whether anything happens at all.
    debug_flag: bool = _is_enabled()
    # "socket", "console" or "web"; set at any time before a stop.
    debug_mode: str = os.environ.get("IPDB_MODE", "") or "socket"

    @staticmethod
    def attach_on_error(function: Any = None, *, lease: Any = None) -> Any:
        """As probetui.attach_on_error, but debug_flag is read when the
        function raises."""
        if function is None:
            return lambda decorated: Debugger.attach_on_error(decorated,
                                                              lease=lease)
        from . import wrapping

        return wrapping.wrap(function, lease)

    @staticmethod
    def blocking_console_post_mortem(rank: int = 0, lease: Any = None) -> None:
        """In an `except` block: pdb on the console of `rank`, at the exception
        that is handled, while the other ranks of the machine wait."""
        if Debugger.debug_flag:
            from . import process

            process.console_post_mortem(sys._getframe(1), sys.exc_info()[1],
                                        rank, lease)

    @staticmethod
    def set_trace(ranks: Ranks = None, hold: bool = True,
                  lease: Any = None) -> None:
        """As probetui.set_trace."""
        if Debugger.debug_flag:
            from . import process

            process.stop(sys._getframe(1), ranks, hold, lease)


def attach_on_error(function: Any = None, *, lease: Any = None) -> Any:
    """Decorates a function: when it raises, its rank waits in a post-mortem
    pdb, and then the same exception propagates.

    For functions, coroutine functions, generators and asynchronous
    generators, with parentheses or without. `lease` is how long the rank
    waits for a command, in seconds or as "30m"; default IPDB_LEASE.
    """
    if function is None:
        return lambda decorated: attach_on_error(decorated, lease=lease)
    if not Debugger.debug_flag:
        return function
    from . import wrapping

    return wrapping.wrap(function, lease)


def set_trace(ranks: Ranks = None, hold: bool = True,
              lease: Any = None) -> None:
    """Stops in pdb where it is called.

    `ranks`: the rank or ranks that stop, None: every rank. The others of this
    machine hold here until those have gone on (the command continue), have
    died or their lease is over, or until a step of each that is left takes
    longer than a second: it may wait for the ranks that hold, in a collective.
    With hold=False they run on.
    """
    if Debugger.debug_flag:
        from . import process

        process.stop(sys._getframe(1), ranks, hold, lease)


def breakpoint(ranks: Ranks = None, hold: bool = True,
               lease: Any = None) -> None:
    """The same as set_trace."""
    if Debugger.debug_flag:
        from . import process

        process.stop(sys._getframe(1), ranks, hold, lease)


def listen(address: Any = None, token: Any = None, tls: Any = None,
           allow: Any = None, read_only: bool = False,
           log: Any = None, catch: Any = None) -> List[str]:
    """Lets probetui, and programs, look into this process and run code in
    it; docs/agent-protocol.md says how. Gives the names of where it listens;
    what goes wrong is told on standard error, not raised.

    Always at a socket of the user's own, /tmp/pdb-UID/PID.agent. Besides, with
    an `address` ("host:port", the LOCAL_RANK is added to the port) and a
    `token` that clients have to say, over TCP; `tls` is (certificate, key),
    `allow` the addresses and networks that may connect. With `read_only`
    no client can run code. `log` is a file that gets a line for each piece of
    code that a client has run. With `catch` a thread that an exception would
    end is held before it does: for 30 minutes, or as long as `catch` says, in
    seconds or as "2h".

    Where it listens already, `read_only`, `catch` and a first `log` hold from
    now on, and the rest stays as it is; read_only ends what debugs.
    """
    try:
        from . import agent
    except (ImportError, OSError) as error:
        # No descriptor is left, not even to say so by what is imported.
        if sys.stderr is not None:
            print("probetui: nothing listens: %s" % error, file=sys.stderr)
        return []
    return agent.listen(address, token, tls, allow, read_only, log, catch)


def unlisten() -> List[str]:
    """Takes the agent out of this process again: its sockets, threads and
    hooks. Gives what could not be taken away, in words; an empty list:
    nothing is left."""
    agent = sys.modules.get("probetui.agent")
    return agent.unlisten() if agent is not None else []


if Debugger.debug_flag:
    from . import process as _process

    _process.begin()
