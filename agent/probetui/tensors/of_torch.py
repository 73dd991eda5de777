"""Describes torch tensors. Only torch's own C functions are called, no methods
that subclasses may override; no operation is executed."""
from __future__ import annotations

import contextlib
import sys
from typing import Any, Dict, Iterator, Optional

from ..dap.children import class_names, instance_names, slots
from ..objects import loaded
from ..values import ancestors, class_name, cut, type_name
from . import dtypes
from .known import Known, tell
from .layout import Layout, span

TEXT_MAXIMUM = 1000
_BASES = ("torch._C.TensorBase", "torch._C._TensorBase")
_LAYOUTS = {"torch.strided"}
# Attributes that a tensor returns without executing an operation.
_FACTS = ("shape", "dtype", "device", "layout", "requires_grad", "is_leaf",
          "grad_fn", "ndim", "itemsize", "nbytes", "retains_grad",
          "output_nr", "_version", "is_cuda", "is_sparse", "is_quantized",
          "is_meta", "name", "names")


def _base() -> Any:
    tensor = loaded("torch", "Tensor")
    if tensor is None:
        return None
    for kind in ancestors(tensor):
        if kind is not tensor and class_name(kind) in _BASES:
            return kind
    return None


def is_tensor(kinds: Any) -> bool:
    base = _base()
    return base is not None and base in kinds


def plainly() -> Any:
    """Returns a context manager that disables __torch_function__ of
    subclasses."""
    torch = sys.modules["torch"]
    for name in ("DisableTorchFunctionSubclass", "DisableTorchFunction"):
        guard = getattr(torch._C, name, None)
        if guard is not None:
            return guard()
    return contextlib.nullcontext()


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """For use in a thread of the program: while it is entered, active modes
    (such as TorchDispatchMode) do not see the operations."""
    torch = sys.modules["torch"]
    with contextlib.ExitStack() as parts:
        for name in ("DisableTorchFunction", "_DisableTorchDispatch"):
            guard = getattr(torch._C, name, None)
            if guard is not None:
                made = guard()
                # Some guards have no __enter__: they are active until they are
                # freed.
                parts.callback(id, made)
                if hasattr(made, "__enter__"):
                    parts.enter_context(made)
                del made
        yield


class _Refusal:
    """A TorchDispatchMode that raises: it is called before a subclass's
    __torch_dispatch__, which torch calls even for the sizes of some
    subclasses."""

    def __torch_dispatch__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("reading the tensor would run __torch_dispatch__ of "
                        "its class")


@contextlib.contextmanager
def _undispatched(tensor: Any) -> Iterator[None]:
    """Makes calls fail that would run __torch_dispatch__ of the tensor's
    class."""
    if not has_dispatch(tensor):
        yield
        return
    names = sys.modules["torch"]._C
    names._push_on_torch_dispatch_stack(_Refusal())
    try:
        yield
    finally:
        try:
            names._pop_torch_dispatch_stack(None)
        except TypeError:
            # Since torch 2.0, the function takes an argument.
            names._pop_torch_dispatch_stack()


class _Reader:
    """Calls the methods that torch implements in C, on one tensor."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor
        self._names = _base().__dict__

    def get(self, name: str) -> Any:
        return self._names[name].__get__(self._tensor)

    def call(self, name: str, default: Any = None) -> Any:
        method = self._names.get(name)
        return default if method is None else method(self._tensor)

    def has(self, name: str) -> bool:
        """Returns a bool attribute."""
        return name in self._names and bool(self.get(name))


def _stored(value: Any) -> Dict[str, Any]:
    """Returns the attributes stored in value, from __dict__ and __slots__."""
    return {**instance_names(value), **dict(slots(value))}


def local_of(tensor: Any) -> Any:
    """Returns this rank's shard of a DTensor; any other tensor unchanged."""
    if any(class_name(kind).startswith("torch.distributed.")
           and class_name(kind).endswith(".DTensor")
           for kind in ancestors(type(tensor))):
        local = _stored(tensor).get("_local_tensor")
        if local is not None and is_tensor(ancestors(type(local))):
            return local
    return tensor


