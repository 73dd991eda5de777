#include "engine/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/engine.h"
#include "engine/synopsis.h"
#include "model/rankselect.h"

#define LINE_MAXIMUM 65536

/* True if an earlier table has the command, too. */
static bool was_before(const struct command_cursor *cursor, const struct command *command)
{
	for (size_t i = 0; i < cursor->table; i++) {
		const struct command_table *table = cursor->tables->items[i];

		for (size_t j = 0; j < table->count; j++)
			if (table->rows[j] == command)
				return true;
	}
	return false;
}

const struct command *command_cursor_next(struct command_cursor *cursor)
{
	const struct command_tables *tables = cursor->tables;

	while (cursor->table < ARRAY_LENGTH(tables->items) && tables->items[cursor->table]) {
		const struct command_table *table = tables->items[cursor->table];

		while (cursor->row < table->count) {
			const struct command *command = table->rows[cursor->row++];

			if (command->flags & tables->flags && !was_before(cursor, command))
				return command;
		}
		cursor->table++;
		cursor->row = 0;
	}
	return NULL;
}

static bool is_on_screen(int flags)
{
	return !(flags & COMMAND_SHELL);
}

const char *command_synopsis(const struct command *command, int flags)
{
	return is_on_screen(flags) && command->screen_synopsis ? command->screen_synopsis
							       : command->synopsis;
}

static bool command_is_name(const struct command *command, const char *name)
{
	const char *alias = command->alias ? command->alias : "";
	size_t length = strlen(name);

	if (strcmp(command->name, name) == 0)
		return true;
	while (*alias != '\0') {
		size_t alias_length = strcspn(alias, " ");

		if (alias_length == length && memcmp(alias, name, length) == 0)
			return true;
		alias += alias_length + (alias[alias_length] == ' ');
	}
	return false;
}

static int command_not_found(struct command_cursor cursor, const char *name, struct error *error)
{
	const struct command *command;
	struct nearest nearest;

	nearest_init(&nearest, name);
	while ((command = command_cursor_next(&cursor)))
		nearest_offer(&nearest, command->name);
	if (nearest.best)
		return error_set(error,
				 "unknown command '%.40s'; did you mean %s? (help lists commands)",
				 name, nearest.best);
	return error_set(error, "unknown command '%.40s' (help lists commands)", name);
}

static int ambiguous(struct command_cursor cursor, const char *name, struct error *error)
{
	struct buffer names = BUFFER_INIT;
	const struct command *command;

	while ((command = command_cursor_next(&cursor))) {
		if (strncmp(command->name, name, strlen(name)) == 0)
			buffer_printf(&names, "%s%s", names.length > 0 ? ", " : "", command->name);
	}
	error_set(error, "ambiguous command '%.40s': %s", name, names.data);
	buffer_clear(&names);
	return -1;
}

const struct command *command_lookup(const struct command_tables *tables, const char *name,
				     struct error *error)
{
	struct command_cursor start = {
		.tables = tables,
	};
	struct command_cursor cursor = start;
	const struct command *found = NULL;
	const struct command *command;
	int fitting = 0;

	while ((command = command_cursor_next(&cursor))) {
		if (command_is_name(command, name))
			return command;
		if (name[0] == '\0' || strncmp(command->name, name, strlen(name)) != 0)
			continue;
		found = command;
		fitting++;
	}
	if (fitting == 0)
		command_not_found(start, name, error);
	else if (fitting > 1)
		ambiguous(start, name, error);
	return fitting == 1 ? found : NULL;
}

/*
 * Without `ranks SET` the command acts on the focus. The ranks may not be known yet, so only the
 * syntax of SET is checked.
 */
static int command_choose_ranks(struct command_context *context, const struct arguments *arguments,
				struct error *error)
{
	const struct session *session = &context->engine->session;
	struct rankselect select = RANKSELECT_INIT;
	int result;

	rankset_clear(&context->ranks);
	context->ranks_text = arguments->ranks;
	if (!(arguments->command->flags & COMMAND_RANKS))
		return 0;
	if (!context->ranks_text) {
		if (!session->choice.is_focus_all)
			rankset_copy(&context->ranks, &session->choice.focus);
		return 0;
	}
	result = rankselect_parse(&select, context->ranks_text, error);
	rankselect_clear(&select);
	return result;
}

