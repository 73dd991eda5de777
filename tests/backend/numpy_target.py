"""Arrays of numpy and of Python itself, and what is true of each.

One line of JSON, then it waits for the end of the standard input. Without
numpy it has those of Python alone.
"""
import array
import ctypes
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import truths  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None

KINDS = {"U": "str", "S": "bytes", "V": "void", "M": "datetime64",
         "m": "timedelta64", "O": "object"}


def name_of(dtype):
    if dtype.type.__module__ == "ml_dtypes":
        name = dtype.name
        if "int" in name:
            name = "ml_dtypes." + name
    elif dtype.kind in KINDS:
        name = KINDS[dtype.kind]
    elif dtype == numpy.longdouble and dtype.itemsize == 16:
        name = "longdouble"
    elif dtype == numpy.clongdouble and dtype.itemsize == 32:
        name = "clongdouble"
    else:
        name = dtype.name
    return ">" * (dtype.byteorder == ">") + name


def add(value, name):
    kind = type(value)
    told = {"type": kind.__module__ + "." + kind.__qualname__,
            "dtype": name_of(value.dtype), "shape": list(value.shape),
            "strides": list(value.strides), "numel": value.size,
            "itemsize": value.itemsize, "nbytes": value.nbytes,
            "offset": None, "device": None}
    if value.dtype.kind == "O":
        truths.add(value, name, dict(told, unread="objects"), None)
        return
    plain = value.view(numpy.ndarray)
    if value.dtype.byteorder == ">":
        plain = plain.astype(value.dtype.newbyteorder("<"))
    mask = None
    if numpy.ma.getmask(value) is not numpy.ma.nomask:
        mask = numpy.broadcast_to(numpy.ma.getmask(value), value.shape)
        mask = mask.astype("u1").tobytes()
    truths.add(value, name, told, plain.tobytes(), mask)


def add_unread(value, name, why):
    truths.add(value, name, {"dtype": name_of(value.dtype),
                             "shape": list(value.shape), "unread": why}, None)


class Sub(numpy.ndarray if numpy else object):
    pass


def add_types():
    for letter in ("?", "b", "h", "i", "l", "q", "B", "H", "I", "L", "Q",
                   "e", "f", "d", "g", "F", "D", "G", ">i2", ">u4", ">i8",
                   ">f2", ">f4", ">f8", ">c8", ">c16", "S5", "U3", ">U3",
                   "V4", "M8[s]", "m8[D]", ">M8[ns]", "O", "S1", "U1"):
        dtype = numpy.dtype(letter)
        plain = numpy.arange(24) % 11
        if dtype.kind == "V":
            made = plain.astype("i4").view(dtype)
        else:
            made = plain.astype(dtype)
        if dtype.kind in "fc" and letter != "g" and letter != "G":
            made[3] = numpy.nan
            made[5] = -numpy.inf
        whole = made.reshape(2, 3, 4)
        add(whole, letter)
        add(whole.transpose(2, 0, 1)[::2, :, ::-1], letter + " turned")


class Masked(numpy.ma.MaskedArray if numpy else object):
    pass


def add_masked():
    ma = numpy.ma
    some = numpy.arange(24.0).reshape(4, 6)
    some[1, 2], some[3, 3], some[0, 1] = numpy.nan, numpy.inf, 77
    odd = numpy.arange(24).reshape(4, 6) % 5 == 2
    for letter in ("f4", "i8", ">f8", "c16", "?", "U3", "M8[s]", "e"):
        made = (some if letter in "f4>f8" else
                numpy.arange(24).reshape(4, 6)).astype(letter)
        add(ma.array(made, mask=odd), "masked " + letter)
    whole = ma.array(some, mask=odd)
    add(whole[::-1, 1::2], "part of a masked one")
    add(whole.T, "turned masked")
    add(ma.array(numpy.asfortranarray(some), mask=odd), "masked fortran")
    add(ma.array(some, mask=numpy.asfortranarray(odd)), "fortran mask")
    apart = numpy.zeros((8, 12), bool)
    apart[::2, ::-2] = odd
    strided = ma.array(some)
    strided._mask = apart[::2, ::-2]
    assert strided._mask.strides == (24, -2)
    add(strided, "a mask apart")
    add(ma.array(some), "no mask")
    add(ma.array(some, mask=False), "a mask of nothing")
    add(ma.array(some, mask=True), "a mask of all")
    alone = ma.array(some)
    alone._mask = numpy.bool_(True)
    add(alone, "one for all")
    add(ma.array(some, mask=odd, hard_mask=True), "hard mask")
    add(ma.masked_invalid(some), "masked NaN")
    add(ma.array(3.5), "masked scalar")
    add(ma.masked, "the masked scalar")
    add(ma.array(numpy.zeros((0, 3)), mask=numpy.zeros((0, 3))), "masked []")
    add(Masked(some, mask=odd), "a class of masked ones")
    # More than is read at once.
    add(ma.array(numpy.arange(200000.0) % 1000,
                 mask=numpy.arange(200000) % 7 == 3), "many masked")
    pairs = ma.array([(1, 2.0), (3, 4.0)], mask=[(0, 1), (1, 0)],
                     dtype=[("a", "i4"), ("b", "f8")])
    add_unread(pairs, "structured mask", "masks of structured arrays")
    other = ma.array(some)
    other._mask = numpy.zeros(24, bool)
    add_unread(other, "a mask of another shape", "not have the shape of the array")
    other = ma.array(some)
    other._mask = None
    add_unread(other, "a mask that is none", "is not a numpy array")
    other = some.view(Sub)
    other._mask = odd
    add_unread(other, "a class with masks of its own", "only in numpy.ma.MaskedArray")


