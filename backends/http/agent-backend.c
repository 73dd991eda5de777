/*
 * agent-backend: the backend `http`, which serves requests by the agent in a process; the state of
 * the agent decides which requests it can serve.
 */
#include "backends/http/agent-backend.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "backends/connections.h"
#include "backends/http/agent-breakpoints.h"
#include "backends/http/agent-evaluate.h"
#include "backends/http/agent-resume.h"
#include "backends/http/agent-tensors.h"
#include "backends/http/agent.h"
#include "backends/http/stopped-threads.h"
#include "backends/node.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "protocol/process.h"
#include "protocol/sample.h"
#include "protocol/stack.h"

static struct agent *to_agent(struct connection *connection)
{
	return (struct agent *)connection;
}

static const struct agent *lend_agent(const struct connection *connection)
{
	return (const struct agent *)connection;
}

static struct connection *http_open(struct node *node, const struct process *process,
				    const struct target *target, struct error *error)
{
	struct agent *agent = agent_new(node, process, target, error);

	if (!agent)
		return NULL;
	agent->base.backend = &http_backend;
	return &agent->base;
}

static void http_close(struct connection *connection)
{
	agent_free(to_agent(connection));
}

struct row {
	int (*send)(struct agent *agent, const struct message *request, struct error *error);
	int (*go)(struct agent *agent, enum request_kind kind, const struct message *request,
		  struct error *error);
};

static const struct row rows[REQUEST_KIND_COUNT] = {
	[REQUEST_SAMPLE] = { agent_stacks_send },
	[REQUEST_VARIABLES] = { agent_variables },
	[REQUEST_TENSOR] = { agent_tensors_ask },
	[REQUEST_PARAMETERS] = { agent_tensors_list },
	[REQUEST_SOURCE] = { agent_source },
	[REQUEST_EVALUATE] = { agent_evaluate },
	[REQUEST_COMPLETIONS] = { agent_complete },
	[REQUEST_SET_VARIABLE] = { agent_set },
	[REQUEST_EXECUTE] = { agent_execute },
	[REQUEST_CATCH] = { agent_catch },
	[REQUEST_EJECT] = { agent_eject },
	[REQUEST_WATCHDOG] = { agent_watchdog },
	[REQUEST_SET_EXCEPTIONS] = { agent_breakpoints_set_filters },
	[REQUEST_CONTINUE] = { .go = agent_resume_go },
	[REQUEST_NEXT] = { .go = agent_resume_go },
	[REQUEST_STEP_IN] = { .go = agent_resume_go },
	[REQUEST_STEP_OUT] = { .go = agent_resume_go },
	[REQUEST_UNTIL] = { .go = agent_resume_go },
	[REQUEST_JUMP] = { agent_resume_jump },
	[REQUEST_PAUSE] = { agent_resume_pause },
	[REQUEST_SET_BREAKPOINTS] = { agent_breakpoints_set },
};

static bool http_opens_for(const struct process *process, enum request_kind kind,
			   const struct message *request)
{
	return request_opens(BACKEND_AGENT, kind, request) &&
	       agent_endpoint_exists(process->pid, process->uid);
}

/* True if a connection is to be opened: the first agent has appeared, or a new agent has replaced
 * the one whose session has ended. */
static bool http_attends(const struct process *process, const struct connection *connection)
{
	const struct agent *agent = (const struct agent *)connection;

	if (agent)
		return agent->state == AGENT_OVER && agent_endpoint_has_another(&agent->way);
	return agent_endpoint_exists(process->pid, process->uid);
}

static bool agent_backend_is_there(const struct agent *agent, struct reason *reason)
{
	const char *why = agent->debugger.why;

	if (agent->state == AGENT_OPENING || agent_is_open(agent))
		return true;
	return reason_set(reason, why ? why : "the agent is not connected",
			  agent->state == AGENT_WAITING ? "try again soon (probetui reconnects)"
							: "");
}

/* False if another debugger must serve the request: one that has stopped the process serves all
 * evaluations, one that is connected serves all requests of a debugger. */
static bool agent_backend_is_free(const struct agent *agent, enum capability capability,
				  struct reason *reason)
{
	const struct debugger *other =
		connections_debugger(node_connections(agent->base.node), agent->base.pid);

