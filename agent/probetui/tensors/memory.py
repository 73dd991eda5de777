"""Reads memory of this process through the kernel: memory that another thread
has freed gives an error, not a crash."""
from __future__ import annotations

import array
import os
from typing import Any, List, Optional

# IOV_MAX
BATCH = 1024


class Unreadable(Exception):
    """A sentence that says why memory cannot be read."""


def _find_vector_read() -> Any:
    """Returns process_vm_readv(2), or None."""
    try:
        import ctypes

        function = ctypes.CDLL(None, use_errno=True).process_vm_readv
    except (ImportError, OSError, AttributeError):
        return None
    function.restype = ctypes.c_ssize_t
    function.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_ulong,
                         ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong]
    return function


class Memory:
    """Open descriptors for reads; must be closed."""

    def __init__(self) -> None:
        self._vector: Any = None
        self._fd = -1
        try:
            self._fd = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            # /proc/self/mem belongs to root if the process is not dumpable
            # (proc(5), prctl(2) PR_SET_DUMPABLE).
            self._vector = _find_vector_read()
            if self._vector is None:
                raise Unreadable("/proc/self/mem cannot be opened: %s"
                                 % error.strerror) from None

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def read(self, address: int, length: int,
             into: Optional[memoryview] = None) -> Any:
        """Reads length bytes, into `into` if given. The GIL is released
        meanwhile. Raises Unreadable."""
        made = bytearray(length)
        view = memoryview(made) if into is None else into
        done = 0
        while done < length:
            got = self._read_some(view[done:], address + done)
            if got <= 0:
                raise Unreadable(
                    "the memory at 0x%x cannot be read: it was freed, or is "
                    "not ordinary memory" % (address + done))
            done += got
        return made

    def _read_some(self, view: memoryview, address: int) -> int:
        """Returns the number of bytes read; 0 or less: failure."""
        if self._fd < 0:
            return len(view) if self._read_batch(
                [address], len(view), view) else 0
        try:
            return os.preadv(self._fd, [view], address)
        except (OSError, OverflowError):
            return 0

    def gather(self, addresses: List[int], length: int) -> bytearray:
        """Returns length bytes from each address, concatenated."""
        if len(addresses) == 1:
            made: bytearray = self.read(addresses[0], length)
            return made
        made = bytearray(length * len(addresses))
        if self._vector is None:
            self._vector = _find_vector_read() or False
        view = memoryview(made)
        step = BATCH if self._vector and length < 1 << 16 else 1
        for first in range(0, len(addresses), step):
            some = addresses[first:first + step]
            part = view[first * length:(first + len(some)) * length]
            if step == 1 or not self._read_batch(some, length, part):
                for i, address in enumerate(some):
                    self.read(address, length,
                              part[i * length:(i + 1) * length])
        return made

    def _read_batch(self, addresses: List[int], length: int,
                    part: memoryview) -> bool:
        import ctypes

        there = array.array("Q", bytes(16 * len(addresses)))
        there[0::2] = array.array("Q", addresses)
        there[1::2] = array.array("Q", [length]) * len(addresses)
        start = ctypes.addressof(ctypes.c_char.from_buffer(part))
        here = array.array("Q", [start, len(part)])
        got = self._vector(os.getpid(), here.buffer_info()[0], 1,
                           there.buffer_info()[0], len(addresses), 0)
        return bool(got == len(part))
