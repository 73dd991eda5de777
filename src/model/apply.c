/*
 * apply: applies messages of nodes to the session. Each handler first reads all of a message that
 * is needed, and changes the session only if the message is valid.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "model/debug-state.h"
#include "model/job.h"
#include "model/output.h"
#include "model/session.h"
#include "model/snapshot.h"
#include "model/source.h"
#include "model/stops.h"
#include "protocol/collectives.h"
#include "protocol/message.h"
#include "protocol/sample.h"

#define BYSTANDERS_MAXIMUM 20
#define CHILDREN_MAXIMUM 1024

/* One message that is being applied. */
struct apply {
	struct session *session;
	size_t node;
	const struct message *message;
	double now;
};

/* True if a and b are the same process of the same rank and job: only details have changed. */
static bool apply_is_same_place(const struct process *a, const struct process *b)
{
	return a->start_time == b->start_time && a->parent_pid == b->parent_pid &&
	       a->rank == b->rank && strcmp(a->job ? a->job : "", b->job ? b->job : "") == 0;
}

struct rank *session_find_parent(const struct session *session, size_t node,
				 const struct process *process, struct error *error)
{
	struct rank *parent = session_find_pid(session, node, process->parent_pid);

	if (!parent || parent->parent || process->parent_pid == process->pid) {
		error_set(error, "process %ld has the parent %ld, which is not a rank",
			  (long)process->pid, (long)process->parent_pid);
		return NULL;
	}
	if (parent->child_count >= CHILDREN_MAXIMUM) {
		error_set(error, "rank %d has more than %d children", parent->process.rank,
			  CHILDREN_MAXIMUM);
		return NULL;
	}
	return parent;
}

static void remove_known(struct session *session, struct rank *known)
{
	if (!known->parent) {
		job_remove(session, known);
		return;
	}
	session_forget_pid(session, known);
	rank_remove_child(known->parent, known->process.pid);
}

/*
 * Returns a number that changes with the rank's main stack or state; session->step counts changes.
 */
static size_t step_of(const struct rank *rank)
{
	if (!rank || rank->parent)
		return 0;
	return rank->history_count * (RANK_UNKNOWN + 1) + rank->state + 1;
}

static int apply_place(const struct apply *apply, const struct process *process,
		       struct error *error)
{
	struct session *session = apply->session;
	struct rank *known = session_find_pid(session, apply->node, process->pid);
	struct rank *parent = NULL;
	struct rank *rank;

	if (known && apply_is_same_place(&known->process, process)) {
		size_t step = step_of(known);

		rank_apply_process(known, process);
		session->step += step_of(known) != step;
		known->told_at = apply->now;
		return 0;
	}
	if (process->parent_pid != 0) {
		parent = session_find_parent(session, apply->node, process, error);
		if (!parent)
			return -1;
	} else if (process->rank < 0) {
		return error_set(error, "process %ld is added as a rank, but has no rank number",
				 (long)process->pid);
	}
	if (!known && session->rank_count + session->other_count >= RANKS_MAXIMUM)
		return error_set(error, "more than %d ranks", RANKS_MAXIMUM);
	if (known)
		remove_known(session, known);
	rank = rank_new(process);
	rank->node = apply->node;
	session->step += !parent;
	rank->told_at = apply->now;
	if (parent) {
		rank_add_child(parent, rank);
		session_note_pid(session, rank);
	} else {
		job_place(session, rank);
	}
	return 0;
}

static int apply_process(const struct apply *apply, struct error *error)
{
	struct process process;
	int result;

	process_init(&process);
	result = process_from_json(&process, apply->message->body, error);
	if (result == 0)
		result = apply_place(apply, &process, error);
	if (result == 0)
		apply->session->nodes[apply->node].is_known = true;
	process_clear(&process);
	return result;
}

static int apply_removed(const struct apply *apply, struct error *error)
{
	struct process process;
	struct rank *rank;

	process_init(&process);
	if (process_from_json(&process, apply->message->body, error) < 0) {
		process_clear(&process);
		return -1;
	}
	rank = session_find_pid(apply->session, apply->node, process.pid);
	apply->session->step += rank && !rank->parent;
	/* Remove a child that ended, and a process that lives but turned out not to be a rank. */
	if (rank && (rank->parent || process.state != PROCESS_EXITED)) {
		remove_known(apply->session, rank);
	} else if (rank) {
		rank_end(rank, &process, apply->now);
		job_end(apply->session, rank);
	}
	process_clear(&process);
	return 0;
}

