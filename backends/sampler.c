#include "backends/sampler.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "backends/connections.h"
#include "backends/linux/pid-list.h"
#include "backends/node.h"
#include "backends/process-table.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "base/map.h"
#include "protocol/debugger.h"
#include "protocol/message.h"
#include "protocol/process.h"
#include "protocol/sample.h"
#include "protocol/stack.h"

#define PERIOD_MINIMUM 0.01
/* While more bytes than this are queued in the pipe, the timer takes no samples. */
#define WAITING_MAXIMUM (256u << 10)

/* round: one request to sample, or one turn of the timer; it has a part for each process. */
struct round {
	struct message request; /* the request; its name is NULL for a turn of the timer */
	json_t *arguments;	/* arguments of the request, or of the request that set the timer */
	size_t waiting;		/* number of unanswered parts; 1 more while the parts are being
				 * sent */
};

/* part: the request of a round to one process. */
struct part {
	struct sampler *sampler;
	struct round *round;
	pid_t pid;
};

struct sampler {
	struct node *node;
	size_t part_count;	  /* unanswered parts of all rounds */
	struct loop_timer *timer; /* samples periodically; NULL: no period is set */
	struct pid_list pids;	  /* processes that the timer samples */
	json_t *arguments;	  /* arguments of the request that set the timer */
	bool is_all;		  /* the timer samples all processes */
	bool is_exact;
};

struct sampler *sampler_new(struct node *node)
{
	struct sampler *sampler = xcalloc(1, sizeof(*sampler));

	sampler->node = node;
	return sampler;
}

static void sampler_stop_timer(struct sampler *sampler)
{
	if (sampler->timer)
		loop_timer_stop(sampler->timer);
	sampler->timer = NULL;
	json_decref(sampler->arguments);
	sampler->arguments = NULL;
	pid_list_clear(&sampler->pids);
}

void sampler_free(struct sampler *sampler)
{
	if (!sampler)
		return;
	sampler_stop_timer(sampler);
	free(sampler);
}

static void emit_failure(struct sampler *sampler, pid_t pid, const char *error)
{
	struct process_sample sample = {
		.pid = pid,
		.time = loop_now(),
		.error = xstrdup(error),
	};

	node_emit_sample(sampler->node, &sample);
	process_sample_clear(&sample);
}

/*
 * Emits a sample that contains only the debugger's stack. Returns false if no debugger has stopped
 * the process.
 */
static bool emit_stopped(struct sampler *sampler, pid_t pid)
{
	const struct debugger *debugger =
		connections_debugger(node_connections(sampler->node), pid);
	struct process_sample sample = {
		.pid = pid,
		.epoch = 1,
		.time = loop_now(),
	};

	if (!debugger || debugger->state != DEBUGGER_STOPPED)
		return false;
	node_emit_sample(sampler->node, &sample);
	process_sample_clear(&sample);
	return true;
}

/*
 * If a process cannot be read, it has exited or has called execve(2), which makes the reader's
 * caches of its memory invalid.
 */
static void sampler_fail(struct sampler *sampler, pid_t pid, const char *error)
{
	if (!emit_stopped(sampler, pid))
		emit_failure(sampler, pid, error);
	if (!process_table_check(node_process_table(sampler->node), pid))
		connections_forget(node_connections(sampler->node), pid);
}

static void finish_one(struct sampler *sampler, struct round *round)
{
	if (--round->waiting > 0)
		return;
	if (round->request.name)
		node_respond(sampler->node, &round->request, NULL, NULL);
	message_clear(&round->request);
	json_decref(round->arguments);
	free(round);
}

static void part_answered(void *data, const char *error)
{
	struct part *part = data;
	struct sampler *sampler = part->sampler;

	sampler->part_count--;
	if (error)
		sampler_fail(sampler, part->pid, error);
	finish_one(sampler, part->round);
	free(part);
}

static int sampler_send_part(struct sampler *sampler, struct round *round, pid_t pid, bool is_exact,
			     struct error *error)
{
	enum request_kind kind = is_exact ? REQUEST_SAMPLE_EXACT : REQUEST_SAMPLE;
	const struct process *process = process_table_find(node_process_table(sampler->node), pid);
	struct message message;
	struct connection *connection;
	struct reason reason;
	struct part *part;
	int result;

	if (!process)
		return process_table_miss(pid, error);
	connection = connections_open(node_connections(sampler->node), process, error);
	if (!connection) {
		/* If no reader can be opened, the agent in the process takes the sample. */
		kind = REQUEST_SAMPLE;
		connections_attend(node_connections(sampler->node), process);
		connection = connections_find(node_connections(sampler->node), process, kind, NULL,
					      NULL);
	}
	if (!connection)
		return -1;
	if (!connection_can(connection, kind, NULL, &reason))
		return reason_explain(&reason, error);
	part = xcalloc(1, sizeof(*part));
	part->sampler = sampler;
	part->round = round;
	part->pid = pid;
	message_make_request(&message, request_kind_name(REQUEST_SAMPLE),
			     json_incref(round->arguments));
	node_expect(sampler->node, &message, part_answered, part);
	sampler->part_count++;
	round->waiting++;
	result = connection->backend->send(connection, kind, &message, error);
	if (result < 0) {
		node_unexpect(sampler->node, &message);
		sampler->part_count--;
		round->waiting--;
		free(part);
	}
	message_clear(&message);
	return result;
}

