#include "backends/http/agent-resume.h"

#include <string.h>

#include "banned.h"
#include "backends/http/agent.h"
#include "backends/http/stopped-threads.h"
#include "backends/linux/task.h"
#include "backends/node.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "protocol/message.h"

/* A thread that runs Python code stops within this many seconds after a pause request. */
#define STAND_SECONDS 0.25

static struct stopped_thread *find_halt(const struct agent *agent, const struct message *request,
					struct error *error)
{
	struct stopped_thread *stopped = stopped_threads_find_asked(agent, request);

	if (!stopped)
		error_set(error, "the thread is no longer stopped");
	return stopped;
}

static json_t *agent_resume_make_arguments(const struct stopped_thread *stopped,
					   const struct message *request, struct error *error)
{
	int64_t depth = json_get_integer(request->body, "depth", 0);
	int64_t line = json_get_integer(request->body, "line", 0);
	json_t *arguments;

	if (depth > 0 && (size_t)depth >= stopped->frame_count) {
		error_set(error, "the frame no longer exists: the stack has changed");
		return NULL;
	}
	arguments = json_object();
	json_object_set_new(arguments, "threadId", json_integer(stopped->thread));
	if (depth > 0)
		json_object_set_new(arguments, "frameId", json_integer(stopped->frames[depth].id));
	if (line > 0)
		json_object_set_new(arguments, "line", json_integer(line));
	return arguments;
}

/* True if the process has exited or is about to exit: no thread is stopped any more. A process on
 * another machine counts as exited when its connection is lost. */
static bool agent_resume_has_ended(struct agent *agent)
{
	struct error none = ERROR_INIT;

	return agent->way.pid == 0 || agent->has_ended || agent_is_gone(agent) ||
	       error_is_set(&agent->way.refused) || agent_endpoint_find(&agent->way, &none) < 0;
}

/*
 * Handles the answer to a resume. The thread may have stopped again meanwhile, so only the stop
 * that the request named is released.
 */
static void agent_resume_on_gone(struct agent_request *query, json_t *body,
				 const struct error *error)
{
	int64_t thread = json_get_integer(query->context, "thread", 0);

	/* If the process has exited before the agent answered, the resume has succeeded. */
	if (query->failure == AGENT_REQUEST_LOST && agent_resume_has_ended(query->agent))
		error = NULL;
	if (!error)
		stopped_threads_release(query->agent, thread, query->value);
	agent_request_answer(query, body, error);
}

/*
 * Handles the answer to a withdrawal. A thread may still stop for the withdrawn pause: then
 * `stopped` is emitted.
 */
static void on_withdrawn(struct agent_request *query, json_t *body, const struct error *error)
{
	struct agent *agent = query->agent;

	if (!error) {
		agent->paused = 0;
		xreplace(&agent->debugger.why, NULL);
		agent_tell_again(agent);
	}
	agent_request_answer(query, body, error);
}

static void on_paused(struct agent_request *query, json_t *body, const struct error *error);
static void on_threads(struct agent_request *query, json_t *body, const struct error *error);

/*
 * True if a pause is not answered yet. The agent handles requests in any order, so the pause is
 * withdrawn only after its answer.
 */
static bool is_pause_under_way(const struct agent *agent)
{
	for (const struct agent_request *one = agent->requests; one; one = one->next)
		if (one->done == on_paused || one->done == on_threads)
			return true;
	return false;
}

static void send_withdrawal(struct agent_request *query)
{
	json_t *arguments = json_object();

	json_object_set_new(arguments, "threadId", json_integer(query->value));
	agent_request_send(query, "continue", arguments, AGENT_SECONDS);
}

/* Withdraws a pause whose thread has not stopped yet. If it stops meanwhile, it is resumed. */
static int withdraw_pause(struct agent *agent, const struct message *request)
{
	struct agent_request *query = agent_request_new(agent, request, on_withdrawn);

	query->value = agent->paused;
	if (!is_pause_under_way(agent))
		send_withdrawal(query);
	return 0;
}

/* Sends the withdrawals that withdraw_pause() could not send while the pause was not answered. */
static void send_withdrawals(struct agent *agent)
{
	struct agent_request *one = agent->requests;

	while (one) {
		if (one->done != on_withdrawn || !agent_request_is_idle(one)) {
			one = one->next;
			continue;
		}
		send_withdrawal(one);
		/* A request that fails at once may have changed the list. */
		one = agent->requests;
	}
}

int agent_resume_go(struct agent *agent, enum request_kind kind, const struct message *request,
		    struct error *error)
{
	struct stopped_thread *stopped;
	json_t *arguments;
	struct agent_request *query;

