"""What is wanted of the engine, and what it says became of it."""
from __future__ import annotations

from typing import Any, List, Optional

# In Stop.value: the stop has none.
NOTHING: Any = type("NOTHING", (), {"__repr__": lambda self: "NOTHING"})()


class EngineError(Exception):
    """A sentence: what cannot be done, and why."""


class StopIsOver(EngineError):
    """The thread has gone on meanwhile."""


class Spec:
    """A breakpoint as somebody wants it: by path and line, or by function."""

    def __init__(self, id: int, path: Optional[str] = None, line: int = 0,
                 function: Optional[str] = None,
                 condition: Optional[str] = None, log: Optional[str] = None,
                 ignore: int = 0, temporary: bool = False,
                 disabled: bool = False) -> None:
        self.id = id
        self.path = path            # "train.py", "a/train.py" or absolute
        self.line = line
        self.function = function    # "train", "Net.forward", "module.f"
        self.condition = condition
        self.log = log              # said instead of a stop; {expression}
        self.ignore = ignore        # so many hits do not stop
        self.temporary = temporary  # goes with its first stop
        self.disabled = disabled

    def key(self) -> Any:
        """Those that are equal are the same breakpoint, with its counts."""
        return tuple(vars(self).values())

    def __repr__(self) -> str:
        return "Spec(%s)" % ", ".join(
            "%s=%r" % item for item in vars(self).items()
            if item[1] not in (None, 0))


class Bound:
    """What became of a Spec: it is set (verified), it waits for its code to
    be loaded (pending), or it can never be set as it is (refused)."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.id = spec.id
        self.verified = False
        self.pending = False
        self.refused = False
        self.path: Optional[str] = None     # where it really is
        self.line = 0
        self.hits = 0                       # stops, and what was said
        self.message: Optional[str] = None  # why it is not set, or a remark

    def __repr__(self) -> str:
        return "Bound(%s)" % ", ".join("%s=%r" % item
                                       for item in vars(self).items())


class ExceptionFilter:
    """Which exceptions stop: where they are raised; `types` are names as
    "ValueError" or "package.module.Error", a base class's name means all of
    its; empty: all."""

    def __init__(self, raised: bool = False, uncaught: bool = False,
                 types: Optional[List[str]] = None) -> None:
        self.raised = raised
        self.uncaught = uncaught
        self.types = list(types or [])
