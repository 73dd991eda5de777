/*
 * commands-open: opening and folding the item under the cursor.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "engine/arguments.h"
#include "engine/engine.h"
#include "engine/jobs.h"
#include "model/debug-state.h"
#include "model/job.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/grid.h"
#include "ui/pane.h"
#include "ui/view-type.h"

/* Opens or closes the variable under the cursor, or requests the next page of variables. */
static void toggle_variable(struct app *app)
{
	struct view *view = &app->view;
	const struct session *session = &app->engine->session;
	struct locals_frame frame = locals_frame_selected(session);
	size_t count;
	struct locals_row *rows = pane_locals_rows(session, view, &frame, &count);
	const struct locals_row *row;

	if (view->locals_cursor >= (int)count)
		view->locals_cursor = count > 0 ? (int)count - 1 : 0;
	if (count == 0) {
		free(rows);
		return;
	}
	row = &rows[view->locals_cursor];
	if (row->kind == LOCALS_RAISED) {
		view->is_unfolded = !view->is_unfolded;
	} else if (row->kind == LOCALS_MORE) {
		if (!key_set_has(&view->opened, row->key))
			key_set_add_page(&view->opened, row->key);
		key_set_add_page(&view->opened, row->key);
	} else if (row->kind == LOCALS_VARIABLE && row->is_open) {
		key_set_remove(&view->opened, row->key);
	} else if (row->kind == LOCALS_VARIABLE && row->variable->child_count > 0) {
		key_set_add_page(&view->opened, row->key);
	} else if (row->kind == LOCALS_VARIABLE && debug_state_is_stopped(frame.rank)) {
		struct error error = ERROR_INIT;

		if (prompt_assign(app, &error) < 0)
			app_say_error(app, &error);
	}
	free(rows);
}

/*
 * Returns the name of the variable under the cursor; returns NULL and sets the error if the
 * variable cannot be set.
 */
static const char *name_to_assign(const struct locals_row *row, const struct rank *rank,
				  struct error *error)
{
	if (row == NULL || row->kind != LOCALS_VARIABLE || row->indent > 0) {
		error_set(error, "no variable of the frame under the cursor of the locals: use "
				 "`:assign NAME = VALUE`");
		return NULL;
	}
	if (debug_state_is_stopped(rank))
		return row->variable->name;
	error_set(error,
		  "rank %d is running: pause the rank (p) to set locals, or set a name of __main__ "
		  "with `:eval NAME = VALUE`",
		  rank->process.rank);
	return NULL;
}

int prompt_assign(struct app *app, struct error *error)
{
	const struct session *session = &app->engine->session;
	struct locals_frame frame = locals_frame_selected(session);
	size_t count;
	struct locals_row *rows = pane_locals_rows(session, &app->view, &frame, &count);
	const struct locals_row *row = NULL;
	const char *name;

	if (app->view.kind == VIEW_HOME && app->view.locals_cursor < (int)count)
		row = &rows[app->view.locals_cursor];
	name = name_to_assign(row, frame.rank, error);
	if (name != NULL) {
		char *text = xasprintf("%s = ", name);

		prompt_open(&app->view.prompt, PROMPT_ASSIGN, text);
		free(text);
	}
	free(rows);
	return name != NULL ? 0 : -1;
}

/* Folds or opens the group or the rank's children under the grid's cursor. Returns false if nothing
 * under the cursor can be folded. */
static bool fold_in_grid(struct app *app, bool is_group_only)
{
	struct session *session = &app->engine->session;
	struct ranklist_row row;
	bool is_done = false;
	struct grid grid;

	grid_make(&grid, session, &app->view);
	if (grid.layout.grid == GRID_TABLE && grid.list.cursor >= 0) {
		row = grid.list.rows[grid.list.cursor];
		if (row.kind == RANKLIST_GROUP || !is_group_only)
			is_done = ranklist_fold(&grid.list, &app->view, &row);
	} else if (grid.layout.grid == GRID_CELLS && grid.list.at >= 0) {
		row = (struct ranklist_row){ .kind = RANKLIST_GROUP, .at = (size_t)grid.list.at };
		if (grid.list.group_count > 0 && !is_group_only)
			is_done = ranklist_fold(&grid.list, &app->view, &row);
	}
	grid_clear(&grid);
	return is_done;
}

/* If nothing under the cursor can be folded, toggles the whole legend, or the library frames. */
static void expand_grid(struct app *app)
{
	struct layout layout;

	if (fold_in_grid(app, false))
		return;
	layout_make(&layout, &app->engine->session, &app->view);
	if (layout.grid == GRID_CELLS)
		app->view.order.is_legend_whole = !app->view.order.is_legend_whole;
	else
		app->view.is_unfolded = !app->view.is_unfolded;
}

static void expand_pane(struct app *app)
{
	if (app->view.pane == PANE_LOCALS)
		toggle_variable(app);
	else
		app->view.is_unfolded = !app->view.is_unfolded;
}

int home_expand(struct app *app, struct error *error)
{
	if (is_on_breakpoints(app))
		return toggle_breakpoint(app, error);
	if (app->view.pane == PANE_GRID)
		expand_grid(app);
	else
		expand_pane(app);
	return 0;
}

static int expand_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct app *app = command_app(context);
	const struct view_type *type = view_type_of(app->view.kind);

	(void)arguments;
	if (type->expand != NULL)
		return type->expand(app, error);
	expand_pane(app);
	return 0;
}

