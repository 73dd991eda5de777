/*
 * output: the lines that processes wrote. An unfinished line is shown as far as it was received.
 * Cursor movements are ignored, except for a carriage return, which progress bars use: the text
 * behind a carriage return replaces the line. Colours (ECMA-48 control sequences, and operating
 * system commands) are removed, other control characters are shown as ^X.
 */
#include "model/output.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "model/session.h"

#define OUTPUTS_MAXIMUM 16

static const char *const categories[OUTPUT_KIND_COUNT] = {
	[OUTPUT_STDOUT] = "stdout",
	[OUTPUT_STDERR] = "stderr",
	[OUTPUT_NOTE] = "important",
};

static void line_clear(struct output_line *line)
{
	free(line->text);
	line->text = NULL;
}

void output_free(struct output *output)
{
	if (!output)
		return;
	for (size_t i = 0; i < OUTPUT_LINES; i++)
		line_clear(&output->lines[i]);
	for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
		free(output->streams[i].path);
		free(output->streams[i].why);
		free(output->streams[i].shared);
		free(output->streams[i].rest.bytes);
	}
	free(output);
}

size_t output_count(const struct output *output)
{
	return output->line_count < OUTPUT_LINES ? output->line_count : OUTPUT_LINES;
}

const struct output_line *output_line(const struct output *output, size_t i)
{
	size_t first = output->line_count - output_count(output);

	return &output->lines[(first + i) % OUTPUT_LINES];
}

/* Appends the bytes behind the last carriage return, without colours. */
static void output_append_plain(struct buffer *out, const char *bytes, size_t length)
{
	size_t i = 0;

	while (i < length && bytes[length - 1] == '\r')
		length--;
	while (i < length) {
		size_t skipped = text_sequence(bytes + i, length - i);

		if (bytes[i] == '\r') {
			buffer_reset(out);
			skipped = 1;
		}
		if (skipped == 0)
			buffer_append_char(out, bytes[i]);
		i += skipped > 0 ? skipped : 1;
	}
}

static void output_append_shown(struct buffer *out, const char *bytes, size_t length)
{
	struct buffer plain = BUFFER_INIT;

	output_append_plain(&plain, bytes, length);
	text_append_line(out, plain.data, plain.length);
	buffer_clear(&plain);
}

/* True for a byte of a UTF-8 character that is not its first. */
static bool is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/*
 * Returns the line with tabs as blanks and control characters as ^X, and "…" for what is missing in
 * the middle.
 */
static char *output_shown(const struct output_rest *rest)
{
	struct buffer text = BUFFER_INIT;
	size_t head = OUTPUT_END_BYTES;
	size_t tail = OUTPUT_END_BYTES;

	if (!rest->is_cut) {
		output_append_shown(&text, rest->bytes, rest->length);
		return buffer_take(&text);
	}
	head -= text_unfinished(rest->bytes, head);
	while (tail < rest->length && is_continuation(rest->bytes[tail]))
		tail++;
	output_append_shown(&text, rest->bytes, head);
	buffer_append_string(&text, "…");
	output_append_shown(&text, rest->bytes + tail, rest->length - tail);
	return buffer_take(&text);
}

static struct output_line *output_add_line(struct output *output, enum output_kind kind,
					   char *owned_text)
{
	struct output_line *line = &output->lines[output->line_count++ % OUTPUT_LINES];

	line_clear(line);
	line->kind = kind;
	line->text = owned_text;
	return line;
}

/*
 * Shows a stream's unfinished line: replaces the earlier part of the line in output->lines, or adds
 * a line.
 */
static void show_rest(struct output *output, enum output_kind kind)
{
	struct output_rest *rest = &output->streams[kind].rest;
	char *text = output_shown(rest);

	for (size_t i = output_count(output); rest->is_shown && i-- > 0;) {
		size_t first = output->line_count - output_count(output);
		struct output_line *line = &output->lines[(first + i) % OUTPUT_LINES];

		if (line->kind != kind)
			continue;
		line_clear(line);
		line->text = text;
		return;
	}
	output_add_line(output, kind, text);
	rest->is_shown = true;
}

static void output_end_line(struct output *output, enum output_kind kind)
{
	struct output_rest *rest = &output->streams[kind].rest;

	show_rest(output, kind);
	free(rest->bytes);
	*rest = (struct output_rest){ .bytes = NULL };
}

/* Adds bytes to a full line, of which the last ones are kept. */
static void shift_bytes(struct output_rest *rest, const char *bytes, size_t length)
{
	char *tail = rest->bytes + OUTPUT_END_BYTES;
	size_t kept = rest->length - OUTPUT_END_BYTES;

	if (length > OUTPUT_END_BYTES) {
		bytes += length - OUTPUT_END_BYTES;
		length = OUTPUT_END_BYTES;
	}
	if (kept > OUTPUT_END_BYTES - length)
		kept = OUTPUT_END_BYTES - length;
	memmove(tail, rest->bytes + rest->length - kept, kept);
	memcpy(tail + kept, bytes, length);
	rest->length = OUTPUT_END_BYTES + kept + length;
	rest->is_cut = true;
}

