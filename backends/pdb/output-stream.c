#include "backends/pdb/output-stream.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/node.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/loop.h"
#include "base/text.h"

#define PERIOD 0.25
/* While more bytes than this wait to be sent to the screen, no further output is sent. */
#define WAITING_MAXIMUM (256u << 10)
/*
 * Seconds for which output is collected before it is sent, so that an incomplete UTF-8 character
 * can be completed.
 */
#define MOMENT 0.02

struct output_stream {
	struct node *node;
	pid_t pid;
	const char *category;
	size_t maximum;
	struct buffer text;
	struct loop_timer *timer; /* sends the waiting text; NULL: no text waits */
	double since;		  /* start of the current period, on the clock of loop_now() */
	size_t sent;		  /* number of bytes sent in the current period */
	bool is_cut;
	bool is_first;
};

struct output_stream *output_stream_new(struct node *node, pid_t pid, const char *category,
					size_t maximum)
{
	struct output_stream *stream = xcalloc(1, sizeof(*stream));

	stream->node = node;
	stream->pid = pid;
	stream->category = category;
	stream->maximum = maximum;
	buffer_init(&stream->text, 0);
	return stream;
}

static void output_stream_stop_timer(struct output_stream *stream)
{
	if (stream->timer)
		loop_timer_stop(stream->timer);
	stream->timer = NULL;
}

static void output_stream_emit(struct output_stream *stream, const char *category, const char *text)
{
	json_t *body = json_object();

	json_object_set_new(body, "pid", json_integer(stream->pid));
	json_set_text(body, "category", category);
	json_set_text(body, "output", text);
	if (stream->is_first)
		json_object_set_new(body, "isFirst", json_true());
	stream->is_first = false;
	node_emit(stream->node, EVENT_OUTPUT, body);
}

/*
 * Returns the number of bytes that may be sent now. An incomplete UTF-8 character at the end waits,
 * unless it is the only text.
 */
static size_t may_send(struct output_stream *stream)
{
	size_t length = stream->text.length;
	size_t left;
	size_t half;

	if (loop_now() - stream->since >= PERIOD) {
		stream->since = loop_now();
		stream->sent = 0;
	}
	left = stream->maximum - stream->sent;
	if (length > left)
		length = left;
	half = text_unfinished(stream->text.data, length);
	return half < length ? length - half : length;
}

static void output_stream_send_some(struct output_stream *stream)
{
	size_t length = may_send(stream);
	char *text;

	if (length == 0)
		return;
	if (stream->is_cut)
		output_stream_emit(stream, "important",
				   "some output was skipped here: the process prints faster than "
				   "probetui reads");
	stream->is_cut = false;
	text = xstrndup(stream->text.data, length);
	output_stream_emit(stream, stream->category, text);
	free(text);
	buffer_consume(&stream->text, length);
	stream->sent += length;
}

static void output_stream_start_timer(struct output_stream *stream);

static void output_stream_on_timer(void *data)
{
	struct output_stream *stream = data;

	output_stream_stop_timer(stream);
	if (node_waiting(stream->node) <= WAITING_MAXIMUM)
		output_stream_send_some(stream);
	node_flush(stream->node);
	output_stream_start_timer(stream);
}

static void output_stream_start_timer(struct output_stream *stream)
{
	bool is_full = stream->sent >= stream->maximum;

	if (!stream->timer && stream->text.length > 0)
		stream->timer = loop_timer(node_loop(stream->node), is_full ? PERIOD : MOMENT, 0,
					   output_stream_on_timer, stream);
}

void output_stream_free(struct output_stream *stream)
{
	if (!stream)
		return;
	output_stream_send_some(stream);
	output_stream_stop_timer(stream);
	buffer_clear(&stream->text);
	free(stream);
}

void output_stream_add(struct output_stream *stream, const char *bytes, size_t length)
{
	if (length > stream->maximum) {
		bytes += length - stream->maximum;
		length = stream->maximum;
		stream->is_cut = true;
	}
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != '\0')
			buffer_append_char(&stream->text, bytes[i]);
	if (stream->text.length > stream->maximum) {
		buffer_consume(&stream->text, stream->text.length - stream->maximum);
		stream->is_cut = true;
	}
	output_stream_start_timer(stream);
}

void output_stream_flush(struct output_stream *stream)
{
	output_stream_send_some(stream);
}

void output_stream_restart(struct output_stream *stream)
{
	buffer_reset(&stream->text);
	stream->is_cut = false;
	stream->is_first = true;
}
