#include "engine/engine.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/map.h"
#include "engine/breakpoint-sync.h"
#include "engine/cause.h"
#include "engine/debuggers.h"
#include "engine/evidence.h"
#include "engine/jobs.h"
#include "engine/link.h"
#include "engine/rank-answers.h"
#include "engine/remote.h"
#include "engine/replay.h"
#include "engine/request.h"
#include "model/rank-filter.h"
#include "protocol/message.h"

/*
 * Maximum number of seconds that a started job waits until its output is read (job-supervisor.h).
 */
#define JOB_WAITS_SECONDS 60.0

void engine_init(struct engine *engine, struct settings *owned_settings)
{
	*engine = (struct engine){ .settings = *owned_settings };
	settings_init(owned_settings);
	session_init(&engine->session);
	if (engine->settings.ranks)
		rank_filter_set(&engine->session, engine->settings.ranks, NULL);
	engine->session.choice.wanted_job = xstrdup_or_null(engine->settings.job);
	engine->session.choice.has_wanted_pids =
		engine->settings.pid_count > 0 || settings_names_debuggers_only(&engine->settings);
	engine->started_at = loop_now();
}

bool engine_clear(struct engine *engine)
{
	bool is_recorded;

	/* Answers that arrive while clearing must not reach the screen. */
	engine->changed = NULL;
	engine->is_screen = false;
	watch_nan_clear(engine);
	debuggers_leave(engine);
	remote_clear(engine);
	if (engine->follow_timer)
		loop_timer_stop(engine->follow_timer);
	/* All nodes leave at the same time. */
	for (size_t i = 0; i < engine->link_count; i++)
		link_end(engine->links[i]);
	for (size_t i = 0; i < engine->link_count; i++)
		link_free(engine->links[i]);
	free(engine->links);
	if (engine->playback.timer)
		loop_timer_stop(engine->playback.timer);
	replay_free(engine->replay);
	engine_record_stop(engine);
	is_recorded = !engine->recording.has_failed;
	value_difference_clear(engine);
	parameter_compare_clear(engine);
	rank_answers_clear(engine);
	rank_query_clear(engine);
	tensor_asking_clear(engine);
	rankset_clear(&engine->holds);
	rank_answers_free(engine->connecting);
	request_group_free(engine->following);
	request_group_free(engine->discovery);
	requests_clear(engine);
	free(engine->notice.text);
	for (size_t i = 0; i < WANTED_MAXIMUM; i++)
		free(engine->wanted.ring[i].key);
	json_decref(engine->sampled);
	strmap_free(engine->recording.sources);
	evidence_clear(&engine->evidence);
	session_clear(&engine->session);
	settings_clear(&engine->settings);
	loop_free(engine->loop);
	users_clear(&engine->users);
	*engine = (struct engine){ .changed = NULL };
	return is_recorded;
}

void engine_say(struct engine *engine, bool is_error, const char *format, ...)
{
	struct buffer text = BUFFER_INIT;
	va_list values;

	va_start(values, format);
	buffer_vprintf(&text, format, values);
	va_end(values);
	free(engine->notice.text);
	engine->notice.text = buffer_take(&text);
	engine->notice.is_error = is_error;
}

char *engine_take_notice(struct engine *engine, bool *is_error)
{
	char *notice = engine->notice.text;

	*is_error = engine->notice.is_error;
	engine->notice.text = NULL;
	return notice;
}

double engine_now(const struct engine *engine)
{
	if (engine->replay)
		return engine->session.now;
	return loop_now() - engine->started_at;
}

void engine_judge(struct engine *engine)
{
	engine->session.now = engine_now(engine);
	session_judge(&engine->session);
	jobs_judge(engine);
	timing_mark(&engine->timing, TIMING_JUDGED);
}

static void focus_wanted(struct engine *engine)
{
	struct error error = ERROR_INIT;

	if (rank_filter_focus(&engine->session, &error) < 0)
		log_write(LOG_WARNING, "--ranks: %s", error.message);
}

void engine_settle(struct engine *engine)
{
	if (!engine->is_screen)
		return;
	engine->session.now = engine_now(engine);
	session_judge(&engine->session);
	jobs_judge(engine);
	focus_wanted(engine);
	if (engine->changed)
		engine->changed(engine->changed_data);
}

bool engine_must_name_ranks(const struct engine *engine)
{
	return rank_filter_is_part(&engine->session) || engine->settings.job;
}

/*
 * True if `sample` must list the chosen ranks' pids; false if all ranks of the nodes are sampled.
 */
