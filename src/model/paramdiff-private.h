/*
 * paramdiff-private: what the two parts of paramdiff.h share.
 */
#ifndef MODEL_PARAMDIFF_PRIVATE_H
#define MODEL_PARAMDIFF_PRIVATE_H

#include <stdbool.h>

struct answers;
struct difference;
struct paramdiff_class;
struct tensor;

/* It was looked at, and is None: a gradient. */
bool paramdiff_is_none(const struct paramdiff_class *class);
/* What the answers own then. */
void paramdiff_copy_difference(struct answers *answers, const struct difference *difference);

#endif
