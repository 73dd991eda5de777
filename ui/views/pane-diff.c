#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "model/place.h"
#include "model/session.h"
#include "model/source.h"
#include "model/stacktree.h"
#include "protocol/stack.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/list.h"
#include "ui/pane.h"
#include "ui/view-type.h"

#define NOT_EQUAL_MARK 0x2260 /* ≠ */
#define SOURCE_ROWS 4
#define NARROW 28

static const struct rank_class *pane_diff_class_of(const struct session *session,
						   const struct rank *rank)
{
	const struct verdict *verdict = &session->verdict;

	if (rank == NULL || rank->class_index < 0 ||
	    (size_t)rank->class_index >= verdict->class_count)
		return NULL;
	return &verdict->classes[rank->class_index];
}

/*
 * Returns the majority's class; for a rank of the majority, or without a majority, the largest
 * other class.
 */
static const struct rank_class *other_class(const struct session *session, const struct rank *rank)
{
	const struct verdict *verdict = &session->verdict;
	const struct rank_class *own = pane_diff_class_of(session, rank);

	for (size_t i = 0; i < verdict->class_count; i++)
		if (&verdict->classes[i] != own && verdict->classes[i].stack != NULL)
			return &verdict->classes[i];
	return NULL;
}

static const struct stack *main_stack(const struct rank *rank)
{
	const struct thread *main = rank != NULL ? rank_main_thread(rank) : NULL;

	return main != NULL ? main->sample.stack : NULL;
}

/* Finds the two stacks. Returns false and sets *problem if there is nothing to compare. */
static bool find_sides(struct diff_sides *sides, const struct session *session,
		       const struct view *view, const char **problem)
{
	*sides = (struct diff_sides){ .a = session_selected(session) };
	sides->a_stack = main_stack(sides->a);
	*problem = "no stack of the selected rank to compare";
	if (sides->a_stack == NULL)
		return false;
	switch (view->diff.against) {
	case DIFF_AGAINST_MAJORITY:
		sides->b_class = other_class(session, sides->a);
		*problem = "all ranks have the same stack: no difference to show";
		if (sides->b_class == NULL)
			return false;
		sides->b = session_find_rank(session, rankset_first(&sides->b_class->ranks));
		break;
	case DIFF_AGAINST_RANK:
		sides->b = session_find_rank(session, view->diff.rank);
		break;
	case DIFF_AGAINST_PAST:
		sides->b = sides->a;
		sides->is_past = true;
		sides->b_stack = rank_stack_at(sides->a, session->now - view->diff.seconds);
		*problem = "the selected rank was not sampled that long ago";
		return sides->b_stack != NULL;
	}
	sides->b_stack = main_stack(sides->b);
	*problem = "no stack of the other rank to compare with";
	return sides->b_stack != NULL;
}

const struct rank *diff_other(const struct session *session, const struct diff_sides *sides,
			      size_t i)
{
	int number = -1;

	if (sides->is_past || i >= DIFF_RANKS_MAXIMUM)
		return NULL;
	if (sides->b_class == NULL)
		return i == 0 ? sides->b : NULL;
	for (size_t at = 0; at <= i; at++) {
		number = rankset_next(&sides->b_class->ranks, number);
		if (number < 0)
			return NULL;
	}
	return session_find_rank(session, number);
}

static void append_since(struct buffer *out, const struct session *session, const struct rank *rank)
{
	struct buffer age = BUFFER_INIT;
	const struct thread *main = rank_main_thread(rank);

	if (rank_is_torn(rank))
		buffer_append_string(out, "~ ");
	if (main != NULL && main->sample_count > 1) {
		text_duration(&age, session->now - main->since);
		buffer_printf(out, "for %s", age.data);
	}
	buffer_clear(&age);
}

