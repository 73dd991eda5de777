#include "engine/recording.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/pack.h"
#include "engine/recording-file.h"
#include "model/session.h"
#include "protocol/message.h"

/* A line's type and name are within this many bytes from its beginning. */
#define HEAD_LENGTH 200

/*
 * Returns the time of a line. Lines that probetui wrote begin with the time; any other line is
 * parsed. Returns -1 and sets why if the line is not a line of a recording.
 */
static double line_time(const char *line, size_t length, struct error *why)
{
	static const char key[] = "{\"time\":";
	struct message message;
	double time;
	char *end;

	if (length > sizeof(key) && strncmp(line, key, sizeof(key) - 1) == 0) {
		time = strtod(line + sizeof(key) - 1, &end);
		if (*end == ',' && time >= 0 && isfinite(time))
			return time;
	}
	if (message_parse(&message, line, length, why) < 0)
		return -1;
	time = message.time;
	message_clear(&message);
	if (!(time >= 0) || !isfinite(time)) {
		error_set(why, "the line has no time");
		return -1;
	}
	return time;
}

/* Sets the error for a damaged line; number counts lines from 1. */
static int broken(const struct recording *recording, size_t number, const struct error *why,
		  struct error *error)
{
	if (number == 1)
		return error_set(error, "%s is not a recording of probetui: line 1: %s",
				 recording->path, why->message);
	return error_set(error, "the recording %s is damaged at line %zu: %s", recording->path,
			 number, why->message);
}

int recording_index_line(const struct recording *recording, const char *text,
			 struct recording_line *line, double before, size_t number,
			 struct error *error)
{
	struct error why = ERROR_INIT;

	line->time = -1;
	if (line->length > MESSAGE_LINE_MAXIMUM)
		error_set(&why, "the line is too long");
	else
		line->time = line_time(text + line->start, line->length, &why);
	if (!error_is_set(&why) && line->time < before)
		error_set(&why, "the time is before that of the previous line");
	return error_is_set(&why) ? broken(recording, number, &why, error) : 0;
}

double recording_first(const struct recording *recording)
{
	return recording->segments[0].is.first;
}

double recording_last(const struct recording *recording)
{
	return recording->segments[recording->segment_count - 1].is.last;
}

size_t recording_find_segment(const struct recording *recording, double time)
{
	size_t low = 0;
	size_t high = recording->segment_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (recording->segments[middle].is.first <= time)
			low = middle;
		else
			high = middle;
	}
	return low;
}

const char *recording_damage(const struct recording *recording, double time)
{
	return recording->segments[recording_find_segment(recording, time)].damage;
}

void recording_cursor_init(struct recording_cursor *cursor, struct recording *recording)
{
	*cursor = (struct recording_cursor){ .recording = recording };
	buffer_init(&cursor->own_text, RECORDING_PART_MAXIMUM);
}

void recording_cursor_clear(struct recording_cursor *cursor)
{
	free(cursor->own_lines);
	buffer_clear(&cursor->own_text);
	*cursor = (struct recording_cursor){ .recording = NULL };
}

void recording_cursor_go(struct recording_cursor *cursor, size_t segment)
{
	if (segment != cursor->segment)
		cursor->is_loaded = false;
	cursor->segment = segment;
	cursor->line = 0;
	cursor->has_skipped = false;
}

/* Unpacks the segment and indexes its lines. */
static int load_packed(struct recording_cursor *cursor, const struct recording_part *segment,
		       struct error *error)
{
	const struct recording *recording = cursor->recording;
	struct buffer *text = &cursor->own_text;
	double before = segment->is.first;
	size_t start = 0;

	cursor->line_count = 0;
	buffer_reset(text);
	if (recording_unpack(recording, segment, text, error) < 0)
		return -1;
	for (;;) {
		const char *end = memchr(text->data + start, '\n', text->length - start);
		struct recording_line line = { .start = start };

		if (!end)
			break;
		if (cursor->line_count >= RECORDING_PART_LINES)
			return error_set(error,
					 "the recording %s has a segment of more than %zu lines",
					 recording->path, RECORDING_PART_LINES);
		line.length = (size_t)(end - text->data) - start;
		if (recording_index_line(recording, text->data, &line, before,
					 segment->first_line + cursor->line_count + 1, error) < 0)
			return -1;
		ARRAY_GROW(cursor->own_lines, cursor->line_count, cursor->own_capacity);
		cursor->own_lines[cursor->line_count++] = line;
		before = line.time;
		start += line.length + 1;
	}
	cursor->lines = cursor->own_lines;
	cursor->text = text->data;
	return 0;
}

static int load(struct recording_cursor *cursor, struct error *error)
{
	const struct recording *recording = cursor->recording;
	const struct recording_part *segment = &recording->segments[cursor->segment];

	if (cursor->is_loaded)
		return 0;
	if (recording->is_packed) {
		if (load_packed(cursor, segment, error) < 0)
			return -1;
	} else {
		cursor->lines = recording->lines + segment->first_line;
		cursor->line_count = segment->is.line_count;
		cursor->text = recording->bytes.data;
	}
	cursor->is_loaded = true;
	return 0;
}

