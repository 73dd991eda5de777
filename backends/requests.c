#include "backends/requests.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/backend.h"
#include "backends/connections.h"
#include "backends/discover/discover.h"
#include "backends/doctor.h"
#include "backends/evidence.h"
#include "backends/inject/injections.h"
#include "backends/launch/launch.h"
#include "backends/lease.h"
#include "backends/linux/pid-list.h"
#include "backends/linux/root-file.h"
#include "backends/node.h"
#include "backends/output.h"
#include "backends/pdb/pdb-finder.h"
#include "backends/process-table.h"
#include "backends/sampler.h"
#include "backends/stop-gate.h"
#include "backends/stop-limit.h"
#include "backends/target.h"
#include "backends/tensor/tensor-requests.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "config.h"
#include "protocol/debugger.h"
#include "protocol/message.h"
#include "protocol/process.h"
#include "protocol/rankset.h"

/* Default seconds between two scans for new processes. */
#define LOOK_SECONDS 1.0

static void handle_initialize(struct node *node, const struct message *request)
{
	int64_t protocol = json_get_integer(request->body, "protocol", 0);
	struct error error = ERROR_INIT;
	char host[256] = "";
	json_t *body;

	if (protocol != PROTOCOL_VERSION) {
		error_set(&error,
			  "probetui-node " PACKAGE_VERSION " speaks version %d of the protocol, "
			  "probetui version %" PRId64 ": install the same version of both",
			  PROTOCOL_VERSION, protocol);
		node_respond(node, request, NULL, error.message);
		return;
	}
	node_set_stacks_maximum(node, json_get_integer(request->body, "stacks", -1));
	node_set_read_only(node, json_get_boolean(request->body, "readOnly", false));
	lease_set(node_lease(node), json_get_real(request->body, "lease", 0));
	gethostname(host, sizeof(host) - 1);
	body = json_object();
	json_object_set_new(body, "protocol", json_integer(PROTOCOL_VERSION));
	json_set_text(body, "version", PACKAGE_VERSION);
	json_set_text(body, "host", host);
	json_object_set_new(body, "uid", json_integer(geteuid()));
	json_object_set_new(body, "pid", json_integer(getpid()));
	node_respond(node, request, body, NULL);
}

static json_t *bystanders_to_json(const struct discovery *discovery)
{
	json_t *array = json_array();

	for (size_t i = 0; i < discovery->bystander_count; i++) {
		const struct bystander *bystander = &discovery->bystanders[i];
		json_t *object = json_object();

		json_object_set_new(object, "pid", json_integer(bystander->pid));
		json_set_text(object, "name", bystander->name);
		json_set_text(object, "script", bystander->script);
		json_set_text(object, "why", "is Python, but has no rank");
		json_array_append_new(array, object);
	}
	return array;
}

static void handle_discover(struct node *node, const struct message *request)
{
	bool follows = json_get_boolean(request->body, "follow", false);
	double period = json_get_real(request->body, "period", LOOK_SECONDS);
	const struct discovery *discovery;
	struct pid_list pids;
	json_t *body;

	pid_list_read(&pids, request->body);
	discovery = process_table_discover(
		node_process_table(node),
		json_is_array(json_object_get(request->body, "pids")) ? &pids : NULL,
		follows ? period : 0);
	pid_list_clear(&pids);
	body = json_object();
	json_object_set_new(body, "looked_at", json_integer((json_int_t)discovery->looked_at));
	json_object_set_new(body, "others", json_integer((json_int_t)discovery->others));
	json_object_set_new(body, "hidden", json_integer((json_int_t)discovery->hidden));
	json_set_text(body, "unread", process_table_unread(node_process_table(node)));
	json_object_set_new(body, "uid", json_integer(discovery->uid));
	json_object_set_new(body, "bystanders", bystanders_to_json(discovery));
	node_respond(node, request, body, NULL);
}

