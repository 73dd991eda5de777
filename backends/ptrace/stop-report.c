#include "backends/ptrace/stop-report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/connections.h"
#include "backends/cpython/bytecode.h"
#include "backends/cpython/pyobject.h"
#include "backends/linux/memory.h"
#include "backends/linux/task.h"
#include "backends/node.h"
#include "backends/ptrace/breakpoint-table.h"
#include "backends/ptrace/debuggee.h"
#include "backends/ptrace/stepper.h"
#include "backends/ptrace/watchpoints.h"
#include "backends/tracer/tracee.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/loop.h"
#include "protocol/stack.h"

/* Seconds after which the stop is reported, even if some threads have not stopped yet. */
#define STAND_SECONDS 0.25

static void stop_report_on_late(void *data);

static void ask_to_stand(struct debuggee *control)
{
	for (size_t i = 0; i < control->thread_count; i++) {
		struct debuggee_thread *thread = control->threads[i];

		if (!thread->stepper ||
		    (control->is_alone && thread->tid != control->shown && !thread->place))
			continue;
		thread->is_wanted = true;
		if (!tracee_is_stopped(control->tracee, thread->tid))
			tracee_interrupt(control->tracee, thread->tid);
	}
}

static void begin_stopping(struct debuggee *control)
{
	control->phase = DEBUGGEE_STOPPING;
	/* Signals that were delivered before the stop count as handled. After a step they do not,
	 * because the signal's handler may have ended the step. */
	if (!debuggee_is_stepping(control))
		tracee_take_signals(control->tracee);
	debuggee_look_for_signals(control);
	ask_to_stand(control);
	control->deadline = loop_timer(node_loop(control->base.node), STAND_SECONDS, 0,
				       stop_report_on_late, control);
	debuggee_check_standing(control);
}

/*
 * Returns the requested thread, else the main thread, else any other thread, if it runs Python; 0:
 * no thread runs Python.
 */
static pid_t choose_shown(struct debuggee *control, pid_t asked)
{
	const struct debuggee_thread *thread = debuggee_find(control, asked);

	if (!thread || !thread->stepper)
		thread = debuggee_find(control, control->base.pid);
	for (size_t i = 0; i < control->thread_count; i++) {
		if (thread && thread->stepper)
			break;
		thread = control->threads[i];
	}
	return thread && thread->stepper ? thread->tid : 0;
}

int debuggee_pause(struct debuggee *control, pid_t tid, struct error *error)
{
	if (control->phase != DEBUGGEE_RUNNING)
		return 0;
	debuggee_look_at_threads(control);
	control->shown = choose_shown(control, tid);
	if (control->shown == 0)
		return error_set(error, "the process cannot be paused: no thread runs Python code "
					"(the threads are starting or exiting)");
	begin_stopping(control);
	return 0;
}

bool debuggee_is_pausing(const struct debuggee *control)
{
	if (control->phase != DEBUGGEE_STOPPING)
		return false;
	for (size_t i = 0; i < control->thread_count; i++)
		if (control->threads[i]->place)
			return false;
	return true;
}

void debuggee_stop(struct debuggee *control, struct debuggee_thread *thread)
{
	control->shown = thread->tid;
	debuggee_look_at_threads(control);
	begin_stopping(control);
}

static void end_deadline(struct debuggee *control)
{
	if (control->deadline)
		loop_timer_stop(control->deadline);
	control->deadline = NULL;
}

static bool sleeps_uninterruptibly(const struct debuggee *control, pid_t tid)
{
	struct task task;
	char letter;

	task_init(&task, control->base.pid, tid);
	letter = task_letter(&task);
	task_clear(&task);
	return letter == 'D';
}

static void stop_report_append_thread(struct buffer *text, pid_t tid)
{
	buffer_printf(text, "%s%d", text->length ? ", " : "thread ", (int)tid);
}

/* Returns a sentence that names the threads that have not stopped; NULL: all have stopped. */
static char *stop_report_explain_missing(const struct debuggee *control)
{
	struct buffer missing = BUFFER_INIT;
	struct buffer asleep = BUFFER_INIT;
	char *text = NULL;

	for (size_t i = 0; i < control->thread_count; i++) {
		const struct debuggee_thread *thread = control->threads[i];

		if (!thread->is_wanted || tracee_is_stopped(control->tracee, thread->tid))
			continue;
		stop_report_append_thread(&missing, thread->tid);
		if (sleeps_uninterruptibly(control, thread->tid))
			stop_report_append_thread(&asleep, thread->tid);
	}
	if (asleep.length > 0)
		text = xasprintf("not stopped yet: %s (in uninterruptible sleep, state D: %s)",
				 missing.data, asleep.data);
	else if (missing.length > 0)
		text = xasprintf("not stopped yet: %s", missing.data);
	buffer_clear(&missing);
	buffer_clear(&asleep);
	return text;
}

