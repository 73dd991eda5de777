"""Finds the values of a pandas Series or of a DataFrame's column. No method of
them runs: if pandas made a view, the program's next write would copy the whole
column (copy-on-write)."""
from __future__ import annotations

import sys
from typing import Any, Iterator, NamedTuple, Optional, Tuple

from ..dap.children import instance_names
from ..objects import loaded
from ..values import ancestors, describe, type_name

_OBJECTS = "the elements are references to Python objects, which are not " \
    "supported"
_ARROW = "the values are text in memory of Arrow, which is not supported"
_UNREAD = {
    "Categorical": "the values are categories (stored as codes), which are "
    "not supported",
    "PeriodArray": "the values are periods (stored as ordinals), which are "
    "not supported",
    "StringArray": _OBJECTS, "StringArrayNumpySemantics": _OBJECTS,
    "ArrowStringArray": _ARROW, "ArrowStringArrayNumpySemantics": _ARROW,
    "ArrowExtensionArray": "the values are in memory of Arrow, which is not "
    "supported",
    "SparseArray": "the array is sparse: read its sp_values and sp_index",
    "IntervalArray": "the array has intervals: read its left and right",
}
_BACKED = ("DatetimeArray", "TimedeltaArray", "NumpyExtensionArray",
           "PandasArray")


class Column(NamedTuple):
    """A column of a DataFrame: a row of one of its blocks."""

    frame: Any
    values: Any
    row: int


class Opened(NamedTuple):
    """If array is None, `why` is the reason. `mask` marks missing values, or
    is None."""

    array: Any
    mask: Any
    name: str
    why: str = ""


def _is_a(value: Any, name: str) -> bool:
    kind = loaded("pandas", name)
    return kind is not None and kind in ancestors(type(value))


def is_series(value: Any) -> bool:
    return type(value) is Column or _is_a(value, "Series")


def is_frame(value: Any) -> bool:
    return _is_a(value, "DataFrame")


def _manager(value: Any) -> Any:
    return instance_names(value)["_mgr"]


def columns(frame: Any) -> Iterator[Tuple[str, Column]]:
    """Yields (name, column) in their order; a name is like "['loss']"."""
    manager = _manager(frame)
    found = {}
    for block in manager.blocks:
        for row, number in enumerate(block._mgr_locs):
            found[int(number)] = block.values, row
    names = list(manager.axes[0])
    for number, name in enumerate(names):
        values, row = found[number]
        yield "[%s]" % describe(name), Column(frame, values, row)


def _values(value: Any) -> Tuple[Any, Optional[int]]:
    """Returns (the numpy or pandas array, the row in it or None)."""
    if type(value) is Column:
        return value.values, value.row
    return _manager(value).blocks[0].values, None


def _row(numpy: Any, array: Any, row: Optional[int]) -> Any:
    return array if row is None or array.ndim == 1 else \
        numpy.ndarray.__getitem__(array, row)


def opened(value: Any) -> Opened:
    numpy = sys.modules["numpy"]
    values, row = _values(value)
    mask = None
    kind = type(values).__name__
    if any(base.__name__ == "BaseMaskedArray"
           for base in ancestors(type(values))):
        names = instance_names(values)
        values, mask = names["_data"], names["_mask"]
    elif kind in _BACKED:
        if type(values.dtype).__name__ == "DatetimeTZDtype":
            return Opened(None, None, kind, "the times have a time zone, "
                          "which is not supported")
        values = values._ndarray
    elif numpy.ndarray not in ancestors(type(values)):
        return Opened(None, None, kind, _UNREAD.get(
            kind, "the values are in a pandas extension array of an "
            "unsupported type"))
    return Opened(_row(numpy, values, row), None if mask is None
                  else _row(numpy, mask, row), "pandas.Series"
                  if type(value) is Column else type_name(value))
