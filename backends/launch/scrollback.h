/*
 * scrollback: the newest bytes of a stream, and how far they were handed over.
 */
#ifndef BACKENDS_LAUNCH_SCROLLBACK_H
#define BACKENDS_LAUNCH_SCROLLBACK_H

#include <stddef.h>
#include <stdint.h>

#define SCROLLBACK_BYTES ((size_t)256 << 10)

struct scrollback {
	char *bytes;   /* a ring */
	uint64_t end;  /* bytes ever added */
	uint64_t sent; /* of these were handed over, or left out */
	uint64_t kept; /* of these are somewhere else: not again on rewind */
};

void scrollback_init(struct scrollback *scrollback);
void scrollback_clear(struct scrollback *scrollback);
void scrollback_add(struct scrollback *scrollback, const char *bytes, size_t length);
/* Bytes that were not handed over in time and are no more; they count as
 * handed over from now on. */
uint64_t scrollback_take_lost(struct scrollback *scrollback);
/* Copies the oldest that wait, at most so many; returns how many. */
size_t scrollback_peek(const struct scrollback *scrollback, char *out, size_t maximum);
void scrollback_skip(struct scrollback *scrollback, size_t length);
/* All that is there and not kept counts as not handed over. */
void scrollback_rewind(struct scrollback *scrollback);
/* Rewinds only to a position, or to the oldest byte still kept. */
void scrollback_rewind_to(struct scrollback *scrollback, uint64_t position);

#endif
