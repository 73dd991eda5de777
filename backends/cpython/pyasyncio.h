/*
 * pyasyncio: the asyncio tasks of a process, from 3.14 on, where its module
 * says how they are found (the section .AsyncioDebug of _asyncio).
 *
 * A task is known by a number of its own, counted from 1 in the order it was
 * first seen and kept as long as the task lives. Its stack is what it awaits,
 * coroutine by coroutine, the innermost first; of a running one it is what
 * its thread runs below it. Everything read is hostile; loops are bounded.
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
	uint64_t thread; /* state of the thread whose loop it is; 0: none */
	uint64_t coroutine;
	bool is_running;
	bool is_seen;		  /* in the newest reading */
	bool is_broken;		  /* the chain ends where it should continue */
	struct pywalk walk;	  /* of a task that waits */
	enum exactness exactness; /* CONSISTENT: twice the same; or TORN */
};

/* Borrows both for its life. */
struct pyasyncio *pyasyncio_new(struct memory *memory, const struct cpython *python);
void pyasyncio_free(struct pyasyncio *asyncio);
/* Reads the tasks of these threads, through the snapshot of memory. */
void pyasyncio_read(struct pyasyncio *asyncio, const struct pytstate_list *states);
/* Lends the tasks of the newest reading, in order; NULL behind the last. */
const struct pyasyncio_task *pyasyncio_next(const struct pyasyncio *asyncio, size_t *place);
/* The task with that number, of the newest reading; NULL: it is no more. */
const struct pyasyncio_task *pyasyncio_find(const struct pyasyncio *asyncio, int number);
/* Address of the coroutine's frame. */
uint64_t pyasyncio_frame(const struct pyasyncio *asyncio, const struct pyasyncio_task *task);

#endif
