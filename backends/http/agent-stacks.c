#include "backends/http/agent-stacks.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/http/agent.h"
#include "backends/node.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "protocol/sample.h"
#include "protocol/stack.h"

/* Seconds until a sample fails, and the number of pending samples of an agent. */
#define SAMPLE_SECONDS 3.0
#define SAMPLES_MAXIMUM 2

static const char *text_at(const json_t *row, size_t i)
{
	return json_string_value(json_array_get(row, i));
}

static int number_at(const json_t *row, size_t i)
{
	json_int_t number = json_integer_value(json_array_get(row, i));

	return number >= 0 && number <= INT_MAX ? (int)number : 0;
}

static struct frame agent_stacks_read_frame(struct stack_table *stacks, const json_t *row)
{
	const char *name = text_at(row, 0);
	const char *file = text_at(row, 2);
	const struct code code = {
		.func = (char *)(name ? name : "?"),
		.qualname = (char *)text_at(row, 1),
		.file = (char *)(file ? file : "?"),
		.first_lineno = number_at(row, 3),
		.type = FRAME_PYTHON,
	};

	return (struct frame){
		.code = stack_table_code(stacks, &code),
		.lineno = number_at(row, 4),
	};
}

static const struct stack *read_stack(struct stack_table *stacks, const json_t *rows)
{
	size_t count = json_array_size(rows);
	const struct stack *stack;
	struct frame *frames;

	if (count > STACK_FRAMES_MAXIMUM)
		count = STACK_FRAMES_MAXIMUM;
	frames = xcalloc(count + 1, sizeof(*frames));
	for (size_t i = 0; i < count; i++)
		frames[i] = agent_stacks_read_frame(stacks, json_array_get(rows, i));
	stack = stack_table_stack(stacks, frames, count, 0);
	free(frames);
	return stack;
}

static bool has_tid(const struct process_sample *sample, pid_t tid)
{
	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].tid == tid)
			return true;
	return false;
}

static void read_thread(struct agent *agent, const json_t *told, struct process_sample *sample)
{
	bool is_main = json_get_boolean(told, "is_main", false);
	pid_t tid = is_main ? agent->base.pid : agent_tid(agent, json_get_integer(told, "tid", 0));
	struct thread_sample *thread;

	if (tid == 0 || has_tid(sample, tid))
		return;
	thread = process_sample_add(sample);
	thread->tid = tid;
	thread->is_main = is_main;
	thread->name = xstrdup_or_null(json_get_string(told, "name", NULL));
	thread->stack = read_stack(node_stacks(agent->base.node), json_object_get(told, "frames"));
}

/* Reads the threads; their number is limited. */
static void agent_stacks_read_threads(struct agent *agent, const json_t *body,
				      struct process_sample *sample)
{
	const json_t *threads = json_object_get(body, "threads");

	for (size_t i = 0; i < json_array_size(threads) && i < SAMPLE_THREADS_MAXIMUM; i++)
		read_thread(agent, json_array_get(threads, i), sample);
}

static void on_stacks(struct agent_request *query, json_t *body, const struct error *error)
{
	struct agent *agent = query->agent;
	struct process_sample sample = {
		.pid = agent->base.pid,
		.time = loop_now(),
	};

	agent->sampling--;
	if (!error) {
		sample.source = xstrdup("http");
		agent_stacks_read_threads(agent, body, &sample);
		node_emit_sample(agent->base.node, &sample);
	}
	agent_request_respond(query, NULL, error);
	process_sample_clear(&sample);
}

int agent_stacks_send(struct agent *agent, const struct message *request, struct error *error)
{
	(void)error;
	/* This sample is dropped: the sampler asks again in the next period. */
	if (agent->sampling >= SAMPLES_MAXIMUM) {
		node_respond(agent->base.node, request, NULL, NULL);
		return 0;
	}
	agent->sampling++;
	agent_request_send_plain(agent_request_new(agent, request, on_stacks), "/stacks", NULL,
				 SAMPLE_SECONDS);
	return 0;
}
