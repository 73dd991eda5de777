#include "backends/ptrace/watchpoints.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/opcodes.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/pywriter.h"
#include "backends/expression/pyelement.h"
#include "backends/linux/memory.h"
#include "backends/ptrace/stepper.h"
#include "backends/ptrace/watchpoints-private.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/debugger.h"
#include "protocol/variable.h"

struct watched *watchpoints_new(struct memory *memory, const struct cpython *python)
{
	struct watched *watched = xcalloc(1, sizeof(*watched));

	watched->memory = memory_new(memory_pid(memory));
	watched->python = python;
	return watched;
}

static void watchpoints_clear_entry(struct watched_entry *entry)
{
	watched_value_clear(&entry->value);
	pyexpression_free(entry->condition);
	pyexpression_free(entry->expression);
	free(entry->message);
	free(entry->failure);
	breakpoint_clear(&entry->wanted);
}

static void watchpoints_free_entries(struct watched_entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		watchpoints_clear_entry(&entries[i]);
	free(entries);
}

void watchpoints_free(struct watched *watched)
{
	if (!watched)
		return;
	watchpoints_free_entries(watched->entries, watched->count);
	memory_free(watched->memory);
	free(watched);
}

bool watchpoints_entry_is_on(const struct watched_entry *entry)
{
	return entry->state == WATCHED_SET && !entry->wanted.is_disabled;
}

/* Parses the condition and the expression; an error becomes the entry's message. */
static void watchpoints_compile(struct watched_entry *entry)
{
	struct error error = ERROR_INIT;

	if (entry->wanted.is_nan)
		error_set(&error, "only an agent can stop when a value becomes NaN: inject one "
				  "with `inject`");
	else if (entry->wanted.condition)
		entry->condition = pyexpression_parse_condition(entry->wanted.condition, &error);
	if (!error_is_set(&error))
		entry->expression = pyexpression_parse(entry->wanted.watch, &error);
	if (!error_is_set(&error) && entry->wanted.log)
		error_set(&error, "a watchpoint cannot log a message instead of stopping");
	if (error_is_set(&error))
		entry->message = xstrdup(error.message);
}

static struct watched_entry *watchpoints_find_entry(const struct watched *watched, int id)
{
	for (size_t i = 0; i < watched->count; i++)
		if (watched->entries[i].wanted.id == id)
			return &watched->entries[i];
	return NULL;
}

static void watchpoints_read_entry(struct watched *into, const json_t *json)
{
	struct watched_entry entry = { .state = WATCHED_UNSET };
	struct error error = ERROR_INIT;

	if (breakpoint_from_json(&entry.wanted, json, &error) < 0 || !entry.wanted.watch ||
	    watchpoints_find_entry(into, entry.wanted.id)) {
		breakpoint_clear(&entry.wanted);
		return;
	}
	entry.ignore_left = entry.wanted.ignore;
	ARRAY_GROW(into->entries, into->count, into->capacity);
	into->entries[into->count++] = entry;
}

static int watchpoints_read_entries(struct watched *into, const json_t *list, struct error *error)
{
	if (breakpoints_check(list, error) < 0)
		return -1;
	for (size_t i = 0; i < json_array_size(list); i++)
		watchpoints_read_entry(into, json_array_get(list, i));
	return 0;
}

static bool watchpoints_is_same(const struct breakpoint *a, const struct breakpoint *b)
{
	return !strcmp(a->watch, b->watch) && a->depth == b->depth;
}