/* Copies request; NULL: a turn of the timer, which is not answered. */
static struct round *sampler_begin_round(struct sampler *sampler, const struct message *request,
					 json_t *arguments)
{
	struct round *round = xcalloc(1, sizeof(*round));

	/*
	 * The table of stacks is replaced before new samples are taken, not after: requests may
	 * still name stacks of the last samples.
	 */
	if (sampler->part_count == 0)
		node_tidy_stacks(sampler->node);
	if (request) {
		message_make_request(&round->request, request->name, json_incref(request->body));
		round->request.seq = request->seq;
	}
	round->arguments = json_incref(arguments);
	round->waiting = 1;
	return round;
}

static void run_round(struct sampler *sampler, const struct message *request, json_t *arguments,
		      const struct pid_list *pids, bool is_exact)
{
	struct round *round = sampler_begin_round(sampler, request, arguments);

	for (size_t i = 0; i < pids->count; i++) {
		struct error error = ERROR_INIT;

		if (sampler_send_part(sampler, round, pids->pids[i], is_exact, &error) < 0)
			sampler_fail(sampler, pids->pids[i], error.message);
	}
	finish_one(sampler, round);
}

void sampler_take(struct sampler *sampler, pid_t pid)
{
	json_t *arguments = json_object();
	struct round *round = sampler_begin_round(sampler, NULL, arguments);
	struct error error = ERROR_INIT;

	/*
	 * If the process has exited, it is not removed here (sampler_fail()), because the caller
	 * still uses it.
	 */
	if (sampler_send_part(sampler, round, pid, false, &error) < 0)
		emit_stopped(sampler, pid);
	finish_one(sampler, round);
	json_decref(arguments);
}

static bool sampler_is_gone(pid_t pid, void *data)
{
	struct sampler *sampler = data;

	return !process_table_find(node_process_table(sampler->node), pid);
}

static void sampler_on_timer(void *data)
{
	struct sampler *sampler = data;

	if (node_waiting(sampler->node) > WAITING_MAXIMUM)
		return;
	if (sampler->is_all) {
		pid_list_clear(&sampler->pids);
		process_table_list(node_process_table(sampler->node), &sampler->pids);
	}
	/* The exit of the processes removed here was reported before. */
	pid_list_remove(&sampler->pids, sampler_is_gone, sampler);
	run_round(sampler, NULL, sampler->arguments, &sampler->pids, sampler->is_exact);
	node_flush(sampler->node);
}

static void sampler_start_timer(struct sampler *sampler, json_t *arguments,
				struct pid_list *taken_pids, bool is_all, bool is_exact,
				double period)
{
	sampler_stop_timer(sampler);
	sampler->arguments = json_incref(arguments);
	if (period < PERIOD_MINIMUM)
		period = PERIOD_MINIMUM;
	sampler->pids = *taken_pids;
	*taken_pids = (struct pid_list){ .pids = NULL };
	sampler->is_all = is_all;
	sampler->is_exact = is_exact;
	sampler->timer =
		loop_timer(node_loop(sampler->node), period, period, sampler_on_timer, sampler);
}

void sampler_request(struct sampler *sampler, const struct message *request)
{
	bool is_all = !json_object_get(request->body, "pids");
	bool is_exact = json_get_boolean(request->body, "exact", false);
	double period = json_get_real(request->body, "period", -1);
	struct pid_list pids;

	pid_list_read(&pids, request->body);
	if (is_all)
		process_table_list(node_process_table(sampler->node), &pids);
	if (is_exact && node_is_read_only(sampler->node)) {
		node_respond(sampler->node, request, NULL,
			     "an exact sample stops the process for some microseconds, which "
			     "--read-only does not allow");
	} else if (period == 0) {
		sampler_stop_timer(sampler);
		node_respond(sampler->node, request, NULL, NULL);
	} else {
		run_round(sampler, request, request->body, &pids, is_exact);
		if (period > 0)
			sampler_start_timer(sampler, request->body, &pids, is_all, is_exact,
					    period);
	}
	pid_list_clear(&pids);
}

struct stack_files {
	struct map *stacks; /* set of the ids of noted stacks */
	struct strmap *paths;
};

struct stack_files *stack_files_new(void)
{
	struct stack_files *files = xcalloc(1, sizeof(*files));

	files->stacks = map_new(NULL);
	files->paths = strmap_new(NULL);
	return files;
}

void stack_files_free(struct stack_files *files)
{
	if (!files)
		return;
	strmap_free(files->paths);
	map_free(files->stacks);
	free(files);
}

static void note_stack(struct stack_files *files, const struct stack *stack)
{
	if (map_find(files->stacks, stack->id))
		return;
	map_put(files->stacks, stack->id, files);
	for (size_t i = 0; i < stack->frame_count; i++) {
		const char *path = stack->frames[i].code->file;

		if (!strmap_find(files->paths, path))
			strmap_put(files->paths, path, files);
	}
}

void stack_files_note(struct stack_files *files, const struct process_sample *sample)
{
	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].stack)
			note_stack(files, sample->threads[i].stack);
}

void stack_files_reset(struct stack_files *files)
{
	map_free(files->stacks);
	strmap_free(files->paths);
	files->stacks = map_new(NULL);
	files->paths = strmap_new(NULL);
}

bool stack_files_has(const struct stack_files *files, const char *path)
{
	return strmap_find(files->paths, path) != NULL;
}

size_t stack_files_count(const struct stack_files *files)
{
	return strmap_count(files->paths);
}

struct each_path {
	void (*each)(const char *path, void *data);
	void *data;
};

static void pass_path(const char *path, void *value, void *data)
{
	const struct each_path *pass = data;

	(void)value;
	pass->each(path, pass->data);
}

void stack_files_each(const struct stack_files *files, void (*each)(const char *path, void *data),
		      void *data)
{
	struct each_path pass = { .each = each, .data = data };

	strmap_each(files->paths, pass_path, &pass);
}
