#include "model/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/map.h"
#include "base/text.h"
#include "model/debug-state.h"
#include "model/job.h"
#include "model/outlier.h"
#include "model/output.h"
#include "model/place.h"
#include "model/rank-filter.h"
#include "model/rankselect.h"
#include "model/source.h"
#include "model/stops.h"
#include "protocol/stack.h"

/* Limit of stored files; at the limit, all files are dropped, and can be requested again. */
#define SOURCES_MAXIMUM 512
/* Limit of stored answers about variables. */
#define VARIABLES_MAXIMUM 256

static void free_source(void *source)
{
	source_free(source);
}

void session_init(struct session *session)
{
	*session = (struct session){ .job = -1 };
	session->choice.is_focus_all = true;
	launching_init(&session->launching);
	tensorview_init(&session->tensorview);
	session->by_pid = map_new(NULL);
	session->sources = strmap_new(free_source);
	session->previous = previous_new();
	session->choice.selection = (struct selection){ .rank = -1, .depth = -1 };
	verdict_make(&session->verdict, session);
}

static void free_ranks(struct rank **ranks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		rank_free(ranks[i]);
	free(ranks);
}

void session_clear_bystanders(struct session *session)
{
	for (size_t i = 0; i < session->bystander_count; i++) {
		free(session->bystanders[i].name);
		free(session->bystanders[i].script);
		free(session->bystanders[i].why);
	}
	free(session->bystanders);
	session->bystanders = NULL;
	session->bystander_count = 0;
}

void variables_free(struct variables *variables)
{
	if (!variables)
		return;
	variable_list_clear(&variables->list);
	free(variables->exactness);
	free(variables->error);
	free(variables->is_changed);
	free(variables);
}

void session_clear(struct session *session)
{
	for (size_t i = 0; i < session->variables_count; i++)
		variables_free(session->variables[i]);
	free(session->variables);
	previous_free(session->previous);
	strmap_free(session->sources);
	rankset_clear(&session->choice.focus);
	verdict_clear(&session->verdict);
	free(session->choice.wanted_job);
	free(session->choice.job.name);
	breakpoints_clear(&session->choice.breakpoints);
	displays_clear(&session->choice.displays);
	stops_clear(&session->stops);
	rank_filter_clear(session);
	rankname_clear_all(session);
	session_clear_bystanders(session);
	session_clear_outputs(session);
	session_clear_transcripts(session);
	launching_clear(&session->launching);
	answers_clear(&session->answers);
	paramdiff_clear(&session->paramdiff);
	eval_history_clear(&session->eval_history);
	tensorview_clear(&session->tensorview);
	job_clear_all(session);
	map_free(session->by_pid);
	free_ranks(session->others, session->other_count);
	free_ranks(session->ranks, session->rank_count);
	/* Free the stack tables last: ranks and verdict point into them. */
	for (size_t i = 0; i < session->node_count; i++) {
		free(session->nodes[i].name);
		free(session->nodes[i].unread);
		free(session->nodes[i].gone_why);
		free(session->nodes[i].recording_end);
		rankset_clear(&session->nodes[i].wanted);
		stack_table_free(session->nodes[i].stacks);
	}
	free(session->nodes);
	*session = (struct session){ .job = -1 };
}

size_t session_add_node(struct session *session, const char *name)
{
	session->nodes =
		xrealloc(session->nodes, (session->node_count + 1) * sizeof(struct session_node));
	session->nodes[session->node_count] = (struct session_node){
		.name = xstrdup(name),
		.stacks = stack_table_new(),
		.output_at = -1,
	};
	return session->node_count++;
}

static void lose(struct rank *rank, size_t node, const char *why)
{
	if (rank->node != node || rank_is_gone(rank))
		return;
	rank_lose_debugger(rank);
	rank->process.state = PROCESS_UNREADABLE;
	free(rank->process.error);
	rank->process.error = xstrdup(why);
	rank_update_state(rank);
	for (size_t i = 0; i < rank->child_count; i++)
		lose(rank->children[i], node, why);
}

void session_lose_node(struct session *session, size_t node, const char *why)
{
	session->nodes[node].is_gone = true;
	free(session->nodes[node].gone_why);
	session->nodes[node].gone_why = xstrdup(why);
	for (size_t i = 0; i < session->rank_count; i++)
		lose(session->ranks[i], node, why);
	for (size_t i = 0; i < session->other_count; i++)
		lose(session->others[i], node, why);
	session_note_searched(session);
	session->revision++;
}

