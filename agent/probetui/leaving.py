"""The agent leaves, and the program goes on: nothing of it is to be left.

Modules that an injection brought are forgotten; those that the program has
imported itself are its own. The standard library's stay where they are.
"""
from __future__ import annotations

import sys
import threading
import time
from typing import List

from . import inspection, server

SECONDS = 3.0
LOOK_SECONDS = 0.02


def _others() -> List[threading.Thread]:
    me = threading.current_thread()
    return [thread for thread in inspection.own_threads()
            if thread is not me]


def end(closed: server.Server) -> List[str]:
    """Waits until its threads have ended; what they evaluate is
    interrupted. Gives what remains, in words."""
    until = time.monotonic() + SECONDS
    while _others() and time.monotonic() < until:
        closed.evaluator.hurry()
        for thread in _others()[:1]:
            thread.join(LOOK_SECONDS)
    left = _others()
    closed.clear()
    if not left:
        return []
    return ["%d of its threads: what is evaluated there waits in C, and the "
            "thread ends with it" % len(left)]


def forget_modules() -> None:
    package = sys.modules.get("probetui")
    if not getattr(package, "is_injected", False):
        return
    for name in [name for name in sys.modules
                 if name.split(".")[0] == "probetui"]:
        del sys.modules[name]
