#include "engine/rank-query.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/replay.h"
#include "engine/request.h"
#include "engine/tensor-requests.h"
#include "model/debug-state.h"
#include "protocol/stack.h"
#include "protocol/tensoranswer.h"

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."

struct rank_query_question {
	uint64_t number;
	struct request_group *group;
};

/* Data attached to each request. */
struct tag {
	bool is_tensor; /* the request is `tensor`, not `evaluate` */
	bool is_again;	/* second request for a tensor: all elements, after a sample */
	char refusal[]; /* error of the earlier `tensor`; empty: `tensor` was not sent */
};

static void free_question(struct rank_query_question *question)
{
	request_group_free(question->group);
	free(question);
}

void rank_query_clear(struct engine *engine)
{
	struct rank_query *rank_query = &engine->rank_query;

	for (size_t i = 0; i < rank_query->count; i++)
		free_question(rank_query->questions[i]);
	free(rank_query->questions);
	*rank_query = (struct rank_query){ .questions = NULL };
}

/* Drops the question; answers still to come are ignored. */
static void rank_query_forget(struct engine *engine, uint64_t number)
{
	struct rank_query *rank_query = &engine->rank_query;
	size_t kept = 0;

	for (size_t i = 0; i < rank_query->count; i++) {
		struct rank_query_question *question = rank_query->questions[i];

		if (question->number == number)
			free_question(question);
		else
			rank_query->questions[kept++] = question;
	}
	rank_query->count = kept;
}

static struct answers *rank_query_find(struct engine *engine, uint64_t question)
{
	struct session *session = &engine->session;

	if (session->answers.question && session->answers.number == question)
		return &session->answers;
	return eval_history_find(&session->eval_history, question);
}

const struct answers *rank_query_answers(const struct engine *engine)
{
	const struct session *session = &engine->session;
	uint64_t number = engine->rank_query.number;

	if (session->answers.question && session->answers.number == number)
		return &session->answers;
	return eval_history_find(&session->eval_history, number);
}

/*
 * Returns the depth of the frame in which the rank evaluates: in the selected rank the selected
 * depth, in another rank the frame of the same function, or 0 (innermost) if the rank has no such
 * frame.
 */
static int depth_in(const struct session *session, const struct rank *rank)
{
	const struct rank *looked_at = session_looked_at(session);
	int depth = looked_at ? control_depth(session, looked_at) : 0;
	int same = -1;

	if (rank == looked_at)
		return depth;
	if (looked_at)
		same = debug_state_same_function(rank, looked_at, depth);
	return same < 0 ? 0 : same;
}

/*
 * Returns the context of `evaluate`: "repl" runs a line as typed at the debugger's prompt, "watch"
 * evaluates in a frame.
 */
static const char *context_of(enum answers_kind kind, const struct rank *rank)
{
	if (kind == ANSWERS_BROADCAST)
		return "repl";
	/* pdb's "repl" is its prompt, where "n" is a step: not usable for code. */
	if (kind == ANSWERS_EVAL &&
	    (!debug_state_is_stopped(rank) || debugger_is_of(&rank->debugger, "http")))
		return "repl";
	return "watch";
}

static json_t *rank_query_make_arguments(const struct engine *engine, const struct rank *rank,
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
	if (answers->kind != ANSWERS_EVAL || debug_state_is_stopped(rank)) {
		json_object_set_new(arguments, "tid", json_integer(control_tid(session, rank)));
		json_object_set_new(arguments, "depth", json_integer(depth));
	}
	json_set_text(arguments, "expression", answers->question);
	json_set_text(arguments, "context", context_of(answers->kind, rank));
	if (answers->kind == ANSWERS_EVAL)
		request_set_timeout(arguments, engine, engine->settings.timeout);
	return arguments;
}

/*
 * Arguments of `execute`: the code runs beside the program, whether the program runs or is stopped.
 */
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

static struct tag *make_tag(bool is_tensor, bool is_again, const char *refusal)
{
	struct tag *tag = xcalloc(1, sizeof(*tag) + strlen(refusal) + 1);

	tag->is_tensor = is_tensor;
	tag->is_again = is_again;
	memcpy(tag->refusal, refusal, strlen(refusal) + 1);
	return tag;
}

/* A screen wants a quick answer; a shell wants all elements. */
static const char *statistics_of(const struct engine *engine, bool is_again)
{
	if (engine->rank_query.wants_sample)
		return "sample";
	return engine->is_screen && !is_again ? "auto" : "whole";
}

