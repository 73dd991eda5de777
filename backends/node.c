/*
 * node: how a request is served.
 *
 * A line of the pipe is parsed into a message; a table has the handler of each kind of request; a
 * request about one process goes to the best connection that can serve it. The node also owns the
 * modules and passes them to each other. No handler blocks: it answers at once, or later from a
 * callback of the loop.
 */
#include "backends/node.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "backends/connections.h"
#include "backends/evidence.h"
#include "backends/http/http-client.h"
#include "backends/inject/injections.h"
#include "backends/launch/launch.h"
#include "backends/lease.h"
#include "backends/linger.h"
#include "backends/linux/procfs.h"
#include "backends/native/loaded-elf.h"
#include "backends/native/native.h"
#include "backends/output.h"
#include "backends/pdb/pdb-finder.h"
#include "backends/pipe.h"
#include "backends/process-table.h"
#include "backends/requests.h"
#include "backends/sampler.h"
#include "backends/stop-gate.h"
#include "backends/stop-limit.h"
#include "backends/tensor/tensor-requests.h"
#include "backends/timeout-extension.h"
#include "backends/tracer/freezer.h"
#include "backends/tracer/tracee.h"
#include "backends/tracer/waits.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/map.h"
#include "protocol/debugger.h"
#include "protocol/message.h"
#include "protocol/process.h"
#include "protocol/sample.h"
#include "protocol/stack.h"

/*
 * After the request to exit, queued output is written for LEAVE_SECONDS at most, in a turn every
 * LEAVE_TURN seconds.
 */
#define LEAVE_SECONDS 0.4
#define LEAVE_TURN 0.01

/* A request that the node itself has made, not answered yet. */
struct expected {
	node_answered *answered;
	void *data;
};

struct node {
	struct loop *loop;
	struct pipe *pipe;
	struct procfs procfs;
	struct stack_table *stacks;
	struct freezer *holds;
	struct waits *waits;
	struct loaded_elf_cache *elf_cache;
	struct native *native;
	struct linger_list *linger_list;
	struct http_client *http_client;
	struct connections *connections;
	struct process_table *process_table;
	struct sampler *sampler;
	struct evidence *evidence;
	struct pdb_finder *finder;
	struct outputs *outputs;
	struct launch *launch;
	struct injections *injections;
	struct timeout_extension *timeout_extension;
	struct stop_limit *stop_limit;
	struct stop_gate *stop_gate;
	struct lease *lease;
	struct tensor_asks *tensor_asks;
	struct map *expected; /* -seq -> struct expected */
	int64_t expected_seq; /* seq of the newest entry of `expected`; negative */
	struct loop_signal *terminate;
	struct loop_timer *leave_timer; /* ends the loop when output is written; NULL: the node does
					 * not exit */
	double leave_deadline;
	size_t stacks_maximum; /* number of stacks at which the table is replaced by an empty
				* table */
	uint64_t file_limit;
	int job_input; /* descriptor that becomes a job's standard input; -1: none */
	bool is_read_only;
	bool stops_on_signal;
	int status;
};

static void node_on_line(const char *line, size_t length, void *data);
static void on_input_ended(const char *why, void *data);

static void say_progress(const struct progress_state *state, void *data)
{
	json_t *body = json_object();

	json_set_text(body, "title", "symbols");
	json_object_set_new(body, "done", json_integer(state->done));
	json_object_set_new(body, "total", json_integer(state->total));
	json_set_text(body, "message", state->what);
	node_emit(data, EVENT_PROGRESS, body);
	node_flush(data);
}

static void on_terminate(int number, void *data)
{
	(void)number;
	node_leave(data);
}

struct node *node_new(struct loop *loop, int input, int output)
{
	struct node *node = xcalloc(1, sizeof(*node));
	struct pipe_calls calls = {
		.line = node_on_line,
		.ended = on_input_ended,
		.data = node,
	};
	struct error error = ERROR_INIT;

