/*
 * rank-answers: the requests of one command to several ranks, until all are answered.
 *
 * A shell waits for the answers (rank_answers_wait, rank_answers_take). A screen never waits: it
 * passes the requests to the engine (rank_answers_leave), which shows one sentence after the last
 * answer.
 */
#ifndef ENGINE_RANK_ANSWERS_H
#define ENGINE_RANK_ANSWERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/request.h"

struct buffer;
struct engine;

struct rank_answers {
	struct engine *engine;
	struct request_group *group;
	char *command;	    /* the command's name as typed: "next" */
	uint64_t number;    /* larger than that of every earlier command */
	size_t count;	    /* number of requests */
	int added;	    /* id of the breakpoint that `break` adds; 0: no new breakpoint */
	bool tells_results; /* results are shown to the person, as for `print` */
	/* Appends one result to out; NULL: appends the answer's output and result. */
	void (*say)(struct buffer *out, const json_t *body);
	json_t *arguments; /* the request's arguments, which are added to say()'s body; NULL:
			    * none */
};

struct rank_answers *rank_answers_new(struct engine *engine, const char *command);
/* pending may be NULL. */
void rank_answers_free(struct rank_answers *pending);
/* Sends one request to the node; rank is -1 for a target that is not a rank yet. */
void rank_answers_add(struct rank_answers *pending, size_t node, int rank, const char *request,
		      json_t *owned_arguments);
/* In a shell: waits up to settings.timeout seconds for all answers. */
void rank_answers_wait(struct rank_answers *pending);
/*
 * Sets *answer to the next answer, in the order of the requests, borrowed until
 * rank_answers_free(); either body or error is set. Returns false if there are no more answers.
 */
bool rank_answers_take(struct rank_answers *pending, struct group_answer *answer);

/* Failures of ranks, grouped by sentence, to be shown to a person. */
struct failures {
	struct failure *items;
	size_t count;
	size_t capacity;
};
#define FAILURES_INIT { .items = NULL }

void failures_clear(struct failures *failures);
/* Adds a failure of rank; rank -1: it is not a rank's failure. */
void failures_add(struct failures *failures, int rank, const char *sentence);
/* Appends "rank 1: it runs; ranks 2-5: …". */
void failures_append(struct buffer *out, const struct failures *failures);
/* Like failures_append(), with one line per sentence, for sentences that are not failures. */
void failures_append_lines(struct buffer *out, const struct failures *said);

/* On a screen: passes owned_pending to the engine, which shows the result after the last answer. */
void rank_answers_leave(struct rank_answers *owned_pending);
/* Frees the engine's pending commands. */
void rank_answers_clear(struct engine *engine);

#endif
