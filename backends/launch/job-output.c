#include "backends/launch/job-output.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "backends/node.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/loop.h"
#include "base/text.h"

/* EVENT_BYTES: maximum number of bytes in one event. MOMENT: seconds between two events. */
#define EVENT_BYTES ((size_t)64 << 10)
#define MOMENT 0.02
/* While more bytes than this are queued in the pipe, no output is sent. */
#define WAITING_MAXIMUM ((size_t)256 << 10)

struct job_output {
	struct node *node;
	struct buffer text;
	uint64_t added;		  /* number of bytes added since the start, including lost bytes */
	uint64_t told;		  /* number of bytes sent in events, including lost bytes */
	struct loop_timer *timer; /* sends the next event; NULL: text is empty */
	bool is_half;		  /* in the last turn, text was only an incomplete character */
	void (*has_room)(void *data);
	void *data;
};

struct job_output *job_output_new(struct node *node, void (*has_room)(void *data), void *data)
{
	struct job_output *output = xcalloc(1, sizeof(*output));

	output->node = node;
	output->has_room = has_room;
	output->data = data;
	buffer_init(&output->text, 0);
	return output;
}

static void job_output_stop_timer(struct job_output *output)
{
	if (output->timer)
		loop_timer_stop(output->timer);
	output->timer = NULL;
}

void job_output_free(struct job_output *output)
{
	if (!output)
		return;
	job_output_stop_timer(output);
	buffer_clear(&output->text);
	free(output);
}

bool job_output_is_full(const struct job_output *output)
{
	return output->text.length >= EVENT_BYTES;
}

/*
 * Counts length bytes as sent. Lost bytes are counted as sent only when text is empty: until then,
 * `told` may be too small.
 */
static void job_output_count_told(struct job_output *output, size_t length)
{
	output->told += length;
	if (output->text.length == 0 || output->told > output->added)
		output->told = output->added;
}

static void job_output_emit(struct job_output *output, size_t length)
{
	json_t *body = json_object();
	char *text = xstrndup(output->text.data, length);

	buffer_consume(&output->text, length);
	job_output_count_told(output, length);
	json_set_text(body, "category", "job");
	json_set_text(body, "output", text);
	json_object_set_new(body, "bytes", json_integer((json_int_t)output->told));
	free(text);
	node_emit(output->node, EVENT_OUTPUT, body);
}

/* Sends one event. An incomplete character at the end waits one MOMENT for its other bytes. */
static void send_event(struct job_output *output)
{
	size_t length = output->text.length < EVENT_BYTES ? output->text.length : EVENT_BYTES;
	size_t half = text_unfinished(output->text.data, length);

	if (half < length)
		length -= half;
	else if (!output->is_half)
		length = 0;
	output->is_half = half > 0 && length == 0;
	if (length > 0)
		job_output_emit(output, length);
}

void job_output_flush(struct job_output *output)
{
	while (output->text.length > 0)
		send_event(output);
}

static void job_output_start_timer(struct job_output *output);

static void job_output_on_timer(void *data)
{
	struct job_output *output = data;

	job_output_stop_timer(output);
	if (node_waiting(output->node) <= WAITING_MAXIMUM)
		send_event(output);
	node_flush(output->node);
	job_output_start_timer(output);
	if (!job_output_is_full(output))
		output->has_room(output->data);
}

static void job_output_start_timer(struct job_output *output)
{
	if (!output->timer && output->text.length > 0)
		output->timer =
			loop_timer(node_loop(output->node), MOMENT, 0, job_output_on_timer, output);
}

void job_output_add(struct job_output *output, const char *bytes, size_t length)
{
	output->added += length;
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != '\0')
			buffer_append_char(&output->text, bytes[i]);
	job_output_start_timer(output);
}

/*
 * Adds a note that `count` bytes are left out. CAN (\030) cancels an incomplete escape sequence;
 * \033[m resets the colours.
 */
void job_output_leave_out(struct job_output *output, uint64_t count, const char *file)
{
	output->added += count;
	buffer_append_string(&output->text, "\030\033[m\r\n[probetui: ");
	text_size(&output->text, count);
	if (file)
		buffer_printf(&output->text, " of output were not read in time, and are in %s]\r\n",
			      file);
	else
		buffer_append_string(&output->text, " of output came too fast to be shown]\r\n");
	job_output_start_timer(output);
}

void scrollback_init(struct scrollback *scrollback)
{
	*scrollback = (struct scrollback){ .bytes = xmalloc(SCROLLBACK_BYTES) };
}

void scrollback_clear(struct scrollback *scrollback)
{
	free(scrollback->bytes);
	*scrollback = (struct scrollback){ .bytes = NULL };
}

/* Returns the position of the oldest byte in the ring buffer. */
static uint64_t scrollback_start(const struct scrollback *scrollback)
{
	return scrollback->end > SCROLLBACK_BYTES ? scrollback->end - SCROLLBACK_BYTES : 0;
}

/* Returns how many of the length bytes from `position` on are contiguous in the ring buffer. */
static size_t piece(uint64_t position, size_t length)
{
	size_t left = SCROLLBACK_BYTES - (size_t)(position % SCROLLBACK_BYTES);

	return length < left ? length : left;
}

void scrollback_add(struct scrollback *scrollback, const char *bytes, size_t length)
{
	while (length > 0) {
		size_t count = piece(scrollback->end, length);

		memcpy(scrollback->bytes + scrollback->end % SCROLLBACK_BYTES, bytes, count);
		scrollback->end += count;
		bytes += count;
		length -= count;
	}
}

uint64_t scrollback_take_lost(struct scrollback *scrollback)
{
	uint64_t oldest = scrollback_start(scrollback);
	uint64_t lost = 0;

	if (scrollback->sent < oldest) {
		lost = oldest - scrollback->sent;
		scrollback->sent = oldest;
	}
	return lost;
}

size_t scrollback_peek(const struct scrollback *scrollback, char *out, size_t maximum)
{
	uint64_t at = scrollback->sent > scrollback_start(scrollback)
			      ? scrollback->sent
			      : scrollback_start(scrollback);
	size_t copied = 0;

	while (at < scrollback->end && copied < maximum) {
		size_t left = (size_t)(scrollback->end - at);
		size_t count;

		if (left > maximum - copied)
			left = maximum - copied;
		count = piece(at, left);
		memcpy(out + copied, scrollback->bytes + at % SCROLLBACK_BYTES, count);
		at += count;
		copied += count;
	}
	return copied;
}

void scrollback_skip(struct scrollback *scrollback, size_t length)
{
	scrollback->sent += length;
}

void scrollback_rewind_to(struct scrollback *scrollback, uint64_t position)
{
	scrollback->sent =
		position > scrollback_start(scrollback) ? position : scrollback_start(scrollback);
}

void scrollback_rewind(struct scrollback *scrollback)
{
	scrollback_rewind_to(scrollback, scrollback->kept);
}
