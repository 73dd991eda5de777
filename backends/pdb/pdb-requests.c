#include "backends/pdb/pdb-requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "backends/node.h"
#include "backends/pdb/pdb-bindings.h"
#include "backends/pdb/pdb-session.h"
#include "backends/pdb/pdb-stop.h"
#include "backends/pdb/pdb-terminal.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "protocol/debugger.h"
#include "protocol/process.h"
#include "protocol/sample.h"
#include "protocol/variable.h"

/* A terminal's line discipline cuts lines at 4096 bytes (termios(3)). */
#define LINE_MAXIMUM 4000
#define ADDRESSES_MAXIMUM 100000

struct row {
	/*
	 * Sets the order's question, its line, or both; called when the debugger is at its prompt.
	 */
	int (*begin)(struct pdb_session *session, struct order *order, struct error *error);
	/*
	 * Makes the body of the answer. Returns NULL and sets *error if it fails. Member NULL: the
	 * body is empty.
	 */
	json_t *(*body)(struct pdb_session *session, const struct order *order,
			const json_t *answer, struct error *error);
	const char *command; /* command of pdb for a step; NULL: the request is not a step */
	enum resumed_by resumes;
};

static int64_t pdb_requests_get_number(const struct order *order, const char *key)
{
	return json_get_integer(order->request.body, key, 0);
}

static json_t *pdb_requests_make_question(const char *what)
{
	json_t *question = json_object();

	json_set_text(question, "do", what);
	return question;
}

static int get_depth(const struct pdb_session *session, const struct order *order, int *depth,
		     struct error *error)
{
	int64_t asked =
		json_get_integer(order->request.body, "depth", pdb_stop_index(session->stop));

	if (asked < 0 || asked >= pdb_stop_frame_count(session->stop))
		return error_set(error, "the frame no longer exists: the stack has changed");
	*depth = (int)asked;
	return 0;
}

static int add_depth(const struct pdb_session *session, struct order *order, struct error *error)
{
	int depth;

	if (get_depth(session, order, &depth, error) < 0)
		return -1;
	json_object_set_new(order->question, "depth", json_integer(depth));
	return 0;
}

/* A step runs in the debugger's selected frame, so the requested frame is selected first. */
static int select_frame(const struct pdb_session *session, struct order *order, struct error *error)
{
	int depth;

	if (get_depth(session, order, &depth, error) < 0)
		return -1;
	if (depth == pdb_stop_index(session->stop))
		return 0;
	order->question = pdb_requests_make_question("select");
	json_object_set_new(order->question, "depth", json_integer(depth));
	return 0;
}

static int begin_variables(struct pdb_session *session, struct order *order, struct error *error)
{
	const json_t *body = order->request.body;
	uint64_t address = json_get_hex(body, "address");

	order->question = pdb_requests_make_question(address ? "children" : "variables");
	json_object_set_new(order->question, "start",
			    json_integer(pdb_requests_get_number(order, "start")));
	if (!address)
		return add_depth(session, order, error);
	json_set_hex(order->question, "address", address);
	json_set_text(order->question, "type", json_get_string(body, "type", NULL));
	return 0;
}

static int begin_source(struct pdb_session *session, struct order *order, struct error *error)
{
	(void)session;
	(void)error;
	order->question = pdb_requests_make_question("source");
	json_set_text(order->question, "file", json_get_string(order->request.body, "path", ""));
	return 0;
}

static bool is_for_prompt(const struct order *order)
{
	const char *context = json_get_string(order->request.body, "context", "watch");

	return strcmp(context, "repl") == 0;
}

static int begin_evaluate(struct pdb_session *session, struct order *order, struct error *error)
{
	const char *text = json_get_string(order->request.body, "expression", "");

	if (is_for_prompt(order)) {
		if (strpbrk(text, "\r\n") || strlen(text) > LINE_MAXIMUM)
			return error_set(
				error,
				"the text for the debugger is longer than one line of %d bytes",
				LINE_MAXIMUM);
		order->line = xasprintf("%s\n", text);
		return select_frame(session, order, error);
	}
	if (!text[0])
		return error_set(error, "the expression is empty");
	order->question = pdb_requests_make_question("evaluate");
	json_set_text(order->question, "expression", text);
	return add_depth(session, order, error);
}

