#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/place.h"
#include "model/session.h"
#include "protocol/stack.h"
#include "ui/grid.h"
#include "ui/pane.h"

/* Marks of rows. All marks differ from the cursor's arrow. */
#define FOLDED '+'
#define OPEN '-'
#define INDENT 2 /* columns before children and threads */
#define RANK_WIDTH 4
#define NAME_MINIMUM 14 /* minimum columns for the name of a child or thread */
#define HEAD_COLUMNS 56 /* minimum columns of a table with a head */
#define HEAD_ROWS 5

/*
 * Widths of a column: `least` is the width without which the column is not shown, `enough` the
 * width that the column gets before a less important column is shown, and `most` the maximum width.
 */
struct column_room {
	enum column column;
	int least;
	int enough;
	int most;
};

/*
 * The most important column is first. The first column that does not fit, and all later columns,
 * are left out.
 */
static const struct column_room rooms[] = {
	{ COLUMN_CLASS, 1, 1, 1 },	 { COLUMN_RANK, 4, 4, 4 },
	{ COLUMN_ACTIVITY, 12, 18, 32 }, { COLUMN_PLACE, 11, 14, 32 },
	{ COLUMN_AGE, 4, 4, 4 },	 { COLUMN_STATE, 5, 6, 6 },
	{ COLUMN_FUNCTION, 10, 10, 32 }, { COLUMN_HOST, 7, 9, 24 },
	{ COLUMN_CPU, 5, 5, 5 },	 { COLUMN_PID, 7, 7, 7 },
	{ COLUMN_MEMORY, 7, 7, 7 },
};
#define ROOMS_TOGETHER 5 /* these first columns keep their least width until all of them fit */

static int pane_table_digits_of(int number)
{
	int digits = 1;

	while (number >= 10) {
		number /= 10;
		digits++;
	}
	return digits;
}

/* Returns the columns of the widest rank number, with the mark of rows that can be opened. */
static int rank_width(const struct ranklist *list)
{
	int width = RANK_WIDTH;

	for (size_t i = 0; i < list->rank_count; i++) {
		int own = pane_table_digits_of(list->ranks[i]->process.rank);

		if (own > width)
			width = own;
	}
	return width + (list->has_children ? 2 : 0);
}

/* Widens the first count columns to `enough`; returns the columns used. */
static int pane_table_widen(int *widths, size_t count, int left)
{
	int used = 0;

	for (size_t i = 0; i < count; i++) {
		int more = rooms[i].enough - widths[rooms[i].column];

		if (widths[rooms[i].column] == 0 || more <= 0)
			continue;
		if (more > left - used)
			more = left - used;
		widths[rooms[i].column] += more;
		used += more;
	}
	return used;
}

/* Chooses the visible columns and their widths; returns the columns left. */
static int choose_columns(const struct ranklist *list, int total, int *widths)
{
	int left = total + 1;

	for (size_t i = 0; i < ARRAY_LENGTH(rooms); i++) {
		const struct column_room *room = &rooms[i];
		int least = room->least;

		if (room->column == COLUMN_RANK)
			least = rank_width(list);
		if (room->column == COLUMN_HOST && !list->has_hosts)
			continue;
		if (i >= ROOMS_TOGETHER)
			left -= pane_table_widen(widths, i, left);
		if (least + 1 > left)
			break;
		widths[room->column] = least;
		left -= least + 1;
	}
	return left;
}

/* Distributes the width over the columns; a column of width 0 is not shown. */
static void share_width(const struct ranklist *list, int total, int widths[COLUMN_COUNT])
{
	int growing = 0;
	int left;

	memset(widths, 0, COLUMN_COUNT * sizeof(*widths));
	left = choose_columns(list, total, widths);
	for (size_t i = 0; i < ARRAY_LENGTH(rooms); i++)
		growing += widths[rooms[i].column] > 0 && rooms[i].most > rooms[i].least;
	for (size_t i = 0; i < ARRAY_LENGTH(rooms) && growing > 0; i++) {
		const struct column_room *room = &rooms[i];
		int more = left / growing;

		if (widths[room->column] == 0 || room->most <= room->least)
			continue;
		if (more > room->most - widths[room->column])
			more = room->most - widths[room->column];
		widths[room->column] += more;
		left -= more;
		growing--;
	}
}

