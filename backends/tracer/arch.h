/*
 * arch: prepares registers and stack of a thread of another process so that the thread makes a
 * call. Everything that depends on the processor is in arch-PROCESSOR.c.
 *
 * The thread makes the call like a signal handler: a frame like the kernel's for a signal is
 * written below the thread's stack, and after the call the thread reaches the code to which signal
 * handlers return (rt_sigreturn(2)). So, if the tracer is killed meanwhile, the thread returns by
 * itself to the code that it was running.
 */
#ifndef BACKENDS_TRACER_ARCH_H
#define BACKENDS_TRACER_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCH_CALL_WORDS 128 /* size of the longest NT_PRSTATUS of any processor, in words */
#define ARCH_FLOATS_BYTES 16384

/* The registers of a thread, as returned by PTRACE_GETREGSET. */
struct arch_dump {
	uint64_t words[ARCH_CALL_WORDS]; /* NT_PRSTATUS */
	size_t length;
};

struct arch_floats {
	unsigned char bytes[ARCH_FLOATS_BYTES]; /* register set arch_floats_set() */
	size_t length;
};

/* The kernel's struct sigaction. */
struct arch_action {
	uint64_t handler;
	uint64_t flags;
	uint64_t restorer;
	uint64_t mask;
};

#define ARCH_ARGUMENTS 6

struct arch_call {
	long number;	   /* number of a system call; not used for a function */
	uint64_t function; /* address of a function, which gets two arguments; not used for a
			    * system call */
	uint64_t arguments[ARCH_ARGUMENTS];
};

#define ARCH_FLOATS_PARTS 64

/* Facts about a process and the processor, found before a thread is stopped. */
struct arch_places {
	/* Addresses of instructions in the program's code; 0: not found. */
	uint64_t call;	    /* calls the kernel, then returns */
	uint64_t come_back; /* code to which signal handlers return */
	uint64_t take;	    /* pops an argument from the stack, then returns */
	/* The end, in bytes, of each part of the saved floating-point registers. */
	uint32_t floats_ends[ARCH_FLOATS_PARTS];
};

/* The frame that is written below the thread's stack. */
struct arch_frame {
	unsigned char bytes[ARCH_FLOATS_BYTES + 2048];
	size_t length;
	uint64_t address;
	uint64_t action; /* address in the process of the new action, for rt_sigaction(2) */
	uint64_t old;	 /* address in the process where the kernel stores the old action */
	bool comes_back; /* the thread can return through the frame by itself */
};

#define ARCH_RETURN_WORDS 4

/* The words below a frame if the call is to a function. */
struct arch_return {
	uint64_t words[ARCH_RETURN_WORDS];
	uint64_t address;
};

/* Returns the register set (NT_…) that has the floating-point registers. */
int arch_floats_set(void);
/* Whether the thread runs code of the supported kind (arch-x86_64.c: 64-bit code). */
bool arch_is_known(const struct arch_dump *dump);
/*
 * Searches the bytes `code`, which are at `address` in the process, for the addresses in *places.
 * with_return: places->call must be a call that a return instruction follows; otherwise the caller
 * must not let the code after the call run.
 */
void arch_find_places(const uint8_t *code, size_t length, uint64_t address, bool with_return,
		      struct arch_places *places);
/* Fills in places->floats_ends by instructions that may be slow in a virtual machine. */
void arch_measure_floats(struct arch_places *places);
/*
 * Makes a frame below the stack. If floats is NULL or places->come_back is 0, the thread cannot
 * return through the frame by itself.
 */
void arch_make_frame(struct arch_frame *frame, const struct arch_dump *dump,
		     const struct arch_floats *floats, uint64_t mask,
		     const struct arch_places *places, const struct arch_action *action);
/* Changes the registers in *dump so that the thread makes the system call next. */
void arch_set_syscall(struct arch_dump *dump, const struct arch_frame *frame,
		      const struct arch_places *places, const struct arch_call *call);
/*
 * Makes the words below the frame with which the thread, after its call, also calls `function` with
 * `argument` and then returns through the frame. frame->comes_back must be true.
 */
void arch_make_return(struct arch_return *where, const struct arch_frame *frame,
		      const struct arch_places *places, uint64_t function, uint64_t argument);
/* Changes the registers in *dump so that the thread calls a C function next, like a signal
 * handler. */
void arch_set_function(struct arch_dump *dump, const struct arch_frame *frame,
		       const struct arch_return *where, const struct arch_call *call);
/* Prepares a call of rt_sigaction(2) for the signal, with the addresses frame->action and
 * frame->old. */
void arch_make_action(struct arch_call *call, const struct arch_frame *frame, int signal_number);
/* Returns the result of the system call; -errno: the call failed. */
int64_t arch_result(const struct arch_dump *dump);
/* Returns the number of the system call that the thread is in, or is about to restart; -1: none. */
long arch_current_call(const struct arch_dump *dump, uint64_t *arguments);
uint64_t arch_instruction(const struct arch_dump *dump);
/*
 * Whether a system call has ended with EINTR, or with ERESTARTNOHAND: then the kernel restarts the
 * call unless a handler runs. arch_begin_again() sets the result ERESTARTNOHAND.
 */
bool arch_was_interrupted(const struct arch_dump *dump);
void arch_begin_again(struct arch_dump *dump);
/* Whether the thread's next instruction is the system call whose return address is
 * `instruction`. */
bool arch_is_before_call(const struct arch_dump *dump, uint64_t instruction);
void arch_set_argument(struct arch_dump *dump, int i, uint64_t value);
/* Whether this byte is the instruction by which a program raises a debug exception (int1). */
bool arch_is_trap(uint8_t byte);
/* Returns an address below everything that the thread has on its stack. */
uint64_t arch_below_stack(const struct arch_dump *dump);

#endif
