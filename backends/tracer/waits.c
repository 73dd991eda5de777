#include "backends/tracer/waits.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "banned.h"

#include "backends/tracer/attachable.h"
#include "backends/tracer/ptrace-ops.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/loop.h"
#include "base/map.h"

/* Maximum number of rounds of statuses before the loop does other work. */
#define ROUNDS 8
#define TURN_SECONDS 0.001
/* Time within which the event of its parent reports a new thread. */
#define STRANGER_SECONDS 0.1
/* Maximum time for which the loop's other work waits for the traps of waits_expect(). */
#define STAY_NS UINT64_C(8000000)
/*
 * When traps of several threads were expected, the statuses of all threads are taken for this time.
 */
#define SHARED_NS UINT64_C(100000000)

struct entry {
	pid_t tid;
	void (*changed)(pid_t tid, int status, void *data);
	void *data;
};

struct status {
	pid_t tid;
	int status;
};

struct stranger {
	pid_t tid;
	double since;
};

struct waits {
	struct loop *loop;
	struct loop_signal *signal;
	struct map *entries; /* by tid */
	/* Statuses that were taken. Those from index `first` on are not reported yet. */
	struct status *queue;
	size_t first;
	size_t count;
	size_t capacity;
	struct loop_timer *again; /* takes statuses again in another turn; NULL: not due */
	pid_t expected;		  /* tid of the last waits_expect(); 0: none */
	bool is_expecting;	  /* waits_expect() was called in this round */
	struct loop_timer *rest;  /* runs from the end of a stay (waits_stay()) until the loop's
				   * next turn; else NULL */
	bool is_put_off;	  /* SIGCHLD came while rest was set */
	uint64_t shared_until;	  /* time until which traps of several threads are expected, by
				   * loop_now_ns() */
	struct stranger *strangers;
	size_t stranger_count;
	size_t stranger_capacity;
	struct loop_timer *look; /* checks the strangers; NULL: there are none */
	void (*on_stranger)(struct waits *waits, pid_t tid, int status);
};

static void take_and_stay(struct waits *waits);

/*
 * libuv may call this function several times in a turn: only the first call may stay
 * (waits_stay()).
 */
static void waits_on_child(int number, void *data)
{
	struct waits *waits = data;

	(void)number;
	if (waits->rest)
		waits->is_put_off = true;
	else
		take_and_stay(waits);
}

struct waits *waits_new(struct loop *loop)
{
	struct waits *waits = xcalloc(1, sizeof(*waits));

	waits->loop = loop;
	waits->entries = map_new(free);
	waits->signal = loop_signal(loop, SIGCHLD, waits_on_child, waits);
	return waits;
}

struct loop *waits_loop(const struct waits *waits)
{
	return waits->loop;
}

static void waits_tell_end(uint64_t key, void *value, void *data)
{
	struct entry *entry = value;

	(void)key;
	(void)data;
	entry->changed(entry->tid, WAITS_END, entry->data);
}

void waits_free(struct waits *waits)
{
	if (!waits)
		return;
	map_each(waits->entries, waits_tell_end, NULL);
	loop_signal_stop(waits->signal);
	if (waits->again)
		loop_timer_stop(waits->again);
	if (waits->look)
		loop_timer_stop(waits->look);
	if (waits->rest)
		loop_timer_stop(waits->rest);
	map_free(waits->entries);
	free(waits->queue);
	free(waits->strangers);
	free(waits);
}

void waits_add(struct waits *waits, pid_t tid, void (*changed)(pid_t tid, int status, void *data),
	       void *data)
{
	struct entry *entry = xmalloc(sizeof(*entry));

	*entry = (struct entry){ tid, changed, data };
	map_put(waits->entries, (uint64_t)tid, entry);
}

void waits_forget(struct waits *waits, pid_t tid)
{
	map_remove(waits->entries, (uint64_t)tid);
	for (size_t i = waits->first; i < waits->count; i++)
		if (waits->queue[i].tid == tid)
			waits->queue[i].tid = 0;
}

struct visit_each {
	void (*changed)(pid_t tid, int status, void *data);
	void (*each)(void *entry, void *data);
	void *data;
};

static void visit_one(uint64_t key, void *value, void *data)
{
	const struct entry *entry = value;
	const struct visit_each *visit = data;

	(void)key;
	if (entry->changed == visit->changed)
		visit->each(entry->data, visit->data);
}

void waits_each(const struct waits *waits, void (*changed)(pid_t tid, int status, void *data),
		void (*each)(void *entry, void *data), void *data)
{
	struct visit_each visit = { changed, each, data };

	map_each(waits->entries, visit_one, &visit);
}

void *waits_find(const struct waits *waits, pid_t tid,
		 void (*changed)(pid_t tid, int status, void *data))
{
	const struct entry *entry = map_find(waits->entries, (uint64_t)tid);

	return entry && entry->changed == changed ? entry->data : NULL;
}