/*
 * Number of bytes behind the last carriage return that is not at the end: one at the end changes
 * nothing until the next byte comes.
 */
static size_t drawn_length(const char *bytes, size_t length)
{
	const char *again;
	size_t end = length;

	while (end > 0 && bytes[end - 1] == '\r')
		end--;
	again = memrchr(bytes, '\r', end);
	return again ? length - (size_t)(again + 1 - bytes) : length;
}

/* The line is drawn again: a progress bar would soon exceed the limit. */
static void drop_bytes(struct output_rest *rest)
{
	rest->length = 0;
	rest->is_cut = false;
}

/* Adds bytes to an unfinished line. */
static void add_bytes(struct output_rest *rest, const char *bytes, size_t length)
{
	size_t dropped;
	size_t room;

	if (length > 0 && bytes[0] != '\r' && rest->length > 0 &&
	    rest->bytes[rest->length - 1] == '\r')
		drop_bytes(rest);
	dropped = length - drawn_length(bytes, length);
	if (dropped > 0)
		drop_bytes(rest);
	bytes += dropped;
	length -= dropped;
	room = OUTPUT_LINE_BYTES - rest->length;
	if (room > length)
		room = length;
	rest->bytes = xrealloc(rest->bytes, OUTPUT_LINE_BYTES + 1);
	memcpy(rest->bytes + rest->length, bytes, room);
	rest->length += room;
	if (room < length)
		shift_bytes(rest, bytes + room, length - room);
	rest->bytes[rest->length] = '\0';
}

static void output_add_text(struct output *output, enum output_kind kind, const char *text)
{
	struct output_rest *rest = &output->streams[kind].rest;

	while (*text != '\0') {
		size_t length = strcspn(text, "\n");

		add_bytes(rest, text, length);
		text += length;
		if (*text == '\0')
			break;
		output_end_line(output, kind);
		text++;
	}
	if (rest->bytes)
		show_rest(output, kind);
}

static struct output *output_find(const struct session *session, size_t node, pid_t pid)
{
	for (size_t i = 0; i < session->output_count; i++)
		if (session->outputs[i]->node == node && session->outputs[i]->pid == pid)
			return session->outputs[i];
	return NULL;
}

const struct output *session_find_output(const struct session *session, size_t node, pid_t pid)
{
	return output_find(session, node, pid);
}

static void add_note(struct output *output, const char *text)
{
	struct buffer shown = BUFFER_INIT;

	output_append_shown(&shown, text, strlen(text));
	output_add_line(output, OUTPUT_NOTE, buffer_take(&shown));
}

/* Forgets all lines, because the node sends all lines again. */
static void output_forget_lines(struct output *output)
{
	for (size_t i = 0; i < OUTPUT_LINES; i++)
		line_clear(&output->lines[i]);
	output->line_count = 0;
	for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
		free(output->streams[i].rest.bytes);
		output->streams[i].rest = (struct output_rest){ .bytes = NULL };
	}
}

/* Finds or adds the output of a process. If there are too many, the oldest is freed. */
static struct output *output_find_or_add(struct session *session, size_t node, pid_t pid)
{
	struct output *output = output_find(session, node, pid);

	if (output)
		return output;
	if (session->output_count == OUTPUTS_MAXIMUM) {
		output_free(session->outputs[0]);
		memmove(session->outputs, session->outputs + 1,
			--session->output_count * sizeof(*session->outputs));
	}
	session->outputs = xrealloc(session->outputs, OUTPUTS_MAXIMUM * sizeof(*session->outputs));
	output = xcalloc(1, sizeof(*output));
	output->node = node;
	output->pid = pid;
	session->outputs[session->output_count++] = output;
	return output;
}

void session_clear_outputs(struct session *session)
{
	for (size_t i = 0; i < session->output_count; i++)
		output_free(session->outputs[i]);
	free(session->outputs);
	session->outputs = NULL;
	session->output_count = 0;
}

static int output_read_pid(const json_t *body, pid_t *pid, struct error *error)
{
	int64_t value = json_get_integer(body, "pid", 0);

	if (value <= 0 || value > INT_MAX)
		return error_set(error, "output event without a pid");
	*pid = (pid_t)value;
	return 0;
}

int session_apply_output(struct session *session, size_t node, const json_t *body,
			 struct error *error)
{
	const char *category = json_get_string(body, "category", "");
	const char *text = json_get_string(body, "output", "");
	struct output *output;
	pid_t pid = 0;

	for (size_t kind = 0; kind < OUTPUT_KIND_COUNT; kind++) {
		if (strcmp(category, categories[kind]) != 0)
			continue;
		if (output_read_pid(body, &pid, error) < 0)
			return -1;
		output = output_find_or_add(session, node, pid);
		if (json_get_boolean(body, "isFirst", false))
			output_forget_lines(output);
		if (kind == OUTPUT_NOTE)
			add_note(output, text);
		else
			output_add_text(output, (enum output_kind)kind, text);
	}
	return 0;
}

