"""Reads the IPDB_ environment variables. process.py prints errors in them
instead of raising: a job must not fail because of its debugger."""
from __future__ import annotations

import hmac
import os
import stat
import sys
from typing import Any, NamedTuple, Optional

from .representation import error_text

LEASE_DEFAULT = 30 * 60.0
TOKEN_MINIMUM = 8
MESSAGE_MAXIMUM = 200
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


class SettingError(Exception):
    """A sentence that says what is wrong and what to do."""


class Settings(NamedTuple):
    mode: str  # "socket" or "console"
    # prefix of socket paths; None: use the user's folder
    prefix: Optional[str]
    is_tcp: bool
    host: str
    port: int  # rank 0's port; rank n uses port + n
    token: bytes  # the token of TCP clients
    lease: float  # seconds


def tell(sentence: str) -> None:
    """Prints one line to standard error; errors are ignored."""
    try:
        sys.stderr.write("probetui: %s\n" % visible(sentence))
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        pass


def visible(text: str, limit: int = 1000) -> str:
    """Returns text on one line, with control characters shown as ^X and other
    non-printable ones escaped."""
    if len(text) > limit:
        text = text[:limit] + "..."
    return "".join(c if c.isprintable() else
                   "^" + chr(ord(c) ^ 64) if ord(c) < 32 else
                   ascii(c)[1:-1] for c in text)


def describe(error: BaseException) -> str:
    """Returns "RuntimeError: boom", on one line."""
    kind = type(error)
    name = kind.__qualname__
    if kind.__module__ not in ("builtins", "__main__"):
        name = "%s.%s" % (kind.__module__, name)
    try:
        text = error_text(error, MESSAGE_MAXIMUM)
    except Exception:
        text = "<message unavailable>"
    return visible("%s: %s" % (name, text) if text else name, MESSAGE_MAXIMUM)


def seconds(value: Any) -> float:
    """Parses 90, "90", "90s", "30m", "2h" into seconds. Raises SettingError.
    """
    text = str(value).strip().lower()
    unit = _UNITS.get(text[-1:], 0.0)
    try:
        number = float(text[:-1] if unit else text) * (unit or 1.0)
    except ValueError:
        number = -1.0
    if not 0 < number <= 366 * 86400:
        raise SettingError("the lease %s is not a time: write 90s, 30m or 2h"
                           % ascii(value)[:40])
    return number


def token_of_file(path: str) -> bytes:
    """Reads a token file. Raises SettingError if it cannot be read, if other
    users can read it, or if the token is too short."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            token = file.read(4096).strip()
    except OSError as error:
        raise SettingError("the token file %s cannot be read: %s"
                           % (path, error.strerror)) from error
    if status.st_uid not in (os.geteuid(), 0) or \
            stat.S_IMODE(status.st_mode) & 0o077:
        raise SettingError("other users can read the token file %s: set its "
                           "mode to 600" % path)
    if len(token) < TOKEN_MINIMUM:
        raise SettingError("the token in %s has %d characters: at least %d "
                           "are required" % (path, len(token), TOKEN_MINIMUM))
    return token


def _token() -> bytes:
    path = os.environ.get("IPDB_TOKEN_FILE", "")
    if path:
        token = token_of_file(path)
    else:
        token = os.environ.get("IPDB_TOKEN", "").encode("utf-8", "replace")
    if len(token) < TOKEN_MINIMUM:
        raise SettingError(
            "IPDB_CONNECTION_TYPE=tcp needs a token of at least %d characters "
            "in IPDB_TOKEN_FILE or IPDB_TOKEN: without a token, any program "
            "that reaches the port could run code" % TOKEN_MINIMUM)
    return token


def is_token(given: bytes, token: bytes) -> bool:
    """Compares in constant time."""
    return hmac.compare_digest(given, token)


def _port() -> int:
    text = os.environ.get("IPDB_PORT", "") or "4444"
    if not text.isdecimal() or int(text) > 65535:
        raise SettingError("IPDB_PORT=%s is not a port" % text[:40])
    return int(text)


def read(mode: str) -> Settings:
    """Reads the settings from the environment. Raises SettingError for a wrong
    value."""
    if mode == "web":
        mode = "socket"
    if mode not in ("socket", "console"):
        raise SettingError("IPDB_MODE=%s is unknown: use socket, console or "
                           "web" % ascii(mode)[1:-1][:40])
    kind = os.environ.get("IPDB_CONNECTION_TYPE", "") or "unix"
    if kind not in ("unix", "socket", "tcp"):
        raise SettingError("IPDB_CONNECTION_TYPE=%s is unknown: use unix or "
                           "tcp" % kind[:40])
    is_tcp = kind == "tcp" and mode == "socket"
    return Settings(
        mode=mode, prefix=os.environ.get("IPDB_SOCK_PATH") or None,
        is_tcp=is_tcp, host=os.environ.get("IPDB_HOST") or "127.0.0.1",
        port=_port() if is_tcp else 0, token=_token() if is_tcp else b"",
        lease=seconds(os.environ.get("IPDB_LEASE") or LEASE_DEFAULT))


def duration(length: float) -> str:
    """Returns a text such as "2 h", "30 min", "45 s"."""
    if length >= 120 and round(length / 60) * 60 >= 7200:
        return "%g h" % round(length / 3600, 1)
    if length >= 120:
        return "%d min" % round(length / 60)
    return "%d s" % max(1, round(length))