static void append_b_title(struct buffer *out, const struct session *session,
			   const struct view *view, const struct diff_sides *sides)
{
	const struct verdict *verdict = &session->verdict;

	if (sides->is_past) {
		buffer_printf(out, "rank %d, ", sides->a->process.rank);
		text_duration(out, view->diff.seconds);
		buffer_append_string(out, " ago");
		return;
	}
	if (sides->b_class == NULL) {
		buffer_printf(out, "rank %d", sides->b->process.rank);
		return;
	}
	if (verdict->majority >= 0 && sides->b_class == &verdict->classes[verdict->majority])
		buffer_append_string(out, "majority: ");
	rankset_append(out, &sides->b_class->ranks);
	buffer_append_string(out, " (");
	text_count(out, rankset_count(&sides->b_class->ranks));
	buffer_append_char(out, ')');
}

static void put_titles(struct window window, int middle, const struct session *session,
		       const struct view *view, const struct diff_sides *sides)
{
	struct buffer left = BUFFER_INIT;
	struct buffer right = BUFFER_INIT;

	buffer_printf(&left, "Diff \u00b7 rank %d", sides->a->process.rank);
	append_since(&right, session, sides->a);
	pane_title(window, 0, 1, middle - 1, true, left.data, right.data);
	buffer_reset(&left);
	buffer_reset(&right);
	append_b_title(&left, session, view, sides);
	if (!sides->is_past)
		append_since(&right, session, sides->b);
	pane_title(window, 0, middle + 1, window.column_count - middle - 2, false, left.data,
		   right.data);
	buffer_clear(&right);
	buffer_clear(&left);
}

enum style diff_style(char op)
{
	if (op == '~')
		return STYLE_DIFF_MOVED;
	return op == '=' ? STYLE_DIFF_SAME : STYLE_DIFF_ONLY;
}

/* Appends the location; in few columns only the line, which is more useful than the file. */
static void append_short_place(struct buffer *out, const struct frame *frame, int width)
{
	if (width >= NARROW)
		place_append(out, frame);
	else
		buffer_printf(out, ":%d", frame->lineno);
}

static void pane_diff_put_frame(struct window window, int row, char op, const struct frame *frame)
{
	struct buffer place = BUFFER_INIT;
	enum style style = diff_style(op);
	int width = window.column_count - 1;
	int wanted = text_width(frame->code->func);
	int used;

	if (wanted > width / 2)
		wanted = width / 2;
	if (op == '~')
		window_put_character(window, row, 0, style, NOT_EQUAL_MARK);
	else
		window_put_character(window, row, 0, style, op == '=' ? ' ' : op);
	append_short_place(&place, frame, width);
	used = window_put_path(window, row, width, width - 3 - wanted, style, place.data);
	window_put(window, row, 2, width - 3 - used, style, frame->code->func);
	buffer_clear(&place);
}

static void put_left(struct window window, int line, int row, const void *data)
{
	const struct stackdiff *diff = data;

	if (diff->rows[row].a != NULL)
		pane_diff_put_frame(window, line, diff->rows[row].op, diff->rows[row].a);
}

static void put_right(struct window window, int line, int row, const void *data)
{
	const struct stackdiff *diff = data;

	if (diff->rows[row].b != NULL)
		pane_diff_put_frame(window, line, diff->rows[row].op, diff->rows[row].b);
}

static void pane_diff_put_rows(struct window left, struct window right,
			       const struct stackdiff *diff, int cursor)
{
	int last = (int)diff->row_count - 1;
	struct list list = {
		.count = last + 1,
		.cursor = cursor < last ? cursor : last,
		.hit = MOUSE_TARGET_LIST,
		.put_row = put_left,
	};

	list_put(left, &list, diff);
	list.put_row = put_right;
	list_put(right, &list, diff);
}

static void put_source(struct window window, const struct session *session, const struct rank *rank,
		       const struct frame *frame)
{
	const struct source *source =
		session_find_source(session, rank->node, rank->process.pid, frame->code->file);
	const char *problem = pane_source_problem(session, rank, source);
	int above = window.row_count / 2;
	int first = frame->lineno > above ? frame->lineno - above : 1;

	if (problem != NULL) {
		window_put(window, 0, 1, window.column_count - 1, STYLE_DIM, problem);
		return;
	}
	pane_source_lines(window, source, frame->lineno, first);
}

/*
 * Returns the row where the stacks part, whose source and locals are drawn below the stacks; NULL
 * if the stacks have no common frame.
 */
