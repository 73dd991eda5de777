/*
 * pipe: lines in, lines out, without ever blocking.
 *
 * Output that cannot be written at once waits in a queue. While the queue is
 * long, no further line is handled: a slow reader delays requests, and memory
 * stays bounded. A peer that then sends more than a line's maximum is an error.
 * The input is watched all the time, so the peer's end is noticed at once.
 */
#ifndef BACKENDS_PIPE_H
#define BACKENDS_PIPE_H

#include <stdbool.h>
#include <stddef.h>

struct loop;
struct message;
struct pipe;

/* Queued bytes from which on no further line is handled. */
#define PIPE_QUEUE_LONG (4u << 20)
/* Bytes; a longer line is an error. */
#define PIPE_LINE_MAXIMUM (1u << 20)

struct pipe_calls {
	/* A line without its newline, valid during the call. */
	void (*line)(const char *line, size_t length, void *data);
	/* The input has ended; why is the error, NULL: end of file. */
	void (*ended)(const char *why, void *data);
	void *data;
};

/* The caller keeps the descriptors; they are non-blocking until pipe_free(). */
struct pipe *pipe_new(struct loop *loop, int input, int output, const struct pipe_calls *calls);
void pipe_free(struct pipe *pipe);
/* Queues a message and sets its seq. */
void pipe_send(struct pipe *pipe, struct message *message);
/* Writes what the pipe takes now. Call it once per turn of the loop. */
void pipe_flush(struct pipe *pipe);
/* Returns the number of queued bytes. */
size_t pipe_waiting(const struct pipe *pipe);
/* Stops reading: calls.line and calls.ended are not called any more. */
void pipe_stop(struct pipe *pipe);

#endif
