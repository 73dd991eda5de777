#include "engine/control.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/debuggers.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/rank-answers.h"
#include "engine/script-events.h"
#include "model/debug-state.h"
#include "model/place.h"
#include "model/wait-group.h"
#include "protocol/stack.h"

void control_clear(struct control *control)
{
	rankset_clear(&control->chosen);
	rankset_clear(&control->others);
	rankset_clear(&control->elsewhere);
}

static bool is_fit(const struct rank *rank, enum control_need need)
{
	enum debugger_state state = rank->debugger.state;

	if (rank_is_gone(rank))
		return false;
	switch (need) {
	case CONTROL_STOPPED:
		return state == DEBUGGER_STOPPED;
	case CONTROL_OURS:
		return debugger_is_ours(&rank->debugger);
	case CONTROL_WAITING:
		return state == DEBUGGER_WAITING;
	case CONTROL_THERE:
		return rank->process.pid > 0;
	case CONTROL_RUNNING:
		break;
	}
	return state == DEBUGGER_RUNNING || ptrace_state_is_free(rank);
}

static bool can_be_told(const struct rank *rank, const struct control *control)
{
	return is_fit(rank, control->need) ||
	       (control->has_pausing && rank->is_pausing && !rank_is_gone(rank));
}

/* Why a rank does not meet the command's need, as a clause that follows "rank 1". */
static const char *const state_reasons[] = {
	[DEBUGGER_NONE] = "has no debugger to connect to",
	[DEBUGGER_WAITING] = "waits in a debugger: use the command connect",
	[DEBUGGER_STALE] = "has a debugger socket on which no process listens",
	[DEBUGGER_REFUSED] = "has a debugger that cannot be connected to",
	[DEBUGGER_CONNECTING] = "has a debugger that has not answered yet",
	[DEBUGGER_RUNNING] = "is running: pause it first",
	[DEBUGGER_STOPPED] = "is stopped and already connected",
	[DEBUGGER_NESTED] = "is at a prompt that is not pdb's: use the command console",
	[DEBUGGER_FOREIGN] = "has a debugger that is not pdb: use the command console",
	[DEBUGGER_LOST] = "has lost the connection to its debugger",
};

/* Sets the error "REASON: WHY", or "REASON (WHY): REMEDY" if reason has a remedy. */
static void append_why(struct error *error, const char *reason, const char *why)
{
	const char *remedy = strstr(reason, ": ");

	if (remedy)
		error_set(error, "%.*s (%.300s)%s", (int)(remedy - reason), reason, why, remedy);
	else
		error_set(error, "%s: %.300s", reason, why);
}

void control_reason(const struct rank *rank, enum control_need need, struct error *error)
{
	const struct debugger *debugger = &rank->debugger;
	const char *reason = state_reasons[debugger->state];

	/*
	 * state_reasons[] may be wrong here: the debugger's socket may belong to a rank with the
	 * same number in another job.
	 */
	if (need != CONTROL_WAITING && ptrace_state_is_free(rank) &&
	    debugger->state != DEBUGGER_LOST) {
		error_set(error, need == CONTROL_STOPPED ? "is running: pause it first"
							 : "is running without a debugger");
		return;
	}
	if (rank_is_gone(rank) || need == CONTROL_THERE)
		reason = rank->error ? rank->error : "has exited";
	else if (need == CONTROL_OURS && debugger->state == DEBUGGER_STOPPED)
		reason = "is not connected";
	else if (need == CONTROL_RUNNING && debugger->state == DEBUGGER_STOPPED)
		reason = "is already stopped";
	else if (need == CONTROL_WAITING && debugger_is_ours(debugger))
		reason = "is already connected";
	else if (debugger->is_taken && debugger->state == DEBUGGER_REFUSED)
		reason = "has a debugger with another client connected";
	error_set(error, "%s", reason);
	if (debugger->why && debugger->state != DEBUGGER_WAITING && !rank_is_gone(rank))
		append_why(error, reason, debugger->why);
}

