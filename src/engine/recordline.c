#include "engine/recordline.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/map.h"
#include "base/secret.h"
#include "protocol/debugger.h"
#include "protocol/message.h"
#include "protocol/stack.h"

/* With more masked objects than this, members of all objects are masked. */
#define SECRETS_MAXIMUM 65536
/* Maximum number of requests that are remembered until their answers come. */
#define QUESTIONS_MAXIMUM 4096

/* A variable is secret by its name or by its value: {'api_key': 'sk-...'}. */
static bool is_secret(const json_t *variable)
{
	return secret_is_in(json_get_string(variable, "name", "")) ||
	       secret_is_in(json_get_string(variable, "value", ""));
}

static void recordline_release(void *json)
{
	json_decref(json);
}

void recordline_rules_init(struct recordline_rules *rules)
{
	*rules = (struct recordline_rules){
		.secrets = strmap_new(NULL),
		.questions = map_new(NULL),
		.asked = map_new(recordline_release),
	};
}

void recordline_rules_clear(struct recordline_rules *rules)
{
	strmap_free(rules->secrets);
	rules->secrets = NULL;
	map_free(rules->questions);
	rules->questions = NULL;
	map_free(rules->asked);
	rules->asked = NULL;
}

/* Key of an object of a process: "PID:ADDRESS". */
struct object_key {
	char text[48];
};

static struct object_key recordline_key_of(const json_t *body, uint64_t address)
{
	struct object_key key;

	snprintf(key.text, sizeof(key.text), "%" PRId64 ":%" PRIx64,
		 json_get_integer(body, "pid", 0), address);
	return key;
}

static void remember_secret(struct recordline_rules *rules, const json_t *body, uint64_t address)
{
	if (address != 0 && strmap_count(rules->secrets) < SECRETS_MAXIMUM)
		strmap_put(rules->secrets, recordline_key_of(body, address).text, rules);
}

/*
 * True if the answer is about members of a masked object. With SECRETS_MAXIMUM masked objects every
 * object counts as masked.
 */
static bool is_in_secret(const struct recordline_rules *rules, const json_t *body)
{
	uint64_t address = json_get_hex(body, "address");

	if (address == 0)
		return false;
	return strmap_count(rules->secrets) >= SECRETS_MAXIMUM ||
	       strmap_find(rules->secrets, recordline_key_of(body, address).text);
}

/* Context of a message from which a line is made. */
struct making {
	struct buffer *out;
	const struct message *message;
	struct recordline_rules *rules;
	const struct stack_table *from;
	struct stack_table *to;
};

static bool wants(const struct making *making, enum recordline_extra extra)
{
	return making->rules->extras & (int)extra;
}

/* Appends the message with another body. */
static enum recordline recordline_change(const struct making *making, json_t *owned_body)
{
	struct message changed = *making->message;

	changed.body = owned_body;
	message_append(making->out, &changed);
	json_decref(owned_body);
	return RECORDLINE_CHANGED;
}

/* Masks the secrets in the text of object at key; returns true if the text has changed. */
static bool recordline_mask_text(json_t *object, const char *key)
{
	const char *text = json_get_string(object, key, NULL);
	struct buffer masked = BUFFER_INIT;
	bool is_changed;

	if (!text)
		return false;
	secret_mask(&masked, text);
	is_changed = strcmp(masked.data, text) != 0;
	if (is_changed)
		json_set_text(object, key, masked.data);
	buffer_clear(&masked);
	return is_changed;
}

static enum recordline recordline_make_variables(const struct making *making)
{
	const json_t *body = making->message->body;
	bool is_all = is_in_secret(making->rules, body);
	bool is_changed = false;
	json_t *variable;
	json_t *masked;
	size_t i;

	if (!wants(making, RECORDLINE_VARIABLES))
		return RECORDLINE_LEFT_OUT;
	masked = json_deep_copy(body);
	json_array_foreach(json_object_get(masked, "variables"), i, variable)
	{
		if (!is_all && !is_secret(variable))
			continue;
		remember_secret(making->rules, masked, json_get_hex(variable, "address"));
		json_set_text(variable, "value", SECRET_MASK);
		is_changed = true;
	}
	if (is_changed)
		return recordline_change(making, masked);
	json_decref(masked);
	return RECORDLINE_AS_IT_IS;
}

/*
 * Masks secrets in a request. Remembers a request that mentions a secret, as its answer does not
 * repeat the expression or code.
 */
