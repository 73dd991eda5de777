/*
 * agent-requests: requests to the agent (agent.h), from sending to the answer.
 */
#include "backends/http/agent.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/http/agent-messages.h"
#include "backends/http/http-client.h"
#include "backends/linger.h"
#include "backends/node.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"

/* A request that a busy agent refuses (503) is sent again every AGAIN_SECONDS, for BUSY_SECONDS. */
#define BUSY_SECONDS 3.0
#define AGAIN_SECONDS 0.05
/*
 * Seconds to wait for the answer to `disconnect`. Without one, the agent ends the unused session
 * itself.
 */
#define LEAVE_SECONDS LINGER_SECONDS

struct agent_request *agent_request_new(struct agent *agent, const struct message *request,
					void (*done)(struct agent_request *query, json_t *body,
						     const struct error *error))
{
	struct agent_request *query = xcalloc(1, sizeof(*query));

	query->agent = agent;
	query->done = done;
	query->next = agent->requests;
	agent->requests = query;
	if (!request)
		return query;
	message_make_request(&query->request, request->name, json_incref(request->body));
	query->request.seq = request->seq;
	return query;
}

struct agent_request *agent_request_follow(struct agent_request *query,
					   void (*done)(struct agent_request *query, json_t *body,
							const struct error *error))
{
	struct agent_request *next = agent_request_new(query->agent, NULL, done);

	next->request = query->request;
	query->request = (struct message){ .name = NULL };
	next->value = query->value;
	next->context = json_incref(query->context);
	next->round = query->round;
	return next;
}

static void agent_request_free(struct agent_request *query)
{
	if (query->transfer)
		http_client_cancel(node_http_client(query->agent->base.node), query->transfer);
	message_clear(&query->request);
	json_decref(query->context);
	if (query->again)
		loop_timer_stop(query->again);
	json_decref(query->arguments);
	json_decref(query->sent_arguments);
	free(query->command);
	free(query->sent_command);
	free(query);
}

void agent_request_respond(struct agent_request *query, json_t *owned_body,
			   const struct error *error)
{
	if (!query->request.name) {
		json_decref(owned_body);
		return;
	}
	node_respond(query->agent->base.node, &query->request, owned_body,
		     error ? error->message : NULL);
	message_clear(&query->request);
	query->request = (struct message){ .name = NULL };
}

void agent_request_answer(struct agent_request *query, json_t *body, const struct error *error)
{
	(void)body;
	agent_request_respond(query, NULL, error);
}

/* Completes a request that was removed from agent->requests, and frees it. */
static void agent_requests_complete(struct agent_request *query, json_t *body,
				    const struct error *error)
{
	query->done(query, body, error);
	/* Each request of the screen must be answered, even if `done` has not answered it. */
	agent_request_respond(query, NULL, error);
	agent_request_free(query);
}

static void agent_requests_finish(struct agent_request *query, json_t *body,
				  const struct error *error)
{
	struct agent_request **link = &query->agent->requests;

	while (*link != query)
		link = &(*link)->next;
	*link = query->next;
	agent_requests_complete(query, body, error);
}

static const struct {
	bool is_vital; /* a failure ends the connection */
	bool is_dap;
	bool needs_session;
} kinds[] = {
	[AGENT_REQUEST_DAP] = { .is_dap = true, .needs_session = true },
	[AGENT_REQUEST_PLAIN] = { .needs_session = true },
	[AGENT_REQUEST_IDENTITY] = { .is_vital = true },
	[AGENT_REQUEST_SESSION] = { .is_vital = true, .is_dap = true },
	[AGENT_REQUEST_EVENTS] = { .is_vital = true, .needs_session = true },
};

static bool is_vital(const struct agent_request *query)
{
	return kinds[query->kind].is_vital;
}

static void fail_all(struct agent *agent, const struct error *error)
{
	struct agent_request *all = agent->requests;

	agent->requests = NULL;
	while (all) {
		struct agent_request *query = all;

		all = query->next;
		query->failure = AGENT_REQUEST_LOST;
		if (is_vital(query))
			agent_request_free(query);
		else
			agent_requests_complete(query, NULL, error);
	}
}

