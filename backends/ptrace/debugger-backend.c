/*
 * debugger-backend: the backend `ptrace` as a debugger: which requests are allowed in the current
 * state of a process, and the functions that serve them.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pytstate.h"
#include "backends/cpython/pywalk.h"
#include "backends/http/agent-endpoint.h"
#include "backends/linux/memory.h"
#include "backends/linux/procfs.h"
#include "backends/node.h"
#include "backends/process-table.h"
#include "backends/ptrace/debuggee.h"
#include "backends/ptrace/stop-report.h"
#include "backends/ptrace/watchpoints.h"
#include "backends/tracer/attachable.h"
#include "backends/tracer/syscall-restart.h"
#include "backends/tracer/tracee.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/debugger.h"
#include "protocol/message.h"
#include "protocol/process.h"
#include "protocol/sample.h"
#include "protocol/stack.h"

static struct debuggee *to_control(struct connection *connection)
{
	return (struct debuggee *)connection;
}

static const struct debuggee *lend_control(const struct connection *connection)
{
	return (const struct debuggee *)connection;
}

static struct connection *control_open(struct node *node, const struct process *process,
				       const struct target *target, struct error *error)
{
	struct debuggee *control;

	if (process->pid >= PROCESS_FIRST_STANDIN) {
		error_set(error, "the process is on another machine: only a debugger that is "
				 "connected to it can answer requests");
		return NULL;
	}
	control = debuggee_new(node, process, target != NULL, error);
	if (!control)
		return NULL;
	control->base.backend = &control_backend;
	return &control->base;
}

static bool control_opens_for(const struct process *process, enum request_kind kind,
			      const struct message *request)
{
	/*
	 * An agent in the process takes precedence: it has any number of breakpoints and runs code.
	 */
	return request_opens(BACKEND_TRACER, kind, request) &&
	       !agent_endpoint_exists(process->pid, process->uid);
}

static void control_close(struct connection *connection)
{
	debuggee_free(to_control(connection));
}

static int send_pause(struct debuggee *control, enum request_kind kind,
		      const struct message *request, struct error *error)
{
	int64_t tid = json_get_integer(request->body, "tid", 0);

	(void)kind;
	debuggee_take_setting(control, request);
	if (debuggee_pause(control, (pid_t)tid, error) < 0)
		return -1;
	node_respond(control->base.node, request, NULL, NULL);
	return 0;
}

static int send_evaluate(struct debuggee *control, enum request_kind kind,
			 const struct message *request, struct error *error)
{
	(void)kind;
	return debuggee_evaluate(control, request, error);
}

static int send_breakpoints(struct debuggee *control, enum request_kind kind,
			    const struct message *request, struct error *error)
{
	(void)kind;
	return debuggee_set_breakpoints(control, request, error);
}

static int (*const senders[REQUEST_KIND_COUNT])(struct debuggee *control, enum request_kind kind,
						const struct message *request,
						struct error *error) = {
	[REQUEST_EVALUATE] = send_evaluate, [REQUEST_CONTINUE] = debuggee_go,
	[REQUEST_NEXT] = debuggee_go,	    [REQUEST_STEP_IN] = debuggee_go,
	[REQUEST_STEP_OUT] = debuggee_go,   [REQUEST_UNTIL] = debuggee_go,
	[REQUEST_PAUSE] = send_pause,	    [REQUEST_SET_BREAKPOINTS] = send_breakpoints,
};

static bool debugger_backend_has_stopped(const struct debuggee *control, struct reason *reason)
{
	if (control->phase == DEBUGGEE_STOPPED)
		return true;
	if (control->phase == DEBUGGEE_STOPPING)
		return reason_set(reason, "the process is being stopped", "");
	return reason_is_running(reason);
}

static bool control_can(const struct connection *connection, enum request_kind kind,
			const struct message *request, struct reason *reason)
{
	const struct debuggee *control = lend_control(connection);
	enum capability capability = backend_capability(BACKEND_TRACER, kind);

	if (control->is_gone)
		return reason_set(reason, "the process has exited", "");
	/*
	 * Clearing breakpoints is always allowed: a breakpoint that stays set would stop the
	 * process again.
	 */
	if (kind == REQUEST_SET_BREAKPOINTS && request &&
	    debuggee_only_clears(control, json_object_get(request->body, "breakpoints")))
		return true;
	if (reason_refuse(reason, capability))
		return false;
	/* `continue` cancels a pause that is not reported yet. */
	if (kind == REQUEST_CONTINUE && debuggee_is_pausing(control))
		return true;
	if (capability >= CAPABILITY_STOPPED && !debugger_backend_has_stopped(control, reason))
		return false;
	if (capability == CAPABILITY_FOLLOWED || capability == CAPABILITY_STEPPED)
		return debuggee_can_step(control, reason);
	return true;
}

