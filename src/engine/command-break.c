/*
 * command-break: where ranks are to stop.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/arguments.h"
#include "engine/breaking.h"
#include "engine/command.h"
#include "engine/commands.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/gather.h"
#include "engine/pending.h"
#include "engine/script.h"
#include "model/breakpoints.h"
#include "model/place.h"
#include "protocol/stack.h"

#define BREAK_USAGE "[FILE:LINE | LINE | FUNCTION] [if CONDITION] [ranks SET]"

static struct breakpoints *list_of(struct command_context *context)
{
	return &context->engine->session.choice.breakpoints;
}

static json_t *summary_to_json(const struct breakpoint_summary *summary)
{
	const struct breakpoint *own = summary->own;
	json_t *json = json_object();

	json_object_set_new(json, "id", json_integer(summary->id));
	json_set_text(json, "path", summary->path);
	json_object_set_new(json, "line",
			    summary->line > 0 ? json_integer(summary->line)
					      : json_null());
	json_set_text(json, "function", own ? own->function : NULL);
	json_set_text(json, "condition", summary->condition);
	json_object_set_new(json, "ignore",
			    json_integer(own ? own->ignore : 0));
	json_object_set_new(json, "enabled",
			    json_boolean(!summary->is_disabled));
	json_object_set_new(json, "temporary",
			    json_boolean(summary->is_temporary));
	json_object_set_new(json, "ranks", format_json_set(&summary->ranks));
	json_object_set_new(json, "set", format_json_set(&summary->set));
	json_object_set_new(json, "hits", json_integer(summary->hits));
	json_set_text(json, "message", summary->message);
	return json;
}

static void append_number(struct buffer *out,
			  const struct breakpoint_summary *summary)
{
	if (summary->id > 0)
		buffer_printf(out, "breakpoint %d: ", summary->id);
	else
		buffer_printf(out, "pdb's own %d: ", summary->number);
}

/* ", not set in ranks 2-3: it runs …" */
static void append_missing(struct buffer *out,
			   const struct breakpoint_summary *summary)
{
	struct rankset missing = RANKSET_INIT;

	rankset_copy(&missing, &summary->ranks);
	rankset_subtract(&missing, &summary->set);
	if (missing.range_count > 0) {
		buffer_append_string(out, ", not set");
		if (summary->set.range_count > 0) {
			buffer_append_string(out, " in ranks ");
			rankset_append(out, &missing);
		}
		if (summary->message) {
			buffer_append_string(out, ": ");
			format_text(out, summary->message);
		}
	}
	rankset_clear(&missing);
}

/*
 * "breakpoint 1: train.py:14 if step > 3, ranks 0-7 (8), hit 4"; not is_told:
 * debuggers have not answered yet.
 */
static void append_summary(struct buffer *out,
			   const struct breakpoint_summary *summary,
			   bool is_told)
{
	append_number(out, summary);
	breakpoint_append_place(out, summary);
	if (summary->condition) {
		buffer_append_string(out, " if ");
		format_text(out, summary->condition);
	}
	if (summary->is_temporary)
		buffer_append_string(out, ", once");
	if (summary->is_disabled)
		buffer_append_string(out, ", disabled");
	if (summary->own && summary->own->ignore > 0)
		buffer_printf(out, ", not the next %d times",
			      summary->own->ignore);
	if (summary->ranks.range_count > 0) {
		buffer_append_string(out, ", ranks ");
		rankset_append_counted(out, &summary->ranks);
	}
	if (summary->hits > 0)
		buffer_printf(out, ", hit %" PRId64, summary->hits);
	if (is_told || summary->message)
		append_missing(out, summary);
}

static bool find_summary(struct breakpoint_summary *summary,
			 const struct session *session, int id)
{
	for (size_t i = 0; breakpoint_summary_make(summary, session, i); i++) {
		if (summary->id == id)
			return true;
		breakpoint_summary_clear(summary);
	}
	return false;
}

static int list(struct command_context *context)
{
	const struct session *session = &context->engine->session;
	json_t *json = context->is_json ? json_array() : NULL;
	struct breakpoint_summary summary;
	size_t i;

	for (i = 0; breakpoint_summary_make(&summary, session, i); i++) {
		if (json) {
			json_array_append_new(json, summary_to_json(&summary));
		} else {
			append_summary(context->out, &summary, true);
			buffer_append_char(context->out, '\n');
		}
		breakpoint_summary_clear(&summary);
	}
	if (json)
		format_document(context->out,
				json_pack("{s:o}", "breakpoints", json));
	else if (i == 0)
		buffer_append_string(context->out,
				     "there is no breakpoint; break FILE:LINE "
				     "or break FUNCTION sets one\n");
	return 0;
}

