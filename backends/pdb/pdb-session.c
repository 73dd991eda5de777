#include "backends/pdb/pdb-session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/node.h"
#include "backends/pdb/inspector.h"
#include "backends/pdb/output-stream.h"
#include "backends/pdb/pdb-bindings.h"
#include "backends/pdb/pdb-listener.h"
#include "backends/pdb/pdb-requests.h"
#include "backends/pdb/pdb-session-private.h"
#include "backends/pdb/pdb-socket.h"
#include "backends/pdb/pdb-stop.h"
#include "backends/pdb/pdb-terminal.h"
#include "backends/pdb/socket-file.h"
#include "backends/process-table.h"
#include "backends/target.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "base/map.h"
#include "protocol/process.h"

#define CONNECT_SECONDS 3.0	   /* time until the first byte */
#define OUTPUT_MAXIMUM (16u << 10) /* bytes in a quarter of a second */
#define RAW_MAXIMUM (INSPECTOR_ANSWER_MAXIMUM + (64u << 10))

/* True for probetui's agent, which accepts further clients. */
static bool is_agent(const struct debugger *debugger)
{
	return debugger->dialect && strcmp(debugger->dialect, "probetui") == 0;
}

/* Returns the program that serves the debugger; NULL: unknown. */
static const struct pdb_programs *find_server(const struct pdb_session *session)
{
	const struct stack_files *files =
		process_table_files(node_process_table(session->base.node), session->base.pid);

	return pdb_programs_find(files, session->debugger.target);
}

/*
 * Returns a sentence on the effect of disconnecting, for a program that then continues; NULL: none.
 */
static const char *find_after(const struct pdb_session *session)
{
	const struct pdb_programs *server = find_server(session);

	return server ? server->after : NULL;
}

/*
 * True if the server accepts further clients. The agent's folder or the program tells this before
 * the server's first answer.
 */
static bool serves_many(const struct pdb_session *session)
{
	const struct pdb_programs *server = find_server(session);
	struct socket_name name;

	socket_file_read_name(&name, session->debugger.target);
	return name.has_folder || (server && !server->takes_one);
}

/* Returns a sentence on the effect of disconnecting now; NULL: none. */
static const char *find_leaving(const struct pdb_session *session)
{
	const struct debugger *debugger = &session->debugger;

	if (is_agent(debugger) || !session->wire)
		return NULL;
	if (session->is_guarded && !debugger->is_post_mortem)
		return find_after(session);
	switch (debugger->state) {
	case DEBUGGER_STOPPED:
		return debugger->is_post_mortem
			       ? "disconnecting ends the post-mortem: the exception propagates"
			       : find_after(session);
	case DEBUGGER_RUNNING:
		if (session->resumed_by == RESUMED_BY_STEP)
			return "a step is in progress: without a client, the debugger raises an "
			       "exception in the program when the step ends";
		return pdb_bindings_count(debugger) > 0
			       ? "the program is running, so its breakpoints cannot be removed: "
				 "without a client, the next breakpoint that is hit raises an "
				 "exception in the program"
			       : find_after(session);
	case DEBUGGER_CONNECTING:
	case DEBUGGER_FOREIGN:
		return "the effect of disconnecting is unknown: most debuggers quit, which raises "
		       "an exception in the program";
	case DEBUGGER_NESTED:
		return "disconnecting ends the program's prompt: the debugger then quits, which "
		       "raises an exception in the program";
	case DEBUGGER_NONE:
	case DEBUGGER_WAITING:
	case DEBUGGER_STALE:
	case DEBUGGER_REFUSED:
	case DEBUGGER_LOST:
		break;
	}
	return NULL;
}

void pdb_session_weigh_leaving(struct pdb_session *session)
{
	const char *leaving = find_leaving(session);

	free(session->debugger.leaving);
	session->debugger.leaving = xstrdup_or_null(leaving);
}

void pdb_session_set_why(struct pdb_session *session, const char *why)
{
	free(session->debugger.why);
	session->debugger.why = xstrdup_or_null(why);
}

static void pdb_session_refresh(struct pdb_session *session)
{
	struct debugger *debugger = &session->debugger;

	output_stream_flush(session->output);
	pdbtranscript_flush(session->transcript);
	pdb_session_weigh_leaving(session);
	debugger->held =
		debugger->state == DEBUGGER_STOPPED ? loop_now() - session->stopped_at : -1;
}

