#include "ui/views/pane-breakpoints.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "engine/engine.h"
#include "model/debug-state.h"
#include "model/session.h"
#include "ui/app.h"
#include "ui/canvas.h"
#include "ui/commands.h"
#include "ui/grid.h"
#include "ui/list.h"
#include "ui/view-type.h"

#define LIST_MAXIMUM 200
#define MARK_SET 0x25cf	  /* ● */
#define MARK_UNSET 0x25cb /* ○ */
#define MARK_WATCH 0x25c9 /* ◉ */
#define MARK_LOG 0x25ce	  /* ◎ */
#define PLACE_COLUMN 6
#define STATE_WIDTH 8 /* "disabled" */
#define RANKS_WIDTH 10
#define CONDITION_MINIMUM 8

void breakpoint_list_make(struct breakpoint_list *list, const struct session *session)
{
	struct breakpoint_summary summary;
	size_t capacity = 0;

	*list = (struct breakpoint_list){ .items = NULL };
	while (list->count < LIST_MAXIMUM &&
	       breakpoint_summary_make(&summary, session, list->count)) {
		ARRAY_GROW(list->items, list->count, capacity);
		list->items[list->count++] = summary;
	}
}

void breakpoint_list_clear(struct breakpoint_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		breakpoint_summary_clear(&list->items[i]);
	free(list->items);
	*list = (struct breakpoint_list){ .items = NULL };
}

const struct breakpoint_summary *breakpoint_list_at(const struct breakpoint_list *list,
						    const char *path, int line)
{
	for (size_t i = 0; i < list->count; i++)
		if (breakpoint_is_at(&list->items[i], path, line))
			return &list->items[i];
	return NULL;
}

int breakpoint_list_cursor(const struct breakpoint_list *list, const struct view *view)
{
	if (view->cursors[VIEW_BREAKPOINTS] < (int)list->count)
		return view->cursors[VIEW_BREAKPOINTS];
	return (int)list->count - 1;
}

static bool is_pending(const struct breakpoint_summary *breakpoint)
{
	return breakpoint->set.range_count == 0;
}

int32_t breakpoint_mark(const struct breakpoint_summary *breakpoint, enum style *style)
{
	bool is_set = !breakpoint->is_disabled && !is_pending(breakpoint);

	*style = is_set ? STYLE_SOURCE_BREAKPOINT : STYLE_DIM;
	if (!is_set)
		return MARK_UNSET;
	if (breakpoint->watch != NULL)
		return MARK_WATCH;
	return breakpoint->log != NULL ? MARK_LOG : MARK_SET;
}

/* True if the breakpoint will be set later without a new request, as far as is known. */
static bool pane_breakpoints_is_to_come(const struct breakpoint_summary *breakpoint)
{
	return breakpoint->message == NULL || strncmp(breakpoint->message, "pending", 7) == 0;
}

static void pane_breakpoints_append_word(struct buffer *out,
					 const struct breakpoint_summary *breakpoint)
{
	if (breakpoint->is_disabled) {
		buffer_append_string(out, "disabled");
	} else if (breakpoint->is_over) {
		buffer_append_string(out, "over");
	} else if (is_pending(breakpoint)) {
		buffer_append_string(out, pane_breakpoints_is_to_come(breakpoint) ? "pending"
										  : "refused");
	} else if (breakpoint->hits > 0) {
		breakpoint_append_hits(out, breakpoint);
	} else if (breakpoint->is_temporary) {
		buffer_append_string(out, "once");
	}
}

void breakpoint_append_state(struct buffer *out, const struct breakpoint_summary *breakpoint,
			     bool has_ranks)
{
	struct buffer word = BUFFER_INIT;

	pane_breakpoints_append_word(&word, breakpoint);
	if (has_ranks)
		rankset_append(out, &breakpoint->ranks);
	if (has_ranks && word.length > 0)
		buffer_append_char(out, ' ');
	buffer_append_string(out, word.data);
	buffer_clear(&word);
}

static void pane_breakpoints_append_name(struct buffer *out,
					 const struct breakpoint_summary *breakpoint)
{
	if (breakpoint->id > 0)
		buffer_printf(out, "%d", breakpoint->id);
	else
		buffer_append_string(out, "pdb");
}

static void pane_breakpoints_append_place(struct buffer *out,
					  const struct breakpoint_summary *breakpoint)
{
	if (breakpoint->watch != NULL)
		buffer_append_string(out, "watch ");
	breakpoint_append_place(out, breakpoint);
}

