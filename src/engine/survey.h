/*
 * survey: one question to the debuggers of several ranks: an expression, in
 * the frame that is looked at or its like, or a line for their prompts. There
 * is one at a time; the answers come into the session's (model/answers.h), and
 * those to the question before are for nobody any more.
 */
#ifndef ENGINE_SURVEY_H
#define ENGINE_SURVEY_H

#include <stdbool.h>
#include <stddef.h>

struct command_context;
struct engine;
struct error;
struct pending_ask;

/* Whose answers have not been taken. All zero: nobody's. */
struct survey {
	struct pending_ask *asks;
	size_t count;
	size_t capacity;
};

void survey_clear(struct survey *survey);
/*
 * Asks the context's ranks; those without a stopped debugger answer with the
 * reason. -1, a sentence and STATUS_NOTHING when no rank can be asked.
 */
int survey_begin(struct command_context *context, const char *name,
		 const char *question, bool is_broadcast, struct error *error);
/* Takes the answers that have come; at each turn of the loop. */
void survey_turn(struct engine *engine);
/* In a shell: waits for all; who is late answers with a sentence. */
void survey_wait(struct engine *engine);

#endif
