#include "backends/http/stopped-threads.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backends/connections.h"
#include "backends/http/agent-breakpoints.h"
#include "backends/http/agent-messages.h"
#include "backends/http/agent.h"
#include "backends/node.h"
#include "backends/timeout-extension.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "protocol/message.h"
#include "protocol/sample.h"

#define STOPS_MAXIMUM 1000

static void halt_free(struct stopped_thread *stopped)
{
	agent_frames_free(stopped->frames, stopped->frame_count);
	free(stopped->value);
	free(stopped->exception);
	free(stopped->description);
	free(stopped);
}

void stopped_threads_clear(struct agent *agent)
{
	while (agent->stops) {
		struct stopped_thread *stopped = agent->stops;

		agent->stops = stopped->next;
		halt_free(stopped);
	}
}

struct stopped_thread *stopped_threads_shown(const struct agent *agent)
{
	struct stopped_thread *stopped = agent->stops;

	while (stopped && !stopped->is_known)
		stopped = stopped->next;
	return stopped;
}

struct stopped_thread *stopped_threads_find_asked(const struct agent *agent,
						  const struct message *request)
{
	int64_t tid = json_get_integer(request->body, "tid", 0);

	return tid ? stopped_threads_find(agent, (pid_t)tid) : stopped_threads_shown(agent);
}

struct stopped_thread *stopped_threads_find(const struct agent *agent, pid_t tid)
{
	struct stopped_thread *stopped = agent->stops;

	while (stopped && (stopped->tid != tid || !stopped->is_known))
		stopped = stopped->next;
	return stopped;
}

static struct stopped_thread *stopped_threads_find_thread(const struct agent *agent, int64_t thread)
{
	struct stopped_thread *stopped = agent->stops;

	while (stopped && stopped->thread != thread)
		stopped = stopped->next;
	return stopped;
}

bool halt_is_held(const struct stopped_thread *stopped)
{
	return stopped->reason == STOP_EXCEPTION && stopped->lease >= 0;
}

/*
 * Events
 */

static void describe_halt(struct debugger *debugger, const struct stopped_thread *stopped)
{
	double now = loop_now();

	debugger->stops = stopped->count;
	debugger->reason = stopped->reason;
	debugger->at = stopped->at;
	debugger->tid = stopped->tid;
	debugger->held = now - stopped->since;
	debugger->is_post_mortem = halt_is_held(stopped);
	debugger->lease = stopped->lease < 0 ? -1 : stopped->lease > now ? stopped->lease - now : 0;
	debugger->hit_count = stopped->hit_count;
	memcpy(debugger->hits, stopped->hits, sizeof(stopped->hits));
	xreplace(&debugger->value, stopped->value);
	xreplace(&debugger->exception, stopped->exception);
	xreplace(&debugger->description, stopped->description);
}

void stopped_threads_describe(struct agent *agent)
{
	struct debugger *debugger = &agent->debugger;
	const struct stopped_thread *stopped = stopped_threads_shown(agent);

	if (debugger->state == DEBUGGER_STOPPED && stopped) {
		describe_halt(debugger, stopped);
		return;
	}
	debugger->held = -1;
	debugger->lease = -1;
	debugger->is_post_mortem = false;
	debugger->hit_count = 0;
}

/* Reports a change of the stops. before: count of the stop that was shown until now; 0: none. */
static void tell_change(struct agent *agent, uint64_t before)
{
	const struct stopped_thread *shown = stopped_threads_shown(agent);
	struct debugger *debugger = &agent->debugger;

	if (!agent_is_open(agent))
		return;
	if (shown && shown->count == before) {
		agent_tell_again(agent);
		return;
	}
	agent_say_why(agent, NULL);
	if (before != 0) {
		debugger->state = DEBUGGER_RUNNING;
		agent_tell(agent);
	}
	if (shown) {
		debugger->state = DEBUGGER_STOPPED;
		agent_tell(agent);
	}
}

static uint64_t shown_count(const struct agent *agent)
{
	const struct stopped_thread *shown = stopped_threads_shown(agent);

	return shown ? shown->count : 0;
}

/*
 * Stops
 */

static void stopped_threads_drop(struct agent *agent, struct stopped_thread *stopped)
{
	struct stopped_thread **link = &agent->stops;

	while (*link != stopped)
		link = &(*link)->next;
	*link = stopped->next;
	halt_free(stopped);
}

