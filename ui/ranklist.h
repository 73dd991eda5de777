/*
 * ranklist: the ranks as the grid shows them: sorted, filtered and grouped. Cards, table, cells,
 * moves of the cursor, and next and previous rank all use this order.
 *
 * A ranklist is made from session and view for each use. It borrows from the session, so it is
 * valid only in the present turn of the loop.
 */
#ifndef UI_RANKLIST_H
#define UI_RANKLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct rank;
struct session;
struct thread;
struct view;

enum ranklist_kind {
	RANKLIST_GROUP,
	RANKLIST_RANK,
	RANKLIST_CHILD,
	RANKLIST_THREAD,
};

/* A row of the table. */
struct ranklist_row {
	enum ranklist_kind kind;
	size_t at;		     /* index in ranks of the row's rank, or of the group's first
				      * rank */
	const struct rank *child;    /* RANKLIST_CHILD */
	const struct thread *thread; /* RANKLIST_THREAD */
};

struct ranklist_group {
	uint64_t key; /* the group's key in rank_order.folded and rank_order.group */
	size_t first; /* index in ranks of the first rank */
	size_t count;
	bool is_folded;
};

struct ranklist {
	const struct rank **ranks; /* ranks that match the filter, sorted */
	size_t rank_count;
	size_t total_count; /* number of ranks of the job, including those that the filter
			     * excludes */
	struct ranklist_group *groups;
	size_t group_count; /* 0: not grouped */
	struct ranklist_row *rows;
	size_t row_count;
	int at;		   /* index of the selected rank in ranks; -1: the filter excludes it */
	int cursor;	   /* row of the selected rank, child, thread or group; -1: none */
	bool has_hosts;	   /* ranks run on several hosts */
	bool has_children; /* a rank has children, which the key x shows */
};

void ranklist_make(struct ranklist *list, const struct session *session, const struct view *view);
void ranklist_clear(struct ranklist *list);
/* Returns the group of the rank at index `at`; NULL: the ranks are not grouped. */
const struct ranklist_group *ranklist_group_at(const struct ranklist *list, size_t at);
/* Appends the name of a group: a host, or a class's activity and place. */
void ranklist_append_group(struct buffer *out, const struct ranklist *list,
			   const struct session *session, const struct view *view,
			   const struct ranklist_group *group);
/* Selects the rank, child, thread or group of a row. */
void ranklist_select(const struct ranklist *list, struct session *session, struct view *view,
		     const struct ranklist_row *row);
/*
 * Folds or unfolds a group, or the children of a rank; returns false if the rank has no children.
 */
bool ranklist_fold(const struct ranklist *list, struct view *view, const struct ranklist_row *row);

/* Returns the present filter, also one that is being typed; NULL: none. */
const char *ranklist_filter(const struct view *view);

#endif
