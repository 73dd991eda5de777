#include "commands/break-place.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "engine/arguments.h"
#include "model/place.h"
#include "model/session.h"
#include "protocol/debugger.h"
#include "protocol/stack.h"

/* True if path equals typed, or ends in a slash and typed. */
static bool break_place_is_meant(const char *path, const char *typed)
{
	size_t length = strlen(path);
	size_t typed_length = strlen(typed);

	if (length < typed_length || strcmp(path + length - typed_length, typed) != 0)
		return false;
	return length == typed_length || path[length - typed_length - 1] == '/';
}

static const char *find_in_stacks(const struct rank *rank, const char *typed)
{
	for (size_t i = 0; i < rank->thread_count; i++) {
		const struct stack *stack = rank->threads[i].sample.stack;

		for (size_t j = 0; stack && j < stack->frame_count; j++) {
			const struct code *code = stack->frames[j].code;

			if (code->type == FRAME_PYTHON && break_place_is_meant(code->file, typed))
				return code->file;
		}
	}
	return NULL;
}

static const char *find_of_rank(const struct rank *rank, const char *typed)
{
	const char *script = rank->process.script_path;
	const char *found = find_in_stacks(rank, typed);

	if (!found && script && script[0] == '/' && break_place_is_meant(script, typed))
		found = script;
	return found;
}

/*
 * Returns the full path of the typed file in a rank's stacks or script, the selected rank first;
 * typed itself if no rank has the file.
 */
static const char *break_place_resolve(const struct session *session, const char *typed)
{
	const struct rank *looked_at = session_looked_at(session);
	const char *found = NULL;

	if (typed[0] == '/')
		return typed;
	if (looked_at)
		found = find_of_rank(looked_at, typed);
	for (size_t i = 0; i < session->rank_count && !found; i++)
		found = find_of_rank(session->ranks[i], typed);
	return found ? found : typed;
}

/*
 * Returns the selected frame's file, or its nearest caller's file outside libraries; NULL: no frame
 * is selected.
 */
static const char *looked_at_file(const struct session *session)
{
	const struct thread *thread = session_selected_thread(session);
	int depth = session_selected_depth(session);
	const struct stack *stack;

	if (!thread || !thread->sample.stack || depth < 0)
		return NULL;
	stack = thread->sample.stack;
	for (size_t i = (size_t)depth; i < stack->frame_count; i++) {
		if (!place_is_library(stack->frames[i].code->file))
			return stack->frames[i].code->file;
	}
	return stack->frames[depth].code->file;
}

static bool break_place_is_number(const char *text)
{
	return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* True for text with a slash or the ending .py: no function has such a name. */
static bool break_place_is_file(const char *text)
{
	size_t length = strlen(text);

	return strchr(text, '/') || (length > 3 && strcmp(text + length - 3, ".py") == 0);
}

int break_place_read(struct breakpoint *breakpoint, const struct session *session, const char *text,
		     struct error *error)
{
	const char *colon = strrchr(text, ':');
	const char *digits = colon ? colon + 1 : text;
	const char *file = NULL;
	char *typed;

	if (!break_place_is_number(digits)) {
		if (colon)
			return error_set(error, "'%.80s' names no line: break FILE:LINE", text);
		if (break_place_is_file(text))
			return error_set(error, "break FILE:LINE; %.80s has no line", text);
		if (text[0] == '-')
			return error_set(error,
					 "break has no option '%.80s'; it is break FILE:LINE, LINE "
					 "or FUNCTION",
					 text);
		breakpoint->function = xstrdup(text);
		return 0;
	}
	if (arguments_integer(digits, "line", 1, INT_MAX, &breakpoint->line, error) < 0)
		return -1;
	if (!colon) {
		file = looked_at_file(session);
		if (!file)
			return error_set(error, "no file is looked at; break FILE:LINE names one");
		breakpoint->path = xstrdup(file);
		return 0;
	}
	typed = xasprintf("%.*s", (int)(colon - text), text);
	breakpoint->path = xstrdup(break_place_resolve(session, typed));
	free(typed);
	return 0;
}

/* Returns the index of the word `log` that begins the log text; the word count: there is none. */
static size_t find_log(const struct arguments *arguments)
{
	bool has_condition = arguments->count > 1 && strcmp(arguments->words[1], "if") == 0;
	size_t found = arguments->count;

	/* A condition may contain a variable named log: the last `log` begins the text. */
	for (size_t i = has_condition ? 3 : 1; i + 1 < arguments->count; i++) {
		if (strcmp(arguments->words[i], "log") != 0)
			continue;
		found = i;
		if (!has_condition)
			break;
	}
	return found;
}

int break_place_read_terms(struct breakpoint *breakpoint, const struct arguments *arguments,
			   struct error *error)
{
	size_t end = find_log(arguments);

	if (end < arguments->count)
		breakpoint->log = arguments_join(arguments, end + 1, arguments->count);
	if (end <= 1)
		return 0;
	if (strcmp(arguments->words[1], "if") != 0 || end < 3)
		return error_set(error,
				 "'%.40s' does not fit: %s PLACE " BREAK_PLACE_TERMS " [ranks SET]",
				 arguments->words[1], arguments->name);
	breakpoint->condition = arguments_text(arguments, 2, end);
	return 0;
}
