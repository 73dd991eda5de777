"""Data breakpoints: variables that change (debugging/changes.py) or become NaN
(debugging/nans.py)."""
from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple

from . import places
from .breakpoints import read as read_common
from .call import Call, Row
from .messages import Arguments, Failure
from .sessions import Kept, Session
from .setting import find_child
from .telling import handles

if TYPE_CHECKING:
    from ..debugging.changes import Change, Changes
    from ..debugging.nans import Nans
    from .debugger import Debugger

BREAKPOINTS_MAXIMUM = 100
_OFFERS_MAXIMUM = 1000
_NO_FRAME = "watching a variable needs a frame of a stopped thread: stop " \
    "the thread, and give its frameId"


_RUNS = object()


class _Offer(NamedTuple):
    """The variable that a dataId names. For a NaN watch, `frame` is a code
    object and `stop` is _RUNS."""

    stop: Any
    frame: Any
    path: Any  # debugging.paths.Path


class _Set(NamedTuple):
    """A data breakpoint as the client requested it, and the resulting Change
    or Nan; change is None if the engine refused it."""

    key: Any
    change: Any
    why_not: str


class Data(Kept):
    """The data breakpoints of a session."""

    def __init__(self, session: Session) -> None:
        self.name = session.id
        self.offers: Dict[str, _Offer] = {}
        self.sets: List[_Set] = []
        self._count = itertools.count(1)

    def offer(self, offer: _Offer) -> str:
        for name, known in self.offers.items():
            if known.frame is offer.frame and known.path == offer.path:
                return name
        while len(self.offers) >= _OFFERS_MAXIMUM:
            del self.offers[next(iter(self.offers))]
        name = "%d" % next(self._count)
        self.offers[name] = offer
        return name

    def prune(self) -> None:
        """Forgets offers of resumed threads that no data breakpoint uses, and
        with them their frames."""
        used = {each.key[0] for each in self.sets if each.change is not None
                and each.change.frame is not None}
        for name in [name for name, offer in dict(self.offers).items()
                     if offer.stop is None and name not in used]:
            self.offers.pop(name, None)

    def drop(self, stop: Any) -> None:
        for name, offer in dict(self.offers).items():
            if offer.stop is stop:
                self.offers[name] = offer._replace(stop=None)
        self.prune()

    def end(self, debugger: Debugger) -> None:
        if "changes" in debugger.parts:
            changes(debugger).set(self.name, [])
        if "nans" in debugger.parts:
            nans(debugger).set(self.name, [])
        for each in self.sets:
            if each.change is not None:
                debugger.numbers.give_back(each.change.id)
        self.offers, self.sets = {}, []


def _data(call: Call) -> Data:
    return call.session.keep("data", lambda: Data(call.session))


def _tell(debugger: Debugger, each: _Set) -> Dict[str, Any]:
    change = each.change
    if change is None:
        return {"verified": False, "message": each.why_not, "hits": 0,
                "pending": False, "refused": True}
    told = {"id": debugger.numbers.client_number(change.id),
            "verified": change.frame is not None, "hits": change.hits,
            "pending": False, "refused": change.frame is None}
    if change.message:
        told["message"] = change.message
    return told


def changes(debugger: Debugger) -> Changes:
    def gone(owner: str, change: Change, why: str) -> None:
        debugger.ring.emit("breakpoint", {
            "reason": "removed", "breakpoint": _tell(
                debugger, _Set(None, change, ""))}, owner)

    def make() -> Changes:
        from ..debugging.changes import Changes

        made = Changes(debugger.engine(), gone)
        debugger.endings.append(made.close)
        return made

    return debugger.part("changes", make)  # type: ignore[no-any-return]


def nans(debugger: Debugger) -> Nans:
    def make() -> Nans:
        from ..debugging.nans import Nans

        made = Nans(debugger.engine())
        debugger.endings.append(made.close)
        return made

    return debugger.part("nans", make)  # type: ignore[no-any-return]


def _nothing(why: str) -> Dict[str, Any]:
    return {"dataId": None, "description": why, "accessTypes": []}


def _expression(call: Call) -> Any:
    """Returns the expression and the Place of a child of an opened value."""
    opened = handles(call.session).find(
        call.arguments.integer("variablesReference", low=1))
    child = find_child(opened, call.arguments.text("name"))
    if opened.expression is None or child.suffix is None:
        raise Failure("%s cannot be watched: no expression refers to the value"
                      % child.name)
    return opened.expression + child.suffix, opened.place


