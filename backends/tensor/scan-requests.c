#include "backends/tensor/scan-requests.h"

#include <errno.h>
#include <stdlib.h>

#include "banned.h"
#include "backends/connections.h"
#include "backends/linux/procfs.h"
#include "backends/node.h"
#include "backends/process-table.h"
#include "backends/ptrace/reader.h"
#include "backends/tensor/expression-lookup.h"
#include "backends/tensor/scan-work.h"
#include "base/alloc.h"
#include "base/error.h"
#include "protocol/debugger.h"
#include "protocol/process.h"

struct tensor_asks {
	struct tensor_ask *first;
};

struct tensor_asks *tensor_asks_new(void)
{
	return xcalloc(1, sizeof(struct tensor_asks));
}

void tensor_asks_free(struct tensor_asks *asks)
{
	if (!asks)
		return;
	while (asks->first) {
		struct tensor_ask *ask = asks->first;

		node_respond(ask->node, &ask->request, NULL,
			     "probetui-node leaves; this was not read.");
		ask->forget(ask);
	}
	free(asks);
}

void tensor_asks_interrupt(struct tensor_asks *asks, pid_t pid)
{
	for (struct tensor_ask *ask = asks->first; ask; ask = ask->next)
		if (ask->pid == pid)
			ask->cancel(ask);
}

void tensor_ask_begin(struct tensor_ask *ask, struct node *node, const struct process *process,
		      const struct message *request)
{
	struct tensor_asks *asks = node_tensor_asks(node);

	ask->node = node;
	ask->pid = process->pid;
	ask->start_time = process->start_time;
	message_make_request(&ask->request, request->name, json_incref(request->body));
	ask->request.seq = request->seq;
	ask->previous = NULL;
	ask->next = asks->first;
	if (asks->first)
		asks->first->previous = ask;
	asks->first = ask;
}

void tensor_ask_end(struct tensor_ask *ask)
{
	if (ask->previous)
		ask->previous->next = ask->next;
	else
		node_tensor_asks(ask->node)->first = ask->next;
	if (ask->next)
		ask->next->previous = ask->previous;
	message_clear(&ask->request);
}

void tensor_ask_respond(struct tensor_ask *ask, json_t *owned_body, const char *error)
{
	node_respond(ask->node, &ask->request, owned_body, error);
	node_flush(ask->node);
}

struct ptrace_connection *tensor_ask_reader(struct tensor_ask *ask, struct error *error)
{
	const struct process *process = process_table_find(node_process_table(ask->node), ask->pid);

	if (!process || (ask->start_time && process->start_time != ask->start_time)) {
		error_set(error, "Process %d has ended.", (int)ask->pid);
		return NULL;
	}
	return (struct ptrace_connection *)connections_open(node_connections(ask->node), process,
							    error);
}

static bool scan_requests_has_ended(const struct tensor_ask *ask)
{
	struct procfs_stat stat;

	if (procfs_stat(node_procfs(ask->node), ask->pid, &stat) < 0)
		return procfs_is_gone(errno);
	return procfs_has_ended(&stat);
}

/* If the process has ended, the error says so instead of naming the expression. */
static int scan_requests_fail(const struct tensor_ask *ask, struct error *error)
{
	if (scan_requests_has_ended(ask))
		error_set(error, "Process %d has ended.", (int)ask->pid);
	return -1;
}

int tensor_ask_look(struct tensor_ask *ask, const struct expression_lookup *finding,
		    struct found *found, struct ptrace_connection **reader, struct error *error)
{
	/* The program may have been replaced (execve): then the connection is opened again. */
	for (int tries = 0; tries < 2; tries++) {
		*reader = tensor_ask_reader(ask, error);
		found_clear(found);
		found->needs_code = !*reader;
		if (!*reader)
			return -1;
		if (expression_lookup_look(finding, *reader, found, error) == 0)
			return 0;
		if (!found->is_lost)
			break;
		connections_forget(node_connections(ask->node), ask->pid);
	}
	return scan_requests_fail(ask, error);
}

bool tensor_ask_is_live(struct tensor_ask *ask)
{
	const struct debugger *debugger =
		connections_debugger(node_connections(ask->node), ask->pid);

	return !debugger || debugger->state != DEBUGGER_STOPPED;
}

void tensor_ask_take(struct tensor *told, struct tensor_result *result)
{
	struct tensor *from = &result->told;

	told->has_statistics = from->has_statistics;
	told->statistics = from->statistics;
	from->statistics.minimum.text = NULL;
	from->statistics.maximum.text = NULL;
	told->share = from->share;
	told->histogram = from->histogram;
	from->histogram.bins = NULL;
	told->has_hash = from->has_hash;
	told->hash = from->hash;
	told->blocks = from->blocks;
	from->blocks = NULL;
	told->block_count = from->block_count;
	told->block_elements = from->block_elements;
}
