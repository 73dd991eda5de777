#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/place.h"
#include "model/session.h"
#include "protocol/stack.h"
#include "ui/grid.h"
#include "ui/pane.h"

#define BOX_WIDTH 26 /* columns of the card beside the cursor, with borders */
#define BOX_HEIGHT 4
#define OUTLIER_COST 1000 /* cost of a hidden outlier; an ordinary cell costs 1 */
#define AGE_WIDTH 7

/*
 * Appends for how long all ranks of the class have been at their place: the time since the last of
 * them arrived.
 */
static void append_class_age(struct buffer *out, const struct session *session,
			     const struct rank_class *class)
{
	double since = -1;

	for (int number = rankset_first(&class->ranks); number >= 0;
	     number = rankset_next(&class->ranks, number)) {
		const struct rank *rank = session_find_rank(session, number);
		const struct thread *main = rank != NULL ? rank_main_thread(rank) : NULL;

		if (main == NULL || main->sample_count < 2)
			return;
		if (main->since > since)
			since = main->since;
	}
	if (since >= 0 && class->stack != NULL)
		text_duration(out, session->now - since);
}

static void put_class(struct window window, int row, const struct session *session,
		      const struct rank_class *class)
{
	struct buffer text = BUFFER_INIT;
	int width = window.column_count;
	int set_width = width * 3 / 8;
	int column = 2;
	const struct stack *stack = class->stack;
	enum style style;
	int32_t mark = mark_of_class(session, class, &style);

	window_put_character(window, row, 0, style, mark);
	rankset_append(&text, &class->ranks);
	buffer_append_string(&text, " (");
	text_count(&text, rankset_count(&class->ranks));
	buffer_append_char(&text, ')');
	window_put(window, row, column, set_width, style, text.data);
	column += set_width + 1;
	window_put(window, row, column, width / 5, STYLE_TEXT, class->activity.name);
	column += width / 5 + 1;
	if (stack != NULL && class->user_frame < stack->frame_count) {
		const struct frame *frame = &stack->frames[class->user_frame];

		window_put(window, row, column, (width + 2) / 8, STYLE_TEXT, frame->code->func);
		column += (width + 2) / 8 + 1;
		buffer_reset(&text);
		append_class_age(&text, session, class);
		window_put_right(window, row, width - 1, AGE_WIDTH, STYLE_TEXT, text.data);
		width -= AGE_WIDTH + 1;
		buffer_reset(&text);
		place_append(&text, frame);
		window_put_path(window, row, width, width - column, STYLE_TEXT, text.data);
	}
	buffer_clear(&text);
}

/* Returns the first class to show, so that the selected rank's class is visible. */
static size_t first_class(const struct session *session, size_t rows)
{
	const struct rank *selected = session_selected(session);
	int at = selected != NULL ? selected->class_index : 0;

	return (size_t)grid_first(at, (int)session->verdict.class_count, (int)rows);
}

static void put_legend(struct window window, const struct session *session)
{
	const struct verdict *verdict = &session->verdict;
	const struct rank *selected = session_selected(session);
	size_t rows = (size_t)window.row_count;
	size_t first = 0;
	struct buffer text = BUFFER_INIT;

	if (verdict->class_count > rows && rows > 1) {
		rows--;
		first = first_class(session, rows);
		buffer_append_string(&text, "\u2026 ");
		text_count(&text, verdict->class_count - rows);
		buffer_append_string(&text, " more");
		window_put(window, (int)rows, 2, window.column_count - 2, STYLE_DIM, text.data);
		buffer_clear(&text);
	}
	for (size_t i = 0; i < rows && first + i < verdict->class_count; i++) {
		put_class(window, (int)i, session, &verdict->classes[first + i]);
		if (selected != NULL && selected->class_index == (int)(first + i))
			window_emphasise(window, (int)i, 0, 1, window.column_count, EMPHASIS_BOLD);
	}
}

