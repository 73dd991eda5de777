#!/usr/bin/env python3
"""Writes tests/fuzz/corpus/c10d: a Flight Recorder with three calls as each
version of torch has it, with entries in order, overwritten, and malformed."""
import importlib.util
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
FOLDER = os.path.join(HERE, "corpus", "c10d")
SPEC = importlib.util.spec_from_file_location(
    "tensors", os.path.join(HERE, "make-tensors.py"))
TENSORS = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(TENSORS)
START = TENSORS.START
RECORDER, ENTRIES, TEXTS, DTYPES, TREE = (
    START + at for at in (0x100, 0x1000, 0x3000, 0x4000, 0x5000))
CALLS = 3


def layouts():
    path = os.path.join(SOURCE, "backends", "c10d", "c10d-layout.inc")
    with open(path) as file:
        text = file.read()
    names = re.search(r"^/\* first, last version, (.*) \*/$", text, re.M)
    names = ["first", "last"] + names.group(1).split(", ")
    for line in re.findall(r"^\{ (.*) \},$", text, re.M):
        yield dict(zip(names, map(int, line.split(", "))))


def put_text(image, at, address, where, text):
    """A std::string; where: its characters, with the length before them as
    the ABI before C++11 has it."""
    for i, byte in enumerate(text.encode() + b"\0"):
        image.put(where + 24 + i, byte, 1)
    image.put(where, len(text))
    image.put(where + 8, len(text))
    image.put(address, where + 24)
    if at["string_size"] == 32:
        image.put(address + 8, len(text))


def put_small_vector(image, address, values):
    image.put(address, address + 16)
    image.put(address + 8, len(values), 4)
    for i, value in enumerate(values):
        image.put(address + 16 + 8 * i, value)


def put_entry(image, at, number, address):
    image.put(address + at["entry_id"], number)
    image.put(address + at["entry_seq"], number + 1)
    image.put(address + at["entry_created"], 1795752606537906969 + number)
    for i, (member, text) in enumerate((("group_name", "0"),
                                        ("operation", "gloo:all_reduce"),
                                        ("thread_name", "pt_main_thread"))):
        if at["entry_" + member] >= 0:
            put_text(image, at, address + at["entry_" + member],
                     TEXTS + 0x100 * i, text)
    put_small_vector(image, address + at["entry_input_dims"], [2])
    put_small_vector(image, address + at["entry_output_dims"], [1])
    put_small_vector(image, address + at["entry_sizes"], [128, 3, 4])
    image.put(DTYPES, 6, 1)
    for member in "input_dtypes", "output_dtypes":
        image.put(address + at["entry_" + member], DTYPES)
        image.put(address + at["entry_" + member] + 8, DTYPES + 1)


def ring(at, following=CALLS, maximum=16):
    image = TENSORS.Image()
    image.put(START, RECORDER)
    image.put(RECORDER + at["recorder_enabled"], 1, 1)
    image.put(RECORDER + at["recorder_maximum"], maximum)
    image.put(RECORDER + at["recorder_next"], following)
    image.put(RECORDER + at["recorder_id"], CALLS)
    image.put(RECORDER + at["recorder_entries"], ENTRIES)
    image.put(RECORDER + at["recorder_entries"] + 8,
              ENTRIES + CALLS * at["entry_size"])
    image.put(RECORDER + at["recorder_entries"] + 16,
              ENTRIES + CALLS * at["entry_size"])
    image.put(RECORDER + at["recorder_statuses"] + 16, TREE)
    image.put(TREE + 16, TREE)      # a node that is below itself
    image.put(TREE + 40, RECORDER)
    for number in range(CALLS):
        put_entry(image, at, (number - following) % CALLS,
                  ENTRIES + number * at["entry_size"])
    return image


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for at in layouts():
        name = "%d-%d" % (at["first"], at["string_size"])
        whole = ring(at)
        wrapped = ring(at, following=1, maximum=CALLS)
        long = ring(at)
        put_small_vector(long, ENTRIES + at["entry_sizes"], [1])
        long.put(ENTRIES + at["entry_sizes"] + 8, 1 << 31, 4)
        for kind, image in (("whole", whole), ("wrapped", wrapped),
                            ("long", long)):
            with open(os.path.join(FOLDER, name + "-" + kind), "wb") as file:
                file.write(image.input())


if __name__ == "__main__":
    main()
