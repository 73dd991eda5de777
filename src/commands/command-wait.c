/*
 * command-wait: makes a script wait until ranks have stopped or exited, until the verdict's
 * sentence contains a text, or until watch-nan has a result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/loop.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/script-events.h"
#include "engine/watch-nan.h"
#include "engine/watch.h"
#include "model/rankselect.h"

#define WAIT_SECONDS 30.0
#define PERIOD_SECONDS 0.25

struct wait {
	struct command_context *context;
	/* text that the verdict's sentence must contain; NULL: waits for stops or exits */
	const char *text;
	const char *ranks_text; /* the set in `ranks SET`; NULL: the focus */
	struct rankset ranks;	/* ranks that must stop or exit */
	double seconds;
	double began;	   /* loop_now() at the start of the wait */
	uint64_t revision; /* session revision that was last checked */
};

/* Checks only the set's syntax, because ranks that the set names may not be known yet. */
static int check_set(struct wait *wait, const char *text, struct error *error)
{
	struct rankselect select = RANKSELECT_INIT;
	int result = rankselect_parse(&select, text, error);

	rankselect_clear(&select);
	wait->ranks_text = text;
	return result;
}

/*
 * Reads `ranks SET` and `timeout S` behind the first words, in any order; sets *end to the index of
 * the first of these words.
 */
static int take_pairs(struct wait *wait, const struct arguments *arguments, size_t first,
		      size_t *end, struct error *error)
{
	*end = arguments->count;
	while (*end >= first + 2) {
		const char *name = arguments->words[*end - 2];
		const char *value = arguments->words[*end - 1];
		int result;

		if (strcmp(name, "ranks") == 0)
			result = check_set(wait, value, error);
		else if (strcmp(name, "timeout") == 0)
			result = arguments_seconds(value, "timeout", &wait->seconds, error);
		else
			break;
		if (result < 0)
			return -1;
		*end -= 2;
	}
	return 0;
}

static bool is_verdict(const struct engine *engine, void *data)
{
	struct wait *wait = data;
	const struct verdict *verdict = &engine->session.verdict;

	if (engine->session.revision != wait->revision) {
		engine_judge(wait->context->engine);
		wait->revision = engine->session.revision;
	}
	script_append_events(wait->context);
	return verdict->sentence && strstr(verdict->sentence, wait->text);
}

static bool has_exited(const struct engine *engine, void *data)
{
	struct wait *wait = data;
	const struct session *session = &engine->session;
	int rank = -1;

	script_append_events(wait->context);
	while ((rank = rankset_next(&wait->ranks, rank)) >= 0) {
		const struct rank *found = session_find_rank(session, rank);

		if (!found || found->process.state != PROCESS_EXITED)
			return false;
	}
	return rankset_count(&wait->ranks) > 0;
}

/* True if probetui is connected to the rank's debugger, or has lost the connection. */
static bool has_session(const struct rank *rank)
{
	return debugger_is_ours(&rank->debugger) || rank->debugger.state == DEBUGGER_LOST;
}

/* For a started job: true when any rank has stopped, or no more ranks can appear. */
static bool has_come(const struct engine *engine, void *data)
{
	struct wait *wait = data;
	const struct session *session = &engine->session;

	script_append_events(wait->context);
	for (size_t i = 0; i < session->rank_count; i++)
		if (session->ranks[i]->debugger.state == DEBUGGER_STOPPED)
			return true;
	return !engine_awaits_ranks(engine);
}

/* True when all named ranks have appeared, or no more ranks can appear. */
static bool are_there(const struct engine *engine, void *data)
{
	struct wait *wait = data;
	struct rankselect select = RANKSELECT_INIT;
	bool have_come;

	script_append_events(wait->context);
	have_come = rankselect_parse(&select, wait->ranks_text, NULL) == 0 &&
		    rankselect_has_come(&select, &engine->session);
	rankselect_clear(&select);
	return have_come || !engine_awaits_ranks(engine);
}