/* Appends the location, or only the function if the location does not fit. */
static void append_fitting_place(struct buffer *out, const struct breakpoint_summary *breakpoint,
				 int width)
{
	const char *function = breakpoint->own != NULL ? breakpoint->own->function : NULL;

	pane_breakpoints_append_place(out, breakpoint);
	if (text_width(out->data) <= width || function == NULL)
		return;
	buffer_reset(out);
	text_escape(out, function, strlen(function));
}

/*
 * Appends "if step > 3 log x={x}"; appends nothing if there is neither a condition nor a log text.
 */
static void append_terms(struct buffer *out, const struct breakpoint_summary *breakpoint)
{
	if (breakpoint->condition != NULL)
		buffer_printf(out, "if %s", breakpoint->condition);
	if (breakpoint->log != NULL)
		buffer_printf(out, "%slog %s", out->length > 0 ? " " : "", breakpoint->log);
}

static void pane_breakpoints_append_row(struct buffer *out,
					const struct breakpoint_summary *breakpoint)
{
	struct buffer terms = BUFFER_INIT;

	pane_breakpoints_append_name(out, breakpoint);
	buffer_append_char(out, ' ');
	pane_breakpoints_append_place(out, breakpoint);
	append_terms(&terms, breakpoint);
	if (terms.length > 0)
		buffer_printf(out, " %s", terms.data);
	buffer_append_char(out, ' ');
	breakpoint_append_state(out, breakpoint, true);
	buffer_clear(&terms);
}

/* Writes ranks and state; returns the first column used. */
static int put_state(struct window window, int row, const struct breakpoint_summary *breakpoint)
{
	struct buffer ranks = BUFFER_INIT;
	struct buffer word = BUFFER_INIT;
	int end = window.column_count - 1;
	int width;

	rankset_append(&ranks, &breakpoint->ranks);
	pane_breakpoints_append_word(&word, breakpoint);
	width = text_width(word.data);
	if (width < STATE_WIDTH)
		width = STATE_WIDTH;
	window_put_right(window, row, end, width, breakpoint->hits > 0 ? STYLE_TEXT : STYLE_DIM,
			 word.data);
	end -= width + 1;
	width = text_width(ranks.data);
	if (width > RANKS_WIDTH)
		width = RANKS_WIDTH;
	window_put_right(window, row, end, width, STYLE_TEXT, ranks.data);
	buffer_clear(&word);
	buffer_clear(&ranks);
	return end - width;
}

static void pane_breakpoints_put_breakpoint(struct window window, int row,
					    const struct breakpoint_summary *breakpoint)
{
	struct buffer text = BUFFER_INIT;
	enum style style;
	int32_t mark = breakpoint_mark(breakpoint, &style);
	int end = put_state(window, row, breakpoint) - 1;
	int column = PLACE_COLUMN;

	pane_breakpoints_append_name(&text, breakpoint);
	window_put_right(window, row, 3, 3, STYLE_DIM, text.data);
	window_put_character(window, row, 4, style, mark);
	buffer_reset(&text);
	append_fitting_place(&text, breakpoint, end - column);
	column += window_put(window, row, column, end - column, STYLE_TEXT, text.data);
	buffer_reset(&text);
	append_terms(&text, breakpoint);
	if (text.length > 0 && end - column > CONDITION_MINIMUM)
		window_put(window, row, column + 2, end - column - 2, STYLE_DIM, text.data);
	buffer_clear(&text);
}

/* A row of the list: a breakpoint, or a reason below a breakpoint. */
struct list_row {
	size_t at;
	char *reason; /* NULL: the row shows the breakpoint */
};

struct list_rows {
	struct list_row *items;
	size_t count;
	size_t capacity;
	int width; /* columns of reasons */
};

static void pane_breakpoints_add_row(struct list_rows *rows, size_t at, char *owned_reason)
{
	ARRAY_GROW(rows->items, rows->count, rows->capacity);
	rows->items[rows->count++] = (struct list_row){ at, owned_reason };
}

/*
 * Returns the debugger's message about the breakpoint. If the debugger does not know the
 * breakpoint, returns the rank's error about breakpoints, or NULL.
 */
static const char *message_of(const struct rank *rank, int id)
{
	const struct debugger *debugger = &rank->debugger;

	for (size_t i = 0; id > 0 && i < debugger->binding_count; i++)
		if (debugger->bindings[i].id == id)
			return debugger->bindings[i].message;
	return id > 0 ? rank->breakpoints_error : NULL;
}