static bool is_sampling_some(const struct engine *engine)
{
	const struct session *session = &engine->session;

	if (engine->lists_jobs)
		return false;
	return engine_must_name_ranks(engine) || (session->job >= 0 && session->other_count > 0);
}

static void engine_add_pid(json_t *pids, const struct rank *rank)
{
	if (rank->process.pid > 0 && rank->process.state != PROCESS_EXITED)
		json_array_append_new(json_array_get(pids, rank->node),
				      json_integer(rank->process.pid));
}

/* Returns an array with the pids of the chosen ranks of each node. */
static json_t *chosen_pids(const struct session *session)
{
	json_t *pids = json_array();

	for (size_t i = 0; i < session->node_count; i++)
		json_array_append_new(pids, json_array());
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		engine_add_pid(pids, rank);
		for (size_t j = 0; j < rank->child_count; j++)
			engine_add_pid(pids, rank->children[j]);
	}
	return pids;
}

/* Stores the pids that the next `sample` lists in engine->sampled. */
static void choose_sampled(struct engine *engine)
{
	json_decref(engine->sampled);
	engine->sampled = is_sampling_some(engine) ? chosen_pids(&engine->session) : NULL;
}

/* Makes the arguments of `sample` for a node. */
static json_t *sample_arguments(struct engine *engine, size_t node)
{
	json_t *arguments = json_object();

	if (engine->skips_names)
		json_object_set_new(arguments, "names", json_false());
	if (engine->session.choice.shows_native)
		json_object_set_new(arguments, "native", json_true());
	if (engine->sampled)
		json_object_set(arguments, "pids", json_array_get(engine->sampled, node));
	return arguments;
}

/*
 * Sends `sample` again if the list of chosen pids has changed. Comparing the lengths of the lists
 * is not enough: one rank may have ended when another rank appeared.
 */
static void follow_ranks(struct engine *engine)
{
	json_t *pids;
	bool is_same;

	if (engine->sampling_period <= 0 || (!is_sampling_some(engine) && !engine->sampled))
		return;
	pids = chosen_pids(&engine->session);
	is_same = json_equal(pids, engine->sampled);
	json_decref(pids);
	if (!is_same)
		engine_sample_every(engine, engine->sampling_period);
}

/*
 * Handles a batch of messages, or the loss of a node: completes requests, sends breakpoints,
 * evaluates displays and computes the verdict.
 */
static void follow(struct engine *engine)
{
	follow_ranks(engine);
	debuggers_follow(engine);
	requests_complete(engine);
	debuggers_ask_displays(engine);
	breakpoint_sync_say(engine);
	watch_nan_follow(engine);
	engine_settle(engine);
}

static void on_follow_due(void *data)
{
	struct engine *engine = data;

	loop_timer_stop(engine->follow_timer);
	engine->follow_timer = NULL;
	follow(engine);
}

/* Of several nodes all that can be read in this turn is read first. */
static void on_drained(struct link *link, void *data)
{
	struct engine *engine = data;

	remote_note_output(engine, link_number(link));
	if (engine->link_count == 1)
		follow(engine);
	else if (!engine->follow_timer)
		engine->follow_timer = loop_timer(engine->loop, 0, 0, on_follow_due, engine);
}

/*
 * Called after all other reactions, as errors of the lost node's requests would replace this
 * notice.
 */
static void engine_say_gone(struct engine *engine)
{
	const struct session *session = &engine->session;

	for (size_t i = 0; i < session->node_count; i++)
		if (!session->nodes[i].is_gone)
			return;
	if (engine->is_screen && engine->has_refused)
		engine_say(engine, true, "%s", session->nodes[0].gone_why);
	else if (engine->is_screen)
		engine_say(engine, true,
			   "connection to probetui-node lost; the job keeps running: quit (q) and "
			   "start probetui again");
}

static void on_closed(struct link *link, const char *why, void *data)
{
	struct engine *engine = data;

	/* LOG_INFO for a shell command, which reports the loss in its own error. */
	log_write(engine->is_screen ? LOG_WARNING : LOG_INFO, "%s", why);
	session_lose_node(&engine->session, link_number(link), why);
	requests_lose(engine, link_number(link), why);
	follow(engine);
	engine_say_gone(engine);
}

static json_t *pids_to_json(const struct settings *settings)
{
	json_t *pids = json_array();

	for (size_t i = 0; i < settings->pid_count; i++)
		json_array_append_new(pids, json_integer(settings->pids[i]));
	return pids;
}

