#include "model/snapshot.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "model/job.h"
#include "model/rank-filter.h"
#include "model/session.h"
#include "protocol/collectives.h"
#include "protocol/stack.h"

/*
 * Limit of history frames over all processes, so that the loop is not blocked. The frames of a
 * stack count only if no sample has the stack; otherwise the history entry counts as one frame.
 */
#define HISTORY_MAXIMUM 8192u
/* Limit of the collectives of all processes. */
#define CALLS_MAXIMUM 8192u

/* Members of struct rank that are session times; -1, in JSON as well, means never. */
#define AT(member) offsetof(struct rank, member)
static const struct {
	const char *key;
	size_t offset;
} times[] = {
	{ "told_at", AT(told_at) },
	{ "sampled_at", AT(sampled_at) },
	{ "first_sampled_at", AT(first_sampled_at) },
	{ "last_moved_at", AT(last_moved_at) },
	{ "last_changed_at", AT(last_changed_at) },
	{ "last_left_at", AT(last_left_at) },
	{ "last_helped_at", AT(last_helped_at) },
	{ "last_woken_at", AT(last_woken_at) },
	{ "ended_at", AT(ended_at) },
	{ "debugger_at", AT(debugger_at) },
	{ "collectives_at", AT(collectives_at) },
	{ "peer_at", AT(peer_at) },
};
#undef AT

/* State of the conversion of a node to JSON. */
struct writer {
	const struct session *session;
	size_t node;
	struct stack_table *table;
	json_t *stacks; /* stacks that were not sent before */
	size_t history; /* limit of history frames per process */
	size_t calls;	/* limit of collectives per process */
};

/*
 * Copies the stack to the writer's table, and adds it to writer->stacks unless it was sent before;
 * returns the copy, or NULL if stack is NULL.
 */
static const struct stack *write_stack(struct writer *writer, const struct stack *stack)
{
	const struct stack *copy;
	json_t *json;

	if (!stack)
		return NULL;
	copy = stack_table_copy(writer->table, stack);
	json = stack_table_send(writer->table, copy);
	if (json)
		json_array_append_new(writer->stacks, json);
	return copy;
}

static json_t *write_thread(const struct thread *thread)
{
	return json_pack("{s:f, s:I, s:b, s:b, s:b, s:f}", "since", thread->since, "samples",
			 (json_int_t)thread->sample_count, "changed", thread->has_changed, "moved",
			 thread->has_moved, "busy", thread->is_busy, "usual", thread->usual_share);
}

/*
 * Writes the newest sample in the format that nodes send, and the results of comparing each thread
 * with earlier samples.
 */
static void write_sample(struct writer *writer, const struct rank *rank, json_t *json)
{
	struct process_sample sample = {
		.pid = rank->process.pid,
		.epoch = rank->epoch,
		.time = rank->node_time,
		.memory = rank->memory,
		.error = rank->sample_error,
		.source = rank->sample_source,
		.thread_count = rank->thread_count,
	};
	json_t *threads = json_array();

	sample.threads = xcalloc(rank->thread_count + 1, sizeof(*sample.threads));
	for (size_t i = 0; i < rank->thread_count; i++) {
		struct thread_sample *thread = &sample.threads[i];

		*thread = rank->threads[i].sample;
		thread->stack = write_stack(writer, thread->stack);
		thread->native = write_stack(writer, thread->native);
		thread->raised_stack = write_stack(writer, thread->raised_stack);
		json_array_append_new(threads, write_thread(&rank->threads[i]));
	}
	json_object_set_new(json, "sample", process_sample_to_json(&sample, writer->table));
	json_object_set_new(json, "threads", threads);
	free(sample.threads);
}

/* Writes a history entry's stack; returns how many frames this adds to the snapshot, at least 1. */
static size_t write_moment(struct writer *writer, const struct rank_moment *moment)
{
	size_t before = json_array_size(writer->stacks);
	const struct stack *stack = write_stack(writer, moment->stack);

	if (json_array_size(writer->stacks) == before)
		return 1;
	return stack->frame_count + 1;
}

