/*
 * session-requests: requests for frame data that the screen lacks. The session takes the answers.
 * Each request is remembered for a while, so that a pane may ask each time it is drawn.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/json.h"
#include "engine/engine.h"
#include "model/output.h"

/* Seconds after which a request without an answer may be sent again. */
#define AGAIN_SECONDS 2.0

static bool was_asked(const struct engine *engine, const char *key)
{
	for (size_t i = 0; i < WANTED_MAXIMUM; i++) {
		const struct wanted *wanted = &engine->wanted.ring[i];

		if (wanted->key && strcmp(wanted->key, key) == 0 &&
		    engine_now(engine) - wanted->at < AGAIN_SECONDS)
			return true;
	}
	return false;
}

/* Sends the request unless an equal one was sent in the last AGAIN_SECONDS. */
static void session_requests_want(struct engine *engine, size_t node, const char *command,
				  json_t *owned_arguments, char *owned_key)
{
	struct wanted *wanted = &engine->wanted.ring[engine->wanted.count % WANTED_MAXIMUM];

	if (engine_is_deaf(engine) || was_asked(engine, owned_key)) {
		json_decref(owned_arguments);
		free(owned_key);
		return;
	}
	free(wanted->key);
	*wanted = (struct wanted){ owned_key, engine_now(engine) };
	engine->wanted.count++;
	request_post(engine, node, command, owned_arguments);
}

void engine_want_source(struct engine *engine, size_t node, pid_t pid, const char *path)
{
	json_t *arguments;

	if (session_find_source(&engine->session, node, pid, path))
		return;
	pid = session_source_pid(&engine->session, node, pid);
	arguments = json_pack("{s:i}", "pid", (int)pid);
	json_set_text(arguments, "path", path);
	session_requests_want(engine, node, "source", arguments,
			      xasprintf("source %zu %d %s", node, (int)pid, path));
}

static uint64_t epoch_of(const struct engine *engine, size_t node, pid_t pid)
{
	const struct rank *rank = session_find_pid(&engine->session, node, pid);

	return rank ? rank->epoch : 0;
}

static uint64_t touched_of(const struct engine *engine, size_t node, pid_t pid)
{
	return session_find_touched(&engine->session, node, pid);
}

/*
 * True if the variables need not be requested again. Values that the connected debugger sent at a
 * stop remain valid until the next stop, or until the user runs code in the rank: a new request
 * would only run the program's own code again.
 */
static bool session_requests_is_known(const struct engine *engine, const struct variables *known,
				      uint64_t epoch)
{
	if (!known)
		return false;
	if (known->stops > 0)
		return known->touched == touched_of(engine, known->node, known->pid) &&
		       known->stops == session_find_stop(&engine->session, known->node, known->pid,
							 known->depth < 0 ? 0 : known->tid);
	return known->epoch == epoch;
}

void engine_want_frame(struct engine *engine, size_t node, pid_t pid, pid_t tid, int depth)
{
	uint64_t epoch = epoch_of(engine, node, pid);
	const struct variables *known =
		session_find_variables(&engine->session, node, pid, tid, depth, 0, 0);

	if (session_requests_is_known(engine, known, epoch))
		return;
	session_requests_want(engine, node, "variables",
			      json_pack("{s:i, s:i, s:i, s:i}", "pid", (int)pid, "tid", (int)tid,
					"depth", depth, "start", 0),
			      xasprintf("frame %zu %d %d %d %" PRIu64 " %" PRIu64, node, (int)pid,
					(int)tid, depth, epoch, touched_of(engine, node, pid)));
}

/*
 * Returns the type that the object had when it was shown, for the node to compare; NULL if unknown.
 */
static const char *session_requests_type_of(const struct session *session, size_t node, pid_t pid,
					    uint64_t address)
{
	for (size_t i = session->variables_count; i-- > 0;) {
		const struct variables *known = session->variables[i];

		if (known->node != node || known->pid != pid)
			continue;
		for (size_t j = 0; j < known->list.count; j++) {
			if (known->list.items[j].address == address)
				return known->list.items[j].type;
		}
	}
	return NULL;
}

void engine_want_children(struct engine *engine, size_t node, pid_t pid, uint64_t address,
			  int64_t start)
{
	uint64_t epoch = epoch_of(engine, node, pid);
	const struct variables *known =
		session_find_variables(&engine->session, node, pid, 0, -1, address, start);
	json_t *arguments;

	if (session_requests_is_known(engine, known, epoch))
		return;
	arguments = json_pack("{s:i, s:I}", "pid", (int)pid, "start", (json_int_t)start);
	json_set_hex(arguments, "address", address);
	json_set_text(arguments, "type",
		      session_requests_type_of(&engine->session, node, pid, address));
	session_requests_want(
		engine, node, "variables", arguments,
		xasprintf("children %zu %d %" PRIx64 " %" PRId64 " %" PRIu64 " %" PRIu64, node,
			  (int)pid, address, start, epoch, touched_of(engine, node, pid)));
}

static void session_requests_send_output(struct engine *engine, size_t node, pid_t pid, bool is_on)
{
	request_post(engine, node, "output", json_pack("{s:i, s:b}", "pid", (int)pid, "on", is_on));
}

void engine_want_output(struct engine *engine, size_t node, pid_t pid)
{
	const struct output *known = session_find_output(&engine->session, node, pid);

	if (!known || !known->is_known)
		session_requests_want(engine, node, "output", json_pack("{s:i}", "pid", (int)pid),
				      xasprintf("output %zu %d", node, (int)pid));
}

static void send_terminal(struct engine *engine, size_t node, pid_t pid, bool is_on)
{
	request_post(engine, node, "terminal",
		     json_pack("{s:i, s:b}", "pid", (int)pid, "on", is_on));
}

void engine_follow_console(struct engine *engine, size_t node, pid_t pid)
{
	const struct rank *before =
		session_find_pid(&engine->session, engine->console.node, engine->console.pid);

	if (engine->console.pid == pid && engine->console.node == node)
		return;
	/* Do not stop following a lost connection. */
	if (before && debugger_is_ours(&before->debugger))
		send_terminal(engine, engine->console.node, engine->console.pid, false);
	engine->console.node = node;
	engine->console.pid = pid;
	if (pid > 0)
		send_terminal(engine, node, pid, true);
}

void engine_type(struct engine *engine, size_t node, pid_t pid, const char *text)
{
	const struct rank *rank = session_find_pid(&engine->session, node, pid);
	json_t *arguments = json_pack("{s:i}", "pid", (int)pid);

	json_set_text(arguments, "data", text);
	if (rank)
		session_touch(&engine->session, rank->process.rank);
	request_post(engine, node, "terminalInput", arguments);
}

void engine_follow_output(struct engine *engine, size_t node, pid_t pid)
{
	if (engine->output.pid == pid && engine->output.node == node)
		return;
	/* Do not stop following a process that has ended. */
	if (engine->output.pid > 0 &&
	    session_find_pid(&engine->session, engine->output.node, engine->output.pid))
		session_requests_send_output(engine, engine->output.node, engine->output.pid,
					     false);
	engine->output.node = node;
	engine->output.pid = pid;
	if (pid > 0)
		session_requests_send_output(engine, node, pid, true);
}
