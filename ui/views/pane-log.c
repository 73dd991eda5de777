/*
 * pane-log: the output of the selected rank, and probetui's own log below the output. The focused
 * part (output or log) is scrolled, searched and copied.
 */
#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/log.h"
#include "engine/engine.h"
#include "model/output.h"
#include "model/session.h"
#include "ui/app.h"
#include "ui/layout.h"
#include "ui/list.h"
#include "ui/pane.h"
#include "ui/view-type.h"

#define SENTENCE_ROWS 3

struct line_look {
	const char *mark; /* mark for terminals without colours */
	enum style style;
};

static const struct line_look looks[OUTPUT_KIND_COUNT] = {
	[OUTPUT_STDOUT] = { "  ", STYLE_TEXT },
	[OUTPUT_STDERR] = { "! ", STYLE_WARNING },
	[OUTPUT_NOTE] = { "~ ", STYLE_DIM },
};

static const struct output *selected_output(const struct session *session)
{
	const struct rank *rank = session_selected(session);

	if (rank == NULL)
		return NULL;
	return session_find_output(session, rank->node, rank->process.pid);
}

static int log_count(void)
{
	int count = 0;

	while (log_line((size_t)count) != NULL)
		count++;
	return count;
}

/* Returns the number of rows of the log; rows is the number of rows of output and log together. */
static int log_rows(int rows)
{
	int wanted = log_count();

	if (wanted > rows / 3)
		wanted = rows / 3;
	return wanted > 1 ? wanted : 1;
}

static int page_of(const struct view *view, int row_count)
{
	/* Subtract borders and separator. Few rows have no frame and show only the focused part. */
	int rows = row_count - 3;

	if (!pane_has_frame(row_count))
		return row_count;
	return view->log.is_focused ? log_rows(rows) : rows - log_rows(rows);
}

static void append_output(struct buffer *out, const struct session *session)
{
	const struct output *output = selected_output(session);

	for (size_t i = 0; output != NULL && i < output_count(output); i++) {
		const struct output_line *line = output_line(output, i);

		buffer_printf(out, "%s%s\n", looks[line->kind].mark, line->text);
	}
}

static void append_focused(struct buffer *out, const struct session *session,
			   const struct view *view)
{
	if (!view->log.is_focused) {
		append_output(out, session);
		return;
	}
	for (size_t i = 0; log_line(i) != NULL; i++)
		buffer_printf(out, "%s\n", log_line(i));
}

/* Returns the index of the first line to show, if count lines are shown in rows. */
static int pane_log_first_of(int scroll, int count, int rows)
{
	int last = count > rows ? count - rows : 0;

	return scroll < last ? scroll : last;
}

static void put_log(struct window window, int scroll)
{
	int first = pane_log_first_of(scroll, log_count(), window.row_count);

	if (log_count() == 0)
		window_put(window, 0, 1, window.column_count - 1, STYLE_DIM, "no messages");
	for (int row = 0; row < window.row_count; row++) {
		const char *line = log_line((size_t)(first + row));

		if (line == NULL)
			break;
		window_put(window, row, 1, window.column_count - 1, STYLE_TEXT, line);
	}
}

/* Returns why there is no output, or why output is missing; NULL if all output is known. */
static const char *missing(const struct session *session, const struct rank *rank,
			   const struct output *output)
{
	const char *lack;

	if (rank == NULL)
		return "no rank";
	if (output != NULL && (output->is_known || output->line_count > 0))
		return NULL;
	lack = recording_lack(session, "output not recorded (record with --record-output)");
	if (lack != NULL)
		return lack;
	if (rank->state == RANK_EXITED)
		return "the process exited before its output file was found";
	if (rank_unread_reason(session, rank) != NULL)
		return rank_unread_reason(session, rank);
	return "reading the output";
}

/*
 * Returns why, or another sentence if the output goes to the started job's terminal, which can be
 * shown.
 */
static const char *pane_log_sentence_of(const struct session *session, const char *why)
{
	const char *terminal = session->launching.job.terminal;

	if (why != NULL && terminal != NULL && strstr(why, terminal) != NULL)
		return "output goes to the terminal of the started job (press !)";
	return why;
}

/* Writes where the output goes if not to a file; returns the number of rows used. */
static int pane_log_put_sentences(struct window window, const struct session *session,
				  const struct output *output)
{
	int row = 0;

	for (int i = 0; i < OUTPUT_STREAMS; i++) {
		const char *why = pane_log_sentence_of(session, output->streams[i].why);

		if (i > 0 && why != NULL &&
		    why == pane_log_sentence_of(session, output->streams[0].why))
			continue;
		if (why != NULL && row < window.row_count) {
			window_put(window, row, 1, 2, looks[OUTPUT_NOTE].style,
				   looks[OUTPUT_NOTE].mark);
			row += window_put_paragraph(window, row, 3,
						    row + SENTENCE_ROWS < window.row_count
							    ? SENTENCE_ROWS
							    : window.row_count - row,
						    STYLE_DIM, why);
		}
	}
	return row;
}

