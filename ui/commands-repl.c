/*
 * commands-repl: `eval` and `repl` on the screen: running code in the focused ranks, and the view
 * where code is typed.
 */
#include "ui/commands-repl.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/log.h"
#include "base/loop.h"
#include "commands/commands.h"
#include "commands/script.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/rank-query.h"
#include "engine/script-events.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/lineedit.h"
#include "ui/repl.h"

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
	.help = "open a prompt that runs code in the focused ranks (C-d closes it)",
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

struct shell {
	struct command_context *context;
	struct repl repl;
	struct lineedit edit;
	int status;
};

/* Adds a result to the exit status, as in a script: 1 after a failure, else 4 after a partial
 * answer. */
static void shell_add_status(struct shell *shell, int result)
{
	int status = shell->context->status;

	if (result < 0 || status == STATUS_FINDING)
		shell->status = STATUS_FINDING;
	else if (status == STATUS_PARTIAL && shell->status == STATUS_DONE)
		shell->status = STATUS_PARTIAL;
}

static int begin_eval(struct shell *shell, struct error *error)
{
	const struct codeblock *block = &shell->repl.block;

	rankset_clear(&shell->context->ranks);
	if (codeblock_check(block, error) < 0)
		return -1;
	return rank_query_begin(shell->context, "eval", block->text.data, ANSWERS_EVAL, error);
}

/*
 * Runs and clears the typed block. A block that the end of the input cuts off is run as it is, so
 * that Python reports the missing part. Returns -1 if the output cannot be written.
 */
static int shell_run_block(struct shell *shell, struct error *error)
{
	struct command_context *context = shell->context;
	struct error failure = ERROR_INIT;
	bool is_blank = codeblock_is_blank(&shell->repl.block);
	int result = 0;

	context->status = STATUS_DONE;
	if (!is_blank)
		result = begin_eval(shell, &failure);
	codeblock_clear(&shell->repl.block);
	if (is_blank)
		return 0;
	if (result == 0)
		result = command_answer_evaluated(context, &failure);
	if (result < 0)
		script_append_error(context, -1, "eval", failure.message);
	shell_add_status(shell, result);
	return script_flush(context, error);
}

static int read_pipe(struct shell *shell, struct error *error)
{
	struct codeblock *block = &shell->repl.block;
	char *line = NULL;
	size_t capacity = 0;
	ssize_t length;
	int result = 0;

	setvbuf(stdin, NULL, _IONBF, 0);
	for (;;) {
		script_await_line(shell->context->engine, stdin);
		if (result != 0 || (length = getline(&line, &capacity, stdin)) < 0)
			break;
		line[strcspn(line, "\r\n")] = '\0';
		if (codeblock_ends_before(block, line))
			result = shell_run_block(shell, error);
		if (result == 0 && codeblock_add(block, line))
			result = shell_run_block(shell, error);
	}
	if (result == 0 && block->is_begun)
		result = shell_run_block(shell, error);
	free(line);
	return result;
}

static void shell_take_completions(struct repl *repl, struct engine *engine)
{
	struct request *request = repl->completing;
	json_t *body;

	repl->completing = NULL;
	request_wait(engine, request, engine->settings.timeout);
	body = request_take(engine, request, NULL);
	if (body)
		repl_offer(repl, json_object_get(body, "targets"));
	json_decref(body);
}

/* Completes at Tab; waits for the rank's answer, unlike the screen. */
static void shell_complete(int by, void *data)
{
	struct shell *shell = data;
	struct engine *engine = shell->context->engine;
	struct error error = ERROR_INIT;
	size_t before = shell->repl.line.candidates.count;

	repl_tab(&shell->repl, engine, by, NULL, NULL, &error);
	if (shell->repl.completing)
		shell_take_completions(&shell->repl, engine);
	if (before == 0 && shell->repl.line.candidates.count > 1)
		lineedit_show_candidates(&shell->edit);
}

/* While a line is typed, lineedit_read() restores the terminal when a signal ends the program. */
static enum lineedit_result read_line(struct shell *shell)
{
	struct engine *engine = shell->context->engine;
	enum lineedit_result result;

	engine->handled_signals = 1u << SIGINT | 1u << SIGTERM | 1u << SIGHUP;
	result = lineedit_read(&shell->edit, engine->loop);
	engine->handled_signals = 1u << SIGINT;
	return result;
}

static int read_lines(struct shell *shell, struct error *error)
{
	int result = 0;

	shell->edit = (struct lineedit){
		.prompt = &shell->repl.line,
		.complete = shell_complete,
		.data = shell,
	};
	while (result == 0) {
		shell->edit.label = repl_prompt(&shell->repl);
		switch (read_line(shell)) {
		case LINEEDIT_LINE:
			if (repl_enter(&shell->repl))
				result = shell_run_block(shell, error);
			break;
		case LINEEDIT_DROPPED:
			repl_drop(&shell->repl);
			break;
		case LINEEDIT_TYPING:
		case LINEEDIT_END:
			return 0;
		}
	}
	return result;
}

/* Called for SIGINT while code runs; while a line is typed, C-c is an ordinary key. */
static void on_interrupt(int number, void *data)
{
	(void)number;
	rank_query_interrupt(data);
}

/* C-c interrupts the running code, not the shell. */
static int shell_read_terminal(struct shell *shell, struct error *error)
{
	struct engine *engine = shell->context->engine;
	struct loop_signal *interrupt = loop_signal(engine->loop, SIGINT, on_interrupt, engine);
	int result = read_lines(shell, error);

	loop_signal_stop(interrupt);
	engine->handled_signals = 0;
	return result;
}

int shell_repl(struct command_context *context, struct error *error)
{
	struct shell shell = { .context = context };
	struct error failure = ERROR_INIT;
	bool is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	int result;

	if (collect_ranks(context, error) < 0)
		return -1;
	repl_init(&shell.repl);
	if (is_terminal &&
	    history_open(&shell.repl.line.histories[PROMPT_EVAL], HISTORY_CODE, &failure) < 0)
		log_write(LOG_WARNING, "%s", failure.message);
	result = is_terminal ? shell_read_terminal(&shell, error) : read_pipe(&shell, error);
	context->status = is_terminal ? STATUS_DONE : shell.status;
	repl_clear(&shell.repl);
	return result;
}
