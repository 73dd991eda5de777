"""Describes arrays of all libraries: as JSON, and the location of their
elements."""
from __future__ import annotations

import array
import sys
from typing import Any, Optional, Tuple

from ..dap.children import instance_names
from ..objects import loaded
from ..values import ancestors, type_name
from . import dtypes, of_jax, of_pandas, of_torch
from .buffers import buffer_of
from .known import Known, contiguous, tell
from .layout import Layout

_CODES = {"b": "int8", "B": "uint8", "h": "int16", "H": "uint16",
          "i": "int32", "I": "uint32", "l": "int64", "L": "uint64",
          "q": "int64", "Q": "uint64", "f": "float32", "d": "float64",
          "e": "float16", "?": "bool", "c": "bytes", "n": "int64",
          "N": "uint64", "P": "uint64"}
# numpy's built-in types have smaller type numbers.
_BUILTIN_TYPES = 24
# Maximum size in bytes of an element of a masked array.
MASKED_ITEM = 4096
_KINDS = {"O": "object", "M": "datetime64", "m": "timedelta64", "U": "str",
          "S": "bytes", "V": "void", "T": "StringDType"}


def _known(value: Any, name: str, shape: Tuple[int, ...],
           strides: Tuple[int, ...], item: int, address: int,
           is_swapped: bool = False, plain: Any = None) -> Known:
    told = tell(value, (">" if is_swapped else "") + name, shape, strides,
                item)
    dtype = dtypes.find(name)
    if dtype is None or dtype.kind == dtypes.OBJECT:
        told["unread"] = "the elements are references to Python objects, " \
            "which are not supported" if dtype else \
            "the dtype of the elements is unknown"
        return Known(told, (), None)
    layout = Layout(dtype, item, shape, strides, address, is_swapped)
    return Known(told, layout[1:5], layout, None, plain)


def _name(dtype: Any) -> str:
    """Returns our name of a numpy dtype."""
    kind, item = dtype.kind, int(dtype.itemsize)
    name = {"f16": "longdouble", "c32": "clongdouble", "b1": "bool"}.get(
        "%s%d" % (kind, item))
    if name is None:
        name = _KINDS.get(kind) or {
            "i": "int%d", "u": "uint%d", "f": "float%d", "c": "complex%d"
            }.get(kind, "?%d") % (8 * item)
    return name if 0 <= dtype.num < _BUILTIN_TYPES or kind == "T" \
        else _added(dtype)


def _of_numpy(value: Any) -> Known:
    names = sys.modules["numpy"].ndarray.__dict__

    def get(name: str) -> Any:
        return names[name].__get__(value)

    dtype = get("dtype")
    known = _known(value, _name(dtype), tuple(get("shape")),
                   tuple(get("strides")), int(dtype.itemsize),
                   get("__array_interface__")["data"][0],
                   dtype.byteorder == ">")
    return _masked(value, known)


def _unread(value: Any, dtype: str, why: str) -> Known:
    """Describes an array whose shape is unknown."""
    return Known({"type": type_name(value), "dtype": dtype, "shape": [],
                  "strides": [], "device": None, "unread": why}, (), None)


def _of_pandas(value: Any) -> Known:
    found = of_pandas.opened(value)
    if found.array is None:
        return _unread(value, found.name, found.why)
    known = _of_numpy(found.array)
    known.told["type"] = found.name
    return known if found.mask is None else mask_by(known, found.mask)


def _of_jax(value: Any) -> Known:
    address, why = of_jax.place(value)
    if of_jax.is_tracer(value):
        return _unread(value, "?", why)
    shape, item = tuple(value.shape), int(value.dtype.itemsize)
    known = _known(value, _name(value.dtype), shape, contiguous(shape, item),
                   item, address)
    if known.layout is not None and known.layout.dtype.bits != 0xff:
        why = why or "the elements are packed: each is smaller than a byte"
    return _refuse(known, why) if why else known


def _added(dtype: Any) -> str:
    """Returns the name of a dtype that a library added to numpy, by its scalar
    class; those of ml_dtypes are supported."""
    kind = dtype.type
    if kind.__module__ == "ml_dtypes":
        name = str(kind.__qualname__)
        for each in ("ml_dtypes." + name, name):
            found = dtypes.find(each)
            if found is not None and found.size == dtype.itemsize:
                return each
    return "%s.%s" % (kind.__module__, kind.__qualname__)