def _nan_info(call: Call) -> Dict[str, Any]:
    """Answers dataBreakpointInfo for a NaN watch. The program may be running;
    the watch applies to every thread that executes the function."""
    from ..debugging import nans, paths
    from ..debugging.specs import EngineError

    try:
        path = paths.parse(call.arguments.text("name", maximum=1000))
        code = nans.find_code(path)
    except EngineError as error:
        return _nothing(str(error))
    return {"dataId": _data(call).offer(_Offer(_RUNS, code, path)),
            "description": "a NaN in %s, checked before each line of %s" % (
                path.text, code.co_name),
            "accessTypes": ["write"], "canPersist": False}


def _info(call: Call) -> Dict[str, Any]:
    from ..debugging import paths
    from ..debugging.specs import EngineError

    arguments = call.arguments
    if arguments.flag("nan"):
        return _nan_info(call)
    if arguments.flag("asAddress"):
        return _nothing("the agent cannot watch addresses: watch a variable")
    if arguments.has("variablesReference"):
        text, place = _expression(call)
    else:
        text, place = arguments.text("name", maximum=1000), None
        if arguments.has("frameId"):
            place = places.find(call, arguments.integer("frameId"))
    if place is None or place.stop is None:
        return _nothing(_NO_FRAME)
    frame = places.frame_of(place)
    try:
        path = paths.parse(text)
        value = paths.read(path, frame)
    except EngineError as error:
        return _nothing(str(error))
    owner = path._replace(steps=())
    if value is paths.MISSING and \
            paths.read(owner, frame) is paths.MISSING and \
            path.name not in frame.f_code.co_varnames:
        return _nothing("%s is not defined in the frame" % path.name)
    return {"dataId": _data(call).offer(_Offer(place.stop, frame, path)),
            "description": "%s, checked before each line of %s" % (
                path.text, frame.f_code.co_name),
            "accessTypes": ["write"], "canPersist": False}


def _make(call: Call, fields: Arguments, before: List[_Set]) -> _Set:
    from ..debugging.changes import Change
    from ..debugging.specs import EngineError

    spec = read_common(fields)
    name = fields.text("dataId", maximum=100)
    access = fields.choice("accessType", ("read", "write", "readWrite"),
                           "write")
    if access != "write":
        return _Set(None, None, "reads of a variable cannot be watched: "
                    "accessType must be write")
    if spec.log or spec.temporary or spec.disabled:
        return _Set(None, None, "data breakpoints do not support logMessage, "
                    "temporary or disabled")
    key = (name, spec.id, spec.condition, spec.ignore)
    for each in before:
        if each.key == key and each.change.frame is not None:
            return each
    offer = _data(call).offers.get(name)
    if offer is None:
        return _Set(None, None, "dataId %s is no longer valid: request "
                    "dataBreakpointInfo again" % ascii(name))
    numbers = call.debugger.numbers
    if offer.stop is _RUNS:
        from ..debugging.nans import Nan

        return _Set(key, Nan(numbers.take(call.session, spec.id or None),
                             offer.path, offer.frame), "")
    try:
        return _Set(key, Change(
            numbers.take(call.session, spec.id or None), offer.path,
            offer.frame, spec.condition, spec.ignore), "")
    except EngineError as error:
        return _Set(None, None, str(error))


def _set(call: Call) -> Dict[str, Any]:
    given = call.arguments.objects("breakpoints", BREAKPOINTS_MAXIMUM)
    with call.debugger.numbers.seat:
        return _replace(call, given)


def _settle(call: Call, made: List[Any]) -> None:
    from ..debugging.changes import Change

    debugger, session = call.debugger, call.session.id
    changes(debugger).set(session, [
        each for each in made if isinstance(each, Change)])
    others = [each for each in made if not isinstance(each, Change)]
    if others or "nans" in debugger.parts:
        nans(debugger).set(session, others)


def _replace(call: Call, given: List[Arguments]) -> Dict[str, Any]:
    kept, debugger = _data(call), call.debugger
    before = [each for each in kept.sets if each.change is not None]
    made = [_make(call, fields, before) for fields in given]
    kept.sets = made
    for each in before:
        if each not in made:
            debugger.numbers.give_back(each.change.id)
    _settle(call, [each.change for each in made if each.change is not None])
    kept.prune()
    return {"breakpoints": [_tell(debugger, each) for each in made]}


def state(call: Call) -> List[Dict[str, Any]]:
    return [_tell(call.debugger, each) for each in _data(call).sets]


ROWS = (
    Row("dataBreakpointInfo", _info, False,
        {"supportsDataBreakpoints": True}),
    Row("setDataBreakpoints", _set, False, debugs=True),
)
