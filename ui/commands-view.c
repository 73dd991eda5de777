/*
 * commands-view: which view is open, how it looks, and the program itself.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/commands.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/jobs.h"
#include "model/held.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/commands-private.h"
#include "ui/held.h"
#include "ui/layout.h"
#include "ui/pane.h"
#include "ui/ranklist.h"
#include "ui/screen.h"
#include "ui/theme.h"
#include "ui/view-type.h"

#define SECONDS_MAXIMUM 1e9

/* The index of word in names, -1 when it is none of them. */
static int find_word(const char *const *names, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], word) == 0)
			return (int)i;
	return -1;
}

int ui_zoom(struct command_context *context, int argc, char **argv, struct error *error)
{
	struct view *view = &command_app(context)->view;

	(void)argc;
	(void)argv;
	(void)error;
	view->is_zoomed = !view->is_zoomed;
	return 0;
}

int ui_grid(struct command_context *context, int argc, char **argv, struct error *error)
{
	static const char *const names[] = { "automatic", "cards", "table", "cells" };
	struct app *app = command_app(context);
	struct layout layout;
	int mode;

	if (app->view.kind != VIEW_HOME)
		return error_set(error, "how ranks are shown is seen at home; Esc leads there.");
	if (argc > 1) {
		mode = find_word(names, ARRAY_LENGTH(names), argv[1]);
		if (mode < 0)
			return command_usage(error, "grid", "cards, table or cells");
		app->view.grid = (enum grid_mode)mode;
		return 0;
	}
	layout_make(&layout, &app->engine->session, &app->view);
	mode = (int)layout.grid + 1;
	app->view.grid = mode > GRID_CELLS ? GRID_CARDS : (enum grid_mode)mode;
	return 0;
}

static int toggle_view(struct command_context *context, enum view_kind kind)
{
	struct view *view = &command_app(context)->view;

	view_open(view, view->kind == kind ? VIEW_HOME : kind);
	return 0;
}

int ui_merged(struct command_context *context, int argc, char **argv, struct error *error)
{
	(void)argc;
	(void)argv;
	(void)error;
	command_app(context)->view.cursors[VIEW_MERGED] = -1;
	return toggle_view(context, VIEW_MERGED);
}

int ui_native(struct command_context *context, int argc, char **argv, struct error *error)
{
	static const char *const names[] = { "off", "on" };
	struct app *app = command_app(context);
	int is_native = !app->engine->session.choice.shows_native;

	if (argc > 1)
		is_native = find_word(names, ARRAY_LENGTH(names), argv[1]);
	if (is_native < 0)
		return command_usage(error, "native", "on or off");
	engine_use_native(app->engine, is_native);
	app->view.cursors[VIEW_MERGED] = -1;
	view_say(&app->view, false, is_native ? "native frames: on" : "native frames: off");
	return 0;
}

int ui_granularity(struct command_context *context, int argc, char **argv, struct error *error)
{
	static const char *const names[] = { "line", "function", "file" };
	struct view *view = &command_app(context)->view;
	int granularity = ((int)view->merged.granularity + 1) % 3;

	if (argc > 1) {
		granularity = find_word(names, ARRAY_LENGTH(names), argv[1]);
		if (granularity < 0)
			return command_usage(error, "granularity", "line, function or file");
	} else if (view->kind != VIEW_MERGED) {
		return error_set(error,
				 "the granularity is that of the merged stacks; open them first.");
	}
	view->merged.granularity = (enum stacktree_granularity)granularity;
	view->cursors[VIEW_MERGED] = -1;
	return 0;
}

/* "10s" */
static bool is_seconds(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	return end != text && strcmp(end, "s") == 0 && *seconds >= 0 && *seconds < SECONDS_MAXIMUM;
}

/* "majority", a rank's number, or a time so long ago. */
static int set_against(struct app *app, const char *word, struct error *error)
{
	struct view *view = &app->view;
	const struct rank *rank;
	double seconds;

	if (strcmp(word, "majority") == 0) {
		view->diff.against = DIFF_AGAINST_MAJORITY;
		return 0;
	}
	if (is_seconds(word, &seconds)) {
		view->diff.against = DIFF_AGAINST_PAST;
		view->diff.seconds = seconds;
		return 0;
	}
	if (!isdigit((unsigned char)word[0]))
		return command_usage(error, "diff", "majority, a rank, or a time such as 10s");
	rank = command_find_rank(&app->engine->session, word, error);
	if (rank == NULL)
		return -1;
	view->diff.against = DIFF_AGAINST_RANK;
	view->diff.rank = rank->process.rank;
	return 0;
}

