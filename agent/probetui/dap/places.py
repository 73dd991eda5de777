"""Frames, by their numbers: where names are looked up, and where code of
clients runs."""
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

# What a client waits for a thread that stands, beyond what its code may take.
REPLY_SECONDS = 5.0


class Place(NamedTuple):
    """A frame. Of a thread that runs only where it was: it is not kept from
    going on."""

    stop: Any  # debugging.stop.Stop; None: it runs
    thread_id: int
    above: int  # so many frames called it
    code: Any
    frame: Any  # of a stop


def handles(session: Session) -> Handles[Place]:
    return session.keep("frames", lambda: Handles("frameId"))


def frames_of(frame: Any) -> List[FrameType]:
    """Innermost first."""
    found = []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found


def find(call: Call, number: int) -> Place:
    """Failure: there is none any more."""
    place = handles(call.session).find(number)
    if place.stop is None and call.debugger.stop_of(place.thread_id):
        raise Failure("that thread stands now; ask for its stack anew")
    return place


def find_stopped(call: Call, number: int) -> Place:
    place = find(call, number)
    if place.stop is None:
        raise Failure("that thread runs; pause it, or leave frameId out: "
                      "then it is __main__'s names")
    return place


def frame_of(place: Place) -> FrameType:
    """Failure: the thread is elsewhere by now."""
    if place.stop is not None:
        return place.frame  # type: ignore[no-any-return]
    frames = frames_of(inspection.find(place.thread_id))
    if place.above < len(frames):
        frame = frames[-1 - place.above]
        if frame.f_code is place.code:
            return frame
    raise Failure("the thread has left that frame; ask for its stack anew")


def run(place: Place, function: Callable[[], Any], timeout: float) -> Any:
    """In the thread that stands there."""
    return run_at(place.stop, function, timeout)


def run_at(stop: Stop, function: Callable[[], Any], timeout: float) -> Any:
    try:
        return stop.call(function, timeout + REPLY_SECONDS)
    except StopIsOver:
        raise Failure("the thread has gone on meanwhile") from None
    except TimeoutError:
        raise Failure("the thread did not answer in %g s; it runs on"
                      % (timeout + REPLY_SECONDS)) from None


def main_names() -> Dict[str, Any]:
    return sys.modules["__main__"].__dict__


def spaces(call: Call) -> List[Dict[str, Any]]:
    """The names of the frame, if one is given, innermost first."""
    if not call.arguments.has("frameId"):
        return [main_names()]
    frame = frame_of(find(call, call.arguments.integer("frameId")))
    return [inspection.names_of(frame), frame.f_globals]
