/*
 * job: groups processes into jobs, and selects the job that the session shows.
 *
 * A job is identified by its name, its launcher's pid and its user; jobs on different machines are
 * the same job if their names are equal. session->ranks has the ranks of the chosen job that
 * --ranks selects; session->others has all other ranks. Only the session's modules use this header,
 * except for job_find() and job_count_named().
 */
#ifndef MODEL_JOB_H
#define MODEL_JOB_H

#include <stdbool.h>
#include <stddef.h>

struct job;
struct rank;
struct session;

/* Adds a new rank to session->ranks or session->others. */
void job_place(struct session *session, struct rank *owned_rank);
/* Removes the rank from session->ranks or session->others, and frees it. */
void job_remove(struct session *session, struct rank *rank);
/*
 * Handles the end of the rank's process: a rank in session->ranks stays there, any other rank is
 * removed.
 */
void job_end(struct session *session, struct rank *rank);
/* Returns the index of the job whose name, port or launcher's pid is text; -1: none, or several. */
int job_find(const struct session *session, const char *text);
/* True if --job names the job, or no job. */
bool job_is_wanted(const struct session *session, const struct job *job);
/* Returns how many jobs have this name, port or launcher's pid. */
size_t job_count_named(const struct session *session, const char *text);
/* Chooses a job if none is chosen and only one can be meant. */
void job_choose(struct session *session);
/*
 * Counts the live ranks of each job, removes jobs without live ranks, and adds placeholders for
 * missing ranks.
 */
void job_update(struct session *session);
/* True if name begins with a loopback address, which is a different host on each machine. */
bool job_is_loopback(const char *name);
/* True if the rank belongs to the job. */
bool job_has(const struct session *session, const struct job *job, const struct rank *rank);
/* Adds placeholders for ranks of session->job that are expected but were not found. */
void job_fill(struct session *session);
void job_clear_all(struct session *session);

/* Adds a rank to the chosen job, in the order of numbers. */
void job_insert(struct session *session, struct rank *owned_rank);

#endif
