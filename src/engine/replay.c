#include "engine/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "engine/changes.h"
#include "engine/recording.h"

/* A wall clock beyond this, in seconds since 1970, is ignored. */
#define WALL_MAXIMUM 1e11

struct part {
	struct recording *recording;
	double shift; /* session time minus the recording's time */
	struct recording_cursor cursor;
	struct changes *changes; /* NULL: not searched yet */
};

struct replay {
	struct part *parts;
	size_t count;
	double wall; /* wall clock at session time 0; -1: not known */
};

static double replay_first_of(const struct part *part)
{
	return recording_first(part->recording) + part->shift;
}

static bool has_wall(const struct recording *recording)
{
	return recording->wall > 0 && recording->wall < WALL_MAXIMUM;
}

/* Session time 0 is the earliest time 0 of the recordings with a wall clock. */
static void align(struct replay *replay)
{
	double first = INFINITY;

	replay->wall = -1;
	for (size_t i = 0; i < replay->count; i++) {
		const struct recording *recording = replay->parts[i].recording;

		if (has_wall(recording) && (replay->wall < 0 || recording->wall < replay->wall))
			replay->wall = recording->wall;
	}
	for (size_t i = 0; i < replay->count; i++) {
		struct part *part = &replay->parts[i];

		if (!has_wall(part->recording))
			continue;
		part->shift = part->recording->wall - replay->wall;
		first = fmin(first, replay_first_of(part));
	}
	for (size_t i = 0; i < replay->count; i++) {
		struct part *part = &replay->parts[i];

		if (!has_wall(part->recording) && isfinite(first) &&
		    first > recording_first(part->recording))
			part->shift = first - recording_first(part->recording);
	}
}

static struct replay *replay_make(size_t count)
{
	struct replay *replay = xcalloc(1, sizeof(*replay));

	replay->parts = xcalloc(count, sizeof(*replay->parts));
	return replay;
}

/* Adds a recording; NULL: owned_recording is NULL, and replay was freed. */
static struct replay *replay_add(struct replay *replay, struct recording *owned_recording)
{
	struct part *part;

	if (!owned_recording) {
		replay_free(replay);
		return NULL;
	}
	part = &replay->parts[replay->count++];
	part->recording = owned_recording;
	recording_cursor_init(&part->cursor, part->recording);
	return replay;
}

struct replay *replay_new(char *const *paths, size_t count, struct error *error)
{
	struct replay *replay = replay_make(count);
	struct recording_budget budget;

	recording_budget_init(&budget);
	for (size_t i = 0; i < count && replay; i++)
		replay = replay_add(replay, recording_new(paths[i], &budget, error));
	if (replay)
		align(replay);
	return replay;
}

struct replay *replay_new_bytes(const char *name, const void *bytes, size_t length,
				struct error *error)
{
	struct recording_budget budget;
	struct replay *replay;

	recording_budget_init(&budget);
	replay = replay_add(replay_make(1),
			    recording_new_bytes(name, bytes, length, &budget, error));
	if (replay)
		align(replay);
	return replay;
}

void replay_free(struct replay *replay)
{
	if (!replay)
		return;
	for (size_t i = 0; i < replay->count; i++) {
		changes_free(replay->parts[i].changes);
		recording_cursor_clear(&replay->parts[i].cursor);
		recording_free(replay->parts[i].recording);
	}
	free(replay->parts);
	free(replay);
}

size_t replay_count(const struct replay *replay)
{
	return replay->count;
}

const char *replay_path(const struct replay *replay, size_t node)
{
	return replay->parts[node].recording->path;
}

/* The recording with the earliest next line; NULL: none; *result -1: a recording is damaged. */
static struct part *next_part(struct replay *replay, double *time, int *result, struct error *error)
{
	struct part *next = NULL;

	*result = 0;
	for (size_t i = 0; i < replay->count; i++) {
		struct part *part = &replay->parts[i];
		double at;
		int has = recording_cursor_time(&part->cursor, &at, error);

		if (has < 0) {
			*result = -1;
			return NULL;
		}
		if (has == 0 || (next && at + part->shift >= *time))
			continue;
		next = part;
		*time = at + part->shift;
	}
	return next;
}

int replay_next(struct replay *replay, double until, struct replay_line *line, struct error *error)
{
	int result;
	struct part *part = next_part(replay, &line->time, &result, error);

	if (!part || line->time > until)
		return result;
	line->node = (size_t)(part - replay->parts);
	return recording_cursor_next(&part->cursor, &line->message, error);
}

void replay_seek(struct replay *replay, double time)
{
	for (size_t i = 0; i < replay->count; i++) {
		struct part *part = &replay->parts[i];

		recording_cursor_go(&part->cursor,
				    recording_find_segment(part->recording, time - part->shift));
	}
}

bool replay_is_far(const struct replay *replay, double time)
{
	for (size_t i = 0; i < replay->count; i++) {
		const struct part *part = &replay->parts[i];

		if (recording_find_segment(part->recording, time - part->shift) >
		    part->cursor.segment)
			return true;
	}
	return false;
}

double replay_first_time(const struct replay *replay)
{
	double first = INFINITY;

	for (size_t i = 0; i < replay->count; i++)
		first = fmin(first, replay_first_of(&replay->parts[i]));
	return first;
}

double replay_end_time(const struct replay *replay)
{
	double last = 0;

	for (size_t i = 0; i < replay->count; i++)
		last = fmax(last,
			    recording_last(replay->parts[i].recording) + replay->parts[i].shift);
	return last;
}

double replay_wall(const struct replay *replay)
{
	return replay->wall;
}

const char *replay_cut_path(const struct replay *replay)
{
	for (size_t i = 0; i < replay->count; i++) {
		if (replay->parts[i].recording->is_cut)
			return replay->parts[i].recording->path;
	}
	return NULL;
}

static int each_of(const struct replay *replay, size_t node, const struct replay_search *search,
		   struct error *error)
{
	const struct part *part = &replay->parts[node];
	struct replay_line line = { .node = node };
	struct recording_cursor cursor;
	int result = 0;

	recording_cursor_init(&cursor, part->recording);
	for (size_t i = 0; i < part->recording->segment_count && result >= 0; i++) {
		if (!(part->recording->segments[i].is.flags & search->flag))
			continue;
		recording_cursor_go(&cursor, i);
		while ((result = recording_cursor_find(&cursor, search->command, &line.message,
						       error)) > 0) {
			line.time = line.message.time + part->shift;
			search->each(&line, search->data);
			message_clear(&line.message);
		}
	}
	recording_cursor_clear(&cursor);
	return result;
}

int replay_each(const struct replay *replay, const struct replay_search *search,
		struct error *error)
{
	for (size_t i = 0; i < replay->count; i++) {
		if (each_of(replay, i, search, error) < 0)
			return -1;
	}
	return 0;
}

double replay_find_change(struct replay *replay, double time, bool is_forward)
{
	double nearest = -1;

	for (size_t i = 0; i < replay->count; i++) {
		struct part *part = &replay->parts[i];
		double found;

		if (!part->changes)
			part->changes = changes_new(part->recording);
		found = changes_find(part->changes, time - part->shift, is_forward);
		if (found < 0)
			continue;
		found += part->shift;
		if (nearest < 0 || (found < nearest) == is_forward)
			nearest = found;
	}
	return nearest;
}
