/*
 * tapefile: how a tape is opened, and what it shares with the cursors. Only
 * tape.c and tapefile.c include it.
 */
#ifndef ENGINE_TAPEFILE_H
#define ENGINE_TAPEFILE_H

#include <stddef.h>

struct buffer;
struct error;
struct tape;
struct tape_chapter;
struct tape_line;

/* What one chapter may unpack to: the lines before its last, and that. */
#define TAPE_CHAPTER_MAXIMUM ((size_t)128 << 20)
/* And so many lines. */
#define TAPE_CHAPTER_LINES ((size_t)2 << 20)
/* What is read completely may be so long, unpacked, in all. */
#define TAPE_TEXT_MAXIMUM ((size_t)1 << 30)
#define TAPE_LINES_MAXIMUM ((size_t)4 << 20)
/* So much may be unpacked of any file; more only so many times its length. */
#define TAPE_UNPACKED_ALWAYS ((size_t)64 << 20)
#define TAPE_UNPACKED_TIMES 64

/*
 * Fills the line's time; -1 and a sentence when it is broken, or its time is
 * less than before.
 */
int tape_index_line(const struct tape *tape, const char *text, struct tape_line *line,
		    double before, size_t number, struct error *error);
/* Appends a packed chapter's text; one that was not ended as far as it goes. */
int tape_unpack(const struct tape *tape, const struct tape_chapter *chapter, struct buffer *text,
		struct error *error);

#endif
