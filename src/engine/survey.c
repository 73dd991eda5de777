#include "engine/survey.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/command.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/gather.h"
#include "engine/pending.h"
#include "engine/request.h"
#include "model/held.h"
#include "protocol/stack.h"

void survey_clear(struct survey *survey)
{
	free(survey->asks);
	*survey = (struct survey){ .asks = NULL };
}

/* What is still to come is not waited for any more. */
static void forget(struct engine *engine)
{
	for (size_t i = 0; i < engine->survey.count; i++)
		json_decref(engine_take_answer(
			engine, engine->survey.asks[i].seq, NULL));
	engine->survey.count = 0;
}

/*
 * A question is about the function that is looked at; where that is not at
 * all, the innermost frame is asked.
 */
static int depth_in(const struct session *session, const struct rank *rank)
{
	const struct rank *looked_at = session_looked_at(session);
	int depth = looked_at ? control_depth(session, looked_at) : 0;
	int same = -1;

	if (rank == looked_at)
		return depth;
	if (looked_at)
		same = held_same_function(rank, looked_at, depth);
	return same < 0 ? 0 : same;
}

static void ask(struct engine *engine, const struct rank *rank,
		const char *question, bool is_broadcast)
{
	struct survey *survey = &engine->survey;
	json_t *arguments = json_object();
	int depth = is_broadcast ? 0 : depth_in(&engine->session, rank);

	json_object_set_new(arguments, "pid", json_integer(rank->process.pid));
	json_object_set_new(arguments, "tid",
			    json_integer(control_tid(&engine->session, rank)));
	json_object_set_new(arguments, "depth", json_integer(depth));
	json_set_text(arguments, "expression", question);
	json_set_text(arguments, "context", is_broadcast ? "repl" : "watch");
	answers_wait(&engine->session.answers, rank->process.rank);
	ARRAY_GROW(survey->asks, survey->count, survey->capacity);
	survey->asks[survey->count++] = (struct pending_ask){
		.seq = engine_ask(engine, "evaluate", arguments),
		.rank = rank->process.rank,
	};
}

static void refuse(struct engine *engine, const struct rank *rank)
{
	struct error reason = ERROR_INIT;
	struct error error = ERROR_INIT;

	control_reason(rank, CONTROL_STOPPED, &reason);
	error_set(&error, "not asked: it %s", reason.message);
	answers_take(&engine->session.answers, rank->process.rank, NULL,
		     error.message);
}

int survey_begin(struct command_context *context, const char *name,
		 const char *question, bool is_broadcast, struct error *error)
{
	struct engine *engine = context->engine;
	struct session *session = &engine->session;
	struct control control = { .command = name, .need = CONTROL_STOPPED };
	int rank = -1;

	if (control_choose(&control, context, error) < 0) {
		if (context->status == STATUS_DONE)
			context->status = STATUS_NOTHING;
		control_clear(&control);
		return -1;
	}
	forget(engine);
	answers_begin(&session->answers, question, is_broadcast,
		      engine_now(engine));
	while ((rank = rankset_next(&control.others, rank)) >= 0)
		refuse(engine, session_find_rank(session, rank));
	while ((rank = rankset_next(&control.chosen, rank)) >= 0)
		ask(engine, session_find_rank(session, rank), question,
		    is_broadcast);
	session->revision++;
	control_clear(&control);
	return 0;
}

/* What was printed, and what came out; a statement has neither. */
static void append_text(struct buffer *out, const json_t *body)
{
	const char *output = json_get_string(body, "output", "");
	const char *result = json_get_string(body, "result", "");
	size_t length = strlen(output);

	buffer_append_string(out, output);
	if (length > 0 && *result != '\0' && output[length - 1] != '\n')
		buffer_append_char(out, '\n');
	buffer_append_string(out, result);
	if (out->length == 0)
		buffer_append_char(out, '-');
}

static void take(struct engine *engine, const struct pending_ask *ask)
{
	struct answers *answers = &engine->session.answers;
	struct error error = ERROR_INIT;
	struct buffer text = BUFFER_INIT;
	json_t *body = engine_take_answer(engine, ask->seq, &error);

	session_touch(&engine->session, ask->rank);
	append_text(&text, body);
	if (error_is_set(&error))
		answers_take(answers, ask->rank, NULL, error.message);
	else
		answers_take(answers, ask->rank, text.data, NULL);
	engine->session.revision++;
	buffer_clear(&text);
	json_decref(body);
}

void survey_turn(struct engine *engine)
{
	struct survey *survey = &engine->survey;
	size_t kept = 0;

	for (size_t i = 0; i < survey->count; i++) {
		if (engine_is_deaf(engine) ||
		    request_is_answered(engine, survey->asks[i].seq))
			take(engine, &survey->asks[i]);
		else
			survey->asks[kept++] = survey->asks[i];
	}
	survey->count = kept;
}

static bool is_over(const struct engine *engine, void *data)
{
	(void)data;
	return engine->survey.count == 0;
}

void survey_wait(struct engine *engine)
{
	struct survey *survey = &engine->survey;

	engine_wait(engine, is_over, NULL, engine->settings.timeout);
	for (size_t i = 0; i < survey->count; i++)
		take(engine, &survey->asks[i]);
	survey->count = 0;
}
