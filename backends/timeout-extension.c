#include "backends/timeout-extension.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/backend.h"
#include "backends/collective-deadline.h"
#include "backends/connections.h"
#include "backends/http/agent-endpoint.h"
#include "backends/linux/pid-list.h"
#include "backends/node.h"
#include "backends/process-table.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "base/map.h"
#include "protocol/debugger.h"
#include "protocol/message.h"
#include "protocol/process.h"

/* Seconds that the time-outs stay raised after a stop, so that operations that the other ranks
 * begin until the next stop have the raised time-outs. */
#define LINGER_SECONDS 5.0
/*
 * Seconds that a rank counts as stopped from the request to stop it, before the stop is reported.
 */
#define EXPECT_SECONDS 10.0
/* Seconds after a failed request to an agent until the request is sent again. */
#define RETRY_SECONDS 2.0

struct entry {
	bool was_listed;   /* the process has been in the process table */
	bool may_be_held;  /* a debugger of this node has stopped the process or has breakpoints in
			    * it */
	double until;	   /* time until which the process counts as stopped, by loop_now() */
	bool is_catching;  /* the agent stops the process at uncaught exceptions */
	bool is_filtering; /* the agent stops the process where exceptions are raised */
	bool is_raised;	   /* the request to raise the time-outs was sent to the agent */
	double retry;	   /* earliest time of the next request after a failed one; 0: none has
			    * failed */
	double raised_at;  /* time of the agent's answer that the time-outs are raised; 0: no answer
			    * yet */
	bool has_groups;   /* the agent has reported process groups */
	double limit;	   /* shortest time-out of the process groups, seconds; -1: unknown */
};

struct timeout_extension {
	struct node *node;
	struct map *entries;	  /* by pid */
	struct loop_timer *timer; /* starts a pass in the next turn of the loop; NULL: none is
				   * due */
	struct loop_timer *later; /* starts a pass at the next `until` or `retry`; NULL: none */
};

struct timeout_extension *timeout_extension_new(struct node *node)
{
	struct timeout_extension *timeout_extension = xcalloc(1, sizeof(*timeout_extension));

	timeout_extension->node = node;
	timeout_extension->entries = map_new(free);
	return timeout_extension;
}

void timeout_extension_free(struct timeout_extension *timeout_extension)
{
	if (!timeout_extension)
		return;
	if (timeout_extension->timer)
		loop_timer_stop(timeout_extension->timer);
	if (timeout_extension->later)
		loop_timer_stop(timeout_extension->later);
	map_free(timeout_extension->entries);
	free(timeout_extension);
}

static struct entry *timeout_extension_find(const struct timeout_extension *timeout_extension,
					    pid_t pid)
{
	return map_find(timeout_extension->entries, (uint64_t)pid);
}

static struct entry *timeout_extension_take(struct timeout_extension *timeout_extension, pid_t pid)
{
	struct entry *entry = timeout_extension_find(timeout_extension, pid);

	if (!entry) {
		entry = xcalloc(1, sizeof(*entry));
		entry->limit = -1;
		map_put(timeout_extension->entries, (uint64_t)pid, entry);
	}
	return entry;
}

static bool timeout_extension_may_be_held(const struct entry *entry)
{
	return entry && (entry->may_be_held || entry->is_catching || entry->is_filtering ||
			 entry->until > loop_now());
}

static bool are_peers(const struct process *one, const struct process *other)
{
	return one && other && one->pid != other->pid && !one->role && !other->role &&
	       strcmp(one->job, other->job) == 0;
}

/*
 * Requests to agents
 */

/* True if the rank or another rank of its job may be stopped. The rank itself counts, too, because
 * a stopped rank also has operations in flight. */
static bool is_waited_for(const struct timeout_extension *timeout_extension,
			  const struct process *peer, const struct pid_list *pids)
{
	const struct process_table *process_table = node_process_table(timeout_extension->node);

	if (timeout_extension_may_be_held(timeout_extension_find(timeout_extension, peer->pid)))
		return true;
	for (size_t i = 0; i < pids->count; i++)
		if (timeout_extension_may_be_held(
			    timeout_extension_find(timeout_extension, pids->pids[i])) &&
		    are_peers(peer, process_table_find(process_table, pids->pids[i])))
			return true;
	return false;
}

/*
 * Sends the request to the agent. Returns -1 if the agent cannot be reached now;
 * timeout_extension_look() is called when it can.
 */
