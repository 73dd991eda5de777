/*
 * job: which processes belong together, and which of them the session shows.
 *
 * A job is (its name, its launcher's pid, its user); on several machines its
 * name alone. The session's ranks are
 * those of the chosen job that are wanted; all other processes wait in
 * session->others. The session uses it; job_find is for all.
 */
#ifndef MODEL_JOB_H
#define MODEL_JOB_H

#include <stdbool.h>
#include <stddef.h>

struct job;
struct rank;
struct session;

/* Puts a rank that is new to the session where it belongs. */
void job_place(struct session *session, struct rank *owned_rank);
/* Takes it out of ranks or others, and frees it. */
void job_remove(struct session *session, struct rank *rank);
/* The rank's process has ended: it keeps its entry if it is of the job. */
void job_end(struct session *session, struct rank *rank);
/*
 * Index of the job that text names: its name, its port or its launcher's pid;
 * -1 when it names none, or several.
 */
int job_find(const struct session *session, const char *text);
/* How many jobs have that port, or that launcher. */
size_t job_count_named(const struct session *session, const char *text);
/* Chooses if it is clear which job is meant and none is chosen. */
void job_choose(struct session *session);
/*
 * Counts live ranks, forgets jobs without one, and keeps an entry for each
 * rank that must be there and is not.
 */
void job_update(struct session *session);
/* The address that name begins with is another on each machine. */
bool job_is_loopback(const char *name);
/* Whether the rank belongs to the job. */
bool job_has(const struct session *session, const struct job *job, const struct rank *rank);
/* Entries for the ranks of session->job that must be there and are not. */
void job_fill(struct session *session);
void job_clear_all(struct session *session);

#endif
