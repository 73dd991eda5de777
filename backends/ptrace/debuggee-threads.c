#include "backends/ptrace/debuggee.h"

#include <stdlib.h>

#include "banned.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pytstate.h"
#include "backends/cpython/pywalk.h"
#include "backends/linux/memory.h"
#include "backends/linux/task.h"
#include "backends/ptrace/watchpoints.h"
#include "backends/tracer/tracee.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/loop.h"

/* Time in which a new thread keeps its watches without running Python. */
#define BIRTH_SECONDS 1.0

struct debuggee_thread *debuggee_find(struct debuggee *control, pid_t tid)
{
	for (size_t i = 0; i < control->thread_count; i++)
		if (control->threads[i]->tid == tid)
			return control->threads[i];
	return NULL;
}

static void free_thread(struct debuggee_thread *thread)
{
	stepper_free(thread->stepper);
	break_hit_clear(&thread->hit);
	free(thread->change);
	free(thread->failure);
	stop_place_free(thread->place);
	free(thread);
}

struct debuggee_thread *debuggee_add_thread(struct debuggee *control, pid_t tid)
{
	struct debuggee_thread *thread = xcalloc(1, sizeof(*thread));

	thread->control = control;
	thread->tid = tid;
	thread->born_at = loop_now();
	ARRAY_GROW(control->threads, control->thread_count, control->thread_capacity);
	control->threads[control->thread_count++] = thread;
	return thread;
}

void debuggee_drop_thread(struct debuggee *control, pid_t tid)
{
	size_t kept = 0;

	for (size_t i = 0; i < control->thread_count; i++) {
		if (control->threads[i]->tid == tid)
			free_thread(control->threads[i]);
		else
			control->threads[kept++] = control->threads[i];
	}
	control->thread_count = kept;
}

void debuggee_drop_threads(struct debuggee *control)
{
	while (control->thread_count > 0)
		free_thread(control->threads[--control->thread_count]);
}

bool debuggee_is_stepping(const struct debuggee *control)
{
	for (size_t i = 0; i < control->thread_count; i++) {
		const struct stepper *stepper = control->threads[i]->stepper;

		if (stepper && stepper_doing(stepper) != REQUEST_CONTINUE)
			return true;
	}
	return false;
}

static void say_hit(struct debuggee *control, const struct break_hit *hit)
{
	for (size_t i = 0; i < hit->said_count; i++)
		debuggee_say(control, hit->said[i].id, hit->said[i].text);
}

void debuggee_say_left_out(struct debuggee *control, double now)
{
	struct break_hit hit = { .said = NULL };

	if (!control->is_python)
		return;
	breakpoint_table_left_out(control->breaks, now, &hit);
	say_hit(control, &hit);
	break_hit_clear(&hit);
}

static bool is_break(const struct bytecode *code, int line, uint64_t frame, void *data)
{
	struct debuggee_thread *thread = data;
	struct debuggee *control = thread->control;
	bool stops;

	break_hit_clear(&thread->hit);
	if (control->is_disarmed)
		return false;
	stops = breakpoint_table_hit(control->breaks, code, line, frame, thread->tstate,
				     &thread->hit);
	say_hit(control, &thread->hit);
	return stops;
}

static bool is_data(int *id, uint64_t frame, void *data)
{
	struct debuggee_thread *thread = data;
	struct debuggee *control = thread->control;
	char *failure;
	int failed;
	bool stops;

	free(thread->change);
	thread->change = NULL;
	if (control->is_disarmed)
		return false;
	stops = watchpoints_fired(control->watched, id, thread->tstate, frame, &thread->change);
	while ((failure = watchpoints_take_failure(control->watched, &failed))) {
		debuggee_say(control, failed, failure);
		free(failure);
	}
	return stops;
}

void debuggee_take_place(struct debuggee_thread *thread, const struct stepper_stop *stop)
{
	stop_place_free(thread->place);
	thread->place =
		stop_place_new(stop, &thread->hit, thread->change, thread->control->python.minor);
}

/* Takes thread->seen as the thread's PyThreadState, which may have changed. */
static void debuggee_threads_take_state(struct debuggee_thread *thread)
{
	struct debuggee *control = thread->control;
	struct stepper_calls calls = {
		.is_break = is_break,
		.is_data = is_data,
		.data = thread,
	};

	if (thread->stepper && thread->tstate == thread->seen)
		return;
	stepper_free(thread->stepper);
	thread->tstate = thread->seen;
	thread->stepper = stepper_new(control->memory, &control->python, control->bytecodes,
				      thread->tstate, &calls);
	debuggee_arm(control, thread);
}

