#!/usr/bin/env python3
"""Writes tests/fuzz/corpus: an input or two for each fuzz target, from which
a fuzzer finds its way. Inputs that once broke something lie there besides,
and are left alone."""
import base64
import json
import os
import re
import struct
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
START = 0x200000000000      # image.h
TID = 0x6469742d656d6f73


def read_offsets():
    """{minor: {field: offset}} of backends/cpython/offsets.inc."""
    path = os.path.join(SOURCE, "backends", "cpython", "offsets.inc")
    with open(path) as file:
        text = file.read()
    tables = {}
    for part in text.split("/* CPython 3.")[1:]:
        minor = int(part.split(".")[0])
        tables[minor] = {name: int(value, 0) for name, value in
                         re.findall(r"\.(\w+) = (-?\w+),", part)}
    return tables


def read_opcodes():
    """{minor: {name: (number, caches)}} of backends/cpython/opcodes.inc."""
    path = os.path.join(SOURCE, "backends", "cpython", "opcodes.inc")
    with open(path) as file:
        text = file.read()
    tables = {}
    for part in text.split("/* CPython 3.")[1:]:
        tables[int(part.split(" ")[0])] = {
            name: (int(number), int(caches)) for number, caches, name in
            re.findall(r"OP\((\d+), \d+, (\d+), .*?/\* (\w+) \*/", part)}
    return tables


class Image:
    """Memory from START on, made of words of eight bytes."""

    def __init__(self, offsets):
        self.offsets = offsets
        self.bytes = {}

    def put(self, address, value, size=8):
        if value < 0:
            value += 1 << 8 * size
        for i, byte in enumerate(value.to_bytes(size, "little")):
            self.bytes[address + i] = byte

    def field(self, address, name, value, size=8):
        offset = self.offsets.get(name, -1)
        if offset >= 0:
            self.put(address + offset, value, size)

    def string(self, address, text):
        """A compact ASCII str."""
        self.put(address + 16, len(text))
        self.field(address, "uni_state", 1 << 2 | 1 << 5 | 1 << 6, 4)
        data = address + self.offsets["ascii_size"]
        for i, byte in enumerate(text.encode()):
            self.put(data + i, byte, 1)

    def object_bytes(self, address, data):
        """A bytes object."""
        self.put(address + 16, len(data))
        for i, byte in enumerate(data):
            self.put(address + self.offsets["bytes_sval"] + i, byte, 1)

    def records(self, minor):
        words = {}
        for address, byte in self.bytes.items():
            word, i = divmod(address - START, 8)
            words.setdefault(word, bytearray(8))[i] = byte
        # image.c puts the reader's tid where this value stands
        return bytes([minor - 8]) + b"".join(
            struct.pack("<H", word) + bytes(value)
            for word, value in sorted(words.items()) if any(value))


def put_runtime(image, interpreter, tstate, frames):
    """A runtime with an interpreter, a thread and frames, innermost first."""
    for name in ("rt_interp_head", "rt_interp_main"):
        image.field(START, name, interpreter)
    image.field(START, "rt_tstate_current", tstate)
    image.field(interpreter, "is_tstate_head", tstate)
    image.field(interpreter, "is_ceval_gil", START + 0x65000)
    image.field(START + 0x65000, "gil_last_holder", tstate)
    image.field(START + 0x65000, "gil_locked", 1, 4)
    image.field(tstate, "ts_interp", interpreter)
    image.field(tstate, "ts_thread_id", START + 0x66000)
    image.put(START + 0x66000 + 0x2d0, TID)
    image.field(tstate, "ts_native_thread_id", TID)
    image.field(tstate, "ts_frame", frames[0])
    image.field(tstate, "ts_current_frame", frames[0])
    image.field(tstate, "ts_cframe", START + 0x67000)
    image.field(START + 0x67000, "cframe_current_frame", frames[0])
    for frame, previous in zip(frames, frames[1:] + [0]):
        image.field(frame, "if_previous", previous)