/*
 * Adds `job` and `ranks`. The node ignores both; a replay of the recording uses them to choose the
 * same ranks. The chosen job is named even if it is the only job, as other jobs may appear later.
 */
static void add_choice(json_t *search, const struct engine *engine)
{
	const struct settings *settings = &engine->settings;
	const struct session *session = &engine->session;
	const struct job *job = session->job >= 0 ? &session->jobs[session->job] : NULL;

	if (settings->job)
		json_set_text(search, "job", settings->job);
	else if (job && job->name && job->name[0] != '\0')
		json_set_text(search, "job", job->name);
	if (settings->ranks)
		json_set_text(search, "ranks", settings->ranks);
}

static json_t *search_arguments(const struct engine *engine, bool follows)
{
	json_t *search = json_object();

	/* An empty list is sent, too: then only connected processes are ranks. */
	if (engine->session.choice.has_wanted_pids)
		json_object_set_new(search, "pids", pids_to_json(&engine->settings));
	if (follows)
		json_object_set_new(search, "follow", json_true());
	add_choice(search, engine);
	return search;
}

void engine_follow(struct engine *engine, double period)
{
	json_t *search = search_arguments(engine, true);

	json_object_set_new(search, "period", json_real(period));
	request_post_all(engine, "discover", search);
}

/* Sends `launch`; returns NULL if there is no job to start. */
static struct request *ask_for_job(struct engine *engine)
{
	const struct settings *settings = &engine->settings;
	json_t *argv = json_array();
	json_t *arguments = json_object();

	if (settings->program_count == 0) {
		json_decref(argv);
		json_decref(arguments);
		return NULL;
	}
	for (size_t i = 0; i < settings->program_count; i++)
		json_array_append_new(argv, json_text(settings->program[i]));
	json_object_set_new(arguments, "argv", argv);
	json_object_set_new(arguments, "breakpoints",
			    breakpoints_all_to_json(&engine->session.choice.breakpoints));
	engine->job.breakpoints = engine->session.choice.breakpoints.revision;
	if (engine->job.rows > 0 && engine->job.columns > 0) {
		json_object_set_new(arguments, "rows", json_integer(engine->job.rows));
		json_object_set_new(arguments, "columns", json_integer(engine->job.columns));
	}
	if (engine->job.printed)
		json_object_set_new(arguments, "waits", json_real(JOB_WAITS_SECONDS));
	return request_start(engine, LOCAL_NODE, "launch", arguments, NULL, NULL);
}

/* Waits until the program runs, or until its start has failed. */
static int engine_await_job(struct engine *engine, struct request *owned_job, struct error *error)
{
	json_t *body;

	if (!owned_job)
		return 0;
	request_wait(engine, owned_job, engine->settings.timeout);
	body = request_take(engine, owned_job, error);
	if (!body)
		return error_prefix(error, "cannot start the job");
	json_decref(body);
	return 0;
}

bool engine_awaits_ranks(const struct engine *engine)
{
	return engine->settings.program_count > 0 &&
	       (engine->session.launching.job.state == LAUNCHED_NONE ||
		launching_is_alive(&engine->session));
}

/*
 * Sends all requests that do not depend on another request's answer; returns the request of
 * ask_for_job().
 */
static struct request *ask_for_ranks(struct engine *engine)
{
	json_t *hello = json_pack("{s:i}", "protocol", PROTOCOL_VERSION);
	bool follows = engine->is_screen || engine->settings.script;
	bool is_alone = settings_names_debuggers_only(&engine->settings);
	struct request *job;

	if (engine->settings.is_read_only)
		json_object_set_new(hello, "readOnly", json_true());
	if (engine->settings.machine_count > 0)
		json_object_set_new(hello, "lease", json_real(REMOTE_LEASE));
	request_post_all(engine, "initialize", hello);
	debuggers_send_settings(engine);
	job = ask_for_job(engine);
	/*
	 * If the ranks are named only by --connect, connecting finds the ranks: connect before
	 * `discover`.
	 */
	if (is_alone)
		debuggers_connect(engine);
	engine->discovery = request_group_new(engine, NULL, NULL, NULL);
	for (size_t i = 0; i < engine->link_count; i++)
		request_group_add(engine->discovery, i, -1, "discover",
				  search_arguments(engine, follows), NULL);
	if (!is_alone)
		debuggers_connect(engine);
	return job;
}

/*
 * Replaces standard input by /dev/null. Then only the job has the original standard input open:
 * when the job stops reading, the writer of a pipe gets SIGPIPE.
 */
