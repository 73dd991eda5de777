"""The location of an array's elements, and reads of parts of them in index
order, for any strides."""
from __future__ import annotations

from typing import Any, Iterator, List, NamedTuple, Sequence, Tuple

from . import engines
from .dtypes import COMPLEX, Dtype, swap
from .memory import Memory

# Maximum bytes per read, for elements with gaps between them.
SPAN_MAXIMUM = 8 << 20
# A read may contain up to this many times the bytes of its elements.
WASTE_MAXIMUM = 4
_FLIP = bytes(byte ^ 0x80 for byte in range(256))


class Layout(NamedTuple):
    """Strides are in bytes and may be negative; address is that of the element
    with all indices 0."""

    dtype: Dtype
    item_size: int
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    address: int
    is_swapped: bool = False
    is_conjugated: bool = False
    is_negated: bool = False


def count(shape: Sequence[int]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product


def span(layout: Layout) -> Tuple[int, int]:
    """Returns how many bytes the array extends before and after its address.
    """
    low, high = 0, layout.item_size
    for size, stride in zip(layout.shape, layout.strides):
        if stride < 0:
            low += (size - 1) * stride
        else:
            high += (size - 1) * stride
    return -low, high


def rectangles(shape: Sequence[int], start: int, length: int
               ) -> Iterator[Tuple[List[int], List[int]]]:
    """Yields (first index, sizes) of boxes that contain the elements start to
    start + length in index order."""
    if not shape:
        if length:
            yield [], []
        return
    inner = count(shape[1:])
    end = start + length
    while start < end:
        row, rest = divmod(start, inner)
        if rest or end - start < inner:
            some = min(inner - rest, end - start)
            for index, sizes in rectangles(shape[1:], rest, some):
                yield [row] + index, [1] + sizes
        else:
            rows = (end - start) // inner
            some = rows * inner
            yield [row] + [0] * (len(shape) - 1), [rows] + list(shape[1:])
        start += some


def merge(sizes: Sequence[int], strides: Sequence[int]
          ) -> List[Tuple[int, int]]:
    """Returns (size, stride) of the dimensions, with contiguous ones merged.
    """
    found: List[Tuple[int, int]] = []
    for size, stride in zip(sizes, strides):
        if size == 1:
            continue
        if found and found[-1][1] == size * stride:
            found[-1] = (found[-1][0] * size, stride)
        else:
            found.append((size, stride))
    return found


def _read_box(memory: Memory, address: int, sizes: Sequence[int],
              strides: Sequence[int], item: int) -> Any:
    """Returns the elements of a box in index order, as bytes."""
    box = merge(sizes, strides)
    if not box or box == [(box[0][0], item)]:
        return memory.read(address, item * count(sizes))
    # The inner dimensions, whose elements are close together, are read in one
    # piece; one piece for each index of the outer dimensions.
    order = sorted(range(len(box)), key=lambda k: abs(box[k][1]))
    span, elements, inner = item, 1, 0
    for k in order:
        size, stride = box[k]
        wider = span + (size - 1) * abs(stride)
        elements *= size if stride else 1
        if wider > min(SPAN_MAXIMUM, WASTE_MAXIMUM * elements * item):
            break
        span = wider
        inner += 1
    offset = 0
    steps = [0] * len(box)
    for k in order[:inner]:
        size, steps[k] = box[k]
        if steps[k] < 0:
            offset -= (size - 1) * steps[k]
    addresses = [address - offset]
    for k in reversed(order[inner:]):
        size, stride = box[k]
        steps = [step * size if j in order[inner:] else step
                 for j, step in enumerate(steps)]
        steps[k] = span
        addresses = [base + i * stride for base in addresses
                     for i in range(size)]
    data = memory.gather(addresses, span)
    return engines.compact(data, offset, [size for size, _ in box], steps,
                           item)


def _cut(bits: int, data: Any) -> Any:
    """Clears the bits of each byte that are not used."""
    return data if bits == 0xff else bytes(data).translate(
        bytes(byte & bits for byte in range(256)))


def _logical(layout: Layout, data: Any) -> Any:
    """Converts to little-endian, and applies a lazy conjugation or negation.
    """
    if layout.is_swapped:
        data = swap(bytes(data), layout.dtype.swap)
    data = _cut(layout.dtype.bits, data)
    if not (layout.is_conjugated or layout.is_negated):
        return data
    part = layout.dtype.swap
    flips = [layout.is_negated, layout.is_negated]
    if layout.dtype.kind == COMPLEX:
        flips[1] ^= layout.is_conjugated
    made = bytearray(data)
    for i, is_flipped in enumerate(flips):
        if is_flipped:
            at = (i + 1) * part - 1
            made[at::2 * part] = made[at::2 * part].translate(_FLIP)
    return made


def read(memory: Memory, layout: Layout, start: int, length: int) -> Any:
    """Returns `length` elements from `start` on, as bytes."""
    item = layout.item_size
    parts = []
    for index, sizes in rectangles(layout.shape, start, length):
        address = layout.address + sum(
            i * stride for i, stride in zip(index, layout.strides))
        parts.append(_read_box(memory, address, sizes, layout.strides, item))
    data = parts[0] if len(parts) == 1 else b"".join(parts)
    return _logical(layout, data)