static void set_silent(struct rank *rank, size_t node, bool is_silent)
{
	if (rank->node != node)
		return;
	rank->is_silent = is_silent;
	rank_update_state(rank);
	for (size_t i = 0; i < rank->child_count; i++)
		set_silent(rank->children[i], node, is_silent);
}

void session_set_silent(struct session *session, size_t node, bool is_silent)
{
	session->nodes[node].is_silent = is_silent;
	for (size_t i = 0; i < session->rank_count; i++)
		set_silent(session->ranks[i], node, is_silent);
	for (size_t i = 0; i < session->other_count; i++)
		set_silent(session->others[i], node, is_silent);
	session_note_searched(session);
	session->revision++;
}

/* True if the node may still report processes for the first time. */
static bool is_awaited(const struct session_node *node)
{
	return !node->is_known && !node->is_gone && !node->is_silent;
}

bool session_is_searched(const struct session *session)
{
	for (size_t i = 0; i < session->node_count; i++) {
		if (is_awaited(&session->nodes[i]))
			return false;
	}
	return true;
}

bool session_awaits_machine(const struct session *session)
{
	for (size_t i = 0; i < session->node_count; i++) {
		if (session->nodes[i].is_named && is_awaited(&session->nodes[i]))
			return true;
	}
	return false;
}

static bool is_any_known(const struct session *session)
{
	for (size_t i = 0; i < session->node_count; i++) {
		if (session->nodes[i].is_known)
			return true;
	}
	return false;
}

void session_note_searched(struct session *session)
{
	if (session->is_discovered || session_awaits_machine(session) || !is_any_known(session))
		return;
	session->is_discovered = true;
	job_choose(session);
}

void session_judge(struct session *session)
{
	job_update(session);
	verdict_make(&session->verdict, session);
	outlier_mark(session);
}

bool session_is_focused(const struct session *session, const struct rank *rank)
{
	return session->choice.is_focus_all ||
	       rankset_contains(&session->choice.focus, rank->process.rank);
}

void session_add_ranks(const struct session *session, struct rankset *set)
{
	for (size_t i = 0; i < session->rank_count; i++)
		rankset_add(set, session->ranks[i]->process.rank);
}

struct rank *session_find_rank(const struct session *session, int rank)
{
	size_t low = 0;
	size_t high = session->rank_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int number = session->ranks[middle]->process.rank;

