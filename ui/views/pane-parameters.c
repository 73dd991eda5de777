#include "ui/views/pane-parameters.h"

#include <inttypes.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/engine.h"
#include "model/paramdiff.h"
#include "model/session.h"
#include "model/tensorformat.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/comparetable.h"
#include "ui/list.h"
#include "ui/view-type.h"

#define GAP 2
#define MARK_WIDTH 2
/*
 * Number of rows, from the first row on, from which the column widths are computed; later rows may
 * be wider.
 */
#define WIDTH_ROWS 1000

static const struct paramdiff *pane_parameters_diff_of(const struct session *session)
{
	return &session->paramdiff;
}

/* Number of rows: 0 while the parameters are still being read, unless a difference is known. */
static size_t count_of(const struct session *session)
{
	const struct paramdiff *diff = pane_parameters_diff_of(session);

	return diff->is_over || diff->has_difference ? paramdiff_odd(diff) : 0;
}

const struct paramdiff_row *parameters_row(const struct session *session, size_t at)
{
	const struct paramdiff *diff = pane_parameters_diff_of(session);

	if (at >= count_of(session))
		return NULL;
	for (size_t i = 0; i < diff->row_count; i++)
		if (paramdiff_row_is_odd(&diff->rows[i]) && at-- == 0)
			return &diff->rows[i];
	return NULL;
}

static const struct paramdiff_row *next_row(const struct session *session,
					    const struct paramdiff_row *row)
{
	const struct paramdiff *diff = pane_parameters_diff_of(session);

	while (++row < diff->rows + diff->row_count)
		if (paramdiff_row_is_odd(row))
			return row;
	return NULL;
}

int parameters_cursor(const struct session *session, const struct view *view)
{
	int last = (int)count_of(session) - 1;

	return view->cursors[VIEW_PARAMETERS] < last ? view->cursors[VIEW_PARAMETERS] : last;
}

/* Returns the index of the class with the most ranks. */
static size_t majority_of(const struct paramdiff_row *row)
{
	size_t most = 0;

	for (size_t i = 1; i < row->class_count; i++)
		if (rankset_count(&row->classes[i].ranks) >
		    rankset_count(&row->classes[most].ranks))
			most = i;
	return most;
}

static const struct rankset *odd_ranks(const struct paramdiff_row *row)
{
	size_t most = majority_of(row);

	if (row->class_count < 2)
		return &row->missing;
	return &row->classes[most == 0 ? 1 : 0].ranks;
}

/* Appends "5 | 0-4,6-7": outliers first. */
static void pane_parameters_append_ranks(struct buffer *out, const struct paramdiff_row *row)
{
	size_t most = majority_of(row);

	if (rankset_count(&row->missing) > 0)
		rankset_append(out, &row->missing);
	for (size_t i = 0; i < row->class_count; i++) {
		if (i == most)
			continue;
		buffer_append_string(out, out->length > 0 ? " | " : "");
		rankset_append(out, &row->classes[i].ranks);
	}
	if (row->class_count == 0)
		return;
	buffer_append_string(out, out->length > 0 ? " | " : "");
	rankset_append(out, &row->classes[most].ranks);
}

static void pane_parameters_append_dtype(struct buffer *out, const struct tensor *tensor)
{
	const char *dtype = tensor->dtype != NULL ? tensor->dtype : "?";

	text_escape(out, dtype, strlen(dtype));
}

static void pane_parameters_append_shape(struct buffer *out, const struct tensor *tensor)
{
	tensortext_append_sizes(out, tensor->shape, tensor->dimension_count);
}

