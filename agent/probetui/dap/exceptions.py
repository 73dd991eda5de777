"""The DAP requests setExceptionBreakpoints and exceptionInfo."""
from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from ..debugging.specs import EngineError, ExceptionFilter
from ..evaluation import PACKAGE
from ..values import chain, class_name, cut, without_guesses
from . import holding, places, stopped
from .call import Call, Row
from .messages import Arguments, Failure
from .sessions import Kept

if TYPE_CHECKING:
    from .debugger import Debugger

TYPES_MAXIMUM = 100
TEXT_MAXIMUM = 20000
INFO_SECONDS = 5.0
FILTERS = (
    ("raised", "Raised Exceptions", "Stop where an exception is raised, "
     "handled or not."),
    ("uncaught", "Uncaught Exceptions", "Stop at an exception that would end "
     "its thread."),
)


class Filters(Kept):
    """The exception filters of a session."""

    def __init__(self) -> None:
        self.names: List[str] = []
        self.types: List[str] = []
        self.owner = ""

    def end(self, debugger: Debugger) -> None:
        holding.want_uncaught(debugger, self.owner, None)


def _types(text: Optional[str]) -> List[str]:
    """Splits a filter's condition: "ValueError, torch.OutOfMemoryError"."""
    found = [name.strip() for name in (text or "").split(",")]
    return [name for name in found if name]


def _options(arguments: Arguments, names: List[str],
             types: List[str]) -> None:
    for option in arguments.objects("filterOptions", len(FILTERS), []):
        names.append(option.text("filterId"))
        types += _types(option.text("condition", None, 1000))


def _set(call: Call) -> Dict[str, Any]:
    arguments = call.arguments
    names = list(arguments.texts("filters", 100, []))
    types = list(arguments.texts("types", TYPES_MAXIMUM, []))
    _options(arguments, names, types)
    for name in names:
        if name not in [row[0] for row in FILTERS]:
            raise Failure("unknown exception filter %s (known: %s)" % (
                ascii(name)[:100], ", ".join(row[0] for row in FILTERS)))
    for kind in types:
        if not all(part.isidentifier() for part in kind.split(".")):
            raise Failure("%s is not a class name" % ascii(kind)[:100])
    kept = call.session.keep("exceptions", Filters)
    kept.names, kept.types, kept.owner = names, types, call.session.id
    holding.want_uncaught(call.debugger, call.session.id,
                          types if "uncaught" in names else None)
    try:
        call.debugger.engine().set_exceptions(
            call.session.id, ExceptionFilter(
                "raised" in names, "uncaught" in names, types)
            if names else None)
    except EngineError as error:
        raise Failure(str(error)) from None
    return {"breakpoints": [{"verified": True} for _ in names]}


def _tell_one(error: BaseException) -> Tuple[str, str]:
    """Returns the exception's text and its stack. Runs its class's __str__."""
    told = traceback.TracebackException(type(error), error,
                                        error.__traceback__)
    without_guesses(told)
    told.stack[:] = [frame for frame in told.stack
                     if not frame.filename.startswith(PACKAGE)]
    name = class_name(type(error))
    text = "".join(told.format_exception_only()).strip()
    for prefix in (name + ": ", name.rpartition(".")[2] + ": "):
        if text.startswith(prefix):
            text = text[len(prefix):]
            break
    else:
        text = "" if text in (name, name.rpartition(".")[2]) else text
    return (cut(text, TEXT_MAXIMUM),
            cut("".join(told.stack.format()), TEXT_MAXIMUM))


def _details(error: BaseException) -> Dict[str, Any]:
    try:
        message, trace = _tell_one(error)
    except Exception:
        message, trace = "(message unavailable)", ""
    name = class_name(type(error))
    return {"message": message, "typeName": name.rpartition(".")[2],
            "fullTypeName": name, "stackTrace": trace}


def _all_details(error: BaseException) -> Dict[str, Any]:
    """Returns the DAP ExceptionDetails of error; __cause__ and __context__ are
    nested in innerException."""
    told: Dict[str, Any] = {}
    for one in chain(error)[-50:]:
        inner, told = told, _details(one)
        if inner:
            told["innerException"] = [inner]
    return told


def _info(call: Call) -> Dict[str, Any]:
    stop = stopped.find(call)
    error = stop.exception
    if error is None:
        raise Failure("the thread is not stopped at an exception")
    details = places.run_at(stop, lambda: _all_details(error),
                            INFO_SECONDS)
    if not details["stackTrace"] and stop.frames:
        # The exception is just being raised and has no traceback yet.
        details["stackTrace"] = "".join(traceback.StackSummary.extract(
            iter(stop.frames[:1])).format())
    return {"exceptionId": details["fullTypeName"],
            "description": details["message"],
            "breakMode": "always" if stop.lease_until is None
            else "unhandled", "details": details}


ROWS = (
    Row("setExceptionBreakpoints", _set, False, {
        "supportsExceptionFilterOptions": True,
        "exceptionBreakpointFilters": [
            {"filter": name, "label": label, "description": description,
             "default": False, "supportsCondition": True,
             "conditionDescription": "class names: ValueError, "
             "package.Error"} for name, label, description in FILTERS]},
        debugs=True),
    Row("exceptionInfo", _info, False,
        {"supportsExceptionInfoRequest": True}),
)
