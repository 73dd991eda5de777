#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "engine/engine.h"
#include "model/debug-state.h"
#include "model/place.h"
#include "model/session.h"
#include "model/source.h"
#include "protocol/stack.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/grid.h"
#include "ui/layout.h"
#include "ui/pane.h"
#include "ui/ranklist.h"
#include "ui/stopped-text.h"
#include "ui/view-type.h"
#include "ui/views/pane-breakpoints.h"

static struct window inside(struct window window, const struct box *box)
{
	return window_part(window, box->row, box->column, box->row_count, box->column_count);
}

static struct window around(struct window window, const struct box *box)
{
	return window_part(window, box->row - 1, box->column - 1, box->row_count + 2,
			   box->column_count + 2);
}

/*
 * Appends "Ranks · 64 a row · grouped by host · by rank"; for a table without the sort order, which
 * is in the table's head.
 */
static void title_grid(const struct session *session, const struct view *view,
		       const struct layout *layout, const struct ranklist *list,
		       struct buffer *left)
{
	static const char *const groupings[GROUPING_COUNT] = {
		[GROUPING_CLASS] = " \u00b7 grouped by class",
		[GROUPING_HOST] = " \u00b7 grouped by host",
	};
	const struct rank_order *order = &view->order;
	bool is_cells = layout->grid == GRID_CELLS;
	struct cells cells;

	buffer_append_string(left, "Ranks");
	if (is_cells && list->group_count == 0) {
		cells_make(&cells, list, session, view, layout->panes[PANE_GRID].column_count);
		buffer_printf(left, " \u00b7 %d a row", cells.across);
		cells_clear(&cells);
	}
	if (groupings[order->grouping] != NULL)
		buffer_append_string(left, groupings[order->grouping]);
	if (!is_cells && order->sort == COLUMN_RANK && !order->is_reversed)
		return;
	buffer_printf(left, " \u00b7 by %s%s", column_name(order->sort),
		      order->is_reversed ? ", reversed" : "");
}

/* Appends "rank 3", and the role and pid of a child. */
static void append_process(struct buffer *out, const struct rank *rank)
{
	const char *role = rank->process.role;

	buffer_printf(out, "rank %d", rank->process.rank);
	if (rank->parent != NULL)
		buffer_printf(out, " %s %d", role != NULL ? role : "child", (int)rank->process.pid);
}

static void title_source(const struct session *session, struct buffer *left, struct buffer *right)
{
	const struct frame *frame = selected_frame(session);
	const struct rank *rank = session_looked_at(session);
	const struct source *source = selected_source(session);

	buffer_append_string(left, "Source");
	if (frame == NULL || rank == NULL)
		return;
	buffer_printf(left, " \u00b7 %s \u00b7 ", place_file_name(frame->code->file));
	append_process(left, rank);
	if (rank_append_change(right, rank))
		return;
	if (source != NULL && source->is_changed)
		buffer_append_string(right, "file changed since the process started");
}

/*
 * True if probetui is connected to an agent that does not answer: the data is then read without the
 * agent.
 */
static bool is_agent_silent(const struct rank *rank)
{
	const struct debugger *debugger = &rank->debugger;

	return debugger_is_of(debugger, "http") &&
	       (debugger->state == DEBUGGER_CONNECTING || debugger->state == DEBUGGER_LOST);
}

static void title_stack(const struct session *session, struct buffer *left, struct buffer *right)
{
	const struct rank *rank = session_looked_at(session);
	const struct thread *thread = session_selected_thread(session);
	const struct stack *stack = session_shown_stack(session, thread);

	buffer_append_string(left, "Stack");
	if (thread == NULL)
		return;
	buffer_append_string(left, " \u00b7 ");
	if (thread->sample.is_main)
		buffer_append_string(left, "MainThread");
	else if (thread->sample.name != NULL)
		buffer_append_string(left, thread->sample.name);
	else
		buffer_printf(left, "thread %d", (int)thread->sample.tid);
	if (session->choice.shows_native && session_append_progress(right, session))
		return;
	if (session_find_stop(session, rank->node, rank->process.pid, thread->sample.tid) > 0)
		buffer_printf(right, "%s \u00b7 ",
			      rank->debugger.dialect != NULL ? rank->debugger.dialect
							     : rank->debugger.backend);
	else if (rank->state == RANK_EXITED)
		buffer_append_string(right, "last sample \u00b7 ");
	else if (rank->sample_source != NULL)
		buffer_append_string(right, "from agent \u00b7 ");
	else if (is_agent_silent(rank))
		buffer_append_string(right, "agent silent \u00b7 ");
	else if (thread->sample.exactness == TORN)
		buffer_append_string(right, "~ ");
	if (stack != NULL)
		text_count(right, stack->frame_count);
}