static void explain_one(const struct rank *rank, enum control_need need, struct error *error)
{
	struct error reason = ERROR_INIT;

	control_reason(rank, need, &reason);
	error_set(error, "rank %d %s", rank->process.rank, reason.message);
}

/* Appends the ranks whose debuggers are used by another client. */
static void append_taken(struct buffer *out, const struct session *session,
			 const struct rankset *ranks)
{
	struct failures reasons = FAILURES_INIT;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (rankset_contains(ranks, rank->process.rank) && !rank_is_gone(rank) &&
		    rank->debugger.is_taken)
			failures_add(&reasons, rank->process.rank,
				     "another client is connected to the debugger");
	}
	if (reasons.count > 0)
		buffer_append_string(out, "; ");
	failures_append(out, &reasons);
	failures_clear(&reasons);
}

static void control_append_waiting(struct buffer *out, const struct session *session,
				   const struct rankset *ranks)
{
	struct rankset waiting = RANKSET_INIT;
	int rank = -1;

	while ((rank = rankset_next(ranks, rank)) >= 0) {
		const struct rank *found = session_find_rank(session, rank);

		if (found && debug_state_is_waiting(found))
			rankset_add(&waiting, rank);
	}
	if (waiting.range_count > 0) {
		bool is_one = rankset_count(&waiting) == 1;

		buffer_append_string(out, is_one ? "; rank " : "; ranks ");
		rankset_append(out, &waiting);
		buffer_append_string(out, is_one ? " waits in a debugger: use `connect ranks "
						 : " wait in debuggers: use `connect ranks ");
		rankset_append(out, &waiting);
		buffer_append_char(out, '`');
	}
	rankset_clear(&waiting);
}

/* Words that follow "none of the ranks … is". */
static const char *const need_words[] = {
	[CONTROL_STOPPED] = "stopped",
	[CONTROL_OURS] = "connected to a debugger",
	[CONTROL_WAITING] = "waiting in a debugger",
	[CONTROL_RUNNING] = "running",
	[CONTROL_THERE] = "alive",
};

static void explain_all(const struct control *control, const struct session *session,
			struct error *error)
{
	struct buffer out = BUFFER_INIT;

	buffer_append_string(&out, "none of the ranks ");
	rankset_append(&out, &control->others);
	buffer_printf(&out, " is %s", need_words[control->need]);
	if (control->need != CONTROL_WAITING)
		control_append_waiting(&out, session, &control->others);
	append_taken(&out, session, &control->others);
	error_set(error, "%s", out.data);
	buffer_clear(&out);
}

static int control_explain(const struct control *control, const struct session *session,
			   struct error *error)
{
	int first = rankset_first(&control->others);

	if (first < 0)
		error_set(error, "no rank selected");
	else if (rankset_count(&control->others) == 1)
		explain_one(session_find_rank(session, first), control->need, error);
	else
		explain_all(control, session, error);
	return -1;
}

/*
 * True if the command acts on the rank. After a question, a command acts only on the ranks that the
 * question named.
 */
static bool control_is_meant(const struct command_context *context, const struct rank *rank)
{
	if (!format_is_chosen(&context->ranks, rank))
		return false;
	return !context->is_confirmed || context->asked.range_count == 0 ||
	       rankset_contains(&context->asked, rank->process.rank);
}

int control_choose(struct control *control, struct command_context *context, struct error *error)
{
	const struct session *session = &context->engine->session;

	if (command_check_job(context->engine, control->command, error) < 0)
		return -1;
	if (collect_ranks(context, error) < 0)
		return -1;
	if (collect_named(context, error) < 0)
		return -1;
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (!control_is_meant(context, rank))
			continue;
		rankset_add(can_be_told(rank, control) ? &control->chosen : &control->others,
			    rank->process.rank);
	}
	context->status = STATUS_DONE;
	if (control->chosen.range_count > 0)
		return 0;
	if (rankset_count(&control->others) == 1)
		context->failed_rank = rankset_first(&control->others);
	control_explain(control, session, error);
	return error_prefix(error, "%s", control->command);
}

