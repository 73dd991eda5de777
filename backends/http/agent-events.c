/*
 * agent-events: the events of the agent, by long polling: a GET /events is pending at
 * all times.
 */
#include "backends/http/agent.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/http/agent-bindings.h"
#include "backends/http/stopped-threads.h"
#include "backends/node.h"
#include "backends/timeout-extension.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"

#define POLL_SECONDS 25
#define POLL_GRACE 10.0
/* An answer without events that comes too early is followed by a pause, so that the agent is
 * not polled in a busy loop. */
#define EARLY_SECONDS 1.0
#define REST_SECONDS 0.25

/* DAP's output ends with a newline; the pipe's output event has none. */
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

/* `catch` was changed, by any client of the agent. */
static void take_catch(struct agent *agent, const json_t *body)
{
	timeout_extension_hear_catch(node_timeout_extension(agent->base.node), agent->base.pid,
				     json_is_object(json_object_get(body, "catch")));
}

static void agent_events_take_end(struct agent *agent, const json_t *body)
{
	(void)body;
	agent->has_ended = true;
	agent_lose(agent, "Its agent has ended.");
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
