/*
 * asyncio-section: the offsets that a process's module _asyncio publishes for finding tasks
 * (Py_AsyncioModuleDebugOffsets, Modules/_asynciomodule.c, 3.14).
 */
#ifndef BACKENDS_CPYTHON_ASYNCIO_SECTION_H
#define BACKENDS_CPYTHON_ASYNCIO_SECTION_H

#include <stdint.h>

struct memory;

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
