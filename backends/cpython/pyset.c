#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/buffer.h"

#define CHUNK 64

/* setentry; a deleted entry has a dummy key and hash -1 (Objects/setobject.c). */
struct entry {
	uint64_t key;
	int64_t hash;
};

struct set {
	uint64_t table;
	int64_t size; /* entries of the table, a power of two */
	int64_t used;
};

static int set_read(struct pyreader *reader, uint64_t address, struct set *set)
{
	const struct offsets *at = &reader->python->offsets;
	int64_t mask;

	if (pyreader_read(reader, address + (uint64_t)at->set_used, &set->used,
			  sizeof(set->used)) ||
	    pyreader_read(reader, address + (uint64_t)at->set_mask, &mask, sizeof(mask)) ||
	    pyreader_pointer(reader, address + (uint64_t)at->set_table, &set->table))
		return -1;
	if (mask < 0 || mask > INT64_MAX / 16 || (mask & (mask + 1)) || set->used < 0 ||
	    set->used > mask + 1)
		return -1;
	set->size = mask + 1;
	return 0;
}

/* Calls visit for each key and hash from index start on, until visit returns false. */
static int set_each(struct pyreader *reader, const struct set *set, int64_t start,
		    bool (*visit)(uint64_t key, int64_t hash, void *data), void *data)
{
	struct entry entries[CHUNK];
	int64_t number = 0;

	for (int64_t at = 0; at < set->size && number < set->used; at++) {
		const struct entry *entry = &entries[at % CHUNK];
		int64_t left = set->size - at;

		if (left > CHUNK)
			left = CHUNK;
		if (at % CHUNK == 0 && pyreader_read(reader, set->table + 16 * (uint64_t)at,
						     entries, sizeof(*entries) * (size_t)left))
			return -1;
		if (!entry->key || entry->hash == -1)
			continue;
		if (number++ >= start && !visit(entry->key, entry->hash, data))
			break;
	}
	return 0;
}

int64_t pyset_count(struct pyreader *reader, uint64_t address)
{
	struct set set;

	return set_read(reader, address, &set) ? -1 : set.used;
}

int pyset_each(struct pyreader *reader, uint64_t address,
	       bool (*visit)(uint64_t key, int64_t hash, void *data), void *data)
{
	struct set set;

	if (set_read(reader, address, &set))
		return -1;
	return set_each(reader, &set, 0, visit, data);
}

static bool pyset_add_item(uint64_t key, int64_t hash, void *data)
{
	struct pypage *page = data;
	struct buffer name = BUFFER_INIT;

	(void)hash;
	pypage_put_key(page, "{}", key, &name);
	pypage_add(page, &name, key);
	return --page->count > 0;
}

int pyset_items(struct pypage *page, uint64_t address)
{
	struct set set;

	if (set_read(page->reader, address, &set))
		return -1;
	if (!page->count)
		return 0;
	return set_each(page->reader, &set, page->start, pyset_add_item, page);
}

struct writing {
	struct pywriter *writer;
	int64_t number;
};

static bool pyset_write_item(uint64_t key, int64_t hash, void *data)
{
	struct writing *writing = data;

	(void)hash;
	if (!pywriter_next(writing->writer, writing->number++))
		return false;
	pywriter_object(writing->writer, key);
	return true;
}

static void write_set(struct pywriter *writer, uint64_t address, const struct pybrackets *brackets)
{
	struct writing writing = { writer, 0 };
	struct set set;

	if (set_read(writer->reader, address, &set)) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	if (!pywriter_open(writer, address, set.used, brackets))
		return;
	if (set_each(writer->reader, &set, 0, pyset_write_item, &writing))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	pywriter_close(writer, brackets);
}

void pyset_write(struct pywriter *writer, uint64_t address)
{
	static const struct pybrackets brackets = { "{", "}", "set(...)", "set()" };

	write_set(writer, address, &brackets);
}

void pyfrozenset_write(struct pywriter *writer, uint64_t address)
{
	static const struct pybrackets brackets = { "frozenset({", "})", "frozenset(...)",
						    "frozenset()" };

	write_set(writer, address, &brackets);
}
