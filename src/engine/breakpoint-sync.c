#include "engine/breakpoint-sync.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/rank-answers.h"
#include "model/breakpoints.h"
#include "model/debug-state.h"
#include "model/place.h"

/*
 * True if the rank's debugger can take the list now. A debugger that has not answered yet gets the
 * list after its first answer. The node attaches to a rank without a debugger only if a breakpoint
 * is for that rank.
 */
static bool is_reachable(const struct rank *rank, const struct breakpoints *list)
{
	if (ptrace_state_is_free(rank))
		return breakpoints_are_for(list, rank->process.rank);
	return !rank_is_gone(rank) && debugger_is_ours(&rank->debugger) &&
	       rank->debugger.state != DEBUGGER_CONNECTING;
}

/* True for a process of a started job that cannot be read yet, but will be readable soon. */
static bool is_starting(const struct engine *engine, const struct rank *rank)
{
	return engine_awaits_ranks(engine) && rank->process.state == PROCESS_UNREADABLE;
}

static void ask(struct engine *engine, struct rank_answers *pending, const struct rank *rank)
{
	const struct breakpoints *list = &engine->session.choice.breakpoints;
	json_t *arguments = json_object();

	json_object_set_new(arguments, "pid", json_integer(rank->process.pid));
	json_object_set_new(arguments, "breakpoints",
			    breakpoints_to_json(list, rank->process.rank));
	rank_answers_add(pending, rank->node, rank->process.rank, "setBreakpoints", arguments);
}

/*
 * Sends the list to the node, which sets the breakpoints in ranks of the started job that appear
 * later.
 */
static void tell_job(struct engine *engine)
{
	const struct breakpoints *list = &engine->session.choice.breakpoints;
	json_t *arguments;

	if (engine->job.breakpoints == list->revision || !launching_is_alive(&engine->session))
		return;
	engine->job.breakpoints = list->revision;
	arguments = json_object();
	json_object_set_new(arguments, "breakpoints", breakpoints_all_to_json(list));
	request_post(engine, LOCAL_NODE, "jobBreakpoints", arguments);
}

void breakpoint_sync_ask(struct engine *engine, struct rank_answers *pending)
{
	const struct session *session = &engine->session;
	const struct breakpoints *list = &session->choice.breakpoints;

	tell_job(engine);
	for (size_t i = 0; i < session->rank_count; i++) {
		struct rank *rank = session->ranks[i];

		if (is_starting(engine, rank) || !is_reachable(rank, list) ||
		    rank->breakpoints_sent == list->revision)
			continue;
		rank->breakpoints_sent = list->revision;
		/*
		 * If the node is just detaching from the rank, the node attaches again for this
		 * request.
		 */
		rank->is_attached_for_them = ptrace_state_is(rank) || ptrace_state_is_free(rank);
		ask(engine, pending, rank);
	}
}

const char *breakpoint_sync_command(const struct engine *engine, int id)
{
	const struct session_breakpoint *item =
		breakpoints_find(&engine->session.choice.breakpoints, id);

	return item && item->breakpoint.watch ? "watch" : "break";
}

void breakpoint_sync_tell(struct engine *engine, int added)
{
	struct rank_answers *pending;

	if (engine->session.choice.breakpoints.revision == 0)
		return;
	pending = rank_answers_new(engine, breakpoint_sync_command(engine, added));
	pending->added = added;
	breakpoint_sync_ask(engine, pending);
	if (pending->count > 0)
		rank_answers_leave(pending);
	else
		rank_answers_free(pending);
}

/* True if the backend sets the breakpoint later without a new request. */
static bool breakpoint_sync_is_to_come(const json_t *binding)
{
	const char *message = json_get_string(binding, "message", "");

	return json_get_boolean(binding, "pending", false) || strncmp(message, "pending", 7) == 0;
}

static bool was_said(const struct breakpoints *list, int id, bool is_refused)
{
	const struct session_breakpoint *item = breakpoints_find(list, id);

	return is_refused && item && item->refusal && !item->is_untold;
}

static void breakpoint_sync_check(struct engine *engine, const struct rank *rank,
				  const json_t *body, struct failures *failures)
{
	const json_t *bindings = json_object_get(body, "breakpoints");
	struct breakpoints *list = &engine->session.choice.breakpoints;
	/* A running pdb sets the breakpoint at its next stop: its message is no error. */
	bool may_come = rank->debugger.state != DEBUGGER_STOPPED && !ptrace_state_is(rank);

	for (size_t i = 0; i < json_array_size(bindings); i++) {
		const json_t *binding = json_array_get(bindings, i);
		const char *message = json_get_string(binding, "message", NULL);

		int id = (int)json_get_integer(binding, "id", 0);
		bool is_refused = json_get_boolean(binding, "refused", false);

		/* No failure: the breakpoint will be set later, or is set (no message). */
		if (breakpoint_sync_is_to_come(binding) || (may_come && !is_refused) || !message)
			continue;
		if (is_refused)
			breakpoints_refused(list, rank->process.rank, id, message);
		if (id == list->last_id && !was_said(list, id, is_refused))
			failures_add(failures, rank->process.rank, message);
	}
}

/*
 * True if this error was reported before: the newest breakpoint is not for this rank, so the error
 * is about older breakpoints.
 */
static bool was_told(const struct engine *engine, const struct rank *rank, const char *sentence)
{
	const struct breakpoints *list = &engine->session.choice.breakpoints;
	const struct session_breakpoint *newest = breakpoints_find(list, list->last_id);

	return rank && rank->breakpoints_error && strcmp(rank->breakpoints_error, sentence) == 0 &&
	       newest && !breakpoint_is_for(newest, rank->process.rank);
}

