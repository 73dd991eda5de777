/*
 * pane-compare: shows the ranks' answers to a question, equal answers in one row. Outliers come
 * first; then rows are ordered by distance from the median. Tensors are shown as a table, with
 * their differences from the majority below the table.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/tensor-compare.h"
#include "model/paramdiff.h"
#include "model/session.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/comparetable.h"
#include "ui/list.h"
#include "ui/pane.h"
#include "ui/view-type.h"

/* Seconds after which answers are marked as old. */
#define FRESH_SECONDS 5.0
#define RANKS_WIDTH_MINIMUM 10
#define GAP 2
/* Maximum number of ranks in the picture of the numbers. */
#define PICTURE_RANKS 64
#define MARK_NONE 0x2717 /* ✗ */
#define SMALL_BYTES (8 << 20)

struct columns {
	int ranks; /* columns for the rank sets */
	int count; /* columns for the counts of ranks */
};

static void pane_compare_append_count(struct buffer *out, const struct rankset *ranks)
{
	buffer_append_char(out, '(');
	text_count(out, rankset_count(ranks));
	buffer_append_char(out, ')');
}

static void pane_compare_widen(int *width, struct buffer *text)
{
	if ((int)text->length > *width)
		*width = (int)text->length;
	buffer_reset(text);
}

static struct columns find_columns(const struct answer_rows *rows, int column_count)
{
	struct columns columns = { .ranks = RANKS_WIDTH_MINIMUM };
	struct buffer text = BUFFER_INIT;

	for (size_t i = 0; i < rows->count; i++) {
		rankset_append(&text, answer_rows_ranks(rows, i));
		pane_compare_widen(&columns.ranks, &text);
		pane_compare_append_count(&text, answer_rows_ranks(rows, i));
		pane_compare_widen(&columns.count, &text);
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

static void pane_compare_put_head(struct window window, int row, const struct columns *columns,
				  const struct answer_class *class, const struct rankset *ranks)
{
	struct buffer text = BUFFER_INIT;
	enum style style = answer_style(class);

	window_put_character(window, row, 0, style, answer_mark(class));
	rankset_append(&text, ranks);
	window_put(window, row, 2, columns->ranks, style, text.data);
	buffer_reset(&text);
	pane_compare_append_count(&text, ranks);
	window_put(window, row, 2 + columns->ranks + GAP, columns->count, STYLE_DIM, text.data);
	buffer_clear(&text);
}

/* Data for drawing the rows. */
struct drawing {
	const struct answer_rows *rows;
	struct columns columns;
	struct comparetable table;
	bool has_table;
};

/* Returns the column of a text. Among tensors a text begins at the column of the shapes. */
static int text_column(const struct drawing *drawing)
{
	if (drawing->has_table)
		return comparetable_text_column(&drawing->table);
	return 2 + drawing->columns.ranks + GAP + drawing->columns.count + GAP;
}

static void pane_compare_put_row(struct window window, int at, int number, const void *data)
{
	const struct drawing *drawing = data;
	size_t row = (size_t)number;
	const struct answer_rows *rows = drawing->rows;
	const struct answer_class *class = answer_rows_class(rows, row);
	bool is_first = rows->items[row].line == 0;
	int column = text_column(drawing);
	struct buffer text = BUFFER_INIT;

	if (is_first && drawing->has_table)
		comparetable_put_ranks(window, at, &drawing->table, class);
	else if (is_first)
		pane_compare_put_head(window, at, &drawing->columns, class,
				      answer_rows_ranks(rows, row));
	if (class != NULL && class->tensor != NULL) {
		comparetable_put_row(window, at, &drawing->table, class);
		return;
	}
	answer_rows_append(&text, rows, row);
	column += window_put(window, at, column, window.column_count - column, answer_style(class),
			     text.data);
	buffer_reset(&text);
	if (class != NULL && is_first)
		answer_class_append_deviation(&text, class);
	window_put(window, at, column + 3, window.column_count - column - 3, STYLE_DIM, text.data);
	buffer_clear(&text);
}

/* Range of the ranks' numbers or norms; an answer without a number is drawn as ✗. */
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

		if (!class->has_level || !isfinite(class->level))
			continue;
		if (!scale.is_known || class->level < scale.least)
			scale.least = class->level;
		if (!scale.is_known || class->level > scale.most)
			scale.most = class->level;
		scale.is_known = true;
	}
	return scale;
}

