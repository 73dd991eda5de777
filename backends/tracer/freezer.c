#include "backends/tracer/freezer.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "banned.h"

#include "backends/tracer/freeze.h"
#include "backends/tracer/tracee.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/loop.h"

#define SETTLE_SECONDS 0.002 /* a late thread is stopped for no longer */

struct freezer {
	struct loop *loop;
	struct freeze now; /* tid 0: none */
	/* For a thread that has a tracee, instead of now. */
	struct waits *waits; /* NULL: there are no tracees */
	struct tracee *tracee;
	pid_t tid;
	uint64_t began_ns;
	struct freeze *late;
	size_t late_count;
	size_t late_capacity;
	struct loop_timer *timer; /* NULL: no thread is late */
};

struct freezer *freezer_new(struct loop *loop)
{
	struct freezer *holds = xcalloc(1, sizeof(*holds));

	holds->loop = loop;
	return holds;
}

void freezer_set_waits(struct freezer *holds, struct waits *waits)
{
	holds->waits = waits;
}

static void freezer_stop_timer(struct freezer *holds)
{
	if (holds->timer)
		loop_timer_stop(holds->timer);
	holds->timer = NULL;
}

void freezer_free(struct freezer *holds)
{
	if (!holds)
		return;
	freezer_settle(holds);
	freezer_stop_timer(holds);
	free(holds->late);
	free(holds);
}

size_t freezer_settle(struct freezer *holds)
{
	size_t kept = 0;

	for (size_t i = 0; i < holds->late_count; i++)
		if (!freeze_settle(&holds->late[i]))
			holds->late[kept++] = holds->late[i];
	holds->late_count = kept;
	return kept;
}

static void on_settle(void *data)
{
	struct freezer *holds = data;

	if (freezer_settle(holds) == 0)
		freezer_stop_timer(holds);
}

void freezer_keep(struct freezer *holds, struct freeze *hold)
{
	if (!hold->tid)
		return;
	ARRAY_GROW(holds->late, holds->late_count, holds->late_capacity);
	holds->late[holds->late_count++] = *hold;
	hold->tid = 0;
	if (holds->loop && !holds->timer)
		holds->timer =
			loop_timer(holds->loop, SETTLE_SECONDS, SETTLE_SECONDS, on_settle, holds);
}

static bool freezer_has_late(const struct freezer *holds, pid_t pid)
{
	for (size_t i = 0; i < holds->late_count; i++)
		if (holds->late[i].pid == pid)
			return true;
	return false;
}

static int hold_traced(struct freezer *holds, struct tracee *tracee, pid_t tid, struct error *error)
{
	holds->began_ns = loop_now_ns();
	if (tracee_hold(tracee, tid, error) < 0)
		return -1;
	holds->tracee = tracee;
	holds->tid = tid;
	return 0;
}

int freezer_begin(struct freezer *holds, pid_t pid, pid_t tid, struct error *error)
{
	struct tracee *tracee;
	int result;

	assert(!holds->now.tid && !holds->tracee);
	tracee = holds->waits ? tracee_find(holds->waits, tid) : NULL;
	if (tracee)
		return hold_traced(holds, tracee, tid, error);
	freezer_settle(holds);
	if (freezer_has_late(holds, pid))
		return error_set(error,
				 "pid %d: a thread that was to be held does not come to stand",
				 (int)pid);
	result = freeze_begin(&holds->now, pid, tid, error);
	if (result < 0)
		freezer_keep(holds, &holds->now);
	return result;
}

bool freezer_stands(const struct freezer *holds, pid_t tid)
{
	const struct tracee *tracee = holds->waits ? tracee_find(holds->waits, tid) : NULL;

	return tracee && tracee_is_stopped(tracee, tid);
}

bool freezer_traces(const struct freezer *holds, pid_t tid)
{
	return holds->waits && tracee_is_ours(holds->waits, tid);
}

int freezer_registers(const struct freezer *holds, struct registers *registers)
{
	if (holds->tracee)
		return tracee_registers(holds->tracee, holds->tid, registers);
	return freeze_registers(&holds->now, registers);
}

uint64_t freezer_elapsed(const struct freezer *holds)
{
	if (holds->tracee)
		return loop_now_ns() - holds->began_ns;
	return freeze_elapsed(&holds->now);
}

uint64_t freezer_end(struct freezer *holds)
{
	uint64_t held_ns;

	if (holds->tracee) {
		tracee_release(holds->tracee, holds->tid);
		holds->tracee = NULL;
		return loop_now_ns() - holds->began_ns;
	}
	held_ns = freeze_end(&holds->now);
	freezer_keep(holds, &holds->now);
	return held_ns;
}
