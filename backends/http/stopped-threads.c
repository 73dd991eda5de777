#include "backends/http/stopped-threads.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/connections.h"
#include "backends/http/agent-bindings.h"
#include "backends/http/agent-frames.h"
#include "backends/http/agent.h"
#include "backends/node.h"
#include "backends/timeout-extension.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "protocol/message.h"
#include "protocol/sample.h"

#define HALTS_MAXIMUM 1000

static void halt_free(struct halt *halt)
{
	agent_frames_free(halt->frames, halt->frame_count);
	free(halt->value);
	free(halt->exception);
	free(halt->description);
	free(halt);
}

void stopped_threads_clear(struct agent *agent)
{
	while (agent->halts) {
		struct halt *halt = agent->halts;

		agent->halts = halt->next;
		halt_free(halt);
	}
}

struct halt *stopped_threads_shown(const struct agent *agent)
{
	struct halt *halt = agent->halts;

	while (halt && !halt->is_known)
		halt = halt->next;
	return halt;
}

struct halt *stopped_threads_find_asked(const struct agent *agent, const struct message *request)
{
	int64_t tid = json_get_integer(request->body, "tid", 0);

	return tid ? stopped_threads_find(agent, (pid_t)tid) : stopped_threads_shown(agent);
}

struct halt *stopped_threads_find(const struct agent *agent, pid_t tid)
{
	struct halt *halt = agent->halts;

	while (halt && (halt->tid != tid || !halt->is_known))
		halt = halt->next;
	return halt;
}

static struct halt *find_thread(const struct agent *agent, int64_t thread)
{
	struct halt *halt = agent->halts;

	while (halt && halt->thread != thread)
		halt = halt->next;
	return halt;
}

bool halt_is_held(const struct halt *halt)
{
	return halt->reason == STOP_EXCEPTION && halt->lease >= 0;
}

/*
 * What is told
 */

static void describe_halt(struct debugger *debugger, const struct halt *halt)
{
	double now = loop_now();

	debugger->stops = halt->count;
	debugger->reason = halt->reason;
	debugger->at = halt->at;
	debugger->tid = halt->tid;
	debugger->held = now - halt->since;
	debugger->is_post_mortem = halt_is_held(halt);
	debugger->lease = halt->lease < 0 ? -1 : halt->lease > now ? halt->lease - now : 0;
	debugger->hit_count = halt->hit_count;
	memcpy(debugger->hits, halt->hits, sizeof(halt->hits));
	xreplace(&debugger->value, halt->value);
	xreplace(&debugger->exception, halt->exception);
	xreplace(&debugger->description, halt->description);
}

void stopped_threads_describe(struct agent *agent)
{
	struct debugger *debugger = &agent->debugger;
	const struct halt *halt = stopped_threads_shown(agent);

	if (debugger->state == DEBUGGER_STOPPED && halt) {
		describe_halt(debugger, halt);
		return;
	}
	debugger->held = -1;
	debugger->lease = -1;
	debugger->is_post_mortem = false;
	debugger->hit_count = 0;
}

/* After a change: what was shown before, by its count. */
static void tell_change(struct agent *agent, uint64_t before)
{
	const struct halt *shown = stopped_threads_shown(agent);
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
	const struct halt *shown = stopped_threads_shown(agent);

	return shown ? shown->count : 0;
}

/*
 * Stops
 */

static void drop(struct agent *agent, struct halt *halt)
{
	struct halt **link = &agent->halts;

	while (*link != halt)
		link = &(*link)->next;
	*link = halt->next;
	halt_free(halt);
}

void stopped_threads_release(struct agent *agent, int64_t thread, int64_t number)
{
	struct halt *halt = find_thread(agent, thread);
	uint64_t before = shown_count(agent);
	bool was_known;

	if (!halt || (number != 0 && halt->number != number))
		return;
	was_known = halt->is_known;
	drop(agent, halt);
	if (was_known)
		tell_change(agent, before);
}

static void release_all(struct agent *agent)
{
	uint64_t before = shown_count(agent);

	stopped_threads_clear(agent);
	if (before != 0)
		tell_change(agent, before);
}

