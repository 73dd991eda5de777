#include "backends/ptrace/peek.h"

#include <string.h>

#include "backends/cpython/pyobject.h"
#include "backends/cpython/pystack.h"
#include "backends/expression/pyexpression.h"
#include "backends/linux/memory.h"
#include "backends/node.h"
#include "backends/ptrace/debuggee.h"
#include "backends/ptrace/reader.h"
#include "backends/tracer/freezer.h"
#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/message.h"
#include "protocol/stack.h"
#include "protocol/variable.h"

/* Maximum number of attempts; the last attempt may freeze the thread for as long as it needs. */
#define LOOKS_MAXIMUM 3

/*
 * Returns the tid of the thread that must be frozen during a read; for an asyncio task that is the
 * thread that runs the task's loop.
 */
static pid_t mover_of(const struct thread_sample *thread)
{
	return thread->loop_tid ? thread->loop_tid : thread->tid;
}

static const struct thread_sample *peek_find_thread(const struct peek *reading,
						    const struct process_sample *sample)
{
	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].tid == reading->tid &&
		    sample->threads[i].interpreter == reading->interpreter)
			return &sample->threads[i];
	return NULL;
}

static const struct thread_sample *now_of(const struct peek *reading)
{
	return peek_find_thread(reading, &reading->sample);
}

static int peek_take(struct peek *reading, struct error *error)
{
	process_sample_clear(&reading->sample);
	return pystack_sample(reading->connection->pystack, false, &reading->sample, error);
}

/* Freezes the thread. If that fails, the read takes place anyway, and is less exact. */
static void hold_thread(struct peek *reading, pid_t tid)
{
	struct error refused = ERROR_INIT;

	reading->is_held = freezer_begin(node_holds(reading->connection->base.node),
					 reading->connection->base.pid, tid, &refused) == 0;
}

static void peek_release(struct peek *reading)
{
	uint64_t held_ns;

	if (!reading->is_held)
		return;
	held_ns = freezer_end(node_holds(reading->connection->base.node));
	if (held_ns > reading->held_ns)
		reading->held_ns = held_ns;
	reading->is_held = false;
}

void peek_clear(struct peek *reading)
{
	peek_release(reading);
	process_sample_clear(&reading->sample);
}

static bool is_at_rest(const struct thread_sample *thread)
{
	return thread->exactness == EXACT && thread->state != THREAD_RUNNING;
}

/*
 * True if the thread must be frozen: it is not at rest, or this node has stopped it, but it may not
 * have left the processor yet.
 */
static bool is_to_be_held(const struct peek *reading, const struct thread_sample *thread)
{
	struct node *node = reading->connection->base.node;

	return !is_at_rest(thread) || freezer_stands(node_holds(node), mover_of(thread));
}

/*
 * Frames
 */

size_t peek_count(const struct peek *reading, size_t *dropped)
{
	return pystack_frame_count(reading->connection->pystack, reading->tid, reading->interpreter,
				   dropped);
}

const struct code *peek_code(const struct peek *reading, int depth)
{
	return pystack_code(reading->connection->pystack, reading->tid, reading->interpreter,
			    depth);
}

int peek_line(const struct peek *reading, int depth)
{
	return pystack_line(reading->connection->pystack, reading->tid, reading->interpreter,
			    depth);
}

/*
 * Returns the current depth of the frame that has this depth in `before`; -1: the frame has
 * returned.
 */
static int follow_frame(const struct peek *reading, const struct stack *before, int depth)
{
	size_t dropped;
	size_t count = peek_count(reading, &dropped);
	size_t below;
	size_t place;

	if ((size_t)depth >= before->frame_count)
		return -1;
	below = before->frame_count - (size_t)depth;
	if (below > count)
		return -1;
	place = count - below;
	for (size_t i = 0; i < below; i++)
		if (before->frames[(size_t)depth + i].code != peek_code(reading, (int)(place + i)))
			return -1;
	return (int)place;
}

int peek_follow(const struct peek *reading, int depth)
{
	const struct thread_sample *before =
		peek_find_thread(reading, &reading->connection->newest);

	if (!before || !before->stack)
		return depth;
	return follow_frame(reading, before->stack, depth);
}