static void ask_tensor(struct engine *engine, struct rank_query_question *question,
		       const struct rank *rank, const struct answers *answers, bool is_again)
{
	const struct tensor_question ask = {
		.statistics = statistics_of(engine, is_again),
		.wants_hash = true,
	};

	request_group_add(
		question->group, rank->node, rank->process.rank, "tensor",
		tensor_question_arguments(
			engine, tensor_question_place(engine, rank, answers->question), &ask),
		make_tag(true, is_again, ""));
}

static void ask_evaluation(struct engine *engine, struct rank_query_question *question,
			   const struct rank *rank, const struct answers *answers,
			   const char *refusal)
{
	request_group_add(question->group, rank->node, rank->process.rank, "evaluate",
			  rank_query_make_arguments(engine, rank, answers),
			  make_tag(false, false, refusal));
}

static void rank_query_ask(struct engine *engine, struct rank_query_question *question,
			   const struct rank *rank, struct answers *answers)
{
	answers_wait(answers, rank->process.rank);
	if (answers->kind > ANSWERS_EVAL)
		request_group_add(question->group, rank->node, rank->process.rank, "execute",
				  make_execution(engine, rank, answers),
				  make_tag(false, false, ""));
	else if (answers->kind == ANSWERS_COMPARE)
		ask_tensor(engine, question, rank, answers, false);
	else
		ask_evaluation(engine, question, rank, answers, "");
}

static void rank_query_refuse(struct answers *answers, const struct rank *rank,
			      enum control_need need)
{
	struct error reason = ERROR_INIT;
	struct error error = ERROR_INIT;

	control_reason(rank, need, &reason);
	error_set(&error, "not evaluated: the rank %s", reason.message);
	answers_take(answers, rank->process.rank, NULL, error.message);
}

static struct answers *begin(struct engine *engine, const char *question, enum answers_kind kind)
{
	struct session *session = &engine->session;
	uint64_t number = ++engine->rank_query.number;
	double now = engine_now(engine);

	if (kind >= ANSWERS_EVAL)
		return eval_history_add(&session->eval_history, question, kind, number, now);
	rank_query_forget(engine, session->answers.number);
	parameter_compare_drop_parts(engine);
	answers_begin(&session->answers, question, kind, now);
	session->answers.number = number;
	session->answers.tolerance = engine->settings.tolerance;
	engine->rank_query.wants_difference = false;
	return &session->answers;
}

/*
 * True if an error is an exception of the program, as the last line of a traceback, "NameError:
 * name 'x' …" or the name alone; false for other errors, which are sentences.
 */
static bool rank_query_is_raised(const char *sentence)
{
	size_t length = strspn(sentence, NAME_LETTERS);
	size_t last = length;

	while (last > 0 && sentence[last - 1] != '.')
		last--;
	if (length == last || sentence[last] < 'A' || sentence[last] > 'Z')
		return false;
	return sentence[length] == '\0' || (sentence[length] == ':' && sentence[length + 1] == ' ');
}

static void rank_query_put(struct engine *engine, uint64_t number, const struct answer *answer)
{
	struct answers *answers = rank_query_find(engine, number);

	if (answers)
		answers_take_whole(answers, answer);
	engine->session.revision++;
}

/* If the answer covers only a sample of a large tensor, requests all elements. */
static void rank_query_ask_again(struct engine *engine, struct rank_query_question *question,
				 int number, const struct tensor *tensor)
{
	const struct rank *rank = session_find_rank(&engine->session, number);
	const struct answers *answers = rank_query_find(engine, question->number);

	if (tensor->share < 1 && !tensor->unread && engine->is_screen &&
	    !engine->rank_query.wants_sample && rank && answers)
		ask_tensor(engine, question, rank, answers, true);
}

/*
 * Makes an answer with a tensor, or with the reason why there is none. The answer borrows from
 * told, which the caller clears afterwards.
 */
static struct answer make_tensor_answer(int rank, const json_t *body, struct tensor_answer *told,
					struct error *error)
{
	struct answer answer = { .rank = rank };

	if (tensor_answer_from_json(told, body, error) == 0) {
		answer.text = told->value.value;
		answer.value = told->value.value;
		answer.type = told->value.type;
		answer.address = told->value.address;
		answer.tensor = told->has_tensor ? &told->tensor : NULL;
		answer.is_of_fields = true;
	}
	answer.error = error_is_set(error) ? error->message : NULL;
	return answer;
}

