"""Arrays and tensors of many kinds, and by the libraries themselves what is
to be told of them."""
import math
import zlib

FULL = ["float16", "float32", "float64", "int8", "uint8", "int16", "int32",
        "int64", "bool", "complex64", "complex128"]


def real(value):
    value = float(value)
    return str(value) if not math.isfinite(value) else value


def truth_of_numpy(array):
    import numpy
    flat = numpy.ascontiguousarray(array)
    if flat.dtype.byteorder == ">":
        flat = flat.astype(flat.dtype.newbyteorder("<"))
    told = {"dtype": array.dtype.name, "shape": list(array.shape),
            "strides": list(array.strides),
            "hash": "%08x" % zlib.crc32(flat.tobytes())}
    if array.dtype.kind in "biuf":
        told["stats"] = statistics(numpy, flat.reshape(-1))
    return told


def statistics(library, flat):
    double = flat.astype("f8") if hasattr(flat, "astype") else flat.double()
    finite = double[library.isfinite(double)]
    fine = flat if "nt" in str(flat.dtype) else finite
    told = {"count": len(flat), "nan": int(library.isnan(double).sum()),
            "inf": int(library.isinf(double).sum()),
            "zeros": int((double == 0).sum())}
    if not told["nan"] and not told["inf"]:
        told["norm"] = real((double * double).sum() ** 0.5)
    if len(finite):
        mean = finite.mean()
        told.update(mean=real(mean),
                    std=real(((finite - mean) ** 2).mean() ** 0.5))
        if "nt" in str(flat.dtype):
            bounds = [int(fine.min()), int(fine.max())]
            told["min"], told["max"] = [
                "u:%d" % bound if bound >= 2 ** 63 else bound
                for bound in bounds]
        else:
            told.update(min=real(finite.min()), max=real(finite.max()))
    return told


def arrays():
    import numpy
    found = []
    random = numpy.random.RandomState(1)
    for name in FULL + ["uint16", "uint32", "uint64"]:
        whole = (random.randn(4, 5, 6) * 9).astype(name)
        found += [whole, whole.transpose(2, 0, 1), whole[::-1, 1::2, ::-2],
                  numpy.broadcast_to(whole[1, 2], (3, 6)), whole[2, 3, 4:5][0:],
                  whole[:0]]
    odd = random.randn(200).astype("f4")
    odd[3], odd[50], odd[51], odd[60:70] = float("nan"), float("inf"), \
        -float("inf"), 0
    found += [odd, odd.reshape(10, 20).T, numpy.zeros(7), numpy.array(2.5),
              numpy.arange(12, dtype=">i4").reshape(3, 4).T,
              numpy.linspace(0, 1, 7).astype(">f8"),
              numpy.array([2 ** 64 - 1, 2 ** 63, 5], "uint64"),
              numpy.array([2 ** 62 + 1, -2 ** 62 - 1], "int64"),
              numpy.full((2,) * 9, 3, "i2"), numpy.array(["ab", "c"]),
              numpy.array([b"ab", b"c"]),
              numpy.zeros(3, [("a", "i4"), ("b", "f8")]),
              numpy.arange(5).astype("M8[s]"),
              random.randn(300, 700)[:, 5], random.randn(300, 700).T]
    return [(array, truth_of_numpy(array)) for array in found]


def bytes_of_torch(tensor):
    import torch
    flat = tensor.detach().resolve_conj().resolve_neg().contiguous()
    flat = flat.reshape(-1)
    if flat.is_complex():
        flat = torch.view_as_real(flat).reshape(-1)
    return bytes(flat.view(torch.uint8).tolist()) if len(flat) else b""


def truth_of_torch(tensor):
    import torch
    name = str(tensor.dtype).replace("torch.", "")
    told = {"dtype": name, "shape": list(tensor.shape),
            "strides": list(tensor.stride()),
            "offset": tensor.storage_offset(),
            "requires_grad": tensor.requires_grad, "device": "cpu",
            "hash": "%08x" % zlib.crc32(bytes_of_torch(tensor))}
    if not tensor.is_complex() and name not in ("uint16", "uint32",
                                                "uint64"):
        told["stats"] = statistics(torch, tensor.detach().reshape(-1))
    return told