/* Appends "[8, 31], not [8, 32]": the other values, then the majority's; each value once. */
static void append_parted(struct buffer *out, const struct paramdiff_row *row,
			  void (*append)(struct buffer *out, const struct tensor *tensor))
{
	struct buffer usual = BUFFER_INIT;
	struct buffer one = BUFFER_INIT;
	struct buffer all = BUFFER_INIT;

	append(&usual, &row->classes[majority_of(row)].tensor);
	for (size_t i = 0; i < row->class_count; i++) {
		buffer_reset(&one);
		append(&one, &row->classes[i].tensor);
		if (strcmp(one.data, usual.data) == 0 ||
		    (all.length > 0 && strstr(all.data, one.data) != NULL))
			continue;
		if (all.length > 0)
			buffer_append_string(&all, ", ");
		buffer_append_string(&all, one.data);
	}
	if (all.length > 0)
		buffer_printf(out, "%s, not ", all.data);
	buffer_append_string(out, usual.data);
	buffer_clear(&all);
	buffer_clear(&one);
	buffer_clear(&usual);
}

static void pane_parameters_append_absent(struct buffer *out, const struct paramdiff_row *row)
{
	struct rankset absent = RANKSET_INIT;

	paramdiff_absent(row, &absent);
	buffer_append_string(out,
			     rankset_count(&row->missing) > 0 ? "missing on " : "no gradient on ");
	rankset_append_named(out, &absent);
	rankset_clear(&absent);
}

/* Appends " (12 NaN)" for the first class with NaN. */
static void pane_parameters_append_nan(struct buffer *out, const struct paramdiff_row *row)
{
	struct buffer counts = BUFFER_INIT;

	for (size_t i = 0; i < row->class_count && counts.length == 0; i++)
		paramdiff_append_nan(&counts, &row->classes[i]);
	if (counts.length > 0)
		buffer_printf(out, " (%s)", counts.data);
	buffer_clear(&counts);
}

static void append_how(struct buffer *out, const struct paramdiff_row *row)
{
	if (row->how == PARAMDIFF_DTYPE) {
		buffer_append_string(out, "dtype ");
		append_parted(out, row, pane_parameters_append_dtype);
	} else if (row->how == PARAMDIFF_SHAPE) {
		buffer_append_string(out, "shape ");
		append_parted(out, row, pane_parameters_append_shape);
	} else if (row->how == PARAMDIFF_MISSING) {
		pane_parameters_append_absent(out, row);
	} else if (row->how == PARAMDIFF_PLACEMENT) {
		buffer_append_string(out, "placement");
	} else if (row->how == PARAMDIFF_REPLICAS) {
		buffer_append_string(out, "replicas of a shard");
	} else if (row->how == PARAMDIFF_ELEMENTS) {
		buffer_append_string(out, "elements of ");
		tensortext_append_head(out, &row->classes[0].tensor);
	} else if (row->class_count > 0 && row->classes[0].tensor.dtype) {
		tensortext_append_head(out, &row->classes[0].tensor);
	}
	pane_parameters_append_nan(out, row);
}

static void pane_parameters_append_row(struct buffer *out, const struct paramdiff_row *row)
{
	text_escape(out, row->name, strlen(row->name));
	buffer_append_string(out, "  ");
	pane_parameters_append_ranks(out, row);
	buffer_append_string(out, "  ");
	append_how(out, row);
}

struct widths {
	int name;
	int ranks;
};

static void pane_parameters_widen(int *width, struct buffer *text)
{
	if (text_width(text->data) > *width)
		*width = text_width(text->data);
	buffer_reset(text);
}

static struct widths find_widths(const struct session *session, int column_count)
{
	struct widths widths = { text_width("parameter"), text_width("ranks") };
	struct buffer text = BUFFER_INIT;
	const struct paramdiff_row *row = parameters_row(session, 0);

	for (size_t i = 0; i < WIDTH_ROWS && row != NULL; i++, row = next_row(session, row)) {
		text_escape(&text, row->name, strlen(row->name));
		pane_parameters_widen(&widths.name, &text);
		pane_parameters_append_ranks(&text, row);
		pane_parameters_widen(&widths.ranks, &text);
	}
	buffer_clear(&text);
	if (widths.name > column_count * 2 / 5)
		widths.name = column_count * 2 / 5;
	if (widths.ranks > column_count / 4)
		widths.ranks = column_count / 4;
	return widths;
}