static void title_locals(const struct session *session, const struct view *view,
			 struct buffer *left, struct buffer *right)
{
	const struct frame *frame = selected_frame(session);
	const struct rank *rank = session_looked_at(session);
	const struct thread *thread = session_selected_thread(session);
	const struct variables *variables;

	buffer_append_string(left, "Locals");
	if (frame == NULL || rank == NULL)
		return;
	buffer_printf(left, " \u00b7 %s", frame->code->func);
	variables =
		session_find_variables(session, rank->node, rank->process.pid, thread->sample.tid,
				       session_selected_depth(session), 0, 0);
	if (variables == NULL)
		return;
	if (variables->exactness != NULL && strcmp(variables->exactness, "torn") == 0)
		buffer_append_string(right, "~ ");
	if (variables_are_stale(session, view, variables)) {
		buffer_append_string(right, "read ");
		text_age(right, session->now - variables->time);
		buffer_append_string(right, " ago");
	}
}

static void pane_home_put_title(struct window window, const struct session *session,
				const struct view *view, const struct layout *layout,
				const struct ranklist *list, enum pane pane)
{
	const struct box *box = &layout->panes[pane];
	struct buffer left = BUFFER_INIT;
	struct buffer right = BUFFER_INIT;

	switch (pane) {
	case PANE_GRID:
		title_grid(session, view, layout, list, &left);
		if (layout->grid == GRID_TABLE)
			pane_table_append_range(&right, list, box->row_count, box->column_count);
		break;
	case PANE_SOURCE:
		title_source(session, &left, &right);
		break;
	case PANE_STACK:
		title_stack(session, &left, &right);
		break;
	case PANE_LOCALS:
		title_locals(session, view, &left, &right);
		break;
	case PANE_BREAKPOINTS:
		buffer_append_string(&left, "Breakpoints");
		break;
	case PANE_COUNT:
		break;
	}
	pane_title(window, box->row - 1, box->column, box->column_count, view->pane == pane,
		   left.data, right.data);
	buffer_clear(&right);
	buffer_clear(&left);
}

static void put_pane(struct window window, const struct session *session, const struct view *view,
		     const struct layout *layout, const struct ranklist *list, enum pane pane)
{
	struct window part = inside(window, &layout->panes[pane]);
	struct window framed = around(window, &layout->panes[pane]);
	struct locals_frame frame;

	window_hit(framed, 0, 1, framed.row_count - 1, part.column_count, MOUSE_TARGET_PANE,
		   (int)pane);
	switch (pane) {
	case PANE_GRID:
		if (layout->grid == GRID_CARDS)
			pane_cards(framed, session, view, list, layout->cards_across);
		else if (layout->grid == GRID_CELLS)
			pane_cells(part, session, view, list);
		else
			pane_table(part, session, view, list);
		break;
	case PANE_SOURCE:
		pane_source(part, session, view);
		break;
	case PANE_STACK:
		pane_stack(part, session, view);
		break;
	case PANE_LOCALS:
		frame = locals_frame_selected(session);
		pane_locals(part, session, view, &frame, view->pane == PANE_LOCALS);
		break;
	case PANE_BREAKPOINTS:
		pane_breakpoints(part, session, view, view->pane == PANE_BREAKPOINTS, false);
		break;
	case PANE_COUNT:
		break;
	}
}

