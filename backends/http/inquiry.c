/*
 * inquiry: requests to the agent (agent.h), and what becomes of their answers.
 */
#include "backends/http/agent.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/farewell.h"
#include "backends/http/carrier.h"
#include "backends/http/reply.h"
#include "backends/node.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"

/* An agent that serves as many as it can is asked again so soon, so long. */
#define BUSY_SECONDS 3.0
#define AGAIN_SECONDS 0.05
/* The end of a session is waited for so long; then it ends by itself. */
#define LEAVE_SECONDS FAREWELL_SECONDS

struct inquiry *inquiry_new(struct agent *agent, const struct message *request,
			    void (*done)(struct inquiry *inquiry, json_t *body,
					 const struct error *error))
{
	struct inquiry *inquiry = xcalloc(1, sizeof(*inquiry));

	inquiry->agent = agent;
	inquiry->done = done;
	inquiry->next = agent->inquiries;
	agent->inquiries = inquiry;
	if (!request)
		return inquiry;
	message_make_request(&inquiry->request, request->name, json_incref(request->body));
	inquiry->request.seq = request->seq;
	return inquiry;
}

struct inquiry *inquiry_follow(struct inquiry *inquiry,
			       void (*done)(struct inquiry *inquiry, json_t *body,
					    const struct error *error))
{
	struct inquiry *next = inquiry_new(inquiry->agent, NULL, done);

	next->request = inquiry->request;
	inquiry->request = (struct message){ .name = NULL };
	next->value = inquiry->value;
	next->context = json_incref(inquiry->context);
	next->round = inquiry->round;
	return next;
}

static void inquiry_free(struct inquiry *inquiry)
{
	if (inquiry->letter)
		carrier_cancel(node_carriers(inquiry->agent->base.node), inquiry->letter);
	message_clear(&inquiry->request);
	json_decref(inquiry->context);
	if (inquiry->again)
		loop_timer_stop(inquiry->again);
	json_decref(inquiry->arguments);
	json_decref(inquiry->sent_arguments);
	free(inquiry->command);
	free(inquiry->sent_command);
	free(inquiry);
}

void inquiry_respond(struct inquiry *inquiry, json_t *owned_body, const struct error *error)
{
	if (!inquiry->request.name) {
		json_decref(owned_body);
		return;
	}
	node_respond(inquiry->agent->base.node, &inquiry->request, owned_body,
		     error ? error->message : NULL);
	message_clear(&inquiry->request);
	inquiry->request = (struct message){ .name = NULL };
}

void inquiry_answer(struct inquiry *inquiry, json_t *body, const struct error *error)
{
	(void)body;
	inquiry_respond(inquiry, NULL, error);
}

/* It is in no list any more. */
static void complete(struct inquiry *inquiry, json_t *body, const struct error *error)
{
	inquiry->done(inquiry, body, error);
	/* Each inquiry gets an answer. */
	inquiry_respond(inquiry, NULL, error);
	inquiry_free(inquiry);
}

static void finish(struct inquiry *inquiry, json_t *body, const struct error *error)
{
	struct inquiry **link = &inquiry->agent->inquiries;

	while (*link != inquiry)
		link = &(*link)->next;
	*link = inquiry->next;
	complete(inquiry, body, error);
}

static const struct {
	bool is_vital; /* without the answer there is no connection */
	bool is_dap;
	bool needs_session;
} kinds[] = {
	[INQUIRY_DAP] = { .is_dap = true, .needs_session = true },
	[INQUIRY_PLAIN] = { .needs_session = true },
	[INQUIRY_IDENTITY] = { .is_vital = true },
	[INQUIRY_SESSION] = { .is_vital = true, .is_dap = true },
	[INQUIRY_EVENTS] = { .is_vital = true, .needs_session = true },
};

static bool is_vital(const struct inquiry *inquiry)
{
	return kinds[inquiry->kind].is_vital;
}

static void fail_all(struct agent *agent, const struct error *error)
{
	struct inquiry *all = agent->inquiries;

	agent->inquiries = NULL;
	while (all) {
		struct inquiry *inquiry = all;

		all = inquiry->next;
		inquiry->failure = INQUIRY_LOST;
		if (is_vital(inquiry))
			inquiry_free(inquiry);
		else
			complete(inquiry, NULL, error);
	}
}