/* Writes the first rank of a line, or the name of a group. */
static void put_label(struct window window, int row, const struct session *session,
		      const struct view *view, const struct ranklist *list,
		      const struct cells *cells, const struct cell_label *label)
{
	const struct ranklist_group *group = ranklist_group_at(list, label->at);
	const struct rank *rank = list->ranks[label->at];
	int width = cells->label_width - 1;
	struct buffer text = BUFFER_INIT;
	bool is_selected = (size_t)list->at >= label->at;

	if (group == NULL) {
		buffer_printf(&text, "%d", rank->process.rank);
		window_put_right(window, row, width, width, STYLE_DIM, text.data);
		buffer_clear(&text);
		return;
	}
	ranklist_append_group(&text, list, session, view, group);
	window_put(window, row, label->column, width, STYLE_DIM, text.data);
	window_hit(window, row, label->column, 1, width, MOUSE_TARGET_GROUP, (int)label->at);
	if (group->is_folded) {
		buffer_reset(&text);
		buffer_append_string(&text, "\u2026 ");
		text_count(&text, group->count);
		window_put(window, row, label->column + width + 1, window.column_count, STYLE_DIM,
			   text.data);
		if (is_selected && (size_t)list->at < group->first + group->count)
			window_emphasise(window, row, label->column, 1, width,
					 EMPHASIS_SELECTED | EMPHASIS_BOLD);
	}
	buffer_clear(&text);
}

static int pane_cells_first_line(const struct cells *cells, const struct ranklist *list, int rows)
{
	int line = list->at >= 0 ? cells->places[list->at].line : 0;

	return grid_first(line, cells->line_count, rows);
}

static void put_cells(struct window window, const struct session *session, const struct view *view,
		      const struct ranklist *list, const struct cells *cells)
{
	int first = pane_cells_first_line(cells, list, window.row_count);

	for (size_t i = 0; i < cells->label_count; i++) {
		int row = cells->labels[i].line - first;

		if (row >= 0 && row < window.row_count)
			put_label(window, row, session, view, list, cells, &cells->labels[i]);
	}
	for (size_t i = 0; i < list->rank_count; i++) {
		const struct cell_place *place = &cells->places[i];
		int row = place->line - first;
		enum style style;
		int32_t mark;

		if (place->is_folded || row < 0 || row >= window.row_count)
			continue;
		mark = mark_of_rank(session, list->ranks[i], &style);
		window_put_character(window, row, place->column, style, mark);
		window_hit(window, row, place->column, 1, 1, MOUSE_TARGET_RANK,
			   list->ranks[i]->process.rank);
		if ((int)i == list->at)
			window_emphasise(window, row, place->column, 1, 1,
					 EMPHASIS_SELECTED | EMPHASIS_BOLD);
	}
}

/*
 * Returns the cost of the cells that a box hides (outliers cost most); -1 if the box does not fit.
 */
static int hidden_by(const struct ranklist *list, const struct cells *cells,
		     const struct window *window, int first, const struct box *box)
{
	int hidden = 0;

	if (box->row < 0 || box->column < 0 || box->row + box->row_count > window->row_count ||
	    box->column + box->column_count > window->column_count)
		return -1;
	for (size_t i = 0; i < list->rank_count; i++) {
		int row = cells->places[i].line - first;
		int column = cells->places[i].column;

		if (row >= box->row && row < box->row + box->row_count && column >= box->column &&
		    column < box->column + box->column_count)
			hidden += list->ranks[i]->is_outlier ? OUTLIER_COST : 1;
	}
	return hidden;
}

/*
 * Positions of the box, best first: right of all cells; then right of the selected cell, left of
 * the selected cell, or below the selected cell.
 */
static const struct {
	int row;
	int column;
	bool is_behind; /* column is relative to the last cell */
} box_offsets[] = {
	{ 0, 2, true },
	{ 1 - BOX_HEIGHT, 2, true },
	{ -1, 2, false },
	{ -1, -1 - BOX_WIDTH, false },
	{ 0, 2, false },
	{ 0, -1 - BOX_WIDTH, false },
	{ 1 - BOX_HEIGHT, 2, false },
	{ 1 - BOX_HEIGHT, -1 - BOX_WIDTH, false },
};

static int last_column(const struct ranklist *list, const struct cells *cells)
{
	int last = 0;

	for (size_t i = 0; i < list->rank_count; i++)
		if (cells->places[i].column > last)
			last = cells->places[i].column;
	return last;
}

