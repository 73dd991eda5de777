/* command-control: commands that connect to debuggers, resume, step, pause and detach. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/control.h"
#include "engine/debuggers.h"
#include "engine/engine.h"
#include "engine/rank-answers.h"
#include "model/debug-state.h"
#include "protocol/stack.h"

#define LINE_MAXIMUM INT_MAX

/* The request that resumes ranks. */
struct motion {
	const char *request;
	int line;    /* target line of `until` and `jump`; 0: none */
	bool is_far; /* true: the ranks may run beyond the current line */
	/* true: ask first if a step may enter a collective that stopped peers do not enter */
	bool is_asked;
	bool is_free; /* true: nothing may stop the ranks again, so a pending pause is withdrawn */
};

/*
 * Resets the selected frame to the default if the selected rank was resumed, because a resumed rank
 * leaves its frames.
 */
static void forget_frame(struct session *session, const struct rankset *moved,
			 const struct motion *motion)
{
	const struct rank *rank = session_looked_at(session);
	bool is_refused =
		rank && rank->debugger.is_post_mortem && strcmp(motion->request, "continue") != 0;

	if (!rank || is_refused || !rankset_contains(moved, rank->process.rank))
		return;
	session->choice.selection.depth = -1;
	session->revision++;
}

/*
 * Adds "tid" and "threads" only if they differ from the node's defaults, which are the stopped
 * thread and all Python threads together.
 */
static void add_thread(json_t *arguments, const struct engine *engine, const struct rank *rank)
{
	pid_t tid = control_tid(&engine->session, rank);

	if (ptrace_state_is(rank) && tid != rank->debugger.tid)
		json_object_set_new(arguments, "tid", json_integer(tid));
	if (engine->settings.stops_one_thread)
		json_object_set_new(arguments, "threads", json_string("one"));
}

static void ask_motion(struct control *control, struct rank_answers *pending, struct engine *engine,
		       int rank, const struct motion *motion)
{
	const struct session *session = &engine->session;
	struct rank *found = session_find_rank(session, rank);
	json_t *arguments = json_object();

	json_object_set_new(arguments, "pid", json_integer(found->process.pid));
	if (motion->is_free && found->is_pausing) {
		found->is_pausing = false;
		json_object_set_new(arguments, "withdraw", json_true());
		rank_answers_add(pending, found->node, rank, motion->request, arguments);
		return;
	}
	json_object_set_new(arguments, "depth",
			    json_integer(control_step_depth(control, session, found)));
	add_thread(arguments, engine, found);
	if (motion->line > 0)
		json_object_set_new(arguments, "line", json_integer(motion->line));
	rank_answers_add(pending, found->node, rank, motion->request, arguments);
}

/*
 * Reads the rank's source file for the question, which depends on the current line; a screen has
 * already read the file.
 */
static void read_source(struct engine *engine, const struct rank *rank)
{
	const struct session *session = &engine->session;
	const struct code *code =
		session_find_code(session, rank->node, rank->process.pid,
				  control_tid(session, rank), control_depth(session, rank));
	json_t *arguments;

	if (!code || session_find_source(session, rank->node, rank->process.pid, code->file))
		return;
	arguments = json_pack("{s:i}", "pid", (int)rank->process.pid);
	json_set_text(arguments, "path", code->file);
	json_decref(request_call(engine, rank->node, "source", arguments, NULL));
}

static bool are_all(const struct control *control, const struct session *session)
{
	for (size_t i = 0; i < session->rank_count; i++) {
		if (debug_state_is_held(session->ranks[i]) &&
		    !rankset_contains(&control->chosen, session->ranks[i]->process.rank))
			return false;
	}
	return true;
}

/*
 * Asks before a step into a collective. Returns 1 if the ranks may step, also without a question;
 * otherwise, the result of control_confirm().
 */
