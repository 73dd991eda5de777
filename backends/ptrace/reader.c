/*
 * reader: the backend `ptrace` as a reader: reads the memory of a CPython process from another
 * process.
 */
#include "backends/ptrace/reader.h"

#include <stdio.h>
#include <stdlib.h>

#include "backends/backend.h"
#include "backends/c10d/c10d.h"
#include "backends/cpython/pystack.h"
#include "backends/linux/access-refusal.h"
#include "backends/linux/memory.h"
#include "backends/node.h"
#include "backends/tracer/freezer.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/collectives.h"
#include "protocol/message.h"
#include "protocol/process.h"

static struct ptrace_connection *to_ptrace(struct connection *connection)
{
	return (struct ptrace_connection *)connection;
}

static void ptrace_close(struct connection *base)
{
	struct ptrace_connection *connection = to_ptrace(base);

	ptrace_sampling_end(connection);
	process_sample_clear(&connection->newest);
	c10d_free(connection->c10d);
	pystack_free(connection->pystack);
	memory_free(connection->environment);
	memory_free(connection->looking);
	memory_free(connection->memory);
	free(connection);
}

static struct connection *ptrace_open(struct node *node, const struct process *process,
				      const struct target *target, struct error *error)
{
	struct ptrace_connection *connection = xcalloc(1, sizeof(*connection));

	(void)target;
	connection->base = (struct connection){
		.backend = &ptrace_backend,
		.node = node,
		.pid = process->pid,
	};
	connection->memory = memory_new(process->pid);
	connection->looking = memory_new(process->pid);
	connection->environment = memory_new(process->pid);
	if (cpython_locate(&connection->python, connection->memory, node_elf_cache(node), error) <
	    0) {
		ptrace_close(&connection->base);
		return NULL;
	}
	snprintf(connection->base.version, sizeof(connection->base.version), "%s",
		 connection->python.version_text);
	connection->pystack = pystack_new(connection->memory, &connection->python,
					  node_stacks(node), node_holds(node));
	return &connection->base;
}

static bool reader_backend_can_hold(const struct connection *connection, struct reason *reason)
{
	int number;

	if (node_is_read_only(connection->node))
		return reason_set(reason,
				  "an exact sample stops the process for some microseconds, which "
				  "--read-only does not allow",
				  "run without --read-only");
	number = freeze_probe(connection->pid);
	if (number == 0)
		return true;
	access_refusal_find(reason, connection->pid, number);
	return false;
}

static bool ptrace_can(const struct connection *connection, enum request_kind kind,
		       const struct message *request, struct reason *reason)
{
	enum capability capability = backend_capability(BACKEND_READER, kind);

	/*
	 * Success without effect: a process without a connection as a debugger has no breakpoints.
	 */
	if (kind == REQUEST_SET_BREAKPOINTS && request && request_clears_breakpoints(request))
		return true;
	if (reason_refuse(reason, capability))
		return false;
	return capability != CAPABILITY_FROZEN || reader_backend_can_hold(connection, reason);
}

static int respond_none(struct ptrace_connection *connection, const struct message *request)
{
	json_t *body = json_object();

	json_object_set_new(body, "breakpoints", json_array());
	node_respond(connection->base.node, request, body, NULL);
	return 0;
}

uint64_t ptrace_main_interpreter(const struct ptrace_connection *connection)
{
	const struct cpython *python = &connection->python;
	uint64_t interpreter = pystack_interpreter(connection->pystack);

	if (interpreter == 0 && python->offsets.rt_interp_main >= 0)
		memory_fetch(connection->memory,
			     python->runtime + (uint64_t)python->offsets.rt_interp_main,
			     &interpreter, sizeof(interpreter));
	return interpreter;
}

/* Number of entries in an answer, unless the request says another. */
#define COLLECTIVES_DEFAULT 64

static int ptrace_collectives(struct ptrace_connection *connection, const struct message *request,
			      struct error *error)
{
	struct node *node = connection->base.node;
	struct collectives collectives = COLLECTIVES_INIT;
	int64_t count = json_get_integer(request->body, "count", COLLECTIVES_DEFAULT);
	json_t *body;
	uint64_t calls;
	int result;

	if (!connection->c10d)
		connection->c10d =
			c10d_new(connection->base.pid, &connection->python, node_elf_cache(node));
	calls = c10d_calls(connection->c10d);
	result = c10d_read(connection->c10d, ptrace_main_interpreter(connection), (size_t)count,
			   &collectives, error);
	if (result == 0) {
		body = collectives_to_json(&collectives, SIZE_MAX);
		json_object_set_new(body, "pid", json_integer(connection->base.pid));
		json_object_set_new(
			body, "syscalls",
			json_integer((json_int_t)(c10d_calls(connection->c10d) - calls)));
		node_respond(node, request, body, NULL);
	}
	collectives_clear(&collectives);
	return result;
}

static int ptrace_send(struct connection *base, enum request_kind kind,
		       const struct message *request, struct error *error)
{
	struct ptrace_connection *connection = to_ptrace(base);

	if (kind == REQUEST_SAMPLE || kind == REQUEST_SAMPLE_EXACT)
		return ptrace_sample(connection, kind == REQUEST_SAMPLE_EXACT, request, error);
	if (kind == REQUEST_VARIABLES)
		return ptrace_variables(connection, request, error);
	if (kind == REQUEST_COLLECTIVES)
		return ptrace_collectives(connection, request, error);
	if (kind == REQUEST_SET_BREAKPOINTS)
		return respond_none(connection, request);
	return error_set(error, "the backend ptrace has no request \"%s\"",
			 request_kind_name(kind));
}

const struct backend ptrace_backend = {
	.name = "ptrace",
	.help = "reads the process's memory",
	.open = ptrace_open,
	.can = ptrace_can,
	.send = ptrace_send,
	.environment = ptrace_environment,
	.close = ptrace_close,
};
