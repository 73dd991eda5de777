/*
 * commands-view: which view is open, how it looks, and the program itself.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/arguments.h"
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

#define SECONDS_MAXIMUM 1e9

/* The index of word in names, -1 when it is none of them. */
static int find_word(const char *const *names, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], word) == 0)
			return (int)i;
	return -1;
}

static int zoom_run(struct command_context *context, int argc, char **argv, struct error *error)
{
	struct view *view = &command_app(context)->view;

	(void)argc;
	(void)argv;
	(void)error;
	view->is_zoomed = !view->is_zoomed;
	return 0;
}

const struct command command_zoom = {
	.name = "zoom",
	.synopsis = "",
	.help = "the pane alone, and back",
	.flags = COMMAND_SCREEN,
	.run = zoom_run,
};

static int grid_run(struct command_context *context, int argc, char **argv, struct error *error)
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

const struct command command_grid = {
	.name = "grid",
	.synopsis = "[cards | table | cells]",
	.help = "how ranks are shown",
	.flags = COMMAND_SCREEN,
	.run = grid_run,
};

static int toggle_view(struct command_context *context, enum view_kind kind)
{
	struct view *view = &command_app(context)->view;

	view_open(view, view->kind == kind ? VIEW_HOME : kind);
	return 0;
}

static int merged_run(struct command_context *context, int argc, char **argv, struct error *error)
{
	(void)argc;
	(void)argv;
	(void)error;
	command_app(context)->view.merged_cursor = -1;
	return toggle_view(context, VIEW_MERGED);
}

const struct command command_merged = {
	.name = "merged",
	.synopsis = "",
	.help = "the stacks of all ranks, merged",
	.flags = COMMAND_SCREEN,
	.run = merged_run,
};

static int native_run(struct command_context *context, int argc, char **argv, struct error *error)
{
	static const char *const names[] = { "off", "on" };
	struct app *app = command_app(context);
	int is_native = !app->engine->session.choice.shows_native;

	if (argc > 1)
		is_native = find_word(names, ARRAY_LENGTH(names), argv[1]);
	if (is_native < 0)
		return command_usage(error, "native", "on or off");
	engine_use_native(app->engine, is_native);
	app->view.merged_cursor = -1;
	view_say(&app->view, false, is_native ? "native frames: on" : "native frames: off");
	return 0;
}

const struct command command_native = {
	.name = "native",
	.synopsis = "[on | off]",
	.help = "native frames in stacks, or not",
	.flags = COMMAND_SCREEN,
	.run = native_run,
};

static int granularity_run(struct command_context *context, int argc, char **argv,
			   struct error *error)
{
	static const char *const names[] = { "line", "function", "file" };
	struct view *view = &command_app(context)->view;
	int granularity = ((int)view->granularity + 1) % 3;

	if (argc > 1) {
		granularity = find_word(names, ARRAY_LENGTH(names), argv[1]);
		if (granularity < 0)
			return command_usage(error, "granularity", "line, function or file");
	} else if (view->kind != VIEW_MERGED) {
		return error_set(error,
				 "the granularity is that of the merged stacks; open them first.");
	}
	view->granularity = (enum stacktree_granularity)granularity;
	view->merged_cursor = -1;
	return 0;
}

const struct command command_granularity = {
	.name = "granularity",
	.synopsis = "[line | function | file]",
	.help = "by what stacks are merged",
	.flags = COMMAND_SCREEN,
	.run = granularity_run,
};

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
		view->against = DIFF_AGAINST_MAJORITY;
		return 0;
	}
	if (is_seconds(word, &seconds)) {
		view->against = DIFF_AGAINST_PAST;
		view->against_seconds = seconds;
		return 0;
	}
	if (!isdigit((unsigned char)word[0]))
		return command_usage(error, "diff", "majority, a rank, or a time such as 10s");
	rank = command_find_rank(&app->engine->session, word, error);
	if (rank == NULL)
		return -1;
	view->against = DIFF_AGAINST_RANK;
	view->against_rank = rank->process.rank;
	return 0;
}

static int diff_on_screen(struct command_context *context, int argc, char **argv,
			  struct error *error)
{
	struct app *app = command_app(context);

	app->view.diff_cursor = 0;
	if (argc < 2)
		return toggle_view(context, VIEW_DIFF);
	if (argc > 3)
		return command_usage(error, "diff", "one or two ranks");
	if (set_against(app, argv[argc - 1], error) < 0 ||
	    (argc == 3 && screen_rank.run(context, 2, argv, error) < 0))
		return -1;
	view_open(&app->view, VIEW_DIFF);
	return 0;
}

const struct command_hook screen_diff = { .command = &command_diff, .run = diff_on_screen };

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

static int against_run(struct command_context *context, int argc, char **argv, struct error *error)
{
	struct app *app = command_app(context);
	struct view *view = &app->view;

	(void)argc;
	(void)argv;
	if (view->kind != VIEW_DIFF)
		return error_set(error, "what to compare with belongs to the diff; open it first.");
	view->against = (enum diff_against)(((int)view->against + 1) % 3);
	view->diff_cursor = 0;
	if (view->against == DIFF_AGAINST_RANK)
		view->against_rank = neighbour(app);
	return 0;
}

const struct command command_against = {
	.name = "against",
	.synopsis = "",
	.help = "the next thing to compare with",
	.flags = COMMAND_SCREEN,
	.run = against_run,
};