/* Sets the place of a thread that was interrupted and has no stop of its own. */
static void stop_report_find_place(struct debuggee_thread *thread)
{
	struct stepper_stop stop = { .at = STOP_AT_UNKNOWN };
	struct error error = ERROR_INIT;
	bool is_known;

	if (thread->place)
		return;
	is_known = stepper_where(thread->stepper, &stop, &error) == 0;
	stop.reason = STOP_PAUSE;
	debuggee_take_place(thread, &stop);
	if (!is_known)
		thread->place->why = xstrdup(error.message);
}

static void stop_report_set_text(char **text, char *owned_with)
{
	free(*text);
	*text = owned_with;
}

static char *stop_report_read_value(struct debuggee *control, uint64_t address)
{
	struct buffer text = BUFFER_INIT;
	struct pyreader reader;

	if (address == 0)
		return NULL;
	memory_begin(control->memory, false);
	pyreader_init(&reader, control->memory, &control->python);
	pyobject_repr(&reader, address, &text);
	return buffer_take(&text);
}

/* Returns the time of the thread's stop on the clock of loop_now(); -1: it has not stopped yet. */
static double stood_since(const struct debuggee *control, pid_t tid)
{
	return tracee_is_stopped(control->tracee, tid) ? tracee_since(control->tracee, tid) : -1;
}

static void fill_stop(struct debuggee *control, const struct debuggee_thread *thread)
{
	struct debugger *debugger = &control->debugger;

	debugger->state = DEBUGGER_STOPPED;
	debugger->stops =
		connections_next_stop(node_connections(control->base.node), control->base.pid);
	debugger->tid = thread->tid;
	debugger->stopped_at = stood_since(control, thread->tid);
	stop_report_set_text(&debugger->why, stop_report_explain_missing(control));
	stop_report_set_text(&debugger->value,
			     stop_report_read_value(control, thread->place->value));
	stop_place_describe(thread->place, debugger);
}

static void tell_stop(struct debuggee *control, const struct debuggee_thread *thread)
{
	fill_stop(control, thread);
	debuggee_weigh(control);
	debuggee_refresh(control);
	node_emit_debugger(control->base.node, control->base.pid, &control->debugger);
	node_flush(control->base.node);
}

/* Code of pending breakpoints may have been loaded since the last periodic check. */
static void look_for_pending(struct debuggee *control)
{
	if (!breakpoint_table_are_pending(control->breaks))
		return;
	breakpoint_table_look(control->breaks);
	if (debuggee_watch_request(control))
		debuggee_arm_all(control);
}

static void finish_stopping(struct debuggee *control)
{
	struct debuggee_thread *thread = debuggee_find(control, control->shown);

	end_deadline(control);
	if (!thread || !thread->stepper) {
		control->shown = choose_shown(control, 0);
		thread = debuggee_find(control, control->shown);
	}
	if (thread && !thread->is_wanted) {
		/* The thread replaces a shown thread that has exited, so it must stop, too. */
		begin_stopping(control);
		return;
	}
	control->phase = DEBUGGEE_STOPPED;
	if (!thread) {
		/*
		 * No thread runs Python any more: there is no stop, and the process continues to
		 * its exit.
		 */
		debuggee_forget_stop(control);
		return;
	}
	stop_report_find_place(thread);
	debuggee_say_left_out(control, INFINITY);
	if (control->is_python) {
		look_for_pending(control);
		watchpoints_look(control->watched);
	}
	tell_stop(control, thread);
}

static void stop_report_on_late(void *data)
{
	struct debuggee *control = data;

	finish_stopping(control);
}

static bool all_stand(const struct debuggee *control)
{
	for (size_t i = 0; i < control->thread_count; i++)
		if (control->threads[i]->is_wanted &&
		    !tracee_is_stopped(control->tracee, control->threads[i]->tid))
			return false;
	return true;
}

/* Replaces a place that was found while the thread was still running. */
static void find_place_again(struct debuggee_thread *thread)
{
	if (thread->place->reason == STOP_PAUSE) {
		stop_place_free(thread->place);
		thread->place = NULL;
	}
	stop_report_find_place(thread);
}

/* Completes a stop that was reported before all threads had stopped. */
static void take_late(struct debuggee *control)
{
	struct debuggee_thread *thread = debuggee_find(control, control->shown);

	if (thread && control->debugger.stopped_at < 0 &&
	    tracee_is_stopped(control->tracee, thread->tid)) {
		find_place_again(thread);
		tell_stop(control, thread);
	} else if (all_stand(control)) {
		stop_report_set_text(&control->debugger.why, NULL);
		debuggee_tell_again(control);
	}
}