/* True for a rank of the same job, or a child of one; the rank's own children do not count. */
static bool is_of_other_rank(const struct rank *rank, const struct rank *holder)
{
	const char *job = rank->process.job;

	return holder && holder->process.rank != rank->process.rank && job && holder->process.job &&
	       strcmp(holder->process.job, job) == 0;
}

static void note_holders(const struct session *session, size_t node, struct rank *rank)
{
	for (size_t i = 0; i < rank->thread_count; i++) {
		struct thread *thread = &rank->threads[i];
		const struct rank *holder =
			thread->sample.holder > 0
				? session_find_pid(session, node, thread->sample.holder)
				: NULL;

		thread->holder_rank = is_of_other_rank(rank, holder) ? holder->process.rank : -1;
	}
}

static int apply_sampled(const struct apply *apply, struct error *error)
{
	struct session *session = apply->session;
	struct process_sample sample = { .threads = NULL };
	struct rank *rank;
	size_t step;

	/*
	 * Read the sample even if the process has gone: a stack is sent in full only once, and
	 * later samples of other processes may refer to the stack.
	 */
	if (process_sample_from_json(&sample, session->nodes[apply->node].stacks,
				     apply->message->body, error) < 0) {
		process_sample_clear(&sample);
		return -1;
	}
	rank = session_find_pid(session, apply->node, sample.pid);
	step = step_of(rank);
	if (rank) {
		rank->longest_wait = apply->session->choice.longest_wait;
		rank_apply_sample(rank, &sample, apply->now);
		note_holders(session, apply->node, rank);
	}
	session->step += step_of(rank) != step;
	process_sample_clear(&sample);
	return 0;
}

/*
 * Resets the selected frame when the selected thread stops, because the selected depth belonged to
 * the thread's previous stack.
 */
static void look_at_stop(struct session *session, const struct rank *rank)
{
	if (session_looked_at(session) == rank &&
	    session_selected_thread(session) == debug_state_thread(rank))
		session->choice.selection.depth = -1;
}

/* True if the rank (of a child process: its parent) belongs to another job than the chosen one. */
static bool is_of_other_job(const struct session *session, const struct rank *rank)
{
	const struct rank *root = rank->parent ? rank->parent : rank;

	for (size_t i = 0; session->job >= 0 && i < session->other_count; i++)
		if (session->others[i] == root)
			return true;
	return false;
}

/*
 * True if the rank resumed without a request. The event `continued` is repeated unchanged while the
 * rank runs: only the first one counts.
 */
static bool is_resumed_without_request(const struct rank *rank, const struct debugger *before)
{
	bool was_resumed =
		before->state == DEBUGGER_RUNNING && before->resumed_for != RESUME_REQUEST;

	return (before->state == DEBUGGER_STOPPED || before->state == DEBUGGER_RUNNING) &&
	       !was_resumed && rank->debugger.state == DEBUGGER_RUNNING &&
	       rank->debugger.resumed_for != RESUME_REQUEST;
}

/*
 * The events `debugger`, `stopped` and `continued` each have the complete debugger state as body.
 */
static int apply_debugger(const struct apply *apply, struct error *error)
{
	const json_t *body = apply->message->body;
	int64_t pid = json_get_integer(body, "pid", 0);
	struct debugger debugger;
	struct rank *rank;
	bool is_stop;

	debugger_init(&debugger);
	if (debugger_from_json(&debugger, body, error) < 0) {
		debugger_clear(&debugger);
		return -1;
	}
	breakpoints_name_stop(&apply->session->choice.breakpoints, &debugger);
	rank = pid > 0 && pid <= INT_MAX ? session_find_pid(apply->session, apply->node, (pid_t)pid)
					 : NULL;
	is_stop = rank && rank_apply_debugger(rank, &debugger, apply->now);
	if (is_stop && !is_of_other_job(apply->session, rank)) {
		look_at_stop(apply->session, rank);
		stops_add(&apply->session->stops, rank);
		breakpoints_stopped(apply->session, rank);
	}
	if (rank && is_resumed_without_request(rank, &debugger) &&
	    !is_of_other_job(apply->session, rank))
		stops_add_resume(&apply->session->stops, rank);
	if (rank)
		breakpoints_take_refusals(&apply->session->choice.breakpoints, rank);
	apply->session->step += rank && !rank->parent;
	debugger_clear(&debugger);
	return 0;
}

