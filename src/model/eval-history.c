#include "model/eval-history.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"

void eval_history_clear(struct eval_history *eval_history)
{
	for (size_t i = 0; i < eval_history->count; i++)
		answers_clear(&eval_history->items[i]);
	free(eval_history->items);
	*eval_history = (struct eval_history){ .items = NULL };
}

static void eval_history_forget_oldest(struct eval_history *eval_history)
{
	answers_clear(&eval_history->items[0]);
	eval_history->count--;
	memmove(eval_history->items, eval_history->items + 1,
		eval_history->count * sizeof(*eval_history->items));
}

static bool eval_history_is_full(const struct eval_history *eval_history)
{
	size_t bytes = 0;

	for (size_t i = 0; i < eval_history->count; i++)
		bytes += eval_history->items[i].bytes;
	return eval_history->count == EVAL_HISTORY_MAXIMUM || bytes > EVAL_HISTORY_BYTES;
}

struct answers *eval_history_add(struct eval_history *eval_history, const char *code,
				 enum answers_kind kind, uint64_t number, double now)
{
	struct answers *answers;

	while (eval_history_is_full(eval_history))
		eval_history_forget_oldest(eval_history);
	ARRAY_GROW(eval_history->items, eval_history->count, eval_history->capacity);
	answers = &eval_history->items[eval_history->count++];
	*answers = (struct answers){ .question = NULL };
	answers_begin(answers, code, kind, now);
	answers->number = number;
	return answers;
}

struct answers *eval_history_find(const struct eval_history *eval_history, uint64_t number)
{
	for (size_t i = 0; i < eval_history->count; i++)
		if (eval_history->items[i].number == number)
			return &eval_history->items[i];
	return NULL;
}