int peek_frame(const struct peek *reading, int depth, struct pyobject_frame *frame,
	       struct error *error)
{
	size_t dropped;

	if (!peek_count(reading, &dropped))
		return error_set(error, "thread %d runs no Python code now; it may have exited",
				 (int)reading->tid);
	if (depth < 0 || pystack_frame(reading->connection->pystack, reading->tid,
				       reading->interpreter, depth, frame) < 0)
		return error_set(error, "the frame no longer exists: the thread has continued");
	return 0;
}

void peek_judge(struct peek *reading)
{
	const struct thread_sample *thread = now_of(reading);
	const struct stack *stack = thread ? thread->stack : NULL;
	uint64_t switches = thread ? thread->switches : 0;
	bool was_at_rest = thread && is_at_rest(thread);
	struct error error = ERROR_INIT;

	reading->exactness = CONSISTENT;
	if (reading->has_stood) {
		reading->exactness = EXACT;
		return;
	}
	if (peek_take(reading, &error) < 0)
		return;
	thread = now_of(reading);
	if (!thread || thread->stack != stack)
		reading->exactness = TORN;
	else if (was_at_rest && is_at_rest(thread) && thread->switches == switches)
		reading->exactness = EXACT;
}

/*
 * Chooses the main thread if the request names none, and the thread's interpreter if it names none.
 */
static int settle_thread(struct peek *reading, struct error *error)
{
	const struct process_sample *sample = &reading->sample;
	int found = -1;

	if (reading->tid == 0 && sample->thread_count > 0) {
		reading->tid = sample->threads[0].tid;
		reading->interpreter = sample->threads[0].interpreter;
	}
	for (size_t i = 0; reading->interpreter < 0 && i < sample->thread_count; i++) {
		if (sample->threads[i].tid != reading->tid)
			continue;
		if (found >= 0)
			return error_set(error,
					 "thread %d runs Python in several interpreters, and this "
					 "frame may be of any of them",
					 (int)reading->tid);
		found = sample->threads[i].interpreter;
	}
	if (reading->interpreter < 0)
		reading->interpreter = found;
	return 0;
}

int peek_begin(struct peek *reading, struct error *error)
{
	if (peek_take(reading, error) < 0)
		return -1;
	return reading->is_of_holder ? 0 : settle_thread(reading, error);
}

/* Reading, while the thread is frozen if possible */

/*
 * Returns the thread that holds the GIL of the object's interpreter (interpreters may have GILs of
 * their own).
 */
static const struct thread_sample *peek_find_holder(const struct peek *reading)
{
	const struct process_sample *sample = &reading->sample;

	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].has_gil &&
		    sample->threads[i].interpreter == reading->interpreter)
			return &sample->threads[i];
	return NULL;
}

/* Returns the tid of the thread to freeze; 0: none. */
static pid_t find_mover(const struct peek *reading)
{
	const struct thread_sample *thread =
		reading->is_of_holder ? peek_find_holder(reading) : now_of(reading);

	return thread && is_to_be_held(reading, thread) ? mover_of(thread) : 0;
}

static uint64_t count_calls(const struct peek *reading)
{
	return pystack_calls(reading->connection->pystack) +
	       memory_calls(reading->connection->looking);
}

/* Reads the frames of the frozen thread again. Returns -1 if only a whole sample can read them. */
static int walk_again(struct peek *reading)
{
	if (reading->is_of_holder)
		return 0;
	return pystack_walk_again(reading->connection->pystack, reading->tid, reading->interpreter,
				  reading->connection->looking);
}

struct looking {
	int (*look)(struct peek *reading, void *data, struct error *error);
	void *data;
	bool is_last; /* last attempt: the time of the freeze is not limited */
};

/* Calls looking->look() while the thread is frozen, then resumes the thread. Returns 1 to try
 * again: more memory was needed than rehearse() has read. */
