/*
 * pane-tensor: draws the frame of the tensor pane, with the tensor's name and the shown part, or
 * the reason why there is nothing to show.
 */
#include "ui/views/pane-tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/text.h"
#include "engine/engine.h"
#include "model/session.h"
#include "model/tensorformat.h"
#include "ui/app.h"
#include "ui/canvas.h"
#include "ui/commands.h"
#include "ui/heat.h"
#include "ui/pane.h"
#include "ui/view-type.h"
#include "ui/view.h"

#define MODE_WIDTH 16	 /* columns of the word "histogram" and its blanks */
#define ELEMENT_DIGITS 9 /* digits of a float32 */

static void pane_tensor_put_title(struct window window, const struct session *session)
{
	const struct tensorview *known = &session->tensorview;
	struct buffer left = BUFFER_INIT;
	struct buffer right = BUFFER_INIT;

	buffer_append_string(&left, "Tensor \u00b7 ");
	if (known->expression != NULL)
		text_escape(&left, known->expression, strlen(known->expression));
	if (known->rank >= 0)
		buffer_printf(&left, " \u00b7 rank %d", known->rank);
	if (known->has_tensor) {
		tensortext_append_head(&right, &known->tensor);
		if (known->tensor.device != NULL) {
			buffer_append_char(&right, ' ');
			text_escape(&right, known->tensor.device, strlen(known->tensor.device));
		}
	}
	pane_title(window, 0, 1, window.column_count - 2, true, left.data, right.data);
	buffer_clear(&right);
	buffer_clear(&left);
}

static void append_extent(struct buffer *out, const char *name, int64_t first, int64_t shown,
			  int64_t count)
{
	buffer_printf(out, "%s ", name);
	if (shown > 0) {
		text_count(out, (uint64_t)first);
		buffer_append_char(out, '-');
		text_count(out, (uint64_t)(first + shown - 1));
		buffer_append_string(out, " of ");
	}
	text_count(out, (uint64_t)count);
}

/* Appends the shown part: the plane, and its rows and columns. */
static void pane_tensor_append_shown(struct buffer *out, const struct view *view,
				     const struct tensor_screen *screen)
{
	if (view->tensor.mode == TENSOR_HISTOGRAM) {
		buffer_append_string(out, "all elements");
		return;
	}
	tensor_plane_append(out, &screen->plane);
	if (view->tensor.mode != TENSOR_NUMBERS)
		return;
	if (screen->plane.column_dimension >= 0)
		buffer_append_string(out, "   ");
	if (screen->plane.row_dimension >= 0) {
		append_extent(out, "rows", screen->first.row, screen->shown_rows, screen->rows);
		buffer_append_string(out, ", ");
	}
	if (screen->plane.column_dimension >= 0)
		append_extent(out, "columns", screen->first.column, screen->shown_columns,
			      screen->columns);
}

/* Appends the element under the cursor with all digits. */
static void append_element(struct buffer *out, const struct session *session,
			   const struct tensor_screen *screen)
{
	const struct tensor_number *number =
		tensorview_number(&session->tensorview, &screen->plane, &screen->cursor);
	struct buffer text = BUFFER_INIT;

	if (number == NULL)
		return;
	tensor_plane_append_element(out, &screen->plane, &screen->cursor);
	buffer_append_char(out, ' ');
	tensor_text_append_short(&text, number, ELEMENT_DIGITS);
	text_cut(out, text.data, 40);
	buffer_append_string(out, " \u00b7 ");
	buffer_clear(&text);
}

