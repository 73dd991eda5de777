"""The requests probetui/tensor and probetui/parameters. Code of the program
runs only if the expression has more than names, attributes and elements."""
from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from ..tensors import facts, parameters, query, work
from ..tensors.known import Known
from ..tensors.memory import Unreadable
from ..values import describe, type_name
from .call import Call, Row
from .finding import Found
from .messages import Failure

TIMEOUT_SECONDS = 30.0
TRIES = 3


def _variable(found: Found) -> Dict[str, Any]:
    """Returns the value without a variablesReference, so that no handle keeps
    the tensor alive."""
    value = found.value
    return {"name": found.text, "type": type_name(value),
            "value": describe(value), "variablesReference": 0}


def _known(value: Any) -> Optional[Known]:
    try:
        return facts.find(value)
    except Exception as error:
        raise Failure("the %s object cannot be inspected: %s: %s" % (
            type_name(value), type(error).__name__,
            str(error)[:500])) from None


def _read(found: Found, known: Known, wanted: query.Query
          ) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Returns the tensor, and further fields of the response. If the variable
    refers to another tensor after the read, reads again, up to TRIES times; if
    it still changes, the result is marked as torn."""
    more: Dict[str, Any] = {"found": None}
    if not wanted.is_any() or known.layout is None or "unread" in known.told:
        return known.told, more
    for tries in range(1, TRIES + 1):
        try:
            told, more = work.do(found.value, known, wanted)
        except Unreadable as problem:
            told = {"unread": str(problem)}
        later = _known(found.again())
        is_same = later is not None and later.identity == known.identity
        if is_same or later is None or tries == TRIES:
            break
        known = later
    known.told.update(told, torn=not is_same)
    return known.told, more


def _tensor(call: Call) -> Dict[str, Any]:
    wanted = query.read(call.arguments)
    found = Found(call, TIMEOUT_SECONDS)

    def do() -> Dict[str, Any]:
        known = _known(found.value)
        if known is None:
            return {"tensor": None, "found": None}
        tensor, more = _read(found, known, wanted)
        return dict(more, tensor=dict(tensor, live=found.is_live()))

    told = found.work(do)
    return dict(told, value=_variable(found), frame=found.frame(),
                tid=found.thread_id())


def _parameters(call: Call) -> Dict[str, Any]:
    arguments = call.arguments
    start = arguments.integer("start", 0)
    of_gradient = arguments.flag("gradients")
    wants_values = arguments.flag("values") and not of_gradient
    asked = query.read(arguments)
    # The other fields of a query apply to a single tensor.
    wanted = query.Query(asked.statistics, has_hash=asked.has_hash)
    found = Found(call, TIMEOUT_SECONDS)

    def one(value: Any, known: Known) -> Tuple[Any, Optional[str]]:
        told = dict(known.told, live=found.is_live())
        if wanted.is_any() and known.layout is not None and \
                "unread" not in told:
            try:
                told.update(work.do(value, known, wanted)[0])
            except Unreadable as problem:
                told["unread"] = str(problem)
        return told, None

    def do() -> Dict[str, Any]:
        every = parameters.find(found.value, found.text, wants_values)
        if every is None:
            raise Failure("%s is not a module, optimizer, tensor or DataFrame, "
                          "nor a list, tuple or dict of these"
                          % ascii(found.text)[:200])
        page = every[start:start + parameters.PAGE_MAXIMUM]
        return {"parameters": [parameters.tell(each, of_gradient, one)
                               for each in page], "total": len(every),
                "values": wants_values}

    return dict(found.work(do), frame=found.frame())


ROWS = (
    Row("probetui/tensor", _tensor, True),
    Row("probetui/parameters", _parameters, True),
)
