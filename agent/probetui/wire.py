"""The JSON between an agent and its clients.

JSON parsers disagree about some values; these are sent as an object whose only
key is "$":

    {"$": "nan"}  {"$": "inf"}  {"$": "-inf"}
    {"$": "int:18446744073709551615"}    beyond 2**53
    {"$": "text:\\udc80"}                lone surrogates, by unicode_escape

Values of the program are only sent as text, never converted to JSON. So an
object with the key "$" is always one of these.
"""
from __future__ import annotations

import json
from typing import Any

TAG = "$"
INTEGER_MAXIMUM = 1 << 53
DIGITS_MAXIMUM = 4000
_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


class WireError(Exception):
    """A sentence that says what is wrong with the JSON."""


def _pack_text(text: str) -> Any:
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        escaped = text.encode("unicode_escape").decode("ascii")
        return {TAG: "text:" + escaped}


def _pack_number(number: Any) -> Any:
    if isinstance(number, int):
        if abs(number) <= INTEGER_MAXIMUM:
            return number
        return {TAG: "int:%d" % number}
    if number != number:
        return {TAG: "nan"}
    if number in (_FLOATS["inf"], _FLOATS["-inf"]):
        return {TAG: "inf" if number > 0 else "-inf"}
    return number


def pack(value: Any) -> Any:
    """Returns value with the values that JSON lacks replaced by "$" objects.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _pack_text(value)
    if isinstance(value, (int, float)):
        return _pack_number(value)
    if isinstance(value, dict):
        return {key.encode("utf-8", "backslashreplace").decode(): pack(part)
                for key, part in value.items()}
    return [pack(part) for part in value]


def encode(value: Any) -> bytes:
    return json.dumps(pack(value), allow_nan=False, ensure_ascii=False,
                      separators=(",", ":")).encode()


def _integer(digits: str) -> int:
    # int() takes long for more digits.
    if len(digits) > DIGITS_MAXIMUM:
        raise WireError("a number has more than %d digits" % DIGITS_MAXIMUM)
    return int(digits)


def _constant(name: str) -> Any:
    raise WireError("%s is not JSON" % name)


def _unpack(found: dict) -> Any:
    if len(found) != 1 or TAG not in found:
        return found
    text = found[TAG]
    if isinstance(text, str):
        if text in _FLOATS:
            return _FLOATS[text]
        try:
            if text.startswith("int:"):
                return _integer(text[4:])
            if text.startswith("text:"):
                return text[5:].encode("ascii").decode("unicode_escape")
        except ValueError:
            pass
    raise WireError('an object with "$" as its only key has an unknown value')


def decode(data: bytes) -> Any:
    """Parses JSON and replaces "$" objects by their values. Raises WireError.
    """
    try:
        return json.loads(data.decode(), object_hook=_unpack,
                          parse_int=_integer, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        raise WireError("the body is not JSON: %s" % error) from None
