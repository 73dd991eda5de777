#include "commands/rank-request.h"

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/rank-answers.h"
#include "engine/script-events.h"
#include "protocol/process.h"

static int rank_request_ask(const struct collection *asking, struct command_context *context,
			    struct rank_answers *pending, struct error *error)
{
	const struct session *session = &context->engine->session;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		json_t *arguments;

		if (rank->process.pid <= 0 || rank_is_gone(rank) ||
		    !format_is_chosen(&context->ranks, rank))
			continue;
		arguments = json_object();
		json_object_update(arguments, asking->arguments);
		json_object_set_new(arguments, "pid", json_integer(rank->process.pid));
		rank_answers_add(pending, rank->process.rank, asking->request, arguments);
	}
	if (pending->count > 0)
		return 0;
	context->status = STATUS_USAGE;
	return error_set(error, "%s: there is no rank to act on", asking->command);
}

static void rank_request_append_json(const struct collection *asking,
				     struct command_context *context,
				     const struct group_answer *answer)
{
	const struct rank *rank = session_find_rank(&context->engine->session, answer->rank);
	json_t *json = json_object();

	json_object_set_new(json, "rank", json_integer(answer->rank));
	json_object_set_new(json, "pid",
			    rank && process_shown_pid(&rank->process) > 0
				    ? json_integer(rank->process.pid)
				    : json_null());
	asking->add(json, answer->body);
	format_document(context->out, json);
}

/* Status when a rank did not answer: a failure of a script, a partial answer of a shell. */
static int status_of(const struct command_context *context, size_t count)
{
	if (count == 0)
		return STATUS_NOTHING;
	return context->engine->settings.script ? STATUS_FINDING : STATUS_PARTIAL;
}

/* -1, *error with the ranks' errors: no rank has answered. */
static int rank_request_take_answers(const struct collection *asking,
				     struct command_context *context, struct rank_answers *pending,
				     struct error *error)
{
	struct failures failures = FAILURES_INIT;
	struct failures said = FAILURES_INIT;
	struct group_answer answer;
	struct buffer out = BUFFER_INIT;
	size_t count = 0;

	while (rank_answers_take(pending, &answer)) {
		buffer_reset(&out);
		json_object_update_missing(answer.body, pending->arguments);
		if (answer.error) {
			failures_add(&failures, answer.rank, answer.error);
		} else if (context->is_json) {
			rank_request_append_json(asking, context, &answer);
			count++;
		} else {
			asking->say(&out, answer.body);
			failures_add(&said, answer.rank, out.data);
			count++;
		}
	}
	failures_append_lines(context->out, &said);
	buffer_reset(&out);
	failures_append(&out, &failures);
	if (failures.count > 0)
		context->status = status_of(context, count);
	if (failures.count > 0 && count == 0)
		error_set(error, "%s: %s", asking->command, out.data);
	else if (failures.count > 0)
		script_append_error(context, -1, asking->command, out.data);
	failures_clear(&said);
	failures_clear(&failures);
	buffer_clear(&out);
	return count > 0 ? 0 : -1;
}

int collection_run(const struct collection *asking, struct command_context *context,
		   struct error *error)
{
	struct engine *engine = context->engine;
	struct rank_answers *pending;
	int result;

	if (command_check_job(engine, asking->command, error) < 0)
		return -1;
	if ((!context->screen && collect_ranks(context, error) < 0) ||
	    collect_named(context, error) < 0)
		return -1;
	pending = rank_answers_new(engine, asking->command);
	pending->tells_results = true;
	pending->say = asking->say;
	pending->arguments = json_incref(asking->arguments);
	result = rank_request_ask(asking, context, pending, error);
	if (result == 0 && context->screen) {
		rank_answers_leave(pending);
		return 0;
	}
	if (result == 0) {
		rank_answers_wait(pending);
		result = rank_request_take_answers(asking, context, pending, error);
	}
	rank_answers_free(pending);
	return result;
}