/* Takes over the place, value and counts of the old entry with the same id. */
static void watchpoints_inherit(struct watched_entry *entry, struct watched_entry *before)
{
	bool is_off = before->wanted.is_disabled;

	entry->state = before->state;
	if (entry->state == WATCHED_SPENT && !entry->wanted.is_temporary)
		entry->state = WATCHED_SET;
	entry->frame = before->frame;
	entry->code = before->code;
	entry->is_generator = before->is_generator;
	entry->is_local = before->is_local;
	entry->place = before->place;
	entry->owner_type = before->owner_type;
	entry->keys = before->keys;
	entry->is_lent = before->is_lent;
	entry->hits = before->hits;
	if (entry->wanted.ignore == before->wanted.ignore)
		entry->ignore_left = before->ignore_left;
	if (is_off)
		return;
	entry->value = before->value;
	before->value = (struct watched_value){ .word = 0 };
	entry->has_failed = before->has_failed;
	if ((entry->state == WATCHED_ENDED || entry->has_failed) && !entry->message) {
		entry->message = before->message;
		before->message = NULL;
	}
}

static void settle_entry(struct watched *watched, struct watched_entry *entry,
			 const struct watchpoints_frames *frames)
{
	struct watched_entry *before = watchpoints_find_entry(watched, entry->wanted.id);

	watchpoints_compile(entry);
	/*
	 * Nothing is taken over if the expression is invalid: the place could not be looked up
	 * again.
	 */
	if (entry->message)
		return;
	if (before && watchpoints_is_same(&before->wanted, &entry->wanted))
		watchpoints_inherit(entry, before);
	if (entry->state == WATCHED_UNSET)
		watched_entry_find(watched, entry, frames);
	if (watchpoints_entry_is_on(entry) && !entry->value.text)
		watched_entry_refresh(watched, entry);
}

int watchpoints_set(struct watched *watched, const json_t *list,
		    const struct watchpoints_frames *frames, struct error *error)
{
	struct watched read = { .entries = NULL };

	if (watchpoints_read_entries(&read, list, error) < 0) {
		watchpoints_free_entries(read.entries, read.count);
		return -1;
	}
	for (size_t i = 0; i < read.count; i++)
		settle_entry(watched, &read.entries[i], frames);
	watchpoints_free_entries(watched->entries, watched->count);
	watched->entries = read.entries;
	watched->count = read.count;
	watched->capacity = read.capacity;
	watched->revision++;
	return 0;
}

bool watchpoints_are_any(const struct watched *watched)
{
	return watchpoints_watch_requests(watched, NULL, 0) > 0;
}

uint64_t watchpoints_revision(const struct watched *watched)
{
	return watched->revision;
}

static struct planned make_watch_request(const struct watched_entry *entry, uint64_t address,
					 int length)
{
	return (struct planned){
		.watch = { .address = address, .length = length, .access = HARDWARE_WATCH_WRITE },
		.kind = PLAN_DATA,
		.id = entry->wanted.id,
	};
}

/*
 * If a value does not exist now, its guard is watched, which is written when the value exists
 * again.
 */
size_t watchpoints_watch_requests(const struct watched *watched, struct planned *watch_requests,
				  size_t maximum)
{
	size_t count = 0;

	for (size_t i = 0; i < watched->count; i++) {
		const struct watched_entry *entry = &watched->entries[i];
		const struct pyexpression_place *place = &entry->place;

		if (!watchpoints_entry_is_on(entry))
			continue;
		if (count < maximum)
			watch_requests[count] =
				place->address
					? make_watch_request(entry, place->address, place->length)
					: make_watch_request(entry, place->guard, 8);
		count++;
	}
	return count;
}

size_t watchpoints_guards(const struct watched *watched, struct planned *watch_requests,
			  size_t maximum)
{
	size_t count = 0;

	for (size_t i = 0; i < watched->count; i++) {
		const struct watched_entry *entry = &watched->entries[i];

		if (!watchpoints_entry_is_on(entry) || !entry->place.address || !entry->place.guard)
			continue;
		if (count < maximum)
			watch_requests[count] = make_watch_request(entry, entry->place.guard, 8);
		count++;
	}
	return count;
}

void watchpoints_short(struct watched *watched, size_t missing)
{
	watched->missing = missing;
}

/* True if watch request i has no slot. */
static bool is_missing(const struct watched *watched, size_t i)
{
	return i + watched->missing >= watchpoints_watch_requests(watched, NULL, 0);
}

