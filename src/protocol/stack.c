/*
 * stack: a table that stores each code object and each stack only once.
 *
 * Code objects and stacks are found by id, and by a hash of their contents; entries with the same
 * hash are a linked list. Frames are compared by the address of their code, since equal code
 * objects have one address.
 *
 * A received stack keeps the id that the sender chose. If a sender gives one stack two ids, both
 * ids lead to the same stack, so equal stacks always have one address. An id that this table
 * chooses is greater than all ids received before.
 */
#include "protocol/stack.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "protocol/field.h"

#define CODE_TEXT_MAXIMUM 4096
#define ID_MAXIMUM (INT64_C(1) << 53)
#define DROPPED_MAXIMUM INT_MAX

/* Bounds of one table, so that no sender can make this program store more. */
#define CODES_MAXIMUM (1u << 20)
#define STACKS_MAXIMUM (1u << 20)
#define FRAMES_MAXIMUM (1u << 26)

/* stack_table_is_full() assumes these averages for a stack: frames, and bytes of text. */
#define FRAMES_PER_STACK 20
#define TEXT_PER_STACK 320

struct code_entry {
	struct code code;
	struct code_entry *next; /* next entry with the same hash */
	bool is_sent;
};

struct stack_entry {
	struct stack stack;
	struct stack_entry *next; /* next entry with the same hash */
};

struct stack_table {
	struct code_entry **codes; /* owned, in order of creation */
	size_t code_count;
	size_t code_capacity;
	struct stack_entry **stacks; /* owned, in order of creation */
	size_t stack_count;
	size_t stack_capacity;
	size_t frame_count; /* frames of all stacks */
	size_t text_length; /* bytes of the text of all code objects */
	struct map *code_hashes;
	struct map *code_ids;
	struct map *stack_hashes;
	struct map *stack_ids;
	struct map *copies; /* stack of another table -> its copy in this table; NULL: none */
	uint64_t last_code_id;
	uint64_t last_stack_id;
	struct frame *received; /* frames of the stack being received */
	size_t received_capacity;
};

struct stack_table *stack_table_new(void)
{
	struct stack_table *table = xcalloc(1, sizeof(*table));

	table->code_hashes = map_new(NULL);
	table->code_ids = map_new(NULL);
	table->stack_hashes = map_new(NULL);
	table->stack_ids = map_new(NULL);
	return table;
}

static void code_entry_free(struct code_entry *entry)
{
	free(entry->code.file);
	free(entry->code.qualname);
	free(entry->code.func);
	free(entry);
}

static void stack_entry_free(struct stack_entry *entry)
{
	free(entry->stack.frames);
	free(entry);
}

void stack_table_free(struct stack_table *table)
{
	if (!table)
		return;
	map_free(table->copies);
	map_free(table->stack_ids);
	map_free(table->stack_hashes);
	map_free(table->code_ids);
	map_free(table->code_hashes);
	for (size_t i = 0; i < table->stack_count; i++)
		stack_entry_free(table->stacks[i]);
	for (size_t i = 0; i < table->code_count; i++)
		code_entry_free(table->codes[i]);
	free(table->received);
	free(table->stacks);
	free(table->codes);
	free(table);
}

/* The mixing step of splitmix64. */
static uint64_t stack_mix(uint64_t hash, uint64_t value)
{
	hash += value + UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
	return hash ^ (hash >> 31);
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	size_t length = text ? strnlen(text, CODE_TEXT_MAXIMUM) : 0;
	uint64_t eight;

	hash = stack_mix(hash, text ? length : UINT64_MAX);
	for (; length >= sizeof(eight); length -= sizeof(eight)) {
		memcpy(&eight, text, sizeof(eight));
		hash = stack_mix(hash, eight);
		text += sizeof(eight);
	}
	if (length == 0)
		return hash;
	eight = 0;
	memcpy(&eight, text, length);
	return stack_mix(hash, eight);
}