static int32_t pane_compare_bar_of(const struct scale *scale, const struct answer_class *class)
{
	double range = scale->most - scale->least;

	if (!class->has_level)
		return 0xb7;
	if (!isfinite(class->level))
		return MARK_NONE;
	if (!(range > 0) || !isfinite(range))
		return 0x2582;
	return 0x2581 + (int32_t)(7 * (class->level - scale->least) / range);
}

static void append_picture(struct buffer *out, const struct answer_classes *classes)
{
	struct scale scale = find_scale(classes);
	struct rankset all = RANKSET_INIT;
	int rank = -1;

	for (size_t i = 0; i < classes->count; i++)
		rankset_unite(&all, &classes->items[i].ranks);
	while (scale.is_known && rankset_count(&all) <= PICTURE_RANKS &&
	       (rank = rankset_next(&all, rank)) >= 0)
		text_put_codepoint(out,
				   pane_compare_bar_of(&scale, answer_classes_find(classes, rank)));
	rankset_clear(&all);
}

static void pane_compare_put_title(struct window window, const struct session *session,
				   const struct drawing *drawing)
{
	const struct answers *answers = &session->answers;
	struct buffer left = BUFFER_INIT;
	struct buffer right = BUFFER_INIT;

	buffer_append_string(&left, answers->kind == ANSWERS_BROADCAST ? "Broadcast" : "Compare");
	if (answers->question != NULL)
		buffer_printf(&left, " \u00b7 %s", answers->question);
	if (drawing->has_table)
		comparetable_append_title(&right, &drawing->table);
	else
		append_picture(&right, &drawing->rows->classes);
	pane_title(window, 0, 1, window.column_count - 2, true, left.data, right.data);
	buffer_clear(&right);
	buffer_clear(&left);
}

/* Writes the difference of one class as a paragraph; returns the rows used. */
static int put_sentence(struct window window, int row, const struct session *session,
			const struct drawing *drawing, const struct answer_class *class)
{
	struct buffer text = BUFFER_INIT;
	int rows = 0;

	differencetext_append(&text, &session->answers, &drawing->rows->classes, class);
	if (text.length > 0)
		rows = window_put_paragraph(window, row, 2, window.row_count - row, STYLE_TEXT,
					    text.data);
	buffer_clear(&text);
	return rows;
}

/*
 * Draws, below the table, the differences from the majority; the class under the cursor comes
 * first.
 */
static void pane_compare_put_sentences(struct window window, const struct session *session,
				       const struct drawing *drawing, int cursor)
{
	const struct answer_classes *classes = &drawing->rows->classes;
	const struct answer_class *chosen = answer_rows_class(drawing->rows, (size_t)cursor);
	int row = 0;

	if (chosen != NULL)
		row += put_sentence(window, row, session, drawing, chosen);
	for (size_t i = 0; i < classes->count && row < window.row_count; i++)
		if (&classes->items[i] != chosen)
			row += put_sentence(window, row, session, drawing, &classes->items[i]);
}

static void pane_compare_put_rows(struct window window, const struct drawing *drawing, int cursor)
{
	struct list list = {
		.count = (int)drawing->rows->count,
		.cursor = cursor,
		.hit = MOUSE_TARGET_LIST,
		.put_row = pane_compare_put_row,
	};

	list_put(window, &list, drawing);
}

/*
 * Draws the table and the differences. A third of the rows, and all rows that the table does not
 * need, are for the differences.
 */
