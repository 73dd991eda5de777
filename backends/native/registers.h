/*
 * registers: the registers that unwinding needs, by their DWARF numbers. Everything that depends on
 * the processor is in registers-PROCESSOR.c.
 */
#ifndef BACKENDS_NATIVE_REGISTERS_H
#define BACKENDS_NATIVE_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGISTERS_COUNT 33	  /* DWARF numbers from here on are not used */
#define REGISTERS_DUMP_BYTES 1024 /* most bytes of PTRACE_GETREGSET's answer */

struct registers {
	uint64_t values[REGISTERS_COUNT];
	uint64_t known; /* bit N: values[N] is known */
	uint64_t pc;
	/*
	 * pc is the next instruction (innermost frame, or interrupted by a signal); else pc is a
	 * return address, and the call is before pc.
	 */
	bool is_next;
};

/* Whether stacks can be unwound on this processor. */
bool registers_can_unwind(void);
/* The DWARF number of the stack pointer. */
int registers_stack_pointer(void);
/* The DWARF number of the register that holds a function's first argument. */
int registers_first_argument(void);
/* Sets pc and stack pointer, which are all that Linux shows of a thread asleep in a system call. */
void registers_from_syscall(struct registers *registers, uint64_t pc, uint64_t sp);
/*
 * Sets all registers from PTRACE_GETREGSET's answer for NT_PRSTATUS. Returns 0, or -1: too short,
 * or an unsupported processor.
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
