#!/usr/bin/env python3
"""Prints the part of opcodes.inc for the CPython that runs this script.

    python3.8 opcodes-gen.py; python3.9 opcodes-gen.py; ...

The script is not installed. A row has the number of an opcode, the number
that the compiler wrote for it, the number of cache units after it, its kind
of jump, the kind of the instruction (bytecode.h), and its form (opcodes.h).
Then comes what the instruction does to the value stack (opcodes.h): its
effect, the form of the part that the argument adds, what a jump adds, the use
that calls are found by, and the place of the name or the callable.
"""
import dis
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

# What the argument adds to the effect on the value stack.
ADDED = {
    "NONE": lambda argument: 0,
    "PLUS": lambda argument: argument,
    "MINUS": lambda argument: -argument,
    "MINUS_TWICE": lambda argument: -2 * argument,
    "PLUS_BIT_0": lambda argument: argument & 1,
    "MINUS_BIT_0": lambda argument: -(argument & 1),
    "MINUS_BIT_2": lambda argument: -(argument >> 2 & 1),
    "MINUS_BITS": lambda argument: -bin(argument & 15).count("1"),
    "PLUS_PARTS": lambda argument: (argument & 255) + (argument >> 8),
}
# Effects at run time where dis.stack_effect() has others: in 3.8 a `finally`
# that no exception leads to, in 3.11 PRECALL, from 3.11 on a generator, which
# is resumed with a value.
EFFECTS = {
    "BEGIN_FINALLY": 1,
    "END_FINALLY": -1,
    "POP_FINALLY": -1,
    "WITH_CLEANUP_START": 1,
    "WITH_CLEANUP_FINISH": -2,
    "PRECALL": 0,
    "RETURN_GENERATOR": 1,
}
SHUFFLED = {"ROT_TWO": 2, "ROT_THREE": 3, "ROT_FOUR": 4, "ROT_N": 0, "SWAP": 0}
NO_RESULT = {
    "CACHE", "COPY_FREE_VARS", "END_FOR", "EXTENDED_ARG", "GEN_START",
    "KW_NAMES", "MAKE_CELL", "NOP", "NOT_TAKEN", "POP_BLOCK", "POP_EXCEPT",
    "POP_ITER", "POP_TOP", "PRECALL", "RESUME", "DICT_MERGE", "DICT_UPDATE",
    "LIST_APPEND", "LIST_EXTEND", "MAP_ADD", "SET_ADD", "SET_UPDATE",
    "LIST_TO_TUPLE", "TO_BOOL", "CHECK_EXC_MATCH", "CHECK_EG_MATCH",
    "PUSH_NULL",
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


def effect_of(name, number):
    """Returns the effect with argument 0, what an argument adds, and what a
    jump adds."""
    if name in EFFECTS:
        return EFFECTS[name], "NONE", 0
    if name == "CALL" and sys.version_info[:2] == (3, 11):
        return -1, "MINUS", 0           # PRECALL takes no part of it
    has_argument = number in getattr(dis, "hasarg", range(
        opcode.HAVE_ARGUMENT, 256))
    effects = {}
    for argument in list(range(12)) + [0x203] if has_argument else [None]:
        try:
            effects[argument or 0] = [
                dis.stack_effect(number, argument, jump=jumps)
                for jumps in (False, True)]
        except ValueError:
            pass                # no such argument, or never compiled
    if not effects:
        return 0, "NONE", 0
    for form, added in ADDED.items():
        bases = {(plain - added(argument), jump - plain)
                 for argument, (plain, jump) in effects.items()}
        if len(bases) == 1:
            (effect, jump), = bases
            return effect, form, jump
    if name == "BUILD_SLICE":
        return 1, "MINUS", 0            # of two or three values
    raise AssertionError(name, effects)


def use_of(name, number):
    """Returns the use of an opcode, and the place: by how much the argument
    of a name is shifted; how many values from the top of the value stack the
    callable is, besides the arguments of the call; how many values a
    shuffle moves, besides its argument."""
    minor = sys.version_info[1]
    if name in ("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW"):
        return "LOCAL", 0
    if name in ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"):
        return "GLOBAL", int(name == "LOAD_GLOBAL" and minor >= 11)
    if name in ("LOAD_ATTR", "LOAD_METHOD"):
        return "ATTRIBUTE", int(name == "LOAD_ATTR" and minor >= 12)
    if name == "LOAD_SUPER_ATTR":
        return "ATTRIBUTE", 2
    if name in ("CALL", "PRECALL", "CALL_METHOD"):
        return "CALL_PAIR", 2
    if name == "CALL_KW":
        return "CALL_PAIR", 3
    if name in ("CALL_FUNCTION", "CALL_FUNCTION_KW"):
        return "CALL", 1 + name.endswith("KW")
    if name == "CALL_FUNCTION_EX":
        return "CALL_EX", max(2, minor - 10)
    if name in ("SETUP_WITH", "BEFORE_WITH"):
        return "ENTER", 1
    if name == "FOR_ITER":
        return "NEXT", 1
    if name in SHUFFLED:
        return "SHUFFLE", SHUFFLED[name]
    if name in NO_RESULT or name.startswith(("STORE_", "DELETE_", "SETUP_")) \
            or jump_of(name, number) != "NONE":
        return "NO_RESULT", 0
    return "RESULT", 0


def main():
    numbers, bases, caches = read()
    print("{ /* CPython 3.%d */" % sys.version_info[1])
    for name, number in sorted(numbers.items(), key=lambda item: item[1]):
        if name == "CACHE":
            continue
        base = base_of(name, numbers, bases)
        print("OP(%d, %d, %d, %s, %s, %s, %d, %s, %d, %s, %d) /* %s */" % (
            (number, numbers[base], caches.get(base, 0),
             jump_of(base, numbers[base]), KINDS.get(base, "PLAIN"),
             form_of(name)) + effect_of(base, numbers[base]) +
            use_of(base, numbers[base]) + (name,)))
    print("},")


if __name__ == "__main__":
    main()