static enum recordline recordline_make_question(const struct making *making)
{
	static const char *const fields[] = { "expression", "code", "text" };
	const struct message *message = making->message;
	json_t *body = json_copy(message->body);
	bool is_changed = false;

	for (size_t i = 0; i < ARRAY_LENGTH(fields); i++) {
		const char *text = json_get_string(body, fields[i], "");

		if (!secret_is_in(text))
			continue;
		map_put(making->rules->questions, (uint64_t)message->seq, making->rules);
		is_changed |= recordline_mask_text(body, fields[i]);
	}
	if (is_changed)
		return recordline_change(making, body);
	json_decref(body);
	return RECORDLINE_AS_IT_IS;
}

/*
 * Like recordline_make_question(); also remembers the masked arguments, which will be added to the
 * answer.
 */
static enum recordline make_query(const struct making *making)
{
	const struct message *message = making->message;
	json_t *asked = json_copy(message->body);

	recordline_mask_text(asked, "expression");
	if (map_count(making->rules->asked) < QUESTIONS_MAXIMUM)
		map_put(making->rules->asked, (uint64_t)message->seq, asked);
	else
		json_decref(asked);
	return recordline_make_question(making);
}

static void mask_value(json_t *body, bool is_all)
{
	json_t *value = json_deep_copy(json_object_get(body, "value"));

	if (value && (is_all || is_secret(value)))
		json_set_text(value, "value", SECRET_MASK);
	if (value)
		json_object_set_new(body, "value", value);
	if (is_all)
		json_object_set_new(body, "tensor", json_null());
	if (is_all)
		json_object_del(body, "slice");
}

/* Elements of tensors are left out: recordings would become as large as the tensors. */
static enum recordline make_elements(const struct making *making)
{
	const struct message *message = making->message;
	struct recordline_rules *rules = making->rules;
	uint64_t question = (uint64_t)message->request_seq;
	bool is_all = map_find(rules->questions, question) != NULL;
	json_t *asked = json_incref(map_find(rules->asked, question));
	json_t *body = json_copy(message->body);

	map_remove(rules->questions, question);
	map_remove(rules->asked, question);
	if (!wants(making, RECORDLINE_VARIABLES) || !message->is_success ||
	    (is_all && json_object_get(body, "parameters"))) {
		json_decref(asked);
		json_decref(body);
		return RECORDLINE_LEFT_OUT;
	}
	if (asked)
		json_object_set_new(body, "asked", asked);
	json_object_del(body, "data");
	mask_value(body, is_all);
	return recordline_change(making, body);
}

/*
 * Makes the line of a request that sets a variable: the new value is left out like values of
 * variables, and masked if the name is that of a secret.
 */
static enum recordline make_setting(const struct making *making)
{
	const struct message *message = making->message;
	const char *name = json_get_string(message->body, "name", "");
	const char *value = json_get_string(message->body, "value", "");
	bool is_secret_name = secret_is_in(name) || secret_is_in(value);
	json_t *body;

	if (is_secret_name)
		map_put(making->rules->questions, (uint64_t)message->seq, making->rules);
	if (!is_secret_name && wants(making, RECORDLINE_VARIABLES))
		return RECORDLINE_AS_IT_IS;
	body = json_copy(message->body);
	json_set_text(body, "value", SECRET_MASK);
	return recordline_change(making, body);
}

static enum recordline recordline_make_answer(const struct making *making)
{
	const struct message *message = making->message;
	struct map *questions = making->rules->questions;
	uint64_t question = (uint64_t)message->request_seq;
	bool is_all = map_find(questions, question) != NULL;
	json_t *body;

	map_remove(questions, question);
	if (!wants(making, RECORDLINE_VARIABLES) || !message->is_success)
		return RECORDLINE_LEFT_OUT;
	body = json_copy(message->body);
	if (is_all || secret_is_in(json_get_string(body, "result", ""))) {
		remember_secret(making->rules, body, json_get_hex(body, "address"));
		json_set_text(body, "result", SECRET_MASK);
	}
	if (is_all && json_object_get(body, "output"))
		json_set_text(body, "output", SECRET_MASK);
	recordline_mask_text(body, "output");
	return recordline_change(making, body);
}

/* Removes typed text, which may be a password; a replay has no use for it. */
static enum recordline make_typed(const struct making *making)
{
	json_t *body = json_copy(making->message->body);

	json_object_del(body, "data");
	return recordline_change(making, body);
}

/*
 * Masks secrets in the description of a data breakpoint, "total: 3 -> 4"; cuts the values off if
 * variables are not recorded.
 */
