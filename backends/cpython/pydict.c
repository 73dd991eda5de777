#include "backends/cpython/pydict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywriter.h"
#include "backends/linux/memory.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"

/*
 * PyDictKeysObject. 3.8 to 3.10 (Objects/dict-common.h): refcnt, dk_size, dk_lookup, dk_usable,
 * dk_nentries, dk_indices. From 3.11 on (Include/internal/pycore_dict.h): logarithms of the sizes,
 * and dk_kind.
 */
#define OLD_SIZE 8
#define OLD_NENTRIES 32
#define OLD_INDICES 40
#define NEW_LOG2_SIZE 8
#define KIND_GENERAL 0
#define KIND_SPLIT 2

/* PyDictKeyEntry {hash, key, value}; PyDictUnicodeEntry {key, value}. */
#define GENERAL_ENTRY 24
#define UNICODE_ENTRY 16

/* A larger table would not fit into any memory: malformed. */
#define LOG2_SIZE_MAXIMUM 40

/* Entries fetched in one read. */
#define CHUNK 128
#define EMPTY_SLOT (-1)
/* Slots of the hash table that are probed for one key. */
#define PROBES_MAXIMUM 64

static int parse_old_keys(uint64_t keys, const uint8_t *head, struct pytable *table)
{
	int64_t size = (int64_t)pyreader_word(head, OLD_SIZE);
	int64_t index_size = 1;

	table->entry_count = (int64_t)pyreader_word(head, OLD_NENTRIES);
	if (size < 1 || size > (INT64_C(1) << LOG2_SIZE_MAXIMUM) || (size & (size - 1)) ||
	    table->entry_count < 0 || table->entry_count > size)
		return -1;
	if (size > UINT32_MAX)
		index_size = 8;
	else if (size > UINT16_MAX)
		index_size = 4;
	else if (size > UINT8_MAX)
		index_size = 2;
	table->indices = keys + OLD_INDICES;
	table->slot_count = (uint64_t)size;
	table->index_width = (unsigned)index_size;
	table->entries = table->indices + (uint64_t)(size * index_size);
	table->entry_size = GENERAL_ENTRY;
	table->key_at = 8;
	return 0;
}

static int parse_new_keys(const struct offsets *at, uint64_t keys, const uint8_t *head,
			  struct pytable *table)
{
	uint8_t log2_size = head[NEW_LOG2_SIZE];
	uint8_t log2_bytes = head[at->dk_log2_index_bytes];
	uint8_t kind = head[at->dk_kind];

	table->entry_count = (int64_t)pyreader_word(head, at->dk_nentries);
	/* A slot takes 1, 2, 4 or 8 bytes; the empty keys object has 8 bytes of slots. */
	if (log2_size > LOG2_SIZE_MAXIMUM || log2_bytes < log2_size || log2_bytes > log2_size + 3 ||
	    kind > KIND_SPLIT || table->entry_count < 0 ||
	    table->entry_count > (INT64_C(1) << log2_size))
		return -1;
	table->indices = keys + (uint64_t)at->dk_entries;
	table->slot_count = UINT64_C(1) << log2_size;
	table->index_width = 1u << (log2_bytes - log2_size);
	table->entries = table->indices + (UINT64_C(1) << log2_bytes);
	table->entry_size = kind == KIND_GENERAL ? GENERAL_ENTRY : UNICODE_ENTRY;
	table->key_at = kind == KIND_GENERAL ? 8 : 0;
	return 0;
}

int pytable_parse(const struct cpython *python, uint64_t keys, const uint8_t head[PYTABLE_HEAD],
		  struct pytable *table)
{
	*table = (struct pytable){ .used = -1 };
	if (python->minor < 11)
		return parse_old_keys(keys, head, table);
	return parse_new_keys(&python->offsets, keys, head, table);
}

