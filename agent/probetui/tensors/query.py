"""A request about an array's elements; same as backends/tensor/scan-query.h.
"""
from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ..dap.messages import Arguments, Failure
from . import dtypes
from .known import Known

WHOLE_BYTES = 32 << 20
SAMPLE_PARTS = 256
SAMPLE_ELEMENTS = 4096
BINS_MAXIMUM = 256
BLOCKS_MAXIMUM = 4096
CELLS_MAXIMUM = 65536
DATA_MAXIMUM = 1 << 20
# Maximum bytes of a slice: elements that are texts may be long.
SLICE_MAXIMUM = 16 << 20
INTEGER_MAXIMUM = 2 ** 63 - 1
_STATISTICS = ("sample", "whole", "auto")
_FINDS = ("min", "max", "nan")


class Slice(NamedTuple):
    row_dimension: int
    column_dimension: int
    index: List[int]
    row: int
    rows: int
    column: int
    columns: int

    def tell(self) -> Dict[str, Any]:
        return {"rowDimension": self.row_dimension,
                "columnDimension": self.column_dimension,
                "index": self.index, "row": self.row, "rows": self.rows,
                "column": self.column, "columns": self.columns}


class Query(NamedTuple):
    statistics: str = ""
    bins: int = 0
    has_hash: bool = False
    blocks: int = 0
    slice: Optional[Slice] = None
    find: str = ""
    after: int = -1
    data: Optional[Tuple[int, int]] = None

    def is_any(self) -> bool:
        return bool(self.statistics or self.is_hashed() or self.slice
                    or self.find or self.data)

    def is_hashed(self) -> bool:
        return self.has_hash or self.blocks > 0

    def is_whole(self, known: Known) -> bool:
        """Whether all elements are read. A hash without statistics needs all;
        statistics of a sample come without a hash."""
        if not self.statistics:
            return self.is_hashed()
        return self.statistics == "whole" or \
            self.statistics == "auto" and \
            known.told["nbytes"] <= WHOLE_BYTES or \
            known.told["numel"] <= SAMPLE_PARTS * SAMPLE_ELEMENTS


def _read_slice(arguments: Arguments) -> Slice:
    index = arguments.fields.get("index")
    if type(index) is not list or len(index) > 64 or any(
            type(i) is not int or not 0 <= i <= INTEGER_MAXIMUM
            for i in index):
        raise Failure("slice.index must be a list of numbers, one for each "
                      "dimension")

    def number(name: str, default: int, low: int = 0,
               high: int = INTEGER_MAXIMUM) -> int:
        return int(arguments.integer(name, default, low, high))

    highest = len(index) - 1
    found = Slice(number("rowDimension", -1, -1, highest),
                  number("columnDimension", -1, -1, highest), index,
                  number("row", 0), number("rows", 1, 0, CELLS_MAXIMUM),
                  number("column", 0), number("columns", 1, 0, CELLS_MAXIMUM))
    if found.row_dimension >= 0 and \
            found.row_dimension == found.column_dimension or \
            found.rows * found.columns > CELLS_MAXIMUM:
        raise Failure("the slice has the same dimension for rows and columns, "
                      "or more than %d elements" % CELLS_MAXIMUM)
    return found


def read(arguments: Arguments) -> Query:
    """Reads a query from a request's arguments. Raises Failure."""
    statistics = arguments.choice("statistics", _STATISTICS) or ""
    bins = arguments.integer("bins", 0, 0, BINS_MAXIMUM)
    has_hash = arguments.flag("hash")
    blocks = arguments.integer("blocks", 0, 0, BLOCKS_MAXIMUM)
    if bins and not statistics:
        statistics = "auto"
    part = arguments.object("slice", None)
    data = arguments.object("data", None)
    return Query(
        statistics, bins, has_hash, blocks,
        None if part is None else _read_slice(part),
        arguments.choice("find", _FINDS) or "",
        arguments.integer("after", -1, -1, INTEGER_MAXIMUM),
        None if data is None else (
            data.integer("start", 0, 0, INTEGER_MAXIMUM),
            data.integer("count", 0, 0, INTEGER_MAXIMUM)))


def _check_slice(part: Slice, shape: List[int], item: int) -> None:
    if len(part.index) != len(shape):
        raise Failure("the slice has %d dimensions, but the tensor has %d"
                      % (len(part.index), len(shape)))
    runs = {part.row_dimension: (part.row, part.rows),
            part.column_dimension: (part.column, part.columns)}
    if part.row_dimension < 0 and part.rows > 1 or \
            part.column_dimension < 0 and part.columns > 1:
        raise Failure("the slice has several rows or columns, but no "
                      "dimension for them")
    for i, size in enumerate(shape):
        first, count = runs.get(i, (part.index[i], 1))
        if first + count > size:
            raise Failure("the slice exceeds dimension %d, which has %d "
                          "elements" % (i, size))
    if part.rows * part.columns * item > SLICE_MAXIMUM:
        raise Failure("too many elements of %d bytes: request fewer at once"
                      % item)


def check(query: Query, known: Known) -> None:
    """Raises Failure if the query does not fit the array."""
    told = known.told
    if query.slice is not None:
        _check_slice(query.slice, told["shape"], told["itemsize"])
    if query.data is not None:
        start, count = query.data
        if start + count > told["numel"]:
            raise Failure("the requested elements exceed the tensor, which "
                          "has %d" % told["numel"])
        if count * told["itemsize"] > DATA_MAXIMUM:
            raise Failure("data can have at most %d bytes: request fewer "
                          "elements" % DATA_MAXIMUM)
        if known.mask is not None:
            raise Failure("the tensor has a mask: raw bytes of its elements "
                          "are not available")
    dtype = known.layout.dtype if known.layout is not None else None
    if query.find and dtype is not None:
        if dtype.kind not in dtypes.NUMBERS:
            raise Failure("elements of %s are not numbers" % dtype.name)
        if dtype.kind == dtypes.COMPLEX and query.find != "nan":
            raise Failure("elements of %s have no order, so there is no "
                          "minimum or maximum" % dtype.name)