		if (number == rank)
			return session->ranks[middle];
		if (number < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static uint64_t pid_key(size_t node, pid_t pid)
{
	return (uint64_t)node << 32 | (uint32_t)pid;
}

void session_note_pid(struct session *session, struct rank *rank)
{
	map_put(session->by_pid, pid_key(rank->node, rank->process.pid), rank);
}

void session_forget_pid(struct session *session, const struct rank *rank)
{
	uint64_t key = pid_key(rank->node, rank->process.pid);

	/* The pid may belong to another process by now. */
	if (map_find(session->by_pid, key) == rank)
		map_remove(session->by_pid, key);
}

struct rank *session_find_pid(const struct session *session, size_t node, pid_t pid)
{
	return map_find(session->by_pid, pid_key(node, pid));
}

const struct rank *session_find_any_pid(const struct session *session, size_t node, pid_t pid)
{
	const struct rank *rank = session_find_pid(session, node, pid);

	for (size_t i = 0; i < session->rank_count && !rank; i++) {
		if (session->ranks[i]->node == node && session->ranks[i]->process.pid == pid)
			rank = session->ranks[i];
	}
	return rank;
}

const struct rank *session_selected(const struct session *session)
{
	const struct rank *rank = session_find_rank(session, session->choice.selection.rank);

	if (!rank)
		rank = session_find_rank(session, rankset_first(&session->verdict.outliers));
	if (!rank && session->rank_count > 0)
		rank = session->ranks[0];
	return rank;
}

const struct rank *session_looked_at(const struct session *session)
{
	const struct rank *rank = session_selected(session);

	for (size_t i = 0; rank && i < rank->child_count; i++) {
		if (rank->children[i]->process.pid == session->choice.selection.pid)
			return rank->children[i];
	}
	return rank;
}

bool session_controls(const struct session *session, const struct rank *rank)
{
	return rank && !session->is_replay;
}

const struct thread *session_selected_thread(const struct session *session)
{
	const struct rank *rank = session_looked_at(session);
	const struct thread *thread;

	if (!rank)
		return NULL;
	thread = rank_find_thread(rank, session->choice.selection.tid);
	if (thread)
		return thread;
	return debug_state_is_stopped(rank) ? debug_state_thread(rank) : rank_main_thread(rank);
}

const struct stack *session_shown_stack(const struct session *session, const struct thread *thread)
{
	if (!thread)
		return NULL;
	return session->choice.shows_native && thread->sample.native ? thread->sample.native
								     : thread->sample.stack;
}

bool session_append_progress(struct buffer *out, const struct session *session)
{
	for (size_t i = 0; i < session->node_count; i++) {
		const struct progress *progress = &session->nodes[i].progress;

		if (progress->total == 0 || session->nodes[i].is_gone)
			continue;
		text_escape(out, progress->title, strlen(progress->title));
		buffer_printf(out, " %" PRId64 "/%" PRId64 " \u00b7 ", progress->done,
			      progress->total);
		text_escape(out, progress->message, strlen(progress->message));
		return true;
	}
	return false;
}

/* True if our debugger has stopped the thread, and the program has not ended (no post mortem). */
static bool session_is_stepping(const struct session *session, const struct thread *thread)
{
	const struct rank *rank = session_looked_at(session);

	return debug_state_is_stopped(rank) && !rank->debugger.is_post_mortem &&
	       debug_state_thread(rank) == thread;
}

int session_selected_depth(const struct session *session)
{
	const struct thread *thread = session_selected_thread(session);
	const struct stack *stack = thread ? thread->sample.stack : NULL;
	int depth = session->choice.selection.depth;

	if (!stack || stack->frame_count == 0)
		return -1;
	/* After a step select the frame where the step ended, even in library code. */
	if (depth < 0 && session_is_stepping(session, thread))
		return 0;
	if (depth < 0)
		return (int)place_user_frame(&session_looked_at(session)->process, stack);
	if ((size_t)depth >= stack->frame_count)
		return (int)stack->frame_count - 1;
	return depth;
}

static const struct source *find_source(const struct session *session, size_t node, pid_t pid,
					const char *path)
{
	struct buffer key = BUFFER_INIT;
	const struct source *source;

	buffer_printf(&key, "%zu:%ld:%s", node, (long)pid, path);
	source = strmap_find(session->sources, key.data);
	buffer_clear(&key);
	return source;
}

/*
 * If the process has exited, returns a live rank of its machine, which can read the same files;
 * NULL: the process has not exited, or there is no such rank.
 */
static const struct rank *find_heir(const struct session *session, size_t node, pid_t pid)
{
	const struct rank *own = session_find_any_pid(session, node, pid);

	if (!own || own->process.state != PROCESS_EXITED)
		return NULL;
	for (size_t i = 0; i < session->rank_count; i++)
		if (session->ranks[i]->node == node && session->ranks[i]->process.pid != 0 &&
		    session->ranks[i]->process.state == PROCESS_LIVE)
			return session->ranks[i];
	return NULL;
}

pid_t session_source_pid(const struct session *session, size_t node, pid_t pid)
{
	const struct rank *heir = find_heir(session, node, pid);

	return heir ? heir->process.pid : pid;
}

/*
 * Returns the file as read through any rank of the same machine; NULL: no rank has read the file.
 */
static const struct source *find_of_machine(const struct session *session, size_t node,
					    const char *path)
{
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		const struct source *source = NULL;

		if (rank->node == node && rank->process.pid != 0)
			source = find_source(session, node, rank->process.pid, path);
		if (source && source->content)
			return source;
	}
	return NULL;
}

void session_forget_ended(struct session *session, double at)
{
	for (size_t i = session->rank_count; i > 0; i--) {
		struct rank *rank = session->ranks[i - 1];

		if (rank->process.state == PROCESS_EXITED && rank->ended_at <= at)
			job_remove(session, rank);
	}
	session->revision++;
}

static bool session_has_ended(const struct session *session, size_t node, pid_t pid)
{
	const struct rank *rank = session_find_any_pid(session, node, pid);

	return rank && rank->process.state == PROCESS_EXITED;
}

const struct source *session_find_source(const struct session *session, size_t node, pid_t pid,
					 const char *path)
{
	const struct source *own = find_source(session, node, pid, path);
	const struct source *found = NULL;
	pid_t other = session_source_pid(session, node, pid);

	if (own && own->content)
		return own;
	if (other != pid)
		found = find_source(session, node, other, path);
	/* No process is left that could read the file: use what any rank of the machine read. */
	if (!found && (session->is_replay || session_has_ended(session, node, pid)))
		found = find_of_machine(session, node, path);
	return found ? found : own;
}

const struct code *session_find_code(const struct session *session, size_t node, pid_t pid,
				     pid_t tid, int depth)
{
	const struct rank *rank = session_find_any_pid(session, node, pid);
	const struct thread *thread = rank ? rank_find_thread(rank, tid) : NULL;
	const struct stack *stack = thread ? thread->sample.stack : NULL;

	if (!stack || depth < 0 || (size_t)depth >= stack->frame_count)
		return NULL;
	return stack->frames[depth].code;
}

uint64_t session_find_stop(const struct session *session, size_t node, pid_t pid, pid_t tid)
{
	const struct rank *rank = session_find_pid(session, node, pid);
	const struct thread *thread;
	pid_t stopped;

	if (!rank || rank->debugger.state != DEBUGGER_STOPPED)
		return 0;
	/* tid 0: the debugger does not know the thread; assume the main thread. */
	stopped = rank->debugger.tid ? rank->debugger.tid : pid;
	if (tid == 0 || tid == stopped)
		return rank->debugger.stops;
	/* A ptrace stop also stops the process's other Python threads. */
	thread = ptrace_state_is(rank) ? rank_find_thread(rank, tid) : NULL;
	return thread && thread->sample.state == THREAD_STOPPED ? rank->debugger.stops : 0;
}

void session_touch(struct session *session, int rank)
{
	struct rank *found = session_find_rank(session, rank);

	if (found)
		found->touched++;
}

uint64_t session_find_touched(const struct session *session, size_t node, pid_t pid)
{
	const struct rank *rank = session_find_pid(session, node, pid);

	return rank ? rank->touched : 0;
}

/* True if a and b answer the same question. */
static bool is_same_question(const struct variables *a, const struct variables *b)
{
	if (a->node != b->node || a->pid != b->pid || a->depth != b->depth || a->start != b->start)
		return false;
	return a->depth < 0 ? a->address == b->address : a->tid == b->tid;
}

/* True if another function is at the variables' depth by now. */
static bool is_outdated(const struct session *session, const struct variables *variables)
{
	const struct code *code;

	if (variables->depth < 0 || !variables->code)
		return false;
	code = session_find_code(session, variables->node, variables->pid, variables->tid,
				 variables->depth);
	return code != variables->code;
}

const struct variables *session_find_variables(const struct session *session, size_t node,
					       pid_t pid, pid_t tid, int depth, uint64_t address,
					       int64_t start)
{
	const struct variables asked = {
		.node = node,
		.pid = pid,
		.tid = tid,
		.depth = depth,
		.address = address,
		.start = start,
	};

	for (size_t i = session->variables_count; i > 0; i--) {
		const struct variables *variables = session->variables[i - 1];

		if (is_same_question(variables, &asked))
			return is_outdated(session, variables) ? NULL : variables;
	}
	return NULL;
}

void session_add_variables(struct session *session, struct variables *owned_variables)
{
	/* Each rank's peer is read with variables, which must not displace those that are shown. */
	size_t skip = session->variables_count >= VARIABLES_MAXIMUM + session->rank_count;
	size_t kept = 0;

	session->variables = xrealloc(session->variables,
				      (session->variables_count + 1) * sizeof(struct variables *));
	for (size_t i = 0; i < session->variables_count; i++) {
		struct variables *old = session->variables[i];

		if (i < skip || is_same_question(old, owned_variables))
			variables_free(old);
		else
			session->variables[kept++] = old;
	}
	session->variables[kept] = owned_variables;
	session->variables_count = kept + 1;
}

void session_add_source(struct session *session, size_t node, pid_t pid,
			struct source *owned_source)
{
	struct buffer key = BUFFER_INIT;