static int begin_breakpoints(struct pdb_session *session, struct order *order, struct error *error)
{
	const json_t *breakpoints = json_object_get(order->request.body, "breakpoints");

	(void)session;
	(void)error;
	order->question = pdb_requests_make_question("breakpoints");
	json_object_set(order->question, "breakpoints", (json_t *)breakpoints);
	return 0;
}

static int begin_step(struct pdb_session *session, struct order *order, struct error *error);

static json_t *make_bindings(struct pdb_session *session, const struct order *order,
			     const json_t *answer, struct error *error)
{
	(void)order;
	(void)error;
	pdb_bindings_set(&session->debugger, answer);
	return pdb_bindings_to_json(&session->debugger);
}

/*
 * Notes an address that an answer contains: only such objects can be requested by their addresses.
 */
static void note_address(struct pdb_session *session, uint64_t address)
{
	if (address != 0 && map_count(session->addresses) < ADDRESSES_MAXIMUM)
		map_put(session->addresses, address, session);
}

/*
 * Removes "children" if it is negative: a variable without children has no count in JSON
 * (variable.h).
 */
static void drop_no_children(json_t *variable)
{
	if (json_get_integer(variable, "children", -1) < 0)
		json_object_del(variable, "children");
}

static json_t *pdb_requests_make_variables(struct pdb_session *session, const struct order *order,
					   const json_t *answer, struct error *error)
{
	struct variable_list list = { .total = -1 };
	json_t *items = json_object_get(answer, "variables");
	json_t *body;

	for (size_t i = 0; i < json_array_size(items); i++)
		drop_no_children(json_array_get(items, i));
	if (variable_list_from_json(&list, answer, error) < 0) {
		variable_list_clear(&list);
		return NULL;
	}
	for (size_t i = 0; i < list.count; i++)
		note_address(session, list.items[i].address);
	body = variable_list_to_json(&list);
	variable_list_clear(&list);
	json_object_set_new(body, "pid", json_integer(session->base.pid));
	json_object_set_new(body, "tid", json_integer(session->debugger.tid));
	json_object_set_new(body, "depth",
			    json_integer(json_get_integer(order->request.body, "depth", -1)));
	json_set_hex(body, "address", json_get_hex(order->request.body, "address"));
	json_object_set_new(body, "epoch", json_integer((json_int_t)session->epoch));
	json_object_set_new(body, "start", json_integer(pdb_requests_get_number(order, "start")));
	json_set_text(body, "exactness", exactness_name(EXACT));
	return body;
}

static json_t *pdb_requests_make_source(struct pdb_session *session, const struct order *order,
					const json_t *answer, struct error *error)
{
	json_t *body = json_object();

	(void)error;
	json_object_set_new(body, "pid", json_integer(session->base.pid));
	json_set_text(body, "path", json_get_string(order->request.body, "path", ""));
	json_set_text(body, "content", json_get_string(answer, "content", NULL));
	json_object_set_new(body, "changed", json_false());
	return body;
}

static json_t *pdb_requests_make_result(struct pdb_session *session, const struct order *order,
					const json_t *answer, struct error *error)
{
	uint64_t address = json_get_hex(answer, "address");
	json_t *body = json_object();

	(void)order;
	(void)error;
	json_set_text(body, "result", json_get_string(answer, "result", ""));
	json_set_text(body, "type", json_get_string(answer, "type", NULL));
	json_set_hex(body, "address", address);
	if (json_get_integer(answer, "children", -1) >= 0)
		json_object_set(body, "children", json_object_get(answer, "children"));
	else
		json_set_text(body, "children", NULL);
	json_set_text(body, "output", json_get_string(answer, "output", ""));
	note_address(session, address);
	return body;
}

