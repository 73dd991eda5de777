/*
 * phrase: the parts that the verdict's sentences are put together from: who,
 * what they do, where, since when. Names from the target are escaped and cut.
 */
#ifndef MODEL_PHRASE_H
#define MODEL_PHRASE_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct wait_group;
struct rankset;
struct session;

/* How a kind of thing to do is said; one row of a table of PHRASES. */
struct phrase;
#define PHRASES 14

/* Lends the row for what a wait group does. */
const struct phrase *phrase_of(const struct wait_group *wait_group);
size_t phrase_index(const struct phrase *phrase);
/* What it does has no word of its own: it is somewhere. */
bool phrase_is_nameless(const struct wait_group *wait_group);

/* "Rank 3", "Ranks 2 and 5", "Ranks 0-2,4-7" */
void phrase_append_ranks(struct buffer *out, const struct rankset *ranks);
/* "8 ranks", "8 ranks here" when the job has more elsewhere */
void phrase_append_total(struct buffer *out, const struct session *session);
/* "All 8 ranks", "Both ranks", "Rank 0" */
void phrase_append_all(struct buffer *out, const struct session *session);
/* "is elsewhere: ", as an outlier's verb */
void phrase_append_verb(struct buffer *out, const struct phrase *phrase, bool is_plural);
/* "load_batch (train.py:5) in time.sleep", behind the verb */
void phrase_append_where(struct buffer *out, const struct wait_group *wait_group);
/*
 * The same for one of several wait groups in a sentence: behind the verb, the first
 * or a further one; those that are gone are named ("rank 5 was killed
 * by SIGKILL").
 */
void phrase_append_member(struct buffer *out, const struct wait_group *wait_group, bool is_first);
/* "ranks 0-1,3 were killed by SIGTERM", of a wait group that is gone. */
void phrase_append_end(struct buffer *out, const struct wait_group *wait_group);
/* " Rank 2 was last seen in f (a.py:5).", or nothing. */
void phrase_append_last_seen(struct buffer *out, const struct wait_group *wait_group);
/* "wait in all_reduce (train.py:17)", verb and place of those not odd */
void phrase_append_doing(struct buffer *out, const struct wait_group *wait_group, bool is_plural);
/* "wait for their peers": without a place */
void phrase_append_summary(struct buffer *out, size_t index, bool is_plural);
/* The lead and "34 s", from one second on; else nothing. */
void phrase_append_duration(struct buffer *out, const char *lead, double seconds);
/* Escaped, cut, and with one full stop at its end. */
void phrase_append_error(struct buffer *out, const char *error);
/* "2 jobs run here: …": which one to choose, and how. */
void phrase_append_jobs(struct buffer *out, const struct session *session);

#endif
