/*
 * pane-console: the session with the debugger of the process that is looked
 * at, as a terminal shows it; where there is none, what to do.
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
#include "ui/commands-private.h"
#include "ui/console.h"
#include "ui/grid.h"
#include "ui/list.h"
#include "ui/pane.h"
#include "ui/terminal.h"
#include "ui/view-type.h"

/* Columns that what is typed has at least, behind whatever prompt. */
#define LINE_COLUMNS 16

struct lack {
	enum debugger_state state;
	const char *says; /* unless the debugger's why says it */
	const char *help; /* what to do */
};

static const struct lack lacks[] = {
	{ DEBUGGER_NONE, "no debugger was found in it",
	  "A program that calls probetui.set_trace(), or serves pdb on a socket, is found by "
	  "itself; connect pdb:unix:PATH or pdb:tcp:HOST:PORT names one." },
	{ DEBUGGER_WAITING, "its debugger waits for somebody to connect",
	  "Enter becomes its client." },
	{ DEBUGGER_STALE, "its debugger's socket is left over: no listener",
	  "Once the program stops anew, another is found by itself." },
	{ DEBUGGER_REFUSED, "its debugger is not ours to talk to", "" },
	{ DEBUGGER_LOST, "the connection to its debugger is lost",
	  "The command connect tries it again." },
};

static const struct lack *lack_of(enum debugger_state state)
{
	for (size_t i = 0; i < ARRAY_LENGTH(lacks); i++)
		if (lacks[i].state == state)
			return &lacks[i];
	return NULL;
}

/* Why there is nothing to type to; nothing: there is. */
static void append_lack(struct buffer *out, const struct session *session,
			const struct console *console)
{
	const struct rank *rank = session_looked_at(session);
	const struct debugger *debugger;
	const struct lack *lack;

	if (session->is_replay) {
		if (console->terminal == NULL)
			buffer_append_string(out,
					     "The debugger's session is not in this recording; "
					     "with --record-output and --record-locals it is.");
		return;
	}
	if (rank == NULL) {
		buffer_append_string(out, "There is no rank.");
		return;
	}
	debugger = &rank->debugger;
	lack = lack_of(debugger->state);
	if (lack == NULL)
		return;
	buffer_printf(out, "Rank %d: ", rank->process.rank);
	if (debugger->why != NULL)
		text_escape(out, debugger->why, strlen(debugger->why));
	else
		buffer_printf(out, "%s.", lack->says);
	if (lack->help[0] != '\0')
		buffer_printf(out, " %s", lack->help);
	if (debugger->state == DEBUGGER_WAITING && debugger->leaving != NULL) {
		buffer_append_char(out, ' ');
		text_escape(out, debugger->leaving, strlen(debugger->leaving));
	}
}

static void append_title(struct buffer *left, struct buffer *right, const struct session *session,
			 const struct console *console)
{
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
	if (console->back > 0) {
		text_count(right, (uint64_t)console->back);
		buffer_append_string(right, console->back == 1 ? " line back" : " lines back");
		return;
	}
	if (debugger->dialect != NULL)
		buffer_printf(right, "%s \u00b7 ", debugger->dialect);
	if (debugger->state != DEBUGGER_NONE)
		buffer_append_string(right, debugger_state_name(debugger->state));
}

/* Behind the prompt, where the cursor is; its own scroll where it is long. */
static void put_line(struct window window, const struct console *console)
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

static void draw(const struct scene *scene)
{
	struct window window = scene->body;
	const struct session *session = scene->session;
	const struct view *view = scene->view;
	const struct console *console = &view->console;
	struct window inner = pane_frame(window);
	struct buffer left = BUFFER_INIT;
	struct buffer right = BUFFER_INIT;
	struct buffer lack = BUFFER_INIT;
	int rows = 0;

	append_title(&left, &right, session, console);
	if (pane_has_frame(window.row_count))
		pane_title(window, 0, 1, window.column_count - 2, true, left.data, right.data);
	append_lack(&lack, session, console);
	if (lack.length > 0)
		rows = window_put_paragraph(inner, 0, 1, inner.row_count, STYLE_DIM, lack.data);
	if (rows > 0 && console->terminal != NULL)
		rows++;
	inner = window_part(inner, rows, 0, inner.row_count - rows, inner.column_count);
	if (console->terminal != NULL)
		terminal_draw(inner, console->terminal, console->back);
	if (console_is_connected(session) && console->back == 0)
		put_line(inner, console);
	buffer_clear(&lack);
	buffer_clear(&right);
	buffer_clear(&left);
}

static int put_key(struct window window, int column, const char *key, const char *label)
{
	column += window_put(window, 0, column, window.column_count - column, STYLE_HINT_KEY, key);
	column += 1 + window_put(window, 0, column + 1, window.column_count - column - 1,
				 STYLE_HINT, label);
	return column + 2;
}

void pane_console_hints(struct window window)
{
	static const char rest[] = "all other keys are typed";
	int column = 1;
	int width;

	width = put_key(window, column, "^]", "leaves") - column - 2;
	window_hit_key(window, column, width, "back");
	column += width + 2;
	column = put_key(window, column, "PgUp PgDn", "scroll");
	if (text_width(rest) < window.column_count - column)
		window_put(window, 0, column, window.column_count - column, STYLE_HINT, rest);
}

void console_move(struct console *console, int page, enum move move)
{
	int history = console_history(console);
	int at = history - console->back;

	console_scroll(console,
		       at - grid_move_in(at, history + 1, 1, page > 1 ? page - 1 : 1, move));
}

static void move_cursor(struct app *app, const struct layout *layout, enum move move)
{
	console_move(&app->view.console, view_page(layout), move);
}

static int open_row(struct command_context *context, struct error *error)
{
	(void)error;
	connect_selected(command_app(context));
	return 0;
}

/* A debugger's session is followed while it is seen. */
static void want(struct app *app, bool is_open)
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

const struct view_type view_console = {
	.copied = "This text",
	.is_overlay = true,
	.hints = hints,
	.leaving_key = "^]",
	.is_typed_to = console_is_connected,
	.put_typing_hints = pane_console_hints,
	.draw = draw,
	.refresh = console_refresh,
	.want = want,
	.key = console_takes,
	.move = move_cursor,
	.open = open_row,
};
