#include "backends/cpython/pytstate.h"

#include <errno.h>

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/linux/access-refusal.h"
#include "backends/linux/memory.h"
#include "base/array.h"
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

/* Up to 3.10 only the C library has the tid. A wrong value has no thread in /proc/PID/task. */
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

/* Reads a thread state; -1: unreadable, or it belongs to another interpreter. */
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
				 "the list of Python threads of pid %d cannot be followed; they "
				 "may be starting or ending",
				 (int)pid);
	}
	if (list->count == 0)
		return error_set(error, "pid %d has no Python thread any more; it may be ending",
				 (int)pid);
	return 0;
}