int ui_diff(struct command_context *context, int argc, char **argv, struct error *error)
{
	struct app *app = command_app(context);

	app->view.cursors[VIEW_DIFF] = 0;
	if (argc < 2)
		return toggle_view(context, VIEW_DIFF);
	if (argc > 3)
		return command_usage(error, "diff", "one or two ranks");
	if (set_against(app, argv[argc - 1], error) < 0 ||
	    (argc == 3 && ui_rank(context, 2, argv, error) < 0))
		return -1;
	view_open(&app->view, VIEW_DIFF);
	return 0;
}

/* The rank behind the selected one in the grid, around the end; -1: none. */
static int neighbour(const struct app *app)
{
	struct ranklist list;
	int number = -1;

	ranklist_make(&list, &app->engine->session, &app->view);
	if (list.rank_count > 0) {
		size_t next = (size_t)(list.at + 1) % list.rank_count;

		number = list.ranks[next]->process.rank;
	}
	ranklist_clear(&list);
	return number;
}

int ui_against(struct command_context *context, int argc, char **argv, struct error *error)
{
	struct app *app = command_app(context);
	struct view *view = &app->view;

	(void)argc;
	(void)argv;
	if (view->kind != VIEW_DIFF)
		return error_set(error, "what to compare with belongs to the diff; open it first.");
	view->diff.against = (enum diff_against)(((int)view->diff.against + 1) % 3);
	view->cursors[VIEW_DIFF] = 0;
	if (view->diff.against == DIFF_AGAINST_RANK)
		view->diff.rank = neighbour(app);
	return 0;
}

int ui_refresh(struct command_context *context, int argc, char **argv, struct error *error)
{
	struct engine *engine = command_app(context)->engine;

	(void)argc;
	(void)argv;
	if (engine->session.is_replay)
		return error_set(error, "a recording is not read anew; time goes to a time of it.");
	if (engine_is_deaf(engine))
		return error_set(error, "nothing can be read: probetui-node is gone; q leaves, "
					"then start probetui.");
	engine_sample_once(engine);
	tensor_again(engine);
	return 0;
}

static void list_themes(const struct app *app, struct buffer *out)
{
	const char *chosen = app->engine->settings.theme;
	size_t count;
	char **names = theme_names(&count);

	for (size_t i = 0; i < count; i++)
		buffer_printf(out, "%s %s\n",
			      chosen != NULL && strcmp(chosen, names[i]) == 0 ? "*" : " ",
			      names[i]);
	if (count == 0)
		buffer_append_string(out, "There is no theme.\n");
	theme_names_free(names, count);
}

int ui_theme(struct command_context *context, int argc, char **argv, struct error *error)
{
	struct app *app = command_app(context);

	if (argc > 2)
		return command_usage(error, "theme", "one name");
	if (argc == 2)
		return app_set_theme(app, argv[1], error);
	list_themes(app, context->out);
	return 0;
}

int ui_set(struct command_context *context, int argc, char **argv, struct error *error)
{
	struct app *app = command_app(context);

	/* A theme that cannot be read is not set. */
	if (argc == 3 && strcmp(argv[1], "theme") == 0)
		return app_set_theme(app, argv[2], error);
	if (command_set(context, argc, argv, error) < 0)
		return -1;
	app_apply_settings(app);
	if (argc == 3 && strcmp(argv[1], "tolerance") == 0)
		apply_tolerance(app);
	return 0;
}

int ui_bind(struct command_context *context, int argc, char **argv, struct error *error)
{
	if (argc < 2)
		return command_usage(error, "bind", "KEY and a command line");
	return keymap_bind_words(&command_app(context)->keymap, argc, argv, error);
}

int ui_prompt(struct command_context *context, int argc, char **argv, struct error *error)
{
	struct prompt *prompt = &command_app(context)->view.prompt;

	if (argc == 1)
		prompt_open(prompt, PROMPT_COMMAND, "");
	else if (strcmp(argv[1], "search") == 0)
		search_begin(command_app(context));
	else if (strcmp(argv[1], "filter") == 0)
		prompt_open(prompt, PROMPT_FILTER, "");
	else if (strcmp(argv[1], "rank") == 0)
		prompt_open(prompt, PROMPT_RANK, argc > 2 ? argv[2] : "");
	else if (strcmp(argv[1], "focus") == 0)
		prompt_open(prompt, PROMPT_FOCUS, "");
	else if (strcmp(argv[1], "compare") == 0)
		prompt_open(prompt, PROMPT_COMPARE, "");
	else if (strcmp(argv[1], "watch") == 0)
		prompt_open(prompt, PROMPT_WATCH, "");
	else if (strcmp(argv[1], "tensor") == 0)
		prompt_tensor(command_app(context));
	else if (strcmp(argv[1], "tolerance") == 0)
		prompt_open(prompt, PROMPT_TOLERANCE, "");
	else
		return command_usage(error, "prompt",
				     "nothing, rank DIGIT, search, filter, focus, compare, watch, "
				     "tensor or tolerance");
	return 0;
}

