"""Functions that offer what they raise to a post-mortem.

The wrapper is of the function's own kind, and has its name and signature.
The exception is always raised again as it is.
"""
from __future__ import annotations

import functools
import inspect
import sys
import types
from typing import Any

from . import Debugger, settings

# They end a program, a task or a test, and are no error. By name, so that
# nothing need be imported: classes derived from BaseException alone.
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
    """Once for each exception, however many decorated functions it leaves."""
    # Past whatever its class makes of attributes.
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
        # As `yield from`. What is thrown in is handed on outside of `except`:
        # it must not become the context of what is raised then.
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
    """The function, decorated. ValueError: that is no lease, which is told
    here and not where the exception is raised, hours later."""
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
