#include "backends/stop-gate.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/collective-deadline.h"
#include "backends/connections.h"
#include "backends/linux/pid-list.h"
#include "backends/node.h"
#include "backends/process-table.h"
#include "backends/requests.h"
#include "backends/timeout-extension.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/loop.h"
#include "protocol/debugger.h"
#include "protocol/message.h"
#include "protocol/process.h"

#define LOOK_SECONDS 0.05
/*
 * Seconds after the time-outs were raised: operations that began before have ended by then, or
 * hang.
 */
#define SETTLE_SECONDS 1.0
/* Maximum number of seconds that a request waits in the gate. */
#define GATE_SECONDS 3.0
/* Seconds; a deadline that is further away belongs to an operation with a raised time-out. */
#define RAISED_SECONDS (12 * 3600.0)
#define WAITING_MAXIMUM 10000

struct waiting {
	pid_t pid;
	enum request_kind kind;
	struct message request;
	double until;
};

struct stop_gate {
	struct node *node;
	struct waiting *waiting; /* in order of arrival */
	size_t count;
	size_t capacity;
	struct loop_timer *timer; /* checks the waiting requests; NULL: none waits */
	/*
	 * Result of the newest check of a job's threads (job, time, result), which is used for the
	 * requests to all ranks of the job.
	 */
	char *seen_job;
	double seen_at;
	bool has_seen_old;
};

struct stop_gate *stop_gate_new(struct node *node)
{
	struct stop_gate *gate = xcalloc(1, sizeof(*gate));

	gate->node = node;
	return gate;
}

void stop_gate_free(struct stop_gate *gate)
{
	if (!gate)
		return;
	if (gate->timer)
		loop_timer_stop(gate->timer);
	for (size_t i = 0; i < gate->count; i++)
		message_clear(&gate->waiting[i].request);
	free(gate->waiting);
	free(gate->seen_job);
	free(gate);
}

/* True if the request stops the process, or may stop it: the tracer attaches for such requests. */
static bool is_stopping(enum request_kind kind, const struct message *request)
{
	return request_opens(BACKEND_TRACER, kind, request);
}

static bool is_of_job(const struct process *one, const struct process *other)
{
	return other && !other->role && strcmp(one->job, other->job) == 0;
}

/* True if a gloo thread of the job waits with a time-out that was not raised. */
static bool stop_gate_look_at_job(const struct stop_gate *gate, const struct process *process)
{
	struct process_table *process_table = node_process_table(gate->node);
	struct pid_list pids = { .pids = NULL };
	bool has = false;

	process_table_list(process_table, &pids);
	for (size_t i = 0; !has && i < pids.count; i++) {
		struct deadlines deadlines;
		double left;

		if (pids.pids[i] >= PROCESS_FIRST_STANDIN ||
		    !is_of_job(process, process_table_find(process_table, pids.pids[i])))
			continue;
		deadlines_read(&deadlines, pids.pids[i]);
		left = deadlines_left(&deadlines, loop_now());
		has = left >= 0 && left < RAISED_SECONDS;
	}
	pid_list_clear(&pids);
	return has;
}

static bool has_old_deadline(struct stop_gate *gate, pid_t pid)
{
	const struct process *process = process_table_find(node_process_table(gate->node), pid);

	if (!process)
		return false;
	if (gate->seen_job && strcmp(gate->seen_job, process->job) == 0 &&
	    loop_now() - gate->seen_at < LOOK_SECONDS / 2)
		return gate->has_seen_old;
	free(gate->seen_job);
	gate->seen_job = xstrdup(process->job);
	gate->has_seen_old = stop_gate_look_at_job(gate, process);
	gate->seen_at = loop_now();
	return gate->has_seen_old;
}

static bool stop_gate_is_open(struct stop_gate *gate, pid_t pid)
{
	double since = 0;

	switch (timeout_extension_progress(node_timeout_extension(gate->node), pid, &since)) {
	case TIMEOUT_EXTENSION_ALONE:
		return true;
	case TIMEOUT_EXTENSION_ASKED:
		return false;
	case TIMEOUT_EXTENSION_RAISED:
		break;
	}
	return loop_now() - since >= SETTLE_SECONDS && !has_old_deadline(gate, pid);
}

