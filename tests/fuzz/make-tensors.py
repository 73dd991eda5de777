#!/usr/bin/env python3
"""Writes tests/fuzz/corpus/pytensor: tensors of torch as each version has
them, an array, a view and their like, and what is wrong with them."""
import os
import re
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
FOLDER = os.path.join(HERE, "corpus", "pytensor")
START = 0x200000000000      # image.h
IMPL, STORAGE, META, NONE, NODE, WORDS = (
    START + at for at in (0x100, 0x400, 0x600, 0x700, 0x900, 0x4000))
NAMES = ("first last impl storage autograd back sizes offset count dtype "
         "device is_flag_first extra symbolic keys conjugate negative zero "
         "users data bytes grad grad_fn requires_grad function").split()


def layouts():
    path = os.path.join(SOURCE, "backends", "cpython", "pytensor-torch.inc")
    with open(path) as file:
        for line in re.findall(r"^\{ (.*) \},$", file.read(), re.M):
            yield dict(zip(NAMES, map(int, line.split(", "))))


class Image(dict):
    """{address: byte}"""

    def put(self, address, value, size=8):
        for i, byte in enumerate((value & (1 << 8 * size) - 1).to_bytes(
                size, "little")):
            self[address + i] = byte

    def put_class(self, address, place, name):
        """The virtual table of an object, and what stands before it."""
        self.put(address, place + 0x10)
        self.put(place + 8, place + 0x40)
        self.put(place + 0x48, place + 0x80)
        for i, byte in enumerate(name.encode() + b"\0"):
            self[place + 0x80 + i] = byte

    def input(self, first=3):
        """first: of Python 3.11"""
        words = {(address - START) // 8 for address in self}
        return bytes([first]) + b"".join(
            struct.pack("<H", word) + bytes(
                self.get(START + 8 * word + i, 0) for i in range(8))
            for word in sorted(words))


def tensor(at, shape=(3, 4), strides=(4, 1), name="N3c1010TensorImplE"):
    image = Image()
    image.put(START, 1)
    image.put(START + at["impl"], IMPL)
    image.put_class(IMPL, START + 0x1000, name)
    image.put_class(STORAGE, START + 0x1400, "N3c1011StorageImplE")
    image.put_class(META, START + 0x1800, "N5torch8autograd12AutogradMetaE")
    image.put_class(NONE, START + 0x1c00, "N3c1019UndefinedTensorImplE")
    image.put_class(NODE, START + 0x2000,
                    "N5torch8autograd9generated12MulBackward0E")
    image.put(IMPL + at["storage"], STORAGE)
    image.put(IMPL + at["autograd"], META)
    image.put(IMPL + at["back"], START)
    image.put(IMPL + at["sizes"], len(shape))
    for i, (size, stride) in enumerate(zip(shape, strides)):
        image.put(IMPL + at["sizes"] + 8 + 8 * i, size)
        image.put(IMPL + at["sizes"] + 48 + 8 * i, stride)
    count = 1
    for size in shape:
        count *= size
    image.put(IMPL + at["count"], count)
    image.put(IMPL + at["dtype"], 6, 2)
    flag = 0 if at["is_flag_first"] else 2
    image.put(IMPL + at["device"] + flag, 1, 1)
    image.put(STORAGE + at["users"], 1)
    image.put(STORAGE + at["data"], WORDS)
    image.put(STORAGE + at["bytes"], 4 * count)
    image.put(META + at["grad"], NONE)
    image.put(META + at["grad_fn"], NODE)
    return image


def wrong(at):
    """(name, image) of what must not be believed."""
    sizes, huge = IMPL + at["sizes"], 1 << 62
    for name, address, value in (
            ("many-dimensions", sizes, 65), ("no-dimensions", sizes, -1),
            ("negative-size", sizes + 8, -3), ("huge-size", sizes + 8, huge),
            ("huge-stride", sizes + 48, huge),
            ("negative-stride", sizes + 48, -4),
            ("huge-offset", IMPL + at["offset"], huge),
            ("wrong-count", IMPL + at["count"], 13),
            ("wild-storage", IMPL + at["storage"], 0x7fffdeadbee8),
            ("cyclic-storage", IMPL + at["storage"], IMPL),
            ("wild-meta", IMPL + at["autograd"], START + 0x7fff8),
            ("cyclic-gradient", META + at["grad"], IMPL),
            ("wild-function", META + at["grad_fn"], 8),
            ("cyclic-table", IMPL, IMPL), ("table-of-itself", NODE, NODE + 16),
            ("small-storage", STORAGE + at["bytes"], 40),
            ("freed", STORAGE + at["users"], 0),
            ("no-data", STORAGE + at["data"], 0),
            ("other-dtype", IMPL + at["dtype"], 0x1ff),
            ("conjugated", IMPL + at["keys"], at["conjugate"])):
        image = tensor(at)
        image.put(address, value)
        yield name, image
    overflowing = tensor(at, (1 << 31, 1 << 31, 1 << 31), (1, 1, 1))
    overflowing.put(IMPL + at["count"], 1 << 60)
    yield "overflowing", overflowing
    deep = tensor(at)
    deep.put(sizes, 9)
    deep.put(sizes + 8, sizes - 8 * 9)
    yield "deep-in-itself", deep
    yield "sparse", tensor(at, name="N2at16SparseTensorImplE")
    yield "nested", tensor(at, name="N2at6native16NestedTensorImplE")


def array(kind, size, strides=(32, 8)):
    """numpy.ndarray"""
    image = Image()
    for i, value in enumerate((1, START + 0x3000, WORDS, 2, START + 0x200,
                               START + 0x210, 0, START + 0x300)):
        image.put(START + 8 * i, value)
    for i in range(2):
        image.put(START + 0x200 + 8 * i, (3, 4)[i])
        image.put(START + 0x210 + 8 * i, strides[i])
    image.put(START + 0x318, ord(kind) | ord(">") << 16, 4)
    image.put(START + 0x320, size, 4)
    image.put(START + 0x324, 8, 4)
    return image


def view(shape, strides, form):
    """memoryview"""
    image = Image()
    image.put(START, 1)
    for i, value in enumerate((WORDS, 0, 12 * 4, 4, len(shape) << 32,
                               START + 0x200, START + 0x240,
                               START + 0x300 if strides else 0, 0)):
        image.put(START + 56 + 8 * i, value)
    for i, byte in enumerate(form + b"\0"):
        image[START + 0x200 + i] = byte
    for i, size in enumerate(shape):
        image.put(START + 0x240 + 8 * i, size)
    for i, stride in enumerate(strides or ()):
        image.put(START + 0x300 + 8 * i, stride)
    return image


def row(items, letter):
    """array.array; its count of bytes makes it a bytearray, too"""
    image = Image()
    for i, value in enumerate((1, 0, items, WORDS, 99, START + 0x200)):
        image.put(START + 8 * i, value)
    image.put(START + 0x200, ord(letter) | 4 << 32)
    return image


def write(name, image):
    with open(os.path.join(FOLDER, name), "wb") as file:
        file.write(image.input())


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for at in layouts():
        write("torch-%d-%d" % (at["first"], at["grad"]), tensor(at))
    for name, image in wrong(at):
        write("torch-" + name, image)
    for kind, size in (("f", 8), ("i", 4), ("U", 80), ("c", 16), ("O", 8),
                       ("V", 1000000000)):
        write("numpy-%s" % kind, array(kind, size))
    write("numpy-strides", array("f", 8, (1 << 62, -1 << 62)))
    write("view", view((3, 4), (16, 4), b"<f"))
    write("view-huge", view((1 << 40, 1 << 40), None, b"T{f:x:}"))
    write("view-turned", view((12,), (-4,), b">i"))
    write("array", row(4, "f"))
    write("array-huge", row(1 << 61, "I"))


if __name__ == "__main__":
    main()
