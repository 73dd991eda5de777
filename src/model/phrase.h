/*
 * phrase: parts of the verdict's sentences: the ranks, their activity, their place, the duration.
 * Names that come from the target are escaped and cut.
 */
#ifndef MODEL_PHRASE_H
#define MODEL_PHRASE_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct rank;
struct rankset;
struct session;
struct wait_group;

/* The wording for one kind of activity: one of the PHRASES rows of a table. */
struct phrase;
#define PHRASES 15

/* Returns the borrowed row for the wait group's activity. */
const struct phrase *phrase_of(const struct wait_group *wait_group);
/* Index of the row, from 0 to PHRASES - 1. */
size_t phrase_index(const struct phrase *phrase);
/* True if the table has no wording for the activity, and the phrase is "is elsewhere". */
bool phrase_is_nameless(const struct wait_group *wait_group);

/* Appends "Rank 3", "Ranks 2 and 5", "Ranks 0-2,4-7". */
void phrase_append_ranks(struct buffer *out, const struct rankset *ranks);
/* Appends "8 ranks", or "8 ranks here" if the job has more on other machines. */
void phrase_append_total(struct buffer *out, const struct session *session);
/* Appends "All 8 ranks", "Both ranks", "Rank 0". */
void phrase_append_all(struct buffer *out, const struct session *session);
/* Appends an outlier's verb: "is elsewhere: " */
void phrase_append_verb(struct buffer *out, const struct phrase *phrase, bool is_plural);
/* Appends the place that follows the verb: "load_batch (train.py:5) in time.sleep" */
void phrase_append_where(struct buffer *out, const struct wait_group *wait_group);
/*
 * Like phrase_append_where(), for one of several wait groups in a sentence, after the verb; for
 * ranks that are gone it includes the ranks ("rank 5 was killed by SIGKILL").
 */
void phrase_append_member(struct buffer *out, const struct wait_group *wait_group, bool is_first);
/* Appends "ranks 0-1,3 were killed by SIGTERM" for a wait group that is gone. */
void phrase_append_end(struct buffer *out, const struct wait_group *wait_group);
/* Appends " Rank 2 was last seen in f (a.py:5)."; nothing if the rank was never sampled. */
void phrase_append_last_seen(struct buffer *out, const struct wait_group *wait_group);
/* Appends verb and place of ranks that are not outliers: "wait in all_reduce (train.py:17)" */
void phrase_append_doing(struct buffer *out, const struct wait_group *wait_group, bool is_plural);
/* Appends the activity without a place: "wait for their peers" */
void phrase_append_summary(struct buffer *out, size_t index, bool is_plural);
/* Appends the text `lead` and "34 s" if seconds is at least 1; else nothing. */
void phrase_append_duration(struct buffer *out, const char *lead, double seconds);
/* Appends the text error, escaped and cut, with one full stop at the end. */
void phrase_append_error(struct buffer *out, const char *error);
/* Appends the name of a host, escaped and cut. */
void phrase_append_host(struct buffer *out, const char *host);
/* Appends which jobs there are, and how to choose one: "2 jobs run here: …". */
void phrase_append_jobs(struct buffer *out, const struct session *session);
/*
 * Appends "; thread uploader is in upload (train.py:24) in time.sleep", or "; child pid 7 is …",
 * for which the rank's main thread waits (helper.h); false: nothing.
 */
bool phrase_append_helper(struct buffer *out, const struct rank *rank);

#endif
