/*
 * pane-console: the terminal session with the debugger of the selected rank (or child); without a
 * debugger, a hint what to do.
 */
#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "engine/engine.h"
#include "model/session.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/console.h"
#include "ui/grid.h"
#include "ui/list.h"
#include "ui/pane.h"
#include "ui/terminal.h"
#include "ui/view-type.h"

/* Minimum columns for the typed line, also after a long prompt. */
#define LINE_COLUMNS 16

struct lack {
	enum debugger_state state;
	const char *says; /* reason, used if debugger.why is NULL */
	const char *help; /* what to do */
};

static const struct lack lacks[] = {
	{ DEBUGGER_NONE, "no debugger found",
	  "call probetui.set_trace() in the program, or connect to a pdb socket with `:connect "
	  "pdb:unix:PATH` or `:connect pdb:tcp:HOST:PORT`" },
	{ DEBUGGER_WAITING, "the debugger waits for a client", "press Enter to connect" },
	{ DEBUGGER_STALE, "no process listens on the debugger's socket",
	  "a new debugger is found when the program stops again" },
	{ DEBUGGER_REFUSED, "cannot connect to the debugger", "" },
	{ DEBUGGER_LOST, "the connection to the debugger is lost", "reconnect with `:connect`" },
};

static const struct lack *pane_console_lack_of(enum debugger_state state)
{
	for (size_t i = 0; i < ARRAY_LENGTH(lacks); i++)
		if (lacks[i].state == state)
			return &lacks[i];
	return NULL;
}

/* Appends why no line can be typed; appends nothing if a line can be typed. */
static void append_lack(struct buffer *out, const struct session *session,
			const struct console *console)
{
	const struct rank *rank = session_looked_at(session);
	const struct debugger *debugger;
	const struct lack *lack;
	const char *unrecorded =
		recording_lack(session, "debugger session not recorded (record with "
					"--record-output and --record-locals)");

	if (unrecorded != NULL) {
		if (console->terminal == NULL)
			buffer_append_string(out, unrecorded);
		return;
	}
	if (rank == NULL) {
		buffer_append_string(out, "no rank");
		return;
	}
	debugger = &rank->debugger;
	lack = pane_console_lack_of(debugger->state);
	if (lack == NULL)
		return;
	buffer_printf(out, "rank %d: ", rank->process.rank);
	if (debugger->why != NULL)
		text_escape(out, debugger->why, strlen(debugger->why));
	else
		buffer_append_string(out, lack->says);
	if (lack->help[0] != '\0')
		buffer_printf(out, "; %s", lack->help);
	if (debugger->state == DEBUGGER_WAITING && debugger->leaving != NULL) {
		buffer_append_string(out, "; ");
		text_escape(out, debugger->leaving, strlen(debugger->leaving));
	}
}

static void pane_console_append_title(struct buffer *left, struct buffer *right,
				      const struct session *session, const struct view *view)
{
	int back = view->console.back;
	const struct rank *rank = session_looked_at(session);
	const struct debugger *debugger;

	buffer_append_string(left, "Console");
	if (rank == NULL)
		return;
	debugger = &rank->debugger;
	buffer_printf(left, " \u00b7 rank %d", rank->process.rank);
	if (rank->parent != NULL)
		buffer_printf(left, " \u00b7 pid %d", (int)rank->process.pid);
	if (debugger->target != NULL)
		buffer_printf(left, " \u00b7 %s", debugger->target);
	if (back > 0) {
		text_count(right, (uint64_t)back);
		buffer_append_string(right, back == 1 ? " line back" : " lines back");
		return;
	}
	if (debugger->dialect != NULL)
		buffer_printf(right, "%s \u00b7 ", debugger->dialect);
	if (debugger->state != DEBUGGER_NONE)
		buffer_append_string(right, debugger_state_name(debugger->state));
}

/* Writes the typed line after the prompt; a long line is scrolled. */
static void pane_console_put_line(struct window window, const struct console *console)
{
	int row = 0;
	int column = 0;

	if (console->terminal != NULL)
		terminal_cursor(console->terminal, &row, &column);
	if (row < 0)
		row = window.row_count - 1;
	if (column > window.column_count - LINE_COLUMNS)
		column = window.column_count - LINE_COLUMNS;
	if (column < 0)
		column = 0;
	prompt_draw(window_part(window, row, column, 1, window.column_count - column),
		    &console->line);
}

static void pane_console_draw(const struct scene *scene)
{
	struct window inner = scene->body;
	const struct session *session = scene->session;
	const struct console *console = &scene->view->console;
	struct buffer lack = BUFFER_INIT;
	int rows = 0;

	append_lack(&lack, session, console);
	if (lack.length > 0)
		rows = window_put_paragraph(inner, 0, 1, inner.row_count, STYLE_DIM, lack.data);
	if (rows > 0 && console->terminal != NULL)
		rows++;
	inner = window_part(inner, rows, 0, inner.row_count - rows, inner.column_count);
	if (console->terminal != NULL)
		terminal_draw(inner, console->terminal, console->back);
	if (console_is_connected(session) && console->back == 0)
		pane_console_put_line(inner, console);
	buffer_clear(&lack);
}

void console_move(struct console *console, int page, enum move move)
{
	int history = console_history(console);
	int at = history - console->back;

	console_scroll(console, at - grid_move_in(at, history + 1, 1, page - 1, move));
}

static void pane_console_move_cursor(struct app *app, const struct layout *layout, enum move move)
{
	console_move(&app->view.console, view_page(layout), move);
}

static int pane_console_open_row(struct command_context *context, struct error *error)
{
	(void)error;
	connect_selected(command_app(context));
	return 0;
}

/* The debugger's session is followed only while the console is visible. */
static void pane_console_want(struct app *app, bool is_open)
{
	const struct rank *rank = session_looked_at(&app->engine->session);

	if (is_open && rank != NULL && debugger_is_ours(&rank->debugger))
		engine_follow_console(app->engine, rank->node, rank->process.pid);
	else
		engine_follow_console(app->engine, 0, 0);
}

static const struct hint hints[] = {
	{ { "rank previous", "rank next" }, "rank" },
	{ { "open", NULL }, "connect" },
	{ { "cursor page-up", "cursor page-down" }, "page" },
	{ { "back", NULL }, "back" },
	{ .label = NULL },
};

const struct typing_hint console_typing_hints[] = {
	{ "^]", "close", "back" },
	{ "PgUp PgDn", "scroll", NULL },
	{ "", "all other keys go to the program", NULL },
	{ .key = NULL },
};

const struct view_type view_console = {
	.is_overlay = true,
	.hints = hints,
	.is_typed_to = console_is_connected,
	.typing_hints = console_typing_hints,
	.append_title = pane_console_append_title,
	.draw = pane_console_draw,
	.refresh = console_refresh,
	.want = pane_console_want,
	.key = console_takes,
	.move = pane_console_move_cursor,
	.open = pane_console_open_row,
};
