"""Finds the value of a request's expression, in a frame of a stopped or a
running thread. Same rules as backends/tensor/expression-lookup.c."""
from __future__ import annotations

import ast
import builtins
import threading
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from .. import inspection
from ..evaluation import NOTHING
from . import frames, lookup, places
from .call import Call
from .evaluating import check, look, parse, read_timeout, run
from .messages import Failure

# Bounds the search in the stack of a deep recursion.
SEARCHED_MAXIMUM = 256
_LIBRARIES = ("/site-packages/", "/dist-packages/", "/lib/python3")
_CHANGED = "the stack has changed: take a new sample"


class Spot(NamedTuple):
    """A frame. `told` is its description for the response. A frame of a
    running thread is not referred to, because that would keep its variables
    alive."""

    place: places.Place
    told: Dict[str, Any]


def _names(frame: Any) -> List[Dict[str, Any]]:
    return [inspection.names_of(frame), frame.f_globals]


def _own_tid() -> int:
    main = threading.main_thread()
    return getattr(main, "native_id", None) or main.ident or 0


def _names_in(text: str) -> List[str]:
    """Returns the names that the expression reads, except names that it
    defines itself (in comprehensions, lambdas); [] if it is not valid."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    made = {part.id for part in ast.walk(tree) if isinstance(part, ast.Name)
            and not isinstance(part.ctx, ast.Load)}
    made |= {part.arg for part in ast.walk(tree)
             if isinstance(part, ast.arg)}
    return [part.id for part in ast.walk(tree) if isinstance(part, ast.Name)
            and part.id not in made]


def _is_library(path: str) -> bool:
    return path.startswith("<") or any(part in path for part in _LIBRARIES)


def _rate(names: List[str], frame: Any) -> int:
    """Rates a frame for an expression: 3 all names are locals or builtins, 2
    or 1 some are globals (1 in a library), 0 a name is missing."""
    own = inspection.names_of(frame)
    best = 3
    for name in names:
        if name in own:
            continue
        if name in frame.f_globals:
            best = 1 if _is_library(frame.f_code.co_filename) else 2
        elif not hasattr(builtins, name):
            return 0
    return best


def _stack(call: Call, thread_id: int) -> Tuple[Any, List[Any]]:
    """Returns (the stop or None, [(frame, line)]). Raises Failure if the
    thread runs no Python code."""
    stop = call.debugger.stop_of(thread_id)
    if stop is not None:
        return stop, list(stop.frames)
    found = inspection.find(thread_id)
    if found is None:
        raise Failure("thread %d has no Python frames now" % thread_id)
    return None, [(frame, frame.f_lineno)
                  for frame in places.frames_of(found)]


def _search(names: List[str], stack: List[Any], first: int) -> int:
    best, highest = first, 0
    for depth in range(first, min(len(stack), first + SEARCHED_MAXIMUM)):
        rating = _rate(names, stack[depth][0])
        if rating > highest:
            best, highest = depth, rating
        if highest == 3:
            break
    return best


def _is_named(code: Any, name: str) -> bool:
    return name in (code.co_name, getattr(code, "co_qualname", code.co_name))


def _told(frame: Any, line: Any, depth: int) -> Dict[str, Any]:
    code = frame.f_code
    return {"func": getattr(code, "co_qualname", code.co_name),
            "file": code.co_filename, "lineno": line or 0, "depth": depth}


def _spot(stop: Any, stack: List[Any], at: int, thread_id: int, above: int
          ) -> Spot:
    frame, line = stack[at]
    place = places.Place(stop, thread_id, len(stack) - 1 - at, frame.f_code,
                         frame if stop is not None else None)
    return Spot(place, _told(frame, line, at - above))


def _by_frame(call: Call) -> Tuple[Spot, Any]:
    place = places.find(call, call.arguments.integer("frameId"))
    frame = places.frame_of(place)
    stack = _stack(call, place.thread_id)[1]
    return Spot(place, _told(frame, frame.f_lineno, max(
        0, len(stack) - 1 - place.above))), frame


def _count_above(call: Call, depth: int, stack: List[Any]) -> int:
    """Returns the number of new frames above those that the client's stack
    has. Raises Failure if the stack has changed otherwise."""
    count = call.arguments.integer("frames", -1, -1)
    if count < 0:
        return 0
    if depth >= count or len(stack) < count - max(depth, 0):
        raise Failure(_CHANGED)
    return len(stack) - count


def _find_spot(call: Call, text: str) -> Tuple[Optional[Spot], Any]:
    """Returns the Spot and its frame; (None, None) if the main thread has no
    Python frame: names of __main__ are used then."""
    arguments = call.arguments
    if arguments.has("frameId"):
        return _by_frame(call)
    thread_id = arguments.integer("threadId", 0) or \
        arguments.integer("tid", 0)
    if not thread_id:
        thread_id = _own_tid()
        if call.debugger.stop_of(thread_id) is None and \
                inspection.find(thread_id) is None:
            return None, None
    depth = arguments.integer("depth", -1, -1)
    function = arguments.text("function", None)
    stop, stack = _stack(call, thread_id)
    above = _count_above(call, depth, stack)
    first = max(depth, 0) + above
    if not 0 <= first < len(stack) or function and depth >= 0 and \
            not _is_named(stack[first][0].f_code, function):
        raise Failure(_CHANGED)
    if depth < 0 or arguments.flag("search"):
        first = _search(_names_in(text), stack, first)
    return _spot(stop, stack, first, thread_id, above), stack[first][0]


class Found:
    """The value of a request's expression. Raises Failure if it has none."""

    def __init__(self, call: Call, default_timeout: float) -> None:
        self._call = call
        self.text: str = call.arguments.text("expression")
        self.timeout = read_timeout(call.arguments) \
            if call.arguments.has("timeout") else default_timeout
        self._until = time.monotonic() + self.timeout
        self.spot, frame = _find_spot(call, self.text)
        self.ran = False  # code had to run to find the value
        self.value = self._find(frame)

    def left(self) -> float:
        """Returns the seconds until the timeout."""
        return max(0.001, self._until - time.monotonic())

    def _find(self, frame: Any) -> Any:
        spaces = [places.main_names()] if frame is None else _names(frame)
        try:
            return lookup.find(self.text, spaces)
        except lookup.Unknown:
            pass
        if self._call.debugger.is_read_only:
            raise Failure(
                "%s does not exist, or cannot be read without running code: "
                "the agent is read-only (read_only=True), and reads only "
                "names, attributes and elements that are stored"
                % ascii(self.text)[:200])
        return self._evaluate(spaces)

    def _evaluate(self, spaces: List[Dict[str, Any]]) -> Any:
        self.ran = True
        found: List[Any] = []
        place = None
        if self.spot is not None and self.spot.place.stop is not None:
            place = self.spot.place

        def work() -> Any:
            tree = parse(self.text, False)
            found.append(frames.value(tree, spaces[-1], spaces[0])
                         if place is None else frames.run(tree, place.frame))
            return NOTHING

        check(run(self._call, place, self.text, work))
        return found[0]

    def again(self) -> Any:
        """Looks the value up again. Returns the first value if code had to run
        for it, or if the thread has left the frame."""
        if self.ran:
            return self.value
        try:
            spaces = [places.main_names()] if self.spot is None else _names(
                places.frame_of(self.spot.place))
            self.value = lookup.find(self.text, spaces)
        except (lookup.Unknown, Failure):
            pass
        return self.value

    def is_live(self) -> bool:
        """True if other threads may change the value while it is read."""
        return self.spot is None or self.spot.place.stop is None or \
            not self._call.debugger.holds_all()

    def frame(self) -> Optional[Dict[str, Any]]:
        return None if self.spot is None else self.spot.told

    def thread_id(self) -> Optional[int]:
        return None if self.spot is None else self.spot.place.thread_id

    def work(self, function: Callable[[], Any]) -> Any:
        """Returns function()'s result. Raises Failure when the remaining time
        is over."""
        return beside(self._call, function, self.left(), self.timeout)


def beside(call: Call, function: Callable[[], Any], seconds: float,
           whole: float) -> Any:
    """Returns function()'s result. Runs it in this thread; raises Failure when
    it is cancelled or takes longer than `seconds`. `whole` is the timeout for
    the message."""
    found: List[Any] = []
    failures: List[Failure] = []

    def work() -> Any:
        try:
            found.append(function())
        except Failure as failure:
            failures.append(failure)
        return NOTHING

    told = look(call, work, seconds)
    if failures:
        # pop(): a reference to the failure would keep this frame and its
        # values.
        raise failures.pop()
    if told["error"] is not None and told["error"]["type"].endswith(
            "TimeIsUp"):
        raise Failure("cancelled" if told["error"]["message"]
                      == "the evaluation was cancelled" else
                      "the request took longer than %g s: read a sample, read "
                      "less, or raise the timeout" % whole)
    check(told)
    return found[0]

