"""Computation with torch, if numpy is not loaded, in the calling thread only:
torch's thread pool belongs to the program."""
from __future__ import annotations

import contextlib
import sys
from typing import Any, Iterator, List, Optional, Sequence

from .dtypes import BOOLEAN, COMPLEX, FLOAT, TIME, Dtype, unfold
from .statistics import Part, merge, scale

NOT_A_TIME = -2 ** 63
# torch uses one thread for operations with no more elements than this.
GRAIN = 32767
_NAMES = {"i1": "int8", "u1": "uint8", "i2": "int16", "i4": "int32",
          "i8": "int64", "u8": "int64", "f2": "float16", "f4": "float32",
          "f8": "float64"}


def is_there() -> bool:
    torch = sys.modules.get("torch")
    spec: Any = getattr(torch, "__spec__", None)
    return torch is not None and not getattr(spec, "_initializing", False) \
        and hasattr(torch, "frombuffer") and hasattr(torch, "aminmax")


def _setters(torch: Any) -> Iterator[Any]:
    """Yields omp_set_num_threads of the OpenMP libraries that torch may use:
    it affects only the calling thread, unlike torch.set_num_threads."""
    try:
        import ctypes
        import os

        yield ctypes.CDLL(None).omp_set_num_threads
    except (ImportError, OSError, AttributeError):
        pass
    try:
        path = os.path.join(os.path.dirname(torch.__file__), "lib",
                            "libtorch_cpu.so")
        yield ctypes.CDLL(path, os.RTLD_NOLOAD | os.RTLD_NOW) \
            .omp_set_num_threads
    except (OSError, AttributeError, TypeError, UnboundLocalError):
        pass


@contextlib.contextmanager
def _alone(torch: Any) -> Iterator[bool]:
    """Makes torch use one thread in this thread. Yields False if that fails.
    """
    before = torch.get_num_threads()
    if before == 1:
        yield True
        return
    for setter in _setters(torch):
        setter(1)
        if torch.get_num_threads() == 1:
            try:
                yield True
            finally:
                setter(before)
            return
        setter(before)
    yield False


def _tensor(torch: Any, dtype: Dtype, data: Any) -> Any:
    """Returns the data as a tensor; uint64 is returned as int64, less 2 ** 63.
    """
    flat = unfold(dtype, data)
    if not isinstance(flat, bytearray):
        # torch warns about read-only memory, such as that of bytes.
        flat = bytearray(flat)
    if dtype.kind == BOOLEAN:
        return torch.frombuffer(flat, dtype=torch.uint8) != 0
    if dtype.base in ("u2", "u4"):
        size = int(dtype.base[1])
        found = torch.frombuffer(flat, dtype=torch.int16 if size == 2
                                 else torch.int32).to(torch.int64)
        return found & (1 << 8 * size) - 1
    found = torch.frombuffer(flat, dtype=getattr(torch, _NAMES[dtype.base]))
    return found ^ -2 ** 63 if dtype.base == "u8" else found


def _finite(torch: Any, dtype: Dtype, array: Any) -> Any:
    if dtype.kind == FLOAT:
        is_finite = torch.isfinite(array)
        if bool(is_finite.all()):
            return array, 0, 0
        nan = int(torch.isnan(array).sum())
        finite = array[is_finite]
        return finite, nan, len(array) - len(finite) - nan
    if dtype.kind == TIME:
        finite = array[array != NOT_A_TIME]
        return finite, len(array) - len(finite), 0
    return array, 0, 0


def _of_complex(torch: Any, array: Any) -> Part:
    pairs = array.reshape(-1, 2)
    is_nan = torch.isnan(pairs).any(dim=1)
    is_infinite = torch.isinf(pairs).any(dim=1)
    finite = pairs[~(is_nan | is_infinite)].to(torch.float64)
    return Part(len(pairs), int(is_nan.sum()), int(is_infinite.sum()),
                int((pairs == 0).all(dim=1).sum()), len(finite),
                squares=float((finite * finite).sum()))


