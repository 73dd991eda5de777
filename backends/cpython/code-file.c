#include "backends/cpython/code-file.h"

#include <stddef.h>
#include <string.h>

#include "banned.h"

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

/* The last component that was not taken yet; false: none left. */
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
