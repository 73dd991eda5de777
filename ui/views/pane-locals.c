#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"
#include "base/text.h"
#include "model/choice.h"
#include "model/session.h"
#include "ui/list.h"
#include "ui/pane.h"

/* Marks of rows. All marks differ from the cursor's arrow. */
#define CLOSED_MARK '+'
#define OPEN_MARK '-'
#define DISPLAY_MARK '='
#define INDENT_MAXIMUM 16
#define ROWS_MAXIMUM 10000
#define CHANGED_MINIMUM 14 /* rows with at most this width for the value have no "changed" */

struct row_list {
	struct locals_row *rows;
	size_t count;
	size_t capacity;
};

/* Common data of the rows of one object's children. */
struct level {
	const struct session *session;
	const struct view *view;
	const struct rank *rank;
	pid_t tid;
	int depth; /* depth of the frame; -1: the rows are the children of the object at address */
	uint64_t address;
	int indent;
	uint64_t key;
};

static struct locals_row *pane_locals_add_row(struct row_list *list, enum locals_row_kind kind,
					      int indent)
{
	struct locals_row *row;

	ARRAY_GROW(list->rows, list->count, list->capacity);
	row = &list->rows[list->count++];
	*row = (struct locals_row){ .kind = kind, .indent = indent };
	return row;
}

static void add_level(struct row_list *list, const struct level *level);

static void pane_locals_add_variable(struct row_list *list, const struct level *level,
				     const struct variables *page, const struct variable *variable)
{
	struct locals_row *row = pane_locals_add_row(list, LOCALS_VARIABLE, level->indent);
	struct level below = *level;

	row->variable = variable;
	row->is_stale = variables_are_stale(level->session, level->view, page);
	row->is_changed = page->is_changed != NULL && !row->is_stale &&
			  page->is_changed[variable - page->list.items];
	row->key = hash_text(level->key, variable->name);
	row->is_open = variable->child_count > 0 && key_set_has(&level->view->opened, row->key);
	if (!row->is_open || level->indent >= INDENT_MAXIMUM)
		return;
	below.depth = -1;
	below.address = variable->address;
	below.key = row->key;
	below.indent++;
	add_level(list, &below);
}

static void name_page(struct locals_row *row, const struct level *level, int64_t start)
{
	row->address = level->address;
	row->start = start;
	row->is_page = true;
}

/*
 * Adds the rows of a page. The first row names the page, so that a visible page is requested again.
 */
static void pane_locals_add_page(struct row_list *list, const struct level *level,
				 const struct variables *page)
{
	size_t first = list->count;

	if (page->error != NULL)
		pane_locals_add_row(list, LOCALS_PROBLEM, level->indent)->problem = page->error;
	for (size_t i = 0;
	     page->error == NULL && i < page->list.count && list->count < ROWS_MAXIMUM; i++)
		pane_locals_add_variable(list, level, page, &page->list.items[i]);
	if (first < list->count)
		name_page(&list->rows[first], level, page->start);
}

/* Adds the pages of an object's children, or of a frame's variables. */
static void add_level(struct row_list *list, const struct level *level)
{
	int pages = key_set_pages(&level->view->opened, level->key);
	int64_t start = 0;
	int64_t total = 0;

	for (int i = 0; i < (pages > 1 ? pages : 1); i++) {
		const struct variables *page = session_find_variables(
			level->session, level->rank->node, level->rank->process.pid, level->tid,
			level->depth, level->address, start);

		if (page == NULL) {
			name_page(pane_locals_add_row(list, LOCALS_WAITING, level->indent), level,
				  start);
			return;
		}
		pane_locals_add_page(list, level, page);
		start += (int64_t)page->list.count;
		total = page->list.total;
		if (page->list.count == 0)
			return;
	}
	if (total > start) {
		struct locals_row *row = pane_locals_add_row(list, LOCALS_MORE, level->indent);

		row->key = level->key;
		row->left = total - start;
	}
}

struct locals_frame locals_frame_selected(const struct session *session)
{
	return (struct locals_frame){
		.rank = session_looked_at(session),
		.thread = session_selected_thread(session),
		.depth = session_selected_depth(session),
	};
}

/* Adds the lines of an exception; only the first unless the rows are unfolded. */
static void pane_locals_add_raised(struct row_list *list, const struct level *level,
				   const char *exception)
{
	bool has_more = true;

	for (int i = 0; has_more && (i == 0 || level->view->is_unfolded); i++) {
		size_t length = strcspn(exception, "\n");
		struct locals_row *row = pane_locals_add_row(list, LOCALS_RAISED, i > 0);

		row->text = exception;
		has_more = exception[length] == '\n';
		row->is_folded = has_more && i == 0 && !level->view->is_unfolded;
		exception += length + has_more;
	}
}