int control_confirm(const struct control *control, struct command_context *context,
		    char *owned_question, struct error *error)
{
	if (context->screen && !context->is_confirmed)
		rankset_copy(&context->asked, &control->chosen);
	return command_confirm(context, owned_question, error);
}

const struct thread *control_thread(const struct session *session, const struct rank *rank)
{
	const struct thread *thread = session_selected_thread(session);

	if (ptrace_state_is(rank) && session_looked_at(session) == rank && thread &&
	    thread->sample.tid > 0 && thread->sample.state == THREAD_STOPPED)
		return thread;
	return debug_state_thread(rank);
}

pid_t control_tid(const struct session *session, const struct rank *rank)
{
	const struct thread *thread = control_thread(session, rank);

	return thread && ptrace_state_is(rank) ? thread->sample.tid : rank->debugger.tid;
}

int control_depth(const struct session *session, const struct rank *rank)
{
	const struct thread *thread = control_thread(session, rank);
	int depth = session_selected_depth(session);

	if (depth >= 0 && session_looked_at(session) == rank &&
	    session_selected_thread(session) == thread)
		return depth;
	if (!rank->debugger.is_post_mortem || !thread || !thread->sample.stack)
		return 0;
	return (int)place_user_frame(&rank->process, thread->sample.stack);
}

/*
 * Returns the selected depth; 0 if the selected rank is running, as then no person chose the frame.
 */
static int looked_at_depth(const struct session *session)
{
	const struct rank *rank = session_looked_at(session);

	return rank && debug_state_is_stopped(rank) ? control_depth(session, rank) : 0;
}

int control_print_depth(const struct session *session, const struct rank *rank)
{
	const struct rank *looked_at = session_looked_at(session);
	int depth = looked_at_depth(session);
	int same = -1;

	if (rank != looked_at && depth > 0)
		same = debug_state_same_function(rank, looked_at, depth);
	return same < 0 ? control_depth(session, rank) : same;
}

int control_step_depth(struct control *control, const struct session *session,
		       const struct rank *rank)
{
	const struct rank *looked_at = session_looked_at(session);
	int depth = looked_at_depth(session);

	if (depth <= 0 || rank == looked_at)
		return depth;
	depth = debug_state_same_depth(rank, looked_at, depth);
	if (depth < 0)
		rankset_add(&control->elsewhere, rank->process.rank);
	return depth < 0 ? 0 : depth;
}

void control_append(struct buffer *out, const struct control *control)
{
	size_t others = rankset_count(&control->others);

	rankset_append_named(out, &control->chosen);
	if (control->elsewhere.range_count > 0) {
		buffer_append_string(out, "; ");
		rankset_append_named(out, &control->elsewhere);
		buffer_append_string(out,
				     rankset_count(&control->elsewhere) == 1
					     ? " lacks the selected frame: innermost frame used"
					     : " lack the selected frame: innermost frames used");
	}
	if (others == 0)
		return;
	buffer_append_string(out, "; ");
	text_count(out, others);
	buffer_printf(out, others == 1 ? " other rank is not %s" : " other ranks are not %s",
		      need_words[control->need]);
}

/*
 * Appends " (rank 2 waits in a debugger …)": the reason for the first rank of control->others that
 * is not stopped.
 */
static void control_append_reason(struct buffer *out, const struct control *control,
				  const struct session *session)
{
	struct error reason = ERROR_INIT;
	int number = -1;

	while ((number = rankset_next(&control->others, number)) >= 0) {
		const struct rank *rank = session_find_rank(session, number);

		if (!rank || debug_state_is_stopped(rank))
			continue;
		explain_one(rank, control->need, &reason);
		buffer_printf(out, " (%s)", reason.message);
		return;
	}
}

