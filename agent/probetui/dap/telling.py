"""Values as DAP Variables, and the variablesReference numbers of their
children."""
from __future__ import annotations

from typing import Any, Callable, Dict, NamedTuple, Optional

from ..values import describe, type_name
from .children import Child, Contents
from .handles import Handles
from .sessions import Session

# Longer expressions are not sent as evaluateName.
EXPRESSION_MAXIMUM = 1000


class Opened(NamedTuple):
    """The value behind a variablesReference."""

    # returns a Contents, or an object with its methods
    contents: Callable[[], Any]
    # for a scope: the dict of its names if they can be set, else None
    value: Any
    # "" for a scope; None: the value has no expression
    expression: Optional[str]
    place: Any  # the places.Place of the value's frame; None: __main__


def handles(session: Session) -> Handles[Opened]:
    return session.keep("values", lambda: Handles("variablesReference"))


def refer(session: Session, value: Any, expression: Optional[str],
          place: Any) -> Dict[str, Any]:
    """Returns the DAP fields by which a client opens the value;
    variablesReference 0: it has no children."""
    contents = Contents(value)
    if contents.is_empty():
        return {"variablesReference": 0}
    stop = place.stop if place is not None else None
    return {"variablesReference": handles(session).add(
        Opened(lambda: Contents(value), value, expression, place), stop),
        **contents.counts()}


def tell(session: Session, child: Child, within: Optional[str],
         place: Any) -> Dict[str, Any]:
    """Returns a DAP Variable. `within` is the expression of the parent, or
    None."""
    expression = None
    if within is not None and child.suffix is not None:
        expression = within + child.suffix
        if len(expression) > EXPRESSION_MAXIMUM:
            expression = None
    told = {"name": child.name, "value": describe(child.value),
            "type": type_name(child.value)}
    if expression is not None:
        told["evaluateName"] = expression
    told.update(refer(session, child.value, expression, place))
    return told
