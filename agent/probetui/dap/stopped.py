"""Stopped threads, and the requests that resume, step and pause them."""
from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from ..debugging.specs import NOTHING, EngineError
from ..debugging.stop import Stop
from ..values import cut, describe, type_name
from . import places
from .call import Call, Row
from .messages import Failure
from .places import Place

if TYPE_CHECKING:
    from .debugger import Debugger

TEXT_MAXIMUM = 1000
LEAVE_SECONDS = 1.0


def exception_text(error: BaseException) -> str:
    """Returns "ValueError: no", without running code of the exception's class.
    """
    arguments = BaseException.__dict__["args"].__get__(error)
    text = ""
    if len(arguments) == 1 and type(arguments[0]) is str:
        text = arguments[0]
    elif arguments:
        text = describe(arguments[0] if len(arguments) == 1 else arguments)
    name = type_name(error)
    return cut("%s: %s" % (name, text) if text else name, TEXT_MAXIMUM)


def _value(stop: Stop) -> Optional[str]:
    if stop.exception is not None:
        return exception_text(stop.exception)
    value = stop.value
    if value is NOTHING:
        return None
    if isinstance(value, BaseException) and stop.at == "exception":
        return exception_text(value)
    return describe(value)


def tell(debugger: Debugger, stop: Stop) -> Dict[str, Any]:
    """Returns the body of a `stopped` event, without hitBreakpointIds."""
    lease = None
    if stop.lease_until is not None:
        lease = round(max(0.0, stop.lease_until - time.monotonic()), 3)
    told: Dict[str, Any] = {
        "reason": stop.reason, "threadId": stop.thread_id,
        "allThreadsStopped": debugger.holds_all(), "at": stop.at,
        "value": _value(stop), "lease": lease, "stops": stop.number,
        "held": round(time.monotonic() - stop.since, 3)}
    if stop.description:
        told["description"] = stop.description
    if stop.exception is not None:
        told["text"] = exception_text(stop.exception)
    return told


def hits_by_session(debugger: Debugger, stop: Stop
                    ) -> Dict[str, Dict[str, Any]]:
    """Returns hitBreakpointIds by session, because numbers are a client's own.
    """
    return {name: {"hitBreakpointIds": numbers} for name, numbers
            in debugger.numbers.by_session(stop.hits).items()}


def find(call: Call) -> Stop:
    thread_id = call.arguments.integer("threadId")
    stop = call.debugger.stop_of(thread_id)
    if stop is None:
        raise Failure("thread %d is not stopped" % thread_id)
    return stop


def _go(call: Call, stop: Stop, command: str, frame: Any = None,
        line: Optional[int] = None) -> None:
    try:
        stop.go(command, frame, line)
    except EngineError as error:
        raise Failure(str(error)) from None
    # Wait until the thread has left the debugger, so that the next request
    # finds it running.
    ring = call.debugger.ring
    ring.wait_until(lambda: stop.has_left, LEAVE_SECONDS)


def _withdraw(call: Call, thread_id: Optional[int]) -> bool:
    return call.debugger.engine().withdraw_pause(thread_id)


def _withdraw_pause(call: Call) -> Dict[str, Any]:
    thread_id = call.arguments.integer("threadId")
    return {"withdrawn": _withdraw(call, thread_id or None)}


def _continue(call: Call) -> Dict[str, Any]:
    if call.arguments.integer("threadId") == 0:
        _withdraw(call, None)
        for stop in call.debugger.stops():
            _go(call, stop, "continue")
        return {"allThreadsContinued": True}
    thread_id = call.arguments.integer("threadId")
    if _withdraw(call, thread_id) and \
            call.debugger.stop_of(thread_id) is None:
        return {"allThreadsContinued": False}
    stop = find(call)
    if not call.arguments.flag("singleThread"):
        call.debugger.engine().end_others(stop)
    _go(call, stop, "continue")
    return {"allThreadsContinued": call.debugger.holds_all()
            and not call.debugger.stops()}


def _outer_frame(call: Call, stop: Stop) -> Any:
    if not call.arguments.has("frameId"):
        return None
    place: Place = places.find_stopped(call,
                                       call.arguments.integer("frameId"))
    if place.stop is not stop:
        raise Failure("the frame belongs to another thread")
    return place.frame


def _step(command: str) -> Any:
    def step(call: Call) -> None:
        stop = find(call)
        _go(call, stop, command, _outer_frame(call, stop))
    return step


def _until(call: Call) -> None:
    stop = find(call)
    line = call.arguments.integer("line", None, call.session.lines_start)
    if line is not None:
        line += 1 - call.session.lines_start
    _go(call, stop, "until", _outer_frame(call, stop), line)


def _pause(call: Call) -> None:
    thread_id = call.arguments.integer("threadId")
    try:
        call.debugger.engine().pause(thread_id or None,
                                     call.session.id)
    except EngineError as error:
        raise Failure(str(error)) from None


def _set_threads(call: Call) -> None:
    mode = call.arguments.choice("mode", ("one", "all"))
    if mode is None:
        raise Failure("arguments.mode is missing (expected one or all)")
    call.debugger.engine().set_threads(mode)


def let_go(debugger: Debugger) -> None:
    """Resumes all threads after the last debugging session ended. Threads
    stopped at an uncaught exception stay until their lease ends."""
    for stop in debugger.stops():
        if stop.lease_until is None:
            with contextlib.suppress(EngineError):
                stop.go()


def stops_told(call: Call) -> List[Dict[str, Any]]:
    told = []
    for stop in call.debugger.stops():
        own = hits_by_session(call.debugger, stop).get(call.session.id, {})
        told.append(dict(tell(call.debugger, stop), **own))
    return told


ROWS = (
    Row("continue", _continue, False,
        {"supportsSingleThreadExecutionRequests": True}, debugs=True),
    Row("next", _step("next"), False, debugs=True),
    Row("stepIn", _step("stepIn"), False, debugs=True),
    Row("stepOut", _step("stepOut"), False, debugs=True),
    Row("until", _until, False, debugs=True),
    Row("pause", _pause, False, debugs=True),
    Row("withdrawPause", _withdraw_pause, False, debugs=True),
    Row("setThreads", _set_threads, False, debugs=True),
)
