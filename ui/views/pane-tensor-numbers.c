/* pane-tensor-numbers: the elements of a plane, with the indices of its rows and columns. */
#include <inttypes.h>
#include <stdio.h>

#include "banned.h"
#include "base/buffer.h"
#include "model/session.h"
#include "ui/mouse-target.h"
#include "ui/view.h"
#include "ui/views/pane-tensor.h"

static void put_index(struct window window, int row, int end, int64_t index, bool is_under_cursor)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, index);
	window_put_right(window, row, end, end, is_under_cursor ? STYLE_TEXT : STYLE_DIM, text);
}

static enum style pane_tensor_numbers_style_of(const struct tensorview *known,
					       const struct tensor_plane *plane,
					       const struct tensor_place *place,
					       const struct tensor_number *number, bool is_stale)
{
	if (tensor_number_is_odd(number))
		return STYLE_VALUE_NAN;
	if (number->kind == TENSOR_NUMBER_UNKNOWN)
		return STYLE_STATE_UNKNOWN;
	if (is_stale)
		return STYLE_VALUE_STALE;
	return tensorview_has_changed(known, plane, place) ? STYLE_VALUE_CHANGED : STYLE_TEXT;
}

static void put_cell(struct window window, int row, int end, const struct session *session,
		     const struct tensor_screen *screen, const struct tensor_place *place,
		     bool is_stale)
{
	const struct tensorview *known = &session->tensorview;
	const struct tensor_number *number = tensorview_number(known, &screen->plane, place);
	struct buffer text = BUFFER_INIT;

	if (number == NULL) {
		window_put_right(window, row, end, 1, STYLE_DIM, "\u00b7");
		return;
	}
	tensor_text_append(&text, number, screen->format);
	window_put_right(
		window, row, end, screen->cell_width - 1,
		pane_tensor_numbers_style_of(known, &screen->plane, place, number, is_stale),
		text.data);
	buffer_clear(&text);
}

static void pane_tensor_numbers_put_row(struct window window, int row, int shown,
					const struct session *session,
					const struct tensor_screen *screen, bool is_stale)
{
	struct tensor_place place = { .row = screen->first.row + shown };

	if (screen->plane.row_dimension >= 0)
		put_index(window, row, screen->label_width - 1, place.row,
			  place.row == screen->cursor.row);
	for (int i = 0; i < screen->shown_columns; i++) {
		int start = screen->label_width + i * screen->cell_width;

		place.column = screen->first.column + i;
		put_cell(window, row, start + screen->cell_width, session, screen, &place,
			 is_stale);
		window_hit(window, row, start, 1, screen->cell_width, MOUSE_TARGET_ELEMENT,
			   shown * screen->shown_columns + i);
	}
}

void pane_tensor_numbers(struct window window, const struct session *session,
			 const struct view *view, const struct tensor_screen *screen)
{
	bool is_stale = tensor_is_stale(session, view);
	int top = screen->has_head ? 1 : 0;
	int64_t column = screen->cursor.column - screen->first.column;

	for (int i = 0;
	     screen->has_head && i < screen->shown_columns && screen->plane.column_dimension >= 0;
	     i++)
		put_index(window, 0, screen->label_width + (i + 1) * screen->cell_width,
			  screen->first.column + i, i == column);
	for (int i = 0; i < screen->shown_rows; i++)
		pane_tensor_numbers_put_row(window, top + i, i, session, screen, is_stale);
	window_emphasise(window, top + (int)(screen->cursor.row - screen->first.row),
			 screen->label_width + (int)column * screen->cell_width + 1, 1,
			 screen->cell_width - 1, EMPHASIS_SELECTED);
}
