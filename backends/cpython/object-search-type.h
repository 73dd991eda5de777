/*
 * object-search-type: for object-search.h, tells for a type which words of its objects may lead to
 * functions. Each type is read once.
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
	CRAWL_WRAPPER,	/* wraps other objects, by words at byte offset `first`, or in its
			 * __dict__ */
	CRAWL_INSTANCE, /* an instance of a Python class, or of a type with a __dict__ */
};

struct crawl_type {
	enum crawl_kind kind;
	int first; /* CRAWL_WRAPPER: byte offset of the references to the wrapped objects */
	int count; /* CRAWL_WRAPPER: number of these references */
	uint64_t flags;
	int64_t basic_size;
	int64_t slots_at; /* Python class: byte offset of the __slots__ in an instance; 0: none */
	int64_t dict_offset;
};

/* memory and python are borrowed. */
struct crawl_types *crawl_types_new(struct memory *memory, const struct cpython *python);
void crawl_types_free(struct crawl_types *types);
/* Returns the type at address; of kind CRAWL_NOTHING if no valid type is there. */
const struct crawl_type *crawl_types_find(struct crawl_types *types, uint64_t address);

#endif