/* clang-format off */
static const struct row rows[REQUEST_KIND_COUNT] = {
	[REQUEST_VARIABLES] = { .begin = begin_variables, .body = pdb_requests_make_variables },
	[REQUEST_SOURCE] = { .begin = begin_source, .body = pdb_requests_make_source },
	[REQUEST_EVALUATE] = { .begin = begin_evaluate, .body = pdb_requests_make_result,
			       .resumes = RESUMED_BY_TYPING },
	[REQUEST_CONTINUE] = { .begin = begin_step, .command = "c",
			       .resumes = RESUMED_BY_CONTINUE },
	[REQUEST_NEXT] = { .begin = begin_step, .command = "n",
			   .resumes = RESUMED_BY_STEP },
	[REQUEST_STEP_IN] = { .begin = begin_step, .command = "s",
			      .resumes = RESUMED_BY_STEP },
	[REQUEST_STEP_OUT] = { .begin = begin_step, .command = "r",
			       .resumes = RESUMED_BY_STEP },
	[REQUEST_UNTIL] = { .begin = begin_step, .command = "until",
			    .resumes = RESUMED_BY_STEP },
	[REQUEST_JUMP] = { .begin = begin_step, .command = "j",
			   .resumes = RESUMED_BY_STEP },
	[REQUEST_TERMINATE] = { .begin = begin_step, .command = "q",
				.resumes = RESUMED_BY_QUIT },
	[REQUEST_SET_BREAKPOINTS] = { .begin = begin_breakpoints,
				      .body = make_bindings },
	[REQUEST_TERMINAL_INPUT] = { .resumes = RESUMED_BY_TYPING },
};
/* clang-format on */

static int begin_step(struct pdb_session *session, struct order *order, struct error *error)
{
	int64_t line = pdb_requests_get_number(order, "line");

	order->line = line > 0 ? xasprintf("%s %d\n", rows[order->kind].command, (int)line)
			       : xasprintf("%s\n", rows[order->kind].command);
	if (session->debugger.is_post_mortem || order->kind == REQUEST_TERMINATE)
		return 0;
	return select_frame(session, order, error);
}

static struct order *order_make(enum request_kind kind)
{
	struct order *order = xcalloc(1, sizeof(*order));

	order->kind = kind;
	return order;
}

void order_free(struct order *order)
{
	if (!order)
		return;
	message_clear(&order->request);
	json_decref(order->question);
	free(order->line);
	free(order);
}

struct order *order_new(struct pdb_session *session, enum request_kind kind,
			const struct message *request, struct error *error)
{
	struct order *order = order_make(kind);

	message_make_request(&order->request, request->name, json_incref(request->body));
	order->request.seq = request->seq;
	if (rows[kind].begin(session, order, error) == 0)
		return order;
	order_free(order);
	return NULL;
}

struct order *order_new_line(const char *line)
{
	struct order *order = order_make(REQUEST_TERMINAL_INPUT);

	order->line = xstrdup(line);
	return order;
}

struct order *order_new_breakpoints(json_t *owned_breakpoints)
{
	struct order *order = order_make(REQUEST_SET_BREAKPOINTS);

	order->question = pdb_requests_make_question("breakpoints");
	json_object_set_new(order->question, "breakpoints", owned_breakpoints);
	return order;
}

enum resumed_by order_resumes(const struct order *order)
{
	return rows[order->kind].resumes;
}

/* True for "until LINE" if the line is not after the current line: pdb then does not resume. */
static bool is_refused_until(const struct pdb_session *session, const struct order *order)
{
	int64_t line = pdb_requests_get_number(order, "line");
	int depth;

	if (order->kind != REQUEST_UNTIL || line <= 0)
		return false;
	return session->debugger.is_post_mortem || get_depth(session, order, &depth, NULL) < 0 ||
	       line <= pdb_stop_line(session->stop, depth);
}

/*
 * True if the order is answered only after its effect. Other orders are answered as soon as their
 * line was sent; the next stop reports their effect.
 */
bool order_waits(const struct pdb_session *session, const struct order *order)
{
	return order->kind == REQUEST_EVALUATE || order->kind == REQUEST_JUMP ||
	       is_refused_until(session, order);
}

static const char *const commands[] = {
	"c", "cont",   "continue", "n",	    "next", "s",    "step",
	"r", "return", "unt",	   "until", "q",    "quit", "exit",
};

bool order_is_command(const struct order *order)
{
	const char *line = order->line + strspn(order->line, " ");
	size_t length = strcspn(line, " \n");

	for (size_t i = 0; i < ARRAY_LENGTH(commands); i++)
		if (strlen(commands[i]) == length && memcmp(commands[i], line, length) == 0)
			return true;
	return false;
}

