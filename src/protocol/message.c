#include "protocol/message.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/field.h"
#include "protocol/stack.h"
#include "protocol/tensor.h"
#include "protocol/tensoranswer.h"

#define NAME_MAXIMUM 64
#define ERROR_MAXIMUM 4096

struct message_kind {
	const char *name;
	const char *name_key;
	const char *body_key;
};

static const struct message_kind kinds[] = {
	[MESSAGE_REQUEST] = { "request", "command", "arguments" },
	[MESSAGE_RESPONSE] = { "response", "command", "body" },
	[MESSAGE_EVENT] = { "event", "event", "body" },
};

static const char *const event_names[] = {
#define EVENT(kind, name, ...) [EVENT_##kind] = name,
#include "protocol/messages.def"
};

const char *event_kind_name(enum event_kind kind)
{
	return event_names[kind];
}

enum event_kind event_kind_find(const char *name)
{
	int kind = 0;

	while (kind < EVENT_KIND_COUNT && strcmp(event_names[kind], name) != 0)
		kind++;
	return (enum event_kind)kind;
}

void message_clear(struct message *message)
{
	free(message->name);
	free(message->error);
	json_decref(message->body);
	*message = (struct message){ .time = -1 };
}

static void message_make(struct message *message, enum message_type type, const char *name,
			 json_t *owned_body)
{
	*message = (struct message){
		.type = type,
		.name = xstrdup(name),
		.body = owned_body ? owned_body : json_object(),
		.time = -1,
	};
}

void message_make_request(struct message *message, const char *command, json_t *owned_arguments)
{
	message_make(message, MESSAGE_REQUEST, command, owned_arguments);
}

void message_make_event(struct message *message, const char *event, json_t *owned_body)
{
	message_make(message, MESSAGE_EVENT, event, owned_body);
}

void message_make_response(struct message *message, const struct message *request,
			   json_t *owned_body, const char *error)
{
	message_make(message, MESSAGE_RESPONSE, request->name, owned_body);
	message->request_seq = request->seq;
	message->is_success = !error;
	message->error = xstrdup_or_null(error);
}

static void message_append_value(struct buffer *out, const char *key, json_t *owned_value)
{
	buffer_printf(out, ",\"%s\":", key);
	json_append(out, owned_value);
	json_decref(owned_value);
}

/* Appends the time with microseconds. In some locales, "%f" writes a comma as decimal point. */
static void message_append_time(struct buffer *out, double time)
{
	uint64_t microseconds = time < 1e12 ? (uint64_t)(time * 1e6 + 0.5) : 0;

	buffer_printf(out, "\"time\":%" PRIu64 ".%06" PRIu64 ",", microseconds / 1000000,
		      microseconds % 1000000);
}

void message_append(struct buffer *out, const struct message *message)
{
	const struct message_kind *kind = &kinds[message->type];

	buffer_append_char(out, '{');
	if (message->time >= 0)
		message_append_time(out, message->time);
	buffer_printf(out, "\"seq\":%lld,\"type\":\"%s\"", (long long)message->seq, kind->name);
	if (message->type == MESSAGE_RESPONSE)
		buffer_printf(out, ",\"request_seq\":%lld,\"success\":%s",
			      (long long)message->request_seq,
			      message->is_success ? "true" : "false");
	message_append_value(out, kind->name_key, field_text(message->name, NAME_MAXIMUM));
	if (message->type == MESSAGE_RESPONSE && !message->is_success)
		message_append_value(
			out, "message",
			field_text(message->error ? message->error : "", ERROR_MAXIMUM));
	buffer_printf(out, ",\"%s\":", kind->body_key);
	if (message->body)
		json_append(out, message->body);
	else
		buffer_append_string(out, "{}");
	buffer_append_string(out, "}\n");
}

static int parse_seq(const json_t *object, const char *key, int64_t *seq, struct error *error)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return error_set(error, "message: \"%s\" is not a number from 0", key);
	*seq = json_integer_value(value);
	return 0;
}

static int parse_type(struct message *message, const json_t *object, struct error *error)
{
	const char *type = json_get_string(object, "type", "");

	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
		if (strcmp(type, kinds[i].name) == 0) {
			message->type = (enum message_type)i;
			return 0;
		}
	}
	return error_set(error, "message: \"type\" is not request, response or event");
}

static int message_parse_name(struct message *message, const json_t *object, struct error *error)
{
	const char *key = kinds[message->type].name_key;
	const char *name = json_get_string(object, key, "");

	if (name[0] == '\0' || strlen(name) > NAME_MAXIMUM)
		return error_set(error, "message: \"%s\" is not a valid name", key);
	message->name = xstrdup(name);
	return 0;
}