def tensors():
    import torch
    torch.manual_seed(1)
    found = []
    more = [name for name in (
        "bfloat16", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz",
        "float8_e4m3fnuz") if hasattr(torch, name)]
    for name in FULL + more:
        whole = (torch.randn(4, 5, 6) * 9).to(getattr(torch, name))
        found += [whole, whole.permute(2, 0, 1), whole[1:, 1::2, ::3],
                  whole[1, 2].expand(3, 6), whole[2, 3, 4], whole[:0],
                  whole.reshape(-1)[3:]]
    unsigned = [name for name in ("uint16", "uint32", "uint64")
                if hasattr(torch, name)]
    for name in unsigned:
        found.append((torch.randn(30).abs() * 100).to(getattr(torch, name)))
    odd = torch.randn(200)
    odd[3], odd[50], odd[60:70] = float("nan"), float("inf"), 0
    twisted = torch.randn(4, 5, dtype=torch.complex64).conj()
    images = torch.randn(2, 3, 4, 5).contiguous(
        memory_format=torch.channels_last)
    leaf = torch.nn.Parameter(torch.randn(3, 2))
    found += [odd, odd.reshape(10, 20).T, twisted, twisted.imag, images,
              torch.zeros((2,) * 8), leaf, leaf * 2, leaf.detach()[1:],
              torch.randn(700, 300).T]
    return [(tensor, truth_of_torch(tensor)) for tensor in found]


def by_device():
    """[shape] of what is told another way where it is copied as from a
    device, and why one that hangs has no elements."""
    import time

    from probetui.tensors import facts, memory, query, sources, work

    wanted = query.Query(statistics="whole", has_hash=True, bins=4)
    different = []
    for tensor, _ in tensors():
        known = facts.find(tensor)
        copied = work.do(tensor, known._replace(device=tensor), wanted)
        if copied != work.do(tensor, known, wanted):
            different.append(list(tensor.shape))
    sources.DEVICE_SECONDS = 0.1
    sources.OnDevice._copy = lambda *_: time.sleep(0.3)
    try:
        work.do(tensor, known._replace(device=tensor), wanted)
    except memory.Unreadable as problem:
        return [different, str(problem)]


class Hostile:
    """Made a tensor's class by class_of(): each of its methods says so."""

    ran = []


def class_of():
    import torch

    class Masked(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            Hostile.ran.append(str(function))
            raise RuntimeError("its code ran")

        def __getattr__(self, name):
            Hostile.ran.append(name)
            raise RuntimeError("its code ran")

        def __repr__(self, **_):
            Hostile.ran.append("repr")
            raise RuntimeError("its code ran")

        __str__ = __len__ = __iter__ = __repr__

        @property
        def shape(self):
            Hostile.ran.append("shape")
            return (7, 7)

        dtype = data = grad = requires_grad = shape

    return Masked


def of_itself():
    """A tensor of a class that is asked even for its sizes; None: this torch
    has none such."""
    import torch

    if not hasattr(torch._C, "_get_dispatch_mode"):
        return None

    class Asked(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

        @classmethod
        def __torch_dispatch__(cls, function, *_):
            Hostile.ran.append(str(function))
            raise RuntimeError("its code ran")

    return torch.Tensor._make_wrapper_subclass(
        Asked, (2,), dtype=torch.float32, device="cpu",
        dispatch_sizes_strides_policy="sizes", dispatch_device=True,
        dispatch_layout=True)


def watched_for_nan():
    """What is said of values that a function has one after the other, each
    where the last one was; of a tensor whose memory was freed; of a class."""
    import sys

    import torch

    from probetui.debugging import nans, paths

    nan = nans.Nan(1, paths.parse("made"), watched_for_nan.__code__)
    said = []

    def step(number):
        said.append(nan.look(sys._getframe(), "line"))
        made = torch.full((2,), number)
        said.append(nan.look(sys._getframe(), "line"))
        return made is None

    for number in (1.0, 1.0, float("nan")):
        step(number)
    freed = torch.ones(99)
    storage = freed.untyped_storage() if hasattr(
        freed, "untyped_storage") else freed.storage()
    storage.resize_(0)
    bad = torch.full((2,), float("inf")).as_subclass(class_of())
    ran = len(Hostile.ran)
    return [said[-1].split(",")[0], nans.describe(freed),
            nans.describe(bad), len(Hostile.ran) - ran,
            nans.describe(torch.tensor(float("nan"))),
            nans.describe(torch.tensor([float("inf")]))]
