#include "backends/launch/scrollback.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"

void scrollback_init(struct scrollback *scrollback)
{
	*scrollback = (struct scrollback){ .bytes = xmalloc(SCROLLBACK_BYTES) };
}

void scrollback_clear(struct scrollback *scrollback)
{
	free(scrollback->bytes);
	*scrollback = (struct scrollback){ .bytes = NULL };
}

/* Returns the position of the oldest byte in the ring. */
static uint64_t scrollback_start(const struct scrollback *scrollback)
{
	return scrollback->end > SCROLLBACK_BYTES ? scrollback->end - SCROLLBACK_BYTES : 0;
}

/* Returns how many of length bytes from a position on are contiguous in the ring. */
static size_t piece(uint64_t position, size_t length)
{
	size_t left = SCROLLBACK_BYTES - (size_t)(position % SCROLLBACK_BYTES);

	return length < left ? length : left;
}

void scrollback_add(struct scrollback *scrollback, const char *bytes, size_t length)
{
	while (length > 0) {
		size_t count = piece(scrollback->end, length);

		memcpy(scrollback->bytes + scrollback->end % SCROLLBACK_BYTES, bytes, count);
		scrollback->end += count;
		bytes += count;
		length -= count;
	}
}

uint64_t scrollback_take_lost(struct scrollback *scrollback)
{
	uint64_t oldest = scrollback_start(scrollback);
	uint64_t lost = 0;

	if (scrollback->sent < oldest) {
		lost = oldest - scrollback->sent;
		scrollback->sent = oldest;
	}
	return lost;
}

size_t scrollback_peek(const struct scrollback *scrollback, char *out, size_t maximum)
{
	uint64_t at = scrollback->sent > scrollback_start(scrollback)
			      ? scrollback->sent
			      : scrollback_start(scrollback);
	size_t copied = 0;

	while (at < scrollback->end && copied < maximum) {
		size_t left = (size_t)(scrollback->end - at);
		size_t count;

		if (left > maximum - copied)
			left = maximum - copied;
		count = piece(at, left);
		memcpy(out + copied, scrollback->bytes + at % SCROLLBACK_BYTES, count);
		at += count;
		copied += count;
	}
	return copied;
}

void scrollback_skip(struct scrollback *scrollback, size_t length)
{
	scrollback->sent += length;
}

void scrollback_rewind_to(struct scrollback *scrollback, uint64_t position)
{
	scrollback->sent =
		position > scrollback_start(scrollback) ? position : scrollback_start(scrollback);
}

void scrollback_rewind(struct scrollback *scrollback)
{
	scrollback_rewind_to(scrollback, scrollback->kept);
}