static uint64_t code_hash(const struct code *code)
{
	uint64_t hash = stack_mix((uint64_t)code->type, (uint64_t)(int64_t)code->first_lineno);

	hash = mix_text(hash, code->func);
	hash = mix_text(hash, code->qualname);
	return mix_text(hash, code->file);
}

/* Compares up to CODE_TEXT_MAXIMUM bytes, because longer texts are stored cut. */
static bool is_equal_text(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return strncmp(a, b, CODE_TEXT_MAXIMUM) == 0;
}

static bool is_equal_code(const struct code *a, const struct code *b)
{
	return a->type == b->type && a->first_lineno == b->first_lineno &&
	       is_equal_text(a->func, b->func) && is_equal_text(a->file, b->file) &&
	       is_equal_text(a->qualname, b->qualname);
}

static char *stack_copy_text(const char *text)
{
	return text ? xstrndup(text, CODE_TEXT_MAXIMUM) : NULL;
}

/* Replaces a missing name or file by "". */
static struct code stack_complete(const struct code *contents)
{
	struct code code = *contents;

	if (!code.func)
		code.func = "";
	if (!code.file)
		code.file = "";
	return code;
}

/*
 * Returns the table's code object that equals contents; if there is none, adds one under id (0: a
 * new id).
 */
static const struct code *intern_code(struct stack_table *table, const struct code *contents,
				      uint64_t id)
{
	struct code code = stack_complete(contents);
	uint64_t hash = code_hash(&code);
	struct code_entry *first = map_find(table->code_hashes, hash);
	struct code_entry *entry;

	for (entry = first; entry; entry = entry->next)
		if (is_equal_code(&entry->code, &code))
			return &entry->code;
	if (id == 0)
		id = table->last_code_id + 1;
	if (id > table->last_code_id)
		table->last_code_id = id;
	entry = xcalloc(1, sizeof(*entry));
	entry->code = (struct code){
		.id = id,
		.func = stack_copy_text(code.func),
		.qualname = stack_copy_text(code.qualname),
		.file = stack_copy_text(code.file),
		.first_lineno = code.first_lineno,
		.type = code.type,
	};
	table->text_length += strlen(entry->code.func) + strlen(entry->code.file) +
			      (code.qualname ? strlen(entry->code.qualname) : 0);
	entry->next = first;
	map_put(table->code_hashes, hash, entry);
	map_put(table->code_ids, id, entry);
	ARRAY_GROW(table->codes, table->code_count, table->code_capacity);
	table->codes[table->code_count++] = entry;
	return &entry->code;
}

const struct code *stack_table_code(struct stack_table *table, const struct code *contents)
{
	return intern_code(table, contents, 0);
}

static uint64_t stack_hash(const struct frame *frames, size_t frame_count, size_t dropped_count)
{
	uint64_t hash = stack_mix(frame_count, dropped_count);

	for (size_t i = 0; i < frame_count; i++)
		hash = stack_mix(stack_mix(hash, frames[i].code->id), (uint32_t)frames[i].lineno);
	return hash;
}

static bool is_equal_stack(const struct stack *stack, const struct frame *frames,
			   size_t frame_count, size_t dropped_count)
{
	if (stack->frame_count != frame_count || stack->dropped_count != dropped_count)
		return false;
	for (size_t i = 0; i < frame_count; i++)
		if (stack->frames[i].code != frames[i].code ||
		    stack->frames[i].lineno != frames[i].lineno)
			return false;
	return true;
}

static void stack_add_stack(struct stack_table *table, struct stack_entry *entry)
{
	table->frame_count += entry->stack.frame_count;
	ARRAY_GROW(table->stacks, table->stack_count, table->stack_capacity);
	table->stacks[table->stack_count++] = entry;
}