static int apply_dropped(const struct apply *apply, struct error *error)
{
	(void)error;
	session_drop_stacks(apply->session, apply->node);
	return 0;
}

/* Adds a log point's output to session->stops; other console output of a node is only logged. */
static void apply_add_said(const struct apply *apply)
{
	const json_t *body = apply->message->body;
	int64_t pid = json_get_integer(body, "pid", 0);
	int64_t id = json_get_integer(body, "breakpoint", 0);
	const struct rank *rank;

	if (pid <= 0 || pid > INT_MAX || id <= 0 || id > INT_MAX)
		return;
	rank = session_find_pid(apply->session, apply->node, (pid_t)pid);
	if (rank)
		stops_add_said(&apply->session->stops, rank->process.rank, (int)id,
			       json_get_string(body, "output", ""));
}

static int apply_output(const struct apply *apply, struct error *error)
{
	const json_t *body = apply->message->body;

	if (strcmp(json_get_string(body, "category", ""), "console") == 0)
		apply_add_said(apply);
	const char *category = json_get_string(body, "category", "");

	if (strcmp(category, "terminal") == 0)
		return session_apply_transcript(apply->session, apply->node, body, error);
	if (strcmp(category, "job") == 0) {
		session_apply_job_output(apply->session, body);
		return 0;
	}
	return session_apply_output(apply->session, apply->node, apply->message->body, error);
}

static int apply_job(const struct apply *apply, struct error *error)
{
	return session_apply_job(apply->session, apply->node, apply->message->body, error);
}

static int apply_streams(const struct apply *apply, struct error *error)
{
	return session_apply_streams(apply->session, apply->node, apply->message->body, error);
}

static int apply_collectives(const struct apply *apply, struct error *error)
{
	const json_t *body = apply->message->body;
	int64_t pid = json_get_integer(body, "pid", 0);
	struct collectives *collectives;
	struct rank *rank = NULL;

	if (pid > 0 && pid <= INT_MAX)
		rank = session_find_pid(apply->session, apply->node, (pid_t)pid);
	if (!rank)
		return 0;
	collectives = xmalloc(sizeof(*collectives));
	*collectives = (struct collectives)COLLECTIVES_INIT;
	if (collectives_from_json(collectives, body, error) < 0) {
		collectives_clear(collectives);
		free(collectives);
		return -1;
	}
	rank_take_collectives(rank, collectives, apply->now);
	return 0;
}

static int apply_initialize(const struct apply *apply, struct error *error)
{
	struct session_node *node = &apply->session->nodes[apply->node];
	const char *host = json_get_string(apply->message->body, "host", NULL);

	if (!host)
		return error_set(error, "the node's answer to initialize lacks host");
	if (node->is_named)
		return 0;
	free(node->name);
	node->name = xstrdup(host);
	return 0;
}

static void read_bystander(struct bystander *bystander, const json_t *json)
{
	int64_t pid = json_get_integer(json, "pid", 0);

	bystander->pid = pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
	bystander->name = xstrdup(json_get_string(json, "name", ""));
	bystander->script = xstrdup(json_get_string(json, "script", ""));
	bystander->why = xstrdup(json_get_string(json, "why", ""));
}

/* Takes what a search for processes missed, `hidden` and `unread`; older nodes send neither. */
static void take_unread(struct session_node *node, const json_t *body)
{
	int64_t hidden = json_get_integer(body, "hidden", 0);

	node->hidden = hidden > 0 ? (size_t)hidden : 0;
	free(node->unread);
	node->unread = xstrdup_or_null(json_get_string(body, "unread", NULL));
}

static int apply_unread(const struct apply *apply, struct error *error)
{
	(void)error;
	take_unread(&apply->session->nodes[apply->node], apply->message->body);
	apply->session->step++;
	return 0;
}

