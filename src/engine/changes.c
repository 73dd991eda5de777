#include "engine/changes.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "engine/recording.h"
#include "model/session.h"
#include "protocol/message.h"

/* Times in a recording have microseconds: times closer than this are equal. */
#define SAME_SECONDS 5e-7

struct changes {
	struct recording_cursor cursor;
	size_t segment; /* segment that times belongs to; SIZE_MAX: none */
	double *times;
	size_t count;
	size_t capacity;
};

struct changes *changes_new(const struct recording *recording)
{
	struct changes *changes = xcalloc(1, sizeof(*changes));

	recording_cursor_init(&changes->cursor, recording);
	changes->segment = SIZE_MAX;
	return changes;
}

void changes_free(struct changes *changes)
{
	if (!changes)
		return;
	recording_cursor_clear(&changes->cursor);
	free(changes->times);
	free(changes);
}

static void changes_add(struct changes *changes, double time)
{
	if (changes->count > 0 && time - changes->times[changes->count - 1] < SAME_SECONDS)
		return;
	ARRAY_GROW(changes->times, changes->count, changes->capacity);
	changes->times[changes->count++] = time;
}

/*
 * Replays a segment and lists the times of its changes. The state at the start of a segment is no
 * change; a damaged segment ends at the damage.
 */
static void changes_follow(struct changes *changes, size_t segment)
{
	struct recording_cursor *cursor = &changes->cursor;
	bool is_first = segment > 0;
	struct session session;
	struct message message;
	double time;

	changes->segment = segment;
	changes->count = 0;
	session_init(&session);
	session_add_node(&session, "");
	recording_cursor_go(cursor, segment);
	while (recording_cursor_time(cursor, &time, NULL) > 0 && cursor->segment == segment &&
	       recording_cursor_next(cursor, &message, NULL) > 0) {
		uint64_t step = session.step;

		if (message.type != MESSAGE_REQUEST)
			session_apply(&session, 0, &message, time, NULL);
		if (session.step != step && !is_first)
			changes_add(changes, time);
		is_first = false;
		message_clear(&message);
	}
	session_clear(&session);
}

/* Nearest change in the segment that times belongs to; -1: none. */
static double changes_find_here(const struct changes *changes, double time, bool is_forward)
{
	for (size_t i = 0; i < changes->count; i++) {
		double at = is_forward ? changes->times[i] : changes->times[changes->count - 1 - i];

		if (is_forward ? at > time + SAME_SECONDS : at < time - SAME_SECONDS)
			return at;
	}
	return -1;
}

double changes_find(struct changes *changes, double time, bool is_forward)
{
	const struct recording *recording = changes->cursor.recording;
	size_t segment = recording_find_segment(recording, time);

	/* Backward, segment wraps around to SIZE_MAX below 0 and ends the loop. */
	for (; segment < recording->segment_count; segment += is_forward ? 1 : SIZE_MAX) {
		double found;

		if (!(recording->segments[segment].is.flags & RECORDING_SEGMENT_CHANGES))
			continue;
		if (changes->segment != segment)
			changes_follow(changes, segment);
		found = changes_find_here(changes, time, is_forward);
		if (found >= 0)
			return found;
	}
	return -1;
}
