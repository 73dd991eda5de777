"""Long stops. An uncaught exception stops its thread for a limited time (the
lease). While a thread is stopped, collective timeouts are extended, so that
they do not end the job."""
from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

from .call import Call, Row
from .messages import Failure
from .sessions import Kept, Session
from .stopped import exception_text

if TYPE_CHECKING:
    from ..debugging.uncaught import Catcher
    from ..debugging.watchdogs import Watchdogs
    from .debugger import Debugger

DAY_SECONDS = 86400.0
SECONDS_MAXIMUM = 30 * DAY_SECONDS
# Collective timeouts are extended to a lease plus this: the job must end by
# the exception, not by a timeout.
MARGIN_SECONDS = 300.0
TYPES_MAXIMUM = 100


def seconds_of(call: Call, name: str, default: float) -> float:
    value = call.arguments.number(name, default)
    if not 0 < value <= SECONDS_MAXIMUM:
        raise Failure("%s must be a number of seconds, more than 0 and at "
                      "most %g" % (name, SECONDS_MAXIMUM))
    return float(value)


def _dogs() -> Watchdogs:
    from ..debugging import watchdogs

    return watchdogs.get()


def _look() -> Any:
    return _dogs().look()


def watch(debugger: Debugger) -> Watchdogs:
    """Returns the Watchdogs. The first call makes the listening thread call
    their look() regularly, which ends leases and finds new process groups."""
    if _look not in debugger.lookers:
        debugger.lookers.append(_look)
        debugger.endings.append(_dogs().restore_all)
    return _dogs()


def catcher(debugger: Debugger) -> Catcher:
    def make() -> Catcher:
        from ..debugging.uncaught import Catcher

        made = Catcher(debugger.engine)
        debugger.lookers.append(made.look)
        debugger.endings.append(made.close)
        return made

    return debugger.part("catcher", make)  # type: ignore[no-any-return]


def begin(debugger: Debugger) -> None:
    """Called when the engine is made: while a thread is stopped, the timeouts
    of this rank's process groups are extended."""
    def hear(name: str, body: Dict[str, Any]) -> None:
        if name == "stopped":
            watch(debugger).raise_for("stop %d" % body["stop"].number)
            debugger.server.wake()
        elif name == "continued":
            _dogs().restore("stop %d" % body["stop"].number)

    debugger.hearers.append(hear)


def arm(debugger: Debugger, lease: Optional[float] = None,
        types: Optional[List[str]] = None, waits: bool = True) -> None:
    """From now on, uncaught exceptions stop their thread, for `lease` seconds.
    """
    from ..debugging.uncaught import LEASE_SECONDS, Catch

    length = LEASE_SECONDS if lease is None else lease
    catcher(debugger).set_catch(Catch(length, tuple(types or ())))
    if waits:
        # Extend the timeouts now: when a rank raises, other ranks are already
        # waiting in collectives, whose timeouts can no longer be changed.
        watch(debugger).raise_for("catch", length + MARGIN_SECONDS,
                                  float("inf"))
    else:
        _dogs().restore("catch")
    debugger.server.wake()


def _disarm(debugger: Debugger) -> None:
    catcher(debugger).set_catch(None)
    _dogs().restore("catch")


def left(stop: Any) -> Optional[float]:
    """Returns the seconds until the stop's lease ends; None: the stop has no
    lease."""
    if stop.lease_until is None:
        return None
    seconds: float = stop.lease_until - time.monotonic()
    return max(0.0, round(seconds, 1))


def _armed(debugger: Debugger) -> Optional[Dict[str, Any]]:
    armed = debugger.parts["catcher"].catch \
        if "catcher" in debugger.parts else None
    return None if armed is None else {
        "lease": armed.lease, "types": list(armed.types)}


def _holds(debugger: Debugger) -> List[Dict[str, Any]]:
    return [{"threadId": stop.thread_id, "lease": left(stop),
             "exception": exception_text(stop.exception)}
            for stop in debugger.stops()
            if stop.lease_until is not None and stop.exception is not None]


# Fields for the response to `state`.
STATES: Dict[str, Callable[[Call], Any]] = {
    "catch": lambda call: _armed(call.debugger),
    "holds": lambda call: _holds(call.debugger),
}


def _renew(debugger: Debugger, lease: float) -> None:
    """Gives threads that are stopped at an exception a new lease."""
    from ..debugging.specs import StopIsOver

    for stop in debugger.stops():
        if stop.lease_until is not None:
            stop.lease_until = time.monotonic() + lease
            # call() wakes up the stopped thread, which then reads lease_until
            # again.
            with contextlib.suppress(StopIsOver, TimeoutError):
                stop.call(lambda: None, 1.0)


def _catch(call: Call) -> Dict[str, Any]:
    arguments = call.arguments
    if not arguments.has("on"):
        raise Failure("arguments.on is missing (expected true or false)")
    is_on = arguments.flag("on")
    lease = seconds_of(call, "lease", 0.001) if arguments.has("lease") \
        else None
    types = arguments.texts("types", TYPES_MAXIMUM, [])
    if is_on:
        arm(call.debugger, lease, types, arguments.flag("watchdog", True))
    else:
        _disarm(call.debugger)
    if is_on and lease is not None:
        _renew(call.debugger, lease)
    told = {name: tell(call) for name, tell in STATES.items()}
    call.debugger.ring.emit("probetui/catch", told)
    return told


def want_uncaught(debugger: Debugger, owner: str,
                  types: Optional[List[str]]) -> None:
    """Sets the exception filter "uncaught" of a session; types None: not set.
    """
    if types is not None or "catcher" in debugger.parts:
        catcher(debugger).set_viewer(owner, types)
        debugger.server.wake()


class _Raised(Kept):
    """Ends the timeout extensions of a session with the session."""

    def __init__(self, session: Session) -> None:
        self.prefix = session.id + " "

    def end(self, debugger: Debugger) -> None:
        _dogs().restore_all(self.prefix)


def _watchdog(call: Call) -> Dict[str, Any]:
    arguments = call.arguments
    if not arguments.has("raise"):
        raise Failure("arguments.raise is missing (expected true or false)")
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
    Row("catch", _catch, False),
    Row("watchdog", _watchdog, False),
)