	node->loop = loop;
	node->job_input = -1;
	if (procfs_open(&node->procfs, &error) < 0) {
		log_write(LOG_ERROR, "%s", error.message);
		free(node);
		return NULL;
	}
	node->pipe = pipe_new(loop, input, output, &calls);
	node->stacks = stack_table_new();
	node->stacks_maximum = STACK_TABLE_FULL;
	node->holds = freezer_new(loop);
	node->waits = waits_new(loop);
	freezer_set_waits(node->holds, node->waits);
	node->elf_cache = loaded_elf_cache_new();
	node->native = native_new(loop, say_progress, node);
	node->linger_list = linger_list_new(loop);
	node->http_client = http_client_new(loop);
	node->expected = map_new(free);
	node->connections = connections_new(node);
	node->process_table = process_table_new(node);
	node->sampler = sampler_new(node);
	node->evidence = evidence_new(node);
	node->finder = pdb_finder_new(node);
	node->outputs = outputs_new(node);
	node->launch = launch_new(node);
	node->injections = injections_new(node);
	node->timeout_extension = timeout_extension_new(node);
	node->stop_limit = stop_limit_new(node);
	node->stop_gate = stop_gate_new(node);
	node->lease = lease_new(node);
	node->tensor_asks = tensor_asks_new();
	node->terminate = loop_signal(loop, SIGTERM, on_terminate, node);
	return node;
}

/* Frees every module that keeps state of processes. Must not be called from a module's callback. */
static void node_release_all(struct node *node)
{
	lease_free(node->lease);
	node->lease = NULL;
	/* The finder is freed first: node_emit_sample() calls it, and it uses the connections. */
	pdb_finder_free(node->finder);
	node->finder = NULL;
	injections_free(node->injections);
	node->injections = NULL;
	launch_free(node->launch);
	node->launch = NULL;
	tensor_asks_free(node->tensor_asks);
	node->tensor_asks = NULL;
	stop_gate_free(node->stop_gate);
	node->stop_gate = NULL;
	evidence_free(node->evidence);
	outputs_free(node->outputs);
	/* Closing a connection answers its pending requests. */
	connections_free(node->connections);
	stop_limit_free(node->stop_limit);
	node->stop_limit = NULL;
	timeout_extension_free(node->timeout_extension);
	node->timeout_extension = NULL;
	process_table_free(node->process_table);
	sampler_free(node->sampler);
	node->evidence = NULL;
	node->outputs = NULL;
	node->connections = NULL;
	node->process_table = NULL;
	node->sampler = NULL;
}

void node_free(struct node *node)
{
	if (!node)
		return;
	if (node->leave_timer)
		loop_timer_stop(node->leave_timer);
	loop_signal_stop(node->terminate);
	node_release_all(node);
	http_client_free(node->http_client);
	linger_list_free(node->linger_list);
	native_free(node->native);
	tracee_finish(node->waits);
	waits_free(node->waits);
	freezer_free(node->holds);
	loaded_elf_cache_free(node->elf_cache);
	stack_table_free(node->stacks);
	pipe_free(node->pipe);
	map_free(node->expected);
	procfs_close(&node->procfs);
	free(node);
}

int node_run(struct node *node)
{
	loop_run(node->loop);
	return node->status;
}

struct stack_table *node_stacks(struct node *node)
{
	return node->stacks;
}

struct freezer *node_holds(struct node *node)
{
	return node->holds;
}

struct waits *node_waits(struct node *node)
{
	return node->waits;
}

struct loaded_elf_cache *node_elf_cache(struct node *node)
{
	return node->elf_cache;
}

struct native *node_native(struct node *node)
{
	return node->native;
}

struct http_client *node_http_client(struct node *node)
{
	return node->http_client;
}

struct linger_list *node_linger_list(struct node *node)
{
	return node->linger_list;
}

struct loop *node_loop(struct node *node)
{
	return node->loop;
}

struct connections *node_connections(struct node *node)
{
	return node->connections;
}

struct procfs *node_procfs(struct node *node)
{
	return &node->procfs;
}

struct process_table *node_process_table(struct node *node)
{
	return node->process_table;
}

struct evidence *node_evidence(struct node *node)
{
	return node->evidence;
}

struct pdb_finder *node_finder(struct node *node)
{
	return node->finder;
}

