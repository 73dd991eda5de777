/*
 * pyasyncio: the asyncio tasks of a process, from 3.14 on: found by the offsets in the section
 * .AsyncioDebug of _asyncio.
 *
 * Each task gets a number of its own: numbers count from 1 in the order of discovery and last as
 * long as the task. A waiting task's stack is its chain of awaited coroutines, innermost first; a
 * running task's stack is its thread's newest frames up to the task's coroutine. The process may
 * hold anything, so every loop is bounded.
 */
#ifndef BACKENDS_CPYTHON_PYASYNCIO_H
#define BACKENDS_CPYTHON_PYASYNCIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/cpython/pywalk.h"
#include "protocol/sample.h"

struct cpython;
struct memory;
struct pyasyncio;
struct pytstate_list;

#define PYASYNCIO_TASKS_MAXIMUM 1000

struct pyasyncio_task {
	uint64_t address;
	int number;
	char *name;	 /* "Task-3"; NULL: unreadable */
	uint64_t thread; /* thread state that runs the task's loop; 0: none */
	uint64_t coroutine;
	bool is_running;
	bool is_seen;		  /* true: found by the newest pyasyncio_read() */
	bool is_broken;		  /* true: the chain of coroutines could not be read to its end */
	struct pywalk walk;	  /* frames of a waiting task */
	enum exactness exactness; /* CONSISTENT: two reads agreed; else TORN */
};

/* Both are borrowed until pyasyncio_free(). */
struct pyasyncio *pyasyncio_new(struct memory *memory, const struct cpython *python);
void pyasyncio_free(struct pyasyncio *asyncio);
/* Reads the tasks of these threads, and those of ended threads, through memory's snapshot. */
void pyasyncio_read(struct pyasyncio *asyncio, const struct pytstate_list *states);
/* Returns the tasks of the newest read, in order; NULL after the last. */
const struct pyasyncio_task *pyasyncio_next(const struct pyasyncio *asyncio, size_t *place);
/* The task with that number in the newest read; NULL: gone. */
const struct pyasyncio_task *pyasyncio_find(const struct pyasyncio *asyncio, int number);
/* Address of the interpreter frame in the task's coroutine. */
uint64_t pyasyncio_frame(const struct pyasyncio *asyncio, const struct pyasyncio_task *task);

/*
 * The offsets that a process's module _asyncio publishes for finding tasks
 * (Py_AsyncioModuleDebugOffsets, Modules/_asynciomodule.c, 3.14).
 */

/*
 * Sizes and offsets in bytes; an offset counts from the start of the task, interpreter state or
 * thread state.
 */
struct asyncio_section {
	uint64_t task_size, task_name, task_awaited_by, task_is_task, task_awaited_by_is_set,
		task_coroutine, task_node;
	uint64_t interpreter_size, interpreter_tasks;
	uint64_t thread_size, thread_running_loop, thread_running_task, thread_tasks;
};

/*
 * runtime: an address in the interpreter. 0; -1: the module is not loaded, or its offsets are
 * implausible.
 */
int asyncio_section_read(struct asyncio_section *section, struct memory *memory, uint64_t runtime);

#endif