void inquiries_fail(struct agent *agent, const char *why)
{
	struct error error = ERROR_INIT;

	error_set(&error, "%s", why);
	fail_all(agent, &error);
	/* What failed may have asked for more; that waits for a session. */
	while (agent->state == AGENT_OVER && agent->inquiries)
		fail_all(agent, &error);
}

/*
 * Answers
 */

static const char *const outcome_words[] = {
	[CARRIER_ANSWERED] = "",
	[CARRIER_UNREACHABLE] = "Its agent cannot be reached: ",
	[CARRIER_LATE] = "Its agent did not answer in time: ",
	[CARRIER_DISTRUSTED] = "TLS with its agent fails: ",
	[CARRIER_UNENCRYPTED] =
		"No TLS is spoken there: http://HOST:PORT, and not https, would be its address; ",
	[CARRIER_UNREADABLE] = "What its agent answers cannot be taken: ",
};

static const enum inquiry_failure failures[] = {
	[CARRIER_ANSWERED] = INQUIRY_ANSWERED,
	[CARRIER_UNREACHABLE] = INQUIRY_LOST,
	[CARRIER_LATE] = INQUIRY_LATE,
	[CARRIER_DISTRUSTED] = INQUIRY_ANSWERED,
	[CARRIER_UNENCRYPTED] = INQUIRY_ANSWERED,
	[CARRIER_UNREADABLE] = INQUIRY_REFUSED,
};

/* The system's are none of a job's own. */
static const char *hint(const struct agent *agent, const struct carrier_answer *answer)
{
	if (answer->outcome != CARRIER_DISTRUSTED)
		return "";
	return agent->way.ca_file ? "; what is trusted is what PROBETUI_CA_FILE has"
				  : "; PROBETUI_CA_FILE=FILE has certificates to trust, as that of "
				    "the agent's signer or its own";
}

static void explain(const struct agent *agent, const struct carrier_answer *answer,
		    struct error *error)
{
	size_t length = strlen(answer->why);

	/* libcurl ends some of its sentences itself. */
	if (length > 0 && answer->why[length - 1] == '.')
		length--;
	if (answer->outcome == CARRIER_UNREACHABLE && error_is_set(&agent->way.refused))
		*error = agent->way.refused;
	else
		error_set(error, "%s%.*s%s.", outcome_words[answer->outcome], (int)length,
			  answer->why, hint(agent, answer));
}

/* The failure ends the connection. */
static bool is_lost(const struct inquiry *inquiry, const struct carrier_answer *answer)
{
	return answer->outcome == CARRIER_UNREACHABLE ||
	       (answer->outcome == CARRIER_LATE && is_vital(inquiry));
}

static void fail(struct inquiry *inquiry, const struct carrier_answer *answer)
{
	struct agent *agent = inquiry->agent;
	bool was_vital = is_vital(inquiry);
	bool lost = is_lost(inquiry, answer);
	struct error error = ERROR_INIT;

	explain(agent, answer, &error);
	inquiry->failure = failures[answer->outcome];
	finish(inquiry, NULL, &error);
	if (answer->outcome == CARRIER_DISTRUSTED || answer->outcome == CARRIER_UNENCRYPTED ||
	    (answer->outcome == CARRIER_UNREADABLE && was_vital))
		agent_end(agent, error.message);
	else if (lost)
		agent_lose(agent, error.message);
	else if (answer->outcome == CARRIER_LATE)
		agent_note_silence(agent, true);
}

/* Its events and their last number are one object for `done`. */
static void read_answer(struct inquiry *inquiry, struct reply *reply,
			const struct carrier_answer *answer, struct error *error)
{
	json_t *events;
	int64_t next;

	if (inquiry->kind != INQUIRY_EVENTS) {
		(kinds[inquiry->kind].is_dap ? reply_read : reply_read_plain)(
			reply, answer->status, answer->bytes, answer->length, error);
		return;
	}
	reply_read_events(reply, answer->status, answer->bytes, answer->length, &events, &next,
			  error);
	if (!events)
		return;
	json_object_set_new(reply->body, "events", events);
	json_object_set_new(reply->body, "next", json_integer(next));
}

