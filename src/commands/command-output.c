/*
 * command-output: the last lines that ranks printed, if their streams are files that can be read;
 * else the targets of the streams.
 */
#include <stdio.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "model/output.h"

#define LINES_DEFAULT 20

static const char *const kinds[OUTPUT_KIND_COUNT] = {
	[OUTPUT_STDOUT] = "stdout",
	[OUTPUT_STDERR] = "stderr",
	[OUTPUT_NOTE] = "note",
};

static const char *const marks[OUTPUT_KIND_COUNT] = {
	[OUTPUT_STDOUT] = "   ",
	[OUTPUT_STDERR] = " ! ",
	[OUTPUT_NOTE] = " ~ ",
};

/*
 * Requests a rank's output and returns the session's copy, valid until the next request: the
 * session keeps the output of only a few processes. NULL: *error says why.
 */
static const struct output *find_output(struct command_context *context, const struct rank *rank,
					struct error *error)
{
	struct engine *engine = context->engine;
	const struct output *output;
	json_t *answer;

	if (!engine->replay && rank->process.pid > 0) {
		answer = request_call(engine, rank->node, "output",
				      json_pack("{s:i}", "pid", (int)rank->process.pid), error);
		if (!answer)
			return NULL;
		json_decref(answer);
	}
	output = session_find_output(&engine->session, rank->node, rank->process.pid);
	if (!output)
		error_set(error, engine->replay ? "the recording has no output of the rank (see "
						  "--record-output)"
						: "the rank has no process");
	return output;
}

/*
 * True for one of the last `lines` lines of its stream. Each stream counts on its own, because two
 * files do not record the common order of their lines.
 */
static bool is_last(const struct output *output, size_t line, int lines)
{
	enum output_kind kind = output_line(output, line)->kind;

	for (size_t i = line + 1; i < output_count(output) && lines > 0; i++)
		lines -= output_line(output, i)->kind == kind;
	return lines > 0;
}

static void append_shared(struct buffer *out, const char *shared)
{
	buffer_append_string(out, " (");
	output_append_shared(out, shared);
	buffer_append_char(out, ')');
}

static void command_output_append_text(struct buffer *out, const struct output *output, int lines)
{
	for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
		const struct output_stream *stream = &output->streams[i];

		if (!stream->path && !stream->why)
			continue;
		buffer_printf(out, "  %s: %s", kinds[i], stream->why ? "~ " : "");
		format_text(out, stream->why ? stream->why : stream->path);
		if (stream->shared && !stream->why)
			append_shared(out, stream->shared);
		buffer_append_char(out, '\n');
	}
	for (size_t i = 0; i < output_count(output); i++) {
		const struct output_line *line = output_line(output, i);

		if (!is_last(output, i, lines))
			continue;
		buffer_printf(out, "%s%s\n", marks[line->kind], line->text);
	}
}

static json_t *output_to_json(const struct output *output, int lines)
{
	json_t *streams = json_array();
	json_t *texts = json_array();

	for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
		json_t *stream = json_object();

		json_set_text(stream, "stream", kinds[i]);
		json_set_text(stream, "path", output->streams[i].path);
		json_set_text(stream, "why", output->streams[i].why);
		json_set_text(stream, "shared", output->streams[i].shared);
		json_array_append_new(streams, stream);
	}
	for (size_t i = 0; i < output_count(output); i++) {
		const struct output_line *line = output_line(output, i);
		json_t *text;

		if (!is_last(output, i, lines))
			continue;
		text = json_object();
		json_set_text(text, "stream", kinds[line->kind]);
		json_set_text(text, "text", line->text);
		json_array_append_new(texts, text);
	}
	return json_pack("{s:o, s:o}", "streams", streams, "lines", texts);
}

static void command_output_append_rank(struct command_context *context, json_t *document,
				       const struct rank *rank, int lines)
{
	struct error error = ERROR_INIT;
	const struct output *output = find_output(context, rank, &error);
	json_t *json;

	if (!output)
		context->status = STATUS_PARTIAL;
	if (context->is_json) {
		json = output ? output_to_json(output, lines)
			      : json_pack("{s:[], s:[]}", "streams", "lines");
		json_object_set_new(json, "rank", json_integer(rank->process.rank));
		json_object_set_new(json, "pid",
				    rank->process.pid > 0 ? json_integer(rank->process.pid)
							  : json_null());
		json_set_text(json, "error", output ? NULL : error.message);
		json_array_append_new(document, json);
		return;
	}
	buffer_printf(context->out, "rank %d", rank->process.rank);
	if (process_shown_pid(&rank->process) > 0)
		buffer_printf(context->out, "  pid %d", (int)rank->process.pid);
	buffer_append_char(context->out, '\n');
	if (output) {
		command_output_append_text(context->out, output, lines);
		return;
	}
	buffer_append_string(context->out, "  ");
	format_text(context->out, error.message);
	buffer_append_char(context->out, '\n');
}

static int output_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	const char *text = arguments_value(arguments, "--lines");
	const struct session *session = &context->engine->session;
	int lines = LINES_DEFAULT;
	json_t *document;

	if (text && arguments_integer(text, "number of lines", 1, OUTPUT_LINES, &lines, error) < 0)
		return -1;
	if (collect_ranks(context, error) < 0 || collect_named(context, error) < 0)
		return -1;
	document = json_array();
	for (size_t i = 0; i < session->rank_count; i++)
		if (format_is_chosen(&context->ranks, session->ranks[i]))
			command_output_append_rank(context, document, session->ranks[i], lines);
	if (context->is_json)
		format_document(context->out, document);
	else
		json_decref(document);
	return 0;
}

const struct command command_output = {
	.name = "output",
	.synopsis = "[--lines N] [ranks SET]",
	.help = "print the last lines (1 to 400; default: 20) of output of ranks that write their "
		"output to files",
	.flags = COMMAND_SHELL | COMMAND_RANKS,
	.run = output_run,
};
