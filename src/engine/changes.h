/*
 * changes: when something changed in a recording: a rank came, went or changed
 * its state, or its main thread's stack changed. Found by following a segment
 * with a session of its own; segments in which nothing did are passed over.
 */
#ifndef ENGINE_CHANGES_H
#define ENGINE_CHANGES_H

#include <stdbool.h>

struct changes;
struct recording;

/* The recording is borrowed. */
struct changes *changes_new(const struct recording *recording);
void changes_free(struct changes *changes);
/* The nearest one before, or after, that time of the recording; -1: none. */
double changes_find(struct changes *changes, double time, bool is_forward);

#endif
