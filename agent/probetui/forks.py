"""What happens where the program forks. Python cannot take back what it calls
then: these three stay when the agent leaves, do nothing, and hold nothing."""
from __future__ import annotations

import os
from typing import Callable, Optional, Tuple

Hooks = Tuple[Callable[[], None], Callable[[], None], Callable[[], None]]

_hooks: Optional[Hooks] = None
_is_registered = False


def _before() -> None:
    if _hooks is not None:
        _hooks[0]()


def _in_parent() -> None:
    if _hooks is not None:
        _hooks[1]()


def _in_child() -> None:
    if _hooks is not None:
        _hooks[2]()


def register(before: Callable[[], None], in_parent: Callable[[], None],
             in_child: Callable[[], None]) -> None:
    global _hooks, _is_registered
    _hooks = (before, in_parent, in_child)
    if not _is_registered:
        _is_registered = True
        os.register_at_fork(before=_before, after_in_parent=_in_parent,
                            after_in_child=_in_child)


def clear() -> None:
    """Not while a fork is under way: the caller sees to that."""
    global _hooks
    _hooks = None