static bool debuggee_threads_is_ours(const struct debuggee *control, pid_t tid)
{
	pid_t known = 0;

	for (size_t i = 0; known != tid; i++) {
		known = tracee_thread(control->tracee, i);
		if (known == 0)
			return false;
	}
	return true;
}

/* Returns the thread with this tid in the process's own pid namespace; NULL:
 * none, or not traced. For another namespace all threads are searched. */
static struct debuggee_thread *find_inner(struct debuggee *control, pid_t inner)
{
	struct debuggee_thread *thread;
	pid_t tid;

	for (size_t i = 0; i < control->thread_count; i++)
		if (control->threads[i]->inner == inner)
			return control->threads[i];
	tid = control->is_namespaced ? task_find(control->base.pid, inner) : inner;
	if (tid == 0 || !debuggee_threads_is_ours(control, tid))
		return NULL;
	thread = debuggee_find(control, tid);
	if (!thread)
		thread = debuggee_add_thread(control, tid);
	thread->inner = inner;
	return thread;
}

/* A thread may have a PyThreadState in several interpreters: chooses the main
 * interpreter's, else the one chosen before. */
static void see_state(struct debuggee_thread *thread, const struct pytstate *state)
{
	if (thread->seen == 0 || state->number == 0 ||
	    (state->address == thread->tstate && !thread->is_seen_main)) {
		thread->seen = state->address;
		thread->is_seen_main = state->number == 0;
	}
}

static void debuggee_threads_take_states(struct debuggee *control, const struct pytstate_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct pytstate *state = &list->items[i];
		struct debuggee_thread *thread =
			state->tid ? find_inner(control, state->tid) : NULL;

		if (thread)
			see_state(thread, state);
	}
	for (size_t i = 0; i < control->thread_count; i++)
		if (control->threads[i]->seen)
			debuggee_threads_take_state(control->threads[i]);
}

/* Removes threads that run no Python any more, and their watches. */
static void debuggee_threads_drop_unseen(struct debuggee *control)
{
	const struct hardware_watch none[HARDWARE_WATCH_SLOTS] = { { .length = 0 } };
	size_t kept = 0;

	for (size_t i = 0; i < control->thread_count; i++) {
		struct debuggee_thread *thread = control->threads[i];
		bool is_young = !thread->stepper && loop_now() - thread->born_at < BIRTH_SECONDS;

		if (thread->seen || is_young || thread->is_wanted || thread->place) {
			control->threads[kept++] = thread;
			continue;
		}
		tracee_watch(control->tracee, thread->tid, none, NULL);
		free_thread(thread);
	}
	control->thread_count = kept;
}

int debuggee_look_at_threads(struct debuggee *control)
{
	struct pytstate_list list = { .items = NULL };
	struct error error = ERROR_INIT;
	int result = -1;

	if (!control->is_python)
		return -1;
	for (int i = 0; result < 0 && i < 3; i++) {
		memory_begin(control->memory, false);
		result = pytstate_list_read(&list, control->memory, &control->python, &error);
	}
	if (result == 0) {
		for (size_t i = 0; i < control->thread_count; i++)
			control->threads[i]->seen = 0;
		debuggee_threads_take_states(control, &list);
		debuggee_threads_drop_unseen(control);
	}
	pytstate_list_clear(&list);
	return result;
}

int debuggee_frame(struct debuggee *control, const struct debuggee_thread *thread, int depth,
		   struct pyobject_frame *frame)
{
	const struct stop_place *place = thread->place;
	struct pywalk walk = { .frames = NULL };
	size_t place_depth = 0;
	int result = -1;

	memory_begin(control->memory, false);
	pywalk_read(&walk, control->memory, &control->python, thread->tstate);
	/* The frame of the stop may be missing from the walk: it is being pushed or popped. */
	if (place && place->frame && walk.count > 0 && walk.frames[0].address != place->frame)
		place_depth = 1;
	*frame = (struct pyobject_frame){ .thread = thread->tstate };
	if (place && place->frame && depth == 0)
		frame->address = place->frame;
	else if (depth >= (int)place_depth && (size_t)depth - place_depth < walk.count)
		frame->address = walk.frames[(size_t)depth - place_depth].address;
	frame->is_newest = depth == 0;
	if (frame->address)
		result = 0;
	pywalk_clear(&walk);
	return result;
}
