"""Functions that are called when the program forks, and when it exits.

Python cannot unregister functions of os.register_at_fork(), nor, before 3.14,
free the slot of a function in atexit. So four functions are registered that
only call what is in the list `called`; they stay registered when the agent is
removed, and the next agent in this process uses them again.
"""
from __future__ import annotations

import _thread
import atexit
import os
from typing import Any, Dict, List, Optional

# the attribute of the module atexit that keeps the functions
_KEPT = "__probetui__"
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
# Hooks that were called before a fork in progress; keys are thread idents.
# add() and clear() do not change these lists: the hook that took a lock before
# the fork also releases it afterwards.
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
    """Returns the list of functions that Python's hooks call, in the order of
    _CALLS; an empty list: they do nothing."""
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
    """Registers functions for os.fork(), unless they are registered already.
    """
    hooks = (before, in_parent, in_child)
    if hooks not in _hooks:
        _hooks.append(hooks)
    _register()


def at_end(function: Optional[Any]) -> None:
    """Sets the function that is called at the end of the process; None: none.
    """
    global _end
    _end = function
    _register()


def clear() -> None:
    """Unregisters all functions. A fork in progress still calls the hooks that
    it began with."""
    global _end
    _end = None
    del _hooks[:]


def leave() -> None:
    """Makes Python's hooks do nothing: no function of this module is called
    after this."""
    del _called()[:]
