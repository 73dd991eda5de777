"""Finds the elements of a jax array, if it is computed, on a CPU, and on one
device. jax is never asked to compute, copy or wait."""
from __future__ import annotations

from typing import Any, Tuple

from ..objects import loaded
from ..values import ancestors

_MODULES = ("jaxlib._jax", "jaxlib.xla_extension")


def is_array(value: Any) -> bool:
    kinds = ancestors(type(value))
    return any(loaded(module, "ArrayImpl") in kinds for module in _MODULES
               if loaded(module, "ArrayImpl") is not None) or \
        is_tracer(value)


def is_tracer(value: Any) -> bool:
    kind = loaded("jax._src.core", "Tracer")
    return kind is not None and kind in ancestors(type(value))


def _is_in_order(value: Any) -> bool:
    """True if the elements are in C order without gaps."""
    if value.ndim < 2:
        return True
    layout = value.format.layout
    return tuple(layout.major_to_minor) == tuple(range(value.ndim)) and \
        not layout.tiling


def place(value: Any) -> Tuple[int, str]:
    """Returns (address, ""), or (0, reason)."""
    if is_tracer(value):
        return 0, "the value is a tracer of jax, which has no elements"
    if value.is_deleted():
        return 0, "the jax array was deleted, or donated (donate_argnums)"
    if len(value.sharding.device_set) != 1:
        return 0, "the jax array is sharded over %d devices: read the data " \
            "of one of its addressable_shards" % len(value.sharding.device_set)
    device = next(iter(value.sharding.device_set))
    if device.platform != "cpu":
        return 0, "the jax array is on %s: read a variable set to " \
            "numpy.asarray() of it" % device
    if not value.is_ready():
        return 0, "the jax array is still being computed"
    try:
        if not _is_in_order(value):
            return 0, "the elements of the jax array are not in row-major " \
                "order"
        if value.on_device_size_in_bytes() != value.nbytes:
            return 0, "the elements of the jax array are packed, or have " \
                "gaps"
    except (AttributeError, RuntimeError):
        return 0, "the order of the elements is not available in this " \
            "version of jax"
    return int(value.unsafe_buffer_pointer()), ""