static void describe(const struct watched_entry *entry, bool is_short,
		     struct breakpoint_binding *binding)
{
	binding->id = entry->wanted.id;
	binding->watch = xstrdup(entry->wanted.watch);
	binding->hits = entry->hits;
	binding->is_disabled = entry->wanted.is_disabled;
	binding->is_temporary = entry->wanted.is_temporary;
	binding->condition = xstrdup_or_null(entry->wanted.condition);
	binding->is_refused = entry->state == WATCHED_UNSET && entry->message;
	if (entry->state == WATCHED_SET && !is_short)
		binding->number = entry->wanted.id;
	binding->message = xstrdup_or_null(entry->message);
	if (is_short && !binding->message)
		binding->message = xasprintf("no free debug register: a thread has %d, and a step "
					     "needs some of them; disable another breakpoint",
					     HARDWARE_WATCH_SLOTS);
}

void watchpoints_describe(const struct watched *watched, struct debugger *debugger)
{
	size_t number = 0;

	for (size_t i = 0; i < watched->count; i++) {
		const struct watched_entry *entry = &watched->entries[i];
		bool is_short = watchpoints_entry_is_on(entry) && is_missing(watched, number++);

		if (entry->state != WATCHED_SPENT)
			describe(entry, is_short, debugger_add_binding(debugger));
	}
}

void watchpoints_add_json(const struct watched *watched, json_t *breakpoints)
{
	struct debugger debugger;
	json_t *all;

	debugger_init(&debugger);
	watchpoints_describe(watched, &debugger);
	all = debugger_to_json(&debugger);
	json_array_extend(breakpoints, json_object_get(all, "breakpoints"));
	json_decref(all);
	debugger_clear(&debugger);
}

/* Values: reads the value in a watched place as text, and compares it with the value before. */

/* Texts of this length or more may have been cut: then equal texts do not prove equal values. */
#define WHOLE_BYTES 1000
#define GONE "gone"
#define UNBOUND "unbound"
/* Number of words of a frame's locals and value stack that are searched. */
#define STACK_WORDS 64

void watched_value_clear(struct watched_value *value)
{
	free(value->type);
	free(value->text);
	*value = (struct watched_value){ .word = 0 };
}

int watched_fetch(const struct watched *watched, uint64_t address, uint64_t *word)
{
	return memory_fetch(watched->memory, address, word, sizeof(*word));
}

/* True if the reference count is plausible. In a freed object it is 0 or too large. */
bool watched_is_counted(const struct watched *watched, uint64_t object)
{
	uint64_t count;

	if (watched_fetch(watched, object, &count))
		return false;
	if (watched->python->minor < 12)
		return count > 0 && count <= UINT32_MAX;
	/* From 3.12 on only the lower 32 bits are the count. */
	return (uint32_t)count > 0 && count >> 48 == 0;
}

bool watched_object_lives(const struct watched *watched, uint64_t object, uint64_t type)
{
	uint64_t now;

	return object && watched_is_counted(watched, object) &&
	       !watched_fetch(watched, object + PYREADER_HEAD - 8, &now) && now == type;
}

static void watchpoint_value_read_object(struct watched *watched, struct watched_value *value)
{
	struct variable variable = { .child_count = -1 };
	struct pyreader reader;

	memory_begin(watched->memory, false);
	pyreader_init(&reader, watched->memory, watched->python);
	pyobject_describe(&reader, value->word, &variable);
	value->type = variable.type;
	value->text = variable.value;
	if (watched_fetch(watched, value->word + PYREADER_HEAD - 8, &value->of) ||
	    pyreader_size(&reader, value->word, &value->size))
		value->size = 0;
}

static void watchpoint_value_read_bytes(const struct pyexpression_place *place,
					struct watched_value *value)
{
	struct buffer text = BUFFER_INIT;

