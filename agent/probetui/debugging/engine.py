"""The debugger of this process: which threads stand, and why."""
from __future__ import annotations

from types import FrameType
from typing import Any, Callable, Dict, List, Optional, Tuple

from .specs import Bound, ExceptionFilter, Spec
from .stop import Stop

Frames = List[Tuple[FrameType, int]]


class Engine:
    """on_event is called, in any thread, with the name and body of what
    happens; it must not block and must not raise:

    stopped: {"stop": Stop}; continued: {"stop": Stop};
    breakpoint: {"bound": Bound, "owner": str}, when what is known of it
    changed by itself; removed: the same, a temporary one that has stopped;
    output: {"text", "bound", "owner", "path", "line", "thread_id"}, of a log
    message.
    """

    def __init__(self) -> None:
        self.on_event: Callable[[str, Dict[str, Any]], None] = \
            lambda name, body: None

    def stops(self) -> List[Stop]:
        """The threads that stand, the first first."""
        raise NotImplementedError

    def stop_of(self, thread_id: int) -> Optional[Stop]:
        raise NotImplementedError

    def set_breakpoints(self, owner: str,
                        breakpoints: List[Spec]) -> List[Bound]:
        """These are all of that owner (a session's id) from now on; those
        that are as before keep their counts."""
        raise NotImplementedError

    def breakpoints(self) -> Dict[str, List[Bound]]:
        """Of each owner."""
        raise NotImplementedError

    def set_exceptions(self, owner: str,
                       filters: Optional[ExceptionFilter]) -> None:
        """Of that owner; None: none stop. `uncaught` is for park()'s
        callers: the engine stops at what is raised alone."""
        raise NotImplementedError

    def pause(self, thread_id: Optional[int] = None) -> None:
        """The thread stops at its next line; None: all. EngineError: there
        is none, or it cannot be stopped."""
        raise NotImplementedError

    def set_threads(self, mode: str) -> None:
        """What the others do while one stands: "one", they run on, or
        "all", they are held."""
        raise NotImplementedError

    def park(self, reason: str, frames: Frames,
             exception: Optional[BaseException] = None,
             lease: Optional[float] = None, description: str = "") -> None:
        """The calling thread stands here, with the GIL free, until it is let
        go or the lease (seconds) is over."""
        raise NotImplementedError

    def ignore_thread(self, ident: Optional[int] = None) -> None:
        """A thread of ours (None: this one) that never stops."""
        raise NotImplementedError

    def leave(self, owner: str) -> None:
        """What it wanted is no more."""
        raise NotImplementedError

    def close(self) -> None:
        """All go on, and nothing of ours remains in the program."""
        raise NotImplementedError
