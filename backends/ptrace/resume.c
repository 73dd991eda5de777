#include "backends/ptrace/debuggee.h"

#include <string.h>

#include "banned.h"
#include "backends/cpython/bytecode.h"
#include "backends/cpython/pyobject.h"
#include "backends/node.h"
#include "backends/tracer/tracee.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/message.h"

/* Traps are polled for this time, enough for most steps; later ones come from the loop. */
#define SPIN_NS 2000000u

void debuggee_take_setting(struct debuggee *control, const struct message *request)
{
	control->is_alone = strcmp(json_get_string(request->body, "threads", ""), "one") == 0;
}

struct debuggee_thread *debuggee_asked(struct debuggee *control, const struct message *request,
				       struct error *error)
{
	int64_t tid = json_get_integer(request->body, "tid", control->shown);
	struct debuggee_thread *thread = debuggee_find(control, (pid_t)tid);

	if (!thread || !thread->stepper || !tracee_is_stopped(control->tracee, thread->tid)) {
		error_set(error, "Thread %lld does not stand, or runs no Python.", (long long)tid);
		return NULL;
	}
	return thread;
}

static int command_thread(struct debuggee *control, struct debuggee_thread *thread,
			  enum request_kind command, const struct message *request,
			  struct error *error)
{
	int64_t depth = json_get_integer(request->body, "depth", 0);
	int64_t line = json_get_integer(request->body, "line", 0);
	struct pyobject_frame frame = { .address = 0 };

	if (depth > 0 && command != REQUEST_CONTINUE &&
	    debuggee_frame(control, thread, (int)depth, &frame) < 0)
		return error_set(error, "There is no such frame any more; the stack has changed.");
	return stepper_command(thread->stepper, command, frame.address, (int)line, error);
}

/* Cancels the unfinished steps of the other threads, which a stop has interrupted. */
static void drop_others(struct debuggee *control, const struct debuggee_thread *but)
{
	for (size_t i = 0; i < control->thread_count; i++) {
		struct stepper *stepper = control->threads[i]->stepper;

		if (control->threads[i] != but && stepper &&
		    stepper_doing(stepper) != REQUEST_CONTINUE)
			stepper_command(stepper, REQUEST_CONTINUE, 0, 0, NULL);
	}
}

/* Forgets the reported stop; keeps an unreported stop of another thread. */
static void forget_place(struct debuggee *control, struct debuggee_thread *thread)
{
	if (thread->place && thread->tid != control->shown && thread->place->reason != STOP_PAUSE &&
	    !thread->place->is_cleared)
		return;
	stop_place_free(thread->place);
	thread->place = NULL;
}

/* Events left from the last trap (an exception, a return) may stop before the thread runs. */
static void find_next_stop(struct debuggee *control, struct debuggee_thread *thread)
{
	struct stepper_stop stop = { .at = STOP_AT_UNKNOWN };

	if (thread->place || !thread->stepper || !tracee_is_stopped(control->tracee, thread->tid))
		return;
	if (stepper_resume(thread->stepper, &stop))
		debuggee_take_place(thread, &stop);
}

/* The first thread with a stop to report before any thread runs; NULL: none. */
static struct debuggee_thread *find_pending(struct debuggee *control)
{
	struct debuggee_thread *pending = NULL;

	for (size_t i = 0; i < control->thread_count; i++) {
		struct debuggee_thread *thread = control->threads[i];

		forget_place(control, thread);
		find_next_stop(control, thread);
		if (thread->place && !pending)
			pending = thread;
	}
	return pending;
}

static bool resume_is_held(const struct bytecode *code, void *data)
{
	const struct debuggee *control = data;

	for (size_t i = 0; i < control->thread_count; i++) {
		const struct stepper *stepper = control->threads[i]->stepper;

		if (stepper && stepper_holds(stepper, code))
			return true;
	}
	return false;
}

void debuggee_resume(struct debuggee *control)
{
	if (control->bytecodes) {
		bytecode_cache_age(control->bytecodes);
		bytecode_cache_sweep(control->bytecodes, resume_is_held, control);
	}
	debuggee_watch_request(control);
	debuggee_arm_all(control);
	for (size_t i = 0; i < tracee_thread_count(control->tracee); i++)
		tracee_resume(control->tracee, tracee_thread(control->tracee, i));
	debuggee_keep_looking(control);
	debuggee_settle(control);
}

/* Resumes the threads without a stop of their own, as only one thread is to stop. */
static void resume_others(struct debuggee *control)
{
	debuggee_watch_request(control);
	for (size_t i = 0; i < control->thread_count; i++) {
		struct debuggee_thread *thread = control->threads[i];

		if (thread->place || !tracee_is_stopped(control->tracee, thread->tid))
			continue;
		debuggee_arm(control, thread);
		tracee_resume(control->tracee, thread->tid);
	}
}

int debuggee_go(struct debuggee *control, enum request_kind kind, const struct message *request,
		struct error *error)
{
	struct node *node = control->base.node;
	bool is_step = kind != REQUEST_CONTINUE;
	struct debuggee_thread *thread = debuggee_asked(control, request, is_step ? error : NULL);
	struct debuggee_thread *pending;

	/* `continue` resumes all threads, even if the shown thread has not stopped. */
	if (!thread && is_step)
		return -1;
	debuggee_take_setting(control, request);
	if (thread && command_thread(control, thread, kind, request, error) < 0)
		return -1;
	control->is_disarmed = false;
	drop_others(control, thread);
	pending = find_pending(control);
	debuggee_forget_stop(control);
	node_emit_debugger(node, control->base.pid, &control->debugger);
	node_respond(node, request, NULL, NULL);
	if (pending) {
		if (control->is_alone)
			resume_others(control);
		debuggee_stop(control, pending);
		return 0;
	}
	debuggee_resume(control);
	if (is_step)
		tracee_spin(control->tracee, SPIN_NS);
	return 0;
}
