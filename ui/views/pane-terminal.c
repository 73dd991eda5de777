/* pane-terminal: the terminal of the started job. */
#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/session.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/console.h"
#include "ui/list.h"
#include "ui/pane.h"
#include "ui/terminal.h"
#include "ui/view-type.h"

static const char *pane_terminal_lack_of(const struct session *session)
{
	const char *lack;

	if (session->launching.job.state == LAUNCHED_NONE)
		return "probetui has started no job: start one with `probetui -- PROGRAM ARGS...`";
	if (session->launching.transcript.bytes.length > 0)
		return NULL;
	lack = recording_lack(session, "job output not recorded (record with --record-output)");
	return lack != NULL ? lack : "no output yet";
}

static void pane_terminal_append_title(struct buffer *left, struct buffer *right,
				       const struct session *session, const struct view *view)
{
	int back = view->terminal.back;

	buffer_append_string(left, "Terminal");
	if (session->launching.job.state != LAUNCHED_NONE)
		buffer_append_string(left, " \u00b7 ");
	launching_append(left, session);
	if (back > 0) {
		text_count(right, (uint64_t)back);
		buffer_append_string(right, back == 1 ? " line back" : " lines back");
	}
}

/* Marks the cursor of the terminal. */
static void pane_terminal_put_cursor(struct window window, const struct console *console)
{
	int row;
	int column;

	terminal_cursor(console->terminal, &row, &column);
	if (row >= 0 && row < window.row_count && column < window.column_count)
		window_emphasise(window, row, column, 1, 1, EMPHASIS_REVERSE);
}

static void pane_terminal_draw(const struct scene *scene)
{
	struct window inner = scene->body;
	const struct session *session = scene->session;
	const struct console *console = &scene->view->terminal;
	const char *lack = pane_terminal_lack_of(session);

	if (lack != NULL)
		window_put_paragraph(inner, 0, 1, inner.row_count, STYLE_DIM, lack);
	if (lack != NULL || console->terminal == NULL)
		return;
	terminal_draw(inner, console->terminal, console->back);
	if (console->back == 0 && launching_is_alive(session))
		pane_terminal_put_cursor(inner, console);
}

static void pane_terminal_move_cursor(struct app *app, const struct layout *layout, enum move move)
{
	console_move(&app->view.terminal, view_page(layout), move);
}

static const struct hint hints[] = {
	{ { "cursor page-up", "cursor page-down" }, "page" },
	{ { "back", NULL }, "back" },
	{ .label = NULL },
};

const struct view_type view_terminal = {
	.is_overlay = true,
	.hints = hints,
	.is_typed_to = launching_is_alive,
	.typing_hints = console_typing_hints,
	.append_title = pane_terminal_append_title,
	.draw = pane_terminal_draw,
	.refresh = started_refresh,
	.key = started_takes,
	.move = pane_terminal_move_cursor,
};