static const struct stackdiff_row *parting_row(const struct stackdiff *diff)
{
	if (diff->fork < 0 || (size_t)diff->fork >= diff->row_count)
		return NULL;
	return &diff->rows[diff->fork];
}

struct halves {
	struct window left;
	struct window right;
};

static struct halves pane_diff_split(struct window window, int middle, int row, int rows)
{
	return (struct halves){
		.left = window_part(window, row, 1, rows, middle - 1),
		.right = window_part(window, row, middle + 1, rows,
				     window.column_count - middle - 2),
	};
}

static void put_place_titles(struct window window, int middle, int row,
			     const struct stackdiff_row *parting)
{
	struct buffer place = BUFFER_INIT;

	place_append(&place, parting->a);
	pane_title(window, row, 1, middle - 1, false, place.data, NULL);
	buffer_reset(&place);
	place_append(&place, parting->b);
	pane_title(window, row, middle + 1, window.column_count - middle - 2, false, place.data,
		   NULL);
	buffer_clear(&place);
}

/*
 * Draws, below the stacks, the two source lines where the stacks differ, and the locals of both
 * frames.
 */
static void put_parting(struct window window, int middle, int row, const struct session *session,
			const struct diff_sides *sides, const struct stackdiff_row *parting)
{
	int left_over = window.row_count - 1 - row;
	int source_rows = left_over > 16 ? left_over / 2 - 2 : SOURCE_ROWS;
	struct buffer title = BUFFER_INIT;
	struct halves halves;

	if (left_over < source_rows + 1)
		source_rows = left_over - 1;
	window_horizontal(window, row, 0, window.column_count, STYLE_BORDER);
	put_place_titles(window, middle, row, parting);
	halves = pane_diff_split(window, middle, row + 1, source_rows);
	put_source(halves.left, session, sides->a, parting->a);
	put_source(halves.right, session, sides->b, parting->b);
	row += source_rows + 1;
	if (sides->is_past || window.row_count - 1 - row < 3)
		return;
	window_horizontal(window, row, 0, window.column_count, STYLE_BORDER);
	buffer_printf(&title, "Locals that differ \u00b7 %s", parting->a->code->func);
	pane_title(window, row, 1, middle - 1, false, title.data, NULL);
	buffer_clear(&title);
	halves = pane_diff_split(window, middle, row + 1, window.row_count - 2 - row);
	pane_diff_locals(halves.left, halves.right, session, sides, (int)parting->a_depth,
			 (int)parting->b_depth);
}

static void put_diff(struct window window, const struct session *session, const struct view *view,
		     const struct diff_sides *sides)
{
	bool has_frame = pane_has_frame(window.row_count);
	int middle = window.column_count / 2;
	int rows = window.row_count - (has_frame ? 2 : 0);
	const struct stackdiff_row *parting;
	struct stackdiff diff;
	struct halves halves;
	int upper;

	stackdiff_make(&diff, sides->a_stack, sides->b_stack);
	parting = parting_row(&diff);
	upper = (int)diff.row_count;
	if (parting == NULL || rows < 10)
		upper = rows;
	else if (upper > rows / 2 - 1)
		upper = rows / 2 - 1;
	window_vertical(window, 0, middle, window.row_count, STYLE_BORDER);
	if (has_frame)
		put_titles(window, middle, session, view, sides);
	halves = pane_diff_split(window, middle, has_frame ? 1 : 0, upper);
	pane_diff_put_rows(halves.left, halves.right, &diff, view->cursors[VIEW_DIFF]);
	if (upper < rows)
		put_parting(window, middle, upper + 1, session, sides, parting);
	stackdiff_clear(&diff);
}

static void pane_diff_draw(const struct scene *scene)
{
	struct window window = scene->body;
	const struct session *session = scene->session;
	const struct view *view = scene->view;
	struct diff_sides sides;
	struct window inner;
	const char *problem;

	inner = pane_frame(window);
	if (find_sides(&sides, session, view, &problem)) {
		put_diff(window, session, view, &sides);
		return;
	}
	if (pane_has_frame(window.row_count))
		pane_title(window, 0, 1, window.column_count - 2, true, "Diff", NULL);
	window_put_paragraph(inner, 0, 1, inner.row_count, STYLE_DIM, problem);
}

