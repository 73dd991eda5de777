#include "backends/ptrace/debuggee.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/connections.h"
#include "backends/node.h"
#include "backends/ptrace/watchpoints.h"
#include "backends/tracer/tracee.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/loop.h"

#define LOOK_SECONDS 0.1
/*
 * Number of attempts to set refused watches (tracee_may_watch_soon()) before the failure is
 * reported.
 */
#define RETRIES 10

/* Collects all watch requests, even if there are more than slots: the missing ones are reported. */
static void take_watch_requests(struct debuggee *control)
{
	size_t breaks = breakpoint_table_watch_requests(control->breaks, NULL, 0);
	size_t data = watchpoints_watch_requests(control->watched, NULL, 0);
	size_t guards = watchpoints_guards(control->watched, NULL, 0);
	struct planned *watch_requests =
		xcalloc(breaks + data + guards + 1, sizeof(*watch_requests));
	struct hardware_watch watch;

	breakpoint_table_watch_requests(control->breaks, watch_requests, breaks);
	watchpoints_watch_requests(control->watched, watch_requests + breaks, data);
	watchpoints_guards(control->watched, watch_requests + breaks + data, guards);
	/*
	 * This request is optional: without its watch, a new breakpoint is bound at the next
	 * periodic check.
	 */
	if (debuggee_start_watch(control, &watch))
		watch_requests[breaks + data + guards++] =
			(struct planned){ .watch = watch, .kind = PLAN_START };
	control->watch_requests = watch_requests;
	control->watch_request_count = breaks + data + guards;
	control->data_count = data;
	control->guard_count = guards;
}

bool debuggee_watch_request(struct debuggee *control)
{
	uint64_t revisions[3] = { 0, 0, 0 };

	if (control->is_python && !control->is_disarmed) {
		revisions[0] = breakpoint_table_revision(control->breaks);
		revisions[1] = watchpoints_revision(control->watched);
		revisions[2] = breakpoint_table_are_pending(control->breaks);
	}
	if (memcmp(revisions, control->revisions, sizeof(revisions)) == 0)
		return false;
	memcpy(control->revisions, revisions, sizeof(revisions));
	free(control->watch_requests);
	control->watch_requests = NULL;
	control->watch_request_count = 0;
	control->data_count = 0;
	control->guard_count = 0;
	if (control->is_python && !control->is_disarmed)
		take_watch_requests(control);
	return true;
}

bool debuggee_has_watch_requests(const struct debuggee *control)
{
	return control->is_python &&
	       (breakpoint_table_are_any(control->breaks) || watchpoints_are_any(control->watched));
}

/* Makes the plan of a thread without a stepper, which contains only the watch requests. */
static void plan_watch_requests(const struct debuggee *control, struct plan *plan)
{
	*plan = (struct plan){ .missing = 0 };
	for (size_t i = 0; i < control->watch_request_count; i++) {
		if (i < HARDWARE_WATCH_SLOTS)
			plan->slots[i] = control->watch_requests[i];
		else
			plan->missing++;
	}
}

static int set_plan(struct debuggee *control, struct debuggee_thread *thread, struct error *error)
{
	struct plan_watch_requests watch_requests = {
		.items = control->watch_requests,
		.count = control->watch_request_count,
	};
	struct plan before = thread->plan;
	struct hardware_watch slots[HARDWARE_WATCH_SLOTS];

	if (thread->stepper)
		stepper_plan(thread->stepper, &watch_requests, &thread->plan);
	else
		plan_watch_requests(control, &thread->plan);
	plan_keep_slots(&thread->plan, &before);
	for (int i = 0; i < HARDWARE_WATCH_SLOTS; i++)
		slots[i] = thread->plan.slots[i].watch;
	return tracee_watch(control->tracee, thread->tid, slots, error);
}

/*
 * Sets the watches of the thread's plan. If there are too few free debug registers, tries again
 * without the watch that the stepper can do without.
 */
static int set_watches(struct debuggee *control, struct debuggee_thread *thread,
		       struct error *error)
{
	if (set_plan(control, thread, error) == 0)
		return 0;
	if (!thread->stepper || !stepper_spare_position(thread->stepper))
		return -1;
	return set_plan(control, thread, error);
}

static bool is_persons(const struct planned *planned)
{
	return planned->watch.access != HARDWARE_WATCH_NONE &&
	       (planned->kind == PLAN_BREAKPOINT || planned->kind == PLAN_ENTRY ||
		planned->kind == PLAN_DATA);
}

