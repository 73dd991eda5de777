/*
 * opcodes: the meaning of each opcode number, one table for each minor version of CPython.
 *
 * opcodes.inc is the output of opcodes-gen.py, run by each version. The tables are constant. The
 * columns from `effect` on are those of `base`.
 */
#ifndef BACKENDS_CPYTHON_OPCODES_H
#define BACKENDS_CPYTHON_OPCODES_H

#include <stdint.h>

#define OPCODES_COUNT 256

/* How an instruction's argument gives its target. */
enum opcode_jump {
	OPCODE_JUMPS_NONE,
	OPCODE_JUMPS_FORWARD,  /* counts forward from the next instruction */
	OPCODE_JUMPS_BACKWARD, /* counts backward from the next instruction */
	OPCODE_JUMPS_ABSOLUTE,
	OPCODE_JUMPS_HANDLER, /* no jump: exceptions are handled at the target from now on */
};

enum opcode_form {
	OPCODE_PLAIN, /* the compiler's opcode, or a specialised or instrumented form of it */
	/* Also runs the next instruction, which leaves no trace in the frame. */
	OPCODE_SUPER,
	/* Replace another opcode, which CPython keeps in mo_lines and mo_instructions (cpython.h),
	 * respectively. */
	OPCODE_HIDDEN_BY_LINE,
	OPCODE_HIDDEN_BY_INSTRUCTION,
	OPCODE_COMPILED, /* replaces an opcode by an entry to JIT code */
};

/* What an instruction's argument adds to its effect on the value stack. */
enum opcode_added {
	OPCODE_ADDS_NONE,
	OPCODE_ADDS_PLUS,
	OPCODE_ADDS_MINUS,
	OPCODE_ADDS_MINUS_TWICE,
	OPCODE_ADDS_PLUS_BIT_0,
	OPCODE_ADDS_MINUS_BIT_0,
	OPCODE_ADDS_MINUS_BIT_2,
	OPCODE_ADDS_MINUS_BITS, /* the number of bits 0 to 3 that are set */
	OPCODE_ADDS_PLUS_PARTS, /* the low byte and the rest */
};

/* Which values an instruction leaves on the value stack, and what it calls. */
enum opcode_use {
	OPCODE_USE_RESULT,    /* the top is a new value */
	OPCODE_USE_NO_RESULT, /* the values that are left are unchanged */
	OPCODE_USE_SHUFFLE,   /* moves the values at the top, `place` plus the argument */
	OPCODE_USE_LOCAL,     /* pushes a local: the argument is its index */
	/* The value of a name, and a name's attribute of the top: the name's index is the argument,
	 * shifted right by `place`. */
	OPCODE_USE_GLOBAL,
	OPCODE_USE_ATTRIBUTE,
	/* Calls; `place` plus the number of arguments counts the callable from the top. */
	OPCODE_USE_CALL,
	/* Either a method with the object above it, or a callable with NULL above or below it. */
	OPCODE_USE_CALL_PAIR,
	OPCODE_USE_CALL_EX, /* f(*args, **kwargs) */
	OPCODE_USE_ENTER,   /* calls __enter__() of the top */
	OPCODE_USE_NEXT,    /* calls __next__() of the top */
};

struct opcode {
	uint8_t base;	/* the compiler's number; 0: there is no such opcode */
	uint8_t caches; /* cache units behind the instruction */
	uint8_t jump;	/* enum opcode_jump */
	uint8_t kind;	/* enum unit_kind, bytecode.h */
	uint8_t form;	/* enum opcode_form */
	/* The value stack grows by effect, by the argument's part, and, if it jumps, by jumping. */
	int8_t effect;
	uint8_t added; /* enum opcode_added */
	int8_t jumping;
	uint8_t use; /* enum opcode_use */
	uint8_t place;
};

/* Returns the OPCODES_COUNT opcodes of 3.MINOR; NULL: unknown version. */
const struct opcode *opcodes_find(int minor);
/* Returns by how much the value stack grows if the instruction does not jump. */
int opcode_effect(const struct opcode *opcode, uint32_t argument);

#endif