/* Index of the oldest history entry within the limit; the newest entry is always included. */
static size_t find_oldest(struct writer *writer, const struct rank *rank)
{
	size_t first = 0;
	size_t at = rank->history_count;
	size_t cost = 0;

	if (rank->history_count > RANK_HISTORY)
		first = rank->history_count - RANK_HISTORY;
	while (at > first && cost < writer->history) {
		at--;
		cost += write_moment(writer, &rank->history[at % RANK_HISTORY]);
	}
	return at;
}

/* Returns the history as [time, stack id, time, stack id …], oldest first. */
static json_t *write_history(struct writer *writer, const struct rank *rank)
{
	json_t *json = json_array();

	for (size_t i = find_oldest(writer, rank); i < rank->history_count; i++) {
		const struct rank_moment *moment = &rank->history[i % RANK_HISTORY];
		const struct stack *stack = write_stack(writer, moment->stack);

		json_array_append_new(json, json_real(moment->time));
		json_array_append_new(json, json_integer(stack ? (json_int_t)stack->id : 0));
	}
	return json;
}

static json_t *write_rank(struct writer *writer, const struct rank *rank)
{
	json_t *json = json_object();

	json_object_set_new(json, "process", process_to_json(&rank->process));
	for (size_t i = 0; i < ARRAY_LENGTH(times); i++) {
		const double *time = (const void *)((const char *)rank + times[i].offset);

		json_object_set_new(json, times[i].key, json_real(*time));
	}
	json_object_set_new(json, "interval", json_real(rank->interval));
	json_object_set_new(json, "longest_pause", json_real(rank->longest_pause));
	json_object_set_new(json, "cpu_share", json_real(rank->cpu_share));
	json_object_set_new(json, "samples", json_integer((json_int_t)rank->sample_count));
	json_object_set_new(json, "history", write_history(writer, rank));
	if (rank->debugger.state != DEBUGGER_NONE)
		json_object_set_new(json, "debugger", debugger_to_json(&rank->debugger));
	if (rank->collectives)
		json_object_set_new(json, "collectives",
				    collectives_to_json(rank->collectives, writer->calls));
	json_object_set_new(json, "peer", json_integer(rank->peer));
	if (rank->sampled_at >= 0)
		write_sample(writer, rank, json);
	return json;
}

static void write_ranks(struct writer *writer, struct rank *const *ranks, size_t count,
			json_t *json)
{
	for (size_t i = 0; i < count; i++) {
		const struct rank *rank = ranks[i];

		if (rank->node != writer->node || rank->process.pid <= 0)
			continue;
		json_array_append_new(json, write_rank(writer, rank));
		write_ranks(writer, rank->children, rank->child_count, json);
	}
}

/* Returns the user's choices, which a replay makes again. */
static json_t *write_choice(const struct session *session)
{
	json_t *json = json_object();

	if (session->choice.wanted_text)
		json_set_text(json, "ranks", session->choice.wanted_text);
	if (session->choice.wanted_job)
		json_set_text(json, "job", session->choice.wanted_job);
	else if (session->job >= 0 && session->job_count > 1)
		json_set_text(json, "job", session->jobs[session->job].name);
	if (session->choice.has_wanted_pids)
		json_object_set_new(json, "pids", json_pack("[i]", 0));
	return json;
}

static json_t *write_bystanders(const struct session *session)
{
	json_t *json = json_array();

	for (size_t i = 0; i < session->bystander_count; i++) {
		const struct bystander *bystander = &session->bystanders[i];
		json_t *one = json_pack("{s:i}", "pid", (int)bystander->pid);

		json_set_text(one, "name", bystander->name);
		json_set_text(one, "script", bystander->script);
		json_set_text(one, "why", bystander->why);
		json_array_append_new(json, one);
	}
	return json;
}

