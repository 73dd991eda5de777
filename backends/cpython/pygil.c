#include "backends/cpython/pygil.h"

#include <stddef.h>

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/linux/memory.h"

#define GIL_MAXIMUM 64 /* bytes of the lock in front of its mutexes */

/* Up to 3.11 _PyRuntime has the thread state that holds the GIL. */
static void read_runtime(struct pygil *gil, struct memory *memory, const struct cpython *python)
{
	const struct offsets *offsets = &python->offsets;

	gil->address = python->runtime + (uint64_t)offsets->rt_gil;
	gil->is_known = memory_fetch(memory, python->runtime + (uint64_t)offsets->rt_tstate_current,
				     &gil->holder, sizeof(gil->holder)) == 0;
}

/* From 3.12 on each interpreter points to its lock, which has the last holder. */
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
