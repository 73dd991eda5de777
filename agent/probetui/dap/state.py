"""The request state: everything that a client needs that connects later."""
from __future__ import annotations

from typing import Any, Dict

from . import breakpoints, stopped
from .call import Call, Row
from .exceptions import Filters


def _state(call: Call) -> Dict[str, Any]:
    debugger, session = call.debugger, call.session
    filters = session.keep("exceptions", Filters)
    told: Dict[str, Any] = {
        "next": debugger.ring.last, "stops": stopped.stops_told(call),
        "breakpoints": [
            dict(breakpoints.tell(debugger, session, bound),
                 mine=owner == session.id)
            for owner, bounds in debugger.breakpoints().items()
            for bound in bounds],
        "exceptionFilters": {"filters": filters.names,
                             "types": filters.types},
        "sessions": len(debugger.sessions)}
    for name, tell in debugger.states.items():
        told[name] = tell(call)
    return told


ROWS = (
    Row("state", _state, True),
)