void stopped_threads_release(struct agent *agent, int64_t thread, int64_t number)
{
	struct stopped_thread *stopped = stopped_threads_find_thread(agent, thread);
	uint64_t before = shown_count(agent);
	bool was_known;

	if (!stopped || (number != 0 && stopped->number != number))
		return;
	was_known = stopped->is_known;
	stopped_threads_drop(agent, stopped);
	if (was_known)
		tell_change(agent, before);
}

static void stopped_threads_release_all(struct agent *agent)
{
	uint64_t before = shown_count(agent);

	stopped_threads_clear(agent);
	if (before != 0)
		tell_change(agent, before);
}

void stopped_threads_take_continued(struct agent *agent, const json_t *body)
{
	if (json_get_boolean(body, "allThreadsContinued", false))
		stopped_threads_release_all(agent);
	else
		stopped_threads_release(agent, json_get_integer(body, "threadId", 0), 0);
}

static const struct {
	const char *name;
	enum stop_reason reason;
} other_reasons[] = {
	{ "function breakpoint", STOP_BREAKPOINT },
	{ "goto", STOP_STEP },
};

static enum stop_reason stopped_threads_find_reason(const char *name)
{
	for (int i = STOP_ENTRY; i <= STOP_EXCEPTION; i++)
		if (strcmp(stop_reason_name((enum stop_reason)i), name) == 0)
			return (enum stop_reason)i;
	for (size_t i = 0; i < ARRAY_LENGTH(other_reasons); i++)
		if (strcmp(other_reasons[i].name, name) == 0)
			return other_reasons[i].reason;
	return STOP_PAUSE;
}

static void stopped_threads_read_hits(struct stopped_thread *stopped, const json_t *ids)
{
	for (size_t i = 0; i < json_array_size(ids); i++) {
		json_int_t id = json_integer_value(json_array_get(ids, i));

		if (id > 0 && id <= INT_MAX && stopped->hit_count < STOP_HITS_MAXIMUM)
			stopped->hits[stopped->hit_count++] = (int)id;
	}
}

/*
 * Returns a short description of the stop: the agent's text for a changed value; for a breakpoint,
 * probetui's number of the breakpoint and the failed condition, which the agent's text has after
 * ": ".
 */
static char *find_description(const struct stopped_thread *stopped, const json_t *body)
{
	const char *said = json_get_string(body, "text", NULL);
	const char *described = json_get_string(body, "description", "");
	const char *why = strstr(described, ": ");

	if (said && said[0])
		return xstrdup(said);
	if (stopped->reason == STOP_DATA_BREAKPOINT && described[0])
		return xstrdup(described);
	if (stopped->hit_count > 0)
		return xasprintf("breakpoint %d%s", stopped->hits[0], why ? why : "");
	if (stopped->at == STOP_AT_CALL || stopped->at == STOP_AT_RETURN ||
	    stopped->at == STOP_AT_EXCEPTION)
		return xstrdup(stop_event_name(stopped->at));
	return NULL;
}

static struct stopped_thread *read_halt(struct agent *agent, const json_t *body)
{
	struct stopped_thread *stopped = xcalloc(1, sizeof(*stopped));
	double lease = json_get_real(body, "lease", -1);
	double held = json_get_real(body, "held", 0);
	double now = loop_now();

	stopped->thread = json_get_integer(body, "threadId", 0);
	stopped->tid = agent_tid(agent, stopped->thread);
	stopped->number = json_get_integer(body, "stops", 0);
	stopped->reason = stopped_threads_find_reason(json_get_string(body, "reason", ""));
	stopped->at = stop_event_parse(json_get_string(body, "at", ""));
	stopped->value = xstrdup_or_null(json_get_string(body, "value", NULL));
	stopped_threads_read_hits(stopped, json_object_get(body, "hitBreakpointIds"));
	stopped->description = find_description(stopped, body);
	stopped->since = held > 0 && held < 1e9 ? now - held : now;
	stopped->lease = lease >= 0 && lease < 1e9 ? now + lease : -1;
	return stopped;
}

bool stopped_threads_tell_of_hold(const json_t *body)
{
	return stopped_threads_find_reason(json_get_string(body, "reason", "")) == STOP_EXCEPTION &&
	       json_get_real(body, "lease", -1) >= 0;
}

