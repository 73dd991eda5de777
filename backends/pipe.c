#include "backends/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/loop.h"
#include "protocol/message.h"

#define READ_SIZE (64u << 10)
/* When this many bytes are queued, they are written before the end of the turn. */
#define WRITE_SIZE (32u << 10)

struct pipe {
	struct loop *loop;
	int input;
	int output;
	int input_flags; /* flags (F_GETFL) before pipe_new(); -1: unknown */
	int output_flags;
	struct pipe_calls calls;
	struct loop_watch *input_watch;	 /* waits for input; NULL: the input has ended */
	struct loop_watch *output_watch; /* waits until output can be written; NULL: the queue is
					  * empty */
	struct buffer lines;		 /* bytes that were read but not passed to calls.line yet */
	size_t searched;		 /* the first `searched` bytes of `lines` contain no
					  * newline */
	struct buffer queue;
	size_t written; /* the first `written` bytes of `queue` were written */
	int64_t next_seq;
	bool is_stopped;
	bool is_broken; /* write(2) has failed: the reader has closed the pipe */
	bool is_handing_out;
};

static void pipe_on_readable(int fd, int events, void *data);
static void pipe_on_writable(int fd, int events, void *data);

/* Returns the flags that fd had before; -1: the flags could not be read. */
static int make_non_blocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0)
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	return flags;
}

struct pipe *pipe_new(struct loop *loop, int input, int output, const struct pipe_calls *calls)
{
	struct pipe *pipe = xcalloc(1, sizeof(*pipe));

	pipe->loop = loop;
	pipe->input = input;
	pipe->output = output;
	pipe->calls = *calls;
	pipe->next_seq = 1;
	/* Enough for the longest line and one more read(2). */
	buffer_init(&pipe->lines, PIPE_LINE_MAXIMUM + READ_SIZE);
	buffer_init(&pipe->queue, 0);
	/* If input and output are one open file description, only the first call reads the original
	 * flags; pipe_free() restores the flags of `input` last. */
	pipe->input_flags = make_non_blocking(input);
	pipe->output_flags = make_non_blocking(output);
	pipe->input_watch = loop_watch(loop, input, LOOP_READABLE, pipe_on_readable, pipe);
	return pipe;
}

static void pipe_stop_watch(struct loop_watch **watch)
{
	if (*watch)
		loop_watch_stop(*watch);
	*watch = NULL;
}

void pipe_free(struct pipe *pipe)
{
	if (!pipe)
		return;
	pipe_stop_watch(&pipe->input_watch);
	pipe_stop_watch(&pipe->output_watch);
	/*
	 * The flags belong to the open file descriptions, which other processes share: restore
	 * them.
	 */
	if (pipe->output_flags >= 0)
		fcntl(pipe->output, F_SETFL, pipe->output_flags);
	if (pipe->input_flags >= 0)
		fcntl(pipe->input, F_SETFL, pipe->input_flags);
	buffer_clear(&pipe->lines);
	buffer_clear(&pipe->queue);
	free(pipe);
}

size_t pipe_waiting(const struct pipe *pipe)
{
	return pipe->queue.length - pipe->written;
}

void pipe_stop(struct pipe *pipe)
{
	pipe->is_stopped = true;
	pipe_stop_watch(&pipe->input_watch);
}

static void pipe_end(struct pipe *pipe, const char *why)
{
	if (pipe->is_stopped)
		return;
	pipe_stop(pipe);
	pipe->calls.ended(why, pipe->calls.data);
}

static void break_off(struct pipe *pipe)
{
	pipe->is_broken = true;
	buffer_reset(&pipe->queue);
	pipe->written = 0;
	pipe_stop_watch(&pipe->output_watch);
	pipe_end(pipe, NULL);
}

static void pipe_hand_out(struct pipe *pipe)
{
	size_t start = 0;
	bool is_too_long = false;

	if (pipe->is_handing_out)
		return;
	pipe->is_handing_out = true;
	while (!pipe->is_stopped && pipe_waiting(pipe) < PIPE_QUEUE_LONG) {
		const char *from = pipe->lines.data + start;
		size_t left = pipe->lines.length - start;
		size_t known = pipe->searched > start ? pipe->searched - start : 0;
		const char *newline = memchr(from + known, '\n', left - known);

		if (!newline) {
			pipe->searched = pipe->lines.length;
			break;
		}
		if (newline - from > PIPE_LINE_MAXIMUM) {
			is_too_long = true;
			break;
		}
		start += (size_t)(newline - from) + 1;
		pipe->calls.line(from, (size_t)(newline - from), pipe->calls.data);
	}
	buffer_consume(&pipe->lines, start);
	pipe->searched -= start < pipe->searched ? start : pipe->searched;
	pipe->is_handing_out = false;
	if (is_too_long || pipe->lines.length > PIPE_LINE_MAXIMUM)
		pipe_end(pipe, pipe_waiting(pipe) >= PIPE_QUEUE_LONG
				       ? "probetui does not read the answers: probetui-node exits"
				       : "a request is longer than 1 MB: probetui-node exits");
}

static void pipe_on_readable(int fd, int events, void *data)
{
	struct pipe *pipe = data;
	char bytes[READ_SIZE];
	ssize_t got = read(fd, bytes, sizeof(bytes));

	(void)events;
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		/* The lines that were read before the end are still handled. */
		pipe_stop_watch(&pipe->input_watch);
		pipe_hand_out(pipe);
		pipe_end(pipe, NULL);
	} else {
		buffer_append(&pipe->lines, bytes, (size_t)got);
		pipe_hand_out(pipe);
	}
	pipe_flush(pipe);
}

static void pipe_on_writable(int fd, int events, void *data)
{
	struct pipe *pipe = data;

	(void)fd;
	(void)events;
	pipe_flush(pipe);
	if (pipe->lines.length > 0)
		pipe_hand_out(pipe);
}

void pipe_send(struct pipe *pipe, struct message *message)
{
	if (pipe->is_broken)
		return;
	message->seq = pipe->next_seq++;
	message_append(&pipe->queue, message);
	if (!pipe->output_watch && pipe_waiting(pipe) >= WRITE_SIZE)
		pipe_flush(pipe);
}

void pipe_flush(struct pipe *pipe)
{
	while (pipe_waiting(pipe) > 0) {
		ssize_t put =
			write(pipe->output, pipe->queue.data + pipe->written, pipe_waiting(pipe));

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EAGAIN)
			break;
		if (put < 0) {
			break_off(pipe);
			return;
		}
		pipe->written += (size_t)put;
	}
	if (pipe_waiting(pipe) == 0) {
		buffer_reset(&pipe->queue);
		pipe->written = 0;
		pipe_stop_watch(&pipe->output_watch);
		return;
	}
	if (pipe->written > pipe->queue.length / 2) {
		buffer_consume(&pipe->queue, pipe->written);
		pipe->written = 0;
	}
	if (!pipe->output_watch)
		pipe->output_watch =
			loop_watch(pipe->loop, pipe->output, LOOP_WRITABLE, pipe_on_writable, pipe);
}