static int read_keys(struct pyreader *reader, uint64_t keys, struct pytable *table)
{
	uint8_t head[PYTABLE_HEAD];

	if (pyreader_read(reader, keys, head, sizeof(head)))
		return -1;
	return pytable_parse(reader->python, keys, head, table);
}

/*
 * 3.11 and 3.12: reads the bytes in front of the values. From the last byte downwards: size of this
 * prefix, number of values, indices of the values in order of insertion.
 */
static int read_prefix(struct pyreader *reader, uint64_t values, struct pytable *table)
{
	uint8_t sizes[2];
	uint8_t reversed[sizeof(table->order)];
	size_t count;

	if (pyreader_read(reader, values - 2, sizes, sizeof(sizes)))
		return -1;
	count = sizes[0];
	if (count + 2 > sizes[1] || pyreader_read(reader, values - 2 - count, reversed, count))
		return -1;
	for (size_t i = 0; i < count; i++)
		table->order[i] = reversed[count - 1 - i];
	table->order_count = count;
	table->has_order = true;
	table->values = values;
	return 0;
}

/*
 * 3.13 and later: reads the head of the values (capacity, size, embedded, valid: 1 byte each) and
 * the indices of the values in order of insertion. The values begin at byte 8, the indices behind
 * the values.
 */
static int read_header(struct pyreader *reader, uint64_t values, struct pytable *table)
{
	uint8_t header[4];

	if (pyreader_read(reader, values, header, sizeof(header)))
		return -1;
	if (header[1] > header[0] || (header[2] && header[3] > 1) ||
	    pyreader_read(reader, values + 8 + 8 * (uint64_t)header[0], table->order, header[1]))
		return -1;
	/*
	 * valid 0: the attributes have moved to a dict. CPython sets the byte only for values
	 * inside an instance (embedded); for values of a dict the byte is undefined.
	 */
	table->order_count = header[2] && !header[3] ? 0 : header[1];
	table->has_order = true;
	table->values = values + 8;
	return 0;
}

int pytable_of_values(struct pyreader *reader, uint64_t keys, uint64_t values,
		      struct pytable *table)
{
	if (!keys || !values || read_keys(reader, keys, table))
		return -1;
	if (reader->python->minor < 11) {
		table->values = values;
		return 0;
	}
	if (reader->python->minor < 13)
		return read_prefix(reader, values, table);
	return read_header(reader, values, table);
}

int pytable_of_dict(struct pyreader *reader, uint64_t dict, struct pytable *table)
{
	const struct offsets *at = &reader->python->offsets;
	uint64_t keys, values;
	int64_t used;

	if (!pytype_has(reader, dict, PYTYPE_DICT) || pyreader_size(reader, dict, &used) ||
	    pyreader_pointer(reader, dict + (uint64_t)at->dict_keys, &keys) ||
	    pyreader_pointer(reader, dict + (uint64_t)at->dict_values, &values))
		return -1;
	if (values ? pytable_of_values(reader, keys, values, table)
		   : read_keys(reader, keys, table))
		return -1;
	/* CPython counts an item in ma_used before its entry exists. */
	if (used < 0 || used > table->entry_count + 1)
		return -1;
	table->used = used;
	return 0;
}

/* At most CHUNK entries, from entry number first on. */
struct chunk {
	int64_t first;
	size_t count;
	struct {
		uint64_t key, value;
	} entries[CHUNK];
};

static int read_chunk(struct pyreader *reader, const struct pytable *table, int64_t first,
		      struct chunk *chunk)
{
	char bytes[CHUNK * GENERAL_ENTRY];
	uint64_t values[CHUNK];
	int64_t left = table->entry_count - first;
	size_t count = left < CHUNK ? (size_t)left : CHUNK;
	uint64_t at = (uint64_t)first;

