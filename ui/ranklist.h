/*
 * ranklist: the ranks as the grid shows them: in order, filtered, in groups.
 * Cards, table and cells, moving the cursor and next and previous rank all
 * go by it, so that there is one order.
 *
 * Made anew when it is wanted, from session and view; it lends from the
 * session, so it lives no longer than the turn of the loop.
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
	size_t at;		     /* of its rank, or its group's first */
	const struct rank *child;    /* RANKLIST_CHILD */
	const struct thread *thread; /* RANKLIST_THREAD */
};

struct ranklist_group {
	uint64_t key; /* for view.order: which groups are folded */
	size_t first; /* into ranks */
	size_t count;
	bool is_folded;
};

struct ranklist {
	const struct rank **ranks; /* all that match the filter, in order */
	size_t rank_count;
	size_t total_count; /* with those that do not */
	struct ranklist_group *groups;
	size_t group_count; /* 0: not grouped */
	struct ranklist_row *rows;
	size_t row_count;
	int at;		   /* of the selected rank in ranks; -1: not in it */
	int cursor;	   /* its row, or its child's, thread's; -1 */
	bool has_hosts;	   /* there are several */
	bool has_children; /* some rank has rows that x shows */
};

void ranklist_make(struct ranklist *list, const struct session *session, const struct view *view);
void ranklist_clear(struct ranklist *list);
/* The group that rank number at is in; NULL: they are not grouped. */
const struct ranklist_group *ranklist_group_at(const struct ranklist *list, size_t at);
/* Appends what the group is called: a host, or what a class does. */
void ranklist_append_group(struct buffer *out, const struct ranklist *list,
			   const struct session *session, const struct view *view,
			   const struct ranklist_group *group);
/* The cursor goes to that row; what is selected is looked at. */
void ranklist_select(const struct ranklist *list, struct session *session, struct view *view,
		     const struct ranklist_row *row);
/* Folds and opens a group, or the children of a rank; false: it has none. */
bool ranklist_fold(const struct ranklist *list, struct view *view, const struct ranklist_row *row);

/* The filter that holds now, be it still typed. NULL: none. */
const char *ranklist_filter(const struct view *view);

#endif
