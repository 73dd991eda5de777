#include "model/eval-history.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"

void eval_history_clear(struct eval_history *dialogue)
{
	for (size_t i = 0; i < dialogue->count; i++)
		answers_clear(&dialogue->items[i]);
	free(dialogue->items);
	*dialogue = (struct eval_history){ .items = NULL };
}

static void forget_oldest(struct eval_history *dialogue)
{
	answers_clear(&dialogue->items[0]);
	dialogue->count--;
	memmove(dialogue->items, dialogue->items + 1, dialogue->count * sizeof(*dialogue->items));
}

static bool is_full(const struct eval_history *dialogue)
{
	size_t bytes = 0;

	for (size_t i = 0; i < dialogue->count; i++)
		bytes += dialogue->items[i].bytes;
	return dialogue->count == EVAL_HISTORY_MAXIMUM || bytes > EVAL_HISTORY_BYTES;
}

struct answers *eval_history_add(struct eval_history *dialogue, const char *code,
				 enum answers_kind kind, uint64_t number, double now)
{
	struct answers *answers;

	while (is_full(dialogue))
		forget_oldest(dialogue);
	ARRAY_GROW(dialogue->items, dialogue->count, dialogue->capacity);
	answers = &dialogue->items[dialogue->count++];
	*answers = (struct answers){ .question = NULL };
	answers_begin(answers, code, kind, now);
	answers->number = number;
	return answers;
}

struct answers *eval_history_find(const struct eval_history *dialogue, uint64_t number)
{
	for (size_t i = 0; i < dialogue->count; i++)
		if (dialogue->items[i].number == number)
			return &dialogue->items[i];
	return NULL;
}
