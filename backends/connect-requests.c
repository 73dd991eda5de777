#include "backends/connect-requests.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/connections.h"
#include "backends/discover/discover.h"
#include "backends/linux/pid-list.h"
#include "backends/node.h"
#include "backends/pdb/pdb-finder.h"
#include "backends/process-table.h"
#include "backends/target.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/debugger.h"
#include "protocol/message.h"
#include "protocol/process.h"
#include "protocol/rankset.h"

/* Adds the numbers of all ranks to `taken`; a child has its rank's number. */
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

/* Sets process->rank: the requested number, else the process's own, else the lowest free one. */
static int connect_requests_choose_rank(const struct process_table *process_table,
					struct process *process, int64_t asked, struct error *error)
{
	struct rankset taken = RANKSET_INIT;
	int result = 0;

	list_ranks(process_table, &taken);
	if (asked > RANKSET_MAXIMUM)
		result = error_set(error, "\"rank\" is no number of a rank.");
	else if (asked >= 0 && rankset_contains(&taken, (int)asked))
		result = error_set(
			error, "There is a rank %d already; leave the number out or take another.",
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

/* Returns the stand-in whose debugger has this target; NULL: there is none yet. */
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

	/* A process without Python that owns the port is the end of a tunnel (ssh -L): the
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
		return error_set(error, "No debugger of process %d is connected.", (int)pid);
	if (debugger->leaving && !is_forced)
		return error_set(error, "%s It stays connected; \"force\" leaves it all the same.",
				 debugger->leaving);
	connections_disconnect(connections, connections_find_debugger(connections, pid));
	debugger_init(&none);
	node_emit_debugger(node, pid, &none);
	return 0;
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