void agent_requests_fail(struct agent *agent, const char *why)
{
	struct error error = ERROR_INIT;

	error_set(&error, "%s", why);
	fail_all(agent, &error);
	/*
	 * The failed requests may have added new requests, which wait for a session that never
	 * comes.
	 */
	while (agent->state == AGENT_OVER && agent->requests)
		fail_all(agent, &error);
}

/*
 * Answers
 */

static const char *const outcome_words[] = {
	[HTTP_ANSWERED] = "",
	[HTTP_UNREACHABLE] = "the agent cannot be reached: ",
	[HTTP_LATE] = "the agent did not answer in time: ",
	[HTTP_DISTRUSTED] = "TLS with the agent failed: ",
	[HTTP_UNENCRYPTED] =
		"the agent does not use TLS (write http://HOST:PORT instead of https): ",
	[HTTP_UNREADABLE] = "the agent's answer cannot be read: ",
};

static const enum agent_request_failure failures[] = {
	[HTTP_ANSWERED] = AGENT_REQUEST_ANSWERED,
	[HTTP_UNREACHABLE] = AGENT_REQUEST_LOST,
	[HTTP_LATE] = AGENT_REQUEST_LATE,
	[HTTP_DISTRUSTED] = AGENT_REQUEST_ANSWERED,
	[HTTP_UNENCRYPTED] = AGENT_REQUEST_ANSWERED,
	[HTTP_UNREADABLE] = AGENT_REQUEST_REFUSED,
};

/*
 * Returns a remedy for a failure of TLS: certificates of a job are usually not among those that the
 * system trusts.
 */
static const char *hint(const struct agent *agent, const struct http_answer *answer)
{
	if (answer->outcome != HTTP_DISTRUSTED)
		return "";
	return agent->way.ca_file ? "; only the certificates in PROBETUI_CA_FILE are trusted"
				  : "; set PROBETUI_CA_FILE=FILE to trust the agent's certificate "
				    "or that of its signer";
}

static void agent_requests_explain(const struct agent *agent, const struct http_answer *answer,
				   struct error *error)
{
	size_t length = strlen(answer->why);

	/* Some of libcurl's messages end with a full stop. */
	if (length > 0 && answer->why[length - 1] == '.')
		length--;
	if (answer->outcome == HTTP_UNREACHABLE && error_is_set(&agent->way.refused))
		*error = agent->way.refused;
	else
		error_set(error, "%s%.*s%s", outcome_words[answer->outcome], (int)length,
			  answer->why, hint(agent, answer));
}

/* True if the failure ends the connection. */
static bool is_lost(const struct agent_request *query, const struct http_answer *answer)
{
	return answer->outcome == HTTP_UNREACHABLE ||
	       (answer->outcome == HTTP_LATE && is_vital(query));
}

static void fail(struct agent_request *query, const struct http_answer *answer)
{
	struct agent *agent = query->agent;
	bool was_vital = is_vital(query);
	bool lost = is_lost(query, answer);
	struct error error = ERROR_INIT;

	agent_requests_explain(agent, answer, &error);
	query->failure = failures[answer->outcome];
	agent_requests_finish(query, NULL, &error);
	if (answer->outcome == HTTP_DISTRUSTED || answer->outcome == HTTP_UNENCRYPTED ||
	    (answer->outcome == HTTP_UNREADABLE && was_vital))
		agent_end(agent, error.message);
	else if (lost)
		agent_lose(agent, error.message);
	else if (answer->outcome == HTTP_LATE)
		agent_note_silence(agent, true);
}

/*
 * Reads the answer. For a poll of events, the events and the `after` of the next poll become one
 * object.
 */
static void agent_requests_read_answer(struct agent_request *query, struct agent_message *reply,
				       const struct http_answer *answer, struct error *error)
{
	json_t *events;
	int64_t next;

	if (query->kind != AGENT_REQUEST_EVENTS) {
		(kinds[query->kind].is_dap ? agent_message_read : agent_message_read_plain)(
			reply, answer->status, answer->bytes, answer->length, error);
		return;
	}
	agent_message_read_events(reply, answer->status, answer->bytes, answer->length, &events,
				  &next, error);
	if (!events)
		return;
	json_object_set_new(reply->body, "events", events);
	json_object_set_new(reply->body, "next", json_integer(next));
}