static void control_say(const struct control *control, struct command_context *context)
{
	struct buffer out = BUFFER_INIT;

	control_append(&out, control);
	if (control->need == CONTROL_RUNNING)
		control_append_reason(&out, control, &context->engine->session);
	if (context->screen)
		engine_say(context->engine, false, "%s: %s", control->command, out.data);
	else
		buffer_printf(context->out, "%s: %s\n", control->command, out.data);
	buffer_clear(&out);
}

static void say_json(const struct control *control, struct command_context *context)
{
	json_t *json = json_object();

	json_object_set_new(json, "command", json_string(control->command));
	json_object_set_new(json, "ranks", format_json_set(&control->chosen));
	json_object_set_new(json, "others", format_json_set(&control->others));
	format_document(context->out, json);
}

/* Returns false if the target of `connect` is not a rank yet. */
static bool names_ranks(const struct control *control)
{
	return control->chosen.range_count > 0;
}

static void append_failures(struct command_context *context, const struct control *control,
			    const struct failures *failures, struct group_answer *failed,
			    size_t count)
{
	struct error sentence = ERROR_INIT;
	struct buffer out = BUFFER_INIT;
	/*
	 * With --json, failures are events only in the output of a script; a single command writes
	 * one JSON value, for the ranks that acted.
	 */
	bool has_events = context->is_json && context->engine->settings.script;

	for (size_t i = 0; i < count && has_events; i++)
		script_append_error(context, failed[i].rank, control->command, failed[i].error);
	if (!has_events) {
		failures_append(&out, failures);
		error_set(&sentence, "%s: %s", control->command, out.data);
		buffer_append_string(context->notes, "probetui: ");
		format_text(context->notes, sentence.message);
		buffer_append_char(context->notes, '\n');
	}
	context->status = context->engine->settings.script ? STATUS_FINDING : STATUS_PARTIAL;
	buffer_clear(&out);
}

static int control_take_answers(const struct control *control, struct command_context *context,
				struct rank_answers *pending, struct error *error)
{
	struct failures failures = FAILURES_INIT;
	struct group_answer *failed = xcalloc(pending->count + 1, sizeof(*failed));
	struct control done = *control;
	struct buffer out = BUFFER_INIT;
	struct group_answer answer;
	size_t count = 0;

	done.chosen = (struct rankset)RANKSET_INIT;
	rankset_copy(&done.chosen, &control->chosen);
	while (rank_answers_take(pending, &answer)) {
		if (strcmp(control->command, "connect") == 0)
			debuggers_connected(context->engine, answer.body);
		answer.body = NULL;
		if (!answer.error)
			continue;
		failed[count++] = answer;
		failures_add(&failures, answer.rank, answer.error);
		if (answer.rank >= 0)
			rankset_remove(&done.chosen, answer.rank);
	}
	if (count == pending->count) {
		failures_append(&out, &failures);
		if (count == 1)
			context->failed_rank = failed[0].rank;
		error_set(error, "%s: %s", control->command, out.data);
	} else if (names_ranks(&done)) {
		if (context->is_json)
			say_json(&done, context);
		else
			control_say(&done, context);
	}
	if (count > 0 && count < pending->count)
		append_failures(context, control, &failures, failed, count);
	rankset_clear(&done.chosen);
	failures_clear(&failures);
	buffer_clear(&out);
	free(failed);
	return count == pending->count ? -1 : 0;
}

int control_finish(const struct control *control, struct command_context *context,
		   struct rank_answers *owned_pending, struct error *error)
{
	int result;

	if (context->screen) {
		if (names_ranks(control))
			control_say(control, context);
		rank_answers_leave(owned_pending);
		return 0;
	}
	rank_answers_wait(owned_pending);
	result = control_take_answers(control, context, owned_pending, error);
	rank_answers_free(owned_pending);
	return result;
}
