/*
 * arch: what it takes to make a call in a thread of another process. What is of
 * one processor stands in arch-PROCESSOR.c alone.
 *
 * The thread is made to call as if a signal handler did so: below its stack
 * lies what the kernel would have put there for a signal, and behind the call
 * the thread comes to where handlers return to. So, should nobody take it back
 * from there, it takes itself back to what it was about to do.
 */
#ifndef BACKENDS_TRACER_ARCH_H
#define BACKENDS_TRACER_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCH_CALL_WORDS 128 /* NT_PRSTATUS is no longer, on any processor */
#define ARCH_FLOATS_BYTES 16384

/* The registers of a thread, as PTRACE_GETREGSET gives them. */
struct arch_dump {
	uint64_t words[ARCH_CALL_WORDS]; /* NT_PRSTATUS */
	size_t length;
};

struct arch_floats {
	unsigned char bytes[ARCH_FLOATS_BYTES]; /* arch_floats_set() */
	size_t length;
};

/* struct sigaction as the kernel has it. */
struct arch_action {
	uint64_t handler;
	uint64_t flags;
	uint64_t restorer;
	uint64_t mask;
};

#define ARCH_ARGUMENTS 6

struct arch_call {
	long number;	   /* of a system call, */
	uint64_t function; /* or the address of a function (two arguments) */
	uint64_t arguments[ARCH_ARGUMENTS];
};

#define ARCH_FLOATS_PARTS 64

/* What is found out before a thread stands: places in the program's code, */
struct arch_places {
	uint64_t call;	    /* calls the kernel, and returns; 0: none */
	uint64_t come_back; /* where handlers return to; 0: none */
	uint64_t take;	    /* an argument from the stack, and returns */
	/* and where each part of the floating point registers ends. */
	uint32_t floats_ends[ARCH_FLOATS_PARTS];
};

/* What is written below the thread's stack. */
struct arch_frame {
	unsigned char bytes[ARCH_FLOATS_BYTES + 2048];
	size_t length;
	uint64_t address;
	uint64_t action; /* where in the process the two actions are */
	uint64_t old;
	bool comes_back; /* the thread can, by itself */
};

#define ARCH_RETURN_WORDS 4

/* What lies below a frame when the call is of a function. */
struct arch_return {
	uint64_t words[ARCH_RETURN_WORDS];
	uint64_t address;
};

/* Which set of registers has the floating point ones (NT_…). */
int arch_floats_set(void);
/* Whether the thread runs code for which the rest here is right. */
bool arch_is_known(const struct arch_dump *dump);
/*
 * Looks for the places in code that lies at address. with_return: of the call,
 * too; without, what follows it must not be run.
 */
void arch_find_places(const uint8_t *code, size_t length, uint64_t address, bool with_return,
		      struct arch_places *places);
/* To ask this processor may take long where it is a virtual one. */
void arch_measure_floats(struct arch_places *places);
/*
 * Makes a frame below the stack. With floats NULL, or without a place to come
 * back to, it is one that the thread cannot come back by.
 */
void arch_make_frame(struct arch_frame *frame, const struct arch_dump *dump,
		     const struct arch_floats *floats, uint64_t mask,
		     const struct arch_places *places, const struct arch_action *action);
/* Makes the thread call the kernel next. */
void arch_set_syscall(struct arch_dump *dump, const struct arch_frame *frame,
		      const struct arch_places *places, const struct arch_call *call);
/*
 * What makes the thread call another function, of one argument, before it
 * comes back. The frame is one that it can come back by.
 */
void arch_make_return(struct arch_return *where, const struct arch_frame *frame,
		      const struct arch_places *places, uint64_t function, uint64_t argument);
/* Makes the thread call a C function next, as a signal handler. */
void arch_set_function(struct arch_dump *dump, const struct arch_frame *frame,
		       const struct arch_return *where, const struct arch_call *call);
/* Prepares a call of rt_sigaction(2) for the signal, with the actions of the frame. */
void arch_make_action(struct arch_call *call, const struct arch_frame *frame, int signal_number);
/* What the call to the kernel returned, or -errno. */
int64_t arch_result(const struct arch_dump *dump);
/* The system call that the thread is in, or was to begin again; -1: none. */
long arch_current_call(const struct arch_dump *dump, uint64_t *arguments);
uint64_t arch_instruction(const struct arch_dump *dump);
/*
 * Whether a system call has ended with EINTR, or is to begin again unless a
 * handler runs (ERESTARTNOHAND). arch_begin_again() makes it the latter.
 */
bool arch_was_interrupted(const struct arch_dump *dump);
void arch_begin_again(struct arch_dump *dump);
/* The thread begins the call that returns to instruction next. */
bool arch_is_before_call(const struct arch_dump *dump, uint64_t instruction);
void arch_set_argument(struct arch_dump *dump, int i, uint64_t value);
/*
 * Whether the instruction by which a program raises a debug exception itself
 * (int1) ends with this byte.
 */
bool arch_ends_trap(uint8_t byte);
/* An address below everything that the thread has on its stack. */
uint64_t arch_below_stack(const struct arch_dump *dump);

#endif
