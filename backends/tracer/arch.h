/*
 * arch: prepares a call by a thread of another process. All that depends on the
 * processor is in arch-PROCESSOR.c.
 *
 * The thread calls as a signal handler would: below its stack is a frame as the
 * kernel makes it for a signal, and after the call the thread reaches the code
 * to which handlers return (rt_sigreturn(2)). So, if the tracer is killed
 * meanwhile, the thread returns by itself to the code that it was running.
 */
#ifndef BACKENDS_TRACER_ARCH_H
#define BACKENDS_TRACER_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCH_CALL_WORDS 128 /* no processor's NT_PRSTATUS is longer */
#define ARCH_FLOATS_BYTES 16384

/* The registers of a thread, as PTRACE_GETREGSET gives them. */
struct arch_dump {
	uint64_t words[ARCH_CALL_WORDS]; /* NT_PRSTATUS */
	size_t length;
};

struct arch_floats {
	unsigned char bytes[ARCH_FLOATS_BYTES]; /* of the set arch_floats_set() */
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
	long number;	   /* of a system call; not used for a function */
	uint64_t function; /* address of a function (two arguments) */
	uint64_t arguments[ARCH_ARGUMENTS];
};

#define ARCH_FLOATS_PARTS 64

/* Found before a thread is stopped: addresses in the program's code, */
struct arch_places {
	uint64_t call;	    /* calls the kernel, then returns; 0: none */
	uint64_t come_back; /* code to which signal handlers return; 0: none */
	uint64_t take;	    /* pops an argument from the stack, then returns; 0: none */
	/* and the end, in bytes, of each part of the saved floating-point registers. */
	uint32_t floats_ends[ARCH_FLOATS_PARTS];
};

/* What is written below the thread's stack. */
struct arch_frame {
	unsigned char bytes[ARCH_FLOATS_BYTES + 2048];
	size_t length;
	uint64_t address;
	uint64_t action; /* address of the new action in the process */
	uint64_t old;	 /* address for the old action in the process */
	bool comes_back; /* the thread can return through the frame by itself */
};

#define ARCH_RETURN_WORDS 4

/* The words below a frame when the call is of a function. */
struct arch_return {
	uint64_t words[ARCH_RETURN_WORDS];
	uint64_t address;
};

/* The register set (NT_…) with the floating-point registers. */
int arch_floats_set(void);
/* Whether the thread runs code of the supported kind (arch-x86_64.c: 64-bit code). */
bool arch_is_known(const struct arch_dump *dump);
/*
 * Searches code, which is at address in the process, for the places. with_return:
 * a return must follow the call; otherwise the code after the call must not run.
 */
void arch_find_places(const uint8_t *code, size_t length, uint64_t address, bool with_return,
		      struct arch_places *places);
/* Fills in floats_ends by asking the processor, which may be slow in a virtual machine. */
void arch_measure_floats(struct arch_places *places);
/*
 * Makes a frame below the stack. With floats NULL, or places->come_back 0, the
 * thread cannot return through the frame by itself.
 */
void arch_make_frame(struct arch_frame *frame, const struct arch_dump *dump,
		     const struct arch_floats *floats, uint64_t mask,
		     const struct arch_places *places, const struct arch_action *action);
/* Makes the thread call the kernel next. */
void arch_set_syscall(struct arch_dump *dump, const struct arch_frame *frame,
		      const struct arch_places *places, const struct arch_call *call);
/*
 * Makes the words with which the thread calls another function, of one argument,
 * before it returns through the frame; frame->comes_back must be set.
 */
void arch_make_return(struct arch_return *where, const struct arch_frame *frame,
		      const struct arch_places *places, uint64_t function, uint64_t argument);
/* Makes the thread call a C function next, as a signal handler. */
void arch_set_function(struct arch_dump *dump, const struct arch_frame *frame,
		       const struct arch_return *where, const struct arch_call *call);
/* Prepares a call of rt_sigaction(2) for the signal, with the actions of the frame. */
void arch_make_action(struct arch_call *call, const struct arch_frame *frame, int signal_number);
/* The result of the system call, or -errno. */
int64_t arch_result(const struct arch_dump *dump);
/* The system call that the thread is in, or was to begin again; -1: none. */
long arch_current_call(const struct arch_dump *dump, uint64_t *arguments);
uint64_t arch_instruction(const struct arch_dump *dump);
/*
 * Whether a system call has ended with EINTR, or is to begin again unless a
 * handler runs (ERESTARTNOHAND). arch_begin_again() sets the latter result.
 */
bool arch_was_interrupted(const struct arch_dump *dump);
void arch_begin_again(struct arch_dump *dump);
/* Whether the thread's next instruction is the system call that returns to `instruction`. */
bool arch_is_before_call(const struct arch_dump *dump, uint64_t instruction);
void arch_set_argument(struct arch_dump *dump, int i, uint64_t value);
/* Whether this byte is the instruction by which a program raises a debug exception (int1). */
bool arch_is_trap(uint8_t byte);
/* An address below everything that the thread has on its stack. */
uint64_t arch_below_stack(const struct arch_dump *dump);

#endif
