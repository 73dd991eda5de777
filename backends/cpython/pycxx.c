#include "backends/cpython/pycxx.h"

#include <stdio.h>
#include <string.h>

#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "banned.h"

/*
 * The two words before a virtual table: offset to the object's start, type_info. A type_info has a
 * table pointer, then the name (Itanium C++ ABI).
 */
#define TOP 16u
#define NAME 8u

static int pycxx_read_name(struct pyreader *reader, uint64_t table, char *name)
{
	uint64_t before[2]; /* offset to the object's start; type_info */
	uint64_t text;

	if (table % 8 || pyreader_read(reader, table - TOP, before, sizeof(before)) ||
	    before[0] != 0 || before[1] % 8 || pyreader_pointer(reader, before[1] + NAME, &text) ||
	    pyreader_c_string(reader, text, name, PYCXX_NAME) || !*name)
		return -1;
	for (const char *at = name; *at; at++)
		if (*at < ' ' || *at > '~')
			return -1;
	return 0;
}

const char *pycxx_class(struct pyreader *reader, uint64_t object)
{
	struct pycxx_cache *cache = &reader->classes;
	uint64_t table;
	char name[PYCXX_NAME];

	if (!object || object % 8 || pyreader_pointer(reader, object, &table) || !table)
		return NULL;
	for (size_t i = 0; i < PYCXX_CACHE; i++)
		if (cache->items[i].table == table)
			return cache->items[i].name;
	if (pycxx_read_name(reader, table, name))
		return NULL;
	size_t at = cache->next;
	cache->next = (at + 1) % PYCXX_CACHE;
	cache->items[at].table = table;
	memcpy(cache->items[at].name, name, sizeof(name));
	return cache->items[at].name;
}

static bool pycxx_is_digit(char letter)
{
	return letter >= '0' && letter <= '9';
}

/* "N5torch8autograd9generated12MulBackward0E", "9Something" */
int pycxx_last(const char *mangled, char *out, size_t size)
{
	const char *at = mangled;
	const char *found = NULL;
	size_t length = 0;

	if (*at == '*')
		at++;
	if (*at == 'N')
		at++;
	while (pycxx_is_digit(*at)) {
		size_t count = 0;

		for (; pycxx_is_digit(*at) && count < PYCXX_NAME; at++)
			count = count * 10 + (size_t)(*at - '0');
		if (!count || count > strlen(at))
			return -1;
		found = at;
		length = count;
		at += count;
	}
	if (!found || length >= size || (*at && *at != 'E' && *at != 'I'))
		return -1;
	snprintf(out, size, "%.*s", (int)length, found);
	return 0;
}
