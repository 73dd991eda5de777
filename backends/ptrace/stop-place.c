#include "backends/ptrace/stop-place.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/bytecode.h"
#include "backends/ptrace/breakpoint-table.h"
#include "backends/ptrace/stepper.h"
#include "base/alloc.h"
#include "protocol/stack.h"

#define MINOR_QUALNAME 11 /* the first that has co_qualname */

struct stop_place *stop_place_new(const struct stepper_stop *stop, const struct break_hit *hit,
				  const char *change, int minor)
{
	struct stop_place *place = xcalloc(1, sizeof(*place));

	*place = (struct stop_place){
		.at = stop->at,
		.reason = stop->reason,
		.frame = stop->frame,
		.line = stop->line,
		.value = stop->value,
	};
	if (stop->code) {
		place->file = xstrdup(stop->code->file);
		place->name = xstrdup(stop->code->name);
		if (minor >= MINOR_QUALNAME)
			place->qualname = xstrdup(stop->code->qualname);
		place->first_line = stop->code->first_line;
	}
	if (stop->reason == STOP_DATA_BREAKPOINT) {
		place->hits[place->hit_count++] = stop->data_id;
		place->change = xstrdup_or_null(change);
	}
	for (size_t i = 0; stop->reason == STOP_BREAKPOINT && i < hit->count; i++)
		place->hits[place->hit_count++] = hit->ids[i];
	return place;
}

void stop_place_free(struct stop_place *place)
{
	if (!place)
		return;
	free(place->file);
	free(place->name);
	free(place->qualname);
	free(place->change);
	free(place->why);
	free(place);
}

static const char *const at_descriptions[] = {
	[STOP_AT_UNKNOWN] = NULL,	   [STOP_AT_LINE] = NULL,
	[STOP_AT_CALL] = "call",	   [STOP_AT_RETURN] = "return",
	[STOP_AT_EXCEPTION] = "exception",
};

static char *describe(const struct stop_place *place)
{
	if (place->change)
		return xstrdup(place->change);
	if (place->hit_count > 0)
		return xasprintf("breakpoint %d", place->hits[0]);
	if (place->why)
		return xstrdup(place->why);
	return xstrdup_or_null(at_descriptions[place->at]);
}

void stop_place_describe(const struct stop_place *place, struct debugger *debugger)
{
	debugger->at = place->at;
	debugger->reason = place->reason;
	if (place->reason == STOP_STEP && place->at == STOP_AT_EXCEPTION)
		debugger->reason = STOP_EXCEPTION;
	debugger->hit_count = place->hit_count;
	memcpy(debugger->hits, place->hits, sizeof(debugger->hits));
	free(debugger->description);
	debugger->description = describe(place);
}

static struct frame stop_place_make_frame(const struct stop_place *place,
					  struct stack_table *stacks)
{
	struct code code = {
		.func = place->name,
		.qualname = place->qualname,
		.file = place->file,
		.first_lineno = place->first_line,
		.type = FRAME_PYTHON,
	};

	return (struct frame){
		.code = stack_table_code(stacks, &code),
		.lineno = place->line > 0 ? place->line : 0,
	};
}

const struct stack *stop_place_amend(const struct stop_place *place, bool is_newest,
				     const struct stack *stack, struct stack_table *stacks)
{
	size_t skipped = is_newest ? 1 : 0;
	size_t count = stack ? stack->frame_count : 0;
	const struct stack *amended;
	struct frame *frames;

	if (!place->file || count < skipped)
		return stack;
	frames = xcalloc(count + 1, sizeof(*frames));
	frames[0] = stop_place_make_frame(place, stacks);
	for (size_t i = skipped; i < count; i++)
		frames[i + 1 - skipped] = stack->frames[i];
	amended = stack_table_stack(stacks, frames, count + 1 - skipped,
				    stack ? stack->dropped_count : 0);
	free(frames);
	return amended;
}
