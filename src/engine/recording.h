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
 */
#ifndef ENGINE_RECORDING_H
#define ENGINE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "engine/recording-segment.h"

struct error;
struct message;

struct recording_line {
	size_t start; /* offset in the text */
	size_t length;
	double time;
};

/* A segment and its position. */
struct recording_part {
	struct recording_segment is;
	size_t start;	   /* packed: offset in the file, in bytes */
	size_t first_line; /* number of lines in the segments before */
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
	struct recording_part *segments; /* at least one */
	size_t segment_count;
	size_t segment_capacity;
	bool is_cut; /* the end is missing: the recorder was killed, or is still writing */
	double wall; /* wall clock (seconds since 1970) at the recording's time 0; -1: not known */
};

/* Memory that a group of recordings may still use: a small file may unpack to a large text. */
struct recording_budget {
	size_t length; /* bytes of text */
	size_t line_count;
};

void recording_budget_init(struct recording_budget *budget);
/* NULL and a sentence (with the line or byte) for a damaged file. */
struct recording *recording_new(const char *path, struct recording_budget *budget,
				struct error *error);
/* Like recording_new(), for a copy of bytes; name stands for the path in errors. */
struct recording *recording_new_bytes(const char *name, const void *bytes, size_t length,
				      struct recording_budget *budget, struct error *error);
void recording_free(struct recording *recording);
/* Recording's time of the first line, and of the last, in seconds. */
double recording_first(const struct recording *recording);
double recording_last(const struct recording *recording);
/* Index of the last segment that begins at or before time; 0: no segment does. */
size_t recording_find_segment(const struct recording *recording, double time);

/* Reads line after line. The recording is borrowed. */
struct recording_cursor {
	const struct recording *recording;
	size_t segment; /* index of the current segment; segment_count: at the end */
	size_t line;	/* index of the next line in the segment */
	/*
	 * Lines and text of the current segment; borrowed from the recording if that is not packed.
	 */
	const struct recording_line *lines;
	size_t line_count;
	const char *text;
	bool is_loaded; /* lines and text are those of segment */
	/* The unpacked segment of a packed recording. */
	struct recording_line *own_lines;
	size_t own_capacity;
	struct buffer own_text;
};

/* Places the cursor at the first line. */
void recording_cursor_init(struct recording_cursor *cursor, const struct recording *recording);
void recording_cursor_clear(struct recording_cursor *cursor);
/* Moves to the first line of a segment. */
void recording_cursor_go(struct recording_cursor *cursor, size_t segment);
/*
 * Time of the next line. 1: found, 0: the cursor is at the end, -1 and a sentence: the recording is
 * damaged, and the cursor is at the end.
 */
int recording_cursor_time(struct recording_cursor *cursor, double *time, struct error *error);
/* Reads the next line's message, which the caller clears; returns as recording_cursor_time(). */
int recording_cursor_next(struct recording_cursor *cursor, struct message *message,
			  struct error *error);
/*
 * Reads the segment's next successful answer to command; 0: there are no more; else as
 * recording_cursor_next().
 */
int recording_cursor_find(struct recording_cursor *cursor, const char *command,
			  struct message *message, struct error *error);

#endif