static bool mask_change(const struct recordline_rules *rules, json_t *json)
{
	const char *reason = json_get_string(json, "reason", "");
	const char *text = json_get_string(json, "description", "");
	const char *colon = strstr(text, ": ");

	if (!colon || strcmp(reason, stop_reason_name(STOP_DATA_BREAKPOINT)))
		return false;
	if (rules->extras & RECORDLINE_VARIABLES)
		return recordline_mask_text(json, "description");
	json_object_set_new(json, "description", json_stringn(text, (size_t)(colon - text)));
	return true;
}

/* Masks the command line as one text: a secret may be the word that follows --token. */
static enum recordline make_launch(const struct making *making)
{
	json_t *body = json_deep_copy(making->message->body);
	json_t *argv = json_object_get(body, "argv");
	struct buffer line = BUFFER_INIT;
	struct buffer masked = BUFFER_INIT;

	for (size_t i = 0; i < json_array_size(argv); i++)
		buffer_printf(&line, "%s%s", i > 0 ? " " : "",
			      json_string_value(json_array_get(argv, i)));
	secret_mask(&masked, line.data);
	json_object_set_new(body, "argv", json_pack("[o]", json_text(masked.data)));
	buffer_clear(&masked);
	buffer_clear(&line);
	return recordline_change(making, body);
}

/* Masks literals in a source file that are values of secrets. */
static enum recordline recordline_make_source(const struct making *making)
{
	const json_t *body = making->message->body;
	const char *content = json_get_string(body, "content", NULL);
	struct buffer masked = BUFFER_INIT;
	enum recordline result = RECORDLINE_AS_IT_IS;
	json_t *changed;

	if (!content)
		return RECORDLINE_AS_IT_IS;
	secret_mask_source(&masked, content);
	if (masked.length > 0 && strcmp(masked.data, content) != 0) {
		changed = json_copy(making->message->body);
		json_set_text(changed, "content", masked.data);
		result = recordline_change(making, changed);
	}
	buffer_clear(&masked);
	return result;
}

/* Masks values that were returned or raised, like values of variables. */
static bool mask_debugger(const struct recordline_rules *rules, json_t *json)
{
	const char *value = json_get_string(json, "value", NULL);
	bool is_changed = recordline_mask_text(json, "exception");
	json_t *binding;
	size_t i;

	if (value && !(rules->extras & RECORDLINE_VARIABLES)) {
		json_object_set_new(json, "value", json_null());
		is_changed = true;
	} else if (value && secret_is_in(value)) {
		json_set_text(json, "value", SECRET_MASK);
		is_changed = true;
	}
	is_changed |= mask_change(rules, json);
	json_array_foreach(json_object_get(json, "breakpoints"), i, binding)
	{
		is_changed |= recordline_mask_text(binding, "condition");
		is_changed |= recordline_mask_text(binding, "watch");
	}
	return is_changed;
}

static enum recordline make_debugger(const struct making *making)
{
	json_t *body = json_deep_copy(making->message->body);

	if (mask_debugger(making->rules, body))
		return recordline_change(making, body);
	json_decref(body);
	return RECORDLINE_AS_IT_IS;
}

void recordline_mask_snapshot(json_t *snapshot, const struct recordline_rules *rules)
{
	json_t *rank;
	json_t *thread;
	size_t i, j;

	json_array_foreach(json_object_get(snapshot, "ranks"), i, rank)
	{
		mask_debugger(rules, json_object_get(rank, "debugger"));
		json_array_foreach(json_object_get(json_object_get(rank, "sample"), "threads"), j,
				   thread)
		{
			recordline_mask_text(thread, "raised");
		}
	}
}

/*
 * Replaces the node's stack id at key by the recording's stack id; appends the stack to stacks if
 * the segment does not have it yet.
 */
static void rename_stack(json_t *json, const char *key, json_t *stacks,
			 const struct stack_table *from, struct stack_table *to)
{
	int64_t id = json_get_integer(json, key, 0);
	const struct stack *stack = id > 0 ? stack_table_find(from, (uint64_t)id) : NULL;
	json_t *sent;

	if (!stack) {
		json_object_del(json, key);
		return;
	}
	stack = stack_table_copy(to, stack);
	sent = stack_table_send(to, stack);
	if (sent)
		json_array_append_new(stacks, sent);
	json_object_set_new(json, key, json_integer((json_int_t)stack->id));
}

