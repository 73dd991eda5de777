#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/command.h"
#include "ui/commands.h"
#include "ui/keymap.h"
#include "ui/pane.h"

static void append_commands(struct buffer *out,
			    const struct command_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct command *command = &table->rows[i];
		struct buffer usage = BUFFER_INIT;

		if (!(command->flags & COMMAND_SCREEN))
			continue;
		buffer_printf(&usage, "%s %s", command->name,
			      command->arguments);
		buffer_append_string(out, usage.data);
		for (int i2 = text_width(usage.data); i2 < 28; i2++)
			buffer_append_char(out, ' ');
		buffer_printf(out, " %s\n", command->help);
		buffer_clear(&usage);
	}
}

static void append_help(struct buffer *out, const struct keymap *keymap)
{
	buffer_append_string(out, "Keys\n\n");
	keymap_describe(keymap, out);
	buffer_append_string(out, "\nCommands, behind a colon\n\n");
	append_commands(out, &ui_commands);
	append_commands(out, &engine_commands);
	buffer_append_string(
		out,
		"\nMarks\n\n"
		"\u25cf majority   \u25c6 outlier, or the smallest class   "
		"\u25b2 \u25bc \u2605 \u271a further classes\n"
		"\u25a0 stopped    \u2717 exited   ? not readable   "
		"~ read while it moved\n");
}

static void append_log(struct buffer *out)
{
	for (size_t i = 0; log_line(i) != NULL; i++)
		buffer_printf(out, "%s\n", log_line(i));
	if (out->length == 0)
		buffer_append_string(out, "Nothing was logged.\n");
}

void pane_text_append(struct buffer *out, const struct view *view,
		      const struct keymap *keymap)
{
	switch (view->kind) {
	case VIEW_HELP:
		append_help(out, keymap);
		break;
	case VIEW_LOG:
		append_log(out);
		break;
	case VIEW_TEXT:
		if (view->text != NULL)
			buffer_append_string(out, view->text);
		break;
	case VIEW_HOME:
	case VIEW_MERGED:
	case VIEW_DIFF:
	case VIEW_KIND_COUNT:
		break;
	}
}

static const char *const titles[VIEW_KIND_COUNT] = {
	[VIEW_HELP] = "Help",
	[VIEW_LOG] = "Log",
	[VIEW_TEXT] = "Output",
};

static int count_lines(const char *text)
{
	int count = 0;

	for (; *text != '\0'; text++)
		count += *text == '\n';
	return count;
}

void pane_text(struct window window, const struct view *view,
	       const struct keymap *keymap)
{
	struct window inner = window_part(window, 1, 1, window.row_count - 2,
					  window.column_count - 2);
	struct buffer text = BUFFER_INIT;
	char *at;
	int first = view->text_scroll;
	int last;

	pane_text_append(&text, view, keymap);
	last = count_lines(text.data) - inner.row_count;
	if (first > last)
		first = last > 0 ? last : 0;
	window_box(window, STYLE_BORDER);
	pane_title(window, 0, 1, window.column_count - 2, true,
		   titles[view->kind], NULL);
	at = text.data;
	for (int row = -first; row < inner.row_count && *at != '\0'; row++) {
		size_t length = strcspn(at, "\n");
		bool is_last = at[length] == '\0';

		at[length] = '\0';
		if (row >= 0)
			window_put(inner, row, 1, inner.column_count - 1,
				   STYLE_TEXT, at);
		at += length + !is_last;
	}
	buffer_clear(&text);
}