def _double(torch: Any, dtype: Dtype, array: Any) -> Any:
    if dtype.base != "u8":
        return array.to(torch.float64)
    # Each half is exact in a float64, so the sum is rounded only once.
    high = (array >> 32) + 2 ** 31
    return high.to(torch.float64) * 2.0 ** 32 + \
        (array & 0xffffffff).to(torch.float64)


def _part(torch: Any, dtype: Dtype, data: Any) -> Part:
    array = _tensor(torch, dtype, data)
    if dtype.kind == COMPLEX:
        return _of_complex(torch, array)
    finite, nan, infinite = _finite(torch, dtype, array)
    if not len(finite):
        return Part(len(array), nan, infinite)
    exact = _double(torch, dtype, finite)
    low, high = torch.aminmax(finite if dtype.kind != BOOLEAN else exact)
    more = 2 ** 63 if dtype.base == "u8" else 0
    zeros = len(finite) - int(torch.count_nonzero(exact))
    total = float(exact.sum())
    mean = total / len(finite)
    exact = exact - mean
    return Part(len(array), nan, infinite, zeros, len(finite),
                low.item() + more, high.item() + more, total, mean,
                float((exact * exact).sum()))


def _pieces(torch: Any, dtype: Dtype, data: Any, size: int) -> Iterator[Any]:
    """Yields (index of the first element, bytes) in pieces that torch computes
    in one thread."""
    with _alone(torch) as is_alone, torch.no_grad():
        step = GRAIN // 2 if not is_alone else max(1, len(data) // size)
        for at in range(0, len(data), step * size):
            yield at // size, data[at:at + step * size]


def part(dtype: Dtype, data: Any) -> Part:
    torch = sys.modules["torch"]
    found = Part()
    for _, piece in _pieces(torch, dtype, data, dtype.size):
        found = merge(found, _part(torch, dtype, piece))
    return found


def bins(dtype: Dtype, data: Any, low: float, high: float,
         counts: List[int]) -> None:
    torch = sys.modules["torch"]
    last = len(counts) - 1
    for _, piece in _pieces(torch, dtype, data, dtype.size):
        finite = _double(torch, dtype, _finite(
            torch, dtype, _tensor(torch, dtype, piece))[0])
        at = (finite / 2 - low / 2) * scale(low, high, len(counts))
        found = torch.bincount(at.clamp(0, last).to(torch.int64),
                               minlength=len(counts)).tolist()
        for i, number in enumerate(found):
            counts[i] += number


def first(dtype: Dtype, data: Any, wanted: Any) -> Optional[int]:
    """Returns the index of the first element equal to `wanted`, or, if
    `wanted` is None, of the first NaN or infinity; None: not found."""
    torch = sys.modules["torch"]
    for start, piece in _pieces(torch, dtype, data, dtype.size):
        array = _tensor(torch, dtype, piece)
        if wanted is not None:
            is_found = array == (wanted - 2 ** 63 if dtype.base == "u8"
                                 else wanted)
        elif dtype.kind == TIME:
            is_found = array == NOT_A_TIME
        else:
            is_found = ~torch.isfinite(array)
        if bool(is_found.any()):
            at = int(is_found.to(torch.uint8).argmax())
            return start + (at // 2 if dtype.kind == COMPLEX else at)
    return None


def compact(data: Any, offset: int, sizes: Sequence[int],
            steps: Sequence[int], item: int) -> Any:
    torch = sys.modules["torch"]
    if any(step < 0 for step in steps):
        return None
    dtype = getattr(torch, {1: "uint8", 2: "int16", 4: "int32",
                            8: "int64"}[item])
    made = bytearray(item)
    for size in sizes:
        made = made * size
    with _alone(torch) as is_alone, torch.no_grad():
        if not is_alone and len(made) // item > GRAIN:
            return None
        there = torch.frombuffer(data, dtype=dtype).as_strided(
            tuple(sizes), [step // item for step in steps], offset // item)
        torch.frombuffer(made, dtype=dtype).view(tuple(sizes)).copy_(there)
    return made