static int confirm_collective(const struct control *control, struct command_context *context,
			      const struct motion *motion, struct error *error)
{
	struct engine *engine = context->engine;
	const struct session *session = &engine->session;
	int rank = -1;
	char *question;

	if (!motion->is_asked || are_all(control, session))
		return 1;
	while (!context->screen && (rank = rankset_next(&control->chosen, rank)) >= 0)
		read_source(engine, session_find_rank(session, rank));
	question = control_collective_question(control, session, motion->is_far);
	return question ? control_confirm(control, context, question, error) : 1;
}

/*
 * True if a rank to be stepped still moves. A step of only the stopped ranks would bring the
 * stopped ranks one step ahead of the running ranks.
 */
static bool is_any_moving(const struct control *control, const struct command_context *context)
{
	int rank = -1;

	if (!context->moving)
		return false;
	while ((rank = rankset_next(context->moving, rank)) >= 0) {
		if (rankset_contains(&control->chosen, rank) ||
		    rankset_contains(&control->others, rank))
			return true;
	}
	return false;
}

static int command_control_move(struct command_context *context, const char *name,
				const struct motion *motion, struct error *error)
{
	struct control control = { .command = name,
				   .need = CONTROL_STOPPED,
				   .has_pausing = motion->is_free };
	struct session *session = &context->engine->session;
	struct rank_answers *pending;
	int rank = -1;
	int result = control_choose(&control, context, error);

	if (motion->is_asked && is_any_moving(&control, context)) {
		context->is_put_off = true;
		control_clear(&control);
		return 0;
	}
	if (result == 0)
		result = confirm_collective(&control, context, motion, error);
	if (result > 0) {
		pending = rank_answers_new(context->engine, name);
		while ((rank = rankset_next(&control.chosen, rank)) >= 0)
			ask_motion(&control, pending, context->engine, rank, motion);
		forget_frame(session, &control.chosen, motion);
		result = control_finish(&control, context, pending, error);
	}
	control_clear(&control);
	return result;
}

static int next_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	static const struct motion motion = {
		.request = "next",
		.is_asked = true,
	};

	(void)arguments;
	return command_control_move(context, "next", &motion, error);
}

const struct command command_next = {
	.name = "next",
	.alias = "n",
	.synopsis = "[--yes] [ranks SET]",
	.help = "step over one line",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_ASKS,
	.run = next_run,
};

static int step_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	static const struct motion motion = {
		.request = "stepIn",
		.is_asked = true,
	};

	(void)arguments;
	return command_control_move(context, "step", &motion, error);
}

const struct command command_step = {
	.name = "step",
	.alias = "s",
	.synopsis = "[--yes] [ranks SET]",
	.help = "step one line, into called functions",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_ASKS,
	.run = step_run,
};

static int continue_run(struct command_context *context, const struct arguments *arguments,
			struct error *error)
{
	static const struct motion motion = {
		.request = "continue",
		.is_asked = true,
		.is_far = true,
		.is_free = true,
	};

	(void)arguments;
	return command_control_move(context, "continue", &motion, error);
}

const struct command command_continue = {
	.name = "continue",
	.alias = "c",
	.synopsis = "[--yes] [ranks SET]",
	.help = "continue to the next breakpoint",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_ASKS,
	.run = continue_run,
};

static int finish_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	static const struct motion motion = {
		.request = "stepOut",
		.is_asked = true,
		.is_far = true,
	};

	(void)arguments;
	return command_control_move(context, "finish", &motion, error);
}

const struct command command_finish = {
	.name = "finish",
	.alias = "f return r",
	.synopsis = "[--yes] [ranks SET]",
	.help = "step out: run until the current function returns",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_ASKS,
	.run = finish_run,
};

static int until_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	struct motion motion = {
		.request = "until",
		.is_asked = true,
		.is_far = true,
	};

	if (arguments->count > 0 && arguments_integer(arguments->words[0], "line", 1, LINE_MAXIMUM,
						      &motion.line, error) < 0)
		return -1;
	return command_control_move(context, "until", &motion, error);
}