/*
 * Finds the position of the box beside the selected cell where the box hides least. Returns false
 * if no position fits.
 */
static bool find_box(const struct window *window, const struct ranklist *list,
		     const struct cells *cells, struct box *best)
{
	int first = pane_cells_first_line(cells, list, window->row_count);
	const struct cell_place *place = &cells->places[list->at];
	int last = last_column(list, cells);
	int least = -1;

	for (size_t i = 0; i < ARRAY_LENGTH(box_offsets); i++) {
		int from = box_offsets[i].is_behind ? last : place->column;
		struct box box = {
			.row = place->line - first + box_offsets[i].row,
			.column = from + box_offsets[i].column,
			.row_count = BOX_HEIGHT,
			.column_count = BOX_WIDTH,
		};
		int hidden = hidden_by(list, cells, window, first, &box);

		if (hidden < 0 || (least >= 0 && hidden >= least))
			continue;
		*best = box;
		least = hidden;
	}
	return least >= 0;
}

static void put_box(struct window window, const struct session *session, const struct view *view,
		    const struct ranklist *list, const struct cells *cells)
{
	struct window part;
	struct box box;

	if (list->at < 0 || cells->places[list->at].is_folded ||
	    !find_box(&window, list, cells, &box))
		return;
	part = window_part(window, box.row, box.column, box.row_count, box.column_count);
	window_blank(part);
	window_box(part, STYLE_BORDER);
	pane_card(window_part(part, 0, 1, box.row_count - 1, box.column_count - 2), session, view,
		  list->ranks[list->at]);
	window_emphasise(part, 0, 0, box.row_count, box.column_count, EMPHASIS_BOLD);
}

static int cell_rows(const struct session *session, const struct view *view, int row_count)
{
	int legend = cells_legend_rows(session, view, row_count);

	return legend > 0 ? row_count - legend - 1 : row_count;
}

void pane_cells(struct window window, const struct session *session, const struct view *view,
		const struct ranklist *list)
{
	int rows = cell_rows(session, view, window.row_count);
	struct window upper = window_part(window, 0, 0, rows, window.column_count);
	struct window outer = window;
	struct cells cells;

	if (rows < window.row_count) {
		outer.column--;
		outer.column_count += 2;
		window_horizontal(outer, rows, 0, outer.column_count, STYLE_BORDER);
		/* The border joins the sides of the frame. */
		pane_title(window, rows, 0, window.column_count, false, "Classes", NULL);
		put_legend(window_part(window, rows + 1, 0, window.row_count - rows - 1,
				       window.column_count),
			   session);
	}
	cells_make(&cells, list, session, view, window.column_count);
	put_cells(upper, session, view, list, &cells);
	put_box(upper, session, view, list, &cells);
	cells_clear(&cells);
	if (list->rank_count == 0)
		pane_no_match(upper, view);
}

#define FUNCTION_MINIMUM 4 /* columns of the function's name and a blank */

/* Writes "0 ● wait", and "34s" at the right end of the border line. */
static void put_card_title(struct window window, const struct session *session,
			   const struct rank *rank, bool is_selected)
{
	enum style title = is_selected ? STYLE_TITLE_FOCUSED : STYLE_TITLE;
	struct buffer age = BUFFER_INIT;
	struct buffer number = BUFFER_INIT;
	struct buffer word = BUFFER_INIT;
	enum style style;
	int32_t mark = mark_of_rank(session, rank, &style);
	int width = window.column_count;
	int column;

	buffer_printf(&number, "%d ", rank->process.rank);
	column = window_put(window, 0, 0, width, title, number.data);
	window_put_character(window, 0, column, style, mark);
	column++;
	column += window_put(window, 0, column, 1, title, " ");
	rank_append_word(&word, rank);
	column += window_put(window, 0, column, width - column, rank->is_outlier ? style : title,
			     word.data);
	rank_append_age(&age, session, rank);
	window_put(window, 0, column, 1, title, " ");
	if (age.length > 0 && column + 2 + text_width(age.data) <= width) {
		int used = window_put_right(window, 0, width, 5, title, age.data);

		window_put(window, 0, width - used - 1, 1, title, " ");
	}
	buffer_clear(&word);
	buffer_clear(&number);
	buffer_clear(&age);
}

