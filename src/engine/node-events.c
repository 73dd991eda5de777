/*
 * node-events: handles a node's messages: applies them to the session, answers requests, and logs
 * messages that a person must see.
 */
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "engine/engine.h"
#include "engine/evidence.h"
#include "engine/link.h"
#include "protocol/message.h"

/* Requests whose command has another name. */
static const char *const request_words[][2] = {
	{ "setBreakpoints", "break" },
	{ "jobBreakpoints", "break" },
	{ "stepIn", "step" },
	{ "stepOut", "finish" },
	{ "evaluate", "print" },
	{ "jobInput", "the job's terminal" },
	{ "jobResize", "the job's terminal" },
	{ "jobEnd", "quit end" },
	{ "terminalInput", "console" },
	{ "terminal", "console" },
	{ "diagnose", "doctor" },
};

static const char *word_of(const char *request)
{
	for (size_t i = 0; i < ARRAY_LENGTH(request_words); i++) {
		if (strcmp(request_words[i][0], request) == 0)
			return request_words[i][1];
	}
	return request;
}

/* Requests whose errors are shown in their views, and not logged. */
static const char *const quiet[] = { "variables", "tensor", "parameters" };

static bool is_quiet(const char *request)
{
	for (size_t i = 0; i < ARRAY_LENGTH(quiet); i++)
		if (strcmp(quiet[i], request) == 0)
			return true;
	return false;
}

static void log_failure(const struct engine *engine, const struct message *message)
{
	if (engine->is_screen && !message->is_success && !is_quiet(message->name))
		log_write(LOG_WARNING, "%s: %s", word_of(message->name),
			  message->error ? message->error : "it failed");
}

/* Logs output events of category console; output of log points is logged with the stops. */
static void log_output(const struct message *message)
{
	const char *category = json_get_string(message->body, "category", "");

	if (message->type == MESSAGE_EVENT && strcmp(message->name, "output") == 0 &&
	    strcmp(category, "console") == 0 && !json_object_get(message->body, "breakpoint"))
		log_write(LOG_WARNING, "%s", json_get_string(message->body, "output", ""));
}

/*
 * In a shell, prints the job's output and confirms it: the job waits for `jobTaken`. A screen shows
 * the output in its own view.
 */
static void pass_output(struct engine *engine, const struct message *message)
{
	json_t *taken;

	if (!engine->job_printed || message->type != MESSAGE_EVENT ||
	    strcmp(message->name, "output") != 0 ||
	    strcmp(json_get_string(message->body, "category", ""), "job") != 0)
		return;
	engine->job_printed(json_get_string(message->body, "output", ""));
	taken = json_object();
	json_object_set_new(taken, "bytes",
			    json_integer(json_get_integer(message->body, "bytes", 0)));
	request_post(engine, "jobTaken", taken);
}

/* Records when the first answers came, for timing. */
static void node_events_mark(struct engine *engine, const char *command)
{
	static const struct {
		const char *command;
		enum timing_part part;
	} marks[] = {
		{ "initialize", TIMING_NODE },
		{ "discover", TIMING_DISCOVERED },
		{ "sample", TIMING_SAMPLED },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(marks); i++) {
		if (strcmp(marks[i].command, command) == 0)
			timing_mark(&engine->timing, marks[i].part);
	}
}

void engine_apply(struct engine *engine, size_t node, const struct message *message, double now)
{
	struct error error = ERROR_INIT;

	if (message->type == MESSAGE_REQUEST)
		return;
	if (session_apply(&engine->session, node, message, now, &error) < 0)
		log_write(LOG_WARNING, "%s: %s", message->name, error.message);
	log_output(message);
	pass_output(engine, message);
	if (message->type != MESSAGE_RESPONSE)
		return;
	log_failure(engine, message);
	evidence_take(&engine->evidence, &engine->session, node, message);
	node_events_mark(engine, message->name);
	requests_answer(engine, message);
}

void engine_take_line(struct link *link, const char *line, size_t length, void *data)
{
	struct engine *engine = data;
	struct error error = ERROR_INIT;
	struct message message;
	double begun = loop_now();

	if (message_parse(&message, line, length, &error) < 0) {
		log_write(LOG_WARNING, "the node sent what is no message: %s", error.message);
		return;
	}
	engine->timing.parsing += loop_now() - begun;
	engine_apply(engine, engine_node_of(engine, link), &message, engine_now(engine));
	engine_record_line(engine, &message, line, length);
	message_clear(&message);
}