static int control_send(struct connection *connection, enum request_kind kind,
			const struct message *request, struct error *error)
{
	return senders[kind](to_control(connection), kind, request, error);
}

/* True if the newest frame in the memory of the thread is the frame of its stop. */
static bool is_newest(struct debuggee *control, const struct debuggee_thread *thread)
{
	struct pywalk walk = { .frames = NULL };
	bool result;

	memory_begin(control->memory, false);
	pywalk_read(&walk, control->memory, &control->python, thread->tstate);
	result = walk.count > 0 && walk.frames[0].address == thread->place->frame;
	pywalk_clear(&walk);
	return result;
}

/*
 * Returns the entry of the shown thread in the sample; adds it if the reader did not find the
 * thread.
 */
static struct thread_sample *find_shown(const struct debuggee *control,
					struct process_sample *sample)
{
	struct thread_sample *added;

	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].tid == control->shown)
			return &sample->threads[i];
	added = process_sample_add(sample);
	added->tid = control->shown;
	added->is_main = added->tid == sample->pid;
	return added;
}

/*
 * Puts the frame and line of the stop on the sampled stack of the shown thread. If the thread has
 * not stopped yet (!stands), a stack that was read is kept.
 */
static void amend_shown(struct debuggee *control, struct thread_sample *sample, bool stands)
{
	const struct debuggee_thread *thread = debuggee_find(control, control->shown);
	bool has_frames = sample->stack && sample->stack->frame_count > 0;

	if (!thread || !thread->place || !thread->place->frame || (!stands && has_frames))
		return;
	sample->stack = stop_place_amend(thread->place, has_frames && is_newest(control, thread),
					 sample->stack, node_stacks(control->base.node));
	sample->native = NULL;
}

static bool amend_thread(struct debuggee *control, struct thread_sample *sample)
{
	const struct debuggee_thread *thread = debuggee_find(control, sample->tid);

	if (!thread || !thread->is_wanted || !tracee_is_stopped(control->tracee, thread->tid))
		return false;
	sample->state = THREAD_STOPPED;
	if (sample->stack || thread->tid == control->shown)
		sample->exactness = EXACT;
	return true;
}

static void control_amend(struct connection *connection, struct process_sample *sample)
{
	struct debuggee *control = to_control(connection);
	struct thread_sample *shown;

	if (control->phase != DEBUGGEE_STOPPED)
		return;
	shown = find_shown(control, sample);
	amend_shown(control, shown, amend_thread(control, shown));
	for (size_t i = 0; i < sample->thread_count; i++)
		amend_thread(control, &sample->threads[i]);
}

static const struct debugger *control_debugger(const struct connection *connection)
{
	return &lend_control(connection)->debugger;
}

const struct backend control_backend = {
	.name = "ptrace",
	.help = "stops and steps the process by ptrace",
	.open = control_open,
	.opens_for = control_opens_for,
	.can = control_can,
	.send = control_send,
	.amend = control_amend,
	.debugger = control_debugger,
	.close = control_close,
};

/* Finds a frame of the shown thread. Returns -1 if there is none. */
static int breakpoint_requests_find_frame(int depth, struct pyobject_frame *frame, void *data)
{
	struct debuggee *control = data;
	const struct debuggee_thread *thread = debuggee_find(control, control->shown);

	return thread ? debuggee_frame(control, thread, depth, frame) : -1;
}

int debuggee_want(struct debuggee *control, struct error *error)
{
	struct watchpoints_frames frames = {
		.find = breakpoint_requests_find_frame,
		.data = control,
	};

	if (breakpoint_table_set(control->breaks, control->wanted, error) < 0)
		return -1;
	return watchpoints_set(control->watched, control->wanted,
			       control->phase == DEBUGGEE_STOPPED ? &frames : NULL, error);
}

static const json_t *breakpoint_requests_find_wanted(const json_t *list, int64_t id)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) if (json_get_integer(item, "id", 0) == id) return item;
	return NULL;
}