/* Returns the stop for which the request was sent, or NULL if the thread has resumed or stopped
 * again since. */
static struct stopped_thread *find_asked(const struct agent_request *query)
{
	struct stopped_thread *stopped = stopped_threads_find_thread(
		query->agent, json_get_integer(query->context, "thread", 0));

	/*
	 * For a stop that was reported twice, two requests may have been sent: only the first
	 * answer counts.
	 */
	return stopped && stopped->number == query->value && !stopped->is_known ? stopped : NULL;
}

static void put_last(struct agent *agent, struct stopped_thread *stopped)
{
	struct stopped_thread **link = &agent->stops;

	while (*link != stopped)
		link = &(*link)->next;
	*link = stopped->next;
	while (*link)
		link = &(*link)->next;
	*link = stopped;
	stopped->next = NULL;
}

static void stopped_threads_show(struct agent *agent, struct stopped_thread *stopped)
{
	uint64_t before = shown_count(agent);

	stopped->is_known = true;
	if (stopped->thread == agent->paused)
		agent->paused = 0;
	for (size_t i = 0; i < stopped->hit_count; i++)
		agent_bindings_count_hit(agent, stopped->hits[i]);
	/* Makes the agent the debugger of the process, so that the stop is reported. */
	agent_become_debugger(agent);
	stopped->count = connections_next_stop(node_connections(agent->base.node), agent->base.pid);
	/*
	 * A later stop does not replace the stop that is shown: the later stop is moved to the end
	 * of the list.
	 */
	if (before != 0 && stopped_threads_shown(agent) == stopped)
		put_last(agent, stopped);
	tell_change(agent, before);
}

static void on_exception(struct agent_request *query, json_t *body, const struct error *error)
{
	struct stopped_thread *stopped = find_asked(query);

	if (!stopped)
		return;
	free(stopped->exception);
	stopped->exception = error ? NULL : agent_frames_read_exception(body);
	stopped_threads_show(query->agent, stopped);
}

static void stopped_threads_ask(struct agent *agent, const struct stopped_thread *stopped,
				const char *command, size_t start,
				void (*done)(struct agent_request *query, json_t *body,
					     const struct error *error))
{
	struct agent_request *query = agent_request_new(agent, NULL, done);
	json_t *arguments = json_object();

	query->value = stopped->number;
	query->context = json_object();
	json_object_set_new(query->context, "thread", json_integer(stopped->thread));
	json_object_set_new(query->context, "start", json_integer((json_int_t)start));
	json_object_set_new(arguments, "threadId", json_integer(stopped->thread));
	if (start > 0)
		json_object_set_new(arguments, "startFrame", json_integer((json_int_t)start));
	agent_request_send(query, command, arguments, AGENT_SECONDS);
}

static void on_stack(struct agent_request *query, json_t *body, const struct error *error)
{
	struct agent *agent = query->agent;
	struct stopped_thread *stopped = find_asked(query);

	if (!stopped)
		return;
	if (query->failure == AGENT_REQUEST_LATE) {
		stopped_threads_ask(agent, stopped, "stackTrace", stopped->frame_count, on_stack);
		return;
	}
	/*
	 * The thread is stopped although its stack cannot be read in full: the part that was
	 * received is shown.
	 */
	if (query->failure == AGENT_REQUEST_REFUSED) {
		stopped_threads_show(agent, stopped);
		return;
	}
	if (error) {
		stopped_threads_drop(agent, stopped);
		return;
	}
	/* An answer with these frames was received before, to an identical request. */
	if (json_get_integer(query->context, "start", 0) != (int64_t)stopped->frame_count)
		return;
	if (agent_frames_read(&stopped->frames, &stopped->frame_count, body))
		stopped_threads_ask(agent, stopped, "stackTrace", stopped->frame_count, on_stack);
	else if (stopped->reason == STOP_EXCEPTION)
		stopped_threads_ask(agent, stopped, "exceptionInfo", 0, on_exception);
	else
		stopped_threads_show(agent, stopped);
}

static size_t count_stops(const struct agent *agent)
{
	size_t count = 0;

	for (const struct stopped_thread *stopped = agent->stops; stopped; stopped = stopped->next)
		count++;
	return count;
}