void pdb_session_tell(struct pdb_session *session)
{
	pdb_session_refresh(session);
	node_emit_debugger(session->base.node, session->base.pid, &session->debugger);
}

void pdb_session_tell_again(struct pdb_session *session)
{
	pdb_session_refresh(session);
	node_tell_debugger(session->base.node, session->base.pid, &session->debugger);
}

void pdb_session_tell_state(struct pdb_session *session, enum debugger_state state, const char *why)
{
	session->debugger.state = state;
	pdb_session_set_why(session, why);
	pdb_session_tell(session);
}

void pdb_session_fail_waiting(struct pdb_session *session, const char *why)
{
	struct order **link = &session->orders;

	while (*link) {
		struct order *order = *link;

		if (order->kind == REQUEST_TERMINAL_INPUT) {
			link = &order->next;
			continue;
		}
		*link = order->next;
		session->order_count--;
		order_failed(session, order, why);
		order_free(order);
	}
}

void pdb_session_fail_orders(struct pdb_session *session, const char *why)
{
	struct order *asking = session->asking;
	struct order *typing = session->typing;

	if (session->question == QUESTION_ORDER)
		session->question =
			session->state == PDB_SESSION_ASKED ? QUESTION_DROPPED : QUESTION_NONE;
	session->asking = NULL;
	session->typing = NULL;
	if (asking)
		order_failed(session, asking, why);
	if (typing)
		order_failed(session, typing, why);
	order_free(asking);
	order_free(typing);
	pdb_session_fail_waiting(session, why);
}

void pdb_session_lose(struct pdb_session *session, const char *why)
{
	if (session->state == PDB_SESSION_LOST)
		return;
	session_show_raw(session, session->raw.length);
	session_release(session);
	pdb_socket_free(session->wire);
	session->wire = NULL;
	session_enter(session, PDB_SESSION_LOST, 0);
	pdb_session_fail_orders(session, why);
	session->debugger.binding_count = 0;
	pdb_session_tell_state(session, DEBUGGER_LOST, why);
}

int pdb_session_send(struct pdb_session *session, const char *text)
{
	struct error error = ERROR_INIT;

	if (pdb_socket_send(session->wire, text, strlen(text), &error) == 0)
		return 0;
	pdb_session_lose(session, error.message);
	return -1;
}

static void give_token(struct pdb_session *session)
{
	struct error error = ERROR_INIT;
	char *line = socket_token_line(&error);

	socket_token_expect_refusal(&session->token_talk);
	if (line)
		pdb_session_send(session, line);
	else
		pdb_session_lose(session, error.message);
	free(line);
}

/* Returns the number of leading bytes that belong to the token exchange. */
static size_t hear_token(struct pdb_session *session, const char *bytes, size_t length)
{
	const struct socket_token_talk before = session->token_talk;
	size_t used;

	switch (socket_token_hear(&session->token_talk, bytes, length, &used)) {
	case SOCKET_TOKEN_WAIT:
		return length;
	case SOCKET_TOKEN_NOTHING:
		if (before.matched > 0)
			session_take_bytes(session, before.expected, before.matched);
		return 0;
	case SOCKET_TOKEN_ASKED:
		give_token(session);
		return used;
	case SOCKET_TOKEN_REFUSED:
		pdb_session_lose(session, "the token was refused: set IPDB_TOKEN to the token of "
					  "the program, or IPDB_TOKEN_FILE to a file with it");
		return used;
	}
	return 0;
}

static void pdb_session_on_bytes(const char *bytes, size_t length, void *data)
{
	struct pdb_session *session = data;
	size_t skipped = hear_token(session, bytes, length);

	if (session->state == PDB_SESSION_LOST || skipped == length) {
		node_flush(session->base.node);
		return;
	}
	bytes += skipped;
	length -= skipped;
	skipped = session_skip_echo(session, bytes, length);

	session_take_bytes(session, bytes + skipped, length - skipped);
	node_flush(session->base.node);
}

static void pdb_session_on_connected(void *data)
{
	struct pdb_session *session = data;

	session_enter(session, PDB_SESSION_RUNNING, CONNECT_SECONDS);
}

