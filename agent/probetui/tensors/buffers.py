"""Finds the memory of a memoryview. The buffer is released at once, so that
the program can resize the underlying object as before."""
from __future__ import annotations

from typing import Any, Optional, Tuple


def buffer_of(value: Any) -> Tuple[int, Optional[Tuple[int, ...]]]:
    """Returns (address of the first element, strides or None: contiguous).
    Raises ValueError if the memoryview was released."""
    import ctypes

    class Buffer(ctypes.Structure):
        _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p),
                    ("len", ctypes.c_ssize_t),
                    ("itemsize", ctypes.c_ssize_t),
                    ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                    ("format", ctypes.c_char_p),
                    ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
                    ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
                    ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
                    ("internal", ctypes.c_void_p)]

    full = 0x11c | 0x4  # PyBUF_FULL_RO
    buffer = Buffer()
    ctypes.pythonapi.PyObject_GetBuffer(
        ctypes.py_object(value), ctypes.byref(buffer), full)
    try:
        if buffer.suboffsets:
            raise ValueError("the buffer has suboffsets, which are not "
                             "supported")
        strides = tuple(buffer.strides[:buffer.ndim]) \
            if buffer.strides else None
        return buffer.buf or 0, strides
    finally:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(buffer))
