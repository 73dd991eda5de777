/*
 * request: what is asked of a node, and the answers' bodies until a command
 * takes them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/engine.h"
#include "engine/link.h"
#include "engine/request.h"
#include "protocol/message.h"

/* The node answers before we have waited long enough. */
#define OF_TIMEOUT 0.8

double request_limit(double seconds)
{
	return seconds * OF_TIMEOUT;
}

void request_set_timeout(json_t *arguments, const struct engine *engine, double seconds)
{
	if (!engine->is_screen)
		json_object_set_new(arguments, "timeout", json_real(request_limit(seconds)));
}

static void request_clear(struct request *request)
{
	free(request->error);
	json_decref(request->body);
}

void requests_clear(struct engine *engine)
{
	for (size_t i = 0; i < engine->request_count; i++)
		request_clear(&engine->requests[i]);
	free(engine->requests);
	engine->requests = NULL;
	engine->request_count = 0;
	engine->request_capacity = 0;
}

static struct request *find(const struct engine *engine, int64_t seq)
{
	for (size_t i = 0; i < engine->request_count; i++) {
		if (engine->requests[i].seq == seq)
			return &engine->requests[i];
	}
	return NULL;
}

bool request_is_answered(const struct engine *engine, int64_t seq)
{
	const struct request *request = find(engine, seq);

	return !request || request->is_answered;
}

bool engine_is_deaf(const struct engine *engine)
{
	for (size_t i = 0; i < engine->link_count; i++) {
		if (link_is_open(engine->links[i]))
			return false;
	}
	return true;
}

int64_t engine_send(struct engine *engine, const char *command, json_t *owned_arguments)
{
	struct buffer line = BUFFER_INIT;
	struct message message;

	if (engine_is_deaf(engine)) {
		json_decref(owned_arguments);
		return 0;
	}
	message_make_request(&message, command, owned_arguments);
	message.seq = ++engine->seq;
	message_append(&line, &message);
	link_send(engine->links[0], line.data, line.length);
	engine_record_line(engine, &message, line.data, line.length - 1);
	buffer_clear(&line);
	message_clear(&message);
	return engine->seq;
}

int64_t engine_ask(struct engine *engine, const char *command, json_t *owned_arguments)
{
	int64_t seq = engine_send(engine, command, owned_arguments);

	if (seq == 0)
		return 0;
	ARRAY_GROW(engine->requests, engine->request_count, engine->request_capacity);
	engine->requests[engine->request_count++] = (struct request){
		.seq = seq,
	};
	return seq;
}

/* From when on each kind of answer is there, for the timing. */
static void mark(struct engine *engine, const char *command)
{
	static const struct {
		const char *command;
		enum timing_part part;
	} marks[] = {
		{ "initialize", TIMING_NODE },
		{ "discover", TIMING_DISCOVERED },
		{ "sample", TIMING_SAMPLED },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(marks); i++) {
		if (strcmp(marks[i].command, command) == 0)
			timing_mark(&engine->timing, marks[i].part);
	}
}

void engine_answered(struct engine *engine, const struct message *message)
{
	struct request *request = find(engine, message->request_seq);

	mark(engine, message->name);
	if (!request || request->is_answered)
		return;
	request->is_answered = true;
	request->is_success = message->is_success;
	request->body = json_incref(message->body);
	if (!message->is_success)
		request->error = xstrdup_or_null(message->error);
}

struct range {
	int64_t first;
	int64_t last;
};

static bool are_answered(const struct engine *engine, void *data)
{
	const struct range *range = data;

	if (engine_is_deaf(engine))
		return true;
	for (size_t i = 0; i < engine->request_count; i++) {
		const struct request *request = &engine->requests[i];

		if (request->seq >= range->first && request->seq <= range->last &&
		    !request->is_answered)
			return false;
	}
	return true;
}

int engine_wait_answers(struct engine *engine, int64_t first, int64_t last, double seconds)
{
	struct range range = { first, last };

	return engine_wait(engine, are_answered, &range, seconds);
}

json_t *engine_take_whole(struct engine *engine, int64_t seq, struct error *error)
{
	struct request *request = find(engine, seq);
	json_t *body = NULL;

	if (!request || (!request->is_answered && engine_is_deaf(engine)))
		error_set(error, "%s",
			  engine->gone_why ? engine->gone_why
					   : "there is no node that could answer");
	else if (!request->is_answered)
		error_set(error, "no answer came within %g s; --timeout SECONDS waits longer",
			  engine->settings.timeout);
	else if (!request->is_success)
		error_set(error, "%s", request->error ? request->error : "it failed");
	if (!request)
		return NULL;
	if (request->is_answered)
		body = json_incref(request->body);
	request_clear(request);
	*request = engine->requests[--engine->request_count];
	return body;
}

json_t *engine_take_answer(struct engine *engine, int64_t seq, struct error *error)
{
	struct error failure = ERROR_INIT;
	json_t *body = engine_take_whole(engine, seq, &failure);

	if (!error_is_set(&failure))
		return body;
	json_decref(body);
	error_set(error, "%s", failure.message);
	return NULL;
}
