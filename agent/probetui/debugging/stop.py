"""A thread that stands, and what can be done there."""
from __future__ import annotations

import _signal  # signal's makes objects of all, every time
import _thread
import queue
import time
from types import FrameType
from typing import Any, Callable, List, Optional, Set, Tuple

from .specs import NOTHING, EngineError, StopIsOver

# What Stop.go() takes.
COMMANDS = ("continue", "next", "stepIn", "stepOut", "until")
LOOK_SECONDS = 1.0
Frames = List[Tuple[FrameType, int]]


def is_for_program(error: BaseException) -> bool:
    """It is not of the code that was evaluated: a signal came meanwhile."""
    return isinstance(error, KeyboardInterrupt) or is_of_handler(error)


def is_of_handler(error: BaseException) -> bool:
    """A handler of a signal raised it, wherever that came."""
    codes = set()
    for number in range(1, _signal.NSIG):
        try:
            handler: Any = _signal.getsignal(number)
        except ValueError:
            continue
        handler = getattr(handler, "func", handler)     # a partial's
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
        self.turn = turn    # the engine's, when it was given
        self.frame = frame
        self.line = line


class _Job:
    """What a thread that stands is to run."""

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
        self.error = StopIsOver("the thread has gone on meanwhile")
        self.done.release()


class Stop:
    """Made and owned by the engine; the thread waits with the GIL free.

    reason: DAP's, "breakpoint" "step" "pause" "exception"
    "data breakpoint" "entry". at: "line", "call", "return" or "exception", as
    pdb's event; None: none of these. hits: the ids of the breakpoints. frames:
    innermost first, each with its line, as pdb's `where` of that stop.
    no_steps: why it can only resume with "continue"; None: it can step.
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
        self.cleared: Set[int] = set()  # those of hits that are set no more
        self.value = value
        self.exception = exception
        self.since = time.monotonic()
        self.frames = frames
        self.lease_until = None if lease is None else \
            time.monotonic() + lease
        self.no_steps = no_steps
        self.turn: List[int] = [0]
        self.is_over = False    # it was resumed
        self.has_left = False   # and did
        self._orders: Any = queue.SimpleQueue()
        self._seat = _thread.allocate_lock()

    def call(self, function: Callable[[], Any], timeout: float = 30.0) -> Any:
        """Runs it in that thread while it stands, and gives what it gives,
        raises what it raises; StopIsOver; TimeoutError: it runs on, and the
        thread serves the next when it has ended."""
        if _thread.get_ident() == self.ident:
            return function()
        job = _Job(function)
        self._put(job)
        if not job.done.acquire(True, timeout):
            raise TimeoutError("it did not end within %g s, and runs on"
                               % timeout)
        if job.error is not None:
            raise job.error
        return job.result

    def go(self, command: str = "continue", frame: Optional[FrameType] = None,
           line: Optional[int] = None) -> None:
        """One of COMMANDS. `frame`: of next, stepOut and until, an outer one
        of this stop, as in pdb after `up`; `line`: of until. StopIsOver;
        EngineError says why it cannot step."""
        if command not in COMMANDS:
            raise EngineError("%s is none of %s" % (
                ascii(command), ", ".join(COMMANDS)))
        if command != "continue":
            if self.no_steps:
                raise EngineError(self.no_steps)
            if not self.frames:
                raise EngineError("no frame of it is known")
            frames = [each for each, _line in self.frames]
            if frame is not None and frame not in frames:
                raise EngineError("that is no frame of this stop")
        self._put(Order(command, frame, line, self.turn[0]))

    def _put(self, order: Any) -> None:
        with self._seat:
            if self.is_over:
                raise StopIsOver("the thread has gone on meanwhile")
            if isinstance(order, Order):
                self.is_over = True
            self._orders.put(order)

    def forget(self) -> None:
        """In the child of a fork, by this thread."""
        self._seat = _thread.allocate_lock()
        self._orders = queue.SimpleQueue()
        self.is_over = True
        self._orders.put(Order())

    def wait(self) -> Order:
        """The engine's, in the thread: until it is resumed."""
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
        # A signal that comes just before is not noticed while it waits, nor
        # is a lease that is given anew.
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
