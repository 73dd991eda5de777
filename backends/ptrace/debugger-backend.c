/*
 * The backend `ptrace` as a debugger: which requests a process allows in its
 * current state, and the functions that serve them.
 */
#include "backends/backend.h"

#include "backends/cpython/pyobject.h"
#include "backends/cpython/pywalk.h"
#include "backends/http/agent-endpoint.h"
#include "backends/linux/memory.h"
#include "backends/node.h"
#include "backends/ptrace/debuggee.h"
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
		error_set(error,
			  "Only its debugger can be asked: the process is on another machine.");
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
	/* An agent in the process is better: it has any number of breakpoints and runs code. */
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
		return reason_set(reason, "It is just being stopped.", "");
	return reason_is_running(reason);
}

static bool control_can(const struct connection *connection, enum request_kind kind,
			const struct message *request, struct reason *reason)
{
	const struct debuggee *control = lend_control(connection);
	enum capability capability = backend_capability(BACKEND_TRACER, kind);

	if (control->is_gone)
		return reason_set(reason, "The process has ended.", "");
	/* Always allow clearing: a breakpoint left set would stop the process again. */
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

/* Whether the newest frame in the thread's memory is the frame of its stop. */
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

/* The sample's row of the shown thread, added if the reader did not find the thread. */
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

/* Puts the stop's frame and line on the stack; a thread that still runs keeps a stack read so. */
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
	.help = "stops and steps the process from outside",
	.open = control_open,
	.opens_for = control_opens_for,
	.can = control_can,
	.send = control_send,
	.amend = control_amend,
	.debugger = control_debugger,
	.close = control_close,
};