static void put_table(struct window window, const struct session *session,
		      const struct drawing *drawing, int cursor)
{
	int count = (int)drawing->rows->count;
	int most = window.row_count - 1 - window.row_count / 3;
	int rows = count < most ? count : most;

	comparetable_put_head(window, 0, &drawing->table);
	pane_compare_put_rows(window_part(window, 1, 0, rows, window.column_count), drawing,
			      cursor);
	/* A blank line between table and differences if there is room. */
	if (window.row_count > rows + 3)
		rows++;
	pane_compare_put_sentences(
		window_part(window, rows + 1, 0, window.row_count - rows - 1, window.column_count),
		session, drawing, cursor);
}

static void pane_compare_draw(const struct scene *scene)
{
	struct window window = scene->body;
	const struct session *session = scene->session;
	const struct view *view = scene->view;
	struct window inner = pane_frame(window);
	struct answer_rows rows;
	struct drawing drawing = { .rows = &rows };
	int cursor;

	answer_rows_make(&rows, session);
	drawing.columns = find_columns(&rows, inner.column_count);
	drawing.has_table = comparetable_is_wanted(&rows.classes);
	if (drawing.has_table)
		comparetable_make(&drawing.table, &rows.classes, inner.column_count);
	if (pane_has_frame(window.row_count))
		pane_compare_put_title(window, session, &drawing);
	cursor = answer_rows_cursor(&rows, view);
	if (cursor >= 0 && drawing.has_table)
		put_table(inner, session, &drawing, cursor);
	else if (cursor >= 0)
		pane_compare_put_rows(inner, &drawing, cursor);
	answer_rows_clear(&rows);
}

static void pane_compare_append_question(struct buffer *out, const struct answers *answers)
{
	if (answers->question != NULL)
		text_escape(out, answers->question, strlen(answers->question));
	if (answers->tolerance > 0)
		buffer_printf(out, " \u00b1%g", answers->tolerance);
	buffer_append_string(out, "   ");
}

/* Appends a summary; for tensors which ranks differ, and how. */
static void append_summary(struct buffer *out, const struct session *session,
			   const struct answer_classes *classes)
{
	const struct answers *answers = &session->answers;
	double age = session->now - answers->asked_at;
	struct buffer sentence = BUFFER_INIT;

	if (comparetable_is_wanted(classes) || answers->parts)
		answer_classes_append_sentence(&sentence, classes, answers);
	if (sentence.length > 0) {
		buffer_append_string(out, sentence.data);
	} else {
		pane_compare_append_question(out, answers);
		answer_classes_append_summary(out, classes, answers);
		if (answers->parts && !answers->parts->is_over)
			buffer_append_string(out, "; comparing the contents of the values");
	}
	if (age >= FRESH_SECONDS) {
		buffer_append_string(out, "; evaluated ");
		text_duration(out, age);
		buffer_append_string(out, " ago");
	}
	buffer_clear(&sentence);
}

void pane_compare_append_summary(struct buffer *out, const struct session *session)
{
	struct answer_classes classes;

	answer_classes_make(&classes, &session->answers);
	append_summary(out, session, &classes);
	answer_classes_clear(&classes);
}

bool pane_compare_summary(struct window window, const struct session *session)
{
	const struct answers *answers = &session->answers;
	struct answer_classes classes;
	struct buffer text = BUFFER_INIT;
	bool is_odd = false;

	answer_classes_make(&classes, answers);
	for (size_t i = 0; i < classes.count; i++)
		is_odd |= classes.items[i].is_odd;
	if (answers->parts && paramdiff_is_finding(answers->parts))
		is_odd = true;
	append_summary(&text, session, &classes);
	window_put_character(window, 0, 1, STYLE_HINT_KEY,
			     answers->kind == ANSWERS_BROADCAST ? ':' : '=');
	window_put_paragraph(window, 0, 3, window.row_count,
			     is_odd ? STYLE_VERDICT_BAD : STYLE_VERDICT_NOTE, text.data);
	buffer_clear(&text);
	answer_classes_clear(&classes);
	return true;
}

