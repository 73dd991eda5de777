#include "backends/ptrace/debuggee.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends/connections.h"
#include "backends/cpython/bytecode.h"
#include "backends/cpython/code-search.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pytstate.h"
#include "backends/cpython/pywalk.h"
#include "backends/discover/torch.h"
#include "backends/linux/memory.h"
#include "backends/linux/task.h"
#include "backends/node.h"
#include "backends/ptrace/launched-programs.h"
#include "backends/ptrace/watchpoints.h"
#include "backends/tracer/tracee.h"
#include "backends/tracer/waits.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "protocol/process.h"

/*
 * Returns the trapped thread. Reads the list of threads again if the thread is not known to run
 * Python, since it may have begun to. Returns NULL if it does not run Python.
 */
static struct debuggee_thread *find_trapped(struct debuggee *control, pid_t tid)
{
	struct debuggee_thread *thread = debuggee_find(control, tid);

	if (!thread || !thread->stepper) {
		debuggee_look_at_threads(control);
		thread = debuggee_find(control, tid);
	}
	return thread && thread->stepper ? thread : NULL;
}

/*
 * Reports once that the stepper has lost track of the thread, whose step then ends without a stop.
 */
static void tell_lost(struct debuggee_thread *thread)
{
	const char *why = stepper_lost(thread->stepper);

	if (why && !thread->is_lost)
		debuggee_say(thread->control, 0, why);
	thread->is_lost = why != NULL;
}

/*
 * Called when a trap is not a stop: sets the next watches, for all threads if the watch requests
 * have changed.
 */
static void pass(struct debuggee *control, struct debuggee_thread *thread)
{
	tell_lost(thread);
	if (debuggee_watch_request(control))
		debuggee_arm_all(control);
	else
		debuggee_arm(control, thread);
	debuggee_settle(control);
}

/*
 * Reports that this thread has stopped as well, although only the shown thread was expected to
 * stop.
 */
static void tell_another(struct debuggee_thread *thread)
{
	struct debugger stop;
	char *text;

	thread->is_wanted = true;
	debugger_init(&stop);
	stop_place_describe(thread->place, &stop);
	text = xasprintf("thread %d has also stopped (%s): the next continue shows the stop of "
			 "that thread first",
			 (int)thread->tid,
			 stop.description ? stop.description : stop_reason_name(stop.reason));
	debuggee_say(thread->control, 0, text);
	free(text);
	debugger_clear(&stop);
	node_flush(thread->control->base.node);
}

static enum tracee_next debuggee_on_trapped(struct tracee *tracee, pid_t tid, int slot, void *data)
{
	struct debuggee *control = data;
	struct debuggee_thread *thread = debuggee_find(control, tid);
	struct stepper_stop stop = { .at = STOP_AT_UNKNOWN };
	struct planned fired;

	(void)tracee;
	if (!thread)
		return TRACEE_RESUME;
	fired = thread->plan.slots[slot];
	if (fired.kind == PLAN_START) {
		debuggee_starts(control, tid);
		return TRACEE_RESUME;
	}
	thread = find_trapped(control, tid);
	if (!thread)
		return TRACEE_RESUME;
	if (!stepper_trap(thread->stepper, &fired, &stop)) {
		pass(control, thread);
		return TRACEE_RESUME;
	}
	debuggee_take_place(thread, &stop);
	if (control->phase == DEBUGGEE_RUNNING) {
		debuggee_stop(control, thread);
		return TRACEE_STAY;
	}
	if (!thread->is_wanted)
		tell_another(thread);
	debuggee_check_standing(control);
	return TRACEE_STAY;
}

static void on_stopped(struct tracee *tracee, pid_t tid, void *data)
{
	struct debuggee *control = data;
	struct debuggee_thread *thread = debuggee_find(control, tid);

	if (thread && thread->is_wanted) {
		debuggee_check_standing(control);
		return;
	}
	if (thread && thread->is_planned)
		debuggee_arm(control, thread);
	tracee_resume(tracee, tid);
}