int session_discovered(struct session *session, size_t node, const json_t *body,
		       struct error *error)
{
	const json_t *list = json_object_get(body, "bystanders");
	int64_t looked_at = json_get_integer(body, "looked_at", -1);
	int64_t uid = json_get_integer(body, "uid", -1);
	int64_t others = json_get_integer(body, "others", 0);
	size_t count = json_array_size(list);

	if (looked_at < 0 || uid < 0 || uid > UINT32_MAX)
		return error_set(error, "the node's answer to discover lacks looked_at or uid");
	if (count > BYSTANDERS_MAXIMUM)
		count = BYSTANDERS_MAXIMUM;
	session_clear_bystanders(session);
	session->bystanders = xcalloc(count + 1, sizeof(struct bystander));
	session->bystander_count = count;
	for (size_t i = 0; i < count; i++)
		read_bystander(&session->bystanders[i], json_array_get(list, i));
	session->looked_at = (size_t)looked_at;
	session->uid = (uid_t)uid;
	/* Answers of older nodes lack "others". */
	session->other_users = others > 0 ? (size_t)others : 0;
	take_unread(&session->nodes[node], body);
	session->is_discovered = session->is_discovered || !session_awaits_machine(session);
	if (session->is_discovered)
		job_choose(session);
	return 0;
}

static int apply_discover(const struct apply *apply, struct error *error)
{
	apply->session->nodes[apply->node].is_known = true;
	return session_discovered(apply->session, apply->node, apply->message->body, error);
}

static int apply_snapshot(const struct apply *apply, struct error *error)
{
	return snapshot_apply(apply->session, apply->node, apply->message->body,
			      apply->now - apply->message->time, error);
}

static int apply_recording_ended(const struct apply *apply, struct error *error)
{
	struct session_node *node = &apply->session->nodes[apply->node];

	(void)error;
	free(node->recording_end);
	node->recording_end =
		xstrdup_or_null(json_get_string(apply->message->body, "signal", NULL));
	return 0;
}

static int apply_progress(const struct apply *apply, struct error *error)
{
	const json_t *body = apply->message->body;
	struct progress *progress = &apply->session->nodes[apply->node].progress;
	int64_t total = json_get_integer(body, "total", -1);
	int64_t done = json_get_integer(body, "done", -1);

	/* total 0: the amount is unknown. */
	if (total < 0 || done < 0 || (total > 0 && done > total))
		return error_set(error, "invalid progress from the node");
	progress->total = total;
	progress->done = done;
	snprintf(progress->title, sizeof(progress->title), "%s",
		 json_get_string(body, "title", ""));
	snprintf(progress->message, sizeof(progress->message), "%s",
		 json_get_string(body, "message", ""));
	return 0;
}

static int apply_read_pid(const json_t *body, const char *what, pid_t *pid, struct error *error)
{
	int64_t value = json_get_integer(body, "pid", 0);

	if (value <= 0 || value > INT_MAX)
		return error_set(error, "the node's answer to %s lacks pid", what);
	*pid = (pid_t)value;
	return 0;
}

static int apply_apply_source(const struct apply *apply, struct error *error)
{
	const json_t *body = apply->message->body;
	const char *path = json_get_string(body, "path", NULL);
	struct source *source;
	pid_t pid = 0;

	if (apply_read_pid(body, "source", &pid, error) < 0)
		return -1;
	if (!path)
		return error_set(error, "the node's answer to source lacks path");
	source = source_new(path, json_get_string(body, "content", NULL),
			    json_get_boolean(body, "changed", false),
			    json_get_string(body, "error", NULL));
	source_place(source, json_get_string(body, "full", NULL),
		     json_get_integer(body, "device", 0), json_get_integer(body, "inode", 0));
	session_add_source(apply->session, apply->node, pid, source);
	return 0;
}

static int64_t apply_bounded(int64_t value, int64_t minimum, int64_t maximum)
{
	if (value < minimum)
		return minimum;
	return value > maximum ? maximum : value;
}

