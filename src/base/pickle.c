/*
 * pickle: the stack machine that pickletools.py of CPython describes, without the opcodes that name
 * or call Python objects.
 *
 * A list or dict is pushed empty, and grows as long as its item lies on the stack. Once it has
 * become part of another value, or the memo has given it out, nothing can add to it any more. So no
 * value contains itself, and the weight and depth of what the memo gives out are final.
 *
 * Two sums are bounded. `memory` is the bytes of all values made, each once. `weight` counts a
 * shared value as often as it is shared: every push adds the weight of the pushed value. That
 * bounds the number of steps, and the size of the result when it is walked or written out as a
 * tree.
 */
#include "base/pickle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"

#define PROTOCOL 2
#define DEPTH_MAXIMUM 64
#define STACK_MAXIMUM ((size_t)1 << 20)
#define MEMO_MAXIMUM ((size_t)1 << 20)
#define STRING_MAXIMUM ((size_t)1 << 20)

/* Bytes that jansson needs for a value, its place in an array or an object included. */
#define PLACE_SIZE 16
#define NUMBER_SIZE 48
#define STRING_SIZE 80 /* without the characters */
#define LIST_SIZE 160
#define DICT_SIZE 240
#define KEY_SIZE 96 /* a dict's copy of a key, without the characters */

#define WEIGHT_MAXIMUM (UINT64_C(32) << 20)
#define WEIGHT_CHARACTERS 16 /* so many characters of a string weigh as much as one value */

struct pickle_item {
	json_t *value;	 /* owned; NULL: a mark */
	uint64_t weight; /* number of values in the value, itself included */
	int depth;	 /* levels of lists and dicts in the value */
	bool is_open;	 /* a list or dict that may still grow */
	/* For an open list or dict its entry of the memo, and in the memo its index on the stack;
	 * -1: none. */
	long partner;
};

struct pickle_reader {
	const uint8_t *bytes;
	size_t length;
	size_t at;	 /* of the next byte */
	size_t opcode;	 /* byte at which the current opcode stands */
	uint64_t memory; /* bytes of the values made so far */
	uint64_t weight; /* of the values pushed so far */
	bool is_stopped;
	struct pickle_item *items; /* the stack */
	size_t count;
	size_t capacity;
	struct pickle_item *memo;
	size_t memo_count;
	size_t memo_capacity;
	const uint8_t *argument; /* of the current opcode */
	size_t argument_length;
	struct error *error;
};

struct pickle_opcode {
	const char *name;
	/* Returns 0, or -1 and an error. NULL: the opcode names or calls a Python object. */
	int (*run)(struct pickle_reader *reader);
	size_t argument_length;
	size_t count_length; /* a number of so many bytes stands first, the argument's length */
};

static int pickle_fail(struct pickle_reader *reader, const char *why)
{
	return error_set(reader->error, "invalid pickle at byte %zu: %s", reader->opcode, why);
}

static uint64_t little_endian(const uint8_t *bytes, size_t length)
{
	uint64_t number = 0;

	for (size_t i = 0; i < length; i++)
		number |= (uint64_t)bytes[i] << (8 * i);
	return number;
}

/*
 * The stack
 */

/* Adds to both sums. */
static int charge(struct pickle_reader *reader, uint64_t memory, uint64_t weight)
{
	reader->memory += memory;
	reader->weight += weight;
	if (reader->memory <= PICKLE_MEMORY_MAXIMUM && reader->weight <= WEIGHT_MAXIMUM)
		return 0;
	return pickle_fail(reader, "the values need too much memory");
}

/* Pushes an item, whose value the stack then owns, also on failure. */
static int push_item(struct pickle_reader *reader, struct pickle_item item)
{
	if (reader->count == STACK_MAXIMUM) {
		json_decref(item.value);
		return pickle_fail(reader, "too many values on the stack");
	}
	ARRAY_GROW(reader->items, reader->count, reader->capacity);
	reader->items[reader->count++] = item;
	return 0;
}

