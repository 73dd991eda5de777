#include "model/source.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/text.h"

static size_t count_lines(const char *content)
{
	size_t count = 0;

	while (*content) {
		const char *end = strchr(content, '\n');

		count++;
		if (!end)
			break;
		content = end + 1;
	}
	return count;
}

/* Fills content and lines; every line ends in a NUL inside content. */
static void source_split(struct source *source, const char *content)
{
	struct buffer shown = BUFFER_INIT;
	size_t *starts;

	source->line_count = count_lines(content);
	starts = xcalloc(source->line_count + 1, sizeof(*starts));
	for (size_t i = 0; i < source->line_count; i++) {
		size_t length = strcspn(content, "\n");
		size_t kept = length;

		if (kept > 0 && content[kept - 1] == '\r')
			kept--;
		starts[i] = shown.length;
		text_append_line(&shown, content, kept);
		buffer_append_char(&shown, '\0');
		content += length + (content[length] == '\n');
	}
	source->content = buffer_take(&shown);
	source->lines = xcalloc(source->line_count + 1, sizeof(*source->lines));
	for (size_t i = 0; i < source->line_count; i++)
		source->lines[i] = source->content + starts[i];
	free(starts);
}

struct source *source_new(const char *path, const char *content, bool is_changed, const char *error)
{
	struct source *source = xcalloc(1, sizeof(*source));

	source->path = xstrdup(path);
	source->is_changed = is_changed;
	source->error = xstrdup_or_null(error);
	if (content)
		source_split(source, content);
	return source;
}

void source_place(struct source *source, const char *full, int64_t device, int64_t inode)
{
	free(source->full);
	source->full = xstrdup_or_null(full);
	source->device = device;
	source->inode = inode;
}

void source_free(struct source *source)
{
	if (!source)
		return;
	free(source->path);
	free(source->content);
	free(source->lines);
	free(source->error);
	free(source->full);
	free(source);
}

const char *source_line(const struct source *source, int number)
{
	if (number < 1 || (size_t)number > source->line_count)
		return NULL;
	return source->lines[number - 1];
}

/* True for a blank line, a comment, or a closing bracket, which do not end a function. */
static bool ends_nothing(const char *text)
{
	return text[0] == '\0' || strchr("#)]}", text[0]);
}

int source_function_end(const struct source *source, int first, int number)
{
	const char *head = source_line(source, first);
	int count = (int)source->line_count;
	size_t indent;

	if (first == 0 || !head)
		return count;
	indent = strspn(head, " ");
	for (int line = number + 1; line <= count; line++) {
		const char *text = source_line(source, line);
		size_t own = strspn(text, " ");

		if (own <= indent && !ends_nothing(text + own))
			return line - 1;
	}
	return count;
}