def _refuse(known: Known, why: str) -> Known:
    known.told.setdefault("unread", why)
    return known._replace(layout=None)


def _masked(value: Any, known: Known) -> Known:
    """Adds the mask of a masked array, if value has one."""
    numpy = sys.modules["numpy"]
    kinds = ancestors(type(value))
    mask = instance_names(value).get("_mask")
    is_array = numpy.ndarray in ancestors(type(mask))
    if loaded("numpy.ma", "MaskedArray") not in kinds:
        return known if not is_array else _refuse(
            known, "the class of the array has a mask, which is supported "
            "only in numpy.ma.MaskedArray")
    if type(mask) is not numpy.bool_ and not is_array:
        return _refuse(known, "the mask of the array is not a numpy array")
    mask = mask_of(value)
    return known if mask is None else mask_by(known, mask)


_ALL_MASKED: Any = memoryview(b"\1").cast("?", shape=[])


def mask_of(value: Any) -> Any:
    """Returns the mask of a numpy masked array, as a plain ndarray; None:
    value has no mask, or is no masked array."""
    numpy = sys.modules["numpy"]
    if loaded("numpy.ma", "MaskedArray") not in ancestors(type(value)):
        return None
    mask = instance_names(value).get("_mask")
    if numpy.ndarray in ancestors(type(mask)):
        return numpy.ndarray.view(mask, numpy.ndarray)
    return numpy.broadcast_to(
        _ALL_MASKED, numpy.ndarray.__dict__["shape"].__get__(value)) \
        if type(mask) is numpy.bool_ and mask else None


def mask_by(known: Known, mask: Any) -> Known:
    """Adds a bool array as mask."""
    numpy = sys.modules["numpy"]
    names = numpy.ndarray.__dict__
    dtype = names["dtype"].__get__(mask)
    shape = names["shape"].__get__(mask)
    if dtype.kind != "b" or dtype.itemsize != 1:
        return _refuse(known, "the mask of the array is not of dtype bool: "
                       "masks of structured arrays are not supported")
    if list(shape) != known.told["shape"]:
        return _refuse(known, "the mask does not have the shape of the array")
    if known.told["itemsize"] > MASKED_ITEM:
        return _refuse(known, "a masked element can have at most %d bytes"
                       % MASKED_ITEM)
    if known.layout is None:
        return known
    bool_dtype: Any = dtypes.find("bool")
    layout = Layout(bool_dtype, 1, tuple(shape),
                    tuple(names["strides"].__get__(mask)),
                    names["__array_interface__"].__get__(mask)["data"][0])
    known.told["has_mask"] = True
    return known._replace(mask=layout,
                          identity=known.identity + layout[2:5])


def _of_bytes(value: Any, base: Any) -> Known:
    size = base.__len__(value)
    return _known(value, "uint8", (size,), (1,), 1, id(value), plain=base)


def _of_array(value: Any) -> Known:
    code = array.array.__dict__["typecode"].__get__(value)
    item = array.array.__dict__["itemsize"].__get__(value)
    size = array.array.__len__(value)
    name = "str" if code in "uw" else _CODES.get(code, "?")
    return _known(value, name, (size,), (item,), item, id(value),
                  plain=array.array)


def _of_memoryview(value: Any) -> Known:
    form = value.format
    item, shape = value.itemsize, tuple(value.shape or ())
    name = _CODES.get(form.lstrip("@=<>"), "?")
    is_swapped = form[:1] == ">" and item > 1
    found = dtypes.find(name)
    if found is not None and found.size not in (0, item):
        name = "?"
    address, strides = buffer_of(value)
    if strides is None:
        strides = contiguous(shape, item)
    return _known(value, name if name != "?" else "void", shape, strides,
                  item, address, is_swapped)


def find(value: Any) -> Optional[Known]:
    """Describes value; None: it is no array. Raises exceptions of torch and
    numpy if value cannot be described."""
    kinds = ancestors(type(value))
    if of_torch.is_tensor(kinds):
        return of_torch.find(value)
    ndarray = loaded("numpy", "ndarray")
    if ndarray is not None and ndarray in kinds:
        return _of_numpy(value)
    if of_pandas.is_series(value):
        return _of_pandas(value)
    if of_jax.is_array(value):
        return _of_jax(value)
    for base in (bytes, bytearray):
        if base in kinds:
            return _of_bytes(value, base)
    if array.array in kinds:
        return _of_array(value)
    if memoryview in kinds:
        return _of_memoryview(value)
    return None
