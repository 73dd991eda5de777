"""A thread that stands, and what can be done there."""
from __future__ import annotations

from types import FrameType
from typing import Any, Callable, List, Optional, Tuple

from .specs import NOTHING

# What Stop.go() takes.
COMMANDS = ("continue", "next", "stepIn", "stepOut", "until")


class Stop:
    """Made and owned by the engine; the thread waits with the GIL free.

    reason: DAP's, "breakpoint" "step" "pause" "exception"
    "data breakpoint" "entry". at: "line", "call", "return" or "exception", as
    pdb's event; None: none of these. hits: the ids of the breakpoints. frames:
    innermost first, each with its line, as pdb's `where` of that stop.
    """

    def __init__(self, thread_id: int, ident: int, number: int, reason: str,
                 frames: List[Tuple[FrameType, int]],
                 at: Optional[str] = None, description: str = "",
                 hits: Optional[List[int]] = None, value: Any = NOTHING,
                 exception: Optional[BaseException] = None,
                 lease_until: Optional[float] = None) -> None:
        self.thread_id = thread_id
        self.ident = ident
        self.number = number
        self.reason = reason
        self.at = at
        self.description = description
        self.hits = hits or []
        self.value = value
        self.exception = exception
        self.frames = frames
        self.lease_until = lease_until
        self.is_over = False

    def call(self, function: Callable[[], Any], timeout: float = 30.0) -> Any:
        """Runs it in that thread while it stands, and gives what it gives,
        raises what it raises; StopIsOver; TimeoutError: it runs on, and the
        thread serves the next when it has ended."""
        raise NotImplementedError

    def go(self, command: str = "continue", frame: Optional[FrameType] = None,
           line: Optional[int] = None) -> None:
        """One of COMMANDS. `frame`: of next, stepOut and until, an outer one
        of this stop, as in pdb after `up`; `line`: of until. StopIsOver;
        EngineError says why it cannot step."""
        raise NotImplementedError
