/*
 * changes: times at which something changed in a recording: a rank appeared, ended or changed its
 * state, or its main thread's stack changed. Changes are found by replaying a segment in a session
 * of its own; segments without changes are skipped.
 */
#ifndef ENGINE_CHANGES_H
#define ENGINE_CHANGES_H

#include <stdbool.h>

struct changes;
struct recording;

/* The recording is borrowed. */
struct changes *changes_new(const struct recording *recording);
void changes_free(struct changes *changes);
/* The time of the nearest change before or after time, in seconds of the recording; -1: none. */
double changes_find(struct changes *changes, double time, bool is_forward);

#endif
