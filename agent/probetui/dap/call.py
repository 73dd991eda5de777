"""The argument of each request handler, and the rows of the request table."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, NamedTuple, Optional

if TYPE_CHECKING:
    from ..routes import Context
    from .debugger import Debugger
    from .messages import Arguments
    from .sessions import Session


class Call(NamedTuple):
    """One DAP request."""

    debugger: Debugger
    session: Session
    context: Context
    number: int
    arguments: Arguments


class Row(NamedTuple):
    """A DAP request: its name, its handler, whether it only reads (`looks`; a
    read-only agent refuses all others), and the capabilities that the response
    to `initialize` contains. A session that sends a request with `debugs`
    becomes a debugging session: threads stop only while there is one."""

    command: str
    answer: Callable[[Call], Optional[Dict[str, Any]]]
    looks: bool
    capabilities: Dict[str, Any] = {}
    debugs: bool = False
