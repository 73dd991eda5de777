/*
 * pytask: one Python thread as it is kept between samples: its thread state,
 * its task in the kernel, and its frames.
 *
 * A sample looks at the task, then walks the frames of the memory's snapshot,
 * then settles how far they can be trusted, then gives them names and lines.
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
struct pycode_cache;
struct registers;
struct stack;
struct stack_table;

struct pytask {
	struct pytstate state;
	struct task task; /* with the tid as it is seen here */
	struct task_state seen;
	struct pywalk walks[3];	   /* of both copies, and one besides */
	const struct pywalk *walk; /* the one of the sample */
	struct frame *frames;	   /* of walk, with names and lines */
	size_t frame_capacity;
	enum exactness exactness;
	bool is_broken;	  /* walk ends where it should continue */
	bool has_unknown; /* frames without code, though it was at rest */
	int failure;	  /* why walk is broken: an errno; 0: by its contents */
	bool is_gone;
	bool is_left_out; /* of the sample: it is none of the program's */
	bool is_stopped;  /* with the whole process */
	char *name;	  /* as threading has it; NULL unknown */
	char comm[16];	  /* as the kernel has it; "" unread */
	char wchan[48];
	uint64_t wchan_switches; /* when wchan was read */
	struct {
		const struct stack *stack; /* merged; NULL: none */
		uint64_t switches;	   /* when it was captured */
		uint64_t fingerprint;
		const struct stack *python;
		bool wants_registers; /* without, it breaks off */
		bool is_current;      /* in the sample being taken */
	} native;		      /* the newest merged stack */
};

/* tid: the thread as it is seen here. */
struct pytask *pytask_new(const struct pytstate *state, pid_t pid, pid_t tid);
void pytask_free(struct pytask *pytask);
/* What the kernel says, before the snapshot. */
void pytask_look(struct pytask *pytask);
/*
 * Walks the frames and settles their exactness. is_frozen: the GIL's holder
 * is held, so no thread can change a frame.
 */
void pytask_settle(struct pytask *pytask, struct memory *memory, const struct cpython *python,
		   bool is_frozen);
/*
 * Walks the frames again, of one that stands at this moment. -1: it runs no
 * Python in that state any more, or the chain breaks off.
 */
int pytask_walk_again(struct pytask *pytask, struct memory *memory, const struct cpython *python);
/* The stack with names and lines; marks what has no code object as torn. */
const struct stack *pytask_resolve(struct pytask *pytask, const struct cpython *python,
				   struct pycode_cache *codes, struct stack_table *table);
/*
 * Captures a thread that sleeps, without its frames' names. -1: it runs, or
 * has run since it was seen.
 */
int pytask_capture(struct pytask *pytask, struct memory *memory, const struct cpython *python,
		   struct capture *capture);
/*
 * Reads ahead what pytask_capture_held() will want of the memory, so that it
 * can be had in one call.
 */
void pytask_prepare_held(struct pytask *pytask, struct memory *memory,
			 const struct cpython *python);
/*
 * The same of one that is held at this moment, with the innermost part of its
 * stack; reads its frames again. -1: those read before stay.
 */
int pytask_capture_held(struct pytask *pytask, struct memory *memory, const struct cpython *python,
			const struct registers *registers, struct capture *capture);
/* Gives a capture its frames, after pytask_resolve(). */
void pytask_name_capture(const struct pytask *pytask, struct capture *capture);
/*
 * Whether the thread has not moved since its native frames were captured, so
 * that they need not be again.
 */
bool pytask_has_native(struct pytask *pytask, struct memory *memory);
/* By a signal or a tracer, right now. */
bool pytask_is_stopped(struct pytask *pytask);
/* The kernel function it sleeps in. */
const char *pytask_wchan(struct pytask *pytask);

#endif
