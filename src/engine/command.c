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
#include "engine/engine.h"
#include "engine/gather.h"
#include "engine/nearest.h"
#include "model/rankselect.h"

#define LINE_MAXIMUM 65536
#define YES "--yes"

/* True: an earlier table has it, too. */
static bool was_before(const struct command_cursor *cursor, const struct command *command)
{
	for (size_t i = 0; i < cursor->table; i++)
		for (size_t j = 0; j < cursor->tables[i].count; j++)
			if (cursor->tables[i].rows[j] == command)
				return true;
	return false;
}

const struct command *command_cursor_next(struct command_cursor *cursor)
{
	while (cursor->table < cursor->table_count) {
		const struct command_table *table = &cursor->tables[cursor->table];

		while (cursor->row < table->count) {
			const struct command *command = table->rows[cursor->row++];

			if (command->flags & cursor->flags && !was_before(cursor, command))
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

static bool is_name(const struct command *command, const char *name)
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

static int not_found(struct command_cursor cursor, const char *name, struct error *error)
{
	const struct command *command;
	struct nearest nearest;

	nearest_init(&nearest, name);
	while ((command = command_cursor_next(&cursor)))
		nearest_offer(&nearest, command->name);
	if (nearest.best)
		return error_set(error,
				 "there is no command '%.40s'; did you mean %s? help lists them",
				 name, nearest.best);
	return error_set(error, "there is no command '%.40s'; help lists them", name);
}

static int ambiguous(struct command_cursor cursor, const char *name, struct error *error)
{
	struct buffer names = BUFFER_INIT;
	const struct command *command;

	while ((command = command_cursor_next(&cursor))) {
		if (strncmp(command->name, name, strlen(name)) == 0)
			buffer_printf(&names, "%s%s", names.length > 0 ? ", " : "", command->name);
	}
	error_set(error, "'%.40s' is short for several commands: %s", name, names.data);
	buffer_clear(&names);
	return -1;
}

const struct command *command_lookup(const struct command_table *tables, size_t table_count,
				     const char *name, int flags, struct error *error)
{
	struct command_cursor start = {
		.tables = tables,
		.table_count = table_count,
		.flags = flags,
	};
	struct command_cursor cursor = start;
	const struct command *found = NULL;
	const struct command *command;
	int fitting = 0;

	while ((command = command_cursor_next(&cursor))) {
		if (is_name(command, name))
			return command;
		if (name[0] == '\0' || strncmp(command->name, name, strlen(name)) != 0)
			continue;
		found = command;
		fitting++;
	}
	if (fitting == 0)
		not_found(start, name, error);
	else if (fitting > 1)
		ambiguous(start, name, error);
	return fitting == 1 ? found : NULL;
}

/* One word; *line moves behind it. False at the line's end. */
static bool next_word(const char **line, struct buffer *word, struct error *error)
{
	const char *at = *line + strspn(*line, " \t\r");

	buffer_reset(word);
	*line = at;
	if (*at == '\0' || *at == '#')
		return false;
	while (*at != '\0' && !strchr(" \t\r", *at)) {
		const char *end;

		if (*at != '"' && *at != '\'') {
			buffer_append_char(word, *at++);
			continue;
		}
		end = strchr(at + 1, *at);
		if (!end) {
			error_set(error, "the quote %c is not closed", *at);
			return false;
		}
		buffer_append(word, at + 1, (size_t)(end - at - 1));
		at = end + 1;
	}
	*line = at;
	return true;
}

char **command_split(const char *line, int *count, struct error *error)
{
	struct buffer word = BUFFER_INIT;
	struct error open_quote = ERROR_INIT;
	char **words = NULL;
	size_t capacity = 0;

	*count = 0;
	ARRAY_GROW(words, 0, capacity);
	while (next_word(&line, &word, &open_quote)) {
		ARRAY_GROW(words, (size_t)*count + 1, capacity);
		words[(*count)++] = xstrdup(word.data);
	}
	words[*count] = NULL;
	buffer_clear(&word);
	if (!error_is_set(&open_quote))
		return words;
	command_free_words(words, *count);
	error_set(error, "%s", open_quote.message);
	return NULL;
}

void command_free_words(char **words, int count)
{
	for (int i = 0; i < count; i++)
		free(words[i]);
	free(words);
}

/*
 * Cuts `ranks SET` off the words; else the command acts on the focus. The
 * ranks may not be known yet, so that this only sees whether it is a set.
 */
static int take_ranks(struct command_context *context, const struct command *command, int *count,
		      char **words, struct error *error)
{
	const struct session *session = &context->engine->session;
	struct rankselect select = RANKSELECT_INIT;
	int result;

	rankset_clear(&context->ranks);
	context->ranks_text = NULL;
	if (!(command->flags & COMMAND_RANKS))
		return 0;
	if (*count < 3 || strcmp(words[*count - 2], "ranks") != 0) {
		if (!session->choice.is_focus_all)
			rankset_copy(&context->ranks, &session->choice.focus);
		return 0;
	}
	*count -= 2;
	context->ranks_text = words[*count + 1];
	result = rankselect_parse(&select, context->ranks_text, error);
	rankselect_clear(&select);
	return result;
}

/* Cuts a PID off the words: its rank is the only one that is meant. */
static int take_pid(struct command_context *context, const struct command *command, int *count,
		    char **words, struct error *error)
{
	const struct session *session = &context->engine->session;
	char *pid = *count > 1 ? words[1] : NULL;

	context->cut_words = 0;
	if (!(command->flags & COMMAND_PID) || !pid || !settings_is_pid(pid) || context->ranks_text)
		return 0;
	if (!context->screen && gather_ranks(context, error) < 0)
		return -1;
	memmove(words + 1, words + 2, (size_t)(*count - 2) * sizeof(*words));
	words[--*count] = pid;
	context->cut_words = 1;
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct process *process = &session->ranks[i]->process;

		if (process->pid != strtol(pid, NULL, 10))
			continue;
		snprintf(context->named, sizeof(context->named), "%d", process->rank);
		context->ranks_text = context->named;
		return 0;
	}
	context->status = STATUS_USAGE;
	return error_set(error, "process %s is none of the ranks found; --pid %s makes it one", pid,
			 pid);
}

static void take_yes(struct command_context *context, const struct command *command, int *count,
		     char **words)
{
	int kept = 0;

	if (!(command->flags & COMMAND_ASKS))
		return;
	context->is_confirmed = context->is_confirmed || context->engine->settings.is_yes;
	for (int i = 0; i < *count; i++) {
		char *word = words[i];

		if (strcmp(word, YES) == 0) {
			context->is_confirmed = true;
			continue;
		}
		/* The words are freed by those who made them. */
		words[i] = words[kept];
		words[kept++] = word;
	}
	*count = kept;
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
	error_set(error, "%s " YES " does it", owned_question);
	free(owned_question);
	return -1;
}

/* Moves *line over one word, as next_word() does. */
static void skip_word(const char **line)
{
	struct buffer word = BUFFER_INIT;

	next_word(line, &word, NULL);
	buffer_clear(&word);
}

char *command_join(int argc, char **argv, int first)
{
	struct buffer text = BUFFER_INIT;

	for (int i = first; i < argc; i++)
		buffer_printf(&text, "%s%s", i > first ? " " : "", argv[i]);
	return buffer_take(&text);
}

char *command_tail(const struct command_context *context, int argc, char **argv, int first)
{
	const char *start = context->line;
	const char *end;

	if (first >= argc)
		return xstrdup("");
	if (!start)
		return command_join(argc, argv, first);
	for (int i = 0; i < first + context->cut_words; i++)
		skip_word(&start);
	start += strspn(start, " \t\r");
	/* It was cut off the words. */
	if (context->is_confirmed && strncmp(start, YES " ", strlen(YES " ")) == 0)
		start += strlen(YES) + strspn(start + strlen(YES), " \t\r");
	end = start;
	for (int i = first; i < argc; i++)
		skip_word(&end);
	return xasprintf("%.*s", (int)(end - start), start);
}

static const struct command_hook *find_hook(const struct command_context *context,
					    const struct command *command)
{
	for (size_t i = 0; context->screen && i < context->table_count; i++) {
		const struct command_table *table = &context->tables[i];

		for (size_t j = 0; j < table->hook_count; j++)
			if (table->hooks[j]->command == command)
				return table->hooks[j];
	}
	return NULL;
}

static int run(struct command_context *context, const struct command *command, int argc,
	       char **argv, struct error *error)
{
	const struct command_hook *hook = find_hook(context, command);
	int result = (hook && hook->run ? hook->run : command->run)(context, argc, argv, error);

	if (result == 0 && hook && hook->after && !context->question)
		hook->after(context);
	return result;
}

static int check_json(const struct command_context *context, const struct command *command,
		      struct error *error)
{
	if (context->is_json && (command->flags & COMMAND_TEXT))
		return error_set(error, "%s has no JSON; leave out --json", command->name);
	return 0;
}

int command_run_words(struct command_context *context, const struct command_table *tables,
		      size_t table_count, int word_count, char **words, int flags,
		      struct error *error)
{
	const struct command *command = command_lookup(tables, table_count, words[0], flags, error);
	int result = -1;

	context->tables = tables;
	context->table_count = table_count;
	context->status = STATUS_DONE;
	context->failed_rank = -1;
	if (command)
		take_yes(context, command, &word_count, words);
	if (command && check_json(context, command, error) == 0 &&
	    take_ranks(context, command, &word_count, words, error) == 0 &&
	    take_pid(context, command, &word_count, words, error) == 0)
		result = run(context, command, word_count, words, error);
	rankset_clear(&context->ranks);
	context->ranks_text = NULL;
	context->cut_words = 0;
	context->is_confirmed = false;
	if (result < 0 && context->status == 0)
		context->status = gather_is_none_reachable(context) ? STATUS_NOTHING : STATUS_USAGE;
	return result;
}

int command_run_line(struct command_context *context, const struct command_table *tables,
		     size_t table_count, const char *line, int flags, struct error *error)
{
	int count;
	char **words;
	int result = 0;

	context->status = 0;
	if (strlen(line) > LINE_MAXIMUM) {
		context->status = STATUS_USAGE;
		return error_set(error, "the line is too long");
	}
	words = command_split(line, &count, error);
	if (!words) {
		context->status = STATUS_USAGE;
		return -1;
	}
	context->line = line;
	if (count > 0)
		result =
			command_run_words(context, tables, table_count, count, words, flags, error);
	context->line = NULL;
	command_free_words(words, count);
	return result;
}

#define HELP_COLUMNS 79
#define CALL_COLUMNS 26
#define CALL_INDENT 8 /* of the lines behind a call's first */
#define HELP_INDENT 30

/* Appends the words from column on; further lines begin at indent. */
static void append_words(struct buffer *out, const char *text, int column, int indent)
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

static void append_row(struct buffer *out, const struct command *command, int flags)
{
	const char *synopsis = command_synopsis(command, flags);
	const char *help = command->help;
	struct buffer call = BUFFER_INIT;

	if (is_on_screen(flags) && command->screen_help)
		help = command->screen_help;
	buffer_printf(&call, "%s%s%s", command->name, synopsis[0] != '\0' ? " " : "", synopsis);
	if (call.length > CALL_COLUMNS) {
		buffer_append_string(out, "  ");
		append_words(out, call.data, 2, CALL_INDENT);
		buffer_printf(out, "%*s", HELP_INDENT, "");
	} else {
		buffer_printf(out, "  %-*s  ", CALL_COLUMNS, call.data);
	}
	append_words(out, help, HELP_INDENT, HELP_INDENT);
	buffer_clear(&call);
}

void command_append_help(struct buffer *out, const struct command_table *tables, size_t table_count,
			 int flags)
{
	struct command_cursor cursor = {
		.tables = tables,
		.table_count = table_count,
		.flags = flags,
	};
	const struct command *command;

	while ((command = command_cursor_next(&cursor))) {
		if (!(command->flags & COMMAND_INTERNAL))
			append_row(out, command, flags);
	}
}
