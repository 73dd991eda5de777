/*
 * pane-repl: code that was sent to the focused ranks, the results with equal answers in one row,
 * and the line that is being typed.
 */
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "engine/engine.h"
#include "model/session.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/grid.h"
#include "ui/list.h"
#include "ui/view-type.h"

static const char *const helps[] = {
	"Python code runs in all focused ranks: in the selected frame of a stopped rank, in "
	"__main__ of a running rank",
	"A running rank needs an agent: inject one with `:inject`, or start the job with "
	"PROBETUI=1",
	"Tab completes names; an empty line ends a block",
};

static void pane_repl_append_title(struct buffer *left, struct buffer *right,
				   const struct session *session, const struct view *view)
{
	struct rankset ranks = RANKSET_INIT;

	if (session->choice.is_focus_all)
		session_add_ranks(session, &ranks);
	else
		rankset_copy(&ranks, &session->choice.focus);
	buffer_append_string(left, "Eval \u00b7 ranks ");
	rankset_append_counted(left, &ranks);
	if (view->repl.back > 0) {
		text_count(right, (uint64_t)view->repl.back);
		buffer_append_string(right, view->repl.back == 1 ? " line back" : " lines back");
	}
	rankset_clear(&ranks);
}

static void pane_repl_put_row(struct window window, int at, const struct repl_row *row)
{
	int column = row->column;

	window_put(window, at, 0, column, row->head_style, row->head);
	column +=
		window_put(window, at, column, window.column_count - column, row->style, row->text);
	if (row->note)
		window_put(window, at, column + 3, window.column_count - column - 3, STYLE_DIM,
			   row->note);
}

static void put_help(struct window window)
{
	int row = 0;

	for (size_t i = 0; i < sizeof(helps) / sizeof(helps[0]); i++)
		row += window_put_paragraph(window, row, 1, window.row_count - row, STYLE_DIM,
					    helps[i]);
}

static void pane_repl_put_line(struct window window, int row, const struct repl *repl)
{
	const char *label = repl_prompt(repl);
	int column = window_put(window, row, 0, window.column_count, STYLE_HINT_KEY, label);

	prompt_draw(window_part(window, row, column, 1, window.column_count - column), &repl->line);
}

static void pane_repl_draw(const struct scene *scene)
{
	struct window inner = scene->body;
	const struct repl *repl = &scene->view->repl;
	int room = inner.row_count - 1;
	struct repl_rows rows;
	int count;

	if (room < 0)
		return;
	repl_rows_make(&rows, scene->session, repl, inner.column_count,
		       (size_t)(room + repl->back));
	count = (int)rows.count - repl->back;
	if (count > room)
		count = room;
	for (int i = 0; i < count; i++)
		pane_repl_put_row(inner, i, &rows.items[repl->back + count - 1 - i]);
	pane_repl_put_line(inner, count > 0 ? count : 0, repl);
	if (rows.count == 0)
		put_help(window_part(inner, 2, 0, inner.row_count - 2, inner.column_count));
	repl_rows_clear(&rows);
}

static void pane_repl_move_cursor(struct app *app, const struct layout *layout, enum move move)
{
	struct repl *repl = &app->view.repl;
	int page = view_page(layout);
	int hidden = repl_hidden_rows(&app->engine->session, &app->view);
	int at = hidden - repl->back;

	repl->back = hidden - grid_move_in(at > 0 ? at : 0, hidden + 1, 1, page - 1, move);
}

static bool pane_repl_is_typed_to(const struct session *session)
{
	(void)session;
	return true;
}

static const struct typing_hint typing_hints[] = {
	{ "Esc", "close", "back" },
	{ "Tab", "complete", NULL },
	{ "Up", "history", NULL },
	{ "PgUp", "scroll", "cursor page-up" },
	{ "^T", "tracebacks", NULL },
	{ "^C", "discard line", NULL },
	{ .key = NULL },
};

const struct view_type view_repl = {
	.is_overlay = true,
	.is_typed_to = pane_repl_is_typed_to,
	.typing_hints = typing_hints,
	.append_title = pane_repl_append_title,
	.draw = pane_repl_draw,
	.key = repl_takes,
	.move = pane_repl_move_cursor,
};
