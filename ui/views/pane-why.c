/*
 * pane-why: the facts behind the verdict, one in a row: the collective, message or lock that ranks
 * wait in, and below it the ranks that they wait for.
 */
#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/collective-query.h"
#include "engine/engine.h"
#include "model/wait-graph.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/list.h"
#include "ui/pane.h"
#include "ui/view-type.h"

static void make_rows(struct wait_rows *rows, const struct session *session)
{
	struct wait_graph graph;

	wait_graph_make(&graph, session);
	wait_rows_make(rows, &graph);
	wait_graph_clear(&graph);
}

static void pane_why_want(struct app *app, bool is_open)
{
	if (is_open)
		collectives_follow(app->engine, true);
}

static void pane_why_put_row(struct window window, int line, int row, const void *data)
{
	const struct wait_rows *rows = data;
	const struct wait_row *shown = &rows->items[row];
	int indent = shown->is_missing ? 3 : 1;

	window_put(window, line, indent, window.column_count - indent - 1,
		   shown->is_missing ? STYLE_OUTLIER : STYLE_TEXT, shown->text);
}

static void pane_why_draw(const struct scene *scene)
{
	struct buffer nothing = BUFFER_INIT;
	struct wait_rows rows;
	struct list list = {
		.hit = MOUSE_TARGET_LIST,
		.put_row = pane_why_put_row,
	};
	struct window body = scene->body;

	make_rows(&rows, scene->session);
	list.count = (int)rows.count;
	list.cursor = view_cursor(scene->view, VIEW_WHY, rows.count);
	if (rows.count == 0) {
		wait_sentence_append_nothing(&nothing, scene->session);
		window_put_paragraph(scene->body, 0, 1, scene->body.row_count, STYLE_DIM,
				     nothing.data);
	}
	buffer_clear(&nothing);
	if (rows.count > 0)
		body = list_put_whole(body, rows.items[list.cursor].text);
	list_put(body, &list, &rows);
	wait_rows_clear(&rows);
}

static void pane_why_append_title(struct buffer *left, struct buffer *right,
				  const struct session *session, const struct view *view)
{
	(void)right;
	(void)session;
	(void)view;
	buffer_append_string(left,
			     "Why: who waits for whom; collectives by torch's Flight Recorder");
}

static void pane_why_add_rows(struct search_text *text, const struct app *app)
{
	struct wait_rows rows;

	make_rows(&rows, &app->engine->session);
	for (size_t i = 0; i < rows.count; i++) {
		buffer_append_string(&text->line, rows.items[i].is_missing ? "  " : "");
		buffer_append_string(&text->line, rows.items[i].text);
		search_text_end_line(text);
	}
	text->at = view_cursor(&app->view, VIEW_WHY, rows.count);
	wait_rows_clear(&rows);
}

/* Shows the first rank of the row under the cursor in the home view. */
static int pane_why_open(struct command_context *context, struct error *error)
{
	struct app *app = command_app(context);
	struct session *session = &app->engine->session;
	struct wait_rows rows;
	int rank = -1;

	make_rows(&rows, session);
	if (rows.count > 0)
		rank = rows.items[view_cursor(&app->view, VIEW_WHY, rows.count)].rank;
	wait_rows_clear(&rows);
	if (rank < 0 || !session_find_rank(session, rank))
		return error_set(error, "no rank in this row");
	select_rank(session, rank);
	view_open(&app->view, VIEW_HOME);
	return 0;
}

static const struct hint hints[] = {
	{ { "cursor up", "cursor down" }, "row" },
	{ { "open", NULL }, "open rank" },
	{ { "collectives", NULL }, "collectives" },
	{ { "back", NULL }, "back" },
	{ .label = NULL },
};

const struct view_type view_why = {
	.copied = "facts",
	.hints = hints,
	.append_title = pane_why_append_title,
	.draw = pane_why_draw,
	.want = pane_why_want,
	.add_rows = pane_why_add_rows,
	.open = pane_why_open,
};