def add_ml_dtypes():
    try:
        import ml_dtypes
    except ImportError:
        return
    for name in ml_dtypes.__all__:
        kind = getattr(ml_dtypes, name)
        if not isinstance(kind, type) or name in ("finfo", "iinfo"):
            continue
        dtype = numpy.dtype(kind)
        width = {"float4": 4, "float6": 6}.get(name[:6], 8)
        width = int(name.lstrip("uint")) if "int" in name else width
        plain = numpy.arange(1 << width, dtype="u1")
        if dtype.itemsize > 1:
            plain = numpy.arange(6000, dtype="u4").astype("u1")
        whole = plain.view(dtype)
        add(whole, name)
        add(whole[::-2], name + " turned")
        hidden = numpy.arange(whole.size) % 3 == 1
        truths.add(numpy.ma.array(whole, mask=hidden), name + " masked", {
            "dtype": name_of(dtype)}, whole.tobytes(),
            hidden.astype("u1").tobytes())


def add_forms():
    whole = numpy.arange(48.0).reshape(2, 3, 8)
    for shape in ((), (0,), (7,), (2, 0, 3), (1,) * 32):
        add(numpy.ones(shape), "ones %d" % len(shape))
    add(numpy.asfortranarray(whole), "fortran")
    add(whole[::-1, 1:, ::3], "backwards")
    add(numpy.broadcast_to(whole[0, 0], (3, 8)), "broadcast")
    add(whole.view(Sub), "subclass")
    add(numpy.matrix([[1, 2], [3, 4]]), "matrix")
    add(numpy.rec.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"),
                                                    ("b", "f8")]), "record")
    pairs = numpy.zeros(3, [("a", "i4"), ("b", "f8", (2,)), ("c", "S3")])
    pairs["a"] = [1, -2, 3]
    pairs["b"][1] = [0.5, -7]
    add(pairs, "structured")
    add(pairs["a"], "a field")
    add(numpy.zeros(2, numpy.dtype({"names": ["x"], "formats": ["u2"],
                                    "offsets": [6], "itemsize": 16})),
        "wide structure")
    add(numpy.empty(3, "S0"), "texts without letters")
    with tempfile.TemporaryFile() as file:
        mapped = numpy.memmap(file, "float32", "w+", shape=(4, 5))
        mapped[:] = numpy.arange(20).reshape(4, 5)
        add(mapped, "memmap")
        add(mapped[1:, ::2], "part of a memmap")


def tell(value, name, dtype, shape, strides, data, **other):
    items = 1
    for size in shape:
        items *= size
    told = {"dtype": dtype, "shape": list(shape), "strides": list(strides),
            "numel": items, "device": None}
    told.update(other)
    truths.add(value, name, told, data)


def add_arrays():
    names = {"b": "int8", "B": "uint8", "h": "int16", "H": "uint16",
             "i": "int32", "I": "uint32", "l": "int64", "L": "uint64",
             "q": "int64", "Q": "uint64", "f": "float32", "d": "float64"}
    for letter, dtype in names.items():
        made = array.array(letter, [5, 1, 0, 100])
        tell(made, "array " + letter, dtype, (4,), (made.itemsize,),
             made.tobytes(), type="array.array", itemsize=made.itemsize)
    tell(array.array("d"), "empty array", "float64", (0,), (8,), b"",
         type="array.array")
    for made in (b"", b"a", bytes(range(256)), bytearray(b""),
                 bytearray(b"some bytes")):
        tell(made, repr(made)[:12], "uint8", (len(made),), (1,), bytes(made),
             type=type(made).__name__)
    shifted = bytearray(b"abcdefgh")
    del shifted[:3]
    tell(shifted, "shifted", "uint8", (5,), (1,), b"defgh")


def add_views():
    data = bytes(range(48))
    plain = memoryview(data)
    tell(plain, "view", "uint8", (48,), (1,), data, type="memoryview")
    tell(plain[4:40:3], "stepped view", "uint8", (12,), (3,), data[4:40:3])
    tell(plain[::-1], "turned view", "uint8", (48,), (-1,), data[::-1])
    for letter, dtype, size in (("h", "int16", 2), ("I", "uint32", 4),
                                ("q", "int64", 8), ("f", "float32", 4),
                                ("d", "float64", 8), ("e", "float16", 2),
                                ("?", "bool", 1), ("b", "int8", 1)):
        if letter == "e" and sys.version_info < (3, 12):
            continue
        some = bytes(range(48)) if letter != "?" else bytes([0, 1] * 24)
        tell(memoryview(some).cast(letter), "view " + letter, dtype,
             (48 // size,), (size,), some)
    tell(plain.cast("B", (4, 12)), "flat view", "uint8", (4, 12), (12, 1),
         data)
    tell(plain.cast("i", (2, 3, 2)), "deep view", "int32", (2, 3, 2),
         (24, 8, 4), data)
    tell(plain.cast("d", ()) if len(plain) == 8 else plain[:8].cast("d", ()),
         "scalar view", "float64", (), (), data[:8])
    big = (ctypes.c_int32.__ctype_be__ * 3)(1, -2, 3)
    tell(memoryview(big), "swapped view", ">int32", (3,), (4,),
         b"".join(n.to_bytes(4, "little", signed=True) for n in (1, -2, 3)))
    gone = memoryview(b"abc")
    gone.release()
    truths.add(gone, "released", {"unread": "released"}, None)


if numpy:
    add_types()
    add_forms()
    add_masked()
    add_ml_dtypes()
add_arrays()
add_views()
truths.serve()
