/*
 * pane-difference: how the tensors of two ranks differ, as text and as a map of |difference|, for
 * the elements that were read.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/text.h"
#include "engine/engine.h"
#include "model/answers.h"
#include "model/session.h"
#include "model/tensordiff.h"
#include "model/tensorformat.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/comparetable.h"
#include "ui/heat.h"
#include "ui/pane.h"
#include "ui/view-type.h"

#define NOT_READ 0 /* values below this one were not read */
/*
 * A difference below this share of the largest difference is drawn as this share, so that the
 * difference looks different from 0.
 */
#define LEAST_SHARE 0.12

/*
 * Appends one fact on each line: the count, the first, the largest difference, and the elements
 * that are not numbers.
 */
static void append_facts(struct buffer *out, const struct tensordiff *found, double tolerance)
{
	text_count(out, (uint64_t)found->differing);
	buffer_append_string(out, " of ");
	text_count(out, (uint64_t)found->element_count);
	buffer_append_string(out,
			     found->element_count == 1 ? " element differs" : " elements differ");
	if (found->unlike > 0) {
		buffer_append_string(out, "; in ");
		text_count(out, (uint64_t)found->unlike);
		buffer_append_string(out, " of them one value is NaN or infinite");
	}
	buffer_append_string(out, "\nfirst at ");
	tensordiff_append_place(out, found, &found->first);
	if (!isnan(found->maximum)) {
		buffer_printf(out, "\nmax |difference| %.4g at ", found->maximum);
		tensordiff_append_place(out, found, &found->farthest);
	}
	if (tolerance > 0)
		buffer_printf(out, "\n%s the tolerance of %g",
			      tensordiff_is_within(found, tolerance) ? "within" : "not within",
			      tolerance);
	if (found->is_torn)
		buffer_append_string(out, "\na tensor changed while it was read");
	if (!tensordiff_is_partial(found))
		return;
	buffer_append_string(out, "\nonly ");
	text_count(out, (uint64_t)found->compared);
	buffer_append_string(out, " elements compared");
}

static void pane_difference_append_words(struct buffer *out, const struct answers *answers,
					 const struct difference *difference)
{
	if (difference->state == DIFFERENCE_DONE && difference->found.differing > 0)
		append_facts(out, &difference->found, answers->tolerance);
	else
		differencetext_append_found(out, difference);
	if (difference->state == DIFFERENCE_READING)
		buffer_append_string(out, " (Esc cancels)");
}

/* Writes the words; returns the number of rows used. */
static int put_words(struct window window, const struct answers *answers,
		     const struct difference *difference)
{
	struct buffer text = BUFFER_INIT;
	enum style style = difference->state == DIFFERENCE_FAILED ? STYLE_WARNING : STYLE_TEXT;
	const char *line;
	int row = 0;

	pane_difference_append_words(&text, answers, difference);
	line = text.data;
	while (line != NULL && row < window.row_count) {
		char *copy = xstrndup(line, strcspn(line, "\n"));

		row += window_put_paragraph(window, row, 1, window.row_count - row, style, copy);
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
		free(copy);
	}
	buffer_clear(&text);
	return row;
}

/* The distance of two float64 numbers can exceed DBL_MAX. */
static double pane_difference_bounded(double distance)
{
	return distance > DBL_MAX ? DBL_MAX : distance;
}

/*
 * Sets *value to the larger difference. NaN counts as the largest; differences that were not read
 * are ignored.
 */
static void pane_difference_join(double *value, double other)
{
	if (isnan(*value) || other < NOT_READ)
		return;
	if (isnan(other) || !(*value >= other))
		*value = pane_difference_bounded(other);
}

/* Returns the map, reduced to the given rows and columns; free() it. */
static double *shrink(const struct tensordiff *found, int row_count, int column_count)
{
	size_t count = (size_t)row_count * (size_t)column_count;
	double *values = xcalloc(count, sizeof(*values));

	for (size_t i = 0; i < count; i++)
		values[i] = HEAT_NOTHING;
	for (int row = 0; row < found->row_count; row++) {
		int to = row * row_count / found->row_count;

		for (int i = 0; i < found->column_count; i++)
			pane_difference_join(
				&values[to * column_count + i * column_count / found->column_count],
				found->grid[row * found->column_count + i]);
	}
	return values;
}

