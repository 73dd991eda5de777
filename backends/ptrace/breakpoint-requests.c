#include "backends/ptrace/debuggee.h"

#include <math.h>
#include <stdlib.h>

#include "banned.h"
#include "backends/node.h"
#include "backends/ptrace/stop-place.h"
#include "backends/ptrace/watchpoints.h"
#include "backends/tracer/tracee.h"
#include "base/json.h"
#include "protocol/message.h"

/* Finds a frame of the shown thread. */
static int breakpoint_requests_find_frame(int depth, struct pyobject_frame *frame, void *data)
{
	struct debuggee *control = data;
	const struct debuggee_thread *thread = debuggee_find(control, control->shown);

	return thread ? debuggee_frame(control, thread, depth, frame) : -1;
}

int debuggee_want(struct debuggee *control, struct error *error)
{
	struct watchpoints_frames frames = {
		.find = breakpoint_requests_find_frame,
		.data = control,
	};

	if (breakpoint_table_set(control->breaks, control->wanted, error) < 0)
		return -1;
	return watchpoints_set(control->watched, control->wanted,
			       control->phase == DEBUGGEE_STOPPED ? &frames : NULL, error);
}

static const json_t *breakpoint_requests_find_wanted(const json_t *list, int64_t id)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) if (json_get_integer(item, "id", 0) == id) return item;
	return NULL;
}

static bool is_disabled(const json_t *item)
{
	return json_get_boolean(item, "disabled", false);
}

/*
 * Whether the user has deleted or disabled breakpoint id. A temporary breakpoint
 * vanishes with its stop, which is still to be reported: not cleared.
 */
static bool is_cleared(const json_t *before, const json_t *list, int id)
{
	const json_t *was = breakpoint_requests_find_wanted(before, id);
	const json_t *is = breakpoint_requests_find_wanted(list, id);

	return was && !json_get_boolean(was, "temporary", false) && (!is || is_disabled(is));
}

/* Removes cleared breakpoints from the unreported stops of other threads. */
static void clear_kept(struct debuggee *control, const json_t *before)
{
	for (size_t i = 0; i < control->thread_count; i++) {
		const struct debuggee_thread *thread = control->threads[i];
		struct stop_place *place = thread->place;
		size_t kept = 0;

		if (!place || thread->tid == control->shown || place->hit_count == 0)
			continue;
		for (size_t j = 0; j < place->hit_count; j++)
			if (!is_cleared(before, control->wanted, place->hits[j]))
				place->hits[kept++] = place->hits[j];
		place->hit_count = kept;
		place->is_cleared = kept == 0;
	}
}

static bool is_as_before(const json_t *before, const json_t *item)
{
	json_t *disabled = json_copy((json_t *)(uintptr_t)before);
	bool result;

	json_object_set_new(disabled, "disabled", json_true());
	result = json_equal(before, item) || json_equal(disabled, item);
	json_decref(disabled);
	return result;
}

bool debuggee_only_clears(const struct debuggee *control, const json_t *list)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const json_t *before = breakpoint_requests_find_wanted(
			control->wanted, json_get_integer(item, "id", 0));

		if (!before || !is_as_before(before, item))
			return false;
	}
	return true;
}

/* An unchanged list does not arm this rank: the change was for another rank. */
static void rearm(struct debuggee *control, const json_t *list)
{
	struct debugger *debugger = &control->debugger;

	if (!control->is_disarmed || json_equal(list, control->wanted))
		return;
	control->is_disarmed = false;
	if (debugger->state != DEBUGGER_RUNNING)
		return;
	debugger->resumed_for = RESUME_REQUEST;
	free(debugger->description);
	debugger->description = NULL;
	debuggee_tell_again(control);
}

/* Without an interpreter the breakpoints are only stored: the answer has no bindings. */
static json_t *breakpoint_requests_make_answer(const struct debuggee *control)
{
	json_t *body;

	if (!control->is_python) {
		body = json_object();
		json_object_set_new(body, "breakpoints", json_array());
		return body;
	}
	body = breakpoint_table_to_json(control->breaks);
	watchpoints_add_json(control->watched, json_object_get(body, "breakpoints"));
	return body;
}

static int breakpoint_requests_keep(struct debuggee *control, json_t *list, struct error *error)
{
	json_t *before = control->wanted;

	debuggee_say_left_out(control, INFINITY);
	control->wanted = json_incref(list);
	if (control->is_python && debuggee_want(control, error) < 0) {
		json_decref(control->wanted);
		control->wanted = before;
		return -1;
	}
	clear_kept(control, before);
	json_decref(before);
	return 0;
}

int debuggee_set_breakpoints(struct debuggee *control, const struct message *request,
			     struct error *error)
{
	json_t *list = json_object_get(request->body, "breakpoints");

	rearm(control, list);
	if (breakpoint_requests_keep(control, list, error) < 0) {
		debuggee_settle(control);
		return -1;
	}
	debuggee_watch_request(control);
	if (control->phase == DEBUGGEE_RUNNING)
		debuggee_look_at_threads(control);
	debuggee_arm_all(control);
	debuggee_keep_looking(control);
	debuggee_refresh(control);
	node_respond(control->base.node, request, breakpoint_requests_make_answer(control), NULL);
	debuggee_settle(control);
	return 0;
}