static void settle(struct inquiry *inquiry, const struct carrier_answer *answer)
{
	struct agent *agent = inquiry->agent;
	bool was_vital = is_vital(inquiry);
	bool was_plain = inquiry->kind == INQUIRY_PLAIN;
	struct error error = ERROR_INIT;
	struct reply reply;

	agent_note_silence(agent, false);
	read_answer(inquiry, &reply, answer, &error);
	if (reply.kind == REPLY_BUSY || reply.kind == REPLY_SENSELESS)
		inquiry->failure = INQUIRY_REFUSED;
	finish(inquiry, reply.body, reply.kind == REPLY_DONE ? NULL : &error);
	if (was_vital && (reply.kind == REPLY_REFUSED || reply.kind == REPLY_SENSELESS))
		agent_end(agent, error.message);
	else if (was_vital && reply.kind != REPLY_DONE)
		agent_lose(agent, error.message);
	/* To a plain request 404 says nothing of the session. */
	else if (reply.kind == REPLY_OVER && !was_plain)
		agent_lose(agent, error.message);
	reply_clear(&reply);
}

static void begin(struct inquiry *inquiry);

static void on_again(void *data)
{
	struct inquiry *inquiry = data;

	loop_timer_stop(inquiry->again);
	inquiry->again = NULL;
	begin(inquiry);
}

/*
 * Others keep the agent busy (503): nothing of this was begun, and it will be
 * taken once there is room. Where the session ends meanwhile it waits for the
 * next one, as any other.
 */
static bool tries_again(struct inquiry *inquiry, const struct carrier_answer *answer)
{
	struct agent *agent = inquiry->agent;

	if (answer->outcome != CARRIER_ANSWERED || answer->status != 503 ||
	    !inquiry->sent_command || loop_now() >= inquiry->patience)
		return false;
	inquiry->command = inquiry->sent_command;
	inquiry->arguments = inquiry->sent_arguments;
	inquiry->sent_command = NULL;
	inquiry->sent_arguments = NULL;
	inquiry->again =
		loop_timer(node_loop(agent->base.node), AGAIN_SECONDS, 0, on_again, inquiry);
	return true;
}

static void on_answer(const struct carrier_answer *answer, void *data)
{
	struct inquiry *inquiry = data;
	struct node *node = inquiry->agent->base.node;

	inquiry->letter = NULL;
	if (tries_again(inquiry, answer))
		return;
	if (answer->outcome == CARRIER_ANSWERED)
		settle(inquiry, answer);
	else
		fail(inquiry, answer);
	node_flush(node);
}

static int check_peer(int fd, void *data)
{
	struct inquiry *inquiry = data;

	return way_check_peer(&inquiry->agent->way, fd);
}

/*
 * Requests
 */

static void post(struct inquiry *inquiry, const char *path, const json_t *object)
{
	struct agent *agent = inquiry->agent;
	char *url = xasprintf("%s%s", agent->way.base, path);
	struct buffer body = BUFFER_INIT;
	struct carrier_request request = {
		.url = url,
		.path = agent->way.path,
		.check = check_peer,
		.token = agent->way.token,
		.ca_file = agent->way.ca_file,
		.seconds = inquiry->seconds,
		.is_repeatable = inquiry->is_once,
		.maximum = REPLY_MAXIMUM,
		.done = on_answer,
		.data = inquiry,
	};
	struct error error = ERROR_INIT;
	bool was_vital;

	if (object) {
		json_append(&body, object);
		request.body = body.data;
		request.length = body.length;
	}
	inquiry->letter = carrier_send(node_carriers(agent->base.node), &request, &error);
	free(url);
	buffer_clear(&body);
	if (inquiry->letter)
		return;
	was_vital = is_vital(inquiry);
	finish(inquiry, NULL, &error);
	if (was_vital)
		agent_end(agent, error.message);
}

/* A session takes each number once, so that it can be sent again. */
static char *dap_path(const struct inquiry *inquiry)
{
	const struct agent *agent = inquiry->agent;

	if (!agent->session)
		return xstrdup("/dap");
	if (!inquiry->is_once)
		return xasprintf("/dap?session=%s", agent->session);
	return xasprintf("/dap?session=%s&once=%lld", agent->session, (long long)inquiry->number);
}

