#include "engine/request.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "engine/engine.h"
#include "engine/link.h"
#include "protocol/message.h"

/* Fraction of a shell command's time-out after which the node gives up and answers. */
#define OF_TIMEOUT 0.8

struct request {
	int64_t seq; /* 0: there was no node to send to */
	size_t node;
	request_done *done;
	void *data;
	bool is_answered; /* answered, or failed */
	char *error;	  /* NULL: success */
	json_t *body;
};

double request_limit(double seconds)
{
	return seconds * OF_TIMEOUT;
}

void request_set_timeout(json_t *arguments, const struct engine *engine, double seconds)
{
	if (!engine->is_screen)
		json_object_set_new(arguments, "timeout", json_real(request_limit(seconds)));
}

bool engine_is_deaf(const struct engine *engine)
{
	for (size_t i = 0; i < engine->link_count; i++)
		if (link_is_open(engine->links[i]))
			return false;
	return true;
}

static void request_free(struct request *request)
{
	free(request->error);
	json_decref(request->body);
	free(request);
}

bool request_is_answered(const struct request *request)
{
	return request->is_answered;
}

int64_t request_seq(const struct request *request)
{
	return request->seq;
}

/*
 * End of requests
 */

static const char *why_gone(const struct engine *engine, size_t node)
{
	const char *why =
		node < engine->session.node_count ? engine->session.nodes[node].gone_why : NULL;

	return why ? why : "no connection to probetui-node";
}

static void request_on_due(void *data)
{
	struct engine *engine = data;

	requests_complete(engine);
	engine_settle(engine);
}

/*
 * Calls done() of ended requests from a timer, as there may be no later batch of messages that
 * would cause the call.
 */
static void complete_soon(struct engine *engine)
{
	struct requests *requests = &engine->requests;

	if (!requests->timer && requests->ended_count > 0 && engine->loop)
		requests->timer = loop_timer(engine->loop, 0, 0, request_on_due, engine);
}

static void request_end(struct engine *engine, struct request *request, const char *error)
{
	struct requests *requests = &engine->requests;

	request->is_answered = true;
	request->error = xstrdup_or_null(error);
	if (!error && !request->body)
		request->body = json_object();
	if (!request->done)
		return;
	ARRAY_GROW(requests->ended, requests->ended_count, requests->ended_capacity);
	requests->ended[requests->ended_count++] = request;
}

/*
 * Returns the index of the open request with this sequence number, or of the first open request
 * with a greater number.
 */