/* Returns the table's stack of these frames; if there is none, adds one under id (0: a new id). */
static const struct stack *intern_stack(struct stack_table *table, const struct frame *frames,
					size_t frame_count, size_t dropped_count, uint64_t id)
{
	uint64_t hash = stack_hash(frames, frame_count, dropped_count);
	struct stack_entry *first = map_find(table->stack_hashes, hash);
	struct stack_entry *entry;

	for (entry = first; entry; entry = entry->next)
		if (is_equal_stack(&entry->stack, frames, frame_count, dropped_count))
			return &entry->stack;
	if (id == 0)
		id = table->last_stack_id + 1;
	if (id > table->last_stack_id)
		table->last_stack_id = id;
	entry = xcalloc(1, sizeof(*entry));
	entry->stack = (struct stack){
		.id = id,
		.frames = xmalloc(frame_count * sizeof(*frames)),
		.frame_count = frame_count,
		.dropped_count = dropped_count,
	};
	if (frame_count > 0)
		memcpy(entry->stack.frames, frames, frame_count * sizeof(*frames));
	entry->next = first;
	map_put(table->stack_hashes, hash, entry);
	map_put(table->stack_ids, id, entry);
	stack_add_stack(table, entry);
	return &entry->stack;
}

const struct stack *stack_table_stack(struct stack_table *table, const struct frame *frames,
				      size_t frame_count, size_t dropped_count)
{
	if (frame_count > STACK_FRAMES_MAXIMUM) {
		dropped_count += frame_count - STACK_FRAMES_MAXIMUM;
		frame_count = STACK_FRAMES_MAXIMUM;
	}
	if (dropped_count > DROPPED_MAXIMUM)
		dropped_count = DROPPED_MAXIMUM;
	return intern_stack(table, frames, frame_count, dropped_count, 0);
}

const struct stack *stack_table_find(const struct stack_table *table, uint64_t id)
{
	const struct stack_entry *entry = map_find(table->stack_ids, id);

	return entry ? &entry->stack : NULL;
}

bool stack_table_is_full(const struct stack_table *table, size_t stacks_maximum)
{
	return table->stack_count >= stacks_maximum || table->code_count >= stacks_maximum ||
	       table->frame_count >= stacks_maximum * FRAMES_PER_STACK ||
	       table->text_length >= stacks_maximum * TEXT_PER_STACK;
}

/* Interns the frames of another table's stack; intern_one() interns each code object. */
static const struct stack *intern_equal(struct stack_table *table, const struct stack *stack,
					const struct code *(*intern_one)(struct stack_table *table,
									 const struct code *code))
{
	size_t count = stack->frame_count;

	table->received = array_grow(table->received, count, &table->received_capacity,
				     sizeof(*table->received));
	for (size_t i = 0; i < count; i++)
		table->received[i] = (struct frame){
			.code = intern_one(table, stack->frames[i].code),
			.lineno = stack->frames[i].lineno,
		};
	return stack_table_stack(table, table->received, count, stack->dropped_count);
}

const struct stack *stack_table_copy(struct stack_table *table, const struct stack *stack)
{
	const struct stack *copy;

	if (!table->copies)
		table->copies = map_new(NULL);
	copy = map_find(table->copies, (uint64_t)(uintptr_t)stack);
	if (copy)
		return copy;
	copy = intern_equal(table, stack, stack_table_code);
	map_put(table->copies, (uint64_t)(uintptr_t)stack, (void *)copy);
	return copy;
}

void stack_table_forget_copies(struct stack_table *table)
{
	map_free(table->copies);
	table->copies = NULL;
}

/* Senders' ids are at most ID_MAXIMUM, so ids above ID_MAXIMUM never collide with received ids. */
const struct code *stack_table_carry_code(struct stack_table *table, const struct code *code)
{
	if (table->code_count >= CODES_MAXIMUM / 2)
		return NULL;
	if (table->last_code_id < ID_MAXIMUM)
		table->last_code_id = ID_MAXIMUM;
	return stack_table_code(table, code);
}

