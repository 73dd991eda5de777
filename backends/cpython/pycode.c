#include "backends/cpython/pycode.h"

#include <stdbool.h>

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/cpython/line-table.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/pywalk.h"
#include "backends/linux/memory.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"
#include "protocol/stack.h"

#define FIRST_BYTES 512u    /* bytes of a str or bytes object fetched in the first read */
#define NAME_MAXIMUM 16384u /* bytes of a name or path */
#define LINE_TABLE_MAXIMUM (8u << 20)
/*
 * At these limits the whole cache is dropped at the next pycode_prepare(); a line table beyond the
 * limit is not read.
 */
#define CODES_MAXIMUM 65536u
#define CACHE_BYTES_MAXIMUM (64u << 20)
#define OBJECT_TYPE 8	 /* ob_type */
#define OBJECT_LENGTH 16 /* length of a str; ob_size of a bytes object */

/* The objects a code object points to. */
enum part {
	PART_NAME,
	PART_QUALNAME,
	PART_FILE,
	PART_LINES,
	PARTS,
};

/* Identity of a code object; distinguishes two code objects that had the same address. */
struct signature {
	uint64_t type;
	uint64_t parts[PARTS];
	int64_t first_lineno;
};

struct entry {
	struct pycode code;
	struct signature signature;
	uint64_t snapshot; /* snapshot in which the entry was last read or checked */
	bool is_good;
};

struct pycode_cache {
	struct memory *memory;
	const struct cpython *python;
	struct stack_table *table;
	struct map *entries;
	size_t bytes; /* total length of the line tables */
	bool is_full;
	uint64_t snapshot;
};

/* Bytes of an object: of the first read, or of a longer read, which owned points to. */
struct object {
	uint64_t address;
	uint8_t *bytes;
	size_t length;
	uint8_t *owned;
};

static void pycode_free_entry(void *memory)
{
	struct entry *entry = memory;

	free(entry->code.line_table);
	free(entry);
}

struct pycode_cache *pycode_cache_new(struct memory *memory, const struct cpython *python,
				      struct stack_table *table)
{
	struct pycode_cache *cache = xcalloc(1, sizeof(*cache));

	cache->memory = memory;
	cache->python = python;
	cache->table = table;
	cache->entries = map_new(pycode_free_entry);
	return cache;
}

void pycode_cache_free(struct pycode_cache *cache)
{
	if (!cache)
		return;
	map_free(cache->entries);
	free(cache);
}

/* Fetches the object again if fewer than length of its bytes were read; false: unreadable. */
static bool have(struct object *object, struct memory *memory, size_t length)
{
	if (object->length >= length)
		return true;
	free(object->owned);
	object->owned = xmalloc(length);
	object->bytes = object->owned;
	object->length = length;
	return memory_fetch(memory, object->address, object->bytes, length) == 0;
}

/* Names are compact str objects: their characters lie directly behind the head. */
static char *pycode_take_text(const struct pycode_cache *cache, struct object *object)
{
	size_t head = (size_t)cache->python->offsets.ascii_size;
	struct buffer text = BUFFER_INIT;
	struct pystring string;
	size_t start;
	size_t length;

	if (!have(object, cache->memory, head) ||
	    pystring_parse(&string, cache->python, object->address, object->bytes) < 0 ||
	    !string.data || (uint64_t)string.length > NAME_MAXIMUM / string.width)
		return NULL;
	start = (size_t)(string.data - object->address);
	length = (size_t)string.length;
	if (!have(object, cache->memory, start + length * string.width))
		return NULL;
	pystring_decode(&text, object->bytes + start, length, string.width);
	return buffer_take(&text);
}

static bool take_lines(struct pycode_cache *cache, struct object *object, struct pycode *code)
{
	size_t start = (size_t)cache->python->offsets.bytes_sval;

	if (!have(object, cache->memory, start))
		return false;
	uint64_t length = pyreader_word(object->bytes, OBJECT_LENGTH);
	cache->bytes -= code->line_table_length;
	free(code->line_table);
	code->line_table = NULL;
	code->line_table_length = 0;
	if (length > LINE_TABLE_MAXIMUM || cache->bytes + length > CACHE_BYTES_MAXIMUM) {
		cache->is_full |= length <= LINE_TABLE_MAXIMUM;
		return false;
	}
	if (!have(object, cache->memory, start + length))
		return false;
	cache->bytes += length;
	code->line_table = xmalloc(length + 1);
	memcpy(code->line_table, object->bytes + start, length);
	code->line_table_length = length;
	return true;
}

