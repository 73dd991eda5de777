/*
 * job-output: sends the output of the job's terminal as `output` events of category
 * `job`, not faster than the pipe takes them.
 */
#ifndef BACKENDS_LAUNCH_JOB_OUTPUT_H
#define BACKENDS_LAUNCH_JOB_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_output;
struct node;

/* has_room() is called after events were sent, if the output is not full (any more). */
struct job_output *job_output_new(struct node *node, void (*has_room)(void *data), void *data);
void job_output_free(struct job_output *output);
/* Adds output of the terminal; NULs are dropped. */
void job_output_add(struct job_output *output, const char *bytes, size_t length);
/* Adds a note that count bytes are missing here; file: the file that has them; NULL: none. */
void job_output_leave_out(struct job_output *output, uint64_t count, const char *file);
/* True: add nothing until has_room() is called. */
bool job_output_is_full(const struct job_output *output);
/* Sends all text now; call it before an event that must come after the output. */
void job_output_flush(struct job_output *output);

/*
 * A ring with the newest bytes of a stream, and the position of its reader.
 */

#define SCROLLBACK_BYTES ((size_t)256 << 10)

struct scrollback {
	char *bytes;   /* ring */
	uint64_t end;  /* bytes ever added */
	uint64_t sent; /* position of the reader: bytes before were read or lost */
	uint64_t kept; /* bytes before are stored elsewhere: scrollback_rewind() stops here */
};

void scrollback_init(struct scrollback *scrollback);
void scrollback_clear(struct scrollback *scrollback);
void scrollback_add(struct scrollback *scrollback, const char *bytes, size_t length);
/* Returns the number of bytes that were overwritten before they were read, and skips
 * them. */
uint64_t scrollback_take_lost(struct scrollback *scrollback);
/* Copies the oldest unread bytes, maximum at most; returns their number. */
size_t scrollback_peek(const struct scrollback *scrollback, char *out, size_t maximum);
/* Marks the oldest length unread bytes as read. */
void scrollback_skip(struct scrollback *scrollback, size_t length);
/* Makes all bytes that are still in the ring, and not kept elsewhere, unread again. */
void scrollback_rewind(struct scrollback *scrollback);
/* Rewinds only to a position, or to the oldest byte still kept. */
void scrollback_rewind_to(struct scrollback *scrollback, uint64_t position);

#endif