static int apply_variables(const struct apply *apply, struct error *error)
{
	const json_t *body = apply->message->body;
	struct variables *variables;
	struct rank *rank;
	pid_t pid = 0;

	if (apply_read_pid(body, "variables", &pid, error) < 0)
		return -1;
	variables = xcalloc(1, sizeof(*variables));
	if (apply->message->is_success &&
	    variable_list_from_json(&variables->list, body, error) < 0) {
		variables_free(variables);
		return -1;
	}
	variables->node = apply->node;
	variables->pid = pid;
	variables->tid = (pid_t)apply_bounded(json_get_integer(body, "tid", 0), -INT_MAX, INT_MAX);
	variables->depth = (int)apply_bounded(json_get_integer(body, "depth", -1), -1, INT_MAX);
	variables->address = json_get_hex(body, "address");
	variables->code = session_find_code(apply->session, apply->node, pid, variables->tid,
					    variables->depth);
	variables->epoch =
		(uint64_t)apply_bounded(json_get_integer(body, "epoch", 0), 0, INT64_MAX);
	variables->start = apply_bounded(json_get_integer(body, "start", 0), 0, INT64_MAX);
	variables->touched = session_find_touched(apply->session, apply->node, pid);
	previous_compare(apply->session, variables);
	variables->exactness = xstrdup(json_get_string(body, "exactness", "consistent"));
	variables->error = xstrdup_or_null(apply->message->error);
	variables->time = apply->now;
	rank = session_find_pid(apply->session, apply->node, pid);
	if (rank)
		rank_take_peer(rank, variables, apply->now);
	session_add_variables(apply->session, variables);
	return 0;
}

typedef int apply_function(const struct apply *apply, struct error *error);

static apply_function *const event_functions[EVENT_KIND_COUNT] = {
	[EVENT_RANK_ADDED] = apply_process,
	[EVENT_RANK_CHANGED] = apply_process,
	[EVENT_RANK_REMOVED] = apply_removed,
	[EVENT_UNREAD] = apply_unread,
	[EVENT_SAMPLED] = apply_sampled,
	[EVENT_DEBUGGER] = apply_debugger,
	[EVENT_STOPPED] = apply_debugger,
	[EVENT_CONTINUED] = apply_debugger,
	[EVENT_STACKS_DROPPED] = apply_dropped,
	[EVENT_OUTPUT] = apply_output,
	[EVENT_JOB] = apply_job,
	[EVENT_PROGRESS] = apply_progress,
	[EVENT_SNAPSHOT] = apply_snapshot,
	[EVENT_RECORDING_ENDED] = apply_recording_ended,
};

/* Responses to other requests do not change the session. */
static apply_function *const response_functions[REQUEST_KIND_COUNT] = {
	[REQUEST_INITIALIZE] = apply_initialize, [REQUEST_DISCOVER] = apply_discover,
	[REQUEST_VARIABLES] = apply_variables,	 [REQUEST_SOURCE] = apply_apply_source,
	[REQUEST_OUTPUT] = apply_streams,	 [REQUEST_COLLECTIVES] = apply_collectives,
};

/*
 * Sets *apply to the message's function, or to NULL if the message does not change the session;
 * returns false if the message's name is unknown.
 */
static bool apply_find_function(const struct message *message, apply_function **apply)
{
	enum request_kind request = request_kind_find(message->name);
	enum event_kind event = event_kind_find(message->name);

	if (message->type == MESSAGE_EVENT && event != EVENT_KIND_COUNT) {
		*apply = event_functions[event];
		return true;
	}
	if (message->type == MESSAGE_RESPONSE && request != REQUEST_KIND_COUNT) {
		*apply = response_functions[request];
		return true;
	}
	return false;
}

/*
 * True if the message may change the session. A failed request changes nothing, with one exception:
 * a failed `variables` request that names a process is an answer about that process.
 */
static bool is_of_use(const struct message *message)
{
	if (message->type != MESSAGE_RESPONSE || message->is_success)
		return true;
	return message->name && strcmp(message->name, "variables") == 0 &&
	       json_get_integer(message->body, "pid", 0) > 0;
}

int session_apply(struct session *session, size_t node, const struct message *message, double now,
		  struct error *error)
{
	struct apply apply = { session, node, message, now };
	apply_function *function;

	session->now = now;
	if (!is_of_use(message))
		return 0;
	if (!apply_find_function(message, &function))
		return error_set(error, "%s sent an unknown message: %.60s",
				 session->nodes[node].name, message->name);
	if (function && function(&apply, error) < 0)
		return error_prefix(error, "%s", session->nodes[node].name);
	session->revision++;
	return 0;
}
