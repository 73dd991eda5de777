"""Captures what a thread prints while it evaluates code of a client; output of
other threads is not changed."""
from __future__ import annotations

import collections
import contextlib
import io
import sys
import threading
from functools import partial
from itertools import compress
from operator import is_
from types import MethodType
from typing import Any, Callable, Deque, Dict, Iterator, List, Optional, Tuple

TEXT_MAXIMUM = 256 << 10
# Number of Stream objects kept alive after they were removed from sys.
KEPT_MAXIMUM = 24
NAMES = ("stdin", "stdout", "stderr")


class Output:
    """Captured text, up to a limit."""

    def __init__(self) -> None:
        self._parts: List[str] = []
        self._length = 0
        self._lost = 0

    def write(self, text: str) -> None:
        part = text[:max(0, TEXT_MAXIMUM - self._length)]
        self._parts.append(part)
        self._length += len(part)
        self._lost += len(text) - len(part)

    def text(self) -> str:
        text = "".join(self._parts)
        if self._lost:
            text += "... %d characters left out" % self._lost
        return text


class _Method:
    """A method of Stream that print() and input() look up first. The lookup
    records the calling frame and its current instruction."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __get__(self, stream: Any, owner: Any = None) -> Any:
        if stream is None:
            return self
        frame = sys._getframe().f_back
        # None: the interpreter flushes the stream as it exits.
        if frame is not None:
            stream._users[threading.get_ident()] = id(frame), frame.f_lasti
        return MethodType(self._function, stream)


class Stream:
    """Replaces sys.stdin, sys.stdout or sys.stderr while code is evaluated,
    which then reads an empty stdin. If the program keeps a reference to it,
    the stream keeps forwarding to the original stream."""

    def __init__(self, original: Any, outputs: Dict[int, Output]) -> None:
        self._original = original
        self._outputs = outputs
        # Keys are thread idents; values are id() of the frame that last used
        # the stream, and its instruction offset at that time.
        self._users: Dict[int, Tuple[int, int]] = {}

    def is_used(self) -> bool:
        """True if a thread may be in a print() or input() that uses the
        stream: a frame on its stack is still at the recorded instruction."""
        frames = sys._current_frames()
        for ident, user in dict(self._users).items():
            frame = frames.get(ident)
            while frame is not None:
                if (id(frame), frame.f_lasti) == user:
                    return True
                frame = frame.f_back
        return False

    def _output(self) -> Optional[Output]:
        return self._outputs.get(threading.get_ident())

    @_Method
    def write(self, text: str) -> int:
        output = self._output()
        if output is not None:
            output.write(str(text))
            return len(text)
        return len(text) if self._original is None \
            else self._original.write(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    @_Method
    def flush(self) -> None:
        if self._original is not None and self._output() is None:
            self._original.flush()

    def read(self, *size: Any) -> str:
        return self._original.read(*size) if self._output() is None else ""

    @_Method
    def readline(self, *size: Any) -> str:
        return self._original.readline(*size) if self._output() is None \
            else ""

    def __iter__(self) -> Any:
        return iter(self._original if self._output() is None else ())

    @_Method
    def isatty(self) -> bool:
        return bool(self._original is not None and self._output() is None
                    and self._original.isatty())

    @_Method
    def fileno(self) -> int:
        if self._original is None or self._output() is not None:
            raise io.UnsupportedOperation("fileno")
        return int(self._original.fileno())

    def close(self) -> None:
        """Closes the original stream, unless evaluated code calls exit(),
        which closes sys.stdin."""
        if self._original is not None and self._output() is None:
            self._original.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


_call: Any = partial.__call__


def _exchange(name: str, old: Any, new: Any) -> bool:
    """Replaces `old` by `new` in the module sys. Returns False if the program
    has replaced `old` meanwhile. Comparison and assignment are calls in C,
    between which the GIL is not released."""
    names = sys.__dict__
    found = map(names.get, [name])
    change = partial(names.__setitem__, name, new)
    return bool(list(map(_call, compress([change], map(is_, found, [old])))))


class Capture:
    """Installs the streams while the output of any thread is captured."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._outputs: Dict[int, Output] = {}
        # Up to 3.14, print() and input() use sys.stdout without owning a
        # reference (CPython issue 130163): a thread may still use a Stream
        # after its removal.
        self._kept: Deque[Stream] = collections.deque(maxlen=KEPT_MAXIMUM)

    def _make_stream(self, original: Any) -> Stream:
        # A Stream of an earlier agent in this process.
        while type(original) is Stream:
            original = original._original
        for stream in self._kept:
            if stream._original is original:
                return stream
        stream = Stream(original, self._outputs)
        self._kept.append(stream)
        return stream

    def _put(self, name: str) -> None:
        """Installs a Stream in sys; retried if the program replaces sys.NAME
        meanwhile."""
        while True:
            stream = getattr(sys, name, None)
            if type(stream) is Stream and stream._outputs is self._outputs or \
                    _exchange(name, stream, self._make_stream(stream)):
                return

    @contextlib.contextmanager
    def catching(self, output: Output) -> Iterator[None]:
        with self._lock:
            for name in NAMES:
                self._put(name)
            self._outputs[threading.get_ident()] = output
        try:
            yield
        finally:
            with self._lock:
                self._outputs.pop(threading.get_ident(), None)
                if not self._outputs:
                    self.restore()

    def restore(self) -> None:
        """Puts the original streams back, also where the program has stored a
        Stream in sys again. Streams that the program installed itself stay."""
        for name in NAMES:
            stream = getattr(sys, name, None)
            while type(stream) is Stream and \
                    not _exchange(name, stream, stream._original):
                stream = getattr(sys, name, None)

    def is_used(self) -> bool:
        """True if a thread of the program may be in a print() that uses a
        Stream."""
        return any(stream.is_used() for stream in self._kept)

    def leave(self) -> None:
        """Keeps the streams in use alive forever: nothing reports when a
        print() that waits for its file returns."""
        used = [stream for stream in self._kept if stream.is_used()]
        if not used:
            return
        try:
            from ctypes import py_object, pythonapi
        except (ImportError, OSError):
            # Without ctypes no reference can be leaked deliberately.
            return
        for stream in used:
            pythonapi.Py_IncRef(py_object(stream))