static int look_held(struct peek *reading, const struct looking *looking, struct error *error)
{
	struct memory *memory = reading->connection->looking;
	uint64_t calls = count_calls(reading);
	struct error failed = ERROR_INIT;
	int result;

	memory_begin_held(memory, !looking->is_last);
	result = walk_again(reading);
	if (result && looking->is_last)
		result = peek_take(reading, &failed);
	if (!result)
		result = looking->look(reading, looking->data, &failed);
	else if (!looking->is_last)
		result = 1;
	if (!looking->is_last && memory_was_cut(memory))
		result = 1;
	reading->held_calls = count_calls(reading) - calls;
	peek_release(reading);
	reading->has_stood = true;
	if (result < 0 && error)
		*error = failed;
	return result;
}

/*
 * Reads while the thread runs, to learn which memory is needed, so that the read in the freeze is
 * short. The result is not used.
 */
static void rehearse(struct peek *reading, const struct looking *looking)
{
	struct error unused = ERROR_INIT;

	memory_begin(reading->connection->looking, false);
	if (!walk_again(reading))
		looking->look(reading, looking->data, &unused);
}

/*
 * Calls looking->look() without a freeze: if the thread runs, the values may be of different
 * moments.
 */
static int look_free(struct peek *reading, const struct looking *looking, struct error *error)
{
	reading->has_stood = false;
	memory_begin(reading->connection->looking, false);
	return looking->look(reading, looking->data, error);
}

/* True if an asyncio task is read, whose frames only a whole sample finds. */
static bool is_task(const struct peek *reading)
{
	return reading->tid < 0 && !reading->is_of_holder;
}

int peek_look(struct peek *reading,
	      int (*look)(struct peek *reading, void *data, struct error *error), void *data,
	      struct error *error)
{
	struct looking looking = { .look = look, .data = data };
	int result = 1;

	for (int i = 1; result > 0; i++) {
		pid_t mover = find_mover(reading);
		bool can_hold = mover && !node_is_read_only(reading->connection->base.node);

		looking.is_last = i == LOOKS_MAXIMUM || is_task(reading);
		if (can_hold && !looking.is_last)
			rehearse(reading, &looking);
		if (can_hold)
			hold_thread(reading, mover);
		if (!reading->is_held)
			return can_hold && peek_take(reading, error) < 0
				       ? -1
				       : look_free(reading, &looking, error);
		result = look_held(reading, &looking, error);
		if (result > 0 && peek_take(reading, error) < 0)
			return -1;
	}
	return result;
}

void peek_reader(const struct peek *reading, struct pyreader *reader)
{
	pyreader_init(reader, reading->connection->looking, &reading->connection->python);
	reader->is_still = true;
}

int peek_check_type(struct pyreader *reader, uint64_t address, const char *type,
		    struct error *error)
{
	struct buffer now = BUFFER_INIT;
	int result = 0;

	if (pyobject_type_name(reader, address, &now) < 0)
		result = error_set(
			error,
			"the object no longer exists: the memory at its address is not an object");
	else if (type && strcmp(type, now.data) != 0)
		result = error_set(error, "the object no longer exists: a %s is at its address",
				   now.data);
	buffer_clear(&now);
	return result;
}

static int evaluate_find_frame(struct debuggee *control, const struct message *request,
			       struct pyobject_frame *frame, struct error *error)
{
	int64_t depth = json_get_integer(request->body, "depth", 0);
	struct debuggee_thread *thread = debuggee_asked(control, request, error);

	if (!thread)
		return -1;
	if (debuggee_frame(control, thread, (int)depth, frame) < 0)
		return error_set(error, "the frame no longer exists: the stack has changed");
	return 0;
}

static json_t *evaluate_make_answer(const struct variable *variable)
{
	json_t *body = variable_to_json(variable);

	json_object_set(body, "result", json_object_get(body, "value"));
	return body;
}

