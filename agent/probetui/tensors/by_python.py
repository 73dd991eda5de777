"""Computation without numpy and torch."""
from __future__ import annotations

import math
from typing import Any, List, Optional, Sequence

from .dtypes import COMPLEX, FLOAT, TIME, Dtype, parts
from .statistics import Part, scale

NOT_A_TIME = -2 ** 63


def _is_nan(value: Any) -> bool:
    return bool(value != value)


def _sum(values: Any) -> float:
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return float("inf")


def _of_complex(values: List[Any]) -> Part:
    nan = infinite = zeros = 0
    finite: List[float] = []
    for at in range(0, len(values), 2):
        one, other = values[at], values[at + 1]
        nan += _is_nan(one) or _is_nan(other)
        infinite += math.isinf(one) or math.isinf(other)
        zeros += one == 0 and other == 0
        if math.isfinite(one) and math.isfinite(other):
            finite += [one, other]
    return Part(len(values) // 2, nan, infinite, zeros, len(finite) // 2,
                squares=_sum(value * value for value in finite))


def part(dtype: Dtype, data: bytes) -> Part:
    values = parts(dtype, data)
    if dtype.kind == COMPLEX:
        return _of_complex(values)
    finite = values
    nan = infinite = 0
    if dtype.kind == FLOAT and not math.isfinite(sum(values)):
        finite = [value for value in values if math.isfinite(value)]
        nan = sum(map(_is_nan, values))
        infinite = len(values) - len(finite) - nan
    elif dtype.kind == TIME:
        finite = [value for value in values if value != NOT_A_TIME]
        nan = len(values) - len(finite)
    if not finite:
        return Part(len(values), nan, infinite)
    total = _sum(finite)
    mean = total / len(finite)
    squares = _sum((value - mean) * (value - mean) for value in finite)
    return Part(len(values), nan, infinite, finite.count(0), len(finite),
                min(finite), max(finite), total, mean, squares)


def bins(dtype: Dtype, data: bytes, low: float, high: float,
         counts: List[int]) -> None:
    factor = scale(low, high, len(counts))
    last = len(counts) - 1
    for value in parts(dtype, data):
        if dtype.kind == TIME and value == NOT_A_TIME or \
                not math.isfinite(value):
            continue
        at = (value / 2 - low / 2) * factor
        counts[int(min(max(at, 0), last))] += 1


def first(dtype: Dtype, data: bytes, wanted: Any) -> Optional[int]:
    """Returns the index of the first element equal to `wanted`, or, if
    `wanted` is None, of the first NaN or infinity; None: not found."""
    values = parts(dtype, data)
    each = 2 if dtype.kind == COMPLEX else 1
    for at, value in enumerate(values):
        if value == wanted if wanted is not None else \
                value == NOT_A_TIME if dtype.kind == TIME else \
                not math.isfinite(value):
            return at // each
    return None


def compact(data: Any, offset: int, sizes: Sequence[int],
            steps: Sequence[int], item: int) -> None:
    """Not implemented here: returns None."""
    return None
