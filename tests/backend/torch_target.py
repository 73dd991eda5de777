"""Some hundred tensors of torch, and what is true of each.

One line of JSON, then it waits for the end of the standard input.
"""
import os
import sys
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
warnings.simplefilter("ignore")

import torch  # noqa: E402

import truths  # noqa: E402

CARRIERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64,
            16: torch.complex128}
NUMBERS = [0.0, 1.0, -1.5, 0.25, -0.0, 3.0, 7.5, -12.0, 100.0, float("nan"),
           float("inf"), -2.0, 0.125, 5.0]
DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16",
          "float32", "float64", "complex32", "complex64", "complex128",
          "bool", "uint16", "uint32", "uint64", "float8_e5m2",
          "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz",
          "float8_e8m0fnu"]


def raw(base_tensor):
    """The values' bytes in the order of their indices."""
    flat = base_tensor.contiguous().reshape(-1)
    if not flat.numel():
        return b""
    return bytes(flat.view(torch.uint8).tolist())


def storage_of(tensor):
    if hasattr(tensor, "untyped_storage"):
        return tensor.untyped_storage()
    return tensor.storage().untyped()


def type_name(value):
    kind = type(value)
    return kind.__module__ + "." + kind.__qualname__


def describe(tensor):
    function = tensor.grad_fn
    return {"type": type_name(tensor),
            "dtype": str(tensor.dtype).replace("torch.", ""),
            "shape": list(tensor.shape), "numel": tensor.numel(),
            "itemsize": tensor.element_size(), "device": str(tensor.device),
            "requires_grad": tensor.requires_grad,
            "grad_fn": function and type(function).__name__,
            "is_parameter": isinstance(tensor, torch.nn.Parameter)}


def add(tensor, name, base_tensor=None, **other):
    told = describe(tensor)
    told.update(strides=list(tensor.stride()),
                offset=tensor.storage_offset(),
                storage_nbytes=storage_of(tensor).nbytes())
    told.update(other)
    source = tensor.detach() if base_tensor is None else base_tensor
    truths.add(tensor, name, told, raw(source))


def add_unread(tensor, name, unread, **other):
    told = dict(describe(tensor), unread=unread)
    told.update(other)
    truths.add(tensor, name, told, None)


def views(whole):
    """Of 120 elements each."""
    deep = whole.reshape(2, 3, 4, 5)
    yield "whole", whole
    yield "deep", deep
    yield "permuted", deep.permute(3, 1, 0, 2)
    yield "sliced", deep[:, 1:, 1:3]
    yield "stepped", whole[3::7]
    yield "expanded", whole[8:9].expand(6, 3, 1).transpose(0, 1)
    yield "scalar", deep[1, 2, 3, 4]
    yield "empty", deep[:, 3:]
    yield "overlapping", whole.as_strided((5, 4), (2, 3), 11)
    yield "channels last", deep.contiguous(
        memory_format=torch.channels_last)
    yield "six", whole.reshape(1, 2, 3, 2, 2, 5).transpose(1, 4)
    yield "nine", whole.reshape(1, 2, 3, 1, 2, 2, 5, 1, 1)


def base_of(dtype):
    """120 elements as those of another type of the same size."""
    some = (NUMBERS * 9)[:120]
    if dtype == torch.bool:
        made = torch.tensor([x > 0 for x in some])
    elif dtype.is_complex:
        parts = {torch.complex32: torch.float16, torch.complex64:
                 torch.float32}.get(dtype, torch.float64)
        return torch.tensor(some + some[::-1], dtype=parts).view(dtype)
    elif dtype.is_floating_point:
        made = torch.tensor(some, dtype=torch.float32).to(dtype)
    else:
        size = torch.empty(0, dtype=dtype).element_size()
        made = torch.tensor([(i * 2654435761 ^ i << 40) % 2 ** (8 * size)
                             - 2 ** (8 * size - 1) for i in range(120)])
        made = made + 2 ** 7 if size == 1 else made
        made = made.to(CARRIERS[size]).view(dtype)
    return made


def add_all_types():
    for name in DTYPES:
        dtype = getattr(torch, name, None)
        if dtype is None:
            continue
        base = base_of(dtype)
        base_tensor = base.view(CARRIERS[base.element_size()])
        for form, view in views(base_tensor):
            add(view.view(dtype), name + " " + form, view)


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(context, value):
        return value * 2

    @staticmethod
    def backward(context, gradient):
        return gradient * 2


class Sub(torch.Tensor):
    pass


class Own(torch.nn.Parameter):
    pass