static void put_shown(struct window window, int row, const struct session *session,
		      const struct view *view, const struct tensor_screen *screen)
{
	struct buffer left = BUFFER_INIT;
	struct buffer right = BUFFER_INIT;

	pane_tensor_append_shown(&left, view, screen);
	if (view->tensor.mode != TENSOR_HISTOGRAM)
		append_element(&right, session, screen);
	/* The indices are more important than the element's value, which is left out first. */
	if (text_width(left.data) + text_width(right.data) + MODE_WIDTH > window.column_count)
		buffer_reset(&right);
	if (view->tensor.format.notation != TENSOR_AUTOMATIC && view->tensor.mode == TENSOR_NUMBERS)
		buffer_printf(&right, "%s ", tensor_notation_names[view->tensor.format.notation]);
	if (view->tensor.mode == TENSOR_HISTOGRAM && view->tensor.is_logarithmic)
		buffer_append_string(&right, "logarithmic ");
	buffer_append_string(&right, tensor_mode_names[view->tensor.mode]);
	pane_title(window, row, screen->has_frame ? 1 : 0,
		   window.column_count - 2 * screen->has_frame, false, left.data, right.data);
	buffer_clear(&right);
	buffer_clear(&left);
}

/* Appends the command that helps if the elements are on a device such as a GPU. */
static void append_way_out(struct buffer *out, const struct tensor *tensor)
{
	if (tensor->device != NULL && strcmp(tensor->device, "cpu") != 0 &&
	    strcmp(tensor->device, "meta") != 0)
		buffer_append_string(out, " (:inject)");
}

/* Appends why there are no elements to show; appends nothing if there are elements. */
static void append_problem(struct buffer *out, const struct session *session)
{
	const struct tensorview *known = &session->tensorview;
	const char *reason = rank_unread_reason(session, session_looked_at(session));

	if (known->has_tensor) {
		if (known->tensor.unread == NULL)
			return;
		buffer_append_string(out, known->tensor.unread);
		append_way_out(out, &known->tensor);
	} else if (known->error != NULL) {
		buffer_append_string(out, known->error);
	} else if (known->has_value) {
		buffer_printf(out, "%s is not a tensor: %s, of type %s", known->expression,
			      known->value.value != NULL ? known->value.value : "?",
			      known->value.type != NULL ? known->value.type : "?");
	} else if (known->expression == NULL) {
		buffer_append_string(out, "no tensor is shown: enter an expression (T)");
	} else {
		buffer_append_string(out, reason != NULL ? reason : "reading the tensor");
	}
}

static void put_body(struct window window, const struct session *session, const struct view *view,
		     const struct tensor_screen *screen)
{
	struct buffer problem = BUFFER_INIT;

	append_problem(&problem, session);
	if (problem.length > 0)
		window_put_paragraph(window, 0, 1, window.row_count,
				     session->tensorview.error != NULL ? STYLE_ERROR : STYLE_DIM,
				     problem.data);
	else if (session->tensorview.tensor.element_count == 0)
		window_put(window, 0, 1, window.column_count, STYLE_DIM,
			   "the tensor has no elements");
	else if (view->tensor.mode == TENSOR_NUMBERS)
		pane_tensor_numbers(window, session, view, screen);
	else if (view->tensor.mode == TENSOR_HEAT)
		pane_tensor_heat(window, session, view, screen);
	else
		pane_tensor_histogram(window, session, view, screen);
	buffer_clear(&problem);
}

static bool pane_tensor_put_top(struct window window, const struct session *session)
{
	const struct tensorview *known = &session->tensorview;
	const struct tensor_statistics *statistics = &known->tensor.statistics;
	struct buffer text = BUFFER_INIT;

	if (!known->has_tensor || !known->tensor.has_statistics ||
	    statistics->nan_count + statistics->infinity_count == 0)
		return false;
	buffer_printf(&text, "Rank %d has ", known->rank);
	if (statistics->nan_count > 0) {
		text_count(&text, (uint64_t)statistics->nan_count);
		buffer_append_string(&text, " NaN");
	}
	if (statistics->nan_count > 0 && statistics->infinity_count > 0)
		buffer_append_string(&text, " and ");
	if (statistics->infinity_count > 0) {
		text_count(&text, (uint64_t)statistics->infinity_count);
		buffer_append_string(&text, " infinite");
	}
	buffer_append_string(&text, " in ");
	text_escape(&text, known->expression, strlen(known->expression));
	if (known->tensor.share < 1)
		buffer_append_string(&text, ", in the sampled elements");
	window_put_character(window, 0, 1, STYLE_VERDICT_BAD, 0x2717);
	window_put_paragraph(window, 0, 3, window.row_count, STYLE_VERDICT_BAD, text.data);
	buffer_clear(&text);
	return true;
}

