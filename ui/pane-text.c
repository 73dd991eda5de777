#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "engine/command.h"
#include "ui/commands.h"
#include "ui/keymap.h"
#include "ui/pane.h"

static void append_help(struct buffer *out, const struct keymap *keymap)
{

	buffer_append_string(out, "Keys\n\n");
	keymap_describe(keymap, out);
	buffer_append_string(out, "\nCommands, behind a colon\n\n");
	command_append_help(out, &screen_commands);
	buffer_append_string(
		out,
		"\nMouse\n\n"
		"click          choose a rank, frame, variable, row, or a key of the last line\n"
		"second click   open it\n"
		"wheel          move in the pane under it\n"
		"Shift, drag    select text, as ever\n"
		"\nBehind the colon\n\n"
		"Tab S-Tab      complete, then the next, the previous of what fits\n"
		"Up Down        earlier and later lines; C-r those with what is typed\n"
		"C-a C-e        to the beginning, end\n"
		"C-u C-k C-w    erase to the beginning, to the end, a word\n"
		"\nMarks\n\n"
		"\u25cf majority   \u25c6 outlier, or the smallest class   \u25b2 \u25bc \u2605 "
		"\u271a further classes\n"
		"\u25a0 stopped    \u2717 exited   ? not readable   ~ read while it moved\n"
		"+ folded     - open\n");
}

void pane_text_append(struct buffer *out, const struct session *session, const struct view *view,
		      const struct keymap *keymap)
{
	switch (view->kind) {
	case VIEW_HELP:
		append_help(out, keymap);
		break;
	case VIEW_LOG:
		pane_log_append(out, session, view);
		break;
	case VIEW_TEXT:
		if (view->text != NULL)
			buffer_append_string(out, view->text);
		break;
	case VIEW_HOME:
	case VIEW_MERGED:
	case VIEW_DIFF:
	case VIEW_JOBS:
	case VIEW_CONSOLE:
	case VIEW_TERMINAL:
	case VIEW_REPL:
	case VIEW_TENSOR:
	case VIEW_BREAKPOINTS:
	case VIEW_COMPARE:
	case VIEW_DIFFERENCE:
	case VIEW_PARAMETERS:
	case VIEW_KIND_COUNT:
		break;
	}
}

static const char *const titles[VIEW_KIND_COUNT] = {
	[VIEW_HELP] = "Help",
	[VIEW_TEXT] = "Answer",
};

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

static int count_lines(const char *text)
{
	int count = 0;

	for (; *text != '\0'; text++)
		count += *text == '\n';
	return count;
}

void pane_text(struct window window, const struct session *session, const struct view *view,
	       const struct keymap *keymap)
{
	struct window inner = pane_frame(window);
	struct buffer text = BUFFER_INIT;
	char *at;
	int first = view->text_scroll;
	int last;
	struct buffer range = BUFFER_INIT;

	pane_text_append(&text, session, view, keymap);
	last = count_lines(text.data) - inner.row_count;
	if (first > last)
		first = last > 0 ? last : 0;
	pane_append_range(&range, first, inner.row_count, count_lines(text.data));
	if (pane_has_frame(window.row_count))
		pane_title(window, 0, 1, window.column_count - 2, true, titles[view->kind],
			   range.data);
	at = text.data;
	for (int row = -first; row < inner.row_count && *at != '\0'; row++) {
		size_t length = strcspn(at, "\n");
		bool is_last = at[length] == '\0';

		at[length] = '\0';
		if (row >= 0)
			window_put(inner, row, 1, inner.column_count - 1, STYLE_TEXT, at);
		at += length + !is_last;
	}
	buffer_clear(&range);
	buffer_clear(&text);
}
