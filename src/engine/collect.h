/*
 * collect: what a shell command does before it answers: wait for the ranks,
 * take samples, judge, and say what could not be had.
 *
 * On the screen and in a replay nothing is waited for: the session has what
 * there is.
 */
#ifndef ENGINE_COLLECT_H
#define ENGINE_COLLECT_H

#include <stdbool.h>

struct command_context;
struct error;

/* Exit statuses of a shell command. */
enum command_status {
	STATUS_DONE = 0,
	STATUS_FINDING = 1,
	STATUS_USAGE = 2,
	STATUS_NOTHING = 3,
	STATUS_PARTIAL = 4,
};

/* What `verdict` looks for without --for. */
#define VERDICT_SECONDS 0.2

/*
 * VERDICT_SECONDS where text names ranks by the verdict (outlier, majority,
 * class=), 0 where it does not, or is no set.
 */
double collect_seconds(const char *text);
/*
 * Samples over seconds: at least two samples, one where seconds is 0. At least
 * VERDICT_SECONDS where --ranks or `ranks SET` needs the verdict. Sets
 * context->status to STATUS_PARTIAL, with a line in context->notes for each
 * rank, when some did not answer. -1, a sentence and STATUS_NOTHING when none
 * could be reached.
 */
int collect_samples(struct command_context *context, double seconds, struct error *error);
/*
 * After it: the context's ranks are those that `ranks SET` names and that are
 * there. -1, a sentence and STATUS_USAGE when none of them is.
 */
int collect_named(struct command_context *context, struct error *error);
/* After collect_samples() with one sample that found something: judges as `verdict`. */
int collect_settled(struct command_context *context, struct error *error);
/* Only the ranks; without a sample, unless `ranks SET` needs the verdict. A screen has them. */
int collect_ranks(struct command_context *context, struct error *error);
/* What jobs there are, and with samples over that time how they are. */
int collect_jobs(struct command_context *context, double seconds, struct error *error);
/*
 * For a failed shell command: true if the node has ended, or if no rank that was found can be read.
 */
bool collect_is_none_reachable(const struct command_context *context);
/* STATUS_FINDING where there is a finding; it goes before STATUS_PARTIAL. */
void collect_finding(struct command_context *context, bool is_finding);
/*
 * For a command whose effect ends when probetui exits. Run alone by a shell it
 * gets the note "WHAT when this command exits; use the screen (KEY) or -x to
 * keep KEPT" and STATUS_PARTIAL; on the screen and in scripts nothing happens.
 */
void collect_undone(struct command_context *context, const char *what, const char *key,
		    const char *kept);

#endif