/* Returns the text's width, at most width: a location is aligned left in its column. */
static int min_width(const struct buffer *text, int width)
{
	int own = text_width(text->data);

	return own < width ? own : width;
}

static void pane_table_put_text(struct window window, int row, int at, int width, enum style style,
				enum column column, const struct buffer *text)
{
	if (column_is_number(column))
		window_put_right(window, row, at + width, width, style, text->data);
	else if (column == COLUMN_PLACE)
		window_put_path(window, row, at + min_width(text, width), width, style, text->data);
	else
		window_put(window, row, at, width, style, text->data);
}

static enum style pane_table_style_of(const struct session *session, const struct view *view,
				      const struct rank *rank)
{
	if (rank_is_stale(session, view, rank))
		return STYLE_VALUE_STALE;
	return rank->is_outlier ? STYLE_OUTLIER : STYLE_TEXT;
}

static void put_rank(struct window window, int row, const int *widths,
		     const struct session *session, const struct view *view,
		     const struct rank *rank)
{
	enum style style = pane_table_style_of(session, view, rank);
	bool is_open = key_set_has(&view->order.opened, (uint64_t)rank->process.pid);
	enum style mark_style;
	int32_t mark = mark_of_rank(session, rank, &mark_style);
	int at = 0;

	for (int i = 0; i < COLUMN_COUNT; i++) {
		struct buffer text = BUFFER_INIT;

		if (widths[i] <= 0)
			continue;
		column_append(&text, session, view, rank, (enum column)i);
		if (i == COLUMN_CLASS)
			window_put_character(window, row, at, mark_style, mark);
		else
			pane_table_put_text(window, row, at, widths[i], style, (enum column)i,
					    &text);
		at += widths[i] + 1;
		buffer_clear(&text);
	}
	if (rank->child_count > 0 && widths[COLUMN_RANK] > 0)
		window_put_character(window, row, 2, STYLE_DIM, is_open ? OPEN : FOLDED);
}

/*
 * Writes a child or thread: its name over the columns of number, host, pid and state. If these
 * columns are narrow, name and activity are written over the next columns, too.
 */
static int put_name(struct window window, int row, const int *widths, enum style style,
		    const char *name, const char *activity)
{
	struct buffer text = BUFFER_INIT;
	int width = 0;
	int next = COLUMN_RANK;
	int at = widths[COLUMN_CLASS] + 1;

	while (next < COLUMN_ACTIVITY || (next < COLUMN_FUNCTION && width < NAME_MINIMUM)) {
		width += widths[next] > 0 ? widths[next] + 1 : 0;
		next++;
	}
	buffer_append_string(&text, name);
	if (next > COLUMN_ACTIVITY)
		buffer_printf(&text, "  %s", activity);
	window_put(window, row, at + INDENT, width - 1 - INDENT, style, text.data);
	buffer_clear(&text);
	return next;
}

static void put_child(struct window window, int row, const int *widths,
		      const struct session *session, const struct view *view,
		      const struct rank *child)
{
	enum style style = pane_table_style_of(session, view, child);
	struct buffer text = BUFFER_INIT;
	struct buffer activity = BUFFER_INIT;
	int at = 0;
	int first;

	column_append(&text, session, view, child, COLUMN_RANK);
	buffer_printf(&text, " %d", (int)child->process.pid);
	rank_append_activity(&activity, child);
	first = put_name(window, row, widths, style, text.data, activity.data);
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (widths[i] <= 0)
			continue;
		buffer_reset(&text);
		column_append(&text, session, view, child, (enum column)i);
		if (i >= first)
			pane_table_put_text(window, row, at, widths[i], style, (enum column)i,
					    &text);
		at += widths[i] + 1;
	}
	buffer_clear(&activity);
	buffer_clear(&text);
}

