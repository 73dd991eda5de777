#include "backends/ptrace/reading.h"

#include <string.h>

#include "banned.h"
#include "backends/node.h"
#include "backends/ptrace/connection.h"
#include "backends/ptrace/holds.h"
#include "backends/ptrace/pyobject.h"
#include "backends/ptrace/pystack.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/stack.h"

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

const struct thread_sample *reading_thread(const struct reading *reading)
{
	return find_thread(reading, &reading->sample);
}

int reading_take(struct reading *reading, struct error *error)
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

void reading_release(struct reading *reading)
{
	if (reading->is_held)
		holds_end(node_holds(reading->connection->base.node));
	reading->is_held = false;
}

void reading_clear(struct reading *reading)
{
	reading_release(reading);
	process_sample_clear(&reading->sample);
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

int reading_follow(const struct reading *reading, int depth)
{
	const struct thread_sample *before =
		find_thread(reading, &reading->connection->newest);
	const struct thread_sample *now = reading_thread(reading);

	if (!before || !before->stack || !now || !now->stack)
		return depth;
	return follow_frame(before->stack, now->stack, depth);
}

int reading_frame(const struct reading *reading, int depth,
		  struct pyobject_frame *frame, struct error *error)
{
	const struct thread_sample *now = reading_thread(reading);

	if (!now || !now->stack)
		return error_set(error,
				 "Thread %d runs no Python now; it may have "
				 "ended.",
				 (int)reading->tid);
	if (depth < 0 ||
	    pystack_frame(reading->connection->pystack, reading->tid,
			  reading->interpreter, depth, frame) < 0)
		return error_set(error, "The thread has moved on: this frame "
					"is no longer there.");
	return 0;
}

void reading_judge(struct reading *reading)
{
	const struct thread_sample *thread = reading_thread(reading);
	const struct stack *stack = thread ? thread->stack : NULL;
	uint64_t switches = thread ? thread->switches : 0;
	bool was_at_rest = thread && is_at_rest(thread);
	struct error error = ERROR_INIT;

	reading->exactness = CONSISTENT;
	if (reading->is_held) {
		reading->exactness = EXACT;
		return;
	}
	if (reading_take(reading, &error) < 0)
		return;
	thread = reading_thread(reading);
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

int reading_hold(struct reading *reading, struct error *error)
{
	const struct thread_sample *thread;

	if (reading_take(reading, error) < 0 ||
	    settle_thread(reading, error) < 0)
		return -1;
	thread = reading_thread(reading);
	if (thread && is_to_be_held(reading, thread)) {
		hold_thread(reading, mover_of(thread));
		if (reading->is_held && reading_take(reading, error) < 0)
			return -1;
	}
	return 0;
}

/* Each interpreter may have a GIL; one holder stands, that of the object's. */
void reading_hold_holder(struct reading *reading)
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

/* An address may be somebody else's by now: the type must be the same. */
int reading_check_type(struct pyreader *reader, uint64_t address,
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
