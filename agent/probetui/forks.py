"""What happens where the program forks. Python cannot take back what it calls
then: these three stay when the agent leaves, do nothing, and hold nothing."""
from __future__ import annotations

import _thread
import os
from typing import Any, Dict, List, Optional

_hooks: List[tuple] = []
_is_registered = False
# What was called before a fork that is under way, by its thread. What is
# added, or cleared, meanwhile changes nothing of that: who took a lock gives
# it back, and nobody else does.
_begun: Dict[int, List[tuple]] = {}


def _before() -> None:
    begun: List[tuple] = []
    _begun[_thread.get_ident()] = begun
    for hooks in list(_hooks):
        if hooks[0] is not None:
            hooks[0]()
        begun.append(hooks)


def _in_parent() -> None:
    for hooks in reversed(_begun.pop(_thread.get_ident(), [])):
        if hooks[1] is not None:
            hooks[1]()


def _in_child() -> None:
    begun = _begun.pop(_thread.get_ident(), [])
    _begun.clear()
    begun += [hooks for hooks in _hooks if hooks not in begun]
    for hooks in reversed(begun):
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
    """A fork that is under way still ends as it began."""
    del _hooks[:]
