/*
 * pystack-private: the declarations that the files of pystack share. pystack.c reads the frames of
 * each thread and captures native stacks, pystack-fill.c fills samples.
 */
#ifndef BACKENDS_CPYTHON_PYSTACK_PRIVATE_H
#define BACKENDS_CPYTHON_PYSTACK_PRIVATE_H

#include "backends/cpython/pystack.h"

#include <stddef.h>

#include "backends/cpython/pytstate.h"
#include "backends/cpython/pywalk.h"

struct pyasyncio;
struct pyasyncio_task;
struct pycall_cache;
struct pycode_cache;
struct pygil;
struct pytask;

#define PYSTACK_NAME_TRIES 4 /* samples in which names of threads without one are read */

struct pystack {
	pid_t pid;
	struct memory *memory;
	const struct cpython *python;
	struct stack_table *table;
	struct pycode_cache *codes;
	struct pycall_cache *calls;
	struct pytstate_list states;
	struct pytask **tasks; /* main thread first */
	size_t task_count;
	size_t task_capacity;
	struct pygil *gils; /* one for each interpreter */
	size_t gil_count;
	size_t gil_capacity;
	uint64_t *addresses; /* addresses of the code objects of one sample */
	size_t address_capacity;
	struct freezer *holds;
	struct capture_set *captures; /* NULL: native frames are not wanted */
	struct memory *aside;	      /* for reading a ptrace-stopped thread */
	struct pyasyncio *asyncio;
	/* As in struct thread_sample; NULL: none was found. */
	char *raised;
	const struct stack *raised_stack;
	int statm;
	int code_failure;   /* errno of a failed read of code objects; 0: none */
	int name_tries;	    /* number of further samples that read names */
	bool has_no_names;  /* names are not wanted */
	bool is_namespaced; /* the process is in another pid namespace, where its tids differ */
	uint64_t epoch;
	uint64_t other_calls; /* system calls made for threads that have ended, and for no
			       * particular thread */
};

/* Returns the GIL of an interpreter, borrowed; NULL: not read. */
const struct pygil *pystack_gil(const struct pystack *pystack, uint64_t interpreter);
/* Returns the thread that has this thread state; NULL: the thread has ended. */
const struct pytask *pystack_find_state(const struct pystack *pystack, uint64_t state);
/* Returns the frames of an asyncio task, borrowed. pytask: the thread that runs the task's event
 * loop. */
struct pywalk pystack_walk_of(const struct pystack *pystack, const struct pyasyncio_task *task,
			      const struct pytask *pytask);
/* Fills a sample from the threads that were read; if captures are wanted, also captures threads. */
void pystack_fill(struct pystack *pystack, struct process_sample *sample);
/* Returns true for a thread of the agent, as far as its name is known. */
bool pystack_is_of_agent(const struct pystack *pystack, const struct pytask *pytask);
/* Captures the threads whose native frames are not known. */
void pystack_capture(struct pystack *pystack);
/* Adds the Python frames with their names to the captures; removes captures of threads that are not
 * in the sample. */
void pystack_name_captures(const struct pystack *pystack);

#endif
