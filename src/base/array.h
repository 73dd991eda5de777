/*
 * array: a growing array is three plain variables: items, count, capacity.
 *
 * The owner frees items with free(). Growth doubles, so appending is cheap.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Returns items, reallocated if they have no room for `wanted` items of `size` bytes each. */
void *array_grow(void *items, size_t wanted, size_t *capacity, size_t size);

/* Makes room for one item behind the last: ARRAY_GROW(items, count, capacity). */
#define ARRAY_GROW(items, count, capacity)                                                         \
	((items) = array_grow((items), (count) + 1, &(capacity), sizeof(*(items))))

#endif
