#include "ui/stepqueue.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"

#define LINES_MAXIMUM 100

void stepqueue_clear(struct stepqueue *queue)
{
	for (size_t i = 0; i < queue->count; i++)
		free(queue->lines[i]);
	free(queue->lines);
	*queue = (struct stepqueue){ .lines = NULL };
}

void stepqueue_add(struct stepqueue *queue, const char *line)
{
	if (queue->count == LINES_MAXIMUM)
		return;
	ARRAY_GROW(queue->lines, queue->count, queue->capacity);
	queue->lines[queue->count++] = xstrdup(line);
}

char *stepqueue_take(struct stepqueue *queue)
{
	char *first;

	if (queue->count == 0)
		return NULL;
	first = queue->lines[0];
	queue->count--;
	memmove(queue->lines, queue->lines + 1, queue->count * sizeof(*queue->lines));
	return first;
}

void stepqueue_append(struct buffer *out, const struct stepqueue *queue)
{
	for (size_t i = 0; i < queue->count;) {
		const char *line = queue->lines[i];
		size_t times = 0;

		if (i > 0)
			buffer_append_string(out, ", ");
		while (i + times < queue->count && strcmp(queue->lines[i + times], line) == 0)
			times++;
		text_escape(out, line, strlen(line));
		if (times > 1)
			buffer_printf(out, " \u00d7%zu", times);
		i += times;
	}
}
