"""Tensors and arrays of every kind, and what the reader should say of them.

One line of JSON, a list of [address, text], then it waits for the end of the
standard input.
"""
import json
import sys

KEPT = []


def tell(value, text):
    KEPT.append((value, [hex(id(value)), text]))


def tell_array(value):
    import numpy
    name = {"U": "str", "S": "bytes", "V": "void",
            "M": "datetime64", "m": "timedelta64"}.get(
                value.dtype.kind, value.dtype.name)
    if value.dtype == numpy.longdouble:
        name = "longdouble"
    if value.dtype.byteorder == ">":
        name = ">" + name
    kind = type(value).__name__
    tell(value, "%s %s %s" % (kind, name, list(value.shape)))


def arrays():
    import numpy

    class Sub(numpy.ndarray):
        pass

    for dtype in ("bool", "int8", "int16", "int32", "int64", "uint8",
                  "uint16", "uint32", "uint64", "float16", "float32",
                  "float64", "longdouble", "complex64", "complex128",
                  "object", "U7", "S3", "M8[s]", "m8[D]", ">i4", ">f8"):
        tell_array(numpy.zeros((3, 4), dtype))
    for shape in ((), (0,), (7,), (2, 0, 3), (1,) * 32):
        tell_array(numpy.zeros(shape))
    whole = numpy.arange(24.0).reshape(2, 3, 4)
    for view in (whole.T, whole[::2, 1:], whole[..., 0],
                 numpy.broadcast_to(whole[0], (5, 3, 4)), whole.view(Sub),
                 numpy.zeros(3, [("a", "i4"), ("b", "f8")])):
        tell_array(view)
    scalars(numpy)


def scalars(numpy):
    for name in ("int8", "int16", "int32", "int64", "longlong"):
        kind = getattr(numpy, name)
        for value in (0, -1, numpy.iinfo(kind).min, numpy.iinfo(kind).max):
            tell(kind(value), str(value))
    for name in ("uint8", "uint16", "uint32", "uint64", "ulonglong"):
        kind = getattr(numpy, name)
        tell(kind(numpy.iinfo(kind).max), str(numpy.iinfo(kind).max))
    for value in (True, False):
        tell(numpy.bool_(value), str(value))
    for name in ("float16", "float32", "float64"):
        kind = getattr(numpy, name)
        info = numpy.finfo(kind)
        for value in [0, -0.0, 1, 0.1, 1 / 3, 1e-7, -2.5, 65504, 1e-5,
                      2.0**-14, 2.0**-24, 2.0**-15 * 1.5, 1000.4, 0.3333,
                      info.max, info.min, info.tiny, info.eps,
                      float("nan"), float("inf"), -float("inf")]:
            scalar = kind(value)
            text = str(scalar)
            if "e" in text:
                # numpy writes 1e+04 of a half, where float writes 10000.0.
                mantissa, exponent = text.split("e")
                if -5 < int(exponent) < 16:
                    continue
            tell(scalar, text)
    for name in ("complex64", "complex128"):
        kind = getattr(numpy, name)
        for value in (0, 1 + 2j, 0.1 - 0.25j):
            tell(kind(value), str(kind(value)))
    for text in ("2024-02-29", "1969-12-31T23", "1969-12-31T23:59",
                 "2024-01-02T03:04:05", "1969-12-31T23:59:59.999",
                 "2024-01-02T03:04:05.000006",
                 "2024-01-02T03:04:05.123456789", "NaT"):
        tell(numpy.datetime64(text, "s") if text == "NaT"
             else numpy.datetime64(text), text)
    tell(numpy.timedelta64(-5, "ms"), "-5 ms")
    tell(numpy.timedelta64("NaT", "s"), "NaT")


def tell_tensor(value, kind="tensor"):
    tell(value, "%s %s %s %s%s" % (
        kind, str(value.dtype).replace("torch.", ""), list(value.shape),
        value.device, " requires_grad" * value.requires_grad))


def tensors():
    import torch

    class Sub(torch.Tensor):
        pass

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(3))
            self.first = torch.nn.Linear(4, 3)
            self.second = torch.nn.ReLU()

    for name in ("uint8", "int8", "int16", "int32", "int64", "float16",
                 "float32", "float64", "complex64", "complex128", "bool",
                 "bfloat16"):
        tell_tensor(torch.zeros(2, 3, dtype=getattr(torch, name)))
        tell(getattr(torch, name), "torch." + name)
    for shape in ((), (0,), (5,), (2, 0, 3), (1, 2, 3, 4, 5),
                  (1, 2, 3, 4, 5, 6), (2,) * 9):
        tell_tensor(torch.zeros(shape))
    whole = torch.arange(24.0).reshape(2, 3, 4)
    for view in (whole.permute(2, 0, 1), whole[:, 1:], whole[0, ..., 2],
                 whole[0, 0].expand(7, 4), whole.to(
                     torch.complex64).real, whole.data_ptr and whole[1]):
        tell_tensor(view)
    tell_tensor(torch.zeros(3, 4, device="meta"))
    leaf = torch.ones(3, requires_grad=True)
    tell_tensor(leaf)
    tell_tensor(leaf * 2)
    tell_tensor((leaf * 2).detach())
    (leaf.sum() * 2).backward()
    tell_tensor(leaf.grad)
    tell_tensor(torch.zeros(2).as_subclass(Sub), "Sub")
    net = Net()
    for parameter in net.parameters():
        tell_tensor(parameter, "Parameter")
    frozen = torch.nn.Parameter(torch.ones(2), requires_grad=False)
    tell_tensor(frozen, "Parameter")
    tell(net, "Net (1 parameter, 2 modules)")
    tell(net.first, "Linear (2 parameters)")
    tell(net.second, "ReLU")
    tell(whole.shape, "torch.Size([2, 3, 4])")
    tell(torch.Size(), "torch.Size([])")
    tell(torch.device("cpu"), "device(type='cpu')")
    tell(torch.device("cuda", 3), "device(type='cuda', index=3)")
    # Not initialized, for which torch._dynamo would be loaded.
    optimizer = torch.optim.SGD.__new__(torch.optim.SGD)
    tell(optimizer, "<torch.optim.sgd.SGD at 0x%x>" % id(optimizer))


arrays() if sys.argv[1] == "numpy" else tensors()
print(json.dumps([row for _, row in KEPT]), flush=True)
sys.stdin.read()
