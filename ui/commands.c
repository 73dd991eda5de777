#include "ui/commands.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/arguments.h"
#include "engine/engine.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/pane.h"

#define SCREEN COMMAND_SCREEN
#define INTERNAL (SCREEN | COMMAND_INTERNAL)

static int ui_keys(struct command_context *context, int argc, char **argv, struct error *error);

static const struct command rows[] = {
	{ "job", NULL, "PORT | PID", "look at another job: its port or its launcher", SCREEN,
	  ui_job },
	{ "jobs", NULL, "", "the jobs that run here, and how they are", SCREEN, ui_jobs },
	{ "rank", NULL, "next | previous | N", "look at another rank", SCREEN, ui_rank },
	{ "outlier", NULL, "next | previous", "look at another outlier", SCREEN, ui_outlier },
	{ "up", "u", "[COUNT]", "look at the caller's frame", SCREEN, ui_up },
	{ "down", "d", "[COUNT]", "look at the called frame", SCREEN, ui_down },
	{ "pane", NULL, "next | previous", "go to another pane", SCREEN, ui_pane },
	{ "cursor", NULL, "up | down | left | right | page-up | page-down | first | last",
	  "move in the pane", INTERNAL, ui_cursor },
	{ "click", NULL, "ROW COLUMN [open]", "what a click there does: select, or open", INTERNAL,
	  ui_click },
	{ "wheel", NULL, "ROW COLUMN up | down", "what the wheel does there: move in the pane",
	  INTERNAL, ui_wheel },
	{ "open", NULL, "", "open what is under the cursor", SCREEN, ui_open },
	{ "expand", "fold", "", "open what is folded, fold what is open", SCREEN, ui_expand },
	{ "zoom", NULL, "", "the pane alone, and back", SCREEN, ui_zoom },
	{ "grid", NULL, "[cards | table | cells]", "how ranks are shown", SCREEN, ui_grid },
	{ "toggle", NULL, "", "focus on what is under the cursor, too; or no more", SCREEN,
	  ui_toggle },
	{ "sort", NULL, "[next | reverse | COLUMN]",
	  "by what ranks are sorted: rank, host, age, cpu, \u2026", SCREEN, ui_sort },
	{ "group", NULL, "[class | host | none]", "how ranks are grouped", SCREEN, ui_group },
	{ "filter", NULL, "[TEXT]", "show the ranks with TEXT in their row", SCREEN, ui_filter },
	{ "merged", NULL, "", "the stacks of all ranks, merged", SCREEN, ui_merged },
	{ "native", NULL, "[on | off]", "native frames in stacks, or not", SCREEN, ui_native },
	{ "granularity", NULL, "[line | function | file]", "by what stacks are merged", SCREEN,
	  ui_granularity },
	{ "diff", NULL, "[majority | RANK [RANK] | Ts]",
	  "how the rank's stack differs: from the majority, a rank, T s ago", SCREEN, ui_diff },
	{ "against", NULL, "", "the next thing to compare with", SCREEN, ui_against },
	{ "search", NULL, "[TEXT]", "find text in the pane; alone: again", SCREEN, ui_search },
	{ "find", NULL, "next | previous", "another hit, or difference", SCREEN, ui_find },
	{ "here", NULL, "break | until",
	  "break at the line under the source's cursor, or no more; run to it", SCREEN, ui_here },
	{ "breakpoints", NULL, "", "where ranks are to stop", SCREEN, ui_breakpoints },
	{ "remove", NULL, "", "clear the breakpoint under the cursor", SCREEN, ui_remove },
	{ "stay", NULL, "", "the stopped ranks stay so, though a collective may time out", SCREEN,
	  ui_stay },
	{ "hold", NULL, "", "freeze the display, or the recording, or resume it", SCREEN, ui_hold },
	{ "refresh", NULL, "", "read all ranks now", SCREEN, ui_refresh },
	{ "time", "seek",
	  "next [N] | previous [N] | first | last | +SECONDS | -SECONDS | SECONDS | HH:MM:SS",
	  "go to a time of the recording, or to where something changed", SCREEN, ui_time },
	{ "record", NULL, "[FILE]", "write what is seen to a new file; without one: end it", SCREEN,
	  ui_record },
	{ "theme", NULL, "[THEME]", "other colours; alone: which there are", SCREEN, ui_theme },
	{ "set", NULL, "[SETTING [VALUE]]", "what can be set, and its values; or set it", SCREEN,
	  ui_set },
	{ "bind", NULL, "KEY [COMMAND LINE]", "what a key does", SCREEN, ui_bind },
	{ "prompt", NULL,
	  "[rank DIGIT | search | filter | focus | compare | watch | tensor | tolerance]",
	  "a line to type in", SCREEN, ui_prompt },
	{ "keys", NULL, "", "the keys of the screen",
	  COMMAND_SHELL | COMMAND_SCREEN | COMMAND_TEXT | COMMAND_ALONE, ui_keys },
	{ "help", NULL, "", "keys and commands", SCREEN, ui_help },
	{ "log", NULL, "", "what the rank prints, and our log", SCREEN, ui_log },
	{ "compare", NULL, "[EXPR [ranks SET]]",
	  "EXPR in each stopped rank, equal values together; alone: again", SCREEN | COMMAND_RANKS,
	  ui_compare },
	{ "visit", NULL, "[tensor]",
	  "home, or its tensor: of the first rank of the comparison's row", SCREEN, ui_visit },
	{ "tensor", NULL, "[EXPR]", "a tensor of the rank looked at; alone: the last one", SCREEN,
	  ui_tensor },
	{ "tensor-view", NULL, "[numbers | heat | histogram]",
	  "how its elements are shown; alone: the next way", SCREEN, ui_tensor_view },
	{ "tensor-index", NULL, "[SLICE | next | previous]",
	  "which two dimensions of it run, and where the others stand: [2, :, :]", SCREEN,
	  ui_tensor_index },
	{ "tensor-find", NULL, "min | max | nan",
	  "go to its least or greatest element, to the next NaN or infinity", SCREEN,
	  ui_tensor_find },
	{ "tensor-digits", NULL, "[automatic | fixed | scientific | hex | more | fewer]",
	  "how its numbers are written; alone: the next way", SCREEN, ui_tensor_digits },
	{ "tensor-export", NULL, "[FILE]",
	  "write all its elements to a new file of numpy; alone: asks for a name", SCREEN,
	  ui_tensor_export },
	{ "tensor-scale", NULL, "[linear | log]", "the bars of its histogram; alone: the other way",
	  SCREEN, ui_tensor_scale },
	{ "difference", NULL, "", "how the row's tensor differs, element by element; there: again",
	  SCREEN, ui_difference },
	{ "diff-params", NULL, "[[--gradients] EXPR [ranks SET]]",
	  "all parameters of EXPR (model) over ranks, which differ; alone: again",
	  SCREEN | COMMAND_RANKS, ui_diff_params },
	{ "follow", NULL, "", "watch what is compared: at each stop; a tensor for NaN", SCREEN,
	  ui_follow },
	{ "broadcast", NULL, "[--yes] LINE [ranks SET]",
	  "LINE to the prompt of each stopped rank, equal answers together",
	  SCREEN | COMMAND_RANKS | COMMAND_ASKS, ui_broadcast },
	{ "eval", NULL, "CODE [ranks SET]",
	  "run CODE in each rank, stopped or not, equal answers together", SCREEN | COMMAND_RANKS,
	  ui_eval },
	{ "assign", NULL, "[NAME = VALUE [ranks SET]]",
	  "set a variable of the frame looked at; alone: that under the cursor",
	  SCREEN | COMMAND_RANKS, ui_assign },
	{ "execute", NULL, "[PID] FILE | CODE [ranks SET]",
	  "run a file, or CODE, beside the program of each rank",
	  SCREEN | COMMAND_RANKS | COMMAND_PID, ui_execute },
	{ "repl", NULL, "", "type code for the ranks of the focus; C-d leaves",
	  COMMAND_SHELL | SCREEN, ui_repl },
	{ "console", NULL, "", "the debugger's own session; ^] leaves it", SCREEN, ui_console },
	{ "terminal", NULL, "", "the terminal of the job that was started; ^] leaves it", SCREEN,
	  ui_terminal },
	{ "edit", NULL, "", "the line looked at, in $VISUAL or $EDITOR", SCREEN, ui_edit },
	{ "copy", NULL, "", "copy the verdict, or what the view shows", SCREEN, ui_copy },
	{ "redraw", NULL, "", "draw the screen anew", SCREEN, ui_redraw },
	{ "suspend", NULL, "", "back to the shell; fg returns", SCREEN, ui_suspend },
	{ "interrupt", NULL, "[--yes] [ranks SET]",
	  "close what is open; at home: pause the ranks of the focus",
	  SCREEN | COMMAND_RANKS | COMMAND_ASKS, ui_interrupt },
	{ "back", NULL, "", "back; never leaves", SCREEN, ui_back },
	{ "quit", "q", "[detach | end]",
	  "close the view; at home: leave. A job that was started keeps running, or is ended",
	  SCREEN, ui_quit },
};
const struct command_table ui_commands = { rows, ARRAY_LENGTH(rows) };

