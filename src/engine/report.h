/*
 * report: one page about a job, for a ticket: what happened, the verdict, the classes, the merged
 * stacks, and other data about the ranks.
 *
 * The verdict and the stacks are those at the time of report_look(): a launcher ends all ranks soon
 * after one has failed, and their stacks cannot be read any more. All other data is as of the time
 * of writing.
 */
#ifndef ENGINE_REPORT_H
#define ENGINE_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "protocol/rankset.h"

struct engine;
struct error;
struct rank;
struct stack;

struct report {
	const char *event;     /* "stuck", "failed", "ended"; NULL: requested by a person */
	char *headline;	       /* sentence about the event; NULL: none */
	bool says_before;      /* the headline has what was so before the event */
	const char *before;    /* the verdict before the event; NULL: none */
	struct rankset ranks;  /* ranks to report; empty: all */
	struct buffer verdict; /* verdict of the whole job as text, with a line per class */
	struct buffer waits;   /* who waits for whom, a line for each fact */
	struct buffer merged;  /* merged stacks as text */
	json_t *verdict_json;
	json_t *merged_json;
	double clock;	   /* seconds since 1970 at session time 0; -1: not known */
	double sampled_at; /* session time of the verdict and the stacks */
};

void report_init(struct report *report, const struct engine *engine);
void report_clear(struct report *report);
/*
 * Takes samples with native frames of up to three outliers and of one other rank; waits for them at
 * most settings.timeout seconds. Call it while periodic sampling is off.
 */
void report_ask_native(const struct report *report, struct engine *engine);
/* Returns the main thread's stack with native frames, borrowed; NULL: there is none. */
const struct stack *report_native(const struct rank *rank);
/* Copies the verdict and the merged stacks of the session; call session_judge() before. */
void report_look(struct report *report, const struct engine *engine);
/* The page as text and as a JSON document (a new reference), respectively. */
void report_append(struct buffer *out, const struct report *report, const struct engine *engine);
json_t *report_to_json(const struct report *report, const struct engine *engine);
/* Iterates over the ranks of the report; *i is 0 at first. Returns NULL when there are no more. */
const struct rank *report_next(const struct report *report, const struct engine *engine, size_t *i);
/*
 * The folder that a report and its recording are written to. A folder made here is private
 * (0700); new files have names with job, host and time. No file is overwritten and no link is
 * followed.
 */

/*
 * Makes the folder at path (0700) if it is missing. An existing path must be a folder, not a
 * symbolic link; it must belong to this user or root and be writable for this user. It may be
 * writable for all users only if the sticky bit is set, as in /tmp. Returns 0; -1 and *error.
 */
int folder_check(const char *path, struct error *error);
/*
 * Returns a new path in the folder, made of job, host and when (seconds since 1970), such that no
 * file with this path and any of suffixes exists; suffixes ends with NULL. free() it.
 */
char *folder_name(const char *path, const char *job, const char *host, double when,
		  const char *const *suffixes);
/* Writes a new file with mode 0600. Returns 0; -1 and *error, also if the file exists. */
int folder_write(const char *path, const char *bytes, size_t length, struct error *error);

#endif