static void rank_query_take_tensor(struct engine *engine, struct rank_query_question *question,
				   const struct group_answer *come)
{
	const struct tag *tag = come->tag;
	struct tensor_answer told;
	struct error error = ERROR_INIT;
	struct answer answer = make_tensor_answer(come->rank, come->body, &told, &error);

	if (!tag->is_again || !answer.error)
		rank_query_put(engine, question->number, &answer);
	if (answer.tensor && !tag->is_again)
		rank_query_ask_again(engine, question, come->rank, answer.tensor);
	tensor_answer_clear(&told);
}

/*
 * If `tensor` failed on a stopped rank, sends `evaluate` to its debugger, which can also call
 * functions and reach other machines. Returns true if `evaluate` was sent.
 */
static bool ask_debugger(struct engine *engine, struct rank_query_question *question,
			 const struct group_answer *come)
{
	const struct tag *tag = come->tag;
	const struct rank *rank = session_find_rank(&engine->session, come->rank);
	const struct answers *answers = rank_query_find(engine, question->number);

	if (!tag->is_tensor || !come->error || come->is_late || !rank || !answers ||
	    !debug_state_is_stopped(rank) || engine_is_deaf(engine))
		return false;
	ask_evaluation(engine, question, rank, answers, come->error);
	return true;
}

static void rank_query_take_result(struct engine *engine,
				   const struct rank_query_question *question,
				   const struct group_answer *come)
{
	const struct tag *tag = come->tag;
	const char *traceback = json_get_string(come->body, "traceback", NULL);
	const char *output = json_get_string(come->body, "output", "");
	bool is_program =
		come->error && !tag->is_tensor && (traceback || rank_query_is_raised(come->error));
	struct answer answer = {
		.rank = come->rank,
		.value = (char *)json_get_string(come->body, "result", NULL),
		.type = (char *)json_get_string(come->body, "type", NULL),
		.output = *output ? (char *)output : NULL,
		.traceback = (char *)traceback,
		.is_raised = is_program,
		.error = (char *)come->error,
	};

	/*
	 * An exception of the program is reported. Any other error of `evaluate` is replaced by the
	 * earlier error of `tensor`.
	 */
	if (come->error && tag->refusal[0] != '\0' && !is_program)
		answer.error = (char *)tag->refusal;
	session_touch(&engine->session, come->rank);
	rank_query_put(engine, question->number, &answer);
}

static void rank_query_take(struct engine *engine, const struct group_answer *come, void *data)
{
	struct rank_query_question *question = data;
	const struct tag *tag = come->tag;

	if (tag->is_tensor && !come->error)
		rank_query_take_tensor(engine, question, come);
	/* If the second request fails, the answer to the first request (from a sample) is kept. */
	else if (!tag->is_again && !ask_debugger(engine, question, come))
		rank_query_take_result(engine, question, come);
}

static void rank_query_recall(struct engine *engine, const struct rank *rank,
			      const struct answers *answers)
{
	const struct replay_answers recalled = {
		.command = "tensor",
		.expression = answers->question,
	};
	struct tensor_answer told = { .has_tensor = false };
	struct error error = ERROR_INIT;
	json_t *body = replay_answers_find(engine, rank, &recalled, &error);
	struct answer answer = {
		.rank = rank->process.rank,
		.error = error.message,
	};

	if (body)
		answer = make_tensor_answer(rank->process.rank, body, &told, &error);
	rank_query_put(engine, answers->number, &answer);
	tensor_answer_clear(&told);
	json_decref(body);
}

/*
 * If the texts of values are abbreviated, compares the values by their parts. A comparison needs at
 * least two ranks.
 */
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
		parameter_compare_begin_parts(engine, &ranks);
	rankset_clear(&ranks);
}

/*
 * Starts comparisons of elements on a screen; a shell command starts them after it has waited for
 * all answers.
 */
static void rank_query_compare_elements(struct engine *engine)
{
	const struct answers *answers = &engine->session.answers;

	if (!engine->is_screen || !answers->question || answers->kind != ANSWERS_COMPARE ||
	    answers_come(answers) < answers->count ||
	    (!engine->rank_query.wants_difference && !(answers->tolerance > 0)))
		return;
	value_difference_begin_all(engine);
}

