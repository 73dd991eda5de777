"""What happens where the program forks, and at its end.

Python cannot take back what it calls then, nor, before 3.14, the place of a
function in atexit. So what it calls are four functions that do nothing and
hold nothing but what is in `called`; they stay when the agent leaves, and the
next agent in this process takes them over.
"""
from __future__ import annotations

import _thread
import atexit
import os
from typing import Any, Dict, List, Optional

_KEPT = "__probetui__"  # in the module atexit
_CALLS = """
def before():
    if called:
        called[0]()
def in_parent():
    if called:
        called[1]()
def in_child():
    if called:
        called[2]()
def at_end():
    if called:
        called[3]()
"""
_hooks: List[tuple] = []
_end: Optional[Any] = None
# What was called before a fork that is under way, by its thread. What is
# added, or cleared, meanwhile changes nothing of that: who took a lock gives
# it back, and no other code does.
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


def _at_end() -> None:
    if _end is not None:
        _end()


def _called() -> List[Any]:
    """What Python calls, in the order of _CALLS; empty: nothing."""
    kept = atexit.__dict__.get(_KEPT)
    if kept is None:
        kept = {"called": []}
        exec(_CALLS, kept)
        os.register_at_fork(before=kept["before"],
                            after_in_parent=kept["in_parent"],
                            after_in_child=kept["in_child"])
        atexit.register(kept["at_end"])
        atexit.__dict__[_KEPT] = kept
    return kept["called"]  # type: ignore[no-any-return]


def _register() -> None:
    called = _called()
    if not called:
        called[:] = [_before, _in_parent, _in_child, _at_end]


def add(before: Optional[Any] = None, in_parent: Optional[Any] = None,
        in_child: Optional[Any] = None) -> None:
    """Functions to be called from now on, if they are not yet."""
    hooks = (before, in_parent, in_child)
    if hooks not in _hooks:
        _hooks.append(hooks)
    _register()


def at_end(function: Optional[Any]) -> None:
    """One to be called at the end of the process; None: none."""
    global _end
    _end = function
    _register()


def clear() -> None:
    """A fork that is under way still ends as it began."""
    global _end
    _end = None
    del _hooks[:]


def leave() -> None:
    """Nothing of this module is called any more."""
    del _called()[:]