static void handle_sample(struct node *node, const struct message *request)
{
	sampler_request(node_sampler(node), request);
}

/*
 * Returns the process that the request names. If the process is unknown, answers the request with
 * an error and returns NULL.
 */
static const struct process *find_process(struct node *node, const struct message *request)
{
	pid_t pid = pid_read(request->body);
	const struct process *process = process_table_find(node_process_table(node), pid);
	struct error error = ERROR_INIT;

	if (!process) {
		process_table_miss(pid, &error);
		node_respond(node, request, NULL, error.message);
	}
	return process;
}

/*
 * Sends the request to the best connection that can serve it. Returns -1 and sets error if none
 * can.
 */
static int send_on(struct node *node, const struct process *process, enum request_kind kind,
		   const struct message *request, struct error *error)
{
	struct connection *connection =
		connections_find(node_connections(node), process, kind, request, error);

	if (!connection)
		return -1;
	return connection->backend->send(connection, kind, request, error);
}

void request_send(struct node *node, enum request_kind kind, const struct message *request)
{
	const struct process *process = find_process(node, request);
	struct error error = ERROR_INIT;

	if (process && kind == REQUEST_PAUSE)
		stop_limit_announce(node_stop_limit(node), process->pid);
	if (!process || send_on(node, process, kind, request, &error) == 0)
		return;
	/*
	 * "withdraw" marks a `continue` that takes back a pause: if the process was not stopped,
	 * there is nothing to resume, which is a success.
	 */
	if (kind == REQUEST_CONTINUE && json_get_boolean(request->body, "withdraw", false))
		node_respond(node, request, NULL, NULL);
	else
		node_respond(node, request, NULL, error.message);
}

/* Sends the request. A request that changes a process may first have to wait in the stop gate. */
static void route(struct node *node, enum request_kind kind, const struct message *request)
{
	pid_t pid = pid_read(request->body);

	if (request_kind_changes(kind) && process_table_find(node_process_table(node), pid) &&
	    stop_gate_take(node_stop_gate(node), pid, kind, request))
		return;
	request_send(node, kind, request);
}

static void handle_tensor(struct node *node, const struct message *request)
{
	const struct process *process = find_process(node, request);

	if (process)
		tensor_request(node, process, request);
}

static void handle_parameters(struct node *node, const struct message *request)
{
	const struct process *process = find_process(node, request);

	if (process)
		tensor_parameters_request(node, process, request);
}

static bool is_known_file(struct node *node, const struct process *process, const char *path)
{
	if (path[0] && strcmp(path, process->script_path) == 0)
		return true;
	return process_table_has_file(node_process_table(node), process->pid, path);
}

static void respond_source(struct node *node, const struct message *request, pid_t pid,
			   const struct source_file *source, const char *error)
{
	const char *path = json_get_string(request->body, "path", "");
	json_t *body = json_object();

	json_object_set_new(body, "pid", json_integer(pid));
	json_set_text(body, "path", path);
	json_set_text(body, "content", source->content);
	json_object_set_new(body, "changed", json_boolean(source->is_changed));
	if (source->content && source->full) {
		json_set_text(body, "full", source->full);
		json_object_set_new(body, "device", json_integer((json_int_t)source->device));
		json_object_set_new(body, "inode", json_integer((json_int_t)source->inode));
	}
	if (!source->content)
		json_set_text(body, "error", error);
	node_respond(node, request, body, NULL);
}

/*
 * Reads the file on this machine; if that fails, requests the source from a debugger in the
 * process.
 */
static void handle_source(struct node *node, const struct message *request)
{
	const struct process *process = find_process(node, request);
	const char *path = json_get_string(request->body, "path", "");
	struct source_file source = { .content = NULL };
	struct error error = ERROR_INIT;

	if (!process)
		return;
	if (path[0] != '<' && !is_known_file(node, process, path))
		error_set(&error, "the file is not part of any stack of the process");
	else if (source_file_read(&source, process, path, &error) < 0 &&
		 send_on(node, process, REQUEST_SOURCE, request, NULL) == 0)
		return;
	respond_source(node, request, process->pid, &source, error.message);
	free(source.content);
	free(source.full);
}