struct tensor_asks *node_tensor_asks(struct node *node)
{
	return node->tensor_asks;
}

struct injections *node_injections(struct node *node)
{
	return node->injections;
}

struct launch *node_launch(struct node *node)
{
	return node->launch;
}

struct launched_programs *node_starts(struct node *node)
{
	return launch_starts(node->launch);
}

int node_take_job_input(struct node *node)
{
	int fd = node->job_input;

	node->job_input = -1;
	return fd;
}

void node_set_job_input(struct node *node, int owned_fd)
{
	node->job_input = owned_fd;
}

uint64_t node_file_limit(const struct node *node)
{
	return node->file_limit;
}

void node_set_file_limit(struct node *node, uint64_t limit)
{
	node->file_limit = limit;
}

struct sampler *node_sampler(struct node *node)
{
	return node->sampler;
}

struct outputs *node_outputs(struct node *node)
{
	return node->outputs;
}

struct timeout_extension *node_timeout_extension(struct node *node)
{
	return node->timeout_extension;
}

struct stop_limit *node_stop_limit(struct node *node)
{
	return node->stop_limit;
}

struct stop_gate *node_stop_gate(struct node *node)
{
	return node->stop_gate;
}

struct lease *node_lease(struct node *node)
{
	return node->lease;
}

bool node_is_read_only(const struct node *node)
{
	return node->is_read_only;
}

bool node_stops_on_signal(const struct node *node)
{
	return node->stops_on_signal;
}

void node_set_stop_on_signal(struct node *node, bool is_on)
{
	node->stops_on_signal = is_on;
}

void node_set_read_only(struct node *node, bool is_read_only)
{
	node->is_read_only = is_read_only;
}

void node_set_stacks_maximum(struct node *node, int64_t maximum)
{
	node->stacks_maximum =
		maximum > 0 && maximum < STACK_TABLE_FULL ? (size_t)maximum : STACK_TABLE_FULL;
}

void node_tidy_stacks(struct node *node)
{
	if (!stack_table_is_full(node->stacks, node->stacks_maximum))
		return;
	/* Only readers and struct stack_files refer to stacks of the table: both forget them. */
	connections_forget_all(node->connections);
	process_table_forget_files(node->process_table);
	stack_table_free(node->stacks);
	node->stacks = stack_table_new();
	node_emit(node, EVENT_STACKS_DROPPED, json_object());
}

void node_flush(struct node *node)
{
	pipe_flush(node->pipe);
}

size_t node_waiting(struct node *node)
{
	return pipe_waiting(node->pipe);
}

/* Adds "rank" to a body that has "pid" of a known process and no "rank". */
static void node_add_rank(struct node *node, json_t *body)
{
	json_int_t pid = json_integer_value(json_object_get(body, "pid"));
	const struct process *process;

	if (pid <= 0 || json_object_get(body, "rank"))
		return;
	process = process_table_find(node->process_table, (pid_t)pid);
	if (process)
		json_object_set_new(body, "rank", json_integer(process->rank));
}

void node_emit(struct node *node, enum event_kind event, json_t *owned_body)
{
	struct message message;

	node_add_rank(node, owned_body);
	message_make_event(&message, event_kind_name(event), owned_body);
	pipe_send(node->pipe, &message);
	message_clear(&message);
}

void node_expect(struct node *node, struct message *request, node_answered *answered, void *data)
{
	struct expected *expected = xcalloc(1, sizeof(*expected));

	expected->answered = answered;
	expected->data = data;
	request->seq = --node->expected_seq;
	map_put(node->expected, (uint64_t)-request->seq, expected);
}

void node_unexpect(struct node *node, const struct message *request)
{
	map_remove(node->expected, (uint64_t)-request->seq);
}

/*
 * Answers a request that the node itself has made. The answer of a NODE_NOBODY request is dropped.
 */
static void node_respond_itself(struct node *node, const struct message *request, const char *error)
{
	struct expected *found = map_find(node->expected, (uint64_t)-request->seq);
	struct expected expected;

	if (!found)
		return;
	expected = *found;
	node_unexpect(node, request);
	expected.answered(expected.data, error);
}