static void leave_input(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	dup2(fd, STDIN_FILENO);
	close(fd);
}

static struct link *start_program(struct engine *engine, struct error *error)
{
	char *path = link_find_node(error);
	struct link *link;

	if (!path)
		return NULL;
	if (engine->node_program && !engine->loop && !link_needs_exec(path))
		link = link_fork(path, engine->node_program, error);
	else
		link = link_new(path, engine->is_screen,
				engine->job.passes_input ? STDIN_FILENO : -1, error);
	free(path);
	return link;
}

/* Starts the node of this machine. */
static int start_local(struct engine *engine, struct error *error)
{
	char host[256] = "";
	struct link *link = start_program(engine, error);

	if (!link)
		return -1;
	engine->links = xcalloc(1, sizeof(*engine->links));
	engine->links[0] = link;
	if (engine->job.passes_input)
		leave_input();
	engine->link_count = 1;
	gethostname(host, sizeof(host) - 1);
	session_add_node(&engine->session, host);
	return 0;
}

static int start_nodes(struct engine *engine, struct error *error)
{
	static const struct link_handlers handlers = {
		.line = engine_take_line,
		.drained = on_drained,
		.closed = on_closed,
	};
	struct link_handlers ours = handlers;
	bool is_remote = engine->settings.machine_count > 0;
	struct request *job;

	if ((is_remote ? remote_start(engine, error) : start_local(engine, error)) < 0)
		return -1;
	timing_mark(&engine->timing, TIMING_SPAWNED);
	job = ask_for_ranks(engine);
	/* The loop is made while the node process starts. */
	if (!engine->loop)
		engine->loop = loop_new();
	ours.data = engine;
	for (size_t i = 0; i < engine->link_count; i++)
		link_watch(engine->links[i], engine->loop, &ours);
	if (is_remote)
		remote_watch(engine);
	return engine_await_job(engine, job, error);
}

int engine_start(struct engine *engine, struct error *error)
{
	if (engine->settings.replay_count > 0)
		return engine_play(engine, error);
	if (engine->settings.record && engine_record(engine, engine->settings.record, error) < 0)
		return -1;
	return start_nodes(engine, error);
}

static void set_true(void *data)
{
	*(bool *)data = true;
}

static bool can_change(const struct engine *engine)
{
	return engine->playback.timer || !engine_is_deaf(engine) || requests_are_ended(engine);
}

int engine_wait(struct engine *engine, bool (*done)(const struct engine *engine, void *data),
		void *data, double seconds)
{
	struct loop_timer *timer = NULL;
	bool is_over = seconds <= 0;
	bool is_done;

	while (!(is_done = done(engine, data)) && !is_over && can_change(engine)) {
		if (!timer)
			timer = loop_timer(engine->loop, seconds, 0, set_true, &is_over);
		loop_turn(engine->loop);
	}
	if (timer)
		loop_timer_stop(timer);
	return is_done ? 0 : -1;
}

void engine_sample_every(struct engine *engine, double period)
{
	engine->sampling_period = period;
	choose_sampled(engine);
	for (size_t i = 0; i < engine->link_count; i++) {
		json_t *arguments = sample_arguments(engine, i);

		json_object_set_new(arguments, "period", json_real(period));
		request_post(engine, i, "sample", arguments);
	}
}

void engine_use_native(struct engine *engine, bool is_native)
{
	engine->session.choice.shows_native = is_native;
	engine->session.revision++;
	if (engine->sampling_period > 0)
		engine_sample_every(engine, engine->sampling_period);
}

void engine_sample_once(struct engine *engine)
{
	choose_sampled(engine);
	for (size_t i = 0; i < engine->link_count; i++)
		request_post(engine, i, "sample", sample_arguments(engine, i));
}

struct request_group *engine_ask_sample(struct engine *engine)
{
	struct request_group *group = request_group_new(engine, NULL, NULL, NULL);

	choose_sampled(engine);
	for (size_t i = 0; i < engine->link_count; i++)
		request_group_add(group, i, -1, "sample", sample_arguments(engine, i), NULL);
	return group;
}

/*
 * The functions below handle a node's messages: they apply messages to the session, answer
 * requests, and log messages that a person must see.
 */

/* Requests whose names differ from the names of their commands: { request, command }. */
static const char *const request_words[][2] = {
	{ "setBreakpoints", "break" },
	{ "jobBreakpoints", "break" },
	{ "stepIn", "step" },
	{ "stepOut", "finish" },
	{ "evaluate", "print" },
	{ "jobInput", "the job's terminal" },
	{ "jobResize", "the job's terminal" },
	{ "jobEnd", "quit end" },
	{ "terminalInput", "console" },
	{ "terminal", "console" },
	{ "diagnose", "doctor" },
};

