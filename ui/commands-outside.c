/*
 * commands-outside: commands that leave the screen: editor, clipboard, suspend.
 */
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/engine.h"
#include "protocol/stack.h"
#include "ui/app.h"
#include "ui/clipboard.h"
#include "ui/commands.h"
#include "ui/editor.h"
#include "ui/list.h"
#include "ui/pane.h"
#include "ui/screen.h"
#include "ui/view-type.h"

struct file_place home_place(const struct app *app)
{
	const struct session *session = &app->engine->session;
	const struct frame *frame = selected_frame(session);
	struct file_place found = { .rank = session_selected(session) };

	if (frame == NULL)
		return (struct file_place){ .rank = NULL };
	found.file = frame->code->file;
	found.line = pane_source_line(session, &app->view);
	return found;
}

static int edit_file(struct app *app, const struct file_place *place, const struct source *source,
		     struct error *error)
{
	char *path = editor_find(place->file, source, error);
	int result = -1;

	if (path != NULL)
		result = app_edit(app, path, place->line, error);
	free(path);
	return result;
}

static int edit_recorded(struct app *app, const struct file_place *place,
			 const struct source *source, struct error *error)
{
	char *path = scratch_write(place->file, source, error);
	int result = -1;

	if (path != NULL)
		result = app_edit_scratch(app, path, place->line, error);
	free(path);
	return result;
}

static int edit_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct app *app = command_app(context);
	const struct session *session = &app->engine->session;
	const struct view_type *type = view_type_shown(session, &app->view);
	struct file_place place = { .rank = NULL };
	const struct source *source;

	(void)arguments;
	if (type->place != NULL)
		place = type->place(app);
	if (place.rank == NULL)
		return error_set(error, "no source line is selected to open in an editor");
	source =
		session_find_source(session, place.rank->node, place.rank->process.pid, place.file);
	if (!session_controls(session, place.rank))
		return edit_recorded(app, &place, source, error);
	return edit_file(app, &place, source, error);
}

const struct command command_edit = {
	.name = "edit",
	.synopsis = "",
	.help = "open the selected line in $VISUAL or $EDITOR",
	.flags = COMMAND_SCREEN,
	.run = edit_run,
};

/* Appends the text of the shown view, as a shell command would print the text. */
static void commands_outside_append_shown(struct buffer *out, const struct app *app,
					  const struct view_type *type)
{
	struct search_text rows;

	if (type->copy != NULL) {
		type->copy(out, app);
		return;
	}
	search_text_init(&rows, app);
	buffer_append(out, rows.text.data, rows.text.length);
	search_text_clear(&rows);
}

static int copy_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct app *app = command_app(context);
	struct buffer text = BUFFER_INIT;
	struct buffer sequence = BUFFER_INIT;
	struct buffer said = BUFFER_INIT;
	const struct view_type *type = view_type_shown(&app->engine->session, &app->view);
	int result = -1;

	(void)arguments;
	commands_outside_append_shown(&text, app, type);
	if (text.length == 0)
		error_set(error, "the view has no text to copy");
	else
		result = clipboard_append(&sequence, text.data, getenv("TMUX") != NULL, error);
	if (result == 0) {
		if (app->screen != NULL)
			screen_write(app->screen, sequence.data, sequence.length);
		buffer_printf(&said, "%s copied to the terminal's clipboard: ",
			      type->copied != NULL ? type->copied : "text");
		text_count(&said, text.length);
		buffer_append_string(&said, " bytes");
		view_say(&app->view, false, said.data);
	}
	buffer_clear(&said);
	buffer_clear(&sequence);
	buffer_clear(&text);
	return result;
}

const struct command command_copy = {
	.name = "copy",
	.synopsis = "",
	.help = "in the home view: copy the verdict to the clipboard; in other views: copy the "
		"text of the view",
	.flags = COMMAND_MOVES | COMMAND_SCREEN,
	.run = copy_run,
};

static int suspend_run(struct command_context *context, const struct arguments *arguments,
		       struct error *error)
{
	struct app *app = command_app(context);

	(void)arguments;
	(void)error;
	if (app->screen == NULL)
		return 0;
	screen_suspend(app->screen);
	screen_size(app->screen, &app->view.row_count, &app->view.column_count);
	return 0;
}

const struct command command_suspend = {
	.name = "suspend",
	.synopsis = "",
	.help = "suspend to the shell; fg returns",
	.flags = COMMAND_MOVES | COMMAND_SCREEN,
	.run = suspend_run,
};