void node_respond(struct node *node, const struct message *request, json_t *owned_body,
		  const char *error)
{
	struct message message;

	if (request->seq < 0) {
		json_decref(owned_body);
		node_respond_itself(node, request, error);
		return;
	}
	if (owned_body)
		node_add_rank(node, owned_body);
	message_make_response(&message, request, owned_body, error);
	pipe_send(node->pipe, &message);
	message_clear(&message);
}

void node_emit_sample(struct node *node, struct process_sample *sample)
{
	process_table_count(node->process_table, sample);
	connections_amend(node->connections, sample);
	node_emit(node, EVENT_SAMPLED, process_sample_to_json(sample, node->stacks));
	process_table_learn(node->process_table, sample);
	stop_limit_sampled(node->stop_limit, sample);
	if (node->finder)
		pdb_finder_note(node->finder, sample);
}

static void tell_debugger(struct node *node, enum event_kind event, pid_t pid,
			  const struct debugger *debugger)
{
	json_t *body = debugger_to_json(debugger);
	double seconds = timeout_extension_seconds(node->timeout_extension, pid);

	json_object_set_new(body, "pid", json_integer(pid));
	/* Not from debugger->held: the state may be told long after its connection described it. */
	if (debugger->state == DEBUGGER_STOPPED && debugger->stopped_at >= 0)
		json_object_set_new(body, "held", json_real(loop_now() - debugger->stopped_at));
	/*
	 * If the agents of the other ranks have reported time-outs, the shortest one replaces the
	 * value of this debugger.
	 */
	if (seconds >= 0)
		json_object_set_new(body, "watchdog", json_real(seconds));
	stop_limit_hear(node->stop_limit, pid, debugger);
	stop_limit_amend(node->stop_limit, pid, debugger, body);
	node_emit(node, event, body);
	timeout_extension_hear(node->timeout_extension, pid, debugger);
}

void node_tell_debugger(struct node *node, pid_t pid, const struct debugger *debugger)
{
	tell_debugger(node, EVENT_DEBUGGER, pid, debugger);
}

void node_emit_debugger(struct node *node, pid_t pid, const struct debugger *debugger)
{
	if (debugger->state == DEBUGGER_STOPPED)
		sampler_take(node->sampler, pid);
	tell_debugger(node, debugger_event(debugger), pid, debugger);
	if (!debugger_is_ours(debugger))
		process_table_end_standin(node->process_table, pid);
}

void node_say(struct node *node, const char *sentence)
{
	json_t *body = json_object();

	json_set_text(body, "category", "console");
	json_set_text(body, "output", sentence);
	node_emit(node, EVENT_OUTPUT, body);
}

static void node_on_line(const char *line, size_t length, void *data)
{
	struct node *node = data;
	struct error error = ERROR_INIT;
	struct message message;

	if (message_parse(&message, line, length, &error) < 0) {
		error_prefix(&error, "probetui-node cannot parse a request");
		node_say(node, error.message);
		return;
	}
	lease_renew(node->lease);
	if (message.type == MESSAGE_REQUEST)
		request_handle(node, &message);
	else
		node_say(node, "probetui-node ignored a message that is not a request");
	message_clear(&message);
}

static void on_input_ended(const char *why, void *data)
{
	struct node *node = data;

	if (why) {
		log_write(LOG_ERROR, "%s", why);
		node_say(node, why);
		node->status = 1;
	}
	node_leave(node);
}

static void on_leave(void *data)
{
	struct node *node = data;

	node_release_all(node);
	pipe_flush(node->pipe);
	if ((pipe_waiting(node->pipe) == 0 && linger_list_are_over(node->linger_list) &&
	     http_client_has_left(node->http_client)) ||
	    loop_now() > node->leave_deadline)
		loop_stop(node->loop);
}

void node_leave(struct node *node)
{
	if (node->leave_timer)
		return;
	pipe_stop(node->pipe);
	node->leave_deadline = loop_now() + LEAVE_SECONDS;
	node->leave_timer = loop_timer(node->loop, 0, LEAVE_TURN, on_leave, node);
}
