/*
 * arch-x86_64: a call through the frame of a signal handler (System V ABI 3.2.2 and A.2.1; the
 * kernel's arch/x86/kernel/signal_64.c). On other processors the functions do nothing, so no
 * process can be stopped by ptrace.
 */
#include "backends/tracer/arch.h"

#include "banned.h"

#ifdef __x86_64__

#include <assert.h>
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <sys/user.h>

#include "base/array.h"

#define INT1 0xf1
#define RED_ZONE 128
#define USER_CODE_64 0x33 /* the code segment of 64-bit programs */
#define SIGNAL_SET_BYTES 8
#define DIRECTION_FLAG UINT64_C(0x400)

/* The kernel's layout of saved floating-point registers (XSAVE). */
#define LEGACY_BYTES 576 /* bytes of the legacy area and the XSAVE header */
#define SOFTWARE_OFFSET 464
#define FEATURES_OFFSET                                                                            \
	512 /* offset of the bits of the features that are not in their initial                    \
	     * state */
#define XSAVE_LEAF 0x0d
#define FEATURE_COUNT 63
#define FEATURES_ON_DEMAND (UINT64_C(3) << 17) /* AMX */
#define FLOATS_ALIGNMENT UINT64_C(64)
#define ADDRESS_BYTES 8
#define MAGIC1 0x46505853u
#define MAGIC2 0x46505845u
/* Value of uc_flags: the frame has XSAVE data and a valid stack segment. */
#define UC_FLAGS 7u
/* An invalid value of ss_flags: the alternate signal stack is left unchanged. */
#define SS_NONE 0x1234

/* Results of a system call that is to be restarted (the kernel's linux/errno.h). */
#define ERESTARTSYS 512
#define ERESTARTNOINTR 513
#define ERESTARTNOHAND 514
#define ERESTART_RESTARTBLOCK 516
#define CALL_BYTES 2 /* length of the instruction `syscall` */
#define TAKE_BYTES 1 /* length of the instruction `pop` */

static_assert(sizeof(struct user_regs_struct) <= ARCH_CALL_WORDS * sizeof(uint64_t),
	      "the registers have no room");

/* The frame that rt_sigreturn(2) reads, followed by the two actions for rt_sigaction(2). */
struct below {
	uint64_t come_back;
	ucontext_t context;
	struct arch_action action;
	struct arch_action old;
};

struct software {
	uint32_t magic1;
	uint32_t extended_size;
	uint64_t features;
	uint32_t size;
	uint32_t padding[7];
};

static const struct user_regs_struct *user_of(const struct arch_dump *dump)
{
	return (const struct user_regs_struct *)dump->words;
}

int arch_floats_set(void)
{
	return NT_X86_XSTATE;
}

bool arch_is_known(const struct arch_dump *dump)
{
	return dump->length == sizeof(struct user_regs_struct) && user_of(dump)->cs == USER_CODE_64;
}

void arch_find_places(const uint8_t *code, size_t length, uint64_t address, bool with_return,
		      struct arch_places *places)
{
	static const uint8_t call[] = { 0x0f, 0x05, 0xc3 };
	static const uint8_t come_back[] = { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };
	static const uint8_t take[] = { 0x5f, 0xc3 }; /* pop rdi; ret */
	size_t call_length = sizeof(call) - (with_return ? 0 : 1);
	const uint8_t *found = memmem(code, length, call, call_length);

	if (found && !places->call)
		places->call = address + (uint64_t)(found - code);
	found = memmem(code, length, come_back, sizeof(come_back));
	if (found && !places->come_back)
		places->come_back = address + (uint64_t)(found - code);
	found = memmem(code, length, take, sizeof(take));
	if (found && !places->take)
		places->take = address + (uint64_t)(found - code);
}

