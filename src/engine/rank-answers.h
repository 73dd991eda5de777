/*
 * rank-answers: one command's requests to several ranks, until all are answered.
 *
 * A shell waits for the answers (rank_answers_wait, rank_answers_take). A screen never
 * waits: it leaves the pending command to the engine (rank_answers_leave), which
 * shows one sentence after the last answer.
 */
#ifndef ENGINE_RANK_ANSWERS_H
#define ENGINE_RANK_ANSWERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/request-group.h"

struct buffer;
struct engine;

struct rank_answers {
	struct engine *engine;
	struct request_group *group;
	char *command;	    /* as it was said: "next" */
	uint64_t number;    /* rises: a later command has a greater one */
	size_t count;	    /* of requests */
	int added;	    /* the new one of `break`; 0: it is of old ones */
	bool tells_results; /* of `print`: what came out is to be said */
	/* Appends that; NULL: what it printed, and its result. */
	void (*say)(struct buffer *out, const json_t *body);
	json_t *arguments; /* that it may tell of, too; NULL */
};

struct rank_answers *rank_answers_new(struct engine *engine, const char *command);
/* NULL frees nothing. */
void rank_answers_free(struct rank_answers *pending);
/* Sends one request; rank -1: to a target that is no rank yet. */
void rank_answers_add(struct rank_answers *pending, int rank, const char *request,
		      json_t *owned_arguments);
/* Waits settings.timeout at most for all answers, in a shell. */
void rank_answers_wait(struct rank_answers *pending);
/*
 * The next answer, in the order of the requests, lent until rank_answers_free(): a
 * body or an error. False: all were taken.
 */
bool rank_answers_take(struct rank_answers *pending, struct group_answer *answer);

/* What failed, by sentence, for a person. */
struct failures {
	struct failure *items;
	size_t count;
	size_t capacity;
};
#define FAILURES_INIT { .items = NULL }

void failures_clear(struct failures *failures);
void failures_add(struct failures *failures, int rank, const char *sentence);
/* "rank 1: it runs; ranks 2-5: …" */
void failures_append(struct buffer *out, const struct failures *failures);
/* The same in a line each, of what did not fail. */
void failures_append_lines(struct buffer *out, const struct failures *said);

/* For the screen: the engine shows the result after the last answer. */
void rank_answers_leave(struct rank_answers *owned_pending);
/* For the engine. */
void rank_answers_clear(struct engine *engine);

#endif
