/*
 * rank-query: one question to several ranks: an expression, read in each of them
 * whether it runs or is stopped (engine/tensor-question.h says in which frame), and
 * where that cannot be done evaluated by the debugger that holds it; a line for
 * these debuggers' prompts; or code for every rank, in that frame where a debugger
 * of ours holds it, else in its __main__. The answers come into the session's
 * (model/answers.h, of code: model/eval-history.h). Of code several questions may
 * be open; of the others there is one at a time, and what answers the one
 * before is dropped.
 */
#ifndef ENGINE_RANK_QUERY_H
#define ENGINE_RANK_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/answers.h"

struct command_context;
struct engine;
struct error;

/* Questions whose answers have not all come. All zero: none. */
struct rank_query {
	struct rank_query_question **questions;
	size_t count;
	size_t capacity;
	uint64_t number; /* of the last question */
	int interrupts;	 /* while it is waited for */
	/* Once all have come, how they differ is looked at, too. */
	bool wants_difference;
	bool wants_sample; /* of large tensors; set before rank_query_begin() */
};

void rank_query_clear(struct engine *engine);
/*
 * Asks the context's ranks; those that cannot be asked answer with the reason.
 * -1, a sentence and STATUS_NOTHING when no rank can be asked.
 */
int rank_query_begin(struct command_context *context, const char *name, const char *question,
		     enum answers_kind kind, struct error *error);
/* Lends the answers to the last question. NULL: nothing was asked. */
const struct answers *rank_query_answers(const struct engine *engine);
/* In a shell: waits for all; who is late answers with a sentence. */
void rank_query_wait(struct engine *engine);
/* What is waited for is to end; the second time it is not waited for. */
void rank_query_interrupt(struct engine *engine);

#endif
