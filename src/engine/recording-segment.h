/*
 * recording-segment: one gzip member of a packed recording, and the note in its header: the length
 * of the member and flags for its contents, so that a reader can skip segments without unpacking
 * them.
 *
 * The note is completed when a segment ends; packed_length is 0 in a segment that is still being
 * written, or whose recorder was killed.
 */
#ifndef ENGINE_RECORDING_SEGMENT_H
#define ENGINE_RECORDING_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Limits of a segment: the line that reaches one of them is the segment's last. The limits on lines
 * and length hold only after RECORDING_SEGMENT_SECONDS_MINIMUM. Lengths count the text after the
 * snapshot; RECORDING_SEGMENT_LENGTH holds only for text longer than the snapshot.
 */
#define RECORDING_SEGMENT_SECONDS 60.0
#define RECORDING_SEGMENT_SECONDS_MINIMUM 5.0
#define RECORDING_SEGMENT_LINES 20000u
#define RECORDING_SEGMENT_LENGTH (16u << 20)
/* Limit of length that holds at any age. */
#define RECORDING_SEGMENT_LENGTH_MAXIMUM (48u << 20)

enum recording_segment_flag {
	RECORDING_SEGMENT_SOURCES = 1, /* contains answers to `source` */
	RECORDING_SEGMENT_VALUES = 4,  /* contains answers to `tensor` or `parameters` */
	RECORDING_SEGMENT_CHANGES = 2, /* a main thread's stack or a rank's state changed */
};

/* Flags of a segment whose end is not known. */
#define RECORDING_SEGMENT_ALL                                                                      \
	(RECORDING_SEGMENT_SOURCES | RECORDING_SEGMENT_CHANGES | RECORDING_SEGMENT_VALUES)

#define RECORDING_SEGMENT_NOTE_LENGTH 40

struct recording_segment {
	uint64_t packed_length; /* length of the gzip member; 0: the segment was not ended */
	uint64_t length;	/* length of the unpacked text */
	double first;		/* recording's time of the first line, in seconds */
	double last;
	uint32_t line_count;
	uint32_t flags; /* of enum recording_segment_flag */
};

/* Numbers are little-endian, times IEEE 754. */
void recording_segment_to_note(const struct recording_segment *segment,
			       unsigned char note[RECORDING_SEGMENT_NOTE_LENGTH]);
/* False: the note is not of a segment that probetui has written. */
bool recording_segment_from_note(struct recording_segment *segment,
				 const unsigned char note[RECORDING_SEGMENT_NOTE_LENGTH]);

#endif
