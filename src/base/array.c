#include "base/array.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"

#define ARRAY_START 8

void *array_grow(void *items, size_t wanted, size_t *capacity, size_t size)
{
	size_t room = *capacity;

	if (wanted <= room)
		return items;
	if (room < ARRAY_START)
		room = ARRAY_START;
	while (room < wanted)
		room = room > SIZE_MAX / 2 ? wanted : room * 2;
	/* Larger than the address space: xrealloc() of SIZE_MAX prints the error and aborts. */
	if (room > SIZE_MAX / size)
		return xrealloc(items, SIZE_MAX);
	*capacity = room;
	return xrealloc(items, room * size);
}