/* With a PID the command acts on the rank of that process only. */
static int command_choose_pid(struct command_context *context, const char *pid, struct error *error)
{
	const struct session *session = &context->engine->session;
	size_t count = 0;

	if (!pid)
		return 0;
	if (collect_ranks(context, error) < 0)
		return -1;
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct process *process = &session->ranks[i]->process;

		if (process->pid != strtol(pid, NULL, 10))
			continue;
		if (count++ == 0)
			snprintf(context->named, sizeof(context->named), "%d", process->rank);
		context->ranks_text = context->named;
	}
	if (count == 1)
		return 0;
	context->status = STATUS_USAGE;
	if (count > 1)
		return error_set(error, "%zu machines have a rank with pid %s: use ranks SET",
				 count, pid);
	return error_set(error, "pid %s is not a rank (inspect it with --pid %s)", pid, pid);
}

int command_confirm(struct command_context *context, char *owned_question, struct error *error)
{
	if (context->is_confirmed) {
		free(owned_question);
		return 1;
	}
	if (context->screen) {
		free(context->question);
		context->question = owned_question;
		return 0;
	}
	error_set(error, "%s (--yes answers yes)", owned_question);
	free(owned_question);
	return -1;
}

static const struct command_hook *command_find_hook(const struct command_context *context,
						    const struct command *command)
{
	for (size_t i = 0; context->screen && i < ARRAY_LENGTH(context->tables->items); i++) {
		const struct command_table *table = context->tables->items[i];

		for (size_t j = 0; j < table->hook_count; j++)
			if (table->hooks[j]->command == command)
				return table->hooks[j];
	}
	return NULL;
}

static int run(struct command_context *context, const struct arguments *arguments,
	       struct error *error)
{
	const struct command *command = arguments->command;
	const struct command_hook *hook = command_find_hook(context, command);
	int result = (hook && hook->run ? hook->run : command->run)(context, arguments, error);

	if (result == 0 && command->answer && !context->screen)
		result = command->answer(context, error);
	if (result == 0 && hook && hook->after && !context->question)
		hook->after(context);
	return result;
}

int command_check_job(const struct engine *engine, const char *name, struct error *error)
{
	if (engine->session.is_replay)
		return error_set(error, "%s needs a running job, not a recording", name);
	return 0;
}

static int command_check_flags(const struct command_context *context, const struct command *command,
			       struct error *error)
{
	if (command->flags & COMMAND_JOB)
		return command_check_job(context->engine, command->name, error);
	return 0;
}

static int check_json(const struct command_context *context, const struct command *command,
		      struct error *error)
{
	if (context->is_json && (command->flags & COMMAND_TEXT))
		return error_set(error, "%s has no JSON output: leave out --json", command->name);
	return 0;
}

int command_run(struct command_context *context, const struct command_tables *tables,
		struct arguments *arguments, struct error *error)
{
	const struct command *command = arguments->command;
	int result = -1;

	context->status = STATUS_DONE;
	if (!command)
		return 0;
	context->tables = tables;
	context->failed_rank = -1;
	if (command->flags & COMMAND_ASKS)
		context->is_confirmed = context->is_confirmed || arguments->has_yes ||
					context->engine->settings.is_yes;
	if (check_json(context, command, error) == 0 &&
	    command_check_flags(context, command, error) == 0 &&
	    command_choose_ranks(context, arguments, error) == 0 &&
	    command_choose_pid(context, arguments->pid, error) == 0 &&
	    arguments_parse(arguments, error) == 0)
		result = run(context, arguments, error);
	rankset_clear(&context->ranks);
	context->ranks_text = NULL;
	context->is_confirmed = false;
	if (result < 0 && context->status == 0)
		context->status =
			collect_is_none_reachable(context) ? STATUS_NOTHING : STATUS_USAGE;
	return result;
}