	if (kind == REQUEST_CONTINUE && agent->paused &&
	    !stopped_threads_find_asked(agent, request))
		return withdraw_pause(agent, request);
	stopped = find_halt(agent, request, error);
	arguments = stopped ? agent_resume_make_arguments(stopped, request, error) : NULL;
	if (!arguments)
		return -1;
	query = agent_request_new(agent, request, agent_resume_on_gone);
	query->value = stopped->number;
	query->context = json_object();
	json_object_set_new(query->context, "thread", json_integer(stopped->thread));
	if (kind == REQUEST_CONTINUE)
		json_object_del(arguments, "frameId");
	agent_request_send(query, request_kind_name(kind), arguments, AGENT_SECONDS);
	return 0;
}

/* Sends `goto` for the answer to gotoTargets: DAP's `goto` needs the id of a target. */
static void agent_resume_on_targets(struct agent_request *query, json_t *body,
				    const struct error *error)
{
	const json_t *target = json_array_get(json_object_get(body, "targets"), 0);
	struct error none = ERROR_INIT;
	json_t *arguments;

	if (!error && !json_is_object(target)) {
		error_set(&none, "jump: the frame has no such line");
		error = &none;
	}
	if (error) {
		agent_request_respond(query, NULL, error);
		return;
	}
	arguments = json_object();
	json_object_set_new(arguments, "threadId",
			    json_integer(json_get_integer(query->context, "thread", 0)));
	json_object_set_new(arguments, "targetId", json_integer(json_get_integer(target, "id", 0)));
	agent_request_send(agent_request_follow(query, agent_request_answer), "goto", arguments,
			   AGENT_SECONDS);
}

int agent_resume_jump(struct agent *agent, const struct message *request, struct error *error)
{
	struct stopped_thread *stopped = find_halt(agent, request, error);
	int64_t line = json_get_integer(request->body, "line", 0);
	struct agent_request *query;
	json_t *arguments;
	json_t *source;

	if (!stopped)
		return -1;
	if (stopped->frame_count == 0)
		return error_set(error, "jump: the thread has no frame");
	arguments = json_object();
	source = json_object();
	json_set_text(source, "path", stopped->frames[0].code.file);
	json_object_set_new(arguments, "source", source);
	json_object_set_new(arguments, "line", json_integer(line));
	query = agent_request_new(agent, request, agent_resume_on_targets);
	query->context = json_object();
	json_object_set_new(query->context, "thread", json_integer(stopped->thread));
	agent_request_send(query, "gotoTargets", arguments, AGENT_SECONDS);
	return 0;
}

int64_t agent_resume_thread(const struct agent *agent, const struct message *request)
{
	int64_t tid = json_get_integer(request->body, "tid", 0);

	if (tid == 0 || tid == agent->base.pid)
		return agent->inner_pid;
	if (agent->way.pid == 0 || agent->way.pid == agent->inner_pid)
		return tid;
	return task_inner_thread(agent->way.pid, (pid_t)tid);
}

static void agent_resume_on_late(void *data)
{
	struct agent *agent = data;

	loop_timer_stop(agent->pausing);
	agent->pausing = NULL;
	if (!agent_is_open(agent) || stopped_threads_shown(agent) || !agent->paused)
		return;
	agent_say_why(agent, "pause pending: the process runs no Python code at the moment, and "
			     "stops at the next Python line that it runs");
	node_flush(agent->base.node);
}

static void on_paused(struct agent_request *query, json_t *body, const struct error *error)
{
	struct agent *agent = query->agent;

	if (error)
		agent->paused = 0;
	agent_request_answer(query, body, error);
	send_withdrawals(agent);
	if (!error && !agent->pausing)
		agent->pausing = loop_timer(node_loop(agent->base.node), STAND_SECONDS, 0,
					    agent_resume_on_late, agent);
}

static void pause_one(struct agent_request *query)
{
	json_t *arguments = json_object();

	json_object_set_new(arguments, "threadId",
			    json_integer(agent_resume_thread(query->agent, &query->request)));
	agent_request_send(query, "pause", arguments, AGENT_SECONDS);
}

static void on_threads(struct agent_request *query, json_t *body, const struct error *error)
{
	if (error)
		on_paused(query, body, error);
	else
		pause_one(agent_request_follow(query, on_paused));
}

int agent_resume_pause(struct agent *agent, const struct message *request, struct error *error)
{
	const char *threads = json_get_string(request->body, "threads", NULL);
	int64_t tid = json_get_integer(request->body, "tid", 0);
	json_t *arguments;

	(void)error;
	/* Nothing is to be done if the thread is already stopped. */
	if (stopped_threads_find(agent, tid > 0 ? (pid_t)tid : agent->base.pid)) {
		node_respond(agent->base.node, request, NULL, NULL);
		return 0;
	}
	agent->paused = agent_resume_thread(agent, request);
	if (!threads) {
		pause_one(agent_request_new(agent, request, on_paused));
		return 0;
	}
	arguments = json_object();
	json_set_text(arguments, "mode", strcmp(threads, "one") == 0 ? "one" : "all");
	agent_request_send(agent_request_new(agent, request, on_threads), "setThreads", arguments,
			   AGENT_SECONDS);
	return 0;
}