static bool is_disabled(const json_t *item)
{
	return json_get_boolean(item, "disabled", false);
}

/*
 * True if the user has deleted or disabled breakpoint id. Not true for a temporary breakpoint: it
 * is missing in the list because it has stopped, and this stop is still to be reported.
 */
static bool is_cleared(const json_t *before, const json_t *list, int id)
{
	const json_t *was = breakpoint_requests_find_wanted(before, id);
	const json_t *is = breakpoint_requests_find_wanted(list, id);

	return was && !json_get_boolean(was, "temporary", false) && (!is || is_disabled(is));
}

/* Removes cleared breakpoints from the unreported stops of other threads. */
static void clear_kept(struct debuggee *control, const json_t *before)
{
	for (size_t i = 0; i < control->thread_count; i++) {
		const struct debuggee_thread *thread = control->threads[i];
		struct stop_place *place = thread->place;
		size_t kept = 0;

		if (!place || thread->tid == control->shown || place->hit_count == 0)
			continue;
		for (size_t j = 0; j < place->hit_count; j++)
			if (!is_cleared(before, control->wanted, place->hits[j]))
				place->hits[kept++] = place->hits[j];
		place->hit_count = kept;
		place->is_cleared = kept == 0;
	}
}

static bool is_as_before(const json_t *before, const json_t *item)
{
	json_t *disabled = json_copy((json_t *)(uintptr_t)before);
	bool result;

	json_object_set_new(disabled, "disabled", json_true());
	result = json_equal(before, item) || json_equal(disabled, item);
	json_decref(disabled);
	return result;
}

bool debuggee_only_clears(const struct debuggee *control, const json_t *list)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const json_t *before = breakpoint_requests_find_wanted(
			control->wanted, json_get_integer(item, "id", 0));

		if (!before || !is_as_before(before, item))
			return false;
	}
	return true;
}

/*
 * Makes the breakpoints effective again (is_disarmed) if the list has changed. An unchanged list
 * was sent because of a change for another rank.
 */
static void rearm(struct debuggee *control, const json_t *list)
{
	struct debugger *debugger = &control->debugger;

	if (!control->is_disarmed || json_equal(list, control->wanted))
		return;
	control->is_disarmed = false;
	if (debugger->state != DEBUGGER_RUNNING)
		return;
	debugger->resumed_for = RESUME_REQUEST;
	free(debugger->description);
	debugger->description = NULL;
	debuggee_tell_again(control);
}

/* If no interpreter was found yet, the breakpoints are only stored: the answer has no bindings. */
static json_t *breakpoint_requests_make_answer(const struct debuggee *control)
{
	json_t *body;

	if (!control->is_python) {
		body = json_object();
		json_object_set_new(body, "breakpoints", json_array());
		return body;
	}
	body = breakpoint_table_to_json(control->breaks);
	watchpoints_add_json(control->watched, json_object_get(body, "breakpoints"));
	return body;
}

static int breakpoint_requests_keep(struct debuggee *control, json_t *list, struct error *error)
{
	json_t *before = control->wanted;

	debuggee_say_left_out(control, INFINITY);
	control->wanted = json_incref(list);
	if (control->is_python && debuggee_want(control, error) < 0) {
		json_decref(control->wanted);
		control->wanted = before;
		return -1;
	}
	clear_kept(control, before);
	json_decref(before);
	return 0;
}

int debuggee_set_breakpoints(struct debuggee *control, const struct message *request,
			     struct error *error)
{
	json_t *list = json_object_get(request->body, "breakpoints");

	rearm(control, list);
	if (breakpoint_requests_keep(control, list, error) < 0) {
		debuggee_settle(control);
		return -1;
	}
	debuggee_watch_request(control);
	if (control->phase == DEBUGGEE_RUNNING)
		debuggee_look_at_threads(control);
	debuggee_arm_all(control);
	debuggee_keep_looking(control);
	debuggee_refresh(control);
	node_respond(control->base.node, request, breakpoint_requests_make_answer(control), NULL);
	debuggee_settle(control);
	return 0;
}

#define MINOR_JIT 13 /* 3.13 is the first version that may be built with a JIT */

/*
 * True if PYTHON_JIT was set in the process's environment at its start, to a value other than "0".
 */