static void next_segment(struct recording_cursor *cursor)
{
	bool has_skipped =
		cursor->has_skipped || cursor->recording->segments[cursor->segment].damage != NULL;

	recording_cursor_go(cursor, cursor->segment + 1);
	cursor->has_skipped = has_skipped;
}

/* Leaves the current segment out from now on; returns -1. */
static int leave_out(struct recording_cursor *cursor, const struct error *why, struct error *error)
{
	struct recording_part *segment = &cursor->recording->segments[cursor->segment];

	free(segment->damage);
	segment->damage = xstrdup(why->message);
	next_segment(cursor);
	return error_set(error, "%s", why->message);
}

int recording_cursor_time(struct recording_cursor *cursor, double *time, struct error *error)
{
	struct recording *recording = cursor->recording;
	struct error why = ERROR_INIT;

	for (; cursor->segment < recording->segment_count; next_segment(cursor)) {
		if (recording->segments[cursor->segment].damage)
			continue;
		if (load(cursor, &why) < 0)
			return leave_out(cursor, &why, error);
		if (cursor->line >= cursor->line_count)
			continue;
		*time = cursor->lines[cursor->line].time;
		return 1;
	}
	return 0;
}

int recording_cursor_next(struct recording_cursor *cursor, struct message *message,
			  struct error *error)
{
	struct error why = ERROR_INIT;
	struct error damage = ERROR_INIT;
	const struct recording_line *line;
	double time;
	int result = recording_cursor_time(cursor, &time, error);

	if (result <= 0)
		return result;
	line = &cursor->lines[cursor->line++];
	cursor->has_skipped = false;
	if (message_parse(message, cursor->text + line->start, line->length, &why) == 0)
		return 1;
	broken(cursor->recording,
	       cursor->recording->segments[cursor->segment].first_line + cursor->line, &why,
	       &damage);
	return leave_out(cursor, &damage, error);
}

/*
 * Checks quickly, without parsing. Returns false if the line cannot be an answer to command, and
 * true if it may be one.
 */
static bool may_be(const struct recording_cursor *cursor, const char *command)
{
	const struct recording_line *line = &cursor->lines[cursor->line];
	char name[64];

	snprintf(name, sizeof(name), "\"%s\"", command);
	return memmem(cursor->text + line->start,
		      line->length < HEAD_LENGTH ? line->length : HEAD_LENGTH, name,
		      strlen(name)) != NULL;
}

int recording_cursor_find(struct recording_cursor *cursor, const char *command,
			  struct message *message, struct error *error)
{
	size_t segment = cursor->segment;
	double time;
	int result;

	while ((result = recording_cursor_time(cursor, &time, error)) > 0 &&
	       cursor->segment == segment) {
		if (!may_be(cursor, command)) {
			cursor->line++;
			continue;
		}
		result = recording_cursor_next(cursor, message, error);
		if (result < 0)
			return -1;
		if (message->type == MESSAGE_RESPONSE && message->is_success &&
		    strcmp(message->name, command) == 0)
			return 1;
		message_clear(message);
	}
	return result < 0 ? -1 : 0;
}

static void recording_segment_put(unsigned char *at, uint64_t value, int length)
{
	for (int i = 0; i < length; i++)
		at[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t recording_segment_get(const unsigned char *at, int length)
{
	uint64_t value = 0;

	for (int i = 0; i < length; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

static void put_time(unsigned char *at, double time)
{
	uint64_t bits;

	memcpy(&bits, &time, sizeof(bits));
	recording_segment_put(at, bits, 8);
}

static double get_time(const unsigned char *at)
{
	uint64_t bits = recording_segment_get(at, 8);
	double time;

	memcpy(&time, &bits, sizeof(time));
	return time;
}

void recording_segment_to_note(const struct recording_segment *segment,
			       unsigned char note[RECORDING_SEGMENT_NOTE_LENGTH])
{
	recording_segment_put(note, segment->packed_length, 8);
	recording_segment_put(note + 8, segment->length, 8);
	put_time(note + 16, segment->first);
	put_time(note + 24, segment->last);
	recording_segment_put(note + 32, segment->line_count, 4);
	recording_segment_put(note + 36, segment->flags, 4);
	recording_segment_put(note + 40, crc_add(0, note, 40), 4);
}

bool recording_segment_from_note(struct recording_segment *segment,
				 const unsigned char note[RECORDING_SEGMENT_NOTE_LENGTH])
{
	*segment = (struct recording_segment){
		.packed_length = recording_segment_get(note, 8),
		.length = recording_segment_get(note + 8, 8),
		.first = get_time(note + 16),
		.last = get_time(note + 24),
		.line_count = (uint32_t)recording_segment_get(note + 32, 4),
		.flags = (uint32_t)recording_segment_get(note + 36, 4),
	};
	return crc_add(0, note, 40) == recording_segment_get(note + 40, 4) && segment->first >= 0 &&
	       segment->last >= segment->first && isfinite(segment->last);
}

/* Times in a recording have microseconds: times closer than this are equal. */
#define SAME_SECONDS 5e-7

struct changes {
	struct recording_cursor cursor;
	size_t segment; /* the segment whose changes times lists; SIZE_MAX: none */
	double *times;
	size_t count;
	size_t capacity;
};

struct changes *changes_new(struct recording *recording)
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

/* Returns the time of the nearest change in changes->times, or -1 if there is none. */
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