void pane_output(struct window window, const struct session *session, int scroll)
{
	const struct output *output = selected_output(session);
	const char *problem = missing(session, session_selected(session), output);
	int row;
	int first;

	if (problem != NULL) {
		window_put_paragraph(window, 0, 1, window.row_count, STYLE_DIM, problem);
		return;
	}
	row = pane_log_put_sentences(window, session, output);
	first = pane_log_first_of(scroll, (int)output_count(output), window.row_count - row);
	if (output->line_count == 0 && row < window.row_count)
		window_put(window, row, 1, window.column_count - 1, STYLE_DIM,
			   "no output written to a file");
	for (int i = first; row < window.row_count; i++, row++) {
		const struct output_line *line;

		if ((size_t)i >= output_count(output))
			break;
		line = output_line(output, (size_t)i);
		window_put(window, row, 1, 2, looks[line->kind].style, looks[line->kind].mark);
		window_put(window, row, 3, window.column_count - 3, looks[line->kind].style,
			   line->text);
	}
}

void pane_output_title(const struct session *session, struct buffer *left, struct buffer *right)
{
	const struct rank *rank = session_selected(session);
	const struct output *output = selected_output(session);
	const char *path = NULL;
	const char *shared = NULL;

	buffer_append_string(left, "Output");
	if (rank != NULL)
		buffer_printf(left, " \u00b7 rank %d", rank->process.rank);
	if (output == NULL)
		return;
	for (int i = OUTPUT_STREAMS - 1; i >= 0; i--)
		if (output->streams[i].path != NULL) {
			path = output->streams[i].path;
			shared = output->streams[i].shared;
		}
	if (shared != NULL) {
		buffer_append_string(left, " \u00b7 ");
		output_append_shared(left, shared);
	}
	if (path != NULL)
		buffer_printf(left, " \u00b7 %s", path);
	buffer_append_string(right, "! stderr");
}

static void pane_log_put_title(struct window window, int row, bool is_log,
			       const struct session *session, const struct view *view)
{
	struct buffer left = BUFFER_INIT;
	struct buffer right = BUFFER_INIT;

	if (is_log)
		buffer_append_string(&left, "Log of probetui");
	else
		pane_output_title(session, &left, &right);
	pane_title(window, row, 1, window.column_count - 2, view->log.is_focused == is_log,
		   left.data, right.length > 0 ? right.data : NULL);
	buffer_clear(&right);
	buffer_clear(&left);
}

static void pane_log_draw(const struct scene *scene)
{
	struct window window = scene->body;
	const struct session *session = scene->session;
	const struct view *view = scene->view;
	struct window inner = pane_frame(window);
	int below = log_rows(inner.row_count - 1);
	int above = inner.row_count - 1 - below;
	int output_scroll = view->log.is_focused ? view->log.other_scroll : view->cursors[VIEW_LOG];
	int log_scroll = view->log.is_focused ? view->cursors[VIEW_LOG] : view->log.other_scroll;

	if (!pane_has_frame(window.row_count)) {
		if (view->log.is_focused)
			put_log(inner, log_scroll);
		else
			pane_output(inner, session, output_scroll);
		return;
	}
	window_horizontal(window, above + 1, 0, window.column_count, STYLE_BORDER);
	pane_log_put_title(window, 0, false, session, view);
	pane_log_put_title(window, above + 1, true, session, view);
	pane_output(window_part(inner, 0, 0, above, inner.column_count), session, output_scroll);
	put_log(window_part(inner, above + 1, 0, below, inner.column_count), log_scroll);
}

static void pane_log_opened(struct view *view)
{
	view->cursors[VIEW_LOG] = SCROLL_END;
	view->log.other_scroll = SCROLL_END;
	view->log.is_focused = false;
}

static bool pane_log_shows_output(const struct view *view)
{
	(void)view;
	return true;
}

static void pane_log_add_rows(struct search_text *lines, const struct app *app)
{
	append_focused(&lines->text, &app->engine->session, &app->view);
	search_text_take(lines, app->view.cursors[VIEW_LOG]);
}

/* If the move ends at the last line, new lines are followed. */
static void pane_log_move_cursor(struct app *app, const struct layout *layout, enum move move)
{
	int last = text_move(app, page_of(&app->view, layout->body.row_count), move);

	if (app->view.cursors[VIEW_LOG] == last)
		app->view.cursors[VIEW_LOG] = SCROLL_END;
}

/* Swaps the focus between output and log. */
static void switch_pane(struct view *view)
{
	int scroll = view->cursors[VIEW_LOG];

	view->cursors[VIEW_LOG] = view->log.other_scroll;
	view->log.other_scroll = scroll;
	view->log.is_focused = !view->log.is_focused;
}

static const struct hint hints[] = {
	{ { "rank previous", "rank next" }, "rank" },
	{ { "outlier previous", "outlier next" }, "outlier" },
	{ { "pane next", NULL }, "output, log" },
	{ { "cursor page-up", "cursor page-down" }, "page" },
	{ { "prompt search", NULL }, "find" },
	{ { "back", NULL }, "back" },
	{ .label = NULL },
};

const struct view_type view_log = {
	.is_overlay = true,
	.hints = hints,
	.draw = pane_log_draw,
	.shows_output = pane_log_shows_output,
	.opened = pane_log_opened,
	.add_rows = pane_log_add_rows,
	.move = pane_log_move_cursor,
	.switch_pane = switch_pane,
};
