"""What an array is, told by itself: the truth that readers are held against.

For programs that are looked into. Statistics are reckoned by Python's own
numbers out of the values' bytes: no library has a part in them.
"""
import fractions
import json
import math
import struct
import sys
import zlib

ROWS = []
KEPT = []
CODES = {"float32": "f", "float64": "d", "float16": "e", "int8": "b",
         "int16": "h", "int32": "i", "int64": "q", "uint8": "B",
         "uint16": "H", "uint32": "I", "uint64": "Q", "complex64": "f",
         "complex128": "d", "complex32": "e", "bool": "B"}


def bfloat16(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def eighth(exponents, bias, infinite, nan, width=8):
    """Numbers of eight bits or less, by what the formats' papers say."""
    mantissas = width - 1 - exponents
    highest = 1 << width - 1

    def decode(bits):
        sign = -1.0 if bits & highest else 1.0
        exponent = (bits & highest - 1) >> mantissas
        mantissa = bits & (1 << mantissas) - 1
        if nan(bits):
            return math.nan
        if infinite(bits):
            return sign * math.inf
        if not exponent:
            return sign * math.ldexp(mantissa, 1 - bias - mantissas)
        return sign * math.ldexp(mantissa + (1 << mantissas),
                                 exponent - bias - mantissas)
    return decode


EIGHTHS = {
    "float8_e5m2": eighth(5, 15, lambda b: b & 127 == 124,
                          lambda b: b & 127 > 124),
    "float8_e4m3fn": eighth(4, 7, lambda b: False, lambda b: b & 127 == 127),
    "float8_e5m2fnuz": eighth(5, 16, lambda b: False, lambda b: b == 128),
    "float8_e4m3fnuz": eighth(4, 8, lambda b: False, lambda b: b == 128),
    "float8_e3m4": eighth(3, 3, lambda b: b & 127 == 112,
                          lambda b: b & 127 > 112),
    "float8_e4m3": eighth(4, 7, lambda b: b & 127 == 120,
                          lambda b: b & 127 > 120),
    "float8_e4m3b11fnuz": eighth(4, 11, lambda b: False, lambda b: b == 128),
    "float6_e2m3fn": eighth(2, 1, lambda b: False, lambda b: False, 6),
    "float6_e3m2fn": eighth(3, 3, lambda b: False, lambda b: False, 6),
    "float4_e2m1fn": eighth(2, 1, lambda b: False, lambda b: False, 4),
    "float8_e8m0fnu": lambda b: math.nan if b == 255
    else math.ldexp(1.0, b - 127),
}


def narrow(name):
    """Whole numbers of less than a byte: "int4"."""
    width = int(name.lstrip("uint"))
    return lambda b: b - (1 << width) if name[0] == "i" and \
        b >> width - 1 else b


def decode(dtype, data):
    """The values as numbers; None: they are none."""
    if dtype.startswith("ml_dtypes."):
        return [narrow(dtype[10:])(byte) for byte in data]
    if dtype == "bcomplex32":
        flat = decode("bfloat16", data)
        return list(zip(flat[::2], flat[1::2]))
    if dtype in EIGHTHS:
        return [EIGHTHS[dtype](byte) for byte in data]
    if dtype == "bfloat16":
        return [bfloat16(bits) for (bits,) in struct.iter_unpack("<H", data)]
    if dtype not in CODES:
        return None
    flat = [x for (x,) in struct.iter_unpack("<" + CODES[dtype], data)]
    if dtype.startswith("complex"):
        return list(zip(flat[::2], flat[1::2]))
    return flat


def real(value):
    """As the protocol has it."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def root(squares):
    try:
        return math.sqrt(math.fsum(squares))
    except (OverflowError, ValueError):
        return math.nan if any(x != x for x in squares) else math.inf


def square(value):
    return value * value


def of_complex(values):
    nan = sum(x != x or y != y for x, y in values)
    return {"min": None, "max": None, "mean": None, "std": None,
            "norm": real(root([square(x) + square(y) for x, y in values])),
            "nan": nan, "zeros": sum(x == 0 == y for x, y in values),
            "inf": sum((math.isinf(x) or math.isinf(y))
                       and x == x and y == y for x, y in values)}


def statistics(values):
    if values and isinstance(values[0], tuple):
        return of_complex(values)
    finite = [x for x in values if math.isfinite(x)]
    told = {"min": None, "max": None, "mean": None, "std": None,
            "norm": real(root([square(float(x)) for x in values])),
            "nan": sum(x != x for x in values),
            "inf": sum(math.isinf(x) for x in values),
            "zeros": sum(x == 0 for x in values)}
    if finite:
        exact = [fractions.Fraction(float(x)) for x in finite]
        mean = sum(exact) / len(exact)
        told.update(min=min(finite), max=max(finite), mean=float(mean),
                    std=math.sqrt(sum(square(x - mean) for x in exact)
                                  / len(exact)))
    return told


def hide(row, values, data, mask):
    """What counts of masked values, in mask a byte for each, 1: hidden."""
    item = len(data) // len(mask)
    shown = b"".join(bytes(item) if hidden else data[at * item:at * item + item]
                     for at, hidden in enumerate(mask))
    row["hash"] = "%08x" % zlib.crc32(shown + mask if any(mask) else shown)
    if values is not None:
        row["stats"] = dict(
            statistics([one for one, hidden in zip(values, mask)
                        if not hidden]),
            masked=sum(mask), count=len(mask) - sum(mask))


def add(value, name, told, data, mask=None):
    """told: as the protocol has it; data: the values' bytes, None: there is
    nothing to read."""
    row = dict(told, name=name, id=id(value), data=None)
    if data is not None:
        values = decode(told["dtype"].lstrip(">"), data)
        row["data"] = data.hex()
        row["hash"] = "%08x" % zlib.crc32(data)
        row["stats"] = None if values is None else statistics(values)
        if mask:
            hide(row, values, data, mask)
    row["at"] = len(KEPT)
    KEPT.append(value)
    ROWS.append(row)


def serve():
    """Tells all, then waits for the end of the standard input."""
    print(json.dumps(ROWS), flush=True)
    sys.stdin.read()
