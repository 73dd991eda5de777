"""Breakpoints: their locations in code, and what happens at a hit.

As in bdb, a false condition makes no hit, and the ignore count decreases only
at hits. Unlike in bdb, a condition that raises an exception makes no hit
either: the error is reported once, and the program continues.
"""
from __future__ import annotations

import builtins
import sys
import time
from types import FrameType
from typing import Any, Dict, Iterable, List, Optional, Set, Tuple

from ..settings import describe
from . import codes
from .expressions import Condition, LogText
from .specs import Bound, EngineError, Spec
from .stop import is_for_program

# Maximum number of messages of a log point per second.
SAID_MAXIMUM = 100
PLACES_MAXIMUM = 1000
Signature = Tuple[str, int, str]


def signature(code: codes.Code) -> Signature:
    return (code.co_filename, code.co_firstlineno, code.co_name)


class Neighbours:
    """The lines with code around a line that has none, in the loaded code of
    its file. is_final: no code that is loaded later can contain the line."""

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
            pending = "pending: no code of line %d of %s is loaded yet; " % (
                line, name)
            if self.next:
                return pending + "the next line with code is %d" % self.next
            return pending + "the code loaded so far ends at line %d" \
                % self.last
        if not self.next:
            return "line %d of %s is after the last line with code (%d)" % (
                line, name, self.last)
        return "line %d of %s has no code (blank or a comment?): the next " \
            "line with code is %d" % (line, name, self.next)


def _unknown_name(names: List[str], code: codes.Code,
                  loaded: Iterable[codes.Code]) -> Optional[str]:
    """Returns a name that is no variable of the code, no global of its module,
    no builtin, and is not used by any code of the file, which might define it
    later. None: there is no such name, or no module has the code's file."""
    scopes = [vars(module) for module in list(sys.modules.values())
              if type(getattr(module, "__dict__", None)) is dict
              and module.__dict__.get("__file__") == code.co_filename]
    if not scopes:
        return None
    known = set(code.co_varnames + code.co_cellvars + code.co_freevars)
    scopes.append(vars(builtins))
    left = [name for name in names if name not in known
            and not any(name in scope for scope in scopes)]
    if left:
        for other in codes.of_filenames(loaded, {code.co_filename}):
            known.update(other.co_names)
    return next((name for name in left if name not in known), None)


class Breakpoint:
    def __init__(self, owner: str, spec: Spec) -> None:
        self.owner = owner
        self.spec = spec
        self.bound = Bound(spec)
        self.places: Dict[Signature, int] = {}
        self.codes: Dict[int, codes.Code] = {}
        self.is_spent = False
        self.is_broken = False
        # refused for an unknown name; checked again when the client sets it
        # again
        self.is_misnamed = False
        self._ignore_left = spec.ignore
        self._condition: Optional[Condition] = None
        self._log: Optional[LogText] = None
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
            raise EngineError("a breakpoint needs either a path and a line, "
                              "or a function")
        if spec.condition:
            self._condition = Condition(spec.condition)
        if spec.log is not None:
            self._log = LogText(spec.log)

    def is_wanted(self) -> bool:
        return not (self.is_spent or self.is_broken or self.spec.disabled)

    def add(self, code: codes.Code, lines: List[int]) -> bool:
        """Adds a location in code. Returns False if the breakpoint is not in
        this code, or was added before."""
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
        """Marks the breakpoint as verified, with its location."""
        bound = self.bound
        bound.verified, bound.pending, bound.refused = True, False, False
        bound.path, bound.line = next(
            (sign[0], line) for sign, line in self.places.items())
        bound.message = None
        others = [sign[0] for sign in self.places if sign[0] != bound.path]
        if others:
            bound.message = "several files match the name: the " \
                "breakpoint is set in %s and in %s" % (bound.path, others[0])

    def miss(self, found: List[codes.Code], lines_of: Any) -> None:
        """Marks the breakpoint as pending or refused, with the reason."""
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

    def judge(self, loaded: Iterable[codes.Code]) -> None:
        """Refuses a condition that uses a name that is not defined at any
        location of the breakpoint: the condition would fail at each hit."""
        if self._condition is None or not self.codes:
            return
        name = None
        for code in self.codes.values():
            name = _unknown_name(self._condition.names(), code, loaded)
            if name is None:
                return
        self.is_broken = self.is_misnamed = True
        self.codes, self.places = {}, {}
        bound = self.bound
        bound.verified, bound.pending, bound.refused = False, False, True
        bound.message = "condition failed: name '%s' is not defined" % name

    def reach(self, frame: FrameType, lock: Any) -> Tuple[bool, List[str]]:
        """Called when a frame reaches the breakpoint. Returns whether the
        thread stops, and the messages to log. The lock protects only the
        counts: a condition may wait for another thread that reaches the
        breakpoint, too."""
        said: List[str] = []
        if self._condition is not None:
            try:
                if not self._condition.value(frame):
                    return False, said
            except BaseException as error:
                if is_for_program(error):
                    raise
                self.bound.message = self._condition.fail(
                    describe(error), said) or self.bound.message
                return False, said
        with lock:
            if not self._counts():
                return False, said
            if self._log is None:
                return True, said
            speaks = self._may_speak(said)
        if speaks:
            said.append(self._log.say(frame))
        return False, said

    def _counts(self) -> bool:
        """Counts a hit. Returns False if it is ignored."""
        if self.is_spent:
            return False
        if self._ignore_left > 0:
            self._ignore_left -= 1
            return False
        self.bound.hits += 1
        self.is_spent = self.spec.temporary
        return True

    def _may_speak(self, said: List[str]) -> bool:
        said += self.left_out()
        if self._said >= SAID_MAXIMUM:
            self._left_out += 1
            return False
        self._said += 1
        return True

    def left_out(self, all: bool = False) -> List[str]:
        """Returns a message on how many log messages were dropped in the last
        second, if that second is over or `all` is set."""
        now = time.monotonic()
        if now - self._second < 1 and not all:
            return []
        count, self._left_out = self._left_out, 0
        self._second, self._said = now, 0
        return ["%d more messages left out (a log point prints at most %d a "
                "second)"
                % (count, SAID_MAXIMUM)] if count else []