/* Returns the number of watches for breakpoints in the thread's plan that could not be set. */
static size_t count_unset(const struct debuggee *control, const struct debuggee_thread *thread)
{
	size_t count = 0;

	for (int i = 0; i < HARDWARE_WATCH_SLOTS; i++)
		count += is_persons(&thread->plan.slots[i]) &&
			 !tracee_is_watched(control->tracee, thread->tid, i);
	return count;
}

static bool hardware_slots_is_stepping(const struct debuggee_thread *thread)
{
	return stepper_doing(thread->stepper) != REQUEST_CONTINUE;
}

/* Reports a failure: once per thread, and also for each step that ends because of it. */
static void hardware_slots_say_failure(struct debuggee_thread *thread, const char *why)
{
	char *text = xasprintf("%s%s",
			       hardware_slots_is_stepping(thread) ? "the step failed: " : "", why);

	if (hardware_slots_is_stepping(thread) || !thread->failure)
		debuggee_say(thread->control, 0, text);
	free(text);
	free(thread->failure);
	thread->failure = xstrdup(why);
}

/* Resets the failure of a thread whose watches are all set. */
static void forget_failure(struct debuggee_thread *thread)
{
	if (thread->unset > 0)
		thread->control->is_unset_new = true;
	thread->unset = 0;
	thread->unset_most = 0;
	thread->retries = 0;
	if (thread->failure && thread->is_to_retry) {
		free(thread->failure);
		thread->failure = NULL;
	}
	thread->is_to_retry = false;
}

void debuggee_arm(struct debuggee *control, struct debuggee_thread *thread)
{
	struct error error = ERROR_INIT;

	thread->is_planned = false;
	if (set_watches(control, thread, &error) == 0) {
		forget_failure(thread);
		return;
	}
	thread->unset = 0;
	/*
	 * A thread that does not run Python reaches no breakpoint, so the failure is not reported.
	 */
	if (!thread->stepper)
		return;
	thread->is_to_retry = tracee_may_watch_soon(control->tracee, thread->tid);
	if (thread->is_to_retry && thread->retries < RETRIES && !hardware_slots_is_stepping(thread))
		return;
	hardware_slots_say_failure(thread, error.message);
	if (hardware_slots_is_stepping(thread)) {
		stepper_command(thread->stepper, REQUEST_CONTINUE, 0, 0, NULL);
		set_watches(control, thread, NULL);
	}
	thread->unset = count_unset(control, thread);
	if (thread->unset > thread->unset_most) {
		thread->unset_most = thread->unset;
		control->is_unset_new = true;
	}
}

/*
 * Passes on that the last `missing` watch requests have no slot. Those of data breakpoints are the
 * last ones.
 */
static void tell_missing(struct debuggee *control, size_t missing, const char *why)
{
	size_t data = control->data_count;

	if (!control->is_python)
		return;
	watchpoints_short(control->watched, missing < data ? missing : data);
	breakpoint_table_short(control->breaks, missing < data ? 0 : missing - data, why);
}

/*
 * Sets *plan to the plan whose missing watches are counted. In a stopped process no step needs
 * watches: the plan is then that of `continue`.
 */
static void weigh_plan(const struct debuggee *control, const struct debuggee_thread *thread,
		       struct plan *plan)
{
	if (control->phase == DEBUGGEE_RUNNING)
		*plan = thread->plan;
	else
		plan_watch_requests(control, plan);
}

/*
 * Returns the number of the thread's watch requests that have no watch. Guards are optional and do
 * not count.
 */
static size_t lacking_of(const struct debuggee *control, const struct debuggee_thread *thread,
			 const struct plan *plan)
{
	return thread->unset +
	       (plan->missing < control->guard_count ? 0 : plan->missing - control->guard_count);
}

void debuggee_weigh(struct debuggee *control)
{
	size_t missing = 0;
	const char *why = NULL;
	int most = 0;

	for (size_t i = 0; i < control->thread_count; i++) {
		const struct debuggee_thread *thread = control->threads[i];
		struct plan plan;
		size_t lacking;
		int used = 0;

		weigh_plan(control, thread, &plan);
		for (int j = 0; j < HARDWARE_WATCH_SLOTS; j++)
			used += is_persons(&plan.slots[j]);
		if (used > most)
			most = used;
		lacking = lacking_of(control, thread, &plan);
		if (lacking > missing) {
			missing = lacking;
			why = thread->unset ? thread->failure : NULL;
		}
	}
	control->debugger.slots = HARDWARE_WATCH_SLOTS;
	control->debugger.slots_free = HARDWARE_WATCH_SLOTS - most;
	tell_missing(control, missing, why);
	control->is_unset_new = false;
}