	if (strmap_count(session->sources) >= SOURCES_MAXIMUM) {
		strmap_free(session->sources);
		session->sources = strmap_new(free_source);
	}
	buffer_printf(&key, "%zu:%ld:%s", node, (long)pid, owned_source->path);
	strmap_put(session->sources, key.data, owned_source);
	buffer_clear(&key);
}

struct each_source {
	void (*each)(size_t node, pid_t pid, const struct source *source, void *data);
	void *data;
};

static void call_each(const char *key, void *value, void *data)
{
	const struct each_source *call = data;
	char *end;
	size_t node = strtoul(key, &end, 10);
	long pid = strtol(end + 1, NULL, 10);

	call->each(node, (pid_t)pid, value, call->data);
}

void session_each_source(const struct session *session,
			 void (*each)(size_t node, pid_t pid, const struct source *source,
				      void *data),
			 void *data)
{
	struct each_source call = { each, data };

	strmap_each(session->sources, call_each, &call);
}

/*
 * The rest of the file replaces a node's stack table, when the node begins a new table with new
 * ids.
 *
 * Stacks that the session points to are copied into the new table, so ranks keep their history, and
 * an unchanged stack keeps one pointer: a rank that has not moved still compares equal. All other
 * stacks are freed with the old table, so the session does not grow.
 */

static void carry(struct stack_table *table, const struct stack **stack)
{
	if (*stack)
		*stack = stack_table_carry(table, *stack);
}

/* Carries the newest history first, so that a full table loses only the oldest history. */
static void carry_history(struct rank *rank, struct stack_table *table)
{
	size_t oldest = 0;

	if (rank->history_count > RANK_HISTORY)
		oldest = rank->history_count - RANK_HISTORY;
	for (size_t i = rank->history_count; i > oldest; i--)
		carry(table, &rank->history[(i - 1) % RANK_HISTORY].stack);
}

static void carry_threads(struct rank *rank, size_t node, struct stack_table *table)
{
	for (size_t i = 0; i < rank->thread_count && rank->node == node; i++) {
		carry(table, &rank->threads[i].sample.stack);
		carry(table, &rank->threads[i].sample.native);
		carry(table, &rank->threads[i].sample.raised_stack);
	}
	for (size_t i = 0; i < rank->seen_count && rank->node == node; i++) {
		carry(table, &rank->seen[i].sample.stack);
		carry(table, &rank->seen[i].sample.native);
		carry(table, &rank->seen[i].sample.raised_stack);
	}
	for (size_t i = 0; i < rank->child_count; i++)
		carry_threads(rank->children[i], node, table);
}

static void carry_past(struct rank *rank, size_t node, struct stack_table *table)
{
	if (rank->node == node)
		carry_history(rank, table);
	for (size_t i = 0; i < rank->child_count; i++)
		carry_past(rank->children[i], node, table);
}

static void carry_ranks(struct session *session, size_t node, struct stack_table *table,
			void (*carry_one)(struct rank *rank, size_t node,
					  struct stack_table *table))
{
	for (size_t i = 0; i < session->rank_count; i++)
		carry_one(session->ranks[i], node, table);
	for (size_t i = 0; i < session->other_count; i++)
		carry_one(session->others[i], node, table);
}

/* Variables point to their frame's code; the code of a process that has gone becomes NULL. */
static void carry_variables(struct session *session, size_t node, struct stack_table *table)
{
	for (size_t i = 0; i < session->variables_count; i++) {
		struct variables *variables = session->variables[i];
		const struct rank *rank = session_find_any_pid(session, node, variables->pid);

		if (variables->node != node)
			continue;
		if (variables->code && rank)
			variables->code = stack_table_carry_code(table, variables->code);
		else
			variables->code = NULL;
	}
}

void session_drop_stacks(struct session *session, size_t node)
{
	struct stack_table *table = stack_table_new();

	carry_ranks(session, node, table, carry_threads);
	carry_ranks(session, node, table, carry_past);
	carry_variables(session, node, table);
	verdict_clear(&session->verdict);
	stack_table_free(session->nodes[node].stacks);
	session->nodes[node].stacks = table;
	session_judge(session);
}