struct app *command_app(const struct command_context *context)
{
	return context->screen;
}

int command_usage(struct error *error, const char *name, const char *arguments)
{
	return error_set(error, "%s takes %s.", name, arguments);
}

static int ui_keys(struct command_context *context, int argc, char **argv, struct error *error)
{
	static const struct arguments none = { .usage = "" };
	struct keymap keymap;
	int result;

	if (context->screen != NULL)
		return ui_help(context, argc, argv, error);
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

static bool is_same_selection(const struct selection *a, const struct selection *b)
{
	return a->rank == b->rank && a->tid == b->tid && a->depth == b->depth && a->pid == b->pid;
}

void selection_changed(struct app *app, const struct selection *before)
{
	if (is_same_selection(before, &app->engine->session.choice.selection))
		return;
	app->view.source_line = 0;
	app->view.locals_cursor = 0;
}

static bool is_live(const struct command_table *tables, size_t table_count, const char *line)
{
	int count;
	char **words = command_split(line, &count, NULL);
	const struct command *command = NULL;

	if (words != NULL && count > 0)
		command = command_find(tables, table_count, words[0], COMMAND_SCREEN, NULL);
	if (words != NULL)
		command_free_words(words, count);
	return command != NULL && (command->flags & COMMAND_LIVE);
}

/* A text of one line, with or without its end; it is cut off there. */
static bool is_one_line(char *text)
{
	char *end = strchr(text, '\n');

	if (end && end[1] != '\0')
		return false;
	if (end)
		*end = '\0';
	return true;
}

/* line: the command, where its text follows the session; else NULL. */
static void show_output(struct app *app, struct buffer *out, const char *line)
{
	if (line == NULL && is_one_line(out->data) && pane_message_fits(&app->view, out->data)) {
		view_say(&app->view, false, out->data);
		return;
	}
	view_open(&app->view, VIEW_TEXT);
	free(app->view.text.content);
	free(app->view.text.line);
	app->view.text.content = buffer_take(out);
	app->view.text.line = line != NULL ? xstrdup(line) : NULL;
}

void text_refresh(struct app *app, bool is_open)
{
	const struct command_table tables[] = { ui_commands, engine_commands };
	struct buffer out = BUFFER_INIT;
	struct command_context context = {
		.engine = app->engine,
		.screen = app,
		.out = &out,
		.is_fresh = true,
	};

	if (!is_open || app->view.text.line == NULL)
		return;
	if (command_run_line(&context, tables, ARRAY_LENGTH(tables), app->view.text.line,
			     COMMAND_SCREEN, NULL) == 0) {
		free(app->view.text.content);
		app->view.text.content = buffer_take(&out);
	}
	buffer_clear(&out);
}

/* A command of the shell waits for answers; a screen never does. */
static bool is_for_shell(const struct command_table *tables, size_t table_count, const char *line,
			 struct error *error)
{
	int count;
	char **words = command_split(line, &count, error);
	const struct command *command = NULL;

	if (words == NULL)
		return false;
	if (count > 0 && command_find(tables, table_count, words[0], COMMAND_SCREEN, NULL) == NULL)
		command = command_find(tables, table_count, words[0], COMMAND_SHELL, NULL);
	if (command != NULL)
		error_set(error, "%s works in a shell: probetui %s", command->name, command->name);
	command_free_words(words, count);
	return command != NULL;
}

/* What the engine said of ranks that run is told again and again by us. */
static void follow_motion(struct app *app, int64_t seq)
{
	bool is_error;

	if (!motion_begin(&app->view.motion, app->engine, seq))
		return;
	if (!app->engine->is_notice_error)
		free(engine_take_notice(app->engine, &is_error));
}

/* Those that still run may wait for those that have stopped. */
static bool frees_those_that_wait(const struct view *view, const struct session *session,
				  const char *line)
{
	return strcmp(line, "continue") == 0 && motion_is_stuck(&view->motion, session);
}

/* asked: the ranks that a person was asked about, and said yes; or NULL. */
static void run(struct app *app, const char *line, const struct rankset *asked)
{
	const struct command_table tables[] = { ui_commands, engine_commands };
	struct session *session = &app->engine->session;
	struct selection before = session->choice.selection;
	enum view_kind kind = app->view.kind;
	enum pane pane = app->view.pane;
	int line_before = app->view.source_line;
	int pointed;
	int64_t seq = app->engine->seq;
	struct buffer out = BUFFER_INIT;
	struct error error = ERROR_INIT;
	struct rankset moving = RANKSET_INIT;
	struct command_context context = {
		.engine = app->engine,
		.screen = app,
		.out = &out,
		.is_confirmed = asked != NULL,
		.moving = &moving,
	};

	/* A pause cancels the steps that are queued. */
	if (strcmp(line, "pause") == 0 || strcmp(line, "interrupt") == 0)
		stepqueue_clear(&app->view.steps);
	if (!frees_those_that_wait(&app->view, session, line))
		motion_add_running(&moving, &app->view.motion, session);
	app->is_changed = true;
	if (asked != NULL)
		rankset_copy(&context.asked, asked);
	if (is_for_shell(tables, ARRAY_LENGTH(tables), line, &error) ||
	    command_run_line(&context, tables, ARRAY_LENGTH(tables), line, COMMAND_SCREEN, &error) <
		    0)
		app_say_error(app, &error);
	else if (context.is_put_off)
		stepqueue_add(&app->view.steps, line);
	else if (context.question != NULL)
		view_ask(&app->view, context.question, line, &context.asked);
	else if (out.length > 0)
		show_output(app, &out, is_live(tables, ARRAY_LENGTH(tables), line) ? line : NULL);
	/* A command that points at a line may select its frame, too. */
	pointed = app->view.source_line;
	selection_changed(app, &before);
	if (pointed != line_before)
		app->view.source_line = pointed;
	/* What was found was found there. */
	if (app->view.kind != kind || app->view.pane != pane)
		app->view.search.has_marks = false;
	follow_motion(app, seq);
	free(context.question);
	rankset_clear(&context.asked);
	rankset_clear(&moving);
	buffer_clear(&out);
}

/* What is put off waits for all of them; what went wrong ends it. */
void commands_go_on(struct app *app)
{
	struct view *view = &app->view;
	const struct session *session = &app->engine->session;
	struct rankset moving = RANKSET_INIT;
	bool is_moving;
	char *line;

	motion_settle(&view->motion, app->engine);
	motion_add_running(&moving, &view->motion, session);
	is_moving = moving.range_count > 0;
	rankset_clear(&moving);
	if (is_moving || view->steps.count == 0 || view->message.question != NULL)
		return;
	if (motion_is_refused(&view->motion, session)) {
		stepqueue_clear(&view->steps);
		return;
	}
	line = stepqueue_take(&view->steps);
	commands_run(app, line);
	free(line);
	if (view->message.is_error)
		stepqueue_clear(&view->steps);
}

void commands_run(struct app *app, const char *line)
{
	run(app, line, NULL);
}

void commands_confirmed(struct app *app, const char *line)
{
	run(app, line, &app->view.message.asked);
}
