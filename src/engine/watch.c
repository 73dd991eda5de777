/*
 * watch: the sequence of steps.
 *
 * The node reports new ranks, and reports an exit at once, by a pidfd. When a rank has failed, the
 * launcher may end the other ranks within a tenth of a second. So the other ranks are sampled
 * first, and the data that the node remembers of the failed rank (its error file) is requested;
 * then the exits of the other ranks are awaited; then the report is written. If the launcher ends
 * ranks before they are sampled, the recording has samples of them that are at most a second old.
 */
#include "engine/watch.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "engine/blame.h"
#include "engine/cause.h"
#include "engine/collect.h"
#include "engine/collective-query.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/report.h"
#include "engine/request.h"
#include "engine/watch-jobs.h"
#include "engine/watch-private.h"
#include "model/stall.h"

/* The sampling period is options->stuck divided by SAMPLES, limited to this range of seconds. */
#define SAMPLES 8
#define PERIOD_MINIMUM 0.1
#define PERIOD_MAXIMUM 1.0
/* Seconds between two searches for new ranks. */
#define LOOK_SECONDS 5.0
/*
 * The same while a job or a restart is awaited, or ranks are missing: a job may fail in its first
 * seconds.
 */
#define SOON_LOOK_SECONDS 0.5
/* How long a restart, or missing ranks, are searched for so often. */
#define RESTART_SECONDS 60.0
/* Period and duration, in seconds, of frequent samples after a rank begins to shut down. */
#define HURRY_PERIOD 0.1
#define HURRY_SECONDS 3.0
/* Seconds to wait for the exits of the other ranks before the report is written. */
#define END_SECONDS 3.0
/* Minimum number of seconds before the event that are kept for the recording. */
#define KEEP_SECONDS 60.0
/* Limit in seconds for answers at the end; later answers are missing in the report. */
#define ANSWER_SECONDS 5.0

static void watch_on_signal(int number, void *data)
{
	struct watch *watch = data;

	watch->signal = number;
	engine_record_end(watch->engine, number);
}

static size_t count_present(const struct session *session)
{
	size_t count = 0;

	for (size_t i = 0; i < session->rank_count; i++)
		count += session->ranks[i]->process.pid > 0;
	return count;
}

/* True if there are several jobs, and none was chosen. */
static bool are_several_jobs(const struct session *session)
{
	return session->is_discovered && !session->choice.wanted_job && session->job_count > 1 &&
	       session->job < 0;
}

static bool has_appeared(const struct engine *engine, void *data)
{
	const struct watch *watch = data;
	const struct session *session = &engine->session;

	return watch->signal != 0 || count_present(session) > 0 || are_several_jobs(session);
}

static bool is_discovered(const struct engine *engine, void *data)
{
	const struct watch *watch = data;

	return watch->signal != 0 || engine->session.is_discovered;
}

/*
 * True for a rank in teardown, or one that has no stack any more: the kernel may take a second to
 * free the memory of a process that exits.
 */
static bool is_exiting(const struct rank *rank)
{
	const struct thread *thread = rank_main_thread(rank);

	if (rank->process.state != PROCESS_LIVE)
		return false;
	return rank_has_left_program(rank) ||
	       (thread && thread->activity.kind == ACTIVITY_TEARDOWN);
}

static size_t count_leaving(const struct session *session)
{
	size_t count = 0;

	for (size_t i = 0; i < session->rank_count; i++)
		count += is_exiting(session->ranks[i]);
	return count;
}

/* A rank in teardown will exit soon, and then the other ranks will: samples faster for a while. */
static void watch_hurry(struct watch *watch)
{
	size_t leaving = count_leaving(&watch->engine->session);
	double now = engine_now(watch->engine);

	if (leaving > watch->leaving && watch->hurry_until == 0) {
		watch->hurry_until = now + HURRY_SECONDS;
		engine_sample_every(watch->engine, HURRY_PERIOD);
	} else if (watch->hurry_until > 0 && now > watch->hurry_until) {
		watch->hurry_until = 0;
		engine_sample_every(watch->engine, watch->period);
	}
	watch->leaving = leaving;
}

