#include "model/answers.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "model/paramdiff.h"
#include "model/tensordiff.h"
#include "protocol/tensor.h"
#include "protocol/variable.h"

static void answer_clear(struct answer *answer)
{
	if (answer->tensor)
		tensor_clear(answer->tensor);
	free(answer->tensor);
	free(answer->text);
	free(answer->error);
	free(answer->value);
	free(answer->type);
	free(answer->output);
	free(answer->traceback);
}

void answers_clear(struct answers *answers)
{
	for (size_t i = 0; i < answers->count; i++)
		answer_clear(&answers->items[i]);
	free(answers->items);
	for (size_t i = 0; i < answers->difference_count; i++)
		difference_clear(&answers->differences[i]);
	free(answers->differences);
	if (answers->parts)
		paramdiff_clear(answers->parts);
	free(answers->parts);
	free(answers->question);
	rankset_clear(&answers->ranks);
	*answers = (struct answers){ .question = NULL };
}

void answers_begin(struct answers *answers, const char *question, enum answers_kind kind,
		   double now)
{
	char *copy = xstrdup(question);

	answers_clear(answers);
	answers->question = copy;
	answers->kind = kind;
	answers->asked_at = now;
}

static struct answer *find(const struct answers *answers, int rank)
{
	for (size_t i = 0; i < answers->count; i++)
		if (answers->items[i].rank == rank)
			return &answers->items[i];
	return NULL;
}

const struct answer *answers_find(const struct answers *answers, int rank)
{
	return find(answers, rank);
}

void answers_wait(struct answers *answers, int rank)
{
	if (find(answers, rank))
		return;
	ARRAY_GROW(answers->items, answers->count, answers->capacity);
	answers->items[answers->count++] = (struct answer){ .rank = rank };
	rankset_add(&answers->ranks, rank);
}

/* Returns the printed output followed by the value; if both are empty, the text nothing. */
static char *answers_make_text(const struct answer *answer, const char *nothing)
{
	struct buffer out = BUFFER_INIT;

	if (answer->output)
		buffer_append_string(&out, answer->output);
	/* As in Python's interactive interpreter: None is not shown behind printed output. */
	if (answer->value && answer->value[0] != '\0' &&
	    (out.length == 0 || strcmp(answer->value, "None") != 0)) {
		if (out.length > 0 && out.data[out.length - 1] != '\n')
			buffer_append_char(&out, '\n');
		buffer_append_string(&out, answer->value);
	}
	if (out.length == 0)
		buffer_append_string(&out, nothing);
	return buffer_take(&out);
}

static size_t answers_length_of(const char *text)
{
	return text ? strlen(text) : 0;
}

static size_t answers_count_bytes(const struct answer *answer)
{
	return answers_length_of(answer->text) + answers_length_of(answer->error) +
	       answers_length_of(answer->value) + answers_length_of(answer->type) +
	       answers_length_of(answer->output) + answers_length_of(answer->traceback) +
	       (answer->tensor ? sizeof(*answer->tensor) : 0);
}

static struct tensor *copy_tensor(const struct tensor *tensor)
{
	struct tensor *copy;

	if (!tensor)
		return NULL;
	copy = xcalloc(1, sizeof(*copy));
	tensor_copy(copy, tensor);
	return copy;
}

void answers_take_whole(struct answers *answers, const struct answer *answer)
{
	const char *nothing = answers_are_of_code(answers) ? "done" : "-";
	struct answer *own;

	answers_wait(answers, answer->rank);
	own = find(answers, answer->rank);
	answers->bytes -= answers_count_bytes(own);
	answer_clear(own);
	*own = (struct answer){
		.rank = answer->rank,
		.has_come = true,
		.is_raised = answer->is_raised,
		.text = xstrdup_or_null(answer->text),
		.error = xstrdup_or_null(answer->error),
		.value = xstrdup_or_null(answer->value),
		.type = xstrdup_or_null(answer->type),
		.output = xstrdup_or_null(answer->output),
		.traceback = xstrdup_or_null(answer->traceback),
		.tensor = copy_tensor(answer->tensor),
		.address = answer->address,
		.is_of_fields = answer->is_of_fields,
	};
	if (!own->text && !own->error)
		own->text = answers_make_text(own, nothing);
	answers->bytes += answers_count_bytes(own);
}

void answers_take(struct answers *answers, int rank, const char *text, const char *error)
{
	struct answer answer = {
		.rank = rank,
		.text = xstrdup_or_null(text),
		.error = xstrdup_or_null(error),
	};

	answers_take_whole(answers, &answer);
	answer_clear(&answer);
}

bool answers_are_of_code(const struct answers *answers)
{
	return answers->kind >= ANSWERS_EVAL;
}

bool answer_has_parts(const struct answer *answer)
{
	return answer->text && !answer->tensor &&
	       !variable_says_all(answer->text, answer->is_of_fields);
}

size_t answers_come(const struct answers *answers)
{
	size_t count = 0;

	for (size_t i = 0; i < answers->count; i++)
		count += answers->items[i].has_come;
	return count;
}

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
