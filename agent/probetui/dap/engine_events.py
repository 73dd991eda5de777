"""Translates events of the engine to DAP events."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict

from ..debugging.specs import Bound
from ..debugging.stop import Stop
from ..values import cut
from . import breakpoints, stopped
from .breakpoints import Wanted

if TYPE_CHECKING:
    from .debugger import Debugger

TEXT_MAXIMUM = 10000


def _stopped(debugger: Debugger, body: Dict[str, Any]) -> None:
    stop: Stop = body["stop"]
    debugger.ring.emit("stopped", stopped.tell(debugger, stop),
                       own=stopped.hits_by_session(debugger, stop))
    if not debugger.sessions.debugging():
        # The session that requested the stop ended before the thread stopped.
        stopped.let_go(debugger)


def _continued(debugger: Debugger, body: Dict[str, Any]) -> None:
    stop: Stop = body["stop"]
    debugger.drop(stop)
    debugger.ring.emit("continued", {
        "threadId": stop.thread_id,
        "allThreadsContinued": debugger.holds_all() and not debugger.stops(),
        "stops": stop.number})


def _owner(debugger: Debugger, name: str) -> Any:
    for session in debugger.sessions.all():
        if session.id == name:
            return session
    return None


def _changed(debugger: Debugger, body: Dict[str, Any]) -> None:
    """Sends the event only to the owner, because breakpoint numbers are its
    own."""
    session = _owner(debugger, body["owner"])
    if session is not None:
        debugger.ring.emit("breakpoint", {
            "reason": "changed", "breakpoint": breakpoints.tell(
                debugger, session, body["bound"])}, session.id)


def _removed(debugger: Debugger, body: Dict[str, Any]) -> None:
    session = _owner(debugger, body["owner"])
    if session is None:
        return
    bound: Bound = body["bound"]
    debugger.ring.emit("breakpoint", {
        "reason": "removed", "breakpoint": breakpoints.tell(
            debugger, session, bound)}, session.id)
    kept = session.kept.get("breakpoints")
    if isinstance(kept, Wanted):
        kept.remove(bound.id)


def _output(debugger: Debugger, body: Dict[str, Any]) -> None:
    bound: Bound = body["bound"]
    text = cut(body["text"], TEXT_MAXIMUM)
    told: Dict[str, Any] = {
        "category": "console",
        "output": text if text.endswith("\n") else text + "\n"}
    if body.get("line"):
        told["line"] = body["line"]
    session = _owner(debugger, body["owner"])
    if session is not None and body.get("path"):
        told["source"] = breakpoints.sources.tell(session, body["path"])
    told["threadId"] = body["thread_id"]
    debugger.ring.emit("output", told, own={body["owner"]: {
        "breakpoint": debugger.numbers.client_number(bound.id)}})


_TOLD: Dict[str, Callable[[Debugger, Dict[str, Any]], None]] = {
    "stopped": _stopped, "continued": _continued, "breakpoint": _changed,
    "removed": _removed, "output": _output,
}


def pass_on(debugger: Debugger, name: str, body: Dict[str, Any]) -> None:
    """Called in any thread; never blocks."""
    told = _TOLD.get(name)
    if told is not None:
        told(debugger, body)