/* Copies the registers in the order of the enum REG_… of sys/ucontext.h. */
static void fill_registers(gregset_t out, const struct user_regs_struct *user)
{
	const unsigned long long values[] = {
		user->r8,
		user->r9,
		user->r10,
		user->r11,
		user->r12,
		user->r13,
		user->r14,
		user->r15,
		user->rdi,
		user->rsi,
		user->rbp,
		user->rbx,
		user->rdx,
		user->rax,
		user->rcx,
		user->rsp,
		user->rip,
		user->eflags,
		user->cs | user->ss << 48,
	};

	for (size_t i = 0; i < ARRAY_LENGTH(values); i++)
		out[i] = (greg_t)values[i];
}

static bool is_to_begin_again(const struct user_regs_struct *user)
{
	if ((long long)user->orig_rax < 0)
		return false;
	switch (-(long long)user->rax) {
	case ERESTARTSYS:
	case ERESTARTNOINTR:
	case ERESTARTNOHAND:
	case ERESTART_RESTARTBLOCK:
		return true;
	}
	return false;
}

/*
 * Restarts an interrupted system call, which the kernel does not do after rt_sigreturn(2). A sleep
 * is restarted with its full time, because the kernel forgets the remaining time; a program without
 * handlers would not expect EINTR.
 */
static void begin_call_again(gregset_t out, const struct user_regs_struct *user)
{
	if (!is_to_begin_again(user))
		return;
	out[REG_RAX] = (greg_t)user->orig_rax;
	out[REG_RIP] -= CALL_BYTES;
}

void arch_measure_floats(struct arch_places *places)
{
	unsigned low, high, length, offset, c, d;

	if (!__get_cpuid_count(XSAVE_LEAF, 0, &low, &c, &d, &high))
		return;
	for (unsigned i = 2; i < FEATURE_COUNT; i++)
		if (((uint64_t)high << 32 | low) >> i & 1 &&
		    __get_cpuid_count(XSAVE_LEAF, i, &length, &offset, &c, &d))
			places->floats_ends[i] = offset + length;
}

/* Returns the size of the data that the kernel restores for these features. */
static size_t floats_size(const struct arch_places *places, uint64_t features)
{
	size_t size = LEGACY_BYTES;

	for (unsigned i = 2; i < FEATURE_COUNT; i++)
		if (features >> i & 1 && size < places->floats_ends[i])
			size = places->floats_ends[i];
	return size;
}

/* Writes the floating-point registers. Returns the number of bytes; 0: it is not possible. */
static size_t fill_floats(unsigned char *out, const struct arch_places *places,
			  const struct arch_floats *floats)
{
	struct software software = { .magic1 = MAGIC1 };
	uint64_t features, used;
	uint32_t magic2 = MAGIC2;

	if (!floats || floats->length < LEGACY_BYTES)
		return 0;
	memcpy(&features, floats->bytes + SOFTWARE_OFFSET, sizeof(features));
	memcpy(&used, floats->bytes + FEATURES_OFFSET, sizeof(used));
	features &= ~FEATURES_ON_DEMAND | used;
	software.features = features;
	software.size = (uint32_t)floats_size(places, features);
	software.extended_size = software.size + (uint32_t)sizeof(magic2);
	if (software.size > floats->length)
		return 0;
	memcpy(out, floats->bytes, software.size);
	memcpy(out + SOFTWARE_OFFSET, &software, sizeof(software));
	memcpy(out + software.size, &magic2, sizeof(magic2));
	return software.extended_size;
}