static void write_discovery(const struct session *session, size_t node, json_t *json)
{
	const struct session_node *from = &session->nodes[node];
	json_t *discovered;

	if (!session->is_discovered)
		return;
	discovered = json_pack("{s:I, s:I, s:I, s:I, s:o}", "looked_at",
			       (json_int_t)session->looked_at, "uid", (json_int_t)session->uid,
			       "others", (json_int_t)session->other_users, "hidden",
			       (json_int_t)from->hidden, "bystanders", write_bystanders(session));
	json_set_text(discovered, "unread", from->unread);
	json_object_set_new(json, "discovered", discovered);
}

static size_t count_processes(struct rank *const *ranks, size_t count)
{
	size_t sum = count;

	for (size_t i = 0; i < count; i++)
		sum += ranks[i]->child_count;
	return sum;
}

/* The share of each process of what a snapshot has of all; at least 1. */
static size_t share_of_each(const struct session *session, size_t all)
{
	size_t count = count_processes(session->ranks, session->rank_count) +
		       count_processes(session->others, session->other_count);
	size_t each = all / (count > 0 ? count : 1);

	return each > 0 ? each : 1;
}

json_t *snapshot_to_json(const struct session *session, size_t node, struct stack_table *table)
{
	struct writer writer = {
		.session = session,
		.node = node,
		.table = table,
		.stacks = json_array(),
		.history = share_of_each(session, HISTORY_MAXIMUM),
		.calls = share_of_each(session, CALLS_MAXIMUM),
	};
	json_t *ranks = json_array();
	json_t *json = json_object();

	json_set_text(json, "host", session->nodes[node].name);
	json_object_set_new(json, "wanted", write_choice(session));
	write_discovery(session, node, json);
	write_ranks(&writer, session->ranks, session->rank_count, ranks);
	write_ranks(&writer, session->others, session->other_count, ranks);
	if (session->launching.job.state != LAUNCHED_NONE)
		json_object_set_new(json, "job", launched_to_json(&session->launching.job));
	json_object_set_new(json, "stacks", writer.stacks);
	json_object_set_new(json, "ranks", ranks);
	return json;
}

/* State of the application of a snapshot to a session. */
struct reader {
	struct session *session;
	size_t node;
	double shift;
	struct error *error;
};

static double snapshot_read_time(const struct reader *reader, const json_t *json, const char *key)
{
	double time = json_get_real(json, key, -1);

	return time >= 0 && isfinite(time) ? time + reader->shift : -1;
}

static size_t snapshot_read_count(const json_t *json, const char *key)
{
	int64_t count = json_get_integer(json, key, 0);

	return count > 0 ? (size_t)count : 0;
}

static int snapshot_read_threads(const struct reader *reader, struct rank *rank, const json_t *json)
{
	struct process_sample sample = { .threads = NULL };
	const json_t *threads = json_object_get(json, "threads");
	double now = rank->sampled_at;

	if (process_sample_from_json(&sample, reader->session->nodes[reader->node].stacks,
				     json_object_get(json, "sample"), reader->error) < 0) {
		process_sample_clear(&sample);
		return -1;
	}
	rank_apply_sample(rank, &sample, now);
	for (size_t i = 0; i < rank->thread_count; i++) {
		struct thread *thread = &rank->threads[i];
		const json_t *one = json_array_get(threads, i);
		double since = snapshot_read_time(reader, one, "since");

		thread->since = since >= 0 ? since : now;
		thread->here_since = thread->since;
		thread->sample_count = snapshot_read_count(one, "samples");
		thread->has_changed = json_get_boolean(one, "changed", false);
		thread->has_moved = json_get_boolean(one, "moved", false);
		thread->is_busy = json_get_boolean(one, "busy", false);
		thread->usual_share = json_get_real(one, "usual", 0);
	}
	return 0;
}