	if (place->format)
		pyelement_write_bytes(place->format, &value->word, &text);
	else
		buffer_printf(&text, "%" PRIu64 " (0x%0*" PRIx64 ")", value->word,
			      2 * place->length, value->word);
	value->text = buffer_take(&text);
}

void watched_value_read(struct watched *watched, const struct pyexpression_place *place,
			struct watched_value *value)
{
	*value = (struct watched_value){ .word = 0 };
	if (!place->address ||
	    memory_fetch(watched->memory, place->address, &value->word, (size_t)place->length)) {
		value->text = xstrdup(GONE);
		return;
	}
	if (!place->is_object) {
		watchpoint_value_read_bytes(place, value);
		return;
	}
	value->word = pyreader_untag(watched->python->minor, value->word);
	if (value->word)
		watchpoint_value_read_object(watched, value);
	else
		value->text = xstrdup(UNBOUND);
}

/* True for types whose text shows the whole value. */
static bool is_simple(const struct watched_value *value)
{
	static const char *const types[] = { "int",   "float",	  "bool",   "str",
					     "bytes", "NoneType", "complex" };

	for (size_t i = 0; value->type && i < ARRAY_LENGTH(types); i++)
		if (!strcmp(value->type, types[i]))
			return true;
	return false;
}

/*
 * Compares texts, not addresses: another object may have the same value, and the same object may
 * have another value, because a str with one reference grows in place (s += t).
 */
static bool watchpoint_value_is_same_value(const struct watched_value *before,
					   const struct watched_value *now)
{
	if (strcmp(before->type, now->type) != 0 || strcmp(before->text, now->text) != 0)
		return false;
	if (strlen(now->text) < WHOLE_BYTES)
		return true;
	return before->word == now->word && before->size == now->size;
}

bool watched_value_is_gone(const struct watched_value *value)
{
	return !value->word && !strcmp(value->text, GONE);
}

bool watched_value_is_same(const struct watched_value *before, const struct watched_value *now)
{
	bool was_gone = watched_value_is_gone(before);
	bool is_gone = watched_value_is_gone(now);

	if (was_gone || is_gone)
		return was_gone == is_gone;
	if (is_simple(before) && is_simple(now))
		return watchpoint_value_is_same_value(before, now);
	return before->word == now->word;
}

/*
 * Reads the object again as it is now. It still exists, because the writing instruction holds a
 * reference to the object that was there before the write.
 */
void watched_value_refresh(struct watched *watched, struct watched_value *value)
{
	struct watched_value now = { .word = value->word };

	if (is_simple(value) || !value->type ||
	    !watched_object_lives(watched, value->word, value->of))
		return;
	watchpoint_value_read_object(watched, &now);
	watched_value_clear(value);
	*value = now;
}

/* Numbers of some opcodes (dis.opmap) in each version; 0: the version does not have the opcode. */
static const struct instructions {
	int minor;
	uint8_t add;   /* BINARY_OP */
	uint8_t clear; /* LOAD_FAST_AND_CLEAR */
	uint8_t swap;
	uint8_t pop;
	uint8_t store; /* STORE_FAST */
	uint8_t store_two;
} instructions[] = {
	{ 11, 122, 0, 99, 1, 125, 125 },
	{ 12, 122, 143, 99, 1, 125, 125 },
	{ 13, 45, 86, 115, 32, 110, 112 },
	{ 14, 44, 85, 117, 31, 112, 114 },
};

/* Returns the unspecialised opcode of the unit at address; -1: unknown. */
static int base_at(const struct watched *watched, uint64_t address)
{
	const struct opcode *opcodes = opcodes_find(watched->python->minor);
	uint8_t raw;

	if (!opcodes || memory_fetch(watched->memory, address, &raw, 1))
		return -1;
	return opcodes[raw].base;
}

/*
 * An inlined comprehension (3.12 on) keeps a local's value on the value stack
 * while it uses the local's word: it begins with LOAD_FAST_AND_CLEAR and ends
 * with SWAP or POP_TOP and one or more STORE_FAST.
 */
