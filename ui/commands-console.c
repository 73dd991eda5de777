/*
 * commands-console: the view of the debugger's console, and the keys of the view.
 */
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "engine/arguments.h"
#include "engine/engine.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/commands.h"
#include "ui/layout.h"
#include "ui/pane.h"

static int console_run(struct command_context *context, const struct arguments *arguments,
		       struct error *error)
{
	struct session *session = &context->engine->session;
	const struct rank *rank = session_selected(session);

	(void)arguments;
	(void)error;
	/* Pin the selected rank: typed text must not go to another rank's debugger if the default
	 * selection moves. */
	if (rank != NULL && session->choice.selection.rank < 0)
		session->choice.selection.rank = rank->process.rank;
	view_open(&command_app(context)->view, VIEW_CONSOLE);
	return 0;
}

const struct command command_console = {
	.name = "console",
	.synopsis = "",
	.help = "open the console of the debugger; ^] leaves it",
	.flags = COMMAND_SCREEN,
	.run = console_run,
};

static void commands_console_type(struct app *app, const char *text)
{
	const struct rank *rank = session_looked_at(&app->engine->session);

	if (*text != '\0' && rank != NULL)
		engine_type(app->engine, rank->process.pid, text);
}

/*
 * Without a connected debugger, text that is typed for the debugger must not run commands on the
 * job: only commands that move or show (COMMAND_MOVES) are allowed.
 */
static bool is_harmless(const char *line)
{
	struct arguments arguments;
	bool is = commands_parse(&arguments, line, NULL) == 0 && arguments.command != NULL &&
		  (arguments.command->flags & COMMAND_MOVES);

	arguments_clear(&arguments);
	return is;
}

static bool refuses(struct app *app, const char *key)
{
	const char *line = keymap_find(&app->keymap, NULL, key);

	if (line == NULL || is_harmless(line))
		return false;
	view_say(&app->view, false, "no debugger is connected here; Esc leaves the console.");
	return true;
}

bool console_takes(struct app *app, const char *key)
{
	struct buffer text = BUFFER_INIT;

	if (strcmp(key, "C-]") == 0) {
		commands_run(app, "back");
		return true;
	}
	console_look(&app->view.console, &app->engine->session);
	if (!console_is_connected(&app->engine->session))
		return refuses(app, key);
	if (strcmp(key, "PgUp") == 0)
		commands_run(app, "cursor page-up");
	else if (strcmp(key, "PgDn") == 0)
		commands_run(app, "cursor page-down");
	else if (strcmp(key, "C-l") == 0)
		commands_run(app, "redraw");
	else if (!console_key(&app->view.console, key, &text))
		view_say(&app->view, false,
			 "^] leaves the console; other keys go to the debugger.");
	commands_console_type(app, text.data);
	buffer_clear(&text);
	return true;
}

void console_refresh(struct app *app, bool is_open)
{
	struct buffer answers = BUFFER_INIT;
	struct layout layout;
	int frame = 0;

	if (!is_open)
		return;
	layout_make(&layout, &app->engine->session, &app->view);
	if (pane_has_frame(layout.body.row_count))
		frame = 2;
	console_update(&app->view.console, &app->engine->session, layout.body.row_count - frame,
		       layout.body.column_count - frame, &answers);
	commands_console_type(app, answers.data);
	buffer_clear(&answers);
}