static void add_lines(struct list_rows *rows, size_t at, const char *text)
{
	for (; *text != '\0'; text += strspn(text, " ")) {
		size_t length = window_words_fit(text, rows->width);

		pane_breakpoints_add_row(rows, at, xstrndup(text, length));
		text += length;
	}
}

static void add_reason(struct list_rows *rows, size_t at, const struct rankset *ranks,
		       const char *reason)
{
	struct buffer text = BUFFER_INIT;

	if (ranks->range_count == 0)
		return;
	rankset_append(&text, ranks);
	buffer_append_string(&text, ": ");
	text_escape(&text, reason, strlen(reason));
	add_lines(rows, at, text.data);
	buffer_clear(&text);
}

/*
 * Adds one row for all ranks with the same message, also for ranks on which the breakpoint is set.
 */
static void add_reasons(struct list_rows *rows, size_t at,
			const struct breakpoint_summary *breakpoint, const struct session *session)
{
	struct rankset left = RANKSET_INIT;
	int number;

	rankset_copy(&left, &breakpoint->ranks);
	for (number = rankset_first(&left); number >= 0; number = rankset_next(&left, number)) {
		const struct rank *first = session_find_rank(session, number);
		const char *reason = first != NULL ? message_of(first, breakpoint->id) : NULL;
		struct rankset same = RANKSET_INIT;

		for (int i = number; reason != NULL && i >= 0; i = rankset_next(&left, i)) {
			const struct rank *rank = session_find_rank(session, i);
			const char *own = rank != NULL ? message_of(rank, breakpoint->id) : NULL;

			if (own != NULL && strcmp(own, reason) == 0)
				rankset_add(&same, i);
		}
		add_reason(rows, at, &same, reason);
		rankset_subtract(&left, &same);
		rankset_clear(&same);
	}
	rankset_subtract(&left, &breakpoint->set);
	add_reason(rows, at, &left,
		   breakpoint->is_over ? breakpoint->message : "no debugger connected");
	rankset_clear(&left);
}

/* Adds a row with the backends that stop ranks, if the breakpoint above has other backends. */
static void add_backends(struct list_rows *rows, size_t at, const struct breakpoint_list *list)
{
	struct buffer above = BUFFER_INIT;
	struct buffer own = BUFFER_INIT;

	breakpoint_append_backends(&own, &list->items[at]);
	if (at > 0)
		breakpoint_append_backends(&above, &list->items[at - 1]);
	if (own.length > 0 && (above.length == 0 || strcmp(own.data, above.data) != 0))
		add_lines(rows, at, own.data);
	buffer_clear(&above);
	buffer_clear(&own);
}

static void pane_breakpoints_make_rows(struct list_rows *rows, const struct breakpoint_list *list,
				       const struct session *session, bool has_reasons)
{
	for (size_t i = 0; i < list->count; i++) {
		pane_breakpoints_add_row(rows, i, NULL);
		if (has_reasons)
			add_backends(rows, i, list);
		if (has_reasons)
			add_reasons(rows, i, &list->items[i], session);
	}
}

static void pane_breakpoints_put_row(struct window window, int at, const struct list_row *row,
				     const struct breakpoint_list *list)
{
	window_hit(window, at, 0, 1, window.column_count, MOUSE_TARGET_BREAKPOINT, (int)row->at);
	if (row->reason != NULL)
		window_put(window, at, PLACE_COLUMN, window.column_count - PLACE_COLUMN, STYLE_DIM,
			   row->reason);
	else
		pane_breakpoints_put_breakpoint(window, at, &list->items[row->at]);
}

static void pane_breakpoints_put_rows(struct window window, const struct list_rows *rows,
				      const struct breakpoint_list *list, int cursor,
				      bool has_cursor)
{
	size_t at = 0;
	int first;

	while (at < rows->count && (int)rows->items[at].at < cursor)
		at++;
	first = grid_first((int)at, (int)rows->count, window.row_count);
	for (int i = first; i < (int)rows->count && i - first < window.row_count; i++) {
		pane_breakpoints_put_row(window, i - first, &rows->items[i], list);
		if (has_cursor && i == (int)at)
			window_emphasise(window, i - first, 0, 1, window.column_count,
					 EMPHASIS_SELECTED);
	}
}

