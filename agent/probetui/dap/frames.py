"""Runs code in the namespace of a stopped thread's frame, in that thread."""
from __future__ import annotations

import ast
import types
from functools import partial
from typing import Any, Callable, Dict, Optional

from .. import inspection, snapshots
from ..evaluation import NOTHING
from .messages import Failure

NAME = "<eval>"
_OPTIMIZED = 0x1


def _has_code(code: types.CodeType) -> bool:
    """True if code contains a comprehension or lambda, which looks its free
    names up in globals only."""
    return any(isinstance(part, types.CodeType) for part in code.co_consts)


def _as_function(tree: ast.Expression, names: Dict[str, Any]
                 ) -> Optional[types.CodeType]:
    """Compiles `lambda NAMES: EXPRESSION`, so that nested functions can read
    the frame's names as closure variables. None: the expression has a := that
    assigns names itself."""
    if any(isinstance(part, ast.NamedExpr) for part in ast.walk(tree)):
        return None
    used = {part.id for part in ast.walk(tree) if isinstance(part, ast.Name)}
    arguments = ast.parse("lambda %s: 0" % ", ".join(
        name for name in names if name in used), mode="eval")
    function: Any = arguments.body
    function.body = tree.body
    return compile(ast.fix_missing_locations(arguments), NAME, "eval",
                   dont_inherit=True)


def _value(tree: ast.Expression, space: Dict[str, Any], names: Any) -> Any:
    code = compile(tree, NAME, "eval", dont_inherit=True)
    if names is not space and _has_code(code):
        function = _as_function(tree, names)
        if function is not None:
            made = eval(function, space)
            return made(**{
                name: names[name] for name in
                made.__code__.co_varnames[:made.__code__.co_argcount]})
    return eval(code, space, names)


def value(tree: ast.Module, space: Dict[str, Any], names: Any) -> Any:
    """Returns the value of one expression in a copy of a frame's names;
    assignments do not change the frame."""
    last: Any = tree.body[-1]
    return _value(ast.Expression(last.value), space, names)


def _run(tree: ast.Module, space: Dict[str, Any], names: Any) -> Any:
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    if tree.body:
        exec(compile(tree, NAME, "exec", dont_inherit=True), space, names)
    return NOTHING if last is None else _value(last, space, names)


def run(tree: ast.Module, frame: types.FrameType) -> Any:
    """Runs code in frame. Returns the value of the last line if that is an
    expression, else NOTHING. Called in the frame's thread; assignments change
    the frame's variables."""
    if not frame.f_code.co_flags & _OPTIMIZED:
        # The frame of a module or class body: its names are in a dict.
        return _run(tree, frame.f_globals, frame.f_locals)
    before = inspection.names_of(frame)
    names = dict(before)
    try:
        return _run(tree, frame.f_globals, names)
    finally:
        for name, value in names.items():
            if name not in before or before[name] is not value:
                assign(frame, name, value)


def assign(frame: types.FrameType, name: str, value: Any) -> None:
    """Assigns a variable of frame, also before 3.13, where f_locals is a copy.
    """
    code = frame.f_code
    names: Any = frame.f_locals
    names[name] = value
    if not snapshots.ARE_COPIES or not (
            code.co_flags & _OPTIMIZED and name in
            code.co_varnames + code.co_cellvars + code.co_freevars):
        return
    write = _writer()
    if write is None:
        return
    # PyFrame_LocalsToFast() writes the whole copy, so the copy is refreshed
    # first: other threads may have changed closure variables. All three are
    # calls in C, between which the GIL is not released.
    list(map(partial.__call__, [
        partial(getattr, frame, "f_locals"),
        partial(names.__setitem__, name, value), write(frame)]))
    if frame.f_locals.get(name, NOTHING) is not value:
        raise Failure("variable %s could not be set" % name)


def assign_name(frame: types.FrameType, name: str, value: Any) -> None:
    """Like assign(); a name that is not the frame's is assigned in its
    globals."""
    names = frame.f_locals
    if name not in names and name in frame.f_globals and \
            name not in frame.f_code.co_varnames:
        names = frame.f_globals
    if names is frame.f_globals:
        names[name] = value
    else:
        assign(frame, name, value)


def _writer() -> Optional[Callable[[types.FrameType], Any]]:
    """Returns a function that makes a call of PyFrame_LocalsToFast() for a
    frame, which copies f_locals into the frame; None if ctypes or that
    function is missing (Python 3.13 and newer do not need it)."""
    try:
        import ctypes

        function = ctypes.PyDLL(None).PyFrame_LocalsToFast
    except (ImportError, AttributeError):
        return None
    function.restype = None
    return lambda frame: partial(function, ctypes.py_object(frame),
                                 ctypes.c_int(0))
