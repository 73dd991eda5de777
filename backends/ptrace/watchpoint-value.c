/*
 * watchpoint-value: reads the value in a watched place, as text, and compares it
 * with the value before.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/opcodes.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/pywriter.h"
#include "backends/expression/pyelement.h"
#include "backends/linux/memory.h"
#include "backends/ptrace/watchpoints-private.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "protocol/variable.h"

/* Longer texts may have been cut: equal texts then do not prove equal values. */
#define WHOLE_BYTES 1000
#define GONE "gone"
#define UNBOUND "unbound"
/* Words of a frame's locals and value stack that are searched. */
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

/* Whether the reference count is plausible: in a freed object it is 0 or too large. */
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

/* Types whose text shows the whole value. */
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
 * Compares texts: another object may have the same value, and the same object
 * another value, as a str with one reference grows in place (s += t).
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

/* The writing instruction still holds a reference to the object before the write. */
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

/* Numbers of a few opcodes (dis.opmap); 0: the version does not have the opcode. */
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

/* The unspecialised opcode of the unit at address; -1: unknown. */
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
 * Finds t of s += t by its size: both operands are still adjacent on the value
 * stack, whose depth is not known. 0: not found.
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

/* Quotes count characters of first, then added_count of added (0: none); the caller frees it. */
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
