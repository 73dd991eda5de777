"""Chooses the module for computations: numpy or torch if the program has
imported them, else plain Python. Imports neither."""
from __future__ import annotations

import itertools
from typing import Any, List, Sequence

from . import by_numpy, by_python, by_torch


def find() -> Any:
    """Returns a module with part(), bins(), first() and compact()."""
    if by_numpy.is_there():
        return by_numpy
    return by_torch if by_torch.is_there() else by_python


def compact(data: Any, offset: int, sizes: Sequence[int],
            steps: List[int], item: int) -> Any:
    """Copies items with the given steps (in bytes) out of data, in index
    order."""
    if item in (1, 2, 4, 8) and all(
            step % item == 0 for step in [*steps, offset]):
        made = find().compact(data, offset, sizes, steps, item)
        if made is not None:
            return made
    return _compact(data, offset, sizes, steps, item)


def _compact(data: Any, offset: int, sizes: Sequence[int],
             steps: Sequence[int], item: int) -> bytearray:
    size, step = sizes[-1], steps[-1]
    row = size * item
    made = bytearray(row)
    parts = []
    for index in itertools.product(*map(range, sizes[:-1])):
        at = offset + sum(i * s for i, s in zip(index, steps))
        for k in range(item):
            if step == 0:
                made[k::item] = data[at + k:at + k + 1] * size
            else:
                end = at + k + size * step
                made[k::item] = data[at + k:end if end >= 0 else None:step]
        parts.append(bytes(made))
    return bytearray(b"".join(parts))
