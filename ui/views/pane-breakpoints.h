/*
 * pane-breakpoints: the breakpoints, as a list beside the source, as a separate view, and as marks
 * beside the lines of the source.
 */
#ifndef UI_VIEWS_PANE_BREAKPOINTS_H
#define UI_VIEWS_PANE_BREAKPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/breakpoints.h"
#include "ui/grid.h"
#include "ui/style.h"
#include "ui/view.h"
#include "ui/window.h"

struct app;
struct buffer;
struct search_text;
struct session;

/* The known breakpoints, at most 200. Free with breakpoint_list_clear(). */
struct breakpoint_list {
	struct breakpoint_summary *items;
	size_t count;
};

void breakpoint_list_make(struct breakpoint_list *list, const struct session *session);
void breakpoint_list_clear(struct breakpoint_list *list);
/* Returns the breakpoint at a line of a file (borrowed); NULL: none. */
const struct breakpoint_summary *breakpoint_list_at(const struct breakpoint_list *list,
						    const char *path, int line);
/* Returns the index of the breakpoint under the cursor; -1: no breakpoints. */
int breakpoint_list_cursor(const struct breakpoint_list *list, const struct view *view);

/* Returns the number of rows that the list would need beside the source. */
int breakpoint_list_rows(const struct session *session);
/*
 * Returns the breakpoint's mark and sets its style. The mark is full if the breakpoint is set,
 * hollow if disabled or not set; watches and log points have other marks.
 */
int32_t breakpoint_mark(const struct breakpoint_summary *breakpoint, enum style *style);
/* Appends "0-7 hit 4", "0-7 disabled" or "0-7 pending"; without the ranks if not has_ranks. */
void breakpoint_append_state(struct buffer *out, const struct breakpoint_summary *breakpoint,
			     bool has_ranks);

/*
 * Draws the list inside a pane. has_reasons: rows below each breakpoint show which ranks have not
 * set the breakpoint, and why.
 */
void pane_breakpoints(struct window window, const struct session *session, const struct view *view,
		      bool has_cursor, bool has_reasons);
/*
 * view_type.add_rows, and the moves of the cursor, respectively, for the view of breakpoints and
 * for its pane in the home view.
 */
void breakpoint_list_add_rows(struct search_text *lines, const struct app *app);
void breakpoint_list_move(struct app *app, int page, enum move move);

#endif
