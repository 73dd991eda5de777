/*
 * recording: one recording as it lies there: its segments, and cursors that read
 * its lines.
 *
 * A recording of ours that is packed stays in its file, and a cursor unpacks
 * the one segment that it reads: long ones take little memory, and any time of
 * them is reached by reading one segment. What is plain, or was packed by
 * another program, or comes through a pipe, is read once, completely; its
 * segments begin at its snapshots. Nothing that a recording names is opened.
 *
 * A recorder that was killed leaves a last segment without its end, or a last
 * line without its newline: what is whole of it is read.
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
	size_t start; /* in the text */
	size_t length;
	double time;
};

/* Where a segment lies. */
struct recording_part {
	struct recording_segment is;
	size_t start;	   /* packed: its byte in the file */
	size_t first_line; /* lines before it */
};

struct recording {
	char *path;
	int fd;			      /* of a packed recording; -1: it is in bytes */
	struct buffer bytes;	      /* packed, or text */
	bool is_packed;		      /* segments are unpacked when they are read */
	size_t length;		      /* of the file */
	struct recording_line *lines; /* of all segments, when not packed */
	size_t line_count;
	size_t line_capacity;
	struct recording_part *segments; /* at least one */
	size_t segment_count;
	size_t segment_capacity;
	bool is_cut;
	double wall; /* clock at the recording's time 0; -1: not known */
};

/*
 * What recordings that are looked at together may still keep in memory: a small
 * file may unpack to much.
 */
struct recording_budget {
	size_t length; /* of text */
	size_t line_count;
};

void recording_budget_init(struct recording_budget *budget);
/* NULL and a sentence (with the line or byte) for a broken file. */
struct recording *recording_new(const char *path, struct recording_budget *budget,
				struct error *error);
/* The same of bytes, copied, which are called name. */
struct recording *recording_new_bytes(const char *name, const void *bytes, size_t length,
				      struct recording_budget *budget, struct error *error);
void recording_free(struct recording *recording);
double recording_first(const struct recording *recording);
double recording_last(const struct recording *recording);
/* The last segment that begins not after time; 0 where none does. */
size_t recording_find_segment(const struct recording *recording, double time);

/* Reads line after line. The recording is borrowed. */
struct recording_cursor {
	const struct recording *recording;
	size_t segment; /* segment_count: at the end */
	size_t line;	/* next one of it */
	/* Of that segment; borrowed from the recording when it is not packed. */
	const struct recording_line *lines;
	size_t line_count;
	const char *text;
	bool is_loaded;
	struct recording_line *own_lines;
	size_t own_capacity;
	struct buffer own_text;
};

/* At the first line. */
void recording_cursor_init(struct recording_cursor *cursor, const struct recording *recording);
void recording_cursor_clear(struct recording_cursor *cursor);
/* To the first line of a segment. */
void recording_cursor_go(struct recording_cursor *cursor, size_t segment);
/*
 * The time of the next line: 1, 0 at the end, -1 and a sentence where the
 * recording is broken; the cursor is at its end then.
 */
int recording_cursor_time(struct recording_cursor *cursor, double *time, struct error *error);
/* Gives the next line's message, which the caller clears; as above. */
int recording_cursor_next(struct recording_cursor *cursor, struct message *message,
			  struct error *error);
/*
 * The same for the segment's next answer to a command that succeeded; 0: it
 * has none any more.
 */
int recording_cursor_find(struct recording_cursor *cursor, const char *command,
			  struct message *message, struct error *error);

#endif
