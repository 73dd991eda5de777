"""The description of an array of any library."""
from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple

from ..values import type_name
from .layout import Layout, count


class Known(NamedTuple):
    """`told` is the JSON of src/protocol/tensor.h, without the elements.
    `identity` is equal as long as the elements are at the same place. If
    `layout` is None, the elements cannot be read, and told["unread"] says why.
    """

    told: Dict[str, Any]
    identity: Tuple[Any, ...]
    layout: Optional[Layout]
    # a torch tensor on a device
    device: Any = None
    # the built-in class of value (bytes, array.array), whose slices are copies
    plain: Any = None
    # layout of the mask, of the same shape, one byte each; elements with a
    # mask byte other than 0 do not count
    mask: Optional[Layout] = None


def tell(value: Any, dtype: str, shape: Sequence[int],
         strides: Sequence[int], item: int) -> Dict[str, Any]:
    numel = count(shape)
    return {"type": type_name(value), "dtype": dtype, "shape": list(shape),
            "strides": list(strides), "numel": numel, "itemsize": item,
            "nbytes": numel * item, "device": None, "requires_grad": False,
            "is_parameter": False}


def contiguous(shape: Sequence[int], item: int) -> Tuple[int, ...]:
    """Returns the strides of a contiguous array (C order)."""
    strides = []
    step = item
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))
