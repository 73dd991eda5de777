/*
 * x86-64: System V ABI, AMD64 Architecture Processor Supplement, 3.6.2 DWARF register number
 * mapping. On other processors nothing is unwound.
 */
#include "backends/native/registers.h"

#include "banned.h"

#ifdef __x86_64__

#include <sys/user.h>

#include "base/array.h"

#define STACK_POINTER 7
#define FIRST_ARGUMENT 5 /* rdi */

/* Offset of each register in user_regs_struct, indexed by its DWARF number. */
static const size_t places[] = {
	offsetof(struct user_regs_struct, rax), offsetof(struct user_regs_struct, rdx),
	offsetof(struct user_regs_struct, rcx), offsetof(struct user_regs_struct, rbx),
	offsetof(struct user_regs_struct, rsi), offsetof(struct user_regs_struct, rdi),
	offsetof(struct user_regs_struct, rbp), offsetof(struct user_regs_struct, rsp),
	offsetof(struct user_regs_struct, r8),	offsetof(struct user_regs_struct, r9),
	offsetof(struct user_regs_struct, r10), offsetof(struct user_regs_struct, r11),
	offsetof(struct user_regs_struct, r12), offsetof(struct user_regs_struct, r13),
	offsetof(struct user_regs_struct, r14), offsetof(struct user_regs_struct, r15),
};

bool registers_can_unwind(void)
{
	return true;
}

int registers_stack_pointer(void)
{
	return STACK_POINTER;
}

int registers_first_argument(void)
{
	return FIRST_ARGUMENT;
}

int registers_from_dump(struct registers *registers, const void *dump, size_t length)
{
	const struct user_regs_struct *user = dump;

	if (length < sizeof(*user))
		return -1;
	*registers = (struct registers){ .pc = user->rip, .is_next = true };
	for (size_t i = 0; i < ARRAY_LENGTH(places); i++) {
		uint64_t value;
		memcpy(&value, (const char *)dump + places[i], sizeof(value));
		registers_set(registers, (int)i, value);
	}
	return 0;
}

#else

#define FIRST_ARGUMENT (-1)
#define STACK_POINTER 31

bool registers_can_unwind(void)
{
	return false;
}

int registers_stack_pointer(void)
{
	return STACK_POINTER;
}

int registers_first_argument(void)
{
	return FIRST_ARGUMENT;
}

int registers_from_dump(struct registers *registers, const void *dump, size_t length)
{
	(void)dump;
	(void)length;
	*registers = (struct registers){ .pc = 0 };
	return -1;
}

#endif

void registers_from_syscall(struct registers *registers, uint64_t pc, uint64_t sp)
{
	*registers = (struct registers){ .pc = pc, .is_next = true };
	registers_set(registers, STACK_POINTER, sp);
}