static bool has_job_ended(const struct engine *engine, void *data)
{
	struct wait *wait = data;

	script_append_events(wait->context);
	return !engine_awaits_ranks(engine);
}

/*
 * True if the wait for a stop is over for the rank. An exited rank never stops, and a rank that a
 * signal resumed without its breakpoints does not stop at them: both are reported.
 */
static bool has_settled(const struct rank *rank)
{
	const struct debugger *debugger = &rank->debugger;

	return debugger->state == DEBUGGER_STOPPED ||
	       (debugger->state == DEBUGGER_RUNNING && debugger->resumed_for == RESUME_SIGNAL) ||
	       rank->process.state == PROCESS_EXITED;
}

static bool command_wait_has_stopped(const struct engine *engine, void *data)
{
	struct wait *wait = data;
	const struct session *session = &engine->session;
	int rank = -1;

	script_append_events(wait->context);
	while ((rank = rankset_next(&wait->ranks, rank)) >= 0) {
		const struct rank *found = session_find_rank(session, rank);

		if (!found || !has_settled(found))
			return false;
	}
	return true;
}

static int wait_until(struct wait *wait, bool (*done)(const struct engine *engine, void *data))
{
	double left = wait->began + wait->seconds - loop_now();

	return engine_wait(wait->context->engine, done, wait, left > 0 ? left : 0);
}

/*
 * Adds the reason why the wait failed: no more events can come (a recording is at its end, or the
 * node has exited), or the time is up.
 */
static int say_how_long(const struct wait *wait, struct error *error)
{
	const struct engine *engine = wait->context->engine;

	if (engine_is_deaf(engine))
		return error_prefix(error, engine->replay
						   ? "until the end of the recording"
						   : "the connection to probetui-node is lost");
	return error_prefix(error, "after %g s", wait->seconds);
}

static int wait_verdict(struct wait *wait, struct error *error)
{
	struct command_context *context = wait->context;
	struct engine *engine = context->engine;
	const char *sentence;
	int result;

	engine_sample_every(engine, PERIOD_SECONDS);
	result = wait_until(wait, is_verdict);
	engine_sample_every(engine, 0);
	if (result == 0) {
		if (context->is_json)
			format_document(context->out, format_json_verdict(&engine->session));
		else
			format_text_verdict(context->out, &engine->session);
		return 0;
	}
	sentence = engine->session.verdict.sentence;
	error_set(error, "the verdict on the job does not contain '%.80s': %.200s", wait->text,
		  sentence ? sentence : "no verdict");
	return say_how_long(wait, error);
}

static void add_focus(struct rankset *ranks, const struct session *session)
{
	for (size_t i = 0; i < session->rank_count; i++) {
		if (format_is_chosen(&session->choice.focus, session->ranks[i]))
			rankset_add(ranks, session->ranks[i]->process.rank);
	}
}

static void add_stoppable(struct rankset *ranks, const struct session *session)
{
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (format_is_chosen(&session->choice.focus, rank) && has_session(rank))
			rankset_add(ranks, rank->process.rank);
	}
}

/* Sets *reason to the state of a rank that has not stopped, "is running"; NULL: "was not found". */
static void explain_running(const struct rank *rank, struct error *reason)
{
	if (!rank)
		error_set(reason, "was not found");
	else if (rank->debugger.state == DEBUGGER_RUNNING)
		error_set(reason, "is running");
	else
		control_reason(rank, CONTROL_STOPPED, reason);
}

/* Appends "; breakpoint 1 is pending: no function f is loaded yet" for each pending breakpoint. */
static void append_pending(const struct session *session, struct error *error)
{
	const struct breakpoints *list = &session->choice.breakpoints;
	struct buffer out = BUFFER_INIT;

	for (size_t i = 0; i < list->count; i++) {
		int id = list->items[i].breakpoint.id;
		const char *why = breakpoints_pending(session, id);

		if (why)
			buffer_printf(&out, "; breakpoint %d is pending: %s", id, why);
	}
	if (out.length > 0) {
		char *before = xstrdup(error->message);

		error_set(error, "%s%.300s", before, out.data);
		free(before);
	}
	buffer_clear(&out);
}

