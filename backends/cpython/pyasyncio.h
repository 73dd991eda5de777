/*
 * pyasyncio: the asyncio tasks of a process (3.14 on), found by means of the offsets in the section
 * .AsyncioDebug of the module _asyncio.
 *
 * Each task gets a number, counted from 1 in the order of discovery, and keeps the number as long
 * as the task exists. The stack of a waiting task is its chain of awaited coroutines, innermost
 * first; the stack of a running task consists of its thread's newest frames up to the task's
 * coroutine. The data in the process may be malformed, so every loop is bounded.
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
	uint64_t thread; /* thread state that runs the task's event loop; 0: none */
	uint64_t coroutine;
	bool is_running;
	bool is_seen;		  /* the newest pyasyncio_read() has found the task */
	bool is_broken;		  /* the chain of coroutines could not be read to its end */
	struct pywalk walk;	  /* frames of a waiting task */
	enum exactness exactness; /* CONSISTENT: two reads agreed; else TORN */
};

/* memory and python are borrowed until pyasyncio_free(). */
struct pyasyncio *pyasyncio_new(struct memory *memory, const struct cpython *python);
void pyasyncio_free(struct pyasyncio *asyncio);
/* Reads, through memory's snapshot, the tasks of these threads and those of threads that have
 * ended. */
void pyasyncio_read(struct pyasyncio *asyncio, const struct pytstate_list *states);
/* Returns the next task of the newest read; NULL after the last task. *place: 0 at the first call,
 * then advanced by each call. */
const struct pyasyncio_task *pyasyncio_next(const struct pyasyncio *asyncio, size_t *place);
/* Returns the task with that number in the newest read; NULL: no such task any more. */
const struct pyasyncio_task *pyasyncio_find(const struct pyasyncio *asyncio, int number);
/* Returns the address of the interpreter frame in the task's coroutine. */
uint64_t pyasyncio_frame(const struct pyasyncio *asyncio, const struct pyasyncio_task *task);

/*
 * asyncio_section: the offsets that a process's module _asyncio publishes, by which tasks are found
 * (Py_AsyncioModuleDebugOffsets, Modules/_asynciomodule.c, 3.14).
 */

/*
 * Sizes and offsets in bytes. An offset counts from the start of the struct that its name begins
 * with: the task, the interpreter state or the thread state.
 */
struct asyncio_section {
	uint64_t task_size, task_name, task_awaited_by, task_is_task, task_awaited_by_is_set,
		task_coroutine, task_node;
	uint64_t interpreter_size, interpreter_tasks;
	uint64_t thread_size, thread_running_loop, thread_running_task, thread_tasks;
};

/*
 * Reads the section. runtime: an address in the interpreter. Returns 0, or -1 if the module is not
 * loaded or its offsets are implausible.
 */
int asyncio_section_read(struct asyncio_section *section, struct memory *memory, uint64_t runtime);

#endif
