/* backend `pdb`: the requests that a debugger on a socket can serve, by its state. */
#include "backends/backend.h"

#include "backends/node.h"
#include "backends/pdb/pdb-bindings.h"
#include "backends/pdb/pdb-requests.h"
#include "backends/pdb/pdb-session.h"
#include "backends/pdb/pdb-stop.h"
#include "backends/pdb/pdbtranscript.h"
#include "banned.h"
#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "protocol/debugger.h"
#include "protocol/process.h"
#include "protocol/sample.h"

static struct pdb_session *to_session(struct connection *connection)
{
	return (struct pdb_session *)connection;
}

static const struct pdb_session *lend_session(const struct connection *connection)
{
	return (const struct pdb_session *)connection;
}

static struct connection *pdb_open(struct node *node, const struct process *process,
				   const struct target *target, struct error *error)
{
	struct pdb_session *session;

	if (!target) {
		error_set(error, "A pdb is connected to by its socket; name that.");
		return NULL;
	}
	session = pdb_session_new(node, process, target, error);
	if (!session)
		return NULL;
	session->base.backend = &pdb_backend;
	return &session->base;
}

static void pdb_close(struct connection *connection)
{
	pdb_session_free(to_session(connection));
}

struct words {
	const char *why;
	const char *fix;
};

/* Why there is no prompt, if debugger.why is NULL. */
static const struct words no_prompt[] = {
	[DEBUGGER_CONNECTING] = { "Its debugger has not answered yet.", "" },
	[DEBUGGER_RUNNING] = { "It runs, or evaluates: its debugger listens only where it has "
			       "stopped.",
			       "" },
	[DEBUGGER_NESTED] = { "Its debugger is at another prompt.", "Leave that in the console." },
	[DEBUGGER_FOREIGN] = { "What is at its socket is no pdb.", "Use the console." },
	[DEBUGGER_LOST] = { "Its debugger is not connected any more.",
			    "Connect again, where it waits again." },
};

static bool explain_state(struct reason *reason, const struct debugger *debugger)
{
	const struct words *words = &no_prompt[debugger->state];

	return reason_set(reason, debugger->why ? debugger->why : words->why, words->fix);
}

/*
 * Accepts only objects and threads that this debugger has reported: another connection may serve
 * the rest.
 */
static bool can_look(const struct pdb_session *session, const struct message *request,
		     struct reason *reason)
{
	uint64_t address = json_get_hex(request->body, "address");
	int64_t tid = json_get_integer(request->body, "tid", session->debugger.tid);

	if (address && !map_find(session->addresses, address))
		return reason_set(reason,
				  "The debugger has not told of this object since it stopped.",
				  "Look at the frame's variables again.");
	if (!address && tid != session->debugger.tid)
		return reason_set(reason, "The debugger has stopped another thread.", "");
	return true;
}

static bool pdb_can(const struct connection *connection, enum request_kind kind,
		    const struct message *request, struct reason *reason)
{
	const struct pdb_session *session = lend_session(connection);
	const struct debugger *debugger = &session->debugger;
	enum capability capability = backend_capability(BACKEND_PDB, kind);

	if (reason_refuse(reason, capability))
		return false;
	if (!debugger_is_ours(debugger))
		return explain_state(reason, debugger);
	if (capability == CAPABILITY_CONNECTED)
		return true;
	if (debugger->state != DEBUGGER_STOPPED)
		return explain_state(reason, debugger);
	if (capability == CAPABILITY_STEPPED && debugger->is_post_mortem)
		return reason_set(
			reason, "It is in a post-mortem: its frames can be looked at, not stepped.",
			"c lets the exception propagate.");
	if (kind == REQUEST_VARIABLES && request)
		return can_look(session, request, reason);
	return true;
}

static int keep_breakpoints(struct pdb_session *session, const struct message *request)
{
	json_t *list = json_object_get(request->body, "breakpoints");

	json_decref(session->breakpoints);
	session->breakpoints = json_incref(list);
	node_respond(session->base.node, request,
		     pdb_bindings_wanted(list, "It runs: this is set where it stops next."), NULL);
	return 0;
}

static int pdb_backend_open_terminal(struct pdb_session *session, const struct message *request)
{
	pdbtranscript_open(session->transcript, json_get_boolean(request->body, "on", true));
	node_respond(session->base.node, request, NULL, NULL);
	return 0;
}

static int pdb_backend_take_input(struct pdb_session *session, const struct message *request,
				  struct error *error)
{
	const char *data = json_get_string(request->body, "data", "");

	if (pdb_session_type(session, data, error) < 0)
		return -1;
	node_respond(session->base.node, request, NULL, NULL);
	return 0;
}

static int pdb_send(struct connection *connection, enum request_kind kind,
		    const struct message *request, struct error *error)
{
	struct pdb_session *session = to_session(connection);
	struct order *order;

	if (kind == REQUEST_TERMINAL)
		return pdb_backend_open_terminal(session, request);
	if (kind == REQUEST_TERMINAL_INPUT)
		return pdb_backend_take_input(session, request, error);
	if (kind == REQUEST_SET_BREAKPOINTS) {
		if (breakpoints_check(json_object_get(request->body, "breakpoints"), error) < 0)
			return -1;
		if (session->debugger.state != DEBUGGER_STOPPED)
			return keep_breakpoints(session, request);
	}
	order = order_new(session, kind, request, error);
	return order ? pdb_session_add(session, order, error) : -1;
}

static void pdb_amend(struct connection *connection, struct process_sample *sample)
{
	struct pdb_session *session = to_session(connection);

	if (session->debugger.state != DEBUGGER_STOPPED)
		return;
	session->epoch = sample->epoch;
	pdb_stop_amend(session->stop, node_stacks(session->base.node), sample);
}

static const struct debugger *pdb_debugger(const struct connection *connection)
{
	return &lend_session(connection)->debugger;
}

const struct backend pdb_backend = {
	.name = "pdb",
	.help = "a debugger on a socket, as its client",
	.open = pdb_open,
	.can = pdb_can,
	.send = pdb_send,
	.amend = pdb_amend,
	.debugger = pdb_debugger,
	.close = pdb_close,
};