def stack(minor, offsets):
    """A runtime, an interpreter, a thread and two frames."""
    image = Image(offsets)
    code_type = START + 0x7000
    frames = [START + 0x61000, START + 0x62000]
    code, names = START + 0x63000, START + 0x64000
    put_runtime(image, START + 0x20000, START + 0x60000, frames)
    for frame in frames:
        image.field(frame, "if_code", code)
        image.field(frame, "if_instr", code + max(
            offsets["co_code_adaptive"], 0) + 2)
        image.field(frame, "if_lasti", 1, 4)
    image.put(code + 8, code_type)
    image.field(code, "co_firstlineno", 7, 4)
    for i, name in enumerate(("co_name", "co_qualname", "co_filename")):
        image.field(code, name, names + 0x100 * i)
        image.string(names + 0x100 * i, ["f", "C.f", "/x/train.py"][i])
    image.field(code, "co_linetable", names + 0x300)
    image.object_bytes(names + 0x300, bytes([0, 1, 2, 1, 2, 1]))
    return image.records(minor)


# A loop in a try, and its handler; arguments as 3.8, 3.10, 3.11 count.
OLD_CODE = [("SETUP_FINALLY", 14, 7), ("EXTENDED_ARG", 0, 0),
            ("FOR_ITER", 4, 2), ("STORE_FAST", 0, 0),
            ("JUMP_ABSOLUTE", 2, 1), ("POP_BLOCK", 0, 0),
            ("LOAD_FAST", 0, 0), ("RETURN_VALUE", 0, 0),
            ("POP_TOP", 0, 0), ("POP_EXCEPT", 0, 0),
            ("RERAISE", 0, 0), ("RETURN_VALUE", 0, 0)]


def old_units(minor, numbers):
    for name, bytes_on, units_on in OLD_CODE:
        number = numbers.get(name, numbers.get("END_FINALLY"))[0]
        yield number, bytes_on if minor < 10 else units_on


def new_units(numbers):
    """The same from 3.11 on, with its caches; the handler is the last two."""
    forward = 2 + numbers["JUMP_BACKWARD"][1]
    back = 2 + forward + numbers["FOR_ITER"][1]
    for name, argument in (
            ("RESUME", 0), ("EXTENDED_ARG", 0), ("FOR_ITER", forward),
            ("STORE_FAST", 0), ("JUMP_BACKWARD", back), ("NOP", 0),
            ("LOAD_FAST", 0), ("RETURN_VALUE", 0), ("PUSH_EXC_INFO", 0),
            ("RERAISE", 1)):
        number, caches = numbers[name]
        yield number, argument
        for _ in range(caches):
            yield 0, 0


def code(minor, offsets, numbers, is_instrumented):
    """A code object at START, with all that it points to."""
    image = Image(offsets)
    names = START + 0x1000
    pairs = list(new_units(numbers) if minor >= 11
                 else old_units(minor, numbers))
    data = bytes(byte for pair in pairs for byte in pair)
    if is_instrumented and minor >= 12:
        monitoring, lines = START + 0x2000, START + 0x2100
        image.field(START, "co_monitoring", monitoring)
        image.field(monitoring, "mo_lines", lines)
        lines += minor >= 14
        image.put(lines - 1, 2, 1)
        image.put(lines + 2 * 4, data[2 * 4], 1)
        data = data[:8] + bytes([numbers["INSTRUMENTED_LINE"][0]]) + data[9:]
    image.put(START + 8, START + 0x7000)
    image.put(START + 16, len(pairs))
    if minor >= 11:
        for i, byte in enumerate(data):
            image.put(START + offsets["co_code_adaptive"] + i, byte, 1)
    image.field(START, "co_code", START + 0x3000)
    image.object_bytes(START + 0x3000, data)
    image.field(START, "co_firstlineno", 7, 4)
    for i, name in enumerate(("co_name", "co_qualname", "co_filename")):
        image.field(START, name, names + 0x100 * i)
        image.string(names + 0x100 * i, ["f", "C.f", "/x/train.py"][i])
    image.field(START, "co_linetable", names + 0x300)
    image.object_bytes(names + 0x300, bytes(
        [0xd8, 0, 1, 0xdb, 2, 3, 0xe9, 1, 0xfa, 5] if minor >= 11
        else [2, 1, 6, 1, 4, 0xff, 12, 3]))
    image.field(START, "co_exceptiontable", names + 0x400)
    image.object_bytes(names + 0x400, bytes(
        [0x81, 6, len(pairs) - 2, 1]))
    return image.records(minor)


