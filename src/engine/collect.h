/*
 * collect: what a shell command does before it prints its answer: waits for the ranks, takes
 * samples, computes the verdict, and reports ranks that could not be sampled.
 *
 * On the screen and in a replay these functions do not wait: the session already has all data.
 */
#ifndef ENGINE_COLLECT_H
#define ENGINE_COLLECT_H

#include <stdbool.h>

struct command_context;
struct error;

/* Exit statuses of a shell command. */
enum command_status {
	STATUS_DONE = 0,    /* success */
	STATUS_FINDING = 1, /* the verdict or comparison found a problem */
	STATUS_USAGE = 2,   /* wrong arguments */
	STATUS_NOTHING = 3, /* no rank was found or could be read */
	STATUS_PARTIAL = 4, /* not all ranks answered, or the effect ends with the command */
};

/* Seconds for which a verdict samples first. */
#define VERDICT_SECONDS 0.2

/*
 * Returns VERDICT_SECONDS if the rank set text names ranks by the verdict (outlier, majority,
 * class=); else 0, also if text is not a rank set.
 */
double collect_seconds(const char *text);
/*
 * Samples for `seconds` seconds: at least two samples, or one if seconds is 0; as long
 * as collect_verdict() if --ranks or `ranks SET` needs the verdict. If some ranks did not answer,
 * sets context->status to STATUS_PARTIAL and adds a line for each to context->notes. -1, *error and
 * STATUS_NOTHING if no rank could be read.
 */
int collect_samples(struct command_context *context, double seconds, struct error *error);
/*
 * Like collect_samples() for VERDICT_SECONDS; if ranks wait, and that does not show whether they
 * hang, for VERDICT_STILL_SECONDS more: ranks that wait for each other hang if they stay there.
 */
int collect_verdict(struct command_context *context, struct error *error);
/*
 * Like collect_verdict() for `seconds` from collect_seconds(); like collect_samples() if they are
 * 0.
 */
int collect_for(struct command_context *context, double seconds, struct error *error);
/*
 * Call after collect_samples(): sets context->ranks to the existing ranks of `ranks SET`, else to
 * the focus. -1, *error and STATUS_USAGE if none of the ranks exists.
 */
int collect_named(struct command_context *context, struct error *error);
/*
 * Call after collect_samples() with one sample: if the verdict is a finding, samples again, as
 * `verdict` does, and computes the verdict again.
 */
int collect_settled(struct command_context *context, struct error *error);
/*
 * Call after collect_samples(): samples for `seconds` seconds more, and computes the verdict again.
 * Does nothing on a screen and in a replay.
 */
int collect_more(struct command_context *context, double seconds, struct error *error);
/*
 * Like collect_samples(), but only waits until the ranks are known; samples only if --ranks or
 * `ranks SET` needs the verdict. Does nothing on a screen, where the ranks are known.
 */
int collect_ranks(struct command_context *context, struct error *error);
/*
 * Waits for the list of jobs; with seconds > 0 also samples for that time and computes a verdict
 * for each job.
 */
int collect_jobs(struct command_context *context, double seconds, struct error *error);
/*
 * For a failed shell command: true if the node has ended, or if none of the ranks found can be
 * read.
 */
bool collect_is_none_reachable(const struct command_context *context);
/* Sets STATUS_FINDING if is_finding; it replaces STATUS_PARTIAL. */
void collect_finding(struct command_context *context, bool is_finding);
/*
 * For a command whose effect ends when probetui exits. If a shell ran the command alone, adds the
 * note "WHAT when this command exits; use the screen (KEY) or a script (-x) to keep KEPT" and sets
 * STATUS_PARTIAL; does nothing on the screen and in scripts.
 */
void collect_undone(struct command_context *context, const char *what, const char *key,
		    const char *kept);

#endif