/*
 * Adds a line with "!" for each row that differs, so that a search finds the row; adds an empty
 * line for an equal row.
 */
static void pane_diff_add_rows(struct search_text *lines, const struct app *app)
{
	struct diff_sides sides;
	struct stackdiff diff;
	const char *problem;

	if (!find_sides(&sides, &app->engine->session, &app->view, &problem))
		return;
	stackdiff_make(&diff, sides.a_stack, sides.b_stack);
	for (size_t i = 0; i < diff.row_count; i++) {
		buffer_append_string(&lines->line, diff.rows[i].op == '=' ? "" : "!");
		search_text_end_line(lines);
	}
	lines->at = app->view.cursors[VIEW_DIFF];
	stackdiff_clear(&diff);
}

/* The stacks use the upper half, so a page is half of the view. */
static void pane_diff_move_cursor(struct app *app, const struct layout *layout, enum move move)
{
	list_move(app, view_page(layout) / 2, move);
}

static void pane_diff_copy(struct buffer *out, const struct app *app)
{
	struct diff_sides sides;
	struct stackdiff diff;
	const char *problem;

	if (!find_sides(&sides, &app->engine->session, &app->view, &problem))
		return;
	stackdiff_make(&diff, sides.a_stack, sides.b_stack);
	format_text_diff(out, &diff);
	stackdiff_clear(&diff);
}

static struct file_place pane_diff_place(const struct app *app)
{
	struct file_place found = { .rank = NULL };
	struct diff_sides sides;
	struct stackdiff diff;
	const char *problem;
	size_t at = (size_t)app->view.cursors[VIEW_DIFF];

	if (!find_sides(&sides, &app->engine->session, &app->view, &problem))
		return found;
	stackdiff_make(&diff, sides.a_stack, sides.b_stack);
	if (at < diff.row_count) {
		const struct stackdiff_row *row = &diff.rows[at];
		const struct frame *frame = row->a != NULL ? row->a : row->b;

		found.rank = row->a != NULL ? sides.a : sides.b;
		found.file = frame->code->file;
		found.line = frame->lineno;
	}
	stackdiff_clear(&diff);
	return found;
}

static void pane_diff_want(struct app *app, bool is_open)
{
	const struct session *session = &app->engine->session;
	struct diff_sides sides;
	struct stackdiff diff;
	const struct rank *other;
	const char *problem;

	if (!is_open || !find_sides(&sides, session, &app->view, &problem))
		return;
	stackdiff_make(&diff, sides.a_stack, sides.b_stack);
	if (diff.fork >= 0) {
		const struct stackdiff_row *row = &diff.rows[diff.fork];

		want_frame(app, sides.a, rank_main_thread(sides.a)->sample.tid, sides.a_stack,
			   (int)row->a_depth);
		for (size_t i = 0; (other = diff_other(session, &sides, i)) != NULL; i++)
			want_frame(app, other, rank_main_thread(other)->sample.tid, sides.b_stack,
				   (int)row->b_depth);
	}
	stackdiff_clear(&diff);
}

static int pane_diff_toggle(struct app *app, struct error *error)
{
	struct session *session = &app->engine->session;

	(void)error;
	focus_toggle(session, session_selected(session)->process.rank);
	return 0;
}

static const struct hint hints[] = {
	{ { "against", NULL }, "against" },
	{ { "rank previous", "rank next" }, "rank" },
	{ { "outlier previous", "outlier next" }, "outlier" },
	{ { "find previous", "find next" }, "differences" },
	{ { "back", NULL }, "back" },
	{ .label = NULL },
};

static const struct landmark landmark = { "!", "difference", "the two stacks do not differ" };

const struct view_type view_diff = {
	.copied = "diff",
	.hints = hints,
	.landmark = &landmark,
	.draw = pane_diff_draw,
	.want = pane_diff_want,
	.add_rows = pane_diff_add_rows,
	.move = pane_diff_move_cursor,
	.copy = pane_diff_copy,
	.place = pane_diff_place,
	.toggle = pane_diff_toggle,
};
