/*
 * pydict: the entries of a dict in every layout, and the attributes of an instance that has no dict
 * object (Objects/dictobject.c, Include/internal/pycore_dict.h).
 *
 * combined table: each entry contains key and value. split table: the instances of a class share
 * the keys; each instance has its own array of values, from 3.11 on with the order of insertion.
 *
 * Functions that take a dict's address are in pyobject.h.
 */
#ifndef BACKENDS_CPYTHON_PYDICT_H
#define BACKENDS_CPYTHON_PYDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpython;
struct pyreader;

struct pytable {
	uint64_t entries;    /* address of the first entry */
	int64_t entry_count; /* number of entries, deleted ones included */
	int64_t used;	     /* number of entries with a value; -1: unknown */
	size_t entry_size;
	size_t key_at;	  /* byte offset of the key in an entry; the value follows the key */
	uint64_t values;  /* address of the values array of a split table; 0: combined table */
	uint64_t indices; /* address of the hash table, an array of entry numbers */
	uint64_t slot_count;
	unsigned index_width; /* bytes of one entry number */
	bool has_order;
	size_t order_count;
	uint8_t order[256]; /* entry numbers in the order of insertion */
};

/* Bytes of a dict's keys object that pytable_parse() needs. */
#define PYTABLE_HEAD 40
/* Fills table from head, the first bytes of the keys object at keys; table->used becomes -1. */
int pytable_parse(const struct cpython *python, uint64_t keys, const uint8_t head[PYTABLE_HEAD],
		  struct pytable *table);
/* Fills table from a dict object. */
int pytable_of_dict(struct pyreader *reader, uint64_t dict, struct pytable *table);
/* Fills table from an instance's keys and values (3.11 on: a PyDictValues). */
int pytable_of_values(struct pyreader *reader, uint64_t keys, uint64_t values,
		      struct pytable *table);
/*
 * Calls visit() for at most `count` of the entries with a value, from the one with index `start`
 * on, until visit() returns false. Returns the number of all entries with a value; -1: unreadable.
 */
int64_t pytable_each(struct pyreader *reader, const struct pytable *table, int64_t start,
		     size_t count, bool (*visit)(uint64_t key, uint64_t value, void *data),
		     void *data);
/*
 * Finds the key that has this hash and for which is_wanted() returns true, and sets *place to the
 * address of the word with its value. Returns 0, or -1 if there is no such key or the table is
 * unreadable. The word may be 0 (value deleted).
 */
int pytable_locate(struct pyreader *reader, const struct pytable *table, uint64_t hash,
		   bool (*is_wanted)(uint64_t key, void *data), void *data, uint64_t *place);
/* Finds the value of a str key. Returns 0, or -1 if the key is not found or unreadable. */
int pytable_find(struct pyreader *reader, const struct pytable *table, const char *key,
		 uint64_t *value);
/*
 * Finds the value of the key object at the address `key`, which has the given hash. Returns 0, or
 * -1 if the key is not found or unreadable.
 */
int pytable_find_key(struct pyreader *reader, const struct pytable *table, uint64_t hash,
		     uint64_t key, uint64_t *value);

#endif
