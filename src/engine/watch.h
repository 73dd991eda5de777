/*
 * watch: samples a job until the job is stuck, a rank fails, or the job ends; then writes a report
 * and a recording, before the launcher ends the other ranks.
 *
 * The load is low: one sample a second without thread names, variables or files. When a rank shuts
 * down, samples are more frequent for some seconds, and one more is taken when the rank is gone.
 */
#ifndef ENGINE_WATCH_H
#define ENGINE_WATCH_H

#include <stdbool.h>

struct command_context;
struct error;

struct watch_options {
	double stuck; /* seconds without progress until the job counts as stuck: model/stall.h */
	const char *folder;    /* folder for report and recording; NULL: neither is written */
	bool follows_restarts; /* continues when the launcher starts the ranks again */
};

/*
 * Waits for the job to appear (for --timeout seconds, if given), then watches. Writes the paths or
 * the verdict to context->out; of an attempt of torchrun that is not the last, if restarts are
 * followed, too. Sets context->status: STATUS_FINDING if the job was stuck or failed,
 * STATUS_DONE if it ended without errors, STATUS_PARTIAL if it ended and exit codes are unknown,
 * STATUS_NOTHING if there was no rank, or 128 plus the number of the signal that ended the watch.
 * Returns 0; -1 and *error.
 */
int watch_run(struct command_context *context, const struct watch_options *options,
	      struct error *error);

#endif