static int parse_outcome(struct message *message, const json_t *object, struct error *error)
{
	const json_t *success = json_object_get(object, "success");
	const char *text = json_get_string(object, "message", NULL);

	if (parse_seq(object, "request_seq", &message->request_seq, error) < 0)
		return -1;
	if (!json_is_boolean(success))
		return error_set(error, "message: \"success\" is not true or false");
	message->is_success = json_is_true(success);
	if (message->is_success)
		return 0;
	if (!text || strlen(text) > ERROR_MAXIMUM)
		return error_set(error, "message: a failed response has no valid \"message\"");
	message->error = xstrdup(text);
	return 0;
}

static int parse_body(struct message *message, const json_t *object, struct error *error)
{
	const char *key = kinds[message->type].body_key;
	json_t *body = json_object_get(object, key);

	if (!body || json_is_null(body)) {
		message->body = json_object();
		return 0;
	}
	if (!json_is_object(body))
		return error_set(error, "message: \"%s\" is not an object", key);
	message->body = json_incref(body);
	return 0;
}

static int message_parse_time(struct message *message, const json_t *object, struct error *error)
{
	const json_t *time = json_object_get(object, "time");

	if (!time)
		return 0;
	if (!json_is_number(time) || !(json_number_value(time) >= 0))
		return error_set(error, "message: \"time\" is not a number of seconds");
	message->time = json_number_value(time);
	return 0;
}

int message_parse(struct message *message, const char *line, size_t length, struct error *error)
{
	json_t *object;
	int result = -1;

	*message = (struct message){ .time = -1 };
	if (length > MESSAGE_LINE_MAXIMUM)
		return error_set(error, "message: a line of %zu bytes is too long", length);
	object = json_parse(line, length, error);
	if (!object)
		return error_prefix(error, "message");
	if (!json_is_object(object))
		error_set(error, "message: not a JSON object");
	else if (parse_type(message, object, error) == 0 &&
		 parse_seq(object, "seq", &message->seq, error) == 0 &&
		 message_parse_name(message, object, error) == 0 &&
		 parse_body(message, object, error) == 0 &&
		 message_parse_time(message, object, error) == 0 &&
		 (message->type != MESSAGE_RESPONSE || parse_outcome(message, object, error) == 0))
		result = 0;
	json_decref(object);
	if (result < 0)
		message_clear(message);
	return result;
}

enum argument_type {
	ARGUMENT_VALUE,
	ARGUMENT_BOOLEAN,
	ARGUMENT_INTEGER,
	ARGUMENT_NUMBER,
	ARGUMENT_TEXT,
	ARGUMENT_WORD,
	ARGUMENT_ADDRESS,
	ARGUMENT_LIST,
	ARGUMENT_PROCESS,
	ARGUMENT_PROCESSES,
};

struct argument {
	const char *key; /* NULL: end of the list */
	enum argument_type type;
	double minimum; /* minimum and maximum: only for ARGUMENT_INTEGER and ARGUMENT_NUMBER */
	double maximum;
	const char *words; /* ARGUMENT_WORD: the words, separated by spaces */
	bool is_required;
};

#define VALUE(name) .key = name, .type = ARGUMENT_VALUE
#define BOOLEAN(name) .key = name, .type = ARGUMENT_BOOLEAN
#define INTEGER(name, from, to)                                                                    \
	.key = name, .type = ARGUMENT_INTEGER, .minimum = from, .maximum = to
#define NUMBER(name, from, to) .key = name, .type = ARGUMENT_NUMBER, .minimum = from, .maximum = to
#define TEXT(name) .key = name, .type = ARGUMENT_TEXT
#define WORD(name, list) .key = name, .type = ARGUMENT_WORD, .words = list
#define ADDRESS(name) .key = name, .type = ARGUMENT_ADDRESS
#define LIST(name) .key = name, .type = ARGUMENT_LIST
#define PROCESS(name) .key = name, .type = ARGUMENT_PROCESS
#define PROCESSES(name) .key = name, .type = ARGUMENT_PROCESSES
#define FIELD(...) { __VA_ARGS__ },
#define MUST(...) { __VA_ARGS__, .is_required = true },

#define REQUEST(kind, name, effect, reader, tracer, agent, pdb, words, fields)                     \
	static const struct argument kind##_arguments[] = { fields{ .key = NULL } };
#define INNER_REQUEST(...)
#define NODE_REQUEST(kind, name, effect, words, fields)                                            \
	static const struct argument kind##_arguments[] = { fields{ .key = NULL } };
#include "protocol/requests.def"

