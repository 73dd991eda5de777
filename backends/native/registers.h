/*
 * registers: the registers that unwinding needs, by their DWARF numbers. What
 * depends on the processor stands in registers-PROCESSOR.c alone.
 */
#ifndef BACKENDS_NATIVE_REGISTERS_H
#define BACKENDS_NATIVE_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGISTERS_COUNT 33	  /* numbers above are of no use here */
#define REGISTERS_DUMP_BYTES 1024 /* what the kernel gives is no longer */

struct registers {
	uint64_t values[REGISTERS_COUNT];
	uint64_t known; /* bit N: values[N] is known */
	uint64_t pc;
	/*
	 * pc is the instruction that runs next (innermost, or interrupted by a
	 * signal); else it is where a call comes back to, and the call is
	 * before it.
	 */
	bool is_next;
};

/* Whether stacks can be unwound on this processor. */
bool registers_can_unwind(void);
/* The number of the stack pointer. */
int registers_stack_pointer(void);
/* The number of the register that holds a function's first argument. */
int registers_first_argument(void);
/* What a thread that sleeps in the kernel shows of itself. */
void registers_from_syscall(struct registers *registers, uint64_t pc, uint64_t sp);
/* From what PTRACE_GETREGSET gives for NT_PRSTATUS. 0, or -1. */
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
