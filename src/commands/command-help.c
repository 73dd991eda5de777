/*
 * command-help: the list of commands, the shell completion script, and commands of other programs
 * that people try here.
 */
#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "commands/commands.h"
#include "commands/shell-completion.h"
#include "engine/arguments.h"
#include "engine/command.h"

static int help_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct command_tables tables = *context->tables;

	if (arguments->count == 0) {
		command_append_help(context->out, &tables);
		return 0;
	}
	tables.flags = COMMAND_SHELL | COMMAND_SCREEN;
	return command_append_help_of(context->out, &tables, arguments->words[0], error);
}

const struct command command_help = {
	.name = "help",
	.synopsis = "[COMMAND]",
	.help = "list all commands, or describe COMMAND",
	.screen_synopsis = "",
	.screen_help = "show keys and commands",
	.flags = COMMAND_MOVES | COMMAND_SHELL | COMMAND_SCREEN | COMMAND_TEXT | COMMAND_ALONE,
	.run = help_run,
};

static int completion_run(struct command_context *context, const struct arguments *arguments,
			  struct error *error)
{
	return shell_completion_append(context->out, arguments->words[0], context->tables, error);
}

const struct command command_completion = {
	.name = "completion",
	.synopsis = "bash | zsh",
	.help = "print a completion script for a shell",
	.flags = COMMAND_SHELL | COMMAND_TEXT | COMMAND_ALONE,
	.run = completion_run,
};

/* pprof is a command of Probe v1 that does not exist here yet. */
static int pprof_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	(void)context;
	(void)arguments;
	return error_set(error, "probetui has no profiler: use `stacks` to see where the ranks "
				"are, or `verdict` to find the outlier");
}

const struct command command_pprof = {
	.name = "pprof",
	.synopsis = "",
	.help = "command of Probe, not supported: probetui has no profiler",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_ALONE | COMMAND_INTERNAL,
	.run = pprof_run,
};

/* query is a command of Probing that does not exist here yet. */
static int query_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	(void)context;
	(void)arguments;
	return error_set(error, "probetui has no tables to query: use `ranks --json` or `stacks "
				"--json` for the state of the ranks, or `eval CODE` for a value");
}

const struct command command_query = {
	.name = "query",
	.synopsis = "[TEXT]",
	.help = "command of Probing, not supported: probetui has no tables",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_ALONE | COMMAND_INTERNAL,
	.run = query_run,
};
