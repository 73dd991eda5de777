#include "backends/pdb/outflow.h"

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
/* A reader that is this far behind gets nothing more for now. */
#define WAITING_MAXIMUM (256u << 10)
/* So long it waits for more, and half a character for the rest of it. */
#define MOMENT 0.02

struct outflow {
	struct node *node;
	pid_t pid;
	const char *category;
	size_t maximum;
	struct buffer text;
	struct loop_timer *timer; /* NULL: nothing waits */
	double since;		  /* the quarter of a second began */
	size_t sent;		  /* in it */
	bool is_cut;
	bool is_first;
};

struct outflow *outflow_new(struct node *node, pid_t pid, const char *category, size_t maximum)
{
	struct outflow *outflow = xcalloc(1, sizeof(*outflow));

	outflow->node = node;
	outflow->pid = pid;
	outflow->category = category;
	outflow->maximum = maximum;
	buffer_init(&outflow->text, 0);
	return outflow;
}

static void stop_timer(struct outflow *outflow)
{
	if (outflow->timer)
		loop_timer_stop(outflow->timer);
	outflow->timer = NULL;
}

static void emit(struct outflow *outflow, const char *category, const char *text)
{
	json_t *body = json_object();

	json_object_set_new(body, "pid", json_integer(outflow->pid));
	json_set_text(body, "category", category);
	json_set_text(body, "output", text);
	if (outflow->is_first)
		json_object_set_new(body, "isFirst", json_true());
	outflow->is_first = false;
	node_emit(outflow->node, EVENT_OUTPUT, body);
}

/* Bytes that may go now; half a character stays, unless it is all there is. */
static size_t may_send(struct outflow *outflow)
{
	size_t length = outflow->text.length;
	size_t left;
	size_t half;

	if (loop_now() - outflow->since >= PERIOD) {
		outflow->since = loop_now();
		outflow->sent = 0;
	}
	left = outflow->maximum - outflow->sent;
	if (length > left)
		length = left;
	half = text_unfinished(outflow->text.data, length);
	return half < length ? length - half : length;
}

static void send_some(struct outflow *outflow)
{
	size_t length = may_send(outflow);
	char *text;

	if (length == 0)
		return;
	if (outflow->is_cut)
		emit(outflow, "important",
		     "It prints faster than is shown; some was left out here.");
	outflow->is_cut = false;
	text = xstrndup(outflow->text.data, length);
	emit(outflow, outflow->category, text);
	free(text);
	buffer_consume(&outflow->text, length);
	outflow->sent += length;
}

static void start_timer(struct outflow *outflow);

static void on_timer(void *data)
{
	struct outflow *outflow = data;

	stop_timer(outflow);
	if (node_waiting(outflow->node) <= WAITING_MAXIMUM)
		send_some(outflow);
	node_flush(outflow->node);
	start_timer(outflow);
}

static void start_timer(struct outflow *outflow)
{
	bool is_full = outflow->sent >= outflow->maximum;

	if (!outflow->timer && outflow->text.length > 0)
		outflow->timer = loop_timer(node_loop(outflow->node), is_full ? PERIOD : MOMENT, 0,
					    on_timer, outflow);
}

void outflow_free(struct outflow *outflow)
{
	if (!outflow)
		return;
	send_some(outflow);
	stop_timer(outflow);
	buffer_clear(&outflow->text);
	free(outflow);
}

void outflow_add(struct outflow *outflow, const char *bytes, size_t length)
{
	if (length > outflow->maximum) {
		bytes += length - outflow->maximum;
		length = outflow->maximum;
		outflow->is_cut = true;
	}
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != '\0')
			buffer_append_char(&outflow->text, bytes[i]);
	if (outflow->text.length > outflow->maximum) {
		buffer_consume(&outflow->text, outflow->text.length - outflow->maximum);
		outflow->is_cut = true;
	}
	start_timer(outflow);
}

void outflow_flush(struct outflow *outflow)
{
	send_some(outflow);
}

void outflow_restart(struct outflow *outflow)
{
	buffer_reset(&outflow->text);
	outflow->is_cut = false;
	outflow->is_first = true;
}