static void post_dap(struct inquiry *inquiry, const char *command, json_t *arguments)
{
	struct agent *agent = inquiry->agent;
	json_t *request = json_object();
	char *path;

	inquiry->number = ++agent->number;
	inquiry->is_once = agent->session && agent->takes_once;
	path = dap_path(inquiry);
	json_object_set_new(request, "seq", json_integer(inquiry->number));
	json_set_text(request, "type", "request");
	json_set_text(request, "command", command);
	if (arguments)
		json_object_set(request, "arguments", arguments);
	post(inquiry, path, request);
	json_decref(request);
	free(path);
}

static void begin(struct inquiry *inquiry)
{
	char *command = inquiry->command;
	json_t *arguments = inquiry->arguments;

	inquiry->command = NULL;
	inquiry->arguments = NULL;
	inquiry->sent_command = command;
	inquiry->sent_arguments = arguments;
	if (inquiry->patience == 0)
		inquiry->patience = loop_now() + BUSY_SECONDS;
	/* It may be answered, and gone, before these return. */
	if (kinds[inquiry->kind].is_dap)
		post_dap(inquiry, command, arguments);
	else
		post(inquiry, command, arguments);
}

static void begin_or_wait(struct inquiry *inquiry, const char *command, json_t *owned_arguments,
			  double seconds)
{
	inquiry->command = xstrdup(command);
	inquiry->arguments = owned_arguments;
	inquiry->seconds = seconds;
	if (!kinds[inquiry->kind].needs_session || agent_is_open(inquiry->agent))
		begin(inquiry);
}

bool inquiry_is_idle(const struct inquiry *inquiry)
{
	return !inquiry->command && !inquiry->sent_command;
}

void inquiry_send(struct inquiry *owned_inquiry, const char *command, json_t *owned_arguments,
		  double seconds)
{
	begin_or_wait(owned_inquiry, command, owned_arguments, seconds);
}

void inquiry_send_plain(struct inquiry *owned_inquiry, const char *path, json_t *owned_body,
			double seconds)
{
	if (owned_inquiry->kind == INQUIRY_DAP)
		owned_inquiry->kind = INQUIRY_PLAIN;
	begin_or_wait(owned_inquiry, path, owned_body, seconds);
}

static struct inquiry *find_waiting(const struct agent *agent)
{
	struct inquiry *found = NULL;

	/* The newest are first. */
	for (struct inquiry *one = agent->inquiries; one; one = one->next)
		if (one->command && !one->again)
			found = one;
	return found;
}

void inquiries_begin(struct agent *agent)
{
	struct inquiry *inquiry;

	while (agent_is_open(agent) && (inquiry = find_waiting(agent)))
		begin(inquiry);
}

/*
 * Leaving
 */

/* What is left of an agent until its session has ended. */
struct leaving {
	struct carrier_office *office;
	struct way way;
};

static void on_left(const struct carrier_answer *answer, void *data)
{
	struct leaving *leaving = data;

	(void)answer;
	carrier_note_leaving(leaving->office, -1);
	way_clear(&leaving->way);
	free(leaving);
}

static int check_left(int fd, void *data)
{
	struct leaving *leaving = data;

	return way_check_peer(&leaving->way, fd);
}

void inquiry_leave(struct agent *agent)
{
	static const char body[] = "{\"seq\":1,\"type\":\"request\",\"command\":\"disconnect\"}";
	struct leaving *leaving = xcalloc(1, sizeof(*leaving));
	char *url = xasprintf("%s/dap?session=%s", agent->way.base, agent->session);
	struct carrier_request request = {
		.url = url,
		.path = agent->way.path,
		.check = check_left,
		.token = agent->way.token,
		.ca_file = agent->way.ca_file,
		.body = body,
		.length = sizeof(body) - 1,
		.seconds = LEAVE_SECONDS,
		.maximum = REPLY_MAXIMUM,
		.done = on_left,
		.data = leaving,
	};

	leaving->office = node_carriers(agent->base.node);
	leaving->way = agent->way;
	agent->way = (struct way){ .base = NULL };
	carrier_note_leaving(leaving->office, 1);
	if (!carrier_send(leaving->office, &request, NULL))
		on_left(NULL, leaving);
	free(url);
}
