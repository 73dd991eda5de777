"""The decorator that runs a post-mortem pdb when a function raises.

A wrapper is of the same kind as its function (coroutine, generator ...) and
has the same name and signature. The exception is always raised again,
unchanged.
"""
from __future__ import annotations

import functools
import inspect
import sys
import types
from typing import Any

from . import Debugger, settings

# Exceptions that end a program, a task or a test, and are no errors. Compared
# by name, so that nothing need be imported, and only for classes that do not
# derive from Exception.
_CONTROL = ("KeyboardInterrupt", "SystemExit", "GeneratorExit",
            "CancelledError", "Cancelled", "Exit", "Skipped")
_OFFERED = "_probetui_offered"


def _is_control(error: BaseException) -> bool:
    if isinstance(error, (StopIteration, StopAsyncIteration)):
        return True
    if isinstance(error, Exception):
        bdb = sys.modules.get("bdb")
        return bdb is not None and isinstance(error, bdb.BdbQuit)
    return any(kind.__name__ in _CONTROL for kind in type(error).__mro__)


def _offer(error: BaseException, lease: Any) -> None:
    """Runs a post-mortem pdb, once for each exception, however many decorated
    functions the exception leaves."""
    # Bypass attribute methods of the exception's class.
    known = BaseException.__getattribute__(error, "__dict__")
    if not Debugger.debug_flag or _is_control(error) or _OFFERED in known:
        return
    known[_OFFERED] = True
    from . import process

    process.offer(error, lease)


def _wrap_function(function: Any, lease: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except BaseException as error:
            _offer(error, lease)
            raise

    return wrapper


def _wrap_coroutine(function: Any, lease: Any) -> Any:
    @functools.wraps(function)
    async def wrapper(*args: Any, **keywords: Any) -> Any:
        try:
            return await function(*args, **keywords)
        except BaseException as error:
            _offer(error, lease)
            raise

    return wrapper


def _wrap_generator(function: Any, lease: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **keywords: Any) -> Any:
        try:
            return (yield from function(*args, **keywords))
        except BaseException as error:
            _offer(error, lease)
            raise

    code = getattr(function, "__code__", None)
    if code is not None and code.co_flags & inspect.CO_ITERABLE_COROUTINE:
        return types.coroutine(wrapper)
    return wrapper


def _wrap_async_generator(function: Any, lease: Any) -> Any:
    @functools.wraps(function)
    async def wrapper(*args: Any, **keywords: Any) -> Any:
        generator = function(*args, **keywords)
        # Behaves like `yield from`. A thrown exception is passed on outside of
        # the `except` clause: it must not become the __context__ of a later
        # exception.
        thrown = None
        sent = None
        try:
            while True:
                try:
                    if thrown is not None:
                        value = await generator.athrow(thrown)
                    else:
                        value = await generator.asend(sent)
                except StopAsyncIteration:
                    return
                thrown = sent = None
                try:
                    sent = yield value
                except GeneratorExit:
                    await generator.aclose()
                    raise
                except BaseException as error:
                    thrown = error
        except BaseException as error:
            _offer(error, lease)
            raise

    return wrapper


def wrap(function: Any, lease: Any) -> Any:
    """Returns the decorated function. Raises ValueError for a wrong lease now,
    not hours later when the function raises."""
    try:
        lease = None if lease is None else settings.seconds(lease)
    except settings.SettingError as error:
        raise ValueError(str(error)) from None
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(wrap(function.__func__, lease))
    if isinstance(function, type) or not callable(function):
        raise TypeError("attach_on_error decorates functions and methods, "
                        "not %s" % ascii(function)[:80])
    if inspect.isasyncgenfunction(function):
        return _wrap_async_generator(function, lease)
    if inspect.iscoroutinefunction(function):
        return _wrap_coroutine(function, lease)
    if inspect.isgeneratorfunction(function):
        return _wrap_generator(function, lease)
    return _wrap_function(function, lease)
