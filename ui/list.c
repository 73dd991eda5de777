#include "ui/list.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/text.h"
#include "engine/engine.h"
#include "model/choice.h"
#include "model/place.h"
#include "model/source.h"
#include "protocol/stack.h"
#include "protocol/variable.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/layout.h"
#include "ui/pane.h"
#include "ui/ranklist.h"
#include "ui/view-type.h"
#include "ui/views/pane-breakpoints.h"

#define CURSOR_MARK 0x25b8 /* ▸ */
/* Number of lines for the whole text of a row that was cut. */
#define WHOLE_ROWS 3

static void list_put_cursor(struct window window, int line, const struct list *list)
{
	if (list->has_mark)
		window_put_character(window, line, list->mark_column, STYLE_TITLE_FOCUSED,
				     CURSOR_MARK);
	window_emphasise(window, line, 0, 1, window.column_count,
			 list->has_mark ? EMPHASIS_BOLD : EMPHASIS_SELECTED);
}

int list_first(int cursor, int row_count)
{
	return cursor >= row_count ? cursor - row_count + 1 : 0;
}

int list_put(struct window window, const struct list *list, const void *data)
{
	int height = list->height > 0 ? list->height : 1;
	int shown = window.row_count / height;
	int first = list_first(list->cursor, shown);
	int row = first;

	for (; row < list->count && row - first < shown; row++) {
		int line = (row - first) * height;

		list->put_row(window, line, row, data);
		if (list->hit != MOUSE_TARGET_NONE)
			window_hit(window, line, 0, height, window.column_count, list->hit, row);
		if (row == list->cursor)
			list_put_cursor(window, line, list);
	}
	return row - first;
}

struct window list_put_whole(struct window window, const char *text)
{
	int rest = window.row_count - WHOLE_ROWS - 1;
	struct buffer safe = BUFFER_INIT;
	bool is_cut;

	text_escape(&safe, text, strlen(text));
	is_cut = text_width(safe.data) > window.column_count - 2;
	buffer_clear(&safe);
	if (!is_cut || rest < WHOLE_ROWS)
		return window;
	window_horizontal(window, rest, 0, window.column_count, STYLE_BORDER);
	window_put_paragraph(window, rest + 1, 1, WHOLE_ROWS, STYLE_TEXT, text);
	return window_part(window, 0, 0, rest, window.column_count);
}

int view_page(const struct layout *layout)
{
	int page = layout->body.row_count;

	return pane_has_frame(page) ? page - 2 : page;
}

void list_move(struct app *app, int page, enum move move)
{
	enum view_kind kind = view_shown(&app->engine->session, &app->view);
	struct search_text rows;

	search_text_init(&rows, app);
	if (rows.count > 0)
		app->view.cursors[kind] = grid_move_in(rows.at, rows.count, 1, page, move);
	search_text_clear(&rows);
}

int text_move(struct app *app, int page, enum move move)
{
	int *first = &app->view.cursors[app->view.kind];
	struct search_text text;
	int last;

	search_text_init(&text, app);
	last = text.count - (page > 0 ? page : 1);
	if (last < 0)
		last = 0;
	search_text_clear(&text);
	*first = grid_move_in(*first < last ? *first : last, last + 1, 1, page, move);
	return last;
}

void search_text_end_line(struct search_text *lines)
{
	text_escape(&lines->text, lines->line.data, strlen(lines->line.data));
	buffer_append_char(&lines->text, '\n');
	buffer_reset(&lines->line);
	lines->count++;
}

static void collect_source(struct search_text *lines, const struct app *app)
{
	const struct session *session = &app->engine->session;
	const struct source *source = selected_source(session);

	for (size_t i = 1; source != NULL && i <= source->line_count; i++) {
		buffer_append_string(&lines->line, source_line(source, (int)i));
		search_text_end_line(lines);
	}
	if (source == NULL)
		return;
	lines->at = pane_source_line(session, &app->view) - 1;
}

/* Adds the ranks in the order of the grid, each with all columns of its row. */
static void search_text_collect_ranks(struct search_text *lines, const struct app *app)
{
	const struct session *session = &app->engine->session;
	struct ranklist list;

	ranklist_make(&list, session, &app->view);
	for (size_t i = 0; i < list.rank_count; i++) {
		for (int column = 0; column < COLUMN_COUNT; column++) {
			column_append(&lines->line, session, &app->view, list.ranks[i],
				      (enum column)column);
			buffer_append_char(&lines->line, ' ');
		}
		search_text_end_line(lines);
	}
	lines->at = list.at > 0 ? list.at : 0;
	ranklist_clear(&list);
}

