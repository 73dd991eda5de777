/*
 * eval-history: code that ranks were asked to run, oldest first, each with what
 * they answered (answers.h). What is older than the last EVAL_HISTORY_MAXIMUM is
 * forgotten, and the oldest of what is longer together than EVAL_HISTORY_BYTES.
 */
#ifndef MODEL_EVAL_HISTORY_H
#define MODEL_EVAL_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "model/answers.h"

#define EVAL_HISTORY_MAXIMUM 200
#define EVAL_HISTORY_BYTES ((size_t)64 << 20)

/* All zero: nothing was asked. */
struct eval_history {
	struct answers *items;
	size_t count;
	size_t capacity;
};

void eval_history_clear(struct eval_history *eval_history);
/* Lends a new one at the end, of no rank yet; until the next is added. */
struct answers *eval_history_add(struct eval_history *eval_history, const char *code,
				 enum answers_kind kind, uint64_t number, double now);
/* Lends the one with that number; NULL: it is forgotten. */
struct answers *eval_history_find(const struct eval_history *eval_history, uint64_t number);

#endif
