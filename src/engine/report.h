/*
 * report: one page about a job, for a ticket: what happened, the verdict, the
 * classes, the merged stacks, and what else is known of its ranks.
 *
 * The stacks are those of report_look: a launcher ends all ranks soon after
 * one has failed, and then there is nothing to look at any more. The rest is
 * as the session and the engine know it when the report is written.
 */
#ifndef ENGINE_REPORT_H
#define ENGINE_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buffer.h"
#include "protocol/rankset.h"

struct engine;
struct rank;
struct stack;

struct report {
	const char *event;     /* "stuck", "died", "ended"; NULL: asked for */
	char *headline;	       /* a sentence about it; NULL: none */
	const char *before;    /* the verdict before that; NULL */
	struct rankset ranks;  /* that it is about; empty: all */
	struct buffer verdict; /* text, of the whole job, with a line a class */
	struct buffer merged;  /* text */
	json_t *verdict_json;
	json_t *merged_json;
	double clock; /* seconds since 1970 at session time 0; -1 unknown */
};

void report_init(struct report *report, const struct engine *engine);
void report_clear(struct report *report);
/*
 * Waits for samples with native frames of the outliers, and of one rank that is
 * none; not more than timeout seconds. Nothing may be sampled periodically.
 */
void report_ask_native(const struct report *report, struct engine *engine);
/* The main thread's stack with native frames; NULL: it has none. */
const struct stack *report_native(const struct rank *rank);
/* Takes over the stacks of the session, judged before, as they are now. */
void report_look(struct report *report, const struct engine *engine);
/* The whole page as text, and as a document (a new reference). */
void report_append(struct buffer *out, const struct report *report, const struct engine *engine);
json_t *report_to_json(const struct report *report, const struct engine *engine);
/* The next of its ranks behind number *i, which begins at 0; NULL: no more. */
const struct rank *report_next(const struct report *report, const struct engine *engine, size_t *i);
/*
 * The rank that failed first: by its end as the node saw it, one that its
 * launcher ended (SIGTERM) last. NULL: none has failed.
 */
const struct rank *report_first_failed(const struct engine *engine);
/* "exited with code 1", for a rank that has ended. */
const char *report_end(const struct rank *rank);
/* Ended with a code or by a signal. */
bool report_has_failed(const struct rank *rank);

#endif