def add_gradients():
    leaf = torch.arange(6.0).reshape(2, 3).requires_grad_()
    add(leaf, "leaf")
    for name, made in (
            ("product", leaf * 2), ("row", leaf[1]), ("sum", leaf.sum()),
            ("exp", leaf.exp()), ("relu", leaf.relu()),
            ("matmul", leaf @ leaf.T), ("function", Twice.apply(leaf)),
            ("copy", leaf.clone()), ("detached", leaf.detach()),
            ("view of product", (leaf * 2)[:, 1:]), ("cat", torch.cat(
                [leaf, leaf])), ("stacked", torch.stack([leaf, leaf]))):
        add(made, name)
    (leaf.exp().sum() * 2).backward()
    add(leaf.grad, "gradient")
    with torch.no_grad():
        add(leaf * 3, "no grad")
    if hasattr(torch, "inference_mode"):
        with torch.inference_mode():
            add(torch.ones(3), "inference")
    written = torch.zeros(4, 2)
    written[1] = leaf[0, :2] * 2
    add(written, "written")
    base = torch.zeros(3, 2)
    view = base[0]
    base.mul_(leaf[0, :2])
    # Nobody has asked it yet, so it does not know itself.
    truths.add(view, "view of what was written", {
        "shape": [2], "dtype": "float32", "requires_grad": None,
        "grad_fn": "?"}, raw(base.detach()[0]))


def add_classes():
    add(torch.arange(4.0).as_subclass(Sub), "subclass")
    add(torch.arange(4.0, requires_grad=True).as_subclass(Sub) * 2,
        "subclass with grad")
    add(Own(torch.arange(4.0)), "own parameter")
    add(torch.nn.Parameter(torch.ones(2, 2), requires_grad=False), "frozen")
    add(torch.nn.Parameter(torch.ones(2, 2).half()), "half parameter")


def add_module():
    module = torch.nn.Sequential(
        torch.nn.Conv2d(2, 3, 3), torch.nn.BatchNorm2d(3),
        torch.nn.Linear(4, 2), torch.nn.Embedding(7, 3))
    optimizer = torch.optim.Adam(module.parameters())
    made = module[2](module[1](module[0](torch.ones(2, 2, 6, 6))))
    add(made, "output")
    made.sum().backward()
    optimizer.step()
    for name, value in module.named_parameters():
        add(value, name)
        if value.grad is not None:
            add(value.grad, name + ".grad")
    for name, value in module.named_buffers():
        add(value, name)
    for number, state in enumerate(optimizer.state.values()):
        for name in ("exp_avg", "exp_avg_sq"):
            add(state[name], "%d.%s" % (number, name))


def add_strange():
    ones = torch.ones(3, 4)
    add_unread(torch.ones(3, 4, device="meta"), "meta", "meta",
               shape=[3, 4], strides=[4, 1])
    add_unread(ones.to_sparse(), "sparse", "sparse", shape=[3, 4])
    add_unread(ones.to_sparse_csr(), "csr", "sparse", shape=[3, 4])
    add_unread(torch.quantize_per_tensor(ones, .1, 0, torch.quint8),
               "quantized", "quantized", shape=[3, 4])
    shifted = torch.ones(3, dtype=torch.complex64).conj()
    add_unread(shifted, "conjugated", "conjugated", shape=[3])
    add_unread(shifted.imag, "negated", "negated", shape=[3])
    emptied = torch.ones(5)
    storage_of(emptied).resize_(0)
    add_unread(emptied, "freed", "freed", shape=[5])
    add(torch.empty(0), "nothing")
    add(torch.frombuffer(bytearray(range(24)), dtype=torch.int16, offset=4),
        "of a bytearray")
    add(torch.arange(10).reshape(2, 5).flip(0), "flipped")


def add_nested():
    made = torch.nested.nested_tensor([torch.ones(2, 2), torch.ones(3, 2)])
    truths.add(made, "nested", {"dtype": "float32", "shape": [],
                                "unread": "nested"}, None)


def add_fake():
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode():
        made = torch.ones(3, 2)
    truths.add(made, "fake", {"shape": [3, 2], "dtype": "float32",
                              "unread": "Fake"}, None)


def add_shards():
    """Two ranks' worth of a DTensor, of which one is here."""
    import torch.distributed as dist
    from torch.distributed.tensor import (DeviceMesh, DTensor, Replicate,
                                          Shard)
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0,
                            world_size=1)
    mesh = DeviceMesh("cpu", [0])
    local = torch.arange(12.0).reshape(3, 4)
    for places, text in (([Shard(0)], "Shard(0)"), ([Shard(1)], "Shard(1)"),
                         ([Replicate()], "Replicate")):
        made = DTensor.from_local(local.clone(), mesh, places,
                                  run_check=False)
        told = describe(made)
        told["placement"] = text + " of [3, 4]"
        truths.add(made, text, told, raw(local))
    whole = torch.nn.Parameter(DTensor.from_local(
        local.clone(), mesh, [Shard(0)], run_check=False))
    told = dict(describe(whole), placement="Shard(0) of [3, 4]")
    truths.add(whole, "parameter of shards", told, raw(local))


PARTS = [add_all_types, add_gradients, add_classes, add_module, add_strange,
         add_nested, add_fake]
if len(sys.argv) > 1 and sys.argv[1] == "shards":
    PARTS = [add_shards]
for part in PARTS:
    part()
truths.serve()