static int timeout_extension_ask(struct timeout_extension *timeout_extension,
				 const struct process *peer, bool raises)
{
	struct connection *connection;
	struct error error = ERROR_INIT;
	json_t *arguments = json_object();
	struct message request;
	int result = -1;

	json_object_set_new(arguments, "pid", json_integer(peer->pid));
	json_object_set_new(arguments, "raise", json_boolean(raises));
	json_set_text(arguments, "for", "stopped ranks");
	message_make_request(&request, request_kind_name(REQUEST_WATCHDOG), arguments);
	request.seq = NODE_NOBODY;
	connection = connections_find(node_connections(timeout_extension->node), peer,
				      REQUEST_WATCHDOG, &request, &error);
	if (connection)
		result = connection->backend->send(connection, REQUEST_WATCHDOG, &request, &error);
	message_clear(&request);
	return result;
}

/*
 * True if the process may have an agent. For a process on another machine this is known only when
 * the request is sent, through its connection.
 */
static bool may_have_agent(const struct process *peer)
{
	return peer->pid >= PROCESS_FIRST_STANDIN || agent_endpoint_exists(peer->pid, peer->uid);
}

static bool is_to_be_asked(const struct entry *entry, bool raises)
{
	if (entry && entry->retry > 0)
		return entry->retry <= loop_now();
	return raises != (entry && entry->is_raised);
}

static void timeout_extension_settle(struct timeout_extension *timeout_extension,
				     const struct process *peer, const struct pid_list *pids)
{
	bool raises = is_waited_for(timeout_extension, peer, pids);
	struct entry *entry = timeout_extension_find(timeout_extension, peer->pid);
	struct entry before;

	if (!is_to_be_asked(entry, raises) || !may_have_agent(peer))
		return;
	entry = timeout_extension_take(timeout_extension, peer->pid);
	before = *entry;
	/*
	 * Set before the request is sent, because a failure may call timeout_extension_miss() at
	 * once.
	 */
	entry->is_raised = raises;
	entry->retry = 0;
	entry->raised_at = 0;
	if (timeout_extension_ask(timeout_extension, peer, raises) < 0) {
		*entry = before;
	}
}

static void timeout_extension_find_next(uint64_t pid, void *value, void *data)
{
	const struct entry *entry = value;
	double *next = data;

	(void)pid;
	if (entry->until > loop_now() && entry->until < *next)
		*next = entry->until;
	if (entry->retry > loop_now() && entry->retry < *next)
		*next = entry->retry;
}

static void on_later(void *data)
{
	struct timeout_extension *timeout_extension = data;

	loop_timer_stop(timeout_extension->later);
	timeout_extension->later = NULL;
	timeout_extension_look(timeout_extension);
}

/* Sets the timer to the earliest `until` or `retry` of all entries. */
static void timeout_extension_look_later(struct timeout_extension *timeout_extension)
{
	double next = INFINITY;

	if (timeout_extension->later)
		loop_timer_stop(timeout_extension->later);
	timeout_extension->later = NULL;
	map_each(timeout_extension->entries, timeout_extension_find_next, &next);
	if (isfinite(next))
		timeout_extension->later =
			loop_timer(node_loop(timeout_extension->node), next - loop_now() + 0.01, 0,
				   on_later, timeout_extension);
}

struct ended {
	const struct process_table *process_table;
	struct pid_list pids;
};

static void timeout_extension_note_ended(uint64_t pid, void *value, void *data)
{
	struct entry *entry = value;
	struct ended *ended = data;

	if (process_table_find(ended->process_table, (pid_t)pid))
		entry->was_listed = true;
	else if (entry->was_listed)
		pid_list_add(&ended->pids, (pid_t)pid);
}

/* Removes exited processes, because other processes may get their pids. */
static void timeout_extension_remove_ended(struct timeout_extension *timeout_extension)
{
	struct ended ended = { .process_table = node_process_table(timeout_extension->node) };

	map_each(timeout_extension->entries, timeout_extension_note_ended, &ended);
	for (size_t i = 0; i < ended.pids.count; i++)
		map_remove(timeout_extension->entries, (uint64_t)ended.pids.pids[i]);
	pid_list_clear(&ended.pids);
}

static void settle_all(struct timeout_extension *timeout_extension)
{
	struct process_table *process_table = node_process_table(timeout_extension->node);
	struct pid_list pids = { .pids = NULL };

	if (!process_table || node_is_read_only(timeout_extension->node))
		return;
	timeout_extension_remove_ended(timeout_extension);
	process_table_list(process_table, &pids);
	for (size_t i = 0; i < pids.count; i++) {
		const struct process *peer = process_table_find(process_table, pids.pids[i]);

		if (peer && !peer->role && peer->world_size != 1)
			timeout_extension_settle(timeout_extension, peer, &pids);
	}
	pid_list_clear(&pids);
	timeout_extension_look_later(timeout_extension);
}

