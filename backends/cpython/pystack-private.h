/*
 * pystack-private: shared by the files of pystack: pystack.c reads the frames of each
 * thread and captures native stacks, pystack-fill.c fills samples.
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

#define PYSTACK_NAME_TRIES 4 /* samples in which the names of nameless threads are read */

struct pystack {
	pid_t pid;
	struct memory *memory;
	const struct cpython *python;
	struct stack_table *table;
	struct pycode_cache *codes;
	struct pytstate_list states;
	struct pytask **tasks; /* main thread first */
	size_t task_count;
	size_t task_capacity;
	struct pygil *gils; /* one for each interpreter */
	size_t gil_count;
	size_t gil_capacity;
	uint64_t *addresses; /* code objects of one sample */
	size_t address_capacity;
	struct freezer *holds;
	struct capture_set *captures; /* NULL: native frames are not wanted */
	struct memory *aside;	      /* for threads that are ptrace-stopped, one at a time */
	struct pyasyncio *asyncio;
	int statm;
	int code_failure;   /* errno of a failed read of code objects; 0: none */
	int name_tries;	    /* samples left that read names */
	bool has_no_names;  /* true: names are not wanted */
	bool is_namespaced; /* true: the process has another pid namespace, with other tids */
	uint64_t epoch;
	uint64_t other_calls; /* system calls of ended threads, and pystack's own */
};

/* The GIL of an interpreter, borrowed; NULL: not read. */
const struct pygil *pystack_gil(const struct pystack *pystack, uint64_t interpreter);
/* The thread of a thread state; NULL: ended. */
const struct pytask *pystack_find_state(const struct pystack *pystack, uint64_t state);
/* The frames of a task; pytask: the thread of its loop. The frames are borrowed. */
struct pywalk pystack_walk_of(const struct pystack *pystack, const struct pyasyncio_task *task,
			      const struct pytask *pytask);
/* Fills a sample from the threads read, and captures threads if captures are wanted. */
void pystack_fill(struct pystack *pystack, struct process_sample *sample);
/* True for a thread of the agent, as far as its name is known. */
bool pystack_is_of_agent(const struct pystack *pystack, const struct pytask *pytask);
/* Captures the threads whose native frames are not known. */
void pystack_capture(struct pystack *pystack);
/* Gives captures their named frames; removes captures of threads that are not in the sample. */
void pystack_name_captures(const struct pystack *pystack);

#endif
