"""The DAP requests gotoTargets and goto: set the next line of a stopped
thread."""
from __future__ import annotations

import os
from typing import Any, Dict, NamedTuple

from .. import quiet
from ..debugging.stop import Stop
from . import places, stopped
from .call import Call, Row
from .handles import Handles
from .messages import Failure

JUMP_SECONDS = 10.0


class _Target(NamedTuple):
    path: str
    line: int


def _targets(call: Call) -> Handles[_Target]:
    return call.session.keep("targets", lambda: Handles("targetId"))


def _goto_targets(call: Call) -> Dict[str, Any]:
    """Returns the line as a target without checking it: only the jump itself
    shows whether CPython allows it."""
    arguments = call.arguments
    first = call.session.lines_start
    path = arguments.object("source").text("path")
    line = arguments.integer("line", low=first)
    number = _targets(call).add(_Target(path, line - first + 1))
    return {"targets": [{"id": number, "label": "line %d" % line,
                         "line": line}]}


def _explain(problem: ValueError, stop: Stop) -> str:
    # CPython's message names its trace events, which a user does not know.
    if stop.at in ("call", "return", "exception"):
        return "the thread is stopped at %s %s, but can jump only from the " \
            "start of a line; step first (n)" % (
                "an" if stop.at == "exception" else "a", stop.at)
    return str(problem)


def _goto(call: Call) -> None:
    target = _targets(call).find(call.arguments.integer("targetId"))
    stop = stopped.find(call)
    if not stop.frames:
        raise Failure("the thread has no known frame")
    frame = stop.frames[0][0]
    if os.path.abspath(frame.f_code.co_filename) != \
            os.path.abspath(target.path):
        raise Failure("a jump cannot leave the innermost function, which is "
                      "in %s" % frame.f_code.co_filename)

    def jump() -> Any:
        try:
            with quiet.Jump():
                frame.f_lineno = target.line  # type: ignore[misc]
        except ValueError as error:
            return error
        return None

    problem = places.run_at(stop, jump, JUMP_SECONDS)
    if problem is not None:
        raise Failure("the jump is not possible: %s" % _explain(problem, stop))
    stop.frames[0] = (frame, target.line)
    call.debugger.drop(stop)
    told = stopped.tell(call.debugger, stop)
    call.debugger.ring.emit("stopped", dict(told, reason="goto",
                                            at="line"))


ROWS = (
    Row("gotoTargets", _goto_targets, True,
        {"supportsGotoTargetsRequest": True}),
    Row("goto", _goto, False, debugs=True),
)
