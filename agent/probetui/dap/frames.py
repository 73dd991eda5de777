"""Code in the names of a frame that stands, in its thread."""
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
    """Of a comprehension, a lambda: it looks its names up elsewhere."""
    return any(isinstance(part, types.CodeType) for part in code.co_consts)


def _as_function(tree: ast.Expression, names: Dict[str, Any]
                 ) -> Optional[types.CodeType]:
    """Of lambda NAMES: EXPRESSION, for which names are the closure's, too.
    None: it assigns some itself."""
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
    """Of one expression, in names that are a copy of a frame's: nothing is
    assigned in it."""
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
    """The value of the last line where that is an expression. Called in the
    frame's thread; what it assigns are the frame's own names."""
    if not frame.f_code.co_flags & _OPTIMIZED:
        # A module, or a class: the names are in a dict.
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
    """Also before 3.13, where f_locals is a copy."""
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
    # All of the copy is written, so that it is made anew first: others have
    # the names of a closure, too. Calls in C, with nothing between.
    list(map(partial.__call__, [
        partial(getattr, frame, "f_locals"),
        partial(names.__setitem__, name, value), write(frame)]))
    if frame.f_locals.get(name, NOTHING) is not value:
        raise Failure("%s could not be set" % name)


def assign_name(frame: types.FrameType, name: str, value: Any) -> None:
    """As assign; a name that the frame has not is its module's."""
    names = frame.f_locals
    if name not in names and name in frame.f_globals and \
            name not in frame.f_code.co_varnames:
        names = frame.f_globals
    if names is frame.f_globals:
        names[name] = value
    else:
        assign(frame, name, value)


def _writer() -> Optional[Callable[[types.FrameType], Any]]:
    """Gives what copies a frame's f_locals to where its code has them. None:
    there is nothing that does."""
    try:
        import ctypes

        function = ctypes.PyDLL(None).PyFrame_LocalsToFast
    except (ImportError, AttributeError):
        return None
    function.restype = None
    return lambda frame: partial(function, ctypes.py_object(frame),
                                 ctypes.c_int(0))
