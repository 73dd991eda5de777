/*
 * recording-segment: one member of a packed recording, and the note in its header:
 * where it ends and what is in it, so that a reader passes over segments
 * without unpacking them.
 *
 * The note is written when a segment ends; that of a segment that is being
 * written, or whose recorder was killed, is not complete.
 */
#ifndef ENGINE_RECORDING_SEGMENT_H
#define ENGINE_RECORDING_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The line that reaches one of these is a segment's last. A segment that has
 * lasted for less than the minimum of seconds goes on, whatever its number of
 * lines; the lengths are those of the text behind the snapshot, which has to be
 * the longer part.
 */
#define RECORDING_SEGMENT_SECONDS 60.0
#define RECORDING_SEGMENT_SECONDS_MINIMUM 5.0
#define RECORDING_SEGMENT_LINES 20000u
#define RECORDING_SEGMENT_LENGTH (16u << 20)
/* The same, at any age. */
#define RECORDING_SEGMENT_LENGTH_MAXIMUM (48u << 20)

enum recording_segment_flag {
	RECORDING_SEGMENT_SOURCES = 1, /* answers to `source` are in it */
	RECORDING_SEGMENT_VALUES = 4,  /* to `tensor` and `parameters` */
	RECORDING_SEGMENT_CHANGES = 2, /* a main thread's stack or a rank's state
					* changed in it */
};

/* Of one whose end is not known. */
#define RECORDING_SEGMENT_ALL                                                                      \
	(RECORDING_SEGMENT_SOURCES | RECORDING_SEGMENT_CHANGES | RECORDING_SEGMENT_VALUES)

#define RECORDING_SEGMENT_NOTE_LENGTH 40

struct recording_segment {
	uint64_t packed_length; /* of the member; 0: it was not ended */
	uint64_t length;	/* of the text */
	double first;		/* time of its first and last line */
	double last;
	uint32_t line_count;
	uint32_t flags; /* of enum recording_segment_flag */
};

/* Numbers are little-endian, times IEEE 754. */
void recording_segment_to_note(const struct recording_segment *segment,
			       unsigned char note[RECORDING_SEGMENT_NOTE_LENGTH]);
/* False: no segment of ours was written so. */
bool recording_segment_from_note(struct recording_segment *segment,
				 const unsigned char note[RECORDING_SEGMENT_NOTE_LENGTH]);

#endif
