#include "model/helper.h"

#include <stddef.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "model/place.h"
#include "model/rank.h"
#include "protocol/stack.h"

enum helper_kind {
	HELPER_ANY,
	HELPER_NONE,
	HELPER_THREAD,
	HELPER_CHILD,
};

/* Activities that wait for only one kind of helper, or for none; others wait for any. */
static const struct {
	const char *activity;
	enum helper_kind kind;
} kinds[] = {
	{ "thread join", HELPER_THREAD },
	{ "Lock.acquire", HELPER_THREAD },
	{ "RLock.acquire", HELPER_THREAD },
	{ "lock", HELPER_THREAD },
	{ "file lock", HELPER_NONE },
	{ "fcntl.flock", HELPER_NONE },
	{ "fcntl.lockf", HELPER_NONE },
	{ "fcntl.fcntl", HELPER_NONE },
	{ "cuda synchronize", HELPER_NONE },
	{ "signal", HELPER_NONE },
	{ "process join", HELPER_CHILD },
	{ "child wait", HELPER_CHILD },
	{ "pool", HELPER_CHILD },
	{ "pipe", HELPER_CHILD },
	{ ACTIVITY_DATASETS, HELPER_CHILD },
	{ ACTIVITY_DATALOADER, HELPER_CHILD },
};

static enum helper_kind helper_kind_of(const struct activity *activity)
{
	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
		if (strcmp(activity->name, kinds[i].activity) == 0)
			return kinds[i].kind;
	}
	return HELPER_ANY;
}

/* How likely the main thread waits for a thread that does this: more is likelier. */
static int weight_of(enum activity_kind kind)
{
	switch (kind) {
	case ACTIVITY_LOCK:
	case ACTIVITY_UNKNOWN:
	case ACTIVITY_TEARDOWN:
		return 1;
	case ACTIVITY_SLEEP:
		return 2;
	case ACTIVITY_COMPUTE:
	case ACTIVITY_PEERS:
	case ACTIVITY_DATA:
	case ACTIVITY_SAVE:
	case ACTIVITY_TRAIN:
	case ACTIVITY_READ:
		break;
	}
	return 3;
}

/*
 * True if a frame of the program's own is innermost of those that the thread or child began with: a
 * forked child also has the frames of its parent, below _bootstrap().
 */
static bool helper_is_in_program(const struct rank *process, const struct thread *thread)
{
	const struct stack *stack = thread->sample.stack;

	for (size_t i = 0; stack && i < stack->frame_count; i++) {
		const struct code *code = stack->frames[i].code;

		if (strcmp(code->func, "_bootstrap") == 0 && place_is_library(code->file))
			return false;
		if (place_is_generated(stack, i))
			continue;
		if (place_is_user(&process->process, &stack->frames[i]))
			return true;
	}
	return false;
}

/* True in a collective; recv and accept are also the waits of idle servers. */
static bool helper_is_at_peers(const struct thread *thread)
{
	return thread->activity.kind == ACTIVITY_PEERS &&
	       !activity_is_point_to_point(&thread->activity);
}

struct helper_search {
	struct helper best;
	int weight;
	size_t count; /* number of threads of that weight */
};

static void helper_consider(struct helper_search *search, const struct rank *process,
			    const struct thread *thread)
{
	int weight = weight_of(thread->activity.kind);

	if (weight < search->weight ||
	    (!helper_is_in_program(process, thread) && !helper_is_at_peers(thread)))
		return;
	search->count = weight == search->weight ? search->count + 1 : 1;
	search->weight = weight;
	search->best = (struct helper){ process, thread };
}

bool helper_find(const struct rank *rank, struct helper *helper)
{
	const struct thread *main_thread = rank_main_thread(rank);
	struct helper_search search = { .weight = 0 };
	enum helper_kind kind;
	pid_t awaited; /* the only child that wait4(2) waits for; 0: none, or any */

	if (!main_thread || (main_thread->activity.kind != ACTIVITY_LOCK &&
			     strcmp(main_thread->activity.name, ACTIVITY_DATALOADER) != 0))
		return false;
	awaited = main_thread->sample.awaited ? (pid_t)main_thread->sample.argument : 0;
	kind = awaited ? HELPER_CHILD : helper_kind_of(&main_thread->activity);
	if (kind == HELPER_NONE || main_thread->sample.holder > 0)
		return false;
	for (size_t i = 0; kind != HELPER_CHILD && i < rank->thread_count; i++) {
		/* A coroutine is no thread of its own. */
		if (&rank->threads[i] != main_thread && rank->threads[i].sample.tid > 0)
			helper_consider(&search, rank, &rank->threads[i]);
	}
	for (size_t i = 0; kind != HELPER_THREAD && i < rank->child_count; i++) {
		const struct rank *child = rank->children[i];

		if (awaited && child->process.pid != awaited)
			continue;
		for (size_t j = 0; j < child->thread_count; j++) {
			if (child->threads[j].sample.tid > 0)
				helper_consider(&search, child, &child->threads[j]);
		}
	}
	*helper = search.best;
	return search.count == 1;
}

bool helper_is_moving(const struct rank *rank)
{
	const struct thread *main_thread = rank_main_thread(rank);

	for (size_t i = 0; i < rank->thread_count; i++) {
		const struct thread *thread = &rank->threads[i];

		if (thread != main_thread && thread->has_moved &&
		    helper_is_in_program(rank, thread))
			return true;
	}
	return false;
}

bool helper_waits_for_peers(const struct rank *rank)
{
	struct helper helper;

	return helper_find(rank, &helper) && helper.process == rank &&
	       helper_is_at_peers(helper.thread);
}

static bool helper_has_user_frame(const struct rank *rank, const struct stack *stack)
{
	const struct frame *frame = place_find(&rank->process, stack);

	return frame && !place_is_library(frame->code->file);
}

const struct thread *helper_find_served(const struct rank *rank, const struct thread *main_thread)
{
	const struct thread *found = main_thread;

	for (size_t i = 0; i < rank->thread_count; i++) {
		const struct thread *thread = &rank->threads[i];
		const struct stack *stack = thread->sample.stack;

		if (thread == main_thread || !stack ||
		    !activity_is_served_by(&main_thread->activity, stack))
			continue;
		if (helper_has_user_frame(rank, stack))
			return thread;
		if (found == main_thread)
			found = thread;
	}
	return found;
}