static void collect_stack(struct search_text *lines, const struct app *app)
{
	const struct session *session = &app->engine->session;
	const struct thread *thread = session_selected_thread(session);
	const struct stack *stack = thread != NULL ? thread->sample.stack : NULL;

	for (size_t i = 0; stack != NULL && i < stack->frame_count; i++) {
		buffer_printf(&lines->line, "%s ", stack->frames[i].code->func);
		place_append(&lines->line, &stack->frames[i]);
		search_text_end_line(lines);
	}
	lines->at = session_selected_depth(session);
}

static void collect_locals(struct search_text *lines, const struct app *app)
{
	const struct session *session = &app->engine->session;
	struct locals_frame frame = locals_frame_selected(session);
	size_t count;
	struct locals_row *rows = pane_locals_rows(session, &app->view, &frame, &count);

	for (size_t i = 0; i < count; i++) {
		const struct variable *variable = rows[i].variable;

		if (variable != NULL)
			buffer_printf(&lines->line, "%s %s", variable->name,
				      variable->value != NULL ? variable->value : "");
		else if (rows[i].display != NULL)
			buffer_append_string(&lines->line, rows[i].display->expression);
		else if (rows[i].text != NULL)
			buffer_append(&lines->line, rows[i].text, strcspn(rows[i].text, "\n"));
		search_text_end_line(lines);
	}
	lines->at = app->view.locals_cursor;
	free(rows);
}

void home_add_rows(struct search_text *lines, const struct app *app)
{
	switch (app->view.pane) {
	case PANE_GRID:
		search_text_collect_ranks(lines, app);
		break;
	case PANE_SOURCE:
		collect_source(lines, app);
		break;
	case PANE_STACK:
		collect_stack(lines, app);
		break;
	case PANE_LOCALS:
		collect_locals(lines, app);
		break;
	case PANE_BREAKPOINTS:
		breakpoint_list_add_rows(lines, app);
		break;
	case PANE_COUNT:
		break;
	}
}

void search_text_take(struct search_text *lines, int at)
{
	for (size_t i = 0; i < lines->text.length; i++)
		lines->count += lines->text.data[i] == '\n';
	lines->at = at;
}

void search_text_init(struct search_text *lines, const struct app *app)
{
	const struct view_type *type = view_type_shown(&app->engine->session, &app->view);

	*lines = (struct search_text){ .text = BUFFER_INIT, .line = BUFFER_INIT };
	if (type->add_rows != NULL)
		type->add_rows(lines, app);
}

void search_text_clear(struct search_text *lines)
{
	buffer_clear(&lines->line);
	buffer_clear(&lines->text);
	*lines = (struct search_text){ .text = BUFFER_INIT, .line = BUFFER_INIT };
}

/* Returns the starts of the lines, to be freed; replaces the newlines in text by NULs. */
static char **split_lines(struct buffer *text, int count)
{
	char **lines = xcalloc((size_t)count + 1, sizeof(*lines));
	char *at = text->data;

	for (int i = 0; i < count; i++) {
		size_t length = strcspn(at, "\n");

		lines[i] = at;
		at[length] = '\0';
		at += length + 1;
	}
	return lines;
}

static struct found search_text_find_line(char *const *lines, int count, int at, const char *needle,
					  int direction)
{
	struct found found = { .line = -1 };

	for (int i = 1; i <= count && found.line < 0; i++) {
		int index = (at + direction * i) % count;

		if (index < 0)
			index += count;
		if (strstr(lines[index], needle) != NULL)
			found.line = index;
	}
	for (int i = 0; i < count && found.line >= 0; i++) {
		if (strstr(lines[i], needle) == NULL)
			continue;
		found.count++;
		if (i <= found.line)
			found.number++;
	}
	return found;
}

struct found search_text_find(const struct search_text *lines, const char *needle, int direction)
{
	int count = lines->count;
	/* The scroll position of a text may be beyond the end (SCROLL_END). */
	int at = lines->at < count ? lines->at : count - 1;
	struct buffer text = BUFFER_INIT;
	struct found found;
	char **starts;

	if (text_has_capital(needle))
		buffer_append(&text, lines->text.data, lines->text.length);
	else
		text_lower(&text, lines->text.data);
	starts = split_lines(&text, count);
	found = search_text_find_line(starts, count, at, needle, direction);
	free(starts);
	buffer_clear(&text);
	return found;
}