static bool has_jit(struct node *node, pid_t pid, int minor)
{
	static const char name[] = "PYTHON_JIT=";
	ssize_t length;
	char *bytes;

	if (minor < MINOR_JIT)
		return false;
	length = procfs_read(node_procfs(node), pid, "environ", &bytes, NULL);
	for (ssize_t i = 0; i < length;) {
		const char *entry = bytes + i;
		const char *value = entry + strlen(name);

		if (strncmp(entry, name, strlen(name)) == 0)
			return *value != '\0' && strcmp(value, "0") != 0;
		i += (ssize_t)strlen(entry) + 1;
	}
	return false;
}

/*
 * True if a thread has a trace function that the program itself has set (sys.settrace: pdb,
 * coverage).
 */
static bool is_traced_within(struct memory *memory, const struct cpython *python)
{
	struct pytstate_list list = { .items = NULL };
	long offset = python->offsets.ts_tracefunc;
	bool result = false;

	memory_begin(memory, false);
	if (offset < 0 || pytstate_list_read(&list, memory, python, NULL) < 0)
		list.count = 0;
	for (size_t i = 0; i < list.count && !result; i++) {
		uint64_t function = 0;

		result = memory_fetch(memory, list.items[i].address + (uint64_t)offset, &function,
				      sizeof(function)) == 0 &&
			 function != 0;
	}
	pytstate_list_clear(&list);
	return result;
}

/* True if the process has an agent, which may then have set the trace function. */
static bool unsupported_has_agent(struct node *node, pid_t pid)
{
	const struct process *known = process_table_find(node_process_table(node), pid);
	uid_t uid = 0;

	if (known)
		uid = known->uid;
	else
		procfs_owner(node_procfs(node), pid, &uid);
	return agent_endpoint_exists(pid, uid);
}

static bool can_follow(struct node *node, struct memory *memory, const struct cpython *python,
		       struct reason *reason)
{
	if (has_jit(node, memory_pid(memory), python->minor))
		return reason_set(
			reason,
			"Python's JIT is on (PYTHON_JIT), and ptrace cannot step compiled code",
			"start the program with PYTHON_JIT=0");
	if (!is_traced_within(memory, python))
		return true;
	if (unsupported_has_agent(node, memory_pid(memory)))
		return reason_set(
			reason,
			"ptrace cannot step while the agent traces the process (sys.settrace), "
			"which the agent does while it has breakpoints or a stopped thread",
			"step with the agent, or delete the agent's breakpoints to step by ptrace");
	return reason_set(reason,
			  "ptrace cannot step a process that has a trace function (sys.settrace), "
			  "for example of pdb or a coverage tool",
			  "connect to the pdb of the process, or start the program without the "
			  "trace function");
}

bool debuggee_can_step(const struct debuggee *control, struct reason *reason)
{
	return !control->is_python ||
	       can_follow(control->base.node, control->memory, &control->python, reason);
}

static bool can_follow_process(struct node *node, pid_t pid, struct reason *reason)
{
	struct memory *memory = memory_new(pid);
	struct error error = ERROR_INIT;
	struct cpython python;
	bool result;

	if (cpython_locate(&python, memory, node_elf_cache(node), &error) < 0)
		result = reason_set(reason, error.message, "");
	else
		result = can_follow(node, memory, &python, reason);
	memory_free(memory);
	return result;
}

/* Adds to the reason the first system call found whose time-out would begin again after a stop. */
static void tell_anew(pid_t pid, struct reason *reason)
{
	const char *name = NULL;
	struct dirent *entry = NULL;
	char path[32];
	size_t length = strlen(reason->why);

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *folder = opendir(path);
	while (folder && !name && (entry = readdir(folder)) != NULL)
		name = syscall_restart_anew(pid, (pid_t)strtol(entry->d_name, NULL, 10));
	if (name)
		snprintf(reason->why + length, sizeof(reason->why) - length,
			 "; thread %s waits in %s, and a stop restarts the timeout of that call",
			 entry->d_name, name);
	if (folder)
		closedir(folder);
}

bool debuggee_probe(struct node *node, pid_t pid, struct reason *reason)
{
	bool is_ours = tracee_find(node_waits(node), pid) != NULL;

	if ((!is_ours && !attachable(pid, reason)) || !can_follow_process(node, pid, reason))
		return false;
	reason_set(reason, "SIGTRAP is ignored while a breakpoint or a step is set", "");
	tell_anew(pid, reason);
	return true;
}
