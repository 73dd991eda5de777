"""The element types, by their names in torch and numpy."""
from __future__ import annotations

import functools
import struct
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

BOOLEAN, SIGNED, UNSIGNED, FLOAT, COMPLEX, TIME, TEXT, BYTES, OPAQUE, \
    OBJECT, PACKED = range(11)
INTEGERS = (BOOLEAN, SIGNED, UNSIGNED, TIME)
NUMBERS = INTEGERS + (FLOAT, COMPLEX)


class Dtype(NamedTuple):
    """`base` is the type of an element's parts after unfold(), in numpy's
    notation: "i4", "f8"; "": not numeric."""

    name: str
    kind: int
    size: int  # bytes; 0: differs between arrays
    swap: int  # size of the units whose byte order is swapped
    base: str = ""
    fold: str = ""  # name of the conversion to base; "": none
    bits: int = 0xff  # mask of the bits of a byte that are used (ml_dtypes)


def _eighth(name: str, bits: int = 0xff) -> Dtype:
    return Dtype(name, FLOAT, 1, 1, "f4", name, bits)


def _narrow(name: str) -> Dtype:
    """Returns the Dtype of an ml_dtypes integer of less than a byte. torch has
    types with these names, too, but does not define what their bytes mean."""
    width = int(name.lstrip("uint"))
    return Dtype("ml_dtypes." + name, SIGNED if name[0] == "i" else UNSIGNED,
                 1, 1, "i1" if name[0] == "i" else "u1", name,
                 (1 << width) - 1)


_ROWS = [
    Dtype("bool", BOOLEAN, 1, 1, "b1"),
    Dtype("uint8", UNSIGNED, 1, 1, "u1"), Dtype("int8", SIGNED, 1, 1, "i1"),
    Dtype("uint16", UNSIGNED, 2, 2, "u2"), Dtype("int16", SIGNED, 2, 2, "i2"),
    Dtype("uint32", UNSIGNED, 4, 4, "u4"), Dtype("int32", SIGNED, 4, 4, "i4"),
    Dtype("uint64", UNSIGNED, 8, 8, "u8"), Dtype("int64", SIGNED, 8, 8, "i8"),
    Dtype("float16", FLOAT, 2, 2, "f2"), Dtype("float32", FLOAT, 4, 4, "f4"),
    Dtype("float64", FLOAT, 8, 8, "f8"),
    Dtype("bfloat16", FLOAT, 2, 2, "f4", "bfloat16"),
    Dtype("complex32", COMPLEX, 4, 2, "f2"),
    Dtype("complex64", COMPLEX, 8, 4, "f4"),
    Dtype("complex128", COMPLEX, 16, 8, "f8"),
    Dtype("longdouble", FLOAT, 16, 16, "f8", "longdouble"),
    Dtype("clongdouble", COMPLEX, 32, 16, "f8", "longdouble"),
    _eighth("float8_e5m2"), _eighth("float8_e4m3fn"),
    _eighth("float8_e5m2fnuz"), _eighth("float8_e4m3fnuz"),
    _eighth("float8_e8m0fnu"),
    _eighth("float8_e3m4"), _eighth("float8_e4m3"),
    _eighth("float8_e4m3b11fnuz"), _eighth("float6_e2m3fn", 0x3f),
    _eighth("float6_e3m2fn", 0x3f), _eighth("float4_e2m1fn", 0x0f),
    _narrow("int1"), _narrow("int2"), _narrow("int4"),
    _narrow("uint1"), _narrow("uint2"), _narrow("uint4"),
    Dtype("bcomplex32", COMPLEX, 4, 2, "f4", "bfloat16"),
    Dtype("datetime64", TIME, 8, 8, "i8"),
    Dtype("timedelta64", TIME, 8, 8, "i8"),
    Dtype("str", TEXT, 0, 4), Dtype("bytes", BYTES, 0, 1),
    Dtype("void", OPAQUE, 0, 1), Dtype("object", OBJECT, 8, 1),
    Dtype("qint8", OPAQUE, 1, 1), Dtype("quint8", OPAQUE, 1, 1),
    Dtype("qint32", OPAQUE, 4, 4), Dtype("bits16", OPAQUE, 2, 2),
    # Elements point to their texts.
    Dtype("StringDType", OBJECT, 16, 1),
    Dtype("quint4x2", PACKED, 0, 1), Dtype("quint2x4", PACKED, 0, 1),
] + [
    # A byte in which programs pack what they like.
    Dtype(name, OPAQUE, 1, 1) for name in (
        "bits8 bits1x8 bits2x4 bits4x2 float4_e2m1fn_x2 uint1 uint2 uint3 "
        "uint4 uint5 uint6 uint7 int1 int2 int3 int4 int5 int6 int7").split()
]
_BY_NAME: Dict[str, Dtype] = {row.name: row for row in _ROWS}
# Exponent bits, mantissa bits, bias, whether infinities exist, and which bits
# are NaN: "ieee", "all ones", "minus zero", "none".
_EIGHTHS = {
    "float8_e5m2": (5, 2, 15, True, "ieee"),
    "float8_e4m3fn": (4, 3, 7, False, "all ones"),
    "float8_e5m2fnuz": (5, 2, 16, False, "minus zero"),
    "float8_e4m3fnuz": (4, 3, 8, False, "minus zero"),
    "float8_e3m4": (3, 4, 3, True, "ieee"),
    "float8_e4m3": (4, 3, 7, True, "ieee"),
    "float8_e4m3b11fnuz": (4, 3, 11, False, "minus zero"),
    "float6_e2m3fn": (2, 3, 1, False, "none"),
    "float6_e3m2fn": (3, 2, 3, False, "none"),
    "float4_e2m1fn": (2, 1, 1, False, "none"),
}


