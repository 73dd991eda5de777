/*
 * object-search-type: what of an object of some type may lead to functions, for
 * object-search.h. A type is read once.
 */
#ifndef BACKENDS_CPYTHON_OBJECT_SEARCH_TYPE_H
#define BACKENDS_CPYTHON_OBJECT_SEARCH_TYPE_H

#include <stdbool.h>
#include <stdint.h>

struct crawl_types;
struct cpython;
struct memory;

enum crawl_kind {
	CRAWL_NOTHING,
	CRAWL_CODE,
	CRAWL_FUNCTION,
	CRAWL_CLASS,
	CRAWL_DICT,
	CRAWL_TUPLE,
	CRAWL_LIST,
	CRAWL_SET,
	CRAWL_WRAPPER,	/* has words that are what it wraps, or a __dict__ */
	CRAWL_INSTANCE, /* of a class of Python's, or with a __dict__ */
};

struct crawl_type {
	enum crawl_kind kind;
	int first; /* of a wrapper: the offset of its words */
	int count; /* of them */
	uint64_t flags;
	int64_t basic_size;
	int64_t slots_at; /* of a class of Python's: __slots__; 0: none */
	int64_t dict_offset;
};

struct crawl_types *crawl_types_new(struct memory *memory, const struct cpython *python);
void crawl_types_free(struct crawl_types *types);
/* Lends the type at address; one of CRAWL_NOTHING where there is none. */
const struct crawl_type *crawl_types_find(struct crawl_types *types, uint64_t address);

#endif
