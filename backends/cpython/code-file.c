#include "backends/cpython/code-file.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/object-search.h"
#include "backends/cpython/offsets.h"
#include "backends/cpython/pystring.h"
#include "backends/linux/memory.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"

/* A component of a path; text points into the path. */
struct component {
	const char *text;
	size_t length;
};

/* A walk over a path from its end. */
struct walk {
	const char *path;
	size_t left;
	size_t skipped; /* components still to skip because of a ".." behind them */
};

static bool is_nothing(const struct component *component)
{
	return component->length == 0 || (component->length == 1 && component->text[0] == '.');
}

static bool code_file_is_up(const struct component *component)
{
	return component->length == 2 && !memcmp(component->text, "..", 2);
}

static struct component take_any(struct walk *walk)
{
	size_t end = walk->left;
	size_t start = end;

	while (start > 0 && walk->path[start - 1] != '/')
		start--;
	walk->left = start > 0 ? start - 1 : 0;
	return (struct component){ walk->path + start, end - start };
}

/* Takes the last component that is left, with ".." resolved; false: none is left. */
static bool take_last(struct walk *walk, struct component *component)
{
	while (walk->left > 0) {
		*component = take_any(walk);
		if (is_nothing(component))
			continue;
		if (code_file_is_up(component))
			walk->skipped++;
		else if (walk->skipped == 0)
			return true;
		else
			walk->skipped--;
	}
	return false;
}

bool code_file_matches(const char *path, const char *filename)
{
	struct walk mine = { path, strlen(path), 0 };
	struct walk its = { filename, strlen(filename), 0 };
	bool is_any = false;

	for (;; is_any = true) {
		struct component a, b;
		bool has_a = take_last(&mine, &a);
		bool has_b = take_last(&its, &b);

		if (has_a && has_b) {
			if (a.length != b.length || memcmp(a.text, b.text, a.length) != 0)
				return false;
			continue;
		}
		/* A relative path may lie in any directory: a match up to its start is enough. */
		return is_any && ((!has_a && !has_b) || (!has_a && path[0] != '/') ||
				  (!has_b && filename[0] != '/'));
	}
}

bool code_file_is_library(const char *filename)
{
	return strstr(filename, "/site-packages/") || strstr(filename, "/dist-packages/") ||
	       strstr(filename, "/lib/python") || filename[0] == '<';
}

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

/*
 * Decodes a compact string (strings made by the compiler are compact); NULL: not compact, too long
 * or unreadable.
 */
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
