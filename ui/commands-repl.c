/*
 * commands-repl: `eval` and `repl` on the screen: running code in the focused ranks, and the view
 * where code is typed.
 */
#include <string.h>

#include "banned.h"
#include "base/error.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/engine.h"
#include "engine/rank-query.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/commands.h"
#include "ui/shell.h"

static void commands_repl_show(struct command_context *context)
{
	struct view *view = &command_app(context)->view;

	view->repl.back = 0;
	view_open(view, VIEW_REPL);
}

const struct command_hook screen_eval = { .command = &command_eval, .after = commands_repl_show };

const struct command_hook screen_execute = { .command = &command_execute,
					     .after = commands_repl_show };

static int assign_on_screen(struct command_context *context, const struct arguments *arguments,
			    struct error *error)
{
	if (arguments->count == 0)
		return prompt_assign(command_app(context), error);
	return command_assign.run(context, arguments, error);
}

const struct command_hook screen_assign = { .command = &command_assign, .run = assign_on_screen };

static int repl_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	(void)arguments;
	if (context->screen == NULL)
		return shell_repl(context, error);
	commands_repl_show(context);
	return 0;
}

const struct command command_repl = {
	.name = "repl",
	.synopsis = "",
	.help = "open a prompt for code in the focused ranks; C-d leaves",
	.flags = COMMAND_SHELL | COMMAND_SCREEN,
	.run = repl_run,
};

/* Sends the block as typed; words like `ranks` in the code are not parsed as command arguments. */
static void commands_repl_run_block(struct app *app, const struct codeblock *block)
{
	struct command_context context = {
		.engine = app->engine,
		.screen = app,
	};
	struct error error = ERROR_INIT;

	if (codeblock_check(block, &error) < 0 ||
	    rank_query_begin(&context, "eval", block->text.data, ANSWERS_EVAL, &error) < 0)
		app_say_error(app, &error);
	rankset_clear(&context.ranks);
}

static void commands_repl_enter(struct app *app)
{
	struct repl *repl = &app->view.repl;

	if (!repl_enter(repl))
		return;
	if (!codeblock_is_blank(&repl->block))
		commands_repl_run_block(app, &repl->block);
	codeblock_clear(&repl->block);
}

static void commands_repl_take_completions(struct engine *engine, json_t *body, const char *error,
					   void *data)
{
	struct app *app = data;

	(void)engine;
	app->view.repl.completing = NULL;
	if (error)
		view_say(&app->view, true, error);
	else
		repl_offer(&app->view.repl, json_object_get(body, "targets"));
}

static void commands_repl_complete(struct app *app, int by)
{
	struct error error = ERROR_INIT;

	if (repl_tab(&app->view.repl, app->engine, by, commands_repl_take_completions, app,
		     &error) < 0)
		app_say_error(app, &error);
}

struct repl_key {
	const char *key;
	const char *line; /* command line of the key */
};

static const struct repl_key keys[] = {
	{ "Esc", "back" },
	{ "C-]", "back" },
	{ "PgUp", "cursor page-up" },
	{ "PgDn", "cursor page-down" },
	{ "C-l", "redraw" },
	{ "C-z", "suspend" },
	{ "F1", "help" },
};

static void edit(struct app *app, const char *key)
{
	struct repl *repl = &app->view.repl;

	repl->back = 0;
	if (strcmp(key, "Enter") == 0)
		commands_repl_enter(app);
	else if (strcmp(key, "Tab") == 0 || strcmp(key, "S-Tab") == 0)
		commands_repl_complete(app, *key == 'T' ? 1 : -1);
	else if (strcmp(key, "C-c") == 0)
		repl_drop(repl);
	else if (strcmp(key, "C-t") == 0)
		repl->shows_tracebacks = !repl->shows_tracebacks;
	else if (prompt_key(&repl->line, key) == PROMPT_CANCELLED)
		prompt_open(&repl->line, PROMPT_EVAL, "");
}

bool repl_takes(struct app *app, const char *key)
{
	struct repl *repl = &app->view.repl;
	const char *line = NULL;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i].key, key) == 0)
			line = keys[i].line;
	if (strcmp(key, "C-d") == 0 && repl->line.text.length == 0 && !repl->block.is_begun)
		line = "back";
	if (line != NULL)
		commands_run(app, line);
	else if (strlen(key) > 1 && key[0] == 'F' && key[1] <= '9')
		return true;
	else
		edit(app, key);
	return true;
}