static size_t request_find_open(const struct requests *requests, int64_t seq)
{
	size_t low = 0;
	size_t high = requests->open_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (requests->open[middle]->seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Removes and returns the open request to the node with this sequence number; returns NULL if there
 * is none.
 */
static struct request *take_open(struct requests *requests, size_t node, int64_t seq)
{
	size_t at = request_find_open(requests, seq);
	struct request *request;

	if (at == requests->open_count || requests->open[at]->seq != seq ||
	    requests->open[at]->node != node)
		return NULL;
	request = requests->open[at];
	requests->open_count--;
	memmove(&requests->open[at], &requests->open[at + 1],
		(requests->open_count - at) * sizeof(struct request *));
	return request;
}

void requests_answer(struct engine *engine, size_t node, const struct message *message)
{
	struct request *request = take_open(&engine->requests, node, message->request_seq);

	if (!request)
		return;
	request->body = json_incref(message->body);
	if (message->is_success)
		request_end(engine, request, NULL);
	else
		request_end(engine, request,
			    message->error ? message->error : "the request failed");
}

void requests_lose(struct engine *engine, size_t node, const char *why)
{
	struct requests *requests = &engine->requests;
	size_t kept = 0;

	for (size_t i = 0; i < requests->open_count; i++) {
		if (requests->open[i]->node == node)
			request_end(engine, requests->open[i], why);
		else
			requests->open[kept++] = requests->open[i];
	}
	requests->open_count = kept;
	complete_soon(engine);
}

void requests_complete(struct engine *engine)
{
	struct requests *requests = &engine->requests;
	size_t count = requests->ended_count;

	if (requests->timer)
		loop_timer_stop(requests->timer);
	requests->timer = NULL;
	if (count == 0)
		return;
	/* done() may append to `ended`, for the next call, and set entries of this call to NULL. */
	for (size_t i = 0; i < count; i++) {
		struct request *request = requests->ended[i];

		requests->ended[i] = NULL;
		if (!request)
			continue;
		request->done(engine, request->body, request->error, request->data);
		request_free(request);
	}
	requests->ended_count -= count;
	memmove(requests->ended, requests->ended + count,
		requests->ended_count * sizeof(struct request *));
	complete_soon(engine);
}

bool requests_are_ended(const struct engine *engine)
{
	return engine->requests.ended_count > 0;
}

void requests_clear(struct engine *engine)
{
	struct requests *requests = &engine->requests;

	if (requests->timer)
		loop_timer_stop(requests->timer);
	for (size_t i = 0; i < requests->open_count; i++)
		request_free(requests->open[i]);
	for (size_t i = 0; i < requests->ended_count; i++)
		if (requests->ended[i])
			request_free(requests->ended[i]);
	free(requests->open);
	free(requests->ended);
	*requests = (struct requests){ .seq = requests->seq };
}

/*
 * Sending
 */

static bool is_open(const struct engine *engine, size_t node)
{
	return node < engine->link_count && link_is_open(engine->links[node]);
}

/*
 * Sends a request. Returns its sequence number, or 0 if the node is gone, or silent: what is asked
 * of a silent node must not be done when the person no longer expects it. Only its lease is
 * renewed.
 */
static int64_t send_line(struct engine *engine, size_t node, const char *command,
			 json_t *owned_arguments)
{
	struct buffer line = BUFFER_INIT;
	struct message message;

	if (!is_open(engine, node) ||
	    (engine->session.nodes[node].is_silent && strcmp(command, "renew") != 0)) {
		json_decref(owned_arguments);
		return 0;
	}
	message_make_request(&message, command, owned_arguments);
	message.seq = ++engine->requests.seq;
	message_append(&line, &message);
	link_send(engine->links[node], line.data, line.length);
	engine_record_line(engine, &message, line.data, line.length - 1);
	buffer_clear(&line);
	message_clear(&message);
	return engine->requests.seq;
}

/* Ends a request that could not be sent. */
static void fail_unsent(struct engine *engine, struct request *request)
{
	const struct session *session = &engine->session;
	struct error why = ERROR_INIT;

	if (is_open(engine, request->node))
		error_set(&why, "%s does not answer", session->nodes[request->node].name);
	else
		error_set(&why, "%s", why_gone(engine, request->node));
	request_end(engine, request, why.message);
	complete_soon(engine);
}

bool request_post(struct engine *engine, size_t node, const char *command, json_t *owned_arguments)
{
	return send_line(engine, node, command, owned_arguments) > 0;
}

void request_post_all(struct engine *engine, const char *command, json_t *owned_arguments)
{
	for (size_t i = 0; i < engine->link_count; i++)
		request_post(engine, i, command, json_incref(owned_arguments));
	json_decref(owned_arguments);
}

struct request *request_start(struct engine *engine, size_t node, const char *command,
			      json_t *owned_arguments, request_done *done, void *data)
{
	struct requests *requests = &engine->requests;
	struct request *request = xcalloc(1, sizeof(*request));

	request->done = done;
	request->data = data;
	request->node = node;
	request->seq = send_line(engine, node, command, owned_arguments);
	if (request->seq == 0) {
		fail_unsent(engine, request);
		return request;
	}
	ARRAY_GROW(requests->open, requests->open_count, requests->open_capacity);
	requests->open[requests->open_count++] = request;
	return request;
}

void request_cancel(struct engine *engine, struct request *request)
{
	struct requests *requests = &engine->requests;

	if (!request)
		return;
	if (!request->is_answered)
		take_open(requests, request->node, request->seq);
	for (size_t i = 0; i < requests->ended_count; i++)
		if (requests->ended[i] == request)
			requests->ended[i] = NULL;
	request_free(request);
}

/*
 * Waiting, in a shell
 */

static bool is_answered(const struct engine *engine, void *data)
{
	const struct request *request = data;

	(void)engine;
	return request->is_answered;
}

void request_wait(struct engine *engine, const struct request *request, double seconds)
{
	engine_wait(engine, is_answered, (void *)request, seconds);
}

json_t *request_take(struct engine *engine, struct request *owned_request, struct error *error)
{
	json_t *body = NULL;

	if (!owned_request->is_answered)
		error_set(error, REQUEST_LATE, engine->settings.timeout);
	else if (owned_request->error)
		error_set(error, "%s", owned_request->error);
	else
		body = json_incref(owned_request->body);
	request_cancel(engine, owned_request);
	return body;
}

json_t *request_call(struct engine *engine, size_t node, const char *command,
		     json_t *owned_arguments, struct error *error)
{
	struct request *request = request_start(engine, node, command, owned_arguments, NULL, NULL);

	request_wait(engine, request, engine->settings.timeout);
	return request_take(engine, request, error);
}

struct item {
	struct request_group *group;
	struct request *request; /* NULL: answered */
	struct group_answer answer;
	char *error;
};

struct request_group {
	struct engine *engine;
	group_answered *answered;
	group_done *done;
	void *data;
	struct item **items;
	size_t count;
	size_t capacity;
	size_t open_count;
	size_t taken;
};

static void item_free(struct item *item)
{
	request_cancel(item->group->engine, item->request);
	json_decref(item->answer.body);
	free(item->answer.tag);
	free(item->error);
	free(item);
}

struct request_group *request_group_new(struct engine *engine, group_answered *answered,
					group_done *done, void *data)
{
	struct request_group *group = xcalloc(1, sizeof(*group));

	group->engine = engine;
	group->answered = answered;
	group->done = done;
	group->data = data;
	return group;
}

void request_group_free(struct request_group *group)
{
	if (!group)
		return;
	for (size_t i = 0; i < group->count; i++)
		item_free(group->items[i]);
	free(group->items);
	free(group);
}

static void remove_item(struct request_group *group, const struct item *item)
{
	size_t i = 0;

	while (group->items[i] != item)
		i++;
	group->count--;
	memmove(&group->items[i], &group->items[i + 1], (group->count - i) * sizeof(struct item *));
}

/* Call last: done() may free the group. */
static void request_group_answer(struct item *item, json_t *body, const char *error, bool is_late)
{
	struct request_group *group = item->group;

	item->request = NULL;
	item->answer.body = json_incref(body);
	item->answer.error = item->error = xstrdup_or_null(error);
	item->answer.is_late = is_late;
	group->open_count--;
	if (group->answered) {
		remove_item(group, item);
		group->answered(group->engine, &item->answer, group->data);
		item_free(item);
	}
	if (group->open_count == 0 && group->done)
		group->done(group->engine, group->data);
}

static void request_group_on_answer(struct engine *engine, json_t *body, const char *error,
				    void *data)
{
	(void)engine;
	request_group_answer(data, body, error, false);
}

void request_group_add(struct request_group *group, size_t node, int rank, const char *command,
		       json_t *owned_arguments, void *owned_tag)
{
	struct item *item = xcalloc(1, sizeof(*item));

	item->group = group;
	item->answer.rank = rank;
	item->answer.tag = owned_tag;
	item->request = request_start(group->engine, node, command, owned_arguments,
				      request_group_on_answer, item);
	ARRAY_GROW(group->items, group->count, group->capacity);
	group->items[group->count++] = item;
	group->open_count++;
}

size_t request_group_open_count(const struct request_group *group)
{
	return group->open_count;
}

size_t request_group_count(const struct request_group *group)
{
	return group->count - group->taken;
}

int request_group_rank(const struct request_group *group, size_t i)
{
	return group->items[group->taken + i]->answer.rank;
}

/* Returns the first item with an open request; NULL if there is none. */
static struct item *request_group_find_open(const struct request_group *group)
{
	for (size_t i = group->taken; i < group->count; i++)
		if (group->items[i]->request)
			return group->items[i];
	return NULL;
}

void request_group_expire(struct request_group *group, const char *error)
{
	/* Requests that answered() adds during the loop stay open. */
	for (size_t left = group->open_count; left > 0; left--) {
		struct item *item = request_group_find_open(group);

		request_cancel(group->engine, item->request);
		request_group_answer(item, NULL, error, true);
	}
}

static bool request_group_is_answered(const struct engine *engine, void *data)
{
	const struct request_group *group = data;

	(void)engine;
	return group->open_count == 0;
}

void request_group_wait(struct request_group *group, double seconds)
{
	char late[160];

	engine_wait(group->engine, request_group_is_answered, group, seconds);
	if (group->open_count == 0)
		return;
	snprintf(late, sizeof(late), REQUEST_LATE, seconds);
	request_group_expire(group, late);
}

bool request_group_take(struct request_group *group, struct group_answer *answer)
{
	if (group->taken == group->count)
		return false;
	*answer = group->items[group->taken++]->answer;
	return true;
}
