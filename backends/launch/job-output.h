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

/* has_room(data) is called each time that an event may have been sent and the output is not
 * full. */
struct job_output *job_output_new(struct node *node, void (*has_room)(void *data), void *data);
void job_output_free(struct job_output *output);
/* Adds output of the terminal; NULs are dropped. */
void job_output_add(struct job_output *output, const char *bytes, size_t length);
/* Adds a note that count bytes of output are missing at this place; file: the path of the file that
 * has the missing bytes; NULL: no file has them. */
void job_output_leave_out(struct job_output *output, uint64_t count, const char *file);
/* If true, the caller adds nothing more until has_room() is called. */
bool job_output_is_full(const struct job_output *output);
/* Sends all text now; call it before an event that must come after the output. */
void job_output_flush(struct job_output *output);

/*
 * scrollback: a ring with the newest bytes of a stream, and the position of its reader. Positions
 * count bytes from the beginning of the stream.
 */

#define SCROLLBACK_BYTES ((size_t)256 << 10)

struct scrollback {
	char *bytes;   /* ring of SCROLLBACK_BYTES */
	uint64_t end;  /* position of the end: number of bytes ever added */
	uint64_t sent; /* position of the reader: earlier bytes were read or lost */
	uint64_t kept; /* earlier bytes are stored elsewhere: scrollback_rewind() goes back to
			* here at most */
};

void scrollback_init(struct scrollback *scrollback);
void scrollback_clear(struct scrollback *scrollback);
void scrollback_add(struct scrollback *scrollback, const char *bytes, size_t length);
/* Returns how many unread bytes were overwritten, and moves the reader behind them. */
uint64_t scrollback_take_lost(struct scrollback *scrollback);
/* Copies the oldest unread bytes, maximum at most; returns their number. */
size_t scrollback_peek(const struct scrollback *scrollback, char *out, size_t maximum);
/* Marks `length` bytes, the oldest unread ones, as read. */
void scrollback_skip(struct scrollback *scrollback, size_t length);
/* Makes unread again all bytes that are still in the ring and not stored elsewhere. */
void scrollback_rewind(struct scrollback *scrollback);
/* Moves the reader to `position`, or to the oldest byte in the ring if that is later. */
void scrollback_rewind_to(struct scrollback *scrollback, uint64_t position);

#endif
