#include "backends/http/agent-messages.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backends/http/stopped-threads.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

#define SENTENCE_MAXIMUM 400
#define NUL_SHOWN "\xe2\x90\x80" /* U+2400 */

/*
 * Texts
 */

/* Returns a copy with U+2400 in place of each NUL, or NULL if the text has no NUL. */
static json_t *without_nuls(const json_t *text)
{
	const char *bytes = json_string_value(text);
	size_t length = json_string_length(text);
	struct buffer out = BUFFER_INIT;
	json_t *clean;

	if (!memchr(bytes, '\0', length))
		return NULL;
	for (size_t i = 0; i < length; i++)
		if (bytes[i])
			buffer_append_char(&out, bytes[i]);
		else
			buffer_append_string(&out, NUL_SHOWN);
	clean = json_text(out.data);
	buffer_clear(&out);
	return clean;
}

/* Returns the integer, or NULL if it does not fit into the 64 bits of jansson. */
static json_t *integer(const char *digits)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(digits, &end, 10);
	return errno == 0 && end != digits && !*end ? json_integer(value) : NULL;
}

/* The agent sends values that JSON does not have as objects: {"$": "int:18446744073709551616"}.
 * Returns the value; NULL: the object is not of this form. */
static json_t *unwrapped(const json_t *object)
{
	const char *text = json_get_string(object, "$", NULL);
	json_t *number;

	if (!text || json_object_size(object) != 1)
		return NULL;
	number = strncmp(text, "int:", 4) == 0 ? integer(text + 4) : NULL;
	if (number)
		return number;
	if (strncmp(text, "int:", 4) == 0)
		text += 4;
	else if (strncmp(text, "text:", 5) == 0)
		text += 5;
	return json_text(text);
}

static json_t *cleaned(json_t *value);

static void clean_array(json_t *array)
{
	json_t *value;
	json_t *clean;
	size_t i;

	json_array_foreach(array, i, value)
	{
		clean = cleaned(value);
		if (clean)
			json_array_set_new(array, i, clean);
	}
}

static void clean_object(json_t *object)
{
	const char *key;
	json_t *value;
	json_t *clean;
	void *next;

	json_object_foreach_safe(object, next, key, value)
	{
		clean = cleaned(value);
		if (clean)
			json_object_set_new(object, key, clean);
	}
}

/* Returns a new value that replaces `value`; NULL: `value` is kept (but its items may be replaced).
 * jansson's limit on the depth of JSON bounds the recursion. */
static json_t *cleaned(json_t *value)
{
	json_t *clean;

	if (json_is_string(value))
		return without_nuls(value);
	if (json_is_array(value))
		clean_array(value);
	if (!json_is_object(value))
		return NULL;
	clean_object(value);
	clean = unwrapped(value);
	return clean;
}

/*
 * Parses JSON and replaces the agent's wrapped values. Returns NULL and sets error if bytes are not
 * JSON.
 */
static json_t *agent_messages_parse(const char *bytes, size_t length, struct error *error)
{
	json_error_t cause;
	json_t *value = json_loadb(bytes, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &cause);
	json_t *clean;

	if (!value) {
		error_set(error, "the agent's answer is not JSON (error at byte %d)",
			  cause.position);
		return NULL;
	}
	clean = cleaned(value);
	if (!clean)
		return value;
	json_decref(value);
	return clean;
}

/*
 * Sets the error to `before` and a message of the agent, shortened, with control characters
 * escaped.
 */
static void agent_messages_quote(struct error *error, const char *before, const char *text)
{
	struct buffer out = BUFFER_INIT;
	size_t length = strlen(text);

	if (length > SENTENCE_MAXIMUM)
		length = SENTENCE_MAXIMUM - text_unfinished(text, SENTENCE_MAXIMUM);
	text_escape(&out, text, length);
	error_set(error, "%s%s", before, out.data);
	buffer_clear(&out);
}

/*
 * Answers
 */

static const struct {
	int status;
	enum agent_message_kind kind;
} statuses[] = {
	{ 400, AGENT_MESSAGE_REFUSED }, { 401, AGENT_MESSAGE_REFUSED },
	{ 403, AGENT_MESSAGE_REFUSED }, { 404, AGENT_MESSAGE_OVER },
	{ 503, AGENT_MESSAGE_BUSY },
};