int ui_help(struct command_context *context, int argc, char **argv, struct error *error)
{
	(void)argc;
	(void)argv;
	(void)error;
	view_open(&command_app(context)->view, VIEW_HELP);
	return 0;
}

int ui_log(struct command_context *context, int argc, char **argv, struct error *error)
{
	(void)argc;
	(void)argv;
	(void)error;
	view_open(&command_app(context)->view, VIEW_LOG);
	return 0;
}

/* One step back; false when there is none: home, nothing zoomed or hidden. */
static bool go_back(struct view *view)
{
	if (view->kind == VIEW_JOBS && view->is_in_job)
		return false;
	if (view->kind != VIEW_HOME) {
		view_open(view, view->behind[view->kind]);
		return true;
	}
	if (view->is_zoomed) {
		view->is_zoomed = false;
		return true;
	}
	if (view->order.filter != NULL) {
		free(view->order.filter);
		view->order.filter = NULL;
		return true;
	}
	if (view->is_in_job) {
		view_open(view, VIEW_JOBS);
		return true;
	}
	return false;
}

/* The list is followed while it is seen. */
static void follow_jobs(struct app *app)
{
	jobs_list(app->engine, view_lists_jobs(&app->engine->session, &app->view));
}

/* A pane that was there alone may have no room beside the grid. */
static void leave_hidden_pane(struct app *app)
{
	struct layout layout;

	if (app->view.kind != VIEW_HOME)
		return;
	layout_make(&layout, &app->engine->session, &app->view);
	if (layout.panes[app->view.pane].row_count <= 0)
		app->view.pane = PANE_GRID;
}

bool step_back(struct app *app)
{
	struct view *view = &app->view;
	const struct view_type *type = view_type_of(view->kind);
	bool is_at_home = view->kind == VIEW_HOME && !view->is_zoomed;
	bool is_in_pane = is_at_home && view->pane != PANE_GRID;
	bool is_done;

	/* What takes long is ended first. */
	if (type->cancel != NULL && type->cancel(app))
		return true;
	view->search.has_marks = false;
	view->source_line = 0;
	/* Esc leaves a pane first, then the job. */
	is_done = !is_in_pane && go_back(view);
	if (!is_done)
		view->pane = PANE_GRID;
	leave_hidden_pane(app);
	follow_jobs(app);
	return is_done || is_in_pane;
}

/* Those that were told to stop, and run yet, run on. */
static bool withdraw_pauses(struct app *app)
{
	const struct session *session = &app->engine->session;
	struct rankset pausing = RANKSET_INIT;
	struct buffer line = BUFFER_INIT;
	bool is_any;

	for (size_t i = 0; i < session->rank_count; i++)
		if (session->ranks[i]->is_pausing && !held_is_stopped(session->ranks[i]) &&
		    !rank_is_gone(session->ranks[i]))
			rankset_add(&pausing, session->ranks[i]->process.rank);
	is_any = pausing.range_count > 0;
	if (is_any) {
		buffer_append_string(&line, "continue ranks ");
		rankset_append(&line, &pausing);
		commands_run(app, line.data);
	}
	rankset_clear(&pausing);
	buffer_clear(&line);
	return is_any;
}

int ui_back(struct command_context *context, int argc, char **argv, struct error *error)
{
	struct app *app = command_app(context);

	(void)argc;
	(void)argv;
	(void)error;
	if (app->view.steps.count > 0)
		stepqueue_clear(&app->view.steps);
	else if (!withdraw_pauses(app) && !step_back(app))
		app->view.resume_at = session_resume_at(&app->engine->session);
	return 0;
}

static int leave(struct command_context *context, struct error *error)
{
	struct app *app = command_app(context);
	char *question;

	if (started_asks(app))
		return 0;
	question = control_end_question(&app->engine->session);
	if (question == NULL || command_confirm(context, question, error) > 0)
		app->is_done = true;
	return 0;
}

int ui_quit(struct command_context *context, int argc, char **argv, struct error *error)
{
	struct app *app = command_app(context);

	if (argc > 2 ||
	    (argc == 2 && strcmp(argv[1], "detach") != 0 && strcmp(argv[1], "end") != 0))
		return command_usage(
			error, "quit",
			"nothing, or what becomes of the job that was started: detach or end");
	if (argc == 2 && strcmp(argv[1], "end") == 0) {
		started_end(app);
		return 0;
	}
	if (argc == 2) {
		app->is_done = true;
		return 0;
	}
	if (!go_back(&app->view))
		return leave(context, error);
	follow_jobs(app);
	return 0;
}

int ui_redraw(struct command_context *context, int argc, char **argv, struct error *error)
{
	struct app *app = command_app(context);

	(void)argc;
	(void)argv;
	(void)error;
	if (app->screen != NULL)
		screen_redraw(app->screen);
	return 0;
}
