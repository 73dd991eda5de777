/*
 * pystack-private: what the files of pystack share: pystack.c reads,
 * pystack-fill.c names what was read, pystack-frames.c finds the frames of one
 * thread, pystack-native.c captures threads.
 */
#ifndef BACKENDS_CPYTHON_PYSTACK_PRIVATE_H
#define BACKENDS_CPYTHON_PYSTACK_PRIVATE_H

#include "backends/cpython/pystack.h"

#include <stddef.h>

#include "backends/cpython/pytstate.h"
#include "backends/cpython/pywalk.h"

struct pyasyncio;
struct pyasyncio_task;
struct pycode_cache;
struct pygil;
struct pytask;

#define PYSTACK_NAME_TRIES 4 /* samples in which a nameless thread is asked */

struct pystack {
	pid_t pid;
	struct memory *memory;
	const struct cpython *python;
	struct stack_table *table;
	struct pycode_cache *codes;
	struct pytstate_list states;
	struct pytask **tasks; /* the main thread first */
	size_t task_count;
	size_t task_capacity;
	struct pygil *gils; /* one an interpreter */
	size_t gil_count;
	size_t gil_capacity;
	uint64_t *addresses; /* of code objects, for one sample */
	size_t address_capacity;
	struct freezer *holds;
	struct capture_set *captures; /* NULL: native frames are not wanted */
	struct memory *aside;	      /* for threads that are held, one by one */
	struct pyasyncio *asyncio;
	int statm;
	int code_failure;   /* why code objects are unread: an errno, or 0 */
	int name_tries;	    /* that are left */
	bool has_no_names;  /* they are not wanted */
	bool is_namespaced; /* its tids are not ours */
	uint64_t epoch;
	uint64_t other_calls; /* of threads that have gone, and our own */
};

/* Lends; NULL: it was not read. */
const struct pygil *pystack_gil(const struct pystack *pystack, uint64_t interpreter);
/* The thread of a thread state; NULL: it is gone. */
const struct pytask *pystack_find_state(const struct pystack *pystack, uint64_t state);
/* What a task, whose thread pytask is, stands for; its frames are borrowed. */
struct pywalk pystack_walk_of(const struct pystack *pystack, const struct pyasyncio_task *task,
			      const struct pytask *pytask);
/* Fills a sample with what was read, and captures what is wanted. */
void pystack_fill(struct pystack *pystack, struct process_sample *sample);
/* Whether a thread is the agent's, as far as its name is known. */
bool pystack_is_of_agent(const struct pystack *pystack, const struct pytask *pytask);
/* Captures the threads whose native frames are not known. */
void pystack_capture(struct pystack *pystack);
/*
 * Gives captures their frames, when those have names; those of threads that
 * are left out go.
 */
void pystack_name_captures(const struct pystack *pystack);

#endif
