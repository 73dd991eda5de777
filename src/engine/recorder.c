/* recorder: starts and stops the engine's recording and flushes it periodically. */
#include <stdlib.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "engine/engine.h"
#include "engine/record.h"
#include "model/source.h"
#include "protocol/message.h"

/* Period of flushes: half of the second of data that a killed recorder may lose. */
#define FLUSH_SECONDS 0.5
/* Maximum of packed bytes that engine_keep() keeps, whatever its seconds. */
#define KEEP_MAXIMUM ((size_t)256 << 20)

static void on_flush_due(void *data)
{
	struct engine *engine = data;
	struct error error = ERROR_INIT;

	if (record_flush(engine->record, &error) < 0)
		log_write(LOG_ERROR, "%s", error.message);
}

void engine_record_line(struct engine *engine, const struct message *message, const char *line,
			size_t length)
{
	struct error error = ERROR_INIT;

	if (engine->record && record_line(engine->record, &engine->session, message, line, length,
					  engine_now(engine), &error) < 0)
		log_write(LOG_ERROR, "%s", error.message);
}

/* The session does not request a known file again, so its answer is recorded now. */
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

/* Before the node is started the session has no state to begin with. */
static void recorder_begin(struct engine *engine)
{
	if (engine->settings.wants_locals)
		record_want_variables(engine->record);
	if (engine->settings.wants_output)
		record_want_output(engine->record);
	if (engine->session.node_count > 0)
		record_begin(engine->record, &engine->session, engine_now(engine));
}

int engine_record(struct engine *engine, const char *path, struct error *error)
{
	if (engine_record_path(engine))
		return error_set(
			error, "%s is being recorded already; a recording is ended by record alone",
			engine_record_path(engine));
	if (engine->replay)
		return error_set(error, "a replay is a recording already");
	if (engine->record) {
		if (record_save(engine->record, path, error) < 0)
			return -1;
	} else {
		engine->record = record_new(path, error);
		if (!engine->record)
			return -1;
		recorder_begin(engine);
	}
	if (!engine->loop)
		engine->loop = loop_new();
	engine->record_timer =
		loop_timer(engine->loop, FLUSH_SECONDS, FLUSH_SECONDS, on_flush_due, engine);
	session_each_source(&engine->session, add_source, engine);
	return 0;
}

void engine_keep(struct engine *engine, double seconds)
{
	if (engine->record)
		return;
	engine->record = record_new_ring(seconds, KEEP_MAXIMUM);
	recorder_begin(engine);
}

void engine_record_stop(struct engine *engine)
{
	if (engine->record_timer)
		loop_timer_stop(engine->record_timer);
	engine->record_timer = NULL;
	record_free(engine->record);
	engine->record = NULL;
}

const char *engine_record_path(const struct engine *engine)
{
	return engine->record ? record_path(engine->record) : NULL;
}
