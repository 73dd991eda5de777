/*
 * thread: one thread of a process: its newest sample, and its movement since the sample
 * before.
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
	struct thread_sample sample; /* the newest sample; strings are owned, stacks borrowed;
				      * sample.native may be of an older sample with the same Python
				      * stack */
	double native_at;	     /* session time of sample.native's sample; -1: none */
	struct activity activity;
	double since; /* session time of the last change of the stack; for a stopped thread: of its
		       * stop */
	double here_since;   /* session time of the last change of the stack */
	size_t sample_count; /* number of samples of this thread, including this one */
	bool has_changed; /* between the two newest samples the stack changed, or a waiting thread
			   * woke or used CPU time more than idle waits do */
	bool has_moved;	  /* has_changed, or the thread computes and used CPU time */
	bool has_woken;	  /* the thread sleeps in both of the two newest samples, and woke between
			   * them */
	uint64_t values;  /* sample.values, or those of an earlier sample of the same stack */
	int holder_rank;  /* other rank of the job that sample.holder is, or is a child of; -1: none
			   */
	double usual_share; /* recent average share of time on a CPU, 0 to 1 */
	bool is_busy;	    /* was on a CPU for at least half of the time between the two newest
			     * samples */
	bool is_odd;	    /* set by outlier.h */
};

/*
 * Computes all members from thread->sample (taken at session time now), except native_at and the
 * native stack. before: the same thread in the sample taken `seconds` earlier; NULL: none.
 * is_disturbed: a debugger has interrupted the thread between both samples, which wakes waiting
 * threads.
 */
void thread_compare(struct thread *thread, const struct thread *before, double seconds, double now,
		    bool is_disturbed);
/*
 * If the new sample has no native frames (because they take longer, or were not requested), keeps
 * the native frames of `before`, if the Python stack is the same.
 */
void thread_keep_native(struct thread *thread, const struct thread *before, double now);
/* Share of the time between two samples that the thread was on a CPU, 0 to 1. */
double thread_share(const struct thread *thread, const struct thread *before, double seconds);

#endif
