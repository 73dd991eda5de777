/*
 * stacks: the request `sample` to one process.
 *
 * Python stacks are read at once. With native frames, the answer waits until the thread pool has
 * unwound them. If more samples follow (the request has a period), the answer waits for 0.15 s at
 * most: then this sample is sent without native frames, and the next sample has them.
 */
#include "backends/ptrace/reader.h"

#include <stdlib.h>

#include "banned.h"

#include "backends/cpython/pystack.h"
#include "backends/native/capture.h"
#include "backends/native/merge.h"
#include "backends/native/native.h"
#include "backends/node.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "protocol/message.h"

#define WAIT_SECONDS 15.0
#define WAIT_PERIOD_SECONDS 0.15 /* if more samples follow */
#define TAKES_MAXIMUM 2

/* A sample that waits for its native frames. */
struct waiting {
	struct message request;
	struct process_sample sample;
	struct loop_timer *timer;
	bool is_exact;
	int takes; /* number of times that the process was sampled for this request */
};

static void clear_waiting(struct ptrace_connection *connection)
{
	struct waiting *waiting = connection->waiting;

	connection->waiting = NULL;
	loop_timer_stop(waiting->timer);
	message_clear(&waiting->request);
	process_sample_clear(&waiting->sample);
	free(waiting);
}

static void stacks_emit(struct ptrace_connection *connection, struct process_sample *taken_sample)
{
	process_sample_clear(&connection->newest);
	connection->newest = *taken_sample;
	*taken_sample = (struct process_sample){ .pid = 0 };
	node_emit_sample(connection->base.node, &connection->newest);
}

static void stacks_answer(struct ptrace_connection *connection)
{
	struct waiting *waiting = connection->waiting;
	struct node *node = connection->base.node;
	struct message request = waiting->request;

	waiting->request = (struct message){ .name = NULL };
	stacks_emit(connection, &waiting->sample);
	clear_waiting(connection);
	node_respond(node, &request, NULL, NULL);
	node_flush(node);
	message_clear(&request);
}

static void stacks_on_late(void *data)
{
	stacks_answer(data);
}

void ptrace_sampling_end(struct ptrace_connection *connection)
{
	if (connection->waiting)
		stacks_answer(connection);
	native_process_free(connection->native);
	connection->native = NULL;
}

static const struct stack *python_stack(const struct process_sample *sample,
					const struct capture *capture, size_t *index)
{
	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct thread_sample *thread = &sample->threads[i];
		if (thread->tid != capture->tid || thread->interpreter != capture->interpreter)
			continue;
		*index = i;
		return thread->stack;
	}
	return NULL;
}

static bool has_run(const struct thread_sample *thread, const struct capture *capture)
{
	return capture->switches == 0 || thread->switches != capture->switches;
}

/*
 * Merges unwound native stacks into the sample. is_late: the sample may be newer than the captures,
 * so threads that have run in between are left out. Returns false if another sample would give more
 * native stacks.
 */
static bool take_unwound(struct ptrace_connection *connection, struct process_sample *sample,
			 bool is_late, struct capture_set *captures)
{
	struct stack_table *stacks = node_stacks(connection->base.node);
	bool is_done = true;

	for (size_t i = 0; i < captures->count; i++) {
		struct capture *capture = &captures->captures[i];
		size_t index = 0;
		const struct stack *python = python_stack(sample, capture, &index);
		const struct stack *merged;

		if (!python || capture->frame_count == 0 ||
		    (is_late && has_run(&sample->threads[index], capture)))
			continue;
		merged = merge_stack(capture, stacks, connection->has_internals);
		sample->threads[index].native = merged;
		is_done &= pystack_take_native(connection->pystack, capture, python, merged);
	}
	return is_done;
}

static int stacks_take(struct ptrace_connection *connection, bool is_exact,
		       struct capture_set *captures, struct process_sample *sample,
		       struct error *error)
{
	int result;

	pystack_use_captures(connection->pystack, captures);
	result = pystack_sample(connection->pystack, is_exact, sample, error);
	pystack_use_captures(connection->pystack, NULL);
	return result;
}

