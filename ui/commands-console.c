/*
 * commands-console: the view of the debugger's console, and the keys of the view.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/arguments.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "ui/app.h"
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
	.help = "open the console of the selected rank's debugger (^] closes it)",
	.flags = COMMAND_SCREEN,
	.run = console_run,
};

static void commands_console_type(struct app *app, const char *text)
{
	const struct rank *rank = session_looked_at(&app->engine->session);

	if (*text != '\0' && rank != NULL)
		engine_type(app->engine, rank->node, rank->process.pid, text);
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
	view_say(&app->view, false,
		 "probetui is not connected to a debugger of the rank (Esc closes the console)");
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
		view_say(&app->view, false, "^] closes the console; other keys go to the debugger");
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

/*
 * The view of the started job's terminal, the keys of the view, and the question
 * whether to detach from the job or end it.
 */

/*
 * Rows around the job's terminal (header, verdict with two lines, hints, border), and columns
 * (border).
 */
#define ROWS_AROUND 6
#define COLUMNS_AROUND 2
#define ROWS_LEAST 4
/* Bytes of keys that are collected before a request is sent; a request takes at most 16 KB. */
#define TYPED_AT_ONCE ((size_t)8 << 10)
#define COLUMNS_LEAST 20

void started_terminal_size(int row_count, int column_count, int *rows, int *columns)
{
	*rows = row_count - ROWS_AROUND;
	*columns = column_count - COLUMNS_AROUND;
	if (*rows < ROWS_LEAST)
		*rows = ROWS_LEAST;
	if (*columns < COLUMNS_LEAST)
		*columns = COLUMNS_LEAST;
}

static int terminal_run(struct command_context *context, const struct arguments *arguments,
			struct error *error)
{
	(void)arguments;
	(void)error;
	view_open(&command_app(context)->view, VIEW_TERMINAL);
	return 0;
}

const struct command command_terminal = {
	.name = "terminal",
	.synopsis = "",
	.help = "open the terminal of the started job (^] closes it)",
	.flags = COMMAND_SCREEN,
	.run = terminal_run,
};

static void send_typed(struct app *app, const char *text)
{
	json_t *arguments;

	if (*text == '\0')
		return;
	arguments = json_object();
	json_object_set_new(arguments, "data", json_string(text));
	request_post(app->engine, LOCAL_NODE, "jobInput", arguments);
}

void started_flush(struct app *app)
{
	send_typed(app, app->typed.data);
	buffer_reset(&app->typed);
}

/* Keys are appended to app->typed; started_flush() sends all of them at once. */
static void type_key(struct app *app, const char *key)
{
	struct buffer text = BUFFER_INIT;

	console_type(&app->view.terminal, key, &text);
	buffer_append(&app->typed, text.data, text.length);
	buffer_clear(&text);
}

bool started_takes(struct app *app, const char *key)
{
	if (!launching_is_alive(&app->engine->session))
		return false;
	if (strcmp(key, "C-]") == 0)
		commands_run(app, "back");
	else if (strcmp(key, "PgUp") == 0)
		commands_run(app, "cursor page-up");
	else if (strcmp(key, "PgDn") == 0)
		commands_run(app, "cursor page-down");
	else
		type_key(app, key);
	if (app->typed.length >= TYPED_AT_ONCE)
		started_flush(app);
	return true;
}

static void resize(struct app *app, int rows, int columns)
{
	struct engine *engine = app->engine;

	if ((rows == engine->job.rows && columns == engine->job.columns) ||
	    !launching_is_alive(&engine->session))
		return;
	engine->job.rows = rows;
	engine->job.columns = columns;
	request_post(engine, LOCAL_NODE, "jobResize",
		     json_pack("{s:i, s:i}", "rows", rows, "columns", columns));
}

void started_refresh(struct app *app, bool is_open)
{
	const struct session *session = &app->engine->session;
	struct buffer answers = BUFFER_INIT;
	int rows;
	int columns;

	started_terminal_size(app->view.row_count, app->view.column_count, &rows, &columns);
	resize(app, rows, columns);
	started_flush(app);
	if (!is_open)
		return;
	console_update_job(&app->view.terminal, session, rows, columns, &answers);
	if (launching_is_alive(session))
		send_typed(app, answers.data);
	buffer_clear(&answers);
}

static void commands_job_append_question(struct buffer *out, const struct session *session)
{
	char *held = control_end_question(session);
	const struct launched *job = &session->launching.job;

	buffer_append_string(out, held != NULL ? held : "Quit?");
	buffer_append_char(out, ' ');
	free(held);
	launching_append(out, session);
	buffer_append_string(out, ": [d]etach (job keeps running");
	if (job->log != NULL) {
		buffer_append_string(out, ", output in ");
		text_escape(out, job->log, strlen(job->log));
	}
	buffer_append_string(out, ")  [e]nd job  [Esc] cancel");
}

bool started_asks(struct app *app)
{
	static const struct view_choice choices[] = {
		{ "d", "quit detach" },
		{ "e", "quit end" },
		{ NULL, NULL },
	};
	struct buffer question = BUFFER_INIT;

	if (!launching_is_alive(&app->engine->session) || app->engine->settings.is_yes)
		return false;
	commands_job_append_question(&question, &app->engine->session);
	view_ask_which(&app->view, question.data, choices);
	buffer_clear(&question);
	return true;
}

void started_end(struct app *app)
{
	struct engine *engine = app->engine;
	bool is_again = app->is_ending;

	if (!launching_is_alive(&engine->session)) {
		app->is_done = true;
		return;
	}
	app->is_ending = true;
	request_post(engine, LOCAL_NODE, "jobEnd", json_pack("{s:b}", "now", is_again));
	view_say(&app->view, false,
		 is_again ? "SIGKILL sent to all processes of the job"
			  : "SIGTERM sent to the job, SIGKILL follows in 10 s (:quit end: now; "
			    ":quit detach: detach from the job)");
}

/* Closes the quit question, because the job has ended. */
static void answer_itself(struct app *app)
{
	struct buffer text = BUFFER_INIT;

	if (app->view.message.choices == NULL)
		return;
	launching_append(&text, &app->engine->session);
	buffer_append_string(&text, " (q quits probetui)");
	view_say(&app->view, false, text.data);
	buffer_clear(&text);
}

void started_check_end(struct app *app)
{
	if (!launching_is_alive(&app->engine->session))
		answer_itself(app);
	if (app->is_ending && !launching_is_alive(&app->engine->session))
		app->is_done = true;
}
