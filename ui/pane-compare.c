/*
 * pane-compare: what ranks answered to a question: the odd first, then what
 * is farthest from the median, equal answers together.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/session.h"
#include "ui/pane.h"

/* Older answers are said to be. */
#define FRESH_SECONDS 5.0
#define RANKS_WIDTH_MINIMUM 10
#define GAP 2
/* A small picture of the numbers has so many ranks at most. */
#define PICTURE_RANKS 64
#define MARK_NONE 0x2717 /* ✗ */

static void add_row(struct answer_rows *rows, size_t *capacity, size_t class,
		    int line)
{
	ARRAY_GROW(rows->items, rows->count, *capacity);
	rows->items[rows->count++] = (struct answer_row){ class, line };
}

void answer_rows_make(struct answer_rows *rows, const struct session *session)
{
	size_t capacity = 0;

	*rows = (struct answer_rows){ .items = NULL };
	answer_classes_make(&rows->classes, &session->answers);
	for (size_t i = 0; i < rows->classes.count; i++) {
		const char *text = rows->classes.items[i].text;
		int line = 0;

		add_row(rows, &capacity, i, line);
		while ((text = strchr(text, '\n')) != NULL) {
			text++;
			add_row(rows, &capacity, i, ++line);
		}
	}
	if (rankset_count(&rows->classes.waiting) > 0)
		add_row(rows, &capacity, rows->classes.count, 0);
}

void answer_rows_clear(struct answer_rows *rows)
{
	answer_classes_clear(&rows->classes);
	free(rows->items);
	*rows = (struct answer_rows){ .items = NULL };
}

const struct rankset *answer_rows_ranks(const struct answer_rows *rows,
					size_t row)
{
	size_t class = rows->items[row].class;

	return class < rows->classes.count ? &rows->classes.items[class].ranks
					   : &rows->classes.waiting;
}

int answer_rows_cursor(const struct answer_rows *rows, const struct view *view)
{
	int last = (int)rows->count - 1;

	return view->compare_cursor < last ? view->compare_cursor : last;
}

void answer_rows_append(struct buffer *out, const struct answer_rows *rows,
			size_t row)
{
	const struct answer_row *item = &rows->items[row];
	const char *text;

	if (item->class == rows->classes.count) {
		buffer_append_string(out, "\u2026");
		return;
	}
	text = rows->classes.items[item->class].text;
	for (int i = 0; i < item->line; i++)
		text = strchr(text, '\n') + 1;
	text_append_line(out, text, strcspn(text, "\n"));
}

struct columns {
	int ranks; /* width of the sets */
	int count; /* of how many ranks these are */
};

static void append_count(struct buffer *out, const struct rankset *ranks)
{
	buffer_append_char(out, '(');
	text_count(out, rankset_count(ranks));
	buffer_append_char(out, ')');
}

static void widen(int *width, struct buffer *text)
{
	if ((int)text->length > *width)
		*width = (int)text->length;
	buffer_reset(text);
}

static struct columns find_columns(const struct answer_rows *rows,
				   int column_count)
{
	struct columns columns = { .ranks = RANKS_WIDTH_MINIMUM };
	struct buffer text = BUFFER_INIT;

	for (size_t i = 0; i < rows->count; i++) {
		rankset_append(&text, answer_rows_ranks(rows, i));
		widen(&columns.ranks, &text);
		append_count(&text, answer_rows_ranks(rows, i));
		widen(&columns.count, &text);
	}
	buffer_clear(&text);
	if (columns.ranks > column_count / 3)
		columns.ranks = column_count / 3;
	return columns;
}

enum style answer_style(const struct answer_class *class)
{
	if (class == NULL)
		return STYLE_DIM;
	if (class->is_failure)
		return class->is_raised ? STYLE_ERROR : STYLE_WARNING;
	if (!class->is_odd)
		return STYLE_TEXT;
	return class->is_number ? STYLE_VALUE_NAN : STYLE_OUTLIER;
}

int32_t answer_mark(const struct answer_class *class)
{
	if (class == NULL)
		return ' ';
	if (class->is_failure)
		return class->is_raised ? '!' : '?';
	return class->is_odd ? '!' : ' ';
}

static void put_head(struct window window, int row,
		     const struct columns *columns,
		     const struct answer_class *class,
		     const struct rankset *ranks)
{
	struct buffer text = BUFFER_INIT;
	enum style style = answer_style(class);

	window_put_character(window, row, 0, style, answer_mark(class));
	rankset_append(&text, ranks);
	window_put(window, row, 2, columns->ranks, style, text.data);
	buffer_reset(&text);
	append_count(&text, ranks);
	window_put(window, row, 2 + columns->ranks + GAP, columns->count,
		   STYLE_DIM, text.data);
	buffer_clear(&text);
}

