/*
 * report: one page about a job, for a ticket: what happened, the verdict, the classes, the merged
 * stacks, and other data about the ranks.
 *
 * The stacks are those at the time of report_look(): a launcher ends all ranks soon after one has
 * failed, and no stacks can be read then. Other data is that of the session and the engine at the
 * time of writing.
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
	const char *before;    /* the verdict before the event; NULL: none */
	struct rankset ranks;  /* ranks to report; empty: all */
	struct buffer verdict; /* verdict of the whole job as text, with a line per class */
	struct buffer merged;  /* merged stacks as text */
	json_t *verdict_json;
	json_t *merged_json;
	double clock; /* seconds since 1970 at session time 0; -1: not known */
};

void report_init(struct report *report, const struct engine *engine);
void report_clear(struct report *report);
/*
 * Waits for samples with native frames of up to three outliers and of one other rank, at most
 * settings.timeout seconds. Call with periodic sampling off.
 */
void report_ask_native(const struct report *report, struct engine *engine);
/* The main thread's stack with native frames, borrowed; NULL: none. */
const struct stack *report_native(const struct rank *rank);
/* Copies verdict and merged stacks of the session, which was judged before. */
void report_look(struct report *report, const struct engine *engine);
/* The page as text, and as a JSON document (a new reference). */
void report_append(struct buffer *out, const struct report *report, const struct engine *engine);
json_t *report_to_json(const struct report *report, const struct engine *engine);
/* The next rank of the report from index *i on, which is 0 at first; NULL: no more. */
const struct rank *report_next(const struct report *report, const struct engine *engine, size_t *i);
/*
 * The rank that failed first: by the time at which the node saw the exit; ranks that SIGTERM ended
 * come last, as a launcher sends SIGTERM. NULL: none has failed.
 */
const struct rank *report_first_failed(const struct engine *engine);
/* "exited with code 1", for a rank that has exited; "is gone" if nothing is known. */
const char *report_end(const struct rank *rank);
/* True if the rank exited with a code above 0, or by a signal. */
bool report_has_failed(const struct rank *rank);

/*
 * The folder that a report and its recording are written to. A folder made here is private
 * (0700); new files have names with job, host and time. No file is overwritten and no link is
 * followed.
 */

/*
 * Makes the folder at path (0700) if it is missing. A path that exists must be a folder, no
 * symbolic link, belong to this user or root, be writable for this user, and not for all users
 * unless the sticky bit is set, as in /tmp. -1 and a sentence.
 */
int folder_check(const char *path, struct error *error);
/*
 * Returns a path in the folder such that no file exists at path plus any of suffixes (the last one
 * NULL); free() it. when: seconds since 1970.
 */
char *folder_name(const char *path, const char *job, const char *host, double when,
		  const char *const *suffixes);
/* Writes a new file with mode 0600. -1 and a sentence, also if the file exists. */
int folder_write(const char *path, const char *bytes, size_t length, struct error *error);

#endif