/* Finds the command's row for a split line; an empty line has no row. */
static int command_find_row(struct arguments *arguments, const struct command_tables *tables,
			    struct error *error)
{
	const struct command *command;

	if (!arguments->name)
		return 0;
	command = command_lookup(tables, arguments->name, error);
	if (!command)
		return -1;
	arguments_begin(arguments, command, tables->flags);
	return 0;
}

int command_parse(struct arguments *arguments, const struct command_tables *tables,
		  const char *line, struct error *error)
{
	if (strlen(line) > LINE_MAXIMUM) {
		*arguments = (struct arguments)ARGUMENTS_INIT;
		return error_set(error, "the command line is too long");
	}
	if (arguments_split(arguments, line, error) < 0)
		return -1;
	return command_find_row(arguments, tables, error);
}

int command_run_line(struct command_context *context, const struct command_tables *tables,
		     const char *line, struct error *error)
{
	struct arguments arguments;
	int result = command_parse(&arguments, tables, line, error);

	context->status = STATUS_USAGE;
	context->failed_rank = -1;
	if (result == 0)
		result = command_run(context, tables, &arguments, error);
	arguments_clear(&arguments);
	return result;
}

int command_run_words(struct command_context *context, const struct command_tables *tables,
		      int word_count, char **words, struct error *error)
{
	struct arguments arguments;
	int result;

	arguments_set_words(&arguments, (size_t)word_count, words);
	result = command_find_row(&arguments, tables, error);
	context->status = STATUS_USAGE;
	if (result == 0)
		result = command_run(context, tables, &arguments, error);
	arguments_clear(&arguments);
	return result;
}

#define HELP_COLUMNS 79
#define CALL_COLUMNS 26
#define CALL_INDENT 8 /* indent of further lines of a long synopsis */
#define HELP_INDENT 30

/*
 * Appends the words of text, wrapped at HELP_COLUMNS. The first word is at column; further lines
 * begin at indent.
 */
static void command_append_words(struct buffer *out, const char *text, int column, int indent)
{
	bool is_first = true;

	while (*text != '\0') {
		size_t length = strcspn(text, " ");
		struct buffer word = BUFFER_INIT;
		int width;

		buffer_append(&word, text, length);
		width = text_width(word.data);
		if (!is_first && column + 1 + width > HELP_COLUMNS) {
			buffer_printf(out, "\n%*s", indent, "");
			column = indent;
			is_first = true;
		}
		buffer_printf(out, "%s%s", is_first ? "" : " ", word.data);
		column += width + !is_first;
		is_first = false;
		text += length + strspn(text + length, " ");
		buffer_clear(&word);
	}
	buffer_append_char(out, '\n');
}

static void command_append_row(struct buffer *out, const struct command *command, int flags)
{
	const char *synopsis = command_synopsis(command, flags);
	const char *help = command->help;
	struct buffer call = BUFFER_INIT;

	if (is_on_screen(flags) && command->screen_help)
		help = command->screen_help;
	buffer_printf(&call, "%s%s%s", command->name, synopsis[0] != '\0' ? " " : "", synopsis);
	if (call.length > CALL_COLUMNS) {
		buffer_append_string(out, "  ");
		command_append_words(out, call.data, 2, CALL_INDENT);
		buffer_printf(out, "%*s", HELP_INDENT, "");
	} else {
		buffer_printf(out, "  %-*s  ", CALL_COLUMNS, call.data);
	}
	command_append_words(out, help, HELP_INDENT, HELP_INDENT);
	buffer_clear(&call);
}

void command_append_help(struct buffer *out, const struct command_tables *tables)
{
	struct command_cursor cursor = {
		.tables = tables,
	};
	const struct command *command;

	while ((command = command_cursor_next(&cursor))) {
		if (!(command->flags & COMMAND_INTERNAL))
			command_append_row(out, command, tables->flags);
	}
}

int command_append_help_of(struct buffer *out, const struct command_tables *tables,
			   const char *name, struct error *error)
{
	const struct command *command = command_lookup(tables, name, error);

	if (!command)
		return -1;
	command_append_row(out, command, tables->flags);
	return 0;
}
