#include "model/thread.h"

#include <string.h>

#include "banned.h"
#include "model/place.h"
#include "protocol/stack.h"

/*
 * A thread that waits for an event is not scheduled at all; a wait with a time-out (a DataLoader
 * polls every 5 s, a store every 10 s) wakes a few times. A job that makes progress wakes its main
 * thread several times per step. More than WAKES_FREE wakes between two samples, and more than
 * WAKES_PER_SECOND, are progress.
 */
#define WAKES_FREE 2
#define WAKES_PER_SECOND 2.0
/*
 * A waiting thread whose usual share of CPU time is below IDLE_SHARE has resumed work if its share
 * reaches BURST_SHARE. Stacks may not show that: a job's steps may be long, and each sample may
 * find the thread waiting at the same place again.
 */
#define IDLE_SHARE 0.02
#define BURST_SHARE 0.05
/* Weight of the newest sample in a thread's usual share of CPU time. */
#define USUAL_WEIGHT 0.2
/*
 * A computing thread moves if it uses this share of CPU time between two samples, which
 * is more than a loop of sleeps uses.
 */
#define COMPUTES_SHARE 0.02
#define BUSY_SHARE 0.5

static bool have_same_call(const struct thread_sample *a, const struct thread_sample *b)
{
	if (!a->call || !b->call)
		return a->call == b->call;
	return strcmp(a->call, b->call) == 0;
}

static bool looks_alike(const struct thread_sample *a, const struct thread_sample *b)
{
	return a->stack == b->stack && a->state == b->state && a->syscall == b->syscall &&
	       a->argument == b->argument && a->is_main == b->is_main && a->has_gil == b->has_gil &&
	       have_same_call(a, b);
}

/* True for a thread that waits, or that saves a checkpoint and may wait for a disk. */
static bool waits(const struct thread *thread)
{
	return activity_is_wait(thread->activity.kind) || thread->activity.kind == ACTIVITY_SAVE;
}

/*
 * True for a thread that may wait for its peers in C++ that backward() has called. One that runs is
 * also interrupted where it spins.
 */
static bool is_blocked_in_training(const struct thread *thread, const struct thread *before)
{
	return thread->activity.kind == ACTIVITY_TRAIN && thread->sample.state == THREAD_BLOCKED &&
	       before->sample.state == THREAD_BLOCKED;
}

static bool was_woken(const struct thread *thread, const struct thread *before, double seconds)
{
	uint64_t now = thread->sample.switches;
	uint64_t then = before->sample.switches;

	if ((!waits(thread) && !is_blocked_in_training(thread, before)) || now < then)
		return false;
	return (double)(now - then) > WAKES_FREE + WAKES_PER_SECOND * seconds;
}

double thread_share(const struct thread *thread, const struct thread *before, double seconds)
{
	uint64_t now = thread->sample.cpu_ns;
	uint64_t then = before->sample.cpu_ns;

	if (now <= then || seconds <= 0)
		return 0;
	return (double)(now - then) / (seconds * 1e9);
}

/*
 * True if a thread that polls is in the same wait as before: from the frame that polls outwards
 * nothing has changed. The frame that polls may be at another line of its loop, unless the user
 * wrote it: then the call at that line polls.
 */
static bool is_in_same_wait(const struct thread *thread, const struct thread *before)
{
	const struct stack *now = thread->sample.stack;
	const struct stack *then = before->sample.stack;
	size_t outer = now->frame_count - thread->activity.frame_index;

	if (now->frame_count < thread->activity.frame_index + 1 ||
	    then->frame_count < before->activity.frame_index + 1 ||
	    then->frame_count - before->activity.frame_index != outer)
		return false;
	for (size_t i = 1; i <= outer; i++) {
		const struct frame *a = &now->frames[now->frame_count - i];
		const struct frame *b = &then->frames[then->frame_count - i];

		if (a->code != b->code)
			return false;
		if (a->lineno != b->lineno && (i < outer || !place_is_library(a->code->file)))
			return false;
	}
	return true;
}

/* True if a thread polls, and has done so before, or has been in the same call. */
static bool polls_on(const struct thread *thread, const struct thread *before)
{
	if (!thread->activity.is_polling || !thread->sample.stack || !before->sample.stack)
		return false;
	return thread->sample.stack == before->sample.stack ||
	       (before->activity.is_polling && is_in_same_wait(thread, before));
}

/* True if a thread polls for its peers in another call than before, though at the same place. */
static bool has_called_anew(const struct thread *thread, const struct thread *before)
{
	return thread->activity.is_polling && thread->activity.kind == ACTIVITY_PEERS &&
	       thread->sample.stack == before->sample.stack && thread->values && before->values &&
	       thread->values != before->values;
}

/* Updates the usual share of CPU time; true: share is far above the usual share so far. */
static bool has_burst(struct thread *thread, const struct thread *before, double share)
{
	double usual = before->usual_share;

	if (before->sample_count < 2) {
		thread->usual_share = share;
		return false;
	}
	thread->usual_share = usual + USUAL_WEIGHT * (share - usual);
	return waits(thread) && usual < IDLE_SHARE && share >= BURST_SHARE;
}

static bool thread_is_stopped(const struct thread *thread)
{
	return thread->sample.state == THREAD_STOPPED;
}

void thread_keep_native(struct thread *thread, const struct thread *before, double now)
{
	thread->native_at = thread->sample.native ? now : -1;
	if (thread->sample.native || !before || !before->sample.native ||
	    before->sample.stack != thread->sample.stack)
		return;
	thread->sample.native = before->sample.native;
	thread->native_at = before->native_at;
}

void thread_compare(struct thread *thread, const struct thread *before, double seconds, double now,
		    bool is_disturbed)
{
	bool is_elsewhere;
	bool is_let_go;
	bool polls;
	double share;

	/* An incomplete sample shows nothing about changes before or after it. */
	if (thread->sample.missing || (before && before->sample.missing))
		before = NULL;
	if (before && looks_alike(&thread->sample, &before->sample))
		thread->activity = before->activity;
	else
		thread->activity = activity_of(thread);
	thread->values = thread->sample.values;
	thread->sample_count = 1;
	thread->since = thread->here_since = now;
	if (!before)
		return;
	share = thread_share(thread, before, seconds);
	thread->sample_count = before->sample_count + 1;
	/* A thread that has not run since has the same values. */
	if (!thread->values && thread->sample.stack == before->sample.stack)
		thread->values = before->values;
	polls = polls_on(thread, before);
	is_let_go = has_burst(thread, before, share) || was_woken(thread, before, seconds);
	is_elsewhere = !polls && thread->sample.stack && before->sample.stack &&
		       thread->sample.stack != before->sample.stack;
	/* A stack that could not be read in one of the two samples does not count as a change. */
	thread->has_changed = is_elsewhere || has_called_anew(thread, before) ||
			      (is_let_go && !polls && !is_disturbed);
	/* A loop of sleeps uses some CPU time, but does not move. */
	thread->has_moved = thread->has_changed ||
			    (!activity_is_wait(thread->activity.kind) &&
			     thread->activity.kind != ACTIVITY_SLEEP && share >= COMPUTES_SHARE);
	thread->has_woken = thread->activity.kind == ACTIVITY_SLEEP &&
			    thread->sample.switches > before->sample.switches;
	thread->is_busy = share >= BUSY_SHARE;
	if (thread->has_changed)
		return;
	thread->here_since = before->here_since;
	if (thread_is_stopped(thread) == thread_is_stopped(before))
		thread->since = before->since;
	else if (!thread_is_stopped(thread))
		thread->since = thread->here_since;
}
