/*
 * capture: what unwinding needs of one thread, copied out of the process, so
 * that the thread runs on while it is unwound: registers and stack; and the
 * Python frames that were read at the same moment.
 */
#ifndef BACKENDS_NATIVE_CAPTURE_H
#define BACKENDS_NATIVE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/native/registers.h"
#include "protocol/stack.h"

struct memory;
struct place_name;

/* Of a thread that is not held; what is above is fetched when it is needed. */
#define CAPTURE_STACK_BYTES (64u << 10)
/*
 * Of one that is held, and in all where time is left: nothing can be fetched
 * later.
 */
#define CAPTURE_HELD_BYTES (32u << 10)
#define CAPTURE_HELD_MAXIMUM (128u << 10)
#define CAPTURE_FINGERPRINT_BYTES 4096u
#define CAPTURE_STACK_MAXIMUM (8u << 20)
#define CAPTURE_FRAMES_MAXIMUM 8192

struct python_frame {
	struct frame frame;
	/*
	 * A place on the C stack that the evaluation loop's frame holds, of
	 * the loop that runs this frame. 0: unknown.
	 */
	uint64_t anchor;
};

struct native_frame {
	uint64_t pc;
	uint64_t low, high; /* the part of the stack that it has */
	const struct place_name *name;
	bool is_interpreter; /* the code lies in the interpreter's file */
};

enum native_end {
	NATIVE_OUTERMOST, /* the last frame has no caller */
	NATIVE_BROKEN,	  /* the last frame cannot be unwound */
	NATIVE_REGISTERS, /* nor this, without registers that were not given */
	NATIVE_CUT,	  /* there are more than frames_maximum */
};

struct capture {
	pid_t tid;
	int interpreter;
	uint64_t switches; /* of the thread at that moment; 0: it was held */
	struct registers registers;
	uint64_t stack_start; /* address of stack[0] */
	uint8_t *stack;
	size_t stack_length;
	size_t stack_capacity;
	bool is_fixed;		     /* no more of the stack is to be fetched */
	struct python_frame *python; /* [0] innermost */
	size_t python_count;
	size_t python_dropped; /* outermost frames that are not there */
	/* Made by unwinding.c: */
	struct native_frame *frames;
	size_t frame_count;
	size_t frame_capacity;
	enum native_end end;
};

/* Those of one sample of one process. */
struct capture_set {
	struct capture *captures;
	size_t count;
	size_t capacity;
	bool may_hold;	  /* threads that run, or that need registers */
	uint64_t held_ns; /* how long threads were held, in sum */
};

/*
 * Threads of one process are held no longer than this in one sample: none is
 * held after the first, no more of its stack is read after the second, and
 * what has to be done for one takes less than what is left.
 */
#define CAPTURE_HELD_NS 500000u
#define CAPTURE_MORE_NS 300000u

void capture_clear(struct capture *capture);
/* Frees all of them; what may be done stays. */
void capture_set_clear(struct capture_set *set);
/* Lends a new zeroed one at the end. */
struct capture *capture_set_add(struct capture_set *set);
/* Drops the last one. */
void capture_set_drop(struct capture_set *set);
void capture_set_remove(struct capture_set *set, size_t index);
/*
 * What tells two stacks apart, of those that one thread has: a hash of its
 * innermost part, for fingerprints of the same Python stack only.
 */
uint64_t capture_fingerprint(const struct capture *capture);
/*
 * Makes room for size bytes of stack, so that it need not be while a thread is
 * held.
 */
void capture_prepare(struct capture *capture, size_t size);
/*
 * Copies as much of the stack that registers point to as is there, size bytes
 * at most. -1: none.
 */
int capture_stack(struct capture *capture, struct memory *memory, size_t size);
/* As much more of it as there is room for. */
void capture_rest(struct capture *capture, struct memory *memory);
/*
 * A word of the captured stack; more of the stack is fetched from process pid
 * where that is allowed. 0, or -1.
 */
int capture_word(struct capture *capture, pid_t pid, uint64_t address, uint64_t *word);

#endif