static enum tracee_next on_born(struct tracee *tracee, pid_t tid, void *data)
{
	struct debuggee *control = data;

	(void)tracee;
	if (control->watch_request_count > 0)
		debuggee_arm(control, debuggee_add_thread(control, tid));
	return TRACEE_RESUME;
}

static void debuggee_on_ended(struct tracee *tracee, pid_t tid, void *data)
{
	struct debuggee *control = data;

	(void)tracee;
	debuggee_drop_thread(control, tid);
	debuggee_check_standing(control);
	debuggee_settle(control);
}

static void free_program(struct debuggee *control)
{
	debuggee_say_left_out(control, INFINITY);
	debuggee_drop_threads(control);
	watchpoints_free(control->watched);
	breakpoint_table_free(control->breaks);
	code_search_free(control->codes);
	bytecode_cache_free(control->bytecodes);
	memory_free(control->memory);
	control->watched = NULL;
	control->breaks = NULL;
	control->codes = NULL;
	control->bytecodes = NULL;
	control->memory = NULL;
	control->is_python = false;
	debuggee_watch_request(control);
}

int debuggee_read_program(struct debuggee *control, struct error *error)
{
	free_program(control);
	control->memory = memory_new(control->base.pid);
	if (cpython_locate(&control->python, control->memory, node_elf_cache(control->base.node),
			   error) < 0)
		return -1;
	snprintf(control->base.version, sizeof(control->base.version), "%s",
		 control->python.version_text);
	control->bytecodes = bytecode_cache_new(control->memory, &control->python);
	control->codes = code_search_new(control->memory, &control->python);
	control->breaks = breakpoint_table_new(control->memory, &control->python,
					       control->bytecodes, control->codes);
	control->watched = watchpoints_new(control->memory, &control->python);
	control->is_python = true;
	control->exec_looks = 0;
	return control->wanted ? debuggee_want(control, error) : 0;
}

/* After an exec the process is running, even if it was stopped before. */
static enum tracee_next debuggee_on_execed(struct tracee *tracee, void *data)
{
	struct debuggee *control = data;
	bool was_stopped = control->phase != DEBUGGEE_RUNNING;

	(void)tracee;
	debuggee_forget_stop(control);
	free_program(control);
	control->exec_looks = 0;
	debuggee_refresh(control);
	if (was_stopped)
		node_emit_debugger(control->base.node, control->base.pid, &control->debugger);
	else
		debuggee_tell_again(control);
	debuggee_keep_looking(control);
	debuggee_settle(control);
	node_flush(control->base.node);
	return TRACEE_RESUME;
}

/* If this node has launched the job, the child is traced; otherwise it is detached. */
static void debuggee_on_forked(struct tracee *tracee, pid_t child, void *data)
{
	struct debuggee *control = data;

	launched_programs_forked(node_starts(control->base.node), tracee, child);
}

static void debuggee_on_gone(struct tracee *tracee, void *data)
{
	struct debuggee *control = data;

	(void)tracee;
	control->is_gone = true;
	debuggee_forget_stop(control);
	debuggee_keep_looking(control);
	debuggee_settle(control);
}

/* Stops a timer, so that its owner may be freed. */
static void end_timer(struct loop_timer **timer)
{
	if (*timer)
		loop_timer_stop(*timer);
	*timer = NULL;
}

void debuggee_free(struct debuggee *control)
{
	if (!control)
		return;
	end_timer(&control->deadline);
	end_timer(&control->looking);
	end_timer(&control->leaving);
	debuggee_forget_signals(control);
	tracee_free(control->tracee);
	free_program(control);
	free(control->threads);
	free(control->watch_requests);
	json_decref(control->wanted);
	debugger_clear(&control->debugger);
	free(control);
}

