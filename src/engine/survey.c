#include "engine/survey.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/command.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/gather.h"
#include "engine/recalled.h"
#include "engine/request.h"
#include "engine/tensorask.h"
#include "model/held.h"
#include "protocol/stack.h"
#include "protocol/tensoranswer.h"

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."

void survey_clear(struct survey *survey)
{
	for (size_t i = 0; i < survey->count; i++)
		free(survey->asks[i].refusal);
	free(survey->asks);
	*survey = (struct survey){ .asks = NULL };
}

/* What is still to come to that question is not waited for any more. */
static void forget(struct engine *engine, uint64_t question)
{
	struct survey *survey = &engine->survey;
	size_t kept = 0;

	for (size_t i = 0; i < survey->count; i++) {
		struct survey_ask ask = survey->asks[i];

		if (ask.question != question) {
			survey->asks[kept++] = ask;
			continue;
		}
		json_decref(engine_take_answer(engine, ask.seq, NULL));
		free(ask.refusal);
	}
	survey->count = kept;
}

static struct answers *find(struct engine *engine, uint64_t question)
{
	struct session *session = &engine->session;

	if (session->answers.question && session->answers.number == question)
		return &session->answers;
	return dialogue_find(&session->dialogue, question);
}

const struct answers *survey_answers(const struct engine *engine)
{
	const struct session *session = &engine->session;
	uint64_t number = engine->survey.number;

	if (session->answers.question && session->answers.number == number)
		return &session->answers;
	return dialogue_find(&session->dialogue, number);
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

/* A prompt's line is typed there; what runs in a frame names it. */
static const char *context_of(enum answers_kind kind, const struct rank *rank)
{
	if (kind == ANSWERS_BROADCAST)
		return "repl";
	/* For a pdb "repl" is its prompt, where "n" is a step. */
	if (kind == ANSWERS_EVAL &&
	    (!held_is_stopped(rank) || debugger_is_of(&rank->debugger, "http")))
		return "repl";
	return "watch";
}

static json_t *make_arguments(const struct engine *engine, const struct rank *rank,
			      const struct answers *answers)
{
	const struct session *session = &engine->session;
	json_t *arguments = json_object();
	int depth = 0;

	json_object_set_new(arguments, "pid", json_integer(rank->process.pid));
	if (answers->kind == ANSWERS_COMPARE)
		depth = depth_in(session, rank);
	else if (answers->kind == ANSWERS_EVAL)
		depth = control_print_depth(session, rank);
	if (answers->kind != ANSWERS_EVAL || held_is_stopped(rank)) {
		json_object_set_new(arguments, "tid", json_integer(control_tid(session, rank)));
		json_object_set_new(arguments, "depth", json_integer(depth));
	}
	json_set_text(arguments, "expression", answers->question);
	json_set_text(arguments, "context", context_of(answers->kind, rank));
	if (answers->kind == ANSWERS_EVAL)
		request_set_timeout(arguments, engine, engine->settings.timeout);
	return arguments;
}

/* It runs beside the program, whatever that does. */
static json_t *make_execution(const struct engine *engine, const struct rank *rank,
			      const struct answers *answers)
{
	bool is_file = answers->kind == ANSWERS_EXECUTE_FILE;
	json_t *arguments = json_object();

	json_object_set_new(arguments, "pid", json_integer(rank->process.pid));
	json_set_text(arguments, is_file ? "path" : "code", answers->question);
	request_set_timeout(arguments, engine, engine->settings.timeout);
	return arguments;
}

static void add(struct engine *engine, const struct rank *rank, struct survey_ask ask)
{
	struct survey *survey = &engine->survey;

	ask.rank = rank->process.rank;
	ARRAY_GROW(survey->asks, survey->count, survey->capacity);
	survey->asks[survey->count++] = ask;
}

/* A screen is to have an answer soon; a shell wants a sure one. */
static const char *statistics_of(const struct engine *engine, bool is_again)
{
	if (engine->survey.wants_sample)
		return "sample";
	return engine->is_screen && !is_again ? "auto" : "whole";
}

static void ask_tensor(struct engine *engine, const struct rank *rank,
		       const struct answers *answers, bool is_again)
{
	const struct tensorask ask = {
		.statistics = statistics_of(engine, is_again),
		.wants_hash = true,
	};

	add(engine, rank,
	    (struct survey_ask){
		    .seq = tensorask_send(engine, tensorask_place(engine, rank, answers->question),
					  &ask),
		    .question = answers->number,
		    .is_tensor = true,
		    .is_again = is_again,
	    });
}

static void ask_evaluation(struct engine *engine, const struct rank *rank,
			   const struct answers *answers, char *owned_refusal)
{
	add(engine, rank,
	    (struct survey_ask){
		    .seq = engine_ask(engine, "evaluate", make_arguments(engine, rank, answers)),
		    .question = answers->number,
		    .refusal = owned_refusal,
	    });
}

static void ask_execution(struct engine *engine, const struct rank *rank,
			  const struct answers *answers)
{
	add(engine, rank,
	    (struct survey_ask){
		    .seq = engine_ask(engine, "execute", make_execution(engine, rank, answers)),
		    .question = answers->number,
	    });
}

static void ask(struct engine *engine, const struct rank *rank, struct answers *answers)
{
	answers_wait(answers, rank->process.rank);
	if (answers->kind > ANSWERS_EVAL)
		ask_execution(engine, rank, answers);
	else if (answers->kind == ANSWERS_COMPARE)
		ask_tensor(engine, rank, answers, false);
	else
		ask_evaluation(engine, rank, answers, NULL);
}

static void refuse(struct answers *answers, const struct rank *rank, enum control_need need)
{
	struct error reason = ERROR_INIT;
	struct error error = ERROR_INIT;

	control_reason(rank, need, &reason);
	error_set(&error, "not asked: it %s", reason.message);
	answers_take(answers, rank->process.rank, NULL, error.message);
}

static struct answers *begin(struct engine *engine, const char *question, enum answers_kind kind)
{
	struct session *session = &engine->session;
	uint64_t number = ++engine->survey.number;
	double now = engine_now(engine);

	if (kind >= ANSWERS_EVAL)
		return dialogue_add(&session->dialogue, question, kind, number, now);
	forget(engine, session->answers.number);
	params_drop_parts(engine);
	answers_begin(&session->answers, question, kind, now);
	session->answers.number = number;
	session->answers.tolerance = engine->settings.tolerance;
	engine->survey.wants_difference = false;
	return &session->answers;
}

/*
 * What a program raises is told as a traceback ends, "NameError: name 'x' …"
 * or the name alone; what could not be done is told in a sentence.
 */
static bool is_raised(const char *sentence)
{
	size_t length = strspn(sentence, NAME_LETTERS);
	size_t last = length;

	while (last > 0 && sentence[last - 1] != '.')
		last--;
	if (length == last || sentence[last] < 'A' || sentence[last] > 'Z')
		return false;
	return sentence[length] == '\0' || (sentence[length] == ':' && sentence[length + 1] == ' ');
}

static void put(struct engine *engine, const struct survey_ask *ask, const struct answer *answer)
{
	struct answers *answers = find(engine, ask->question);

	if (answers)
		answers_take_whole(answers, answer);
	engine->session.revision++;
}

/* Of a large one a sample has come: the whole follows. */
static void ask_again(struct engine *engine, const struct survey_ask *ask,
		      const struct tensor *tensor)
{
	const struct rank *rank = session_find_rank(&engine->session, ask->rank);
	const struct answers *answers = find(engine, ask->question);

	if (tensor->share < 1 && !tensor->unread && engine->is_screen && !engine->replay &&
	    !ask->is_again && !engine->survey.wants_sample && rank && answers)
		ask_tensor(engine, rank, answers, true);
}

static void take_tensor(struct engine *engine, const struct survey_ask *ask, json_t *owned_body)
{
	struct tensor_answer told;
	struct answer answer = { .rank = ask->rank };
	struct error error = ERROR_INIT;

	if (tensor_answer_from_json(&told, owned_body, &error) == 0) {
		answer.text = told.value.value;
		answer.value = told.value.value;
		answer.type = told.value.type;
		answer.address = told.value.address;
		answer.tensor = told.has_tensor ? &told.tensor : NULL;
		answer.is_of_fields = true;
	}
	answer.error = error_is_set(&error) ? error.message : NULL;
	if (!ask->is_again || !answer.error)
		put(engine, ask, &answer);
	if (answer.tensor)
		ask_again(engine, ask, answer.tensor);
	json_decref(owned_body);
	tensor_answer_clear(&told);
}

/*
 * What a call gives, or what another machine has, the debugger that holds the
 * rank may still tell; true: it is asked.
 */
static bool ask_debugger(struct engine *engine, const struct survey_ask *ask,
			 const struct error *error)
{
	const struct rank *rank = session_find_rank(&engine->session, ask->rank);
	const struct answers *answers = find(engine, ask->question);

	if (!ask->is_tensor || !error_is_set(error) || !rank || !answers ||
	    !held_is_stopped(rank) || engine_is_deaf(engine))
		return false;
	ask_evaluation(engine, rank, answers, xstrdup(error->message));
	return true;
}

static void take_result(struct engine *engine, const struct survey_ask *ask, const json_t *body,
			struct error *error)
{
	bool has_failed = error_is_set(error);
	const char *traceback = json_get_string(body, "traceback", NULL);
	const char *output = json_get_string(body, "output", "");
	bool is_program = has_failed && !ask->is_tensor && (traceback || is_raised(error->message));
	struct answer answer = {
		.rank = ask->rank,
		.value = (char *)json_get_string(body, "result", NULL),
		.type = (char *)json_get_string(body, "type", NULL),
		.output = *output ? (char *)output : NULL,
		.traceback = (char *)traceback,
		.is_raised = is_program,
	};

	/* What the program says of it counts, a debugger's own word does not. */
	if (has_failed && ask->refusal && !is_program)
		error_set(error, "%s", ask->refusal);
	answer.error = has_failed ? error->message : NULL;
	session_touch(&engine->session, ask->rank);
	put(engine, ask, &answer);
}

static void take(struct engine *engine, struct survey_ask ask)
{
	bool is_left = engine->survey.interrupts > 1 && !request_is_answered(engine, ask.seq) &&
		       !engine_is_deaf(engine);
	bool is_answered = request_is_answered(engine, ask.seq);
	struct error error = ERROR_INIT;
	json_t *body = engine_take_whole(engine, ask.seq, &error);

	if (is_left)
		error_set(&error, "it was not waited for any more, and may still run");
	if (ask.is_tensor && !error_is_set(&error)) {
		take_tensor(engine, &ask, body);
		return;
	}
	/* What a sample told stays. */
	if (ask.is_again) {
		json_decref(body);
		return;
	}
	if (!is_answered || !ask_debugger(engine, &ask, &error))
		take_result(engine, &ask, body, &error);
	free(ask.refusal);
	json_decref(body);
}

static void recall(struct engine *engine, const struct rank *rank, const struct answers *answers)
{
	const struct recalled recalled = {
		.command = "tensor",
		.expression = answers->question,
	};
	const struct survey_ask ask = {
		.rank = rank->process.rank,
		.question = answers->number,
	};
	struct error error = ERROR_INIT;
	json_t *body = recalled_find(engine, rank, &recalled, &error);

	if (body)
		take_tensor(engine, &ask, body);
	else
		take_result(engine, &ask, NULL, &error);
}

/* What texts do not say all of is compared by what is in it; one rank has
 * nothing to be compared with. */
static void begin_parts(struct engine *engine)
{
	const struct answers *answers = &engine->session.answers;
	struct rankset ranks = RANKSET_INIT;

	if (!answers->question || answers->kind != ANSWERS_COMPARE || answers->count < 2 ||
	    answers_come(answers) < answers->count)
		return;
	for (size_t i = 0; i < answers->count; i++)
		if (answer_has_parts(&answers->items[i]))
			rankset_add(&ranks, answers->items[i].rank);
	if (ranks.range_count > 0)
		params_begin_parts(engine, &ranks);
	rankset_clear(&ranks);
}

/* What the ranks answered when it was recorded. */
static int recall_all(struct command_context *context, const char *question, struct error *error)
{
	struct engine *engine = context->engine;
	struct answers *answers;

	if ((!context->screen && gather_ranks(context, error) < 0) ||
	    gather_named(context, error) < 0)
		return -1;
	answers = begin(engine, question, ANSWERS_COMPARE);
	for (size_t i = 0; i < engine->session.rank_count; i++) {
		const struct rank *rank = engine->session.ranks[i];

		if (rank->process.pid > 0 && format_is_chosen(&context->ranks, rank))
			recall(engine, rank, answers);
	}
	begin_parts(engine);
	engine->session.revision++;
	return 0;
}

int survey_begin(struct command_context *context, const char *name, const char *question,
		 enum answers_kind kind, struct error *error)
{
	struct engine *engine = context->engine;
	struct session *session = &engine->session;
	struct control control = {
		.command = name,
		.need = kind == ANSWERS_BROADCAST ? CONTROL_STOPPED : CONTROL_THERE,
	};
	struct answers *answers;
	int rank = -1;

	if (engine->replay && kind == ANSWERS_COMPARE)
		return recall_all(context, question, error);
	if (control_choose(&control, context, error) < 0) {
		if (context->status == STATUS_DONE)
			context->status = STATUS_NOTHING;
		control_clear(&control);
		return -1;
	}
	answers = begin(engine, question, kind);
	while ((rank = rankset_next(&control.others, rank)) >= 0)
		refuse(answers, session_find_rank(session, rank), control.need);
	while ((rank = rankset_next(&control.chosen, rank)) >= 0)
		ask(engine, session_find_rank(session, rank), answers);
	session->revision++;
	control_clear(&control);
	return 0;
}

/* A shell does it once it has waited. */
static void compare_elements(struct engine *engine)
{
	const struct answers *answers = &engine->session.answers;

	if (!engine->is_screen || !answers->question || answers->kind != ANSWERS_COMPARE ||
	    answers_come(answers) < answers->count ||
	    (!engine->survey.wants_difference && !(answers->tolerance > 0)))
		return;
	differing_begin_all(engine);
}

/* A debugger that is asked in its place comes last. */
void survey_turn(struct engine *engine)
{
	struct survey *survey = &engine->survey;
	size_t count = survey->count;
	size_t kept = 0;

	for (size_t i = 0; i < survey->count; i++) {
		struct survey_ask ask = survey->asks[i];

		if (engine_is_deaf(engine) || request_is_answered(engine, ask.seq))
			take(engine, ask);
		else
			survey->asks[kept++] = ask;
	}
	survey->count = kept;
	if (count > 0 && kept == 0) {
		compare_elements(engine);
		begin_parts(engine);
	}
}

static bool is_over(const struct engine *engine, void *data)
{
	(void)data;
	return engine->survey.count == 0 || engine->survey.interrupts > 1;
}

void survey_interrupt(struct engine *engine)
{
	struct survey *survey = &engine->survey;

	if (survey->interrupts++ > 0)
		return;
	params_cancel(engine);
	for (size_t i = 0; i < survey->count; i++) {
		const struct rank *rank = session_find_rank(&engine->session, survey->asks[i].rank);
		json_t *arguments;

		if (!rank)
			continue;
		arguments = json_object();
		json_object_set_new(arguments, "pid", json_integer(rank->process.pid));
		engine_send(engine, "cancel", arguments);
	}
}

void survey_wait(struct engine *engine)
{
	struct survey *survey = &engine->survey;

	survey->interrupts = 0;
	engine_wait(engine, is_over, NULL, engine->settings.timeout);
	if (survey->count > 0) {
		for (size_t i = 0; i < survey->count; i++)
			take(engine, survey->asks[i]);
		survey->count = 0;
		begin_parts(engine);
	}
	if (survey->interrupts < 2)
		params_wait_parts(engine);
}
