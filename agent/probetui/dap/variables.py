"""The DAP requests scopes and variables. No code of the program runs."""
from __future__ import annotations

from typing import Any, Dict

from .. import inspection
from . import places
from .call import Call, Row
from .children import PART_MAXIMUM, Names
from .telling import Opened, handles, tell


def _scope(call: Call, name: str, hint: str, place: places.Place,
           opened: Opened) -> Dict[str, Any]:
    return {"name": name, "presentationHint": hint, "expensive": False,
            "variablesReference": handles(call.session).add(
                opened, place.stop),
            "namedVariables": opened.contents().named}


def _locals(place: places.Place, frame: Any) -> Opened:
    if place.stop is not None:
        return Opened(lambda: Names(inspection.names_of(frame)), None, "",
                      place)
    # The thread is running: keep a copy of its current names, not the frame.
    contents = Names(inspection.names_of(frame))
    return Opened(lambda: contents, None, "", place)


def _scopes(call: Call) -> Dict[str, Any]:
    place = places.find(call, call.arguments.integer("frameId"))
    frame = places.frame_of(place)
    names = frame.f_globals
    scopes = []
    if not inspection.is_module(frame):
        scopes.append(_scope(call, "Locals", "locals", place,
                             _locals(place, frame)))
    scopes.append(_scope(call, "Globals", "globals", place, Opened(
        lambda: Names(inspection.copy_names(names)), names, "", place)))
    return {"scopes": scopes}


def _variables(call: Call) -> Dict[str, Any]:
    arguments = call.arguments
    opened = handles(call.session).find(
        arguments.integer("variablesReference", low=1))
    which = arguments.choice("filter", ("indexed", "named"), "") or ""
    start = arguments.integer("start", 0)
    count = arguments.integer("count", 0)
    contents = opened.contents()
    told = [tell(call.session, child, opened.expression, opened.place)
            for child in contents.part(which, start,
                                       min(count or PART_MAXIMUM,
                                           PART_MAXIMUM))]
    if not count and len(told) == PART_MAXIMUM:
        there = {"indexed": contents.indexed, "named": contents.named}.get(
            which, contents.indexed + contents.named)
        if there > start + PART_MAXIMUM:
            told.append({
                "name": "...", "variablesReference": 0, "value":
                "%d more: request them with start and count"
                % (there - start - PART_MAXIMUM),
                "presentationHint": {"kind": "virtual"}})
    return {"variables": told}


ROWS = (
    Row("scopes", _scopes, True),
    Row("variables", _variables, True),
)
