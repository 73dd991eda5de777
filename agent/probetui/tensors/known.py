"""What is known of an array, of any library."""
from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple

from ..values import type_name
from .layout import Layout, count


class Known(NamedTuple):
    """`told` is the JSON of src/protocol/tensor.h, without anything of the
    elements. `identity`: equal as long as they lie at the same place. Where
    `layout` is None they cannot be read, and told["unread"] says why."""

    told: Dict[str, Any]
    identity: Tuple[Any, ...]
    layout: Optional[Layout]
    # Of torch: what lies on a device.
    device: Any = None
    # A built-in class, slices of which are copies.
    plain: Any = None
    # Of the same shape, a byte for each: where it is not 0 it does not count.
    mask: Optional[Layout] = None


def tell(value: Any, dtype: str, shape: Sequence[int],
         strides: Sequence[int], item: int) -> Dict[str, Any]:
    numel = count(shape)
    return {"type": type_name(value), "dtype": dtype, "shape": list(shape),
            "strides": list(strides), "numel": numel, "itemsize": item,
            "nbytes": numel * item, "device": None, "requires_grad": False,
            "is_parameter": False}


def contiguous(shape: Sequence[int], item: int) -> Tuple[int, ...]:
    """Its strides."""
    strides = []
    step = item
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))