const struct command command_until = {
	.name = "until",
	.synopsis = "[--yes] [LINE] [ranks SET]",
	.help = "continue to LINE or a later line; without LINE: past the current line (as in pdb)",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_ASKS,
	.run = until_run,
};

static int jump_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct motion motion = { .request = "jump" };

	if (arguments_integer(arguments->words[0], "line", 1, LINE_MAXIMUM, &motion.line, error) <
	    0)
		return -1;
	return command_control_move(context, "jump", &motion, error);
}

const struct command command_jump = {
	.name = "jump",
	.alias = "j",
	.synopsis = "LINE [ranks SET]",
	.help = "run LINE next and skip the lines between",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS,
	.run = jump_run,
};

/* Sends one request, with the pid and no further target, to each of the ranks. */
static int command_control_ask_each(struct control *control, struct command_context *context,
				    const char *request, bool is_forced, struct error *error)
{
	const struct session *session = &context->engine->session;
	struct rank_answers *pending = rank_answers_new(context->engine, control->command);
	int rank = -1;

	while ((rank = rankset_next(&control->chosen, rank)) >= 0) {
		struct rank *found = session_find_rank(session, rank);
		json_t *arguments = json_object();

		if (strcmp(request, "pause") == 0)
			found->is_pausing = true;
		json_object_set_new(arguments, "pid", json_integer(found->process.pid));
		if (is_forced)
			json_object_set_new(arguments, "force", json_true());
		if (control->need == CONTROL_RUNNING)
			add_thread(arguments, context->engine, found);
		rank_answers_add(pending, found->node, rank, request, arguments);
	}
	return control_finish(control, context, pending, error);
}

static int pause_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	struct control control = { .command = "pause", .need = CONTROL_RUNNING };
	int result;

	(void)arguments;
	result = control_choose(&control, context, error);
	if (result == 0)
		result = command_control_ask_each(&control, context, "pause", false, error);
	if (result == 0)
		collect_undone(context, "ranks resume", "p", "them paused");
	control_clear(&control);
	return result;
}

const struct command command_pause = {
	.name = "pause",
	.synopsis = "[PID | ranks SET]",
	.help = "pause running ranks",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_PID,
	.run = pause_run,
};

/* True if a rank was resumed by its debugger and has not stopped yet. */
static bool is_any_on_its_way(const struct session *session)
{
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (!rank_is_gone(rank) && rank->debugger.state == DEBUGGER_RUNNING)
			return true;
	}
	return false;
}

/*
 * Resumes all ranks without `ranks SET`, because running ranks may wait for stopped ranks outside
 * the focus.
 */
static int release_run(struct command_context *context, const struct arguments *arguments,
		       struct error *error)
{
	const struct motion motion = { .request = "continue" };

	(void)arguments;
	if (!context->ranks_text)
		context->ranks_text = "all";
	if (!is_any_on_its_way(&context->engine->session))
		return error_set(
			error,
			"release: no step waits for stopped ranks; use `continue` to resume ranks");
	return command_control_move(context, "release", &motion, error);
}

const struct command command_release = {
	.name = "release",
	.synopsis = "[ranks SET]",
	.help = "resume stopped ranks that a step waits for",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_JOB,
	.run = release_run,
};

static int terminate_run(struct command_context *context, const struct arguments *arguments,
			 struct error *error)
{
	struct control control = { .command = "terminate", .need = CONTROL_STOPPED };
	int result;

	(void)arguments;
	result = control_choose(&control, context, error);
	if (result == 0)
		result = control_confirm_quit(&control, context, error);
	if (result > 0)
		result = command_control_ask_each(&control, context, "terminate", false, error);
	control_clear(&control);
	return result;
}

