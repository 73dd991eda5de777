/*
 * capture: a copy of the data of one thread that unwinding needs: registers, stack, and the Python
 * frames read at the same moment. So the thread may run while its stack is unwound.
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

/* Bytes of a sleeping thread's stack that are copied; more bytes are fetched when needed. */
#define CAPTURE_STACK_BYTES (64u << 10)
/* Bytes of a frozen (ptrace-stopped for microseconds) thread's stack that are copied first. */
#define CAPTURE_HELD_BYTES (32u << 10)
/* Bytes that are copied in all if time is left; nothing can be fetched later. */
#define CAPTURE_HELD_MAXIMUM (128u << 10)
#define CAPTURE_FINGERPRINT_BYTES 4096u
#define CAPTURE_STACK_MAXIMUM (8u << 20)
#define CAPTURE_FRAMES_MAXIMUM 8192

struct python_frame {
	struct frame frame;
	/*
	 * An address in the C stack frame of the evaluation loop that runs this Python frame; 0:
	 * unknown.
	 */
	uint64_t anchor;
};

struct native_frame {
	uint64_t pc;
	uint64_t low, high; /* lowest and highest address of the frame's part of the stack */
	const struct place_name *name;
	bool is_interpreter; /* pc is in the interpreter's file */
};

enum native_end {
	NATIVE_OUTERMOST, /* the last frame is the outermost: it has no caller */
	NATIVE_BROKEN,	  /* the last frame cannot be unwound */
	NATIVE_REGISTERS, /* the last frame cannot be unwound because a register was not captured */
	NATIVE_CUT,	  /* there are more than CAPTURE_FRAMES_MAXIMUM frames, or the time ran
			   * out */
};

struct capture {
	pid_t tid;
	int interpreter;
	uint64_t switches; /* number of context switches of the thread; 0: the thread was frozen */
	struct registers registers;
	uint64_t stack_start; /* address of stack[0] */
	uint8_t *stack;
	size_t stack_length;
	size_t stack_capacity;
	bool is_fixed;		     /* no more of the stack may be fetched */
	struct python_frame *python; /* Python frames; [0]: innermost */
	size_t python_count;
	size_t python_dropped; /* number of outermost frames that are not in `python` */
	/* Set by native.c: */
	struct native_frame *frames;
	size_t frame_count;
	size_t frame_capacity;
	enum native_end end;
};

/* The captures of one sample of one process. */
struct capture_set {
	struct capture *captures;
	size_t count;
	size_t capacity;
	bool may_hold;	  /* running threads may be frozen */
	uint64_t held_ns; /* total time that threads were frozen, in nanoseconds */
};

/*
 * Limits of the time for which threads of one process are frozen in one sample. After
 * CAPTURE_HELD_NS no further thread is frozen; after CAPTURE_MORE_NS only CAPTURE_HELD_BYTES of a
 * frozen thread's stack are read.
 */
#define CAPTURE_HELD_NS 500000u
#define CAPTURE_MORE_NS 300000u

void capture_clear(struct capture *capture);
/* Frees all captures; may_hold keeps its value. */
void capture_set_clear(struct capture_set *set);
/* Appends a zeroed capture and returns a pointer to it, valid until the next capture is added. */
struct capture *capture_set_add(struct capture_set *set);
/* Removes the last capture. */
void capture_set_drop(struct capture_set *set);
void capture_set_remove(struct capture_set *set, size_t index);
/*
 * Returns a hash of pc and the innermost part of the stack, which differs between native stacks of
 * one thread that have the same Python stack.
 */
uint64_t capture_fingerprint(const struct capture *capture);
/* Allocates `size` bytes for the stack, so that no time is lost while the thread is frozen. */
void capture_prepare(struct capture *capture, size_t size);
/* Copies at most size bytes from the stack pointer on. Returns 0, or -1 if they are unreadable. */
int capture_stack(struct capture *capture, struct memory *memory, size_t size);
/* Copies more of the stack, as much as fits into stack_capacity. */
void capture_rest(struct capture *capture, struct memory *memory);
/*
 * Reads a word of the captured stack; if the word was not captured, fetches more of the stack from
 * process pid, unless is_fixed. Returns 0, or -1 if the word cannot be read.
 */
int capture_word(struct capture *capture, pid_t pid, uint64_t address, uint64_t *word);

#endif
