#include <stdlib.h>
#include <string.h>

#include "backends/cpython/bytecode.h"
#include "backends/cpython/pyobject.h"
#include "backends/linux/procfs.h"
#include "backends/node.h"
#include "backends/process-table.h"
#include "backends/ptrace/debuggee.h"
#include "backends/tracer/tracee.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "protocol/message.h"
#include "protocol/process.h"

/*
 * After a resume, traps are polled for this time, which is enough for most steps; later traps come
 * from the loop.
 */
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
		error_set(error, "thread %lld is not stopped, or runs no Python code",
			  (long long)tid);
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
		return error_set(error, "the frame no longer exists: the stack has changed");
	return stepper_command(thread->stepper, command, frame.address, (int)line, error);
}

/* Cancels the unfinished steps of all threads but one: a stop has interrupted them. */
static void drop_others(struct debuggee *control, const struct debuggee_thread *but)
{
	for (size_t i = 0; i < control->thread_count; i++) {
		struct stepper *stepper = control->threads[i]->stepper;

		if (control->threads[i] != but && stepper &&
		    stepper_doing(stepper) != REQUEST_CONTINUE)
			stepper_command(stepper, REQUEST_CONTINUE, 0, 0, NULL);
	}
}

/*
 * Forgets the thread's stop. The stop of a thread that is not shown is kept, because it was not
 * reported yet; a pause and a cleared stop are not kept.
 */
static void forget_place(struct debuggee *control, struct debuggee_thread *thread)
{
	if (thread->place && thread->tid != control->shown && thread->place->reason != STOP_PAUSE &&
	    !thread->place->is_cleared)
		return;
	stop_place_free(thread->place);
	thread->place = NULL;
}

/*
 * Some events of the last trap (an exception, a return) may not be handled yet: one of them may
 * stop the thread before it runs.
 */
static void find_next_stop(struct debuggee *control, struct debuggee_thread *thread)
{
	struct stepper_stop stop = { .at = STOP_AT_UNKNOWN };

	if (thread->place || !thread->stepper || !tracee_is_stopped(control->tracee, thread->tid))
		return;
	if (stepper_resume(thread->stepper, &stop))
		debuggee_take_place(thread, &stop);
}

/* Returns the first thread that has a stop to be reported before any thread runs; NULL: none. */
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

/* Resumes the threads that have no stop, because only one thread is to stop (is_alone). */
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

/*
 * Resumes a stopped process that is sent a signal. Otherwise a scheduler that ends the job would
 * kill the process at the end of the grace period. CPython's signal handler in C only sets a flag;
 * the handler in Python runs in the main thread, between two bytecodes. So all threads are resumed,
 * whichever thread took the signal, and no breakpoint stops them until the next command of the
 * user.
 *
 * A running thread (it runs C code, or `threads` is "one") takes the signal at once, which the
 * tracee notes. If all threads are stopped, the tracer gets no event: the pending signals are read
 * ten times a second.
 */

#define LOOK_SECONDS 0.1

/*
 * Returns the signals of `set` that at least one thread does not block. Signals that all threads
 * block stay pending, as they would without a tracer.
 */
static uint64_t taken_by_any(const struct debuggee *control, uint64_t set)
{
	struct procfs *procfs = node_procfs(control->base.node);
	size_t count = tracee_thread_count(control->tracee);
	uint64_t blocked = set;

	for (size_t i = 0; i < count && blocked; i++) {
		struct pending_signals signals;

		if (pending_signals_read(&signals, procfs, tracee_thread(control->tracee, i)))
			blocked &= signals.blocked;
	}
	return set & ~blocked;
}

/*
 * Returns signals that are pending for one thread alone. Each call reads one thread, in turn,
 * because there may be hundreds of threads, and few programs send signals to single threads.
 */
static uint64_t of_next_thread(struct debuggee *control)
{
	struct procfs *procfs = node_procfs(control->base.node);
	size_t count = tracee_thread_count(control->tracee);
	struct pending_signals signals;
	pid_t tid;

	if (count == 0)
		return 0;
	tid = tracee_thread(control->tracee, control->signals_turn++ % count);
	if (!pending_signals_read(&signals, procfs, tid))
		return 0;
	return signals.pending & ~signals.blocked;
}

