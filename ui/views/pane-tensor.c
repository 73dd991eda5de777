/*
 * pane-tensor: the frame of the tensor pane: the tensor's name, the part that is shown, and why
 * there is nothing to show.
 */
#include "ui/views/pane-tensor.h"

#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "engine/engine.h"
#include "model/session.h"
#include "model/tensorformat.h"
#include "ui/app.h"
#include "ui/commands-private.h"
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

/* Appends a remedy for elements that cannot be read. */
static void append_way_out(struct buffer *out, const struct tensor *tensor)
{
	if (tensor->device == NULL || strcmp(tensor->device, "cpu") == 0)
		return;
	if (strcmp(tensor->device, "meta") == 0)
		buffer_append_string(out, " A meta tensor has no elements.");
	else
		buffer_append_string(
			out, " :inject starts the agent in the rank; what it reads shows here.");
}

static void append_sentence(struct buffer *out, const char *text)
{
	size_t start = out->length;

	buffer_append_string(out, text);
	if (out->length > start && out->data[start] >= 'a' && out->data[start] <= 'z')
		out->data[start] = (char)(out->data[start] - 'a' + 'A');
	if (out->length > start && out->data[out->length - 1] != '.')
		buffer_append_char(out, '.');
}

/* Appends why there are no elements to show; nothing if there are. */
static void append_problem(struct buffer *out, const struct session *session)
{
	const struct tensorview *known = &session->tensorview;
	const char *reason = rank_unread_reason(session, session_looked_at(session));

	if (known->has_tensor) {
		if (known->tensor.unread == NULL)
			return;
		append_sentence(out, known->tensor.unread);
		append_way_out(out, &known->tensor);
	} else if (known->error != NULL) {
		append_sentence(out, known->error);
	} else if (known->has_value) {
		buffer_printf(out, "%s is no tensor: %s, of type %s.", known->expression,
			      known->value.value != NULL ? known->value.value : "?",
			      known->value.type != NULL ? known->value.type : "?");
	} else if (known->expression == NULL) {
		buffer_append_string(out, "No tensor is looked at: T asks for an expression.");
	} else {
		buffer_append_string(out, reason != NULL ? reason : "Reading the tensor.");
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
		window_put(window, 0, 1, window.column_count, STYLE_DIM, "It has no elements.");
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
		buffer_append_string(&text, ", of the elements looked at");
	buffer_append_char(&text, '.');
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
