#include "backends/cpython/pytstate.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pyobject.h"
#include "backends/linux/access-refusal.h"
#include "backends/linux/memory.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/sample.h"

#define INTERPRETERS_MAXIMUM 256
#define TID_MAXIMUM (1u << 22) /* PID_MAX_LIMIT, linux/threads.h */
/* Offset of tid in struct pthread: glibc for x86-64 (nptl/descr.h), musl 1.2. */
#define GLIBC_TID 0x2d0
#define MUSL_TID 0x30

void pytstate_list_clear(struct pytstate_list *list)
{
	free(list->items);
	*list = (struct pytstate_list){ .items = NULL };
}

static int pytstate_read_word(struct memory *memory, uint64_t base, long offset, uint64_t *out)
{
	return memory_read_u64(memory, base + (uint64_t)offset, out);
}

/*
 * Up to 3.10 only the C library stores the tid. A wrong value is harmless: /proc/PID/task has no
 * such thread.
 */
static pid_t tid_of_pthread(struct memory *memory, uint64_t pthread)
{
	static const uint64_t places[] = { GLIBC_TID, MUSL_TID };
	uint32_t tid;

	for (size_t i = 0; i < ARRAY_LENGTH(places); i++)
		if (memory_read_u32(memory, pthread + places[i], &tid) == 0 && tid > 0 &&
		    tid <= TID_MAXIMUM)
			return (pid_t)tid;
	return 0;
}

/* Reads a thread state; -1: unreadable, or the thread state belongs to another interpreter. */
static int read_state(struct pytstate *state, uint64_t *next, struct memory *memory,
		      const struct offsets *offsets)
{
	uint64_t interpreter;
	uint64_t native = 0;

	if (pytstate_read_word(memory, state->address, offsets->ts_interp, &interpreter) < 0 ||
	    interpreter != state->interpreter ||
	    pytstate_read_word(memory, state->address, offsets->ts_next, next) < 0 ||
	    pytstate_read_word(memory, state->address, offsets->ts_thread_id, &state->ident) < 0)
		return -1;
	if (offsets->ts_native_thread_id < 0) {
		state->tid = tid_of_pthread(memory, state->ident);
		return 0;
	}
	if (pytstate_read_word(memory, state->address, offsets->ts_native_thread_id, &native) < 0)
		return -1;
	state->tid = native <= TID_MAXIMUM ? (pid_t)native : 0;
	return 0;
}

bool pytstate_is_there(const struct pytstate *state, struct memory *memory,
		       const struct cpython *python)
{
	struct pytstate now = *state;
	uint64_t next;

	return read_state(&now, &next, memory, &python->offsets) == 0 &&
	       now.ident == state->ident && now.tid == state->tid;
}

static int read_interpreter(struct pytstate_list *list, uint64_t interpreter, struct memory *memory,
			    const struct offsets *offsets)
{
	uint64_t number;
	uint64_t next;

	if (pytstate_read_word(memory, interpreter, offsets->is_id, &number) < 0 ||
	    number > INT32_MAX ||
	    pytstate_read_word(memory, interpreter, offsets->is_tstate_head, &next) < 0)
		return -1;
	while (next && list->count < SAMPLE_THREADS_MAXIMUM) {
		struct pytstate state = {
			.address = next,
			.interpreter = interpreter,
			.number = (int)number,
		};
		if (read_state(&state, &next, memory, offsets) < 0)
			return -1;
		ARRAY_GROW(list->items, list->count, list->capacity);
		list->items[list->count++] = state;
	}
	return 0;
}

static int pytstate_read_all(struct pytstate_list *list, struct memory *memory,
			     const struct cpython *python)
{
	const struct offsets *offsets = &python->offsets;
	uint64_t interpreter;

	list->count = 0;
	if (pytstate_read_word(memory, python->runtime, offsets->rt_interp_main,
			       &list->main_interpreter) < 0 ||
	    pytstate_read_word(memory, python->runtime, offsets->rt_interp_head, &interpreter) < 0)
		return -1;
	for (int i = 0; interpreter && i < INTERPRETERS_MAXIMUM; i++)
		if (read_interpreter(list, interpreter, memory, offsets) < 0 ||
		    pytstate_read_word(memory, interpreter, offsets->is_next, &interpreter) < 0)
			return -1;
	return 0;
}