static int refresh_run(struct command_context *context, int argc, char **argv, struct error *error)
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

const struct command command_refresh = {
	.name = "refresh",
	.synopsis = "",
	.help = "read all ranks now",
	.flags = COMMAND_SCREEN,
	.run = refresh_run,
};

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

static int theme_run(struct command_context *context, int argc, char **argv, struct error *error)
{
	struct app *app = command_app(context);

	if (argc > 2)
		return command_usage(error, "theme", "one name");
	if (argc == 2)
		return app_set_theme(app, argv[1], error);
	list_themes(app, context->out);
	return 0;
}

const struct command command_theme = {
	.name = "theme",
	.synopsis = "[THEME]",
	.help = "other colours; alone: which there are",
	.flags = COMMAND_SCREEN,
	.run = theme_run,
};

static int set_on_screen(struct command_context *context, int argc, char **argv,
			 struct error *error)
{
	struct app *app = command_app(context);

	/* A theme that cannot be read is not set. */
	if (argc == 3 && strcmp(argv[1], "theme") == 0)
		return app_set_theme(app, argv[2], error);
	if (command_set.run(context, argc, argv, error) < 0)
		return -1;
	app_apply_settings(app);
	if (argc == 3 && strcmp(argv[1], "tolerance") == 0)
		apply_tolerance(app);
	return 0;
}

const struct command_hook screen_set = { .command = &command_set, .run = set_on_screen };

static int bind_run(struct command_context *context, int argc, char **argv, struct error *error)
{
	if (argc < 2)
		return command_usage(error, "bind", "KEY and a command line");
	return keymap_bind_words(&command_app(context)->keymap, argc, argv, error);
}

const struct command command_bind = {
	.name = "bind",
	.synopsis = "KEY [COMMAND LINE]",
	.help = "what a key does",
	.flags = COMMAND_SCREEN,
	.run = bind_run,
};

static int prompt_run(struct command_context *context, int argc, char **argv, struct error *error)
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

const struct command command_prompt = {
	.name = "prompt",
	.synopsis = "[rank DIGIT | search | filter | focus | compare | watch | tensor | tolerance]",
	.help = "a line to type in",
	.flags = COMMAND_SCREEN,
	.run = prompt_run,
};

static int help_on_screen(struct command_context *context, int argc, char **argv,
			  struct error *error)
{
	(void)argc;
	(void)argv;
	(void)error;
	view_open(&command_app(context)->view, VIEW_HELP);
	return 0;
}

const struct command_hook screen_help = { .command = &command_help, .run = help_on_screen };

static int keys_run(struct command_context *context, int argc, char **argv, struct error *error)
{
	static const struct arguments none = { .usage = "" };
	struct keymap keymap;
	int result;

	if (context->screen != NULL)
		return help_on_screen(context, argc, argv, error);
	if (arguments_parse(&none, argc, argv, error) < 0)
		return -1;
	keymap_init(&keymap);
	keymap_add_default(&keymap);
	result = keymap_add_config(&keymap, &context->engine->settings, context->tables,
				   context->table_count, error);
	if (result == 0)
		keymap_describe(&keymap, context->out);
	keymap_clear(&keymap);
	return result;
}

const struct command command_keys = {
	.name = "keys",
	.synopsis = "",
	.help = "the keys of the screen",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_TEXT | COMMAND_ALONE,
	.run = keys_run,
};

static int log_run(struct command_context *context, int argc, char **argv, struct error *error)
{
	(void)argc;
	(void)argv;
	(void)error;
	view_open(&command_app(context)->view, VIEW_LOG);
	return 0;
}

const struct command command_log = {
	.name = "log",
	.synopsis = "",
	.help = "what the rank prints, and our log",
	.flags = COMMAND_SCREEN,
	.run = log_run,
};

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
	bool is_at_home = view->kind == VIEW_HOME && !view->is_zoomed;
	bool is_in_pane = is_at_home && view->pane != PANE_GRID;
	bool is_done;

	/* What takes long is ended first. */
	if (view->kind == VIEW_TENSOR && tensor_cancel(app->engine))
		return true;
	view->has_marks = false;
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

static int back_run(struct command_context *context, int argc, char **argv, struct error *error)
{
	struct app *app = command_app(context);

	(void)argc;
	(void)argv;
	(void)error;
	if (app->view.steps.count > 0)
		stepqueue_clear(&app->view.steps);
	else if (!withdraw_pauses(app) && !stop_difference(app) && !stop_parameters(app) &&
		 !step_back(app))
		app->view.resume_at = session_resume_at(&app->engine->session);
	return 0;
}

const struct command command_back = {
	.name = "back",
	.synopsis = "",
	.help = "back; never leaves",
	.flags = COMMAND_SCREEN,
	.run = back_run,
};

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

static int quit_on_screen(struct command_context *context, int argc, char **argv,
			  struct error *error)
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

const struct command_hook screen_quit = { .command = &command_quit, .run = quit_on_screen };

static int redraw_run(struct command_context *context, int argc, char **argv, struct error *error)
{
	struct app *app = command_app(context);

	(void)argc;
	(void)argv;
	(void)error;
	if (app->screen != NULL)
		screen_redraw(app->screen);
	return 0;
}

const struct command command_redraw = {
	.name = "redraw",
	.synopsis = "",
	.help = "draw the screen anew",
	.flags = COMMAND_SCREEN,
	.run = redraw_run,
};