/*
 * Returns the selected rank (or child) if hardware watchpoints stop the rank; NULL if it does not
 * use hardware watchpoints.
 */
static const struct rank *slots_of(const struct session *session)
{
	const struct rank *rank = session_looked_at(session);

	return rank != NULL && ptrace_state_is(rank) && rank->debugger.slots > 0 ? rank : NULL;
}

int breakpoint_list_rows(const struct session *session)
{
	return (int)breakpoint_summary_count(session) + (slots_of(session) != NULL);
}

/* Writes "hw breakpoints on rank 3: 2 of 4 free" in the last row. */
static struct window put_slots(struct window window, const struct session *session,
			       size_t row_count)
{
	const struct rank *rank = slots_of(session);
	struct buffer text = BUFFER_INIT;
	int row = (int)row_count < window.row_count - 1 ? (int)row_count : window.row_count - 1;

	if (rank == NULL || row < 1)
		return window;
	buffer_printf(&text, "hw breakpoints on rank %d: %d of %d free", rank->process.rank,
		      rank->debugger.slots_free, rank->debugger.slots);
	window_put(window, row, 2, window.column_count - 2, STYLE_DIM, text.data);
	buffer_clear(&text);
	return window_part(window, 0, 0, row, window.column_count);
}

void pane_breakpoints(struct window window, const struct session *session, const struct view *view,
		      bool has_cursor, bool has_reasons)
{
	struct list_rows rows = { .width = window.column_count - PLACE_COLUMN - 1 };
	struct breakpoint_list list;

	if (rows.width < 1)
		rows.width = 1;
	breakpoint_list_make(&list, session);
	pane_breakpoints_make_rows(&rows, &list, session, has_reasons);
	if (list.count == 0)
		window_put_paragraph(window, 0, 1, window.row_count, STYLE_DIM,
				     "no breakpoints: set one at the source cursor (b), or with "
				     "`:break FILE:LINE`");
	pane_breakpoints_put_rows(put_slots(window, session, rows.count), &rows, &list,
				  breakpoint_list_cursor(&list, view), has_cursor);
	for (size_t i = 0; i < rows.count; i++)
		free(rows.items[i].reason);
	free(rows.items);
	breakpoint_list_clear(&list);
}

static void pane_breakpoints_append_title(struct buffer *left, struct buffer *right,
					  const struct session *session, const struct view *view)
{
	(void)right;
	(void)session;
	(void)view;
	buffer_append_string(left, "Breakpoints");
}

static void pane_breakpoints_draw(const struct scene *scene)
{
	pane_breakpoints(scene->body, scene->session, scene->view, true, true);
}

void breakpoint_list_add_rows(struct search_text *lines, const struct app *app)
{
	struct breakpoint_list list;

	breakpoint_list_make(&list, &app->engine->session);
	for (size_t i = 0; i < list.count; i++) {
		pane_breakpoints_append_row(&lines->line, &list.items[i]);
		search_text_end_line(lines);
	}
	lines->at = breakpoint_list_cursor(&list, &app->view);
	breakpoint_list_clear(&list);
}

void breakpoint_list_move(struct app *app, int page, enum move move)
{
	struct breakpoint_list list;

	breakpoint_list_make(&list, &app->engine->session);
	if (list.count > 0 && move != MOVE_LEFT && move != MOVE_RIGHT)
		app->view.cursors[VIEW_BREAKPOINTS] = grid_move_in(
			breakpoint_list_cursor(&list, &app->view), (int)list.count, 1, page, move);
	breakpoint_list_clear(&list);
}

static void pane_breakpoints_move_cursor(struct app *app, const struct layout *layout,
					 enum move move)
{
	breakpoint_list_move(app, view_page(layout), move);
}

static const struct hint hints[] = {
	{ { "open", NULL }, "source" },	 { { "toggle", NULL }, "off, on" },
	{ { "remove", NULL }, "clear" }, { { "prompt search", NULL }, "find" },
	{ { "back", NULL }, "back" },	 { .label = NULL },
};

const struct view_type view_breakpoints = {
	.copied = "list of breakpoints",
	.hints = hints,
	.append_title = pane_breakpoints_append_title,
	.draw = pane_breakpoints_draw,
	.add_rows = breakpoint_list_add_rows,
	.move = pane_breakpoints_move_cursor,
	.open = open_breakpoint,
	.expand = toggle_breakpoint,
	.toggle = toggle_breakpoint,
};