static void pane_tensor_draw(const struct scene *scene)
{
	struct window window = scene->body;
	const struct session *session = scene->session;
	const struct view *view = scene->view;
	struct window inner = pane_frame(window);
	struct tensor_screen screen;
	int at;

	tensor_screen_make(&screen, session, view, window.row_count, window.column_count);
	pane_tensor_header(inner, session, view, screen.header_rows);
	if (screen.has_frame)
		pane_tensor_put_title(window, session);
	at = screen.header_rows;
	if (screen.has_frame && session->tensorview.has_tensor)
		window_horizontal(window, at + 1, 0, window.column_count, STYLE_BORDER);
	if (session->tensorview.has_tensor)
		put_shown(window, at + screen.has_frame, session, view, &screen);
	at += session->tensorview.has_tensor;
	put_body(window_part(inner, at, 0, inner.row_count - at, inner.column_count), session, view,
		 &screen);
}

static void pane_tensor_want(struct app *app, bool is_open)
{
	if (is_open)
		want_tensor(app);
	else
		tensor_rest(app->engine);
}

static bool pane_tensor_cancel(struct app *app)
{
	return tensor_cancel(app->engine);
}

static void pane_tensor_move_cursor(struct app *app, const struct layout *layout, enum move move)
{
	(void)layout;
	tensor_move(app, move);
}

static const struct hint hints[] = {
	{ { "tensor-view", NULL }, "view" },
	{ { "tensor-index", NULL }, "index" },
	{ { "tensor-find nan", NULL }, "next nan" },
	{ { "tensor-export", NULL }, "export" },
	{ { "rank previous", "rank next" }, "rank" },
	{ { "back", NULL }, "back" },
	{ .label = NULL },
};

const struct view_type view_tensor = {
	.name = "tensor",
	.is_overlay = true,
	.is_kept = true,
	.hints = hints,
	.draw = pane_tensor_draw,
	.put_top = pane_tensor_put_top,
	.refresh = tensor_refresh,
	.want = pane_tensor_want,
	.cancel = pane_tensor_cancel,
	.move = pane_tensor_move_cursor,
};

/* The functions below draw the elements of a plane, with the indices of its rows and columns. */

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

/*
 * The functions below draw a plane of a tensor as a heat map; each cell is the mean of its
 * elements.
 */

#define MARK_RIGHT 0x25b8 /* ▸ */
#define MARK_DOWN 0x25bc  /* ▼ */

static double *pane_tensor_heat_values_of(const struct tensor_heat *heat)
{
	size_t count = (size_t)heat->row_count * (size_t)heat->column_count;
	double *values = xcalloc(count + 1, sizeof(*values));

	for (size_t i = 0; i < count; i++) {
		const struct tensor_heat_bin *bin = &heat->bins[i];

		if (bin->odd_count > 0)
			values[i] = NAN;
		else if (bin->count == 0)
			values[i] = HEAT_NOTHING;
		else
			values[i] = bin->sum / (double)bin->count;
	}
	return values;
}

