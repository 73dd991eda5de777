"""Exceptions raised in other threads (PyThreadState_SetAsyncExc), and their
side effect in Python 3.11.

In 3.11 a pending asynchronous exception (its thread waits in C) sets a flag
that all threads check. A traced thread that calls a function then does nothing
but check the flag, until it is cleared. The flag is cleared when any thread
receives an asynchronous exception.
"""
from __future__ import annotations

import _thread
import sys
import time

# in milliseconds; normally the exception is raised in the first one
AWAIT_TURNS = 1000
IS_MARKED = (3, 11) <= sys.version_info < (3, 12)


class _Unmark(BaseException):
    """Raised in the thread that requests it, and caught there."""


def raise_in(ident: int, kind: type) -> None:
    try:
        import ctypes
    except ImportError:
        return
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(ident), ctypes.py_object(kind))


def await_own(kind: type) -> None:
    """Raises an exception of class `kind` asynchronously in this thread and
    catches it."""
    try:
        raise_in(_thread.get_ident(), kind)
        for _ in range(AWAIT_TURNS):
            time.sleep(0.001)
    except BaseException as error:
        if type(error) is not kind:
            raise


def unmark() -> None:
    """Called in an agent thread: clears the flag. The pending exception is
    still raised, as soon as its thread runs and another thread requests the
    GIL."""
    if IS_MARKED and "ctypes" in sys.modules:
        await_own(_Unmark)