static enum outcome watch_judge(struct watch *watch)
{
	const struct session *session = &watch->engine->session;
	size_t present = 0;
	size_t ended = 0;
	size_t unseen = 0;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (cause_has_failed(rank))
			return OUTCOME_FAILED;
		present += rank->process.pid > 0;
		ended += rank->process.state == PROCESS_EXITED;
		unseen += rank->process.state == PROCESS_EXITED && rank->process.exit_code < 0;
	}
	if (ended > 0 && ended == present)
		return unseen > 0 ? OUTCOME_ENDED_UNSEEN : OUTCOME_ENDED;
	watch->stood = stall_seconds(session, watch->report.clock);
	if (watch->stood >= watch->options->stuck)
		return OUTCOME_STUCK;
	return OUTCOME_NONE;
}

/* Keeps the verdict from before the first rank began to exit. */
static void watch_remember(struct watch *watch)
{
	const struct session *session = &watch->engine->session;

	if (watch->leaving > 0 || session->verdict.state == VERDICT_UNKNOWN)
		return;
	for (size_t i = 0; i < session->rank_count; i++) {
		if (rank_is_gone(session->ranks[i]))
			return;
	}
	free(watch->before);
	watch->before = xstrdup(session->verdict.sentence);
	blame_remember(&watch->blame, watch->engine);
}

/* Searches for ranks less often, once all are there or were searched for long enough. */
static void watch_look_less(struct watch *watch)
{
	const struct session *session = &watch->engine->session;

	if (watch->looks_less || (count_present(session) < session->rank_count &&
				  engine_now(watch->engine) < watch->began_at + RESTART_SECONDS))
		return;
	watch->looks_less = true;
	engine_follow(watch->engine, LOOK_SECONDS);
}

static bool watch_is_over(const struct engine *engine, void *data)
{
	struct watch *watch = data;

	if (watch->signal != 0)
		return true;
	if (engine->session.revision == watch->revision)
		return watch->outcome != OUTCOME_NONE;
	engine_judge(watch->engine);
	watch->revision = engine->session.revision;
	watch_look_less(watch);
	evidence_follow(watch->engine);
	collectives_follow(watch->engine, false);
	watch_hurry(watch);
	watch->outcome = watch_judge(watch);
	watch_remember(watch);
	return watch->outcome != OUTCOME_NONE;
}

static bool are_all_gone(const struct engine *engine, void *data)
{
	const struct session *session = &engine->session;
	const struct watch *watch = data;

	for (size_t i = 0; i < session->rank_count; i++) {
		if (!rank_is_gone(session->ranks[i]) && watch->signal == 0)
			return false;
	}
	return true;
}

static void watch_await_sample(struct engine *engine)
{
	struct request_group *sample = engine_ask_sample(engine);

	request_group_wait(sample, ANSWER_SECONDS);
	request_group_free(sample);
}

/* A job that stood may have ended since: then it was not stuck. */
static void take_end(struct watch *watch)
{
	enum outcome outcome = watch_judge(watch);

	if (watch->outcome == OUTCOME_STUCK && outcome != OUTCOME_NONE)
		watch->outcome = outcome;
}

/* Samples the other ranks before they exit, too. */
static void look_at_once(struct watch *watch)
{
	struct engine *engine = watch->engine;
	struct request_group *sample = engine_ask_sample(engine);
	struct request_group *group = request_group_new(engine, NULL, NULL, NULL);

	evidence_ask(engine, group);
	request_group_wait(group, ANSWER_SECONDS);
	request_group_free(group);
	request_group_wait(sample, ANSWER_SECONDS);
	request_group_free(sample);
	collectives_await(engine);
	engine_judge(engine);
	take_end(watch);
	watch_describe(watch);
	report_look(&watch->report, engine);
}

static void look_at_rest(struct watch *watch)
{
	struct engine *engine = watch->engine;
	struct request_group *group = request_group_new(engine, NULL, NULL, NULL);

	if (watch->outcome == OUTCOME_FAILED)
		engine_wait(engine, are_all_gone, watch, END_SECONDS);
	engine_sample_every(engine, 0);
	if (watch->outcome == OUTCOME_STUCK)
		report_ask_native(&watch->report, engine);
	evidence_ask(engine, group);
	evidence_ask_ways(engine, group);
	request_group_wait(group, ANSWER_SECONDS);
	request_group_free(group);
	engine_judge(engine);
	/* By now the node has read what the ranks left, and the exits of others are known. */
	if (watch->outcome == OUTCOME_FAILED)
		watch_describe(watch);
}