void output_append_shared(struct buffer *out, const char *shared)
{
	struct rankset ranks = RANKSET_INIT;

	buffer_append_string(out, "shared with ");
	if (rankset_parse(&ranks, shared, NULL) == 0)
		rankset_append_named(out, &ranks);
	rankset_clear(&ranks);
}

/* Returns the set of other ranks in "shared" as a checked text; NULL: missing, or invalid. */
static char *read_set(const json_t *json)
{
	const char *text = json_get_string(json, "shared", NULL);
	struct rankset ranks = RANKSET_INIT;
	struct buffer out = BUFFER_INIT;

	if (text && rankset_parse(&ranks, text, NULL) == 0)
		rankset_append(&out, &ranks);
	rankset_clear(&ranks);
	if (out.length > 0)
		return buffer_take(&out);
	buffer_clear(&out);
	return NULL;
}

static void read_stream(struct output *output, const json_t *json)
{
	const char *category = json_get_string(json, "category", "");

	for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
		struct output_stream *stream = &output->streams[i];

		if (strcmp(category, categories[i]) != 0)
			continue;
		free(stream->path);
		free(stream->why);
		free(stream->shared);
		stream->shared = read_set(json);
		stream->path = xstrdup_or_null(json_get_string(json, "path", NULL));
		stream->why = xstrdup_or_null(json_get_string(json, "why", NULL));
	}
}

int session_apply_streams(struct session *session, size_t node, const json_t *body,
			  struct error *error)
{
	const json_t *streams = json_object_get(body, "streams");
	struct output *output;
	pid_t pid = 0;

	/* An answer without streams means that the output is no longer followed. */
	if (!streams)
		return 0;
	if (output_read_pid(body, &pid, error) < 0)
		return -1;
	output = output_find_or_add(session, node, pid);
	output->is_known = true;
	for (size_t i = 0; i < json_array_size(streams) && i < OUTPUT_STREAMS; i++)
		read_stream(output, json_array_get(streams, i));
	return 0;
}

#define TRANSCRIPTS_MAXIMUM 16

void transcript_free(struct transcript *transcript)
{
	if (!transcript)
		return;
	buffer_clear(&transcript->bytes);
	free(transcript);
}

uint64_t transcript_end(const struct transcript *transcript)
{
	return transcript->start + transcript->bytes.length;
}

static struct transcript *transcript_find(const struct session *session, size_t node, pid_t pid)
{
	for (size_t i = 0; i < session->transcript_count; i++)
		if (session->transcripts[i]->node == node && session->transcripts[i]->pid == pid)
			return session->transcripts[i];
	return NULL;
}

const struct transcript *session_find_transcript(const struct session *session, size_t node,
						 pid_t pid)
{
	return transcript_find(session, node, pid);
}

/* Finds or adds the transcript of a process. If there are too many, the oldest is freed. */
static struct transcript *transcript_find_or_add(struct session *session, size_t node, pid_t pid)
{
	struct transcript *transcript = transcript_find(session, node, pid);

	if (transcript)
		return transcript;
	if (session->transcript_count == TRANSCRIPTS_MAXIMUM) {
		transcript_free(session->transcripts[0]);
		memmove(session->transcripts, session->transcripts + 1,
			--session->transcript_count * sizeof(*session->transcripts));
	}
	session->transcripts =
		xrealloc(session->transcripts, TRANSCRIPTS_MAXIMUM * sizeof(*session->transcripts));
	transcript = xcalloc(1, sizeof(*transcript));
	transcript->node = node;
	transcript->pid = pid;
	buffer_init(&transcript->bytes, 0);
	session->transcripts[session->transcript_count++] = transcript;
	return transcript;
}

void session_clear_transcripts(struct session *session)
{
	for (size_t i = 0; i < session->transcript_count; i++)
		transcript_free(session->transcripts[i]);
	free(session->transcripts);
	session->transcripts = NULL;
	session->transcript_count = 0;
}

/* Drops half of the bytes at once, so that bytes are not moved for each addition. */
static void transcript_forget_oldest(struct transcript *transcript)
{
	size_t excess;

	if (transcript->bytes.length <= TRANSCRIPT_BYTES)
		return;
	excess = transcript->bytes.length - TRANSCRIPT_BYTES / 2;
	buffer_consume(&transcript->bytes, excess);
	transcript->start += excess;
}

void transcript_add(struct transcript *transcript, const char *text, bool is_first)
{
	if (is_first) {
		buffer_reset(&transcript->bytes);
		transcript->start = 0;
		transcript->times++;
	}
	buffer_append_string(&transcript->bytes, text);
	if (is_first)
		transcript->told = transcript_end(transcript);
	transcript_forget_oldest(transcript);
}

int session_apply_transcript(struct session *session, size_t node, const json_t *body,
			     struct error *error)
{
	const char *text = json_get_string(body, "output", "");
	int64_t pid = json_get_integer(body, "pid", 0);

	if (pid <= 0 || pid > INT_MAX)
		return error_set(error, "terminal event without a pid");
	transcript_add(transcript_find_or_add(session, node, (pid_t)pid), text,
		       json_get_boolean(body, "isFirst", false));
	return 0;
}
