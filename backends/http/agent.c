#include "backends/http/agent.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/connections.h"
#include "backends/http/agent-breakpoints.h"
#include "backends/http/stopped-threads.h"
#include "backends/linux/task.h"
#include "backends/node.h"
#include "backends/timeout-extension.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "protocol/process.h"

#define DELAY_FIRST 0.1
#define DELAY_MAXIMUM 5.0
#define SESSION_LENGTH 32
#define GONE "the process has exited"

bool agent_is_open(const struct agent *agent)
{
	return agent->state == AGENT_OPEN || agent->state == AGENT_SILENT;
}

/* Sets the state; no other function changes it. */
static void agent_enter(struct agent *agent, enum agent_state state)
{
	if (agent->retry)
		loop_timer_stop(agent->retry);
	agent->retry = NULL;
	agent->state = state;
}

void agent_tell(struct agent *agent)
{
	stopped_threads_describe(agent);
	if (!agent->is_debugger)
		return;
	agent->is_telling = true;
	node_emit_debugger(agent->base.node, agent->base.pid, &agent->debugger);
	agent->is_telling = false;
}

void agent_tell_again(struct agent *agent)
{
	stopped_threads_describe(agent);
	if (agent->is_debugger)
		node_tell_debugger(agent->base.node, agent->base.pid, &agent->debugger);
}

void agent_say_why(struct agent *agent, const char *why)
{
	xreplace(&agent->debugger.why, why);
	if (why)
		agent_tell_again(agent);
}

void agent_note_silence(struct agent *agent, bool is_silent)
{
	enum agent_state state = is_silent ? AGENT_SILENT : AGENT_OPEN;

	if (agent->state == state || !agent_is_open(agent))
		return;
	agent_enter(agent, state);
	xreplace(&agent->debugger.why,
		 is_silent ? "the agent does not answer: a thread of the program may hold the GIL, "
			     "or the process may be stopped"
			   : NULL);
	agent_tell_again(agent);
}

bool agent_become_debugger(struct agent *agent)
{
	const struct debugger *other;

	if (agent->is_debugger)
		return true;
	other = connections_debugger(node_connections(agent->base.node), agent->base.pid);
	if (other && debugger_is_ours(other))
		return false;
	agent->is_debugger = true;
	return true;
}

static void tell_state(struct agent *agent, enum debugger_state state, const char *why)
{
	agent->debugger.state = state;
	xreplace(&agent->debugger.why, why);
	agent_tell(agent);
}

pid_t agent_tid(const struct agent *agent, int64_t thread)
{
	if (thread == agent->inner_pid)
		return agent->base.pid;
	if (thread <= 0 || thread > INT32_MAX)
		return 0;
	if (agent->way.pid == 0 || agent->way.pid == agent->inner_pid)
		return (pid_t)thread;
	return task_find(agent->way.pid, (pid_t)thread);
}

/*
 * Opening
 */

static void open_session(struct agent *agent);

static void forget_session(struct agent *agent)
{
	free(agent->session);
	agent->session = NULL;
	agent->after = 0;
	agent->paused = 0;
	stopped_threads_clear(agent);
	timeout_extension_forget(node_timeout_extension(agent->base.node), agent->base.pid);
}

static void agent_on_retry(void *data)
{
	struct agent *agent = data;

	open_session(agent);
	node_flush(agent->base.node);
}

bool agent_is_gone(const struct agent *agent)
{
	return agent->way.pid > 0 && kill(agent->way.pid, 0) < 0 && errno == ESRCH;
}

void agent_end(struct agent *agent, const char *why)
{
	char *kept;

	if (agent->state == AGENT_OVER)
		return;
	kept = xstrdup(why);
	agent_enter(agent, AGENT_OVER);
	agent_requests_fail(agent, kept);
	forget_session(agent);
	debugger_clear_bindings(&agent->debugger);
	tell_state(agent, DEBUGGER_LOST, kept);
	free(kept);
}

void agent_lose(struct agent *agent, const char *why)
{
	bool was_open = agent_is_open(agent);
	struct error error = ERROR_INIT;
	char *kept;

	if (agent->state == AGENT_OVER || agent->state == AGENT_WAITING || agent->ejecting)
		return;
	if (agent_is_gone(agent)) {
		agent_end(agent, GONE);
		return;
	}
	if (agent_endpoint_find(&agent->way, &error) < 0) {
		agent_end(agent, "the agent no longer listens");
		return;
	}
	kept = xstrdup(why);
	agent_enter(agent, AGENT_WAITING);
	agent_requests_fail(agent, kept);
	forget_session(agent);
	agent->delay = was_open || agent->delay <= 0 ? DELAY_FIRST : agent->delay * 2;
	if (agent->delay > DELAY_MAXIMUM)
		agent->delay = DELAY_MAXIMUM;
	agent->retry =
		loop_timer(node_loop(agent->base.node), agent->delay, 0, agent_on_retry, agent);
	tell_state(agent, DEBUGGER_CONNECTING, kept);
	free(kept);
}

