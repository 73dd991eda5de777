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
#include <time.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "base/text.h"
#include "engine/blame.h"
#include "engine/cause.h"
#include "engine/collect.h"
#include "engine/collective-query.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/report.h"
#include "engine/request.h"
#include "engine/script-events.h"
#include "engine/watch-jobs.h"
#include "model/stall.h"

#define FOREVER_SECONDS (10 * 365 * 86400.0)
/* The sampling period is options->stuck divided by SAMPLES, limited to this range of seconds. */
#define SAMPLES 8
#define PERIOD_MINIMUM 0.1
#define PERIOD_MAXIMUM 1.0
/* Seconds between two searches for new ranks. */
#define LOOK_SECONDS 5.0
/* The same while the ranks of a restart are expected, and how long they are. */
#define RESTART_LOOK_SECONDS 0.5
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

enum outcome {
	OUTCOME_NONE, /* the wait continues */
	OUTCOME_STUCK,
	OUTCOME_FAILED,
	OUTCOME_ENDED,
	OUTCOME_ENDED_UNSEEN, /* exit codes are unknown */
};

static const struct outcome_row {
	const char *event;
	int status;
} outcomes[] = {
	[OUTCOME_STUCK] = { "stuck", STATUS_FINDING },
	[OUTCOME_FAILED] = { "failed", STATUS_FINDING },
	[OUTCOME_ENDED] = { "ended", STATUS_DONE },
	[OUTCOME_ENDED_UNSEEN] = { "ended", STATUS_PARTIAL },
};

struct watch {
	struct command_context *context;
	struct engine *engine;
	const struct watch_options *options;
	double period;
	/* session time until which samples are taken every HURRY_PERIOD; 0: every period */
	double hurry_until;
	size_t leaving;	   /* number of ranks in teardown at the last sample */
	uint64_t revision; /* session.revision at the last judgement */
	enum outcome outcome;
	int signal;   /* signal that asks probetui to exit; 0: none */
	char *before; /* newest verdict while all ranks were alive; NULL: none */
	struct blame blame;
	char *base;	 /* common part of the files' paths; NULL: no files */
	char *recording; /* path of the recording; NULL: none */
	struct report report;
	double stood;	  /* seconds without progress at the last judgement */
	json_t *attempts; /* documents of the attempts that failed before; NULL: none did */
	double failed_at; /* session time at which the attempt before has been written about */
};

