/*
 * commands-view: commands that open, close and configure views, and commands of the program itself
 * (`set`, `bind`, `quit`).
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/jobs.h"
#include "model/debug-state.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/layout.h"
#include "ui/pane.h"
#include "ui/ranklist.h"
#include "ui/screen.h"
#include "ui/stopped-text.h"
#include "ui/theme.h"
#include "ui/view-type.h"

#define SECONDS_MAXIMUM 1e9

static int zoom_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct view *view = &command_app(context)->view;

	(void)arguments;
	(void)error;
	view->is_zoomed = !view->is_zoomed;
	return 0;
}

const struct command command_zoom = {
	.name = "zoom",
	.synopsis = "",
	.help = "enlarge the selected pane to the whole screen, or restore its size",
	.flags = COMMAND_SCREEN,
	.run = zoom_run,
};

static int grid_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	static const char *const names[] = { "cards", "table", "cells" };
	struct app *app = command_app(context);
	struct layout layout;
	int mode;

	if (app->view.kind != VIEW_HOME)
		return error_set(error,
				 "the command grid works only in the home view: go back (Esc)");
	if (arguments->count > 0) {
		mode = arguments_choice(arguments, names, ARRAY_LENGTH(names));
		app->view.grid = (enum grid_mode)(GRID_CARDS + mode);
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
	.help = "show ranks as cards, as a table or as cells",
	.flags = COMMAND_SCREEN,
	.run = grid_run,
};

static int toggle_view(struct command_context *context, enum view_kind kind)
{
	struct view *view = &command_app(context)->view;

	view_open(view, view->kind == kind ? VIEW_HOME : kind);
	return 0;
}

static int merged_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	(void)arguments;
	(void)error;
	command_app(context)->view.cursors[VIEW_MERGED] = -1;
	return toggle_view(context, VIEW_MERGED);
}

const struct command command_merged = {
	.name = "merged",
	.synopsis = "",
	.help = "show the merged stacks of all ranks",
	.flags = COMMAND_SCREEN,
	.run = merged_run,
};

static int why_run(struct command_context *context, const struct arguments *arguments,
		   struct error *error)
{
	(void)arguments;
	(void)error;
	return toggle_view(context, VIEW_WHY);
}

const struct command command_why = {
	.name = "why",
	.synopsis = "",
	.help = "show who waits for whom in which collective",
	.flags = COMMAND_SCREEN,
	.run = why_run,
};

static int collectives_on_screen(struct command_context *context, const struct arguments *arguments,
				 struct error *error)
{
	(void)arguments;
	(void)error;
	return toggle_view(context, VIEW_COLLECTIVES);
}

const struct command_hook screen_collectives = {
	.command = &command_collectives,
	.run = collectives_on_screen,
};

static int native_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct app *app = command_app(context);
	bool is_native = !app->engine->session.choice.shows_native;

	(void)error;
	if (arguments->count > 0)
		is_native = arguments_is(arguments, "on");
	engine_use_native(app->engine, is_native);
	app->view.cursors[VIEW_MERGED] = -1;
	view_say(&app->view, false, is_native ? "native frames: on" : "native frames: off");
	return 0;
}

const struct command command_native = {
	.name = "native",
	.synopsis = "[on | off]",
	.help = "show or hide native frames",
	.flags = COMMAND_SCREEN,
	.run = native_run,
};

static int granularity_run(struct command_context *context, const struct arguments *arguments,
			   struct error *error)
{
	static const char *const names[] = { "line", "function", "file" };
	struct view *view = &command_app(context)->view;
	int granularity = ((int)view->merged.granularity + 1) % 3;

	if (arguments->count > 0) {
		granularity = arguments_choice(arguments, names, ARRAY_LENGTH(names));
	} else if (view->kind != VIEW_MERGED) {
		return error_set(
			error,
			"the command granularity works only in the merged stacks: open them (M)");
	}
	view->merged.granularity = (enum stacktree_granularity)granularity;
	view->cursors[VIEW_MERGED] = -1;
	return 0;
}

const struct command command_granularity = {
	.name = "granularity",
	.synopsis = "[line | function | file]",
	.help = "merge stacks by line, by function or by file",
	.flags = COMMAND_SCREEN,
	.run = granularity_run,
};

/* True if text is a duration in seconds, "10s", which is stored in *seconds. */
static bool is_seconds(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	return end != text && strcmp(end, "s") == 0 && *seconds >= 0 && *seconds < SECONDS_MAXIMUM;
}

/* Sets the diff's other side: "majority", a rank's number, or the rank's own past ("10s"). */
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
		return error_set(error, "diff takes majority, a rank, or a time such as 10s");
	rank = command_find_rank(&app->engine->session, word, error);
	if (rank == NULL)
		return -1;
	view->diff.against = DIFF_AGAINST_RANK;
	view->diff.rank = rank->process.rank;
	return 0;
}