void arch_make_frame(struct arch_frame *frame, const struct arch_dump *dump,
		     const struct arch_floats *floats, uint64_t mask,
		     const struct arch_places *places, const struct arch_action *action)
{
	const struct user_regs_struct *user = user_of(dump);
	struct below below = { .action = *action };
	uint64_t end = user->rsp - RED_ZONE;
	/*
	 * The floats are aligned, and the frame begins 8 bytes below an aligned address, so that
	 * the stack of a called function is aligned as the ABI requires.
	 */
	size_t head = ((sizeof(below) - ADDRESS_BYTES + FLOATS_ALIGNMENT - 1) &
		       ~(size_t)(FLOATS_ALIGNMENT - 1)) +
		      ADDRESS_BYTES;
	size_t length = 0;

	if (places->come_back)
		length = fill_floats(frame->bytes + head, places, floats);
	frame->length = head + length;
	frame->address = ((end - frame->length) & ~(FLOATS_ALIGNMENT - 1)) - ADDRESS_BYTES;
	frame->comes_back = length > 0;
	frame->action = frame->address + offsetof(struct below, action);
	frame->old = frame->address + offsetof(struct below, old);
	if (length) {
		below.come_back = places->come_back;
		below.context.uc_flags = UC_FLAGS;
		below.context.uc_stack.ss_flags = SS_NONE;
		memcpy(&below.context.uc_sigmask, &mask, sizeof(mask));
		fill_registers(below.context.uc_mcontext.gregs, user);
		begin_call_again(below.context.uc_mcontext.gregs, user);
		below.context.uc_mcontext.fpregs = (fpregset_t)(uintptr_t)(frame->address + head);
	}
	memcpy(frame->bytes, &below, sizeof(below));
}

static struct user_regs_struct *
set_arguments(struct arch_dump *dump, const struct arch_frame *frame, const struct arch_call *call)
{
	struct user_regs_struct *user = (struct user_regs_struct *)dump->words;

	user->rsp = frame->address;
	user->rdi = call->arguments[0];
	user->rsi = call->arguments[1];
	user->rdx = call->arguments[2];
	user->r8 = call->arguments[4];
	user->r9 = call->arguments[5];
	/* With -1 the kernel does not restart a system call. */
	user->orig_rax = (unsigned long long)-1;
	user->eflags &= ~DIRECTION_FLAG;
	return user;
}

void arch_set_syscall(struct arch_dump *dump, const struct arch_frame *frame,
		      const struct arch_places *places, const struct arch_call *call)
{
	struct user_regs_struct *user = set_arguments(dump, frame, call);

	user->r10 = call->arguments[3];
	user->rip = places->call;
	user->rax = (unsigned long long)call->number;
}

/* The additional return keeps the stack of each function aligned as the ABI requires. */
void arch_make_return(struct arch_return *where, const struct arch_frame *frame,
		      const struct arch_places *places, uint64_t function, uint64_t argument)
{
	*where = (struct arch_return){
		.words = { places->take, argument, places->take + TAKE_BYTES, function },
		.address = frame->address - sizeof(where->words),
	};
}

void arch_set_function(struct arch_dump *dump, const struct arch_frame *frame,
		       const struct arch_return *where, const struct arch_call *call)
{
	struct user_regs_struct *user = set_arguments(dump, frame, call);

	user->rsp = where->address;
	user->rip = call->function;
	user->rax = 0;
	user->rbp = 0;
}

void arch_make_action(struct arch_call *call, const struct arch_frame *frame, int signal_number)
{
	*call = (struct arch_call){
		.number = SYS_rt_sigaction,
		.arguments = { (uint64_t)signal_number, frame->action, frame->old,
			       SIGNAL_SET_BYTES },
	};
}

int64_t arch_result(const struct arch_dump *dump)
{
	return (int64_t)user_of(dump)->rax;
}

long arch_current_call(const struct arch_dump *dump, uint64_t *arguments)
{
	const struct user_regs_struct *user = user_of(dump);

	arguments[0] = user->rdi;
	arguments[1] = user->rsi;
	arguments[2] = user->rdx;
	arguments[3] = user->r10;
	arguments[4] = user->r8;
	arguments[5] = user->r9;
	return (long)user->orig_rax;
}

uint64_t arch_instruction(const struct arch_dump *dump)
{
	return user_of(dump)->rip;
}

bool arch_was_interrupted(const struct arch_dump *dump)
{
	const struct user_regs_struct *user = user_of(dump);
	long long result = (long long)user->rax;

	return (long long)user->orig_rax >= 0 && (result == -EINTR || result == -ERESTARTNOHAND);
}

