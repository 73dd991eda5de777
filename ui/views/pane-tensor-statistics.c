/* pane-tensor-statistics: description, statistics and histogram of a tensor, above its elements. */
#include <math.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/session.h"
#include "model/tensorformat.h"
#include "ui/pane.h"
#include "ui/view.h"
#include "ui/views/pane-tensor.h"

#define GAP 2
#define HEADER_DIGITS 3
#define PERCENT_LEAST 0.001
#define SPARK_BINS 30
#define SPARK_NARROW 56 /* columns below which the histogram has half as many bars */

/* Pieces of text that flow over as many lines as needed. A window without rows only measures. */
struct flow {
	struct window window;
	int width;
	int row;
	int column;
	int row_maximum;
};

static void flow_put(struct flow *flow, enum style style, const char *text)
{
	int width = text_width(text);

	if (flow->column > 0 && flow->column + width > flow->width) {
		flow->row++;
		flow->column = 0;
	}
	if (flow->row < flow->row_maximum)
		window_put(flow->window, flow->row, flow->column, flow->width, style, text);
	flow->column += width + GAP;
}

static void flow_break(struct flow *flow)
{
	if (flow->column == 0)
		return;
	flow->row++;
	flow->column = 0;
}

static int flow_rows(const struct flow *flow)
{
	int rows = flow->row + (flow->column > 0);

	return rows < flow->row_maximum ? rows : flow->row_maximum;
}

static bool pane_tensor_header_is_held(const struct session *session)
{
	const struct tensorview *known = &session->tensorview;

	return session_find_stop(session, known->node, known->pid, 0) > 0;
}

bool tensor_is_stale(const struct session *session, const struct view *view)
{
	const struct tensorview *known = &session->tensorview;

	if (known->error != NULL)
		return true;
	return !pane_tensor_header_is_held(session) && known->work != TENSOR_WORK_WHOLE &&
	       view_is_stale(session, view, known->time);
}

static void pane_tensor_header_put_number(struct flow *flow, const char *name,
					  const struct tensor_number *number, bool has_changed)
{
	struct buffer text = BUFFER_INIT;

	buffer_printf(&text, "%s ", name);
	if (number->kind == TENSOR_NUMBER_UNKNOWN)
		buffer_append_string(&text, "?");
	else
		tensor_text_append_short(&text, number, HEADER_DIGITS);
	flow_put(flow, has_changed ? STYLE_VALUE_CHANGED : STYLE_TEXT, text.data);
	buffer_clear(&text);
}

static void pane_tensor_header_put_real(struct flow *flow, const char *name, double value,
					double before, bool has_before)
{
	struct buffer text = BUFFER_INIT;
	bool has_changed = has_before && value != before && !(isnan(value) && isnan(before));

	buffer_printf(&text, "%s ", name);
	tensor_text_append_real(&text, value, HEADER_DIGITS);
	flow_put(flow, has_changed ? STYLE_VALUE_CHANGED : STYLE_TEXT, text.data);
	buffer_clear(&text);
}

static void pane_tensor_header_put_count(struct flow *flow, const char *name, int64_t count,
					 enum style style)
{
	struct buffer text = BUFFER_INIT;

	buffer_printf(&text, "%s ", name);
	text_count(&text, (uint64_t)count);
	flow_put(flow, count > 0 ? style : STYLE_TEXT, text.data);
	buffer_clear(&text);
}

/* Appends "from 3 % of the elements". */
static void put_share(struct flow *flow, double share)
{
	struct buffer text = BUFFER_INIT;

	if (!(share < 1))
		return;
	if (share < PERCENT_LEAST)
		buffer_append_string(&text, "from less than 0.1 %");
	else
		buffer_printf(&text, "from %.*f %%", share < 0.1 ? 1 : 0, share * 100);
	buffer_append_string(&text, " of the elements");
	flow_put(flow, STYLE_WARNING, text.data);
	buffer_clear(&text);
}

static void put_masked(struct flow *flow, const struct tensor *tensor)
{
	struct buffer text = BUFFER_INIT;

	if (!tensor->has_mask)
		return;
	tensortext_append_masked(&text, &tensor->statistics);
	flow_put(flow, STYLE_TEXT, text.data);
	buffer_clear(&text);
}