static void waits_put(struct waits *waits, pid_t tid, int status)
{
	/* All statuses are reported: the memory of the queue is used again. */
	if (waits->first == waits->count) {
		waits->first = 0;
		waits->count = 0;
	}
	ARRAY_GROW(waits->queue, waits->count, waits->capacity);
	waits->queue[waits->count++] = (struct status){ tid, status };
}

/* Removes the oldest status that is not reported yet. Returns false if there is none. */
static bool pop(struct waits *waits, struct status *status)
{
	while (waits->first < waits->count) {
		*status = waits->queue[waits->first++];
		if (status->tid)
			return true;
	}
	return false;
}

static void waits_on_again(void *data)
{
	struct waits *waits = data;

	loop_timer_stop(waits->again);
	waits->again = NULL;
	waits_take(waits);
}

static void come_again(struct waits *waits, double delay)
{
	if (!waits->again)
		waits->again = loop_timer(waits->loop, delay, 0, waits_on_again, waits);
}

void waits_return(struct waits *waits, pid_t tid, int status)
{
	waits_put(waits, tid, status);
	come_again(waits, 0);
}

/*
 * Strangers
 */

void waits_on_stranger(struct waits *waits,
		       void (*stranger)(struct waits *waits, pid_t tid, int status))
{
	waits->on_stranger = stranger;
}

/*
 * Handles a stranger. Returns false if it must be checked again. Sets *is_taken if waitpid() took a
 * status.
 */
static bool waits_settle(struct waits *waits, struct stranger *stranger, bool *is_taken)
{
	int status;

	if (map_find(waits->entries, (uint64_t)stranger->tid))
		return true;
	if (loop_now() - stranger->since < STRANGER_SECONDS)
		return false;
	if (!waits->on_stranger || !attachable_is_ours(stranger->tid) ||
	    waitpid(stranger->tid, &status, __WALL | WNOHANG) <= 0)
		return true;
	*is_taken = true;
	waits->on_stranger(waits, stranger->tid, status);
	return true;
}

static void waits_on_look(void *data)
{
	struct waits *waits = data;
	bool is_one_taken = false;
	size_t kept = 0;

	/* The event of a parent may have occurred by now. */
	waits_take(waits);
	for (size_t i = 0; i < waits->stranger_count; i++)
		if (!waits_settle(waits, &waits->strangers[i], &is_one_taken))
			waits->strangers[kept++] = waits->strangers[i];
	waits->stranger_count = kept;
	/*
	 * waits_peek() finds only the first thread that has a status: a stranger that was taken
	 * above may have hidden other threads, whose SIGCHLD has come already.
	 */
	if (is_one_taken)
		waits_take(waits);
	if (waits->stranger_count == 0) {
		loop_timer_stop(waits->look);
		waits->look = NULL;
	}
}

static void note_stranger(struct waits *waits, pid_t tid)
{
	for (size_t i = 0; i < waits->stranger_count; i++)
		if (waits->strangers[i].tid == tid)
			return;
	ARRAY_GROW(waits->strangers, waits->stranger_count, waits->stranger_capacity);
	waits->strangers[waits->stranger_count++] = (struct stranger){ tid, loop_now() };
	if (!waits->look)
		waits->look = loop_timer(waits->loop, STRANGER_SECONDS, STRANGER_SECONDS,
					 waits_on_look, waits);
}

/*
 * Taking
 */

static bool take_one(struct waits *waits, pid_t tid)
{
	int status;

	if (waitpid(tid, &status, __WALL | WNOHANG) != tid)
		return false;
	waits_put(waits, tid, status);
	return true;
}

static void waits_take_entry(uint64_t key, void *value, void *data)
{
	(void)value;
	take_one(data, (pid_t)key);
}

/* Returns the first tid that has a status, without taking the status; 0: none. */
static pid_t waits_peek(void)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) < 0)
		return 0;
	return info.si_pid;
}

/*
 * Takes all available statuses. waitid() returns a tid that was not added again and again: then
 * waitpid(2) is called for each added tid.
 */
static void waits_drain(struct waits *waits)
{
	for (pid_t tid = waits_peek(); tid; tid = waits_peek()) {
		if (!map_find(waits->entries, (uint64_t)tid)) {
			note_stranger(waits, tid);
			map_each(waits->entries, waits_take_entry, waits);
			return;
		}
		if (!take_one(waits, tid))
			return;
	}
}

static void waits_tell(struct waits *waits, const struct status *status)
{
	struct entry *found = map_find(waits->entries, (uint64_t)status->tid);
	struct entry entry;

	if (!found)
		return;
	entry = *found;
	if (WIFEXITED(status->status) || WIFSIGNALED(status->status))
		map_remove(waits->entries, (uint64_t)status->tid);
	entry.changed(entry.tid, status->status, entry.data);
}

static size_t take_round(struct waits *waits)
{
	struct status status;
	size_t told = 0;

	waits_drain(waits);
	for (size_t left = waits->count - waits->first; left > 0; left--) {
		if (!pop(waits, &status))
			break;
		waits_tell(waits, &status);
		told++;
	}
	return told;
}

