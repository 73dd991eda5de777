"""Data breakpoints: report when a variable refers to another value, or a
tensor's memory is written.

A variable belongs to a frame. It is compared before each line of the frame's
code and at the frame's end: a difference was caused by the line before, or by
a function that this line called. A data breakpoint ends with its frame.
"""
from __future__ import annotations

import dis
import functools
import threading
from types import FrameType
from typing import Any, Callable, Dict, List, Optional

from ..settings import describe as describe_error
from ..values import Kinds, class_name, describe
from .engine import Engine
from .expressions import Condition
from .paths import MISSING, Path, read
from .reaching import Reached
from .specs import EngineError
from .stop import is_for_program

REASON = "data breakpoint"
_GENERATOR = 0x20 | 0x80 | 0x200
_SIMPLE = Kinds((int, float, complex, bool, str, bytes, type(None)))
_TENSORS = ("torch.Tensor", "torch.nn.parameter.Parameter")


def stamp(value: Any) -> Any:
    """Returns what shows that a tensor was changed in place: its version
    counter and its memory address. None: value is no tensor."""
    if class_name(type(value)) not in _TENSORS:
        return None
    found = []
    for name in ("_version", "data_ptr"):
        try:
            got = getattr(value, name)
            found.append(got() if name == "data_ptr" else got)
        except Exception:
            # Inference tensors have no version counter; fake tensors have no
            # memory.
            found.append(None)
    return tuple(found)


def _words(value: Any) -> str:
    return "not set" if value is MISSING else describe(value)


def _is_same(old: Any, new: Any) -> bool:
    if old is new:
        return True
    kind = type(old)
    return kind is type(new) and kind in _SIMPLE and (
        old == new or kind is float and old != old and new != new)


class Change:
    """A data breakpoint."""

    def __init__(self, id: int, path: Path, frame: FrameType,
                 condition: Optional[str] = None, ignore: int = 0) -> None:
        self.id = id
        self.path = path
        self.frame: Optional[FrameType] = frame
        self.ignore = ignore
        self.hits = 0
        self.message: Optional[str] = None
        self._condition = None if not condition else \
            Condition(condition)
        self._value = read(path, frame)
        self._stamp = stamp(self._value)

    def look(self, frame: FrameType) -> Optional[str]:
        """Compares with the last value. Returns a sentence on the difference,
        or None."""
        old, before = self._value, self._stamp
        try:
            new = read(self.path, frame)
        except EngineError as error:
            # The variable now refers to an object that computes the attribute.
            self.message = str(error)
            return None
        now = stamp(new)
        self._value, self._stamp = new, now
        if old is new and before == now or _is_same(old, new) and now is None:
            return None
        if old is not new:
            return "%s: %s -> %s" % (self.path.text, _words(old),
                                     _words(new))
        if before[1] != now[1]:
            return "%s: %s has new memory" % (self.path.text, describe(new))
        return "%s: %s was modified in place (version %s, before: %s)" % (
            self.path.text, describe(new), now[0], before[0])

    def stops(self, frame: FrameType, said: List[str]) -> bool:
        """Returns whether the thread stops for a change. A condition that
        raises an exception is reported once in `said` and does not stop."""
        if self._condition is not None:
            try:
                if not self._condition.value(frame):
                    return False
            except Exception as error:
                if is_for_program(error):
                    raise
                self.message = self._condition.fail(
                    describe_error(error), said) or self.message
                return False
        self.hits += 1
        return self.hits > self.ignore

    def end(self) -> None:
        self.frame = None
        self._value = MISSING


def _ends(frame: FrameType, event: str) -> bool:
    """True if the event ends the frame; False if a generator or coroutine is
    only suspended."""
    if event == "unwind" or not frame.f_code.co_flags & _GENERATOR:
        return True
    at = frame.f_lasti
    name = dis.opname[frame.f_code.co_code[at]] if at >= 0 else ""
    return name.startswith("RETURN") and name != "RETURN_GENERATOR"


class Changes:
    """The data breakpoints of all owners. `gone` is called for each one whose
    frame has ended."""

    def __init__(self, engine: Engine,
                 gone: Callable[[str, Change, str], None]) -> None:
        self._engine = engine
        self._gone = gone
        self._lock = threading.RLock()
        self._owners: Dict[str, List[Change]] = {}
        # (code, watcher) by id() of the code
        self._watchers: Dict[int, Any] = {}
        # by id() of the frame; replaced, never modified
        self._frames: Dict[int, List[Change]] = {}

    def set(self, owner: str, changes: List[Change]) -> None:
        """Replaces all data breakpoints of that owner."""
        with self._lock:
            for change in self._owners.pop(owner, []):
                if change not in changes:
                    change.end()
            if changes:
                self._owners[owner] = changes
            self._settle()

    def all(self) -> List[Change]:
        with self._lock:
            return [change for own in self._owners.values()
                    for change in own]

    def _settle(self) -> None:
        """Watches exactly the code objects of the current data breakpoints."""
        frames: Dict[int, List[Change]] = {}
        for change in self.all():
            if change.frame is not None:
                frames.setdefault(id(change.frame), []).append(change)
        self._frames = frames
        wanted = {id(change.frame.f_code): change.frame.f_code
                  for change in self.all() if change.frame is not None}
        for key in [key for key in self._watchers if key not in wanted]:
            code, watcher = self._watchers.pop(key)
            self._engine.unwatch_code(code, watcher)
        for key, code in wanted.items():
            if key not in self._watchers:
                watcher = functools.partial(_look, self)
                self._watchers[key] = (code, watcher)
                self._engine.watch_code(code, watcher)

    def of(self, frame: FrameType) -> List[Change]:
        # A Change refers to its frame, so no other frame can have the same
        # id().
        return self._frames.get(id(frame), [])

    def drop(self, frame: FrameType, name: str) -> None:
        why = "%s has ended: its variables are out of scope" % name
        with self._lock:
            ended = [(owner, change) for owner, own in self._owners.items()
                     for change in own if change.frame is frame]
            for _owner, change in ended:
                change.end()
                change.message = why
            self._settle()
        for owner, change in ended:
            self._gone(owner, change, why)

    def tell(self, change: Change, frame: FrameType, text: str) -> None:
        with self._lock:
            owners = [owner for owner, own in self._owners.items()
                      if change in own]
        for owner in owners:
            self._engine.tell_output(change, owner, frame, text)

    def close(self) -> None:
        with self._lock:
            for owner in list(self._owners):
                self.set(owner, [])


def _look(changes: Changes, frame: FrameType, event: str
          ) -> Optional[Reached]:
    """The engine calls this in the thread that executes the frame."""
    there = changes.of(frame)
    if not there:
        return None
    ids: List[int] = []
    words: List[str] = []
    for change in there:
        said = change.look(frame)
        told: List[str] = []
        if said is not None and change.stops(frame, told):
            ids.append(change.id)
            words.append(said)
        for text in told:
            changes.tell(change, frame, text)
    if event != "line" and _ends(frame, event):
        changes.drop(frame, frame.f_code.co_name)
    return Reached(REASON, ids, ", ".join(words)) if ids else None
