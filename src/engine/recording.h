/*
 * recording: one recording: its segments, and cursors that read its lines.
 *
 * A recording that probetui has packed stays in its file, and a cursor unpacks one segment at a
 * time: long recordings take little memory, and any time is reached by reading one segment. A
 * recording that is plain text, was packed by another program, or comes through a pipe is read
 * completely; its segments begin at snapshots. No path that a recording contains is opened.
 *
 * A recorder that was killed leaves a last segment without an end, or a last line without a
 * newline: the complete lines are read.
 *
 * A damaged segment is left out as a whole. Damage is found when a segment is read, as its gzip
 * member has a checksum; a damaged header is found when the recording is opened, as the note in it
 * has a checksum, too.
 */
#ifndef ENGINE_RECORDING_H
#define ENGINE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

struct changes;
struct error;
struct message;
struct recording;

/*
 * One gzip member of a packed recording, and the note in its header: the length
 * of the member and flags for its contents, so that a reader can skip segments without unpacking
 * them.
 *
 * The note is completed when the segment ends: packed_length is 0 if the segment is still being
 * written, or its recorder was killed. The last four bytes are the CRC-32 of the others.
 */

/*
 * Limits of a segment: the line that reaches a limit is the segment's last line. The limits on
 * lines and length apply only after RECORDING_SEGMENT_SECONDS_MINIMUM. The length is that of the
 * text after the snapshot; RECORDING_SEGMENT_LENGTH applies only if this text is longer than the
 * snapshot.
 */
#define RECORDING_SEGMENT_SECONDS 60.0
#define RECORDING_SEGMENT_SECONDS_MINIMUM 5.0
#define RECORDING_SEGMENT_LINES 20000u
#define RECORDING_SEGMENT_LENGTH (16u << 20)
/* Limit of length that applies at any time. */
#define RECORDING_SEGMENT_LENGTH_MAXIMUM (48u << 20)

enum recording_segment_flag {
	RECORDING_SEGMENT_SOURCES = 1, /* contains answers to `source` */
	RECORDING_SEGMENT_VALUES = 4,  /* contains answers to `tensor` or `parameters` */
	RECORDING_SEGMENT_CHANGES = 2, /* a main thread's stack or a rank's state changed */
};

/* Flags of a segment whose end is not known. */
#define RECORDING_SEGMENT_ALL                                                                      \
	(RECORDING_SEGMENT_SOURCES | RECORDING_SEGMENT_CHANGES | RECORDING_SEGMENT_VALUES)

#define RECORDING_SEGMENT_NOTE_LENGTH 44

struct recording_segment {
	uint64_t packed_length; /* length of the gzip member; 0: the segment has no end */
	uint64_t length;	/* length of the unpacked text */
	double first;		/* recording's time of the first line, in seconds */
	double last;		/* time of the last line */
	uint32_t line_count;
	uint32_t flags; /* of enum recording_segment_flag */
};

/* Fills the note: numbers are little-endian, times are IEEE 754 doubles. */
void recording_segment_to_note(const struct recording_segment *segment,
			       unsigned char note[RECORDING_SEGMENT_NOTE_LENGTH]);
/* Fills *segment; returns false if the note is not one that probetui has written. */
bool recording_segment_from_note(struct recording_segment *segment,
				 const unsigned char note[RECORDING_SEGMENT_NOTE_LENGTH]);

struct recording_line {
	size_t start; /* offset in the text */
	size_t length;
	double time;
};

/* A segment and its position. */
struct recording_part {
	struct recording_segment is; /* the segment's note */
	size_t start;		     /* of a packed recording: offset in the file, in bytes */
	size_t first_line;	     /* number of lines in all earlier segments */
	char *damage;		     /* why the segment cannot be read, a sentence; NULL: it can */
};

