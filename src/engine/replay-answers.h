/*
 * replay-answers: recorded answers to `tensor` and `parameters`: the newest answer to the same
 * request about a process, up to the time that is shown.
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
	bool has_values; /* plain values requested, too */
	int64_t start;	 /* first index of the page */
};

/* A new reference to the answer's body; NULL and a sentence: not recorded. */
json_t *replay_answers_find(const struct engine *engine, const struct rank *rank,
			    const struct replay_answers *recalled, struct error *error);

#endif