static void put_output(struct window window, const struct session *session, const struct box *box)
{
	struct buffer left = BUFFER_INIT;
	struct buffer right = BUFFER_INIT;

	window_box(around(window, box), STYLE_BORDER);
	pane_output_title(session, &left, &right);
	pane_title(window, box->row - 1, box->column, box->column_count, false, left.data,
		   right.length > 0 ? right.data : NULL);
	pane_output(inside(window, box), session, SCROLL_END);
	buffer_clear(&right);
	buffer_clear(&left);
}

static void put_merged(struct window window, const struct session *session, const struct view *view,
		       const struct box *box)
{
	struct merged merged;

	window_box(around(window, box), STYLE_BORDER);
	merged_make(&merged, session, view);
	pane_title(window, box->row - 1, box->column, box->column_count, false, "Merged stacks",
		   NULL);
	pane_merged_tree(inside(window, box), session, view, &merged, false);
	merged_clear(&merged);
}

static void put_panes(struct window window, const struct session *session, const struct view *view,
		      const struct layout *layout, const struct ranklist *list)
{
	if (layout->is_compact) {
		window_hit(window, layout->body.row, 0, layout->body.row_count,
			   layout->body.column_count, MOUSE_TARGET_PANE, PANE_GRID);
		pane_table(inside(window, &layout->body), session, view, list);
		return;
	}
	/* Draw the boxes first: their lines join, and titles are written over these lines. */
	for (int i = 0; i < PANE_COUNT; i++)
		if (layout->panes[i].row_count > 0)
			window_box(around(window, &layout->panes[i]), STYLE_BORDER);
	if (layout->merged.row_count > 0)
		put_merged(window, session, view, &layout->merged);
	if (layout->output.row_count > 0)
		put_output(window, session, &layout->output);
	for (int i = 0; i < PANE_COUNT; i++) {
		if (layout->panes[i].row_count <= 0)
			continue;
		put_pane(window, session, view, layout, list, (enum pane)i);
		if (i != PANE_GRID || layout->grid != GRID_CARDS)
			pane_home_put_title(window, session, view, layout, list, (enum pane)i);
	}
}

static void pane_home_draw(const struct scene *scene)
{
	struct ranklist list;

	ranklist_make(&list, scene->session, scene->view);
	put_panes(scene->screen, scene->session, scene->view, scene->layout, &list);
	ranklist_clear(&list);
}

/* Returns the window of the focused pane. */
static struct window searched(const struct scene *scene)
{
	const struct layout *layout = scene->layout;
	struct box box = layout->is_compact ? layout->body : layout->panes[scene->view->pane];

	/* Titles of cards are in the upper border. */
	if (layout->grid == GRID_CARDS && scene->view->pane == PANE_GRID) {
		box.row--;
		box.row_count++;
	}
	return inside(scene->screen, &box);
}

static bool pane_home_shows_output(const struct view *view)
{
	return !view->is_zoomed && layout_can_show_output(view);
}

static void pane_home_copy(struct buffer *out, const struct app *app)
{
	const char *sentence = app->engine->session.verdict.sentence;

	if (sentence != NULL)
		text_escape(out, sentence, strlen(sentence));
}

static const struct hint hints[] = {
	{ { "rank previous", "rank next" }, "rank" },
	{ { "outlier previous", "outlier next" }, "outlier" },
	{ { "merged", NULL }, "merged" },
	{ { "diff", NULL }, "diff" },
	{ { "pause", NULL }, "pause" },
	{ { "here break", NULL }, "break" },
	{ .label = NULL },
};

/* Replaces home's hints for a recording: a recording takes no commands for ranks. */
static const struct hint replay_hints[] = {
	{ { "rank previous", "rank next" }, "rank" },
	{ { "outlier previous", "outlier next" }, "outlier" },
	{ { "merged", NULL }, "merged" },
	{ { "diff", NULL }, "diff" },
	{ { "up", "down" }, "frame" },
	{ { "pane next", NULL }, "pane" },
	{ .label = NULL },
};

/* Replaces home's hints in a grid of many ranks. */
static const struct hint many_hints[] = {
	{ { "rank previous", "rank next" }, "rank" },
	{ { "outlier previous", "outlier next" }, "outlier" },
	{ { "sort next", NULL }, "sort" },
	{ { "group", NULL }, "group" },
	{ { "prompt filter", NULL }, "filter" },
	{ { "merged", NULL }, "merged" },
	{ .label = NULL },
};

