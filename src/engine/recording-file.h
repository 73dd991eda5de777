/*
 * recording-file: opens a recording, and the functions that opening shares with cursors. Private to
 * recording.c and recording-file.c.
 */
#ifndef ENGINE_RECORDING_FILE_H
#define ENGINE_RECORDING_FILE_H

#include <stddef.h>

struct buffer;
struct error;
struct recording;
struct recording_part;
struct recording_line;

/* Maximum bytes of one unpacked segment, its last line included. */
#define RECORDING_PART_MAXIMUM ((size_t)128 << 20)
/* Maximum number of lines of one segment. */
#define RECORDING_PART_LINES ((size_t)2 << 20)
/* Maximum bytes and lines of recordings that are kept in memory as text. */
#define RECORDING_TEXT_MAXIMUM ((size_t)1 << 30)
#define RECORDING_LINES_MAXIMUM ((size_t)4 << 20)
/*
 * Maximum bytes that any packed file may unpack to; a longer file may unpack to
 * RECORDING_UNPACKED_TIMES its length.
 */
#define RECORDING_UNPACKED_ALWAYS ((size_t)64 << 20)
#define RECORDING_UNPACKED_TIMES 64

/*
 * Fills line->time; number: of the line, for the error. -1 and a sentence if the line is damaged,
 * or its time is less than before.
 */
int recording_index_line(const struct recording *recording, const char *text,
			 struct recording_line *line, double before, size_t number,
			 struct error *error);
/* Appends a packed segment's text; of a segment without an end the text as far as it goes. */
int recording_unpack(const struct recording *recording, const struct recording_part *segment,
		     struct buffer *text, struct error *error);

#endif
