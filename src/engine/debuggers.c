#include "engine/debuggers.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/breakpoint-sync.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/rank-answers.h"
#include "engine/settings.h"
#include "model/debug-state.h"
#include "model/job.h"

#define LEAVE_SECONDS 1.0

void debuggers_send_settings(struct engine *engine)
{
	const struct settings *settings = &engine->settings;

	if (engine->link_count == 0 || (engine->sent.stops_on_signal == settings->stops_on_signal &&
					engine->sent.stays_stopped == settings->stays_stopped))
		return;
	engine->sent.stops_on_signal = settings->stops_on_signal;
	engine->sent.stays_stopped = settings->stays_stopped;
	request_post_all(engine, "set",
			 json_pack("{s:b, s:b}", "stopOnSignal", settings->stops_on_signal, "stay",
				   settings->stays_stopped));
}

static void connect_to(struct rank_answers *pending, const char *target, int rank)
{
	json_t *arguments = json_object();

	json_set_text(arguments, "target", target);
	if (rank >= 0)
		json_object_set_new(arguments, "rank", json_integer(rank));
	rank_answers_add(pending, LOCAL_NODE, rank, "connect", arguments);
}

/* Appends target with rank in place of each %r. */
static void append_numbered(struct buffer *out, const char *target, int rank)
{
	const char *mark;

	while ((mark = strstr(target, SETTINGS_RANK_MARK))) {
		buffer_append(out, target, (size_t)(mark - target));
		buffer_printf(out, "%d", rank);
		target = mark + strlen(SETTINGS_RANK_MARK);
	}
	buffer_append_string(out, target);
}

static void connect_each(struct rank_answers *pending, struct engine *engine, const char *target)
{
	const struct rankset *wanted = &engine->session.choice.wanted;
	struct buffer numbered = BUFFER_INIT;
	int rank = -1;

	while ((rank = rankset_next(wanted, rank)) >= 0) {
		buffer_reset(&numbered);
		append_numbered(&numbered, target, rank);
		connect_to(pending, numbered.data, rank);
	}
	buffer_clear(&numbered);
}

void debuggers_connect(struct engine *engine)
{
	const struct settings *settings = &engine->settings;
	struct rank_answers *pending = rank_answers_new(engine, "connect");

	for (size_t i = 0; i < settings->connect_count; i++) {
		const char *target = settings->connect[i];

		if (!settings_is_debugger(target))
			continue;
		if (strstr(target, SETTINGS_RANK_MARK))
			connect_each(pending, engine, target);
		else
			connect_to(pending, target, -1);
	}
	if (pending->count == 0)
		rank_answers_free(pending);
	else if (engine->is_screen)
		rank_answers_leave(pending);
	else
		engine->connecting = pending;
}

void debuggers_connected(struct engine *engine, const json_t *body)
{
	struct session *session = &engine->session;
	int64_t pid = json_get_integer(body, "pid", 0);
	const struct rank *rank = NULL;

	if (pid > 0 && pid <= INT_MAX)
		rank = session_find_pid(session, LOCAL_NODE, (pid_t)pid);
	for (size_t i = 0; rank && session->job < 0 && i < session->job_count; i++) {
		if (job_has(session, &session->jobs[i], rank))
			session_choose_job(session, i);
	}
}

static bool are_settled(const struct engine *engine, void *data)
{
	const struct session *session = &engine->session;

	(void)data;
	for (size_t i = 0; i < session->rank_count; i++) {
		if (session->ranks[i]->debugger.state == DEBUGGER_CONNECTING)
			return false;
	}
	return true;
}

void debuggers_await(struct engine *engine, double seconds)
{
	engine_wait(engine, are_settled, NULL, seconds);
}

/*
 * Returns why a debugger has not answered. An agent reports the reason (debugger->why); a pdb
 * serves one client at a time.
 */
static const char *why_silent(const struct debugger *debugger)
{
	if (debugger->why)
		return debugger->why;
	return debugger_is_of(debugger, "pdb") ? "connected, but the debugger has not answered: "
						 "another client may be using it"
					       : "connected, but the debugger has not answered";
}

bool debuggers_append_silent(struct buffer *out, const struct engine *engine)
{
	const struct session *session = &engine->session;
	struct failures failures = FAILURES_INIT;
	bool is_any;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (rank->debugger.state == DEBUGGER_CONNECTING)
			failures_add(&failures, rank->process.rank, why_silent(&rank->debugger));
		else if (rank->debugger.state == DEBUGGER_LOST && rank->debugger.stops == 0 &&
			 rank->debugger.why && !rank_is_gone(rank))
			failures_add(&failures, rank->process.rank, rank->debugger.why);
	}
	is_any = failures.count > 0;
	failures_append(out, &failures);
	failures_clear(&failures);
	return is_any;
}

static bool debuggers_is_over(const struct engine *engine, void *data)
{
	(void)data;
	return engine_is_deaf(engine);
}

void debuggers_leave(struct engine *engine)
{
	const struct session *session = &engine->session;

	for (size_t i = 0; i < session->rank_count; i++) {
		if (!debugger_is_ours(&session->ranks[i]->debugger))
			continue;
		request_post_all(engine, "disconnect", NULL);
		engine_wait(engine, debuggers_is_over, NULL, LEAVE_SECONDS);
		return;
	}
}

/* The rank whose displays are evaluated: the selected rank, if it is stopped; else NULL. */
static const struct rank *displayed_rank(const struct session *session)
{
	const struct rank *rank = session_looked_at(session);

	return rank && rank->debugger.state == DEBUGGER_STOPPED && debug_state_is_stopped(rank)
		       ? rank
		       : NULL;
}