static void read_history(const struct reader *reader, struct rank *rank, const json_t *json)
{
	const struct stack_table *table = reader->session->nodes[reader->node].stacks;

	rank->history_count = 0;
	for (size_t i = 0; i + 1 < json_array_size(json); i += 2) {
		double time = json_number_value(json_array_get(json, i));
		json_int_t id = json_integer_value(json_array_get(json, i + 1));

		rank->history[rank->history_count++ % RANK_HISTORY] = (struct rank_moment){
			.time = time + reader->shift,
			.stack = stack_table_find(table, (uint64_t)id),
		};
	}
}

static int read_debugger(const struct reader *reader, struct rank *rank, const json_t *json)
{
	struct debugger debugger;
	int result = 0;

	debugger_init(&debugger);
	if (json)
		result = debugger_from_json(&debugger, json, reader->error);
	if (json && result == 0)
		rank_apply_debugger(rank, &debugger, 0);
	debugger_clear(&debugger);
	return result;
}

static int read_collectives(const struct reader *reader, struct rank *rank, const json_t *json)
{
	const json_t *body = json_object_get(json, "collectives");
	int64_t peer = json_get_integer(json, "peer", -1);

	rank->peer = peer >= 0 && peer <= RANKSET_MAXIMUM ? (int)peer : -1;
	if (!body)
		return 0;
	rank->collectives = xmalloc(sizeof(*rank->collectives));
	*rank->collectives = (struct collectives)COLLECTIVES_INIT;
	return collectives_from_json(rank->collectives, body, reader->error);
}

static int read_past(const struct reader *reader, struct rank *rank, const json_t *json)
{
	double sampled_at = snapshot_read_time(reader, json, "sampled_at");

	rank->sampled_at = sampled_at;
	if ((sampled_at >= 0 && snapshot_read_threads(reader, rank, json) < 0) ||
	    read_debugger(reader, rank, json_object_get(json, "debugger")) < 0 ||
	    read_collectives(reader, rank, json) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LENGTH(times); i++) {
		double *time = (void *)((char *)rank + times[i].offset);

		*time = snapshot_read_time(reader, json, times[i].key);
	}
	rank->interval = json_get_real(json, "interval", 0);
	rank->longest_pause = json_get_real(json, "longest_pause", 0);
	rank->cpu_share = json_get_real(json, "cpu_share", -1);
	rank->sample_count = snapshot_read_count(json, "samples");
	read_history(reader, rank, json_object_get(json, "history"));
	rank_update_state(rank);
	return 0;
}

/* Adds a child to its rank; -1 and *error: no such rank. */
static int snapshot_add_child(const struct reader *reader, struct rank *owned_child)
{
	const struct process *process = &owned_child->process;
	struct rank *parent =
		session_find_parent(reader->session, reader->node, process, reader->error);

	if (!parent)
		return error_prefix(reader->error, "snapshot");
	rank_add_child(parent, owned_child);
	session_note_pid(reader->session, owned_child);
	return 0;
}

static int snapshot_place(const struct reader *reader, struct rank *owned_rank)
{
	struct session *session = reader->session;
	const struct process *process = &owned_rank->process;

	if (process->parent_pid != 0)
		return snapshot_add_child(reader, owned_rank);
	if (process->rank < 0 || session->rank_count + session->other_count >= RANKS_MAXIMUM)
		return error_set(reader->error,
				 "snapshot: process %ld has no rank number, or too many ranks",
				 (long)process->pid);
	job_place(session, owned_rank);
	return 0;
}

/*
 * Adds only ended ranks if is_ended_wanted, else only live ranks. An ended rank is added as a live
 * one, because only live ranks can be assigned to a job that is not chosen yet; end_rank() ends the
 * rank later.
 */
