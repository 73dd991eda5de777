"""Conditions and log messages, evaluated in a frame."""
from __future__ import annotations

import dis
import string
import types
from types import FrameType
from typing import Any, List, Optional, Tuple

from .. import representation
from ..settings import describe
from .specs import EngineError
from .stop import is_for_program

TEXT_MAXIMUM = 4096


class Expression:
    def __init__(self, text: str, what: str) -> None:
        self.text = text
        try:
            self._code = compile(text.strip(), "<%s>" % what, "eval",
                                 dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise EngineError("the %s %s is not a Python expression: %s" % (
                what, ascii(text)[:200], _reason(error, text))) from None
        self._is_nested = any(isinstance(constant, types.CodeType)
                              for constant in self._code.co_consts)

    def names(self) -> List[str]:
        """Returns the names that the expression looks up in its frame, without
        those that it binds itself."""
        return _names_of(self._code)

    def value(self, frame: FrameType) -> Any:
        names = frame.f_locals
        if self._is_nested and names is not frame.f_globals:
            # A comprehension in an evaluated expression looks names up in
            # globals only, so add the locals to them.
            return eval(self._code, dict(frame.f_globals, **names))
        return eval(self._code, frame.f_globals, names)


def _reason(error: BaseException, text: str) -> str:
    """Returns the reason why compile() failed, with the column in text."""
    if isinstance(error, SyntaxError) and error.msg:
        before = len(text) - len(text.lstrip())
        return "%s (at %s)" % (error.msg, "column %d" % (
            error.offset + before) if error.offset else "the end")
    return str(error) or "the expression is nested too deeply"


class Condition(Expression):
    """The condition of a breakpoint or data breakpoint. A failure is reported
    once."""

    def __init__(self, text: str) -> None:
        super().__init__(text, "condition")
        self._has_failed = False

    def fail(self, error: str, said: List[str]) -> Optional[str]:
        """Appends the report of a failure to `said`. Returns the new message
        of the breakpoint; None: a failure was reported before."""
        if self._has_failed:
            return None
        self._has_failed = True
        said.append("the condition %s cannot be evaluated, so the "
                    "breakpoint does not stop the process: %s"
                    % (self.text, error))
        return "condition failed: %s" % error


def _names_of(code: types.CodeType) -> List[str]:
    found, own = [], set()
    for one in dis.get_instructions(code):
        if one.opname in ("LOAD_NAME", "LOAD_GLOBAL"):
            found.append(one.argval)
        elif one.opname in ("STORE_NAME", "STORE_GLOBAL"):
            own.add(one.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += _names_of(constant)
    return [name for name in found if name not in own]


class LogText:
    """The message of a log point: {expression}, {expression:.3f},
    {expression!r} and {expression=} as in an f-string; {{ and }} are braces.
    """

    def __init__(self, text: str) -> None:
        self._pieces: List[Tuple[str, Any, str, str]] = []
        for before, inner in _split(text):
            if inner is None:
                self._pieces.append((before, None, "", ""))
                continue
            name, body, conversion, form = _parts(inner)
            self._pieces.append((before + name, Expression(
                body, "log expression"), conversion, form))

    def say(self, frame: FrameType) -> str:
        said = []
        for text, expression, conversion, form in self._pieces:
            said.append(text)
            if expression is not None:
                try:
                    value = expression.value(frame)
                    said.append(_say(value, conversion, form))
                except BaseException as error:
                    if is_for_program(error):
                        raise
                    said.append("<%s>" % describe(error))
        whole = "".join(said)
        return whole if len(whole) <= TEXT_MAXIMUM else \
            whole[:TEXT_MAXIMUM] + "..."


def _say(value: Any, conversion: str, form: str) -> str:
    if conversion == "r":
        value = representation.of(value, TEXT_MAXIMUM)
    elif conversion:
        value = string.Formatter().convert_field(value, conversion)
    return format(value, form) if form else \
        representation.text(value, TEXT_MAXIMUM)


def _split(text: str) -> List[Tuple[str, Any]]:
    """Splits a log message into pairs (text, content of the braces after it);
    the content is None after the last text. Raises EngineError."""
    found: List[Tuple[str, Any]] = []
    before, at = "", 0
    while at < len(text):
        sign = text[at]
        if sign not in "{}":
            before += sign
        elif text[at:at + 2] == sign * 2:
            before += sign
            at += 1
        else:
            end = _find(text, at + 1, "}") if sign == "{" else -1
            if end < 0:
                raise EngineError(
                    "the log text has an unmatched '%s': write {EXPRESSION}, "
                    "or '%s' for a literal brace" % (sign, sign * 2))
            found.append((before, text[at + 1:end]))
            before, at = "", end
        at += 1
    return found + [(before, None)]


def _find(text: str, at: int, signs: str) -> int:
    """Returns the index of the first of these signs from `at` on, outside of
    strings and brackets; -1: not found."""
    depth = 0
    while at < len(text):
        sign = text[at]
        if depth == 0 and sign in signs and not (
                sign == "!" and text[at + 1:at + 2] == "="):
            return at
        if sign in "'\"":
            at += 1
            while at < len(text) and text[at] != sign:
                at += 2 if text[at] == "\\" else 1
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        at += 1
    return -1


def _parts(inner: str) -> Tuple[str, str, str, str]:
    """Splits the content of braces into the text before the value ("x = " for
    {x = }), expression, conversion, format. Raises EngineError."""
    body, conversion, form = inner, "", ""
    colon = _find(inner, 0, ":")
    if colon >= 0:
        body, form = inner[:colon], inner[colon + 1:]
    bang = _find(body, 0, "!")
    if bang >= 0:
        body, conversion = body[:bang], body[bang + 1:].strip()
    if conversion not in ("", "r", "s", "a"):
        raise EngineError("the log text has an unknown conversion '!%s': use "
                          "!r, !s or !a" % conversion)
    bare = body.rstrip()
    if not bare.endswith("=") or bare[-2:-1] in ("=", "!", "<", ">"):
        return "", body, conversion, form
    if not conversion and not form:
        conversion = "r"
    return body, bare[:-1], conversion, form
