/*
 * collect: what a shell command does before it answers: wait for the ranks, take samples, judge,
 * and report ranks that could not be sampled.
 *
 * On the screen and in a replay nothing waits: the session already has all data.
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

/* Seconds that `verdict` samples without --for. */
#define VERDICT_SECONDS 0.2

/*
 * Returns VERDICT_SECONDS if text names ranks by the verdict (outlier, majority, class=), 0 if text
 * does not, or is no rank set.
 */
double collect_seconds(const char *text);
/*
 * Samples over seconds: at least two samples, one if seconds is 0, and at least VERDICT_SECONDS if
 * --ranks or `ranks SET` needs the verdict. If some ranks did not answer, sets context->status to
 * STATUS_PARTIAL, with a line in context->notes for each. -1, a sentence and STATUS_NOTHING if no
 * rank could be read.
 */
int collect_samples(struct command_context *context, double seconds, struct error *error);
/*
 * Call after collect_samples(): sets the context's ranks to those of `ranks SET` that exist. -1, a
 * sentence and STATUS_USAGE if none exists.
 */
int collect_named(struct command_context *context, struct error *error);
/*
 * Call after collect_samples() with one sample: if the verdict is a finding, samples again as
 * `verdict` does and judges.
 */
int collect_settled(struct command_context *context, struct error *error);
/*
 * Waits for the ranks only; samples only if `ranks SET` needs the verdict. Does nothing on a
 * screen, where the ranks are known.
 */
int collect_ranks(struct command_context *context, struct error *error);
/* Waits for the list of jobs; with seconds > 0 also samples for that long and judges each job. */
int collect_jobs(struct command_context *context, double seconds, struct error *error);
/*
 * For a failed shell command: true if the node has ended, or if no rank that was found can be read.
 */
bool collect_is_none_reachable(const struct command_context *context);
/* Sets STATUS_FINDING if is_finding; it replaces STATUS_PARTIAL. */
void collect_finding(struct command_context *context, bool is_finding);
/*
 * For a command whose effect ends when probetui exits. Run alone by a shell it
 * gets the note "WHAT when this command exits; use the screen (KEY) or -x to
 * keep KEPT" and STATUS_PARTIAL; on the screen and in scripts nothing happens.
 */
void collect_undone(struct command_context *context, const char *what, const char *key,
		    const char *kept);

#endif
