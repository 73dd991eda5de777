/*
 * scrollback: the newest bytes of a stream, and how far they were handed over.
 */
#ifndef BACKENDS_LAUNCH_SCROLLBACK_H
#define BACKENDS_LAUNCH_SCROLLBACK_H

#include <stddef.h>
#include <stdint.h>

#define BACKLOG_BYTES ((size_t)256 << 10)

struct backlog {
	char *bytes;   /* a ring */
	uint64_t end;  /* bytes ever added */
	uint64_t sent; /* of these were handed over, or left out */
	uint64_t kept; /* of these are somewhere else: not again on rewind */
};

void backlog_init(struct backlog *backlog);
void backlog_clear(struct backlog *backlog);
void backlog_add(struct backlog *backlog, const char *bytes, size_t length);
/* Bytes that were not handed over in time and are no more; they count as
 * handed over from now on. */
uint64_t backlog_take_lost(struct backlog *backlog);
/* Copies the oldest that wait, at most so many; returns how many. */
size_t backlog_peek(const struct backlog *backlog, char *out, size_t maximum);
void backlog_skip(struct backlog *backlog, size_t length);
/* All that is there and not kept counts as not handed over. */
void backlog_rewind(struct backlog *backlog);
/* The same from a position on, as far as it is there. */
void backlog_rewind_to(struct backlog *backlog, uint64_t position);

#endif