	if (pyreader_read(reader, table->entries + at * table->entry_size, bytes,
			  count * table->entry_size))
		return -1;
	if (table->values && pyreader_read(reader, table->values + 8 * at, values, 8 * count))
		return -1;
	chunk->first = first;
	chunk->count = count;
	for (size_t i = 0; i < count; i++) {
		memcpy(&chunk->entries[i], bytes + i * table->entry_size + table->key_at,
		       sizeof(chunk->entries[i]));
		if (table->values)
			chunk->entries[i].value = values[i];
	}
	return 0;
}

static int read_ordered(struct pyreader *reader, const struct pytable *table, size_t place,
			uint64_t *key, uint64_t *value)
{
	uint64_t entry = table->order[place];

	if ((int64_t)entry >= table->entry_count)
		return -1;
	if (pyreader_pointer(reader, table->entries + entry * table->entry_size + table->key_at,
			     key))
		return -1;
	return pyreader_pointer(reader, table->values + 8 * entry, value);
}

static int64_t each_ordered(struct pyreader *reader, const struct pytable *table, int64_t start,
			    size_t count, bool (*visit)(uint64_t, uint64_t, void *), void *data)
{
	int64_t number = 0;
	bool go_on = count > 0;

	for (size_t i = 0; i < table->order_count; i++) {
		uint64_t key, value;

		if (read_ordered(reader, table, i, &key, &value))
			return -1;
		if (!key || !value)
			continue;
		if (go_on && number >= start)
			go_on = visit(key, value, data) && --count > 0;
		number++;
	}
	return number;
}

/* The entry to start from: entry number start if no entry is empty, else the first. */
static int64_t first_entry(const struct pytable *table, int64_t start)
{
	/* Without empty entries the number of an item is the index of its entry. */
	if (table->used == table->entry_count && !table->values)
		return start < table->entry_count ? start : table->entry_count;
	return 0;
}

int64_t pytable_each(struct pyreader *reader, const struct pytable *table, int64_t start,
		     size_t count, bool (*visit)(uint64_t key, uint64_t value, void *data),
		     void *data)
{
	struct chunk chunk = { .count = 0 };
	bool go_on = count > 0;
	int64_t at, number;

	if (start < 0)
		start = 0;
	if (table->has_order)
		return each_ordered(reader, table, start, count, visit, data);
	at = number = first_entry(table, start);
	for (; at < table->entry_count; at++) {
		size_t i = (size_t)(at - chunk.first);

		/* If used is unknown (-1), the walk continues through all entries to count them. */
		if (!go_on && table->used >= 0)
			break;
		if (i >= chunk.count) {
			if (read_chunk(reader, table, at, &chunk))
				return -1;
			i = 0;
		}
		if (!chunk.entries[i].key || !chunk.entries[i].value)
			continue;
		if (go_on && number >= start)
			go_on = visit(chunk.entries[i].key, chunk.entries[i].value, data) &&
				--count > 0;
		number++;
	}
	return table->used >= 0 ? table->used : number;
}

struct search {
	struct pyreader *reader;
	const char *key;
	uint64_t value;
	bool is_found;
};

static bool compare_key(uint64_t key, uint64_t value, void *data)
{
	struct search *search = data;

	search->is_found = pystring_equals(search->reader, key, search->key);
	if (search->is_found)
		search->value = value;
	return !search->is_found;
}

/*
 * Reading keys one by one costs a system call for each page that has a key, and sys.modules has
 * thousands of keys. So the keys of a chunk are fetched together, each with the length of the
 * wanted key. Only a key that ends in the wanted letters is compared in full.
 */
static void search_chunk(struct search *search, const struct chunk *chunk, uint8_t *bytes,
			 struct memory_part *parts)
{
	const struct offsets *at = &search->reader->python->offsets;
	size_t length = strlen(search->key);
	size_t size = (size_t)at->ascii_size + length;
	size_t budget = size * chunk->count;
	uint64_t values[CHUNK];
	size_t count = 0;