const struct command command_expand = {
	.name = "expand",
	.alias = "fold",
	.synopsis = "",
	.help = "expand or collapse the item under the cursor",
	.flags = COMMAND_SCREEN,
	.run = expand_run,
};

static bool is_on_fold(const struct app *app)
{
	const struct session *session = &app->engine->session;
	int depth = session_selected_depth(session);
	bool is_fold = false;
	struct stack_row *rows;
	size_t count;

	if (session_selected(session) == NULL)
		return false;
	rows = pane_stack_rows(session, app->view.is_unfolded, &count);
	for (size_t i = 0; i < count; i++)
		is_fold |= rows[i].depth >= 0 && rows[i].count > 1 && depth >= rows[i].depth &&
			   depth < rows[i].depth + rows[i].count;
	free(rows);
	return is_fold;
}

/* Opens the job in the home view. If the job was opened from the list of jobs, "back" returns to
 * the list. */
void choose_job(struct app *app, size_t index)
{
	struct view *view = &app->view;

	view->is_in_job = view_lists_jobs(&app->engine->session, view);
	view->cursors[VIEW_MERGED] = -1;
	view->cursors[VIEW_DIFF] = 0;
	view->cursors[VIEW_JOBS] = (int)index;
	view_open(view, VIEW_HOME);
	jobs_list(app->engine, false);
	session_choose_job(&app->engine->session, index);
	session_judge(&app->engine->session);
	/* The new job has other processes to sample. */
	if (app->engine->sampling_period > 0)
		engine_sample_every(app->engine, app->engine->sampling_period);
	else
		engine_sample_once(app->engine);
}

static int jobs_on_screen(struct command_context *context, const struct arguments *arguments,
			  struct error *error)
{
	struct app *app = command_app(context);
	struct session *session = &app->engine->session;

	(void)arguments;
	(void)error;
	if (view_lists_jobs(session, &app->view))
		return 0;
	if (session->job >= 0)
		app->view.cursors[VIEW_JOBS] = session->job;
	view_open(&app->view, VIEW_JOBS);
	jobs_list(app->engine, true);
	return 0;
}

const struct command_hook screen_jobs = { .command = &command_jobs, .run = jobs_on_screen };

static int job_run(struct command_context *context, const struct arguments *arguments,
		   struct error *error)
{
	struct app *app = command_app(context);
	int index;

	index = job_find(&app->engine->session, arguments->words[0]);
	if (index < 0)
		return error_set(error,
				 "'%.40s' is not the port or launcher pid of exactly one job: list "
				 "the jobs (J)",
				 arguments->words[0]);
	choose_job(app, (size_t)index);
	return 0;
}

const struct command command_job = {
	.name = "job",
	.synopsis = "PORT | PID",
	.help = "select the job with this port or launcher pid",
	.takes = "a port or a launcher's pid",
	.flags = COMMAND_SCREEN,
	.run = job_run,
};

/* Focuses the source pane; if the grid leaves no room for the source, the source is zoomed. */
static void open_source(struct app *app)
{
	struct layout layout;

	layout_make(&layout, &app->engine->session, &app->view);
	app->view.pane = PANE_SOURCE;
	if (layout.panes[PANE_SOURCE].row_count <= 0)
		app->view.is_zoomed = true;
}

/* Connects to the selected rank's debugger if the debugger waits for a client. `connect` asks for
 * the needed confirmations. Returns false if no debugger waits. */
bool connect_selected(struct app *app)
{
	const struct rank *rank = session_selected(&app->engine->session);
	const struct debugger *debugger;
	char *line;

	if (rank == NULL)
		return false;
	debugger = &rank->debugger;
	if (!debug_state_is_waiting(rank) || !session_controls(&app->engine->session, rank)) {
		/* Say why probetui cannot connect; the caller then opens the source. */
		if (debugger->why != NULL && !debugger_is_ours(debugger))
			view_say(&app->view, false, debugger->why);
		return false;
	}
	line = xasprintf("connect ranks %d", rank->process.rank);
	commands_run(app, line);
	free(line);
	return true;
}

int home_open(struct command_context *context, struct error *error)
{
	struct app *app = command_app(context);
	struct view *view = &app->view;

	if (is_on_breakpoints(app))
		return open_breakpoint(context, error);
	switch (view->pane) {
	case PANE_GRID:
		if (!fold_in_grid(app, true) && !connect_selected(app))
			open_source(app);
		break;
	case PANE_SOURCE:
		view->is_zoomed = !view->is_zoomed;
		break;
	case PANE_STACK:
		if (is_on_fold(app))
			view->is_unfolded = true;
		else
			view->pane = PANE_SOURCE;
		break;
	case PANE_LOCALS:
		toggle_variable(app);
		break;
	case PANE_BREAKPOINTS:
	case PANE_COUNT:
		break;
	}
	return 0;
}

int open_under_cursor(struct command_context *context, struct error *error)
{
	const struct view_type *type =
		view_type_shown(&context->engine->session, &command_app(context)->view);

	return type->open != NULL ? type->open(context, error) : 0;
}

static int open_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	(void)arguments;
	return open_under_cursor(context, error);
}

const struct command command_open = {
	.name = "open",
	.synopsis = "",
	.help = "open the item under the cursor",
	.flags = COMMAND_MOVES | COMMAND_SCREEN,
	.run = open_run,
};
