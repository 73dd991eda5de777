"""Statistics of chunks of elements, and their combination."""
from __future__ import annotations

import math
from typing import Any, Dict, NamedTuple, Tuple

from .dtypes import COMPLEX, FLOAT, Dtype, integer, real


class Part(NamedTuple):
    """Statistics of some elements. low, high, finite, total, mean and squares
    refer to the finite elements; low and high are None if there are none.
    squares is the sum of (element - mean)²; for complex elements the sum of
    |element|², with mean 0."""

    count: int = 0
    nan: int = 0
    infinite: int = 0
    zeros: int = 0
    finite: int = 0
    low: Any = None
    high: Any = None
    total: float = 0.0
    mean: float = 0.0
    squares: float = 0.0


def _choose(choose: Any, one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    return choose(one, other)


def merge(one: Part, other: Part) -> Part:
    mean, squares = one.mean, one.squares
    finite = one.finite + other.finite
    if not one.finite:
        mean, squares = other.mean, other.squares
    elif other.finite:
        # Parallel variance, relative to the combined mean (Chan, Golub,
        # LeVeque 1979).
        apart = other.mean - one.mean
        share = other.finite / finite
        mean += apart * share
        squares += other.squares + apart * apart * one.finite * share
    return Part(one.count + other.count, one.nan + other.nan,
                one.infinite + other.infinite, one.zeros + other.zeros,
                finite, _choose(min, one.low, other.low),
                _choose(max, one.high, other.high), one.total + other.total,
                mean, squares)


def _root(squares: float) -> float:
    """NaN: the squares overflowed."""
    return float("inf") if squares != squares else math.sqrt(squares)


def _norm(part: Part, is_complex: bool) -> float:
    if part.nan:
        return float("nan")
    if part.infinite:
        return float("inf")
    if is_complex or not part.finite:
        return _root(part.squares)
    return _root(part.squares + part.total / part.finite * part.total)


def _spread(part: Part) -> Tuple[float, float]:
    """Returns (mean, standard deviation)."""
    mean = part.total / part.finite
    if part.low == part.high and math.isfinite(mean):
        # All elements are equal: avoid rounding errors.
        return float(part.low), 0.0
    return mean, _root(part.squares / part.finite)


def _number(dtype: Dtype, value: Any) -> Any:
    if value is None:
        return None
    return real(float(value)) if dtype.kind == FLOAT else integer(int(value))


def tell(part: Part, dtype: Dtype) -> Dict[str, Any]:
    """Returns the statistics as JSON."""
    is_complex = dtype.kind == COMPLEX
    mean = deviation = None
    if part.finite and not is_complex:
        mean, deviation = map(real, _spread(part))
    return {"min": _number(dtype, part.low), "max": _number(dtype, part.high),
            "mean": mean, "std": deviation,
            "norm": real(_norm(part, is_complex)), "nan": part.nan,
            "inf": part.infinite, "zeros": part.zeros, "count": part.count}


def scale(low: float, high: float, count: int) -> float:
    """Returns the factor such that (element / 2 - low / 2) * factor is an
    element's bin. Halves, because high - low may overflow a double."""
    width = high / 2 - low / 2
    found = count / width if width > 0 else 0.0
    return found if math.isfinite(found) else 0.0