/* Hints for a rank stopped at its debugger's prompt: stepping first. */
static const struct hint stopped_hints[] = {
	{ { "next", NULL }, "next" },	       { { "step", NULL }, "step" },
	{ { "finish", NULL }, "finish" },      { { "continue", NULL }, "continue" },
	{ { "up", "down" }, "frame" },	       { { "here break", NULL }, "break" },
	{ { "prompt watch", NULL }, "watch" }, { { "prompt compare", NULL }, "compare" },
	{ { "prompt focus", NULL }, "focus" }, { .label = NULL },
};

/* Hints for a post-mortem: there is nothing to step to. */
static const struct hint raised_hints[] = {
	{ { "up", "down" }, "frame" },
	{ { "continue", NULL }, "re-raise" },
	{ { "rank previous", "rank next" }, "rank" },
	{ { "outlier previous", "outlier next" }, "outlier" },
	{ { "merged", NULL }, "merged" },
	{ { "diff", NULL }, "diff" },
	{ .label = NULL },
};

/* Hints for a rank whose debugger waits for a client. */
static const struct hint waiting_hints[] = {
	{ { "connect", NULL }, "connect" },
	{ { "rank previous", "rank next" }, "rank" },
	{ { "outlier previous", "outlier next" }, "outlier" },
	{ { "merged", NULL }, "merged" },
	{ { "diff", NULL }, "diff" },
	{ { "pane next", NULL }, "pane" },
	{ .label = NULL },
};

/*
 * Returns the hints for the selected rank's debugger; NULL if this debugger cannot do anything now.
 */
static const struct hint *debugger_hints(const struct session *session, const struct view *view)
{
	const struct rank *rank = session_looked_at(session);

	if (!session_controls(session, rank))
		return NULL;
	if (view->pane == PANE_GRID && debug_state_is_waiting(rank))
		return waiting_hints;
	if (rank->debugger.state != DEBUGGER_STOPPED || !debug_state_is_stopped(rank))
		return NULL;
	if (rank->debugger.is_post_mortem)
		return raised_hints;
	return stopped_hints;
}

static const struct hint *pane_home_choose_hints(const struct session *session,
						 const struct view *view)
{
	const struct hint *chosen = debugger_hints(session, view);
	struct layout layout;

	if (chosen != NULL)
		return chosen;
	layout_make(&layout, session, view);
	if (view->pane == PANE_GRID && layout.grid != GRID_CARDS)
		return many_hints;
	return session->is_replay ? replay_hints : NULL;
}

const struct view_type view_home = {
	.copied = "verdict",
	.hints = hints,
	.choose_hints = pane_home_choose_hints,
	.draw = pane_home_draw,
	.searched = searched,
	.shows_output = pane_home_shows_output,
	.want = home_want,
	.add_rows = home_add_rows,
	.select = home_select,
	.move = home_move,
	.copy = pane_home_copy,
	.place = home_place,
	.open = home_open,
	.expand = home_expand,
	.toggle = home_toggle,
};

#define BYSTANDERS_MAXIMUM 8
#define EXAMPLE_COLUMN 22

static int put_looked_at(struct window window, int row, const struct session *session)
{
	struct buffer text = BUFFER_INIT;

	buffer_append_string(&text, "Searched ");
	text_count(&text, session->looked_at);
	buffer_append_string(&text, session->looked_at == 1 ? " process" : " processes");
	buffer_append_string(
		&text, " for a process group of torch.distributed, RANK, "
		       "HOROVOD_RANK, OMPI_COMM_WORLD_RANK, PMI_RANK, PMIX_RANK or SLURM_PROCID");
	row += window_put_paragraph(window, row, 3, 4, STYLE_TEXT, text.data);
	buffer_clear(&text);
	return row;
}