static void say_refused(struct engine *engine)
{
	struct breakpoints *list = &engine->session.choice.breakpoints;
	struct failures failures = FAILURES_INIT;
	struct buffer out = BUFFER_INIT;

	for (size_t i = 0; i < list->count; i++) {
		struct session_breakpoint *item = &list->items[i];
		int rank = -1;

		while (item->is_untold && (rank = rankset_next(&item->refused_by, rank)) >= 0)
			failures_add(&failures, rank, item->refusal);
		item->is_untold = false;
	}
	failures_append(&out, &failures);
	if (failures.count > 0)
		engine_say(engine, true, "break: %s", out.data);
	failures_clear(&failures);
	buffer_clear(&out);
}

/*
 * True if a rank with at least two samples runs user code: the second sample may bind a breakpoint
 * to code that the first sample found.
 */
static bool runs_user_code(const struct session *session)
{
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		const struct frame *frame = place_find(&rank->process, rank_last_stack(rank));

		if (rank->sample_count > 1 && frame && place_is_user(&rank->process, frame))
			return true;
	}
	return false;
}

static void say_pending(struct engine *engine)
{
	struct breakpoints *list = &engine->session.choice.breakpoints;

	for (size_t i = 0; i < list->count; i++) {
		struct session_breakpoint *item = &list->items[i];
		int id = item->breakpoint.id;
		const char *why =
			item->is_pending_told ? NULL : breakpoints_pending(&engine->session, id);

		if (!why || !runs_user_code(&engine->session))
			continue;
		item->is_pending_told = true;
		engine_say(engine, false, "breakpoint %d is pending: %s", id, why);
	}
}

void breakpoint_sync_say(struct engine *engine)
{
	say_refused(engine);
	if (engine->is_screen)
		say_pending(engine);
}

static void take(struct engine *engine, const struct group_answer *answer,
		 struct failures *failures)
{
	struct rank *rank = session_find_rank(&engine->session, answer->rank);

	if (answer->error && !was_told(engine, rank, answer->error))
		failures_add(failures, answer->rank, answer->error);
	if (!rank)
		return;
	/*
	 * The node attached for this request, if at all. After a later attach the breakpoints are
	 * sent again.
	 */
	rank->is_attached_for_them = false;
	free(rank->breakpoints_error);
	rank->breakpoints_error = NULL;
	if (!answer->error) {
		rank->breakpoints_taken = rank->breakpoints_sent;
		breakpoint_sync_check(engine, rank, answer->body, failures);
		if (debugger_is_ours(&rank->debugger))
			debugger_add_answer(&rank->debugger,
					    json_object_get(answer->body, "breakpoints"));
		return;
	}
	rank->breakpoints_error = xstrdup(answer->error);
	engine->session.revision++;
}

/* Ranks' answers about one breakpoint. */
struct opinion {
	bool is_refused; /* at least one rank refused */
	bool is_kept;	 /* at least one rank accepted */
};

static void breakpoint_sync_judge(struct opinion *opinion, const json_t *body, int id)
{
	const json_t *bindings = json_object_get(body, "breakpoints");

	for (size_t i = 0; i < json_array_size(bindings); i++) {
		const json_t *binding = json_array_get(bindings, i);

		if (json_get_integer(binding, "id", 0) != id)
			continue;
		if (json_get_boolean(binding, "refused", false))
			opinion->is_refused = true;
		else
			opinion->is_kept = true;
	}
}

/* Reports which backend stops the ranks; views of the screen show the rest of the answer. */
static void confirm(struct engine *engine, int id)
{
	struct breakpoint_summary summary;
	struct buffer out = BUFFER_INIT;

	if (id == engine->session.choice.breakpoints.run_to ||
	    !breakpoint_summary_find(&summary, &engine->session, id))
		return;
	if (summary.set.range_count > 0 && !summary.message) {
		format_text_breakpoint(&out, &summary, true);
		engine_say(engine, false, "%s", out.data);
	}
	buffer_clear(&out);
	breakpoint_summary_clear(&summary);
}

void breakpoint_sync_confirm(struct engine *engine, const struct rank_answers *pending,
			     const struct failures *failures)
{
	if (pending->added > 0 && failures->count == 0)
		confirm(engine, pending->added);
}

/* Removes the breakpoint; the next breakpoint gets its id. */
static void breakpoint_sync_give_back(struct engine *engine, int id)
{
	struct session *session = &engine->session;

	breakpoints_give_back(&session->choice.breakpoints, id);
	for (size_t i = 0; i < session->rank_count; i++)
		debugger_remove_binding(&session->ranks[i]->debugger, id);
}

void breakpoint_sync_take(struct engine *engine, struct rank_answers *pending,
			  struct failures *failures)
{
	struct breakpoints *list = &engine->session.choice.breakpoints;
	struct opinion opinion = { .is_refused = false };
	struct session_breakpoint *newest;
	struct group_answer answer;
	bool is_unknown = false; /* a rank gave an error, but may have the breakpoint */

	while (rank_answers_take(pending, &answer)) {
		take(engine, &answer, failures);
		is_unknown |= answer.error != NULL;
		breakpoint_sync_judge(&opinion, answer.body, pending->added);
	}
	/*
	 * The refusal of the newest breakpoint is reported with these answers; refusals of older
	 * breakpoints are reported by breakpoint_sync_say().
	 */
	newest = breakpoints_find(list, list->last_id);
	if (newest)
		newest->is_untold = false;
	if (pending->added == 0 || !opinion.is_refused || opinion.is_kept)
		return;
	if (is_unknown)
		breakpoints_remove(list, pending->added);
	else
		breakpoint_sync_give_back(engine, pending->added);
}
