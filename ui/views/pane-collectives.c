/*
 * pane-collectives: what the ranks have called of torch.distributed, by process group, and below it
 * the newest calls of the selected rank beside the majority's.
 */
#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/collective-query.h"
#include "engine/engine.h"
#include "engine/format-collectives.h"
#include "model/group-table.h"
#include "protocol/collectives.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/list.h"
#include "ui/pane.h"
#include "ui/view-type.h"

/* Number of calls of the selected rank that are shown. */
#define CALLS_SHOWN 10

/* The row of the group on which the rank has an open call, else of its default group; NULL: none.
 */
static const struct group_row *find_shown_row(const struct group_table *table,
					      const struct rank *rank)
{
	const struct group_row *shown = NULL;

	for (size_t i = 0; i < table->count; i++) {
		const struct group_row *row = &table->rows[i];

		for (size_t j = 0; j < row->count; j++) {
			if (row->members[j].rank != rank)
				continue;
			if (group_member_open(&row->members[j]))
				return row;
			if (!shown)
				shown = row;
		}
	}
	return shown;
}

static void make_lines(struct call_lines *lines, const struct session *session)
{
	const struct rank *rank = session_selected(session);
	const struct group_row *row;
	struct group_table table;

	group_table_make(&table, session);
	for (size_t i = 0; i < table.count; i++)
		call_lines_add_group(lines, &table.rows[i]);
	row = rank && rank->collectives ? find_shown_row(&table, rank) : NULL;
	if (row)
		call_lines_add_beside(lines, rank, row, CALLS_SHOWN);
	group_table_clear(&table);
}

static void pane_collectives_want(struct app *app, bool is_open)
{
	if (is_open)
		collectives_follow(app->engine, true);
}

static void pane_collectives_put_line(struct window window, int line, int row, const void *data)
{
	const struct call_lines *lines = data;
	const struct call_line *shown = &lines->items[row];
	enum style style = shown->is_heading ? STYLE_TITLE : STYLE_TEXT;

	window_put(window, line, 1, window.column_count - 2,
		   shown->is_outlier ? STYLE_OUTLIER : style, shown->text);
}

/* Why there is nothing to show. */
static const char *why_nothing(const struct session *session)
{
	const char *lack;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct collectives *collectives = session->ranks[i]->collectives;

		if (collectives && collectives->missing)
			return collectives->missing;
		if (collectives)
			return "no rank has a process group of torch.distributed";
	}
	lack = recording_lack(session, "the recording has no collectives");
	return lack ? lack : "no rank has answered yet what it has called";
}

static void pane_collectives_draw(const struct scene *scene)
{
	struct call_lines lines = CALL_LINES_INIT;
	struct list list = {
		.hit = MOUSE_TARGET_LIST,
		.put_row = pane_collectives_put_line,
	};
	struct window body = scene->body;

	make_lines(&lines, scene->session);
	list.count = (int)lines.count;
	list.cursor = view_cursor(scene->view, VIEW_COLLECTIVES, lines.count);
	if (lines.count == 0)
		window_put_paragraph(scene->body, 0, 1, scene->body.row_count, STYLE_DIM,
				     why_nothing(scene->session));
	if (lines.count > 0)
		body = list_put_whole(body, lines.items[list.cursor].text);
	list_put(body, &list, &lines);
	call_lines_clear(&lines);
}

static void pane_collectives_append_title(struct buffer *left, struct buffer *right,
					  const struct session *session, const struct view *view)
{
	(void)right;
	(void)session;
	(void)view;
	buffer_append_string(left, "Collectives: newest call of each member, by process group");
}

static void pane_collectives_add_rows(struct search_text *text, const struct app *app)
{
	struct call_lines lines = CALL_LINES_INIT;

	make_lines(&lines, &app->engine->session);
	for (size_t i = 0; i < lines.count; i++) {
		buffer_append_string(&text->line, lines.items[i].text);
		search_text_end_line(text);
	}
	text->at = view_cursor(&app->view, VIEW_COLLECTIVES, lines.count);
	call_lines_clear(&lines);
}

/* Selects the first rank of the line under the cursor: its calls are then shown below. */
static int pane_collectives_open(struct command_context *context, struct error *error)
{
	struct app *app = command_app(context);
	struct session *session = &app->engine->session;
	struct call_lines lines = CALL_LINES_INIT;
	int rank = -1;

	make_lines(&lines, session);
	if (lines.count > 0)
		rank = lines.items[view_cursor(&app->view, VIEW_COLLECTIVES, lines.count)].rank;
	call_lines_clear(&lines);
	if (rank < 0 || !session_find_rank(session, rank))
		return error_set(error, "no rank in this line");
	select_rank(session, rank);
	return 0;
}

static const struct hint hints[] = {
	{ { "cursor up", "cursor down" }, "line" },
	{ { "open", NULL }, "select rank" },
	{ { "why", NULL }, "why" },
	{ { "back", NULL }, "back" },
	{ .label = NULL },
};

const struct view_type view_collectives = {
	.copied = "collectives",
	.hints = hints,
	.append_title = pane_collectives_append_title,
	.draw = pane_collectives_draw,
	.want = pane_collectives_want,
	.add_rows = pane_collectives_add_rows,
	.open = pane_collectives_open,
};
