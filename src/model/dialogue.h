/*
 * dialogue: code that ranks were asked to run, oldest first, each with what
 * they answered (answers.h). What is older than the last DIALOGUE_MAXIMUM is
 * forgotten, and the oldest of what is longer together than DIALOGUE_BYTES.
 */
#ifndef MODEL_DIALOGUE_H
#define MODEL_DIALOGUE_H

#include <stddef.h>
#include <stdint.h>

#include "model/answers.h"

#define DIALOGUE_MAXIMUM 200
#define DIALOGUE_BYTES ((size_t)64 << 20)

/* All zero: nothing was asked. */
struct dialogue {
	struct answers *items;
	size_t count;
	size_t capacity;
};

void dialogue_clear(struct dialogue *dialogue);
/* Lends a new one at the end, of no rank yet; until the next is added. */
struct answers *dialogue_add(struct dialogue *dialogue, const char *code, enum answers_kind kind,
			     uint64_t number, double now);
/* Lends the one with that number; NULL: it is forgotten. */
struct answers *dialogue_find(const struct dialogue *dialogue, uint64_t number);

#endif
