"""Exceptions that are raised in other threads, and what they do to 3.11.

There one that is still awaited (its thread waits in C) is a mark that all
threads see. One that is traced and calls a function then does nothing but
look for it, until the mark is gone; and the mark goes with any exception of
that kind that comes to its thread.
"""
from __future__ import annotations

import _thread
import sys
import time

AWAIT_TURNS = 1000  # it comes within the first
IS_MARKED = (3, 11) <= sys.version_info < (3, 12)


class _Unmark(BaseException):
    """Comes to the thread that raises it, at once."""


def raise_in(ident: int, kind: type) -> None:
    try:
        import ctypes
    except ImportError:
        return
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(ident), ctypes.py_object(kind))


def await_own(kind: type) -> None:
    """That exception comes to this thread, and is gone then."""
    try:
        raise_in(_thread.get_ident(), kind)
        for _ in range(AWAIT_TURNS):
            time.sleep(0.001)
    except BaseException as error:
        if type(error) is not kind:
            raise


def unmark() -> None:
    """In a thread of ours. What is awaited comes nevertheless, as soon as its
    thread runs and another one wants to."""
    if IS_MARKED and "ctypes" in sys.modules:
        await_own(_Unmark)