static void put_row(struct window window, int at, const struct columns *columns,
		    const struct answer_rows *rows, size_t row)
{
	const struct answer_row *item = &rows->items[row];
	const struct answer_class *class =
		item->class < rows->classes.count
			? &rows->classes.items[item->class]
			: NULL;
	int column = 2 + columns->ranks + GAP + columns->count + GAP;
	struct buffer text = BUFFER_INIT;

	if (item->line == 0)
		put_head(window, at, columns, class,
			 answer_rows_ranks(rows, row));
	answer_rows_append(&text, rows, row);
	column += window_put(window, at, column, window.column_count - column,
			     answer_style(class), text.data);
	buffer_reset(&text);
	if (class != NULL && item->line == 0)
		answer_class_append_deviation(&text, class);
	window_put(window, at, column + 3, window.column_count - column - 3,
		   STYLE_DIM, text.data);
	buffer_clear(&text);
}

/* The numbers of the ranks that answered one, low to high; others as ✗. */
struct scale {
	double least;
	double most;
	bool is_known;
};

static struct scale find_scale(const struct answer_classes *classes)
{
	struct scale scale = { .is_known = false };

	for (size_t i = 0; i < classes->count; i++) {
		const struct answer_class *class = &classes->items[i];

		if (!class->is_number || !isfinite(class->number))
			continue;
		if (!scale.is_known || class->number < scale.least)
			scale.least = class->number;
		if (!scale.is_known || class->number > scale.most)
			scale.most = class->number;
		scale.is_known = true;
	}
	return scale;
}

static int32_t bar_of(const struct scale *scale,
		      const struct answer_class *class)
{
	double range = scale->most - scale->least;

	if (class->is_failure || !class->is_number)
		return 0xb7;
	if (!isfinite(class->number))
		return MARK_NONE;
	if (!(range > 0) || !isfinite(range))
		return 0x2582;
	return 0x2581 + (int32_t)(7 * (class->number - scale->least) / range);
}

static const struct answer_class *class_of(const struct answer_classes *classes,
					   int rank)
{
	for (size_t i = 0; i < classes->count; i++)
		if (rankset_contains(&classes->items[i].ranks, rank))
			return &classes->items[i];
	return NULL;
}

static void append_picture(struct buffer *out,
			   const struct answer_classes *classes)
{
	struct scale scale = find_scale(classes);
	struct rankset all = RANKSET_INIT;
	int rank = -1;

	for (size_t i = 0; i < classes->count; i++)
		rankset_unite(&all, &classes->items[i].ranks);
	while (scale.is_known && rankset_count(&all) <= PICTURE_RANKS &&
	       (rank = rankset_next(&all, rank)) >= 0)
		text_put_codepoint(out,
				   bar_of(&scale, class_of(classes, rank)));
	rankset_clear(&all);
}

static void put_title(struct window window, const struct session *session,
		      const struct answer_rows *rows)
{
	const struct answers *answers = &session->answers;
	struct buffer left = BUFFER_INIT;
	struct buffer right = BUFFER_INIT;

	buffer_append_string(&left,
			     answers->kind == ANSWERS_BROADCAST
				     ? "Broadcast"
				     : "Compare");
	if (answers->question != NULL)
		buffer_printf(&left, " \u00b7 %s", answers->question);
	append_picture(&right, &rows->classes);
	pane_title(window, 0, 1, window.column_count - 2, true, left.data,
		   right.data);
	buffer_clear(&right);
	buffer_clear(&left);
}

void pane_compare(struct window window, const struct session *session,
		  const struct view *view)
{
	struct window inner = pane_frame(window);
	struct answer_rows rows;
	int cursor;
	int first;
	struct columns columns;

	answer_rows_make(&rows, session);
	if (pane_has_frame(window.row_count))
		put_title(window, session, &rows);
	cursor = answer_rows_cursor(&rows, view);
	first = cursor >= inner.row_count ? cursor - inner.row_count + 1 : 0;
	columns = find_columns(&rows, inner.column_count);
	for (int i = 0; i < inner.row_count && (size_t)(first + i) < rows.count;
	     i++)
		put_row(inner, i, &columns, &rows, (size_t)(first + i));
	if (cursor >= 0)
		window_emphasise(inner, cursor - first, 0, 1,
				 inner.column_count, EMPHASIS_SELECTED);
	answer_rows_clear(&rows);
}

void pane_compare_summary(struct window window, const struct session *session)
{
	const struct answers *answers = &session->answers;
	double age = session->now - answers->asked_at;
	struct answer_classes classes;
	struct buffer text = BUFFER_INIT;
	bool is_odd = false;

	answer_classes_make(&classes, answers);
	for (size_t i = 0; i < classes.count; i++)
		is_odd |= classes.items[i].is_odd;
	if (answers->question != NULL)
		text_escape(&text, answers->question,
			    strlen(answers->question));
	buffer_append_string(&text, "   ");
	answer_classes_append_summary(&text, &classes, answers);
	if (age >= FRESH_SECONDS) {
		buffer_append_string(&text, "; asked ");
		text_duration(&text, age);
		buffer_append_string(&text, " ago");
	}
	window_put_character(window, 0, 1, STYLE_HINT_KEY,
			     answers->kind == ANSWERS_BROADCAST ? ':' : '=');
	window_put_paragraph(window, 0, 3, window.row_count,
			     is_odd ? STYLE_VERDICT_BAD : STYLE_VERDICT_NOTE,
			     text.data);
	buffer_clear(&text);
	answer_classes_clear(&classes);
}
