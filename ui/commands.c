#include "ui/commands.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/engine.h"
#include "ui/app.h"
#include "ui/pane.h"

#define ROW(name) &command_##name,
#define HOOK(name) &screen_##name,
static const struct command *const rows[] = { SCREEN_COMMANDS(ROW) };
static const struct command_hook *const hooks[] = { SCREEN_HOOKS(HOOK) };
static const struct command_table ui_commands = {
	.rows = rows,
	.count = ARRAY_LENGTH(rows),
	.hooks = hooks,
	.hook_count = ARRAY_LENGTH(hooks),
};
const struct command_tables screen_commands = {
	.items = { &ui_commands, &engine_commands },
	.flags = COMMAND_SCREEN,
};
const struct command_tables shell_commands = {
	.items = { &engine_commands, &ui_commands },
	.flags = COMMAND_SHELL,
};

struct app *command_app(const struct command_context *context)
{
	return context->screen;
}

int commands_parse(struct arguments *arguments, const char *line, struct error *error)
{

	return command_parse(arguments, &screen_commands, line, error);
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

/* True if the text is a single line, whose newline is then removed. */
static bool is_one_line(char *text)
{
	char *end = strchr(text, '\n');

	if (end && end[1] != '\0')
		return false;
	if (end)
		*end = '\0';
	return true;
}

/* Shows the output of a command on the hint line if the output fits, else in the text view. line is
 * the command line that renews the text, or NULL if the text is never renewed. */
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
	struct buffer out = BUFFER_INIT;
	struct command_context context = {
		.engine = app->engine,
		.screen = app,
		.out = &out,
		.is_fresh = true,
	};

	if (!is_open || app->view.text.line == NULL)
		return;
	if (command_run_line(&context, &screen_commands, app->view.text.line, NULL) == 0) {
		free(app->view.text.content);
		app->view.text.content = buffer_take(&out);
	}
	buffer_clear(&out);
}

/* Replaces the error if the command exists only in the shell. */
static void commands_explain(const char *name, struct error *error)
{
	const struct command *command = command_lookup(&shell_commands, name, NULL);

	if (command != NULL)
		error_set(error, "the command %s works only in a shell: use `probetui %s`",
			  command->name, command->name);
}

/* True if the line is this command without arguments. */
static bool commands_is_alone(const struct arguments *arguments, const struct command *command)
{
	return arguments->command == command && arguments_are_none(arguments);
}

/* If the command resumed ranks, the view's step group follows these ranks, and the engine's own
 * notice about them is dropped. */
static void follow_motion(struct app *app, uint64_t number)
{
	bool is_error;

	if (!step_group_begin(&app->view.motion, app->engine, number))
		return;
	if (!app->engine->notice.is_error)
		free(engine_take_notice(app->engine, &is_error));
}

/* True if the line is a `continue` that must not wait in the queue, since the running ranks may
 * wait for the stopped ranks. */
static bool frees_those_that_wait(const struct view *view, const struct session *session,
				  const struct arguments *arguments)
{
	return commands_is_alone(arguments, &command_continue) &&
	       step_group_is_stuck(&view->motion, session);
}

/* Runs a command. asked: the ranks of the question that the user answered with yes, or NULL. */
static void run(struct app *app, struct arguments *arguments, const struct rankset *asked)
{
	struct session *session = &app->engine->session;
	struct selection before = session->choice.selection;
	enum view_kind kind = app->view.kind;
	enum pane pane = app->view.pane;
	int line_before = app->view.source_line;
	int pointed;
	uint64_t number = app->engine->pendings.newest;
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
	if (commands_is_alone(arguments, &command_pause) ||
	    commands_is_alone(arguments, &command_interrupt))
		stepqueue_clear(&app->view.steps);
	if (!frees_those_that_wait(&app->view, session, arguments))
		step_group_add_running(&moving, &app->view.motion, session);
	app->is_changed = true;
	if (asked != NULL)
		rankset_copy(&context.asked, asked);
	if (command_run(&context, &screen_commands, arguments, &error) < 0)
		app_say_error(app, &error);
	else if (context.is_put_off)
		stepqueue_add(&app->view.steps, arguments->line);
	else if (context.question != NULL)
		view_ask(&app->view, context.question, arguments->line, &context.asked);
	else if (out.length > 0)
		show_output(app, &out,
			    arguments->command->flags & COMMAND_LIVE ? arguments->line : NULL);
	/* selection_changed() resets source_line: restore the line that the command has set. */
	pointed = app->view.source_line;
	selection_changed(app, &before);
	if (pointed != line_before)
		app->view.source_line = pointed;
	/* Marks of a search belong to the view and pane of the search. */
	if (app->view.kind != kind || app->view.pane != pane)
		app->view.search.has_marks = false;
	follow_motion(app, number);
	free(context.question);
	rankset_clear(&context.asked);
	rankset_clear(&moving);
	buffer_clear(&out);
}

/* Runs the next queued line when all ranks of the step have stopped; a failure clears the queue. */
void commands_go_on(struct app *app)
{
	struct view *view = &app->view;
	const struct session *session = &app->engine->session;
	struct rankset moving = RANKSET_INIT;
	bool is_moving;
	char *line;

	step_group_settle(&view->motion, app->engine);
	step_group_add_running(&moving, &view->motion, session);
	is_moving = moving.range_count > 0;
	rankset_clear(&moving);
	if (is_moving || view->steps.count == 0 || view->message.question != NULL)
		return;
	if (step_group_is_refused(&view->motion, session)) {
		stepqueue_clear(&view->steps);
		return;
	}
	line = stepqueue_take(&view->steps);
	commands_run(app, line);
	free(line);
	if (view->message.is_error)
		stepqueue_clear(&view->steps);
}

static void run_line(struct app *app, const char *line, const struct rankset *asked)
{
	struct error error = ERROR_INIT;
	struct arguments arguments;

	if (commands_parse(&arguments, line, &error) == 0) {
		run(app, &arguments, asked);
	} else {
		if (arguments.name != NULL)
			commands_explain(arguments.name, &error);
		app_say_error(app, &error);
		app->is_changed = true;
	}
	arguments_clear(&arguments);
}

void commands_run(struct app *app, const char *line)
{
	run_line(app, line, NULL);
}

void commands_confirmed(struct app *app, const char *line)
{
	run_line(app, line, &app->view.message.asked);
}
