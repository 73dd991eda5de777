#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "engine/command.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/grid.h"
#include "ui/keymap.h"
#include "ui/list.h"
#include "ui/pane.h"
#include "ui/view-type.h"

static void append_help(struct buffer *out, const struct keymap *keymap)
{

	buffer_append_string(out, "Keys\n\n");
	keymap_describe(keymap, out);
	buffer_append_string(out, "\nCommands (type : first)\n\n");
	command_append_help(out, &screen_commands);
	buffer_append_string(
		out,
		"\nMouse\n\n"
		"click          select a rank, frame, variable, row, or a key of the last line\n"
		"double click   open the item\n"
		"wheel          scroll the pane under the pointer\n"
		"Shift drag     select text with the terminal\n"
		"\nOn the command line (after :)\n\n"
		"Tab S-Tab      complete, then next, previous candidate\n"
		"Up Down        older, newer line of the history\n"
		"C-r            search the history for the typed text\n"
		"C-a C-e        go to the beginning, end of the line\n"
		"C-u C-k C-w    erase to the beginning, to the end, one word\n"
		"\nMarks\n\n"
		"\u25cf majority   \u25c6 outlier, or the smallest class   \u25b2 \u25bc \u2605 "
		"\u271a further classes\n"
		"\u25a0 stopped    \u2717 exited   ? not readable   ~ changed while read\n"
		"+ folded     - open\n");
}

void pane_append_range(struct buffer *out, int first, int rows, int count)
{
	if (rows <= 0 || rows >= count)
		return;
	text_count(out, (uint64_t)first + 1);
	buffer_append_char(out, '-');
	text_count(out, (uint64_t)(first + rows < count ? first + rows : count));
	buffer_append_string(out, " of ");
	text_count(out, (uint64_t)count);
}

/* Writes the lines from the cursor on. */
static void pane_text_put_text(const struct scene *scene, const char *title)
{
	struct window window = scene->body;
	struct window inner = pane_frame(window);
	struct buffer range = BUFFER_INIT;
	struct search_text text;
	int last;
	int first;
	char *at;

	search_text_init(&text, scene->app);
	last = text.count - inner.row_count;
	first = text.at;
	if (first > last)
		first = last > 0 ? last : 0;
	pane_append_range(&range, first, inner.row_count, text.count);
	if (pane_has_frame(window.row_count))
		pane_title(window, 0, 1, window.column_count - 2, true, title, range.data);
	at = text.text.data;
	for (int row = -first; row < inner.row_count && *at != '\0'; row++) {
		size_t length = strcspn(at, "\n");
		bool is_last = at[length] == '\0';

		at[length] = '\0';
		if (row >= 0)
			window_put(inner, row, 1, inner.column_count - 1, STYLE_TEXT, at);
		at += length + !is_last;
	}
	search_text_clear(&text);
	buffer_clear(&range);
}

static void pane_text_opened(struct view *view)
{
	view->cursors[view->kind] = 0;
}

static void pane_text_move_cursor(struct app *app, const struct layout *layout, enum move move)
{
	text_move(app, view_page(layout), move);
}

static const struct hint hints[] = {
	{ { "cursor page-up", "cursor page-down" }, "page" },
	{ { "prompt search", NULL }, "find" },
	{ { "back", NULL }, "back" },
	{ .label = NULL },
};

static void draw_help(const struct scene *scene)
{
	pane_text_put_text(scene, "Help");
}

static void add_help(struct search_text *lines, const struct app *app)
{
	append_help(&lines->text, &app->keymap);
	search_text_take(lines, app->view.cursors[VIEW_HELP]);
}

const struct view_type view_help = {
	.is_overlay = true,
	.hints = hints,
	.draw = draw_help,
	.opened = pane_text_opened,
	.add_rows = add_help,
	.move = pane_text_move_cursor,
};

static void draw_text(const struct scene *scene)
{
	pane_text_put_text(scene, "Answer");
}

static void pane_text_add_text(struct search_text *lines, const struct app *app)
{
	if (app->view.text.content != NULL)
		buffer_append_string(&lines->text, app->view.text.content);
	search_text_take(lines, app->view.cursors[VIEW_TEXT]);
}

const struct view_type view_text = {
	.is_overlay = true,
	.hints = hints,
	.draw = draw_text,
	.opened = pane_text_opened,
	.refresh = text_refresh,
	.add_rows = pane_text_add_text,
	.move = pane_text_move_cursor,
};