const struct stack *stack_table_carry(struct stack_table *table, const struct stack *stack)
{
	size_t count = stack->frame_count;

	if (table->stack_count >= STACKS_MAXIMUM / 2 ||
	    table->code_count + count > CODES_MAXIMUM / 2 ||
	    table->frame_count + count > FRAMES_MAXIMUM / 2)
		return NULL;
	if (table->last_stack_id < ID_MAXIMUM)
		table->last_stack_id = ID_MAXIMUM;
	return intern_equal(table, stack, stack_table_carry_code);
}

/* Converts a line number to JSON; a negative line number is unknown and becomes 0. */
static json_t *line_to_json(int line)
{
	return json_integer(line > 0 ? line : 0);
}

static json_t *stack_code_to_json(const struct code *code)
{
	json_t *json = json_array();

	json_array_append_new(json, json_integer((json_int_t)code->id));
	json_array_append_new(json, field_text(code->func, CODE_TEXT_MAXIMUM));
	json_array_append_new(json, field_text(code->qualname, CODE_TEXT_MAXIMUM));
	json_array_append_new(json, field_text(code->file, CODE_TEXT_MAXIMUM));
	json_array_append_new(json, line_to_json(code->first_lineno));
	json_array_append_new(json, json_integer(code->type));
	return json;
}

static json_t *stack_frame_to_json(const struct frame *frame)
{
	json_t *json = json_array();

	json_array_append_new(json, json_integer((json_int_t)frame->code->id));
	json_array_append_new(json, line_to_json(frame->lineno));
	return json;
}

json_t *stack_table_send(struct stack_table *table, const struct stack *stack)
{
	struct stack_entry *entry = map_find(table->stack_ids, stack->id);
	json_t *json;
	json_t *codes;
	json_t *frames;

	if (!entry || entry->stack.is_sent)
		return NULL;
	entry->stack.is_sent = true;
	json = json_object();
	codes = json_array();
	frames = json_array();
	for (size_t i = 0; i < stack->frame_count; i++) {
		const struct frame *frame = &stack->frames[i];
		/* The code object is the first member of struct code_entry: the cast is valid. */
		struct code_entry *code = (struct code_entry *)frame->code;

		if (!code->is_sent)
			json_array_append_new(codes, stack_code_to_json(&code->code));
		code->is_sent = true;
		json_array_append_new(frames, stack_frame_to_json(frame));
	}
	json_object_set_new(json, "id", json_integer((json_int_t)stack->id));
	if (stack->dropped_count > 0)
		json_object_set_new(json, "dropped",
				    json_integer((json_int_t)stack->dropped_count));
	json_object_set_new(json, "codes", codes);
	json_object_set_new(json, "frames", frames);
	return json;
}

/* Returns an integer within minimum … maximum (both >= 0); -1: anything else. */
static int64_t get_bounded(const json_t *value, int64_t minimum, int64_t maximum)
{
	int64_t number = json_integer_value(value);

	return json_is_integer(value) && number >= minimum && number <= maximum ? number : -1;
}

/* Returns the string (borrowed); NULL: no string, or too long. */
static char *stack_get_text(const json_t *value)
{
	/* The cast is safe: intern_code() copies the string. */
	return json_string_length(value) <= CODE_TEXT_MAXIMUM ? (char *)json_string_value(value)
							      : NULL;
}

static int receive_code(struct stack_table *table, const json_t *json, struct error *error)
{
	int64_t id = get_bounded(json_array_get(json, 0), 1, ID_MAXIMUM);
	const json_t *qualname = json_array_get(json, 2);
	int64_t line = get_bounded(json_array_get(json, 4), 0, INT_MAX);
	int64_t type = get_bounded(json_array_get(json, 5), 0, FRAME_NATIVE);
	struct code contents = {
		.func = stack_get_text(json_array_get(json, 1)),
		.qualname = stack_get_text(qualname),
		.file = stack_get_text(json_array_get(json, 3)),
		.first_lineno = (int)line,
		.type = (enum frame_type)type,
	};
	struct code_entry *known;
	const struct code *code;

	if (id < 0 || line < 0 || type < 0 || !contents.func || !contents.file ||
	    (!contents.qualname && !json_is_null(qualname)))
		return error_set(error, "stack: invalid code object");
	known = map_find(table->code_ids, (uint64_t)id);
	if (known && !is_equal_code(&known->code, &contents))
		return error_set(error, "stack: code %lld was sent twice with different contents",
				 (long long)id);
	if (table->code_count >= CODES_MAXIMUM)
		return error_set(error, "stack: more than %u code objects", CODES_MAXIMUM);
	code = intern_code(table, &contents, (uint64_t)id);
	if (!known && code->id != (uint64_t)id)
		map_put(table->code_ids, (uint64_t)id, (void *)code);
	return 0;
}

