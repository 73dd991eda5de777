"""Values as DAP tells them, and the numbers by which they open."""
from __future__ import annotations

from typing import Any, Callable, Dict, NamedTuple, Optional

from ..values import describe, type_name
from .children import Child, Contents
from .handles import Handles
from .sessions import Session

# Longer ones are not told with each value that is in theirs.
EXPRESSION_MAXIMUM = 1000


class Opened(NamedTuple):
    """What a variablesReference stands for."""

    contents: Callable[[], Any]  # Contents, or what has its methods
    value: Any  # a scope: its names, where they can be set
    expression: Optional[str]  # "" of a scope; None: there is none
    place: Any  # places.Place that it was found in; None: __main__


def handles(session: Session) -> Handles[Opened]:
    return session.keep("values", lambda: Handles("variablesReference"))


def refer(session: Session, value: Any, expression: Optional[str],
          place: Any) -> Dict[str, Any]:
    """The fields that say how it opens."""
    contents = Contents(value)
    if contents.is_empty():
        return {"variablesReference": 0}
    stop = place.stop if place is not None else None
    return {"variablesReference": handles(session).add(
        Opened(lambda: Contents(value), value, expression, place), stop),
        **contents.counts()}


def tell(session: Session, child: Child, within: Optional[str],
         place: Any) -> Dict[str, Any]:
    """A Variable of DAP. `within`: the expression of what it is in."""
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