/* Sets *error to a text like "rank 2 has not stopped: the process is running". */
static int say_not_stopped(const struct wait *wait, struct error *error)
{
	const struct session *session = &wait->context->engine->session;
	struct rankset missing = RANKSET_INIT;
	struct buffer out = BUFFER_INIT;
	struct error reason = ERROR_INIT;
	int rank = -1;

	while ((rank = rankset_next(&wait->ranks, rank)) >= 0) {
		const struct rank *found = session_find_rank(session, rank);

		if (found && has_settled(found))
			continue;
		if (missing.range_count == 0)
			explain_running(found, &reason);
		rankset_add(&missing, rank);
	}
	rankset_append(&out, &missing);
	if (rankset_count(&missing) == 1) {
		wait->context->failed_rank = rankset_first(&missing);
		error_set(error, "rank %s has not stopped: the process %s", out.data,
			  reason.message);
	} else {
		error_set(error, "ranks %.200s have not stopped: rank %d %.250s", out.data,
			  rankset_first(&missing), reason.message);
	}
	buffer_clear(&out);
	rankset_clear(&missing);
	append_pending(session, error);
	return -1;
}

static int wait_stopped(struct wait *wait, struct error *error)
{
	struct engine *engine = wait->context->engine;

	if (rankset_count(&wait->ranks) == 0 && engine_awaits_ranks(engine))
		wait_until(wait, has_come);
	if (rankset_count(&wait->ranks) == 0)
		add_stoppable(&wait->ranks, &engine->session);
	if (rankset_count(&wait->ranks) == 0)
		return error_set(error, "wait stopped: nothing will stop a rank; pause a rank, set "
					"a breakpoint or connect to a debugger first");
	if (wait_until(wait, command_wait_has_stopped) == 0)
		return 0;
	say_not_stopped(wait, error);
	return say_how_long(wait, error);
}

static int wait_exited(struct wait *wait, struct error *error)
{
	struct engine *engine = wait->context->engine;
	const struct session *session = &engine->session;

	/* Without `ranks SET`, ranks of a started job that appear later must exit, too. */
	if (!wait->ranks_text && engine_awaits_ranks(engine)) {
		if (wait_until(wait, has_job_ended) == 0)
			return 0;
		error_set(error, "the job has not exited");
		return say_how_long(wait, error);
	}
	if (rankset_count(&wait->ranks) == 0)
		add_focus(&wait->ranks, session);
	if (wait_until(wait, has_exited) == 0)
		return 0;
	error_set(error, "some ranks have not exited");
	return say_how_long(wait, error);
}

/* The text may be several words: `wait verdict Rank 3 is elsewhere`. */
static int run_verdict(struct wait *wait, const struct arguments *arguments, struct error *error)
{
	int result = -1;
	size_t end;
	char *text;

	if (arguments->count < 2)
		return error_set(error,
				 "wait verdict needs a text; usage: wait verdict TEXT [timeout S]");
	if (take_pairs(wait, arguments, 2, &end, error) < 0 ||
	    collect_ranks(wait->context, error) < 0)
		return -1;
	text = arguments_join(arguments, 1, end);
	wait->text = text;
	wait->revision = UINT64_MAX;
	result = wait_verdict(wait, error);
	free(text);
	return result;
}

