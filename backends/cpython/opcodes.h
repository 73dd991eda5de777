/*
 * opcodes: the meaning of each opcode number, one table for each minor version of CPython.
 *
 * opcodes.inc is the output of opcodes-gen.py, run by each version. The tables are constant.
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

struct opcode {
	uint8_t base;	/* the compiler's number; 0: there is no such opcode */
	uint8_t caches; /* cache units behind the instruction */
	uint8_t jump;	/* enum opcode_jump */
	uint8_t kind;	/* enum unit_kind, bytecode.h */
	uint8_t form;	/* enum opcode_form */
};

/* Returns the OPCODES_COUNT opcodes of 3.MINOR; NULL: unknown version. */
const struct opcode *opcodes_find(int minor);

#endif