static void timeout_extension_on_turn(void *data)
{
	struct timeout_extension *timeout_extension = data;

	loop_timer_stop(timeout_extension->timer);
	timeout_extension->timer = NULL;
	settle_all(timeout_extension);
	node_flush(timeout_extension->node);
}

/*
 * Runs the pass in the next turn of the loop, because the caller may be in a callback of a
 * connection.
 */
void timeout_extension_look(struct timeout_extension *timeout_extension)
{
	if (!timeout_extension->timer)
		timeout_extension->timer = loop_timer(node_loop(timeout_extension->node), 0, 0,
						      timeout_extension_on_turn, timeout_extension);
}

/*
 * Events
 */

void timeout_extension_hear(struct timeout_extension *timeout_extension, pid_t pid,
			    const struct debugger *debugger)
{
	bool was_held =
		timeout_extension_may_be_held(timeout_extension_find(timeout_extension, pid));
	bool is_held = debugger_is_ours(debugger) &&
		       (debugger->state == DEBUGGER_STOPPED || debugger->state == DEBUGGER_NESTED ||
			debugger->binding_count > 0);

	if (is_held || timeout_extension_find(timeout_extension, pid)) {
		struct entry *entry = timeout_extension_take(timeout_extension, pid);

		if (entry->may_be_held && !is_held)
			entry->until = loop_now() + LINGER_SECONDS;
		entry->may_be_held = is_held;
	}
	/*
	 * A pass is also needed if is_held is unchanged: the agent of a process that was resumed
	 * can be reached again.
	 */
	if (was_held != is_held || map_count(timeout_extension->entries) > 0)
		timeout_extension_look(timeout_extension);
}

void timeout_extension_hear_filters(struct timeout_extension *timeout_extension, pid_t pid,
				    bool has_some)
{
	timeout_extension_take(timeout_extension, pid)->is_filtering = has_some;
	if (has_some)
		settle_all(timeout_extension);
	else
		timeout_extension_look(timeout_extension);
}

void timeout_extension_hear_catch(struct timeout_extension *timeout_extension, pid_t pid,
				  bool is_on)
{
	timeout_extension_take(timeout_extension, pid)->is_catching = is_on;
	timeout_extension_look(timeout_extension);
}

void timeout_extension_expect(struct timeout_extension *timeout_extension, pid_t pid)
{
	struct entry *entry = timeout_extension_take(timeout_extension, pid);

	if (entry->until < loop_now() + EXPECT_SECONDS)
		entry->until = loop_now() + EXPECT_SECONDS;
	settle_all(timeout_extension);
}

void timeout_extension_miss(struct timeout_extension *timeout_extension, pid_t pid)
{
	timeout_extension_take(timeout_extension, pid)->retry = loop_now() + RETRY_SECONDS;
	timeout_extension_look(timeout_extension);
}

void timeout_extension_forget(struct timeout_extension *timeout_extension, pid_t pid)
{
	struct entry *entry = timeout_extension_find(timeout_extension, pid);

	if (!entry)
		return;
	entry->is_raised = false;
	entry->retry = 0;
	entry->raised_at = 0;
	entry->is_catching = false;
	entry->is_filtering = false;
	entry->limit = -1;
	timeout_extension_look(timeout_extension);
}

/*
 * Reported time-outs
 */

/*
 * True if stop_limit can read the deadlines of all operations in flight from the threads' system
 * calls: gloo is the only backend.
 */
static bool is_read(pid_t pid)
{
	struct deadlines deadlines = { .count = 0 };

	if (pid < PROCESS_FIRST_STANDIN)
		deadlines_read(&deadlines, pid);
	return deadlines.has_gloo && !deadlines.has_nccl;
}

/* Returns the shortest time-out of the process groups; -1: none. While an operation is in flight
 * whose deadline cannot be read (is_read()), a group counts with the time-out from before the raise
 * ("own"), which the operation has kept. */
static double least_limit(const json_t *told, pid_t pid)
{
	const json_t *groups = json_object_get(told, "groups");
	double left = is_read(pid) ? -1 : json_get_real(told, "left", -1);
	double least = -1;

	for (size_t i = 0; i < json_array_size(groups); i++) {
		const json_t *group = json_array_get(groups, i);
		double limit = json_get_real(group, "limit", -1);
		double own = json_get_real(group, "own", -1);

		if (strcmp(json_get_string(group, "backend", ""), "store") == 0)
			continue;
		if (left >= 0 && left <= own)
			limit = own;
		if (limit >= 0 && (least < 0 || limit < least))
			least = limit;
	}
	return least;
}

