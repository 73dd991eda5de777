/*
 * recording-file: how a recording is opened, and what it shares with the cursors. Only
 * recording.c and recording-file.c include it.
 */
#ifndef ENGINE_RECORDING_FILE_H
#define ENGINE_RECORDING_FILE_H

#include <stddef.h>

struct buffer;
struct error;
struct recording;
struct recording_part;
struct recording_line;

/* What one segment may unpack to: the lines before its last, and that. */
#define RECORDING_PART_MAXIMUM ((size_t)128 << 20)
/* And so many lines. */
#define RECORDING_PART_LINES ((size_t)2 << 20)
/* What is read completely may be so long, unpacked, in all. */
#define RECORDING_TEXT_MAXIMUM ((size_t)1 << 30)
#define RECORDING_LINES_MAXIMUM ((size_t)4 << 20)
/* So much may be unpacked of any file; more only so many times its length. */
#define RECORDING_UNPACKED_ALWAYS ((size_t)64 << 20)
#define RECORDING_UNPACKED_TIMES 64

/*
 * Fills the line's time; -1 and a sentence when it is broken, or its time is
 * less than before.
 */
int recording_index_line(const struct recording *recording, const char *text,
			 struct recording_line *line, double before, size_t number,
			 struct error *error);
/* Appends a packed segment's text; one that was not ended as far as it goes. */
int recording_unpack(const struct recording *recording, const struct recording_part *segment,
		     struct buffer *text, struct error *error);

#endif