/* Makes the line that the node would have sent if it had been started with the segment. */
static enum recordline make_sample(const struct making *making)
{
	json_t *sent = making->message->body;
	json_t *stacks = json_array();
	json_t *threads = json_array();
	json_t *body = json_copy(sent);
	json_t *thread;
	size_t i;

	json_array_foreach(json_object_get(sent, "threads"), i, thread)
	{
		json_t *copy = json_copy(thread);

		rename_stack(copy, "stack", stacks, making->from, making->to);
		rename_stack(copy, "native", stacks, making->from, making->to);
		rename_stack(copy, "raised_stack", stacks, making->from, making->to);
		recordline_mask_text(copy, "raised");
		json_array_append_new(threads, copy);
	}
	json_object_set_new(body, "threads", threads);
	json_object_set(body, "stacks", stacks);
	if (json_array_size(stacks) == 0)
		json_object_del(body, "stacks");
	json_decref(stacks);
	return recordline_change(making, body);
}

/*
 * Leaves the line out: the recording's own ids stay valid, as each segment defines its stacks
 * again.
 */
static enum recordline make_dropped(const struct making *making)
{
	stack_table_forget_copies(making->to);
	return RECORDLINE_LEFT_OUT;
}

/* Debugger consoles and log points print values of variables, too. */
static bool has_values(const char *category)
{
	return strcmp(category, "terminal") == 0 || strcmp(category, "console") == 0;
}

/*
 * Output of a process is recorded only if the rules allow it; output events of the node itself are
 * always recorded.
 */
static enum recordline make_output(const struct making *making)
{
	const json_t *body = making->message->body;
	const char *category = json_get_string(body, "category", "");
	bool is_sentence = making->message->type == MESSAGE_EVENT &&
			   !json_object_get(body, "pid") && strcmp(category, "job") != 0;
	json_t *masked;

	if (is_sentence)
		return RECORDLINE_AS_IT_IS;
	if (!wants(making, RECORDLINE_OUTPUT) ||
	    (has_values(category) && !wants(making, RECORDLINE_VARIABLES)))
		return RECORDLINE_LEFT_OUT;
	masked = json_copy(making->message->body);
	if (recordline_mask_text(masked, "output"))
		return recordline_change(making, masked);
	json_decref(masked);
	return RECORDLINE_AS_IT_IS;
}

/* Messages that are not listed here are recorded unchanged. */
static const struct {
	enum message_type type;
	const char *name;
	enum recordline (*make)(const struct making *making);
} makers[] = {
	{ MESSAGE_EVENT, "sampled", make_sample },
	{ MESSAGE_EVENT, "stacksDropped", make_dropped },
	{ MESSAGE_EVENT, "output", make_output },
	{ MESSAGE_EVENT, "debugger", make_debugger },
	{ MESSAGE_EVENT, "stopped", make_debugger },
	{ MESSAGE_EVENT, "continued", make_debugger },
	{ MESSAGE_RESPONSE, "output", make_output },
	{ MESSAGE_RESPONSE, "variables", recordline_make_variables },
	{ MESSAGE_RESPONSE, "source", recordline_make_source },
	{ MESSAGE_REQUEST, "evaluate", recordline_make_question },
	{ MESSAGE_RESPONSE, "evaluate", recordline_make_answer },
	{ MESSAGE_REQUEST, "tensor", make_query },
	{ MESSAGE_RESPONSE, "tensor", make_elements },
	{ MESSAGE_REQUEST, "parameters", make_query },
	{ MESSAGE_RESPONSE, "parameters", make_elements },
	{ MESSAGE_REQUEST, "execute", recordline_make_question },
	{ MESSAGE_RESPONSE, "execute", recordline_make_answer },
	{ MESSAGE_REQUEST, "completions", recordline_make_question },
	{ MESSAGE_REQUEST, "setVariable", make_setting },
	{ MESSAGE_RESPONSE, "setVariable", recordline_make_answer },
	{ MESSAGE_REQUEST, "terminalInput", make_typed },
	{ MESSAGE_REQUEST, "jobInput", make_typed },
	{ MESSAGE_REQUEST, "launch", make_launch },
};

enum recordline recordline_make(struct buffer *out, const struct message *message,
				struct recordline_rules *rules, const struct stack_table *from,
				struct stack_table *to)
{
	struct making making = { out, message, rules, from, to };

	for (size_t i = 0; i < ARRAY_LENGTH(makers); i++)
		if (makers[i].type == message->type && strcmp(makers[i].name, message->name) == 0)
			return makers[i].make(&making);
	return RECORDLINE_AS_IT_IS;
}
