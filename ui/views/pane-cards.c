#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/session.h"
#include "protocol/stack.h"
#include "ui/grid.h"
#include "ui/pane.h"

#define FUNCTION_MINIMUM 4 /* columns of the function's name and a blank */

/* Writes "0 ● wait", and "34s" at the right end of the border line. */
static void put_card_title(struct window window, const struct session *session,
			   const struct rank *rank, bool is_selected)
{
	enum style title = is_selected ? STYLE_TITLE_FOCUSED : STYLE_TITLE;
	struct buffer age = BUFFER_INIT;
	struct buffer number = BUFFER_INIT;
	struct buffer word = BUFFER_INIT;
	enum style style;
	int32_t mark = mark_of_rank(session, rank, &style);
	int width = window.column_count;
	int column;

	buffer_printf(&number, "%d ", rank->process.rank);
	column = window_put(window, 0, 0, width, title, number.data);
	window_put_character(window, 0, column, style, mark);
	column++;
	column += window_put(window, 0, column, 1, title, " ");
	rank_append_word(&word, rank);
	column += window_put(window, 0, column, width - column, rank->is_outlier ? style : title,
			     word.data);
	rank_append_age(&age, session, rank);
	window_put(window, 0, column, 1, title, " ");
	if (age.length > 0 && column + 2 + text_width(age.data) <= width) {
		int used = window_put_right(window, 0, width, 5, title, age.data);

		window_put(window, 0, width - used - 1, 1, title, " ");
	}
	buffer_clear(&word);
	buffer_clear(&number);
	buffer_clear(&age);
}

static void put_card_frame(struct window window, const struct rank *rank, enum style style)
{
	const struct frame *frame = rank_top_frame(rank);
	struct buffer place = BUFFER_INIT;
	int width = window.column_count - 1;
	int room;
	int used;

	if (frame == NULL)
		return;
	rank_append_place(&place, rank, frame, true);
	/* The line number is more useful than the end of a long function name. */
	room = text_width(frame->code->func) + 1;
	room = width - (room < FUNCTION_MINIMUM ? room : FUNCTION_MINIMUM);
	used = window_put_path(window, 2, width, room, style, place.data);
	window_put(window, 2, 0, width - used - 1, style, frame->code->func);
	buffer_clear(&place);
}

void pane_card(struct window window, const struct session *session, const struct view *view,
	       const struct rank *rank)
{
	bool is_selected = rank == session_selected(session);
	bool is_stale = rank_is_stale(session, view, rank);
	struct buffer text = BUFFER_INIT;
	enum style style = STYLE_TEXT;
	int width = window.column_count;
	int column = 0;

	window_hit(window, 0, 0, CARD_HEIGHT, width, MOUSE_TARGET_RANK, rank->process.rank);
	put_card_title(window, session, rank, is_selected);
	if (rank->is_outlier)
		style = STYLE_OUTLIER;
	if (is_stale || (rank->state == RANK_EXITED && !rank->is_outlier))
		style = STYLE_VALUE_STALE;
	if (rank_is_torn(rank))
		column = window_put(window, 1, 0, width, STYLE_WARNING, "~");
	rank_append_activity(&text, rank);
	if (is_stale) {
		struct buffer age = BUFFER_INIT;

		buffer_append_string(&age, "read ");
		text_age(&age, session->now - rank->sampled_at);
		buffer_append_string(&age, " ago");
		width -= 1 + window_put_right(window, 1, width, width / 2, style, age.data);
		buffer_clear(&age);
	}
	window_put(window, 1, column, width - column, style, text.data);
	put_card_frame(window, rank, style);
	buffer_clear(&text);
}

/* Position of a card: its inner columns, and the row of its title. */
struct place_of_card {
	int row;
	int column;
	int width;
};

static struct place_of_card place_card(int column_count, int index, int across)
{
	/* Each border takes a column; remaining columns go to the leftmost cards. */
	int total = column_count - across - 1;
	int width = total / across;
	int wider = total % across;
	int x = index % across;

	return (struct place_of_card){
		.row = index / across * CARD_HEIGHT,
		.column = 1 + x * (width + 1) + (x < wider ? x : wider),
		.width = width + (x < wider ? 1 : 0),
	};
}

/* Returns the index of the first rank shown. */
static size_t first_card(const struct ranklist *list, int rows, int across)
{
	int count = ((int)list->rank_count + across - 1) / across;
	int cursor = list->at > 0 ? list->at / across : 0;

	return (size_t)(grid_first(cursor, count, rows) * across);
}

void pane_cards(struct window window, const struct session *session, const struct view *view,
		const struct ranklist *list, int across)
{
	int rows = (window.row_count - 1) / CARD_HEIGHT;
	int columns = window.column_count;
	size_t first = first_card(list, rows, across);
	size_t shown = (size_t)(rows * across);
	size_t end = list->rank_count - first < shown ? list->rank_count : first + shown;

	for (size_t i = first; i < end; i++) {
		struct place_of_card at = place_card(columns, (int)(i - first), across);

		window_box(
			window_part(window, at.row, at.column - 1, CARD_HEIGHT + 1, at.width + 2),
			STYLE_BORDER);
	}
	for (size_t i = first; i < end; i++) {
		struct place_of_card at = place_card(columns, (int)(i - first), across);
		const struct rank *rank = list->ranks[i];

		pane_card(window_part(window, at.row, at.column, CARD_HEIGHT, at.width), session,
			  view, rank);
		if (rank == session_selected(session))
			window_emphasise(window, at.row, at.column - 1, CARD_HEIGHT + 1,
					 at.width + 2, EMPHASIS_BOLD);
	}
}