int debuggee_evaluate(struct debuggee *control, const struct message *request, struct error *error)
{
	const char *text = json_get_string(request->body, "expression", "");
	struct variable_list list = { .total = -1 };
	struct pyexpression *expression;
	struct pyobject_frame frame;
	struct pyreader reader;
	int result;

	if (evaluate_find_frame(control, request, &frame, error) < 0)
		return -1;
	expression = pyexpression_parse(text, error);
	if (!expression)
		return -1;
	pyreader_init(&reader, control->memory, &control->python);
	result = pyexpression_show(expression, &reader, &frame, variable_list_add(&list), error);
	if (result == 0)
		node_respond(control->base.node, request, evaluate_make_answer(&list.items[0]),
			     NULL);
	variable_list_clear(&list);
	pyexpression_free(expression);
	return result;
}

/* The request `variables` (peek.h describes how a frame is found again) */

struct asked {
	struct peek reading;
	uint64_t address; /* address of an object; 0: a frame is read */
	const char *type; /* expected type of the object; NULL: any */
	int depth;	  /* depth of the frame; -1: an object is read */
	int64_t start;
	struct variable_list list;
};

/* Lists the children of the object, if it is still at its address, or the locals of the frame. */
static int variables_look(struct peek *reading, void *data, struct error *error)
{
	struct asked *asked = data;
	struct pyobject_frame frame;
	struct pyreader reader;

	variable_list_clear(&asked->list);
	asked->list.total = -1;
	peek_reader(reading, &reader);
	if (asked->address)
		return peek_check_type(&reader, asked->address, asked->type, error) < 0
			       ? -1
			       : pyobject_children(&reader, asked->address, asked->start,
						   VARIABLE_PAGE, &asked->list, error);
	if (peek_frame(reading, peek_follow(reading, asked->depth), &frame, error) < 0)
		return -1;
	return pyobject_locals(&reader, &frame, asked->start, VARIABLE_PAGE, &asked->list, error);
}

static int variables_read_it(struct asked *asked, struct error *error)
{
	struct peek *reading = &asked->reading;

	reading->is_of_holder = asked->address != 0;
	if (peek_begin(reading, error) < 0 || peek_look(reading, variables_look, asked, error) < 0)
		return -1;
	if (!asked->address)
		peek_judge(reading);
	else
		reading->exactness = reading->has_stood ? EXACT : CONSISTENT;
	return 0;
}

static void variables_answer(struct asked *asked, const struct message *request)
{
	const struct peek *reading = &asked->reading;
	struct ptrace_connection *connection = reading->connection;
	json_t *body = variable_list_to_json(&asked->list);

	json_object_set_new(body, "pid", json_integer(connection->base.pid));
	json_object_set_new(body, "tid", json_integer(reading->tid));
	if (reading->interpreter > 0)
		json_object_set_new(body, "interpreter", json_integer(reading->interpreter));
	json_object_set_new(body, "depth", json_integer(asked->depth));
	json_set_hex(body, "address", asked->address);
	json_object_set_new(body, "epoch", json_integer((json_int_t)connection->newest.epoch));
	json_object_set_new(body, "start", json_integer(asked->start));
	json_set_text(body, "exactness", exactness_name(reading->exactness));
	node_respond(connection->base.node, request, body, NULL);
}

int ptrace_variables(struct ptrace_connection *connection, const struct message *request,
		     struct error *error)
{
	const json_t *body = request->body;
	uint64_t address = json_get_hex(body, "address");
	int64_t tid = json_get_integer(body, "tid", 0);
	int64_t interpreter = json_get_integer(body, "interpreter", address ? 0 : -1);
	int64_t depth = json_get_integer(body, "depth", address ? -1 : 0);
	struct asked asked = {
		.reading = { .connection = connection, .exactness = CONSISTENT },
		.address = address,
		.type = json_get_string(body, "type", NULL),
		.depth = address ? -1 : (int)depth,
		.start = json_get_integer(body, "start", 0),
		.list.total = -1,
	};
	int result;

	if (depth < 0 && !address)
		return error_set(error, "variables: \"depth\" or \"address\" is missing");
	asked.reading.tid = (pid_t)tid;
	asked.reading.interpreter = (int)interpreter;
	result = variables_read_it(&asked, error);
	if (result == 0)
		variables_answer(&asked, request);
	peek_clear(&asked.reading);
	variable_list_clear(&asked.list);
	return result;
}
