#include "backends/ptrace/holds.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "banned.h"

#include "backends/ptrace/hold.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/loop.h"

#define SETTLE_SECONDS 0.002 /* how long a late one stands at most */

struct holds {
	struct loop *loop;
	struct hold now; /* tid 0: none */
	struct hold *late;
	size_t late_count;
	size_t late_capacity;
	struct loop_timer *timer; /* NULL: none is late */
};

struct holds *holds_new(struct loop *loop)
{
	struct holds *holds = xcalloc(1, sizeof(*holds));

	holds->loop = loop;
	return holds;
}

static void stop_timer(struct holds *holds)
{
	if (holds->timer)
		loop_timer_stop(holds->timer);
	holds->timer = NULL;
}

void holds_free(struct holds *holds)
{
	if (!holds)
		return;
	holds_settle(holds);
	stop_timer(holds);
	free(holds->late);
	free(holds);
}

size_t holds_settle(struct holds *holds)
{
	size_t kept = 0;

	for (size_t i = 0; i < holds->late_count; i++)
		if (!hold_settle(&holds->late[i]))
			holds->late[kept++] = holds->late[i];
	holds->late_count = kept;
	return kept;
}

static void on_settle(void *data)
{
	struct holds *holds = data;

	if (holds_settle(holds) == 0)
		stop_timer(holds);
}

/* What could not be let go now is let go later. */
static void keep_late(struct holds *holds)
{
	if (!holds->now.tid)
		return;
	ARRAY_GROW(holds->late, holds->late_count, holds->late_capacity);
	holds->late[holds->late_count++] = holds->now;
	holds->now.tid = 0;
	if (holds->loop && !holds->timer)
		holds->timer = loop_timer(holds->loop, SETTLE_SECONDS,
					  SETTLE_SECONDS, on_settle, holds);
}

static bool has_late(const struct holds *holds, pid_t pid)
{
	for (size_t i = 0; i < holds->late_count; i++)
		if (holds->late[i].pid == pid)
			return true;
	return false;
}

int holds_begin(struct holds *holds, pid_t pid, pid_t tid, struct error *error)
{
	int result;

	assert(!holds->now.tid);
	holds_settle(holds);
	if (has_late(holds, pid))
		return error_set(error,
				 "pid %d: a thread that was to be held does "
				 "not come to stand",
				 (int)pid);
	result = hold_begin(&holds->now, pid, tid, error);
	if (result < 0)
		keep_late(holds);
	return result;
}

int holds_registers(const struct holds *holds, struct registers *registers)
{
	return hold_registers(&holds->now, registers);
}

uint64_t holds_elapsed(const struct holds *holds)
{
	return hold_elapsed(&holds->now);
}

uint64_t holds_end(struct holds *holds)
{
	uint64_t held_ns = hold_end(&holds->now);

	keep_late(holds);
	return held_ns;
}