static int receive_frame(const struct stack_table *table, struct frame *frame, const json_t *json,
			 struct error *error)
{
	int64_t id = get_bounded(json_array_get(json, 0), 1, ID_MAXIMUM);
	int64_t line = get_bounded(json_array_get(json, 1), 0, INT_MAX);
	const struct code_entry *entry;

	if (id < 0 || line < 0)
		return error_set(error, "stack: a frame is not [code, line]");
	entry = map_find(table->code_ids, (uint64_t)id);
	if (!entry)
		return error_set(error, "stack: code %lld was not sent", (long long)id);
	frame->code = &entry->code;
	frame->lineno = (int)line;
	return 0;
}

static int check_room(const struct stack_table *table, size_t frame_count, struct error *error)
{
	if (table->stack_count >= STACKS_MAXIMUM ||
	    table->frame_count + frame_count > FRAMES_MAXIMUM ||
	    map_count(table->stack_ids) >= STACKS_MAXIMUM ||
	    map_count(table->code_ids) >= CODES_MAXIMUM)
		return error_set(error, "stack: the stack table is full");
	return 0;
}

/* Interns the received frames under id; -1, *error: id already has other contents. */
static int keep_received(struct stack_table *table, uint64_t id, size_t frame_count,
			 size_t dropped_count, struct error *error)
{
	const struct stack *known = stack_table_find(table, id);
	const struct stack *stack;

	if (known)
		return is_equal_stack(known, table->received, frame_count, dropped_count)
			       ? 0
			       : error_set(
					 error,
					 "stack: stack %llu was sent twice with different contents",
					 (unsigned long long)id);
	stack = intern_stack(table, table->received, frame_count, dropped_count, id);
	/* An equal stack has another id: this id leads to the same stack. */
	if (stack->id != id)
		map_put(table->stack_ids, id, (void *)stack);
	return 0;
}

int stack_table_receive(struct stack_table *table, const json_t *object, struct error *error)
{
	int64_t id = get_bounded(json_object_get(object, "id"), 1, ID_MAXIMUM);
	const json_t *dropped = json_object_get(object, "dropped");
	int64_t dropped_count = dropped ? get_bounded(dropped, 0, DROPPED_MAXIMUM) : 0;
	const json_t *codes = json_object_get(object, "codes");
	const json_t *frames = json_object_get(object, "frames");
	size_t frame_count = json_array_size(frames);

	if (id < 0 || dropped_count < 0 || !json_is_array(frames) ||
	    frame_count > STACK_FRAMES_MAXIMUM || json_array_size(codes) > frame_count)
		return error_set(error, "stack: invalid id, frames or counts");
	if (check_room(table, frame_count, error) < 0)
		return -1;
	for (size_t i = 0; i < json_array_size(codes); i++)
		if (receive_code(table, json_array_get(codes, i), error) < 0)
			return -1;
	table->received = array_grow(table->received, frame_count, &table->received_capacity,
				     sizeof(*table->received));
	for (size_t i = 0; i < frame_count; i++)
		if (receive_frame(table, &table->received[i], json_array_get(frames, i), error) < 0)
			return -1;
	return keep_received(table, (uint64_t)id, frame_count, (size_t)dropped_count, error);
}