static enum agent_message_kind agent_messages_kind_of(int status)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		if (statuses[i].status == status)
			return statuses[i].kind;
	return AGENT_MESSAGE_FAILED;
}

static void read_refusal(struct agent_message *reply, int status, const json_t *answer,
			 struct error *error)
{
	const char *message =
		json_get_string(json_object_get(answer, "error"), "message", "no reason given");

	reply->kind = agent_messages_kind_of(status);
	reply->body = json_object();
	if (status == 401)
		error_set(error, "the token was refused: set PROBETUI_TOKEN to the token of the "
				 "program, or PROBETUI_TOKEN_FILE to a file with it");
	else if (status == 409)
		error_set(error, "the connection to the agent was closed before the answer; the "
				 "request may have been carried out, or may still be in progress");
	else
		agent_messages_quote(error, "the agent refused the request: ", message);
}

/*
 * Returns the object of an answer. If the agent refused the request or the answer has no object,
 * returns NULL and sets *reply and error.
 */
static json_t *agent_messages_read_object(struct agent_message *reply, int status,
					  const char *bytes, size_t length, struct error *error)
{
	json_t *answer = agent_messages_parse(bytes, length, error);

	*reply = (struct agent_message){ .kind = AGENT_MESSAGE_SENSELESS };
	if (status != 200 && (status < 400 || status > 599)) {
		error_set(error, "the server is not an agent: it answers with HTTP status %d",
			  status);
	} else if (status != 200) {
		read_refusal(reply, status, answer, error);
	} else if (answer && json_is_object(answer)) {
		return answer;
	} else if (answer) {
		error_set(error, "the agent's answer is invalid");
	}
	json_decref(answer);
	return NULL;
}

void agent_message_read(struct agent_message *reply, int status, const char *bytes, size_t length,
			struct error *error)
{
	json_t *answer = agent_messages_read_object(reply, status, bytes, length, error);
	json_t *body = json_object_get(answer, "body");
	const json_t *success = json_object_get(answer, "success");

	if (!answer)
		return;
	if (!json_is_boolean(success) || (body && !json_is_object(body) && !json_is_null(body))) {
		error_set(error, "the agent's answer is invalid");
		json_decref(answer);
		return;
	}
	reply->kind = json_is_true(success) ? AGENT_MESSAGE_DONE : AGENT_MESSAGE_FAILED;
	reply->body = json_is_object(body) ? json_incref(body) : json_object();
	if (reply->kind == AGENT_MESSAGE_FAILED)
		agent_messages_quote(
			error, "",
			json_get_string(answer, "message",
					"the agent refused the request, and gave no reason"));
	json_decref(answer);
}

void agent_message_read_plain(struct agent_message *reply, int status, const char *bytes,
			      size_t length, struct error *error)
{
	json_t *answer = agent_messages_read_object(reply, status, bytes, length, error);

	if (!answer)
		return;
	reply->kind = AGENT_MESSAGE_DONE;
	reply->body = answer;
}

static bool is_event(const json_t *event)
{
	const json_t *body = json_object_get(event, "body");

	return json_get_string(event, "event", NULL) &&
	       (!body || json_is_object(body) || json_is_null(body));
}

static bool are_events(const json_t *events)
{
	if (!json_is_array(events) || json_array_size(events) > AGENT_MESSAGE_EVENTS_MAXIMUM + 1)
		return false;
	for (size_t i = 0; i < json_array_size(events); i++)
		if (!is_event(json_array_get(events, i)))
			return false;
	return true;
}

void agent_message_read_events(struct agent_message *reply, int status, const char *bytes,
			       size_t length, json_t **owned_events, int64_t *next,
			       struct error *error)
{
	json_t *answer = agent_messages_read_object(reply, status, bytes, length, error);
	json_t *events = json_object_get(answer, "events");

	*owned_events = NULL;
	if (!answer)
		return;
	*next = json_get_integer(answer, "next", -1);
	if (*next < 0 || !are_events(events)) {
		error_set(error, "the agent's answer is invalid");
	} else {
		reply->kind = AGENT_MESSAGE_DONE;
		reply->body = json_object();
		*owned_events = json_incref(events);
	}
	json_decref(answer);
}