static void say_summary(struct command_context *context, int id)
{
	struct breakpoint_summary summary;
	struct buffer out = BUFFER_INIT;

	if (!find_summary(&summary, &context->engine->session, id))
		return;
	/* A screen has not waited for the debuggers. */
	append_summary(&out, &summary, !context->screen);
	if (context->screen)
		engine_say(context->engine, false, "%s", out.data);
	else if (context->is_json)
		format_document(context->out, summary_to_json(&summary));
	else
		buffer_printf(context->out, "%s\n", out.data);
	buffer_clear(&out);
	breakpoint_summary_clear(&summary);
}

/* A shell waits until the debuggers have it; id 0: nothing is said of it. */
static int tell(struct command_context *context, int id, struct error *error)
{
	struct engine *engine = context->engine;
	struct failures failures = FAILURES_INIT;
	struct pending_answer answer;
	struct buffer out = BUFFER_INIT;
	struct pending *pending;

	breakpoints_changed(list_of(context));
	engine->session.revision++;
	if (context->screen) {
		breaking_tell(engine);
		say_summary(context, id);
		return 0;
	}
	pending = pending_new("break");
	breaking_ask(engine, pending);
	pending_wait(pending, engine, engine->settings.timeout);
	while (pending_take(pending, engine, &answer)) {
		if (error_is_set(&answer.error))
			failures_add(&failures, answer.rank,
				     answer.error.message);
		else
			breaking_check(engine, &answer, &failures);
		json_decref(answer.body);
	}
	failures_append(&out, &failures);
	say_summary(context, id);
	if (failures.count > 0)
		error_set(error, "break: %s", out.data);
	pending_free(pending);
	failures_clear(&failures);
	buffer_clear(&out);
	return error_is_set(error) ? -1 : 0;
}

/* Whether path is what was typed, or ends in it behind a slash. */
static bool is_meant(const char *path, const char *typed)
{
	size_t length = strlen(path);
	size_t typed_length = strlen(typed);

	if (length < typed_length ||
	    strcmp(path + length - typed_length, typed) != 0)
		return false;
	return length == typed_length || path[length - typed_length - 1] == '/';
}

static const char *find_in_stacks(const struct rank *rank, const char *typed)
{
	for (size_t i = 0; i < rank->thread_count; i++) {
		const struct stack *stack = rank->threads[i].sample.stack;

		for (size_t j = 0; stack && j < stack->frame_count; j++) {
			const struct code *code = stack->frames[j].code;

			if (code->type == FRAME_PYTHON &&
			    is_meant(code->file, typed))
				return code->file;
		}
	}
	return NULL;
}

static const char *find_of_rank(const struct rank *rank, const char *typed)
{
	const char *script = rank->process.script_path;
	const char *found = find_in_stacks(rank, typed);

	if (!found && script && script[0] == '/' && is_meant(script, typed))
		found = script;
	return found;
}

/* As the ranks know the file, that of the one looked at first. */
static const char *resolve(const struct session *session, const char *typed)
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

/* Where that is a library's, its caller's: there a line is rarely meant. */
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