static void pane_table_append_thread(struct buffer *out, const struct session *session,
				     const struct rank *rank, const struct thread *thread,
				     enum column column)
{
	const struct frame *frame = place_find(&rank->process, thread->sample.stack);

	if (column == COLUMN_ACTIVITY)
		buffer_append_string(out, thread->activity.name);
	else if (column == COLUMN_FUNCTION && frame != NULL)
		buffer_append_string(out, frame->code->func);
	else if (column == COLUMN_PLACE && frame != NULL)
		place_append(out, frame);
	else if (column == COLUMN_AGE && thread->sample_count > 1)
		text_age(out, session->now - thread->since);
}

static void put_thread(struct window window, int row, const int *widths,
		       const struct session *session, const struct rank *rank,
		       const struct thread *thread)
{
	const char *name = thread->sample.name;
	struct buffer text = BUFFER_INIT;
	int at = 0;
	int first;

	buffer_printf(&text, "thread %s", name != NULL ? name : "");
	first = put_name(window, row, widths, STYLE_OUTLIER, text.data, thread->activity.name);
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (widths[i] <= 0)
			continue;
		buffer_reset(&text);
		pane_table_append_thread(&text, session, rank, thread, (enum column)i);
		if (i >= first)
			pane_table_put_text(window, row, at, widths[i], STYLE_OUTLIER,
					    (enum column)i, &text);
		at += widths[i] + 1;
	}
	buffer_clear(&text);
}

static void pane_table_append_count(struct buffer *out, size_t count)
{
	text_count(out, count);
	buffer_append_string(out, count == 1 ? " rank" : " ranks");
}

static void put_group(struct window window, int row, const struct session *session,
		      const struct view *view, const struct ranklist *list,
		      const struct ranklist_group *group)
{
	struct buffer count = BUFFER_INIT;
	struct buffer text = BUFFER_INIT;
	size_t outliers = 0;
	int width = window.column_count;
	int column = 2;
	enum style style;
	int32_t mark;

	for (size_t i = 0; i < group->count; i++)
		outliers += list->ranks[group->first + i]->is_outlier;
	pane_table_append_count(&count, group->count);
	if (outliers > 0 && view->order.grouping == GROUPING_HOST) {
		buffer_append_string(&count, ", ");
		text_count(&count, outliers);
		buffer_append_string(&count, outliers == 1 ? " outlier" : " outliers");
	}
	ranklist_append_group(&text, list, session, view, group);
	window_put_character(window, row, 0, STYLE_TITLE, group->is_folded ? FOLDED : OPEN);
	if (view->order.grouping == GROUPING_CLASS) {
		mark = mark_of_rank(session, list->ranks[group->first], &style);
		window_put_character(window, row, 2, style, mark);
		column = 4;
	}
	column += 2 + window_put(window, row, column, width - column - text_width(count.data) - 2,
				 STYLE_TITLE, text.data);
	window_put(window, row, column, width - column, outliers > 0 ? STYLE_OUTLIER : STYLE_DIM,
		   count.data);
	buffer_clear(&text);
	buffer_clear(&count);
}

