/*
 * stepqueue: command lines that resume ranks, typed before all ranks of the previous line had
 * stopped. Each line waits for the previous one, so that the ranks of a group stay together.
 */
#ifndef UI_STEPQUEUE_H
#define UI_STEPQUEUE_H

#include <stddef.h>

struct buffer;

struct stepqueue {
	char **lines;
	size_t count;
	size_t capacity;
};

/* Empties the queue. */
void stepqueue_clear(struct stepqueue *queue);
/* Adds a line; a full queue (100 lines, by a held key) stays as it is. */
void stepqueue_add(struct stepqueue *queue, const char *line);
/* Takes the first line, to be freed; NULL: the queue is empty. */
char *stepqueue_take(struct stepqueue *queue);
/* Appends "next ×2, step". */
void stepqueue_append(struct buffer *out, const struct stepqueue *queue);

#endif