static void handle_output(struct node *node, const struct message *request)
{
	struct outputs *outputs = node_outputs(node);
	pid_t pid = pid_read(request->body);
	const struct process *process;

	if (!process_table_find(node_process_table(node), pid) &&
	    outputs_request_ended(outputs, pid, request))
		return;
	process = find_process(node, request);
	if (process)
		outputs_request(outputs, process, request);
}

static void handle_diagnose(struct node *node, const struct message *request)
{
	struct pid_list pids;
	json_t *ranks;
	json_t *body;

	pid_list_read(&pids, request->body);
	ranks = json_array();
	for (size_t i = 0; i < pids.count; i++)
		json_array_append_new(ranks, diagnose(node, pids.pids[i]));
	pid_list_clear(&pids);
	body = json_object();
	json_object_set_new(body, "ranks", ranks);
	node_respond(node, request, body, NULL);
}

static void handle_evidence(struct node *node, const struct message *request)
{
	bool has_kernel = json_get_boolean(request->body, "kernel", false);
	bool has_output = json_get_boolean(request->body, "stderr", false);
	struct pid_list pids;

	pid_list_read(&pids, request->body);
	node_respond(node, request,
		     evidence_make(node_evidence(node), &pids, has_output, has_kernel), NULL);
	pid_list_clear(&pids);
}

static void handle_disconnect(struct node *node, const struct message *request)
{
	node_respond(node, request, NULL, NULL);
	node_leave(node);
}

static void handle_cancel(struct node *node, const struct message *request)
{
	const struct process *process = find_process(node, request);

	if (!process)
		return;
	connections_interrupt(node_connections(node), process->pid);
	tensor_asks_interrupt(node_tensor_asks(node), process->pid);
	node_respond(node, request, NULL, NULL);
}

/* Every request renews the lease; this one does nothing else. */
static void handle_renew(struct node *node, const struct message *request)
{
	node_respond(node, request, NULL, NULL);
}

/* Changes the settings of the node that the request contains. */
static void handle_set(struct node *node, const struct message *request)
{
	const json_t *on_signal = json_object_get(request->body, "stopOnSignal");
	const json_t *stay = json_object_get(request->body, "stay");
	bool is_once = strcmp(json_get_string(request->body, "stay", ""), "once") == 0;

	if (stay && !json_is_boolean(stay) && !is_once) {
		node_respond(node, request, NULL, "set: \"stay\" is not true, false or \"once\"");
		return;
	}
	if (on_signal)
		node_set_stop_on_signal(node, json_is_true(on_signal));
	if (is_once)
		stop_limit_stay_once(node_stop_limit(node));
	else if (stay)
		stop_limit_set_stay(node_stop_limit(node), json_is_true(stay));
	node_respond(node, request, NULL, NULL);
}

/* Handler of each kind of request; NULL: the request is sent to a connection of the process. */
static void (*const handlers[REQUEST_KIND_COUNT])(struct node *node,
						  const struct message *request) = {
	[REQUEST_INITIALIZE] = handle_initialize,
	[REQUEST_DISCOVER] = handle_discover,
	[REQUEST_SAMPLE] = handle_sample,
	[REQUEST_TENSOR] = handle_tensor,
	[REQUEST_PARAMETERS] = handle_parameters,
	[REQUEST_SOURCE] = handle_source,
	[REQUEST_OUTPUT] = handle_output,
	[REQUEST_DIAGNOSE] = handle_diagnose,
	[REQUEST_EVIDENCE] = handle_evidence,
	[REQUEST_CONNECT] = connect_request,
	[REQUEST_DETACH] = detach_request,
	[REQUEST_INJECT] = inject_request,
	[REQUEST_CANCEL] = handle_cancel,
	[REQUEST_SET] = handle_set,
	[REQUEST_LAUNCH] = launch_request,
	[REQUEST_JOB_INPUT] = launch_input_request,
	[REQUEST_JOB_TAKEN] = launch_taken_request,
	[REQUEST_JOB_RESIZE] = launch_resize_request,
	[REQUEST_JOB_BREAKPOINTS] = launch_breakpoints_request,
	[REQUEST_JOB_END] = launch_end_request,
	[REQUEST_RENEW] = handle_renew,
	[REQUEST_DISCONNECT] = handle_disconnect,
};

