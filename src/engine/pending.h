/*
 * pending: one command's requests to several ranks, until all are answered.
 *
 * A shell waits for the answers at once. A screen never does: it leaves them
 * to the engine, which says in one sentence what became of them.
 */
#ifndef ENGINE_PENDING_H
#define ENGINE_PENDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct buffer;
struct engine;

struct pending_ask {
	int64_t seq; /* 0: no node could be asked */
	int rank;    /* -1: a target that is no rank yet */
};

struct pending {
	char *command; /* as it was said: "next" */
	struct pending_ask *asks;
	size_t count;
	size_t capacity;
	size_t taken;	    /* so many answers were taken */
	int added;	    /* the new one of `break`; 0: it is of old ones */
	bool tells_results; /* of `print`: what came out is to be said */
	/* Appends that; NULL: what it printed, and its result. */
	void (*say)(struct buffer *out, const json_t *body);
	json_t *arguments; /* that it may tell of, too; NULL */
};

struct pending_answer {
	int rank;
	json_t *body;	    /* NULL: it failed, error says why */
	struct error error; /* not set: it did not fail */
};

/* NULL frees nothing. */
struct pending *pending_new(const char *command);
void pending_free(struct pending *pending);
/* Sends one request. */
void pending_add(struct pending *pending, struct engine *engine, int rank, const char *request,
		 json_t *owned_arguments);
/* Waits so many seconds for all answers, in a shell. */
void pending_wait(const struct pending *pending, struct engine *engine, double seconds);
/*
 * The next answer, in the order they were asked; json_decref() its body.
 * False: all were taken.
 */
bool pending_take(struct pending *pending, struct engine *engine, struct pending_answer *answer);

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

/* The engine says what becomes of it, for the screen. */
void pending_leave(struct engine *engine, struct pending *owned_pending);
/* For the engine: tells of those that are answered by now. */
void pendings_settle(struct engine *engine);
void pendings_clear(struct engine *engine);

#endif
