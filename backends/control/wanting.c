#include "backends/control/control.h"

#include <math.h>

#include "banned.h"
#include "backends/control/tracee.h"
#include "backends/control/watched.h"
#include "backends/node.h"
#include "base/json.h"
#include "protocol/message.h"

/* The frames of the thread that is shown. */
static int find_frame(int depth, struct pyobject_frame *frame, void *data)
{
	struct control *control = data;
	const struct control_thread *thread =
		control_find(control, control->shown);

	return thread ? control_frame(control, thread, depth, frame) : -1;
}

int control_want(struct control *control, struct error *error)
{
	struct watched_frames frames = {
		.find = find_frame,
		.data = control,
	};

	if (breaks_set(control->breaks, control->wanted, error) < 0)
		return -1;
	return watched_set(control->watched, control->wanted,
			   control->phase == CONTROL_STOPPED ? &frames : NULL,
			   error);
}

/* Without a Python yet it is only known what is wanted. */
static json_t *make_answer(const struct control *control)
{
	json_t *body;

	if (!control->is_python) {
		body = json_object();
		json_object_set_new(body, "breakpoints", json_array());
		return body;
	}
	body = breaks_to_json(control->breaks);
	watched_add_json(control->watched,
			 json_object_get(body, "breakpoints"));
	return body;
}

static int keep(struct control *control, json_t *list, struct error *error)
{
	json_t *before = control->wanted;

	control_say_left_out(control, INFINITY);
	control->wanted = json_incref(list);
	if (control->is_python && control_want(control, error) < 0) {
		json_decref(control->wanted);
		control->wanted = before;
		return -1;
	}
	json_decref(before);
	return 0;
}

int control_set_breakpoints(struct control *control,
			    const struct message *request, struct error *error)
{
	json_t *list = json_object_get(request->body, "breakpoints");

	if (keep(control, list, error) < 0) {
		control_settle(control);
		return -1;
	}
	control_wish(control);
	if (control->phase == CONTROL_RUNNING)
		control_look_at_threads(control);
	control_arm_all(control);
	control_keep_looking(control);
	control_refresh(control);
	node_respond(control->base.node, request, make_answer(control), NULL);
	control_settle(control);
	return 0;
}