void stopped_threads_take_continued(struct agent *agent, const json_t *body)
{
	if (json_get_boolean(body, "allThreadsContinued", false))
		release_all(agent);
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

static enum stop_reason find_reason(const char *name)
{
	for (int i = STOP_ENTRY; i <= STOP_EXCEPTION; i++)
		if (strcmp(stop_reason_name((enum stop_reason)i), name) == 0)
			return (enum stop_reason)i;
	for (size_t i = 0; i < ARRAY_LENGTH(other_reasons); i++)
		if (strcmp(other_reasons[i].name, name) == 0)
			return other_reasons[i].reason;
	return STOP_PAUSE;
}

static void read_hits(struct halt *halt, const json_t *ids)
{
	for (size_t i = 0; i < json_array_size(ids); i++) {
		json_int_t id = json_integer_value(json_array_get(ids, i));

		if (id > 0 && id <= INT_MAX && halt->hit_count < STOP_HITS_MAXIMUM)
			halt->hits[halt->hit_count++] = (int)id;
	}
}

/*
 * A few words, as debugger.h has them. What changed, or why a condition
 * failed, only the agent knows; how breakpoints are numbered, we do.
 */
static char *find_description(const struct halt *halt, const json_t *body)
{
	const char *said = json_get_string(body, "text", NULL);
	const char *described = json_get_string(body, "description", "");
	const char *why = strstr(described, ": ");

	if (said && said[0])
		return xstrdup(said);
	if (halt->reason == STOP_DATA_BREAKPOINT && described[0])
		return xstrdup(described);
	if (halt->hit_count > 0)
		return xasprintf("breakpoint %d%s", halt->hits[0], why ? why : "");
	if (halt->at == STOP_AT_CALL || halt->at == STOP_AT_RETURN || halt->at == STOP_AT_EXCEPTION)
		return xstrdup(stop_event_name(halt->at));
	return NULL;
}

static struct halt *read_halt(struct agent *agent, const json_t *body)
{
	struct halt *halt = xcalloc(1, sizeof(*halt));
	double lease = json_get_real(body, "lease", -1);
	double held = json_get_real(body, "held", 0);
	double now = loop_now();

	halt->thread = json_get_integer(body, "threadId", 0);
	halt->tid = agent_tid(agent, halt->thread);
	halt->number = json_get_integer(body, "stops", 0);
	halt->reason = find_reason(json_get_string(body, "reason", ""));
	halt->at = stop_event_parse(json_get_string(body, "at", ""));
	halt->value = xstrdup_or_null(json_get_string(body, "value", NULL));
	read_hits(halt, json_object_get(body, "hitBreakpointIds"));
	halt->description = find_description(halt, body);
	halt->since = held > 0 && held < 1e9 ? now - held : now;
	halt->lease = lease >= 0 && lease < 1e9 ? now + lease : -1;
	return halt;
}

bool stopped_threads_tell_of_hold(const json_t *body)
{
	return find_reason(json_get_string(body, "reason", "")) == STOP_EXCEPTION &&
	       json_get_real(body, "lease", -1) >= 0;
}

/* Its thread is asked for by number: another stop may have come since. */
static struct halt *find_asked(const struct agent_request *query)
{
	struct halt *halt =
		find_thread(query->agent, json_get_integer(query->context, "thread", 0));

	/* Two may have asked, where it went and was told of again. */
	return halt && halt->number == query->value && !halt->is_known ? halt : NULL;
}

static void put_last(struct agent *agent, struct halt *halt)
{
	struct halt **link = &agent->halts;

	while (*link != halt)
		link = &(*link)->next;
	*link = halt->next;
	while (*link)
		link = &(*link)->next;
	*link = halt;
	halt->next = NULL;
}

static void show(struct agent *agent, struct halt *halt)
{
	uint64_t before = shown_count(agent);

	halt->is_known = true;
	if (halt->thread == agent->paused)
		agent->paused = 0;
	for (size_t i = 0; i < halt->hit_count; i++)
		agent_bindings_count_hit(agent, halt->hits[i]);
	/* Somebody is to know of it. */
	agent_become_debugger(agent);
	halt->count = connections_next_stop(node_connections(agent->base.node), agent->base.pid);
	/* What has stopped since is not in the way of what is shown. */
	if (before != 0 && stopped_threads_shown(agent) == halt)
		put_last(agent, halt);
	tell_change(agent, before);
}

static void on_exception(struct agent_request *query, json_t *body, const struct error *error)
{
	struct halt *halt = find_asked(query);

	if (!halt)
		return;
	free(halt->exception);
	halt->exception = error ? NULL : agent_frames_read_exception(body);
	show(query->agent, halt);
}

static void ask(struct agent *agent, const struct halt *halt, const char *command, size_t start,
		void (*done)(struct agent_request *query, json_t *body, const struct error *error))
{
	struct agent_request *query = agent_request_new(agent, NULL, done);
	json_t *arguments = json_object();

	query->value = halt->number;
	query->context = json_object();
	json_object_set_new(query->context, "thread", json_integer(halt->thread));
	json_object_set_new(query->context, "start", json_integer((json_int_t)start));
	json_object_set_new(arguments, "threadId", json_integer(halt->thread));
	if (start > 0)
		json_object_set_new(arguments, "startFrame", json_integer((json_int_t)start));
	agent_request_send(query, command, arguments, AGENT_SECONDS);
}

static void on_stack(struct agent_request *query, json_t *body, const struct error *error)
{
	struct agent *agent = query->agent;
	struct halt *halt = find_asked(query);

	if (!halt)
		return;
	if (query->failure == AGENT_REQUEST_LATE) {
		ask(agent, halt, "stackTrace", halt->frame_count, on_stack);
		return;
	}
	/* It stands all the same, with as much of its stack as came. */
	if (query->failure == AGENT_REQUEST_REFUSED) {
		show(agent, halt);
		return;
	}
	if (error) {
		drop(agent, halt);
		return;
	}
	/* Another answer to the same question has come before. */
	if (json_get_integer(query->context, "start", 0) != (int64_t)halt->frame_count)
		return;
	if (agent_frames_read(&halt->frames, &halt->frame_count, body))
		ask(agent, halt, "stackTrace", halt->frame_count, on_stack);
	else if (halt->reason == STOP_EXCEPTION)
		ask(agent, halt, "exceptionInfo", 0, on_exception);
	else
		show(agent, halt);
}

static size_t count_halts(const struct agent *agent)
{
	size_t count = 0;

	for (const struct halt *halt = agent->halts; halt; halt = halt->next)
		count++;
	return count;
}

static bool is_jump(const json_t *body)
{
	return strcmp(json_get_string(body, "reason", ""), "goto") == 0;
}

void stopped_threads_take(struct agent *agent, const json_t *body)
{
	struct halt **link = &agent->halts;
	struct halt *halt = read_halt(agent, body);
	struct halt *old = find_thread(agent, halt->thread);

	if (old && old->number > halt->number) {
		halt_free(halt);
		return;
	}
	if (old && old->number != halt->number) {
		stopped_threads_release(agent, halt->thread, 0);
	} else if (old && is_jump(body)) {
		/* It stands all the while. */
		drop(agent, old);
	} else if (old || count_halts(agent) >= HALTS_MAXIMUM) {
		halt_free(halt);
		return;
	}
	while (*link)
		link = &(*link)->next;
	*link = halt;
	halt->heard = ++agent->heard;
	ask(agent, halt, "stackTrace", 0, on_stack);
}

/* Of what it tells: more is not looked through. */
static size_t count_told(const json_t *stops)
{
	size_t count = json_array_size(stops);

	return count < HALTS_MAXIMUM ? count : HALTS_MAXIMUM;
}

static bool is_among(const json_t *stops, int64_t thread)
{
	for (size_t i = 0; i < count_told(stops); i++)
		if (json_get_integer(json_array_get(stops, i), "threadId", 0) == thread)
			return true;
	return false;
}

/* What was told of since it was asked may be newer than the answer. */
static void release_others(struct agent *agent, const json_t *stops, int64_t heard)
{
	struct halt *halt = agent->halts;

	while (halt) {
		bool is_older = halt->heard <= heard;
		int64_t thread = halt->thread;

		halt = halt->next;
		if (is_older && !is_among(stops, thread))
			stopped_threads_release(agent, thread, 0);
	}
}

static void on_state(struct agent_request *query, json_t *body, const struct error *error)
{
	const json_t *stops = json_object_get(body, "stops");
	struct agent *agent = query->agent;

	if (error)
		return;
	timeout_extension_hear_catch(node_timeout_extension(agent->base.node), agent->base.pid,
				     json_is_object(json_object_get(body, "catch")));
	release_others(agent, stops, query->value);
	for (size_t i = 0; i < count_told(stops); i++)
		stopped_threads_take(agent, json_array_get(stops, i));
}

void stopped_threads_ask_state(struct agent *agent)
{
	struct agent_request *query = agent_request_new(agent, NULL, on_state);

	query->value = agent->heard;
	agent_request_send(query, "state", NULL, AGENT_SECONDS);
}

/*
 * Samples
 */

static struct thread_sample *find_sample(struct process_sample *sample, const struct halt *halt)
{
	struct thread_sample *thread;

	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].tid == halt->tid)
			return &sample->threads[i];
	if (halt->tid == 0 || sample->thread_count >= SAMPLE_THREADS_MAXIMUM)
		return NULL;
	thread = process_sample_add(sample);
	thread->tid = halt->tid;
	thread->is_main = halt->tid == sample->pid;
	return thread;
}

void stopped_threads_amend(struct agent *agent, struct process_sample *sample)
{
	agent->epoch = sample->epoch;
	for (const struct halt *halt = agent->halts; halt; halt = halt->next) {
		struct thread_sample *thread = halt->is_known ? find_sample(sample, halt) : NULL;

		if (!thread)
			continue;
		thread->stack = agent_frames_intern(halt->frames, halt->frame_count,
						    node_stacks(agent->base.node));
		thread->native = NULL;
		thread->state = THREAD_STOPPED;
		thread->exactness = EXACT;
		/* That is the agent's, waiting to be told. */
		thread->syscall = -1;
		free(thread->error);
		thread->error = NULL;
	}
}