static int put_other_users(struct window window, int row, const struct session *session)
{
	struct buffer text = BUFFER_INIT;

	if (session->other_users == 0)
		return row;
	text_count(&text, session->other_users);
	buffer_append_string(&text, session->other_users == 1
					    ? " Python process belongs to another user"
					    : " Python processes belong to other users");
	buffer_append_string(&text, ": run `sudo probetui` to include them");
	row += window_put_paragraph(window, row, 3, 3, STYLE_TEXT, text.data);
	buffer_clear(&text);
	return row + 1;
}

/* Writes lines like "python (pid 4183)  train.py   is Python, but has no rank". */
static int put_bystanders(struct window window, int row, const struct session *session)
{
	size_t count = session->bystander_count;

	if (count > BYSTANDERS_MAXIMUM)
		count = BYSTANDERS_MAXIMUM;
	for (size_t i = 0; i < count; i++) {
		const struct bystander *bystander = &session->bystanders[i];
		struct buffer text = BUFFER_INIT;

		buffer_printf(&text, "%s (pid %d)  %s   %s",
			      bystander->name != NULL ? bystander->name : "?", (int)bystander->pid,
			      bystander->script != NULL ? bystander->script : "",
			      bystander->why != NULL ? bystander->why : "");
		window_put(window, row++, 5, window.column_count - 6, STYLE_TEXT, text.data);
		buffer_clear(&text);
	}
	if (count < session->bystander_count)
		window_put(window, row++, 5, window.column_count - 6, STYLE_DIM, "\u2026");
	return row;
}

static void put_example(struct window window, int row, const char *purpose, const char *line)
{
	int column = window.column_count >= 60 ? EXAMPLE_COLUMN : 4 + text_width(purpose);

	window_put(window, row, 3, window.column_count - 4, STYLE_DIM, purpose);
	window_put(window, row, column, window.column_count - column - 1, STYLE_TITLE, line);
}

/* Explains that no rank of the started job exists. */
static void pane_nothing_put_job(struct window window, const struct session *session)
{
	const struct launched *job = &session->launching.job;
	bool is_alive = launching_is_alive(session);
	struct buffer text = BUFFER_INIT;
	int row = 1;

	launching_append(&text, session);
	row += window_put_paragraph(window, row, 3, 3, STYLE_TITLE_FOCUSED, text.data);
	buffer_reset(&text);
	if (is_alive)
		buffer_append_string(&text,
				     "Waiting for ranks of the job (processes that run Python)");
	else
		buffer_append_string(&text, "No rank of the job was found");
	row += window_put_paragraph(window, row + 1, 3, 3, STYLE_TEXT, text.data);
	buffer_reset(&text);
	if (job->error != NULL)
		text_escape(&text, job->error, strlen(job->error));
	if (text.length > 0)
		row += window_put_paragraph(window, row + 1, 3, 3, STYLE_TEXT, text.data);
	window_put(window, row + 2, 3, window.column_count - 4, STYLE_TEXT,
		   is_alive ? "Press ! to show the job's terminal, q to quit"
			    : "Press ! to show the job's output, q to quit");
	buffer_clear(&text);
}

void pane_nothing(struct window window, const struct session *session)
{
	struct buffer text = BUFFER_INIT;
	int row = 1;

	if (session->node_count > 0 && session_gone_count(session) == session->node_count) {
		window_put_paragraph(window, row, 3, 4, STYLE_TEXT, rank_gone_sentence);
		return;
	}
	if (session->launching.job.state != LAUNCHED_NONE) {
		pane_nothing_put_job(window, session);
		return;
	}
	if (!session->is_discovered) {
		window_put(window, row, 3, window.column_count - 4, STYLE_TEXT,
			   "Searching for ranks");
		return;
	}
	window_put(window, row, 3, window.column_count - 4, STYLE_TITLE_FOCUSED, "No rank found");
	row = put_looked_at(window, row + 2, session) + 1;
	if (session->bystander_count > 0) {
		row = put_bystanders(window, row, session) + 1;
		buffer_printf(&text, "probetui --pid %d", (int)session->bystanders[0].pid);
		put_example(window, row, "Inspect a process:", text.data);
		buffer_clear(&text);
		row += 2;
	}
	row = put_other_users(window, row, session);
	window_put(window, row, 3, window.column_count - 4, STYLE_TEXT,
		   "Waiting for ranks to appear (q quits)");
}
