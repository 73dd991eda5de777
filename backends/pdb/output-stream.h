/*
 * output-stream: output of a process, sent to the screen as `output` events of one category. Text
 * is collected for a moment, and at most `maximum` bytes are sent per quarter of a second; if there
 * is more text, the oldest text is dropped.
 */
#ifndef BACKENDS_PDB_OUTPUT_STREAM_H
#define BACKENDS_PDB_OUTPUT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct node;
struct output_stream;

/* category: borrowed. maximum: bytes that are sent per quarter of a second. */
struct output_stream *output_stream_new(struct node *node, pid_t pid, const char *category,
					size_t maximum);
/* Sends the collected text and frees the stream. */
void output_stream_free(struct output_stream *stream);
void output_stream_add(struct output_stream *stream, const char *bytes, size_t length);
/* Sends the collected text, up to `maximum` bytes. To be called before another event is sent. */
void output_stream_flush(struct output_stream *stream);
/* Drops unsent text, and marks the next event as the first. */
void output_stream_restart(struct output_stream *stream);

#endif