def _placement(tensor: Any) -> Optional[str]:
    """Returns the placement of a DTensor, as "Shard(0) of [1024, 64]"; None:
    unknown."""
    found = _stored(_stored(tensor).get("_spec")).get("placements")
    if type(found) not in (tuple, list):
        return None
    texts = []
    for placement in found:
        kind = class_name(type(placement))
        text = kind.rpartition(".")[2].lstrip("_")
        names = _stored(placement)
        for name in ("dim", "reduce_op"):
            part = names.get(name)
            if part is None and kind.startswith("torch."):
                part = getattr(placement, name, None)
            if type(part) in (int, str):
                text += "(%s)" % part
                break
        texts.append(text)
    return cut("%s of %s" % (", ".join(texts), list(
        _Reader(tensor).get("shape"))), TEXT_MAXIMUM)


def _shard(tensor: Any, placement: str) -> Optional[str]:
    """Returns this rank's coordinates in the mesh dimensions that are not
    replicated; None: unknown, or all are replicated."""
    mesh = _stored(_stored(_stored(tensor).get("_spec")).get("mesh"))
    at = mesh.get("_coordinate_on_dim")
    kinds = placement.rpartition(" of ")[0].split(", ")
    if type(at) not in (tuple, list) or len(at) != len(kinds):
        return None
    return ", ".join("%d" % each for each, kind in zip(at, kinds)
                     if not kind.startswith("Replicate")) or None


def _storage(reader: _Reader, told: Dict[str, Any]) -> int:
    """Returns the size of the storage in bytes; adds it and the number of its
    users to `told`."""
    torch = sys.modules["torch"]
    storage = reader.call("untyped_storage")
    if storage is None:
        storage = reader.call("_storage")
    size = int(storage.nbytes())
    told["storage_nbytes"] = size
    users = getattr(torch._C, "_storage_Use_Count", None)
    if users is not None:
        # Do not count the reference that was made for this query.
        told["storage_users"] = max(0, int(users(storage._cdata)) - 1)
    return size


def _refusal(reader: _Reader, dtype: Any) -> Optional[str]:
    """Returns why the elements cannot be read, or None."""
    if reader.has("is_nested"):
        return "the tensor is nested: its elements are in its component " \
            "tensors"
    layout = str(reader.get("layout"))
    if layout not in _LAYOUTS:
        return "the tensor has layout %s, which is not supported" % layout
    if reader.has("is_quantized"):
        return "the tensor is quantized, which is not supported: its " \
            "values depend on a scale"
    if reader.has("is_meta"):
        return "the tensor has no elements: its device is meta"
    if dtype is None or dtype.kind == dtypes.PACKED:
        return "the type of the elements is not supported"
    return None


def _address(tensor: Any, reader: _Reader, told: Dict[str, Any]) -> int:
    """Returns the address of the first element. Avoids data_ptr(), which would
    materialize a lazy copy (copy-on-write)."""
    ask = getattr(sys.modules["torch"]._C, "_data_address", None)
    if ask is None or "offset" not in told:
        return int(reader.call("data_ptr"))
    start = int(ask(tensor))  # address of the storage
    return start + told["offset"] * told["itemsize"] if start else 0


def _strides(reader: _Reader, shape: Any) -> Any:
    """Returns the strides; zeros if the tensor has none (sparse, nested)."""
    try:
        found = tuple(reader.call("stride"))
    except Exception:
        found = ()
    is_plain = len(found) == len(shape) and all(
        type(stride) is int for stride in found)
    return found if is_plain else (0,) * len(shape)


def _is_parameter(tensor: Any) -> bool:
    kind = loaded("torch.nn.parameter", "Parameter")
    return kind is not None and (
        kind in ancestors(type(tensor))
        or instance_names(tensor).get("_is_param") is True)


def _describe(tensor: Any, reader: _Reader, dtype: str, shape: Any,
              strides: Any) -> Dict[str, Any]:
    told = tell(tensor, dtype, shape, strides,
                int(reader.call("element_size", 0)))
    told["device"] = str(reader.get("device"))
    told["requires_grad"] = bool(reader.get("requires_grad"))
    told["is_parameter"] = _is_parameter(tensor)
    with contextlib.suppress(Exception):
        # grad_fn raises if a view's base was modified in place.
        function = reader.get("grad_fn")
        if function is not None:
            told["grad_fn"] = type_name(function).rpartition(".")[2]
    with contextlib.suppress(Exception):
        told["offset"] = int(reader.call("storage_offset"))
    return told


