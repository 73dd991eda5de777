/*
 * pydict: the entries of a dict in every layout, also when they lie in an
 * instance without a dict object (Objects/dictobject.c,
 * Include/internal/pycore_dict.h).
 *
 *	combined	entries hold key and value
 *	split		keys are shared by the instances of a class, values
 *			lie beside; from 3.11 on their order does, too
 *
 * Functions over a dict by its address are in pyobject.h.
 */
#ifndef BACKENDS_CPYTHON_PYDICT_H
#define BACKENDS_CPYTHON_PYDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpython;
struct pyreader;

struct pytable {
	uint64_t entries;    /* address of the first */
	int64_t entry_count; /* deleted ones too */
	int64_t used;	     /* that hold a value */
	size_t entry_size;
	size_t key_at;	  /* in an entry; the value follows the key */
	uint64_t values;  /* address of the values array of a split table; 0: combined table */
	uint64_t indices; /* address of the hash table, numbers of entries */
	uint64_t slot_count;
	unsigned index_width; /* bytes of one */
	bool has_order;
	size_t order_count;
	uint8_t order[256]; /* numbers of entries as they were inserted */
};

/* Bytes of a dict's keys that say where its entries are. */
#define PYTABLE_HEAD 40
/* The table whose keys are at keys, and begin with head; used is -1. */
int pytable_parse(const struct cpython *python, uint64_t keys, const uint8_t head[PYTABLE_HEAD],
		  struct pytable *table);
/* The table of a dict object. */
int pytable_of_dict(struct pyreader *reader, uint64_t dict, struct pytable *table);
/* The table of an instance's values (3.11+: a PyDictValues). */
int pytable_of_values(struct pyreader *reader, uint64_t keys, uint64_t values,
		      struct pytable *table);
/*
 * Visits at most count entries from number start on. Returns how many entries
 * there are in all, -1 unreadable.
 */
int64_t pytable_each(struct pyreader *reader, const struct pytable *table, int64_t start,
		     size_t count, bool (*visit)(uint64_t key, uint64_t value, void *data),
		     void *data);
/*
 * Where the value stands of the key with this hash for which is_wanted() says
 * true; 0 found, -1: none, or unreadable. The value may be 0: deleted.
 */
int pytable_locate(struct pyreader *reader, const struct pytable *table, uint64_t hash,
		   bool (*is_wanted)(uint64_t key, void *data), void *data, uint64_t *place);
/* Value of a str key; 0 found. */
int pytable_find(struct pyreader *reader, const struct pytable *table, const char *key,
		 uint64_t *value);
/* Value of this very object as key, whose hash is known; 0 found. */
int pytable_find_key(struct pyreader *reader, const struct pytable *table, uint64_t hash,
		     uint64_t key, uint64_t *value);

#endif