struct recording {
	char *path;
	int fd;			      /* of a packed recording; -1: the recording is in bytes */
	struct buffer bytes;	      /* packed data, or text */
	bool is_packed;		      /* segments are unpacked when they are read */
	size_t length;		      /* length of the file in bytes */
	struct recording_line *lines; /* lines of all segments, if not packed */
	size_t line_count;
	size_t line_capacity;
	struct recording_part *segments; /* at least one that is not damaged */
	size_t segment_count;
	size_t segment_capacity;
	bool is_cut; /* the end is missing: the recorder was killed, or is still writing */
	double wall; /* wall clock (seconds since 1970) at the recording's time 0; -1: not known */
};

/* Memory that a group of recordings may still use: a small file may unpack to a large text. */
struct recording_budget {
	size_t length; /* bytes of text */
};

void recording_budget_init(struct recording_budget *budget);
/*
 * Opens the recording at path. NULL and *error (with the line or byte): it is not a recording, or
 * nothing of it can be read.
 */
struct recording *recording_new(const char *path, struct recording_budget *budget,
				struct error *error);
/* Like recording_new(), for a copy of bytes; name stands for the path in errors. */
struct recording *recording_new_bytes(const char *name, const void *bytes, size_t length,
				      struct recording_budget *budget, struct error *error);
void recording_free(struct recording *recording);
/* Recording's time of the first line and of the last line, respectively, in seconds. */
double recording_first(const struct recording *recording);
double recording_last(const struct recording *recording);
/* Index of the last segment that begins at or before time; 0 also if no segment does. */
size_t recording_find_segment(const struct recording *recording, double time);
/* Why the segment at time cannot be read, a sentence, borrowed; NULL: no damage was found there. */
const char *recording_damage(const struct recording *recording, double time);

/* Reads line after line. The recording is borrowed; damage that is found is noted in it. */
struct recording_cursor {
	struct recording *recording;
	size_t segment; /* index of the current segment; segment_count: at the end */
	size_t line;	/* index of the next line in the segment */
	/*
	 * Lines and text of the current segment; if the recording is not packed, borrowed from it.
	 */
	const struct recording_line *lines;
	size_t line_count;
	const char *text;
	bool is_loaded;	  /* lines and text are those of segment */
	bool has_skipped; /* a damaged segment was left out since recording_cursor_go() */
	/* The unpacked segment of a packed recording. */
	struct recording_line *own_lines;
	size_t own_capacity;
	struct buffer own_text;
};

/* Places the cursor at the first line. */
void recording_cursor_init(struct recording_cursor *cursor, struct recording *recording);
void recording_cursor_clear(struct recording_cursor *cursor);
/* Moves to the first line of a segment. */
void recording_cursor_go(struct recording_cursor *cursor, size_t segment);
/*
 * Sets *time to the time of the next line, that of the next segment behind damaged ones. Returns 1;
 * 0: the cursor is at the end; -1 and *error: more damage was found, and the cursor was moved to
 * the next segment.
 */
int recording_cursor_time(struct recording_cursor *cursor, double *time, struct error *error);
/* Reads the next line's message, which the caller clears. Returns like recording_cursor_time(). */
int recording_cursor_next(struct recording_cursor *cursor, struct message *message,
			  struct error *error);
/*
 * Reads the current segment's next successful answer to command. Returns like
 * recording_cursor_next(); 0: the segment has no further answer.
 */
int recording_cursor_find(struct recording_cursor *cursor, const char *command,
			  struct message *message, struct error *error);

/*
 * Times at which something changed in a recording: a rank appeared, ended or changed its state, or
 * its main thread's stack changed. Changes are found by replaying a segment in a separate session;
 * segments without changes are skipped.
 */

/* The recording is borrowed. */
struct changes *changes_new(struct recording *recording);
void changes_free(struct changes *changes);
/*
 * Returns the time of the nearest change after (is_forward) or before time, in seconds of the
 * recording; -1: there is no change.
 */
double changes_find(struct changes *changes, double time, bool is_forward);

#endif
