/*
 * scrollback: a ring with the newest bytes of a stream, and the position of its reader.
 */
#ifndef BACKENDS_LAUNCH_SCROLLBACK_H
#define BACKENDS_LAUNCH_SCROLLBACK_H

#include <stddef.h>
#include <stdint.h>

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
