"""The DAP requests threads and stackTrace, for stopped and running threads."""
from __future__ import annotations

from typing import Any, Dict, List, Tuple

from .. import inspection
from . import places, sources
from .call import Call, Row
from .messages import Failure

FRAMES_MAXIMUM = 256


def _threads(_: Call) -> Dict[str, Any]:
    told = []
    for thread in inspection.threads():
        number = thread["tid"] or thread["ident"]
        told.append({"id": number,
                     "name": thread["name"] or "thread %d" % number})
    return {"threads": told}


def _frames(call: Call, thread_id: int) -> Tuple[Any, List[Any]]:
    """Returns the stop (None: the thread is running) and [(frame, line)]."""
    stop = call.debugger.stop_of(thread_id)
    if stop is not None:
        return stop, list(stop.frames)
    frame = inspection.find(thread_id)
    if frame is None:
        raise Failure("thread %d not found" % thread_id)
    return None, [(frame, frame.f_lineno)
                  for frame in places.frames_of(frame)]


def _stack_trace(call: Call) -> Dict[str, Any]:
    arguments, session = call.arguments, call.session
    thread_id = arguments.integer("threadId")
    start = arguments.integer("startFrame", 0)
    levels = arguments.integer("levels", 0) or FRAMES_MAXIMUM
    stop, frames = _frames(call, thread_id)
    known = places.handles(session)
    told = []
    end = min(len(frames), start + min(levels, FRAMES_MAXIMUM))
    for i in range(start, end):
        frame, line = frames[i]
        code = frame.f_code
        place = places.Place(stop, thread_id, len(frames) - 1 - i, code,
                             frame if stop is not None else None)
        told.append({
            "id": known.add(place, stop),
            "name": getattr(code, "co_qualname", code.co_name),
            "source": sources.tell(session, code.co_filename),
            "line": (line or 0) + session.lines_start - 1,
            "column": session.columns_start})
    return {"stackFrames": told, "totalFrames": len(frames)}


ROWS = (
    Row("threads", _threads, True),
    Row("stackTrace", _stack_trace, True,
        {"supportsDelayedStackTraceLoading": True}),
)