const struct command command_terminate = {
	.name = "terminate",
	.synopsis = "[--yes] [ranks SET]",
	.help = "quit the debuggers of ranks, which raises bdb.BdbQuit in their programs",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_ASKS,
	.run = terminate_run,
};

static int detach_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct control control = { .command = "detach", .need = CONTROL_OURS };
	char *question = NULL;
	int result;

	(void)arguments;
	result = control_choose(&control, context, error);
	if (result == 0) {
		question = control_leave_question(&context->engine->session, &control.chosen);
		result = question ? control_confirm(&control, context, question, error) : 1;
	}
	if (result > 0)
		result = command_control_ask_each(&control, context, "detach",
						  context->is_confirmed, error);
	control_clear(&control);
	return result;
}

const struct command command_detach = {
	.name = "detach",
	.synopsis = "[--yes] [ranks SET]",
	.help = "detach from the ranks; stopped ranks resume",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_ASKS,
	.run = detach_run,
};

static int connect_target(struct command_context *context, const char *target, struct error *error)
{
	struct control control = { .command = "connect" };
	struct rank_answers *pending;
	json_t *arguments;

	if (context->engine->settings.machine_count > 0)
		return error_set(error, "with --on an address may be on any machine: use `connect "
					"ranks SET`");
	pending = rank_answers_new(context->engine, "connect");
	arguments = json_object();
	json_set_text(arguments, "target", target);
	rank_answers_add(pending, LOCAL_NODE, -1, "connect", arguments);
	return control_finish(&control, context, pending, error);
}

static int ask_to_connect(const struct control *control, struct command_context *context,
			  struct error *error)
{
	struct rank_answers *pending = rank_answers_new(context->engine, "connect");
	int rank = -1;

	while ((rank = rankset_next(&control->chosen, rank)) >= 0) {
		const struct rank *found = session_find_rank(&context->engine->session, rank);
		json_t *arguments = json_object();

		json_set_text(arguments, "target", found->debugger.target);
		rank_answers_add(pending, found->node, rank, "connect", arguments);
	}
	return control_finish(control, context, pending, error);
}

/* Only a screen asks before it connects; a script connects at once. */
static int connect_ranks(struct command_context *context, struct error *error)
{
	struct control control = { .command = "connect", .need = CONTROL_WAITING };
	int result = control_choose(&control, context, error);
	char *question = NULL;

	if (result == 0 && context->screen)
		question = control_connect_question(&context->engine->session, &control.chosen);
	if (question)
		result = control_confirm(&control, context, question, error);
	if (result > 0 || (result == 0 && !question))
		result = ask_to_connect(&control, context, error);
	control_clear(&control);
	return result;
}

/*
 * Lines that follow `connect` in a script are meant for the debuggers' prompts, so wait for the
 * debuggers first.
 */
static int connect_answer(struct command_context *context, struct error *error)
{
	struct engine *engine = context->engine;
	struct buffer silent = BUFFER_INIT;
	int result = 0;

	debuggers_await(engine, engine->settings.timeout);
	if (debuggers_append_silent(&silent, engine))
		result = error_set(error, "connect: %s", silent.data);
	buffer_clear(&silent);
	return result;
}

static int connect_run(struct command_context *context, const struct arguments *arguments,
		       struct error *error)
{
	bool has_target = arguments->count > 0;

	if (has_target && collect_ranks(context, NULL) < 0)
		context->status = STATUS_DONE;
	return has_target ? connect_target(context, arguments->words[0], error)
			  : connect_ranks(context, error);
}

const struct command command_connect = {
	.name = "connect",
	.synopsis = "TARGET | [--yes] [ranks SET]",
	.help = "connect to agent:PID, http://HOST:PORT, pdb:unix:PATH, pdb:tcp:HOST:PORT; no "
		"TARGET: to all waiting debuggers",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_ASKS | COMMAND_JOB,
	.run = connect_run,
	.answer = connect_answer,
};
