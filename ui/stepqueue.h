/*
 * stepqueue: command lines that let ranks run, typed before all ranks of the
 * one before them had stopped. Each waits for the one before it, so that a
 * group stays together.
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

/* Leaves it empty. */
void stepqueue_clear(struct stepqueue *queue);
/* A held key does not make it longer than a hundred lines. */
void stepqueue_add(struct stepqueue *queue, const char *line);
/* The first of them, to be freed; NULL: it is empty. */
char *stepqueue_take(struct stepqueue *queue);
/* Appends "next ×2, step". */
void stepqueue_append(struct buffer *out, const struct stepqueue *queue);

#endif
