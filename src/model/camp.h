/*
 * camp: ranks that are at the same place, as a person would say it. A class
 * asks for equal stacks to the last line; a camp does not look inside a known
 * place (which line of all_reduce it is does not matter), and knows whether
 * its ranks wait for their peers. The verdict judges camps, not classes.
 *
 * Made anew for each verdict; everything is lent from the session.
 */
#ifndef MODEL_CAMP_H
#define MODEL_CAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/rankset.h"

struct rank;
struct session;
struct thread;
struct verdict;

enum camp_role {
	CAMP_WAITS,	/* for its peers */
	CAMP_ELSEWHERE, /* alive, at another thing */
	CAMP_TEARDOWN,
	CAMP_GONE,
	CAMP_UNREADABLE,
	CAMP_UNREAD, /* no sample yet */
	CAMP_ROLES,  /* how many there are */
};

struct camp {
	enum camp_role role;
	uint64_t key;
	struct rankset ranks;
	size_t count;
	const struct rank *first;	  /* lowest number */
	const struct thread *main_thread; /* first's; NULL: no stack */
	bool is_outlier;
	bool is_stopped;
	bool is_unsettled; /* a rank of it is blocked in backward, and one
			    * sample does not show whether it waits for peers:
			    * role is CAMP_ELSEWHERE */
	size_t moving_count;
	size_t changing_count;
	size_t leaving_count; /* see rank.h */
	size_t working_count;
	size_t helped_count;
	size_t waking_count;
	double ended_at;  /* of those that are gone, the first; -1 */
	double unchanged; /* seconds that all its stacks are the same */
};

struct camp_list {
	struct camp *items; /* largest first */
	size_t count;
	size_t role_counts[CAMP_ROLES]; /* ranks */
	bool is_sampled_twice;		/* all that could be read */
};

/* What a rank's newest sample says it is at. */
enum camp_role camp_role_of(const struct rank *rank);
/*
 * Fills verdict->classes (largest first) and class_index of the session's
 * ranks, and the camps. class_camps[i] is the camp of class i; free() it.
 */
size_t *camps_make(struct camp_list *camps, struct verdict *verdict, struct session *session);
void camps_clear(struct camp_list *camps);

#endif