void request_handle(struct node *node, const struct message *request)
{
	enum request_kind kind = request_kind_find(request->name);
	struct error error = ERROR_INIT;

	if (kind == REQUEST_KIND_COUNT)
		error_set(&error, "probetui-node has no request \"%s\"", request->name);
	else if (request_kind_changes(kind) && node_is_read_only(node))
		error_set(&error, "the request stops or changes the process, which --read-only "
				  "does not allow");
	else if (request_check(kind, request->body, &error) == 0 && handlers[kind])
		handlers[kind](node, request);
	else if (!error_is_set(&error))
		route(node, kind, request);
	if (error_is_set(&error))
		node_respond(node, request, NULL, error.message);
}

/* Adds the numbers of all ranks and children to `taken`; a child has the number of its rank. */
static void list_ranks(const struct process_table *process_table, struct rankset *taken)
{
	struct pid_list list = { .pids = NULL };

	process_table_list(process_table, &list);
	for (size_t i = 0; i < list.count; i++) {
		const struct process *process = process_table_find(process_table, list.pids[i]);

		if (process->rank >= 0)
			rankset_add(taken, process->rank);
	}
	pid_list_clear(&list);
}

static int lowest_free(const struct rankset *taken)
{
	int rank = 0;

	while (rankset_contains(taken, rank))
		rank++;
	return rank;
}

/*
 * Sets process->rank: the requested number (`asked`, -1: none), else the process's own number, else
 * the lowest number that is not in use.
 */
static int connect_requests_choose_rank(const struct process_table *process_table,
					struct process *process, int64_t asked, struct error *error)
{
	struct rankset taken = RANKSET_INIT;
	int result = 0;

	list_ranks(process_table, &taken);
	if (asked > RANKSET_MAXIMUM)
		result = error_set(error, "\"rank\" is not a valid rank number");
	else if (asked >= 0 && rankset_contains(&taken, (int)asked))
		result = error_set(error,
				   "rank %d exists already: omit the number, or use another one",
				   (int)asked);
	else if (asked >= 0)
		process->rank = (int)asked;
	else if (process->rank < 0 || rankset_contains(&taken, process->rank))
		process->rank = lowest_free(&taken);
	rankset_clear(&taken);
	return result;
}

static void make_standin(const struct process_table *process_table, const struct target *target,
			 struct process *process)
{
	process->pid = PROCESS_FIRST_STANDIN;
	while (process_table_find(process_table, process->pid))
		process->pid++;
	process->state = PROCESS_LIVE;
	free(process->host);
	process->host = xstrdup_or_null(target->host);
}

/* Returns the stand-in (process on another machine) whose debugger has this target; NULL: none. */
static const struct process *find_standin(struct node *node, const struct target *target)
{
	struct pid_list list = { .pids = NULL };
	const struct process *found = NULL;

	process_table_list(node_process_table(node), &list);
	for (size_t i = 0; i < list.count && !found; i++) {
		const struct debugger *debugger =
			connections_debugger(node_connections(node), list.pids[i]);

		if (list.pids[i] >= PROCESS_FIRST_STANDIN && debugger &&
		    strcmp(debugger->target, target->text) == 0)
			found = process_table_find(node_process_table(node), list.pids[i]);
	}
	pid_list_clear(&list);
	return found;
}