static const char *word_of(const char *request)
{
	for (size_t i = 0; i < ARRAY_LENGTH(request_words); i++) {
		if (strcmp(request_words[i][0], request) == 0)
			return request_words[i][1];
	}
	return request;
}

/* Requests whose errors are shown in their views, and not logged. */
static const char *const quiet[] = { "variables", "tensor", "parameters" };

static bool is_quiet(const char *request)
{
	for (size_t i = 0; i < ARRAY_LENGTH(quiet); i++)
		if (strcmp(quiet[i], request) == 0)
			return true;
	return false;
}

static void log_failure(const struct engine *engine, const struct message *message)
{
	if (engine->is_screen && !message->is_success && !is_quiet(message->name))
		log_write(LOG_WARNING, "%s: %s", word_of(message->name),
			  message->error ? message->error : "the request failed");
}

/* Logs output events of category console; output of log points is logged with the stops. */
static void log_output(const struct message *message)
{
	const char *category = json_get_string(message->body, "category", "");

	if (message->type == MESSAGE_EVENT && strcmp(message->name, "output") == 0 &&
	    strcmp(category, "console") == 0 && !json_object_get(message->body, "breakpoint"))
		log_write(LOG_WARNING, "%s", json_get_string(message->body, "output", ""));
}

/*
 * In a shell, prints the job's output and sends `jobTaken` for it: the job waits for this request.
 * A screen shows the output in its own view.
 */
static void pass_output(struct engine *engine, const struct message *message)
{
	json_t *taken;

	if (!engine->job.printed || message->type != MESSAGE_EVENT ||
	    strcmp(message->name, "output") != 0 ||
	    strcmp(json_get_string(message->body, "category", ""), "job") != 0)
		return;
	engine->job.printed(json_get_string(message->body, "output", ""));
	taken = json_object();
	json_object_set_new(taken, "bytes",
			    json_integer(json_get_integer(message->body, "bytes", 0)));
	request_post(engine, LOCAL_NODE, "jobTaken", taken);
}

/* Records the times of the first answers to these commands (timing.h). */
static void node_events_mark(struct engine *engine, const char *command)
{
	static const struct {
		const char *command;
		enum timing_part part;
	} marks[] = {
		{ "initialize", TIMING_NODE },
		{ "discover", TIMING_DISCOVERED },
		{ "sample", TIMING_SAMPLED },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(marks); i++) {
		if (strcmp(marks[i].command, command) == 0)
			timing_mark(&engine->timing, marks[i].part);
	}
}

/* A node that cannot serve this program, of another version, counts as gone. */
static void refuse_node(struct engine *engine, size_t node, const struct message *message)
{
	struct error why = ERROR_INIT;

	error_set(&why, "%s", message->error ? message->error : "initialize failed");
	engine->has_refused = true;
	link_refuse(engine->links[node], why.message);
}

void engine_apply(struct engine *engine, size_t node, const struct message *message, double now)
{
	struct error error = ERROR_INIT;

	if (message->type == MESSAGE_REQUEST)
		return;
	if (session_apply(&engine->session, node, message, now, &error) < 0)
		log_write(LOG_WARNING, "%s: %s", message->name, error.message);
	log_output(message);
	pass_output(engine, message);
	if (message->type != MESSAGE_RESPONSE)
		return;
	log_failure(engine, message);
	if (strcmp(message->name, "initialize") == 0 && !message->is_success &&
	    node < engine->link_count)
		refuse_node(engine, node, message);
	evidence_take(&engine->evidence, &engine->session, node, message);
	if (strcmp(message->name, "evidence") == 0)
		cause_learn(engine, node, message->body);
	node_events_mark(engine, message->name);
	requests_answer(engine, node, message);
}

void engine_take_line(struct link *link, const char *line, size_t length, void *data)
{
	struct engine *engine = data;
	struct error error = ERROR_INIT;
	struct message message;
	double begun = loop_now();

	if (message_parse(&message, line, length, &error) < 0) {
		log_write(LOG_WARNING, "invalid message from probetui-node: %s", error.message);
		return;
	}
	engine->timing.parsing += loop_now() - begun;
	engine_apply(engine, link_number(link), &message, engine_now(engine));
	engine_record_line(engine, &message, line, length);
	message_clear(&message);
}
