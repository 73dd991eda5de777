#include "engine/recordline.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/map.h"
#include "base/secret.h"
#include "protocol/message.h"
#include "protocol/stack.h"

/* When there are more, all that is opened is masked. */
#define SECRETS_MAXIMUM 65536

/* By its name, or by what its value holds: {'api_key': 'sk-...'}. */
static bool is_secret(const json_t *variable)
{
	return secret_is_in(json_get_string(variable, "name", "")) ||
	       secret_is_in(json_get_string(variable, "value", ""));
}

void recordline_rules_init(struct recordline_rules *rules)
{
	*rules = (struct recordline_rules){ .secrets = strmap_new(NULL) };
}

void recordline_rules_clear(struct recordline_rules *rules)
{
	strmap_free(rules->secrets);
	rules->secrets = NULL;
}

/* An object of a process. */
struct object_key {
	char text[48];
};

static struct object_key key_of(const json_t *body, uint64_t address)
{
	struct object_key key;

	snprintf(key.text, sizeof(key.text), "%" PRId64 ":%" PRIx64,
		 json_get_integer(body, "pid", 0), address);
	return key;
}

static void remember_secret(struct recordline_rules *rules, const json_t *body,
			    uint64_t address)
{
	if (address != 0 && strmap_count(rules->secrets) < SECRETS_MAXIMUM)
		strmap_put(rules->secrets, key_of(body, address).text, rules);
}

/* The answer is about what is in a masked object, or may be. */
static bool is_in_secret(const struct recordline_rules *rules,
			 const json_t *body)
{
	uint64_t address = json_get_hex(body, "address");

	if (address == 0)
		return false;
	return strmap_count(rules->secrets) >= SECRETS_MAXIMUM ||
	       strmap_find(rules->secrets, key_of(body, address).text);
}

static enum recordline mask(struct buffer *out, const struct message *message,
			    struct recordline_rules *rules)
{
	struct message masked = *message;
	enum recordline result = RECORDLINE_AS_IT_IS;
	bool is_all = is_in_secret(rules, message->body);
	json_t *variable;
	size_t i;

	masked.body = json_deep_copy(message->body);
	json_array_foreach(json_object_get(masked.body, "variables"), i,
			   variable)
	{
		if (!is_all && !is_secret(variable))
			continue;
		remember_secret(rules, masked.body,
				json_get_hex(variable, "address"));
		json_set_text(variable, "value", SECRET_MASK);
		result = RECORDLINE_CHANGED;
	}
	if (result == RECORDLINE_CHANGED)
		message_append(out, &masked);
	json_decref(masked.body);
	return result;
}

/* The stack that json names at key gets the recording's name of it. */
static void rename_stack(json_t *json, const char *key, json_t *stacks,
			 const struct stack_table *from, struct stack_table *to)
{
	int64_t id = json_get_integer(json, key, 0);
	const struct stack *stack =
		id > 0 ? stack_table_find(from, (uint64_t)id) : NULL;
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

/* As the node would have sent it, had it begun when the chapter did. */
static enum recordline rename_stacks(struct buffer *out,
				     const struct message *message,
				     const struct stack_table *from,
				     struct stack_table *to)
{
	struct message renamed = *message;
	json_t *stacks = json_array();
	json_t *threads = json_array();
	json_t *thread;
	size_t i;

	json_array_foreach(json_object_get(message->body, "threads"), i, thread)
	{
		json_t *copy = json_copy(thread);

		rename_stack(copy, "stack", stacks, from, to);
		rename_stack(copy, "native", stacks, from, to);
		json_array_append_new(threads, copy);
	}
	renamed.body = json_copy(message->body);
	json_object_set_new(renamed.body, "threads", threads);
	json_object_set(renamed.body, "stacks", stacks);
	if (json_array_size(stacks) == 0)
		json_object_del(renamed.body, "stacks");
	message_append(out, &renamed);
	json_decref(stacks);
	json_decref(renamed.body);
	return RECORDLINE_CHANGED;
}

/* What a process printed, and not a sentence of the node. */
static bool is_printed(const struct message *message)
{
	return strcmp(message->name, "output") == 0 &&
	       (message->type == MESSAGE_RESPONSE ||
		json_object_get(message->body, "pid") != NULL);
}

enum recordline recordline_make(struct buffer *out,
				const struct message *message,
				struct recordline_rules *rules,
				const struct stack_table *from,
				struct stack_table *to)
{
	bool is_event = message->type == MESSAGE_EVENT;

	if (is_event && strcmp(message->name, "sampled") == 0)
		return rename_stacks(out, message, from, to);
	/* The recording's names hold on; each chapter gives them anew. */
	if (is_event && strcmp(message->name, "stacksDropped") == 0) {
		stack_table_forget_copies(to);
		return RECORDLINE_LEFT_OUT;
	}
	if (is_printed(message))
		return rules->extras & RECORDLINE_OUTPUT ? RECORDLINE_AS_IT_IS
							 : RECORDLINE_LEFT_OUT;
	if (message->type != MESSAGE_RESPONSE ||
	    strcmp(message->name, "variables") != 0)
		return RECORDLINE_AS_IT_IS;
	return rules->extras & RECORDLINE_VARIABLES ? mask(out, message, rules)
						    : RECORDLINE_LEFT_OUT;
}
