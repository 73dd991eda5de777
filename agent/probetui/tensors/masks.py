"""Masked elements; a mask has one byte per element, 1 for a masked element."""
from __future__ import annotations

import itertools
import sys
from typing import Any

from . import by_numpy

# For so few elements, plain Python is faster than numpy.
FEW = 64


def _rows(data: Any, mask: Any, item: int) -> Any:
    """Returns (elements as rows of bytes, mask) as numpy arrays; None: numpy
    is not loaded, or there are few elements."""
    if len(mask) <= FEW or not by_numpy.is_there():
        return None
    numpy = sys.modules["numpy"]
    return numpy.frombuffer(data, "u1").reshape(-1, item), \
        numpy.frombuffer(mask, "?")


def kept(data: Any, mask: Any, item: int) -> bytes:
    """Returns the elements that are not masked."""
    found = _rows(data, mask, item)
    if found is not None:
        return bytes(found[0][~found[1]].tobytes())
    return b"".join(data[at * item:(at + 1) * item]
                    for at, is_masked in enumerate(mask) if not is_masked)


def shown(data: Any, mask: Any, item: int) -> bytes:
    """Returns all elements, with masked ones as zeros."""
    found = _rows(data, mask, item)
    if found is not None:
        rows = found[0].copy()
        rows[found[1]] = 0
        return bytes(rows.tobytes())
    return b"".join(bytes(item) if is_masked
                    else data[at * item:(at + 1) * item]
                    for at, is_masked in enumerate(mask))


def place(mask: Any, number: int) -> int:
    """Returns the index of the number-th element that is not masked."""
    if mask is None:
        return number
    return next(itertools.islice(
        (at for at, is_masked in enumerate(mask) if not is_masked),
        number, None))