static int diff_on_screen(struct command_context *context, const struct arguments *arguments,
			  struct error *error)
{
	struct app *app = command_app(context);

	app->view.cursors[VIEW_DIFF] = 0;
	if (arguments->count == 0)
		return toggle_view(context, VIEW_DIFF);
	if (set_against(app, arguments->words[arguments->count - 1], error) < 0 ||
	    (arguments->count == 2 && look_at_rank(app, arguments->words[0], error) < 0))
		return -1;
	view_open(&app->view, VIEW_DIFF);
	return 0;
}

const struct command_hook screen_diff = { .command = &command_diff, .run = diff_on_screen };

/* Returns the rank after the selected rank in the grid, and after the last rank the first; -1 if
 * the grid is empty. */
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

static int against_run(struct command_context *context, const struct arguments *arguments,
		       struct error *error)
{
	struct app *app = command_app(context);
	struct view *view = &app->view;

	(void)arguments;
	if (view->kind != VIEW_DIFF)
		return error_set(
			error,
			"the command against works only in the stack diff: open the diff (D)");
	view->diff.against = (enum diff_against)(((int)view->diff.against + 1) % 3);
	view->cursors[VIEW_DIFF] = 0;
	if (view->diff.against == DIFF_AGAINST_RANK)
		view->diff.rank = neighbour(app);
	return 0;
}

const struct command command_against = {
	.name = "against",
	.synopsis = "",
	.help = "in the diff: compare with the next of: the majority, another rank, an earlier "
		"time",
	.flags = COMMAND_SCREEN,
	.run = against_run,
};

static int refresh_run(struct command_context *context, const struct arguments *arguments,
		       struct error *error)
{
	struct engine *engine = command_app(context)->engine;

	(void)arguments;
	if (engine_is_deaf(engine))
		return error_set(error, "cannot sample: connection to probetui-node lost; quit "
					"(q) and start probetui again");
	engine_sample_once(engine);
	tensor_again(engine);
	return 0;
}

const struct command command_refresh = {
	.name = "refresh",
	.synopsis = "",
	.help = "sample all ranks now",
	.flags = COMMAND_SCREEN | COMMAND_JOB,
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
		buffer_append_string(out, "no theme found\n");
	theme_names_free(names, count);
}

static int theme_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	struct app *app = command_app(context);

	if (arguments->count == 1)
		return app_set_theme(app, arguments->words[0], error);
	list_themes(app, context->out);
	return 0;
}

const struct command command_theme = {
	.name = "theme",
	.synopsis = "[THEME]",
	.help = "choose a theme; without THEME: list the themes",
	.takes = "one name",
	.flags = COMMAND_SCREEN,
	.run = theme_run,
};

static int set_on_screen(struct command_context *context, const struct arguments *arguments,
			 struct error *error)
{
	struct app *app = command_app(context);

	/* app_set_theme() sets only a theme that can be read. */
	if (arguments->count == 2 && arguments_is(arguments, "theme"))
		return app_set_theme(app, arguments->words[1], error);
	if (command_set.run(context, arguments, error) < 0)
		return -1;
	app_apply_settings(app);
	if (arguments->count == 2 && arguments_is(arguments, "tolerance"))
		apply_tolerance(app);
	return 0;
}

const struct command_hook screen_set = { .command = &command_set, .run = set_on_screen };

static int bind_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	if (arguments->count == 0)
		return arguments_refuse(arguments, error);
	return keymap_bind_words(&command_app(context)->keymap, arguments, error);
}

const struct command command_bind = {
	.name = "bind",
	.synopsis = "KEY [COMMAND LINE]",
	.help = "bind a key to a command line; without COMMAND LINE: unbind the key",
	.takes = "KEY and a command line",
	.flags = COMMAND_REST | COMMAND_SCREEN,
	.run = bind_run,
};

/* Prompts that open with an empty line. */
static const struct {
	const char *name;
	enum prompt_kind kind;
} prompts[] = {
	{ "filter", PROMPT_FILTER },	   { "focus", PROMPT_FOCUS },
	{ "compare", PROMPT_COMPARE },	   { "watch", PROMPT_WATCH },
	{ "tolerance", PROMPT_TOLERANCE },
};