/* Pushes a new value without parts, of so many bytes. */
static int push_value(struct pickle_reader *reader, json_t *owned_value, uint64_t memory)
{
	struct pickle_item item = {
		.value = owned_value,
		.weight = 1 + json_string_length(owned_value) / WEIGHT_CHARACTERS,
		.partner = -1,
	};

	if (push_item(reader, item) < 0)
		return -1;
	return charge(reader, memory, item.weight);
}

/* Pushes an empty list or dict. */
static int push_container(struct pickle_reader *reader, json_t *owned_value, uint64_t memory)
{
	if (push_value(reader, owned_value, memory) < 0)
		return -1;
	reader->items[reader->count - 1].is_open = true;
	reader->items[reader->count - 1].depth = 1;
	return 0;
}

/* Returns the index of the topmost mark; -1 and an error: there is none. */
static long find_mark(struct pickle_reader *reader)
{
	for (size_t i = reader->count; i-- > 0;)
		if (!reader->items[i].value)
			return (long)i;
	return pickle_fail(reader, "a mark is missing");
}

/*
 * Checks that the last `count` items are values. Their first one's index is set. Returns -1 and an
 * error if there are fewer items, or a mark among them.
 */
static int find_values(struct pickle_reader *reader, size_t count, size_t *first)
{
	if (reader->count < count)
		return pickle_fail(reader, "a value is missing");
	*first = reader->count - count;
	for (size_t i = *first; i < reader->count; i++)
		if (!reader->items[i].value)
			return pickle_fail(reader, "a value is missing");
	return 0;
}

/* From now on the list or dict cannot grow, and its entry of the memo, if any, is complete. */
static void close_item(struct pickle_reader *reader, struct pickle_item *item)
{
	struct pickle_item *entry = item->partner >= 0 ? &reader->memo[item->partner] : NULL;

	item->is_open = false;
	item->partner = -1;
	if (!entry)
		return;
	entry->weight = item->weight;
	entry->depth = item->depth;
	entry->is_open = false;
	entry->partner = -1;
}

/* The item becomes part of the container: the item is closed, and the caller moves its value. */
static int adopt(struct pickle_reader *reader, struct pickle_item *container,
		 struct pickle_item *item)
{
	container->weight += item->weight;
	if (item->depth >= container->depth)
		container->depth = item->depth + 1;
	if (container->depth > DEPTH_MAXIMUM)
		return pickle_fail(reader, "the values are nested too deeply");
	close_item(reader, item);
	return 0;
}

static json_t *take_value(struct pickle_item *item)
{
	json_t *value = item->value;

	item->value = NULL;
	return value;
}

/* Moves the items from index `first` on to the end of the list. */
static int move_to_list(struct pickle_reader *reader, struct pickle_item *list, size_t first)
{
	for (size_t i = first; i < reader->count; i++) {
		if (adopt(reader, list, &reader->items[i]) < 0)
			return -1;
		json_array_append_new(list->value, take_value(&reader->items[i]));
	}
	return 0;
}

/* Moves the items from index `first` on, keys and values in turn, into the dict. */
static int move_to_dict(struct pickle_reader *reader, struct pickle_item *dict, size_t first)
{
	if ((reader->count - first) % 2 != 0)
		return pickle_fail(reader, "a key has no value");
	for (size_t i = first; i < reader->count; i += 2) {
		const char *key = json_string_value(reader->items[i].value);

		if (!key)
			return pickle_fail(reader, "a key is not a string");
		if (charge(reader, KEY_SIZE + strlen(key), 0) < 0 ||
		    adopt(reader, dict, &reader->items[i]) < 0 ||
		    adopt(reader, dict, &reader->items[i + 1]) < 0)
			return -1;
		json_object_set_new_nocheck(dict->value, key, take_value(&reader->items[i + 1]));
	}
	return 0;
}

/* Drops the items from index `first` on. */
static void drop_items(struct pickle_reader *reader, size_t first)
{
	while (reader->count > first)
		json_decref(reader->items[--reader->count].value);
}

