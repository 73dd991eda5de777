#include "model/stops.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "model/debug-state.h"
#include "model/place.h"
#include "model/rank.h"
#include "protocol/stack.h"

static void stop_clear(struct stop *stop)
{
	free(stop->value);
	free(stop->description);
	free(stop->said);
	free(stop->func);
	free(stop->qualname);
	free(stop->file);
	*stop = (struct stop){ .rank = 0 };
}

void stops_clear(struct stops *stops)
{
	for (size_t i = 0; stops->ring && i < STOPS_KEPT; i++)
		stop_clear(&stops->ring[i]);
	free(stops->ring);
	*stops = (struct stops){ .ring = NULL };
}

static void copy_frame(struct stop *stop, const struct rank *rank)
{
	const struct thread *thread = debug_state_thread(rank);
	const struct stack *stack = thread ? thread->sample.stack : NULL;
	const struct frame *frame;

	if (!stack || stack->frame_count == 0)
		return;
	frame = &stack->frames[0];
	stop->func = xstrdup(frame->code->func);
	stop->qualname = xstrdup_or_null(frame->code->qualname);
	stop->file = xstrdup(frame->code->file);
	stop->line = frame->lineno;
	stop->is_user = place_is_user(&rank->process, frame);
}

static struct stop *add(struct stops *stops)
{
	struct stop *stop;

	if (!stops->ring)
		stops->ring = xcalloc(STOPS_KEPT, sizeof(*stops->ring));
	stop = &stops->ring[stops->count++ % STOPS_KEPT];
	stop_clear(stop);
	return stop;
}

void stops_add_said(struct stops *stops, int rank, int id, const char *text)
{
	struct stop *stop = add(stops);

	stop->rank = rank;
	stop->hits[0] = id;
	stop->hit_count = 1;
	stop->description = xstrdup("log");
	stop->said = xstrdup(text);
}

void stops_add_resume(struct stops *stops, const struct rank *rank)
{
	const struct debugger *debugger = &rank->debugger;
	const char *name = resume_reason_name(debugger->resumed_for);
	struct stop *stop = add(stops);

	stop->rank = rank->process.rank;
	stop->resumed_for = debugger->resumed_for;
	stop->description = debugger->description ? xstrdup(debugger->description)
						  : xasprintf("rank %d was resumed: %s",
							      rank->process.rank, name);
}

void stops_add(struct stops *stops, const struct rank *rank)
{
	const struct debugger *debugger = &rank->debugger;
	const char *description = debugger->description;
	struct stop *stop = add(stops);

	if (!description)
		description = stop_reason_name(debugger->reason);
	*stop = (struct stop){
		.rank = rank->process.rank,
		.tid = debugger->tid,
		.reason = debugger->reason,
		.at = debugger->at,
		.value = xstrdup_or_null(debugger->value),
		.description = xstrdup(description),
		.hit_count = debugger->hit_count,
		.held = debugger->held > 0 ? debugger->held : 0,
	};
	memcpy(stop->hits, debugger->hits, sizeof(stop->hits));
	if (!stop->value && debugger->exception)
		stop->value = xstrndup(debugger->exception, strcspn(debugger->exception, "\n"));
	copy_frame(stop, rank);
}

const struct stop *stops_find(const struct stops *stops, uint64_t n)
{
	if (n >= stops->count || stops->count - n > STOPS_KEPT)
		return NULL;
	return &stops->ring[n % STOPS_KEPT];
}