static void watch_say(struct watch *watch, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Writes one line to standard error at once. The line is escaped, as the text may come from
 * outside.
 */
static void watch_say(struct watch *watch, const char *format, ...)
{
	struct buffer line = BUFFER_INIT;
	va_list values;

	if (!watch->context->notes)
		return;
	va_start(values, format);
	buffer_vprintf(&line, format, values);
	va_end(values);
	buffer_append_string(watch->context->notes, "probetui: ");
	format_text(watch->context->notes, line.data);
	buffer_append_char(watch->context->notes, '\n');
	buffer_clear(&line);
	script_flush(watch->context, NULL);
}

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

static size_t count_leaving(const struct session *session)
{
	size_t count = 0;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct thread *thread = rank_main_thread(session->ranks[i]);

		count += session->ranks[i]->process.state == PROCESS_LIVE && thread &&
			 thread->activity.kind == ACTIVITY_TEARDOWN;
	}
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
	watch->stood = stall_seconds(session);
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

static bool watch_is_over(const struct engine *engine, void *data)
{
	struct watch *watch = data;

	if (watch->signal != 0)
		return true;
	if (engine->session.revision == watch->revision)
		return watch->outcome != OUTCOME_NONE;
	engine_judge(watch->engine);
	watch->revision = engine->session.revision;
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

/* Appends how the job is stuck, up to the duration. A rank for which others wait may compute. */
static void append_stuck(struct buffer *out, const struct verdict *verdict)
{
	if (verdict->state != VERDICT_PROGRESSING || rankset_count(&verdict->outliers) == 0) {
		buffer_append_string(out, "The job hangs: no rank has made progress for ");
		return;
	}
	buffer_append_string(out, "Ranks have waited for ");
	rankset_append_named(out, &verdict->outliers);
	buffer_append_string(out, " for ");
}

static void watch_describe(struct watch *watch)
{
	struct buffer text = BUFFER_INIT;

	switch (watch->outcome) {
	case OUTCOME_NONE:
		break;
	case OUTCOME_STUCK:
		append_stuck(&text, &watch->engine->session.verdict);
		text_duration(&text, watch->stood);
		buffer_append_string(&text, ". ");
		buffer_append_string(&text, watch->engine->session.verdict.sentence);
		blame_hang(&watch->blame, watch->engine, &text);
		break;
	case OUTCOME_FAILED:
		blame_failure(&watch->blame, watch->engine, &text);
		break;
	case OUTCOME_ENDED:
		buffer_append_string(&text, "The job has ended successfully.");
		break;
	case OUTCOME_ENDED_UNSEEN:
		buffer_append_string(&text,
				     "The job has ended; the exit codes of its ranks are unknown.");
		break;
	}
	watch->report.event = outcomes[watch->outcome].event;
	watch->report.before = watch->before;
	free(watch->report.headline);
	watch->report.headline = buffer_take(&text);
}

static const char *const suffixes[] = { ".txt", ".recording", NULL };

/*
 * Writes the last minutes to a file, and continues to record into the file. An error is only
 * reported: the report is then written without the recording.
 */
static void begin_recording(struct watch *watch)
{
	const struct session *session = &watch->engine->session;
	const struct job *job = session->job >= 0 ? &session->jobs[session->job] : NULL;
	struct error error = ERROR_INIT;
	struct timespec now;

	if (!watch->options->folder || watch->outcome == OUTCOME_ENDED)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	watch->base = folder_name(watch->options->folder, job && job->name ? job->name : "",
				  session->nodes[0].name, (double)now.tv_sec, suffixes);
	watch->recording = xasprintf("%s%s", watch->base, suffixes[1]);
	if (engine_record_path(watch->engine) ||
	    engine_record(watch->engine, watch->recording, &error) == 0)
		return;
	watch_say(watch, "%s", error.message);
	free(watch->recording);
	watch->recording = NULL;
}

/* With --record: puts a copy of the recording beside the report. */
static void copy_recording(struct watch *watch)
{
	struct error error = ERROR_INIT;

	if (!watch->recording || !watch->engine->settings.record)
		return;
	if (engine_record_copy(watch->engine, watch->recording, &error) == 0)
		return;
	watch_say(watch, "%s", error.message);
	free(watch->recording);
	watch->recording = xstrdup_or_null(engine_record_path(watch->engine));
}

static void watch_await_sample(struct engine *engine, struct request *owned_sample)
{
	request_wait(engine, owned_sample, ANSWER_SECONDS);
	request_cancel(engine, owned_sample);
}

/* Samples the other ranks before they exit, too. */
static void look_at_once(struct watch *watch)
{
	struct engine *engine = watch->engine;
	struct request *sample = engine_ask_sample(engine);
	struct request_group *group = request_group_new(engine, NULL, NULL, NULL);

	evidence_ask(engine, group);
	request_group_wait(group, ANSWER_SECONDS);
	request_group_free(group);
	watch_await_sample(engine, sample);
	collectives_await(engine);
	engine_judge(engine);
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

/*
 * Writes the report and returns its path. Returns NULL with the error set on failure, and NULL
 * without an error if no report is wanted.
 */
static char *write_report(struct watch *watch, struct error *error)
{
	struct buffer page = BUFFER_INIT;
	char *path;
	int result;

	if (!watch->base)
		return NULL;
	path = xasprintf("%s%s", watch->base, suffixes[0]);
	report_append(&page, &watch->report, watch->engine);
	result = folder_write(path, page.data, page.length, error);
	buffer_clear(&page);
	if (result == 0)
		return path;
	free(path);
	return NULL;
}

static json_t *job_to_json(const struct watch *watch)
{
	const struct session *session = &watch->engine->session;
	const struct job *job = session->job >= 0 ? &session->jobs[session->job] : NULL;

	return job && job->name && job->name[0] != '\0' ? json_text(job->name) : json_null();
}

static json_t *watch_to_json(const struct watch *watch, const char *report)
{
	const struct verdict *verdict = &watch->engine->session.verdict;
	const char *sentence =
		json_get_string(watch->report.verdict_json, "verdict", verdict->sentence);
	json_t *json = json_object();

	json_object_set_new(json, "event", json_string(outcomes[watch->outcome].event));
	json_object_set_new(json, "job", job_to_json(watch));
	blame_to_json(&watch->blame, watch->engine, watch->report.clock, json);
	json_object_set_new(json, "headline", json_text(watch->report.headline));
	json_object_set_new(json, "verdict", json_text(sentence));
	json_object_set_new(json, "report", json_text(report));
	json_object_set_new(json, "recording", json_text(watch->recording));
	return json;
}

/* Prints the document of the last attempt, with those before; keeps that of any other. */
static void take_document(struct watch *watch, json_t *owned_document, bool is_last)
{
	if (!watch->attempts)
		watch->attempts = json_array();
	if (!is_last) {
		json_array_append_new(watch->attempts, owned_document);
		return;
	}
	json_object_set(owned_document, "earlier_attempts", watch->attempts);
	format_document(watch->context->out, owned_document);
}

static void append_paths(struct watch *watch, const char *report)
{
	if (report)
		buffer_printf(watch->context->out, "%s\n", report);
	if (watch->recording)
		buffer_printf(watch->context->out, "%s\n", watch->recording);
	if (!report && !watch->recording)
		buffer_append(watch->context->out, watch->report.verdict.data,
			      watch->report.verdict.length);
}

/* Writes the report, the paths of both files, and one line on standard error. */
static int watch_finish(struct watch *watch, bool is_last, struct error *error)
{
	char *report = write_report(watch, error);
	int result = report || !watch->base ? 0 : -1;

	copy_recording(watch);
	if (watch->context->is_json)
		take_document(watch, watch_to_json(watch, report), is_last);
	else
		append_paths(watch, report);
	watch->context->status = outcomes[watch->outcome].status;
	watch_say(watch, "%s", watch->report.headline);
	free(report);
	return result;
}

/* True if torchrun, which lives, starts the ranks again after this failure. */
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

	engine_follow(engine, RESTART_LOOK_SECONDS);
	engine_wait(engine, has_restarted, watch, RESTART_SECONDS);
	engine_follow(engine, LOOK_SECONDS);
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
	session_forget_ended(&watch->engine->session, watch->failed_at);
}

/* Prints the document of the attempt that failed last: no other one followed. */
static void end_attempts(struct watch *watch)
{
	size_t count = json_array_size(watch->attempts);
	json_t *document;

	watch_say(watch, "no rank was started again within %g s", RESTART_SECONDS);
	if (count == 0)
		return;
	document = json_incref(json_array_get(watch->attempts, count - 1));
	json_array_remove(watch->attempts, count - 1);
	take_document(watch, document, true);
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
	double seconds = engine->settings.has_timeout ? engine->settings.timeout : FOREVER_SECONDS;

	engine_follow(engine, LOOK_SECONDS);
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

	watch_await_sample(engine, engine_ask_sample(engine));
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
	watch_await_sample(engine, engine_ask_sample(engine));
	watch_say(watch, "watching %zu rank%s%s%s; a hang is reported after %g s without progress",
		  count_present(session), count_present(session) == 1 ? "" : "s",
		  session->job >= 0 && session->jobs[session->job].name[0] != '\0' ? " of job "
										   : "",
		  session->job >= 0 ? session->jobs[session->job].name : "", watch->options->stuck);
	do {
		engine_wait(engine, watch_is_over, watch, FOREVER_SECONDS);
	} while (watch->outcome == OUTCOME_STUCK && watch->signal == 0 &&
		 has_moved_after_all(watch));
	if (watch->signal != 0)
		return 0;
	if (watch->outcome == OUTCOME_NONE) {
		watch->context->status = STATUS_NOTHING;
		return error_set(error, "the watch has ended: %s",
				 engine->gone_why ? engine->gone_why
						  : "connection to probetui-node lost");
	}
	/* Sample first: writing the kept recording takes time that the other ranks may not have. */
	look_at_once(watch);
	begin_recording(watch);
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
			end_attempts(watch);
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
	if (result == 0 && watch->signal != 0) {
		watch_say(watch, "the watch was ended by SIG%s", sigabbrev_np(watch->signal));
		if (watch->context->is_json)
			format_document(watch->context->out,
					json_pack("{s:s, s:i}", "event", "interrupted", "signal",
						  watch->signal));
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
		signals[i] = loop_signal(watch.engine->loop, numbers[i], watch_on_signal, &watch);
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