static void pane_compare_add_rows(struct search_text *lines, const struct app *app)
{
	struct answer_rows rows;

	answer_rows_make(&rows, &app->engine->session);
	for (size_t i = 0; i < rows.count; i++) {
		rankset_append(&lines->line, answer_rows_ranks(&rows, i));
		buffer_append_char(&lines->line, ' ');
		answer_rows_append(&lines->line, &rows, i);
		search_text_end_line(lines);
	}
	lines->at = answer_rows_cursor(&rows, &app->view);
	answer_rows_clear(&rows);
}

static void pane_compare_copy(struct buffer *out, const struct app *app)
{
	const struct session *session = &app->engine->session;
	struct answer_classes classes;

	answer_classes_make(&classes, &session->answers);
	format_text_answers(out, &session->answers, &classes);
	answer_classes_clear(&classes);
}

/* Requests the differences of small tensors at once: they cost little. */
static void pane_compare_want(struct app *app, bool is_open)
{
	const struct answers *answers = &app->engine->session.answers;

	if (!is_open || answers->question == NULL || answers->kind != ANSWERS_COMPARE ||
	    app->engine->replay != NULL || app->differences_of == answers->number ||
	    answers_come(answers) < answers->count)
		return;
	app->differences_of = answers->number;
	for (size_t i = 0; i < answers->count; i++)
		if (answers->items[i].tensor != NULL &&
		    answers->items[i].tensor->byte_count > SMALL_BYTES)
			return;
	value_difference_begin_all(app->engine);
}

static int pane_compare_toggle(struct app *app, struct error *error)
{
	struct session *session = &app->engine->session;
	struct answer_rows rows;
	int cursor;

	answer_rows_make(&rows, session);
	cursor = answer_rows_cursor(&rows, &app->view);
	if (cursor >= 0)
		focus_these(session, answer_rows_ranks(&rows, (size_t)cursor));
	answer_rows_clear(&rows);
	return cursor < 0 ? error_set(error, "no rank has answered yet: try again") : 0;
}

static const struct hint hints[] = {
	{ { "open", NULL }, "whole text" }, { { "toggle", NULL }, "focus these" },
	{ { "visit", NULL }, "rank" },	    { { "compare", NULL }, "rerun" },
	{ { "back", NULL }, "back" },	    { .label = NULL },
};

/* Hints for tensors. */
static const struct hint tensor_hints[] = {
	{ { "open", NULL }, "difference" },
	{ { "toggle", NULL }, "focus these" },
	{ { "prompt tolerance", NULL }, "tolerance" },
	{ { "follow", NULL }, "watch" },
	{ { "compare", NULL }, "rerun" },
	{ { "visit", NULL }, "rank" },
	{ { "back", NULL }, "back" },
	{ .label = NULL },
};

static bool compares_tensors(const struct session *session)
{
	for (size_t i = 0; i < session->answers.count; i++)
		if (session->answers.items[i].tensor != NULL)
			return true;
	return false;
}

static const struct hint *pane_compare_choose_hints(const struct session *session,
						    const struct view *view)
{
	(void)view;
	return compares_tensors(session) ? tensor_hints : NULL;
}

const struct view_type view_compare = {
	.name = "compare",
	.copied = "answers of the ranks",
	.is_overlay = true,
	.is_kept = true,
	.hints = hints,
	.choose_hints = pane_compare_choose_hints,
	.draw = pane_compare_draw,
	.put_top = pane_compare_summary,
	.append_top = pane_compare_append_summary,
	.want = pane_compare_want,
	.add_rows = pane_compare_add_rows,
	.copy = pane_compare_copy,
	.open = open_answer,
	.toggle = pane_compare_toggle,
};