static void agent_requests_settle(struct agent_request *query, const struct http_answer *answer)
{
	struct agent *agent = query->agent;
	bool was_vital = is_vital(query);
	bool was_plain = query->kind == AGENT_REQUEST_PLAIN;
	struct error error = ERROR_INIT;
	struct agent_message reply;

	agent_note_silence(agent, false);
	agent_requests_read_answer(query, &reply, answer, &error);
	if (reply.kind == AGENT_MESSAGE_BUSY || reply.kind == AGENT_MESSAGE_SENSELESS)
		query->failure = AGENT_REQUEST_REFUSED;
	agent_requests_finish(query, reply.body, reply.kind == AGENT_MESSAGE_DONE ? NULL : &error);
	if (was_vital &&
	    (reply.kind == AGENT_MESSAGE_REFUSED || reply.kind == AGENT_MESSAGE_SENSELESS))
		agent_end(agent, error.message);
	else if (was_vital && reply.kind != AGENT_MESSAGE_DONE)
		agent_lose(agent, error.message);
	/* Status 404 for a plain request does not mean that the session has ended. */
	else if (reply.kind == AGENT_MESSAGE_OVER && !was_plain)
		agent_lose(agent, error.message);
	agent_message_clear(&reply);
}

static void begin(struct agent_request *query);

static void agent_requests_on_again(void *data)
{
	struct agent_request *query = data;

	loop_timer_stop(query->again);
	query->again = NULL;
	begin(query);
}

/*
 * True if the request will be sent again: other clients keep the agent busy (503), so the agent has
 * not begun it. If the session ends meanwhile, the request waits for the next session.
 */
static bool tries_again(struct agent_request *query, const struct http_answer *answer)
{
	struct agent *agent = query->agent;

	if (answer->outcome != HTTP_ANSWERED || answer->status != 503 || !query->sent_command ||
	    loop_now() >= query->busy_until)
		return false;
	query->command = query->sent_command;
	query->arguments = query->sent_arguments;
	query->sent_command = NULL;
	query->sent_arguments = NULL;
	query->again = loop_timer(node_loop(agent->base.node), AGAIN_SECONDS, 0,
				  agent_requests_on_again, query);
	return true;
}

static void agent_requests_on_answer(const struct http_answer *answer, void *data)
{
	struct agent_request *query = data;
	struct node *node = query->agent->base.node;

	query->transfer = NULL;
	if (tries_again(query, answer))
		return;
	if (answer->outcome == HTTP_ANSWERED)
		agent_requests_settle(query, answer);
	else
		fail(query, answer);
	node_flush(node);
}

static int check_peer(int fd, void *data)
{
	struct agent_request *query = data;

	return agent_endpoint_check_peer(&query->agent->way, fd);
}

/*
 * Requests
 */

static void post(struct agent_request *query, const char *path, const json_t *object)
{
	struct agent *agent = query->agent;
	char *url = xasprintf("%s%s", agent->way.base, path);
	struct buffer body = BUFFER_INIT;
	struct http_request request = {
		.url = url,
		.path = agent->way.path,
		.check = check_peer,
		.token = agent->way.token,
		.ca_file = agent->way.ca_file,
		.seconds = query->seconds,
		.is_repeatable = query->is_once,
		.maximum = AGENT_MESSAGE_MAXIMUM,
		.done = agent_requests_on_answer,
		.data = query,
	};
	struct error error = ERROR_INIT;
	bool was_vital;

	if (object) {
		json_append(&body, object);
		request.body = body.data;
		request.length = body.length;
	}
	query->transfer = http_client_send(node_http_client(agent->base.node), &request, &error);
	free(url);
	buffer_clear(&body);
	if (query->transfer)
		return;
	was_vital = is_vital(query);
	agent_requests_finish(query, NULL, &error);
	if (was_vital)
		agent_end(agent, error.message);
}

/*
 * Returns the path of a DAP request. With `once` the agent executes each number only once per
 * session, so that the request can safely be sent again.
 */
static char *dap_path(const struct agent_request *query)
{
	const struct agent *agent = query->agent;

	if (!agent->session)
		return xstrdup("/dap");
	if (!query->is_once)
		return xasprintf("/dap?session=%s", agent->session);
	return xasprintf("/dap?session=%s&once=%lld", agent->session, (long long)query->number);
}

