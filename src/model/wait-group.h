/*
 * wait-group: ranks that are at the same place in the user's terms. The ranks of a class have equal
 * stacks, line numbers included; a wait group ignores lines inside a known function (all lines of
 * all_reduce are the same place), and its role says whether its ranks wait for their peers. The
 * verdict judges wait groups, not classes.
 *
 * Wait groups are made for each verdict; all pointers are borrowed from the session.
 */
#ifndef MODEL_WAIT_GROUP_H
#define MODEL_WAIT_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/verdict.h"
#include "protocol/rankset.h"

struct buffer;
struct rank;
struct session;
struct thread;
struct verdict;
struct wait_graph;
struct wait_group;
struct wait_group_list;

enum wait_group_role {
	WAIT_GROUP_WAITS,     /* waits for its peers */
	WAIT_GROUP_ELSEWHERE, /* alive, but does not wait for its peers */
	WAIT_GROUP_TEARDOWN,  /* shuts down */
	WAIT_GROUP_GONE,
	WAIT_GROUP_UNREADABLE,
	WAIT_GROUP_UNREAD, /* not sampled yet */
	WAIT_GROUP_ROLES,  /* number of roles */
};

struct wait_group {
	enum wait_group_role role;
	uint64_t key;
	struct rankset ranks;
	size_t count;
	const struct rank *first;	  /* the lowest rank */
	const struct thread *main_thread; /* thread of first; NULL: no stack */
	bool is_outlier;
	bool is_stopped;
	bool is_unsettled; /* a rank is blocked in backward, and one sample does not show whether it
			    * waits for peers; role is WAIT_GROUP_ELSEWHERE */
	size_t moving_count;
	size_t changing_count;
	size_t leaving_count; /* number of ranks for which rank_is_leaving() is true; each of these
			       * counts is likewise */
	size_t working_count;
	size_t helped_count;
	size_t waking_count;
	double ended_at;  /* session time at which the first gone rank ended; -1: none */
	bool was_ended;	  /* SIGTERM or SIGINT ended all of its ranks */
	double unchanged; /* seconds since the last change of any of the stacks; -1: no stacks */
};

struct wait_group_list {
	struct wait_group *items; /* most ranks first */
	size_t count;
	size_t role_counts[WAIT_GROUP_ROLES]; /* number of ranks by role */
	const struct wait_graph *graph; /* borrowed; NULL: no rank's calls of torch.distributed were
					 * read */
	bool is_sampled_twice;		/* all readable ranks have at least two samples */
};

/* Returns the role of a rank, by its newest sample. */
enum wait_group_role wait_group_role_of(const struct rank *rank);
/*
 * Fills verdict->classes (most ranks first), class_index of the session's ranks, and the
 * wait groups.
 */
void wait_groups_make(struct wait_group_list *wait_groups, struct verdict *verdict,
		      struct session *session);
void wait_groups_clear(struct wait_group_list *wait_groups);
/*
 * True if one gone wait group ended before the other. Of ends at almost the same time, one by
 * SIGTERM or SIGINT, with which a launcher ends the ranks that are left, comes last.
 */
bool wait_group_ended_before(const struct wait_group *wait_group, const struct wait_group *other);

/*
 * watchdog: how long the peers of a stopped rank wait before a time-out of their collective ends
 * the job.
 */

/*
 * Returns the shortest time-out in seconds that a node reported, else torch's default: 600 if NCCL
 * is in a stack, else 1,800. -1: the rank has no peers.
 */
double watchdog_seconds(const struct session *session);

/*
 * rank_barrier: ranks that wait in breakpoint(ranks=…) or set_trace() of the probetui package until
 * the ranks given there have resumed. Such a rank is not in a collective: a peer that waits for it
 * in a collective waits for ever. These functions make the verdict and sentence for a job with such
 * ranks, if no rank is in a debugger.
 */

/*
 * True if the ranks of this wait group, or of any wait group, respectively, wait in
 * breakpoint(ranks=…).
 */
bool rank_barrier_is(const struct wait_group *wait_group);
bool rank_barrier_is_any(const struct wait_group_list *wait_groups);
/* Returns the verdict's state if rank_barrier_is_any(). */
enum verdict_state rank_barrier_state(const struct wait_group_list *wait_groups);
/*
 * Appends "Ranks 0 and 2 wait in all_reduce (train.py:17) for ranks 1 and 3,
 * which hold in probetui.breakpoint (train.py:12), for 34 s."
 */
void rank_barrier_append_sentence(struct buffer *out, const struct session *session,
				  const struct wait_group_list *wait_groups);

#endif
