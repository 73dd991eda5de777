/*
 * watch-jobs: one `probetui wait` for each of several jobs, in processes of their own, until the
 * first of them has found something.
 */
#ifndef ENGINE_WATCH_JOBS_H
#define ENGINE_WATCH_JOBS_H

struct command_context;
struct error;

/*
 * Watches all jobs of the session, with this program's own options. Their sentences are written to
 * standard error, each with the job's name. Appends to context->out what one of them has printed,
 * and sets context->status to its exit status: the first that has a finding; if none has, the first
 * job whose watch failed; else the last that ended. signal: number of the signal that ends the
 * watch, which a handler sets; 0: none. Returns 0; -1 and *error.
 */
int watch_jobs(struct command_context *context, const int *signal, struct error *error);

#endif