/* True if torchrun is alive, and starts the ranks again after this failure. */
static bool is_restarted(const struct watch *watch)
{
	const struct engine *engine = watch->engine;
	const struct rank *first = cause_first_failed(engine);
	struct attempt attempt;

	return watch->outcome == OUTCOME_FAILED && first &&
	       evidence_attempt(&engine->evidence, first, &attempt) &&
	       attempt.number < attempt.total && !cause_has_launcher_ended(engine, first);
}

/* True for a rank of the restart, also if it has exited already. */
static bool is_new(const struct watch *watch, const struct rank *rank)
{
	return rank->process.pid > 0 && (!rank_is_gone(rank) || rank->ended_at > watch->failed_at);
}

static bool has_restarted(const struct engine *engine, void *data)
{
	const struct session *session = &engine->session;
	const struct watch *watch = data;
	size_t count = 0;

	for (size_t i = 0; i < session->rank_count; i++)
		count += is_new(watch, session->ranks[i]);
	return watch->signal != 0 || (count > 0 && count == session->rank_count);
}

/*
 * Waits for the ranks of the restart; some may be missing, as an elastic job may shrink. Returns
 * false if there are none.
 */
static bool await_restart(struct watch *watch)
{
	struct engine *engine = watch->engine;
	bool is_any = false;

	engine_follow(engine, SOON_LOOK_SECONDS);
	engine_wait(engine, has_restarted, watch, RESTART_SECONDS);
	for (size_t i = 0; i < engine->session.rank_count; i++)
		is_any = is_any || is_new(watch, engine->session.ranks[i]);
	return is_any;
}

/* Forgets what was found about the attempt that has failed. */
static void forget_attempt(struct watch *watch)
{
	report_clear(&watch->report);
	watch->report = (struct report){ .verdict = BUFFER_INIT, .merged = BUFFER_INIT };
	blame_clear(&watch->blame);
	free(watch->before);
	free(watch->base);
	free(watch->recording);
	watch->before = watch->base = watch->recording = NULL;
	watch->outcome = OUTCOME_NONE;
	watch->revision = UINT64_MAX;
	watch->leaving = 0;
	watch->hurry_until = 0;
	watch->looks_less = false;
	session_forget_ended(&watch->engine->session, watch->failed_at);
}

/* Says that there is no rank yet, and whether there may be ranks that cannot be read. */
static void say_none(struct watch *watch)
{
	size_t count = watch->engine->session.other_users;

	if (count == 0)
		watch_say(watch, "no rank found yet; waiting for a rank to start");
	else
		watch_say(
			watch,
			"no rank found yet among the processes of this user; %zu Python process%s: "
			"for their ranks run probetui as the user of the job or as root; waiting "
			"for a rank to start",
			count,
			count == 1 ? " belongs to another user" : "es belong to other users");
}

static int watch_await_job(struct watch *watch, struct error *error)
{
	struct engine *engine = watch->engine;
	double seconds = engine->settings.has_timeout ? engine->settings.timeout : ENGINE_FOREVER;

	engine_follow(engine, SOON_LOOK_SECONDS);
	engine_wait(engine, is_discovered, watch, ANSWER_SECONDS);
	if (!has_appeared(engine, watch))
		say_none(watch);
	engine_wait(engine, has_appeared, watch, seconds);
	if (watch->signal != 0 || are_several_jobs(&engine->session))
		return 0;
	return collect_ranks(watch->context, error);
}

/*
 * True if a stuck job has made progress, as a new sample, or what its ranks have called, shows: the
 * wait continues.
 */
static bool has_moved_after_all(struct watch *watch)
{
	struct engine *engine = watch->engine;

	watch_await_sample(engine);
	collectives_await(engine);
	engine_judge(engine);
	watch->outcome = watch_judge(watch);
	watch->revision = engine->session.revision;
	return watch->outcome == OUTCOME_NONE;
}