static void post_dap(struct agent_request *query, const char *command, json_t *arguments)
{
	struct agent *agent = query->agent;
	json_t *request = json_object();
	char *path;

	query->number = ++agent->number;
	query->is_once = agent->session && agent->takes_once;
	path = dap_path(query);
	json_object_set_new(request, "seq", json_integer(query->number));
	json_set_text(request, "type", "request");
	json_set_text(request, "command", command);
	if (arguments)
		json_object_set(request, "arguments", arguments);
	post(query, path, request);
	json_decref(request);
	free(path);
}

static void begin(struct agent_request *query)
{
	char *command = query->command;
	json_t *arguments = query->arguments;

	query->command = NULL;
	query->arguments = NULL;
	query->sent_command = command;
	query->sent_arguments = arguments;
	if (query->busy_until == 0)
		query->busy_until = loop_now() + BUSY_SECONDS;
	/* Both functions may call `done` and free query before they return. */
	if (kinds[query->kind].is_dap)
		post_dap(query, command, arguments);
	else
		post(query, command, arguments);
}

static void begin_or_wait(struct agent_request *query, const char *command, json_t *owned_arguments,
			  double seconds)
{
	query->command = xstrdup(command);
	query->arguments = owned_arguments;
	query->seconds = seconds;
	if (!kinds[query->kind].needs_session || agent_is_open(query->agent))
		begin(query);
}

bool agent_request_is_idle(const struct agent_request *query)
{
	return !query->command && !query->sent_command;
}

void agent_request_send(struct agent_request *owned_query, const char *command,
			json_t *owned_arguments, double seconds)
{
	begin_or_wait(owned_query, command, owned_arguments, seconds);
}

void agent_request_send_plain(struct agent_request *owned_query, const char *path,
			      json_t *owned_body, double seconds)
{
	if (owned_query->kind == AGENT_REQUEST_DAP)
		owned_query->kind = AGENT_REQUEST_PLAIN;
	begin_or_wait(owned_query, path, owned_body, seconds);
}

static struct agent_request *find_waiting(const struct agent *agent)
{
	struct agent_request *found = NULL;

	/* The list begins with the newest request. */
	for (struct agent_request *one = agent->requests; one; one = one->next)
		if (one->command && !one->again)
			found = one;
	return found;
}

void agent_requests_begin(struct agent *agent)
{
	struct agent_request *query;

	while (agent_is_open(agent) && (query = find_waiting(agent)))
		begin(query);
}

/*
 * The end of a session
 */

/* leaving: the part of a freed agent that is needed until its session has ended. */
struct leaving {
	struct http_client *client;
	struct agent_endpoint way;
};

static void on_left(const struct http_answer *answer, void *data)
{
	struct leaving *leaving = data;

	(void)answer;
	http_client_note_leaving(leaving->client, -1);
	agent_endpoint_clear(&leaving->way);
	free(leaving);
}

static int check_left(int fd, void *data)
{
	struct leaving *leaving = data;

	return agent_endpoint_check_peer(&leaving->way, fd);
}

void agent_request_leave(struct agent *agent)
{
	static const char body[] = "{\"seq\":1,\"type\":\"request\",\"command\":\"disconnect\"}";
	struct leaving *leaving = xcalloc(1, sizeof(*leaving));
	char *url = xasprintf("%s/dap?session=%s", agent->way.base, agent->session);
	struct http_request request = {
		.url = url,
		.path = agent->way.path,
		.check = check_left,
		.token = agent->way.token,
		.ca_file = agent->way.ca_file,
		.body = body,
		.length = sizeof(body) - 1,
		.seconds = LEAVE_SECONDS,
		.maximum = AGENT_MESSAGE_MAXIMUM,
		.done = on_left,
		.data = leaving,
	};

	leaving->client = node_http_client(agent->base.node);
	leaving->way = agent->way;
	agent->way = (struct agent_endpoint){ .base = NULL };
	http_client_note_leaving(leaving->client, 1);
	if (!http_client_send(leaving->client, &request, NULL))
		on_left(NULL, leaving);
	free(url);
}
