"""A breakpoint: where it is, and what happens when it is reached.

As in bdb a condition that is false makes no hit, the ignore count goes down
only at hits, and a condition that cannot be evaluated stops.
"""
from __future__ import annotations

import time
from types import FrameType
from typing import Any, Dict, List, Optional, Set, Tuple

from ..settings import describe
from . import codes
from .expressions import Expression, LogText
from .specs import Bound, EngineError, Spec
from .stop import is_for_program

# So often in a second one log point speaks.
SAID_MAXIMUM = 100
PLACES_MAXIMUM = 1000
Signature = Tuple[str, int, str]


def signature(code: codes.Code) -> Signature:
    return (code.co_filename, code.co_firstlineno, code.co_name)


class Neighbours:
    """Of a line that has no event, in the code of its file."""

    def __init__(self, line: int, found: List[codes.Code],
                 lines_of: Any) -> None:
        lines: Set[int] = set()
        self.is_final = False
        for code in found:
            own = lines_of(code)
            lines.update(own)
            if code.co_name == "<module>" or \
                    own and own[0] < line < max(own):
                self.is_final = True
        self.next = min((each for each in lines if each > line), default=0)
        self.last = max(lines, default=0)

    def sentence(self, line: int, path: str) -> str:
        name = path.rpartition("/")[2]
        if not self.is_final:
            return "pending: no code of line %d of %s is loaded; the %s that" \
                " has is line %d" % (line, name,
                                     "next" if self.next else "last",
                                     self.next or self.last)
        if not self.next:
            return "Line %d of %s is behind the last one that has code, " \
                "line %d." % (line, name, self.last)
        return "Line %d of %s has no code (it is blank or a comment, say). " \
            "The next that has is line %d." % (line, name, self.next)


class Breakpoint:
    def __init__(self, owner: str, spec: Spec) -> None:
        self.owner = owner
        self.spec = spec
        self.bound = Bound(spec)
        self.places: Dict[Signature, int] = {}
        self.codes: Dict[int, codes.Code] = {}
        self.is_spent = False
        self.is_broken = False
        self._ignore_left = spec.ignore
        self._condition: Optional[Expression] = None
        self._log: Optional[LogText] = None
        self._failed = False
        self._second = 0.0
        self._said = self._left_out = 0
        try:
            self._read()
        except EngineError as error:
            self.is_broken = self.bound.refused = True
            self.bound.message = str(error)

    def _read(self) -> None:
        spec = self.spec
        if bool(spec.function) == bool(spec.path and spec.line > 0):
            raise EngineError("A breakpoint takes a path and a line, or a "
                              "function.")
        if spec.condition:
            self._condition = Expression(spec.condition, "condition")
        if spec.log is not None:
            self._log = LogText(spec.log)

    def is_wanted(self) -> bool:
        return not (self.is_spent or self.is_broken or self.spec.disabled)

    def add(self, code: codes.Code, lines: List[int]) -> bool:
        """Whether it is in this code now, and was not."""
        spec = self.spec
        line = spec.line
        if spec.function:
            line = lines[0] if lines else 0
        elif line not in lines:
            return False
        if not line or id(code) in self.codes or \
                len(self.codes) >= PLACES_MAXIMUM:
            return False
        self.codes[id(code)] = code
        self.places[signature(code)] = line
        return True

    def settle(self) -> None:
        """It has places: says so."""
        bound = self.bound
        bound.verified, bound.pending, bound.refused = True, False, False
        bound.path, bound.line = next(
            (sign[0], line) for sign, line in self.places.items())
        bound.message = None
        others = [sign[0] for sign in self.places if sign[0] != bound.path]
        if others:
            bound.message = "There is more than one file of that name: it " \
                "is set in %s and in %s." % (bound.path, others[0])

    def miss(self, found: List[codes.Code], lines_of: Any) -> None:
        """It has no places: says why."""
        bound, spec = self.bound, self.spec
        bound.pending = True
        if spec.function:
            bound.message = "pending: no function %s is loaded yet" \
                % spec.function
        elif not found:
            bound.message = "pending: no code of %s is loaded yet" % (
                spec.path or "").rpartition("/")[2]
        else:
            around = Neighbours(spec.line, found, lines_of)
            bound.message = around.sentence(spec.line, spec.path or "")
            bound.pending = not around.is_final
            bound.refused = around.is_final

    def is_at(self, frame: FrameType, line: int) -> bool:
        if not self.spec.function:
            return True
        return self.places.get(signature(frame.f_code)) == line

    def reach(self, frame: FrameType, lock: Any
              ) -> Tuple[bool, List[str], str]:
        """The frame is at it: whether it stops, what it says, and what is to
        be known of the stop. The lock is for the counts alone: a condition
        may wait for another thread, which comes here, too."""
        said: List[str] = []
        failure = ""
        if self._condition is not None:
            try:
                if not self._condition.value(frame):
                    return False, said, ""
            except BaseException as error:
                if is_for_program(error):
                    raise
                failed = "failed: %s" % describe(error)
                failure = "its condition " + failed
                if not self._failed:
                    said.append("the condition %s %s" % (
                        self._condition.text, failed))
                self._failed = True
                if self._log is not None:
                    return False, said, ""
        with lock:
            if not self._counts(bool(failure)):
                return False, said, ""
            if self._log is None:
                return True, said, failure
            speaks = self._may_speak(said)
        if speaks:
            said.append(self._log.say(frame))
        return False, said, ""

    def _counts(self, has_failed: bool) -> bool:
        """One more hit, if it is one."""
        if self.is_spent:
            return False
        if not has_failed and self._ignore_left > 0:
            self._ignore_left -= 1
            return False
        self.bound.hits += 1
        self.is_spent = self.spec.temporary and not has_failed
        return True

    def _may_speak(self, said: List[str]) -> bool:
        said += self.left_out()
        if self._said >= SAID_MAXIMUM:
            self._left_out += 1
            return False
        self._said += 1
        return True

    def left_out(self, all: bool = False) -> List[str]:
        """What the second that is over has left out."""
        now = time.monotonic()
        if now - self._second < 1 and not all:
            return []
        count, self._left_out = self._left_out, 0
        self._second, self._said = now, 0
        return ["%d more (a log point speaks %d times a second at most)"
                % (count, SAID_MAXIMUM)] if count else []