static void on_attached(struct agent_request *query, json_t *body, const struct error *error)
{
	(void)query;
	(void)body;
	(void)error;
}

/* Requests the state of the agent, and sets the breakpoints of the last session again. */
static void begin_session(struct agent *agent)
{
	agent_enter(agent, AGENT_OPEN);
	agent->delay = 0;
	agent->has_ended = false;
	tell_state(agent, DEBUGGER_RUNNING, NULL);
	agent_requests_begin(agent);
	agent_listen(agent);
	/*
	 * The agent stops the process only for clients that have sent `attach`, not for those that
	 * only read events.
	 */
	if (agent->is_debugger)
		agent_request_send(agent_request_new(agent, NULL, on_attached), "attach",
				   json_object(), AGENT_SECONDS);
	stopped_threads_ask_state(agent);
	agent_breakpoints_restore(agent);
	timeout_extension_look(node_timeout_extension(agent->base.node));
}

static bool is_session(const char *text)
{
	return text && strlen(text) == SESSION_LENGTH &&
	       strspn(text, "0123456789abcdef") == SESSION_LENGTH;
}

static void on_initialized(struct agent_request *query, json_t *body, const struct error *error)
{
	struct agent *agent = query->agent;
	const char *session = json_get_string(json_object_get(body, "probetui"), "session", NULL);

	if (error)
		return;
	if (!is_session(session)) {
		agent_end(agent, "the agent's answer is invalid");
		return;
	}
	xreplace(&agent->session, session);
	agent->after = json_get_integer(json_object_get(body, "probetui"), "next", 0);
	agent->takes_once = json_get_boolean(json_object_get(body, "probetui"), "once", false);
	begin_session(agent);
}

static bool can_debug(const json_t *identity)
{
	const json_t *can = json_object_get(identity, "can");

	for (size_t i = 0; i < json_array_size(can); i++) {
		const char *text = json_string_value(json_array_get(can, i));

		if (text && strcmp(text, "POST /dap") == 0)
			return true;
	}
	return false;
}

static void initialize(struct agent *agent)
{
	struct agent_request *query = agent_request_new(agent, NULL, on_initialized);
	json_t *arguments = json_object();

	json_set_text(arguments, "clientID", "probetui");
	json_set_text(arguments, "adapterID", "probetui");
	query->kind = AGENT_REQUEST_SESSION;
	agent_request_send(query, "initialize", arguments, AGENT_SECONDS);
}

static void on_identity(struct agent_request *query, json_t *body, const struct error *error)
{
	struct agent *agent = query->agent;

	if (error)
		return;
	if (strcmp(json_get_string(body, "name", ""), "probetui") != 0) {
		agent_end(agent, "the server is not an agent of probetui");
		return;
	}
	if (!can_debug(body)) {
		agent_end(agent, "the agent is of a version that does not match this probetui: "
				 "restart the program with the agent of this probetui");
		return;
	}
	agent->inner_pid = json_get_integer(body, "pid", 0);
	agent->is_read_only = json_get_boolean(body, "read_only", false);
	snprintf(agent->base.version, sizeof(agent->base.version), "%s",
		 json_get_string(body, "python", ""));
	initialize(agent);
}

static void open_session(struct agent *agent)
{
	struct agent_request *query = agent_request_new(agent, NULL, on_identity);

	agent_enter(agent, AGENT_OPENING);
	query->kind = AGENT_REQUEST_IDENTITY;
	agent_request_send_plain(query, "/", NULL, AGENT_SECONDS);
}

/*
 * Beginning and end
 */

struct agent *agent_new(struct node *node, const struct process *process,
			const struct target *target, struct error *error)
{
	struct agent *agent = xcalloc(1, sizeof(*agent));

	if (agent_endpoint_init(&agent->way, process, target, error) < 0) {
		agent_endpoint_clear(&agent->way);
		free(agent);
		return NULL;
	}
	agent->base.node = node;
	agent->base.pid = process->pid;
	agent->counts = json_object();
	debugger_init(&agent->debugger);
	agent->debugger.state = DEBUGGER_CONNECTING;
	agent->debugger.backend = xstrdup("http");
	agent->debugger.target = xstrdup(agent->way.target);
	agent->debugger.dialect = xstrdup("agent");
	open_session(agent);
	if (agent->state == AGENT_OVER) {
		error_set(error, "%s", agent->debugger.why);
		agent_free(agent);
		return NULL;
	}
	/*
	 * Without a target of the user, this connection is not reported in events until it must
	 * debug.
	 */
	agent->is_debugger = target != NULL;
	return agent;
}

void agent_free(struct agent *agent)
{
	if (!agent)
		return;
	agent_enter(agent, AGENT_OVER);
	if (agent->pausing)
		loop_timer_stop(agent->pausing);
	if (agent->resting)
		loop_timer_stop(agent->resting);
	agent_requests_fail(agent, "the connection to the agent was closed");
	if (agent->session)
		agent_request_leave(agent);
	forget_session(agent);
	json_decref(agent->breakpoints);
	json_decref(agent->filters);
	json_decref(agent->counts);
	debugger_clear(&agent->debugger);
	agent_endpoint_clear(&agent->way);
	free(agent);
}