def find(tensor: Any) -> Known:
    """Describes a tensor. Raises torch's exceptions if that is not possible.
    """
    local = local_of(tensor)
    with plainly(), _undispatched(tensor), _undispatched(local):
        reader = _Reader(local)
        name = str(reader.get("dtype")).replace("torch.", "")
        dtype = dtypes.find(name)
        if reader.has("is_nested"):
            shape: Any = (int(reader.call("numel")),)
        else:
            shape = tuple(reader.get("shape"))
        if any(type(size) is not int for size in shape):
            # A symbolic size (torch.compile): int() of it would specialize the
            # compiled code to its value.
            raise TypeError("the tensor has symbolic sizes "
                            "(torch.compile), not numbers")
        strides = _strides(reader, shape)
        told = _describe(tensor, reader, name, shape, strides)
        if local is not tensor:
            outer = _Reader(tensor)
            told["requires_grad"] = bool(outer.get("requires_grad"))
            placement = _placement(tensor)
            told["placement"] = placement
            if placement:
                told["shard"] = _shard(tensor, placement)
        return _place(local, reader, dtype, told)


def has_dispatch(tensor: Any) -> bool:
    """True if the tensor's class implements operations by __torch_dispatch__.
    """
    nothing = getattr(sys.modules["torch"]._C,
                      "_disabled_torch_dispatch_impl", None)
    for kind in ancestors(type(tensor)):
        names = class_names(kind)
        if "__torch_dispatch__" in names:
            found = names["__torch_dispatch__"]
            return getattr(found, "__func__", found) is not nothing
    return False


def _place(local: Any, reader: _Reader, dtype: Any,
           told: Dict[str, Any]) -> Known:
    why = _refusal(reader, dtype)
    size = -1  # unknown
    if why is None or reader.has("is_meta"):
        with contextlib.suppress(Exception):
            size = _storage(reader, told)
    if why is not None:
        told["unread"] = why
        return Known(told, (), None)
    item = told["itemsize"]
    try:
        address = _address(local, reader, told)
    except RuntimeError:
        address = 0
    layout = Layout(dtype, item, tuple(told["shape"]), tuple(
        stride * item for stride in told["strides"]), address, False,
        bool(reader.call("is_conj")), bool(reader.call("is_neg")))
    identity = layout[1:5] + (size, told["dtype"])
    if told["device"] != "cpu":
        if has_dispatch(local):
            told["unread"] = "the tensor is on a device, and reading it " \
                "would run __torch_dispatch__ of its class"
            return Known(told, identity, None)
        return Known(told, identity, layout, local)
    if told["numel"] and size >= 0 and address and \
            span(layout)[1] > size - item * (told.get("offset") or 0):
        told["unread"] = "the storage is smaller than the tensor: the " \
            "storage was freed"
        return Known(told, identity, None)
    if told["numel"] and address == 0:
        told["unread"] = "the tensor has no memory: its storage was freed, " \
            "or it wraps other tensors that have the elements"
        return Known(told, identity, None)
    return Known(told, identity, layout)


def attribute(tensor: Any, name: str, found: Any) -> Any:
    """Returns the value of a C descriptor. Raises TypeError if the tensor's
    class may override it."""
    if name == "grad":
        return gradient(tensor)
    if name not in _FACTS and class_name(type(tensor)) not in (
            "torch.Tensor", "torch.nn.parameter.Parameter"):
        raise TypeError("the class of the tensor may override the attribute")
    with plainly(), _undispatched(tensor):
        return found.__get__(tensor)


def gradient(tensor: Any) -> Any:
    """Returns .grad of a leaf, else None: torch warns for other tensors."""
    with plainly():
        reader = _Reader(tensor)
        try:
            if not (reader.get("is_leaf") or reader.get("retains_grad")):
                return None
            return reader.get("grad")
        except Exception:
            return None