	if (budget > search->reader->budget)
		return;
	search->reader->budget -= budget;
	for (size_t i = 0; i < chunk->count; i++) {
		if (!chunk->entries[i].key || !chunk->entries[i].value)
			continue;
		parts[count] = (struct memory_part){
			.address = chunk->entries[i].key,
			.out = bytes + count * size,
			.length = size,
		};
		values[count++] = chunk->entries[i].value;
	}
	memory_fetch_parts(search->reader->memory, parts, count);
	for (size_t i = 0; i < count && !search->is_found; i++) {
		const uint8_t *letters = bytes + (i + 1) * size - length;

		if (parts[i].done == size && memcmp(letters, search->key, length) == 0)
			compare_key(parts[i].address, values[i], search);
	}
}

static int search_chunks(struct search *search, const struct pytable *table)
{
	size_t size = (size_t)search->reader->python->offsets.ascii_size + strlen(search->key);
	uint8_t *bytes = xmalloc(CHUNK * size);
	struct memory_part parts[CHUNK];
	struct chunk chunk = { .count = 0 };
	int result = 0;

	for (int64_t at = 0; at < table->entry_count && !search->is_found;
	     at += (int64_t)chunk.count) {
		result = read_chunk(search->reader, table, at, &chunk);
		if (result < 0)
			break;
		search_chunk(search, &chunk, bytes, parts);
	}
	free(bytes);
	return result;
}

/* The entry number in a slot of the hash table; EMPTY_SLOT (-1): none, or unreadable. */
static int64_t read_slot(struct pyreader *reader, const struct pytable *table, uint64_t slot)
{
	uint64_t word = 0;
	unsigned width = table->index_width;

	if (pyreader_read(reader, table->indices + slot * width, &word, width))
		return EMPTY_SLOT;
	/* Little-endian: extend the sign from the highest byte read. */
	unsigned unused = 64 - 8 * width;
	return (int64_t)(word << unused) >> unused;
}

static bool pydict_has_value(const struct pytable *table, int64_t number)
{
	if (!table->has_order)
		return true;
	return memchr(table->order, (int)number, table->order_count) != NULL;
}

static uint64_t key_address(const struct pytable *table, int64_t number)
{
	return table->entries + (uint64_t)number * table->entry_size + table->key_at;
}

static uint64_t value_address(const struct pytable *table, int64_t number)
{
	if (table->values)
		return table->values + 8 * (uint64_t)number;
	return key_address(table, number) + 8;
}

/* True if the entry stores no hash, or stores this hash. */
static bool pydict_has_hash(struct pyreader *reader, const struct pytable *table, int64_t number,
			    uint64_t hash)
{
	uint64_t kept;

	return !table->key_at ||
	       (!pyreader_pointer(reader, key_address(table, number) - 8, &kept) && kept == hash);
}

/* Probes like lookdict() in CPython: a few slots instead of all keys. */
int pytable_locate(struct pyreader *reader, const struct pytable *table, uint64_t hash,
		   bool (*is_wanted)(uint64_t key, void *data), void *data, uint64_t *place)
{
	uint64_t rest = hash;
	uint64_t slot = hash;

	for (int i = 0; i < PROBES_MAXIMUM; i++) {
		slot &= table->slot_count - 1;
		int64_t number = read_slot(reader, table, slot);
		uint64_t key;

		if (number == EMPTY_SLOT)
			return -1;
		if (number >= 0 && number < table->entry_count && pydict_has_value(table, number) &&
		    pydict_has_hash(reader, table, number, hash) &&
		    !pyreader_pointer(reader, key_address(table, number), &key) &&
		    is_wanted(key, data)) {
			*place = value_address(table, number);
			return 0;
		}
		rest >>= 5;
		slot = slot * 5 + rest + 1;
	}
	return -1;
}

/* The wanted key: a str with this text, or one object. */
struct wanted {
	struct pyreader *reader;
	const char *text; /* NULL: the wanted key is the object at address */
	uint64_t address;
};

