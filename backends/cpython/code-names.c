#include "backends/cpython/code-names.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/object-search.h"
#include "backends/cpython/offsets.h"
#include "backends/cpython/pystring.h"
#include "backends/linux/memory.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"

/* Bytes of a str fetched in the first read: enough for most paths. */
#define FIRST_BYTES 256u
#define NAME_MAXIMUM 16384u

struct name {
	bool is_wanted;
	char *text; /* NULL: not a readable string */
};

struct code_names {
	struct memory *memory;
	const struct cpython *python;
	const struct object_search_calls *calls;
	struct map *known;
	uint64_t *expected;
	size_t expected_count;
	size_t expected_capacity;
};

static void code_names_free_name(void *data)
{
	struct name *name = data;

	free(name->text);
	free(name);
}

struct code_names *code_names_new(struct memory *memory, const struct cpython *python,
				  const struct object_search_calls *calls)
{
	struct code_names *names = xcalloc(1, sizeof(*names));

	names->memory = memory;
	names->python = python;
	names->calls = calls;
	names->known = map_new(code_names_free_name);
	return names;
}

void code_names_free(struct code_names *names)
{
	if (!names)
		return;
	free(names->expected);
	map_free(names->known);
	free(names);
}

void code_names_expect(struct code_names *names, uint64_t address)
{
	if (!address || map_find(names->known, address))
		return;
	map_put(names->known, address, xcalloc(1, sizeof(struct name)));
	ARRAY_GROW(names->expected, names->expected_count, names->expected_capacity);
	names->expected[names->expected_count++] = address;
}

/* Decodes a compact string (strings made by the compiler are compact); NULL: another string. */
static char *code_names_take_text(const struct code_names *names, const struct memory_part *part)
{
	struct buffer text = BUFFER_INIT;
	struct pystring string;
	uint8_t *longer = NULL;
	const uint8_t *bytes;
	size_t start, length;

	if (part->done < OFFSETS_STRING_BYTES ||
	    pystring_parse(&string, names->python, part->address, part->out) || !string.data ||
	    (uint64_t)string.length > NAME_MAXIMUM / string.width)
		return NULL;
	start = (size_t)(string.data - part->address);
	length = (size_t)string.length * string.width;
	bytes = (const uint8_t *)part->out + start;
	if (start + length > part->done) {
		longer = xmalloc(length);
		if (memory_fetch(names->memory, string.data, longer, length) < 0) {
			free(longer);
			return NULL;
		}
		bytes = longer;
	}
	pystring_decode(&text, bytes, (size_t)string.length, string.width);
	free(longer);
	return buffer_take(&text);
}

void code_names_learn(struct code_names *names)
{
	const struct object_search_calls *calls = names->calls;
	size_t count = names->expected_count;
	struct memory_part *parts = xcalloc(count + 1, sizeof(*parts));
	uint8_t *bytes = xcalloc(count + 1, FIRST_BYTES);

	for (size_t i = 0; i < count; i++)
		parts[i] = (struct memory_part){
			.address = names->expected[i],
			.out = bytes + i * FIRST_BYTES,
			.length = FIRST_BYTES,
		};
	memory_fetch_parts(names->memory, parts, count);
	for (size_t i = 0; i < count; i++) {
		struct name *name = map_find(names->known, parts[i].address);

		name->text = code_names_take_text(names, &parts[i]);
		name->is_wanted = name->text &&
				  (!calls->is_wanted || calls->is_wanted(name->text, calls->data));
	}
	names->expected_count = 0;
	free(bytes);
	free(parts);
}

bool code_names_is_wanted(const struct code_names *names, uint64_t address)
{
	const struct name *name = map_find(names->known, address);

	return name && name->is_wanted;
}

const char *code_names_text(const struct code_names *names, uint64_t address)
{
	const struct name *name = map_find(names->known, address);

	return name ? name->text : NULL;
}
