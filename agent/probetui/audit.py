"""Log of the code that clients ran in this process: the last entries in memory
(GET /evals) and, if a path was given, one line of JSON per entry in a file.

The log does not use the module logging: if the program is stopped in a log
handler, which holds the handler's lock, each evaluation would block.
"""
from __future__ import annotations

import collections
import contextlib
import json
import os
import stat
import threading
import time
from typing import Any, Deque, Dict, Optional, Tuple

from . import identity
from .settings import SettingError, tell
from .values import cut

# Number of entries kept in memory, and characters of code kept per entry.
KEPT_MAXIMUM = 500
CODE_MAXIMUM = 200
FILE_MAXIMUM = 10 << 20


class Peer(threading.local):
    """Name of the client that this thread serves: "pid 12 of user 0",
    "10.1.2.3"."""

    name = "the program"


class Log:
    """The log of this process."""

    def __init__(self) -> None:
        # The garbage collector untracks tuples of str and float, so the
        # entries do not slow down its passes.
        self._kept: Deque[Tuple[float, str, str, str]] = collections.deque(
            maxlen=KEPT_MAXIMUM)
        self._count = 0
        self._path: Optional[str] = None
        self._lock = threading.Lock()

    def open(self, path: str) -> None:
        """Sets the log file. Raises SettingError if the file cannot be opened
        for writing."""
        path = os.path.abspath(path)
        try:
            os.close(_open(path))
        except OSError as error:
            raise SettingError("the log file %s cannot be opened: %s"
                               % (path, error)) from error
        self._path = path

    @property
    def path(self) -> Optional[str]:
        return self._path

    def record(self, what: str, code: str) -> None:
        """Adds an entry; called before the code runs."""
        entry = (time.time(), peer.name, what, cut(code, CODE_MAXIMUM))
        with self._lock:
            self._kept.append(entry)
            self._count += 1
            if self._path is not None and not _append(self._path, entry):
                self._path = None

    def told(self) -> Dict[str, Any]:
        """Returns the answer of GET /evals; entries are oldest first."""
        with self._lock:
            kept = list(self._kept)
            return {"count": self._count, "file": self._path,
                    "evals": [_tell_one(entry) for entry in kept]}

    def forget(self) -> None:
        """In a forked child: empties the log and drops the file."""
        self.__init__()  # type: ignore[misc]


def _tell_one(entry: Tuple[float, str, str, str]) -> Dict[str, Any]:
    when, who, what, code = entry
    return {"time": round(when, 3), "peer": who, "what": what, "code": code}


def _open(path: str) -> int:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
                 | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError("%s is not a regular file" % path)
    return fd


def _append(path: str, entry: Tuple[float, str, str, str]) -> bool:
    """Appends a line to the file. False: the file cannot be opened or is full;
    the caller stops writing to it."""
    line = json.dumps(dict(_tell_one(entry), pid=os.getpid(),
                           rank=identity.find().rank)) + "\n"
    try:
        fd = _open(path)
    except OSError as error:
        tell("logging of code run by clients has stopped: %s" % error)
        return False
    try:
        if os.fstat(fd).st_size + len(line) > FILE_MAXIMUM:
            tell("logging of code run by clients has stopped: %s has reached "
                 "%d MB" % (path, FILE_MAXIMUM >> 20))
            return False
        with contextlib.suppress(OSError):
            os.write(fd, line.encode())
        return True
    finally:
        os.close(fd)


peer = Peer()
log = Log()