def program(minor, offsets):
    """The same, with a module whose function is decorated, and a class."""
    image = Image(offsets)
    types = build_types(image, minor)
    interpreter, frame = START + 0x20000, START + 0x61000
    tstate, code = START + 0x60000, START + 0x63000
    objects = iter(range(START + 0x68000, START + 0x7e000, 0x400))

    def new(kind, size=0):
        address = next(objects)
        image.put(address, 1)
        image.put(address + 8, types[kind])
        image.put(address + 16, size)
        return address

    def text(string):
        address = new("str")
        image.string(address, string)
        return address

    def fill_tuple(*items):
        address = new("tuple", len(items))
        for i, item in enumerate(items):
            image.put(address + offsets["tuple_item"] + 8 * i, item)
        return address

    def fill_dict(address=None, **items):
        address = address or new("dict", len(items))
        keys = next(objects)
        image.field(address, "dict_keys", keys)
        image.put(keys, 1)
        if minor >= 11:
            image.put(keys + 8, 3 | 3 << 8 | 1 << 16)
            image.put(keys + 24, len(items))
        else:
            image.put(keys + 8, 8)
            image.put(keys + 32, len(items))
        entry, size = (keys + 40, 16) if minor >= 11 else (keys + 56, 24)
        for i, (key, held) in enumerate(items.items()):
            image.put(entry + size * i, keys_of[key])
            image.put(entry + size * i + 8, held)
        return address

    def function(its_code, *closure):
        address = new("function")
        image.field(address, "func_code", its_code)
        image.field(address, "func_closure", fill_tuple(*closure))
        return address

    def fill_code(address, name, *consts):
        image.put(address, 1)
        image.put(address + 8, types["code"])
        image.field(address, "co_firstlineno", 7, 4)
        for field in ("co_name", "co_qualname"):
            image.field(address, field, text(name))
        image.field(address, "co_filename", keys_of["/x/train.py"])
        image.field(address, "co_consts", fill_tuple(*consts))
        return address

    keys_of = {key: text(key) for key in (
        "__main__", "train", "__name__", "__file__", "/x/train.py", "f", "C",
        "own", "partial")}
    put_runtime(image, interpreter, tstate, [frame])
    image.field(frame, "if_code", code)
    fill_code(code, "<module>", fill_code(next(objects), "nested"))
    inner = function(fill_code(next(objects), "f"))
    cell = new("cell")
    image.field(cell, "cell_ref", inner)
    outer = function(fill_code(next(objects), "wrapper"), cell)
    own = new("Own")
    if minor >= 11:
        image.put(own - 24, fill_dict(f=inner))
    klass = types["Own"]
    image.field(klass, "tp_dict", fill_dict(f=outer))
    module = new("module", fill_dict(
        __name__=keys_of["__main__"], __file__=keys_of["/x/train.py"],
        f=outer, C=klass, own=own, partial=new("functools.partial", outer)))
    image.field(frame, "if_f_globals", module)
    image.field(interpreter, "is_modules",
                fill_dict(__main__=module, train=module))
    return image.records(minor)


def build_types(image, minor):
    """{name: address} of types; "Own" is a class of the program's."""
    flags = {"str": 1 << 28, "tuple": 1 << 26, "dict": 1 << 29,
             "type": 1 << 31, "Own": 1 << 9}
    if minor >= 11:
        flags["Own"] |= 1 << 4
    names = list(flags) + ["function", "code", "cell", "module",
                           "functools.partial"]
    types = {}
    for i, name in enumerate(names):
        types[name] = START + 0x7000 + 0x400 * i
        text = START + 0xc000 + 0x40 * i
        for j, byte in enumerate(name.encode() + b"\0"):
            image.put(text + j, byte, 1)
    for i, name in enumerate(names):
        image.put(types[name], 1)
        image.put(types[name] + 8, types["type"])
        image.field(types[name], "tp_name", START + 0xc000 + 0x40 * i)
        image.field(types[name], "tp_flags", flags.get(name, 0))
        image.field(types[name], "tp_basicsize", 16)
    return types


