/*
 * pane-breakpoints: where ranks are to stop, as a list beside the source, as
 * a view of its own, and in the source's gutter.
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

/* All that are known, the first 200 of them. Free with _clear(). */
struct breakpoint_list {
	struct breakpoint_summary *items;
	size_t count;
};

void breakpoint_list_make(struct breakpoint_list *list, const struct session *session);
void breakpoint_list_clear(struct breakpoint_list *list);
/* The one at a line of a file; NULL: there is none. Lends. */
const struct breakpoint_summary *breakpoint_list_at(const struct breakpoint_list *list,
						    const char *path, int line);
/* The index of the one under the cursor; -1: there are none. */
int breakpoint_list_cursor(const struct breakpoint_list *list, const struct view *view);

/* How many rows the list takes beside the source, at best. */
int breakpoint_list_rows(const struct session *session);
/*
 * Where it is set it is full, hollow where it is off, or only wanted; a watch
 * and a log point have marks of their own.
 */
int32_t breakpoint_mark(const struct breakpoint_summary *breakpoint, enum style *style);
/* Appends "0-7 hit 4", "0-7 disabled", "0-7 pending"; or without the ranks. */
void breakpoint_append_state(struct buffer *out, const struct breakpoint_summary *breakpoint,
			     bool has_ranks);

/*
 * The list in the inside of a pane; with reasons each one has below it why
 * which ranks do not have it.
 */
void pane_breakpoints(struct window window, const struct session *session, const struct view *view,
		      bool has_cursor, bool has_reasons);
/* Its rows to search in, and its cursor, in its view and at home. */
void breakpoint_list_add_rows(struct search_text *lines, const struct app *app);
void breakpoint_list_move(struct app *app, int page, enum move move);

#endif