size_t waits_take(struct waits *waits)
{
	size_t told = 0;

	for (int i = 0; i < ROUNDS; i++) {
		size_t some = take_round(waits);
		if (some == 0)
			return told;
		told += some;
	}
	/* Not 0: libuv (1.44) calls a timer that is due at once before any descriptor. */
	come_again(waits, TURN_SECONDS);
	return told;
}

/*
 * Staying: a thread that was trapped and resumed at once is likely to be trapped again within
 * microseconds (a condition that is false in a loop). To return here through the loop takes some 15
 * system calls, sigtimedwait(2) takes one.
 *
 * SIGCHLD is blocked meanwhile, and raised at the end, so that the loop takes all other statuses. A
 * pending SIGCHLD hides the next one, so if traps of several threads are expected, the statuses of
 * all threads are taken.
 */

void waits_expect(struct waits *waits, pid_t tid)
{
	if (waits->expected && waits->expected != tid)
		waits->shared_until = loop_now_ns() + SHARED_NS;
	waits->expected = tid;
	waits->is_expecting = true;
}

/*
 * True if the status is a stop by SIGTRAP. Other statuses are reported when SIGCHLD is not blocked.
 */
static bool is_trap(int status)
{
	return WIFSTOPPED(status) && status >> 8 == SIGTRAP;
}

/*
 * Reports the traps among the taken statuses. Returns false if there are other statuses, which are
 * left to the loop.
 */
static bool tell_traps(struct waits *waits)
{
	size_t left = waits->count - waits->first;
	bool are_all = true;
	struct status status;

	if (left > 0)
		waits->is_expecting = false;
	for (; left > 0 && pop(waits, &status); left--) {
		if (is_trap(status.status)) {
			waits_tell(waits, &status);
			continue;
		}
		waits_return(waits, status.tid, status.status);
		are_all = false;
	}
	return are_all;
}

static void block_child(sigset_t *child, sigset_t *before)
{
	sigemptyset(child);
	sigaddset(child, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, child, before);
}

/* Waits for SIGCHLD. Returns its si_pid; 0: none within this time. */
static pid_t wait_for_child(const sigset_t *child, uint64_t nanoseconds)
{
	const struct timespec limit = { .tv_nsec = (long)nanoseconds };
	siginfo_t info;

	return sigtimedwait(child, &info, &limit) == SIGCHLD ? info.si_pid : 0;
}

/* Reports the trap of tid, or the traps of all threads. Returns false if the stay must end. */
static bool take_traps(struct waits *waits, pid_t tid, uint64_t now)
{
	size_t strangers = waits->stranger_count;

	if (now < waits->shared_until)
		waits_drain(waits);
	else if (!map_find(waits->entries, (uint64_t)tid) || !take_one(waits, tid))
		return false;
	return tell_traps(waits) && waits->stranger_count == strangers;
}

static void waits_on_rested(void *data)
{
	struct waits *waits = data;

	loop_timer_stop(waits->rest);
	waits->rest = NULL;
	if (waits->is_put_off)
		take_round(waits);
	waits->is_put_off = false;
}

static void waits_stay(struct waits *waits)
{
	uint64_t now = loop_now_ns();
	uint64_t end = now + STAY_NS;
	sigset_t child, before;
	pid_t tid;

	block_child(&child, &before);
	while (waits->is_expecting && now < end) {
		tid = wait_for_child(&child, end - now);
		now = loop_now_ns();
		if (!tid || !take_traps(waits, tid, now))
			break;
	}
	waits->rest = loop_timer(waits->loop, 0, 0, waits_on_rested, waits);
	raise(SIGCHLD);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void take_and_stay(struct waits *waits)
{
	waits->is_expecting = false;
	if (take_round(waits) == 0)
		return;
	if (waits->is_expecting && waits->first == waits->count)
		waits_stay(waits);
	else
		waits_take(waits);
}

/* Takes the next status of tid: a status in the queue precedes a new one. */
static bool waits_look_once(struct waits *waits, pid_t tid, int *status)
{
	for (size_t i = waits->first; i < waits->count; i++) {
		if (waits->queue[i].tid != tid)
			continue;
		*status = waits->queue[i].status;
		waits->queue[i].tid = 0;
		return true;
	}
	return waitpid(tid, status, __WALL | WNOHANG) == tid;
}

bool waits_one(struct waits *waits, pid_t tid, uint64_t nanoseconds, int *status)
{
	uint64_t began = loop_now_ns();
	struct stop_wait stop_wait;
	bool is_there = waits_look_once(waits, tid, status);

	if (is_there || nanoseconds == 0)
		return is_there;
	stop_wait_begin(&stop_wait);
	for (;;) {
		is_there = waits_look_once(waits, tid, status);
		if (is_there || loop_now_ns() - began > nanoseconds)
			break;
		stop_wait_sleep(&stop_wait);
	}
	stop_wait_end(&stop_wait);
	return is_there;
}
