"""Frames by their DAP numbers: names are looked up in them, and code of
clients runs in them."""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple

from .. import inspection
from ..debugging.specs import StopIsOver
from .handles import Handles
from .messages import Failure

if TYPE_CHECKING:
    from types import FrameType

    from ..debugging.stop import Stop
    from .call import Call
    from .sessions import Session

# Seconds that a client waits for the answer of a stopped thread, in addition
# to the timeout of its code.
REPLY_SECONDS = 5.0


class Place(NamedTuple):
    """A frame. For a running thread only its position in the stack: a
    reference to the frame would keep its variables alive."""

    stop: Any  # debugging.stop.Stop; None: the thread is running
    thread_id: int
    above: int  # number of its callers on the stack
    code: Any
    frame: Any  # None: the thread is running


def handles(session: Session) -> Handles[Place]:
    return session.keep("frames", lambda: Handles("frameId"))


def frames_of(frame: Any) -> List[FrameType]:
    """Returns the frames of a stack, innermost first."""
    found = []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found


def find(call: Call, number: int) -> Place:
    """Returns the Place of a frameId. Raises Failure if it is no longer valid.
    """
    place = handles(call.session).find(number)
    if place.stop is None and call.debugger.stop_of(place.thread_id):
        raise Failure("the thread has stopped meanwhile: request its stack "
                      "again")
    return place


def find_stopped(call: Call, number: int) -> Place:
    place = find(call, number)
    if place.stop is None:
        raise Failure("the thread is running: pause the thread, or omit "
                      "frameId to use the names of __main__")
    return place


def frame_of(place: Place) -> FrameType:
    """Returns the frame. Raises Failure if the running thread has left it."""
    if place.stop is not None:
        return place.frame  # type: ignore[no-any-return]
    frames = frames_of(inspection.find(place.thread_id))
    if place.above < len(frames):
        frame = frames[-1 - place.above]
        if frame.f_code is place.code:
            return frame
    raise Failure("the thread has left the frame: request its stack again")


def run(place: Place, function: Callable[[], Any], timeout: float) -> Any:
    """Calls function in the stopped thread of place. Raises Failure."""
    return run_at(place.stop, function, timeout)


def run_at(stop: Stop, function: Callable[[], Any], timeout: float) -> Any:
    try:
        return stop.call(function, timeout + REPLY_SECONDS)
    except StopIsOver:
        raise Failure("the thread has resumed") from None
    except TimeoutError:
        raise Failure("the thread did not answer within %g s: the code is "
                      "still running" % (timeout + REPLY_SECONDS)) from None


def main_names() -> Dict[str, Any]:
    return sys.modules["__main__"].__dict__


def spaces(call: Call) -> List[Dict[str, Any]]:
    """Returns the namespaces for lookups, innermost first: of the frame if
    frameId is given, else of __main__."""
    if not call.arguments.has("frameId"):
        return [main_names()]
    frame = frame_of(find(call, call.arguments.integer("frameId")))
    return [inspection.names_of(frame), frame.f_globals]