/* Called when all answers to a question have come. */
static void rank_query_on_done(struct engine *engine, void *data)
{
	struct rank_query_question *question = data;
	uint64_t number = question->number;

	rank_query_forget(engine, number);
	if (number != engine->session.answers.number)
		return;
	rank_query_compare_elements(engine);
	begin_parts(engine);
}

static struct rank_query_question *add_question(struct engine *engine, uint64_t number)
{
	struct rank_query *rank_query = &engine->rank_query;
	struct rank_query_question *question = xcalloc(1, sizeof(*question));

	question->number = number;
	question->group = request_group_new(engine, rank_query_take, rank_query_on_done, question);
	ARRAY_GROW(rank_query->questions, rank_query->count, rank_query->capacity);
	rank_query->questions[rank_query->count++] = question;
	return question;
}

/* Replay: takes the recorded answers. */
static int rank_query_recall_all(struct command_context *context, const char *question,
				 struct error *error)
{
	struct engine *engine = context->engine;
	struct answers *answers;

	if ((!context->screen && collect_ranks(context, error) < 0) ||
	    collect_named(context, error) < 0)
		return -1;
	answers = begin(engine, question, ANSWERS_COMPARE);
	for (size_t i = 0; i < engine->session.rank_count; i++) {
		const struct rank *rank = engine->session.ranks[i];

		if (rank->process.pid > 0 && format_is_chosen(&context->ranks, rank))
			rank_query_recall(engine, rank, answers);
	}
	begin_parts(engine);
	engine->session.revision++;
	return 0;
}

int rank_query_begin(struct command_context *context, const char *name, const char *question,
		     enum answers_kind kind, struct error *error)
{
	struct engine *engine = context->engine;
	struct session *session = &engine->session;
	struct control control = {
		.command = name,
		.need = kind == ANSWERS_BROADCAST ? CONTROL_STOPPED : CONTROL_THERE,
	};
	struct rank_query_question *asked;
	struct answers *answers;
	int rank = -1;

	if (engine->replay && kind == ANSWERS_COMPARE)
		return rank_query_recall_all(context, question, error);
	if (control_choose(&control, context, error) < 0) {
		if (context->status == STATUS_DONE)
			context->status = STATUS_NOTHING;
		control_clear(&control);
		return -1;
	}
	answers = begin(engine, question, kind);
	asked = add_question(engine, answers->number);
	while ((rank = rankset_next(&control.others, rank)) >= 0)
		rank_query_refuse(answers, session_find_rank(session, rank), control.need);
	while ((rank = rankset_next(&control.chosen, rank)) >= 0)
		rank_query_ask(engine, asked, session_find_rank(session, rank), answers);
	if (request_group_open_count(asked->group) == 0)
		rank_query_on_done(engine, asked);
	session->revision++;
	control_clear(&control);
	return 0;
}

static bool rank_query_is_over(const struct engine *engine, void *data)
{
	(void)data;
	return engine->rank_query.count == 0 || engine->rank_query.interrupts > 1;
}

static void interrupt(struct engine *engine, const struct request_group *group)
{
	for (size_t i = 0; i < request_group_count(group); i++) {
		const struct rank *rank =
			session_find_rank(&engine->session, request_group_rank(group, i));

		if (rank)
			request_post(engine, rank->node, "cancel",
				     json_pack("{s:i}", "pid", (int)rank->process.pid));
	}
}

void rank_query_interrupt(struct engine *engine)
{
	struct rank_query *rank_query = &engine->rank_query;

	if (rank_query->interrupts++ > 0)
		return;
	parameter_compare_cancel(engine);
	for (size_t i = 0; i < rank_query->count; i++)
		interrupt(engine, rank_query->questions[i]->group);
}

void rank_query_wait(struct engine *engine)
{
	struct rank_query *rank_query = &engine->rank_query;
	char late[160];

	rank_query->interrupts = 0;
	engine_wait(engine, rank_query_is_over, NULL, engine->settings.timeout);
	if (rank_query->interrupts > 1)
		snprintf(late, sizeof(late), "interrupted; the code may still be running");
	else
		snprintf(late, sizeof(late), REQUEST_LATE, engine->settings.timeout);
	while (rank_query->count > 0)
		request_group_expire(rank_query->questions[0]->group, late);
	if (rank_query->interrupts < 2)
		parameter_compare_wait_parts(engine);
}