static int prompt_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct app *app = command_app(context);
	struct prompt *prompt = &app->view.prompt;

	for (size_t i = 0; i < ARRAY_LENGTH(prompts); i++)
		if (arguments_is(arguments, prompts[i].name)) {
			prompt_open(prompt, prompts[i].kind, "");
			return 0;
		}
	if (arguments->count == 0)
		prompt_open(prompt, PROMPT_COMMAND, "");
	else if (arguments_is(arguments, "search"))
		search_begin(app);
	else if (arguments_is(arguments, "rank"))
		prompt_open(prompt, PROMPT_RANK, arguments_word(arguments, 1));
	else if (arguments_is(arguments, "tensor"))
		prompt_tensor(app);
	else
		return arguments_refuse(arguments, error);
	return 0;
}

const struct command command_prompt = {
	.name = "prompt",
	.synopsis = "[rank DIGIT | search | filter | focus | compare | watch | tensor | tolerance]",
	.help = "open the command line, or the prompt of the named kind",
	.takes = "nothing, rank DIGIT, search, filter, focus, compare, watch, tensor or tolerance",
	.flags = COMMAND_MOVES | COMMAND_SCREEN,
	.run = prompt_run,
};

static int help_on_screen(struct command_context *context, const struct arguments *arguments,
			  struct error *error)
{
	(void)arguments;
	(void)error;
	view_open(&command_app(context)->view, VIEW_HELP);
	return 0;
}

const struct command_hook screen_help = { .command = &command_help, .run = help_on_screen };

static int keys_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct keymap keymap;
	int result;

	if (context->screen != NULL)
		return help_on_screen(context, arguments, error);
	keymap_init(&keymap);
	keymap_add_default(&keymap);
	result = keymap_add_config(&keymap, &context->engine->settings, error);
	if (result == 0)
		keymap_describe(&keymap, context->out);
	keymap_clear(&keymap);
	return result;
}

const struct command command_keys = {
	.name = "keys",
	.synopsis = "",
	.help = "list the keys",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_TEXT | COMMAND_ALONE,
	.run = keys_run,
};

static int log_run(struct command_context *context, const struct arguments *arguments,
		   struct error *error)
{
	(void)arguments;
	(void)error;
	view_open(&command_app(context)->view, VIEW_LOG);
	return 0;
}

const struct command command_log = {
	.name = "log",
	.synopsis = "",
	.help = "show the selected rank's output and probetui's log",
	.flags = COMMAND_MOVES | COMMAND_SCREEN,
	.run = log_run,
};

/* Closes the view, ends the zoom, clears the filter or leaves the job, whichever applies first.
 * Returns false if none applies. */
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

/* The jobs are followed only while their list is shown. */
static void follow_jobs(struct app *app)
{
	jobs_list(app->engine, view_lists_jobs(&app->engine->session, &app->view));
}

/* The pane that was zoomed may have no room beside the grid: then focuses the grid. */
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

	/* A running request of the view is cancelled first. */
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

/* Resumes ranks whose pause is still pending. Returns false if no pause is pending. */
static bool commands_view_withdraw_pauses(struct app *app)
{
	const struct session *session = &app->engine->session;
	struct rankset pausing = RANKSET_INIT;
	struct buffer line = BUFFER_INIT;
	bool is_any;

	for (size_t i = 0; i < session->rank_count; i++)
		if (session->ranks[i]->is_pausing && !debug_state_is_stopped(session->ranks[i]) &&
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

static int back_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct app *app = command_app(context);

	(void)arguments;
	(void)error;
	if (app->view.steps.count > 0)
		stepqueue_clear(&app->view.steps);
	else if (!commands_view_withdraw_pauses(app) && !step_back(app))
		app->view.resume_at = session_resume_at(&app->engine->session);
	return 0;
}

const struct command command_back = {
	.name = "back",
	.synopsis = "",
	.help = "close the open view (never quits probetui)",
	.flags = COMMAND_MOVES | COMMAND_SCREEN,
	.run = back_run,
};

static int commands_view_leave(struct command_context *context, struct error *error)
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

static int quit_on_screen(struct command_context *context, const struct arguments *arguments,
			  struct error *error)
{
	struct app *app = command_app(context);

	if (arguments_is(arguments, "end")) {
		started_end(app);
		return 0;
	}
	if (arguments_is(arguments, "detach")) {
		app->is_done = true;
		return 0;
	}
	if (!go_back(&app->view))
		return commands_view_leave(context, error);
	follow_jobs(app);
	return 0;
}

const struct command_hook screen_quit = { .command = &command_quit, .run = quit_on_screen };

static int redraw_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct app *app = command_app(context);

	(void)arguments;
	(void)error;
	if (app->screen != NULL)
		screen_redraw(app->screen);
	return 0;
}

const struct command command_redraw = {
	.name = "redraw",
	.synopsis = "",
	.help = "redraw the screen",
	.flags = COMMAND_MOVES | COMMAND_SCREEN,
	.run = redraw_run,
};