void arch_begin_again(struct arch_dump *dump)
{
	struct user_regs_struct *user = (struct user_regs_struct *)dump->words;

	user->rax = (unsigned long long)-ERESTARTNOHAND;
}

bool arch_is_before_call(const struct arch_dump *dump, uint64_t instruction)
{
	const struct user_regs_struct *user = user_of(dump);

	return user->rip + CALL_BYTES == instruction && user->rax == user->orig_rax;
}

void arch_set_argument(struct arch_dump *dump, int i, uint64_t value)
{
	struct user_regs_struct *user = (struct user_regs_struct *)dump->words;
	unsigned long long *arguments[ARCH_ARGUMENTS] = {
		&user->rdi, &user->rsi, &user->rdx, &user->r10, &user->r8, &user->r9,
	};

	*arguments[i] = value;
}

uint64_t arch_below_stack(const struct arch_dump *dump)
{
	return (user_of(dump)->rsp - RED_ZONE) & ~(uint64_t)(ADDRESS_BYTES - 1);
}

bool arch_is_trap(uint8_t byte)
{
	return byte == INT1;
}

#else

int arch_floats_set(void)
{
	return 0;
}

bool arch_is_known(const struct arch_dump *dump)
{
	(void)dump;
	return false;
}

void arch_find_places(const uint8_t *code, size_t length, uint64_t address, bool with_return,
		      struct arch_places *places)
{
	(void)code;
	(void)length;
	(void)address;
	(void)with_return;
	(void)places;
}

void arch_measure_floats(struct arch_places *places)
{
	(void)places;
}

void arch_make_frame(struct arch_frame *frame, const struct arch_dump *dump,
		     const struct arch_floats *floats, uint64_t mask,
		     const struct arch_places *places, const struct arch_action *action)
{
	(void)dump;
	(void)floats;
	(void)mask;
	(void)places;
	(void)action;
	frame->length = 0;
	frame->comes_back = false;
}

void arch_set_syscall(struct arch_dump *dump, const struct arch_frame *frame,
		      const struct arch_places *places, const struct arch_call *call)
{
	(void)dump;
	(void)frame;
	(void)places;
	(void)call;
}

void arch_make_return(struct arch_return *where, const struct arch_frame *frame,
		      const struct arch_places *places, uint64_t function, uint64_t argument)
{
	(void)where;
	(void)frame;
	(void)places;
	(void)function;
	(void)argument;
}

void arch_set_function(struct arch_dump *dump, const struct arch_frame *frame,
		       const struct arch_return *where, const struct arch_call *call)
{
	(void)dump;
	(void)frame;
	(void)where;
	(void)call;
}

void arch_make_action(struct arch_call *call, const struct arch_frame *frame, int signal_number)
{
	(void)call;
	(void)frame;
	(void)signal_number;
}

int64_t arch_result(const struct arch_dump *dump)
{
	(void)dump;
	return -1;
}

long arch_current_call(const struct arch_dump *dump, uint64_t *arguments)
{
	(void)dump;
	(void)arguments;
	return -1;
}

uint64_t arch_instruction(const struct arch_dump *dump)
{
	(void)dump;
	return 0;
}

bool arch_was_interrupted(const struct arch_dump *dump)
{
	(void)dump;
	return false;
}

void arch_begin_again(struct arch_dump *dump)
{
	(void)dump;
}

bool arch_is_before_call(const struct arch_dump *dump, uint64_t instruction)
{
	(void)dump;
	(void)instruction;
	return false;
}

void arch_set_argument(struct arch_dump *dump, int i, uint64_t value)
{
	(void)dump;
	(void)i;
	(void)value;
}

uint64_t arch_below_stack(const struct arch_dump *dump)
{
	(void)dump;
	return 0;
}

bool arch_is_trap(uint8_t byte)
{
	(void)byte;
	return false;
}

#endif
