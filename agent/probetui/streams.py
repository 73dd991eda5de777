"""What is printed by a thread that evaluates something is its client's, what
others print goes where it always did."""
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
# So many streams stay alive after they were taken out of sys.
KEPT_MAXIMUM = 24
NAMES = ("stdin", "stdout", "stderr")


class Output:
    """What was printed, up to a limit."""

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
    """A method of a Stream that print() and input() look up first. It notes
    where the frame is that calls them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __get__(self, stream: Any, owner: Any = None) -> Any:
        if stream is None:
            return self
        frame = sys._getframe().f_back
        # None: the interpreter flushes it as it ends.
        if frame is not None:
            stream._users[threading.get_ident()] = id(frame), frame.f_lasti
        return MethodType(self._function, stream)


class Stream:
    """Stands for sys.stdin, sys.stdout or sys.stderr while something is
    evaluated. What is evaluated has nothing to read. A program that keeps it
    finds the original in it."""

    def __init__(self, original: Any, outputs: Dict[int, Output]) -> None:
        self._original = original
        self._outputs = outputs
        # By thread: the address of the frame that used it last, and where in
        # its code that was.
        self._users: Dict[int, Tuple[int, int]] = {}

    def is_used(self) -> bool:
        """A thread may be in a print() or input() that has it: the frame
        stands where that was called."""
        frames = sys._current_frames()
        for ident, user in list(self._users.items()):
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
        """exit() closes sys.stdin."""
        if self._original is not None and self._output() is None:
            self._original.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


_call: Any = partial.__call__


def _exchange(name: str, old: Any, new: Any) -> bool:
    """False: the program has put another stream in the place of `old`
    meanwhile. These are calls in C, with nothing between the look and the
    change that lets go of the GIL."""
    names = sys.__dict__
    found = map(names.get, [name])
    change = partial(names.__setitem__, name, new)
    return bool(list(map(_call, compress([change], map(is_, found, [old])))))


class Capture:
    """Puts the streams in place while any thread's output is caught."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._outputs: Dict[int, Output] = {}
        # Up to 3.14 print() and input() take sys.stdout without a reference
        # (CPython issue 130163): a thread that is within one may use ours
        # after it was taken out.
        self._kept: Deque[Stream] = collections.deque(maxlen=KEPT_MAXIMUM)

    def _make_stream(self, original: Any) -> Stream:
        # One of an agent that was here before.
        while type(original) is Stream:
            original = original._original
        for stream in self._kept:
            if stream._original is original:
                return stream
        stream = Stream(original, self._outputs)
        self._kept.append(stream)
        return stream

    def _put(self, name: str) -> None:
        """The program may put another stream there at any time."""
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
        """Also one that the program has kept, and put back. Those that it has
        put in their place stay."""
        for name in NAMES:
            stream = getattr(sys, name, None)
            while type(stream) is Stream and \
                    not _exchange(name, stream, stream._original):
                stream = getattr(sys, name, None)

    def is_used(self) -> bool:
        """A thread of the program may be in a print() that has one of our
        streams."""
        return any(stream.is_used() for stream in self._kept)

    def leave(self) -> None:
        """The streams that are used stay in memory for ever: nothing tells
        when a print() that waits for its file ends."""
        used = [stream for stream in self._kept if stream.is_used()]
        if not used:
            return
        try:
            from ctypes import py_object, pythonapi
        except (ImportError, OSError):
            # Without ctypes' library no reference can be kept that way.
            return
        for stream in used:
            pythonapi.Py_IncRef(py_object(stream))
