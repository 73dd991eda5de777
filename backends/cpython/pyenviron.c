#include "backends/cpython/pyenviron.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"

#define NAME_MAXIMUM 256
#define VALUE_MAXIMUM (128 * 1024)
#define VARIABLES_MAXIMUM 10000

struct search {
	struct pyreader *reader;
	const char *name;
	uint64_t value;
};

static bool compare_name(uint64_t key, uint64_t value, void *data)
{
	struct search *search = data;
	size_t length = strlen(search->name);
	char bytes[NAME_MAXIMUM];
	int64_t key_length;
	uint64_t at;

	if (pybytes_read(search->reader, key, &at, &key_length) || key_length != (int64_t)length ||
	    pyreader_read(search->reader, at, bytes, length) || memcmp(bytes, search->name, length))
		return true;
	search->value = value;
	return false;
}

static int pyenviron_append_bytes(struct pyreader *reader, uint64_t address, struct buffer *out)
{
	int64_t length;
	uint64_t at;
	char *bytes;
	int result;

	if (pybytes_read(reader, address, &at, &length) || length > VALUE_MAXIMUM)
		return -1;
	bytes = xmalloc((size_t)length + 1);
	result = pyreader_read(reader, at, bytes, (size_t)length);
	if (!result)
		result = buffer_append(out, bytes, (size_t)length);
	free(bytes);
	return result;
}

int pyenviron_find(struct pyreader *reader, uint64_t interpreter, const char *name,
		   struct buffer *value)
{
	struct search search = { .reader = reader, .name = name };
	uint64_t environ, data;

	if (strlen(name) > NAME_MAXIMUM ||
	    pymodule_find(reader, interpreter, "os", "environ", &environ) ||
	    pyobject_attribute(reader, environ, "_data", &data) ||
	    pydict_each(reader, data, 0, VARIABLES_MAXIMUM, compare_name, &search) < 0 ||
	    !search.value)
		return -1;
	return pyenviron_append_bytes(reader, search.value, value);
}