def find(name: str) -> Optional[Dtype]:
    """Returns None if there is no type of that name."""
    return _BY_NAME.get(name.lstrip("<>=|"))


def _eighth_value(name: str, bits: int) -> float:
    if name == "float8_e8m0fnu":
        return float("nan") if bits == 255 else 2.0 ** (bits - 127)
    exponents, mantissas, bias, has_infinity, nan = _EIGHTHS[name]
    sign = -1.0 if bits >> exponents + mantissas & 1 else 1.0
    exponent = bits >> mantissas & (1 << exponents) - 1
    mantissa = bits & (1 << mantissas) - 1
    if nan == "minus zero" and bits == 0x80 or \
            nan == "all ones" and bits & 0x7f == 0x7f:
        return float("nan")
    if has_infinity and exponent == (1 << exponents) - 1:
        return float("nan") if mantissa else sign * float("inf")
    if exponent == 0:
        return sign * mantissa * 2.0 ** (1 - bias - mantissas)
    return sign * (1 + mantissa / (1 << mantissas)) * 2.0 ** (exponent - bias)


@functools.lru_cache(maxsize=None)
def _planes(name: str) -> Tuple[bytes, ...]:
    """Returns four translation tables: entry b of table k is byte k of the
    float32 for the element byte b."""
    rows = [struct.pack("<f", _eighth_value(name, bits))
            for bits in range(256)]
    return tuple(bytes(row[k] for row in rows) for k in range(4))


@functools.lru_cache(maxsize=None)
def _numbers(name: str) -> bytes:
    """Returns a translation table that extends the low bits of a byte (with
    the sign) to an integer of 8 bits."""
    width = int(name.lstrip("uint"))
    highest = 1 << width - 1 if name[0] == "i" else 0
    return bytes(((bits & (1 << width) - 1 ^ highest) - highest) & 0xff
                 for bits in range(256))


def _unfold_long(data: bytes) -> bytes:
    """Converts 16-byte x87 extended floats (80 bits used) to float64."""
    found: List[float] = []
    for at in range(0, len(data), 16):
        mantissa, exponent = struct.unpack_from("<QH", data, at)
        sign = -1.0 if exponent & 0x8000 else 1.0
        exponent &= 0x7fff
        if exponent == 0x7fff:
            found.append(sign * float("inf") if mantissa << 1 & 2 ** 64 - 1
                         == 0 else float("nan"))
            continue
        found.append(sign * _scale(mantissa, exponent - 16383 - 63))
    return struct.pack("<%dd" % len(found), *found)