static void fill_entry(struct pycode_cache *cache, struct entry *entry, struct object *objects)
{
	const struct offsets *offsets = &cache->python->offsets;
	struct pycode *code = &entry->code;
	struct code contents = {
		.func = pycode_take_text(cache, &objects[PART_NAME]),
		.file = pycode_take_text(cache, &objects[PART_FILE]),
		.first_lineno = (int)entry->signature.first_lineno,
		.type = FRAME_PYTHON,
	};

	if (objects[PART_QUALNAME].address)
		contents.qualname = pycode_take_text(cache, &objects[PART_QUALNAME]);
	entry->is_good =
		contents.func && contents.file && take_lines(cache, &objects[PART_LINES], code);
	if (entry->is_good)
		code->code = stack_table_code(cache->table, &contents);
	code->first_lineno = contents.first_lineno;
	code->first_instruction = offsets->co_code_adaptive < 0
					  ? 0
					  : code->address + (uint64_t)offsets->co_code_adaptive;
	free(contents.qualname);
	free(contents.file);
	free(contents.func);
}

/* Reads the first bytes of all objects that new code objects point to. */
static void load_entries(struct pycode_cache *cache, struct entry **entries, size_t count)
{
	size_t total = count * PARTS;
	struct memory_part *parts = xcalloc(total, sizeof(*parts));
	uint8_t *bytes = xmalloc(total * FIRST_BYTES);

	for (size_t i = 0; i < total; i++) {
		uint64_t address = entries[i / PARTS]->signature.parts[i % PARTS];
		parts[i] = (struct memory_part){
			.address = address,
			.out = bytes + i * FIRST_BYTES,
			.length = address ? FIRST_BYTES : 0,
		};
	}
	memory_fetch_parts(cache->memory, parts, total);
	for (size_t i = 0; i < count; i++) {
		struct object objects[PARTS];
		for (int j = 0; j < PARTS; j++) {
			const struct memory_part *part = &parts[i * PARTS + j];
			objects[j] = (struct object){
				.address = part->address,
				.bytes = part->out,
				.length = part->done,
			};
		}
		fill_entry(cache, entries[i], objects);
		for (int j = 0; j < PARTS; j++)
			free(objects[j].owned);
	}
	free(bytes);
	free(parts);
}

static struct signature pycode_sign(const struct cpython *python, const uint8_t *head)
{
	const struct offsets *offsets = &python->offsets;
	struct signature signature = {
		.type = pyreader_word(head, OBJECT_TYPE),
		.parts = {
			[PART_NAME] = pyreader_word(head, offsets->co_name),
			[PART_FILE] = pyreader_word(head, offsets->co_filename),
			[PART_LINES] = pyreader_word(head, offsets->co_linetable),
		},
		.first_lineno = (int32_t)pyreader_word(head,
						 offsets->co_firstlineno),
	};

	if (offsets->co_qualname >= 0)
		signature.parts[PART_QUALNAME] = pyreader_word(head, offsets->co_qualname);
	return signature;
}

/* Compares an entry with the process's code object; true: the entry must be loaded. */
static bool check_entry(const struct pycode_cache *cache, struct entry *entry, const uint8_t *head,
			size_t length)
{
	uint64_t type = cache->python->code_type;
	size_t size = (size_t)cache->python->offsets.co_size;

	if (length < size) {
		entry->is_good = false;
		return false;
	}
	struct signature signature = pycode_sign(cache->python, head);
	if (entry->is_good && memcmp(&signature, &entry->signature, sizeof(signature)) == 0)
		return false;
	entry->signature = signature;
	entry->is_good = false;
	return !type || signature.type == type;
}