def value(minor, offsets, kind):
    """An object at START: a str, or a list with one and itself."""
    image = Image(offsets)
    kinds = {"str": 1 << 28, "list": 1 << 25, "tuple": 1 << 26,
             "int": 1 << 24, "bytes": 1 << 27, "dict": 1 << 29}
    types = {name: START + 0x1000 * (i + 1) for i, name in enumerate(kinds)}
    for name, flag in kinds.items():
        text = START + 0x10000 + 0x100 * sorted(kinds).index(name)
        for i, byte in enumerate(name.encode() + b"\0"):
            image.put(text + i, byte, 1)
        image.field(types[name], "tp_name", text)
        image.field(types[name], "tp_flags", flag)
    image.put(START + 8, types[kind])
    other = START + 0x20000
    image.put(other + 8, types["str"])
    image.string(other, "storage went away")
    if kind == "str":
        image.string(START, "hello")
    elif kind == "bytes":
        image.object_bytes(START, b"\0\xff'")
    elif kind == "int":
        image.field(START, "long_tag", 2 << 3 if minor >= 12 else 2)
        image.field(START, "long_digit", 12345, 4)
        image.put(START + offsets["long_digit"] + 4, 6789, 4)
    elif kind == "list":
        image.put(START + 16, 2)
        image.field(START, "list_item", START + 0x30000)
        image.put(START + 0x30000, other)
        image.put(START + 0x30008, START)
    elif kind == "tuple":
        image.put(START + 16, 2)
        image.put(START + offsets["tuple_item"], other)
        image.put(START + offsets["tuple_item"] + 8, START)
    elif kind == "dict":
        keys = START + 0x31000
        image.put(START + 16, 1)
        image.field(START, "dict_keys", keys)
        image.put(keys, 1)
        if minor >= 11:
            image.put(keys + 8, 3 | 3 << 8 | 1 << 16)
            image.put(keys + 24, 1)
            image.put(keys + 32 + 8, other)
            image.put(keys + 32 + 16, other)
        else:
            image.put(keys + 8, 8)
            image.put(keys + 32, 1)
            image.put(keys + 40 + 8, 77)
            image.put(keys + 40 + 16, other)
            image.put(keys + 40 + 24, other)
    return image.records(minor)


PROCFS = [
    b"RANK=3\0LOCAL_RANK=3\0WORLD_SIZE=8\0MASTER_ADDR=127.0.0.1\0"
    b"MASTER_PORT=29500\0\xff"
    b"python\0-u\0/x/train.py\0--lr\0\x30\0\xff"
    b"4 (python) S 1 4 4 0 -1 4194304 1 0 0 0 1 0 0 0 20 0 1 0 77 0 0 0\xff"
    b"Name:\tpython\nUid:\t0\t0\t0\t0\nNSpid:\t4\n\xffpython\n\xff"
    b"00400000-00401000 r-xp 00000000 08:01 77 /usr/bin/python3.11\n",
    b"SLURM_PROCID=1\0SLURM_NTASKS=2\0OMPI_COMM_WORLD_RANK=1\0\xff"
    b"python3\0-m\0torch.distributed.run\0\xff4 (a) b) Z 0\xff\xff\xff",
]

# What is in an image's first object, and some of all there is besides.
EXPRESSIONS = {
    "dict": "x['storage went away'] == 0x1f", "list": "x[-2] is not None",
    "str": "x.y", "int": "x.real", "bytes": "x[0]", "tuple": "x[0] in (1, 2)",
}

TEXTS = {
    "expression": [
        "1 < 2.5e3 <= 0xff and not 'a\\x41\\n' 'b' in {'x', b'y'} or None",
        "len([1, 2,][0]) // -3 % (4,)", "*0x7f0000001000:8", "x.item() is x",
        "1 if 2 else 3", "f(1)", "u'\\N{DASH}'", "~5 ^ 1 << 2 | 3 & 6 - 1",
        "(1, (2, 'a')) == [1] != 1_0.5j", "x not in y[1, 2].z is not True"],
    "rankselect": ["0-7,16", "!3", "0-63/8,!8", "1048575", "0-4294967295",
                   "state=waiting&host=node[00-01]", "class=2,@x,outlier"],
    "keys": ["bind F5 merged\nbind C-x rank next\n", "bind ? \"open", "bind"],
    "config": ["theme mono\ntimeout 3\nascii\n",
               "text red/1 on 17/blue bold\n# x\nbind n rank next\n"],
}


