/*
 * recorder: the recording that an engine writes: what it requests for the recording, the signals
 * that end it, and its timer. Declared in engine.h.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/map.h"
#include "engine/engine.h"
#include "engine/frame-locals.h"
#include "engine/record.h"
#include "engine/request.h"
#include "model/place.h"
#include "model/session.h"
#include "model/source.h"
#include "protocol/message.h"
#include "protocol/stack.h"

/*
 * The functions below request the source files of user frames for the recording of a shell command,
 * since the recording may be viewed on a machine that lacks the files. Each file is requested once.
 */

/* Maximum number of source files in a recording; programs with more files generate code. */
#define FILES_MAXIMUM 256

static void record_source_ask(struct engine *engine, struct request_group *group,
			      const struct rank *rank, const struct frame *frame)
{
	const struct process *process = &rank->process;
	const char *path = frame->code->file;
	json_t *arguments;

	if (!place_is_user(process, frame) ||
	    strmap_count(engine->recording.sources) >= FILES_MAXIMUM ||
	    strmap_find(engine->recording.sources, path))
		return;
	strmap_put(engine->recording.sources, path, engine);
	arguments = json_pack("{s:i}", "pid", (int)process->pid);
	json_set_text(arguments, "path", path);
	request_group_add(group, rank->node, process->rank, "source", arguments, NULL);
}

static void record_source_ask_rank(struct engine *engine, struct request_group *group,
				   const struct rank *rank)
{
	if (rank->process.state == PROCESS_EXITED)
		return;
	for (size_t i = 0; i < rank->thread_count; i++) {
		const struct stack *stack = rank->threads[i].sample.stack;

		for (size_t j = 0; stack && j < stack->frame_count; j++)
			record_source_ask(engine, group, rank, &stack->frames[j]);
	}
	for (size_t i = 0; i < rank->child_count; i++)
		record_source_ask_rank(engine, group, rank->children[i]);
}

void engine_record_sources(struct engine *engine)
{
	struct request_group *group;

	if (!engine_record_path(engine))
		return;
	if (!engine->recording.sources)
		engine->recording.sources = strmap_new(NULL);
	group = request_group_new(engine, NULL, NULL, NULL);
	for (size_t i = 0; i < engine->session.rank_count; i++)
		record_source_ask_rank(engine, group, engine->session.ranks[i]);
	request_group_wait(group, engine->settings.timeout);
	request_group_free(group);
}

/* With --record-locals: requests the locals of every frame as they are now. */
static void record_locals(struct engine *engine)
{
	struct rankset all = RANKSET_INIT;

	if (engine->settings.wants_locals && engine_record_path(engine))
		frame_locals_free(frame_locals_new(engine, &all, false));
}

/* With --record-output: requests the last output lines of each rank. */
static void record_output(struct engine *engine)
{
	const struct session *session = &engine->session;
	struct request_group *group;

	if (!engine->settings.wants_output || !engine_record_path(engine))
		return;
	group = request_group_new(engine, NULL, NULL, NULL);
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct process *process = &session->ranks[i]->process;

		/* The node remembers the files of ranks that have ended. */
		if (process->pid > 0)
			request_group_add(group, session->ranks[i]->node, process->rank, "output",
					  json_pack("{s:i}", "pid", (int)process->pid), NULL);
	}
	request_group_wait(group, engine->settings.timeout);
	request_group_free(group);
}

void engine_record_extras(struct engine *engine)
{
	record_locals(engine);
	record_output(engine);
}

/* The functions below start and stop the engine's recording and flush it periodically. */

/* Period of flushes in seconds: half of the second of data that a killed recorder may lose. */
#define FLUSH_SECONDS 0.5
/* Maximum number of packed bytes that engine_keep() keeps in memory, for any number of seconds. */
#define KEEP_MAXIMUM ((size_t)256 << 20)

/* Logs why the recording has stopped, which the recorder says only once. */
static void note_failure(struct engine *engine, const struct error *error)
{
	engine->recording.has_failed = true;
	log_write(LOG_ERROR, "%s", error->message);
}

static void on_flush_due(void *data)
{
	struct engine *engine = data;
	struct error error = ERROR_INIT;

	if (record_flush(engine->recording.record, &error) < 0)
		note_failure(engine, &error);
}

void engine_record_line(struct engine *engine, const struct message *message, const char *line,
			size_t length)
{
	struct error error = ERROR_INIT;

	if (engine->recording.record &&
	    record_line(engine->recording.record, &engine->session, message, line, length,
			engine_now(engine), &error) < 0)
		note_failure(engine, &error);
}

