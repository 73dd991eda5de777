/*
 * command-inject: the agent is put into ranks that run already.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/arguments.h"
#include "engine/command.h"
#include "engine/commands.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/gather.h"
#include "engine/pending.h"
#include "engine/script.h"

/* The node answers before we have waited long enough. */
#define OF_TIMEOUT 0.8

static int find_pid(const char *text, int *pid, struct error *error)
{
	*pid = 0;
	return text ? arguments_integer(text, "process", 1, INT32_MAX, pid,
					error)
		    : 0;
}

static bool is_meant(const struct command_context *context,
		     const struct rank *rank, int pid)
{
	return rank->process.pid > 0 && !rank_is_gone(rank) &&
	       (pid ? rank->process.pid == pid
		    : format_is_chosen(&context->ranks, rank));
}

static int ask(struct command_context *context, struct pending *pending,
	       int pid, struct error *error)
{
	struct engine *engine = context->engine;
	const struct session *session = &engine->session;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		json_t *arguments;

		if (!is_meant(context, rank, pid))
			continue;
		arguments = json_pack("{s:i, s:f}", "pid",
				      (int)rank->process.pid, "seconds",
				      engine->settings.timeout * OF_TIMEOUT);
		pending_add(pending, engine, rank->process.rank, "inject",
			    arguments);
	}
	if (pending->count > 0)
		return 0;
	context->status = STATUS_USAGE;
	if (pid)
		return error_set(error,
				 "process %d is none of the ranks found; "
				 "--pid %d makes it one",
				 pid, pid);
	return error_set(error, "there is no rank that the agent could be put "
				"into");
}

static void append_answer(struct command_context *context,
			  const struct pending_answer *answer)
{
	const char *result = json_get_string(answer->body, "result", "?");
	json_t *json;

	if (!context->is_json) {
		buffer_printf(context->out, "rank %d: ", answer->rank);
		format_text(context->out, result);
		buffer_append_char(context->out, '\n');
		return;
	}
	json = json_object();
	json_object_set_new(json, "rank", json_integer(answer->rank));
	json_object_set_new(json, "pid",
			    json_integer(json_get_integer(answer->body, "pid",
							  0)));
	json_set_text(json, "listens", result);
	format_document(context->out, json);
}

/* -1 and the sentences when all of them failed. */
static int take_answers(struct command_context *context,
			struct pending *pending, struct error *error)
{
	struct failures failures = FAILURES_INIT;
	struct pending_answer answer;
	struct buffer out = BUFFER_INIT;
	size_t count = 0;

	while (pending_take(pending, context->engine, &answer)) {
		if (error_is_set(&answer.error)) {
			failures_add(&failures, answer.rank,
				     answer.error.message);
		} else {
			append_answer(context, &answer);
			count++;
		}
		json_decref(answer.body);
	}
	failures_append(&out, &failures);
	if (failures.count > 0)
		context->status = STATUS_FINDING;
	if (failures.count > 0 && count == 0)
		error_set(error, "%s", out.data);
	else if (failures.count > 0)
		script_append_error(context, -1, "inject", out.data);
	failures_clear(&failures);
	buffer_clear(&out);
	return count > 0 ? 0 : -1;
}

int command_inject(struct command_context *context, int argc, char **argv,
		   struct error *error)
{
	static const struct arguments arguments = {
		.maximum = 1,
		.usage = "[PID]",
	};
	struct pending *pending;
	int pid;
	int result;

	int count = arguments_parse(&arguments, argc, argv, error);
	if (count < 0 || find_pid(count > 0 ? argv[1] : NULL, &pid, error) < 0)
		return -1;
	if (context->engine->replay)
		return error_set(error, "a recording has no processes");
	if (gather_ranks(context, error) < 0 ||
	    (!pid && gather_named(context, error) < 0))
		return -1;
	pending = pending_new("inject");
	pending->tells_results = true;
	result = ask(context, pending, pid, error);
	if (result == 0 && context->screen) {
		pending_leave(context->engine, pending);
		return 0;
	}
	if (result == 0) {
		pending_wait(pending, context->engine,
			     context->engine->settings.timeout);
		result = take_answers(context, pending, error);
	}
	pending_free(pending);
	return result;
}
