/*
 * pytask: one Python thread, with its thread state, its kernel task and its frames; kept from
 * sample to sample.
 *
 * A sample reads the kernel's state of the thread, walks the frames in memory's snapshot,
 * determines their exactness, then adds names and lines.
 */
#ifndef BACKENDS_CPYTHON_PYTASK_H
#define BACKENDS_CPYTHON_PYTASK_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/cpython/pytstate.h"
#include "backends/cpython/pywalk.h"
#include "backends/linux/task.h"
#include "protocol/sample.h"

struct capture;
struct cpython;
struct memory;
struct pycall_cache;
struct pycode_cache;
struct registers;
struct stack;
struct stack_table;

struct pytask {
	struct pytstate state;
	struct task task; /* task.tid is the tid in this process's pid namespace */
	struct task_state seen;
	struct pywalk walks[3];	   /* frames in both copies of the snapshot, and a spare */
	const struct pywalk *walk; /* the walk that the sample uses */
	struct frame *frames;	   /* frames of walk with names and lines */
	size_t frame_capacity;
	enum exactness exactness;
	bool is_broken;	  /* the chain of frames breaks off */
	bool has_unknown; /* a code object is unreadable although the frames are not torn */
	int failure;	  /* errno that broke the walk; 0: malformed frames */
	bool is_gone;
	bool is_left_out; /* the thread belongs to the agent and is left out of the sample */
	bool is_stopped;  /* the thread is stopped, and so is the main thread */
	char *name;	  /* name in the module threading; NULL: unknown */
	char comm[16];	  /* the kernel's name of the thread; "": not read */
	char wchan[48];
	uint64_t wchan_switches; /* number of context switches when wchan was read */
	struct {
		char *text;	      /* NULL: no call is known */
		struct pyframe frame; /* the newest frame when the call was read */
		uint64_t switches;    /* number of context switches then */
	} call;			      /* the C function that the newest frame calls */
	struct pyframe place;	      /* the newest frame at the last pytask_note_place() */
	struct {
		const struct stack *stack; /* merged Python and native frames; NULL: none */
		uint64_t switches;	   /* number of context switches when the stack was
					    * captured */
		uint64_t fingerprint;
		const struct stack *python;
		bool wants_registers; /* the unwinder cannot continue without registers */
		bool is_current;      /* the stack is still valid in the sample being taken */
	} native;		      /* the newest merged stack */
};

/* tid: the tid in this process's pid namespace. */
struct pytask *pytask_new(const struct pytstate *state, pid_t pid, pid_t tid);
void pytask_free(struct pytask *pytask);
/* Reads the kernel's state of the thread; to be called before the snapshot. */
void pytask_look(struct pytask *pytask);
/*
 * Walks the frames and determines their exactness. is_frozen: the GIL's holder is ptrace-stopped,
 * so no thread can change a frame.
 */
void pytask_settle(struct pytask *pytask, struct memory *memory, const struct cpython *python,
		   bool is_frozen);
/*
 * Walks the frames of a thread that is stopped now. Returns -1 if the thread does not run Python in
 * that thread state any more, or the chain of frames breaks off.
 */
int pytask_walk_again(struct pytask *pytask, struct memory *memory, const struct cpython *python);
/* Returns the stack with names and lines. If a code object is unreadable, sets exactness to
 * TORN. */
const struct stack *pytask_resolve(struct pytask *pytask, const struct cpython *python,
				   struct pycode_cache *codes, struct stack_table *table);
/*
 * Returns the C function that the newest frame calls, as pycall_read(); NULL: none is known. A
 * thread that has not run since the last call of this function costs nothing. To be called after
 * pytask_resolve().
 */
const char *pytask_call(struct pytask *pytask, struct pycall_cache *calls);
/*
 * Returns pycall_values() of a thread that is in a call and has run since the snapshot before;
 * 0: it has not, or they are unknown. To be called after pytask_call().
 */
uint64_t pytask_values(struct pytask *pytask, struct pycall_cache *calls);
/* Notes the place of the newest frame; returns true if it is the one noted before. Once a sample.
 */
bool pytask_note_place(struct pytask *pytask);
/*
 * Captures a sleeping thread; pytask_name_capture() adds its Python frames later. Returns -1 if the
 * thread runs, or has run since pytask_look().
 */
int pytask_capture(struct pytask *pytask, struct memory *memory, const struct cpython *python,
		   struct capture *capture);
/* Reads the thread's frames, so that pytask_capture_held() can then fetch the same memory in one
 * call. */
void pytask_prepare_held(struct pytask *pytask, struct memory *memory,
			 const struct cpython *python);
/*
 * Captures a ptrace-stopped thread with the innermost part of its stack, and rereads its Python
 * frames. On failure, returns -1 and keeps the frames that were read before.
 */
int pytask_capture_held(struct pytask *pytask, struct memory *memory, const struct cpython *python,
			const struct registers *registers, struct capture *capture);
/* Adds the thread's Python frames to a capture; to be called after pytask_resolve(). */
void pytask_name_capture(const struct pytask *pytask, struct capture *capture);
/* Returns true if the thread has not run since its native frames were captured, so that these are
 * still valid. */
bool pytask_has_native(struct pytask *pytask, struct memory *memory);
/* Returns true if a signal or a tracer has stopped the thread. */
bool pytask_is_stopped(struct pytask *pytask);
/* Returns the name of the kernel function in which the thread sleeps; "": the thread runs. */
const char *pytask_wchan(struct pytask *pytask);

#endif