int pytstate_list_read(struct pytstate_list *list, struct memory *memory,
		       const struct cpython *python, struct error *error)
{
	pid_t pid = memory_pid(memory);

	errno = 0;
	if (pytstate_read_all(list, memory, python) < 0) {
		if (errno && errno != EFAULT)
			return access_refusal_explain(pid, errno, error);
		return error_set(error,
				 "the list of Python threads of pid %d cannot be read; threads may "
				 "be starting or exiting",
				 (int)pid);
	}
	if (list->count == 0)
		return error_set(error,
				 "pid %d has no Python thread any more; the process may be exiting",
				 (int)pid);
	return 0;
}

#define GIL_MAXIMUM 64 /* bytes of the lock in front of its mutexes */

/* Up to 3.11 _PyRuntime has the thread state that holds the GIL. */
static void read_runtime(struct pygil *gil, struct memory *memory, const struct cpython *python)
{
	const struct offsets *offsets = &python->offsets;

	gil->address = python->runtime + (uint64_t)offsets->rt_gil;
	gil->is_known = memory_fetch(memory, python->runtime + (uint64_t)offsets->rt_tstate_current,
				     &gil->holder, sizeof(gil->holder)) == 0;
}

/* From 3.12 on each interpreter points to its lock, which stores the last holder. */
static void read_lock(struct pygil *gil, struct memory *memory, const struct cpython *python)
{
	const struct offsets *offsets = &python->offsets;
	uint8_t bytes[GIL_MAXIMUM];
	uint32_t is_locked;

	if (memory_read_u64(memory, gil->interpreter + (uint64_t)offsets->is_ceval_gil,
			    &gil->address) < 0 ||
	    memory_fetch(memory, gil->address, bytes, sizeof(bytes)) < 0)
		return;
	memcpy(&is_locked, bytes + offsets->gil_locked, sizeof(is_locked));
	if (is_locked == 1)
		memcpy(&gil->holder, bytes + offsets->gil_last_holder, sizeof(gil->holder));
	gil->is_known = true;
}

void pygil_read(struct pygil *gil, struct memory *memory, const struct cpython *python,
		uint64_t interpreter)
{
	const struct offsets *offsets = &python->offsets;
	uint32_t is_collecting = 0;

	*gil = (struct pygil){ .interpreter = interpreter };
	memory_take_failure(memory);
	if (offsets->is_ceval_gil >= 0)
		read_lock(gil, memory, python);
	else
		read_runtime(gil, memory, python);
	if (gil->holder && offsets->is_gc >= 0 &&
	    memory_read_u32(memory,
			    interpreter + (uint64_t)(offsets->is_gc + offsets->gc_collecting),
			    &is_collecting) == 0)
		gil->is_collecting = is_collecting != 0;
	gil->failure = memory_take_failure(memory);
}

bool pygil_contains(const struct pygil *gil, const struct cpython *python, uint64_t address)
{
	return gil->address && address >= gil->address &&
	       address - gil->address < (uint64_t)python->offsets.gil_size;
}

#define NAME_MAXIMUM 256
#define THREADS_MAXIMUM 10000

struct walk {
	struct pyreader *reader;
	void (*each)(uint64_t ident, const char *name, void *data);
	void *data;
	int count;
};

/* Thread._name exists in every version from 3.8 to 3.14. */
static bool pythread_visit(uint64_t key, uint64_t value, void *data)
{
	struct walk *walk = data;
	struct buffer text = BUFFER_INIT;
	uint64_t name;
	int64_t ident;

	if (!pyobject_integer(walk->reader, key, &ident) &&
	    !pyobject_attribute(walk->reader, value, "_name", &name) &&
	    !pyobject_string(walk->reader, name, NAME_MAXIMUM, &text)) {
		walk->each((uint64_t)ident, text.data, walk->data);
		walk->count++;
	}
	buffer_clear(&text);
	return true;
}

int pythread_names(struct pyreader *reader, uint64_t interpreter,
		   void (*each)(uint64_t ident, const char *name, void *data), void *data)
{
	struct walk walk = { reader, each, data, 0 };
	uint64_t active;

	if (pymodule_find(reader, interpreter, "threading", "_active", &active) ||
	    pydict_each(reader, active, 0, THREADS_MAXIMUM, pythread_visit, &walk) < 0)
		return -1;
	return walk.count;
}