/* Raises every difference above 0 to a visible step. */
static void raise_small(double *values, int count, double high)
{
	for (int i = 0; i < count; i++)
		if (values[i] > 0 && values[i] < high * LEAST_SHARE)
			values[i] = high * LEAST_SHARE;
}

static int pane_difference_at_most(int count, int maximum)
{
	return count < maximum ? count : maximum;
}

/* Draws the map with its scale from 0 to the largest difference. */
static void put_map(struct window window, const struct difference *difference, bool has_colours)
{
	const struct tensordiff *found = &difference->found;
	struct window inner =
		window_part(window, 1, 1, window.row_count - 1, window.column_count - 2);
	struct heat_picture picture = {
		.high = isnan(found->maximum) ? 0 : pane_difference_bounded(found->maximum),
		.has_colours = has_colours,
	};
	struct buffer title = BUFFER_INIT;
	double *values;
	int left;

	if (inner.row_count < 1 || inner.column_count < 1)
		return;
	picture.row_count =
		pane_difference_at_most(found->row_count, heat_rows(inner.row_count, has_colours));
	picture.column_count = pane_difference_at_most(found->column_count, inner.column_count);
	values = shrink(found, picture.row_count, picture.column_count);
	raise_small(values, picture.row_count * picture.column_count, picture.high);
	picture.values = values;
	buffer_append_string(&title, picture.high > 0 ? "|difference|" : "differing elements");
	left = 2 + window_put(window, 0, 1, window.column_count - 1, STYLE_DIM, title.data);
	if (picture.high > 0)
		heat_put_legend(window, 0, left, window.column_count - 1 - left, &picture);
	heat_put(inner, &picture);
	free(values);
	buffer_clear(&title);
}

static const struct difference *pane_difference_find(const struct session *session,
						     const struct view *view)
{
	return difference_find(&session->answers, view->difference.rank, view->difference.against);
}

static void pane_difference_append_title(struct buffer *left, struct buffer *right,
					 const struct session *session, const struct view *view)
{
	const struct answers *answers = &session->answers;
	const struct difference *difference = pane_difference_find(session, view);
	const struct tensordiff *found;

	if (difference == NULL)
		return;
	found = &difference->found;
	buffer_append_string(left, "Difference");
	if (answers->question != NULL)
		buffer_printf(left, " \u00b7 %s", answers->question);
	buffer_printf(left, " \u00b7 rank %d against %d", difference->rank, difference->against);
	if (found->dtype != NULL) {
		text_escape(right, found->dtype, strlen(found->dtype));
		buffer_append_char(right, ' ');
		tensortext_append_sizes(right, found->shape, found->dimension_count);
	}
}

static void pane_difference_copy(struct buffer *out, const struct app *app)
{
	const struct session *session = &app->engine->session;
	const struct difference *difference = pane_difference_find(session, &app->view);

	if (difference == NULL)
		return;
	buffer_printf(out, "rank %d against rank %d: ", difference->rank, difference->against);
	pane_difference_append_words(out, &session->answers, difference);
	buffer_append_char(out, '\n');
}

static void pane_difference_draw(const struct scene *scene)
{
	struct window inner = scene->body;
	const struct difference *difference = pane_difference_find(scene->session, scene->view);
	int rows;

	if (difference == NULL) {
		window_put_paragraph(inner, 0, 1, inner.row_count, STYLE_DIM,
				     "the two ranks are no longer compared (Esc goes back)");
		return;
	}
	rows = put_words(inner, &scene->session->answers, difference);
	/* A blank line between text and map if there is room. */
	if (inner.row_count > rows + 6)
		rows++;
	if (difference->found.grid != NULL && difference->found.compared > 0)
		put_map(window_part(inner, rows, 0, inner.row_count - rows, inner.column_count),
			difference, scene->view->has_heat);
}

static const struct hint hints[] = {
	{ { "difference", NULL }, "rerun" },
	{ { "prompt tolerance", NULL }, "tolerance" },
	{ { "follow", NULL }, "watch" },
	{ .label = NULL },
};

const struct view_type view_difference = {
	.name = "difference",
	.copied = "difference",
	.is_overlay = true,
	.is_kept = true,
	.hints = hints,
	.append_title = pane_difference_append_title,
	.draw = pane_difference_draw,
	.put_top = pane_compare_summary,
	.append_top = pane_compare_append_summary,
	.cancel = stop_difference,
	.copy = pane_difference_copy,
};
