/* pane-tensor-histogram: the distribution of the elements' values, as bars. */
#include <math.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/session.h"
#include "ui/view.h"
#include "ui/views/pane-tensor.h"

#define FULL 0x2588   /* █ */
#define SLIVER 0x258f /* ▏ */
#define BAR_MINIMUM 8
#define DIGITS 4

struct bar {
	int64_t count;
	double low;
	double high;
};

static struct bar bar_at(const struct tensor_histogram *histogram, int joined, int at)
{
	double step = (histogram->high / (double)histogram->count -
		       histogram->low / (double)histogram->count) *
		      joined;
	struct bar bar = {
		.low = histogram->low + step * at,
		.high = histogram->low + step * (at + 1),
	};

	for (int i = at * joined; i < (at + 1) * joined; i++)
		if ((size_t)i < histogram->count)
			bar.count += histogram->bins[i];
	return bar;
}

static double pane_tensor_histogram_length_of(int64_t count, int64_t most, bool is_logarithmic)
{
	if (most < 1 || count < 1)
		return 0;
	if (is_logarithmic)
		return log1p((double)count) / log1p((double)most);
	return (double)count / (double)most;
}

static void put_bar(struct window window, int row, int column, int width, double length,
		    enum style style)
{
	int cells = (int)(length * width);

	for (int i = 0; i < cells; i++)
		window_put_character(window, row, column + i, style, FULL);
	/* A bar above 0 is always visible. */
	if (cells == 0 && length > 0)
		window_put_character(window, row, column, style, SLIVER);
}

struct table {
	int label_width; /* columns of one end of a range */
	int count_width;
	int64_t most;
	bool is_logarithmic;
};

static int real_width(double value)
{
	struct buffer text = BUFFER_INIT;
	int width;

	tensor_text_append_real(&text, value, DIGITS);
	width = text_width(text.data);
	buffer_clear(&text);
	return width;
}

static int pane_tensor_histogram_count_width(int64_t count)
{
	struct buffer text = BUFFER_INIT;
	int width;

	text_count(&text, (uint64_t)count);
	width = text_width(text.data);
	buffer_clear(&text);
	return width;
}

static struct table find_table(const struct tensor_histogram *histogram, int joined, int rows,
			       bool is_logarithmic)
{
	struct table table = { .is_logarithmic = is_logarithmic };

	for (int i = 0; i < rows; i++) {
		struct bar bar = bar_at(histogram, joined, i);
		int width = real_width(bar.low);

		if (width > table.label_width)
			table.label_width = width;
		if (real_width(bar.high) > table.label_width)
			table.label_width = real_width(bar.high);
		if (bar.count > table.most)
			table.most = bar.count;
	}
	table.count_width = pane_tensor_histogram_count_width(table.most);
	return table;
}

static void pane_tensor_histogram_put_count(struct window window, int row, int end, int64_t count,
					    enum style style)
{
	struct buffer text = BUFFER_INIT;

	text_count(&text, (uint64_t)count);
	window_put_right(window, row, end, end, style, text.data);
	buffer_clear(&text);
}

/* Writes a row like "-0.41 … -0.35      12  ████". */
static void pane_tensor_histogram_put_row(struct window window, int row, const struct table *table,
					  const struct bar *bar, enum style style)
{
	struct buffer text = BUFFER_INIT;
	int column = 1 + table->label_width;
	int start;

	tensor_text_append_real(&text, bar->low, DIGITS);
	window_put_right(window, row, column, column, STYLE_DIM, text.data);
	buffer_reset(&text);
	column += window_put(window, row, column, 3, STYLE_DIM, " \u2026 ");
	tensor_text_append_real(&text, bar->high, DIGITS);
	column += table->label_width;
	window_put_right(window, row, column, table->label_width, STYLE_DIM, text.data);
	column += 2 + table->count_width;
	pane_tensor_histogram_put_count(window, row, column, bar->count,
					bar->count > 0 ? STYLE_TEXT : STYLE_DIM);
	start = column + 2;
	if (window.column_count - start >= BAR_MINIMUM)
		put_bar(window, row, start, window.column_count - start - 1,
			pane_tensor_histogram_length_of(bar->count, table->most,
							table->is_logarithmic),
			style);
	buffer_clear(&text);
}

/* Writes a count without a place among the bars (NaN, infinities). */
static void put_odd(struct window window, int row, const struct table *table, const char *name,
		    int64_t count)
{
	int column = 1 + 2 * table->label_width + 3;

	window_put_right(window, row, column, column, STYLE_VALUE_NAN, name);
	pane_tensor_histogram_put_count(window, row, column + 2 + table->count_width, count,
					STYLE_VALUE_NAN);
}

static enum style style_at(const struct view *view, int at, int rows)
{
	if (!view->has_heat)
		return STYLE_TEXT;
	return (enum style)(STYLE_HEAT_1 + tensor_heat_step(at + 0.5, 0, rows, STYLE_HEAT_COUNT));
}

/* Returns why there is no histogram. */
static const char *problem_of(const struct tensor *tensor)
{
	if (!tensor->has_statistics)
		return "Reading the elements.";
	if (strncmp(tensor->dtype, "complex", 7) == 0)
		return "Complex numbers are not less or more than others.";
	return "There is no finite number to count.";
}

void pane_tensor_histogram(struct window window, const struct session *session,
			   const struct view *view, const struct tensor_screen *screen)
{
	const struct tensor *tensor = &session->tensorview.tensor;
	const struct tensor_histogram *histogram = &tensor->histogram;
	int odd = (tensor->statistics.nan_count > 0) + (tensor->statistics.infinity_count > 0);
	int rows = window.row_count - odd;
	int joined;
	struct table table;

	(void)screen;
	if (histogram->bins == NULL || histogram->count == 0) {
		window_put(window, 0, 1, window.column_count, STYLE_DIM, problem_of(tensor));
		return;
	}
	joined = tensor_bins_joined((int)histogram->count, rows);
	rows = (int)histogram->count / joined;
	table = find_table(histogram, joined, rows, view->tensor.is_logarithmic);
	for (int i = 0; i < rows; i++) {
		struct bar bar = bar_at(histogram, joined, i);

		pane_tensor_histogram_put_row(window, i, &table, &bar, style_at(view, i, rows));
	}
	if (tensor->statistics.nan_count > 0)
		put_odd(window, rows++, &table, "NaN", tensor->statistics.nan_count);
	if (tensor->statistics.infinity_count > 0)
		put_odd(window, rows, &table, "Inf", tensor->statistics.infinity_count);
}