/* Moves the items from index `first` on into the open list or dict at index `container`. */
static int fill(struct pickle_reader *reader, size_t container, size_t first, bool is_dict)
{
	struct pickle_item *item = &reader->items[container];
	int result;

	if (is_dict ? !json_is_object(item->value) : !json_is_array(item->value))
		return pickle_fail(reader, is_dict ? "no dict to add to" : "no list to add to");
	if (!item->is_open)
		return pickle_fail(reader, "a tuple grows, or a value that contains itself");
	result = is_dict ? move_to_dict(reader, item, first) : move_to_list(reader, item, first);
	drop_items(reader, container + 1);
	return result;
}

/* fill() for the items behind the topmost mark; the list or dict stands in front of the mark. */
static int fill_from_mark(struct pickle_reader *reader, bool is_dict)
{
	long mark = find_mark(reader);

	if (mark < 0)
		return -1;
	if (mark == 0)
		return pickle_fail(reader, is_dict ? "no dict to add to" : "no list to add to");
	return fill(reader, (size_t)mark - 1, (size_t)mark + 1, is_dict);
}

/* Replaces the items from index `from` on by a tuple of those from index `first` on. */
static int make_tuple(struct pickle_reader *reader, size_t from, size_t first)
{
	struct pickle_item tuple = {
		.value = json_array(),
		.weight = 1,
		.depth = 1,
		.partner = -1,
	};

	if (charge(reader, LIST_SIZE, 1) < 0 || move_to_list(reader, &tuple, first) < 0) {
		json_decref(tuple.value);
		return -1;
	}
	drop_items(reader, from);
	return push_item(reader, tuple);
}

static int make_tuple_of(struct pickle_reader *reader, size_t count)
{
	size_t first;

	if (find_values(reader, count, &first) < 0)
		return -1;
	return make_tuple(reader, first, first);
}

/*
 * The opcodes
 */

static int run_proto(struct pickle_reader *reader)
{
	if (reader->argument[0] == PROTOCOL)
		return 0;
	return error_set(reader->error, "the pickle has protocol %d: only protocol %d is read",
			 reader->argument[0], PROTOCOL);
}

static int run_stop(struct pickle_reader *reader)
{
	size_t first;

	if (reader->count != 1)
		return pickle_fail(reader, "more or less than one value at the end");
	reader->is_stopped = true;
	return find_values(reader, 1, &first);
}

static int run_mark(struct pickle_reader *reader)
{
	return push_item(reader, (struct pickle_item){ .partner = -1 });
}

static int run_none(struct pickle_reader *reader)
{
	return push_value(reader, json_null(), PLACE_SIZE);
}

static int run_newtrue(struct pickle_reader *reader)
{
	return push_value(reader, json_true(), PLACE_SIZE);
}

static int run_newfalse(struct pickle_reader *reader)
{
	return push_value(reader, json_false(), PLACE_SIZE);
}

/* BININT1, BININT2: without a sign. */
static int run_unsigned(struct pickle_reader *reader)
{
	uint64_t number = little_endian(reader->argument, reader->argument_length);

	return push_value(reader, json_integer((json_int_t)number), NUMBER_SIZE);
}

/* BININT, LONG1: two's complement, of no bytes for 0. */
static int run_signed(struct pickle_reader *reader)
{
	size_t length = reader->argument_length;
	uint64_t number = little_endian(reader->argument, length < 8 ? length : 8);

	if (length > 8)
		return pickle_fail(reader, "an integer of more than 64 bits");
	if (length > 0 && length < 8 && reader->argument[length - 1] & 0x80)
		number |= UINT64_MAX << (8 * length);
	return push_value(reader, json_integer((json_int_t)number), NUMBER_SIZE);
}

/* BINFLOAT: the 8 bytes of a double, the highest first. */
static int run_binfloat(struct pickle_reader *reader)
{
	uint64_t bits = 0;
	double number;
	json_t *value;

	for (size_t i = 0; i < 8; i++)
		bits = bits << 8 | reader->argument[i];
	memcpy(&number, &bits, sizeof(number));
	value = json_real(number);
	return push_value(reader, value ? value : json_null(), NUMBER_SIZE);
}

static int run_binunicode(struct pickle_reader *reader)
{
	json_t *value;
	char *text;

	if (reader->argument_length > STRING_MAXIMUM)
		return pickle_fail(reader, "a string is too long");
	text = xstrndup((const char *)reader->argument, reader->argument_length);
	value = json_text(text);
	free(text);
	return push_value(reader, value, STRING_SIZE + json_string_length(value));
}

