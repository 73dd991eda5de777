"""What the functions of the table get, and its rows."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, NamedTuple, Optional

if TYPE_CHECKING:
    from ..routes import Context
    from .debugger import Debugger
    from .messages import Arguments
    from .sessions import Session


class Call(NamedTuple):
    """One request."""

    debugger: Debugger
    session: Session
    context: Context
    number: int
    arguments: Arguments


class Row(NamedTuple):
    """A command, what answers it with its response's body, and whether that
    only looks: a read-only agent refuses the others. Capabilities are told
    while the row is there. For whose session it `debugs`, threads stand."""

    command: str
    answer: Callable[[Call], Optional[Dict[str, Any]]]
    looks: bool
    capabilities: Dict[str, Any] = {}
    debugs: bool = False