/* True if one of the first `before` waiting requests is for the same process. */
static bool is_behind(const struct stop_gate *gate, pid_t pid, size_t before)
{
	for (size_t i = 0; i < before; i++)
		if (gate->waiting[i].pid == pid)
			return true;
	return false;
}

/* Returns the index of the first request that may be sent now; gate->count: none. */
static size_t stop_gate_find_next(struct stop_gate *gate)
{
	for (size_t i = 0; i < gate->count; i++) {
		const struct waiting *waiting = &gate->waiting[i];

		if (is_behind(gate, waiting->pid, i))
			continue;
		if (!is_stopping(waiting->kind, &waiting->request) ||
		    waiting->until <= loop_now() || stop_gate_is_open(gate, waiting->pid))
			return i;
	}
	return gate->count;
}

static void stop_gate_on_turn(void *data)
{
	struct stop_gate *gate = data;
	size_t next;

	while ((next = stop_gate_find_next(gate)) < gate->count) {
		struct waiting waiting = gate->waiting[next];

		gate->count--;
		for (size_t i = next; i < gate->count; i++)
			gate->waiting[i] = gate->waiting[i + 1];
		request_send(gate->node, waiting.kind, &waiting.request);
		message_clear(&waiting.request);
	}
	if (gate->count == 0) {
		loop_timer_stop(gate->timer);
		gate->timer = NULL;
	}
	node_flush(gate->node);
}

static void stop_gate_add(struct stop_gate *gate, pid_t pid, enum request_kind kind,
			  const struct message *request)
{
	struct waiting *waiting;

	ARRAY_GROW(gate->waiting, gate->count, gate->capacity);
	waiting = &gate->waiting[gate->count++];
	waiting->pid = pid;
	waiting->kind = kind;
	waiting->until = loop_now() + GATE_SECONDS;
	message_make_request(&waiting->request, request->name, json_incref(request->body));
	waiting->request.seq = request->seq;
	if (!gate->timer)
		gate->timer = loop_timer(node_loop(gate->node), LOOK_SECONDS, LOOK_SECONDS,
					 stop_gate_on_turn, gate);
}

/* Answers the waiting pauses of a process without sending them. Returns true if there were any. */
static bool stop_gate_withdraw_pauses(struct stop_gate *gate, pid_t pid)
{
	size_t kept = 0;
	bool has = false;

	for (size_t i = 0; i < gate->count; i++) {
		struct waiting *waiting = &gate->waiting[i];

		if (waiting->pid != pid || waiting->kind != REQUEST_PAUSE) {
			gate->waiting[kept++] = *waiting;
			continue;
		}
		has = true;
		node_respond(gate->node, &waiting->request, NULL, NULL);
		message_clear(&waiting->request);
	}
	gate->count = kept;
	return has;
}

static bool stop_gate_has_stopped(const struct stop_gate *gate, pid_t pid)
{
	const struct debugger *debugger = connections_debugger(node_connections(gate->node), pid);

	return debugger && debugger->state == DEBUGGER_STOPPED;
}

bool stop_gate_take(struct stop_gate *gate, pid_t pid, enum request_kind kind,
		    const struct message *request)
{
	bool is_late;

	if (kind == REQUEST_CONTINUE && stop_gate_withdraw_pauses(gate, pid) &&
	    !stop_gate_has_stopped(gate, pid)) {
		node_respond(gate->node, request, NULL, NULL);
		return true;
	}
	is_late = is_behind(gate, pid, gate->count);
	if (gate->count >= WAITING_MAXIMUM || (!is_late && !is_stopping(kind, request)))
		return false;
	if (is_stopping(kind, request))
		timeout_extension_expect(node_timeout_extension(gate->node), pid);
	if (!is_late && stop_gate_is_open(gate, pid))
		return false;
	stop_gate_add(gate, pid, kind, request);
	return true;
}