def write(target, name, data):
    folder = os.path.join(HERE, "corpus", target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def elf():
    """The start of a library: headers, dynamic section, GNU hash table."""
    header = struct.pack("<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 3,
                         62, 1, 0, 64, 0x400, 0, 64, 56, 2, 64, 2, 1)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 0x1000, 0x1000, 0x1000)
    dynamic = struct.pack("<IIQQQQQQ", 2, 6, 0x200, 0x200, 0x200, 96, 96, 8)
    tags = b"".join(struct.pack("<QQ", tag, at) for tag, at in (
        (5, 0x300), (6, 0x340), (0x6ffffef5, 0x3a0), (0, 0)))
    data = bytearray(0x500)
    data[0:64] = header
    data[64:64 + 112] = load + dynamic
    data[0x200:0x200 + len(tags)] = tags
    data[0x300:0x30c] = b"\0_PyRuntime\0"
    data[0x358:0x370] = struct.pack("<IBBHQQ", 1, 0x11, 0, 1, 0x800, 8)
    number = 5381
    for byte in b"_PyRuntime":
        number = (number * 33 + byte) & 0xffffffff
    data[0x3a0:0x3c0] = struct.pack("<IIIIQII", 1, 1, 1, 6,
                                    0xffffffffffffffff, 1, number | 1)
    return bytes(data)


def section(name, kind, address, offset, size, link=0, entry=0):
    return struct.pack("<IIQQQQIIQQ", name, kind, 0, address, offset, size,
                       link, 1, 8, entry)


def mapped():
    """A library with two functions, a build id, and rules: the caller's frame
    is at rsp + 8 in one, at rbp + 16 and by an expression in the other."""
    names = b"\0f\0_ZN1A1gEiSt6vectorIiE\0"
    words = b"\0.eh_frame\0.symtab\0.strtab\0"
    symbols = bytes(24) + b"".join(
        struct.pack("<IBBHQQ", name, 0x12, 0, 1, at, 0x100)
        for name, at in ((1, 0x1000), (3, 0x1100)))
    entry = struct.pack("<IIB", 17, 0, 1) + b"\0\1\x78\x10" + bytes(
        [0x0c, 7, 8, 0x90, 1, 0, 0, 0])

    def rules(at, offset, code):
        code += bytes(-(24 + len(code)) % 8)
        return struct.pack("<IIQQ", 20 + len(code), offset + 4, at,
                           0x100) + code
    frames = entry + bytes(-len(entry) % 8)
    frames = struct.pack("<I", len(frames) - 4) + frames[4:]
    frames += rules(0x1000, len(frames), b"")
    frames += rules(0x1100, len(frames), bytes(
        [0x0c, 6, 16, 0x86, 2, 0x10, 3, 3, 0x76, 8, 6]))
    frames += bytes(4)
    note = struct.pack("<III", 4, 8, 3) + b"GNU\0" + b"12345678"
    data = bytearray(0x600)
    data[0:64] = struct.pack("<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0,
                             3, 62, 1, 0, 64, 0x400, 0, 64, 56, 2, 64, 5, 4)
    data[64:120] = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x1000, 0, 0x600, 0x600,
                               0x1000)
    data[120:176] = struct.pack("<IIQQQQQQ", 4, 4, 0xc0, 0x10c0, 0,
                                len(note), len(note), 4)
    for at, part in ((0xc0, note), (0x100, symbols), (0x180, names),
                     (0x1c0, words), (0x200, frames)):
        data[at:at + len(part)] = part
    table = (bytes(64) + section(1, 1, 0x1200, 0x200, len(frames))
             + section(11, 2, 0, 0x100, len(symbols), 3, 24)
             + section(19, 3, 0, 0x180, len(names))
             + section(19, 3, 0, 0x1c0, len(words)))
    data[0x400:0x400 + len(table)] = table
    return bytes(data)