static void put_statistics(struct flow *flow, const struct tensorview *known)
{
	const struct tensor_statistics *now = &known->tensor.statistics;
	const struct tensor_statistics *before = &known->before;
	bool has_before = known->has_before;
	bool has_range = now->minimum.kind != TENSOR_NUMBER_UNKNOWN;

	if (!known->tensor.has_statistics)
		return;
	if (has_range) {
		pane_tensor_header_put_number(
			flow, "min", &now->minimum,
			has_before && !tensor_number_is_same(&now->minimum, &before->minimum));
		pane_tensor_header_put_number(
			flow, "max", &now->maximum,
			has_before && !tensor_number_is_same(&now->maximum, &before->maximum));
	}
	if (!isnan(now->mean))
		pane_tensor_header_put_real(flow, "mean", now->mean, before->mean, has_before);
	if (!isnan(now->deviation))
		pane_tensor_header_put_real(flow, "std", now->deviation, before->deviation,
					    has_before);
	if (now->has_norm)
		pane_tensor_header_put_real(flow, "norm", now->norm, before->norm, has_before);
	pane_tensor_header_put_count(flow, "NaN", now->nan_count, STYLE_VALUE_NAN);
	pane_tensor_header_put_count(flow, "Inf", now->infinity_count, STYLE_VALUE_NAN);
	pane_tensor_header_put_count(flow, "zeros", now->zero_count, STYLE_TEXT);
	put_masked(flow, &known->tensor);
	put_share(flow, known->tensor.share);
}

static void put_storage(struct flow *flow, const struct tensor *tensor)
{
	struct buffer text = BUFFER_INIT;

	if (tensor->dimension_count > 0) {
		buffer_append_string(&text, "strides ");
		tensortext_append_sizes(&text, tensor->strides, tensor->dimension_count);
		flow_put(flow, STYLE_TEXT, text.data);
		buffer_reset(&text);
	}
	if (tensor->storage_bytes < 0)
		return;
	buffer_append_string(&text, "storage ");
	text_size(&text, (uint64_t)tensor->storage_bytes);
	if (tensor->storage_users >= 0) {
		buffer_append_string(&text, " shared by ");
		text_count(&text, (uint64_t)tensor->storage_users);
	}
	flow_put(flow, STYLE_TEXT, text.data);
	buffer_clear(&text);
}

static void put_done(struct flow *flow, const char *what, int64_t done, int64_t total)
{
	struct buffer text = BUFFER_INIT;

	text_size(&text, (uint64_t)done);
	buffer_append_string(&text, " of ");
	text_size(&text, (uint64_t)total);
	buffer_printf(&text, " %s (Esc cancels)", what);
	flow_put(flow, STYLE_HINT, text.data);
	buffer_clear(&text);
}

/* Shows the progress of a long task. */
static void put_progress(struct flow *flow, const struct session *session)
{
	const struct tensorview *known = &session->tensorview;
	const struct progress *progress;

	if (known->node >= session->node_count ||
	    (known->work != TENSOR_WORK_WHOLE && known->work != TENSOR_WORK_FIND &&
	     known->work != TENSOR_WORK_EXPORT))
		return;
	if (known->work == TENSOR_WORK_EXPORT) {
		put_done(flow, "written", known->done, known->tensor.byte_count);
		return;
	}
	progress = &session->nodes[known->node].progress;
	if (progress->total <= 0 || strcmp(progress->title, "tensor") != 0)
		return;
	put_done(flow, "read", progress->done, progress->total);
}

/* Shows how reliable the data is: torn, live, or read some time ago. */
static void put_truth(struct flow *flow, const struct session *session, const struct view *view)
{
	const struct tensorview *known = &session->tensorview;
	struct buffer text = BUFFER_INIT;

	if (known->tensor.is_torn)
		flow_put(flow, STYLE_WARNING, "~ changed while read");
	else if (known->tensor.is_live)
		flow_put(flow, STYLE_DIM, "live");
	if (tensor_is_stale(session, view)) {
		buffer_append_string(&text, "read ");
		text_duration(&text, session->now - known->time);
		buffer_append_string(&text, " ago");
		flow_put(flow, STYLE_VALUE_STALE, text.data);
	}
	buffer_clear(&text);
	put_progress(flow, session);
}

