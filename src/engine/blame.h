/*
 * blame: which ranks are the cause of a job's end or hang, in words, from how its ranks have ended
 * (cause.h) and from whom ranks waited for before that.
 */
#ifndef ENGINE_BLAME_H
#define ENGINE_BLAME_H

#include <jansson.h>

#include "protocol/rankset.h"

struct buffer;
struct engine;

struct blame {
	struct rankset ranks; /* the cause; empty: none of them is, or it is not known */
	/*
	 * Ranks that others waited for at session time late_at, the newest at which some did; and
	 * why, by what they have called, or what the verdict of then said of their stacks.
	 */
	struct rankset late;
	char *late_why; /* NULL: no ranks */
	bool is_verdict;
	bool says_verdict; /* blame_failure() has appended it */
	double late_at;
};

#define BLAME_INIT { .late_why = NULL }

void blame_clear(struct blame *blame);
/*
 * Keeps whom ranks wait for now. A rank that waits too long fails soon after, and leaves nothing
 * that names the others. To be called after each sample while all ranks are alive.
 */
void blame_remember(struct blame *blame, const struct engine *engine);
/* Sets blame->ranks and appends the sentences about a job of which a rank has failed. */
void blame_failure(struct blame *blame, const struct engine *engine, struct buffer *out);
/*
 * Sets blame->ranks, of a job that hangs; appends whether its launcher has ended, and which thread
 * the only one of these ranks has lost.
 */
void blame_hang(struct blame *blame, const struct engine *engine, struct buffer *out);
/*
 * Adds to json "rank", "ranks": the cause; of the rank that failed first "failed", "code",
 * "signal", "time" (seconds since 1970 at session time 0: clock), its exception, or that of the
 * only rank that is the cause, and which attempt of torchrun this was.
 */
void blame_to_json(const struct blame *blame, const struct engine *engine, double clock,
		   json_t *json);

#endif