def prompts():
    """What a debugger prints: a stop in colours, answers, half of one."""
    state = json.dumps({"prompt": "(Pdb) ", "frames": [
        {"func": "main", "file": "train.py", "first": 1, "line": 2}]}).encode()
    answer = b"{probetui:NONCE:%d:%08x:%s}\n" % (
        len(state), zlib.crc32(state), base64.b64encode(state))
    yield b"> /train.py(3)main()\r\n-> x = 1\r\n(Pdb) "
    yield (b"> \x1b[0;32m/train.py\x1b[0m(3)\x1b[0;36mmain\x1b[0;34m()\x1b[0m"
           b"\r\n\r\nipdb> ")
    yield b"\x1b]0;title\x07loss 3\r4\n(Pdb) " + answer + b"(Pdb) "
    yield b"{probetui:NONCE:0:00000000:}\r\n(Pdb) "
    yield answer[:40] + b"printed\n" + answer[40:]
    yield b"*** NameError: name 'p' is not defined\n(Pdb) "


def tensors():
    """(name, layout and bytes) as fuzz-tensor.c takes them."""
    def layout(dtype, dimensions, flags=0, query=0x7f, offset=0, item=0,
               start=-1, count=3):
        head = struct.pack("<6BHqqq", dtype, len(dimensions), flags, query, 10,
                           3, item, offset, start, count)
        return head + b"".join(struct.pack("<hh", *pair)
                               for pair in dimensions) + bytes(range(256)) * 4
    yield "plain", layout(0, [(8, 16), (4, 4)])
    yield "transposed", layout(3, [(4, 8), (8, 32)], query=0x1a)
    yield "backwards", layout(4, [(6, -16), (2, -8)], offset=600, query=0x16)
    yield "expanded", layout(2, [(9, 0), (5, 2)], flags=1)
    yield "complex", layout(8, [(3, 40), (4, 8)], query=0x1e)
    yield "overlapping", layout(1, [(30, 2), (8, 2)], query=0x32)
    yield "text", layout(15, [(3, 40), (2, 20)], item=12, query=0x50)
    yield "void", layout(17, [(7, 31)], item=13, query=0x30)
    yield "nothing", layout(0, [(3, 4), (0, 4)])
    yield "scalar", layout(12, [])
    yield "anywhere", layout(0, [(300, 77), (20, -99)], flags=2,
                             offset=1 << 40)


def main():
    tables = read_offsets()
    for minor, offsets in sorted(tables.items()):
        write("pystack", "3.%d" % minor, stack(minor, offsets))
        write("codes", "3.%d" % minor, program(minor, offsets))
        for kind in ("str", "list", "tuple", "int", "bytes", "dict"):
            write("pyobject", "3.%d-%s" % (minor, kind),
                  value(minor, offsets, kind))
            write("expression", "3.%d-%s" % (minor, kind),
                  EXPRESSIONS[kind].encode() + b"\0"
                  + value(minor, offsets, kind))
    for minor, numbers in sorted(read_opcodes().items()):
        for name in ("plain", "instrumented")[:1 + (minor >= 12)]:
            write("bytecode", "3.%d-%s" % (minor, name),
                  code(minor, tables[minor], numbers, name != "plain"))
    for i, data in enumerate(PROCFS):
        write("procfs", str(i), data)
    for target, texts in TEXTS.items():
        for i, text in enumerate(texts):
            write(target, str(i), text.encode())
    write("linetable", "3.8", bytes([0, 4, 2, 6, 0xff]))
    write("linetable", "3.10", bytes([2, 4, 0, 2, 0x80, 2, 3]))
    write("linetable", "3.12", bytes([4, 0xd0, 4, 0x90, 4, 0xf2, 4, 0x80, 1]))
    for name, data in tensors():
        write("tensor", name, data)
    for i, data in enumerate(prompts()):
        write("prompt", str(i), data)
    write("elf", "library", elf())
    write("unwind", "library", mapped())
    write("unwind", "name", b"void a<b<c> >::f<int>(int)::{lambda(A*)#2}"
          b"::operator()(A*) const [clone .cold]")
    folder = os.path.join(SOURCE, "tests", "recordings")
    for name in ("hung8", "jobs", "native", "nothing"):
        with open(os.path.join(folder, name + ".jsonl"), "rb") as file:
            lines = file.read().split(b"\n")
        write("recording", name, b"\n".join(lines[:40])[:20000])


if __name__ == "__main__":
    main()