void agent_message_clear(struct agent_message *reply)
{
	json_decref(reply->body);
	reply->body = NULL;
}

#define CHAIN_MAXIMUM 16

/*
 * Returns the last part of a qualified name: "step" for "Net.step", "<lambda>" for
 * "main.<locals>.<lambda>".
 */
static const char *agent_frames_last_part(const char *qualname)
{
	const char *dot = strrchr(qualname, '.');

	return dot && dot[1] ? dot + 1 : qualname;
}

static void agent_frames_read_frame(struct halt_frame *frame, const json_t *told)
{
	const json_t *source = json_object_get(told, "source");
	const char *name = json_get_string(told, "name", "?");
	const char *file = json_get_string(source, "path", NULL);
	int first = json_get_count(told, "firstLine");

	if (!file)
		file = json_get_string(source, "name", "?");
	frame->code = (struct code){
		.func = xstrdup(agent_frames_last_part(name)),
		.qualname = xstrdup_or_null(json_get_string(told, "qualname", NULL)),
		.file = xstrdup(json_get_string(told, "file", file)),
		.first_lineno = first,
		.type = FRAME_PYTHON,
	};
	frame->line = json_get_count(told, "line");
	frame->id = json_get_integer(told, "id", 0);
	frame->reference = json_get_integer(source, "sourceReference", 0);
}

bool agent_frames_read(struct halt_frame **frames, size_t *count, const json_t *body)
{
	const json_t *list = json_object_get(body, "stackFrames");
	int64_t total = json_get_integer(body, "totalFrames", 0);
	size_t more = json_array_size(list);

	if (more > STACK_FRAMES_MAXIMUM - *count)
		more = STACK_FRAMES_MAXIMUM - *count;
	*frames = xrealloc(*frames, (*count + more + 1) * sizeof(**frames));
	for (size_t i = 0; i < more; i++)
		agent_frames_read_frame(&(*frames)[*count + i], json_array_get(list, i));
	*count += more;
	return more > 0 && total > 0 && *count < STACK_FRAMES_MAXIMUM && *count < (size_t)total;
}

void agent_frames_free(struct halt_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(frames[i].code.func);
		free(frames[i].code.qualname);
		free(frames[i].code.file);
	}
	free(frames);
}

const struct stack *agent_frames_intern(const struct halt_frame *frames, size_t count,
					struct stack_table *stacks)
{
	struct frame *interned = xcalloc(count + 1, sizeof(*interned));
	const struct stack *stack;

	for (size_t i = 0; i < count; i++) {
		interned[i].code = stack_table_code(stacks, &frames[i].code);
		interned[i].lineno = frames[i].line;
	}
	stack = stack_table_stack(stacks, interned, count, 0);
	free(interned);
	return stack;
}

static void agent_frames_append_exception(struct buffer *out, const char *relation,
					  const json_t *details)
{
	debugger_append_exception(out, relation,
				  json_get_string(details, "typeName", "an exception"),
				  json_get_string(details, "message", ""));
}

/*
 * Appends the causes of an exception: DAP nests them; the key "relation" (cause or context) is an
 * extension of the agent.
 */
static void append_chain(struct buffer *out, const json_t *details)
{
	for (int i = 0; i < CHAIN_MAXIMUM; i++) {
		const json_t *inner = json_array_get(json_object_get(details, "innerException"), 0);

		if (!json_is_object(inner))
			return;
		agent_frames_append_exception(out, json_get_string(inner, "relation", ""), inner);
		details = inner;
	}
}

char *agent_frames_read_exception(const json_t *body)
{
	const json_t *details = json_object_get(body, "details");
	struct buffer out = BUFFER_INIT;

	if (json_get_string(details, "typeName", NULL)) {
		agent_frames_append_exception(&out, NULL, details);
		append_chain(&out, details);
	} else if (json_get_string(body, "exceptionId", NULL)) {
		buffer_append_string(&out, json_get_string(body, "exceptionId", ""));
	} else {
		return NULL;
	}
	return buffer_take(&out);
}
