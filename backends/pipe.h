/*
 * pipe: reads and writes lines (JSON messages) on two descriptors without ever blocking.
 *
 * Output that cannot be written at once waits in a queue. While PIPE_QUEUE_LONG or more bytes are
 * queued, no further line is handled: a peer that reads slowly delays its own requests, and memory
 * stays bounded. If the peer sends more than PIPE_LINE_MAXIMUM bytes in that state, the input ends
 * with an error. The input is polled in every state, so that its end is noticed at once.
 */
#ifndef BACKENDS_PIPE_H
#define BACKENDS_PIPE_H

#include <stdbool.h>
#include <stddef.h>

struct loop;
struct message;
struct pipe;

/* While at least this many bytes are queued, no further line is handled. */
#define PIPE_QUEUE_LONG (4u << 20)
/* Bytes; a longer line is an error. */
#define PIPE_LINE_MAXIMUM (1u << 20)

struct pipe_calls {
	/* A line without its newline, valid during the call. */
	void (*line)(const char *line, size_t length, void *data);
	/* The input has ended; why: the error; NULL: end of file. */
	void (*ended)(const char *why, void *data);
	void *data;
};

/* The caller keeps ownership of the descriptors, which are non-blocking until pipe_free(). */
struct pipe *pipe_new(struct loop *loop, int input, int output, const struct pipe_calls *calls);
void pipe_free(struct pipe *pipe);
/* Queues a message and sets its seq. */
void pipe_send(struct pipe *pipe, struct message *message);
/* Writes as many queued bytes as the descriptor takes now. Call it once per turn of the loop. */
void pipe_flush(struct pipe *pipe);
/* Returns the number of queued bytes. */
size_t pipe_waiting(const struct pipe *pipe);
/* Stops reading: calls.line and calls.ended are not called any more. */
void pipe_stop(struct pipe *pipe);

#endif