/*
 * Samples the process again; threads may be frozen to read their registers. Returns false if that
 * was not done.
 */
static bool take_again(struct ptrace_connection *connection)
{
	struct waiting *waiting = connection->waiting;
	struct capture_set captures = { .may_hold = true };
	struct process_sample sample = { .pid = 0 };
	struct error error = ERROR_INIT;

	if (++waiting->takes > TAKES_MAXIMUM || node_is_read_only(connection->base.node))
		return false;
	if (stacks_take(connection, waiting->is_exact, &captures, &sample, &error) < 0 ||
	    captures.count == 0) {
		process_sample_clear(&sample);
		capture_set_clear(&captures);
		return false;
	}
	process_sample_clear(&waiting->sample);
	waiting->sample = sample;
	native_start(connection->native, &captures);
	return true;
}

static void on_unwound(struct capture_set *captures, void *data)
{
	struct ptrace_connection *connection = data;
	struct waiting *waiting = connection->waiting;
	struct process_sample *sample = waiting ? &waiting->sample : &connection->newest;
	bool is_done = take_unwound(connection, sample, !waiting, captures);

	if (waiting && (is_done || !take_again(connection)))
		stacks_answer(connection);
}

static void wait_for_native(struct ptrace_connection *connection,
			    struct process_sample *taken_sample, bool is_exact,
			    const struct message *request)
{
	struct waiting *waiting = xcalloc(1, sizeof(*waiting));
	bool is_followed = json_get_real(request->body, "period", -1) > 0;

	message_make_request(&waiting->request, request->name, json_incref(request->body));
	waiting->request.seq = request->seq;
	waiting->sample = *taken_sample;
	*taken_sample = (struct process_sample){ .pid = 0 };
	waiting->is_exact = is_exact;
	waiting->takes = 1;
	waiting->timer = loop_timer(node_loop(connection->base.node),
				    is_followed ? WAIT_PERIOD_SECONDS : WAIT_SECONDS, 0,
				    stacks_on_late, connection);
	connection->waiting = waiting;
}

/*
 * Opens the unwinder. A failure is reported once per connection: Python stacks are sent without it.
 */
static bool open_native(struct ptrace_connection *connection)
{
	const struct cpython *python = &connection->python;
	struct node *node = connection->base.node;
	struct error error = ERROR_INIT;

	if (connection->native)
		return true;
	if (native_open(node_native(node), &error) < 0) {
		if (!connection->has_said_why)
			node_say(node, error.message);
		connection->has_said_why = true;
		return false;
	}
	connection->native = native_process_new(
		node_native(node), connection->base.pid,
		python->code_type ? python->code_type : python->runtime, on_unwound, connection);
	return true;
}

static void use_internals(struct ptrace_connection *connection, bool has_internals)
{
	if (connection->has_internals != has_internals)
		pystack_forget_native(connection->pystack);
	connection->has_internals = has_internals;
}

int ptrace_sample(struct ptrace_connection *connection, bool is_exact,
		  const struct message *request, struct error *error)
{
	struct node *node = connection->base.node;
	/* A busy unwinder would not unwind new captures in time: no threads are frozen for it. */
	bool is_native = json_get_boolean(request->body, "native", false) &&
			 open_native(connection) && !native_is_busy(connection->native);
	struct capture_set captures = { .may_hold = !node_is_read_only(node) };
	struct process_sample sample = { .pid = 0 };

	pystack_use_names(connection->pystack, json_get_boolean(request->body, "names", true));
	if (is_native)
		use_internals(connection, json_get_boolean(request->body, "internals", false));
	if (stacks_take(connection, is_exact, is_native ? &captures : NULL, &sample, error) < 0) {
		process_sample_clear(&sample);
		capture_set_clear(&captures);
		return -1;
	}
	if (captures.count > 0) {
		wait_for_native(connection, &sample, is_exact, request);
		native_start(connection->native, &captures);
	} else {
		capture_set_clear(&captures);
		stacks_emit(connection, &sample);
		node_respond(node, request, NULL, NULL);
	}
	return 0;
}