static bool is_jump(const json_t *body)
{
	return strcmp(json_get_string(body, "reason", ""), "goto") == 0;
}

void stopped_threads_take(struct agent *agent, const json_t *body)
{
	struct stopped_thread **link = &agent->stops;
	struct stopped_thread *stopped = read_halt(agent, body);
	struct stopped_thread *old = stopped_threads_find_thread(agent, stopped->thread);

	if (old && old->number > stopped->number) {
		halt_free(stopped);
		return;
	}
	if (old && old->number != stopped->number) {
		stopped_threads_release(agent, stopped->thread, 0);
	} else if (old && is_jump(body)) {
		/*
		 * The thread was not resumed: `goto` has only changed its line, so the stop is read
		 * again.
		 */
		stopped_threads_drop(agent, old);
	} else if (old || count_stops(agent) >= STOPS_MAXIMUM) {
		halt_free(stopped);
		return;
	}
	while (*link)
		link = &(*link)->next;
	*link = stopped;
	stopped->heard = ++agent->heard;
	stopped_threads_ask(agent, stopped, "stackTrace", 0, on_stack);
}

/* Returns the number of entries of an answer that are read, at most STOPS_MAXIMUM. */
static size_t stopped_threads_count_told(const json_t *stops)
{
	size_t count = json_array_size(stops);

	return count < STOPS_MAXIMUM ? count : STOPS_MAXIMUM;
}

static bool stopped_threads_is_among(const json_t *stops, int64_t thread)
{
	for (size_t i = 0; i < stopped_threads_count_told(stops); i++)
		if (json_get_integer(json_array_get(stops, i), "threadId", 0) == thread)
			return true;
	return false;
}

/* Removes stops that are missing in the answer, except those reported after the request was sent,
 * which may be newer than the answer. */
static void release_others(struct agent *agent, const json_t *stops, int64_t heard)
{
	struct stopped_thread *stopped = agent->stops;

	while (stopped) {
		bool is_older = stopped->heard <= heard;
		int64_t thread = stopped->thread;

		stopped = stopped->next;
		if (is_older && !stopped_threads_is_among(stops, thread))
			stopped_threads_release(agent, thread, 0);
	}
}

static void stopped_threads_on_state(struct agent_request *query, json_t *body,
				     const struct error *error)
{
	const json_t *stops = json_object_get(body, "stops");
	struct agent *agent = query->agent;

	if (error)
		return;
	timeout_extension_hear_catch(node_timeout_extension(agent->base.node), agent->base.pid,
				     json_is_object(json_object_get(body, "catch")));
	release_others(agent, stops, query->value);
	for (size_t i = 0; i < stopped_threads_count_told(stops); i++)
		stopped_threads_take(agent, json_array_get(stops, i));
}

void stopped_threads_ask_state(struct agent *agent)
{
	struct agent_request *query = agent_request_new(agent, NULL, stopped_threads_on_state);

	query->value = agent->heard;
	agent_request_send(query, "state", NULL, AGENT_SECONDS);
}

/*
 * Samples
 */

static struct thread_sample *stopped_threads_find_sample(struct process_sample *sample,
							 const struct stopped_thread *stopped)
{
	struct thread_sample *thread;

	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].tid == stopped->tid)
			return &sample->threads[i];
	if (stopped->tid == 0 || sample->thread_count >= SAMPLE_THREADS_MAXIMUM)
		return NULL;
	thread = process_sample_add(sample);
	thread->tid = stopped->tid;
	thread->is_main = stopped->tid == sample->pid;
	return thread;
}

void stopped_threads_amend(struct agent *agent, struct process_sample *sample)
{
	agent->epoch = sample->epoch;
	for (const struct stopped_thread *stopped = agent->stops; stopped;
	     stopped = stopped->next) {
		struct thread_sample *thread =
			stopped->is_known ? stopped_threads_find_sample(sample, stopped) : NULL;

		if (!thread)
			continue;
		thread->stack = agent_frames_intern(stopped->frames, stopped->frame_count,
						    node_stacks(agent->base.node));
		thread->native = NULL;
		thread->state = THREAD_STOPPED;
		thread->exactness = EXACT;
		/* The sampled system call is that in which the agent keeps the thread stopped. */
		thread->syscall = -1;
		free(thread->error);
		thread->error = NULL;
	}
}
