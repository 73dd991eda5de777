/*
 * watch: looks at a job quietly until it is stuck, one of its ranks fails, or
 * it ends; then a report and a recording are written, before a launcher that
 * ends the other ranks takes away what could be looked at.
 *
 * It is quiet: a sample a second without names, variables or files. It looks
 * faster for some seconds when a rank leaves, and once more when it is gone.
 */
#ifndef ENGINE_WATCH_H
#define ENGINE_WATCH_H

struct command_context;
struct error;

struct watch_options {
	double stuck;	    /* seconds without movement: model/stall.h */
	const char *folder; /* for report and recording; NULL: none is kept */
};

/*
 * Waits for the job to be there (as long as --timeout says, if it was given),
 * then watches. Writes the paths or the verdict to context->out and sets
 * context->status: STATUS_FINDING stuck or failed, STATUS_DONE it ended well,
 * STATUS_PARTIAL it ended and nobody saw how, STATUS_NOTHING no rank, 128 and
 * the number of the signal that ended the watch. -1 and a sentence.
 */
int watch_run(struct command_context *context, const struct watch_options *options,
	      struct error *error);

#endif
