"""What happens where the program forks. Python cannot take back what it calls
then: these three stay when the agent leaves, do nothing, and hold nothing."""
from __future__ import annotations

import os
from typing import Any, List, Optional

_hooks: List[tuple] = []
_is_registered = False


def _before() -> None:
    for hooks in _hooks:
        if hooks[0] is not None:
            hooks[0]()


def _in_parent() -> None:
    for hooks in reversed(_hooks):
        if hooks[1] is not None:
            hooks[1]()


def _in_child() -> None:
    for hooks in _hooks[::-1]:
        if hooks[2] is not None:
            hooks[2]()


def add(before: Optional[Any] = None, in_parent: Optional[Any] = None,
        in_child: Optional[Any] = None) -> None:
    """Functions to be called from now on, if they are not yet."""
    global _is_registered
    hooks = (before, in_parent, in_child)
    if hooks not in _hooks:
        _hooks.append(hooks)
    if not _is_registered:
        _is_registered = True
        os.register_at_fork(before=_before, after_in_parent=_in_parent,
                            after_in_child=_in_child)


def clear() -> None:
    """Not while a fork is under way: the caller sees to that."""
    del _hooks[:]
