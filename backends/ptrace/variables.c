/*
 * The request `variables`.
 *
 * A frame is named by its depth in the newest sample that was sent, but the
 * thread may have moved since. So a fresh sample is taken, and the frame is
 * the one that is as far from the outermost frame as the one that was asked
 * for, if it and all below it still run the same code.
 *
 * A thread that runs is held meanwhile; a blocked one needs no hold, and a
 * look afterwards shows that it did not move.
 */
#include "backends/ptrace/connection.h"

#include <string.h>

#include "banned.h"
#include "backends/node.h"
#include "backends/ptrace/holds.h"
#include "backends/ptrace/memory.h"
#include "backends/ptrace/pyobject.h"
#include "backends/ptrace/pystack.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/message.h"
#include "protocol/stack.h"
#include "protocol/variable.h"

#define START_MAXIMUM (INT64_C(1) << 40)

struct reading {
	struct ptrace_connection *connection;
	struct process_sample sample; /* the fresh one */
	pid_t tid;
	int interpreter; /* -1: the only one that the thread runs Python in */
	bool is_held;
	int64_t start;
	enum exactness exactness;
	struct variable_list list;
};

/* Who has to stand while it is read: of a task the thread that runs it. */
static pid_t mover_of(const struct thread_sample *thread)
{
	return thread->loop_tid ? thread->loop_tid : thread->tid;
}

static const struct thread_sample *
find_thread(const struct reading *reading, const struct process_sample *sample)
{
	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].tid == reading->tid &&
		    sample->threads[i].interpreter == reading->interpreter)
			return &sample->threads[i];
	return NULL;
}

static int take_sample(struct reading *reading, struct error *error)
{
	process_sample_clear(&reading->sample);
	return pystack_sample(reading->connection->pystack, false,
			      &reading->sample, error);
}

/* Without rights, or when it fails, the reading is less exact. */
static void hold_thread(struct reading *reading, pid_t tid)
{
	struct node *node = reading->connection->base.node;
	struct error refused = ERROR_INIT;

	if (!node_is_read_only(node))
		reading->is_held = holds_begin(node_holds(node),
					       reading->connection->base.pid,
					       tid, &refused) == 0;
}

static void release(struct reading *reading)
{
	if (reading->is_held)
		holds_end(node_holds(reading->connection->base.node));
	reading->is_held = false;
}

static bool is_at_rest(const struct thread_sample *thread)
{
	return thread->exactness == EXACT && thread->state != THREAD_RUNNING;
}

/* What stands for us may still be on its way off the processor. */
static bool is_to_be_held(const struct reading *reading,
			  const struct thread_sample *thread)
{
	struct node *node = reading->connection->base.node;

	return !is_at_rest(thread) ||
	       holds_stands(node_holds(node), mover_of(thread));
}

/* The depth in now of the frame at depth in before; -1: it is no more. */
static int follow_frame(const struct stack *before, const struct stack *now,
			int depth)
{
	size_t below;
	size_t place;

	if (before == now)
		return depth;
	if ((size_t)depth >= before->frame_count)
		return -1;
	below = before->frame_count - (size_t)depth;
	if (below > now->frame_count)
		return -1;
	place = now->frame_count - below;
	for (size_t i = 0; i < below; i++)
		if (before->frames[(size_t)depth + i].code !=
		    now->frames[place + i].code)
			return -1;
	return (int)place;
}

static int find_frame(struct reading *reading, int depth,
		      struct pyobject_frame *frame, struct error *error)
{
	const struct thread_sample *before =
		find_thread(reading, &reading->connection->newest);
	const struct thread_sample *now =
		find_thread(reading, &reading->sample);

	if (!now || !now->stack)
		return error_set(error,
				 "Thread %d runs no Python now; it may have "
				 "ended.",
				 (int)reading->tid);
	if (before && before->stack)
		depth = follow_frame(before->stack, now->stack, depth);
	if (depth < 0 ||
	    pystack_frame(reading->connection->pystack, reading->tid,
			  reading->interpreter, depth, frame) < 0)
		return error_set(error, "The thread has moved on: this frame "
					"is no longer there.");
	return 0;
}

/* Whether the thread rested all the while; a hold makes sure of it. */
static void judge(struct reading *reading)
{
	const struct thread_sample *thread =
		find_thread(reading, &reading->sample);
	const struct stack *stack = thread ? thread->stack : NULL;
	uint64_t switches = thread ? thread->switches : 0;
	bool was_at_rest = thread && is_at_rest(thread);
	struct error error = ERROR_INIT;

	reading->exactness = CONSISTENT;
	if (reading->is_held) {
		reading->exactness = EXACT;
		return;
	}
	if (take_sample(reading, &error) < 0)
		return;
	thread = find_thread(reading, &reading->sample);
	if (!thread || thread->stack != stack)
		reading->exactness = TORN;
	else if (was_at_rest && is_at_rest(thread) &&
		 thread->switches == switches)
		reading->exactness = EXACT;
}