/* Appends "mean of each 52×37, 9 of 158 rows read". */
static void append_parts(struct buffer *out, const struct tensor_heat *heat)
{
	if (heat->bin_rows * heat->bin_columns > 1) {
		buffer_append_string(out, "mean of each ");
		text_count(out, (uint64_t)heat->bin_rows);
		buffer_append_string(out, "\u00d7");
		text_count(out, (uint64_t)heat->bin_columns);
	}
	if (heat->read_rows < heat->bin_rows) {
		buffer_printf(out, ", %" PRId64 " of ", heat->read_rows);
		text_count(out, (uint64_t)heat->bin_rows);
		buffer_append_string(out, " rows read");
	}
	if (heat->shown_columns < heat->columns) {
		buffer_append_string(out, "; columns ");
		text_count(out, (uint64_t)heat->first_column);
		buffer_append_char(out, '-');
		text_count(out, (uint64_t)(heat->first_column + heat->shown_columns - 1));
		buffer_append_string(out, " of ");
		text_count(out, (uint64_t)heat->columns);
	}
}

static void pane_tensor_heat_put_head(struct window window, const struct tensor_heat *heat,
				      const struct heat_picture *picture)
{
	struct buffer text = BUFFER_INIT;
	int used = heat_put_legend(window, 0, 1, window.column_count - 1, picture);

	append_parts(&text, heat);
	if (text.length > 0)
		window_put(window, 0, used + 4, window.column_count - used - 4, STYLE_DIM,
			   text.data);
	buffer_clear(&text);
}

/* Draws arrows in the first row and column that point at the element under the cursor. */
static void pane_tensor_heat_put_cursor(struct window window, const struct tensor_screen *screen,
					const struct tensor_heat *heat,
					const struct heat_picture *picture)
{
	struct window map =
		window_part(window, 1, 1, window.row_count - 1, window.column_count - 1);
	int scale = heat_scale(picture, map);
	int64_t column = (screen->cursor.column - heat->first_column) / heat->bin_columns * scale;
	int64_t row = screen->cursor.row / heat->bin_rows * scale;

	if (picture->has_colours)
		row /= 2;
	window_put_character(window, 0, 1 + (int)column, STYLE_TITLE_FOCUSED, MARK_DOWN);
	window_put_character(window, 1 + (int)row, 0, STYLE_TITLE_FOCUSED, MARK_RIGHT);
}

static void note_hits(struct window map, const struct heat_picture *picture)
{
	int value_row;
	int value_column;

	for (int row = 0; row < map.row_count; row++)
		for (int column = 0; column < map.column_count; column++)
			if (heat_find(picture, map, row, column, &value_row, &value_column))
				window_hit(map, row, column, 1, 1, MOUSE_TARGET_ELEMENT,
					   value_row * picture->column_count + value_column);
}

void pane_tensor_heat(struct window window, const struct session *session, const struct view *view,
		      const struct tensor_screen *screen)
{
	const struct tensorview *known = &session->tensorview;
	/* The first map is shown while it is being read. */
	const struct tensor_heat *heat =
		known->heat.bins != NULL ? &known->heat : &known->next_heat;
	struct window body = window;
	struct heat_picture picture;
	double *values;

	if (heat->bins == NULL || heat->row_count == 0) {
		window_put(window, 0, 1, window.column_count, STYLE_DIM, "reading the elements");
		return;
	}
	values = pane_tensor_heat_values_of(heat);
	picture = (struct heat_picture){
		.values = values,
		.row_count = heat->row_count,
		.column_count = heat->column_count,
		.low = NAN,
		.high = NAN,
		.has_colours = view->has_heat,
	};
	tensor_heat_range(heat, &picture.low, &picture.high);
	if (screen->has_head) {
		pane_tensor_heat_put_head(window, heat, &picture);
		body = window_part(window, 1, 0, window.row_count - 1, window.column_count);
	}
	if (body.row_count > 1) {
		struct window map =
			window_part(body, 1, 1, body.row_count - 1, body.column_count - 1);

		heat_put(map, &picture);
		pane_tensor_heat_put_cursor(body, screen, heat, &picture);
		note_hits(map, &picture);
	}
	free(values);
}
