"""Answers a query about an array's elements: reads them in chunks, which
limits memory and lets other threads run."""
from __future__ import annotations

import base64
import zlib
from typing import Any, Dict, Iterator, List, Optional, Tuple

from .. import deadline
from . import by_python, dtypes, engines, masks, sources, statistics
from . import query as queries
from .known import Known
from .query import Query, Slice

CHUNK_BYTES = 4 << 20
CHUNK_ELEMENTS = 1 << 20
# Smaller chunks if plain Python computes, which holds the GIL.
CHUNK_OF_PYTHON = 1 << 16
_TRUTHS = bytes([0]) + bytes([1]) * 255
# For so few elements, plain Python is faster than numpy or torch.
FEW = 64


def _chunk(known: Known) -> int:
    """Returns the number of elements per read."""
    item = max(1, known.told["itemsize"])
    most = CHUNK_OF_PYTHON if engines.find() is by_python else CHUNK_ELEMENTS
    return max(1, min(most, CHUNK_BYTES // item))


def _engine(count: int) -> Any:
    return by_python if count <= FEW else engines.find()


def _pieces(known: Known, is_whole: bool) -> Iterator[Tuple[int, int]]:
    """Yields (first element, count) of the pieces to read: all, or a sample.
    """
    count = known.told["numel"]
    if not is_whole:
        apart = count - queries.SAMPLE_ELEMENTS
        for i in range(queries.SAMPLE_PARTS):
            deadline.check()
            yield i * apart // (queries.SAMPLE_PARTS - 1), \
                queries.SAMPLE_ELEMENTS
        return
    step = _chunk(known)
    for start in range(0, count, step):
        deadline.check()
        yield start, min(step, count - start)


class _Hash:
    """CRC-32 of all elements, and of blocks with equal numbers of elements."""

    def __init__(self, query: Query, known: Known) -> None:
        self.whole = 0
        self.blocks: List[int] = []
        self.elements = 0
        self._item = known.told["itemsize"]
        self._left = 0
        if query.blocks:
            count = known.told["numel"]
            self.elements = max(1, -(-count // query.blocks))

    def add(self, data: Any) -> None:
        self.whole = zlib.crc32(data, self.whole)
        if not self.elements:
            return
        view = memoryview(data)
        while len(view):
            if not self._left:
                self.blocks.append(0)
                self._left = self.elements * self._item
            part = view[:self._left]
            self.blocks[-1] = zlib.crc32(part, self.blocks[-1])
            self._left -= len(part)
            view = view[len(part):]

    def end(self, masks: Iterator[bytes]) -> None:
        """Appends the mask to the hashed values (in which masked elements are
        0), for each block that has a masked element."""
        at = 0
        crc, is_any = 0, False
        for mask in masks:
            self.whole = zlib.crc32(mask, self.whole)
            while self.elements and mask:
                number, first = divmod(at, self.elements)
                if not first:
                    crc, is_any = self.blocks[number], False
                part = mask[:self.elements - first]
                crc, is_any = zlib.crc32(part, crc), is_any or any(part)
                if is_any:
                    self.blocks[number] = crc
                mask = mask[len(part):]
                at += len(part)


class _Work:
    def __init__(self, source: Any, known: Known, query: Query) -> None:
        self.source = source
        self.known = known
        self.query = query
        self.dtype: Any = known.layout.dtype  # type: ignore[union-attr]
        self.told: Dict[str, Any] = {}
        self.is_number = self.dtype.kind in dtypes.NUMBERS
        self.part = statistics.Part()
        self.masked = 0

    def _mask(self, start: int, count: int) -> Any:
        """Returns one byte per element, 1 for a masked element; None: the
        array has no mask."""
        if self.known.mask is None:
            return None
        return bytes(self.source.read(start, count, self.known.mask)
                     ).translate(_TRUTHS)

    def _values(self, start: int, count: int, mask: Any = None) -> Any:
        """Returns the elements that are not masked."""
        data = self.source.read(start, count)
        if mask is None:
            mask = self._mask(start, count)
        return data if mask is None or not any(mask) else masks.kept(
            data, mask, self.known.told["itemsize"])

    def scan(self) -> None:
        """Computes statistics, histogram and hashes."""
        query, known = self.query, self.known
        is_whole = query.is_whole(known)
        hashed = _Hash(query, known)
        is_hashed = query.is_hashed() and is_whole
        is_counted = self.is_number and bool(query.statistics)
        item = known.told["itemsize"]
        seen = 0
        for start, count in _pieces(known, is_whole):
            data = self.source.read(start, count)
            mask = self._mask(start, count)
            seen += count
            if mask is not None and any(mask):
                self.masked += sum(mask)
                if is_hashed:
                    hashed.add(masks.shown(data, mask, item))
                data = masks.kept(data, mask, item)
            elif is_hashed:
                hashed.add(data)
            if is_counted and data:
                self.part = statistics.merge(
                    self.part, _engine(count).part(self.dtype, data))
        if is_hashed and self.masked:
            hashed.end(self._mask(*each) for each in _pieces(known, True))
        if is_counted:
            self.told["share"] = 1.0 if is_whole else \
                seen / known.told["numel"]
            self.told["stats"] = statistics.tell(self.part, self.dtype)
            if known.mask is not None:
                self.told["stats"]["masked"] = self.masked
        if is_hashed:
            self.told["hash"] = "%08x" % hashed.whole
        if hashed.elements and is_hashed:
            self.told["blocks"] = ["%08x" % one for one in hashed.blocks]
            self.told["block_numel"] = hashed.elements
        if query.bins and self.part.low is not None:
            self._histogram(is_whole)

    def _histogram(self, is_whole: bool) -> None:
        low, high = float(self.part.low), float(self.part.high)
        counts = [0] * self.query.bins
        for start, count in _pieces(self.known, is_whole):
            data = self._values(start, count)
            if data:
                _engine(count).bins(self.dtype, data, low, high, counts)
        self.told["histogram"] = {"low": dtypes.real(low),
                                  "high": dtypes.real(high), "bins": counts}

    def slice(self, part: Slice) -> Dict[str, Any]:
        layout: Any = self.known.layout
        numbers = self._numbers(part, layout)
        if self.known.mask is not None:
            hidden = self._numbers(part, self.known.mask)
            numbers = [{"text": "--"} if is_hidden else number
                       for number, is_hidden in zip(numbers, hidden)]
        return dict(part.tell(), numbers=numbers)

    def _numbers(self, part: Slice, layout: Any) -> List[Any]:
        index = list(part.index)
        sizes, strides = [], []
        for dimension, first, count in (
                (part.row_dimension, part.row, part.rows),
                (part.column_dimension, part.column, part.columns)):
            if dimension >= 0:
                index[dimension] = first
                sizes.append(count)
                strides.append(layout.strides[dimension])
        address = layout.address + sum(
            i * stride for i, stride in zip(index, layout.strides))
        count = part.rows * part.columns
        data = self.source.read(0, count, layout._replace(
            shape=tuple(sizes), strides=tuple(strides), address=address)) \
            if count else b""
        return dtypes.numbers(layout.dtype, bytes(data), layout.item_size)

    def find(self) -> Optional[int]:
        wanted = None
        after = self.query.after
        if self.query.find != "nan":
            if self.part.count + self.masked != self.known.told["numel"]:
                self.part = statistics.Part()
                for start, count in _pieces(self.known, True):
                    data = self._values(start, count)
                    self.part = statistics.merge(
                        self.part, _engine(count).part(self.dtype, data)
                    ) if data else self.part
            wanted = self.part.low if self.query.find == "min" \
                else self.part.high
            if wanted is None:
                return None
        elif self.dtype.kind not in (dtypes.FLOAT, dtypes.COMPLEX,
                                     dtypes.TIME):
            return None
        count = self.known.told["numel"]
        found = self._find(wanted, after + 1, count)
        if found is None and wanted is None:
            found = self._find(wanted, 0, min(after + 1, count))
        return found

    def _find(self, wanted: Any, start: int, end: int) -> Optional[int]:
        step = _chunk(self.known)
        for first in range(start, end, step):
            count = min(step, end - first)
            mask = self._mask(first, count)
            data = self._values(first, count, mask)
            at = _engine(count).first(self.dtype, data, wanted) \
                if data else None
            if at is not None:
                return first + masks.place(mask, int(at))
        return None

    def data(self) -> str:
        start, count = self.query.data or (0, 0)
        return base64.b64encode(
            self.source.read(start, count) if count else b"").decode()


def do(value: Any, known: Known, query: Query) -> Tuple[Dict[str, Any],
                                                      Dict[str, Any]]:
    """Returns (further fields of the array, further fields of the answer).
    Raises Unreadable, or Failure if the query does not fit the array."""
    queries.check(query, known)
    more: Dict[str, Any] = {"found": None}
    with sources.opened(value, known) as source:
        work = _Work(source, known, query)
        if query.statistics or query.is_hashed():
            work.scan()
        if query.slice is not None:
            more["slice"] = work.slice(query.slice)
        if query.find:
            more["found"] = work.find()
        if query.data is not None:
            more["data"] = work.data()
    return work.told, more