/* Events of the agent, by long polling: a GET /events is pending at all times. */

#define POLL_SECONDS 25
#define POLL_GRACE 10.0
/* If an answer without events comes within EARLY_SECONDS, the next poll is sent after REST_SECONDS,
 * so that the agent is not polled in a busy loop. */
#define EARLY_SECONDS 1.0
#define REST_SECONDS 0.25

/* Sets the event's "output" without the newlines with which DAP's output ends. */
static void set_line(json_t *event, const char *text)
{
	size_t length = strlen(text);
	char *line;

	while (length > 0 && text[length - 1] == '\n')
		length--;
	line = xstrndup(text, length);
	json_set_text(event, "output", line);
	free(line);
}

static void stop_resting(struct agent *agent)
{
	if (agent->resting)
		loop_timer_stop(agent->resting);
	agent->resting = NULL;
}

static void take_output(struct agent *agent, const json_t *body)
{
	const char *category = json_get_string(body, "category", "");
	const json_t *breakpoint = json_object_get(body, "breakpoint");
	json_t *event;

	if (strcmp(category, "console") != 0 && strcmp(category, "important") != 0)
		return;
	event = json_object();
	json_object_set_new(event, "pid", json_integer(agent->base.pid));
	json_set_text(event, "category", category);
	set_line(event, json_get_string(body, "output", ""));
	if (json_is_integer(breakpoint))
		json_object_set_new(event, "breakpoint",
				    json_integer(json_integer_value(breakpoint)));
	node_emit(agent->base.node, EVENT_OUTPUT, event);
}

static void agent_events_take_lost(struct agent *agent, const json_t *body)
{
	(void)body;
	stopped_threads_ask_state(agent);
}

/* Handles an event that `catch` (stopping at exceptions) was changed by any client of the agent. */
static void take_catch(struct agent *agent, const json_t *body)
{
	timeout_extension_hear_catch(node_timeout_extension(agent->base.node), agent->base.pid,
				     json_is_object(json_object_get(body, "catch")));
}

static void agent_events_take_end(struct agent *agent, const json_t *body)
{
	(void)body;
	agent->has_ended = true;
	agent_lose(agent, "the agent has ended");
}

static const struct row {
	const char *event;
	void (*take)(struct agent *agent, const json_t *body);
} rows[] = {
	{ "stopped", stopped_threads_take },
	{ "continued", stopped_threads_take_continued },
	{ "breakpoint", agent_bindings_take },
	{ "output", take_output },
	{ "probetui/lost", agent_events_take_lost },
	{ "probetui/catch", take_catch },
	{ "terminated", agent_events_take_end },
};

static void agent_events_take(struct agent *agent, const json_t *event)
{
	const char *name = json_get_string(event, "event", "");

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		if (strcmp(rows[i].event, name) == 0) {
			rows[i].take(agent, json_object_get(event, "body"));
			return;
		}
}

static void agent_events_on_rested(void *data)
{
	struct agent *agent = data;

	if (agent_is_open(agent))
		agent_listen(agent);
	else
		stop_resting(agent);
	node_flush(agent->base.node);
}

static void rest(struct agent *agent)
{
	stop_resting(agent);
	agent->resting = loop_timer(node_loop(agent->base.node), REST_SECONDS, 0,
				    agent_events_on_rested, agent);
}

static void on_events(struct agent_request *query, json_t *body, const struct error *error)
{
	struct agent *agent = query->agent;
	const json_t *events = json_object_get(body, "events");

	if (error)
		return;
	agent->after = json_get_integer(body, "next", 0);
	for (size_t i = 0; i < json_array_size(events); i++) {
		if (!agent_is_open(agent))
			return;
		agent_events_take(agent, json_array_get(events, i));
	}
	if (!agent_is_open(agent))
		return;
	if (json_array_size(events) == 0 && loop_now() - agent->listened < EARLY_SECONDS)
		rest(agent);
	else
		agent_listen(agent);
}

void agent_listen(struct agent *agent)
{
	struct agent_request *query = agent_request_new(agent, NULL, on_events);
	char *path = xasprintf("/events?session=%s&after=%lld&timeout=%d", agent->session,
			       (long long)agent->after, POLL_SECONDS);

	stop_resting(agent);
	agent->listened = loop_now();
	query->kind = AGENT_REQUEST_EVENTS;
	agent_request_send_plain(query, path, NULL, POLL_SECONDS + POLL_GRACE);
	free(path);
}

bool agent_is_listening(const struct agent *agent)
{
	for (const struct agent_request *one = agent->requests; one; one = one->next)
		if (one->kind == AGENT_REQUEST_EVENTS)
			return true;
	return agent->resting != NULL;
}
