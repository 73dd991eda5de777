#include "backends/launch/job-output.h"

#include <inttypes.h>
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

/* As much travels in one event, and one event in a moment. */
#define EVENT_BYTES ((size_t)64 << 10)
#define MOMENT 0.02
/* A reader that is this far behind gets nothing more for now. */
#define WAITING_MAXIMUM ((size_t)256 << 10)

struct job_output {
	struct node *node;
	struct buffer text;
	uint64_t added;		  /* bytes, ever, with those that are missing */
	uint64_t told;		  /* of them, in events */
	struct loop_timer *timer; /* NULL: nothing waits */
	bool is_half;		  /* all there was, was half a character */
	void (*has_room)(void *data);
	void *data;
};

struct job_output *job_output_new(struct node *node, void (*has_room)(void *data), void *data)
{
	struct job_output *jobout = xcalloc(1, sizeof(*jobout));

	jobout->node = node;
	jobout->has_room = has_room;
	jobout->data = data;
	buffer_init(&jobout->text, 0);
	return jobout;
}

static void stop_timer(struct job_output *jobout)
{
	if (jobout->timer)
		loop_timer_stop(jobout->timer);
	jobout->timer = NULL;
}

void job_output_free(struct job_output *jobout)
{
	if (!jobout)
		return;
	stop_timer(jobout);
	buffer_clear(&jobout->text);
	free(jobout);
}

bool job_output_is_full(const struct job_output *jobout)
{
	return jobout->text.length >= EVENT_BYTES;
}

/* Where text waits it is not known how much was left out of it: no more. */
static void count_told(struct job_output *jobout, size_t length)
{
	jobout->told += length;
	if (jobout->text.length == 0 || jobout->told > jobout->added)
		jobout->told = jobout->added;
}

static void emit(struct job_output *jobout, size_t length)
{
	json_t *body = json_object();
	char *text = xstrndup(jobout->text.data, length);

	buffer_consume(&jobout->text, length);
	count_told(jobout, length);
	json_set_text(body, "category", "job");
	json_set_text(body, "output", text);
	json_object_set_new(body, "bytes", json_integer((json_int_t)jobout->told));
	free(text);
	node_emit(jobout->node, EVENT_OUTPUT, body);
}

/* Half a character waits for the rest of it, a moment. */
static void send_event(struct job_output *jobout)
{
	size_t length = jobout->text.length < EVENT_BYTES ? jobout->text.length : EVENT_BYTES;
	size_t half = text_unfinished(jobout->text.data, length);

	if (half < length)
		length -= half;
	else if (!jobout->is_half)
		length = 0;
	jobout->is_half = half > 0 && length == 0;
	if (length > 0)
		emit(jobout, length);
}

void job_output_flush(struct job_output *jobout)
{
	while (jobout->text.length > 0)
		send_event(jobout);
}

static void start_timer(struct job_output *jobout);

static void on_timer(void *data)
{
	struct job_output *jobout = data;

	stop_timer(jobout);
	if (node_waiting(jobout->node) <= WAITING_MAXIMUM)
		send_event(jobout);
	node_flush(jobout->node);
	start_timer(jobout);
	if (!job_output_is_full(jobout))
		jobout->has_room(jobout->data);
}

static void start_timer(struct job_output *jobout)
{
	if (!jobout->timer && jobout->text.length > 0)
		jobout->timer = loop_timer(node_loop(jobout->node), MOMENT, 0, on_timer, jobout);
}

void job_output_add(struct job_output *jobout, const char *bytes, size_t length)
{
	jobout->added += length;
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != '\0')
			buffer_append_char(&jobout->text, bytes[i]);
	start_timer(jobout);
}

/* CAN gives up a sequence that is not whole; then the colours end. */
void job_output_leave_out(struct job_output *jobout, uint64_t count, const char *file)
{
	jobout->added += count;
	buffer_append_string(&jobout->text, "\030\033[m\r\n[probetui: ");
	text_size(&jobout->text, count);
	if (file)
		buffer_printf(&jobout->text, " were not read in time: they are in %s]\r\n", file);
	else
		buffer_append_string(&jobout->text, " came too fast to be shown]\r\n");
	start_timer(jobout);
}
