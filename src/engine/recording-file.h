/*
 * recording-file: limits and functions that opening a recording (recording-file.c) shares with
 * reading it (recording.c). Private to these two files.
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
/* Maximum bytes of all recordings together that are kept in memory as text. */
#define RECORDING_TEXT_MAXIMUM ((size_t)1 << 30)
/*
 * Limit against small files that unpack to huge ones: a packed file may unpack to
 * RECORDING_UNPACKED_ALWAYS bytes, or to RECORDING_UNPACKED_TIMES its length if that is more.
 */
#define RECORDING_UNPACKED_ALWAYS ((size_t)64 << 20)
#define RECORDING_UNPACKED_TIMES 64

/*
 * Fills line->time; number is the line's number, for *error. -1 and *error if the line is damaged,
 * or its time is less than `before`, the time of the line before.
 */
int recording_index_line(const struct recording *recording, const char *text,
			 struct recording_line *line, double before, size_t number,
			 struct error *error);
/*
 * Appends a packed segment's text; for a segment without an end, all text that can be unpacked.
 * Returns 0; -1 and *error.
 */
int recording_unpack(const struct recording *recording, const struct recording_part *segment,
		     struct buffer *text, struct error *error);

#endif
