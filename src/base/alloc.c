#include "base/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

static _Noreturn void die(void)
{
	fputs("probetui: out of memory\n", stderr);
	abort();
}

void *xmalloc(size_t size)
{
	void *memory = malloc(size > 0 ? size : 1);

	if (!memory)
		die();
	return memory;
}

void *xcalloc(size_t count, size_t size)
{
	void *memory;

	if (count == 0 || size == 0)
		count = size = 1;
	memory = calloc(count, size);
	if (!memory)
		die();
	return memory;
}

void *xrealloc(void *memory, size_t size)
{
	void *moved = realloc(memory, size > 0 ? size : 1);

	if (!moved)
		die();
	return moved;
}

char *xstrdup(const char *string)
{
	return xstrndup(string, strlen(string));
}

char *xstrndup(const char *string, size_t length)
{
	size_t kept = strnlen(string, length);
	char *copy = xmalloc(kept + 1);

	memcpy(copy, string, kept);
	copy[kept] = '\0';
	return copy;
}

char *xstrdup_or_null(const char *string)
{
	return string ? xstrdup(string) : NULL;
}

void xreplace(char **string, const char *with)
{
	char *copy = xstrdup_or_null(with);

	free(*string);
	*string = copy;
}

char *xasprintf(const char *format, ...)
{
	va_list values;
	char *string;
	int length;

	va_start(values, format);
	length = vasprintf(&string, format, values);
	va_end(values);
	if (length < 0)
		die();
	return string;
}