/* data: the id of the display, which may have been removed since. */
static void take_display(struct engine *engine, json_t *body, const char *error, void *data)
{
	struct displays *displays = &engine->session.choice.displays;
	struct display *display = displays_find(displays, (int)(intptr_t)data);

	if (!display)
		return;
	display->is_asked = false;
	if (error)
		display_answer(display, NULL, error);
	else
		display_answer(display, json_get_string(body, "result", "None"), NULL);
	engine->session.revision++;
}

static bool debuggers_is_known(const struct display *display, const struct rank *rank, int depth)
{
	return display->pid == rank->process.pid && display->node == rank->node &&
	       display->stops == rank->debugger.stops && display->depth == depth;
}

static void ask_display(struct engine *engine, struct display *display, const struct rank *rank,
			int depth)
{
	json_t *arguments;

	if (display->is_asked || debuggers_is_known(display, rank, depth))
		return;
	/* Values of different ranks are not compared: forget the old value. */
	if (display->pid != rank->process.pid || display->node != rank->node)
		display_answer(display, NULL, NULL);
	display->pid = rank->process.pid;
	display->node = rank->node;
	display->stops = rank->debugger.stops;
	display->depth = depth;
	display->is_asked = true;
	arguments = json_pack("{s:i, s:i, s:i, s:s}", "pid", (int)rank->process.pid, "tid",
			      (int)control_tid(&engine->session, rank), "depth", depth, "context",
			      "watch");
	json_set_text(arguments, "expression", display->expression);
	request_start(engine, rank->node, "evaluate", arguments, take_display,
		      (void *)(intptr_t)display->id);
}

void debuggers_ask_displays(struct engine *engine)
{
	struct displays *displays = &engine->session.choice.displays;
	const struct rank *rank;

	rank = displayed_rank(&engine->session);
	if (!session_controls(&engine->session, rank))
		return;
	for (size_t i = 0; i < displays->count; i++)
		ask_display(engine, &displays->items[i], rank,
			    control_depth(&engine->session, rank));
}

static bool debuggers_is_caught(const struct rank *rank)
{
	const struct thread *thread = rank_main_thread(rank);

	return !rank_is_gone(rank) && thread && strcmp(thread->activity.name, ACTIVITY_CAUGHT) == 0;
}

/* True if the rank has no debugger; a socket that a program has left behind is none. */
static bool has_no_debugger(const struct rank *rank)
{
	return rank->debugger.state == DEBUGGER_NONE || rank->debugger.state == DEBUGGER_STALE;
}

/*
 * True if the rank's agent has stopped the rank at an exception and probetui is not connected to
 * the agent.
 */
static bool is_held_unseen(const struct rank *rank)
{
	return debuggers_is_caught(rank) && has_no_debugger(rank);
}

/*
 * True if the rank's agent has stopped the rank at an exception and probetui has not received the
 * stop event, which contains the exception.
 */
static bool is_held_untold(const struct rank *rank)
{
	enum debugger_state state = rank->debugger.state;

	return debuggers_is_caught(rank) &&
	       (has_no_debugger(rank) || state == DEBUGGER_CONNECTING || state == DEBUGGER_RUNNING);
}

void debuggers_connect_agent(struct engine *engine, const struct rank *rank)
{
	char target[32];

	snprintf(target, sizeof(target), "agent:%d", (int)rank->process.pid);
	request_post(engine, rank->node, "connect", json_pack("{s:s}", "target", target));
}

/*
 * Connects to the agents of ranks that were newly stopped at an exception by their agents:
 * connecting changes nothing for the rank, and the agent then reports the exception. Returns false
 * if there are no such ranks.
 */
static bool follow_holds(struct engine *engine)
{
	const struct session *session = &engine->session;
	bool is_new = false;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		int number = rank->process.rank;

		if (!is_held_unseen(rank)) {
			rankset_remove(&engine->holds, number);
			continue;
		}
		if (rankset_contains(&engine->holds, number))
			continue;
		rankset_add(&engine->holds, number);
		debuggers_connect_agent(engine, rank);
		is_new = true;
	}
	return is_new;
}

static bool are_holds_told(const struct engine *engine, void *data)
{
	const struct session *session = &engine->session;

	(void)data;
	for (size_t i = 0; i < session->rank_count; i++)
		if (is_held_untold(session->ranks[i]))
			return false;
	return true;
}

bool debuggers_await_holds(struct engine *engine, double seconds)
{
	if (engine->replay || !follow_holds(engine))
		return false;
	engine_wait(engine, are_holds_told, NULL, seconds);
	return true;
}

/*
 * Reports ranks that were resumed without a request. Each resume is reported once; the log lists
 * all resumes.
 */
static void say_resumes(struct engine *engine)
{
	const struct stops *stops = &engine->session.stops;
	const struct stop *last = NULL;
	size_t count = 0;

	while (engine->stops_seen < stops->count) {
		const struct stop *stop = stops_find(stops, engine->stops_seen++);

		if (!stop || stop->resumed_for == RESUME_REQUEST)
			continue;
		last = stop;
		count++;
	}
	if (count == 1)
		engine_say(engine, false, "%s", last->description);
	else if (count > 1)
		engine_say(engine, false, "%s; %zu more in the log (L)", last->description,
			   count - 1);
}

void debuggers_follow(struct engine *engine)
{
	if (engine->replay)
		return;
	/* For a screen, the node connects to the agents of these ranks by itself. */
	if (engine->settings.script)
		(void)follow_holds(engine);
	say_resumes(engine);
	breakpoint_sync_tell(engine, 0);
}
