"""What clients request of the engine, and the resulting state of each request.
"""
from __future__ import annotations

from typing import Any, List, Optional

# Value of Stop.value if the stop has none.
NOTHING: Any = type("NOTHING", (), {"__repr__": lambda self: "NOTHING"})()


class EngineError(Exception):
    """A sentence that says what cannot be done, and why."""


class StopIsOver(EngineError):
    """The thread has resumed meanwhile."""


class Spec:
    """A requested breakpoint: by path and line, or by function."""

    def __init__(self, id: int, path: Optional[str] = None, line: int = 0,
                 function: Optional[str] = None,
                 condition: Optional[str] = None, log: Optional[str] = None,
                 ignore: int = 0, temporary: bool = False,
                 disabled: bool = False) -> None:
        self.id = id
        self.path = path  # "train.py", "a/train.py" or absolute
        self.line = line
        self.function = function  # "train", "Net.forward", "module.f"
        self.condition = condition
        self.log = log  # message with {expression}; not a stop
        self.ignore = ignore  # number of hits that do not stop
        self.temporary = temporary  # removed after its first stop
        self.disabled = disabled

    def key(self) -> Any:
        """Breakpoints with equal keys are the same, and share hit counts."""
        return tuple(vars(self).values())

    def __repr__(self) -> str:
        return "Spec(%s)" % ", ".join(
            "%s=%r" % item for item in vars(self).items()
            if item[1] not in (None, 0))


class Bound:
    """The state of a Spec: set (verified), waiting for its code to be loaded
    (pending), or impossible (refused)."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.id = spec.id
        self.verified = False
        self.pending = False
        self.refused = False
        self.path: Optional[str] = None  # actual path in the code object
        self.line = 0
        self.hits = 0  # number of stops and log messages
        self.message: Optional[str] = None  # why it is not set, or a remark

    def __repr__(self) -> str:
        return "Bound(%s)" % ", ".join("%s=%r" % item
                                       for item in vars(self).items())


class ExceptionFilter:
    """Which exceptions stop, where they are raised. `types` are class names
    such as "ValueError" or "package.module.Error"; subclasses match, too.
    Empty: all."""

    def __init__(self, raised: bool = False, uncaught: bool = False,
                 types: Optional[List[str]] = None) -> None:
        self.raised = raised
        self.uncaught = uncaught
        self.types = list(types or [])