/* Adds the debugger's exception or value for the stopped thread. */
static void pane_locals_add_said(struct row_list *list, const struct level *level)
{
	const struct session *session = level->session;
	const struct rank *rank = level->rank;
	const struct displays *displays = &session->choice.displays;

	if (session_find_stop(session, rank->node, rank->process.pid, level->tid) == 0)
		return;
	if (rank->debugger.exception != NULL)
		pane_locals_add_raised(list, level, rank->debugger.exception);
	else if (rank->debugger.value != NULL && rank->debugger.at == STOP_AT_EXCEPTION)
		pane_locals_add_raised(list, level, rank->debugger.value);
	else if (rank->debugger.value != NULL && level->depth == 0)
		pane_locals_add_row(list, LOCALS_RETURNED, 0)->text = rank->debugger.value;
	for (size_t i = 0; i < displays->count; i++) {
		const struct display *display = &displays->items[i];

		if (display->pid == rank->process.pid && display->node == rank->node)
			pane_locals_add_row(list, LOCALS_DISPLAY, 0)->display = display;
	}
}

struct locals_row *pane_locals_rows(const struct session *session, const struct view *view,
				    const struct locals_frame *frame, size_t *count)
{
	const struct thread *thread = frame->thread;
	struct row_list list = { .rows = NULL };
	struct level level = {
		.session = session,
		.view = view,
		.rank = frame->rank,
		.depth = frame->depth,
	};

	if (frame->rank != NULL && thread != NULL && frame->depth >= 0 &&
	    thread->sample.stack != NULL) {
		level.tid = thread->sample.tid;
		pane_locals_add_said(&list, &level);
		/*
		 * The key has no rank: an object opened in a function is open in that function on
		 * every rank.
		 */
		level.key = hash_text(HASH_START,
				      thread->sample.stack->frames[frame->depth].code->func);
		add_level(&list, &level);
	}
	*count = list.count;
	return list.rows;
}

static bool is_type_obvious(const struct variable *variable)
{
	static const char *const obvious[] = {
		"int",	"str",	 "bool",  "float", "NoneType", "list",
		"dict", "tuple", "bytes", "set",   "complex",
	};

	if (variable->value == NULL || variable->value[0] == '<' || variable->type == NULL)
		return true;
	for (size_t i = 0; i < ARRAY_LENGTH(obvious); i++)
		if (strcmp(variable->type, obvious[i]) == 0)
			return true;
	return strncmp(variable->value, variable->type, strlen(variable->type)) == 0;
}

static enum style value_style(const struct locals_row *row)
{
	const struct variable *variable = row->variable;

	if (row->is_stale)
		return STYLE_VALUE_STALE;
	if (row->is_changed)
		return STYLE_VALUE_CHANGED;
	if (variable->value != NULL && strcmp(variable->value, "nan") == 0)
		return STYLE_VALUE_NAN;
	return variable->address == 0 ? STYLE_DIM : STYLE_TEXT;
}

/* Writes "changed" at the end of the row; returns the columns left for the value. */
static int put_news(struct window window, int at, int column, bool has_changed)
{
	int width = window.column_count - column;

	if (has_changed && width > CHANGED_MINIMUM)
		width -= 2 + window_put_right(window, at, window.column_count, width,
					      STYLE_VALUE_CHANGED, "changed");
	return width;
}

/* Writes the value, its type after the value, and "changed" at the end. */
static void put_value(struct window window, int at, int column, const struct locals_row *row)
{
	const struct variable *variable = row->variable;
	const char *value = variable->value != NULL ? variable->value : "?";
	int width = put_news(window, at, column, row->is_changed);
	int used;

	used = window_put(window, at, column, width, value_style(row), value);

	if (!is_type_obvious(variable) && width - used > 6)
		window_put(window, at, column + used + 2, width - used - 2, STYLE_VALUE_TYPE,
			   variable->type);
}

static int pane_locals_name_width(const struct locals_row *rows, size_t count, int limit)
{
	int widest = 1;

	for (size_t i = 0; i < count; i++) {
		int width;

		if (rows[i].kind == LOCALS_DISPLAY)
			width = text_width(rows[i].display->expression);
		else if (rows[i].kind == LOCALS_VARIABLE)
			width = 2 * rows[i].indent + text_width(rows[i].variable->name);
		else
			continue;
		if (width > widest)
			widest = width;
	}
	return widest < limit ? widest : limit;
}