static void pane_parameters_put_head(struct window window, const struct widths *widths)
{
	int column = MARK_WIDTH;

	window_put(window, 0, column, widths->name, STYLE_DIM, "parameter");
	column += widths->name + GAP;
	window_put(window, 0, column, widths->ranks, STYLE_DIM, "ranks");
	column += widths->ranks + GAP;
	window_put(window, 0, column, window.column_count - column, STYLE_DIM, "what differs");
}

struct table {
	const struct session *session;
	struct widths widths;
};

static void pane_parameters_put_row(struct window window, int at, int number, const void *data)
{
	const struct table *table = data;
	const struct widths *widths = &table->widths;
	const struct paramdiff_row *row = parameters_row(table->session, (size_t)number);
	struct buffer text = BUFFER_INIT;
	int column = MARK_WIDTH;

	window_put_character(window, at, 0, STYLE_OUTLIER, '!');
	text_escape(&text, row->name, strlen(row->name));
	window_put(window, at, column, widths->name, STYLE_TEXT, text.data);
	column += widths->name + GAP;
	buffer_reset(&text);
	pane_parameters_append_ranks(&text, row);
	window_put(window, at, column, widths->ranks, STYLE_OUTLIER, text.data);
	column += widths->ranks + GAP;
	buffer_reset(&text);
	append_how(&text, row);
	window_put(window, at, column, window.column_count - column, STYLE_TEXT, text.data);
	buffer_clear(&text);
}

/* Writes how the first difference looks, and the ranks without data; returns the rows used. */
static int put_notes(struct window window, const struct session *session)
{
	const struct paramdiff *diff = pane_parameters_diff_of(session);
	struct buffer text = BUFFER_INIT;
	int row = 0;

	if (diff->has_difference && diff->first >= 0) {
		buffer_printf(&text, "%s, rank %d against %d: ", diff->rows[diff->first].name,
			      diff->difference.rank, diff->difference.against);
		differencetext_append_found(&text, &diff->difference);
		row += window_put_paragraph(window, row, MARK_WIDTH, window.row_count - row,
					    STYLE_TEXT, text.data);
	}
	for (size_t i = 0; i < diff->rank_count && row < window.row_count; i++) {
		if (diff->ranks[i].error == NULL)
			continue;
		buffer_reset(&text);
		buffer_printf(&text, "rank %d: %s", diff->ranks[i].rank, diff->ranks[i].error);
		row += window_put_paragraph(window, row, MARK_WIDTH, window.row_count - row,
					    STYLE_WARNING, text.data);
	}
	buffer_clear(&text);
	return row;
}

static void pane_parameters_append_title(struct buffer *left, struct buffer *right,
					 const struct session *session, const struct view *view)
{
	const struct paramdiff *diff = pane_parameters_diff_of(session);

	(void)view;
	buffer_printf(left, "%s \u00b7 %s", diff->is_of_gradients ? "Gradients" : "Parameters",
		      diff->expression != NULL ? diff->expression : "");
	if (diff->is_over) {
		text_count(right, paramdiff_differing(diff));
		buffer_append_string(right, " of ");
		text_count(right, diff->row_count);
		buffer_append_string(right, " differ");
		if (diff->nan_count > 0) {
			buffer_append_string(right, ", ");
			text_count(right, diff->nan_count);
			buffer_append_string(right,
					     diff->nan_count == 1 ? " has NaN" : " have NaN");
		}
	}
}

static void pane_parameters_draw(const struct scene *scene)
{
	struct window inner = scene->body;
	const struct session *session = scene->session;
	int cursor = parameters_cursor(session, scene->view);
	int rows = 0;

	if (cursor >= 0) {
		struct table table = { session, find_widths(session, inner.column_count) };
		struct list list = {
			.count = (int)count_of(session),
			.cursor = cursor,
			.hit = MOUSE_TARGET_LIST,
			.put_row = pane_parameters_put_row,
		};
		int most = inner.row_count - inner.row_count / 3;

		pane_parameters_put_head(inner, &table.widths);
		rows = 1 + list_put(window_part(inner, 1, 0, most - 1, inner.column_count), &list,
				    &table);
		if (inner.row_count > rows + 3)
			rows++;
	}
	put_notes(window_part(inner, rows, 0, inner.row_count - rows, inner.column_count), session);
}

