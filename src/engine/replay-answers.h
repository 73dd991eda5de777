/*
 * replay-answers: answers to `tensor` and `parameters` that a recording has: the
 * newest to the same question of a process before the time that is shown.
 */
#ifndef ENGINE_REPLAY_ANSWERS_H
#define ENGINE_REPLAY_ANSWERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct engine;
struct error;
struct rank;

struct replay_answers {
	const char *command; /* "tensor" "parameters" */
	const char *expression;
	bool is_of_gradients;
	bool has_values; /* plain ones, too */
	int64_t start;	 /* of the page */
};

/* A new reference; NULL and a sentence: there is none. */
json_t *replay_answers_find(const struct engine *engine, const struct rank *rank,
			    const struct replay_answers *recalled, struct error *error);

#endif