enum watched_writer watched_writer(const struct watched *watched, uint64_t frame)
{
	const struct offsets *at = &watched->python->offsets;
	uint64_t unit;
	int now, before;

	if (!frame || at->if_instr < 0 ||
	    watched_fetch(watched, frame + (uint64_t)at->if_instr, &unit))
		return WATCHED_WRITER_ANY;
	now = base_at(watched, unit);
	before = base_at(watched, unit - 2);
	for (size_t i = 0; i < ARRAY_LENGTH(instructions); i++) {
		const struct instructions *known = &instructions[i];

		if (known->minor != watched->python->minor || now < 0)
			continue;
		if (now == known->add)
			return WATCHED_WRITER_ADDS;
		if (known->clear && now == known->clear)
			return WATCHED_WRITER_LENDS;
		if ((now == known->store || now == known->store_two) &&
		    (before == known->swap || before == known->pop || before == known->store))
			return WATCHED_WRITER_RETURNS;
	}
	return WATCHED_WRITER_ANY;
}

/*
 * Returns the address of t in s += t, found by its size: both operands are still adjacent on the
 * value stack, whose depth is unknown. 0: not found.
 */
static uint64_t find_added(struct watched *watched, uint64_t frame, uint64_t left, int64_t size)
{
	int minor = watched->python->minor;
	uint64_t row = frame + (uint64_t)watched->python->offsets.if_localsplus;
	uint64_t words[STACK_WORDS];
	struct pyreader reader;
	struct pystring string;

	if (memory_fetch(watched->memory, row, words, sizeof(words)))
		return 0;
	memory_begin(watched->memory, false);
	pyreader_init(&reader, watched->memory, watched->python);
	for (size_t i = STACK_WORDS - 1; i > 0; i--)
		if (pyreader_untag(minor, words[i - 1]) == left &&
		    !pystring_read(&reader, pyreader_untag(minor, words[i]), &string) &&
		    string.length == size)
			return pyreader_untag(minor, words[i]);
	return 0;
}

/*
 * Returns a quoted text of `count` characters of the str at `first`, then added_count characters of
 * the str at `added` (0: none); free() it.
 */
static char *watchpoint_value_quote(struct watched *watched, uint64_t first, size_t count,
				    uint64_t added, size_t added_count)
{
	uint32_t *characters = xcalloc(count + added_count + 1, sizeof(*characters));
	struct buffer text = BUFFER_INIT;
	struct pywriter writer;
	struct pyreader reader;
	struct pystring string;

	memory_begin(watched->memory, false);
	pyreader_init(&reader, watched->memory, watched->python);
	if (!pystring_read(&reader, first, &string))
		pystring_characters(&reader, &string, 0, count, characters);
	if (added && !pystring_read(&reader, added, &string))
		pystring_characters(&reader, &string, 0, added_count, characters + count);
	pywriter_init(&writer, &reader, &text);
	pystring_put(&writer, characters, count + added_count, false);
	free(characters);
	return buffer_take(&text);
}

static void watchpoint_value_set_text(struct watched_value *value, char *owned_text)
{
	free(value->text);
	value->text = owned_text;
}

void watched_value_complete(struct watched *watched, uint64_t frame, struct watched_value *before,
			    struct watched_value *now)
{
	int64_t more = now->size - before->size;
	uint64_t added;
	size_t count;

	if (!before->type || !now->type || strcmp(now->type, "str") != 0 ||
	    strcmp(before->type, "str") != 0 || more <= 0 || now->size > WHOLE_BYTES)
		return;
	count = (size_t)before->size;
	added = find_added(watched, frame, before->word, more);
	watchpoint_value_set_text(before, watchpoint_value_quote(watched, now->word, count, 0, 0));
	if (added)
		watchpoint_value_set_text(now, watchpoint_value_quote(watched, now->word, count,
								      added, (size_t)more));
}
