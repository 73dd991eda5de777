#include "backends/launch/scrollback.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"

void scrollback_init(struct scrollback *backlog)
{
	*backlog = (struct scrollback){ .bytes = xmalloc(SCROLLBACK_BYTES) };
}

void scrollback_clear(struct scrollback *backlog)
{
	free(backlog->bytes);
	*backlog = (struct scrollback){ .bytes = NULL };
}

/* Position of the oldest byte that is there. */
static uint64_t start(const struct scrollback *backlog)
{
	return backlog->end > SCROLLBACK_BYTES ? backlog->end - SCROLLBACK_BYTES : 0;
}

/* How many bytes from a position on lie in one piece. */
static size_t piece(uint64_t position, size_t length)
{
	size_t left = SCROLLBACK_BYTES - (size_t)(position % SCROLLBACK_BYTES);

	return length < left ? length : left;
}

void scrollback_add(struct scrollback *backlog, const char *bytes, size_t length)
{
	while (length > 0) {
		size_t count = piece(backlog->end, length);

		memcpy(backlog->bytes + backlog->end % SCROLLBACK_BYTES, bytes, count);
		backlog->end += count;
		bytes += count;
		length -= count;
	}
}

uint64_t scrollback_take_lost(struct scrollback *backlog)
{
	uint64_t oldest = start(backlog);
	uint64_t lost = 0;

	if (backlog->sent < oldest) {
		lost = oldest - backlog->sent;
		backlog->sent = oldest;
	}
	return lost;
}

size_t scrollback_peek(const struct scrollback *backlog, char *out, size_t maximum)
{
	uint64_t at = backlog->sent > start(backlog) ? backlog->sent : start(backlog);
	size_t copied = 0;

	while (at < backlog->end && copied < maximum) {
		size_t left = (size_t)(backlog->end - at);
		size_t count;

		if (left > maximum - copied)
			left = maximum - copied;
		count = piece(at, left);
		memcpy(out + copied, backlog->bytes + at % SCROLLBACK_BYTES, count);
		at += count;
		copied += count;
	}
	return copied;
}

void scrollback_skip(struct scrollback *backlog, size_t length)
{
	backlog->sent += length;
}

void scrollback_rewind_to(struct scrollback *backlog, uint64_t position)
{
	backlog->sent = position > start(backlog) ? position : start(backlog);
}

void scrollback_rewind(struct scrollback *backlog)
{
	scrollback_rewind_to(backlog, backlog->kept);
}
