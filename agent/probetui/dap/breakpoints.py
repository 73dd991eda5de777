"""The DAP requests setBreakpoints and setFunctionBreakpoints."""
from __future__ import annotations

import itertools
import re
import threading
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from .. import audit
from ..debugging.specs import Bound, EngineError, Spec
from . import sources
from .call import Call, Row
from .messages import Arguments, Failure
from .sessions import Kept, Session

if TYPE_CHECKING:
    from .debugger import Debugger

BREAKPOINTS_MAXIMUM = 500
TEXT_MAXIMUM = 10000
_HITS = re.compile(r"\s*(>=?)?\s*(\d{1,9})\s*\Z")
_UNKNOWN = "the breakpoint cannot be set: %s"


class Numbers:
    """Maps breakpoint numbers of clients to numbers that are unique in the
    engine. Both are equal, unless two clients chose the same number."""

    def __init__(self) -> None:
        self._owners: Dict[int, Any] = {}
        self._next = itertools.count(1)
        # Held while breakpoints are set: the engine gets all lists of a
        # session at once, and several connections may change lists of the same
        # session.
        self.seat = threading.RLock()

    def take(self, session: Session, asked: Optional[int]) -> int:
        number = asked
        while number is None or number in self._owners:
            number = next(self._next)
        self._owners[number] = (session.id, number if asked is None else asked)
        return number

    def give_back(self, number: int) -> None:
        self._owners.pop(number, None)

    def client_number(self, number: int) -> int:
        return self._owners.get(number, ("", number))[1]  # type: ignore

    def by_session(self, numbers: List[int]) -> Dict[str, List[int]]:
        found: Dict[str, List[int]] = {}
        for number in numbers:
            owner, own = self._owners.get(number, ("", number))
            found.setdefault(owner, []).append(own)
        return found


class Wanted(Kept):
    """All breakpoints that a session has set: lists by file, "functions",
    "data"."""

    def __init__(self, debugger: Debugger, session: Session) -> None:
        self._numbers = debugger.numbers
        self._session = session
        self._lists: Dict[Any, List[Spec]] = {}
        self._known: Dict[int, int] = {}  # engine's number by client's number

    def specs(self) -> List[Spec]:
        return [spec for specs in self._lists.values() for spec in specs]

    def replace(self, key: Any, specs: List[Spec]) -> None:
        """Replaces the list `key`. On entry, spec.id is the client's number or
        0; on return, the engine's number."""
        before = self._lists.pop(key, [])
        if len(self.specs()) + len(specs) > BREAKPOINTS_MAXIMUM:
            self._lists[key] = before
            raise Failure("a session can have at most %d breakpoints"
                          % BREAKPOINTS_MAXIMUM)
        _note(specs, before)
        for spec in specs:
            spec.id = self._number(spec, before)
        if specs:
            self._lists[key] = specs
        self._prune()

    def _number(self, spec: Spec, before: List[Spec]) -> int:
        if spec.id:
            if spec.id not in self._known:
                self._known[spec.id] = self._numbers.take(self._session,
                                                          spec.id)
            return self._known[spec.id]
        for other in before:
            spec.id = other.id
            if other.key() == spec.key():
                # Same breakpoint as before: it keeps its number and hit count.
                before.remove(other)
                return other.id
        number = self._numbers.take(self._session, None)
        self._known[number] = number
        return number

    def _prune(self) -> None:
        used = {spec.id for spec in self.specs()}
        for own, number in dict(self._known).items():
            if number not in used:
                self._numbers.give_back(self._known.pop(own))

    def remove(self, number: int) -> None:
        """Removes a temporary breakpoint after its hit."""
        with self._numbers.seat:
            for key, specs in self._lists.items():
                self._lists[key] = [spec for spec in specs
                                    if spec.id != number]

    def end(self, debugger: Debugger) -> None:
        with self._numbers.seat:
            self._lists = {}
            self._prune()


def _note(specs: List[Spec], before: List[Spec]) -> None:
    """Logs new conditions and log messages: they are code that the process
    will run."""
    known = {text for spec in before for text in (spec.condition, spec.log)}
    for spec in specs:
        for text in (spec.condition, spec.log):
            if text and text not in known:
                audit.log.record("breakpoint", text)