static int run_empty_list(struct pickle_reader *reader)
{
	return push_container(reader, json_array(), LIST_SIZE);
}

static int run_empty_dict(struct pickle_reader *reader)
{
	return push_container(reader, json_object(), DICT_SIZE);
}

static int run_empty_tuple(struct pickle_reader *reader)
{
	return make_tuple_of(reader, 0);
}

static int run_tuple1(struct pickle_reader *reader)
{
	return make_tuple_of(reader, 1);
}

static int run_tuple2(struct pickle_reader *reader)
{
	return make_tuple_of(reader, 2);
}

static int run_tuple3(struct pickle_reader *reader)
{
	return make_tuple_of(reader, 3);
}

static int run_tuple(struct pickle_reader *reader)
{
	long mark = find_mark(reader);

	return mark < 0 ? -1 : make_tuple(reader, (size_t)mark, (size_t)mark + 1);
}

static int run_append(struct pickle_reader *reader)
{
	size_t first;

	return find_values(reader, 2, &first) < 0 ? -1 : fill(reader, first, first + 1, false);
}

static int run_setitem(struct pickle_reader *reader)
{
	size_t first;

	return find_values(reader, 3, &first) < 0 ? -1 : fill(reader, first, first + 1, true);
}

static int run_appends(struct pickle_reader *reader)
{
	return fill_from_mark(reader, false);
}

static int run_setitems(struct pickle_reader *reader)
{
	return fill_from_mark(reader, true);
}

/* BINPUT, LONG_BINPUT: stores the topmost value in the memo. The entries are numbered from 0. */
static int run_put(struct pickle_reader *reader)
{
	uint64_t number = little_endian(reader->argument, reader->argument_length);
	struct pickle_item *item;
	size_t first;

	if (find_values(reader, 1, &first) < 0)
		return -1;
	if (number != reader->memo_count || number == MEMO_MAXIMUM)
		return pickle_fail(reader, "the memo has no such entry");
	item = &reader->items[first];
	if (item->partner >= 0)
		return pickle_fail(reader, "a value has two entries in the memo");
	ARRAY_GROW(reader->memo, reader->memo_count, reader->memo_capacity);
	reader->memo[reader->memo_count] = *item;
	json_incref(item->value);
	if (item->is_open) {
		item->partner = (long)reader->memo_count;
		reader->memo[reader->memo_count].partner = (long)first;
	}
	reader->memo_count++;
	return 0;
}

/* BINGET, LONG_BINGET: pushes a value of the memo again. */
static int run_get(struct pickle_reader *reader)
{
	uint64_t number = little_endian(reader->argument, reader->argument_length);
	struct pickle_item item;

	if (number >= reader->memo_count)
		return pickle_fail(reader, "the memo has no such entry");
	if (reader->memo[number].is_open)
		close_item(reader, &reader->items[reader->memo[number].partner]);
	item = reader->memo[number];
	json_incref(item.value);
	if (push_item(reader, item) < 0)
		return -1;
	return charge(reader, PLACE_SIZE, item.weight);
}