/* Returns the signals for which the process is to be resumed, including signals that were delivered
 * since its last resume. */
static uint64_t signal_stop_find(struct debuggee *control, struct pending_signals *signals)
{
	struct procfs *procfs = node_procfs(control->base.node);
	uint64_t shared;

	control->delivered |= tracee_take_signals(control->tracee);
	if (!pending_signals_read(signals, procfs, control->base.pid))
		return 0;
	shared = pending_signals_that_count(signals, signals->shared);
	return pending_signals_that_count(signals, control->delivered |
							   (signals->pending & ~signals->blocked) |
							   of_next_thread(control)) |
	       taken_by_any(control, shared);
}

/* Appends, for example, "rank 2 was sent SIGTERM". */
static void append_sent(struct buffer *out, const struct debuggee *control, uint64_t set)
{
	const struct process *process =
		process_table_find(node_process_table(control->base.node), control->base.pid);

	if (process && process->rank >= 0)
		buffer_printf(out, "rank %d was sent ", process->rank);
	else
		buffer_printf(out, "process %d was sent ", (int)control->base.pid);
	pending_signals_append(out, set);
}

static void say_once(struct debuggee *control, uint64_t set)
{
	uint64_t fresh = set & ~control->signals_told;
	struct buffer out = BUFFER_INIT;

	control->signals_told |= set;
	if (fresh == 0)
		return;
	append_sent(&out, control, fresh);
	buffer_append_string(&out,
			     " and stays stopped (stop-on-signal): continue delivers the signal");
	debuggee_say(control, 0, out.data);
	buffer_clear(&out);
}

/* Ends the steps and the stops of all threads. */
static void drop_stops(struct debuggee *control)
{
	struct stepper_stop stop = { .at = STOP_AT_UNKNOWN };

	for (size_t i = 0; i < control->thread_count; i++) {
		struct debuggee_thread *thread = control->threads[i];

		stop_place_free(thread->place);
		thread->place = NULL;
		if (!thread->stepper)
			continue;
		stepper_command(thread->stepper, REQUEST_CONTINUE, 0, 0, NULL);
		if (!tracee_is_stopped(control->tracee, thread->tid))
			continue;
		while (stepper_resume(thread->stepper, &stop))
			;
	}
}

static void signal_stop_resume(struct debuggee *control, uint64_t set, uint64_t caught)
{
	struct debugger *debugger = &control->debugger;
	struct buffer out = BUFFER_INIT;

	append_sent(&out, control, set);
	buffer_append_string(&out, set & caught
					   ? ": resumed so that the process can handle the signal"
					   : ", which kills the process: resumed");
	if (set & caught && debuggee_has_watch_requests(control))
		buffer_append_string(&out, " (breakpoints off)");
	control->is_disarmed = true;
	drop_stops(control);
	debuggee_forget_stop(control);
	debugger->resumed_for = RESUME_SIGNAL;
	debugger->description = buffer_take(&out);
	debuggee_refresh(control);
	node_emit_debugger(control->base.node, control->base.pid, debugger);
	debuggee_resume(control);
}

bool debuggee_take_signals(struct debuggee *control)
{
	struct pending_signals signals;
	uint64_t set;

	if (control->is_gone)
		return false;
	set = signal_stop_find(control, &signals);
	if (set == 0)
		return false;
	if (node_stops_on_signal(control->base.node)) {
		if (control->phase != DEBUGGEE_RUNNING)
			say_once(control, set);
		return false;
	}
	signal_stop_resume(control, set, signals.caught);
	return true;
}

static void signal_stop_on_look(void *data)
{
	struct debuggee *control = data;

	debuggee_take_signals(control);
	node_flush(control->base.node);
}

void debuggee_look_for_signals(struct debuggee *control)
{
	if (!control->signals_look)
		control->signals_look = loop_timer(node_loop(control->base.node), LOOK_SECONDS,
						   LOOK_SECONDS, signal_stop_on_look, control);
}

void debuggee_forget_signals(struct debuggee *control)
{
	if (control->signals_look)
		loop_timer_stop(control->signals_look);
	control->signals_look = NULL;
	control->delivered = 0;
	control->signals_told = 0;
	if (control->tracee)
		tracee_take_signals(control->tracee);
}