def wanted(call: Call) -> Wanted:
    return call.session.keep("breakpoints", lambda: Wanted(
        call.debugger, call.session))


def tell(debugger: Debugger, session: Optional[Session],
         bound: Bound) -> Dict[str, Any]:
    """Returns a breakpoint as a DAP Breakpoint."""
    spec = bound.spec
    first = session.lines_start if session is not None else 1
    told: Dict[str, Any] = {
        "id": debugger.numbers.client_number(bound.id),
        "verified": bool(bound.verified), "hits": bound.hits,
        "pending": bool(bound.pending), "refused": bool(bound.refused)}
    if bound.message:
        told["message"] = bound.message
    if not bound.verified:
        told["reason"] = "pending" if bound.pending else "failed"
    line, path = bound.line or spec.line, bound.path or spec.path
    if line:
        told["line"] = line + first - 1
    if path and session is not None:
        told["source"] = sources.tell(session, path)
    return told


def _ignore(arguments: Arguments) -> int:
    """Returns the number of hits that do not stop."""
    count = arguments.integer("ignore", 0, 0, 10 ** 9)
    text = arguments.text("hitCondition", None, 100)
    if text is None or not text.strip():
        return int(count)
    match = _HITS.match(text)
    if not match:
        raise Failure("%shitCondition must be a number of hits, such as 5, >= "
                      "5 or > 4" % arguments.place)
    return max(count, int(match.group(2)) - (match.group(1) != ">"))


def read(arguments: Arguments, **more: Any) -> Spec:
    """Reads the fields that all kinds of breakpoints have. Raises Failure."""
    condition = arguments.text("condition", None, TEXT_MAXIMUM)
    log = arguments.text("logMessage", None, TEXT_MAXIMUM)
    return Spec(arguments.integer("id", 0, 1, (1 << 31) - 1),
                condition=condition if condition and condition.strip()
                else None, log=log or None, ignore=_ignore(arguments),
                temporary=arguments.flag("temporary"),
                disabled=arguments.flag("disabled"), **more)


def apply(call: Call, key: Any, specs: List[Spec]) -> Dict[str, Any]:
    """Replaces the session's breakpoints of the kind `key`. Returns the
    response body."""
    own = wanted(call)
    with call.debugger.numbers.seat:
        own.replace(key, specs)
        try:
            bounds = call.debugger.engine().set_breakpoints(
                call.session.id, own.specs())
        except EngineError as error:
            raise Failure(_UNKNOWN % error) from None
    found = {bound.id: bound for bound in bounds}
    told = []
    for spec in specs:
        bound = found.get(spec.id)
        if bound is None:
            raise Failure(_UNKNOWN % "two breakpoints have the same id")
        told.append(tell(call.debugger, call.session, bound))
    return {"breakpoints": told}


def _check_ids(specs: List[Spec]) -> None:
    ids = [spec.id for spec in specs if spec.id]
    if len(set(ids)) < len(ids):
        raise Failure("two breakpoints have the same id")


def _set_breakpoints(call: Call) -> Dict[str, Any]:
    arguments, session = call.arguments, call.session
    path = arguments.object("source").text("path", None)
    if not path:
        raise Failure("arguments.source.path is missing (expected a string): "
                      "breakpoints are set in files")
    given = arguments.objects("breakpoints", BREAKPOINTS_MAXIMUM, None) or []
    specs = [read(fields, path=path, line=fields.integer(
        "line", low=session.lines_start) - session.lines_start + 1)
        for fields in given]
    _check_ids(specs)
    return apply(call, ("file", path), specs)


def _set_functions(call: Call) -> Dict[str, Any]:
    specs = []
    for fields in call.arguments.objects("breakpoints", BREAKPOINTS_MAXIMUM):
        name = fields.text("name", maximum=1000).strip()
        if not name:
            raise Failure("%sname is empty" % fields.place)
        specs.append(read(fields, function=name))
    _check_ids(specs)
    return apply(call, "functions", specs)


ROWS = (
    Row("setBreakpoints", _set_breakpoints, False, {
        "supportsConditionalBreakpoints": True,
        "supportsHitConditionalBreakpoints": True,
        "supportsLogPoints": True}, debugs=True),
    Row("setFunctionBreakpoints", _set_functions, False,
        {"supportsFunctionBreakpoints": True}, debugs=True),
)
