#!/usr/bin/env python3
"""Prints the part of opcodes.inc for the CPython that runs this script.

    python3.8 opcodes-gen.py; python3.9 opcodes-gen.py; ...

The script is not installed. A row has the number of an opcode, the number
that the compiler wrote for it, the number of cache units after it, its kind
of jump, the kind of the instruction (bytecode.h), and its form (opcodes.h).
"""
import opcode
import sys

KINDS = {
    "RESUME": "RESUME",
    "RETURN_VALUE": "RETURN",
    "RETURN_CONST": "RETURN_CONST",
    "YIELD_VALUE": "YIELD",
    "YIELD_FROM": "YIELD_FROM",
    "SEND": "SEND",
    "FOR_ITER": "FOR_ITER",
    "JUMP_FORWARD": "JUMP",
    "JUMP_ABSOLUTE": "JUMP",
    "JUMP_BACKWARD_NO_INTERRUPT": "JUMP",
    "JUMP_BACKWARD": "JUMP_BACKWARD",
    "CALL_FINALLY": "CALL_FINALLY",
    "POP_BLOCK": "POP_BLOCK",
    "RAISE_VARARGS": "RAISE",
    "RERAISE": "RERAISE",
    "END_FINALLY": "RERAISE",
    "END_ASYNC_FOR": "END_ASYNC_FOR",
    "CLEANUP_THROW": "CLEANUP_THROW",
    "END_FOR": "END",
    "END_SEND": "END",
    "POP_ITER": "END",
    "EXTENDED_ARG": "EXTENDED_ARG",
    "ENTER_EXECUTOR": "JUMP",       # the target is unknown
    "RETURN_GENERATOR": "RETURN_GENERATOR",
}
HIDING = {
    "INSTRUMENTED_LINE": "HIDDEN_BY_LINE",
    "INSTRUMENTED_INSTRUCTION": "HIDDEN_BY_INSTRUCTION",
    "ENTER_EXECUTOR": "COMPILED",
}
QUICK = {
    "EXTENDED_ARG_QUICK": "EXTENDED_ARG",
    "JUMP_BACKWARD_QUICK": "JUMP_BACKWARD",
    "RESUME_QUICK": "RESUME",
}


def number_specialized(numbers):
    """Returns the numbers of the specialized opcodes of 3.11 and 3.12, which
    opmap lacks: they get the free numbers in order."""
    free = [number for number in range(1, 256)
            if number not in set(numbers.values())]
    return dict(zip(opcode._specialized_instructions, free))


def read():
    """Returns {name: number}, {name: name that the compiler wrote} and
    {name: number of cache units}."""
    numbers = {name: number for name, number in opcode.opmap.items()
               if number < 256}
    families = getattr(opcode, "_specializations", {})
    caches = getattr(opcode, "_inline_cache_entries", [])
    if sys.version_info >= (3, 13):
        import _opcode_metadata
        families = _opcode_metadata._specializations
        numbers.update(_opcode_metadata._specialized_opmap)
    elif families:
        numbers.update(number_specialized(numbers))
    bases = dict(QUICK)
    for base, members in families.items():
        for name in members:
            bases[name] = base
    if isinstance(caches, list):
        caches = {name: caches[number] for name, number in numbers.items()
                  if number < len(caches)}
    # ENTER_EXECUTOR replaces a JUMP_BACKWARD.
    caches["ENTER_EXECUTOR"] = caches.get("JUMP_BACKWARD", 0)
    return numbers, bases, caches


def base_of(name, numbers, bases):
    name = bases.get(name, name)
    if name not in HIDING and name.startswith("INSTRUMENTED_"):
        name = name[len("INSTRUMENTED_"):]
    assert name in numbers, name
    return name


def jump_of(name, number):
    if name.startswith("SETUP_") and number in opcode.hasjrel:
        return "HANDLER"
    if name == "END_ASYNC_FOR":
        return "NONE"       # its argument is only for sys.monitoring
    if number in opcode.hasjabs:
        return "ABSOLUTE"
    if number in opcode.hasjrel:
        return "BACKWARD" if "BACKWARD" in name else "FORWARD"
    return "NONE"


def form_of(name):
    if name in HIDING:
        return HIDING[name]
    # Superinstructions also run the next instruction, which stores no
    # pointer of its own.
    if "__" in name or name == "BINARY_OP_INPLACE_ADD_UNICODE" or (
            name.startswith("COMPARE_OP_") and name.endswith("_JUMP")):
        return "SUPER"
    return "PLAIN"


def main():
    numbers, bases, caches = read()
    print("{ /* CPython 3.%d */" % sys.version_info[1])
    for name, number in sorted(numbers.items(), key=lambda item: item[1]):
        if name == "CACHE":
            continue
        base = base_of(name, numbers, bases)
        print("OP(%d, %d, %d, %s, %s, %s) /* %s */" % (
            number, numbers[base], caches.get(base, 0),
            jump_of(base, numbers[base]), KINDS.get(base, "PLAIN"),
            form_of(name), name))
    print("},")


if __name__ == "__main__":
    main()
