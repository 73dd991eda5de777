/*
 * survey: one question to several ranks: an expression, read in each of them
 * whether it runs or is stopped (engine/tensorask.h says in which frame), and
 * where that cannot be done evaluated by the debugger that holds it; a line for
 * these debuggers' prompts; or code for every rank, in that frame where a debugger
 * of ours holds it, else in its __main__. The answers come into the session's
 * (model/answers.h, of code: model/dialogue.h). Of code several questions may
 * be open; of the others there is one at a time, and what answers the one
 * before is dropped.
 */
#ifndef ENGINE_SURVEY_H
#define ENGINE_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/answers.h"

struct command_context;
struct engine;
struct error;

/* Questions whose answers have not all come. All zero: none. */
struct survey {
	struct survey_question **questions;
	size_t count;
	size_t capacity;
	uint64_t number; /* of the last question */
	int interrupts;	 /* while it is waited for */
	/* Once all have come, how they differ is looked at, too. */
	bool wants_difference;
	bool wants_sample; /* of large tensors; set before survey_begin() */
};

void survey_clear(struct engine *engine);
/*
 * Asks the context's ranks; those that cannot be asked answer with the reason.
 * -1, a sentence and STATUS_NOTHING when no rank can be asked.
 */
int survey_begin(struct command_context *context, const char *name, const char *question,
		 enum answers_kind kind, struct error *error);
/* Lends the answers to the last question. NULL: nothing was asked. */
const struct answers *survey_answers(const struct engine *engine);
/* In a shell: waits for all; who is late answers with a sentence. */
void survey_wait(struct engine *engine);
/* What is waited for is to end; the second time it is not waited for. */
void survey_interrupt(struct engine *engine);

#endif