/* By their bytes; rows of other bytes have no name. */
static const struct pickle_opcode opcodes[256] = {
	[0x80] = { "PROTO", run_proto, 1, 0 },
	['.'] = { "STOP", run_stop, 0, 0 },
	['('] = { "MARK", run_mark, 0, 0 },
	['N'] = { "NONE", run_none, 0, 0 },
	[0x88] = { "NEWTRUE", run_newtrue, 0, 0 },
	[0x89] = { "NEWFALSE", run_newfalse, 0, 0 },
	['K'] = { "BININT1", run_unsigned, 1, 0 },
	['M'] = { "BININT2", run_unsigned, 2, 0 },
	['J'] = { "BININT", run_signed, 4, 0 },
	[0x8a] = { "LONG1", run_signed, 0, 1 },
	['G'] = { "BINFLOAT", run_binfloat, 8, 0 },
	['X'] = { "BINUNICODE", run_binunicode, 0, 4 },
	[']'] = { "EMPTY_LIST", run_empty_list, 0, 0 },
	['}'] = { "EMPTY_DICT", run_empty_dict, 0, 0 },
	[')'] = { "EMPTY_TUPLE", run_empty_tuple, 0, 0 },
	[0x85] = { "TUPLE1", run_tuple1, 0, 0 },
	[0x86] = { "TUPLE2", run_tuple2, 0, 0 },
	[0x87] = { "TUPLE3", run_tuple3, 0, 0 },
	['t'] = { "TUPLE", run_tuple, 0, 0 },
	['a'] = { "APPEND", run_append, 0, 0 },
	['e'] = { "APPENDS", run_appends, 0, 0 },
	['s'] = { "SETITEM", run_setitem, 0, 0 },
	['u'] = { "SETITEMS", run_setitems, 0, 0 },
	['q'] = { "BINPUT", run_put, 1, 0 },
	['r'] = { "LONG_BINPUT", run_put, 4, 0 },
	['h'] = { "BINGET", run_get, 1, 0 },
	['j'] = { "LONG_BINGET", run_get, 4, 0 },
	['c'] = { "GLOBAL", NULL, 0, 0 },
	['R'] = { "REDUCE", NULL, 0, 0 },
	['b'] = { "BUILD", NULL, 0, 0 },
	['i'] = { "INST", NULL, 0, 0 },
	['o'] = { "OBJ", NULL, 0, 0 },
	[0x81] = { "NEWOBJ", NULL, 0, 0 },
	[0x92] = { "NEWOBJ_EX", NULL, 0, 0 },
	[0x93] = { "STACK_GLOBAL", NULL, 0, 0 },
	[0x82] = { "EXT1", NULL, 0, 0 },
	[0x83] = { "EXT2", NULL, 0, 0 },
	[0x84] = { "EXT4", NULL, 0, 0 },
	['P'] = { "PERSID", NULL, 0, 0 },
	['Q'] = { "BINPERSID", NULL, 0, 0 },
};

/* Takes the next bytes; NULL and an error: there are not so many. */
static const uint8_t *take_bytes(struct pickle_reader *reader, size_t length)
{
	const uint8_t *bytes = reader->bytes + reader->at;

	if (length > reader->length - reader->at) {
		error_set(reader->error, "the pickle ends too early, at byte %zu", reader->length);
		return NULL;
	}
	reader->at += length;
	return bytes;
}

static int take_argument(struct pickle_reader *reader, const struct pickle_opcode *opcode)
{
	const uint8_t *count;

	reader->argument_length = opcode->argument_length;
	if (opcode->count_length > 0) {
		count = take_bytes(reader, opcode->count_length);
		if (!count)
			return -1;
		reader->argument_length = (size_t)little_endian(count, opcode->count_length);
	}
	reader->argument = take_bytes(reader, reader->argument_length);
	return reader->argument ? 0 : -1;
}

static int run_opcode(struct pickle_reader *reader)
{
	const struct pickle_opcode *opcode;
	const uint8_t *byte;

	reader->opcode = reader->at;
	byte = take_bytes(reader, 1);
	if (!byte)
		return -1;
	opcode = &opcodes[*byte];
	if (!opcode->name)
		return error_set(reader->error,
				 "invalid pickle at byte %zu: protocol %d has no opcode 0x%02x",
				 reader->opcode, PROTOCOL, *byte);
	if (!opcode->run)
		return error_set(reader->error,
				 "the pickle names or calls a Python object (%s at byte %zu): only "
				 "plain data is read",
				 opcode->name, reader->opcode);
	return take_argument(reader, opcode) < 0 ? -1 : opcode->run(reader);
}

json_t *pickle_parse(const void *bytes, size_t length, struct error *error)
{
	struct pickle_reader reader = { .bytes = bytes, .length = length, .error = error };
	json_t *value = NULL;
	int result = 0;

	while (result == 0 && !reader.is_stopped)
		result = run_opcode(&reader);
	if (result == 0)
		value = take_value(&reader.items[0]);
	drop_items(&reader, 0);
	for (size_t i = 0; i < reader.memo_count; i++)
		json_decref(reader.memo[i].value);
	free(reader.items);
	free(reader.memo);
	return value;
}
