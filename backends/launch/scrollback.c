#include "backends/launch/scrollback.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"

void backlog_init(struct backlog *backlog)
{
	*backlog = (struct backlog){ .bytes = xmalloc(BACKLOG_BYTES) };
}

void backlog_clear(struct backlog *backlog)
{
	free(backlog->bytes);
	*backlog = (struct backlog){ .bytes = NULL };
}

/* Position of the oldest byte that is there. */
static uint64_t start(const struct backlog *backlog)
{
	return backlog->end > BACKLOG_BYTES ? backlog->end - BACKLOG_BYTES : 0;
}

/* How many bytes from a position on lie in one piece. */
static size_t piece(uint64_t position, size_t length)
{
	size_t left = BACKLOG_BYTES - (size_t)(position % BACKLOG_BYTES);

	return length < left ? length : left;
}

void backlog_add(struct backlog *backlog, const char *bytes, size_t length)
{
	while (length > 0) {
		size_t count = piece(backlog->end, length);

		memcpy(backlog->bytes + backlog->end % BACKLOG_BYTES, bytes, count);
		backlog->end += count;
		bytes += count;
		length -= count;
	}
}

uint64_t backlog_take_lost(struct backlog *backlog)
{
	uint64_t oldest = start(backlog);
	uint64_t lost = 0;

	if (backlog->sent < oldest) {
		lost = oldest - backlog->sent;
		backlog->sent = oldest;
	}
	return lost;
}

size_t backlog_peek(const struct backlog *backlog, char *out, size_t maximum)
{
	uint64_t at = backlog->sent > start(backlog) ? backlog->sent : start(backlog);
	size_t copied = 0;

	while (at < backlog->end && copied < maximum) {
		size_t left = (size_t)(backlog->end - at);
		size_t count;

		if (left > maximum - copied)
			left = maximum - copied;
		count = piece(at, left);
		memcpy(out + copied, backlog->bytes + at % BACKLOG_BYTES, count);
		at += count;
		copied += count;
	}
	return copied;
}

void backlog_skip(struct backlog *backlog, size_t length)
{
	backlog->sent += length;
}

void backlog_rewind_to(struct backlog *backlog, uint64_t position)
{
	backlog->sent = position > start(backlog) ? position : start(backlog);
}

void backlog_rewind(struct backlog *backlog)
{
	backlog_rewind_to(backlog, backlog->kept);
}
