"""Removes the agent from a program that keeps running.

Modules that an injection loaded are removed from sys.modules; modules that the
program imported itself stay. Modules of the standard library stay loaded.
"""
from __future__ import annotations

import _thread
import gc
import sys
import threading
import time
from types import FrameType
from typing import Any, List, Optional

from . import evaluation, forks, inspection, server, snapshots

STANDING = evaluation.PACKAGE + "debugging"
SECONDS = 3.0
LOOK_SECONDS = 0.02


def _others() -> List[threading.Thread]:
    me = threading.current_thread()
    return [thread for thread in inspection.own_threads()
            if thread is not me]


def _stands(frame: Optional[FrameType]) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith(STANDING):
            return True
        frame = frame.f_back
    return False


def _standing() -> int:
    """Returns the number of program threads that are still in a debugger stop.
    """
    own = {thread.ident for thread in inspection.own_threads()}
    return sum(_stands(frame) for ident, frame in
               sys._current_frames().items() if ident not in own)


def end(closed: server.Server) -> List[str]:
    """Waits up to SECONDS until the agent's threads have ended and the stopped
    threads have resumed; interrupts evaluations. Returns one sentence for each
    part that remains."""
    until = time.monotonic() + SECONDS
    while (_others() or _standing() or closed.evaluator.lends_streams()) and \
            time.monotonic() < until:
        closed.evaluator.hurry()
        for thread in _others()[:1]:
            thread.join(LOOK_SECONDS)
        time.sleep(0.001)
    snapshots.let_all_go()
    left, standing = _others(), _standing()
    closed.evaluator.leave()
    closed.clear()
    told = []
    if left:
        told.append("%d of the agent's threads, which end when code that they "
                    "evaluate returns from C" % len(left))
    if standing:
        told.append("%d stopped threads of the program, which had not resumed "
                    "after %g s" % (standing, SECONDS))
    return told


# Many objects of an injected package are garbage in reference cycles, some of
# them only after the thread that ejects has ended. This code uses nothing of
# the package.
_COLLECT = """
def collect():
    # join() would make a threading.Thread of this one.
    while thread.is_alive():
        sleep(0.001)
    if gc.isenabled():
        gc.collect()
    trim(0)
"""


def _trim() -> Any:
    """Returns malloc_trim(3) of glibc, which returns free memory of all
    arenas: each new thread may have allocated in another arena. Returns int,
    which does nothing, where libc has no malloc_trim (musl)."""
    try:
        import ctypes

        return ctypes.CDLL(None).malloc_trim
    except (ImportError, OSError, AttributeError):
        return int


def _collect_later() -> None:
    me = threading.current_thread()
    if me in inspection.own_threads():
        names = {"thread": me, "sleep": time.sleep, "gc": gc,
                 "trim": _trim()}
        exec(_COLLECT, names)
        _thread.start_new_thread(names["collect"], ())


def forget_modules() -> None:
    package = sys.modules.get("probetui")
    if not getattr(package, "is_injected", False):
        return
    forks.leave()
    for name in [name for name in sys.modules
                 if name.split(".")[0] == "probetui"]:
        del sys.modules[name]
    # Clear the caches of typing: they refer to the package's classes.
    for clean in getattr(sys.modules.get("typing"), "_cleanups", ()):
        clean()
    _collect_later()