static int run_ranks(struct wait *wait, const struct arguments *arguments,
		     int (*wait_for)(struct wait *wait, struct error *error), struct error *error)
{
	size_t end;

	if (take_pairs(wait, arguments, 1, &end, error) < 0)
		return -1;
	if (end != 1)
		return error_set(error,
				 "unexpected word '%.40s'; usage: wait %s [ranks SET] [timeout S]",
				 arguments->words[1], arguments->words[0]);
	wait->context->ranks_text = wait->ranks_text;
	if (collect_ranks(wait->context, error) < 0)
		return -1;
	if (wait->ranks_text && engine_awaits_ranks(wait->context->engine) &&
	    wait_until(wait, are_there) < 0 && engine_awaits_ranks(wait->context->engine)) {
		error_set(error, "some of the ranks %.80s were not found", wait->ranks_text);
		return say_how_long(wait, error);
	}
	if ((wait->ranks_text && rankselect_find(wait->ranks_text, &wait->context->engine->session,
						 &wait->ranks, error) < 0))
		return -1;
	return wait_for(wait, error);
}

/* Waits for the result of `watch-nan`. */
static int run_nan(struct wait *wait, const struct arguments *arguments, struct error *error)
{
	struct engine *engine = wait->context->engine;
	size_t end;

	if (take_pairs(wait, arguments, 1, &end, error) < 0)
		return -1;
	if (end != 1)
		return error_set(error, "unexpected word '%.40s'; usage: wait nan [timeout S]",
				 arguments->words[1]);
	if (engine->watch_nan.state == WATCH_NAN_NONE)
		return error_set(error,
				 "wait nan: no expression is watched; use `watch-nan EXPR` first");
	return watch_nan_wait(wait->context, wait->seconds, error);
}

/*
 * Runs `wait --stuck 60s`, which waits until something is wrong; other forms of wait wait until a
 * state is reached.
 */
static int run_watch(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	const char *stuck = arguments_value(arguments, "--stuck");
	struct watch_options options = {
		.folder = arguments_value(arguments, "--report"),
		.follows_restarts = arguments_has(arguments, "--restarts"),
	};

	if (arguments->count > 0 && arguments->words[0][0] != '-')
		return error_set(
			error,
			"unexpected word '%.40s'; usage: wait --stuck SECONDS [--report DIR] "
			"[--restarts]",
			arguments->words[0]);
	if (arguments_refuse_any(arguments, error) < 0)
		return -1;
	if (!stuck)
		return error_set(
			error, "wait --report and --restarts need --stuck: use `wait --stuck 60s`");
	if (arguments_duration(stuck, "--stuck", &options.stuck, error) < 0)
		return -1;
	return watch_run(context, &options, error);
}

static int wait_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct wait wait = {
		.context = context,
		.seconds = WAIT_SECONDS,
		.began = loop_now(),
	};
	int result = -1;

	if (arguments_has(arguments, "--stuck") || arguments_has(arguments, "--report") ||
	    strncmp(arguments_word(arguments, 0), "--", 2) == 0)
		result = run_watch(context, arguments, error);
	else if (arguments_is(arguments, "verdict"))
		result = run_verdict(&wait, arguments, error);
	else if (arguments_is(arguments, "exited"))
		result = run_ranks(&wait, arguments, wait_exited, error);
	else if (arguments_is(arguments, "stopped"))
		result = run_ranks(&wait, arguments, wait_stopped, error);
	else if (arguments_is(arguments, "nan"))
		result = run_nan(&wait, arguments, error);
	else
		error_set(error,
			  "wait needs --stuck SECONDS, verdict TEXT, stopped [ranks SET], nan or "
			  "exited [ranks SET]; the last four take [timeout S]");
	rankset_clear(&wait.ranks);
	return result;
}

const struct command command_wait = {
	.name = "wait",
	.synopsis = "--stuck SECONDS [--report DIR] [--restarts] | verdict TEXT | stopped [ranks "
		    "SET] | nan | "
		    "exited [ranks SET] [timeout S]",
	.help = "wait until ranks reach a state; --stuck: until the job hangs or fails (status 1; "
		"--report: write a report)",
	.flags = COMMAND_REST | COMMAND_SHELL,
	.run = wait_run,
};
