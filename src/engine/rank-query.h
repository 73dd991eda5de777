/*
 * rank-query: one question to several ranks, of one of three kinds. An expression is read from the
 * memory of each rank, whether the rank runs or is stopped (engine/tensor-requests.h chooses the
 * frame); if reading fails, the debugger that has stopped the rank evaluates the expression. A line
 * is sent to the debuggers' prompts. Code is run in every rank: in the selected frame if the rank
 * is stopped in a debugger that probetui is connected to, else in __main__.
 *
 * Answers to code go to the session's eval_history, other answers to the session's answers (both in
 * model/answers.h). Several questions with code may be open, but only one of the other kinds: a new
 * question drops late answers to the one before.
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

/* The questions that not all ranks have answered yet. All zero: none. */
struct rank_query {
	struct rank_query_question **questions;
	size_t count;
	size_t capacity;
	uint64_t number; /* number of the last question */
	int interrupts;	 /* number of interrupts (Ctrl-C) since rank_query_wait() began */
	/* true: compare the tensors element by element after the last answer */
	bool wants_difference;
	bool wants_sample; /* sample large tensors only; set before rank_query_begin() */
};

void rank_query_clear(struct engine *engine);
/*
 * Sends the question to the context's ranks; for a rank that cannot be asked, stores the reason as
 * the answer. -1, *error and STATUS_NOTHING if no rank can be asked.
 */
int rank_query_begin(struct command_context *context, const char *name, const char *question,
		     enum answers_kind kind, struct error *error);
/* Answers to the last question, borrowed. NULL: no question was asked. */
const struct answers *rank_query_answers(const struct engine *engine);
/*
 * In a shell: waits for all answers; a rank that does not answer in time gets an error as its
 * answer.
 */
void rank_query_wait(struct engine *engine);
/*
 * The first call sends `cancel` to ranks that have not answered; the second ends rank_query_wait().
 */
void rank_query_interrupt(struct engine *engine);

#endif
