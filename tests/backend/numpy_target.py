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
    if dtype.kind in KINDS:
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
    if isinstance(value, numpy.ma.MaskedArray):
        truths.add(value, name, dict(told, unread="masked"), None)
        return
    plain = value.view(numpy.ndarray)
    if value.dtype.byteorder == ">":
        plain = plain.astype(value.dtype.newbyteorder("<"))
    truths.add(value, name, told, plain.tobytes())


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


def add_forms():
    whole = numpy.arange(48.0).reshape(2, 3, 8)
    for shape in ((), (0,), (7,), (2, 0, 3), (1,) * 32):
        add(numpy.ones(shape), "ones %d" % len(shape))
    add(numpy.asfortranarray(whole), "fortran")
    add(whole[::-1, 1:, ::3], "backwards")
    add(numpy.broadcast_to(whole[0, 0], (3, 8)), "broadcast")
    add(whole.view(Sub), "subclass")
    add(numpy.ma.masked_array([1.0, 2.0], [False, True]), "masked")
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
add_arrays()
add_views()
truths.serve()
