#include "protocol/request-kind.h"

#include <stdint.h>
#include <string.h>

#include "banned.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/stack.h"
#include "protocol/tensor.h"
#include "protocol/tensoranswer.h"

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
	double minimum; /* ARGUMENT_INTEGER, ARGUMENT_NUMBER */
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
	const struct argument *arguments; /* NULL: not on the pipe, only inside the node */
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
		[ARGUMENT_WORD] = "one of the words ",
		[ARGUMENT_ADDRESS] = "an address, as \"0x1f\"",
		[ARGUMENT_LIST] = "a list",
		[ARGUMENT_PROCESS] = "the number of a process",
		[ARGUMENT_PROCESSES] = "a list of processes",
	};
	enum argument_type type = argument->type;

	if (type == ARGUMENT_PROCESS || type == ARGUMENT_PROCESSES)
		return error_set(error, "\"%s\" is not %s.", argument->key, wanted[type]);
	if (type == ARGUMENT_INTEGER || type == ARGUMENT_NUMBER)
		return error_set(error, "%s: \"%s\" is a number from %.15g to %.15g.", name,
				 argument->key, argument->minimum, argument->maximum);
	return error_set(error, "%s: \"%s\" is %s%s.", name, argument->key, wanted[type],
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
