"""What holds a rank for longer, and what must not end the job meanwhile."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict

from .call import Call, Row
from .messages import Failure
from .sessions import Kept, Session

if TYPE_CHECKING:
    from ..debugging.watchdogs import Watchdogs
    from .debugger import Debugger

DAY_SECONDS = 86400.0
SECONDS_MAXIMUM = 30 * DAY_SECONDS


def seconds_of(call: Call, name: str, default: float) -> float:
    value = call.arguments.number(name, default)
    if not 0 < value <= SECONDS_MAXIMUM:
        raise Failure("%s is a number of seconds, %g at most"
                      % (name, SECONDS_MAXIMUM))
    return float(value)


def _dogs() -> Watchdogs:
    from ..debugging import watchdogs

    return watchdogs.get()


def _look() -> Any:
    return _dogs().look()


def watch(debugger: Debugger) -> Watchdogs:
    """Leases end, and new groups are found, from now on."""
    if _look not in debugger.lookers:
        debugger.lookers.append(_look)
        debugger.endings.append(_dogs().restore_all)
    return _dogs()


class _Raised(Kept):
    """By a session: over with it."""

    def __init__(self, session: Session) -> None:
        self.prefix = session.id + " "

    def end(self, debugger: Debugger) -> None:
        _dogs().restore_all(self.prefix)


def _watchdog(call: Call) -> Dict[str, Any]:
    arguments = call.arguments
    if not arguments.has("raise"):
        raise Failure("raise is missing, true or false")
    wants = arguments.flag("raise")
    why = arguments.text("for", "", 200)
    seconds = seconds_of(call, "seconds", DAY_SECONDS)
    lease = seconds_of(call, "lease", DAY_SECONDS)
    kept = call.session.keep("watchdog", lambda: _Raised(call.session))
    dogs = watch(call.debugger)
    if wants:
        dogs.raise_for(kept.prefix + why, seconds, lease)
        call.debugger.server.wake()
    else:
        dogs.restore(kept.prefix + why)
    return dogs.state()


ROWS = (
    Row("watchdog", _watchdog, False),
)