/*
 * True for a running thread that is stepping: it must be stopped before its plan is made, because
 * the plan depends on the position of the frame.
 */
static bool must_stand(const struct debuggee *control, const struct debuggee_thread *thread)
{
	return thread->stepper && stepper_doing(thread->stepper) != REQUEST_CONTINUE &&
	       !tracee_is_stopped(control->tracee, thread->tid);
}

void debuggee_arm_all(struct debuggee *control)
{
	for (size_t i = 0; i < control->thread_count; i++) {
		struct debuggee_thread *thread = control->threads[i];

		/* A stopped thread gets its watches when it is resumed. */
		if (control->phase != DEBUGGEE_RUNNING &&
		    tracee_is_stopped(control->tracee, thread->tid))
			continue;
		if (!must_stand(control, thread)) {
			debuggee_arm(control, thread);
			continue;
		}
		thread->is_planned = true;
		tracee_interrupt(control->tracee, thread->tid);
	}
	debuggee_weigh(control);
}

/*
 * Called after an exec: the new program may be a Python whose interpreter is not initialised yet.
 */
static void look_for_python(struct debuggee *control)
{
	struct error error = ERROR_INIT;

	if (debuggee_read_program(control, &error) < 0) {
		control->exec_looks++;
		return;
	}
	/*
	 * The other connections that read the process still have data of the old program: close
	 * them.
	 */
	connections_forget(node_connections(control->base.node), control->base.pid);
	debuggee_look_at_threads(control);
	debuggee_watch_request(control);
	debuggee_arm_all(control);
	debuggee_tell_again(control);
}

/*
 * True if the periodic check has work. A stopped process does not change, but a search of all its
 * objects for the code of a breakpoint may be due.
 */
static bool may_look(const struct debuggee *control)
{
	return control->phase == DEBUGGEE_RUNNING ||
	       (control->phase == DEBUGGEE_STOPPED && control->is_python &&
		breakpoint_table_are_far(control->breaks));
}

/*
 * Sets refused watches again, or checks watches that were set while SIGTRAP was blocked
 * (tracee_prove()).
 */
static void retry(struct debuggee *control, struct debuggee_thread *thread)
{
	if (tracee_is_stopped(control->tracee, thread->tid))
		return;
	if (thread->is_to_retry)
		thread->retries++;
	else if (!thread->stepper || tracee_prove(control->tracee, thread->tid, NULL) == 0)
		return;
	debuggee_arm(control, thread);
}

static void take_news(struct debuggee *control)
{
	bool is_new = debuggee_watch_request(control);

	for (size_t i = 0; !is_new && i < control->thread_count; i++)
		retry(control, control->threads[i]);

	if (is_new)
		debuggee_arm_all(control);
	else if (control->is_unset_new)
		debuggee_weigh(control);
	else
		return;
	debuggee_tell_again(control);
}

static void hardware_slots_on_look(void *data)
{
	struct debuggee *control = data;

	if (control->is_gone || !may_look(control))
		return;
	if (!control->is_python) {
		look_for_python(control);
		debuggee_keep_looking(control);
	} else {
		if (control->phase == DEBUGGEE_RUNNING)
			debuggee_look_at_threads(control);
		/*
		 * A signal ends the step, which would otherwise stop in or after the signal's
		 * handler.
		 */
		if (debuggee_is_stepping(control))
			debuggee_take_signals(control);
		debuggee_say_left_out(control, loop_now());
		breakpoint_table_look(control->breaks);
		take_news(control);
	}
	debuggee_settle(control);
	node_flush(control->base.node);
}

static bool has_to_look(const struct debuggee *control)
{
	if (control->is_gone)
		return false;
	if (!control->is_python)
		return control->exec_looks < DEBUGGEE_EXEC_LOOKS;
	return debuggee_has_watch_requests(control) || debuggee_is_stepping(control);
}

void debuggee_keep_looking(struct debuggee *control)
{
	if (has_to_look(control) == (control->looking != NULL))
		return;
	if (control->looking) {
		loop_timer_stop(control->looking);
		control->looking = NULL;
		return;
	}
	control->looking = loop_timer(node_loop(control->base.node), LOOK_SECONDS, LOOK_SECONDS,
				      hardware_slots_on_look, control);
}