void debuggee_check_standing(struct debuggee *control)
{
	if (control->phase == DEBUGGEE_STOPPING && all_stand(control))
		finish_stopping(control);
	else if (control->phase == DEBUGGEE_STOPPED && control->debugger.why)
		take_late(control);
}

void debuggee_forget_stop(struct debuggee *control)
{
	struct debugger *debugger = &control->debugger;

	end_deadline(control);
	debuggee_forget_signals(control);
	for (size_t i = 0; i < control->thread_count; i++)
		control->threads[i]->is_wanted = false;
	control->phase = DEBUGGEE_RUNNING;
	control->shown = 0;
	debugger->state = DEBUGGER_RUNNING;
	debugger->resumed_for = RESUME_REQUEST;
	debugger->tid = 0;
	debugger->hit_count = 0;
	debugger->at = STOP_AT_UNKNOWN;
	debugger->held = -1;
	debugger->stopped_at = -1;
	stop_report_set_text(&debugger->why, NULL);
	stop_report_set_text(&debugger->value, NULL);
	stop_report_set_text(&debugger->description, NULL);
}

#define MINOR_QUALNAME 11 /* first version that has co_qualname */

struct stop_place *stop_place_new(const struct stepper_stop *stop, const struct break_hit *hit,
				  const char *change, int minor)
{
	struct stop_place *place = xcalloc(1, sizeof(*place));

	*place = (struct stop_place){
		.at = stop->at,
		.reason = stop->reason,
		.frame = stop->frame,
		.line = stop->line,
		.value = stop->value,
	};
	if (stop->code) {
		place->file = xstrdup(stop->code->file);
		place->name = xstrdup(stop->code->name);
		if (minor >= MINOR_QUALNAME)
			place->qualname = xstrdup(stop->code->qualname);
		place->first_line = stop->code->first_line;
	}
	if (stop->reason == STOP_DATA_BREAKPOINT) {
		place->hits[place->hit_count++] = stop->data_id;
		place->change = xstrdup_or_null(change);
	}
	for (size_t i = 0; stop->reason == STOP_BREAKPOINT && i < hit->count; i++)
		place->hits[place->hit_count++] = hit->ids[i];
	return place;
}

void stop_place_free(struct stop_place *place)
{
	if (!place)
		return;
	free(place->file);
	free(place->name);
	free(place->qualname);
	free(place->change);
	free(place->why);
	free(place);
}

static const char *const at_descriptions[] = {
	[STOP_AT_UNKNOWN] = NULL,	   [STOP_AT_LINE] = NULL,
	[STOP_AT_CALL] = "call",	   [STOP_AT_RETURN] = "return",
	[STOP_AT_EXCEPTION] = "exception",
};

static char *describe(const struct stop_place *place)
{
	if (place->change)
		return xstrdup(place->change);
	if (place->hit_count > 0)
		return xasprintf("breakpoint %d", place->hits[0]);
	if (place->why)
		return xstrdup(place->why);
	return xstrdup_or_null(at_descriptions[place->at]);
}

void stop_place_describe(const struct stop_place *place, struct debugger *debugger)
{
	debugger->at = place->at;
	debugger->reason = place->reason;
	if (place->reason == STOP_STEP && place->at == STOP_AT_EXCEPTION)
		debugger->reason = STOP_EXCEPTION;
	debugger->hit_count = place->hit_count;
	memcpy(debugger->hits, place->hits, sizeof(debugger->hits));
	free(debugger->description);
	debugger->description = describe(place);
}

static struct frame stop_place_make_frame(const struct stop_place *place,
					  struct stack_table *stacks)
{
	struct code code = {
		.func = place->name,
		.qualname = place->qualname,
		.file = place->file,
		.first_lineno = place->first_line,
		.type = FRAME_PYTHON,
	};

	return (struct frame){
		.code = stack_table_code(stacks, &code),
		.lineno = place->line > 0 ? place->line : 0,
	};
}

const struct stack *stop_place_amend(const struct stop_place *place, bool is_newest,
				     const struct stack *stack, struct stack_table *stacks)
{
	size_t skipped = is_newest ? 1 : 0;
	size_t count = stack ? stack->frame_count : 0;
	const struct stack *amended;
	struct frame *frames;

	if (!place->file || count < skipped)
		return stack;
	frames = xcalloc(count + 1, sizeof(*frames));
	frames[0] = stop_place_make_frame(place, stacks);
	for (size_t i = skipped; i < count; i++)
		frames[i + 1 - skipped] = stack->frames[i];
	amended = stack_table_stack(stacks, frames, count + 1 - skipped,
				    stack ? stack->dropped_count : 0);
	free(frames);
	return amended;
}
