/*
 * wait-group: ranks that are at the same place, as a person would say it. A class
 * asks for equal stacks to the last line; a wait group does not look inside a known
 * place (which line of all_reduce it is does not matter), and knows whether
 * its ranks wait for their peers. The verdict judges wait groups, not classes.
 *
 * Made anew for each verdict; everything is lent from the session.
 */
#ifndef MODEL_WAIT_GROUP_H
#define MODEL_WAIT_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/rankset.h"

struct rank;
struct session;
struct thread;
struct verdict;

enum wait_group_role {
	WAIT_GROUP_WAITS,     /* for its peers */
	WAIT_GROUP_ELSEWHERE, /* alive, at another thing */
	WAIT_GROUP_TEARDOWN,
	WAIT_GROUP_GONE,
	WAIT_GROUP_UNREADABLE,
	WAIT_GROUP_UNREAD, /* no sample yet */
	WAIT_GROUP_ROLES,  /* how many there are */
};

struct wait_group {
	enum wait_group_role role;
	uint64_t key;
	struct rankset ranks;
	size_t count;
	const struct rank *first;	  /* lowest number */
	const struct thread *main_thread; /* first's; NULL: no stack */
	bool is_outlier;
	bool is_stopped;
	bool is_unsettled; /* a rank of it is blocked in backward, and one
			    * sample does not show whether it waits for peers:
			    * role is WAIT_GROUP_ELSEWHERE */
	size_t moving_count;
	size_t changing_count;
	size_t leaving_count; /* see rank.h */
	size_t working_count;
	size_t helped_count;
	size_t waking_count;
	double ended_at;  /* of those that are gone, the first; -1 */
	double unchanged; /* seconds that all its stacks are the same */
};

struct wait_group_list {
	struct wait_group *items; /* largest first */
	size_t count;
	size_t role_counts[WAIT_GROUP_ROLES]; /* ranks */
	bool is_sampled_twice;		      /* all that could be read */
};

/* What a rank's newest sample says it is at. */
enum wait_group_role wait_group_role_of(const struct rank *rank);
/*
 * Fills verdict->classes (largest first) and class_index of the session's
 * ranks, and the wait groups. class_wait groups[i] is the wait group of class i; free() it.
 */
size_t *wait_groups_make(struct wait_group_list *wait_groups, struct verdict *verdict,
			 struct session *session);
void wait_groups_clear(struct wait_group_list *wait_groups);

#endif