static void pane_tensor_header_put_facts(struct flow *flow, const struct session *session,
					 const struct view *view)
{
	const struct tensorview *known = &session->tensorview;
	const struct tensor *tensor = &known->tensor;
	struct buffer text = BUFFER_INIT;

	/* numpy's arrays have no gradients. */
	if (tensor->requires_grad >= 0 && tensor->device != NULL)
		flow_put(flow, STYLE_TEXT, tensor->requires_grad ? "grad yes" : "grad no");
	if (tensor->grad_fn != NULL) {
		text_escape(&text, tensor->grad_fn, strlen(tensor->grad_fn));
		flow_put(flow, STYLE_TEXT, text.data);
		buffer_reset(&text);
	}
	put_storage(flow, tensor);
	if (tensor->is_parameter)
		flow_put(flow, STYLE_TEXT, "parameter");
	if (tensor->placement != NULL) {
		text_escape(&text, tensor->placement, strlen(tensor->placement));
		flow_put(flow, STYLE_TEXT, text.data);
		buffer_reset(&text);
	}
	if (known->where != NULL) {
		buffer_append_string(&text, "in ");
		text_escape(&text, known->where, strlen(known->where));
		flow_put(flow, STYLE_DIM, text.data);
	}
	put_truth(flow, session, view);
	buffer_clear(&text);
}

static int64_t sum_of(const struct tensor_histogram *bars, size_t first, int count)
{
	int64_t sum = 0;

	for (size_t i = first; i < bars->count && i < first + (size_t)count; i++)
		sum += bars->bins[i];
	return sum;
}

static int32_t pane_tensor_header_bar_of(int64_t sum, int64_t most)
{
	if (sum <= 0 || most <= 0)
		return ' ';
	return 0x2581 + (int32_t)(7.0 * (double)sum / (double)most);
}

/* Draws a small histogram and its range. */
static void put_spark(struct flow *flow, const struct tensor_histogram *bars)
{
	int wanted = flow->width < SPARK_NARROW ? SPARK_BINS / 2 : SPARK_BINS;
	int joined = tensor_bins_joined((int)bars->count, wanted);
	struct buffer text = BUFFER_INIT;
	int64_t most = 0;

	if (bars->count == 0 || bars->bins == NULL)
		return;
	for (size_t i = 0; i < bars->count; i += (size_t)joined)
		if (sum_of(bars, i, joined) > most)
			most = sum_of(bars, i, joined);
	for (size_t i = 0; i < bars->count; i += (size_t)joined)
		text_put_codepoint(&text, pane_tensor_header_bar_of(sum_of(bars, i, joined), most));
	buffer_append_string(&text, "   ");
	tensor_text_append_real(&text, bars->low, HEADER_DIGITS);
	buffer_append_string(&text, " \u2026 ");
	tensor_text_append_real(&text, bars->high, HEADER_DIGITS);
	flow_put(flow, STYLE_TEXT, text.data);
	buffer_clear(&text);
}

static void put_error(struct flow *flow, const struct tensorview *known)
{
	struct buffer text = BUFFER_INIT;

	if (known->error == NULL || !known->has_tensor)
		return;
	buffer_append_string(&text, "refresh failed: ");
	text_escape(&text, known->error, strlen(known->error));
	flow_put(flow, STYLE_ERROR, text.data);
	flow_break(flow);
	buffer_clear(&text);
}

static void put_header(struct flow *flow, const struct session *session, const struct view *view)
{
	const struct tensorview *known = &session->tensorview;

	if (!known->has_tensor)
		return;
	put_error(flow, known);
	put_statistics(flow, known);
	flow_break(flow);
	pane_tensor_header_put_facts(flow, session, view);
	flow_break(flow);
	/* In histogram mode the histogram below is larger. */
	if (view->tensor.mode != TENSOR_HISTOGRAM)
		put_spark(flow, &known->tensor.histogram);
}

int pane_tensor_header_rows(const struct session *session, const struct view *view,
			    int column_count, int row_maximum)
{
	struct flow flow = { .width = column_count, .row_maximum = row_maximum };

	put_header(&flow, session, view);
	return flow_rows(&flow);
}

void pane_tensor_header(struct window window, const struct session *session,
			const struct view *view, int row_maximum)
{
	struct flow flow = {
		.window = window,
		.width = window.column_count,
		.row_maximum = row_maximum,
	};

	put_header(&flow, session, view);
}

/* The distribution of the elements' values, as bars. */

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
	int label_width; /* columns of each number in a bar's label "LOW … HIGH" */
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
		return "reading the elements";
	if (strncmp(tensor->dtype, "complex", 7) == 0)
		return "no histogram: complex numbers have no order";
	return "no histogram: the tensor has no finite number";
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