/* Watches until the outcome is known, and writes about it. */
static int watch_attempt(struct watch *watch, bool *is_last, struct error *error)
{
	struct engine *engine = watch->engine;
	const struct session *session = &engine->session;

	*is_last = true;
	report_init(&watch->report, engine);
	if (watch->options->folder)
		engine_keep(engine, fmax(KEEP_SECONDS, 2 * watch->options->stuck));
	engine_sample_every(engine, watch->period);
	watch_await_sample(engine);
	watch->began_at = engine_now(engine);
	/* What a rank prints before it ends is read from files that are known by then. */
	evidence_await_new(engine, ANSWER_SECONDS);
	watch_say(watch, "watching %zu rank%s%s%s; a hang is reported after %g s without progress",
		  count_present(session), count_present(session) == 1 ? "" : "s",
		  session->job >= 0 && session->jobs[session->job].name[0] != '\0' ? " of job "
										   : "",
		  session->job >= 0 ? session->jobs[session->job].name : "", watch->options->stuck);
	do {
		engine_wait(engine, watch_is_over, watch, ENGINE_FOREVER);
	} while (watch->outcome == OUTCOME_STUCK && watch->signal == 0 &&
		 has_moved_after_all(watch));
	if (watch->signal != 0)
		return 0;
	if (watch->outcome == OUTCOME_NONE) {
		watch->context->status = STATUS_NOTHING;
		return error_set(error, "the watch has ended: %s",
				 session->nodes[0].gone_why ? session->nodes[0].gone_why
							    : "connection to probetui-node lost");
	}
	/* Sample first: writing the kept recording takes time that the other ranks may not have. */
	look_at_once(watch);
	watch_begin_recording(watch);
	engine_record_extras(engine);
	engine_record_sources(engine);
	look_at_rest(watch);
	*is_last = !watch->options->follows_restarts || !is_restarted(watch);
	return watch_finish(watch, *is_last, error);
}

static int watch_job(struct watch *watch, struct error *error)
{
	bool is_last;
	int result;

	for (;;) {
		result = watch_attempt(watch, &is_last, error);
		if (result < 0 || is_last || watch->signal != 0)
			return result;
		if (!watch->engine->settings.record)
			engine_record_stop(watch->engine);
		watch->failed_at = engine_now(watch->engine);
		if (!await_restart(watch)) {
			if (watch->signal != 0)
				return 0;
			watch_say(watch, "no rank was started again within %g s", RESTART_SECONDS);
			watch_end_attempts(watch);
			return 0;
		}
		forget_attempt(watch);
	}
}

static int run(struct watch *watch, struct error *error)
{
	const char *folder = watch->options->folder;
	int result;

	if (watch->engine->replay)
		return error_set(error, "a recording cannot be watched: use the command report");
	if (folder && folder_check(folder, error) < 0)
		return -1;
	result = watch_await_job(watch, error);
	if (result == 0 && watch->signal == 0)
		result = are_several_jobs(&watch->engine->session)
				 ? watch_jobs(watch->context, &watch->signal, error)
				 : watch_job(watch, error);
	if (!watch->attempts)
		watch->attempts = json_array();
	if (result == 0 && watch->signal != 0) {
		watch_say(watch, "the watch was ended by SIG%s", sigabbrev_np(watch->signal));
		if (watch->context->is_json)
			format_document(watch->context->out,
					json_pack("{s:s, s:i, s:O}", "event", "interrupted",
						  "signal", watch->signal, "earlier_attempts",
						  watch->attempts));
		watch->context->status = 128 + watch->signal;
	}
	return result;
}

int watch_run(struct command_context *context, const struct watch_options *options,
	      struct error *error)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct loop_signal *signals[ARRAY_LENGTH(numbers)];
	struct watch watch = {
		.context = context,
		.engine = context->engine,
		.options = options,
		.revision = UINT64_MAX,
		.period = options->stuck / SAMPLES,
		.report = { .verdict = BUFFER_INIT, .merged = BUFFER_INIT },
	};
	int result;

	watch.period = fmax(PERIOD_MINIMUM, fmin(watch.period, PERIOD_MAXIMUM));
	watch.engine->skips_names = true;
	watch.engine->session.choice.longest_wait = options->stuck;
	for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++) {
		signals[i] = loop_signal_unless_ignored(watch.engine->loop, numbers[i],
							watch_on_signal, &watch);
		watch.engine->handled_signals |= 1u << numbers[i];
	}
	result = run(&watch, error);
	for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
		loop_signal_stop(signals[i]);
	watch.engine->handled_signals = 0;
	watch.engine->skips_names = false;
	watch.engine->session.choice.longest_wait = 0;
	report_clear(&watch.report);
	free(watch.before);
	json_decref(watch.attempts);
	blame_clear(&watch.blame);
	free(watch.base);
	free(watch.recording);
	return result;
}