struct debuggee *debuggee_new(struct node *node, const struct process *process, bool is_kept,
			      struct error *error)
{
	struct debuggee *control = xcalloc(1, sizeof(*control));
	struct tracee_calls calls = {
		.trapped = debuggee_on_trapped,
		.stopped = on_stopped,
		.born = on_born,
		.ended = debuggee_on_ended,
		.execed = debuggee_on_execed,
		.forked = debuggee_on_forked,
		.gone = debuggee_on_gone,
		.data = control,
	};
	struct reason reason = { .why = "" };
	pid_t inner = task_inner(process->pid);

	control->base = (struct connection){ .node = node, .pid = process->pid };
	control->is_kept = is_kept;
	control->is_namespaced = inner && inner != process->pid;
	debugger_init(&control->debugger);
	if (debuggee_read_program(control, error) < 0) {
		debuggee_free(control);
		return NULL;
	}
	control->tracee = launched_programs_take(node_starts(node), process->pid, &calls);
	if (!control->tracee)
		control->tracee = tracee_new(node_waits(node), process->pid, &calls, &reason);
	if (!control->tracee) {
		reason_explain(&reason, error);
		debuggee_free(control);
		return NULL;
	}
	control->debugger.state = DEBUGGER_RUNNING;
	control->debugger.backend = xstrdup("ptrace");
	control->debugger.target = xasprintf("ptrace:%d", (int)process->pid);
	control->debugger.watchdog = collective_timeout_seconds_of(process->pid);
	control->debugger.slots = HARDWARE_WATCH_SLOTS;
	control->debugger.slots_free = HARDWARE_WATCH_SLOTS;
	debuggee_look_at_threads(control);
	debuggee_settle(control);
	return control;
}

static bool is_needed(const struct debuggee *control)
{
	if (control->is_gone)
		return false;
	return control->is_kept || control->phase != DEBUGGEE_RUNNING ||
	       debuggee_is_stepping(control) || debuggee_has_watch_requests(control) ||
	       (!control->is_python && json_array_size(control->wanted) > 0 &&
		control->exec_looks < DEBUGGEE_EXEC_LOOKS);
}

static void on_leaving(void *data)
{
	struct debuggee *control = data;
	struct node *node = control->base.node;
	pid_t pid = control->base.pid;
	struct debugger none;

	end_timer(&control->leaving);
	if (is_needed(control))
		return;
	connections_disconnect(node_connections(node), &control->base);
	debugger_init(&none);
	node_emit_debugger(node, pid, &none);
	node_flush(node);
}

void debuggee_settle(struct debuggee *control)
{
	if (!control->leaving && !is_needed(control))
		control->leaving =
			loop_timer(node_loop(control->base.node), 0, 0, on_leaving, control);
}

void debuggee_refresh(struct debuggee *control)
{
	struct debugger *debugger = &control->debugger;

	debugger_clear_bindings(debugger);
	if (control->is_python) {
		breakpoint_table_describe(control->breaks, debugger);
		watchpoints_describe(control->watched, debugger);
	}
}

void debuggee_tell_again(struct debuggee *control)
{
	debuggee_refresh(control);
	node_tell_debugger(control->base.node, control->base.pid, &control->debugger);
}

void debuggee_say(struct debuggee *control, int breakpoint, const char *text)
{
	json_t *body = json_object();

	json_object_set_new(body, "pid", json_integer(control->base.pid));
	json_set_text(body, "category", "console");
	if (breakpoint > 0)
		json_object_set_new(body, "breakpoint", json_integer(breakpoint));
	json_set_text(body, "output", text);
	node_emit(control->base.node, EVENT_OUTPUT, body);
}

/* Seconds for which a new thread keeps its watches although it does not run Python yet. */
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

/* Makes thread->seen the thread's PyThreadState. If it has changed, makes a new stepper. */
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

/* Returns the thread that has this tid in the pid namespace of the process; NULL: none, or not
 * traced. If that namespace is not the node's, all threads are searched. */
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

/* Chooses the thread's PyThreadState, of which it may have one in each interpreter: that of the
 * main interpreter, else the one that was chosen before. */
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

/* Removes the threads that no longer run Python, and their watches. */
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
	/*
	 * The frame of the stop may be missing from the walk, because it is being pushed or popped.
	 */
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