static void pane_table_put_row(struct window window, int row, const int *widths,
			       const struct session *session, const struct view *view,
			       const struct ranklist *list, int number)
{
	const struct ranklist_row *line = &list->rows[number];
	const struct rank *rank = list->ranks[line->at];

	switch (line->kind) {
	case RANKLIST_GROUP:
		put_group(window, row, session, view, list, ranklist_group_at(list, line->at));
		break;
	case RANKLIST_RANK:
		put_rank(window, row, widths, session, view, rank);
		break;
	case RANKLIST_CHILD:
		put_child(window, row, widths, session, view, line->child);
		break;
	case RANKLIST_THREAD:
		put_thread(window, row, widths, session, rank, line->thread);
		break;
	}
	/* A click selects the rank itself, even if the row has moved since it was drawn. */
	if (line->kind == RANKLIST_RANK)
		window_hit(window, row, 0, 1, window.column_count, MOUSE_TARGET_RANK,
			   rank->process.rank);
	else
		window_hit(window, row, 0, 1, window.column_count, MOUSE_TARGET_ROW, number);
	if (number == list->cursor)
		window_emphasise(window, row, 0, 1, window.column_count, EMPHASIS_SELECTED);
}

/* Writes the titles. The sorted column has an arrow for the direction, as in htop. */
static void pane_table_put_head(struct window window, const int *widths, const struct view *view)
{
	const struct rank_order *order = &view->order;
	bool is_down = column_is_descending(order->sort) != order->is_reversed;
	int at = 0;

	for (int i = 0; i < COLUMN_COUNT; i++) {
		const char *title = column_title((enum column)i);
		bool is_sorted = order->sort == (enum column)i;
		int end = at + widths[i];
		int arrow = at;

		if (widths[i] <= 0)
			continue;
		if (column_is_number((enum column)i) && *title != '\0') {
			arrow = end - 1 -
				window_put_right(window, 0, end, widths[i], STYLE_DIM, title);
		} else {
			arrow = at + window_put(window, 0, at, widths[i], STYLE_DIM, title);
		}
		window_hit(window, 0, at, 1, widths[i] + 1, MOUSE_TARGET_COLUMN, i);
		if (is_sorted)
			window_put_character(window, 0, arrow, STYLE_TITLE,
					     is_down ? 0x25bc : 0x25b2);
		at = end + 1;
	}
}

static int head_rows(int row_count, int column_count)
{
	return row_count >= HEAD_ROWS && column_count >= HEAD_COLUMNS ? 1 : 0;
}

void pane_no_match(struct window window, const struct view *view)
{
	const char *filter = ranklist_filter(view);
	struct buffer text = BUFFER_INIT;

	if (filter == NULL)
		return;
	buffer_printf(&text, "no rank has '%s' in its row (Esc shows all ranks)", filter);
	window_put_paragraph(window, 0, 1, window.row_count, STYLE_DIM, text.data);
	buffer_clear(&text);
}

void pane_table_append_range(struct buffer *out, const struct ranklist *list, int row_count,
			     int column_count)
{
	int rows = row_count - head_rows(row_count, column_count);
	int count = (int)list->row_count;

	pane_append_range(out, grid_first(list->cursor, count, rows), rows, count);
}

/*
 * Returns the group's row above row i, to be drawn in the place of row i, so that the group's name
 * stays visible. Returns i if row i is under the cursor or in no group.
 */
static int with_group(const struct ranklist *list, int i)
{
	int group = i;

	if (list->group_count == 0 || i == list->cursor)
		return i;
	while (group > 0 && list->rows[group].kind != RANKLIST_GROUP)
		group--;
	return list->rows[group].kind == RANKLIST_GROUP ? group : i;
}

void pane_table(struct window window, const struct session *session, const struct view *view,
		const struct ranklist *list)
{
	int head = head_rows(window.row_count, window.column_count);
	int rows = window.row_count - head;
	int count = (int)list->row_count;
	int first = grid_first(list->cursor, count, rows);
	int widths[COLUMN_COUNT];

	share_width(list, window.column_count, widths);
	if (head > 0)
		pane_table_put_head(window, widths, view);
	for (int i = 0; i < rows && first + i < count; i++)
		pane_table_put_row(window, head + i, widths, session, view, list,
				   i == 0 ? with_group(list, first) : first + i);
	if (count == 0)
		pane_no_match(window_part(window, head, 0, rows, window.column_count), view);
}