static bool is_number(const char *text)
{
	return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* "train.py:14", "14" of the file looked at, "Net.forward" */
static int read_place(struct breakpoint *breakpoint,
		      const struct session *session, const char *text,
		      struct error *error)
{
	const char *colon = strrchr(text, ':');
	const char *digits = colon ? colon + 1 : text;
	const char *file = NULL;
	char *typed;

	if (!is_number(digits)) {
		if (colon)
			return error_set(error,
					 "'%.80s' names no line: break "
					 "FILE:LINE",
					 text);
		breakpoint->function = xstrdup(text);
		return 0;
	}
	if (arguments_integer(digits, "line", 1, INT_MAX, &breakpoint->line,
			      error) < 0)
		return -1;
	if (!colon) {
		file = looked_at_file(session);
		if (!file)
			return error_set(error, "no file is looked at; break "
						"FILE:LINE names one");
		breakpoint->path = xstrdup(file);
		return 0;
	}
	typed = xasprintf("%.*s", (int)(colon - text), text);
	breakpoint->path = xstrdup(resolve(session, typed));
	free(typed);
	return 0;
}

static int read_condition(struct breakpoint *breakpoint,
			  const struct command_context *context, int argc,
			  char **argv, struct error *error)
{
	if (argc < 3)
		return 0;
	if (strcmp(argv[2], "if") != 0 || argc < 4)
		return error_set(error,
				 "'%.40s' does not fit: break " BREAK_USAGE,
				 argv[2]);
	breakpoint->condition = command_tail(context, argc, argv, 3);
	return 0;
}

static void choose_ranks(struct session_breakpoint *added,
			 const struct command_context *context)
{
	const struct session *session = &context->engine->session;

	added->is_everywhere =
		!context->ranks_text && session->choice.is_focus_all;
	if (!added->is_everywhere)
		rankset_copy(&added->ranks, &context->ranks);
}

static int check_live(const struct command_context *context,
		      struct error *error)
{
	if (context->engine->session.is_replay)
		return error_set(error, "this is a recording; breakpoints are "
					"for a job that runs");
	return 0;
}

/* Where files are is asked of stacks; a script may not have looked yet. */
static int look(struct command_context *context, struct error *error)
{
	if (check_live(context, error) < 0)
		return -1;
	if (!context->screen && gather_ranks(context, error) < 0)
		return -1;
	if (gather_named(context, error) < 0)
		return -1;
	context->status = STATUS_DONE;
	return 0;
}

static int set_breakpoint(struct command_context *context, int argc,
			  char **argv, bool is_temporary, struct error *error)
{
	struct breakpoints *list = list_of(context);
	struct session_breakpoint *added;
	int id;

	if (look(context, error) < 0)
		return -1;
	added = breakpoints_add(list, error);
	if (!added)
		return -1;
	id = added->breakpoint.id;
	added->breakpoint.is_temporary = is_temporary;
	choose_ranks(added, context);
	if (read_place(&added->breakpoint, &context->engine->session, argv[1],
		       error) == 0 &&
	    read_condition(&added->breakpoint, context, argc, argv, error) == 0)
		return tell(context, id, error);
	breakpoints_remove(list, id);
	return -1;
}

int command_break(struct command_context *context, int argc, char **argv,
		  struct error *error)
{
	if (argc < 2)
		return list(context);
	return set_breakpoint(context, argc, argv, false, error);
}

int command_tbreak(struct command_context *context, int argc, char **argv,
		   struct error *error)
{
	if (argc < 2)
		return error_set(error, "tbreak needs a place: tbreak "
					"FILE:LINE or tbreak FUNCTION");
	return set_breakpoint(context, argc, argv, true, error);
}

/* Lends the breakpoint that argv[1] names; NULL and a sentence. */
static struct session_breakpoint *named(struct command_context *context,
					int argc, char **argv,
					struct error *error)
{
	struct session_breakpoint *found;
	int id;

	if (check_live(context, error) < 0)
		return NULL;
	if (argc < 2) {
		error_set(error,
			  "%s needs the number of a breakpoint; break "
			  "lists them",
			  argv[0]);
		return NULL;
	}
	if (arguments_integer(argv[1], "breakpoint", 1, INT_MAX, &id, error) <
	    0)
		return NULL;
	found = breakpoints_find(list_of(context), id);
	if (!found)
		error_set(error, "there is no breakpoint %d; break lists them",
			  id);
	return found;
}

int command_clear(struct command_context *context, int argc, char **argv,
		  struct error *error)
{
	static const struct arguments arguments = {
		.maximum = 1,
		.usage = "[ID]",
	};
	struct breakpoints *list = list_of(context);
	const struct session_breakpoint *found;
	int count = arguments_parse(&arguments, argc, argv, error);

	if (count < 0)
		return -1;
	if (count == 0) {
		while (list->count > 0)
			breakpoints_remove(list, list->items[0].breakpoint.id);
		return tell(context, 0, error);
	}
	found = named(context, argc, argv, error);
	if (!found)
		return -1;
	breakpoints_remove(list, found->breakpoint.id);
	return tell(context, 0, error);
}

static int set_disabled(struct command_context *context, int argc, char **argv,
			bool is_disabled, struct error *error)
{
	static const struct arguments arguments = {
		.minimum = 1,
		.maximum = 1,
		.usage = "ID",
	};
	struct session_breakpoint *found;

	if (arguments_parse(&arguments, argc, argv, error) < 0)
		return -1;
	found = named(context, argc, argv, error);
	if (!found)
		return -1;
	found->breakpoint.is_disabled = is_disabled;
	return tell(context, found->breakpoint.id, error);
}

int command_enable(struct command_context *context, int argc, char **argv,
		   struct error *error)
{
	return set_disabled(context, argc, argv, false, error);
}

int command_disable(struct command_context *context, int argc, char **argv,
		    struct error *error)
{
	return set_disabled(context, argc, argv, true, error);
}

int command_ignore(struct command_context *context, int argc, char **argv,
		   struct error *error)
{
	static const struct arguments arguments = {
		.minimum = 2,
		.maximum = 2,
		.usage = "ID N",
	};
	struct session_breakpoint *found;

	if (arguments_parse(&arguments, argc, argv, error) < 0)
		return -1;
	found = named(context, argc, argv, error);
	if (!found || arguments_integer(argv[2], "number of times", 0, INT_MAX,
					&found->breakpoint.ignore, error) < 0)
		return -1;
	return tell(context, found->breakpoint.id, error);
}

int command_condition(struct command_context *context, int argc, char **argv,
		      struct error *error)
{
	struct session_breakpoint *found = named(context, argc, argv, error);

	if (!found)
		return -1;
	free(found->breakpoint.condition);
	found->breakpoint.condition =
		argc > 2 ? command_tail(context, argc, argv, 2) : NULL;
	return tell(context, found->breakpoint.id, error);
}