static void put_card_frame(struct window window, const struct rank *rank, enum style style)
{
	const struct frame *frame = rank_top_frame(rank);
	struct buffer place = BUFFER_INIT;
	int width = window.column_count - 1;
	int room;
	int used;

	if (frame == NULL)
		return;
	rank_append_place(&place, rank, frame, true);
	/* The line number is more useful than the end of a long function name. */
	room = text_width(frame->code->func) + 1;
	room = width - (room < FUNCTION_MINIMUM ? room : FUNCTION_MINIMUM);
	used = window_put_path(window, 2, width, room, style, place.data);
	window_put(window, 2, 0, width - used - 1, style, frame->code->func);
	buffer_clear(&place);
}

void pane_card(struct window window, const struct session *session, const struct view *view,
	       const struct rank *rank)
{
	bool is_selected = rank == session_selected(session);
	bool is_stale = rank_is_stale(session, view, rank);
	struct buffer text = BUFFER_INIT;
	enum style style = STYLE_TEXT;
	int width = window.column_count;
	int column = 0;

	window_hit(window, 0, 0, CARD_HEIGHT, width, MOUSE_TARGET_RANK, rank->process.rank);
	put_card_title(window, session, rank, is_selected);
	if (rank->is_outlier)
		style = STYLE_OUTLIER;
	if (is_stale || (rank->state == RANK_EXITED && !rank->is_outlier))
		style = STYLE_VALUE_STALE;
	if (rank_is_torn(rank))
		column = window_put(window, 1, 0, width, STYLE_WARNING, "~");
	rank_append_activity(&text, rank);
	if (is_stale) {
		struct buffer age = BUFFER_INIT;

		buffer_append_string(&age, "read ");
		text_age(&age, session->now - rank->sampled_at);
		buffer_append_string(&age, " ago");
		width -= 1 + window_put_right(window, 1, width, width / 2, style, age.data);
		buffer_clear(&age);
	}
	window_put(window, 1, column, width - column, style, text.data);
	put_card_frame(window, rank, style);
	buffer_clear(&text);
}

/* Position of a card: its inner columns, and the row of its title. */
struct place_of_card {
	int row;
	int column;
	int width;
};

static struct place_of_card place_card(int column_count, int index, int across)
{
	/* Each border takes a column; remaining columns go to the leftmost cards. */
	int total = column_count - across - 1;
	int width = total / across;
	int wider = total % across;
	int x = index % across;

	return (struct place_of_card){
		.row = index / across * CARD_HEIGHT,
		.column = 1 + x * (width + 1) + (x < wider ? x : wider),
		.width = width + (x < wider ? 1 : 0),
	};
}

/* Returns the index of the first rank to show. */
static size_t first_card(const struct ranklist *list, int rows, int across)
{
	int count = ((int)list->rank_count + across - 1) / across;
	int cursor = list->at > 0 ? list->at / across : 0;

	return (size_t)(grid_first(cursor, count, rows) * across);
}

void pane_cards(struct window window, const struct session *session, const struct view *view,
		const struct ranklist *list, int across)
{
	int rows = (window.row_count - 1) / CARD_HEIGHT;
	int columns = window.column_count;
	size_t first = first_card(list, rows, across);
	size_t shown = (size_t)(rows * across);
	size_t end = list->rank_count - first < shown ? list->rank_count : first + shown;

	for (size_t i = first; i < end; i++) {
		struct place_of_card at = place_card(columns, (int)(i - first), across);

		window_box(
			window_part(window, at.row, at.column - 1, CARD_HEIGHT + 1, at.width + 2),
			STYLE_BORDER);
	}
	for (size_t i = first; i < end; i++) {
		struct place_of_card at = place_card(columns, (int)(i - first), across);
		const struct rank *rank = list->ranks[i];

		pane_card(window_part(window, at.row, at.column, CARD_HEIGHT, at.width), session,
			  view, rank);
		if (rank == session_selected(session))
			window_emphasise(window, at.row, at.column - 1, CARD_HEIGHT + 1,
					 at.width + 2, EMPHASIS_BOLD);
	}
}
