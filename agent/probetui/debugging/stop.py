"""A stopped thread, and the requests to it."""
from __future__ import annotations

import _signal  # signal.getsignal() makes an enum in each call
import _thread
import queue
import time
from types import FrameType
from typing import Any, Callable, List, Optional, Set, Tuple

from .specs import NOTHING, EngineError, StopIsOver

# The commands of Stop.go().
COMMANDS = ("continue", "next", "stepIn", "stepOut", "until")
LOOK_SECONDS = 1.0
Frames = List[Tuple[FrameType, int]]


def is_for_program(error: BaseException) -> bool:
    """True if the error was not caused by the evaluated code: a signal arrived
    meanwhile."""
    return isinstance(error, KeyboardInterrupt) or is_of_handler(error)


def is_of_handler(error: BaseException) -> bool:
    """True if a Python signal handler raised the error."""
    codes = set()
    for number in range(1, _signal.NSIG):
        try:
            handler: Any = _signal.getsignal(number)
        except ValueError:
            continue
        handler = getattr(handler, "func", handler)  # functools.partial
        if not hasattr(handler, "__code__"):
            handler = getattr(handler, "__func__", getattr(
                type(handler), "__call__", None))
        codes.add(getattr(handler, "__code__", None))
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in codes:
            return True
        trace = trace.tb_next
    return False


class Order:
    """How a thread resumes."""

    def __init__(self, command: str = "continue",
                 frame: Optional[FrameType] = None,
                 line: Optional[int] = None, turn: int = 0) -> None:
        self.command = command
        self.turn = turn  # the engine's turn when the order was given
        self.frame = frame
        self.line = line


class _Job:
    """A function that a stopped thread must call."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.result: Any = None
        self.error: Optional[BaseException] = None
        self.done = _thread.allocate_lock()
        self.done.acquire()

    def run(self) -> None:
        try:
            self.result = self.function()
        except BaseException as error:
            self.error = error
        self.done.release()

    def fail(self) -> None:
        self.error = StopIsOver("the thread has resumed")
        self.done.release()


class Stop:
    """A stop of one thread. The engine makes it; the thread waits with the GIL
    released.

    reason: as in DAP: "breakpoint" "step" "pause" "exception" "data
    breakpoint" "entry". at: the pdb event "line", "call", "return" or
    "exception"; None: none of these. hits: the ids of the breakpoints. frames:
    innermost first, each with its line, like pdb's `where`. no_steps: why the
    thread can only resume with "continue"; None: it can step.
    """

    def __init__(self, thread_id: int, ident: int, number: int, reason: str,
                 frames: Frames, at: Optional[str] = None,
                 description: str = "", hits: Optional[List[int]] = None,
                 value: Any = NOTHING,
                 exception: Optional[BaseException] = None,
                 lease: Optional[float] = None,
                 no_steps: Optional[str] = None) -> None:
        self.thread_id = thread_id
        self.ident = ident
        self.number = number
        self.reason = reason
        self.at = at
        self.description = description
        self.hits = hits or []
        self.cleared: Set[int] = set()  # those of hits that were deleted since
        self.value = value
        self.exception = exception
        self.since = time.monotonic()
        self.frames = frames
        self.lease_until = None if lease is None else \
            time.monotonic() + lease
        self.no_steps = no_steps
        self.turn: List[int] = [0]
        self.is_over = False  # an order to resume was given
        self.has_left = False  # the thread has left the stop
        self._orders: Any = queue.SimpleQueue()
        self._seat = _thread.allocate_lock()

    def call(self, function: Callable[[], Any], timeout: float = 30.0) -> Any:
        """Calls function in the stopped thread. Returns its result, raises its
        exception. Raises StopIsOver if the thread has resumed; TimeoutError if
        function takes longer than `timeout` seconds: it keeps running, and the
        thread handles the next request when it has ended."""
        if _thread.get_ident() == self.ident:
            return function()
        job = _Job(function)
        self._put(job)
        if not job.done.acquire(True, timeout):
            raise TimeoutError("the code did not end within %g s, and is "
                               "still running" % timeout)
        if job.error is not None:
            raise job.error
        return job.result

    def go(self, command: str = "continue", frame: Optional[FrameType] = None,
           line: Optional[int] = None) -> None:
        """Resumes the thread with one of COMMANDS. `frame` (for next, stepOut,
        until): an outer frame of this stop, as in pdb after `up`; `line`: for
        until. Raises StopIsOver, or EngineError if the thread cannot step."""
        if command not in COMMANDS:
            raise EngineError("unknown command %s (known: %s)" % (
                ascii(command), ", ".join(COMMANDS)))
        if command != "continue":
            if self.no_steps:
                raise EngineError(self.no_steps)
            if not self.frames:
                raise EngineError("the thread has no known frame")
            frames = [each for each, _line in self.frames]
            if frame is not None and frame not in frames:
                raise EngineError("the frame does not belong to the stopped "
                                  "thread")
        self._put(Order(command, frame, line, self.turn[0]))

    def _put(self, order: Any) -> None:
        with self._seat:
            if self.is_over:
                raise StopIsOver("the thread has resumed")
            if isinstance(order, Order):
                self.is_over = True
            self._orders.put(order)

    def forget(self) -> None:
        """In a forked child: resumes this thread, which called fork() in its
        stop."""
        self._seat = _thread.allocate_lock()
        self._orders = queue.SimpleQueue()
        self.is_over = True
        self._orders.put(Order())

    def wait(self) -> Order:
        """Called by the engine in the stopped thread. Returns when it is
        resumed."""
        try:
            while True:
                order = self._next()
                if isinstance(order, Order):
                    return order
                order.run()
                del order
        finally:
            self._end()

    def _next(self) -> Any:
        # Return at least every LOOK_SECONDS: a signal that arrives just before
        # get() is not handled while get() blocks, and a changed lease must be
        # noticed.
        left = LOOK_SECONDS if self.lease_until is None else min(
            LOOK_SECONDS, self.lease_until - time.monotonic())
        try:
            return self._orders.get(timeout=max(0.0, left))
        except queue.Empty:
            if self.lease_until is not None and \
                    self.lease_until <= time.monotonic():
                return Order()
            return _Job(lambda: None)

    def _end(self) -> None:
        with self._seat:
            self.is_over = True
        while not self._orders.empty():
            order = self._orders.get()
            if isinstance(order, _Job):
                order.fail()
