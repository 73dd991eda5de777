/*
 * pipe: lines in, lines out, without ever waiting for the other side.
 *
 * What cannot be written at once waits in a queue. While the queue is long
 * no further line is handed out, so a reader that is slow makes us slow and
 * never large; a writer that goes on then is refused. The other side is
 * watched all the time: its end is seen even when nothing moves.
 */
#ifndef BACKENDS_PIPE_H
#define BACKENDS_PIPE_H

#include <stdbool.h>
#include <stddef.h>

struct loop;
struct message;
struct pipe;

/* Bytes that may wait before no further line is handed out. */
#define PIPE_QUEUE_LONG (4u << 20)
/* A request that is longer is not one. */
#define PIPE_LINE_MAXIMUM (1u << 20)

struct pipe_calls {
	/* A line without its newline, lent for the call. */
	void (*line)(const char *line, size_t length, void *data);
	/* Nothing more will come; why is NULL when the input just ended. */
	void (*ended)(const char *why, void *data);
	void *data;
};

/* The descriptors are borrowed; they are non-blocking until pipe_free. */
struct pipe *pipe_new(struct loop *loop, int input, int output, const struct pipe_calls *calls);
void pipe_free(struct pipe *pipe);
/* Queues a message, and numbers it. */
void pipe_send(struct pipe *pipe, struct message *message);
/* Writes what the other side takes now. Call it once a turn. */
void pipe_flush(struct pipe *pipe);
/* Bytes that wait. */
size_t pipe_waiting(const struct pipe *pipe);
/* Hands out no further line. */
void pipe_stop(struct pipe *pipe);

#endif