static void pdb_session_on_ended(const char *why, void *data)
{
	struct pdb_session *session = data;

	pdb_session_lose(session, why);
	node_flush(session->base.node);
}

struct pdb_session *pdb_session_new(struct node *node, const struct process *process,
				    const struct target *target, struct error *error)
{
	struct pdb_session *session = xcalloc(1, sizeof(*session));
	struct pdb_socket_calls calls = {
		.connected = pdb_session_on_connected,
		.bytes = pdb_session_on_bytes,
		.ended = pdb_session_on_ended,
		.data = session,
	};

	session->wire = pdb_socket_new(node_loop(node), target, process, &calls, error);
	if (!session->wire) {
		free(session);
		return NULL;
	}
	session->base.node = node;
	session->base.pid = process->pid;
	debugger_init(&session->debugger);
	session->debugger.state = DEBUGGER_CONNECTING;
	session->debugger.backend = xstrdup("pdb");
	session->debugger.target = xstrdup(target->text);
	session->inspector = inspector_new();
	session->transcript = pdbtranscript_new(node, process->pid);
	session->output = output_stream_new(node, process->pid, "stdout", OUTPUT_MAXIMUM);
	if (!target->path)
		socket_token_expect_question(&session->token_talk);
	pdbprompt_init(&session->prompt);
	buffer_init(&session->raw, RAW_MAXIMUM);
	buffer_init(&session->echo, 0);
	buffer_init(&session->held, 0);
	session->addresses = map_new(NULL);
	session_enter(session, PDB_SESSION_CONNECTING, CONNECT_SECONDS);
	pdb_session_weigh_leaving(session);
	return session;
}

/*
 * Returns the line that removes probetui's breakpoints and resumes the program, to free(); "": no
 * line is to be sent.
 */
static char *last_words(struct pdb_session *session)
{
	const struct debugger *debugger = &session->debugger;
	json_t *question;
	const char *line;
	/*
	 * If a step is running, it may be about to end: the debugger then reads the line at its
	 * stop.
	 */
	bool is_stepping =
		debugger->state == DEBUGGER_RUNNING && session->resumed_by == RESUMED_BY_STEP;

	if (debugger->state == DEBUGGER_CONNECTING)
		return xstrdup(serves_many(session) ? "" : "c\n");
	if (debugger->state != DEBUGGER_STOPPED && !is_stepping)
		return xstrdup("");
	if (debugger->is_post_mortem)
		return xstrdup(is_agent(debugger) ? "" : "c\n");
	question = json_object();
	json_set_text(question, "do", "clear");
	if (!is_agent(debugger))
		json_set_text(question, "then", "c");
	inspector_ask(session->inspector, question);
	line = inspector_line(session->inspector);
	return xstrdup(line ? line : is_agent(debugger) ? "" : "c\n");
}

void pdb_session_free(struct pdb_session *session)
{
	bool is_asked;

	if (!session)
		return;
	/*
	 * An answer may be pending: of a question, or of a step that was just sent, which its stop
	 * answers.
	 */
	is_asked = session->state == PDB_SESSION_ASKED || session->state == PDB_SESSION_ANSWERED ||
		   session->debugger.state == DEBUGGER_CONNECTING ||
		   session->debugger.state == DEBUGGER_RUNNING;
	pdb_session_fail_orders(session, "the connection to the debugger was closed");
	session_enter(session, PDB_SESSION_LOST, 0);
	if (session->wire) {
		char *words = last_words(session);

		pdb_socket_leave(session->wire, node_linger_list(session->base.node), words,
				 is_asked ? LINGER_BEHIND_AN_ANSWER : LINGER_NOW);
		free(words);
	}
	while (session->orders) {
		struct order *order = session->orders;

		session->orders = order->next;
		order_free(order);
	}
	inspector_free(session->inspector);
	pdbtranscript_free(session->transcript);
	output_stream_free(session->output);
	pdbprompt_clear(&session->prompt);
	pdb_stop_free(session->stop);
	map_free(session->addresses);
	json_decref(session->breakpoints);
	debugger_clear(&session->debugger);
	buffer_clear(&session->raw);
	buffer_clear(&session->echo);
	buffer_clear(&session->held);
	free(session);
}