static void check_entries(struct pycode_cache *cache, struct entry **entries, size_t count)
{
	size_t size = (size_t)cache->python->offsets.co_size;
	struct memory_part *parts = xcalloc(count, sizeof(*parts));
	uint8_t *heads = xmalloc(count * size);
	size_t new_count = 0;

	for (size_t i = 0; i < count; i++)
		parts[i] = (struct memory_part){
			.address = entries[i]->code.address,
			.out = heads + i * size,
			.length = size,
		};
	memory_fetch_parts(cache->memory, parts, count);
	for (size_t i = 0; i < count; i++)
		if (check_entry(cache, entries[i], heads + i * size, parts[i].done))
			entries[new_count++] = entries[i];
	if (new_count)
		load_entries(cache, entries, new_count);
	free(heads);
	free(parts);
}

/*
 * Returns the entry of address, added if missing; NULL: this snapshot has already checked the
 * entry.
 */
static struct entry *unchecked_entry(struct pycode_cache *cache, uint64_t address)
{
	struct entry *entry = map_find(cache->entries, address);

	if (entry && entry->snapshot == cache->snapshot)
		return NULL;
	if (!entry) {
		entry = xcalloc(1, sizeof(*entry));
		entry->code.address = address;
		map_put(cache->entries, address, entry);
	}
	entry->snapshot = cache->snapshot;
	return entry;
}

void pycode_prepare(struct pycode_cache *cache, const uint64_t *addresses, size_t count)
{
	struct entry **entries = NULL;
	size_t entry_count = 0;
	size_t capacity = 0;

	if (cache->is_full || map_count(cache->entries) > CODES_MAXIMUM) {
		map_free(cache->entries);
		cache->entries = map_new(pycode_free_entry);
		cache->bytes = 0;
		cache->is_full = false;
	}
	cache->snapshot++;
	for (size_t i = 0; i < count; i++) {
		struct entry *entry = unchecked_entry(cache, addresses[i]);
		if (!entry)
			continue;
		ARRAY_GROW(entries, entry_count, capacity);
		entries[entry_count++] = entry;
	}
	if (entry_count)
		check_entries(cache, entries, entry_count);
	free(entries);
}

const struct pycode *pycode_find(struct pycode_cache *cache, uint64_t address)
{
	struct entry *entry = unchecked_entry(cache, address);

	if (entry)
		check_entries(cache, &entry, 1);
	entry = map_find(cache->entries, address);
	return entry->is_good ? &entry->code : NULL;
}

int pycode_line(const struct pycode *code, const struct cpython *python, uint64_t position)
{
	const struct line_table table = {
		.bytes = code->line_table,
		.length = code->line_table_length,
		.first_lineno = code->first_lineno,
	};

	/*
	 * A frame that has not begun has a position before the bytecode, or -1: use the start of
	 * the code.
	 */
	if (python->minor < 10)
		return line_table_find(&table, python->minor, position > INT32_MAX ? 0 : position);
	if (python->minor == 10)
		return line_table_find(&table, python->minor,
				       position > INT32_MAX ? 0 : position * 2);
	return line_table_find(
		&table, python->minor,
		position < code->first_instruction ? 0 : position - code->first_instruction);
}

bool pycode_is_first(const char *func)
{
	/* _run_module_as_main: of python -m */
	return strcmp(func, "<module>") == 0 || strcmp(func, "_run_module_as_main") == 0;
}

const struct code *pycode_unknown(struct stack_table *table)
{
	char unknown[] = "?";
	const struct code contents = {
		.func = unknown,
		.file = unknown,
		.type = FRAME_PYTHON,
	};

	return stack_table_code(table, &contents);
}

const struct stack *pycode_stack(struct pycode_cache *cache, const struct cpython *python,
				 const struct pywalk *walk, struct stack_table *table,
				 bool *is_known)
{
	struct frame *frames = xcalloc(walk->count + 1, sizeof(*frames));
	const struct stack *stack;

	*is_known = true;
	for (size_t i = 0; i < walk->count; i++) {
		const struct pyframe *frame = &walk->frames[i];
		const struct pycode *code = pycode_find(cache, frame->code);

		if (code) {
			frames[i].code = code->code;
			frames[i].lineno = pycode_line(code, python, frame->position);
			continue;
		}
		frames[i].code = pycode_unknown(table);
		*is_known = false;
	}
	stack = stack_table_stack(table, frames, walk->count, walk->dropped_count);
	free(frames);
	return stack;
}