static void timeout_extension_tell_again(struct timeout_extension *timeout_extension, pid_t pid)
{
	const struct debugger *debugger =
		connections_debugger(node_connections(timeout_extension->node), pid);

	if (debugger && debugger->state == DEBUGGER_STOPPED)
		node_tell_debugger(timeout_extension->node, pid, debugger);
}

static void learn_one(struct entry *entry, pid_t pid, const json_t *told)
{
	entry->limit = least_limit(told, pid);
	entry->has_groups = json_array_size(json_object_get(told, "groups")) > 0;
	if (!json_get_boolean(told, "raised", false))
		entry->raised_at = 0;
	else if (entry->is_raised && entry->raised_at == 0)
		entry->raised_at = loop_now();
}

void timeout_extension_learn(struct timeout_extension *timeout_extension, pid_t pid,
			     const json_t *told)
{
	struct process_table *process_table = node_process_table(timeout_extension->node);
	const struct process *process = process_table_find(process_table, pid);
	struct pid_list pids = { .pids = NULL };

	learn_one(timeout_extension_take(timeout_extension, pid), pid, told);
	process_table_list(process_table, &pids);
	for (size_t i = 0; i < pids.count; i++)
		if (timeout_extension_may_be_held(
			    timeout_extension_find(timeout_extension, pids.pids[i])) &&
		    are_peers(process, process_table_find(process_table, pids.pids[i])))
			timeout_extension_tell_again(timeout_extension, pids.pids[i]);
	pid_list_clear(&pids);
}

bool timeout_extension_has_raised(const struct timeout_extension *timeout_extension, pid_t pid)
{
	const struct entry *entry = timeout_extension_find(timeout_extension, pid);

	return entry && entry->raised_at > 0;
}

double timeout_extension_limit(const struct timeout_extension *timeout_extension, pid_t pid)
{
	const struct entry *entry = timeout_extension_find(timeout_extension, pid);

	return entry ? entry->limit : -1;
}

/* True if the answer of the agent is pending. After a failure no answer is expected, because a
 * thread holds the GIL or a debugger has stopped the process. */
static bool is_under_way(const struct entry *entry)
{
	return entry && entry->is_raised && entry->retry == 0 && entry->raised_at == 0;
}

enum timeout_extension_progress
timeout_extension_progress(const struct timeout_extension *timeout_extension, pid_t pid,
			   double *since)
{
	const struct process_table *process_table = node_process_table(timeout_extension->node);
	const struct process *process =
		process_table ? process_table_find(process_table, pid) : NULL;
	enum timeout_extension_progress progress = TIMEOUT_EXTENSION_ALONE;
	struct pid_list pids = { .pids = NULL };

	*since = 0;
	if (!process)
		return TIMEOUT_EXTENSION_ALONE;
	process_table_list(process_table, &pids);
	for (size_t i = 0; i < pids.count; i++) {
		const struct entry *entry = timeout_extension_find(timeout_extension, pids.pids[i]);

		if (pids.pids[i] != pid &&
		    !are_peers(process, process_table_find(process_table, pids.pids[i])))
			continue;
		if (is_under_way(entry)) {
			progress = TIMEOUT_EXTENSION_ASKED;
			break;
		}
		if (!entry || entry->raised_at == 0 || !entry->has_groups)
			continue;
		progress = TIMEOUT_EXTENSION_RAISED;
		if (entry->raised_at > *since)
			*since = entry->raised_at;
	}
	pid_list_clear(&pids);
	return progress;
}

double timeout_extension_seconds(const struct timeout_extension *timeout_extension, pid_t pid)
{
	const struct process_table *process_table = node_process_table(timeout_extension->node);
	const struct process *process =
		process_table ? process_table_find(process_table, pid) : NULL;
	struct pid_list pids = { .pids = NULL };
	double least = -1;
	int known = 1;

	if (!process)
		return -1;
	process_table_list(process_table, &pids);
	for (size_t i = 0; i < pids.count; i++) {
		const struct entry *entry = timeout_extension_find(timeout_extension, pids.pids[i]);

		if (!entry || entry->limit < 0 ||
		    !are_peers(process, process_table_find(process_table, pids.pids[i])))
			continue;
		known++;
		if (least < 0 || entry->limit < least)
			least = entry->limit;
	}
	pid_list_clear(&pids);
	return known >= process->world_size ? least : -1;
}
