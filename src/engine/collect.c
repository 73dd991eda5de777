#include "engine/collect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/loop.h"
#include "base/text.h"
#include "engine/collective-query.h"
#include "engine/command.h"
#include "engine/debuggers.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/jobs.h"
#include "engine/rank-answers.h"
#include "engine/replay.h"
#include "engine/request.h"
#include "model/job.h"
#include "model/joblist.h"
#include "model/rank-filter.h"
#include "model/rankselect.h"

/* Seconds between two samples when a command samples for some time (verdict --for 3). */
#define PERIOD_SECONDS 0.25
/*
 * Seconds to wait for an agent that does not report a stopped rank; most agents report a stop at
 * once.
 */
#define HOLD_SECONDS 1.0

/* A command that samples for so long asks for the ranks' collectives at the beginning, too. */
#define MOVEMENT_SECONDS 1.0

static bool is_never(const struct engine *engine, void *data)
{
	(void)data;
	return engine_is_deaf(engine);
}

static bool collect_is_live(const struct command_context *context)
{
	return !context->screen && !context->engine->replay;
}

static int nothing(struct command_context *context)
{
	context->status = STATUS_NOTHING;
	return -1;
}

static void collect_note(struct command_context *context, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Waits until the targets of --connect have answered; only the first call in a session waits. */
static void await_debuggers(struct command_context *context)
{
	struct engine *engine = context->engine;
	struct rank_answers *connecting = engine->connecting;
	struct failures failures = FAILURES_INIT;
	struct buffer silent = BUFFER_INIT;
	struct buffer out = BUFFER_INIT;
	struct group_answer answer;

	if (!connecting)
		return;
	engine->connecting = NULL;
	rank_answers_wait(connecting);
	while (rank_answers_take(connecting, &answer)) {
		if (answer.error)
			failures_add(&failures, answer.rank, answer.error);
		else
			debuggers_connected(engine, answer.body);
	}
	failures_append(&out, &failures);
	debuggers_await(engine, engine->settings.timeout);
	engine->is_unconnected = failures.count > 0;
	if (failures.count > 0)
		collect_note(context, "probetui: --connect: %s", out.data);
	if (debuggers_append_silent(&silent, engine)) {
		engine->is_unconnected = true;
		collect_note(context, "probetui: --connect: %s", silent.data);
	}
	buffer_clear(&silent);
	rank_answers_free(connecting);
	failures_clear(&failures);
	buffer_clear(&out);
}

/* Waits for the answer to `discover`; only the first call in a session waits. */
static int await_ranks(struct command_context *context, struct error *error)
{
	struct engine *engine = context->engine;
	struct request_group *discovery = engine->discovery;
	struct group_answer answer;
	struct error failure = ERROR_INIT;
	bool is_any = false;

	if (!discovery)
		return 0;
	await_debuggers(context);
	request_group_wait(discovery, engine->settings.timeout);
	while (request_group_take(discovery, &answer)) {
		is_any |= !answer.error;
		if (answer.error)
			error_set(&failure, "cannot search for ranks: %s", answer.error);
	}
	request_group_free(discovery);
	engine->discovery = NULL;
	if (is_any)
		return 0;
	error_set(error, "%s", failure.message);
	return nothing(context);
}

static void await_answer(struct engine *engine, struct request_group *owned_group)
{
	request_group_wait(owned_group, engine->settings.timeout);
	request_group_free(owned_group);
}

/*
 * A rank whose answer is late has no sample in the session, and the session reports that. If an
 * agent has stopped a rank at an exception, the sample shows the agent's own code: sample again
 * once the agent has reported the stop.
 */
static void collect_await_sample(struct engine *engine, struct request_group *owned_sample)
{
	await_answer(engine, owned_sample);
	if (debuggers_await_holds(engine, HOLD_SECONDS))
		await_answer(engine, engine_ask_sample(engine));
}

static void sample_over(struct engine *engine, double seconds)
{
	double start = loop_now();
	int steps = (int)ceil(seconds / PERIOD_SECONDS);

	for (int i = 1; i <= steps && !engine_is_deaf(engine); i++) {
		double due = start + seconds * i / steps;

		engine_wait(engine, is_never, NULL, due - loop_now());
		collect_await_sample(engine, engine_ask_sample(engine));
	}
}

static int take_samples(struct command_context *context, double seconds, struct error *error)
{
	struct engine *engine = context->engine;
	struct request_group *sample = NULL;

	/*
	 * A sample of all ranks does not need the answer to `discover`: sending `sample` first
	 * saves a round trip.
	 */
	if (!engine_must_name_ranks(engine))
		sample = engine_ask_sample(engine);
	if (await_ranks(context, error) < 0)
		return -1;
	if (!sample)
		sample = engine_ask_sample(engine);
	collect_await_sample(engine, sample);
	/* Two answers show calls that samples of equal stacks do not. */
	if (seconds >= MOVEMENT_SECONDS)
		collectives_await(engine);
	if (engine->session.rank_count > 0)
		sample_over(engine, seconds);
	if (seconds > 0)
		collectives_await(engine);
	engine_record_sources(engine);
	engine_record_extras(engine);
	return 0;
}

/* A rank that has exited counts as reached if it has a stack; its last sample may be empty. */
static bool collect_is_reached(const struct rank *rank)
{
	return rank->sampled_at >= 0 &&
	       (rank->thread_count > 0 || (rank->state == RANK_EXITED && rank_last_stack(rank)));
}

/* Adds a line for standard error; escaped, since the text may come from outside. */
static void collect_note(struct command_context *context, const char *format, ...)
{
	struct buffer line = BUFFER_INIT;
	va_list values;

	if (!context->notes)
		return;
	va_start(values, format);
	buffer_vprintf(&line, format, values);
	va_end(values);
	text_escape(context->notes, line.data, line.length);
	buffer_append_char(context->notes, '\n');
	buffer_clear(&line);
}

/* Reason why a rank was not sampled, or has ended. */
static const char *why_not(const struct session *session, const struct rank *rank)
{
	if (rank->error && rank->error[0] != '\0')
		return rank->error;
	if (rank->missing)
		return rank->missing;
	if (rank->process.error && rank->process.error[0] != '\0')
		return rank->process.error;
	switch (rank->state) {
	case RANK_EXITED:
		return "the process has exited";
	case RANK_NOT_FOUND:
		return "no process of the rank was found";
	case RANK_RUNNING:
	case RANK_WAITING:
	case RANK_SLEEPING:
	case RANK_STOPPED:
	case RANK_UNREADABLE:
	case RANK_UNKNOWN:
		break;
	}
	return session->is_replay ? "the recording has no sample of the rank until this time"
				  : "no answer in time: try a longer --timeout";
}

static void note_rank(struct command_context *context, const struct rank *rank)
{
	struct error why = ERROR_INIT;
	struct buffer process = BUFFER_INIT;

	error_set(&why, "%s", why_not(&context->engine->session, rank));
	format_clause(why.message);
	format_text_process(&process, &context->engine->session, rank);
	if (process.length > 0)
		collect_note(context, "rank %d (%s): %s", rank->process.rank, process.data,
			     why.message);
	else
		collect_note(context, "rank %d: %s", rank->process.rank, why.message);
	buffer_clear(&process);
}

static void note_bystanders(struct command_context *context)
{
	const struct session *session = &context->engine->session;

	for (size_t i = 0; i < session->bystander_count; i++) {
		const struct bystander *process = &session->bystanders[i];
		const char *script = process->script ? process->script : "";

		const char *name = process->name ? process->name : "process";
		const char *why = process->why ? process->why : "has no rank";

		if (context->engine->settings.pid_count > 0)
			collect_note(context, "%s (pid %d)%s%s %s", name, (int)process->pid,
				     script[0] != '\0' ? " " : "", script, why);
		else
			collect_note(context, "%s (pid %d)%s%s %s: select it with --pid %d", name,
				     (int)process->pid, script[0] != '\0' ? " " : "", script, why,
				     (int)process->pid);
	}
}

static void note_job(struct command_context *context, const struct job *job)
{
	struct buffer line = BUFFER_INIT;

	buffer_printf(&line, "job %s: %zu rank%s of %s",
		      job->name && job->name[0] != '\0' ? job->name : "without a port",
		      job->rank_count, job->rank_count == 1 ? "" : "s",
		      job->script && job->script[0] != '\0' ? job->script : "?");
	if (job->launcher_pid > 0 && job->launcher && job->launcher[0] != '\0')
		buffer_printf(&line, ", started by %s (pid %d)", job->launcher,
			      (int)job->launcher_pid);
	collect_note(context, "%s", line.data);
	buffer_clear(&line);
}

/* Sets the error "no rank 9 in the job, which has ranks 0-7". */
static int no_rank_of_job(const struct session *session, const char *plural, struct error *error)
{
	struct buffer ranks = BUFFER_INIT;
	struct job_summary summary;

	job_summary_make(&summary, session, (size_t)session->job);
	rankset_append(&ranks, &summary.ranks);
	error_set(error, "no %s %.200s in the job, which has %s %.200s", plural,
		  session->choice.wanted_text ? session->choice.wanted_text : "alive",
		  rankset_count(&summary.ranks) == 1 ? "rank" : "ranks",
		  ranks.length > 0 ? ranks.data : "that have exited");
	job_summary_clear(&summary);
	buffer_clear(&ranks);
	return -1;
}

/* Sets the error: there are jobs, but none of them has a rank that the user requested. */
static int no_rank_of_jobs(const struct session *session, struct error *error)
{
	const char *plural = rankset_count(&session->choice.wanted) > 1 ? "ranks" : "rank";

	if (session->job >= 0)
		return no_rank_of_job(session, plural, error);
	if (session->choice.wanted_job)
		return error_set(error,
				 job_count_named(session, session->choice.wanted_job) > 1
					 ? "several jobs match '%.80s'; select one by its "
					   "launcher's pid:"
					 : "no job has port or launcher pid '%.80s'; found:",
				 session->choice.wanted_job);
	if (session->job_count == 1)
		return error_set(error, "no rank of this job found:");
	return error_set(error,
			 "%zu jobs found; select one with --job PORT (or the launcher's pid):",
			 session->job_count);
}

static int no_rank_of_launched(const struct session *session, struct error *error)
{
	struct buffer job = BUFFER_INIT;

	launching_append(&job, session);
	error_set(error, "no rank of the job found%s: %s",
		  launching_is_alive(session) ? " yet" : "", job.data);
	buffer_clear(&job);
	return -1;
}

/* Reports nodes that have not answered: ranks of their machines are missing. */
static void note_unreached(struct command_context *context)
{
	const struct session *session = &context->engine->session;

	for (size_t i = 0; i < session->node_count; i++) {
		const struct session_node *node = &session->nodes[i];

		if (!node->is_gone && !node->is_silent)
			continue;
		context->status = STATUS_PARTIAL;
		collect_note(context, "%s: %s", node->name,
			     node->is_gone ? node->gone_why : "has not answered");
	}
}

static int no_rank(struct command_context *context, struct error *error)
{
	const struct engine *engine = context->engine;
	const struct session *session = &engine->session;

	note_unreached(context);
	context->status = STATUS_NOTHING;
	if (engine->replay && !session->is_discovered)
		return error_set(error,
				 "the recording %s ends before all ranks were found: the ranks of "
				 "the job are unknown",
				 replay_path(engine->replay, 0));
	/* Only debuggers were requested (--connect), not the jobs of this machine. */
	if (!engine->replay && settings_names_debuggers_only(&engine->settings)) {
		note_bystanders(context);
		return error_set(error, "cannot connect to any debugger given with --connect");
	}
	if (session->job_count > 0) {
		for (size_t i = 0; session->job < 0 && i < session->job_count; i++)
			note_job(context, &session->jobs[i]);
		return no_rank_of_jobs(session, error);
	}
	note_bystanders(context);
	if (engine->replay)
		return error_set(error, "the recording %s has no ranks",
				 replay_path(engine->replay, 0));
	if (engine->settings.program_count > 0)
		return no_rank_of_launched(session, error);
	if (engine->settings.pid_count > 0)
		return error_set(error, "cannot read any process given with --pid");
	if (session->other_users > 0)
		return error_set(error,
				 "no rank found among the processes of this user; %zu Python "
				 "process%s: run probetui as the user of the job or as root",
				 session->other_users,
				 session->other_users == 1 ? " belongs to another user"
							   : "es belong to other users");
	return error_set(
		error,
		"no rank found: searched %zu processes for a process group of torch.distributed, "
		"RANK, HOROVOD_RANK, OMPI_COMM_WORLD_RANK, PMI_RANK, PMIX_RANK and SLURM_PROCID; "
		"select a process with --pid PID",
		session->looked_at);
}

/* True if the rank answered completely. */
static bool collect_is_whole(const struct rank *rank)
{
	return collect_is_reached(rank) && rank->state != RANK_EXITED &&
	       rank->state != RANK_UNREADABLE && !rank->missing;
}

/* Reports nodes that could not read all processes: ranks or debuggers may be missing. */
static void note_unread(struct command_context *context)
{
	const struct session *session = &context->engine->session;

	for (size_t i = 0; i < session->node_count; i++) {
		const struct session_node *node = &session->nodes[i];

		if (!node->unread)
			continue;
		context->status = STATUS_PARTIAL;
		collect_note(context, "%s: not all processes could be read: %s", node->name,
			     node->unread);
	}
}

static int weigh(struct command_context *context, struct error *error)
{
	const struct session *session = &context->engine->session;
	size_t reached_count = 0;
	size_t present_count = 0;

	for (size_t i = 0; i < session->rank_count; i++) {
		/* Of a rank that ended before it was sampled, a recording has its end. */
		reached_count += collect_is_reached(session->ranks[i]) ||
				 (context->engine->replay && rank_is_gone(session->ranks[i]));
		present_count += session->ranks[i]->process.pid > 0;
	}
	if (present_count == 0)
		return no_rank(context, error);
	note_unreached(context);
	for (size_t i = 0; i < session->rank_count; i++) {
		if (collect_is_whole(session->ranks[i]))
			continue;
		context->status = STATUS_PARTIAL;
		note_rank(context, session->ranks[i]);
	}
	if (context->engine->is_unconnected)
		context->status = STATUS_PARTIAL;
	note_unread(context);
	if (reached_count > 0)
		return 0;
	error_set(error, "no rank could be read");
	return nothing(context);
}

static bool is_any_there(const struct engine *engine, void *data)
{
	(void)data;
	return engine->session.rank_count > 0 || !engine_awaits_ranks(engine);
}

/* A job that was just started has no ranks yet: waits for the first rank. */
static void await_first(struct engine *engine)
{
	if (engine->session.rank_count == 0 && engine_awaits_ranks(engine))
		engine_wait(engine, is_any_there, NULL, engine->settings.timeout);
}

double collect_seconds(const char *text)
{
	struct rankselect select = RANKSELECT_INIT;
	bool is_judged =
		rankselect_parse(&select, text, NULL) == 0 && rankselect_is_judged(&select);

	rankselect_clear(&select);
	return is_judged ? VERDICT_SECONDS : 0;
}

/* Seconds that --ranks (before it becomes the focus) and `ranks SET` need for the verdict. */
static double seconds_of_sets(const struct command_context *context)
{
	const struct rankselect *focus = context->engine->session.choice.wanted_focus;

	if (focus && rankselect_is_judged(focus))
		return VERDICT_SECONDS;
	return context->ranks_text ? collect_seconds(context->ranks_text) : 0;
}

/*
 * To be called after the first samples of a verdict: samples for longer if ranks wait, and it does
 * not show yet whether they hang.
 */
static int await_verdict(struct command_context *context, struct error *error)
{
	if (context->engine->session.verdict.state != VERDICT_UNKNOWN ||
	    !collectives_are_wanted(context->engine))
		return 0;
	return collect_more(context, VERDICT_STILL_SECONDS, error);
}

int collect_samples(struct command_context *context, double seconds, struct error *error)
{
	bool is_judged = seconds_of_sets(context) > 0;

	if (is_judged)
		seconds = fmax(seconds, VERDICT_SECONDS);
	if (collect_is_live(context))
		await_first(context->engine);
	if (collect_is_live(context) && !context->is_fresh &&
	    take_samples(context, seconds, error) < 0)
		return -1;
	if (!context->screen)
		engine_judge(context->engine);
	context->is_fresh = true;
	if (is_judged && await_verdict(context, error) < 0)
		return -1;
	return weigh(context, error);
}

int collect_more(struct command_context *context, double seconds, struct error *error)
{
	if (!collect_is_live(context))
		return 0;
	if (take_samples(context, seconds, error) < 0)
		return -1;
	engine_judge(context->engine);
	return 0;
}

int collect_verdict(struct command_context *context, struct error *error)
{
	return collect_for(context, VERDICT_SECONDS, error);
}

int collect_for(struct command_context *context, double seconds, struct error *error)
{
	if (collect_samples(context, seconds, error) < 0)
		return -1;
	return seconds > 0 ? await_verdict(context, error) : 0;
}

int collect_settled(struct command_context *context, struct error *error)
{
	if (!verdict_is_finding(&context->engine->session.verdict))
		return 0;
	return collect_more(context, VERDICT_SECONDS, error);
}

/* Ranks of a job that was just started may be named by number before they exist. */
static bool take_numbers(struct command_context *context)
{
	struct rankselect select = RANKSELECT_INIT;
	bool has_numbers = engine_awaits_ranks(context->engine) &&
			   rankselect_parse(&select, context->ranks_text, NULL) == 0;

	rankset_clear(&context->ranks);
	if (has_numbers)
		has_numbers = rankselect_add_numbers(&select, &context->ranks);
	rankselect_clear(&select);
	return has_numbers;
}

int collect_named(struct command_context *context, struct error *error)
{
	struct session *session = &context->engine->session;
	struct error missing = ERROR_INIT;

	/* --ranks may need the verdict, so the focus is set only now. */
	if (rank_filter_focus(session, error) < 0) {
		context->status = STATUS_USAGE;
		return error_prefix(error, "--ranks");
	}
	if (!context->ranks_text) {
		if (!session->choice.is_focus_all)
			rankset_copy(&context->ranks, &session->choice.focus);
		return 0;
	}
	if (rankselect_find(context->ranks_text, session, &context->ranks, &missing) == 0 ||
	    take_numbers(context))
		return 0;
	error_set(error, "%s", missing.message);
	context->status = STATUS_USAGE;
	return -1;
}

int collect_ranks(struct command_context *context, struct error *error)
{
	const struct session *session = &context->engine->session;

	if (context->screen)
		return 0;
	if (collect_is_live(context) && await_ranks(context, error) < 0)
		return -1;
	if (collect_is_live(context) && !context->is_fresh &&
	    !engine_awaits_ranks(context->engine) && seconds_of_sets(context) > 0) {
		if (take_samples(context, VERDICT_SECONDS, error) < 0)
			return -1;
		context->is_fresh = true;
		engine_judge(context->engine);
		if (await_verdict(context, error) < 0)
			return -1;
	}
	engine_judge(context->engine);
	for (size_t i = 0; i < session->rank_count; i++) {
		if (session->ranks[i]->process.pid > 0)
			return 0;
	}
	/* The ranks of a job that was just started will appear later. */
	if (engine_awaits_ranks(context->engine))
		return 0;
	return no_rank(context, error);
}

/*
 * Samples the ranks of all jobs and computes a verdict for each job. jobs_list() makes the engine
 * sample all jobs instead of the chosen job.
 */
static void judge_jobs(struct command_context *context, double seconds)
{
	struct engine *engine = context->engine;

	jobs_list(engine, true);
	if (collect_is_live(context)) {
		collect_await_sample(engine, engine_ask_sample(engine));
		sample_over(engine, seconds);
		if (!context->screen)
			collectives_await_jobs(engine);
	}
	engine_judge(engine);
	jobs_judge(engine);
	jobs_list(engine, false);
}

int collect_jobs(struct command_context *context, double seconds, struct error *error)
{
	struct engine *engine = context->engine;
	const struct session *session = &engine->session;

	if (collect_is_live(context) && await_ranks(context, error) < 0)
		return -1;
	engine_judge(engine);
	if (seconds > 0 && session->job_count > 0)
		judge_jobs(context, seconds);
	for (size_t i = 0; i < session->job_count; i++) {
		if (job_is_wanted(session, &session->jobs[i]))
			return 0;
	}
	return no_rank(context, error);
}

bool collect_is_none_reachable(const struct command_context *context)
{
	const struct engine *engine = context->engine;
	const struct session *session = &engine->session;

	if (!engine || !collect_is_live(context))
		return false;
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (!rank_is_gone(rank) && rank->process.state != PROCESS_UNREADABLE)
			return false;
	}
	return session->rank_count > 0 || (engine->requests.seq > 0 && engine_is_deaf(engine));
}

void collect_finding(struct command_context *context, bool is_finding)
{
	if (is_finding)
		context->status = STATUS_FINDING;
}

void collect_undone(struct command_context *context, const char *what, const char *key,
		    const char *kept)
{
	const struct settings *settings = &context->engine->settings;

	if (context->screen || settings->script || settings->command_count == 0)
		return;
	buffer_printf(
		context->notes,
		"probetui: %s when this command exits; use the screen (%s) or a script (-x) to "
		"keep %s\n",
		what, key, kept);
	if (context->status == STATUS_DONE)
		context->status = STATUS_PARTIAL;
}