static int read_rank(const struct reader *reader, const json_t *json, bool is_ended_wanted)
{
	const json_t *body = json_object_get(json, "process");
	struct process process;
	struct rank *rank = NULL;
	bool is_ended;
	int result;

	process_init(&process);
	result = process_from_json(&process, body, reader->error);
	is_ended = process.state == PROCESS_EXITED;
	if (result == 0 && is_ended == is_ended_wanted) {
		process.state = is_ended ? PROCESS_LIVE : process.state;
		rank = rank_new(&process);
		rank->node = reader->node;
		result = read_past(reader, rank, json);
		if (result == 0)
			result = snapshot_place(reader, rank);
		if (result < 0)
			rank_free(rank);
	}
	process_clear(&process);
	return result;
}

/* The session's rank for an ended process; NULL: not in the session. */
static struct rank *snapshot_find_same(const struct reader *reader, const struct process *process)
{
	const struct session *session = reader->session;
	struct rank *found[] = {
		session_find_rank(session, process->rank),
		session_find_pid(session, reader->node, process->pid),
	};

	for (size_t i = 0; i < ARRAY_LENGTH(found); i++) {
		const struct rank *rank = found[i];

		if (rank && rank->node == reader->node && rank->process.pid == process->pid &&
		    rank->process.start_time == process->start_time)
			return found[i];
	}
	return NULL;
}

static void end_rank(const struct reader *reader, const json_t *json)
{
	struct process process;
	struct rank *rank = NULL;

	process_init(&process);
	if (process_from_json(&process, json_object_get(json, "process"), NULL) == 0 &&
	    process.state == PROCESS_EXITED && process.parent_pid == 0)
		rank = snapshot_find_same(reader, &process);
	if (rank) {
		rank_end(rank, &process, snapshot_read_time(reader, json, "ended_at"));
		job_end(reader->session, rank);
	}
	process_clear(&process);
}

static int read_stacks(const struct reader *reader, const json_t *json)
{
	const json_t *stacks = json_object_get(json, "stacks");

	for (size_t i = 0; i < json_array_size(stacks); i++) {
		struct stack_table *table = reader->session->nodes[reader->node].stacks;

		if (stack_table_receive(table, json_array_get(stacks, i), reader->error) < 0)
			return -1;
	}
	return 0;
}

static int read_ranks(const struct reader *reader, const json_t *json)
{
	const json_t *ranks = json_object_get(json, "ranks");
	size_t count = json_array_size(ranks);

	/* Ended ranks first: a reused pid must map to the live process afterwards. */
	for (size_t i = 0; i < count; i++)
		if (read_rank(reader, json_array_get(ranks, i), true) < 0)
			return -1;
	for (size_t i = 0; i < count; i++)
		if (read_rank(reader, json_array_get(ranks, i), false) < 0)
			return -1;
	return 0;
}

int snapshot_apply(struct session *session, size_t node, const json_t *body, double shift,
		   struct error *error)
{
	struct reader reader = { session, node, shift, error };
	const json_t *discovered = json_object_get(body, "discovered");
	const json_t *ranks = json_object_get(body, "ranks");
	const json_t *job = json_object_get(body, "job");
	bool is_known = session->nodes[node].is_known;
	const char *host = json_get_string(body, "host", NULL);

	if (host) {
		free(session->nodes[node].name);
		session->nodes[node].name = xstrdup(host);
	}
	session_drop_stacks(session, node);
	if (read_stacks(&reader, body) < 0)
		return -1;
	if (is_known)
		return 0;
	session->nodes[node].is_known = true;
	rank_filter_recorded(session, node, json_object_get(body, "wanted"));
	if (read_ranks(&reader, body) < 0)
		return -1;
	if (discovered && session_discovered(session, node, discovered, error) < 0)
		return -1;
	if (job && session_apply_job(session, node, job, error) < 0)
		return -1;
	for (size_t i = 0; i < json_array_size(ranks); i++)
		end_rank(&reader, json_array_get(ranks, i));
	return 0;
}