	if (agent->is_debugger || !other || !debugger_is_ours(other))
		return true;
	if (other->state == DEBUGGER_STOPPED)
		return reason_set(
			reason,
			"a debugger other than the agent (pdb or ptrace) has stopped the process",
			"");
	if (capability >= CAPABILITY_DEBUGGING)
		return reason_set(reason,
				  "a debugger other than the agent (pdb or ptrace) is connected to "
				  "the process",
				  "detach that debugger first");
	return true;
}

static bool agent_backend_has_stopped(const struct agent *agent, enum capability capability,
				      const struct message *request, struct reason *reason)
{
	int64_t tid = request ? json_get_integer(request->body, "tid", 0) : 0;
	const struct stopped_thread *stopped =
		tid ? stopped_threads_find(agent, (pid_t)tid) : stopped_threads_shown(agent);

	if (!stopped)
		return reason_is_running(reason);
	if (capability == CAPABILITY_STEPPED && halt_is_held(stopped))
		return reason_set(reason,
				  "the thread is stopped at an uncaught exception, where frames "
				  "can be inspected, but not stepped",
				  "continue (c) lets the exception propagate");
	return true;
}

/* An object that the agent has reported can be opened while no frame is stopped. */
static enum capability capability_of(enum request_kind kind, const struct message *request)
{
	if (kind == REQUEST_VARIABLES && request &&
	    agent_is_reference(json_get_hex(request->body, "address")))
		return CAPABILITY_OPENED;
	if ((kind == REQUEST_EVALUATE || kind == REQUEST_SET_VARIABLE ||
	     kind == REQUEST_COMPLETIONS) &&
	    request && agent_has_frame(request))
		return CAPABILITY_STOPPED;
	return backend_capability(BACKEND_AGENT, kind);
}

/* True if the request has an address in memory: the agent knows only its own references. */
static bool agent_backend_is_elsewhere(enum request_kind kind, const struct message *request)
{
	uint64_t address =
		kind == REQUEST_VARIABLES && request ? json_get_hex(request->body, "address") : 0;

	return address != 0 && !agent_is_reference(address);
}

static bool http_can(const struct connection *connection, enum request_kind kind,
		     const struct message *request, struct reason *reason)
{
	const struct agent *agent = lend_agent(connection);
	enum capability capability = capability_of(kind, request);

	if (reason_refuse(reason, capability))
		return false;
	if (agent_backend_is_elsewhere(kind, request))
		return reason_set(reason, "the agent has not reported this object",
				  "read the frame's variables again");
	/* An empty list of breakpoints is refused if this agent has none to remove. */
	if (kind == REQUEST_SET_BREAKPOINTS && request && request_clears_breakpoints(request) &&
	    !agent->is_debugger)
		return reason_set(reason, "the agent has no breakpoints", "");
	if (kind == REQUEST_SAMPLE &&
	    (agent->is_telling ||
	     connections_has_reader(node_connections(agent->base.node), agent->base.pid)))
		return !reason_refuse(reason, CAPABILITY_NO_STACKS);
	if (!agent_backend_is_there(agent, reason) ||
	    !agent_backend_is_free(agent, capability, reason))
		return false;
	if (agent->is_read_only && request_kind_changes(kind))
		return reason_set(reason,
				  "the agent is read-only (read_only=True), and does not stop the "
				  "process, change it or run code",
				  "");
	return capability < CAPABILITY_STOPPED || (kind == REQUEST_CONTINUE && agent->paused) ||
	       agent_backend_has_stopped(agent, capability, request, reason);
}

static int http_send(struct connection *connection, enum request_kind kind,
		     const struct message *request, struct error *error)
{
	struct agent *agent = to_agent(connection);
	const struct row *row = &rows[kind];

	if (backend_capability(BACKEND_AGENT, kind) >= CAPABILITY_DEBUGGING &&
	    !agent->is_debugger && agent_become_debugger(agent))
		node_tell_debugger(agent->base.node, agent->base.pid, &agent->debugger);
	if (row->go)
		return row->go(agent, kind, request, error);
	return row->send(agent, request, error);
}

static void http_interrupt(struct connection *connection)
{
	agent_cancel(to_agent(connection));
}

static void http_amend(struct connection *connection, struct process_sample *sample)
{
	stopped_threads_amend(to_agent(connection), sample);
}

static const struct debugger *http_debugger(const struct connection *connection)
{
	const struct agent *agent = lend_agent(connection);

	return agent->is_debugger ? &agent->debugger : NULL;
}