def _scale(mantissa: int, exponent: int) -> float:
    try:
        return mantissa * 2 ** exponent * 1.0 if exponent >= 0 else \
            mantissa / (1 << -exponent)
    except OverflowError:
        return float("inf")


def unfold(dtype: Dtype, data: bytes) -> bytes:
    """Returns the elements as parts of type dtype.base: exactly, except that a
    long double is rounded."""
    if not dtype.fold:
        return data
    if dtype.fold == "longdouble":
        return _unfold_long(data)
    if dtype.fold == "bfloat16":
        made = bytearray(2 * len(data))
        made[2::4], made[3::4] = data[0::2], data[1::2]
        return bytes(made)
    if dtype.kind in (SIGNED, UNSIGNED):
        return bytes(data).translate(_numbers(dtype.fold))
    made = bytearray(4 * len(data))
    for k, plane in enumerate(_planes(dtype.fold)):
        made[k::4] = data.translate(plane)
    return bytes(made)


_CODES = {"b1": "B", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i",
          "u4": "I", "i8": "q", "u8": "Q", "f2": "e", "f4": "f", "f8": "d"}
TEXT_MAXIMUM = 256


def parts(dtype: Dtype, data: bytes) -> List[Any]:
    """Returns the parts of the elements as Python numbers."""
    flat = unfold(dtype, data)
    sign = "<%d" + _CODES[dtype.base]
    found = list(struct.unpack(sign % (len(flat) // int(dtype.base[1])),
                               flat))
    # A bool byte other than 0 and 1 counts as true.
    return [part != 0 for part in found] if dtype.kind == BOOLEAN else found


def real(value: float) -> Any:
    """Returns the value for JSON, which lacks NaN and infinities."""
    if value != value:
        return "nan"
    if value in (float("inf"), -float("inf")):
        return "inf" if value > 0 else "-inf"
    return value


def integer(value: int) -> Any:
    return "u:%d" % value if value >= 2 ** 63 else value


def _text(data: bytes) -> str:
    codes = struct.unpack("<%dI" % (len(data) // 4), data)
    end = len(codes)
    while end and codes[end - 1] == 0:
        end -= 1
    text = "".join(
        "\ufffd" if code == 0 or code > 0x10ffff or 0xd800 <= code < 0xe000
        else chr(code) for code in codes[:min(end, TEXT_MAXIMUM)])
    return text + "\u2026" * (end > TEXT_MAXIMUM)


def _bytes(data: bytes) -> str:
    is_cut = len(data) > TEXT_MAXIMUM
    data = data[:TEXT_MAXIMUM] if is_cut else data.rstrip(b"\0")
    return "b'%s%s'" % ("".join(
        chr(byte) if 32 <= byte < 127 and byte not in b"'\\"
        else "\\x%02x" % byte for byte in data), "\u2026" * is_cut)


def _opaque(data: bytes) -> str:
    return "0x" + data[:TEXT_MAXIMUM // 2].hex() + \
        "\u2026" * (len(data) > TEXT_MAXIMUM // 2)


_TEXTS = {TEXT: _text, BYTES: _bytes, OPAQUE: _opaque}


def numbers(dtype: Dtype, data: bytes, size: int) -> List[Any]:
    """Returns elements of `size` bytes as the JSON values of a slice."""
    if dtype.kind in _TEXTS:
        tell = _TEXTS[dtype.kind]
        return [{"text": tell(data[at:at + size])}
                for at in range(0, len(data), size)]
    if dtype.kind not in NUMBERS:
        return [None] * (len(data) // size)
    found = parts(dtype, data)
    if dtype.kind == COMPLEX:
        return [[real(found[at]), real(found[at + 1])]
                for at in range(0, len(found), 2)]
    if dtype.kind == FLOAT:
        return [real(part) for part in found]
    if dtype.kind == TIME:
        return ["nan" if part == -2 ** 63 else part for part in found]
    return found if dtype.kind == BOOLEAN else [
        integer(part) for part in found]


def swap(data: bytes, size: int) -> bytes:
    """Reverses the byte order of each unit of `size` bytes."""
    if size <= 1:
        return data
    made = bytearray(len(data))
    for k in range(size):
        made[k::size] = data[size - 1 - k::size]
    return bytes(made)
