/*
 * eval-history: code that ranks were asked to run, oldest first, with the ranks' answers
 * (answers.h). The oldest entries are dropped beyond EVAL_HISTORY_MAXIMUM entries or
 * EVAL_HISTORY_BYTES of text.
 */
#ifndef MODEL_EVAL_HISTORY_H
#define MODEL_EVAL_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "model/answers.h"

#define EVAL_HISTORY_MAXIMUM 200
#define EVAL_HISTORY_BYTES ((size_t)64 << 20)

/* A zeroed struct is an empty history. */
struct eval_history {
	struct answers *items;
	size_t count;
	size_t capacity;
};

void eval_history_clear(struct eval_history *eval_history);
/* Appends an entry without ranks and returns it, borrowed until the next call. */
struct answers *eval_history_add(struct eval_history *eval_history, const char *code,
				 enum answers_kind kind, uint64_t number, double now);
/* Returns a borrowed entry; NULL: no such number, or dropped. */
struct answers *eval_history_find(const struct eval_history *eval_history, uint64_t number);

#endif
