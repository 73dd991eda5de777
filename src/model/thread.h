/*
 * thread: one thread of a process as its samples show it: the newest, and what
 * comparing it with the one before says about movement.
 *
 * A rank owns its threads.
 */
#ifndef MODEL_THREAD_H
#define MODEL_THREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "model/activity.h"
#include "protocol/sample.h"

struct thread {
	struct thread_sample sample; /* newest; strings owned, stacks lent; its
				      * native stack may be an older one of the
				      * same Python stack */
	double native_at;	     /* session time sample.native was read; -1 */
	struct activity activity;
	double since;	     /* session time of the first sample that already
			      * showed this stack, unchanged since; of one that
			      * is stopped, of the first that showed that */
	double here_since;   /* the same, stopped or not */
	size_t sample_count; /* samples of this thread, this one included */
	bool has_changed;    /* between the two newest samples: its stack, or
			      * it waits and was woken, or used a processor,
			      * more than idle waits do */
	bool has_moved;	     /* has_changed, or it computes and used
			      * processor time */
	bool has_woken;	     /* it sleeps as before, and was awake between */
	double usual_share;  /* of the time on a processor, of late */
	bool is_busy;	     /* used a processor for at least half of the time
			      * between the two newest samples */
	bool is_odd;	     /* see outlier.h */
};

/*
 * Fills all but the native stack of a thread that has its sample, taken at
 * session time now, seconds after the one in before; NULL: it is the first.
 * is_disturbed: a debugger has interrupted it between them, which wakes what
 * waits.
 */
void thread_compare(struct thread *thread, const struct thread *before, double seconds, double now,
		    bool is_disturbed);
/*
 * A sample without native frames (they take longer, or were not asked for)
 * leaves those of before standing while the Python stack is the same.
 */
void thread_keep_native(struct thread *thread, const struct thread *before, double now);
/* Share of the time between two samples that it was on a processor. */
double thread_share(const struct thread *thread, const struct thread *before, double seconds);

#endif
