#include "engine/recording-segment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "banned.h"

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
	return segment->first >= 0 && segment->last >= segment->first && isfinite(segment->last);
}
