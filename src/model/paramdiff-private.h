/*
 * paramdiff-private: functions that paramdiff.c and paramdiff-judge.c share.
 */
#ifndef MODEL_PARAMDIFF_PRIVATE_H
#define MODEL_PARAMDIFF_PRIVATE_H

#include <stdbool.h>

struct answers;
struct difference;
struct paramdiff_class;
struct tensor;

/* True if the class is a gradient that is None, not one that could not be read. */
bool paramdiff_is_none(const struct paramdiff_class *class);
/* Adds a deep copy of difference, without its grid, to answers, which owns the copy. */
void paramdiff_copy_difference(struct answers *answers, const struct difference *difference);

#endif