/* The main thread when none is named, and its interpreter when that is not. */
static int settle_thread(struct reading *reading, struct error *error)
{
	const struct process_sample *sample = &reading->sample;
	int found = -1;

	if (reading->tid == 0 && sample->thread_count > 0) {
		reading->tid = sample->threads[0].tid;
		reading->interpreter = sample->threads[0].interpreter;
	}
	for (size_t i = 0; reading->interpreter < 0 && i < sample->thread_count;
	     i++) {
		if (sample->threads[i].tid != reading->tid)
			continue;
		if (found >= 0)
			return error_set(error,
					 "Thread %d runs Python in several "
					 "interpreters, and the request does "
					 "not say in which.",
					 (int)reading->tid);
		found = sample->threads[i].interpreter;
	}
	if (reading->interpreter < 0)
		reading->interpreter = found;
	return 0;
}

static int read_frame(struct reading *reading, int depth, struct error *error)
{
	const struct thread_sample *thread;
	struct pyobject_frame frame;
	struct pyreader reader;

	if (take_sample(reading, error) < 0 ||
	    settle_thread(reading, error) < 0)
		return -1;
	thread = find_thread(reading, &reading->sample);
	if (thread && is_to_be_held(reading, thread)) {
		hold_thread(reading, mover_of(thread));
		if (reading->is_held && take_sample(reading, error) < 0)
			return -1;
	}
	if (find_frame(reading, depth, &frame, error) < 0)
		return -1;
	pyreader_init(&reader, reading->connection->memory,
		      &reading->connection->python);
	if (pyobject_locals(&reader, &frame, reading->start, VARIABLE_PAGE,
			    &reading->list, error) < 0)
		return -1;
	judge(reading);
	return 0;
}

/* An address may be somebody else's by now: the type must be the same. */
static int check_type(struct pyreader *reader, uint64_t address,
		      const char *type, struct error *error)
{
	struct buffer now = BUFFER_INIT;
	int result = 0;

	if (pyobject_type_name(reader, address, &now) < 0)
		result = error_set(error,
				   "The object is no longer there: its memory "
				   "cannot be read as one.");
	else if (type && strcmp(type, now.data) != 0)
		result = error_set(error,
				   "The object is no longer there: a %s is in "
				   "its place.",
				   now.data);
	buffer_clear(&now);
	return result;
}

/* Each interpreter may have a GIL; one holder stands, that of the object's. */
static void hold_holder(struct reading *reading)
{
	for (size_t i = 0; i < reading->sample.thread_count; i++) {
		const struct thread_sample *thread =
			&reading->sample.threads[i];
		if (!thread->has_gil ||
		    thread->interpreter != reading->interpreter)
			continue;
		if (is_to_be_held(reading, thread))
			hold_thread(reading, thread->tid);
		return;
	}
}

static int read_object(struct reading *reading, uint64_t address,
		       const char *type, struct error *error)
{
	struct pyreader reader;

	if (take_sample(reading, error) < 0)
		return -1;
	hold_holder(reading);
	memory_begin(reading->connection->memory, false);
	pyreader_init(&reader, reading->connection->memory,
		      &reading->connection->python);
	if (check_type(&reader, address, type, error) < 0)
		return -1;
	if (pyobject_children(&reader, address, reading->start, VARIABLE_PAGE,
			      &reading->list, error) < 0)
		return -1;
	reading->exactness = reading->is_held ? EXACT : CONSISTENT;
	return 0;
}

static void answer(struct reading *reading, int depth, uint64_t address,
		   const struct message *request)
{
	struct ptrace_connection *connection = reading->connection;
	json_t *body = variable_list_to_json(&reading->list);

	json_object_set_new(body, "pid", json_integer(connection->base.pid));
	json_object_set_new(body, "tid", json_integer(reading->tid));
	if (reading->interpreter > 0)
		json_object_set_new(body, "interpreter",
				    json_integer(reading->interpreter));
	json_object_set_new(body, "depth", json_integer(depth));
	json_set_hex(body, "address", address);
	json_object_set_new(body, "epoch",
			    json_integer((json_int_t)connection->newest.epoch));
	json_object_set_new(body, "start", json_integer(reading->start));
	json_set_text(body, "exactness", exactness_name(reading->exactness));
	node_respond(connection->base.node, request, body, NULL);
}

int ptrace_variables(struct ptrace_connection *connection,
		     const struct message *request, struct error *error)
{
	const json_t *body = request->body;
	uint64_t address = json_get_hex(body, "address");
	int64_t tid = json_get_integer(body, "tid", 0);
	int64_t interpreter =
		json_get_integer(body, "interpreter", address ? 0 : -1);
	int64_t depth = json_get_integer(body, "depth", address ? -1 : 0);
	struct reading reading = {
		.connection = connection,
		.start = json_get_integer(body, "start", 0),
		.exactness = CONSISTENT,
		.list.total = -1,
	};
	int result;

	if (tid < -INT32_MAX || tid > INT32_MAX || interpreter < -1 ||
	    interpreter > INT32_MAX || depth < -1 ||
	    depth > STACK_FRAMES_MAXIMUM || reading.start < 0 ||
	    reading.start > START_MAXIMUM || (depth < 0 && !address))
		return error_set(error, "variables: a number is out of "
					"bounds.");
	reading.tid = (pid_t)tid;
	reading.interpreter = (int)interpreter;
	if (address)
		result =
			read_object(&reading, address,
				    json_get_string(body, "type", NULL), error);
	else
		result = read_frame(&reading, (int)depth, error);
	release(&reading);
	if (result == 0)
		answer(&reading, address ? -1 : (int)depth, address, request);
	process_sample_clear(&reading.sample);
	variable_list_clear(&reading.list);
	return result;
}