enum request_effect { READS, CHANGES };

struct row {
	const char *name;
	enum request_effect effect;
	const struct argument *arguments; /* NULL: a request inside the node, never on the pipe */
};

static const struct row rows[] = {
#define REQUEST(kind, name, effect, ...) [REQUEST_##kind] = { name, effect, kind##_arguments },
#define INNER_REQUEST(kind, name, effect, ...) [REQUEST_##kind] = { name, effect, NULL },
#define NODE_REQUEST(kind, name, effect, ...) [REQUEST_##kind] = { name, effect, kind##_arguments },
#include "protocol/requests.def"
};

const char *request_kind_name(enum request_kind kind)
{
	return rows[kind].name;
}

enum request_kind request_kind_find(const char *name)
{
	int kind = 0;

	while (kind < REQUEST_KIND_COUNT &&
	       (!rows[kind].arguments || strcmp(rows[kind].name, name) != 0))
		kind++;
	return (enum request_kind)kind;
}

bool request_kind_changes(enum request_kind kind)
{
	return rows[kind].effect == CHANGES;
}

static bool is_word(const char *words, const char *text)
{
	size_t length = strlen(text);

	while (words) {
		size_t next = strcspn(words, " ");

		if (next == length && memcmp(words, text, length) == 0)
			return true;
		words = words[next] ? words + next + 1 : NULL;
	}
	return false;
}

static bool is_process(const json_t *value)
{
	json_int_t number = json_integer_value(value);

	return json_is_integer(value) && number > 0 && number <= INT32_MAX;
}

static bool are_processes(const json_t *array)
{
	size_t count = json_array_size(array);
	size_t i = 0;

	while (i < count && count <= PROCESSES_MAXIMUM && is_process(json_array_get(array, i)))
		i++;
	return json_is_array(array) && i == count;
}

static bool request_kind_is_within(const struct argument *argument, const json_t *value)
{
	double number = json_number_value(value);

	return json_is_number(value) && number >= argument->minimum && number <= argument->maximum;
}

static bool request_kind_is_valid(const struct argument *argument, const json_t *arguments,
				  const json_t *value)
{
	switch (argument->type) {
	case ARGUMENT_VALUE:
		return true;
	case ARGUMENT_BOOLEAN:
		return json_is_boolean(value);
	case ARGUMENT_INTEGER:
		return json_is_integer(value) && request_kind_is_within(argument, value);
	case ARGUMENT_NUMBER:
		return request_kind_is_within(argument, value);
	case ARGUMENT_TEXT:
		return json_is_string(value);
	case ARGUMENT_WORD:
		return json_is_string(value) && is_word(argument->words, json_string_value(value));
	case ARGUMENT_ADDRESS:
		return json_get_hex(arguments, argument->key) != 0;
	case ARGUMENT_LIST:
		return json_is_array(value);
	case ARGUMENT_PROCESS:
		return is_process(value);
	case ARGUMENT_PROCESSES:
		return are_processes(value);
	}
	return false;
}

static int request_kind_refuse(const char *name, const struct argument *argument,
			       struct error *error)
{
	static const char *const wanted[] = {
		[ARGUMENT_BOOLEAN] = "true or false",
		[ARGUMENT_TEXT] = "a string",
		[ARGUMENT_WORD] = "one of: ",
		[ARGUMENT_ADDRESS] = "an address such as \"0x1f\"",
		[ARGUMENT_LIST] = "a list",
		[ARGUMENT_PROCESS] = "a process id",
		[ARGUMENT_PROCESSES] = "a list of process ids",
	};
	enum argument_type type = argument->type;

	if (type == ARGUMENT_PROCESS || type == ARGUMENT_PROCESSES)
		return error_set(error, "\"%s\" is not %s", argument->key, wanted[type]);
	if (type == ARGUMENT_INTEGER || type == ARGUMENT_NUMBER)
		return error_set(error, "%s: \"%s\" must be a number from %.15g to %.15g", name,
				 argument->key, argument->minimum, argument->maximum);
	return error_set(error, "%s: \"%s\" must be %s%s", name, argument->key, wanted[type],
			 argument->words ? argument->words : "");
}

int request_check(enum request_kind kind, const json_t *arguments, struct error *error)
{
	const struct argument *argument = rows[kind].arguments;

	for (; argument && argument->key; argument++) {
		const json_t *value = json_object_get(arguments, argument->key);
		bool is_there = value && !json_is_null(value);

		if (is_there ? !request_kind_is_valid(argument, arguments, value)
			     : argument->is_required)
			return request_kind_refuse(rows[kind].name, argument, error);
	}
	return 0;
}
