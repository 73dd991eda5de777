"""The DAP requests that begin and end a session."""
from __future__ import annotations

from typing import Any, Dict

from .call import Call, Row
from .messages import Failure


def _initialize(call: Call) -> Dict[str, Any]:
    from . import table

    arguments, session = call.arguments, call.session
    arguments.text("adapterID", "")
    if arguments.choice("pathFormat", ("path", "uri"), "path") == "uri":
        raise Failure("pathFormat uri is not supported: use path")
    session.lines_start = int(arguments.flag("linesStartAt1", True))
    session.columns_start = int(arguments.flag("columnsStartAt1", True))
    told = table.capabilities(call.debugger.is_read_only)
    told["probetui"] = {"session": session.id, "grace": session.grace,
                        "next": session.first, "once": True}
    call.debugger.ring.emit("initialized", {}, session.id)
    return told


def _nothing(_: Call) -> None:
    return None


def _disconnect(call: Call) -> None:
    if call.arguments.flag("terminateDebuggee"):
        raise Failure("terminateDebuggee is not supported: the agent cannot "
                      "end the program")
    call.debugger.sessions.remove(call.session)


ROWS = (
    Row("initialize", _initialize, True),
    Row("attach", _nothing, True, debugs=True),
    Row("configurationDone", _nothing, True,
        {"supportsConfigurationDoneRequest": True}),
    Row("disconnect", _disconnect, True),
)