static void pdb_requests_respond(struct pdb_session *session, const struct order *order,
				 json_t *owned_body, const char *error)
{
	if (order->request.name)
		node_respond(session->base.node, &order->request, owned_body, error);
	else
		json_decref(owned_body);
}

void order_answered(struct pdb_session *session, const struct order *order, const json_t *answer)
{
	const struct row *row = &rows[order->kind];
	struct error error = ERROR_INIT;
	json_t *body = NULL;

	if (row->body)
		body = row->body(session, order, answer, &error);
	pdb_requests_respond(session, order, body, error_is_set(&error) ? error.message : NULL);
}

void order_failed(struct pdb_session *session, const struct order *order, const char *why)
{
	pdb_requests_respond(session, order, NULL, why);
}

/* Returns a copy of text without line ends at both ends and without trailing spaces. */
static char *pdb_requests_trim(const char *text)
{
	size_t length;

	text += strspn(text, "\r\n");
	length = strlen(text);
	while (length > 0 && strchr("\r\n ", text[length - 1]))
		length--;
	return xstrndup(text, length);
}

void order_typed(struct pdb_session *session, const struct order *order, const char *text)
{
	char *said = pdb_requests_trim(text);
	json_t *body = NULL;

	if (order->kind == REQUEST_EVALUATE) {
		body = json_object();
		json_set_text(body, "result", said);
		pdb_requests_respond(session, order, body, NULL);
	} else {
		bool is_refused = strncmp(said, "*** ", 4) == 0;

		pdb_requests_respond(session, order, NULL, is_refused ? said + 4 : NULL);
	}
	free(said);
}

/* backend `pdb`: which requests a debugger on a socket can serve depends on its state. */

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
		error_set(error,
			  "pdb needs the name of a socket: pdb:unix:/PATH or pdb:tcp:HOST:PORT");
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

/* Reason and remedy for each state in which there is no prompt, used if debugger.why is NULL. */
static const struct words no_prompt[] = {
	[DEBUGGER_CONNECTING] = { "the debugger has not answered yet", "" },
	[DEBUGGER_RUNNING] = { "the program is running or evaluating: its debugger answers only "
			       "while the program is stopped",
			       "" },
	[DEBUGGER_NESTED] = { "the program is at a prompt other than pdb's",
			      "leave that prompt in the console" },
	[DEBUGGER_FOREIGN] = { "the program that listens on the socket is not pdb",
			       "use the console" },
	[DEBUGGER_LOST] = { "the debugger is no longer connected",
			    "connect again when the debugger listens again" },
};

static bool explain_state(struct reason *reason, const struct debugger *debugger)
{
	const struct words *words = &no_prompt[debugger->state];

	return reason_set(reason, debugger->why ? debugger->why : words->why, words->fix);
}

/*
 * True for objects and threads that this debugger has reported. Another connection may serve
 * requests for other objects and threads.
 */
static bool can_look(const struct pdb_session *session, const struct message *request,
		     struct reason *reason)
{
	uint64_t address = json_get_hex(request->body, "address");
	int64_t tid = json_get_integer(request->body, "tid", session->debugger.tid);

	if (address && !map_find(session->addresses, address))
		return reason_set(reason,
				  "the debugger has not reported the object since its last stop",
				  "read the frame's variables again");
	if (!address && tid != session->debugger.tid)
		return reason_set(reason,
				  "only the thread that the debugger has stopped can be inspected",
				  "");
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
		return reason_set(reason,
				  "the debugger is in a post-mortem, where frames can be "
				  "inspected, but not stepped",
				  "continue (c) lets the exception propagate");
	if (kind == REQUEST_VARIABLES && request)
		return can_look(session, request, reason);
	return true;
}

static int keep_breakpoints(struct pdb_session *session, const struct message *request)
{
	json_t *list = json_object_get(request->body, "breakpoints");

	json_decref(session->breakpoints);
	session->breakpoints = json_incref(list);
	node_respond(
		session->base.node, request,
		pdb_bindings_wanted(
			list, "the program is running: the breakpoint is set at the next stop"),
		NULL);
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
	.help = "connects to pdb on a socket",
	.open = pdb_open,
	.can = pdb_can,
	.send = pdb_send,
	.amend = pdb_amend,
	.debugger = pdb_debugger,
	.close = pdb_close,
};
