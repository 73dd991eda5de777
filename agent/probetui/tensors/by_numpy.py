"""Computation with numpy, in the calling thread only: no BLAS function is
used, because BLAS starts threads."""
from __future__ import annotations

import sys
from typing import Any, List, Optional, Sequence

from .dtypes import BOOLEAN, COMPLEX, FLOAT, TIME, Dtype, unfold
from .statistics import Part, scale

NOT_A_TIME = -2 ** 63


def is_there() -> bool:
    numpy = sys.modules.get("numpy")
    spec: Any = getattr(numpy, "__spec__", None)
    return numpy is not None and not getattr(spec, "_initializing", False) \
        and hasattr(numpy, "frombuffer")


def _array(dtype: Dtype, data: Any) -> Any:
    numpy = sys.modules["numpy"]
    if dtype.fold == "longdouble":
        return numpy.frombuffer(data, "<g").astype("<f8")
    flat = unfold(dtype, data)
    if dtype.kind == BOOLEAN:
        return numpy.frombuffer(flat, "<u1") != 0
    return numpy.frombuffer(flat, "<" + dtype.base)


def _finite(numpy: Any, dtype: Dtype, array: Any) -> Any:
    """Returns (finite elements, count of NaN, count of infinities)."""
    if dtype.kind == FLOAT:
        is_finite = numpy.isfinite(array)
        if is_finite.all():
            return array, 0, 0
        nan = int(numpy.count_nonzero(numpy.isnan(array)))
        finite = array[is_finite]
        return finite, nan, len(array) - len(finite) - nan
    if dtype.kind == TIME:
        finite = array[array != NOT_A_TIME]
        return finite, len(array) - len(finite), 0
    return array, 0, 0


def _of_complex(numpy: Any, array: Any) -> Part:
    pairs = array.reshape(-1, 2)
    is_nan = numpy.isnan(pairs).any(axis=1)
    is_infinite = numpy.isinf(pairs).any(axis=1)
    finite = pairs[~(is_nan | is_infinite)].astype("f8")
    return Part(len(pairs), int(is_nan.sum()), int(is_infinite.sum()),
                int((pairs == 0).all(axis=1).sum()), len(finite),
                squares=float(numpy.square(finite).sum()))


def part(dtype: Dtype, data: Any) -> Part:
    numpy = sys.modules["numpy"]
    with numpy.errstate(all="ignore"):
        array = _array(dtype, data)
        if dtype.kind == COMPLEX:
            return _of_complex(numpy, array)
        finite, nan, infinite = _finite(numpy, dtype, array)
        if not len(finite):
            return Part(len(array), nan, infinite)
        exact = finite.astype("f8")
        total = float(exact.sum())
        mean = total / len(finite)
        exact -= mean
        return Part(len(array), nan, infinite,
                    len(finite) - int(numpy.count_nonzero(finite)),
                    len(finite), finite.min().item(), finite.max().item(),
                    total, mean,
                    float(numpy.square(exact, out=exact).sum()))


def bins(dtype: Dtype, data: Any, low: float, high: float,
         counts: List[int]) -> None:
    numpy = sys.modules["numpy"]
    last = len(counts) - 1
    with numpy.errstate(all="ignore"):
        finite = _finite(numpy, dtype, _array(dtype, data))[0].astype("f8")
        finite /= 2
        finite -= low / 2
        finite *= scale(low, high, len(counts))
        numpy.clip(finite, 0, last, out=finite)
        found = numpy.bincount(finite.astype("i8"), minlength=len(counts))
        for i, number in enumerate(found):
            counts[i] += int(number)


def first(dtype: Dtype, data: Any, wanted: Any) -> Optional[int]:
    """Returns the index of the first element equal to `wanted`, or, if
    `wanted` is None, of the first NaN or infinity; None: not found."""
    numpy = sys.modules["numpy"]
    array = _array(dtype, data)
    if wanted is not None:
        is_found = array == wanted
    elif dtype.kind == TIME:
        is_found = array == NOT_A_TIME
    else:
        is_found = ~numpy.isfinite(array)
    at = int(is_found.argmax()) if len(array) else 0
    if not len(array) or not is_found[at]:
        return None
    return at // 2 if dtype.kind == COMPLEX else at


def compact(data: Any, offset: int, sizes: Sequence[int],
            steps: Sequence[int], item: int) -> Any:
    numpy = sys.modules["numpy"]
    if len(sizes) > 32:
        return None
    return numpy.ndarray(tuple(sizes), "u%d" % item, data, offset,
                         tuple(steps)).tobytes()