/* Fills an initialised process, which becomes a rank if the connection succeeds. */
static int describe_new(struct node *node, const struct target *target, pid_t owner, int64_t rank,
			struct process *process, struct error *error)
{
	struct environment_reader reader = connections_environment_reader(node_connections(node));
	bool is_here = owner > 0 && discover_one(process, node_procfs(node), &reader, owner);

	/* If the owner of the port does not run Python, it is the end of a tunnel (ssh -L): the
	 * debugged process is on another machine. */
	if (!is_here && target->host) {
		process_clear(process);
		process_init(process);
		make_standin(node_process_table(node), target, process);
	}
	return connect_requests_choose_rank(node_process_table(node), process, rank, error);
}

static int open_target(struct node *node, const struct target *target, int64_t rank, pid_t *pid,
		       struct error *error)
{
	struct process_table *process_table = node_process_table(node);
	struct connection *connection = NULL;
	const struct process *known;
	struct process process;
	pid_t owner = 0;

	if (target->pid > 0)
		owner = target->pid;
	else if (pdb_finder_owner(node, target, &owner, error) < 0)
		return -1;
	known = owner > 0 ? process_table_find(process_table, owner) : find_standin(node, target);
	process_init(&process);
	if (known)
		process_copy(&process, known);
	if (known || describe_new(node, target, owner, rank, &process, error) == 0)
		connection = connections_connect(node_connections(node), &process, target, error);
	if (connection && !known)
		process_table_adopt(process_table, &process);
	*pid = process.pid;
	process_clear(&process);
	return connection ? 0 : -1;
}

void connect_request(struct node *node, const struct message *request)
{
	const char *text = json_get_string(request->body, "target", "");
	int64_t rank = json_get_integer(request->body, "rank", -1);
	struct error error = ERROR_INIT;
	struct target target;
	json_t *body;
	pid_t pid = 0;
	int result;

	if (target_parse(&target, text, &error) < 0) {
		node_respond(node, request, NULL, error.message);
		return;
	}
	result = open_target(node, &target, rank, &pid, &error);
	target_clear(&target);
	if (result < 0) {
		node_respond(node, request, NULL, error.message);
		return;
	}
	node_emit_debugger(node, pid, connections_debugger(node_connections(node), pid));
	body = json_object();
	json_object_set_new(body, "pid", json_integer(pid));
	node_respond(node, request, body, NULL);
}

static int detach(struct node *node, pid_t pid, bool is_forced, struct error *error)
{
	struct connections *connections = node_connections(node);
	const struct debugger *debugger = connections_debugger(connections, pid);
	struct debugger none;

	if (pid >= PROCESS_FIRST_STANDIN && !debugger)
		return process_table_miss(pid, error);
	if (!debugger || !debugger_is_ours(debugger))
		return error_set(error, "no debugger is connected to process %d", (int)pid);
	if (debugger->leaving && !is_forced)
		return error_set(error, "not detached (use `detach --yes` to detach anyway): %s",
				 debugger->leaving);
	connections_disconnect(connections, connections_find_debugger(connections, pid));
	debugger_init(&none);
	node_emit_debugger(node, pid, &none);
	return 0;
}

void detach_all(struct node *node)
{
	struct pid_list list = { .pids = NULL };

	process_table_list(node_process_table(node), &list);
	for (size_t i = 0; i < list.count; i++)
		detach(node, list.pids[i], false, NULL);
	pid_list_clear(&list);
}

void detach_request(struct node *node, const struct message *request)
{
	bool is_forced = json_get_boolean(request->body, "force", false);
	struct error error = ERROR_INIT;

	if (detach(node, pid_read(request->body), is_forced, &error) < 0)
		node_respond(node, request, NULL, error.message);
	else
		node_respond(node, request, NULL, NULL);
}