static void put_more(struct window window, int row, const struct locals_row *more)
{
	struct buffer text = BUFFER_INIT;

	buffer_append_string(&text, "\u2026 ");
	text_count(&text, (uint64_t)more->left);
	buffer_append_string(&text, " more");
	window_put(window, row, 2 + 2 * more->indent, window.column_count, STYLE_DIM, text.data);
	buffer_clear(&text);
}

static void put_variable(struct window window, int at, const struct locals_row *row, int width)
{
	const struct variable *variable = row->variable;
	int indent = 2 * row->indent;

	if (variable->child_count > 0)
		window_put_character(window, at, indent, STYLE_DIM,
				     row->is_open ? OPEN_MARK : CLOSED_MARK);
	window_put(window, at, 2 + indent, width - indent,
		   row->is_stale ? STYLE_VALUE_STALE : STYLE_TEXT, variable->name);
	put_value(window, at, 2 + width + 2, row);
}

/* Writes the first line of a text, with a mark if more lines can be opened. */
static void pane_locals_put_line(struct window window, int at, int column, enum style style,
				 const struct locals_row *row)
{
	char *line = xstrndup(row->text, strcspn(row->text, "\n"));

	if (row->is_folded)
		window_put_character(window, at, column - 2, STYLE_DIM, CLOSED_MARK);
	window_put(window, at, column, window.column_count - column, style, line);
	free(line);
}

static void put_display(struct window window, int at, const struct display *display, int width)
{
	bool is_said = display->value != NULL;
	const char *text = is_said ? display->value : display->error;
	enum style style = is_said ? STYLE_TEXT : STYLE_ERROR;
	int column = 2 + width + 2;
	int room;

	window_put_character(window, at, 0, STYLE_DIM, DISPLAY_MARK);
	window_put(window, at, 2, width, STYLE_TEXT, display->expression);
	if (is_said && display->has_changed)
		style = STYLE_VALUE_CHANGED;
	room = put_news(window, at, column, is_said && display->has_changed);
	window_put(window, at, column, room, style, text != NULL ? text : "\u2026");
}

struct drawing {
	const struct locals_row *rows;
	int name_width;
	const char *waiting; /* text for variables that were not read yet */
};

static void pane_locals_put_row(struct window window, int at, int number, const void *data)
{
	const struct drawing *drawing = data;
	const struct locals_row *row = &drawing->rows[number];
	int width = drawing->name_width;
	int column = 2 + 2 * row->indent;

	switch (row->kind) {
	case LOCALS_RAISED:
		pane_locals_put_line(window, at, column, STYLE_ERROR, row);
		break;
	case LOCALS_RETURNED:
		column +=
			window_put(window, at, column, window.column_count, STYLE_DIM, "returns ");
		pane_locals_put_line(window, at, column, STYLE_TEXT, row);
		break;
	case LOCALS_DISPLAY:
		put_display(window, at, row->display, width);
		break;
	case LOCALS_VARIABLE:
		put_variable(window, at, row, width);
		break;
	case LOCALS_MORE:
		put_more(window, at, row);
		break;
	case LOCALS_WAITING:
		window_put_paragraph(window, at, column, window.row_count - at, STYLE_DIM,
				     drawing->waiting);
		break;
	case LOCALS_PROBLEM:
		window_put_paragraph(window, at, column, window.row_count - at, STYLE_DIM,
				     row->problem);
		break;
	}
}

void pane_locals(struct window window, const struct session *session, const struct view *view,
		 const struct locals_frame *frame, bool has_cursor)
{
	size_t count;
	struct locals_row *rows = pane_locals_rows(session, view, frame, &count);
	struct drawing drawing = {
		.rows = rows,
		.name_width = pane_locals_name_width(rows, count, window.column_count / 2),
		.waiting = rank_unread_reason(session, frame->rank),
	};
	struct list list = {
		.count = (int)count,
		.cursor = -1,
		.put_row = pane_locals_put_row,
	};

	if (drawing.waiting == NULL)
		drawing.waiting = "reading variables";
	if (has_cursor)
		list.cursor =
			view->locals_cursor < list.count ? view->locals_cursor : list.count - 1;
	/* In other views this pane has no cursor, so its rows are not mouse targets. */
	if (view->kind == VIEW_HOME)
		list.hit = MOUSE_TARGET_LOCAL;
	list_put(window, &list, &drawing);
	free(rows);
}