/* Appends "143 of 200 parameters, ranks 0-7". */
static void append_progress(struct buffer *out, const struct paramdiff *diff)
{
	struct rankset ranks = RANKSET_INIT;
	int64_t done;
	int64_t total;

	paramdiff_progress(diff, &done, &total);
	for (size_t i = 0; i < diff->rank_count; i++)
		rankset_add(&ranks, diff->ranks[i].rank);
	text_escape(out, diff->expression, strlen(diff->expression));
	buffer_append_string(out, "   ");
	text_count(out, (uint64_t)done);
	if (total > 0) {
		buffer_append_string(out, " of ");
		text_count(out, (uint64_t)total);
	}
	buffer_append_string(out, " parameters, ");
	rankset_append_named(out, &ranks);
	if (diff->has_difference)
		buffer_append_string(out,
				     "; comparing the elements of the first tensor that differs");
	buffer_append_string(out, " (Esc cancels)");
	rankset_clear(&ranks);
}

static void append_top(struct buffer *out, const struct session *session)
{
	const struct paramdiff *diff = pane_parameters_diff_of(session);

	if (diff->expression == NULL)
		buffer_append_string(out,
				     "no comparison yet: compare parameters with `:diff-params`");
	else if (diff->is_over)
		paramdiff_append_sentence(out, diff);
	else
		append_progress(out, diff);
}

static bool pane_parameters_put_top(struct window window, const struct session *session)
{
	struct buffer text = BUFFER_INIT;

	append_top(&text, session);
	window_put_character(window, 0, 1, STYLE_HINT_KEY, '=');
	window_put_paragraph(window, 0, 3, window.row_count,
			     paramdiff_is_finding(pane_parameters_diff_of(session))
				     ? STYLE_VERDICT_BAD
				     : STYLE_VERDICT_NOTE,
			     text.data);
	buffer_clear(&text);
	return true;
}

static void pane_parameters_add_rows(struct search_text *lines, const struct app *app)
{
	const struct session *session = &app->engine->session;
	const struct paramdiff_row *row = parameters_row(session, 0);

	for (; row != NULL; row = next_row(session, row)) {
		pane_parameters_append_row(&lines->line, row);
		search_text_end_line(lines);
	}
	lines->at = parameters_cursor(session, &app->view);
}

static void pane_parameters_copy(struct buffer *out, const struct app *app)
{
	const struct session *session = &app->engine->session;
	const struct paramdiff_row *row = parameters_row(session, 0);

	append_top(out, session);
	buffer_append_char(out, '\n');
	for (; row != NULL; row = next_row(session, row)) {
		pane_parameters_append_row(out, row);
		buffer_append_char(out, '\n');
	}
}

static int pane_parameters_toggle(struct app *app, struct error *error)
{
	struct session *session = &app->engine->session;
	int cursor = parameters_cursor(session, &app->view);

	if (cursor < 0)
		return error_set(error, "no differing parameter found");
	focus_these(session, odd_ranks(parameters_row(session, (size_t)cursor)));
	return 0;
}

static const struct hint hints[] = {
	{ { "open", NULL }, "compare" },      { { "toggle", NULL }, "focus these" },
	{ { "diff-params", NULL }, "rerun" }, { { "prompt search", NULL }, "find" },
	{ { "back", NULL }, "back" },	      { .label = NULL },
};

const struct view_type view_parameters = {
	.name = "parameters",
	.copied = "list of parameters",
	.is_overlay = true,
	.is_kept = true,
	.hints = hints,
	.append_title = pane_parameters_append_title,
	.draw = pane_parameters_draw,
	.put_top = pane_parameters_put_top,
	.append_top = append_top,
	.cancel = stop_parameters,
	.add_rows = pane_parameters_add_rows,
	.copy = pane_parameters_copy,
	.open = open_parameter,
	.toggle = pane_parameters_toggle,
};
