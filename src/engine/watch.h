/*
 * watch: samples a job until it is stuck, one of its ranks fails, or it ends; then writes a report
 * and a recording, before the launcher ends the other ranks.
 *
 * The load is low: one sample a second without thread names, variables or files. Samples are more
 * frequent for some seconds when a rank shuts down, and one more is taken when it is gone.
 */
#ifndef ENGINE_WATCH_H
#define ENGINE_WATCH_H

struct command_context;
struct error;

struct watch_options {
	double stuck; /* seconds without progress until the job counts as stuck: model/stall.h */
	const char *folder; /* folder for report and recording; NULL: neither is written */
};

/*
 * Waits for the job to appear (for --timeout seconds, if given), then watches. Writes the paths or
 * the verdict to context->out and sets context->status: STATUS_FINDING: stuck or failed,
 * STATUS_DONE: ended without errors, STATUS_PARTIAL: ended, exit codes unknown, STATUS_NOTHING: no
 * rank, 128 plus the number of the signal that ended the watch. -1 and a sentence.
 */
int watch_run(struct command_context *context, const struct watch_options *options,
	      struct error *error);

#endif
