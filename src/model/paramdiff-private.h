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

/* True for a gradient that is None, as opposed to one that was not read. */
bool paramdiff_is_none(const struct paramdiff_class *class);
/* Adds a deep copy, without its grid, which the answers then own. */
void paramdiff_copy_difference(struct answers *answers, const struct difference *difference);

#endif
