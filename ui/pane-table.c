#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/session.h"
#include "protocol/stack.h"
#include "ui/pane.h"

struct column {
	const char *title;
	int width; /* 0: shares what is left */
	int needs; /* columns of the window from which on it shows */
};

enum column_name {
	COLUMN_MARK,
	COLUMN_RANK,
	COLUMN_STATE,
	COLUMN_AGE,
	COLUMN_ACTIVITY,
	COLUMN_FUNCTION,
	COLUMN_PLACE,
	COLUMN_COUNT,
};

static const struct column columns[COLUMN_COUNT] = {
	[COLUMN_MARK] = { "", 1, 4 },
	[COLUMN_RANK] = { "rank", 4, 4 },
	[COLUMN_STATE] = { "state", 5, 48 },
	[COLUMN_AGE] = { "age", 4, 30 },
	[COLUMN_ACTIVITY] = { "doing", 0, 12 },
	[COLUMN_FUNCTION] = { "function", 0, 56 },
	[COLUMN_PLACE] = { "place", 0, 22 },
};

/* Shares out the width; 0 for a column that does not show. */
static void share_width(int total, int widths[COLUMN_COUNT])
{
	int flexible = 0;
	int left = total - 1;

	for (int i = 0; i < COLUMN_COUNT; i++) {
		widths[i] = 0;
		if (total < columns[i].needs)
			continue;
		widths[i] = columns[i].width;
		left -= widths[i] + 1;
		flexible += columns[i].width == 0;
	}
	for (int i = 0; i < COLUMN_COUNT && flexible > 0; i++) {
		if (columns[i].width != 0 || total < columns[i].needs)
			continue;
		widths[i] = left / flexible;
		if (widths[i] > 32)
			widths[i] = 32;
		left -= widths[i];
		flexible--;
	}
}

static void append_column(struct buffer *out, const struct session *session,
			  const struct view *view, const struct rank *rank,
			  enum column_name name)
{
	const struct frame *frame = rank_top_frame(rank);

	switch (name) {
	case COLUMN_RANK:
		buffer_printf(out, "%d", rank->process.rank);
		break;
	case COLUMN_STATE:
		buffer_append_string(out, rank_word(rank));
		break;
	case COLUMN_AGE:
		rank_append_age(out, session, rank);
		break;
	case COLUMN_ACTIVITY:
		rank_append_doing(out, session, view, rank);
		break;
	case COLUMN_FUNCTION:
		if (frame != NULL)
			buffer_append_string(out, frame->code->func);
		break;
	case COLUMN_PLACE:
		if (frame != NULL)
			rank_append_place(out, rank, frame, false);
		break;
	case COLUMN_MARK:
	case COLUMN_COUNT:
		break;
	}
}

static bool is_right_aligned(enum column_name name)
{
	return name == COLUMN_RANK || name == COLUMN_AGE;
}

/* A place is left-aligned: its end is where its width ends. */
static int min_width(const struct buffer *text, int width)
{
	int own = text_width(text->data);

	return own < width ? own : width;
}

static void put_row(struct window window, int row,
		    const struct session *session, const struct view *view,
		    const struct rank *rank)
{
	int widths[COLUMN_COUNT];
	int at = 0;
	enum style mark_style;
	int32_t mark = mark_of_rank(session, rank, &mark_style);
	enum style style = rank->is_outlier ? STYLE_OUTLIER : STYLE_TEXT;

	if (rank_is_stale(session, view, rank))
		style = STYLE_VALUE_STALE;
	window_hit(window, row, 0, 1, window.column_count, HIT_RANK,
		   rank->process.rank);
	share_width(window.column_count, widths);
	for (int i = 0; i < COLUMN_COUNT; i++) {
		struct buffer text = BUFFER_INIT;

		if (widths[i] <= 0)
			continue;
		append_column(&text, session, view, rank, (enum column_name)i);
		if (i == COLUMN_MARK)
			window_put_character(window, row, at, mark_style, mark);
		else if (is_right_aligned((enum column_name)i))
			window_put_right(window, row, at + widths[i], widths[i],
					 style, text.data);
		else if (i == COLUMN_PLACE)
			window_put_path(window, row,
					at + min_width(&text, widths[i]),
					widths[i], style, text.data);
		else
			window_put(window, row, at, widths[i], style,
				   text.data);
		at += widths[i] + 1;
		buffer_clear(&text);
	}
	if (rank == session_selected(session))
		window_emphasise(window, row, 0, 1, window.column_count,
				 EMPHASIS_SELECTED);
}

static void put_head(struct window window)
{
	int widths[COLUMN_COUNT];
	int at = 0;

	share_width(window.column_count, widths);
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (widths[i] <= 0)
			continue;
		if (is_right_aligned((enum column_name)i))
			window_put_right(window, 0, at + widths[i], widths[i],
					 STYLE_DIM, columns[i].title);
		else
			window_put(window, 0, at, widths[i], STYLE_DIM,
				   columns[i].title);
		at += widths[i] + 1;
	}
}

void pane_table(struct window window, const struct session *session,
		const struct view *view)
{
	int head = window.row_count > 4 && window.column_count >= 56 ? 1 : 0;
	int rows = window.row_count - head;
	int first = 0;

	if (head > 0)
		put_head(window);
	for (size_t i = 0; i < session->rank_count; i++)
		if (session->ranks[i] == session_selected(session))
			first = (int)i - rows / 2;
	if (first > (int)session->rank_count - rows)
		first = (int)session->rank_count - rows;
	if (first < 0)
		first = 0;
	for (int i = 0; i < rows && first + i < (int)session->rank_count; i++)
		put_row(window, head + i, session, view,
			session->ranks[first + i]);
}