static bool pydict_is_wanted(uint64_t key, void *data)
{
	const struct wanted *wanted = data;

	if (!wanted->text)
		return key == wanted->address;
	return pystring_equals(wanted->reader, key, wanted->text);
}

/* -1 does not prove that the key is absent: the interpreter may use another hash. */
static int find_by_hash(const struct wanted *wanted, const struct pytable *table, uint64_t hash,
			uint64_t *value)
{
	struct wanted copy = *wanted;
	uint64_t place;

	if (pytable_locate(wanted->reader, table, hash, pydict_is_wanted, &copy, &place))
		return -1;
	return pyreader_pointer(wanted->reader, place, value);
}

int pytable_find_key(struct pyreader *reader, const struct pytable *table, uint64_t hash,
		     uint64_t key, uint64_t *value)
{
	const struct wanted wanted = { .reader = reader, .address = key };

	return find_by_hash(&wanted, table, hash, value);
}

int pytable_find(struct pyreader *reader, const struct pytable *table, const char *key,
		 uint64_t *value)
{
	struct search search = { .reader = reader, .key = key };
	const struct wanted wanted = { .reader = reader, .text = key };
	uint64_t hash;
	int result;

	if (pyhash_text(reader, key, &hash) == 0 &&
	    find_by_hash(&wanted, table, hash, value) == 0 && *value)
		return 0;
	if (table->has_order)
		result =
			pytable_each(reader, table, 0, SIZE_MAX, compare_key, &search) < 0 ? -1 : 0;
	else
		result = search_chunks(&search, table);
	if (result < 0 || !search.is_found)
		return -1;
	*value = search.value;
	return 0;
}

int pydict_find(struct pyreader *reader, uint64_t dict, const char *key, uint64_t *value)
{
	struct pytable table;

	if (pytable_of_dict(reader, dict, &table))
		return -1;
	return pytable_find(reader, &table, key, value);
}

int64_t pydict_each(struct pyreader *reader, uint64_t dict, int64_t start, size_t count,
		    bool (*each)(uint64_t key, uint64_t value, void *data), void *data)
{
	struct pytable table;

	if (pytable_of_dict(reader, dict, &table))
		return -1;
	return pytable_each(reader, &table, start, count, each, data);
}

int64_t pydict_count(struct pyreader *reader, uint64_t address)
{
	struct pytable table;

	return pytable_of_dict(reader, address, &table) ? -1 : table.used;
}

static bool pymapping_add_item(uint64_t key, uint64_t value, void *data)
{
	struct pypage *page = data;
	struct buffer name = BUFFER_INIT;

	pypage_put_key(page, "[]", key, &name);
	pypage_add(page, &name, value);
	return true;
}

int pydict_items(struct pypage *page, uint64_t address)
{
	return pydict_each(page->reader, address, page->start, page->count, pymapping_add_item,
			   page) < 0
		       ? -1
		       : 0;
}

struct writing {
	struct pywriter *writer;
	int64_t number;
};

static bool pymapping_write_item(uint64_t key, uint64_t value, void *data)
{
	struct writing *writing = data;

	if (!pywriter_next(writing->writer, writing->number++))
		return false;
	pywriter_object(writing->writer, key);
	pywriter_text(writing->writer, ": ");
	pywriter_object(writing->writer, value);
	return true;
}

void pydict_write(struct pywriter *writer, uint64_t address)
{
	static const struct pybrackets brackets = { "{", "}", "{...}", "{}" };
	struct writing writing = { writer, 0 };
	struct pytable table;

	if (pytable_of_dict(writer->reader, address, &table)) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	if (!pywriter_open(writer, address, table.used, &brackets))
		return;
	if (pytable_each(writer->reader, &table, 0, SIZE_MAX, pymapping_write_item, &writing) < 0)
		pywriter_text(writer, PYWRITER_UNKNOWN);
	pywriter_close(writer, &brackets);
}