void engine_record_end(struct engine *engine, int number)
{
	char *signal = number > 0 ? xasprintf("SIG%s", sigabbrev_np(number)) : NULL;
	struct error error = ERROR_INIT;

	if (engine_record_path(engine) &&
	    record_end(engine->recording.record, signal, engine_now(engine), &error) < 0)
		note_failure(engine, &error);
	free(signal);
}

int engine_record_copy(struct engine *engine, const char *path, struct error *error)
{
	return record_copy(engine->recording.record, path, error);
}

/* Ends the recording, and then the program, unless the command handles the signal by itself. */
static void record_on_signal(int number, void *data)
{
	struct engine *engine = data;

	if (engine->handled_signals & 1u << number)
		return;
	engine_record_end(engine, number);
	signal(number, SIG_DFL);
	raise(number);
}

static const int end_signals[] = { SIGINT, SIGTERM, SIGHUP };

static void watch_signals(struct engine *engine)
{
	struct record_state *state = &engine->recording;

	for (size_t i = 0; i < ARRAY_LENGTH(end_signals); i++)
		state->signals[i] = loop_signal_unless_ignored(engine->loop, end_signals[i],
							       record_on_signal, engine);
}

static void unwatch_signals(struct record_state *state)
{
	for (size_t i = 0; i < ARRAY_LENGTH(state->signals); i++) {
		loop_signal_stop(state->signals[i]);
		state->signals[i] = NULL;
	}
}

/*
 * Records a known source file as the answer to a request, as the session will not request the file
 * again.
 */
static void add_source(size_t node, pid_t pid, const struct source *source, void *data)
{
	struct engine *engine = data;
	struct message request;
	struct message answer;
	struct buffer line = BUFFER_INIT;
	json_t *body;

	if (node != 0 || !source->content)
		return;
	body = json_pack("{s:i, s:b}", "pid", (int)pid, "changed", source->is_changed);
	json_set_text(body, "path", source->path);
	json_set_text(body, "content", source->content);
	message_make_request(&request, "source", NULL);
	message_make_response(&answer, &request, body, NULL);
	message_append(&line, &answer);
	engine_record_line(engine, &answer, line.data, line.length - 1);
	buffer_clear(&line);
	message_clear(&answer);
	message_clear(&request);
}

/* Before the node is started, the session has no state for a first snapshot. */
static void recorder_begin(struct engine *engine)
{
	if (engine->settings.wants_locals)
		record_want_variables(engine->recording.record);
	if (engine->settings.wants_output)
		record_want_output(engine->recording.record);
	if (engine->session.node_count > 0)
		record_begin(engine->recording.record, &engine->session, engine_now(engine));
}

int engine_record(struct engine *engine, const char *path, struct error *error)
{
	if (engine_record_path(engine))
		return error_set(error,
				 "already recording to %s: use `record` without a file to stop",
				 engine_record_path(engine));
	if (engine->replay)
		return error_set(error, "a replay cannot be recorded");
	if (engine->settings.machine_count > 0)
		return error_set(error, "ranks on other machines cannot be recorded");
	if (engine->recording.record) {
		if (record_save(engine->recording.record, path, error) < 0)
			return -1;
	} else {
		engine->recording.record = record_new(path, error);
		if (!engine->recording.record)
			return -1;
		recorder_begin(engine);
	}
	if (!engine->loop)
		engine->loop = loop_new();
	engine->recording.timer =
		loop_timer(engine->loop, FLUSH_SECONDS, FLUSH_SECONDS, on_flush_due, engine);
	if (!engine->is_screen)
		watch_signals(engine);
	session_each_source(&engine->session, add_source, engine);
	return 0;
}

void engine_keep(struct engine *engine, double seconds)
{
	if (engine->recording.record || engine->settings.machine_count > 0)
		return;
	engine->recording.record = record_new_ring(seconds, KEEP_MAXIMUM);
	recorder_begin(engine);
}

void engine_record_stop(struct engine *engine)
{
	unwatch_signals(&engine->recording);
	engine_record_end(engine, 0);
	if (engine->recording.timer)
		loop_timer_stop(engine->recording.timer);
	engine->recording.timer = NULL;
	record_free(engine->recording.record);
	engine->recording.record = NULL;
}

const char *engine_record_path(const struct engine *engine)
{
	return engine->recording.record ? record_path(engine->recording.record) : NULL;
}
