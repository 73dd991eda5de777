/*
 * opcodes: what each opcode's number means, one table a minor version of
 * CPython.
 *
 * opcodes.inc is printed by opcodes-gen.py, run by each version. Lent tables
 * are constant.
 */
#ifndef BACKENDS_CPYTHON_OPCODES_H
#define BACKENDS_CPYTHON_OPCODES_H

#include <stdint.h>

#define OPCODES_COUNT 256

/* From where an instruction's argument counts, and what is there. */
enum opcode_jump {
	OPCODE_JUMPS_NONE,
	OPCODE_JUMPS_FORWARD,  /* from the next instruction on */
	OPCODE_JUMPS_BACKWARD, /* from there back */
	OPCODE_JUMPS_ABSOLUTE,
	OPCODE_JUMPS_HANDLER, /* where exceptions lead from now on: no jump */
};

enum opcode_form {
	OPCODE_PLAIN, /* the compiler's, specialised or instrumented */
	/* Does the next instruction, too, which then leaves no trace. */
	OPCODE_SUPER,
	/* Stands for another one, that is written elsewhere. */
	OPCODE_HIDDEN_BY_LINE,
	OPCODE_HIDDEN_BY_INSTRUCTION,
	OPCODE_COMPILED, /* stands for the entry of native code (JIT) */
};

struct opcode {
	uint8_t base;	/* the compiler's number; 0: there is no such opcode */
	uint8_t caches; /* units behind it */
	uint8_t jump;	/* enum opcode_jump */
	uint8_t kind;	/* enum unit_kind, bytecode.h */
	uint8_t form;	/* enum opcode_form */
};

/* The OPCODES_COUNT opcodes of 3.MINOR, NULL when there are none. */
const struct opcode *opcodes_find(int minor);

#endif