const struct backend http_backend = {
	.name = "http",
	.help = "connects to the agent in the process",
	.open = http_open,
	.opens_for = http_opens_for,
	.attends = http_attends,
	.can = http_can,
	.send = http_send,
	.amend = http_amend,
	.debugger = http_debugger,
	.interrupt = http_interrupt,
	.close = http_close,
};

/* SAMPLE_SECONDS: time-out of a sample; SAMPLES_MAXIMUM: pending samples of one agent. */
#define SAMPLE_SECONDS 3.0
#define SAMPLES_MAXIMUM 2

static const char *text_at(const json_t *row, size_t i)
{
	return json_string_value(json_array_get(row, i));
}

static int number_at(const json_t *row, size_t i)
{
	json_int_t number = json_integer_value(json_array_get(row, i));

	return number >= 0 && number <= INT_MAX ? (int)number : 0;
}

static struct frame agent_stacks_read_frame(struct stack_table *stacks, const json_t *row)
{
	const char *name = text_at(row, 0);
	const char *file = text_at(row, 2);
	const struct code code = {
		.func = (char *)(name ? name : "?"),
		.qualname = (char *)text_at(row, 1),
		.file = (char *)(file ? file : "?"),
		.first_lineno = number_at(row, 3),
		.type = FRAME_PYTHON,
	};

	return (struct frame){
		.code = stack_table_code(stacks, &code),
		.lineno = number_at(row, 4),
	};
}

static const struct stack *read_stack(struct stack_table *stacks, const json_t *list)
{
	size_t count = json_array_size(list);
	const struct stack *stack;
	struct frame *frames;

	if (count > STACK_FRAMES_MAXIMUM)
		count = STACK_FRAMES_MAXIMUM;
	frames = xcalloc(count + 1, sizeof(*frames));
	for (size_t i = 0; i < count; i++)
		frames[i] = agent_stacks_read_frame(stacks, json_array_get(list, i));
	stack = stack_table_stack(stacks, frames, count, 0);
	free(frames);
	return stack;
}

static bool has_tid(const struct process_sample *sample, pid_t tid)
{
	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].tid == tid)
			return true;
	return false;
}

static void read_thread(struct agent *agent, const json_t *told, struct process_sample *sample)
{
	bool is_main = json_get_boolean(told, "is_main", false);
	pid_t tid = is_main ? agent->base.pid : agent_tid(agent, json_get_integer(told, "tid", 0));
	struct thread_sample *thread;

	if (tid == 0 || has_tid(sample, tid))
		return;
	thread = process_sample_add(sample);
	thread->tid = tid;
	thread->is_main = is_main;
	thread->name = xstrdup_or_null(json_get_string(told, "name", NULL));
	thread->stack = read_stack(node_stacks(agent->base.node), json_object_get(told, "frames"));
}

/* Reads SAMPLE_THREADS_MAXIMUM threads at most. */
static void agent_stacks_read_threads(struct agent *agent, const json_t *body,
				      struct process_sample *sample)
{
	const json_t *threads = json_object_get(body, "threads");

	for (size_t i = 0; i < json_array_size(threads) && i < SAMPLE_THREADS_MAXIMUM; i++)
		read_thread(agent, json_array_get(threads, i), sample);
}

static void on_stacks(struct agent_request *query, json_t *body, const struct error *error)
{
	struct agent *agent = query->agent;
	struct process_sample sample = {
		.pid = agent->base.pid,
		.time = loop_now(),
	};

	agent->sampling--;
	if (!error) {
		sample.source = xstrdup("http");
		agent_stacks_read_threads(agent, body, &sample);
		node_emit_sample(agent->base.node, &sample);
	}
	agent_request_respond(query, NULL, error);
	process_sample_clear(&sample);
}

int agent_stacks_send(struct agent *agent, const struct message *request, struct error *error)
{
	(void)error;
	/* This sample is dropped, because the sampler sends the next request in the next period. */
	if (agent->sampling >= SAMPLES_MAXIMUM) {
		node_respond(agent->base.node, request, NULL, NULL);
		return 0;
	}
	agent->sampling++;
	agent_request_send_plain(agent_request_new(agent, request, on_stacks), "/stacks", NULL,
				 SAMPLE_SECONDS);
	return 0;
}
