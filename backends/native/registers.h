/*
 * registers: the registers that unwinding needs, by their DWARF numbers. Everything that depends on
 * the processor is in registers-PROCESSOR.c.
 */
#ifndef BACKENDS_NATIVE_REGISTERS_H
#define BACKENDS_NATIVE_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGISTERS_COUNT 33	  /* registers with higher DWARF numbers are not used */
#define REGISTERS_DUMP_BYTES 1024 /* bytes that PTRACE_GETREGSET returns, at most */

struct registers {
	uint64_t values[REGISTERS_COUNT];
	uint64_t known; /* bit N: values[N] is known */
	uint64_t pc;
	/*
	 * true: pc is the next instruction (innermost frame, or frame interrupted by a signal);
	 * false: pc is a return address, and the call is before pc
	 */
	bool is_next;
};

/* Whether stacks can be unwound on this processor. */
bool registers_can_unwind(void);
/* Returns the DWARF number of the stack pointer. */
int registers_stack_pointer(void);
/* Returns the DWARF number of the register that holds a function's first argument. */
int registers_first_argument(void);
/* Sets only pc and stack pointer: Linux shows no other registers of a thread that sleeps in a
 * system call. */
void registers_from_syscall(struct registers *registers, uint64_t pc, uint64_t sp);
/*
 * Sets all registers from the bytes that PTRACE_GETREGSET returned for NT_PRSTATUS. Returns 0, or
 * -1 if there are too few bytes or the processor is unsupported.
 */
int registers_from_dump(struct registers *registers, const void *dump, size_t length);

static inline bool registers_has(const struct registers *registers, int number)
{
	return number >= 0 && number < REGISTERS_COUNT && registers->known >> number & 1;
}

static inline void registers_set(struct registers *registers, int number, uint64_t value)
{
	registers->values[number] = value;
	registers->known |= UINT64_C(1) << number;
}

#endif
